//! Mean, spread and percentiles of a set of values.

use serde::{Deserialize, Serialize};

use crate::stats;

/// A set of values in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// How many values there are; at least one.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Their sample standard deviation (n - 1); missing for a single value.
    pub std: Option<f64>,
    /// The middle value.
    pub median: f64,
    /// 95 % of the values are at most this.
    pub p95: f64,
    /// The largest value.
    pub max: f64,
}

impl Distribution {
    /// The distribution of `values`, or `None` if there are none. Sorts them, so that
    /// the sums come out the same in whatever order jobs ended.
    pub fn of(mut values: Vec<f64>) -> Option<Distribution> {
        values.sort_unstable_by(f64::total_cmp);
        Some(Distribution {
            count: values.len() as u64,
            mean: stats::mean(&values)?,
            std: stats::sample_std(&values),
            median: percentile(&values, 0.5)?,
            p95: percentile(&values, 0.95)?,
            max: *values.last()?,
        })
    }
}

/// The value at rank `share` × (n - 1) of ascending `sorted`, linear between neighbours
/// (definition 7 of Hyndman and Fan 1996, NumPy's default).
pub fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let rank = share.clamp(0.0, 1.0) * last as f64;
    let below = rank.floor() as usize;
    let above = (below + 1).min(last);
    let part = rank - below as f64;
    Some(sorted[below] + (sorted[above] - sorted[below]) * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_numpy() {
        let values = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(percentile(&values, 0.5), Some(3.0));
        assert_eq!(percentile(&values, 0.95), Some(7.399999999999999)); // numpy.percentile gives 7.3999…
        assert_eq!(percentile(&values, 1.0), Some(8.0));
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn one_value_has_no_spread() {
        let one = Distribution::of(vec![5.0]).expect("one value");
        assert_eq!((one.mean, one.std, one.p95), (5.0, None, 5.0));
        assert_eq!(Distribution::of(Vec::new()), None);
    }
}
