//! Runs cut into chunks of about equal cost, one for each task.

use std::collections::BTreeMap;

/// Measured costs of runs, s.
#[derive(Clone, Debug, Default)]
pub(crate) struct Costs {
    /// By the number of a run.
    measured: BTreeMap<usize, f64>,
}

impl Costs {
    /// Adds the duration of a run.
    pub(crate) fn add(&mut self, run: usize, seconds: f64) {
        self.measured.insert(run, seconds);
    }

    /// True if there are no measurements.
    pub(crate) fn is_empty(&self) -> bool {
        self.measured.is_empty()
    }

    /// Estimated cost of a run: that of the nearest measured run, since the runs of a point follow
    /// each other. `None` without measurements.
    pub(crate) fn of(&self, run: usize) -> Option<f64> {
        let before = self.measured.range(..=run).next_back();
        let after = self.measured.range(run..).next();
        let nearest = match (before, after) {
            // At equal distances, the earlier run counts.
            (Some(before), Some(after)) if after.0 - run < run - before.0 => after,
            (Some(before), _) => before,
            (None, after) => after?,
        };
        Some(*nearest.1)
    }
}

/// Cuts units (runs, or packs of them), each with its cost, in order. No chunk costs more than
/// `most`, except a single unit that does.
pub(crate) fn cut(units: &[(usize, f64)], most: f64) -> Vec<Vec<usize>> {
    let mut chunks: Vec<Vec<usize>> = Vec::new();
    let mut left = 0.0;
    for &(unit, cost) in units {
        match chunks.last_mut().filter(|_| cost <= left) {
            Some(chunk) => chunk.push(unit),
            None => {
                chunks.push(vec![unit]);
                left = most;
            }
        }
        // Below zero behind a unit that alone costs too much: the next one then begins a chunk.
        left -= cost;
    }
    chunks
}

/// Cuts units into chunks of equal size.
pub(crate) fn cut_evenly(units: &[usize], each: usize) -> Vec<Vec<usize>> {
    units.chunks(each.max(1)).map(<[usize]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cost_about_the_same() {
        let units: Vec<(usize, f64)> =
            (0..10).map(|unit| (unit, if unit < 5 { 1.0 } else { 4.0 })).collect();
        assert_eq!(
            cut(&units, 8.0),
            [vec![0, 1, 2, 3, 4], vec![5, 6], vec![7, 8], vec![9]].map(|chunk| chunk.to_vec())
        );
        assert_eq!(cut(&units, 0.5).len(), 10);
        assert_eq!(cut(&[], 1.0).len(), 0);
        assert_eq!(cut_evenly(&[1, 2, 5], 2), [vec![1, 2], vec![5]]);
    }

    #[test]
    fn a_run_costs_what_the_nearest_one_did() {
        let mut costs = Costs::default();
        assert_eq!(costs.of(3), None);
        costs.add(0, 1.0);
        costs.add(10, 5.0);
        assert_eq!([0, 5, 6, 10, 99].map(|run| costs.of(run)), [1.0, 1.0, 5.0, 5.0, 5.0].map(Some));
    }
}
