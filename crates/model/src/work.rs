//! Computing speed and computing work as integers, so that shares of a
//! processor are exact and no rounding error decides which job ends first.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use crate::Span;

/// A computing speed in micro-MIPS: millionths of a million instructions per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Speed(u64);

impl Speed {
    /// Zero.
    pub const ZERO: Speed = Speed(0);

    /// A speed of `mips` MIPS.
    pub const fn from_mips(mips: u64) -> Speed {
        Speed(mips * 1_000_000)
    }

    /// A speed of `micro_mips` micro-MIPS.
    pub const fn from_micro_mips(micro_mips: u64) -> Speed {
        Speed(micro_mips)
    }

    /// Micro-MIPS.
    pub const fn as_micro_mips(self) -> u64 {
        self.0
    }

    /// MIPS.
    pub fn as_mips_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The rest of this speed beside `other`; zero if `other` is larger.
    pub const fn saturating_sub(self, other: Speed) -> Speed {
        Speed(self.0.saturating_sub(other.0))
    }

    /// Work computed at this speed in a span of at least zero.
    #[inline]
    pub fn over(self, span: Span) -> Work {
        let micros = u128::try_from(span.as_micros()).expect("spans of work are not negative");
        Work((u128::from(self.0) * micros).saturating_mul(Work::PER_MICRO))
    }
}

/// MIPS with as many decimals as are needed, such as `0.5 MIPS`.
impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A `Span` prints millionths in the same way.
        write!(f, "{} MIPS", Span::from_micros(self.0 as i64))
    }
}

impl fmt::Debug for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An amount of computing, such as the length of a job; 1 MI (million instructions) is the work of 1
/// MIPS in a second.
///
/// It is counted in parts of the work of a micro-MIPS in a microsecond. The parts are so small that
/// equal shares among up to 22 jobs, and shares in steps of 0.01 %, are whole numbers of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Work(u128);

impl Work {
    /// Zero.
    pub const ZERO: Work = Work(0);

    /// Parts of the work of a micro-MIPS in a microsecond: the least common multiple of 1 to 22 and of 10,000.
    pub const PER_MICRO: u128 = 29_099_070_000;

    /// Parts in a MI.
    const PER_MI: u128 = Work::PER_MICRO * 1_000_000_000_000;

    /// Work of `mi` MI.
    pub const fn from_mi(mi: u64) -> Work {
        Work(mi as u128 * Work::PER_MI)
    }

    /// Work of `parts` parts.
    pub const fn from_parts(parts: u128) -> Work {
        Work(parts)
    }

    /// In parts.
    pub const fn as_parts(self) -> u128 {
        self.0
    }

    /// MI, for output only.
    pub fn as_mi_f64(self) -> f64 {
        // In two parts, because all parts may need more bits than a float has.
        let (whole, rest) = (self.0 / Work::PER_MI, self.0 % Work::PER_MI);
        whole as f64 + rest as f64 / Work::PER_MI as f64
    }

    /// The rest of this work after `other`; zero if `other` is larger.
    pub const fn saturating_sub(self, other: Work) -> Work {
        Work(self.0.saturating_sub(other.0))
    }

    /// The time it takes at `speed`, rounded up to the next microsecond; [`Span::FOREVER`] at speed zero.
    #[inline]
    pub fn at(self, speed: Speed) -> Span {
        self.at_effective(EffectiveSpeed::shared(speed, 1))
    }

    /// The time it takes at an effective speed, rounded up to the next microsecond; [`Span::FOREVER`] at speed zero.
    #[inline]
    pub fn at_effective(self, speed: EffectiveSpeed) -> Span {
        // No work takes no time, even at speed zero.
        if self == Work::ZERO {
            return Span::ZERO;
        }
        let parts = self.0.saturating_mul(u128::from(speed.divisor));
        match u128::from(speed.speed.0) * Work::PER_MICRO {
            0 => Span::FOREVER,
            rate => span_of(parts.div_ceil(rate)),
        }
    }
}

/// A span of `micros` microseconds, limited to [`Span::FOREVER`].
#[inline]
pub fn span_of(micros: u128) -> Span {
    i64::try_from(micros).map_or(Span::FOREVER, Span::from_micros).min(Span::FOREVER)
}

impl Add for Work {
    type Output = Work;
    fn add(self, other: Work) -> Work {
        Work(self.0 + other.0)
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.0 += other.0;
    }
}

impl Sub for Work {
    type Output = Work;
    fn sub(self, other: Work) -> Work {
        Work(self.0 - other.0)
    }
}

impl SubAssign for Work {
    fn sub_assign(&mut self, other: Work) {
        self.0 -= other.0;
    }
}

impl Sum for Work {
    fn sum<I: Iterator<Item = Work>>(work: I) -> Work {
        work.fold(Work::ZERO, Add::add)
    }
}

/// MI, rounded to six decimals.
impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} MI", self.as_mi_f64())
    }
}

/// A speed divided among jobs, avail/n: the share of each of them. Compared exactly, by cross-multiplication.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct EffectiveSpeed {
    speed: Speed,
    divisor: u64,
}

impl EffectiveSpeed {
    /// The share of each of `jobs`, at least one.
    #[inline]
    pub const fn shared(speed: Speed, jobs: u64) -> EffectiveSpeed {
        assert!(jobs > 0, "a speed is shared by at least one job");
        EffectiveSpeed { speed, divisor: jobs }
    }

    /// Work computed at this speed in a span of at least zero, rounded down.
    pub fn over(self, span: Span) -> Work {
        Work(self.speed.over(span).0 / u128::from(self.divisor))
    }
}

impl Ord for EffectiveSpeed {
    fn cmp(&self, other: &EffectiveSpeed) -> Ordering {
        // Two numbers of 64 bits have a product of at most 128.
        let product = |speed: Speed, divisor: u64| u128::from(speed.0) * u128::from(divisor);
        product(self.speed, other.divisor).cmp(&product(other.speed, self.divisor))
    }
}

impl PartialOrd for EffectiveSpeed {
    fn partial_cmp(&self, other: &EffectiveSpeed) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// 2/2 equals 1/1.
impl PartialEq for EffectiveSpeed {
    fn eq(&self, other: &EffectiveSpeed) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for EffectiveSpeed {}

/// A fraction in parts per million, such as 0.25 or 1 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fraction(u32);

impl Fraction {
    /// Zero.
    pub const ZERO: Fraction = Fraction(0);
    /// One.
    pub const ONE: Fraction = Fraction(1_000_000);

    /// A fraction of `ppm` parts per million.
    pub const fn from_ppm(ppm: u32) -> Fraction {
        Fraction(ppm)
    }

    /// A fraction of `percent` per cent.
    pub const fn from_percent(percent: u32) -> Fraction {
        Fraction(percent * 10_000)
    }

    /// Parts per million.
    pub const fn as_ppm(self) -> u32 {
        self.0
    }

    /// This fraction of a span of at least zero, rounded up to the next
    /// microsecond and limited to [`Span::FOREVER`].
    #[inline]
    pub fn of(self, span: Span) -> Span {
        let micros = u64::try_from(span.as_micros()).expect("spans of work are not negative");
        // Products for a few months fit into 64 bits, and their division takes a tenth of the time.
        match micros.checked_mul(u64::from(self.0)) {
            Some(parts) => span_of(parts.div_ceil(1_000_000).into()),
            None => span_of((u128::from(micros) * u128::from(self.0)).div_ceil(1_000_000)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_up_to_22_jobs_and_hundredths_of_a_percent_are_whole() {
        assert!((1..=22).all(|jobs| Work::PER_MICRO.is_multiple_of(jobs)));
        assert!(Work::PER_MICRO.is_multiple_of(10_000));
    }

    #[test]
    fn work_takes_its_length_divided_by_the_speed_rounded_up() {
        assert_eq!(Work::from_mi(6).at(Speed::from_mips(4)), Span::from_micros(1_500_000));
        assert_eq!(Work::from_mi(10).at(Speed::from_mips(3)), Span::from_micros(3_333_334));
        assert_eq!(Work::from_mi(1).at(Speed::ZERO), Span::FOREVER);
        assert_eq!(Work::ZERO.at(Speed::ZERO), Span::ZERO);
        assert_eq!(Speed::from_micro_mips(500_000).over(Span::from_secs(6)), Work::from_mi(3));
    }

    #[test]
    fn effective_speeds_are_compared_as_fractions() {
        let shared = |mips, jobs| EffectiveSpeed::shared(Speed::from_mips(mips), jobs);
        assert_eq!(shared(2, 2), shared(1, 1));
        assert!(shared(3, 2) < shared(2, 1));
        assert!(shared(1, 3) > shared(333, 1000));
    }
}
