//! All messages: one file for each protocol, and [`Message`], the closed sum of them all.
//!
//! | protocol | between | about |
//! |---|---|---|
//! | [`submission`] | user, metascheduler, provider | a job as a whole |
//! | [`reservation`] | user, provider | a window for a job, in advance |
//! | [`query`] | metascheduler, provider | predicted start and end of a rigid job |
//! | [`reallocation`] | reallocator, provider | sizes of moldable jobs, and jobs that move |
//! | [`bargain`] | metascheduler, provider | offers for a bag |
//! | [`agreement`] | metascheduler, provider | holding and committing parts of a bag |
//! | [`coallocation`] | metascheduler, provider | parts of a rigid job at several providers |
//! | [`transaction`] | metascheduler, provider, acceptor | parts of a rigid job, by a protocol of the scenario's choice |
//! | [`planning`] | metascheduler, cluster, resource updates | plans for applications of phases, and loads |
//! | [`share`] | metascheduler, provider | progress of a share of a bag |
//! | [`resource`] | nature, owner | failures and repairs |
//! | [`dispatch`] | dispatcher, resource | attempts of jobs of a grid |
//! | [`information`] | resource, information service, dispatcher | the state of resources |
//! | [`data`] | resource, network, storage, dispatcher | transfers and room |
//! | [`checkpoint`] | resource, checkpoint server, dispatcher | checkpoints |
//! | [`numbered`] | metascheduler, provider | messages that are repeated until they are acknowledged |
//! | [`run`] | the world, all actors | due events, and the end of the run |
//!
//! A message is defined in one place: its fields, and behind an arrow the facts about it (`said.rs`).
//! These are its name in tables, the job it is about, the phase of its delivery, and the items that
//! it discloses about its sender. An actor refuses a message that it does not expect
//! ([`Outbox::refuse`](crate::Outbox::refuse)).
//!
//! # Serialization
//!
//! Every message can be written and read again (serde), and a run over copies of all messages gives
//! the same results. Reading checks the form only. A receiver of messages from strangers must check
//! their contents, for example that processors and links exist. Three things will not travel live:
//!
//! - a run time, see [`HiddenRunTime`](haggle_model::job::HiddenRunTime): the program goes instead;
//! - messages of the run and of nature ([`run`], [`resource`]), loads, [`data`] and timers, which
//!   belong to one machine;
//! - an instant of the sender's clock where a microsecond decides. Holds are durations
//!   ([`haggle_agreements`]). Deadlines, promises and planned times are calendar dates, by which two
//!   clocks may differ a little. The validity of offers ([`bargain::Answer::valid`]) still has two
//!   instants: from them the receiver computes how long the answer was under way.
//!
//! # Identifiers
//!
//! The ticket of a job is its number, without the number of an attempt: a job goes to each taker at
//! most once. Its submitter keeps it, and a provider itself starts lost jobs again. Rounds of
//! agreements and attempts of a grid have numbers of their own. The number of an agreement does
//! not disclose how many there were before, and the number of an answer does not disclose how often
//! a plan has changed. Numbers of jobs do count the jobs of a run; live, a user draws them.

pub mod agreement;
pub mod bargain;
pub mod checkpoint;
pub mod coallocation;
pub mod data;
pub mod dispatch;
pub mod information;
pub mod numbered;
pub mod phase;
pub mod planning;
pub mod query;
pub mod reallocation;
pub mod reservation;
pub mod resource;
pub mod run;
mod said;
pub mod share;
pub mod submission;
pub mod timer;
pub mod transaction;

use std::collections::BTreeSet;

use haggle_model::observation::DisclosedItem;
use haggle_model::{ActorKind, JobId};
use serde::{Deserialize, Serialize};

use said::Said;

pub use agreement::AgreementMessage;
pub use bargain::{Answer, BargainMessage, Call};
pub use checkpoint::{CheckpointMessage, Saved};
pub use coallocation::CoallocationMessage;
pub use data::{DataMessage, Transfer};
pub use dispatch::{Dispatch, DispatchMessage, Moved, SoFar};
pub use information::{InformationMessage, Status};
pub use numbered::NumberedMessage;
pub use phase::Phase;
pub use planning::PlanningMessage;
pub use query::QueryMessage;
pub use reallocation::{ReallocationMessage, SizeRequest};
pub use reservation::ReservationMessage;
pub use resource::ResourceMessage;
pub use run::RunMessage;
pub use share::ShareMessage;
pub use submission::{Submission, SubmissionMessage};
pub use timer::{GridTimer, Timer};
pub use transaction::TransactionMessage;

/// Records how many items of a kind are disclosed.
pub type Tell<'a> = dyn FnMut(DisclosedItem, u32) + 'a;

/// Sender and receiver of a message, as far as they decide what is disclosed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parties {
    /// Kind of the sender.
    pub from: ActorKind,
    /// Kind of the receiver.
    pub to: ActorKind,
}

impl Parties {
    /// True if one of them is a user.
    fn with_user(self) -> bool {
        self.from == ActorKind::User || self.to == ActorKind::User
    }
}

/// Makes the sum of all protocols, so that each protocol is named in one place.
macro_rules! messages {
    ($($(#[$doc:meta])* $protocol:ident($message:ty),)*) => {
        /// A message from one actor to another, or to itself later.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum Message {
            $($(#[$doc])* $protocol($message),)*
        }

        impl Message {
            /// Facts about it.
            #[inline(always)]
            fn said(&self) -> Said<'_> {
                match self {
                    $(Message::$protocol(message) => message.said(),)*
                }
            }

            /// All words of the table of messages, in the order of the alphabet.
            pub fn kinds() -> BTreeSet<&'static str> {
                let kinds = [$(<$message>::kinds(),)*];
                kinds.into_iter().flatten().collect()
            }
        }

        $(impl From<$message> for Message {
            fn from(message: $message) -> Message {
                Message::$protocol(message)
            }
        })*
    };
}

messages! {
    /// The driver of the run to an actor.
    Run(RunMessage),
    /// About a job as a whole.
    Submission(SubmissionMessage),
    /// About a reservation.
    Reservation(ReservationMessage),
    /// Before a rigid job is placed.
    Query(QueryMessage),
    /// About moldable jobs, which may move.
    Reallocation(ReallocationMessage),
    /// Before a bag is agreed on.
    Bargain(BargainMessage),
    /// To agree on a composition.
    Agreement(AgreementMessage),
    /// About parts of a rigid job.
    Coallocation(CoallocationMessage),
    /// About parts of a rigid job, by a protocol of the scenario's choice.
    Transaction(TransactionMessage),
    /// About applications of phases, and loads.
    Planning(PlanningMessage),
    /// About a share that is committed.
    Share(ShareMessage),
    /// Nature to the owners of resources.
    Resource(ResourceMessage),
    /// About attempts of jobs of a grid.
    Dispatch(DispatchMessage),
    /// About the state of resources of a grid.
    Information(InformationMessage),
    /// About data on their way.
    Data(DataMessage),
    /// About checkpoints of a grid.
    Checkpoint(CheckpointMessage),
    /// Between actors that repeat messages until they are acknowledged.
    Numbered(NumberedMessage),
    /// An actor to itself.
    Wake(Timer),
}

// Messages are moved several times on their way, so large contents go into a box.
const _: () = assert!(size_of::<Message>() <= 40);

impl Message {
    /// The word used in the table of messages.
    pub fn kind(&self) -> &'static str {
        self.said().kind
    }

    /// The job it is about, if any.
    pub fn job(&self) -> Option<JobId> {
        self.said().job
    }

    /// The job about which it discloses something, if any.
    #[inline]
    pub fn discloses_about(&self) -> Option<JobId> {
        self.said().discloses_about
    }

    /// Phase of an instant in which it is delivered.
    pub fn phase(&self) -> Phase {
        self.said().phase
    }

    /// Reports the facts about its sender that its receiver learns.
    #[inline]
    pub fn disclose(&self, between: Parties, tell: &mut Tell<'_>) {
        self.said().disclose(between, tell);
    }

    /// True if it would come again even without jobs: failures and repairs, maintenance, and the
    /// rounds of a scheduler. After the end of all jobs it is not needed.
    #[inline]
    pub fn recurs(&self) -> bool {
        // Called for every message, so it matches variants: `phase` would have to match in every
        // protocol.
        let recurs = matches!(
            self,
            Message::Resource(_)
                | Message::Run(
                    RunMessage::OutageDue { .. } | RunMessage::Crashed | RunMessage::Restarted
                )
                | Message::Wake(
                    Timer::RestoreDue { .. }
                        | Timer::Settle
                        | Timer::MaintenanceAnnounced { .. }
                        | Timer::MaintenanceBegins { .. }
                        | Timer::MaintenanceEnds { .. }
                        | Timer::Reallocate
                        | Timer::LoadsChange
                        | Timer::LoadsSeen
                        | Timer::Grid(GridTimer::LoadChanges | GridTimer::Round)
                )
        );
        let decides = matches!(
            self,
            Message::Wake(
                Timer::MaintenanceBegins { .. } | Timer::Reallocate | Timer::Grid(GridTimer::Round)
            )
        );
        let is_change = matches!(self.phase(), Phase::Resource | Phase::Recovery);
        debug_assert_eq!(recurs, decides || is_change);
        recurs
    }

    /// True if a metascheduler that repeats messages, and its providers, number it. An agreement repeats its
    /// own messages.
    pub(crate) fn is_numbered(&self) -> bool {
        match self {
            Message::Bargain(_)
            | Message::Share(_)
            | Message::Query(_)
            | Message::Agreement(AgreementMessage::Release { .. }) => true,
            Message::Coallocation(message) => !matches!(
                message,
                CoallocationMessage::Instruct { .. } | CoallocationMessage::Answer { .. }
            ),
            _ => false,
        }
    }

    /// True if it reaches an actor that is down: events on its machine, and messages of the run.
    pub fn reaches_who_is_down(&self) -> bool {
        match self {
            Message::Resource(_) => true,
            Message::Run(message) => {
                !matches!(message, RunMessage::JobDue(_) | RunMessage::Changed(_))
            }
            Message::Data(message) => matches!(message, DataMessage::CheckpointTransferred { .. }),
            Message::Wake(timer) => matches!(
                timer,
                Timer::RunEnds { .. }
                    | Timer::CheckpointDue { .. }
                    | Timer::TasksEnd { .. }
                    | Timer::MaintenanceBegins { .. }
                    | Timer::MaintenanceEnds { .. }
            ),
            _ => false,
        }
    }
}
