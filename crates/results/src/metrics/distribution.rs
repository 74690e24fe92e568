//! Mean, spread and percentiles of a set of values.

use serde::{Deserialize, Serialize};

use crate::stats;

/// Statistics of a set of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of values; at least one.
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
    /// The distribution of `values`, or `None` if there are none. Values are sorted, so that sums do
    /// not depend on the order in which jobs ended.
    pub fn of(values: Vec<f64>) -> Option<Distribution> {
        let values = sorted(values);
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

/// Sorts like [`f64::total_cmp`], but compares integers, which is several times as fast.
fn sorted(values: Vec<f64>) -> Vec<f64> {
    // The bits of negative floats descend, so they are turned. The same turn restores the floats.
    let turned = |bits: i64| bits ^ ((bits >> 63) as u64 >> 1) as i64;
    let mut keys = Vec::from_iter(values.iter().map(|value| turned(value.to_bits() as i64)));
    keys.sort_unstable();
    keys.into_iter().map(|key| f64::from_bits(turned(key) as u64)).collect()
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
    fn floats_are_sorted_as_integers() {
        let mut values =
            vec![3.5, -0.0, f64::INFINITY, -1e300, 0.0, f64::NAN, -2.0, 1e-310, -f64::NAN];
        let found = sorted(values.clone());
        values.sort_by(f64::total_cmp);
        let bits = |values: Vec<f64>| Vec::from_iter(values.into_iter().map(f64::to_bits));
        assert_eq!(bits(found), bits(values));
    }

    #[test]
    fn one_value_has_no_spread() {
        let one = Distribution::of(vec![5.0]).expect("one value");
        assert_eq!((one.mean, one.std, one.p95), (5.0, None, 5.0));
        assert_eq!(Distribution::of(Vec::new()), None);
    }
}
