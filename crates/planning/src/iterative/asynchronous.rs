//! The asynchronous scheduler (algorithm 5): processes one after the other on each core, without
//! waiting for others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use haggle_model::Span;

use super::{Core, IterativeApplication, MappingError, Process};

/// Core and time of each process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsynchronousMap {
    /// The processes in the order in which they were placed.
    pub processes: Vec<Process>,
    /// Time at which the last core is done.
    pub run_time: Span,
}

impl IterativeApplication {
    /// The map of algorithm 5. In rounds of one process of each size, the most demanding one first,
    /// each process is placed where it ends earliest; ties go to the fastest core. Each process is
    /// followed by a `merge` on its core.
    pub fn asynchronous(
        &self,
        cores: &[Core],
        merge: Span,
    ) -> Result<AsynchronousMap, MappingError> {
        let order = self.by_power(cores)?;
        let mut ready = Ready::new(cores, &order, self.throughputs.len());
        let mut left = self.processes.clone();
        let mut map = AsynchronousMap { processes: Vec::new(), run_time: Span::ZERO };
        while left.iter().any(|&left| left > 0) {
            for &size in &self.by_demand {
                if left[size] == 0 {
                    continue;
                }
                left[size] -= 1;
                let (start, rank, kind) = ready.take(|kind| self.process_time(kind, size));
                let end = start + self.process_time(kind, size);
                // The merge runs on the same core, which is therefore ready only after it.
                ready.give_back(end + merge, rank, kind);
                map.run_time = map.run_time.max(end + merge);
                let iterations = self.iterations;
                map.processes.push(Process { core: order[rank], size, iterations, start, end });
            }
        }
        Ok(map)
    }
}

/// Times at which cores are ready, one heap for each kind. Within a kind, the first ready core ends any
/// process first.
struct Ready(Vec<BinaryHeap<Reverse<(Span, usize)>>>);

impl Ready {
    fn new(cores: &[Core], order: &[usize], kinds: usize) -> Ready {
        let mut heaps = vec![BinaryHeap::new(); kinds];
        for (rank, &core) in order.iter().enumerate() {
            // The rank breaks ties: of cores that are ready together, the fastest is taken.
            heaps[cores[core].kind].push(Reverse((Span::ZERO, rank)));
        }
        Ready(heaps)
    }

    /// Takes the core that is the first to end a process, where `time` is its time on a kind. Returns
    /// the time at which the core is ready, its rank by power, and its kind.
    fn take(&mut self, time: impl Fn(usize) -> Span) -> (Span, usize, usize) {
        let ends = self.0.iter().enumerate().filter_map(|(kind, heap)| {
            let Reverse((ready, rank)) = *heap.peek()?;
            Some((ready + time(kind), rank, kind))
        });
        let (_, rank, kind) = ends.min().expect("there is a core, and each was given back");
        let Reverse((ready, _)) = self.0[kind].pop().expect("it was seen");
        (ready, rank, kind)
    }

    fn give_back(&mut self, ready: Span, rank: usize, kind: usize) {
        self.0[kind].push(Reverse((ready, rank)));
    }
}
