//! The part of an instant in which a message is delivered.

/// The part of an instant in which a message is delivered.
///
/// At one instant all that fails or comes back does so first, and who was hit goes on; then come
/// submissions, then completions, then waiting work moves up where something ended early, then come
/// other messages, then decisions; a run may let completions, and what moves up after them, come
/// before submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// Resources fail and come back.
    Resource = 0,
    /// Schedulers hear of all that has failed or come back, and those that were down restart.
    Recovery = 1,
    /// Jobs are submitted.
    Submission = 2,
    /// Jobs end, and the news of when bags will: what one provider has to tell
    /// is heard before the next one reschedules.
    Completion = 3,
    /// Waiting work moves up, before a newcomer is offered what has become free.
    Rescheduling = 4,
    /// Everything else that is said.
    Conversation = 5,
    /// Plans and patience are due.
    Decision = 6,
}

impl Phase {
    /// Number of phases.
    pub const COUNT: usize = 7;
}
