//! The part of an instant in which a message is delivered.

/// The part of an instant in which a message is delivered.
///
/// At one instant, what resources of a grid have done by themselves comes first: a job that is
/// computed when its resource fails is computed (Chtepen 2011, section 2.2). Then all that fails or
/// comes back does so, and who was hit goes on; then come
/// submissions, then completions, then waiting work moves up where something ended early, then come
/// other messages, then turns that were to wait for these, then decisions, then placements by metaschedulers whose jobs move; a run may let
/// completions, and what moves up after them, come before submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// Resources of a grid are done with something, and data arrive.
    Progress = 0,
    /// Resources fail and come back.
    Resource = 1,
    /// Schedulers hear of all that has failed or come back, and those that were down restart.
    Recovery = 2,
    /// Jobs are submitted.
    Submission = 3,
    /// Jobs end, and the news of when bags will: what one provider has to tell
    /// is heard before the next one reschedules.
    Completion = 4,
    /// Waiting work moves up, before a newcomer is offered what has become free.
    Rescheduling = 5,
    /// Everything else that is said.
    Conversation = 6,
    /// A metascheduler takes up its next job, when all that was to be said before has been heard.
    Turn = 7,
    /// Plans and patience are due.
    Decision = 8,
    /// Metaschedulers place jobs that have arrived, around all that has moved and started.
    Placement = 9,
}

impl Phase {
    /// Number of phases.
    pub const COUNT: usize = 10;
}
