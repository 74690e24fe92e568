//! Failures that the nodes of a provider have seen, for rules of checkpoints that depend on them.

use haggle_model::{ProcessorSet, Time};
use haggle_scheduling::checkpoints::FailureHistory;
use serde::{Deserialize, Serialize};

/// The failures of each node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SeenByNodes {
    /// Processors of a node.
    size: u32,
    /// Empty if no rule needs them.
    seen: Vec<FailureHistory>,
}

const NONE: FailureHistory = FailureHistory::new(Time::ZERO);

impl SeenByNodes {
    /// The nodes of so many processors, each of `size` processors; none if no rule needs them.
    pub(super) fn new(processors: u32, size: Option<u32>) -> SeenByNodes {
        let Some(size) = size else { return SeenByNodes::default() };
        SeenByNodes { size, seen: vec![NONE; processors.div_ceil(size) as usize] }
    }

    /// The nodes of these processors, each once.
    fn of<'a>(&self, processors: &'a ProcessorSet) -> impl Iterator<Item = usize> + use<'a> {
        let size = self.size;
        let mut next = 0;
        processors.intervals().iter().flat_map(move |&(first, last)| {
            let nodes = (first / size).max(next)..last / size + 1;
            next = nodes.end.max(next);
            nodes.map(|node| node as usize)
        })
    }

    /// These processors have failed. Processors that are down at the start of the run do not count
    /// as a failure, and a node fails once at one instant.
    pub(super) fn failed(&mut self, now: Time, processors: &ProcessorSet) {
        if self.seen.is_empty() || now == Time::ZERO {
            return;
        }
        for node in self.of(processors) {
            let seen = &mut self.seen[node];
            if seen.last_failure() < now {
                seen.failed(now);
            }
        }
    }

    /// Failures that the nodes under a job have seen.
    pub(super) fn under(&self, processors: &ProcessorSet) -> FailureHistory {
        if self.seen.is_empty() {
            return NONE;
        }
        self.of(processors).fold(NONE, |all, node| all.joined(self.seen[node]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_knows_the_failures_of_each_of_its_nodes_once() {
        let mut nodes = SeenByNodes::new(20, Some(8));
        let at = Time::from_secs;
        nodes.failed(at(0), &ProcessorSet::range(0, 20));
        nodes.failed(at(10), &ProcessorSet::range(0, 16));
        nodes.failed(at(10), &ProcessorSet::range(4, 8));
        nodes.failed(at(30), &ProcessorSet::range(16, 4));
        let seen = |first, count| {
            let it = nodes.under(&ProcessorSet::range(first, count));
            (it.failures(), it.last_failure())
        };
        assert_eq!(seen(0, 8), (1, at(10)));
        assert_eq!(seen(7, 2), (2, at(10)));
        assert_eq!(seen(15, 2), (2, at(30)));
        let holes = ProcessorSet::range(0, 2).union(&ProcessorSet::range(5, 2));
        assert_eq!(nodes.under(&holes.union(&ProcessorSet::range(19, 1))).failures(), 2);
        assert_eq!(SeenByNodes::new(20, None).under(&holes), NONE);
    }
}
