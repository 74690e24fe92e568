//! Histograms with bins that double in width.

use serde::Serialize;

/// Counts by powers of two. Bins without jobs between others are included, with 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Log2Histogram {
    /// The bins: below 1, from 1 to below 2, from 2 to below 4, and so on.
    pub bins: Vec<Bin>,
}

/// One bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bin {
    /// Lower end, included.
    pub from: i64,
    /// Upper end, not included.
    pub to: i64,
    /// Jobs in it.
    pub jobs: u64,
}

impl Log2Histogram {
    pub(super) fn add(&mut self, value: i64, jobs: u64) {
        let bin = if value < 1 { 0 } else { value.ilog2() as usize + 1 };
        while self.bins.len() <= bin {
            let power = self.bins.len() as u32;
            self.bins.push(Bin {
                from: if power == 0 { 0 } else { 1 << (power - 1) },
                // 2^63 does not fit, so the last bin ends at the largest number.
                to: 1_i64.checked_shl(power).filter(|&to| to > 0).unwrap_or(i64::MAX),
                jobs: 0,
            });
        }
        self.bins[bin].jobs += jobs;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_double_and_have_no_holes() {
        let mut histogram = Log2Histogram::default();
        for value in [0, 1, 7, 8, i64::MAX] {
            histogram.add(value, 1);
        }
        let bins = &histogram.bins;
        assert_eq!(bins.len(), 64);
        assert_eq!((bins[0].from, bins[0].to, bins[0].jobs), (0, 1, 1));
        assert_eq!((bins[3].from, bins[3].to, bins[3].jobs), (4, 8, 1));
        assert_eq!((bins[4].from, bins[4].to, bins[4].jobs), (8, 16, 1));
        assert_eq!(bins[63].to, i64::MAX);
    }
}
