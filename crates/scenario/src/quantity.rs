//! Quantities as scenarios write them: strings that carry their unit.
//!
//! Each has a word that names its format in the schema. [`check_format`] checks a string against such a word, so
//! that a wrong unit is found before serde reads.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

pub use haggle_config::FormatError;
use haggle_config::nearest;
use haggle_grids::Share as Reserved;
use haggle_model::work::Fraction;
use haggle_model::{Span, Time};
use haggle_plots::JobName;
use haggle_results::metrics::named::{self, NAMED, Named};
use haggle_workloads::logs::Zone;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Checks a string against the format that a schema names.
pub fn check_format(format: &str, text: &str) -> Result<(), FormatError> {
    match format {
        Name::FORMAT => text.parse::<Name>().map(drop),
        Title::FORMAT => text.parse::<Title>().map(drop),
        TimeSpan::FORMAT => text.parse::<TimeSpan>().map(drop),
        Instant::FORMAT => text.parse::<Instant>().map(drop),
        Share::FORMAT => text.parse::<Share>().map(drop),
        Bytes::FORMAT => text.parse::<Bytes>().map(drop),
        Bandwidth::FORMAT => text.parse::<Bandwidth>().map(drop),
        TimeOrShare::FORMAT => text.parse::<TimeOrShare>().map(drop),
        PictureSize::FORMAT => text.parse::<PictureSize>().map(drop),
        AxisRange::FORMAT => text.parse::<AxisRange>().map(drop),
        EstimateRule::FORMAT => text.parse::<EstimateRule>().map(drop),
        Metric::FORMAT => text.parse::<Metric>().map(drop),
        TimeZone::FORMAT => text.parse::<TimeZone>().map(drop),
        JobRef::FORMAT => text.parse::<JobRef>().map(drop),
        _ => Ok(()),
    }
}

/// Gives a string type with `FromStr` and `Display` its serde and schema.
macro_rules! written_as_string {
    ($type:ident, $format:literal, $example:literal, $description:literal) => {
        impl $type {
            /// Word for this format in the schema.
            pub const FORMAT: &'static str = $format;
        }

        impl TryFrom<String> for $type {
            type Error = FormatError;
            fn try_from(text: String) -> Result<$type, FormatError> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(quantity: $type) -> String {
                quantity.to_string()
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "format": $format,
                    "description": $description,
                    "examples": [$example],
                })
            }
        }
    };
}

/// Name of an actor, a workload or a figure: letters, digits, `-` and `_`. It can be part of a path into
/// the scenario and of a file's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

written_as_string!(Name, "name", "north", "letters, digits, - and _");

impl Name {
    /// A text as a name; other characters become `-`, and an empty text becomes `scenario`.
    pub fn like(text: &str) -> Name {
        let allowed = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
        let name: String = text.chars().map(allowed).collect();
        Name(if name.is_empty() { "scenario".to_owned() } else { name })
    }

    /// Text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Name, FormatError> {
        let allowed = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if !text.is_empty() && text.chars().all(allowed) {
            return Ok(Name(text.into()));
        }
        Err(FormatError::new(
            format!("`{text}` cannot be a name"),
            "use letters, digits, `-` and `_`, such as \"north-1\"",
        ))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Label in figures and tables, such as that of a variant: one line of text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Title(String);

written_as_string!(Title, "title", "HEFT, replanned", "one line of at most 100 letters");

impl FromStr for Title {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Title, FormatError> {
        // Blanks at the ends would be invisible in figures and tables.
        let fits = !text.is_empty() && text.trim() == text && text.chars().count() <= 100;
        if fits && !text.chars().any(char::is_control) {
            return Ok(Title(text.into()));
        }
        Err(FormatError::new(
            format!("{text:?} cannot be a title"),
            "write one line of at most 100 letters, without blanks around it, such as \"HEFT, replanned\"",
        ))
    }
}

impl fmt::Display for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Name of a metric of a run, in its only spelling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Metric(String);

written_as_string!(
    Metric,
    "metric",
    "mean-waiting-time",
    "a metric: a name of `haggle list metrics`; or a place in `summary.json`, such as \
     \"grid.done\"; of a group, as \"provider.north.mean-waiting-time\""
);

impl Metric {
    /// Name, as in tables.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// A known metric.
    pub fn named(named: &'static Named) -> Metric {
        Metric(named.name.to_owned())
    }

    /// True if no group of jobs can have this metric.
    pub fn is_whole(&self) -> bool {
        !named::may_be_of_jobs(&self.0)
    }

    /// True if it is a statistic of a value that each job has.
    pub fn is_of_jobs(&self) -> bool {
        Named::of(&self.0).is_some_and(|it| it.of_each.is_some())
    }
}

impl FromStr for Metric {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Metric, FormatError> {
        let name = named::spelling(text);
        if named::may_be(&name) {
            return Ok(Metric(name));
        }
        let list = "`haggle list metrics` lists all names";
        let help = match nearest(&name, NAMED.iter().map(|it| it.name)) {
            Some(near) => format!("did you mean \"{near}\"? {list}"),
            None => format!("{list}; other values of summary.json are called by their place"),
        };
        Err(FormatError::new(format!("there is no metric \"{text}\""), &help))
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A length of time, such as `"18h"` or `"1h 30min"`; prints in the largest unit that divides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeSpan(pub Span);

written_as_string!(TimeSpan, "time-span", "18h", "a length of time: a number and a unit");

impl TimeSpan {
    /// A length of zero.
    pub const ZERO: TimeSpan = TimeSpan(Span::ZERO);
}

/// Longest time in whole days.
const LONGEST_DAYS: i64 = Span::FOREVER.as_micros() / 86_400_000_000;

/// True if a text is no length of time only because of its size: with 1 in place of each number, it is one.
fn is_too_long(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let mut numbers = text.split(|c| !is_digit(c)).filter(|number| !number.is_empty());
    let mut shape = String::new();
    for c in text.chars() {
        match is_digit(c) {
            // A further digit of the same number.
            true if shape.ends_with('1') => {}
            true => shape.push('1'),
            false => shape.push(c),
        }
    }
    // `1.2.3 d` has the shape of a time, but no number.
    numbers.all(|number| number.parse::<f64>().is_ok()) && shape.parse::<Span>().is_ok()
}

impl FromStr for TimeSpan {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<TimeSpan, FormatError> {
        text.parse::<Span>().map(TimeSpan).map_err(|_| {
            if is_too_long(text) {
                return FormatError::new(
                    format!("`{text}` is longer than the longest time, {LONGEST_DAYS}d"),
                    &format!("write at most \"{LONGEST_DAYS}d\""),
                );
            }
            FormatError::new(
                format!("`{text}` is not a length of time"),
                "write a number and a unit (us, ms, s, min, h, d, w), \
                 such as \"18h\" or \"1h 30min\"",
            )
        })
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(i64, &str); 5] = [
            (86_400_000_000, "d"),
            (3_600_000_000, "h"),
            (60_000_000, "min"),
            (1_000_000, "s"),
            (1_000, "ms"),
        ];
        let micros = self.0.as_micros();
        // Every unit divides zero.
        if micros == 0 {
            return f.write_str("0s");
        }
        for (size, unit) in UNITS {
            // The largest unit that divides the time, so that reading the text gives the same time.
            if micros % size == 0 {
                return write!(f, "{}{unit}", micros / size);
            }
        }
        write!(f, "{micros}us")
    }
}

/// A time from the start of the run, such as `"12h"`, or before it, such as `"-1h"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Instant(pub Time);

written_as_string!(
    Instant,
    "instant",
    "-1h",
    "a time from the start of the run, below zero before it"
);

impl FromStr for Instant {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Instant, FormatError> {
        match text.trim_start().strip_prefix('-') {
            Some(before) => before.parse().map(|TimeSpan(span)| Instant(Time::ZERO - span)),
            None => text.parse().map(|TimeSpan(span)| Instant(Time::ZERO + span)),
        }
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 < Time::ZERO {
            true => write!(f, "-{}", TimeSpan(Time::ZERO - self.0)),
            false => TimeSpan(self.0 - Time::ZERO).fmt(f),
        }
    }
}

/// A part of a whole in percent, such as `"5%"`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Share {
    /// Percent as written, so that it prints as it was read.
    percent: f64,
}

written_as_string!(Share, "share", "5%", "a share of a whole in percent");

impl Share {
    /// Zero percent.
    pub const ZERO: Share = Share { percent: 0.0 };

    /// A hundred percent.
    pub const ALL: Share = Share { percent: 100.0 };

    /// True if it is zero.
    pub fn is_zero(&self) -> bool {
        self.percent == 0.0
    }

    /// Share as a fraction: 0.05 for `"5%"`.
    pub fn fraction(self) -> f64 {
        self.percent / 100.0
    }

    /// Share in millionths; exact for up to four decimal places of a percent.
    pub fn millionths(self) -> u32 {
        // Rounded: most decimal shares have no exact `f64`.
        (self.fraction() * 1e6).round() as u32
    }

    /// Share as a fraction of integers.
    pub fn parts(self) -> (u32, u32) {
        (self.millionths(), 1_000_000)
    }

    /// Share as a fraction for exact arithmetic.
    pub fn exact(self) -> Fraction {
        Fraction::from_ppm(self.millionths())
    }

    /// Share of a resource that is reserved.
    pub fn reserved(self) -> Reserved {
        Reserved((self.fraction() * f64::from(Reserved::WHOLE.0)).round() as u32)
    }
}

impl FromStr for Share {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Share, FormatError> {
        match percent(text) {
            Some(percent) if percent <= 100.0 => Ok(Share { percent }),
            _ => Err(FormatError::new(
                format!("`{text}` is not a share"),
                "write percent from 0% to 100%, such as \"5%\"",
            )),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.percent)
    }
}

/// Time zone of a log: `"Europe/Berlin"` or `"+01:00"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeZone(pub Zone);

written_as_string!(
    TimeZone,
    "time-zone",
    "Europe/Berlin",
    "a time zone by its name or its offset from UTC"
);

impl FromStr for TimeZone {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<TimeZone, FormatError> {
        text.parse().map(TimeZone).map_err(|_| {
            FormatError::new(
                format!("`{text}` is not a time zone"),
                "write a name such as \"Europe/Berlin\" or \"UTC\", or an offset such as \"+01:00\"",
            )
        })
    }
}

impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Width and height of a picture: `"88x60mm"` on paper or `"1200x800px"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PictureSize {
    /// On paper, where letters are 8 points high.
    Millimetres(f64, f64),
    /// Letters are 25 pixels high.
    Pixels(u32, u32),
}

written_as_string!(PictureSize, "picture-size", "88x60mm", "width and height of a picture");

impl FromStr for PictureSize {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<PictureSize, FormatError> {
        let sides = |unit: &str| text.trim().strip_suffix(unit)?.split_once('x');
        let in_mm = sides("mm").and_then(|(width, height)| {
            let size = PictureSize::Millimetres(number(width)?, number(height)?);
            matches!(size, PictureSize::Millimetres(53.0..=1300.0, 40.0..=1300.0)).then_some(size)
        });
        let in_pixels = sides("px").and_then(|(width, height)| {
            let [width, height] = [width, height].map(|side| side.trim().parse().ok());
            let size = PictureSize::Pixels(width?, height?);
            matches!(size, PictureSize::Pixels(400..=10_000, 300..=10_000)).then_some(size)
        });
        in_mm.or(in_pixels).ok_or_else(|| {
            FormatError::new(
                format!("`{text}` is not the size of a picture"),
                "write width x height from 53x40mm to 1300x1300mm, or from 400x300px to \
                 10000x10000px, such as \"88x60mm\"",
            )
        })
    }
}

impl fmt::Display for PictureSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PictureSize::Millimetres(width, height) => write!(f, "{width}x{height}mm"),
            PictureSize::Pixels(width, height) => write!(f, "{width}x{height}px"),
        }
    }
}

/// A job of a run: `"north-jobs!5"` by its workload and its number there, or `"12"` by its number in the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JobRef(pub JobName);

written_as_string!(
    JobRef,
    "job",
    "north-jobs!5",
    "a job: WORKLOAD!NUMBER by its number in its workload, or its number in the run"
);

impl FromStr for JobRef {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<JobRef, FormatError> {
        let help = "write its number in the run, or WORKLOAD!NUMBER, such as \"north-jobs!5\"";
        text.parse().map(JobRef).map_err(|_| FormatError::new(format!("`{text}` is no job"), help))
    }
}

impl fmt::Display for JobRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Range of an axis: `"88%..100%"`, `"1min..1d"`, `"0..5"`; an end that is left out
/// follows from the data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AxisRange {
    /// The low end.
    pub low: Option<AxisEnd>,
    /// The high end.
    pub high: Option<AxisEnd>,
}

written_as_string!(AxisRange, "axis-range", "88%..100%", "the range of an axis");

/// An end of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AxisEnd {
    /// A number without a unit.
    Number(f64),
    /// Percent.
    Percent(f64),
    /// Seconds; also below zero, for differences.
    Seconds(f64),
}

impl AxisEnd {
    /// Value in the unit in which it is written.
    pub const fn value(self) -> f64 {
        match self {
            AxisEnd::Number(value) | AxisEnd::Percent(value) | AxisEnd::Seconds(value) => value,
        }
    }

    /// Reads an end with its unit.
    pub fn read(text: &str) -> Option<AxisEnd> {
        let text = text.trim();
        // `inf` and `NaN` are numbers for the parser, and no axis ends there.
        let finite = |text: &str| text.trim().parse().ok().filter(|it: &f64| it.is_finite());
        if let Some(number) = finite(text) {
            return Some(AxisEnd::Number(number));
        }
        if let Some(percent) = text.strip_suffix('%') {
            return finite(percent).map(AxisEnd::Percent);
        }
        // A length of time has no sign, but a difference may be below zero.
        let (sign, time) = text.strip_prefix('-').map_or((1.0, text), |time| (-1.0, time));
        let time: TimeSpan = time.parse().ok()?;
        Some(AxisEnd::Seconds(sign * time.0.as_secs_f64()))
    }

    /// True if both are written in the same unit.
    pub fn is_like(self, other: AxisEnd) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

impl AxisRange {
    /// Ends that are written.
    pub fn ends(self) -> impl Iterator<Item = AxisEnd> {
        self.low.into_iter().chain(self.high)
    }
}

impl FromStr for AxisRange {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<AxisRange, FormatError> {
        let end = |text: &str| match text.trim() {
            "" => Some(None),
            text => AxisEnd::read(text).map(Some),
        };
        let range = text.split_once("..").and_then(|(low, high)| {
            let range = AxisRange { low: end(low)?, high: end(high)? };
            let fits = match (range.low, range.high) {
                // An axis has one unit.
                (Some(low), Some(high)) => low.is_like(high) && low.value() < high.value(),
                // A range without any end would limit nothing.
                (low, high) => low.or(high).is_some(),
            };
            fits.then_some(range)
        });
        range.ok_or_else(|| {
            FormatError::new(
                format!("`{text}` is not the range of an axis"),
                "write a low end, `..` and a higher one in the same unit, such as \"88%..100%\", \"1min..1d\", \
                 \"0..5\" or, with one end, \"88%..\"",
            )
        })
    }
}

impl fmt::Display for AxisRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |end: Option<AxisEnd>| end.map_or_else(String::new, |end| end.to_string());
        write!(f, "{}..{}", text(self.low), text(self.high))
    }
}

impl fmt::Display for AxisEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AxisEnd::Number(value) => write!(f, "{value}"),
            AxisEnd::Percent(value) => write!(f, "{value}%"),
            AxisEnd::Seconds(seconds) => {
                let sign = if *seconds < 0.0 { "-" } else { "" };
                let time = Span::from_secs_f64(seconds.abs());
                write!(f, "{sign}{}", TimeSpan(time))
            }
        }
    }
}

/// A number of percent that is finite and not negative.
fn percent(text: &str) -> Option<f64> {
    number(text.trim().strip_suffix('%')?)
}

/// A decimal number that is finite and not negative.
fn number(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// A length of time or a share: `"2d"` or `"5%"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TimeOrShare {
    /// A length of time.
    Time(TimeSpan),
    /// A share, of jobs or of a time; the key defines the whole.
    Share(Share),
}

written_as_string!(TimeOrShare, "time-or-share", "5%", "a length of time or a share in percent");

impl TimeOrShare {
    /// A time of zero.
    pub const ZERO: TimeOrShare = TimeOrShare::Time(TimeSpan::ZERO);
}

impl FromStr for TimeOrShare {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<TimeOrShare, FormatError> {
        if let Ok(time) = text.parse() {
            return Ok(TimeOrShare::Time(time));
        }
        text.parse().map(TimeOrShare::Share).map_err(|_: FormatError| {
            FormatError::new(
                format!("`{text}` is neither a length of time nor a share"),
                "write time with a unit, such as \"2d\", or a share in percent, such as \"5%\"",
            )
        })
    }
}

impl fmt::Display for TimeOrShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeOrShare::Time(time) => time.fmt(f),
            TimeOrShare::Share(share) => share.fmt(f),
        }
    }
}

/// An amount of data, such as `"10 MB"`; prefixes are decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bytes(pub u64);

written_as_string!(Bytes, "bytes", "10 MB", "an amount of data: a number and a unit");

const BYTE_UNITS: [(&str, f64); 5] =
    [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)];

impl FromStr for Bytes {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Bytes, FormatError> {
        // Beyond this, an `f64` cannot represent every number of bytes.
        const MOST: f64 = 9e15;
        match with_unit(text, &BYTE_UNITS) {
            // Rounded: a decimal number times its unit may miss the whole number by a little.
            Some(bytes) if bytes <= MOST => Ok(Bytes(bytes.round() as u64)),
            _ => Err(FormatError::new(
                format!("`{text}` is not an amount of data"),
                "write a number and a unit (B, kB, MB, GB, TB), such as \"10 MB\"",
            )),
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_with_unit(f, self.0 as f64, &BYTE_UNITS)
    }
}

/// A rate at which data flow, such as `"100 Mbit/s"`; prefixes are decimal.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bandwidth(pub f64);

written_as_string!(Bandwidth, "bandwidth", "100 Mbit/s", "a rate of data: a number and a unit");

const RATE_UNITS: [(&str, f64); 4] =
    [("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1.0)];

impl FromStr for Bandwidth {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Bandwidth, FormatError> {
        match with_unit(text, &RATE_UNITS) {
            // Nothing would ever arrive over a link of zero bandwidth.
            Some(rate) if rate > 0.0 && rate <= 1e18 => Ok(Bandwidth(rate)),
            _ => Err(FormatError::new(
                format!("`{text}` is not a bandwidth"),
                "write a number above 0 and a unit (bit/s, kbit/s, Mbit/s, Gbit/s), such as \
                 \"100 Mbit/s\"",
            )),
        }
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_with_unit(f, self.0, &RATE_UNITS)
    }
}

/// Value of a number with one of these units. A unit that ends in another one must come before it.
fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let unit = units.iter().find_map(|(unit, size)| {
        let value = text.trim().strip_suffix(unit)?;
        Some(number(value)? * size)
    });
    // A large number of a large unit may overflow to infinity.
    unit.filter(|value| value.is_finite())
}

/// Prints a whole number of the largest possible unit, or else a number of the smallest unit.
fn print_with_unit(f: &mut fmt::Formatter<'_>, value: f64, units: &[(&str, f64)]) -> fmt::Result {
    // At least one of the unit: every unit divides zero.
    let whole = units.iter().find(|(_, size)| value >= *size && value % size == 0.0);
    let (unit, size) = whole.or(units.last()).expect("there are units");
    write!(f, "{} {unit}", value / size)
}

/// Rule by which users estimate the run time of their jobs.
///
/// One notation serves the scenario and `haggle replay --estimates`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum EstimateRule {
    /// `trace`: as the log has it.
    Trace,
    /// `exact`: the run time itself.
    Exact,
    /// `no-limit`: jobs have no requested time.
    NoLimit,
    /// `factor:F`: F times the run time, F ≥ 1.
    Factor(f64),
    /// `over:P%`: the run time and P percent more.
    Over(f64),
    /// `uniform:F`: the run time times a number drawn evenly from 1 to F, for each job anew.
    Uniform(f64),
    /// `precision:+P`: the run time in percent of the request rises by P points, to 100 at most.
    RaisedPrecision(f64),
}

written_as_string!(
    EstimateRule,
    "estimates",
    "over:50%",
    "rule by which users estimate run times: trace, exact, no-limit, factor:F, over:P%, uniform:F \
     or precision:+P"
);

impl FromStr for EstimateRule {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<EstimateRule, FormatError> {
        let at_least_one = |text| number(text).filter(|&factor| factor >= 1.0);
        let points =
            |text: &str| text.strip_prefix('+').and_then(number).filter(|&points| points <= 100.0);
        let (word, argument) = text.split_once(':').unwrap_or((text, ""));
        let rule = match (word, argument) {
            // Words without an argument refuse one: `exact:2` is probably meant otherwise.
            ("trace", "") => Some(EstimateRule::Trace),
            ("exact", "") => Some(EstimateRule::Exact),
            ("no-limit", "") => Some(EstimateRule::NoLimit),
            ("factor", factor) => at_least_one(factor).map(EstimateRule::Factor),
            ("over", share) => percent(share).map(EstimateRule::Over),
            ("uniform", factor) => at_least_one(factor).map(EstimateRule::Uniform),
            ("precision", raise) => points(raise).map(EstimateRule::RaisedPrecision),
            _ => None,
        };
        rule.ok_or_else(|| {
            FormatError::new(
                format!("`{text}` is not a rule for estimates"),
                "write trace, exact, no-limit, factor:2 (twice the run time), over:50% (half as \
                 much again), uniform:5 (between once and five times) or precision:+20 (20 points \
                 more precise, to 100% at most); factors are at least 1",
            )
        })
    }
}

impl fmt::Display for EstimateRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EstimateRule::Trace => f.write_str("trace"),
            EstimateRule::Exact => f.write_str("exact"),
            EstimateRule::NoLimit => f.write_str("no-limit"),
            EstimateRule::Factor(factor) => write!(f, "factor:{factor}"),
            EstimateRule::Over(percent) => write!(f, "over:{percent}%"),
            EstimateRule::Uniform(factor) => write!(f, "uniform:{factor}"),
            EstimateRule::RaisedPrecision(points) => write!(f, "precision:+{points}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prints_as<T: FromStr<Err = FormatError> + fmt::Display>(text: &str) -> String {
        text.parse::<T>().map_or_else(|error| error.to_string(), |quantity| quantity.to_string())
    }

    #[test]
    fn time_prints_in_the_largest_unit_that_divides_it() {
        for (written, printed) in
            [("18h", "18h"), ("90 min", "90min"), ("48h", "2d"), ("1.5s", "1500ms"), ("0h", "0s")]
        {
            assert_eq!(prints_as::<TimeSpan>(written), printed);
        }
    }

    #[test]
    fn data_and_bandwidths_print_in_the_largest_unit_that_divides_them() {
        for (written, printed) in
            [("10MB", "10 MB"), ("0.5 GB", "500 MB"), ("1500 B", "1500 B"), ("0 kB", "0 B")]
        {
            assert_eq!(prints_as::<Bytes>(written), printed);
        }
        for (written, printed) in [("100 Mbit/s", "100 Mbit/s"), ("0.1Gbit/s", "100 Mbit/s")] {
            assert_eq!(prints_as::<Bandwidth>(written), printed);
        }
        for wrong in ["10", "10 MiB", "-1 B", "1e30 TB", "MB"] {
            assert!(wrong.parse::<Bytes>().is_err(), "{wrong}");
        }
        for wrong in ["0 bit/s", "5 MB/s", "x bit/s", "bit/s"] {
            assert!(wrong.parse::<Bandwidth>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn shares_and_estimates_round_trip() {
        for text in ["5%", "0.7%", "100%"] {
            assert_eq!(prints_as::<Share>(text), text);
            assert_eq!(prints_as::<TimeOrShare>(text), text);
        }
        for text in [
            "trace",
            "exact",
            "no-limit",
            "factor:2.5",
            "over:50%",
            "over:250%",
            "uniform:5",
            "precision:+20",
        ] {
            assert_eq!(prints_as::<EstimateRule>(text), text);
        }
        for text in ["88x60mm", "182.5x100mm", "400x300px"] {
            assert_eq!(prints_as::<PictureSize>(text), text);
        }
        for wrong in
            ["88x60", "88mm", "52x60mm", "399x300px", "400.5x300px", "1e9x60mm", "NaNx60mm"]
        {
            assert!(wrong.parse::<PictureSize>().is_err(), "{wrong}");
        }
        for wrong in ["0.5", "101%", "-1%", "NaN%", "%"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
        for wrong in ["factor", "factor:0.5", "over:50", "exact:1", "uniform:inf", "precision:20"] {
            assert!(wrong.parse::<EstimateRule>().is_err(), "{wrong}");
        }
    }
}
