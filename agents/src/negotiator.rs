//! Metaschedulers that bargain: they call for offers, compose them into a
//! placement of the whole bag, and have it confirmed by all or none.
//!
//! ```text
//!  bag ──▶ calling ──▶ preparing ──▶ placed ──▶ over
//!  queue     ▲  ▲  all offers in │  │ all ready   shares, completions
//!   a probe  │  └────────────────┘  ▼
//!   (refresh)└── a provider not ready: abort, compose again
//!            answers             agreement
//! ```
//!
//! It knows providers only by the facts that their answers disclose (section 6.3 and 7.2 of Netto
//! 2009; the three phases after Haji et al. 2005).

mod agreement;
mod answers;
mod completions;
mod glimpse;
mod queue;
mod shares;

use std::collections::BTreeMap;

use haggle_model::{ActorId, JobId, Span, Time};
use haggle_scheduling::bag_table::BagTable;
use haggle_scheduling::composition::{CompositionOptions, CompositionPolicy};
use serde::{Deserialize, Serialize};

use self::agreement::Preparing;
use self::answers::Answer;
use self::queue::Queue;
use self::shares::Placed;
use crate::desk::{Desk, Entry};
use crate::numbered::{Numbered, TakesNumbered};
use crate::protocol::{
    AgreementMessage, BargainMessage, Message, QueryMessage, RunMessage, ShareMessage,
    SubmissionMessage, Timer,
};
use crate::{Actor, AnyActor, Outbox};

/// A bargaining metascheduler as a scenario describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NegotiatorConfig {
    /// Its own address: an agreement is identified by it and a number.
    pub me: ActorId,
    /// Its policy of composition.
    pub policy: CompositionPolicy,
    /// Variants of the policy.
    pub options: CompositionOptions,
    /// The providers it calls.
    pub providers: Vec<ActorId>,
    /// True if it notifies providers of the expected completions of whole bags, so that they can
    /// reschedule in step.
    pub coordinated: bool,
    /// Number of compositions of a bag, before the whole bag goes to one provider.
    pub rounds: u32,
    /// Longest wait for offers; `None` = until all have arrived.
    pub offers_wait: Option<Span>,
    /// Time between repetitions of messages without answer; `None` = no message is ever lost.
    pub retry: Option<Span>,
    /// False if the transport itself repeats lost messages; a copy would only be one more message.
    pub resends: bool,
}

/// Places bags by bargaining.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Negotiator {
    config: NegotiatorConfig,
    places: BTreeMap<ActorId, usize>,
    desk: Desk<Stage>,
    queue: Queue,
    seat: agreement::Seat,
    /// Bags by the agreements that are not over, if messages are repeated.
    jobs: BTreeMap<u64, JobId>,
    numbered: Numbered,
    /// By the providers' positions in its list.
    table: BagTable,
}

/// Progress of a bag.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Stage {
    /// Its turn has not come.
    Backlog,
    /// It is bargained over.
    Open(Box<Bargain>),
    /// Providers have it.
    Placed(Box<Placed>),
}

/// A bag that is being bargained over.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Bargain {
    turn: u64,
    answers: Vec<Answer>,
    /// True if it is composed without the answers that have not arrived.
    due: bool,
    /// Number of compositions without success.
    round: u32,
    /// Number of times that old offers were requested anew.
    refreshed: u32,
    /// Parts that providers are asked to hold; `None` while offers are awaited.
    preparing: Option<Preparing>,
}

impl Bargain {
    fn new(turn: u64, answers: Vec<Answer>) -> Bargain {
        Bargain { turn, answers, due: false, round: 0, refreshed: 0, preparing: None }
    }
}

impl Entry<Stage> {
    fn open(&mut self) -> Option<&mut Bargain> {
        match &mut self.stage {
            Stage::Open(bargain) => Some(bargain),
            Stage::Backlog | Stage::Placed(_) => None,
        }
    }

    fn placed(&mut self) -> Option<&mut Placed> {
        match &mut self.stage {
            Stage::Placed(placed) => Some(placed),
            Stage::Backlog | Stage::Open(_) => None,
        }
    }
}

impl Negotiator {
    /// True if it repeats messages that are not answered.
    pub(crate) fn repeats(&self) -> bool {
        self.config.retry.is_some()
    }

    /// A metascheduler without bags.
    pub fn new(config: NegotiatorConfig) -> Negotiator {
        let places = config.providers.iter().enumerate().map(|(place, &id)| (id, place)).collect();
        Negotiator {
            places,
            desk: Desk::default(),
            queue: Queue::default(),
            seat: agreement::seat(config.me, config.retry),
            jobs: BTreeMap::new(),
            numbered: Numbered::with(config.retry.into_iter().flat_map(|retry| {
                let retry = config.resends.then_some(retry);
                config.providers.iter().map(move |&provider| (provider, retry))
            })),
            table: BagTable::default(),
            config,
        }
    }

    fn bargain(&mut self, id: JobId) -> Option<&mut Bargain> {
        self.desk.get_mut(id)?.open()
    }

    /// Takes over the variants of its policy, also for the bag that is bargained over.
    fn on_changed(&mut self, anew: AnyActor) -> bool {
        let AnyActor::Negotiator(anew) = anew else { return false };
        let NegotiatorConfig { options, rounds, .. } = anew.config;
        (self.config.options, self.config.rounds) = (options, rounds);
        true
    }

    fn on_withdrawn(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        let is_here = self.desk.withdraw_unless_agreed(from, job, out);
        let waits = |entry: &Entry<Stage>| matches!(entry.stage, Stage::Backlog);
        // Offers for an open bag are on their way: it is dropped when they have arrived.
        if is_here && self.desk.get(job).is_some_and(waits) {
            self.desk.cancel(now, job, out);
        }
    }
}

/// The handlers of each protocol; they return false for a message that is not expected.
impl Negotiator {
    fn on_bargain(
        &mut self,
        now: Time,
        from: ActorId,
        message: BargainMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            BargainMessage::Offers(answer) => {
                let job = answer.job;
                self.on_answer(now, from, job, Answer::offers(now, *answer), out)
            }
            BargainMessage::Probe { job, answer } => self.on_probe(from, job, answer),
            BargainMessage::Call(_) | BargainMessage::Refresh { .. } => false,
        }
    }

    fn on_share(
        &mut self,
        now: Time,
        from: ActorId,
        message: ShareMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            ShareMessage::Started { job } => self.desk.part_started(from, job, out),
            ShareMessage::Finished { job, outcome } => {
                self.on_share_finished(now, from, job, outcome, out)
            }
            ShareMessage::NewCompletionTimes { entries } => {
                self.on_new_completion_times(from, entries, out)
            }
            ShareMessage::BagCompletion { .. } => false,
        }
    }

    fn on_timer(&mut self, now: Time, timer: Timer, out: &mut Outbox) -> bool {
        match timer {
            Timer::NextBag => self.on_next_bag(now, out),
            Timer::OffersDue { job } => self.on_offers_due(now, job, out),
            Timer::AgreementDue => self.on_agreement_due(now, out),
            _ => return false,
        }
        true
    }
}

impl Actor for Negotiator {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        self.take_in_order(now, from, message, out);
        if self.config.retry.is_some() {
            self.set_agreement_timer(now, out);
        }
    }
}

impl TakesNumbered for Negotiator {
    fn numbered(&mut self) -> &mut Numbered {
        &mut self.numbered
    }

    fn take(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        let expected = match message {
            Message::Submission(SubmissionMessage::Submit(submission)) => {
                self.on_submitted(now, from, submission, out)
            }
            Message::Submission(SubmissionMessage::Withdraw { job }) => {
                self.on_withdrawn(now, from, job, out);
                true
            }
            Message::Bargain(message) => self.on_bargain(now, from, message, out),
            Message::Query(QueryMessage::NoAnswer { job, .. }) => {
                self.on_answer(now, from, job, Answer::None, out)
            }
            Message::Agreement(AgreementMessage::Answer { job, message }) => {
                self.on_vote(now, from, job, *message, out)
            }
            Message::Share(message) => self.on_share(now, from, message, out),
            Message::Wake(timer) => self.on_timer(now, timer, out),
            Message::Run(RunMessage::RunOver) => {
                self.desk.run_over(now, out);
                true
            }
            Message::Run(RunMessage::Changed(settings)) => self.on_changed(settings.actor),
            // All of its state but the machine of the agreements survives a crash.
            Message::Run(RunMessage::Crashed) => {
                self.seat.crash();
                true
            }
            Message::Run(RunMessage::Restarted) => {
                self.on_restarted(now, out);
                true
            }
            _ => false,
        };
        if !expected {
            out.refuse(from);
        }
    }
}
