//! Virtual time in integer microseconds. Equal instants are equal on every machine, and no rounding
//! error can change the order of events.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Microseconds in a second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;

/// An instant of virtual time, in microseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Time(i64);

/// A length of virtual time, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Span(i64);

impl Time {
    /// The first multiple of `period` that is not before this time; this time for
    /// a period of zero.
    #[inline]
    pub fn next_multiple_of(self, period: Span) -> Time {
        let (now, period) = (self.as_micros(), period.as_micros());
        if period <= 0 {
            self
        } else {
            let periods = now.saturating_add(period - 1).div_euclid(period);
            Time::ending_with_all(periods.saturating_mul(period))
        }
    }

    /// Limits an instant to [`Time::FOREVER`].
    const fn ending_with_all(micros: i64) -> Time {
        if micros < Time::FOREVER.0 { Time(micros) } else { Time::FOREVER }
    }

    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Earlier than every event, also of a start state.
    pub const PAST: Time = Time(i64::MIN / 2);
    /// Later than every event; sums are limited to it.
    pub const FOREVER: Time = Time(i64::MAX / 2);

    /// The instant `micros` microseconds after the start of the run.
    pub const fn from_micros(micros: i64) -> Time {
        Time(micros)
    }

    /// The instant `seconds` seconds after the start of the run.
    pub const fn from_secs(seconds: i64) -> Time {
        Time(seconds.saturating_mul(MICROS_PER_SECOND))
    }

    /// Microseconds since the start of the run.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Seconds since the start of the run, for output only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / MICROS_PER_SECOND as f64
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The shortest span that is not empty: one microsecond.
    pub const TICK: Span = Span(1);
    /// Longer than every run: 73,000 years. A span of this length that begins within a run still ends
    /// before [`Time::FOREVER`].
    pub const FOREVER: Span = Span(i64::MAX / 4);

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: i64) -> Span {
        Span(micros)
    }

    /// A span of `seconds` seconds.
    pub const fn from_secs(seconds: i64) -> Span {
        Span(seconds.saturating_mul(MICROS_PER_SECOND))
    }

    /// A span of `seconds` seconds, rounded up to the next microsecond and limited to
    /// [`Span::FOREVER`]; NaN becomes zero.
    pub fn from_secs_f64(seconds: f64) -> Span {
        // Decimal seconds such as 0.1 are not exact in binary: without the
        // allowance, rounding up would add a microsecond to them.
        let micros = (seconds * MICROS_PER_SECOND as f64 - 1e-3).ceil();
        // The conversion saturates, and turns NaN into 0.
        Span((micros as i64).clamp(-Span::FOREVER.0, Span::FOREVER.0))
    }

    /// Microseconds.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Seconds, for output only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / MICROS_PER_SECOND as f64
    }

    /// True for [`Span::FOREVER`] and longer spans.
    pub const fn is_forever(self) -> bool {
        self.0 >= Span::FOREVER.0
    }

    /// The span times `factor`, rounded up to the next microsecond.
    pub fn scaled(self, factor: f64) -> Span {
        if self.is_forever() {
            return Span::FOREVER;
        }
        // The allowance keeps rounding from adding a microsecond to an exact product.
        let micros = (self.0 as f64 * factor - 1e-6).ceil();
        Span((micros as i64).clamp(-Span::FOREVER.0, Span::FOREVER.0))
    }

    /// The time that work of this length takes at `speed` (1 = the reference processor), rounded up to
    /// the next microsecond.
    pub fn at_speed(self, speed: f64) -> Span {
        // A reference processor must not change a time by rounding.
        if speed == 1.0 { self } else { self.scaled(1.0 / speed) }
    }
}

/// [`Time::FOREVER`] at the latest.
impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time::ending_with_all(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}

impl Mul<i64> for Span {
    type Output = Span;
    fn mul(self, factor: i64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
}

impl Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Add::add)
    }
}

/// Seconds with as many decimals as are needed, such as `12` or `0.25`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} s")
    }
}

/// Seconds with as many decimals as are needed, such as `12` or `0.25`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let micros = self.0.unsigned_abs();
        let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
        let text = if part == 0 {
            format!("{sign}{whole}")
        } else {
            format!("{sign}{whole}.{part:06}").trim_end_matches('0').to_owned()
        };
        f.pad(&text)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} s")
    }
}

/// Error for a text that is not a span.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a length of time: write a number and a unit (us, ms, s, min, h, d, w), such as \"18h\" or \"1h 30min\""
)]
pub struct ParseSpanError(String);

/// Reads lengths such as `18h`, `1.5 h`, `250 ms`, `1h 30min`. A bare number is refused, because a
/// number without a unit is easily misread.
impl FromStr for Span {
    type Err = ParseSpanError;

    fn from_str(text: &str) -> Result<Span, ParseSpanError> {
        let fail = || ParseSpanError(text.to_owned());
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(fail());
        }
        let mut total = 0_u128;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let number = &rest[..digits];
            rest = rest[digits..].trim_start();
            let letters = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
            let unit = micros_per_unit(&rest[..letters]).ok_or_else(fail)?;
            rest = rest[letters..].trim_start();
            total = micros(number, unit).and_then(|it| total.checked_add(it)).ok_or_else(fail)?;
        }
        let micros = i64::try_from(total).map_err(|_| fail())?;
        if micros >= Span::FOREVER.0 {
            return Err(fail());
        }
        Ok(Span(micros))
    }
}

/// Number of decimals that are read. The last of them, of a week, is less than a millionth of a
/// microsecond.
const DECIMALS: usize = 20;

/// A decimal number of units in microseconds, rounded up; `None` if it is no number or too large.
///
/// The product is computed without floats: 1.1 hours are no exact float, and rounding up would add a
/// microsecond.
fn micros(number: &str, unit: u128) -> Option<u128> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let part = &part[..part.len().min(DECIMALS)];
    let digits = format!("{whole}{part}").parse::<u128>().ok()?;
    let scale = 10_u128.pow(part.len() as u32);
    Some(digits.checked_mul(unit)?.div_ceil(scale))
}

fn micros_per_unit(unit: &str) -> Option<u128> {
    Some(match unit {
        "us" | "µs" => 1,
        "ms" => 1_000,
        "s" | "sec" | "second" | "seconds" => 1_000_000,
        "min" | "minute" | "minutes" => 60_000_000,
        "h" | "hour" | "hours" => 3_600_000_000,
        "d" | "day" | "days" => 86_400_000_000,
        "w" | "week" | "weeks" => 604_800_000_000,
        _ => return None,
    })
}

crate::words! {
    /// Order of an arrival and a completion at the same instant.
    #[derive(Default)]
    pub enum EventsOrder {
        // As pyss and most batch simulators do.
        /// The arriving job is considered before the processors of the completed one are free.
        #[default]
        SubmissionsFirst = "submissions-first",
        /// The processors of the completed job are free when the arriving one is considered.
        CompletionsFirst = "completions-first",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_with_units_are_read() {
        let micros = |text: &str| text.parse::<Span>().map(Span::as_micros);
        assert_eq!(micros("18h"), Ok(18 * 3_600_000_000));
        assert_eq!(micros("1h 30min"), Ok(5_400_000_000));
        assert_eq!(micros("0.25 s"), Ok(250_000));
        assert_eq!(micros("2 days"), Ok(172_800_000_000));
        for wrong in ["", "12", "h", ".s", "1 fortnight", "1..2s", "1.2.3s", "-3s", "1e30s"] {
            assert!(wrong.parse::<Span>().is_err(), "{wrong}");
        }
        assert!("99999999999999999 w".parse::<Span>().is_err());
    }

    #[test]
    fn decimals_of_spans_are_exact() {
        let micros = |text: &str| text.parse::<Span>().map(Span::as_micros);
        assert_eq!(micros("1.1h"), Ok(3_960_000_000));
        assert_eq!(micros("2.2 h"), Ok(7_920_000_000));
        assert_eq!(micros("1.1min"), Ok(66_000_000));
        assert_eq!(micros("100.1d"), Ok(8_648_640_000_000));
        assert_eq!(micros(".5s 1.s"), Ok(1_500_000));
        assert_eq!(micros("0.0000001s"), Ok(1), "a part of a microsecond counts as a whole one");
        assert_eq!(micros("0.333333333333333333333333333333 h"), Ok(1_200_000_000));
    }

    #[test]
    fn spans_print_as_seconds() {
        assert_eq!(Span::from_secs(12).to_string(), "12");
        assert_eq!(Span::from_micros(-250_000).to_string(), "-0.25");
        assert_eq!(format!("{:>6}", Span::from_secs(7)), "     7");
    }

    #[test]
    fn no_sum_is_later_than_for_ever() {
        let long = Span::from_secs(3_000_000_000_000);
        assert_eq!(Time::from_secs(2_000_000_000_000) + long, Time::FOREVER);
        assert_eq!(Time::FOREVER + Span::FOREVER + Span::FOREVER, Time::FOREVER);
        assert_eq!(Time::FOREVER.next_multiple_of(Span::from_secs(7)), Time::FOREVER);
        assert!((long * 1_000_000).is_forever() && (long + long + long + long).is_forever());
        assert!(Time::from_micros(5) + Span::FOREVER < Time::FOREVER);
    }

    #[test]
    fn rates_round_up_to_the_next_microsecond() {
        assert_eq!(Span::from_secs(10).at_speed(3.0).as_micros(), 3_333_334);
        assert_eq!(Span::from_secs(10).at_speed(2.0), Span::from_secs(5));
        assert_eq!(Span::from_secs_f64(0.1).as_micros(), 100_000);
        assert_eq!(Span::FOREVER.at_speed(2.0), Span::FOREVER);
    }
}
