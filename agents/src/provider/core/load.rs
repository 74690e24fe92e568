//! Planned work that a provider has left.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::machine::Machine;

/// The planned work that waits, in processor-microseconds. It is kept up to date so that its
/// disclosure costs nothing; the machine keeps the work that runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::provider) struct Load(i128);

impl Load {
    /// Adds waiting work that is planned to take `span`.
    pub(in crate::provider) fn waits(&mut self, processors: u32, span: Option<Span>) {
        self.0 += work(processors, span);
    }

    /// Removes work that starts or leaves.
    pub(in crate::provider) fn leaves(&mut self, processors: u32, span: Option<Span>) {
        self.0 -= work(processors, span);
    }

    /// Processor-microseconds left, running work included; negative only if work runs over its plan.
    pub(in crate::provider) fn work(&self, now: Time, machine: &Machine) -> i128 {
        self.0 + machine.work(now)
    }

    /// Time that the machine would need for all of it.
    pub(in crate::provider) fn drain_time(&self, now: Time, machine: &Machine) -> Span {
        let work = self.work(now, machine).max(0);
        let processors = i128::from(machine.size());
        let micros = (work + processors - 1) / processors;
        Span::from_micros(i64::try_from(micros).unwrap_or(i64::MAX)).min(Span::FOREVER)
    }
}

/// Planned work in processor-microseconds.
fn work(processors: u32, span: Option<Span>) -> i128 {
    let span = span.unwrap_or(Span::FOREVER).max(Span::TICK);
    i128::from(processors) * i128::from(span.as_micros())
}
