//! Agreement: all providers of a composition hold their parts of a bag, or none does
//! (the three phases of Haji et al. 2005; Netto 2009, section 7.2).
//!
//! ```text
//!   metascheduler                     provider
//!       │ ── Prepare ─────────────────────▶ │
//!       │ ◀──────────── Ready or NotReady ─ │
//!       │ ── Commit, if all are ready ────▶ │  Abort otherwise; Release if it is not needed at all
//!       │ ◀───────────────────── Committed ─│
//! ```
//!
//! The messages are those of [`haggle_agreements`], about [`Bags`]; each round of composition has a
//! number of its own. Providers need three of the answers. They carry out every committed part, held or
//! not, so parts do not expire, and providers do not inquire for decisions.

use std::sync::Arc;

use haggle_agreements::{self as agreements, Instruction, Subject, ToCoordinator, ToParticipant};
use haggle_model::observation::DisclosedItem;
use haggle_model::{JobId, Time};
use haggle_scheduling::Award;
use serde::{Deserialize, Serialize};

use super::bargain::Answer;
use super::said::{Tells, protocol, said, said_by};

/// Subject of agreements on a composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bags;

impl Subject for Bags {
    /// The requested tasks of the bag.
    type Request = Arc<Award>;
    /// Planned completion: of held tasks, not later than offered; of tasks that were not held,
    /// [`Time::FOREVER`] = unknown.
    type Terms = Time;
    /// New offers.
    type Counter = Arc<Answer>;
    type Order = ShareOrder;
}

/// Data that a provider needs to run its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ShareOrder {
    /// Completion of the whole bag, if providers must coordinate.
    pub expected: Option<Time>,
    /// Number of tasks to run without a hold, as early as they fit.
    pub unheld: u32,
}

protocol! {
    /// Messages of an agreement on a composition.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum AgreementMessage {
        /// Metascheduler to provider: hold this part of the bag for me, run it, or give it up.
        /// Discloses the expected completion of the whole bag, if providers must coordinate.
        Instruct {
            /// The bag.
            job: JobId,
            /// The instruction.
            message: Box<ToParticipant<Bags>>,
        } => instruct(&message.instruction).of(job),
        /// Provider to metascheduler: the tasks that it holds, could hold, or runs. Discloses the
        /// planned completion of tasks that it did not hold before. New offers disclose the same as
        /// other offers.
        Answer {
            /// The bag.
            job: JobId,
            /// The answer.
            message: Box<ToCoordinator<Bags>>,
        } => answer(&message.answer).of(job),
        /// Metascheduler to provider: forget the bag, it goes elsewhere.
        Release {
            /// The bag.
            job: JobId,
        } => said("release").of(job),
    }
}

said_by! {
    /// An instruction discloses the expected completion of the whole bag, if it contains that.
    fn instruct(instruction: &Instruction<Bags>) -> Said<'static> {
        Instruction::Prepare { .. } => said("prepare"),
        Instruction::Commit(ShareOrder { expected: Some(_), .. }) => said("commit")
            .tells(DisclosedItem::BagCompletion),
        Instruction::Commit(_) => said("commit"),
        Instruction::Abort => said("abort"),
        Instruction::Undo => said("undo"),
    }
}

said_by! {
    /// An answer discloses a planned completion if that is new, or new offers.
    fn answer(answer: &agreements::Answer<Bags>) -> Said<'_> {
        agreements::Answer::Ready { .. } => said("ready").tells(DisclosedItem::Estimate),
        agreements::Answer::NotReady(offers) => said("not_ready").tells(Tells::Offers(offers)),
        agreements::Answer::Committed(Some(_)) => said("committed")
            .tells(DisclosedItem::Estimate),
        agreements::Answer::Committed(None) => said("committed"),
        agreements::Answer::Expired => said("expired"),
        agreements::Answer::Undone => said("undone"),
        agreements::Answer::Inquire => said("inquire"),
    }
}

impl AgreementMessage {
    /// The new offers of a provider that cannot hold the requested tasks.
    pub fn new_offers(&self) -> Option<&Answer> {
        match self {
            AgreementMessage::Answer { message, .. } => match &message.answer {
                agreements::Answer::NotReady(offers) => Some(offers),
                _ => None,
            },
            AgreementMessage::Instruct { .. } | AgreementMessage::Release { .. } => None,
        }
    }
}
