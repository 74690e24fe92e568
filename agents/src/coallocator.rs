//! Metaschedulers that spread rigid jobs over providers (Netto 2009, chapter 4).
//!
//! They search for the earliest start that is common to providers, and book all parts of a job or none. When a
//! provider becomes idle, they move waiting jobs. With [`mapping`], they place iterative applications instead and
//! predict run times on the available cores (chapter 5).
//!
//! ```text
//!            a turn each, one after the other
//!  job ────▶ asking ──▶ agreeing ──▶ placed ──────────▶ over
//!              │  ▲        │           │   ▲            all parts have finished
//!              │  └────────┘           ▼   │
//!   no start:  │  a provider      a provider asks for a move: a turn to
//!   refused    │  has no room     search a better place and agree on it
//!              ▼
//! ```
//!
//! A metascheduler knows the free times that providers have reported; a report of slots holds the changes since the
//! last one. Turns never overlap, so no two of them use the same room.

mod agreement;
mod glimpse;
mod known;
pub mod mapping;
mod placed;
mod turns;
mod waiting;

use std::collections::BTreeMap;

use haggle_model::law::Law;
use haggle_model::{ActorId, Job, JobId, JobShape, Refusal, Span, Time};
use haggle_scheduling::coallocation::{
    CoallocationPolicy, FillRule, FreeTimes, RemapRule, RequestOrder,
};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use self::known::Known;
use self::mapping::{Mapper, MappingConfig};
use self::placed::Placed;
use self::turns::Turn;
use self::waiting::Waiting;
use crate::desk::{Desk, Entry, PartEnd};
use crate::numbered::{Numbered, TakesNumbered};
use crate::overhead::Overheads;
use crate::protocol::{
    CoallocationMessage, Message, QueryMessage, RunMessage, Submission, SubmissionMessage, Timer,
};
use crate::{Actor, AnyActor, Outbox};

/// Millionths in a whole.
const MILLION: u32 = 1_000_000;

/// A co-allocating metascheduler as a scenario describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoallocatorConfig {
    /// Its own address, which identifies its agreements together with a number.
    pub me: ActorId,
    /// Providers over which it spreads jobs.
    pub providers: Vec<ActorId>,
    /// Moves that are allowed for waiting jobs.
    pub moves: CoallocationPolicy,
    /// Fraction of the jobs that may be remapped, in millionths; drawn for each job by its lot. The other jobs may
    /// shift at most.
    pub remappable: u32,
    /// Order in which providers give processors to a job.
    pub fill: FillRule,
    /// Fewest processors of a part of a job that is spread.
    pub part_min: u32,
    /// Number of providers over which each job is divided, two or more; `None` = as many as needed.
    pub parts: Option<u32>,
    /// Places that a remap examines.
    pub choice: RemapRule,
    /// Order in which requests of providers for moves are served. [`RequestOrder::ByProvider`] is only for messages
    /// to and from providers that take no time.
    pub requests: RequestOrder,
    /// Percentage by which a job takes longer on several providers than on one.
    pub overhead: Law,
    /// Upper limit of that percentage.
    pub overhead_max: u32,
    /// Number of trials to place a job before it is refused.
    pub trials: u32,
    /// Time between repetitions of messages without answer; `None` = no message is ever lost. Jobs may be lost if they
    /// move and messages are repeated.
    pub retry: Option<Span>,
    /// False if the transport itself repeats lost messages; a copy would only be one more message.
    pub resends: bool,
    /// True if a provider may break an agreement: its processors fail, its scheduler crashes, or work at it runs
    /// longer than planned. Jobs may be lost if they move and agreements are broken.
    pub may_break: bool,
    /// Most placements of a job that are broken after they were agreed on, at least one; then the job has failed.
    pub max_attempts: u32,
    /// Speed of the processors of all its providers; 1 = the reference processor.
    pub speed: f64,
    /// Longest time that a message between it and a provider takes.
    pub latency_max: Span,
    /// Seed from which overheads and the remappable jobs are drawn, for each job by its lot.
    pub seed: u64,
    /// Configuration for iterative applications. `Some` = they are mapped, and no rigid jobs are spread.
    pub mapping: Option<MappingConfig>,
}

/// Spreads rigid jobs over providers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Coallocator {
    config: CoallocatorConfig,
    overheads: Overheads,
    mapper: Option<Mapper>,
    places: BTreeMap<ActorId, usize>,
    known: Known,
    desk: Desk<Stage>,
    seat: agreement::Seat,
    numbered: Numbered,
    /// Jobs that have arrived at this instant.
    arrived: Vec<JobId>,
    /// Jobs to place or to move.
    waiting: Waiting,
    /// Job that is being placed or moved.
    turn: Option<Turn>,
    /// Place of the provider that is first in turn for the next job.
    first: usize,
    /// Jobs that await room, because failed processors leave none for them.
    stranded: Vec<JobId>,
}

/// State of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Stage {
    /// It has no place; its last one, if the agreement on it was broken.
    Open(Traits, Option<Box<Placed>>),
    /// It is booked at providers.
    Placed(Box<Placed>),
}

/// Properties of a job that do not depend on its place.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Traits {
    /// Place of the provider that is first in turn.
    first: usize,
    /// Percentage by which it takes longer on several providers.
    overhead: u32,
    /// Moves that are allowed for it.
    moves: CoallocationPolicy,
    /// Fewest processors of a part.
    part_min: u32,
    /// Number of providers over which it is divided.
    parts: Option<u32>,
    /// Time for which its places are booked, without the overhead.
    span: Span,
    /// Its past, if it was agreed on before.
    past: Option<Past>,
}

/// Facts of a job that stay if its agreement is broken.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Past {
    /// Number of agreements on it that were broken.
    broken: u32,
    /// Time of the first agreement.
    placed: Time,
    /// Completion promised to the user by the first agreement.
    promised_end: Option<Time>,
}

impl Entry<Stage> {
    fn placed(&mut self) -> Option<&mut Placed> {
        match &mut self.stage {
            Stage::Placed(placed) => Some(placed),
            Stage::Open(..) => None,
        }
    }
}

impl Coallocator {
    /// True if an agreement that was carried out may be undone.
    fn undoes(&self) -> bool {
        self.config.retry.is_some() || self.config.may_break
    }

    /// True if it repeats messages that are not answered.
    pub(crate) fn repeats(&self) -> bool {
        self.config.retry.is_some()
    }

    /// A metascheduler that has seen no job.
    ///
    /// # Panics
    /// If the law of overheads cannot be drawn from. Scenarios are checked for that.
    pub fn new(config: CoallocatorConfig) -> Coallocator {
        let places = config.providers.iter().enumerate().map(|(place, &id)| (id, place)).collect();
        Coallocator {
            overheads: Overheads::new(&config.overhead, config.overhead_max, config.seed),
            mapper: config.mapping.clone().map(Mapper::new),
            places,
            known: Known::nothing(config.providers.len()),
            desk: Desk::default(),
            seat: agreement::seat(config.me, config.retry),
            numbered: Numbered::with(config.retry.into_iter().flat_map(|retry| {
                let retry = config.resends.then_some(retry);
                config.providers.iter().map(move |&provider| (provider, retry))
            })),
            arrived: Vec::new(),
            waiting: Waiting::new(config.requests),
            turn: None,
            first: 0,
            stranded: Vec::new(),
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
        // Run times of applications are predicted for their processors, so no overhead is drawn for them.
        let (overhead, moves) = match self.mapper {
            Some(_) => (0, self.config.moves),
            None => (self.overheads.of(job), self.moves_of(job)),
        };
        let CoallocatorConfig { part_min, parts, .. } = self.config;
        let span = job.requested_time.unwrap_or(Span::FOREVER).at_speed(self.config.speed);
        let span = span.max(Span::TICK);
        let traits =
            Traits { first: self.first, overhead, moves, part_min, parts, span, past: None };
        if self.desk.take_in(submitter, submission, Stage::Open(traits, None)).is_none() {
            return false;
        }
        // Each job begins one provider further, so no provider is preferred.
        self.first = (self.first + 1) % self.config.providers.len().max(1);
        match refusal {
            Some(reason) => self.desk.refuse(id, reason, out),
            None => {
                self.arrived.push(id);
                // A timer of this instant, so that all messages of the instant come before the placement.
                out.set(now, Timer::JobsArrived);
            }
        }
        true
    }

    /// Places jobs that have arrived at this instant, after all ends, moves and starts of the instant.
    fn on_jobs_arrived(&mut self, now: Time, out: &mut Outbox) {
        for id in std::mem::take(&mut self.arrived) {
            match self.mapper {
                Some(_) => self.on_application(now, id, out),
                None => self.enqueue(now, id, None, out),
            }
        }
    }

    /// Moves that are allowed for a job. Some applications do not support a change of processors, so only a fraction
    /// of the jobs may be remapped.
    fn moves_of(&self, job: &Job) -> CoallocationPolicy {
        let mut stream = job.lot.stream(self.config.seed, "remapping of co-allocation");
        let remaps = stream.random_range(0..MILLION) < self.config.remappable;
        // A job that may not be remapped still shifts, if moves are allowed at all.
        if remaps { self.config.moves } else { self.config.moves.min(CoallocationPolicy::Shift) }
    }

    fn on_withdrawn(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        let its_turn = self.turn.as_ref().is_some_and(|turn| turn.is_of(job));
        // During its turn, answers about the job are under way. It is dropped when they have arrived.
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
                // Lists that are not sound would break the search for free times.
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
            // The part of an agreement that was undone belongs to no job any more.
            CoallocationMessage::Started { job, id }
            | CoallocationMessage::Broken { job, id }
            | CoallocationMessage::Finished { job, id, .. }
                if !self.is_placed_by(job, id) =>
            {
                true
            }
            CoallocationMessage::Started { job, .. } => {
                // The message may be late and arrive after the end of the part.
                self.desk.part_started(from, job, out);
                true
            }
            CoallocationMessage::Broken { job, .. } => {
                self.on_broken(now, from, job, out);
                true
            }
            CoallocationMessage::RoomGrew { .. } => {
                self.try_stranded(now, out);
                true
            }
            CoallocationMessage::Finished { job, outcome, .. } => {
                let end = self.desk.part_finished(now, from, (job, outcome), out);
                end != PartEnd::Unexpected
            }
            // These messages are for providers.
            CoallocationMessage::GetSlots { .. }
            | CoallocationMessage::GiveUp { .. }
            | CoallocationMessage::AwaitRoom { .. }
            | CoallocationMessage::Profile { .. }
            | CoallocationMessage::EarliestMachines { .. }
            | CoallocationMessage::Instruct { .. }
            | CoallocationMessage::Rescheduled { .. } => false,
        }
    }
}

impl Coallocator {
    /// Takes over the rules by which jobs get places from now on. Jobs that are here keep their overheads.
    fn on_changed(&mut self, anew: AnyActor) -> bool {
        let AnyActor::Coallocator(anew) = anew else { return false };
        let Coallocator { config, overheads, .. } = *anew;
        let CoallocatorConfig { fill, part_min, parts, trials, .. } = config;
        self.config = CoallocatorConfig { fill, part_min, parts, trials, ..self.config.clone() };
        self.overheads = overheads;
        true
    }
}

impl Actor for Coallocator {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        self.take_in_order(now, from, message, out);
        // Without repetitions agreements have no timers.
        if self.config.retry.is_some() {
            self.set_agreement_timer(now, out);
        }
    }
}

impl TakesNumbered for Coallocator {
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
            Message::Coallocation(message) => self.on_coallocation(now, from, message, out),
            Message::Wake(Timer::NextTurn) => {
                self.on_next_turn(now, out);
                true
            }
            Message::Wake(Timer::AgreementDue) => {
                self.on_agreement_due(now, out);
                true
            }
            Message::Wake(Timer::JobsArrived) => {
                self.on_jobs_arrived(now, out);
                true
            }
            Message::Query(QueryMessage::NoAnswer { job, .. }) => {
                let place = self.places.get(&from).copied();
                // A provider that does not answer counts as one without free times.
                place.is_some_and(|it| self.on_free_times(now, it, job, FreeTimes::none(), out))
            }
            Message::Run(RunMessage::RunOver) => {
                self.desk.run_over(now, out);
                true
            }
            Message::Run(RunMessage::Changed(settings)) => self.on_changed(settings.actor),
            // A crash loses the machine of the agreements only.
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
