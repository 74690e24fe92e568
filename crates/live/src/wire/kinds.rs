//! The table of kinds: each message that travels between actors of different owners, with its number.
//!
//! A number is never used for anything else, not even after its kind is gone, and the body of a number never
//! changes. The high byte is the protocol, the low byte the message:
//!
//! | numbers | protocol |
//! |---|---|
//! | 0x00.. | the connection itself: [`Complaint`](super::Complaint) |
//! | 0x01.. to 0x0E.. | protocols of actors, in the order of the table |
//! | 0x0F.. to 0x7F.. | later protocols |
//! | 0x80.. to 0xFF.. | protocols of other programs; haggle itself never uses them |
//!
//! Messages without a number belong to one machine:
//!
//! - messages of the run and timers: an actor, or its host, sends them to itself;
//! - failures and repairs (`Resource`): nature notifies the owner of its own processors;
//! - loads (`Loads`, `Redraw`, `Redrawn`): a cluster reports its loads to itself. In a simulation, resource updates
//!   draw them, as nature draws failures;
//! - `Data`: the network stands for the links beside every actor, so its messages take no time, and a storage is
//!   the disk behind them. A transfer is not a promise of an owner. A checkpoint at its server is a fact that one
//!   actor tells another, so `Checkpoint` travels.

use haggle_agents::Message;
use haggle_agents::protocol::coallocation::Parts;
use haggle_agents::protocol::transaction::Spoken;
use haggle_agents::protocol::{
    AgreementMessage, BargainMessage, CheckpointMessage, CoallocationMessage, DispatchMessage,
    InformationMessage, NumberedMessage, PlanningMessage, QueryMessage, ReallocationMessage,
    ReservationMessage, ShareMessage, SubmissionMessage, TransactionMessage,
};
use haggle_agreements::ToParticipant;
use haggle_model::ActorKind;
use haggle_model::ActorKind::{Metascheduler, Provider, Service, User};
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::contents::{Limits, Wrong};
use super::described::{Described, Runnable};
use super::forms::{
    Agreed, Called, Dispatched, Enclosed, Form, Handed, Odd, Ordered, Profiled, Timed,
};

/// Kinds of a sender and of a receiver.
pub type Route = (ActorKind, ActorKind);

/// A kind of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its number.
    pub number: u16,
    /// Its word, for lists of kinds that a peer may send.
    pub word: &'static str,
    /// False if it is a question that promises nothing and leaves nothing behind, or the answer to one. It may be
    /// lost in a crash before it is acknowledged.
    pub durable: bool,
    /// Kinds of actors between which it may travel; none of a numbered message, which may go where its contents go.
    pub routes: &'static [Route],
}

/// Reason why a message does not travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unsendable {
    /// It belongs to one machine.
    #[error("the message belongs to one machine")]
    OneMachine,
    /// It hands over a job without a program.
    #[error("the job has no program, because its sender has only a description")]
    NoProgram,
    /// A numbered message contains another one.
    #[error("a numbered message contains a numbered one")]
    Nested,
}

/// Reason why a body is not taken. The connection stays, and the peer gets a
/// [`Complaint`](super::Complaint).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unread {
    /// This program does not know the kind.
    #[error("kind 0x{0:04X} is not supported")]
    Unsupported(u16),
    /// The body is none of that kind.
    #[error("the body is not one of kind 0x{0:04X}")]
    Malformed(u16),
    /// A number is out of its bounds.
    #[error(transparent)]
    OutOfBounds(#[from] Wrong),
}

/// A field on its way into a body.
macro_rules! put {
    ($field:ident) => {
        $field
    };
    ($field:ident as $Form:ty) => {
        <$Form as Form>::of($field)?
    };
}

/// A field from a body.
macro_rules! take {
    ($kind:ident, $field:ident) => {
        $field
    };
    ($kind:ident, $field:ident as $Form:ty) => {
        <$Form as Form>::get($field).map_err(|Odd| Unread::Malformed($kind))?
    };
}

/// Makes the table, and both directions, from one line a kind.
macro_rules! kinds {
    (
        $($Protocol:ident($Of:ident) {
            $($number:literal $word:literal
                $Variant:ident
                $({ $($field:ident $(as $Form:ty)?),* })?
                $(( $carried:ident $(as $Carried:ty)? ))?
                => $durable:ident $routes:expr,)*
            $(never { $($Never:ident),* })?
        })*
        [never $($Stays:ident),*]
    ) => {
        /// All kinds, by number.
        pub const KINDS: &[Kind] = &[$($(Kind {
            number: $number,
            word: $word,
            durable: kinds!(@$durable),
            routes: $routes,
        },)*)*];

        /// Number of the kind of a message; `None` if it belongs to one machine.
        fn number(message: &Message) -> Option<u16> {
            match message {
                $(Message::$Protocol(message) => match message {
                    $($Of::$Variant { .. } => Some($number),)*
                    $($($Of::$Never { .. } => None,)*)?
                },)*
                $(Message::$Stays(_) => None,)*
            }
        }

        /// The number of the kind of a message, and its body.
        ///
        /// # Errors
        /// If the message does not travel.
        pub fn encode(message: Message) -> Result<(u16, Vec<u8>), Unsendable> {
            let body = match message {
                $(Message::$Protocol(message) => match message {
                    $($Of::$Variant $({ $($field),* })? $(($carried))? => {
                        let body = ($($(put!($field $(as $Form)?),)*)? $(put!($carried $(as $Carried)?),)?);
                        ($number, written(&body))
                    })*
                    $($($Of::$Never { .. } => return Err(Unsendable::OneMachine),)*)?
                },)*
                $(Message::$Stays(_) => return Err(Unsendable::OneMachine),)*
            };
            Ok(body)
        }

        /// The message of a kind in a body, without a check of its contents.
        pub(super) fn read(kind: u16, body: &[u8]) -> Result<Message, Unread> {
            Ok(match kind {
                $($($number => {
                    let ($($($field,)*)? $($carried,)?) = parsed(kind, body)?;
                    $($(let $field = take!(kind, $field $(as $Form)?);)*)?
                    $(let $carried = take!(kind, $carried $(as $Carried)?);)?
                    $Of::$Variant $({ $($field),* })? $(($carried))?.into()
                })*)*
                _ => return Err(Unread::Unsupported(kind)),
            })
        }
    };
    (@keeps) => { true };
    (@passes) => { false };
}

const SUBMITS: &[Route] = &[
    (User, Provider),
    (User, Metascheduler),
    (Metascheduler, Provider),
    (Metascheduler, Metascheduler),
];
const REPORTS: &[Route] = &[
    (Provider, User),
    (Metascheduler, User),
    (Provider, Metascheduler),
    (Metascheduler, Metascheduler),
];
const TO_USER: &[Route] = &[(Metascheduler, User)];
const RESERVES: &[Route] = &[(User, Provider)];
const GRANTS: &[Route] = &[(Provider, User)];
/// A metascheduler queries grids, too.
const QUERIES: &[Route] = &[(Metascheduler, Provider), (Metascheduler, Metascheduler)];
const REPLIES: &[Route] = &[(Provider, Metascheduler), (Metascheduler, Metascheduler)];
const DOWN: &[Route] = &[(Metascheduler, Provider)];
const UP: &[Route] = &[(Provider, Metascheduler)];
const BOTH: &[Route] = &[(Metascheduler, Provider), (Provider, Metascheduler)];
/// Acceptors are services.
const DECIDES: &[Route] = &[
    (Metascheduler, Provider),
    (Provider, Metascheduler),
    (Metascheduler, Service),
    (Service, Metascheduler),
    (Provider, Service),
    (Service, Provider),
    (Service, Service),
];
const ACROSS: &[Route] = &[(Provider, Provider)];
const TO_SERVICE: &[Route] = &[(Provider, Service)];
const SERVES: &[Route] = &[(Service, Metascheduler)];
const ASKS_SERVICE: &[Route] = &[(Metascheduler, Service)];

kinds! {
    Submission(SubmissionMessage) {
        0x0101 "submit" Submit(submission as Handed) => keeps SUBMITS,
        0x0102 "submit_ahead" SubmitAhead(submission as Handed) => keeps DOWN,
        0x0103 "data_arrived" DataArrived { job } => keeps DOWN,
        0x0104 "accepted" Accepted { job } => keeps REPORTS,
        0x0105 "refused" Refused { job, reason } => keeps REPORTS,
        0x0106 "withdraw" Withdraw { job } => keeps SUBMITS,
        0x0107 "not_withdrawn" NotWithdrawn { job } => keeps REPORTS,
        0x0108 "promise" Promise { job, completion } => keeps TO_USER,
        0x0109 "started" Started { job } => keeps REPORTS,
        0x010A "finished" Finished { job, outcome } => keeps REPORTS,
    }
    Reservation(ReservationMessage) {
        0x0201 "reserve" Reserve(submission as Handed) => keeps RESERVES,
        0x0202 "granted" Granted { job, start, completion } => keeps GRANTS,
        0x0203 "alternatives" Alternatives { job, others } => keeps GRANTS,
        0x0204 "take" Take { submission as Handed, start, processors } => keeps RESERVES,
        0x0205 "expired" Expired { job } => keeps GRANTS,
        0x0206 "fixed" Fixed { job, start } => keeps GRANTS,
        0x0207 "broken" Broken { job } => keeps GRANTS,
        0x0208 "shrunk" Shrunk { job, processors, start, completion } => keeps GRANTS,
        0x0209 "revoked" Revoked { job, cause } => keeps GRANTS,
    }
    Query(QueryMessage) {
        0x0301 "estimate_request" EstimateRequest { job, processors, requested_time, demand } => passes QUERIES,
        0x0302 "estimate" Estimate { job, start, completion } => passes REPLIES,
        0x0303 "load_request" LoadRequest { job } => passes QUERIES,
        0x0304 "load" Load { job, drain_time } => passes REPLIES,
        0x0305 "no_answer" NoAnswer { job, reason } => passes REPLIES,
    }
    Reallocation(ReallocationMessage) {
        0x0401 "size_request" SizeRequest(request) => passes DOWN,
        0x0402 "size" Size { job, sizing } => passes UP,
        0x0403 "no_size" NoSize { job, reason } => passes UP,
        0x0404 "submit_moldable" Submit { submission as Handed, sizes, stage_in } => keeps DOWN,
        0x0405 "waiting_request" WaitingRequest => passes DOWN,
        0x0406 "waiting" Waiting { jobs } => passes UP,
        0x0407 "completion_request" CompletionRequest { job } => passes DOWN,
        0x0408 "completion" Completion { job, completion } => passes UP,
        0x0409 "take_back" TakeBack { jobs } => keeps DOWN,
        0x040A "back" Back { jobs } => keeps UP,
    }
    Bargain(BargainMessage) {
        // A provider keeps a call, and its offers can be taken up.
        0x0501 "call" Call(call as Called) => keeps DOWN,
        0x0502 "offers" Offers(answer) => keeps UP,
        0x0503 "probe" Probe { job, answer } => keeps UP,
        0x0504 "refresh" Refresh { job } => keeps DOWN,
    }
    Agreement(AgreementMessage) {
        0x0601 "agreement_instruction" Instruct { job, message } => keeps DOWN,
        0x0602 "agreement_answer" Answer { job, message } => keeps UP,
        0x0603 "release" Release { job } => keeps DOWN,
    }
    Coallocation(CoallocationMessage) {
        // A provider keeps in mind which free times it has reported.
        0x0701 "get_slots" GetSlots { job } => keeps DOWN,
        0x0702 "slots" Slots { job, changed, own } => keeps UP,
        0x0703 "profile" Profile { job, application as Profiled, tolerance } => passes DOWN,
        0x0704 "throughput" Throughput { job, rates } => passes UP,
        0x0705 "earliest_machines" EarliestMachines { job, machines, from } => passes DOWN,
        0x0706 "machines" Machines { job, available } => passes UP,
        0x0707 "part_instruction" Instruct { job, message as Agreed<ToParticipant<Parts>> } => keeps DOWN,
        0x0708 "part_answer" Answer { job, message } => keeps UP,
        0x0709 "reschedule_request" RescheduleRequest { job } => keeps UP,
        0x070A "rescheduled" Rescheduled { job, moved } => keeps DOWN,
        0x070B "part_started" Started { job, id } => keeps UP,
        0x070C "part_broken" Broken { job, id } => keeps UP,
        0x070D "await_room" AwaitRoom { job } => keeps DOWN,
        0x070E "room_grew" RoomGrew { job } => keeps UP,
        0x070F "give_up" GiveUp { job, id } => keeps DOWN,
        0x0710 "part_finished" Finished { job, id, outcome } => keeps UP,
    }
    Transaction(TransactionMessage) {
        0x0801 "transaction" Said { job, message as Agreed<Spoken> } => keeps DECIDES,
        0x0802 "part_too_wide" TooWide { job, id } => keeps UP,
        0x0803 "begin_part" Begin { job, id } => keeps DOWN,
        0x0804 "part_begun" Begun { job, id } => keeps UP,
        0x0805 "part_over" Over { job, id, outcome } => keeps UP,
        0x0806 "part_heard" Heard { job, id } => keeps DOWN,
    }
    Planning(PlanningMessage) {
        0x0901 "plan_request" PlanRequest { job as Described, first } => passes DOWN,
        0x0902 "plan" Plan(plan) => passes UP,
        // A cluster without machines reports later that it has some.
        0x0903 "no_machines" NoMachines { job } => keeps UP,
        0x0904 "times_request" TimesRequest(request as Timed) => passes DOWN,
        0x0905 "times" Times(times) => passes UP,
        0x0906 "interval_proposed" Propose(order as Ordered<Described>) => keeps DOWN,
        0x0907 "proposal_lapsed" Lapsed { job } => keeps UP,
        0x0908 "run_interval" RunInterval(order as Ordered<Runnable>) => keeps DOWN,
        0x0909 "interval_begun" Begun { job } => keeps UP,
        0x090A "interval_not_run" NotRun { job } => keeps UP,
        0x090B "phase_over" PhaseOver { job } => keeps UP,
        0x090C "interval_over" IntervalOver { job } => keeps UP,
        0x090D "interval_lost" IntervalLost { job, arrived } => keeps UP,
        0x090E "forget_application" Forget { job } => keeps DOWN,
        0x090F "machines_free" MachinesFree => keeps UP,
        never { Redraw, Redrawn, Loads }
    }
    Share(ShareMessage) {
        0x0A01 "share_started" Started { job } => keeps UP,
        0x0A02 "share_finished" Finished { job, outcome } => keeps UP,
        0x0A03 "new_completion_times" NewCompletionTimes { entries } => keeps UP,
        0x0A04 "bag_completion" BagCompletion { job, completion } => keeps DOWN,
    }
    Dispatch(DispatchMessage) {
        0x0B01 "dispatch" Dispatch(dispatch as Dispatched) => keeps DOWN,
        0x0B02 "dispatch_refused" Refused { job, number } => keeps UP,
        0x0B03 "cancel" Cancel { job } => keeps DOWN,
        0x0B04 "checkpointing" Checkpointing { job, on } => keeps DOWN,
        0x0B05 "move" Move { job, to } => keeps DOWN,
        0x0B06 "leave" Leave { job, to } => keeps DOWN,
        0x0B07 "moved" Moved(moved) => keeps ACROSS,
        0x0B08 "left" Left { job } => keeps UP,
        0x0B09 "suspended" Suspended { job } => keeps UP,
        0x0B0A "stranded" Stranded { job } => keeps UP,
        0x0B0B "computed" Computed { job, number, delivered } => keeps UP,
        0x0B0C "delivered" Delivered { job } => keeps UP,
        0x0B0D "progress_request" ProgressRequest { job, known } => passes DOWN,
        0x0B0E "progress" Progress { job, so_far } => passes UP,
    }
    Information(InformationMessage) {
        0x0C01 "status" Status(status) => keeps TO_SERVICE,
        0x0C02 "report" Report(status) => keeps SERVES,
    }
    Checkpoint(CheckpointMessage) {
        0x0D01 "saved" Saved(saved) => keeps TO_SERVICE,
        0x0D02 "checkpoint_available" CheckpointAvailable(saved) => keeps SERVES,
        0x0D03 "forget_checkpoint" Forget { job } => keeps ASKS_SERVICE,
    }
    Numbered(NumberedMessage) {
        0x0E01 "item" Item { number, message as Enclosed } => keeps &[],
        0x0E02 "received" Received { next } => keeps BOTH,
    }
    [never Run, Resource, Data, Wake]
}

impl Kind {
    /// The kind of this number.
    pub fn numbered(number: u16) -> Option<&'static Kind> {
        let place = KINDS.binary_search_by_key(&number, |kind| kind.number).ok()?;
        Some(&KINDS[place])
    }

    /// The kind of a message; `None` if it belongs to one machine.
    pub fn of(message: &Message) -> Option<&'static Kind> {
        Kind::numbered(number(message)?)
    }
}

/// True if a number is one of numbered messages.
pub(super) fn is_numbered(kind: u16) -> bool {
    kind >> 8 == 0x0E
}

/// The message of a kind in a body from a stranger, whose contents keep the limits.
///
/// # Errors
/// If the kind is unknown, or the body is none of that kind, or a number is out of its bounds.
pub fn decode(kind: u16, body: &[u8], limits: &Limits) -> Result<Message, Unread> {
    let message = read(kind, body)?;
    limits.check(&message)?;
    Ok(message)
}

/// True if an actor of the first kind may send the message to one of the second. A numbered message may go where its
/// contents may go.
pub fn may_send(message: &Message, from: ActorKind, to: ActorKind) -> bool {
    let contents = match message {
        Message::Numbered(NumberedMessage::Item { message, .. }) => message,
        message => message,
    };
    Kind::of(contents).is_some_and(|kind| kind.routes.contains(&(from, to)))
}

fn written(body: &impl serde::Serialize) -> Vec<u8> {
    postcard::to_stdvec(body).expect("bodies have no sequence of unknown length")
}

/// The whole body as `T`.
fn parsed<T: DeserializeOwned>(kind: u16, body: &[u8]) -> Result<T, Unread> {
    match postcard::take_from_bytes(body) {
        Ok((parsed, [])) => Ok(parsed),
        _ => Err(Unread::Malformed(kind)),
    }
}
