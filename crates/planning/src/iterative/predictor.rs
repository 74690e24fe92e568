//! Run times on exactly the available cores: predictions for the placement, and true times for the machines.

use std::sync::Arc;

use haggle_model::iterative::Communication;
use haggle_model::job::HiddenRunTime;
use haggle_model::{Iterative, Span};
use serde::{Deserialize, Serialize};

use super::{Core, IterativeApplication, MappingError, Merge, Process};

/// Consecutive transfers in a synchronous merge of several sites: to the coordinator, and back.
const TRANSFERS: u32 = 2;

/// An application whose throughput is known on some types of machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Predictor {
    known: Arc<Iterative>,
    application: IterativeApplication,
    machines: Vec<String>,
}

impl Predictor {
    /// A predictor with measured throughputs: iterations a second of each size, by the type of machine.
    ///
    /// # Errors
    /// If there is no process to run, or a throughput is invalid.
    pub fn new(
        known: Arc<Iterative>,
        measured: impl IntoIterator<Item = (String, Vec<f64>)>,
    ) -> Result<Predictor, MappingError> {
        let (machines, throughputs) = measured.into_iter().unzip();
        let processes = known.processes.clone();
        let application = IterativeApplication::new(processes, known.iterations, throughputs)?;
        Ok(Predictor { known, application, machines })
    }

    /// The kind of a type of machine; `None` if it was not measured.
    pub fn kind(&self, machine: &str) -> Option<usize> {
        self.machines.iter().position(|it| it == machine)
    }

    /// Speed of a kind: its throughput of the most demanding size.
    pub fn speed(&self, kind: usize) -> f64 {
        self.application.throughputs[kind][self.application.by_demand[0]]
    }

    /// Predicted run time on these cores, by algorithm 4 or 5.
    ///
    /// # Errors
    /// If there is no core, or one of an unknown kind.
    pub fn run_time(&self, cores: &[Core]) -> Result<Span, MappingError> {
        Ok(match self.known.communication {
            Communication::Synchronous => {
                self.application.synchronous(cores, self.merge(), false)?.run_time
            }
            Communication::Asynchronous => {
                self.application.asynchronous(cores, self.known.merge)?.run_time
            }
        })
    }

    /// True run time by the same map, for the machines that run it.
    ///
    /// # Errors
    /// As [`Predictor::run_time`].
    pub fn hidden_run_time(&self, cores: &[Core]) -> Result<HiddenRunTime, MappingError> {
        let behaviour = &self.known.behaviour;
        let factor = |process: &Process| {
            let kind = cores[process.core].kind;
            let predicted = process.end - process.start;
            let rate = self.known.throughputs.get(&self.machines[kind]);
            let rate = rate.and_then(|rates| rates.get(process.size));
            let really = rate.map(|&rate| behaviour.reveal_to_machine(rate, self.known.iterations));
            // A type of machine without a true throughput runs as predicted.
            really.map_or(1.0, |seconds| seconds / predicted.as_secs_f64())
        };
        let run_time = match self.known.communication {
            Communication::Synchronous => {
                let merge = self.merge();
                let map = self.application.synchronous(cores, merge, false)?;
                map.executed(factor, merge.time(cores))
            }
            Communication::Asynchronous => {
                let merge = self.known.merge;
                self.application.asynchronous(cores, merge)?.executed(factor, merge)
            }
        };
        Ok(HiddenRunTime::new(run_time))
    }

    fn merge(&self) -> Merge {
        let Iterative { merge, transfer, .. } = *self.known;
        Merge { fixed: merge, transfer, transfers: TRANSFERS }
    }
}
