//! Iterative applications on machines of different speed: the mapping of processes to cores, and the
//! run time of all of them, from measured throughput (Netto 2009, chapter 5).
//!
//! An application has processes of a few sizes. A process of one size takes the same time for each
//! iteration on machines of one kind, so a few measurements ([`profile()`]) predict it on all machines.
//! A metascheduler gets a run time for exactly the available machines, so users need not over-estimate.
//!
//! | processes | map | run time |
//! |---|---|---|
//! | wait for one another after each stage | [`synchronous`](IterativeApplication::synchronous), algorithm 4 | the slowest of each stage, and its merge |
//! | merge what they have, and go on | [`asynchronous`](IterativeApplication::asynchronous), algorithm 5 | until the last core is done |

mod asynchronous;
pub mod case_study;
mod epsilon;
mod execution;
pub mod optimiser;
mod placing;
mod predictor;
mod profile;
mod synchronous;

use haggle_model::Span;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use asynchronous::AsynchronousMap;
pub use epsilon::{Epsilon, epsilon};
pub use placing::{Chosen, Offer, earliest_machines, is_no_later};
pub use predictor::Predictor;
pub use profile::{PROFILED_ITERATIONS, Profile, profile};
pub use synchronous::{Merge, SynchronousMap};

/// Processes of several sizes that iterate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IterativeApplication {
    /// P_s: number of processes of each size.
    processes: Vec<u32>,
    /// I: least number of iterations of each process.
    iterations: u32,
    /// θ(c, s): iterations a second; one row for each kind of machine.
    throughputs: Vec<Vec<f64>>,
    /// The sizes in order of demand; the first has the least throughput on average.
    by_demand: Vec<usize>,
}

/// An available core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Core {
    /// Its kind of machine, an index into the rows of throughputs.
    pub kind: usize,
    /// Its site; data between sites take longer.
    pub site: usize,
}

/// A process on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// The index of the core in the list of cores.
    pub core: usize,
    /// The size of the process.
    pub size: usize,
    /// Number of iterations.
    pub iterations: u32,
    /// Start, since the start of the application or of its stage.
    pub start: Span,
    /// End, since the same instant.
    pub end: Span,
}

/// Reason why there is no map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MappingError {
    /// The application has no process, or its processes do not iterate.
    #[error("an application has processes that iterate, at least one")]
    NoProcess,
    /// A kind of machine was not measured for each size.
    #[error("every kind of machine has a throughput for each size, a positive number")]
    Throughput,
    /// There is no core for the processes.
    #[error("there is no core")]
    NoCore,
    /// A core is of a kind without measurements.
    #[error("the kind of machine {kind} has no throughput")]
    UnknownKind {
        /// The kind.
        kind: usize,
    },
}

impl IterativeApplication {
    /// An application with the given numbers of `processes` of each size, each with `iterations`.
    /// `throughputs` has iterations a second: a row for each kind of machine and a column for each
    /// size.
    pub fn new(
        processes: Vec<u32>,
        iterations: u32,
        throughputs: Vec<Vec<f64>>,
    ) -> Result<IterativeApplication, MappingError> {
        let sizes = processes.len();
        if iterations == 0 || processes.iter().all(|&number| number == 0) {
            return Err(MappingError::NoProcess);
        }
        let is_sound = |row: &Vec<f64>| {
            row.len() == sizes && row.iter().all(|&rate| rate.is_finite() && rate > 0.0)
        };
        if !throughputs.iter().all(is_sound) {
            return Err(MappingError::Throughput);
        }
        // The sum orders the sizes as the mean does.
        let mean = |&size: &usize| throughputs.iter().map(|row| row[size]).sum::<f64>();
        let mut by_demand: Vec<usize> = (0..sizes).collect();
        // The sort is stable: equally demanding sizes keep their order.
        by_demand.sort_by(|one, two| mean(one).total_cmp(&mean(two)));
        Ok(IterativeApplication { processes, iterations, throughputs, by_demand })
    }

    /// Run time of a process of a size on a kind of machine: its iterations divided by the throughput.
    pub fn process_time(&self, kind: usize, size: usize) -> Span {
        Span::from_secs_f64(f64::from(self.iterations) / self.throughputs[kind][size])
    }

    /// The cores by decreasing throughput of the most demanding size; equal ones keep their order.
    fn by_power(&self, cores: &[Core]) -> Result<Vec<usize>, MappingError> {
        let unknown = |core: &&Core| core.kind >= self.throughputs.len();
        if let Some(&Core { kind, .. }) = cores.iter().find(unknown) {
            return Err(MappingError::UnknownKind { kind });
        }
        if cores.is_empty() {
            return Err(MappingError::NoCore);
        }
        // There is a size, because an application without processes is refused.
        let power = |core: usize| self.throughputs[cores[core].kind][self.by_demand[0]];
        let mut order: Vec<usize> = (0..cores.len()).collect();
        order.sort_by(|&one, &two| power(two).total_cmp(&power(one)));
        Ok(order)
    }
}
