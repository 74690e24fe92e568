//! Axes: positions of values, and ticks.

use crate::type_face::told_apart;
use crate::{dates, type_face};

/// Height of tick labels, pixels.
pub(crate) const TICK_SIZE: f64 = 25.0;

/// An axis from `low` to `high`.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) label: String,
    low: f64,
    high: f64,
    log: bool,
    /// In the order of importance: of labels that would touch, the first one is drawn.
    pub(crate) ticks: Vec<(f64, String)>,
    /// Number of rows of tick labels, which are used in turn: names side by side need room.
    pub(crate) rows: usize,
    /// True if ticks continue as lines through the panel. Between names, such lines have no meaning.
    pub(crate) grid: bool,
    /// True if its ends were chosen. Values outside are not drawn then.
    cut: bool,
}

/// Scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum YScale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic; values that are not above 0 are drawn at the end.
    Log,
    /// Logarithmic, for times in seconds.
    LogTime,
}

/// Chosen ends of an axis, in its unit; other ends follow from the data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// The low one.
    pub low: Option<f64>,
    /// The high one.
    pub high: Option<f64>,
}

impl Limits {
    /// No end is chosen.
    pub const NONE: Limits = Limits { low: None, high: None };

    fn are_none(self) -> bool {
        self == Limits::NONE
    }
}

/// Usual durations, a few a decade.
const DURATIONS: [(f64, &str); 19] = [
    (0.000_001, "1 µs"),
    (0.000_01, "10 µs"),
    (0.000_1, "100 µs"),
    (0.001, "1 ms"),
    (0.01, "10 ms"),
    (0.1, "100 ms"),
    (1.0, "1 s"),
    (10.0, "10 s"),
    (60.0, "1 min"),
    (600.0, "10 min"),
    (3_600.0, "1 h"),
    (21_600.0, "6 h"),
    (86_400.0, "1 d"),
    (259_200.0, "3 d"),
    (604_800.0, "7 d"),
    (2_592_000.0, "30 d"),
    (31_536_000.0, "1 y"),
    (315_360_000.0, "10 y"),
    (3_153_600_000.0, "100 y"),
];

/// Usual durations between these.
const DURATIONS_BETWEEN: [(f64, &str); 27] = [
    (0.000_002, "2 µs"),
    (0.000_005, "5 µs"),
    (0.000_02, "20 µs"),
    (0.000_05, "50 µs"),
    (0.000_2, "200 µs"),
    (0.000_5, "500 µs"),
    (0.002, "2 ms"),
    (0.005, "5 ms"),
    (0.02, "20 ms"),
    (0.05, "50 ms"),
    (0.2, "200 ms"),
    (0.5, "500 ms"),
    (2.0, "2 s"),
    (5.0, "5 s"),
    (30.0, "30 s"),
    (120.0, "2 min"),
    (300.0, "5 min"),
    (1_800.0, "30 min"),
    (7_200.0, "2 h"),
    (43_200.0, "12 h"),
    (1_209_600.0, "14 d"),
    (7_776_000.0, "90 d"),
    (15_552_000.0, "180 d"),
    (63_072_000.0, "2 y"),
    (157_680_000.0, "5 y"),
    (630_720_000.0, "20 y"),
    (1_576_800_000.0, "50 y"),
];

impl Axis {
    /// A linear axis with round ticks, at most `most` of them.
    pub(crate) fn linear(label: &str, low: f64, high: f64, most: usize) -> Axis {
        let (low, high) = opened(low, high);
        Axis {
            label: label.to_owned(),
            low,
            high,
            log: false,
            ticks: linear_ticks(low, high, most),
            rows: 1,
            grid: true,
            cut: false,
        }
    }

    /// A linear axis from 0 to a round number at or above `high`, for amounts.
    pub(crate) fn amounts(label: &str, high: f64, most: usize) -> Axis {
        let high = if high > 0.0 { high } else { 1.0 };
        // The tolerance keeps rounding from adding a step behind a multiple.
        let step = round_step(high / most as f64);
        Axis::linear(label, 0.0, (high / step - 1e-9).ceil() * step, most)
    }

    /// The axis of time of a run in seconds, or of dates if the local time at 0 is known.
    pub(crate) fn of_run(low: f64, high: f64, clock: Option<i64>, room: f64) -> Axis {
        let (low, high) = opened(low, high);
        match clock {
            Some(zero) => dates::axis((low, high), zero, room),
            None => Axis::time("time", low, high, room),
        }
    }

    /// A linear axis of time given in seconds. It is labelled in a suitable unit, with labels that fit
    /// in `room` pixels.
    pub(crate) fn time(label: &str, low: f64, high: f64, room: f64) -> Axis {
        let (low, high) = opened(low, high);
        let (unit, seconds) = time_unit(high - low);
        let mut axis = Axis::linear(&format!("{label}, {unit}"), low, high, 10);
        for most in (2..=10).rev() {
            axis.ticks = linear_ticks(low / seconds, high / seconds, most)
                .into_iter()
                .map(|(value, text)| (value * seconds, text))
                .collect();
            let wide = |(_, text): &(f64, String)| type_face::width(text, TICK_SIZE) + 30.0;
            if axis.ticks.iter().map(wide).sum::<f64>() <= room {
                break;
            }
        }
        axis
    }

    /// The same axis with chosen ends.
    pub(crate) fn limited(self, scale: YScale, limits: Limits) -> Axis {
        if limits.are_none() {
            return self;
        }
        let (low, high) = (limits.low.unwrap_or(self.low), limits.high.unwrap_or(self.high));
        let (low, high) = opened(low, high);
        let axis = match scale {
            YScale::Linear => Axis::linear(&self.label, low, high, 6),
            YScale::Log => Axis { low, high, ticks: log_ticks(low, high), ..self },
            YScale::LogTime => Axis { low, high, ticks: log_time_ticks(low, high), ..self },
        };
        Axis { cut: true, ..axis }
    }

    /// True if a value is drawn: it lies between the chosen ends, or no ends were chosen.
    pub(crate) fn shows(&self, value: f64) -> bool {
        !self.cut || (self.low..=self.high).contains(&value)
    }

    /// True if its ends were chosen.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    /// A logarithmic axis of durations in seconds, with ticks at usual durations such as 10 min.
    pub(crate) fn log_time(label: &str, low: f64, high: f64) -> Axis {
        // Usual durations are further apart than round numbers.
        let mut axis = Axis::log(label, low, high.max(low.max(1e-9) * 10.0));
        axis.ticks = log_time_ticks(axis.low, axis.high);
        axis
    }

    /// A logarithmic axis with ticks at powers of ten. If these are few, there are ticks between them.
    /// Both ends must be above 0.
    pub(crate) fn log(label: &str, low: f64, high: f64) -> Axis {
        let low = low.max(1e-9);
        let high = high.max(low * 4.0);
        Axis {
            label: label.to_owned(),
            low,
            high,
            log: true,
            ticks: log_ticks(low, high),
            rows: 1,
            grid: true,
            cut: false,
        }
    }

    /// An axis with a place for each name, at 0.5, 1.5 …
    pub(crate) fn names(label: &str, names: &[String], room: f64) -> Axis {
        const ROWS: usize = 3;
        // More names in several rows would be unreadable.
        const MANY: usize = 40;
        let count = names.len().max(1);
        let place = room / count as f64;
        let widest = names.iter().map(|name| type_face::width(name, TICK_SIZE));
        let widest = widest.fold(1.0, f64::max) + 16.0;
        // Wide names are put in several rows, and are shortened as long as they stay readable. If that
        // is not enough, only every second, third … name is shown.
        let wanted = (widest.min(110.0) / place).ceil().max(1.0) as usize;
        let rows = if count > MANY { 1 } else { wanted.min(ROWS) };
        let every = wanted.div_ceil(rows);
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let short = told_apart(&all, TICK_SIZE, place * (every * rows) as f64 - 12.0);
        let ticks = short.into_iter().enumerate().step_by(every);
        let ticks = ticks.map(|(i, text)| (i as f64 + 0.5, text));
        Axis { rows, ..Axis::places(label, count, ticks.collect()) }
    }

    /// An axis with a lane for each name, from top to bottom, in `room` pixels. The first lane lies
    /// between `names.len() - 1` and `names.len()`.
    pub(crate) fn lanes(label: &str, names: &[String], room: f64) -> Axis {
        const WIDEST: f64 = 300.0;
        let count = names.len().max(1);
        // If lanes are too flat, only some have their names.
        let every = ((TICK_SIZE + 4.0) * count as f64 / room).ceil().max(1.0) as usize;
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let short = told_apart(&all, TICK_SIZE, WIDEST).into_iter().enumerate().step_by(every);
        let ticks = short.map(|(i, text)| (count as f64 - i as f64 - 0.5, text));
        Axis { grid: true, ..Axis::places(label, count, ticks.collect()) }
    }

    /// An axis with this number of places side by side.
    pub(crate) fn places(label: &str, count: usize, ticks: Vec<(f64, String)>) -> Axis {
        let (low, high) = (0.0, count as f64);
        let label = label.to_owned();
        Axis { label, low, high, log: false, ticks, rows: 1, grid: false, cut: false }
    }

    /// Position of a value: 0 at the low end, 1 at the high one. Values outside are at the end.
    pub(crate) fn share(&self, value: f64) -> f64 {
        self.open_share(value).clamp(0.0, 1.0)
    }

    /// Position of a value, which may lie outside of the axis.
    pub(crate) fn open_share(&self, value: f64) -> f64 {
        let share = if self.log {
            // A value without a logarithm lies far away.
            let least = value.max(self.low * 1e-12);
            (least / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if share.is_nan() { 0.0 } else { share }
    }

    /// The value at a share.
    pub(crate) fn value(&self, share: f64) -> f64 {
        if self.log {
            self.low * (self.high / self.low).powf(share)
        } else {
            self.low + (self.high - self.low) * share
        }
    }
}

/// The most readable unit for a span of `seconds`, and its length in seconds.
pub fn time_unit(seconds: f64) -> (&'static str, f64) {
    match seconds {
        span if span <= 600.0 => ("s", 1.0),
        span if span <= 3.0 * 3_600.0 => ("min", 60.0),
        span if span <= 4.0 * 86_400.0 => ("h", 3_600.0),
        _ => ("days", 86_400.0),
    }
}

/// The start of an axis of time: the start of the run, unless the first job comes late.
pub(crate) fn from_zero(first: f64, last: f64) -> f64 {
    if (0.0..0.1 * last).contains(&first) { 0.0 } else { first }
}

/// Extends an empty range.
fn opened(low: f64, high: f64) -> (f64, f64) {
    if high > low { (low, high) } else { (low, low + 1.0) }
}

/// Ticks at powers of ten, and between them if these are few; powers come first.
fn log_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    // The tolerance keeps rounding from losing a power at either end.
    let within = |value: f64| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(&value);
    // Numbers are written out if all of them are short enough: `10000` and `10⁵` are hard to compare.
    let (short, small) = (-3..=4, -2..=2);
    // Parsed from text, powers of ten have no rounding error.
    let at =
        |factor: u8, power: i32| -> f64 { format!("{factor}e{power}").parse().unwrap_or(f64::NAN) };
    let whole: Vec<i32> = (first..=last).filter(|&power| within(at(1, power))).collect();
    let all_short = whole.iter().all(|power| short.contains(power));
    let text = |value: f64, power: i32| match all_short || small.contains(&power) {
        true => format!("{value}"),
        false => format!("10{}", superscript(power)),
    };
    // One tick does not show the scale.
    let between = whole.len() < 3 && short.contains(&first) && short.contains(&last);
    let factors: &[u8] = if between { &[1, 2, 5] } else { &[1] };
    let ticks = factors.iter().flat_map(|&it| (first..=last).map(move |power| (it, power)));
    let ticks = ticks.map(|(factor, power)| (at(factor, power), power));
    ticks.filter(|it| within(it.0)).map(|(value, power)| (value, text(value, power))).collect()
}

/// Ticks at usual durations. Durations about a decade apart come first.
fn log_time_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let ticks = |named: &[(f64, &str)]| {
        let named = named.iter().map(|&(value, text)| (value, text.to_owned()));
        named.filter(|(value, _)| (low..=high).contains(value)).collect::<Vec<_>>()
    };
    let mut some = ticks(&DURATIONS);
    // One tick does not show the scale.
    if some.len() < 3 {
        some.extend(ticks(&DURATIONS_BETWEEN));
    }
    some
}

fn linear_ticks(low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
    let step = round_step((high - low) / most.max(1) as f64);
    let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
    let text = |value: f64| match step {
        step if step >= 1e4 && value == 0.0 => "0".to_owned(),
        step if step >= 1e6 => format!("{}M", value / 1e6),
        step if step >= 1e4 => format!("{}k", value / 1e3),
        _ => format!("{value:.decimals$}"),
    };
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    // Multiples are counted in integers, so that no rounding errors add up.
    (first..=last).map(|i| i as f64 * step).map(|value| (value, text(value))).collect()
}

/// The smallest of 1, 2, 5, 10, 20 … at or above `step`.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.max(1e-12).log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|it| it * power >= step * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

fn superscript(number: i32) -> String {
    let letter = |letter: char| match letter {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        // Superscripts of the other digits are consecutive in Unicode.
        digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
    };
    number.to_string().chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let texts = |low, high| {
            let ticks = linear_ticks(low, high, 6);
            ticks.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(texts(0.0, 1.0), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(texts(3.0, 47.0), "10 20 30 40");
        assert_eq!(texts(0.0, 90_000.0), "0 20k 40k 60k 80k");
    }

    /// From delays of networks to years of operation.
    #[test]
    fn a_logarithmic_axis_of_times_has_ticks_wherever_it_lies() {
        let texts = |low, high| {
            let ticks = Axis::log_time("time", low, high).ticks;
            ticks.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(texts(0.01, 0.6), "10 ms 100 ms 20 ms 50 ms 200 ms 500 ms");
        assert_eq!(texts(0.002, 40.0), "10 ms 100 ms 1 s 10 s");
        assert_eq!(texts(30.0, 600.0), "1 min 10 min 30 s 2 min 5 min");
        let mut low = 0.000_001;
        while low < 1e8 {
            let ticks = Axis::log_time("time", low, low).ticks.len();
            assert!(ticks >= 2, "from {low} s on there are {ticks}");
            low *= 1.3;
        }
    }

    #[test]
    fn powers_of_ten_are_written_in_one_way() {
        let texts = |low, high| {
            let ticks = log_ticks(low, high);
            ticks.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(texts(1.0, 12_000.0), "1 10 100 1000 10000");
        assert_eq!(texts(1.0, 200_000.0), "1 10 100 10³ 10⁴ 10⁵");
        assert_eq!(texts(0.1, 0.55), "0.1 0.2 0.5");
        // Ticks whose labels are drawn first come first.
        assert_eq!(texts(20.0, 2_100.0), "100 1000 20 200 2000 50 500");
        assert_eq!(texts(1e-5, 0.02), "10⁻⁵ 10⁻⁴ 10⁻³ 0.01");
    }

    #[test]
    fn axes_of_nothing_are_still_axes() {
        let axis = Axis::amounts("jobs", 0.0, 5);
        assert_eq!((axis.share(0.0), axis.share(1.0)), (0.0, 1.0));
        let axis = Axis::log("slowdown", 1.0, 1.0);
        assert_eq!((axis.share(0.0), axis.share(10.0)), (0.0, 1.0));
        assert_eq!(superscript(-12), "⁻¹²");
    }
}
