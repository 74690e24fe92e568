//! Counts of values, and their distribution.

use std::collections::BTreeMap;

use serde::Serialize;

use super::histogram::Log2Histogram;

/// Mean and quantiles; all 0 if there are no values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// Number of values.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Smallest.
    pub min: f64,
    /// Smallest value that at least half of them do not exceed.
    pub median: f64,
    /// The same for nine of ten values.
    pub p90: f64,
    /// The same for 99 of 100 values.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

/// Number of occurrences of each value.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    counts: BTreeMap<i64, u64>,
    count: u64,
    sum: i128,
}

impl Values {
    pub(super) fn add(&mut self, value: i64) {
        *self.counts.entry(value).or_default() += 1;
        self.count += 1;
        self.sum += i128::from(value);
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The distribution in a unit in which the value 1 is `unit`.
    pub(super) fn distribution(&self, unit: f64) -> Distribution {
        let (Some((&min, _)), Some((&max, _))) =
            (self.counts.first_key_value(), self.counts.last_key_value())
        else {
            return Distribution::default();
        };
        // Division by a whole number is exact where multiplication by 1e-6 is not.
        let scaled = |value: f64| value / (1.0 / unit).round();
        Distribution {
            count: self.count,
            mean: scaled(self.sum as f64 / self.count as f64),
            min: scaled(min as f64),
            median: scaled(self.quantile(50) as f64),
            p90: scaled(self.quantile(90) as f64),
            p99: scaled(self.quantile(99) as f64),
            max: scaled(max as f64),
        }
    }

    pub(super) fn histogram(&self, unit: i64) -> Log2Histogram {
        let mut histogram = Log2Histogram::default();
        for (&value, &count) in &self.counts {
            histogram.add(value.div_euclid(unit), count);
        }
        histogram
    }

    fn quantile(&self, percent: u64) -> i64 {
        // Rounded up: the smallest rank that covers the percentage. The product may exceed 64 bits.
        let rank = (u128::from(self.count) * u128::from(percent)).div_ceil(100) as u64;
        let mut seen = 0;
        for (&value, &count) in &self.counts {
            seen += count;
            if seen >= rank {
                return value;
            }
        }
        // Not reached if there are values, because the rank never exceeds their count.
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_came() {
        let mut values = Values::default();
        for value in 1..=10 {
            values.add(value * 1_000_000);
        }
        let found = values.distribution(1e-6);
        assert_eq!((found.min, found.median, found.p90, found.max), (1.0, 5.0, 9.0, 10.0));
        assert_eq!((found.count, found.mean), (10, 5.5));
        assert_eq!(Values::default().distribution(1.0), Distribution::default());
    }
}
