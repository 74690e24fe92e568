//! Agreements: several actors carry out their parts of a common task, or none of them does.
//!
//! A [`Coordinator`] requests [`Participant`]s to hold a part each. When all hold theirs it decides to
//! commit, otherwise to abort: two-phase commit with presumed abort, with a lease on every hold. The
//! [`Subject`] defines the parts; these machines do not know its contents. They have no clock, no outbox
//! and no randomness. They take messages, timers and the time, and put out [`Output`]s, which must be
//! carried out in order.
//!
//! ```text
//!  coordinator        all ready,                   all have committed
//!          ┌────────┐ in time    ┌────────────┐
//!   open ─▶│ Voting │───────────▶│ Committing │──────────────────────▶ forgotten
//!          └────────┘            └────────────┘                            ▲
//!              │ not ready,            │ one expired  ┌─────────┐ all have │
//!              │ decide-by, crash      └─────────────▶│ Undoing │──────────┤
//!              │                                      └─────────┘ undone   │
//!              └───────────────────────────────────────────────────────────┘
//!
//!  participant            held           Commit
//!             ┌───────┐       ┌──────┐            ┌───────────┐
//!   Prepare ─▶│ Asked │──────▶│ Held │───────────▶│ Committed │◀─────────┐
//!             └───────┘       └──────┘            └───────────┘          │
//!        cannot │  │ Abort      │ │ lease over         │ Undo            │
//!               ▼  │            │ ▼ (Release)          │                 │
//!       ┌─────────┐│     Abort, │ ┌────────┐ Commit    │   ┌──────┐ taken │
//!       │ Refused ││     Undo   │ │ Lapsed │───────────┼──▶│ Late │──────┘
//!       └─────────┘│            │ └────────┘           │   └──────┘
//!             │    ▼            ▼    │                 ▼       │ cannot
//!             │   ┌────────────────────────────────────────┐   │
//!             └──▶│                  Over                  │◀──┘
//!                 └────────────────────────────────────────┘
//! ```
//!
//! Asked and Late are questions to the participant's owner and are lost in a crash, as is Voting. Every
//! other state is on record before another actor is notified of it:
//!
//! ```text
//!   c            p1            p2
//!   ├─ Prepare ─▶│             │
//!   ├─ Prepare ──┼────────────▶│     c: the last instant to decide is the first prepare
//!   │            ● Held        │        + the shortest lease - margin
//!   │◀── Ready ──┤             ● Held
//!   │◀───────────┼──── Ready ──┤
//!   ● Committing │             │     ● = persisted; from here on it is committed
//!   ├─ Commit ──▶│             │
//!   ├─ Commit ───┼──── lost    │
//!   │            ● Committed   │
//!   │◀ Committed ┤             │
//!   ├─ Commit ───┼────────────▶│     again after `retry`
//!   │            │             ● Committed
//!   │◀───────────┼─ Committed ─┤
//!   ● over       │             │
//! ```
//!
//! # Rules
//!
//! - **Numbers.** A coordinator reserves numbers in blocks. The record of a block precedes the first
//!   message with one of its numbers. After a crash the coordinator begins behind the last block, so no
//!   number is used twice. The difference of two numbers discloses the number of agreements between them,
//!   unless the owner advances the numbers with the time ([`Coordinator::skip_to`]).
//! - **Lease.** A participant gives the length of its hold as a duration. That time begins when the
//!   participant gets ready, which is not before the first prepare was sent. So each side knows an instant
//!   of its own clock until which the hold certainly lasts, and no clock is read remotely. Clocks may
//!   differ, but must run at the same rate. The messages of an instant come before its timers. So a commit
//!   that arrives in the instant in which a lease ends is in time. A commit that a timer sends, or repeats,
//!   in that instant may be too late. So the margin must be longer than the delays it covers.
//! - **Commit point.** An agreement is committed when its coordinator has persisted that. It may do so
//!   while a commit sent now still arrives before the first lease ends: until the first prepare + the
//!   shortest lease - [`Rules::margin`]. Later it aborts, in both modes.
//! - **Presumed abort.** An abort is neither persisted nor acknowledged. A participant that is ready, or
//!   inquires, gets an abort if no coordinator waits for it. Either the agreement was never decided, or the
//!   commit of this participant is acknowledged already. In the second case it ignores the abort.
//! - **Repetition.** An unanswered message is sent again under the same number. A participant answers
//!   repeated messages from its state; a coordinator drops repeated answers. Every message of a coordinator
//!   includes which numbers are settled. A participant drops later messages for settled numbers, forgets
//!   its states in them, and gives back what it still holds for them. An abort or undo that overtakes the
//!   prepare leaves `Over` behind until then, so that a later prepare holds nothing. The memory of a
//!   participant is bounded by the number of agreements of a coordinator that were open at the same time.
//! - **Late commits.** A participant whose lease has ended asks its owner whether it can take its part all
//!   the same. If not, it reports that: the agreement is broken. Then the coordinator requests all others
//!   to undo their parts until they have acknowledged that.
//!
//! # Guarantees
//!
//! Two parties cannot agree with certainty over a channel that may lose every message. A hold that ends by
//! itself can end while the commit is in transit. So a participant in doubt either gives its hold back or
//! waits, and the agreement sets which ([`InDoubt`]):
//!
//! | | `Release` (lease with abort) | `Inquire` (blocking) |
//! |---|---|---|
//! | an uncommitted hold ends with its lease | always, or at its owner's restart | no: when the coordinator answers |
//! | no participant is left out: once one has committed, the others hold or have committed | if every decided commit arrives within the margin, losses, crashes and restarts included | always |
//! | at the end all have committed or none has | if losses end and crashed actors restart: broken agreements are undone | the same, and nothing breaks |
//! | there is an end | if losses end and crashed actors restart | the same |
//!
//! "Losses end" means that one copy of each repeated message arrives, and that a crash loses no records.
//! With `Release` a part may run for a while before it is undone. An owner that needs certainty before the
//! start uses `Inquire`.
//!
//! # How to drive them
//!
//! A [`seat::Seat`] drives any machine: it keeps records and timers, and returns acts for its owner.
//!
//! A driver carries out outputs in order. An output to the owner may lead to more calls; their outputs come
//! after those that are there. When a timer is set again or stopped, its earlier setting is void. After a
//! crash, [`protocol::Machine::start`] takes the records in the order in which they were persisted; at the
//! first start there are none.
//!
//! # Bags as agreements
//!
//! The two phases of placing bags are an agreement about awards, in the mode `Release`:
//!
//! | metascheduler and provider of bags | here |
//! |---|---|
//! | a round of composition is prepared | [`Coordinator::open`], one number a round; `hears_all`, for `NotReady` brings new offers |
//! | hold this award | [`Instruction::Prepare`] → [`Task::Consider`] |
//! | ready, with its planned completion | [`Participant::ready`], lease = until the first task is due |
//! | not ready, but these are new offers | [`Participant::not_ready`] → [`Vote::NotReady`] |
//! | all parts have answered | [`Progress::AllReady`], or [`Progress::Aborted`] with the votes |
//! | run it | [`Coordinator::commit`] → [`Task::CarryOut`], or [`Task::TakeUnheld`] if the hold has lapsed |
//! | it is queued | the machine's answer; [`Participant::take`] brings the new terms |
//! | all have committed: the user is promised | [`Progress::Committed`] |
//! | a bag goes unheld to one provider | [`Coordinator::commit_unprepared`] |
//! | a failed round, a withdrawn bag | [`Coordinator::abort`] → [`Task::GiveUp`] |
//! | held tasks are due, before any start | [`protocol::Machine::on_timer`] |
//! | providers that hold nothing are released | not part of an agreement |
//!
//! Without losses `retry` is `None` and every vote arrives, so the coordinator needs no timer. The plan wakes
//! a provider up when its held tasks are due, so the participant never needs one. If messages may be lost,
//! the lease is limited by the coordinator: a hold may end while its report is lost.
//!
//! # Protocols
//!
//! [`Coordinator`] and [`Participant`] implement one of several protocols, each a [`protocol::Protocol`]
//! with its own file and picture. An actor that is generic over the protocol drives any of them: it opens
//! agreements, states what it can hold, and receives verdicts and duties.
//!
//! | protocol | in the end | waits | messages, alone | decided after |
//! |---|---|---|---|---|
//! | [`two_phase`] | all or none | if the coordinator is down, without leases | 4 n | 2 d |
//! | [`polling`] | all or none | the same | n (4 + 2 q₁ + 2 q₂) | q₁ (interval + 2 d) + 2 d |
//! | [`paxos`] | all or none | if more than f acceptors are down | 2 n + n a + a + 2 | 5 d |
//! | [`probing`] | all or none | as two-phase | 2 q + 4 n + (q − n) | 4 d |
//! | [`ordered`], one after the other | all or none | finitely | 2 n, n to release | 2 n d |
//! | [`ordered`], all at once | all or none | finitely | 3 n to 4 n − 1, n to release | 2 d |
//! | [`claiming`] | all or none, begun parts are undone | for each other, without a limit | 2 n, 2 n to start | 2 d |
//! | [`negotiation`] | all or none, begun parts are undone | never | 2 n r + 2 a cancellation | 2 d r, 2 d a round with cancellations |
//! | [`one_phase`] | a crash leaves orphans | never | 2 n | 2 d or 2 n d |
//! | [`watch`] | a crash leaves orphans | for room | 4 n | 4 d |
//!
//! "Alone" means without rivals and faults: n participants, q candidates, a acceptors, r rounds, q₁ and q₂
//! polls, messages that take d. With a `retry`, some protocols acknowledge more.
//!
//! Protocols share machines: the participant of those with leases is a [`holding::Holder`], the coordinator
//! of those with bookings is a [`booker::Booker`].
//!
//! A failed group is tried again after a [`back_off`]. [`contention`] finds groups that obstruct each
//! other: deadlock, livelock, starvation. [`account`] counts the costs.
//!
//! Bookings begin by themselves. So a booking that is shorter than a message takes can end before its
//! coordinator gives it up. Then it is an orphan: it never begins again for its agreement, and ended
//! bookings of its group began with it.
//!
//! Rules for all protocols: an owner calls [`protocol::Participates::over`] when a part that was carried
//! out has ended, and [`protocol::Participates::room_changed`] when a part ends or is given up. The parts
//! that [`protocol::Participates::bound`] lists after a restart are held or carried out by the records. A
//! part that was given up may be reported again after a restart.

pub mod account;
pub mod back_off;
pub mod booker;
pub mod booking;
pub mod claiming;
pub mod contention;
mod coordinator;
pub mod deletion;
pub mod holding;
mod ledger;
pub mod locking;
pub mod negotiation;
pub mod one_phase;
pub mod ordered;
mod participant;
pub mod paxos;
pub mod polling;
pub mod probing;
pub mod protocol;
pub mod seat;
pub mod two_phase;
pub mod watch;
mod watches;
mod wire;

pub use coordinator::{
    Coordinator, CoordinatorOutput, CoordinatorRecord, CoordinatorState, CoordinatorTimer,
    Progress, Rules, Vote,
};
pub use ledger::{Entry, Note};
pub use participant::{
    Hold, Participant, ParticipantOutput, ParticipantRecord, ParticipantState, Task,
};
pub use watches::Epoch;
pub use wire::{
    AgreementId, Answer, InDoubt, Instruction, Output, Payload, Record, Subject, ToCoordinator,
    ToParticipant,
};
