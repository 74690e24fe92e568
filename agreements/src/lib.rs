//! Agreements: several actors carry out their parts of something, or none of them does.
//!
//! A [`Coordinator`] asks [`Participant`]s to hold a part each. When all hold theirs it decides
//! to commit, otherwise to abort: two-phase commit with presumed abort, with a lease on every
//! hold. What is held is the [`Subject`]; these machines know nothing of it. Neither do they
//! know of a clock, an outbox or chance: they take messages, timers and the time, and put out
//! [`Output`]s, to be carried out in order.
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
//! Asked and Late are questions to the participant's owner and are lost in a crash, as is
//! Voting; everything else is on record before anybody hears of it:
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
//! - **Numbers.** A coordinator sets numbers aside in blocks, by a record that precedes the
//!   first message with one of them, and after a crash begins behind the last block: no
//!   number is used twice. Their differences disclose how many agreements lie between two, unless
//!   the owner lets them go with the time ([`Coordinator::skip_to`]).
//! - **Lease.** A participant says for how long it holds, as a duration; that time begins
//!   when it gets ready, which is not before the first prepare was sent. So both sides know an
//!   instant of their own clock until which the hold lasts for sure, and nobody reads the
//!   other's clock. Clocks may differ, but have to run at the same rate. The messages of an
//!   instant come before its timers, so a commit that arrives in the instant in which a lease
//!   ends is in time. One that is sent, or repeated, in that instant at a timer may not be: the
//!   margin has to be longer than what it is to outlast.
//! - **Commit point.** An agreement is committed when its coordinator has persisted that. It may
//!   do so while a commit that is sent now still arrives before the first lease ends: until the
//!   first prepare + the shortest lease - [`Rules::margin`]. Later it aborts, in both modes.
//! - **Presumed abort.** An abort is neither persisted nor acknowledged. Whoever is ready, or
//!   inquires, and is not waited for by a coordinator is told to abort: the agreement was never
//!   decided, or this participant's commit is acknowledged already, and then it ignores that.
//! - **Repetition.** What is not answered is sent again under the same number. A participant
//!   answers repeated messages from its state, a coordinator drops repeated answers. Every
//!   message of a coordinator says which numbers are settled; a participant drops what comes for
//!   one of those, however late, forgets its state in them, and gives back what it still holds.
//!   An abort or undo that overtakes the prepare leaves `Over` behind until then, so that a
//!   prepare that comes after it holds nothing. What is remembered is bounded by the agreements
//!   of a coordinator that were open at the same time.
//! - **Late commits.** A participant whose lease ended asks its owner whether it can take its
//!   part all the same. If not it says so: the agreement is broken, and the coordinator has
//!   all others undo theirs until they have acknowledged that.
//!
//! # What is guaranteed
//!
//! Two parties cannot agree for sure over a channel that may lose everything, and a hold that
//! ends by itself can end while the commit is under way. So a participant in doubt either
//! gives its hold back or waits, and the agreement says which ([`InDoubt`]):
//!
//! | | `Release` (lease with abort) | `Inquire` (blocking) |
//! |---|---|---|
//! | an uncommitted hold ends with its lease | always, or at its owner's restart | no: when the coordinator answers |
//! | nobody is left out: once one has committed, the others hold or have committed | if every decided commit arrives within the margin, losses, crashes and restarts included | always |
//! | at the end all have committed or none has | if losses end and whoever crashes restarts: what broke is undone | the same, and nothing breaks |
//! | there is an end | if losses end and whoever crashes restarts | the same |
//!
//! "Losses end" means that of each message that is repeated one arrives, and a crash takes no
//! records with it. With `Release` a part can have been carried out for a while before it is
//! undone; who needs certainty before it begins uses `Inquire`.
//!
//! # How to drive them
//!
//! Carry out outputs in order. What an owner is told to do may lead to more calls; their outputs
//! come after those that are there. A timer that is set anew or stopped does not go off as it was
//! set before. After a crash, [`Coordinator::start`] and [`Participant::start`] take the records
//! in the order in which they were persisted, without them at the first start.
//!
//! # Bags as agreements
//!
//! The two phases by which bags are placed are an agreement about awards, in the mode `Release`:
//!
//! | metascheduler and provider of bags | here |
//! |---|---|
//! | a round of composition is prepared | [`Coordinator::open`], one number a round; `hears_all`, for `NotReady` brings new offers |
//! | hold this award | [`Instruction::Prepare`] → [`Task::Consider`] |
//! | ready, with its planned completion | [`Participant::ready`], lease = until the first task is due |
//! | not ready, but these are new offers | [`Participant::not_ready`] → [`Vote::NotReady`] |
//! | all parts have answered | [`Progress::AllReady`], or [`Progress::Aborted`] with the votes |
//! | run it | [`Coordinator::commit`] → [`Task::CarryOut`], or [`Task::TakeUnheld`] if the hold has lapsed |
//! | it is queued | the machine's answer; [`Participant::take`] brings the receipt |
//! | all have committed: the user is promised | [`Progress::Committed`] |
//! | a bag goes unheld to one provider | [`Coordinator::commit_unprepared`] |
//! | a round in vain, a withdrawn bag | [`Coordinator::abort`] → [`Task::GiveUp`] |
//! | what is held is due, before anything starts | [`Participant::on_timer`] |
//! | those that hold nothing are released | not part of an agreement |
//!
//! Without losses `retry` is `None`, every vote comes, and the plan wakes a provider up when what
//! it holds is due: no timer is needed.
//!
//! # Protocols
//!
//! [`Coordinator`] and [`Participant`] are one way of several, each a [`protocol::Protocol`]
//! with its own file and picture. An actor that is generic over the protocol drives any of them:
//! it opens agreements, says what it can hold, and is told verdicts and duties.
//!
//! | protocol | in the end | waits | messages, alone | decided after |
//! |---|---|---|---|---|
//! | [`two_phase`] | all or none | if the coordinator is down, without leases | 4 n | 2 d |
//! | [`polling`] | all or none | the same | n (4 + 2 q₁ + 2 q₂) | q₁ (interval + 2 d) + 2 d |
//! | [`paxos`] | all or none | if more than f acceptors are down | 2 n + n a + a + 2 | 5 d |
//! | [`probing`] | all or none | as two-phase | 2 q + 4 n + (q − n) | 4 d |
//! | [`ordered`], one after the other | all or none | finitely | 2 n, n to release | 2 n d |
//! | [`ordered`], all at once | all or none | finitely | 3 n to 4 n − 1, n to release | 2 d |
//! | [`claiming`] | all or none, what began is taken back | for each other, without a limit | 2 n, 2 n to start | 2 d |
//! | [`negotiation`] | all or none, what began is taken back | never | 2 n r + 2 a cancellation | 2 d r, 2 d a round with cancellations |
//! | [`one_phase`] | a crash leaves orphans | never | 2 n | 2 d or 2 n d |
//! | [`watch`] | a crash leaves orphans | for room | 4 n | 4 d |
//!
//! "Alone" is without rivals and faults: n participants, q candidates, a acceptors, r rounds,
//! q₁ and q₂ polls, messages that take d. With a `retry`, some protocols acknowledge more.
//!
//! Whoever fails is tried again after a [`back_off`]. [`contention`] finds groups that are in
//! each other's way: deadlock, livelock, starvation. [`account`] counts what all of it costs.
//!
//! Bookings begin by themselves, so one that is shorter than a message takes can be over before its
//! coordinator gives it up. It is an orphan then: it is never begun again for its agreement, and others of its group
//! that came to their ends began with it.
//!
//! What holds for all: an owner calls [`protocol::Participates::over`] when what was carried out has come to
//! its end, and [`protocol::Participates::room_changed`] when something ends or is given up; what [`protocol::Participates::bound`] lists after a restart is held or
//! carried out by the records; what is given up may be told again after a restart.

pub mod account;
pub mod back_off;
pub mod booking;
pub mod claiming;
pub mod contention;
mod coordinator;
mod deletion;
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
