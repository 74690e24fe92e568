//! Iterative applications: the facts known before they run (Netto 2009, section 5.2).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Span;

/// An application whose processes iterate, each on one core. A process of one size takes the same
/// time for each iteration on machines of one type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iterative {
    /// Number of processes of each size.
    pub processes: Vec<u32>,
    /// Number of iterations of each process.
    pub iterations: u32,
    /// Communication between processes.
    pub communication: Communication,
    /// Time to merge the results of a stage or of a process.
    pub merge: Span,
    /// Time to send results from one site to another.
    pub transfer: Span,
    /// Iterations a second of a process of each size, by the type of machine.
    pub throughputs: BTreeMap<String, Vec<f64>>,
    /// True behaviour of the processes, which the throughputs do not show.
    pub behaviour: Behaviour,
}

crate::words! {
    /// Synchronisation of the processes of an application.
    #[derive(Default)]
    pub enum Communication {
        /// Each core runs one process; then all processes merge their results: a stage.
        #[default]
        Synchronous = "synchronous",
        /// A finished process merges the results that there are, and the next one begins.
        Asynchronous = "asynchronous",
    }
}

/// True behaviour of processes, known only to the machines that run them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Behaviour {
    start_up: Span,
    slowness: f64,
}

impl Behaviour {
    /// The description of an application that came without its program: processes seem to run as their
    /// throughput predicts. It appears nowhere else.
    pub const UNKNOWN: Behaviour = Behaviour { start_up: Span::ZERO, slowness: 1.0 };

    /// Processes that take `start_up` before they iterate, and then `slowness` times as long as their
    /// throughput predicts.
    pub fn new(start_up: Span, slowness: f64) -> Behaviour {
        Behaviour { start_up, slowness }
    }

    /// Seconds that a process of this throughput takes for `iterations`.
    pub fn reveal_to_machine(&self, throughput: f64, iterations: u32) -> f64 {
        self.start_up.as_secs_f64() + self.slowness * f64::from(iterations) / throughput
    }
}
