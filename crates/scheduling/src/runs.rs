//! Runs of jobs that do not end as planned.

/// Default for how often a job is started. A job with a chance to end needs fewer attempts; without one,
/// the run still ends.
pub const MAX_ATTEMPTS: u32 = 1_000;

haggle_model::words! {
    /// Treatment of a job that runs past its requested time.
    #[derive(Default)]
    pub enum Overrun {
        /// It is stopped at its requested time.
        #[default]
        Kill = "kill",
        // Each time its plan runs out, the span planned so far is added again; promises to other jobs may
        // break.
        /// It runs to its end, and the schedule is repaired.
        Extend = "extend",
    }
}

haggle_model::words! {
    /// Occasions on which a provider decides which jobs start.
    #[derive(Default)]
    pub enum Passes {
        /// Once at the end of each instant with an event at the provider: all ends, failures, repairs and submissions
        /// of the instant are then known.
        #[default]
        Instant = "instant",
        /// After each end, failure, repair and submission, in the order in which they are delivered (as pyss does).
        Event = "event",
    }
}
