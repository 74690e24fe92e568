//! The synchronous scheduler (algorithm 4): stages of one process a core, each followed by a merge.

use haggle_model::Span;

use super::{Core, IterativeApplication, MappingError, Process};

/// Cost of a merge of the results of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Merge {
    /// Computing time, for any number of sites.
    pub fixed: Span,
    /// One transfer between two sites.
    pub transfer: Span,
    /// Number of consecutive transfers if there are two or more sites: 2 for one to the coordinator and one back.
    pub transfers: u32,
}

impl Merge {
    /// Time of a merge on these cores.
    pub fn time(&self, cores: &[Core]) -> Span {
        let apart = cores.iter().any(|core| core.site != cores[0].site);
        self.fixed + if apart { self.transfer * i64::from(self.transfers) } else { Span::ZERO }
    }
}

/// Stage and core of each process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynchronousMap {
    /// The processes of each stage, the fastest core first.
    pub stages: Vec<Vec<Process>>,
    /// Total time, merges included.
    pub run_time: Span,
}

impl IterativeApplication {
    /// The map of algorithm 4. In each stage, the fastest cores get the most demanding processes. Each size
    /// gets the same number of cores; a remainder of the division goes to the most demanding ones. Cores
    /// of a size without remaining processes go to other sizes.
    ///
    /// With `fill`, cores that would wait for the slowest one iterate on until it is done.
    pub fn synchronous(
        &self,
        cores: &[Core],
        merge: Merge,
        fill: bool,
    ) -> Result<SynchronousMap, MappingError> {
        let order = self.by_power(cores)?;
        let mut left = self.processes.clone();
        let mut stages = Vec::new();
        let mut run_time = Span::ZERO;
        while left.iter().any(|&left| left > 0) {
            let sizes = self.next_stage(order.len(), &mut left);
            let mut stage: Vec<Process> = order
                .iter()
                .zip(sizes)
                .map(|(&core, size)| {
                    let end = self.process_time(cores[core].kind, size);
                    Process { core, size, iterations: self.iterations, start: Span::ZERO, end }
                })
                .collect();
            let longest = stage.iter().map(|process| process.end).max().unwrap_or(Span::ZERO);
            if fill {
                for process in &mut stage {
                    let rate = self.throughputs[cores[process.core].kind][process.size];
                    // Only whole iterations count.
                    process.iterations = (longest.as_secs_f64() * rate).floor() as u32;
                    process.end = longest;
                }
            }
            run_time += longest + merge.time(cores);
            stages.push(stage);
        }
        Ok(SynchronousMap { stages, run_time })
    }

    /// The sizes of the processes of the next stage, in the order of the cores; `left` is reduced.
    fn next_stage(&self, cores: usize, left: &mut [u32]) -> Vec<usize> {
        let sizes = self.by_demand.len();
        let mut free = cores;
        // `free` is a parameter, because the second loop reads it between the calls.
        let mut take = |wanted: usize, size: usize, free: &mut usize| {
            let taken = wanted.min(left[size] as usize).min(*free);
            left[size] -= taken as u32;
            *free -= taken;
            taken
        };
        let mut taken = vec![0; sizes];
        for (place, &size) in self.by_demand.iter().enumerate() {
            let share = cores / sizes + usize::from(place < cores % sizes);
            taken[size] += take(share, size, &mut free);
        }
        for &size in &self.by_demand {
            let more = free;
            taken[size] += take(more, size, &mut free);
        }
        // By falling demand, as the cores are by falling power.
        self.by_demand.iter().flat_map(|&size| std::iter::repeat_n(size, taken[size])).collect()
    }
}
