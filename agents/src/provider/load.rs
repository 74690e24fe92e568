//! How much planned work a provider has left.

use haggle_model::{Span, Time};

/// The planned work left, kept up to date so that telling it costs nothing.
///
/// In processor-microseconds; that of running jobs is kept as the sum of
/// processors x planned end, less processors x now when asked.
#[derive(Debug, Default)]
pub(super) struct Load {
    pub(super) waiting: i128,
    running_ends: i128,
    running_processors: i128,
}

impl Load {
    pub(super) fn started(&mut self, processors: u32, planned_end: Time) {
        self.running_ends += i128::from(planned_end.as_micros()) * i128::from(processors);
        self.running_processors += i128::from(processors);
    }

    pub(super) fn ended(&mut self, processors: u32, planned_end: Time) {
        self.running_ends -= i128::from(planned_end.as_micros()) * i128::from(processors);
        self.running_processors -= i128::from(processors);
    }

    /// Running work is planned to take so much longer.
    pub(super) fn extended(&mut self, processors: u32, by: Span) {
        self.running_ends += i128::from(by.as_micros()) * i128::from(processors);
    }

    /// Processor-microseconds left; negative only if work runs over its plan.
    pub(super) fn work(&self, now: Time) -> i128 {
        self.waiting + self.running_ends - self.running_processors * i128::from(now.as_micros())
    }

    /// How long `processors` would need for all of it.
    pub(super) fn drain_time(&self, now: Time, processors: u32) -> Span {
        let work = self.work(now).max(0);
        let processors = i128::from(processors);
        let micros = (work + processors - 1) / processors;
        Span::from_micros(i64::try_from(micros).unwrap_or(i64::MAX)).min(Span::FOREVER)
    }
}

/// Planned work in processor-microseconds.
pub(super) fn work(processors: u32, walltime: Option<Span>) -> i128 {
    let span = walltime.unwrap_or(Span::FOREVER).max(Span::TICK);
    i128::from(processors) * i128::from(span.as_micros())
}
