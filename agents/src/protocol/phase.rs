//! The part of an instant in which a message is delivered.

/// The part of an instant in which a message is delivered.
///
/// Progress of grid resources comes first: a job that completes at the instant at which its resource fails is
/// completed (Chtepen 2011, section 2.2). Failures and recoveries follow, and then submissions, completions and the
/// rescheduling of waiting work. After these come other messages, then the turns and decisions that must wait for
/// them. Placements by metaschedulers whose jobs move come last. A run may order completions and rescheduling before
/// submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// Grid resources report progress, and data arrive.
    Progress = 0,
    /// Resources fail and come back.
    Resource = 1,
    /// Schedulers are notified of all failures and recoveries, and crashed schedulers restart.
    Recovery = 2,
    /// Jobs are submitted.
    Submission = 3,
    /// Jobs end, and reports about the completion of bags arrive. Reports of one provider are received before the
    /// next one reschedules.
    Completion = 4,
    /// Waiting work moves up before a new job is offered the returned time.
    Rescheduling = 5,
    /// All other messages.
    Conversation = 6,
    /// A metascheduler takes up its next job, after it has received all earlier messages.
    Turn = 7,
    /// Plans and the patience of users are due.
    Decision = 8,
    /// Metaschedulers place jobs that have arrived, after all moves and starts.
    Placement = 9,
}

impl Phase {
    /// Number of phases.
    pub const COUNT: usize = 10;

    /// The first phase of an instant.
    pub const FIRST: Phase = Phase::Progress;
}
