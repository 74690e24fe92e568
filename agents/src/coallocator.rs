//! Metaschedulers that spread rigid jobs over providers: they look for a start that providers have
//! in common, have all parts booked or none, and move what waits when a provider has become idle
//! (Netto 2009, chapter 4). Others do so with iterative applications, whose time they predict for the
//! cores at hand ([`mapping`], chapter 5).
//!
//! ```text
//!            a turn each, one after the other
//!  job ────▶ asking ──▶ agreeing ──▶ placed ──────────▶ over
//!              │  ▲        │           │   ▲            all parts have finished
//!              │  └────────┘           ▼   │
//!   no start:  │  somebody has    a provider asks: a turn to look
//!   refused    │  no room         for a better place, and to agree on it
//!              ▼
//! ```
//!
//! What it knows of providers is what they tell of their free time, each time what has changed since
//! they told it last. Turns follow each other, so that no two of them look at the same room.

mod agreement;
mod known;
pub mod mapping;
mod placed;
mod turns;
mod waiting;

use std::collections::BTreeMap;

use haggle_agreements::Coordinator;
use haggle_model::workload::law::Law;
use haggle_model::{ActorId, Job, JobId, JobShape, Refusal, Span, Time};
use haggle_scheduling::coallocation::{
    CoallocationPolicy, FillRule, FreeTimes, RemapRule, RequestOrder,
};
use rand::RngExt;

use self::known::Known;
use self::mapping::{Mapper, MappingConfig};
use self::placed::Placed;
use self::turns::Turn;
use self::waiting::Waiting;
use crate::desk::{Desk, Entry, PartEnd};
use crate::overhead::Overheads;
use crate::protocol::coallocation::Parts;
use crate::protocol::{
    CoallocationMessage, Message, QueryMessage, RunMessage, Submission, SubmissionMessage, Timer,
};
use crate::{Actor, Outbox};

/// All of the jobs.
const MILLION: u32 = 1_000_000;

/// A co-allocating metascheduler as a scenario describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct CoallocatorConfig {
    /// Its own address: agreements are known by it and a number.
    pub me: ActorId,
    /// The providers over which it spreads jobs.
    pub providers: Vec<ActorId>,
    /// How what waits may move.
    pub moves: CoallocationPolicy,
    /// How many millionths of the jobs bear other providers; what the others would be remapped to
    /// they only shift to. Drawn for each job by its lot.
    pub remappable: u32,
    /// Who gives how much.
    pub fill: FillRule,
    /// Fewest processors of a part of a job that is spread.
    pub part_min: u32,
    /// Over how many providers each job is divided, two or more; `None` = over as many as it takes.
    pub parts: Option<u32>,
    /// Which places a remap looks at.
    pub choice: RemapRule,
    /// In which order requests of providers for moves are served; by provider only if messages between these and it
    /// take no time.
    pub requests: RequestOrder,
    /// By how many percent a job takes longer on several providers than on one.
    pub overhead: Law,
    /// No job takes longer than by so many percent.
    pub overhead_max: u32,
    /// Times a job is placed in vain before it is given back.
    pub trials: u32,
    /// How long a message between it and a provider takes at most.
    pub latency_max: Span,
    /// From which overheads and who may be remapped are drawn, for each job by its lot.
    pub seed: u64,
    /// How it maps iterative applications, instead of spreading rigid jobs.
    pub mapping: Option<MappingConfig>,
}

/// Spreads rigid jobs over providers.
#[derive(Debug)]
pub struct Coallocator {
    config: CoallocatorConfig,
    overheads: Overheads,
    mapper: Option<Mapper>,
    places: BTreeMap<ActorId, usize>,
    known: Known,
    desk: Desk<Stage>,
    coordinator: Coordinator<Parts>,
    /// Jobs that have arrived at this instant.
    arrived: Vec<JobId>,
    /// Jobs to place or to move.
    waiting: Waiting,
    /// The one whose turn it is.
    turn: Option<Turn>,
    /// The provider that gives first to the next job.
    first: usize,
}

/// How far a job has come.
#[derive(Debug)]
enum Stage {
    /// It is to be placed.
    Open(Traits),
    /// It is booked at providers.
    Placed(Box<Placed>),
}

/// What belongs to a job wherever it is placed.
#[derive(Clone, Copy, Debug)]
struct Traits {
    /// The provider that gives first.
    first: usize,
    /// By how many percent it takes longer on several providers.
    overhead: u32,
    /// How it may move.
    moves: CoallocationPolicy,
    /// Fewest processors of a part.
    part_min: u32,
    /// Over how many providers it is divided.
    parts: Option<u32>,
}

impl Entry<Stage> {
    fn placed(&mut self) -> Option<&mut Placed> {
        match &mut self.stage {
            Stage::Placed(placed) => Some(placed),
            Stage::Open(_) => None,
        }
    }
}

impl Coallocator {
    /// A metascheduler that has seen no job.
    ///
    /// # Panics
    /// If the law of overheads is none, which scenarios are checked for.
    pub fn new(config: CoallocatorConfig) -> Coallocator {
        let places = config.providers.iter().enumerate().map(|(place, &id)| (id, place)).collect();
        Coallocator {
            overheads: Overheads::new(&config.overhead, config.overhead_max, config.seed),
            mapper: config.mapping.clone().map(Mapper::new),
            places,
            known: Known::nothing(config.providers.len()),
            desk: Desk::default(),
            coordinator: agreement::coordinator(config.me),
            arrived: Vec::new(),
            waiting: Waiting::new(config.requests),
            turn: None,
            first: 0,
            config,
        }
    }

    /// The refusal of a job with fewer processors than its parts take.
    fn too_narrow(&self, processors: u32) -> Option<Refusal> {
        let CoallocatorConfig { part_min, parts, .. } = self.config;
        let least = u64::from(parts?) * u64::from(part_min);
        (u64::from(processors) < least).then_some(Refusal::TooNarrow)
    }

    fn on_submitted(
        &mut self,
        now: Time,
        submitter: ActorId,
        submission: Submission,
        out: &mut Outbox,
    ) -> bool {
        let job = &submission.job;
        let id = job.id;
        let refusal = match self.mapper {
            Some(_) => submission.unfit_for_mapping(),
            None => {
                submission.unfit_for(JobShape::Rigid).or_else(|| self.too_narrow(job.processors))
            }
        };
        let (overhead, moves) = match self.mapper {
            Some(_) => (0, self.config.moves),
            None => (self.overheads.of(job), self.moves_of(job)),
        };
        let CoallocatorConfig { part_min, parts, .. } = self.config;
        let traits = Traits { first: self.first, overhead, moves, part_min, parts };
        if self.desk.take_in(submitter, submission, Stage::Open(traits)).is_none() {
            return false;
        }
        self.first = (self.first + 1) % self.config.providers.len().max(1);
        match refusal {
            Some(reason) => self.desk.refuse(id, reason, out),
            None => {
                self.arrived.push(id);
                out.set(now, Timer::JobsArrived);
            }
        }
        true
    }

    /// All that ends, moves and starts at this instant has: jobs that have arrived at it are placed.
    fn on_jobs_arrived(&mut self, now: Time, out: &mut Outbox) {
        for id in std::mem::take(&mut self.arrived) {
            match self.mapper {
                Some(_) => self.on_application(now, id, out),
                None => self.enqueue(now, id, None, out),
            }
        }
    }

    /// How a job may move: not every application bears that its processors come from elsewhere.
    fn moves_of(&self, job: &Job) -> CoallocationPolicy {
        let mut stream = job.lot.stream(self.config.seed, "remapping of co-allocation");
        let remaps = stream.random_range(0..MILLION) < self.config.remappable;
        if remaps { self.config.moves } else { self.config.moves.min(CoallocationPolicy::Shift) }
    }

    fn on_withdrawn(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        let its_turn = self.turn.as_ref().is_some_and(|turn| turn.is_of(job));
        // Answers for the one whose turn it is are on their way: it is dropped when they are in.
        if self.desk.withdraw_unless_agreed(from, job, out) && !its_turn {
            self.desk.cancel(now, job, out);
        }
    }

    fn on_coallocation(
        &mut self,
        now: Time,
        from: ActorId,
        message: CoallocationMessage,
        out: &mut Outbox,
    ) -> bool {
        let Some(&place) = self.places.get(&from) else { return false };
        match message {
            CoallocationMessage::Slots { job, changed, own } => {
                let sound = changed.is_sound() && own.is_sound();
                sound && self.on_slots(now, place, job, (&changed, *own), out)
            }
            CoallocationMessage::Machines { job, available } => {
                available.is_sound() && self.on_free_times(now, place, job, *available, out)
            }
            CoallocationMessage::Throughput { job, rates } => {
                self.on_throughput(now, place, job, rates, out)
            }
            CoallocationMessage::Answer { job, message } => {
                self.on_vote(now, job, from, *message, out)
            }
            CoallocationMessage::RescheduleRequest { job } => {
                self.enqueue(now, job, Some(from), out);
                true
            }
            CoallocationMessage::Started { job } => {
                // It may be late, and the part over.
                self.desk.part_started(from, job, out);
                true
            }
            CoallocationMessage::Finished { job, outcome } => {
                let end = self.desk.part_finished(now, from, (job, outcome), out);
                end != PartEnd::Unexpected
            }
            CoallocationMessage::GetSlots { .. }
            | CoallocationMessage::Profile { .. }
            | CoallocationMessage::EarliestMachines { .. }
            | CoallocationMessage::Instruct { .. }
            | CoallocationMessage::Rescheduled { .. } => false,
        }
    }
}

impl Actor for Coallocator {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        let expected = match message {
            Message::Submission(SubmissionMessage::Submit(submission)) => {
                self.on_submitted(now, from, submission, out)
            }
            Message::Submission(SubmissionMessage::Withdraw { job }) => {
                self.on_withdrawn(now, from, job, out);
                true
            }
            Message::Coallocation(message) => self.on_coallocation(now, from, message, out),
            Message::Wake(Timer::NextTurn) => {
                self.on_next_turn(now, out);
                true
            }
            Message::Wake(Timer::JobsArrived) => {
                self.on_jobs_arrived(now, out);
                true
            }
            Message::Query(QueryMessage::NoAnswer { job, .. }) => {
                let place = self.places.get(&from).copied();
                place.is_some_and(|it| self.on_free_times(now, it, job, FreeTimes::none(), out))
            }
            Message::Run(RunMessage::RunOver) => {
                self.desk.run_over(now, out);
                true
            }
            // What it knows it knows again.
            Message::Run(RunMessage::Crashed | RunMessage::Restarted) => true,
            _ => false,
        };
        if !expected {
            out.refuse(from);
        }
    }
}
