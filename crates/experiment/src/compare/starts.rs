//! Starts of jobs that are the same in two runs, A and B.

use serde::Serialize;

/// Numbers of jobs by their starts in two runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Starts {
    /// The same in both.
    pub in_both: usize,
    /// Started earlier in B.
    pub earlier: usize,
    /// Started later in B.
    pub later: usize,
    /// Started at the same instant.
    pub same: usize,
    /// Started in A only.
    pub started_only_in_a: usize,
    /// Started in B only.
    pub started_only_in_b: usize,
    /// Started in neither.
    pub started_in_neither: usize,
    /// Queued by another provider.
    pub other_provider: usize,
    /// Sum of the delays of starts in B, s.
    #[serde(skip)]
    delays: f64,
}

impl Starts {
    /// Adds a job with its starts in A and B, s. Returns the delay of its start in B if it started in both.
    pub fn add(&mut self, starts: (Option<f64>, Option<f64>), other_provider: bool) -> Option<f64> {
        self.in_both += 1;
        self.other_provider += usize::from(other_provider);
        let (a, b) = match starts {
            (Some(a), Some(b)) => (a, b),
            (Some(_), None) => {
                self.started_only_in_a += 1;
                return None;
            }
            (None, Some(_)) => {
                self.started_only_in_b += 1;
                return None;
            }
            (None, None) => {
                self.started_in_neither += 1;
                return None;
            }
        };
        let delay = b - a;
        self.earlier += usize::from(delay < 0.0);
        self.later += usize::from(delay > 0.0);
        self.same += usize::from(delay == 0.0);
        self.delays += delay;
        Some(delay)
    }

    /// Mean delay of the start in B, s, over the jobs that started in both.
    pub fn mean_delay(&self) -> Option<f64> {
        let started = self.earlier + self.later + self.same;
        (started > 0).then(|| self.delays / started as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_job_counts_once_by_its_starts() {
        let mut starts = Starts::default();
        assert_eq!(starts.mean_delay(), None);
        assert_eq!(starts.add((Some(1.0), Some(4.0)), true), Some(3.0));
        assert_eq!(starts.add((Some(5.0), Some(4.0)), false), Some(-1.0));
        assert_eq!(starts.add((Some(5.0), Some(5.0)), true), Some(0.0));
        assert_eq!(starts.add((Some(5.0), None), true), None);
        assert_eq!(starts.add((None, Some(5.0)), false), None);
        assert_eq!(starts.add((None, None), false), None);
        let Starts { in_both, earlier, later, same, other_provider, .. } = starts;
        assert_eq!((in_both, earlier, later, same, other_provider), (6, 1, 1, 1, 3));
        let Starts { started_only_in_a, started_only_in_b, started_in_neither, .. } = starts;
        assert_eq!((started_only_in_a, started_only_in_b, started_in_neither), (1, 1, 1));
        assert_eq!(starts.mean_delay(), Some(2.0 / 3.0));
    }
}
