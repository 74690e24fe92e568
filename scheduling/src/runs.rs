//! Runs of jobs that do not end as planned.

/// How often a job is started unless a scenario says otherwise: more often than any
/// that has a chance to end, and few enough for a run to end where one has none.
pub const MAX_ATTEMPTS: u32 = 1_000;

haggle_model::words! {
    /// What happens to a job that runs past its requested time.
    #[derive(Default)]
    pub enum Overrun {
        /// It is stopped at its requested time.
        #[default]
        Kill = "kill",
        // Each time its plan runs out, as much time as it was planned for so far is added; promises to others may break.
        /// It runs to its end, and the schedule is repaired.
        Extend = "extend",
    }
}

haggle_model::words! {
    /// How often a provider decides which jobs start.
    #[derive(Default)]
    pub enum Passes {
        /// Once at the end of each instant in which something happened to it: all ends, failures, repairs and submissions
        /// of the instant are known then.
        #[default]
        Instant = "instant",
        /// After each end, failure, repair and submission, in the order in which they are delivered (as pyss does).
        Event = "event",
    }
}
