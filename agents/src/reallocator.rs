//! Reallocators: metaschedulers that let providers size moldable jobs, and move waiting jobs to
//! providers that would complete them earlier.
//!
//! A new job is placed by an event of its own, as a cancelled job is. So a reallocator carries out
//! one event after the other ([`Event`]), each of which waits for one thing. It knows providers
//! only by their answers within the present event.

mod answers;
mod glimpse;
mod jobs;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use haggle_model::{ActorId, JobId, Observation, Refusal, Span, Time};
use haggle_scheduling::reallocation::{
    DataPlaces, Decision, Event, MoveCost, Question, Rule, Sizes, Tuning, Waiting,
};
use serde::{Deserialize, Serialize};

use crate::protocol::reallocation::SizeRequest;
use crate::protocol::{Message, ReallocationMessage, RunMessage, Timer};
use crate::{Actor, AnyActor, Desk, Outbox};

/// A reallocator as a scenario describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReallocatorConfig {
    /// The providers it may use.
    pub providers: Vec<ActorId>,
    /// How providers search for sizes.
    pub tuning: Tuning,
    /// True if a job keeps the number of processors with which it was first submitted.
    pub keeps_sizes: bool,
    /// Period of reallocations, from the start of the run on, and their rule; `None` = never.
    pub reallocation: Option<(Span, Rule)>,
    /// Cost of moving a job.
    pub cost: MoveCost,
}

/// Places moldable jobs on providers, and moves those that wait.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reallocator {
    config: ReallocatorConfig,
    /// Index of each provider in the list.
    places: BTreeMap<ActorId, usize>,
    desk: Desk<Stage>,
    data: DataPlaces,
    /// Numbers of processors that jobs keep.
    kept: BTreeMap<JobId, u32>,
    /// Jobs to be placed after the present activity.
    backlog: VecDeque<JobId>,
    doing: Doing,
    /// True if a reallocation is due after the present activity.
    is_due: bool,
    /// Time of the next reallocation.
    next: Option<Time>,
    /// Time of the last one.
    last: Time,
}

/// Place of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Here.
    Here,
    /// Sent to this provider, which has not accepted it yet.
    Sent(ActorId),
    /// At a provider.
    Placed,
}

/// Present activity.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Doing {
    Nothing,
    /// Providers report waiting jobs: by provider.
    Listing(Vec<Option<Vec<Waiting>>>),
    /// An event, and the thing for which it waits.
    Event(Box<Event>, Waits),
}

/// Things for which an event waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Waits {
    /// Answers to these questions.
    Answers(BTreeSet<Question>),
    /// Jobs that must come back from these providers.
    Cancels(BTreeSet<usize>),
    /// A job that must come back from one provider, to go to another.
    Return { job: JobId, from: usize, to: usize },
    /// The answer of a provider to a submission.
    Acceptance { job: JobId, from: Option<usize> },
}

impl Waits {
    fn nothing() -> Waits {
        Waits::Answers(BTreeSet::new())
    }
}

impl Reallocator {
    /// A reallocator without jobs.
    pub fn new(config: ReallocatorConfig) -> Reallocator {
        let places = config.providers.iter().enumerate().map(|(place, &id)| (id, place)).collect();
        Reallocator {
            data: DataPlaces::new(config.cost),
            config,
            places,
            desk: Desk::default(),
            kept: BTreeMap::new(),
            backlog: VecDeque::new(),
            doing: Doing::Nothing,
            is_due: false,
            next: None,
            last: Time::ZERO,
        }
    }

    /// Goes on as long as it need not wait.
    fn go_on(&mut self, now: Time, out: &mut Outbox) {
        loop {
            // Taken out, because the steps change other fields; an activity that must wait is put back.
            self.doing = match std::mem::replace(&mut self.doing, Doing::Nothing) {
                Doing::Nothing => {
                    if let Some(doing) = self.take_up(out) {
                        doing
                    } else {
                        break;
                    }
                }
                Doing::Listing(said) if said.iter().all(Option::is_some) => {
                    self.begin(now, said, out)
                }
                Doing::Event(event, Waits::Answers(open)) if open.is_empty() => {
                    self.decide(now, event, out)
                }
                Doing::Event(event, Waits::Cancels(open)) if open.is_empty() => {
                    Doing::Event(event, Waits::nothing())
                }
                waiting => {
                    self.doing = waiting;
                    break;
                }
            };
        }
        self.set_timer(now, out);
    }

    /// The next activity, if there is one.
    fn take_up(&mut self, out: &mut Outbox) -> Option<Doing> {
        let providers = &self.config.providers;
        // Before new jobs, which are placed by events of their own after it.
        if std::mem::take(&mut self.is_due) {
            for &provider in providers {
                out.send(provider, ReallocationMessage::WaitingRequest);
            }
            return Some(Doing::Listing(vec![None; providers.len()]));
        }
        let job = self.backlog.pop_front()?;
        let event = Event::newcomer(job, providers.len());
        Some(Doing::Event(Box::new(event), Waits::nothing()))
    }

    /// All providers have reported their waiting jobs.
    fn begin(&mut self, now: Time, said: Vec<Option<Vec<Waiting>>>, out: &mut Outbox) -> Doing {
        let Some((_, rule)) = self.config.reallocation else { return Doing::Nothing };
        // Once for each reallocation is often enough to forget jobs that are over.
        self.data.keep(|job| self.desk.get(job).is_some());
        self.kept.retain(|&job, _| self.desk.get(job).is_some());
        let mut waiting = Vec::from_iter(said.into_iter().flatten());
        for jobs in &mut waiting {
            jobs.retain(|it| !self.data.are_on_their_way(now, it.job));
        }
        let event = Event::new(rule, &waiting);
        let mut open = BTreeSet::new();
        for (place, jobs) in event.to_cancel().into_iter().enumerate() {
            if !jobs.is_empty() {
                open.insert(place);
                let provider = self.config.providers[place];
                out.send(provider, ReallocationMessage::TakeBack { jobs });
            }
        }
        Doing::Event(Box::new(event), Waits::Cancels(open))
    }

    /// All questions have been answered: there are more, or the event decides.
    fn decide(&mut self, now: Time, mut event: Box<Event>, out: &mut Outbox) -> Doing {
        let questions = event.questions();
        if !questions.is_empty() {
            let open =
                questions.into_iter().filter(|&it| self.ask(now, it, &mut event, out)).collect();
            return Doing::Event(event, Waits::Answers(open));
        }
        let waits = match event.decide() {
            Decision::Over => {
                // The placement of a new job is not a review of waiting jobs.
                if !event.is_of_newcomer() {
                    out.observe(Observation::WaitingReviewed(event.review()));
                }
                return Doing::Nothing;
            }
            Decision::Stay { .. } => Waits::nothing(),
            Decision::Move { job, from, to } => {
                let provider = self.config.providers[from];
                // The job has ended, moved or been withdrawn since the provider answered.
                if self.desk.at(job, provider).is_none_or(|entry| entry.withdrawn) {
                    Waits::nothing()
                } else {
                    out.send(provider, ReallocationMessage::TakeBack { jobs: vec![job] });
                    Waits::Return { job, from, to }
                }
            }
            Decision::Place { job, from, to, sizing } => {
                if let Some(sizing) = sizing.filter(|_| self.keeps_sizes()) {
                    // The first size counts, also after later moves.
                    self.kept.entry(job).or_insert(sizing.processors);
                }
                self.place(now, job, from, to, out)
            }
        };
        Doing::Event(event, waits)
    }

    /// Asks a provider; false if the job is over, so that nothing must be asked.
    fn ask(&self, now: Time, question: Question, event: &mut Event, out: &mut Outbox) -> bool {
        match question {
            Question::Estimate { job, cluster } => {
                let Some(entry) = self.desk.get(job) else {
                    event.learn_estimate(job, cluster, None);
                    return false;
                };
                let stage_in = self.data.stage_in(now, job, cluster);
                let request = SizeRequest::of(&entry.submission.job, self.sizes(job), stage_in);
                let request = ReallocationMessage::SizeRequest(Box::new(request));
                out.send(self.config.providers[cluster], request);
            }
            Question::Completion { job, cluster } => {
                let request = ReallocationMessage::CompletionRequest { job };
                out.send(self.config.providers[cluster], request);
            }
        }
        true
    }

    fn keeps_sizes(&self) -> bool {
        self.config.keeps_sizes && self.config.reallocation.is_some()
    }

    /// Rule by which providers choose the size of a job.
    fn sizes(&self, job: JobId) -> Sizes {
        let searched = Sizes::Searched(self.config.tuning);
        self.kept.get(&job).map_or(searched, |&processors| Sizes::Kept(processors))
    }

    /// Submits a job that is here, unless its user has withdrawn it.
    fn place(
        &mut self,
        now: Time,
        job: JobId,
        from: Option<usize>,
        to: Option<usize>,
        out: &mut Outbox,
    ) -> Waits {
        let sizes = self.sizes(job);
        let here = self.desk.get_mut(job).filter(|entry| entry.stage == Stage::Here);
        match (here, to) {
            (None, _) => Waits::nothing(),
            (Some(entry), _) if entry.withdrawn => {
                self.desk.cancel(now, job, out);
                Waits::nothing()
            }
            (Some(_), None) => {
                self.desk.refuse(job, Refusal::NoProvider, out);
                Waits::nothing()
            }
            (Some(entry), Some(to)) => {
                let provider = self.config.providers[to];
                entry.stage = Stage::Sent(provider);
                let submission = entry.submission.clone();
                let stage_in = self.data.stage_in(now, job, to);
                // After `stage_in`, which depends on the place of the data before the move.
                self.data.sent(job, to, stage_in);
                out.send(provider, ReallocationMessage::Submit { submission, sizes, stage_in });
                Waits::Acceptance { job, from }
            }
        }
    }

    /// Sets the timer to the next multiple of the period, as long as there are jobs.
    fn set_timer(&mut self, now: Time, out: &mut Outbox) {
        let Some((period, _)) = self.config.reallocation else { return };
        match (self.desk.is_empty(), self.next) {
            (true, Some(_)) => {
                self.next = None;
                out.stop(Timer::Reallocate);
            }
            (false, None) => {
                // At least a tick after the last one, so that an instant has no two reallocations.
                let next = now.max(self.last + Span::TICK).next_multiple_of(period);
                self.next = Some(next);
                out.set(next, Timer::Reallocate);
            }
            _ => {}
        }
    }

    /// Takes over the rules of reallocation. The next one stays due at its time.
    fn on_changed(&mut self, anew: AnyActor) -> bool {
        let AnyActor::Reallocator(anew) = anew else { return false };
        let ReallocatorConfig { tuning, keeps_sizes, reallocation, .. } = anew.config;
        self.config =
            ReallocatorConfig { tuning, keeps_sizes, reallocation, ..self.config.clone() };
        true
    }

    /// A reallocation is due. It is skipped if the last one still goes on.
    fn on_timer(&mut self, now: Time) {
        // `set_timer` sets the next one if jobs are left.
        (self.next, self.last) = (None, now);
        self.is_due = match &self.doing {
            Doing::Nothing => true,
            Doing::Listing(_) => false,
            Doing::Event(event, _) => event.is_of_newcomer(),
        };
    }
}

impl Actor for Reallocator {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        let expected = match message {
            Message::Submission(message) => self.on_submission(now, from, message, out),
            Message::Reallocation(message) => self.on_answer(now, from, message, out),
            Message::Wake(Timer::Reallocate) => {
                self.on_timer(now);
                true
            }
            // The users record its jobs, which are on their desks, too.
            Message::Run(RunMessage::RunOver) => return,
            // The state of a reallocator survives a crash.
            Message::Run(RunMessage::Crashed | RunMessage::Restarted) => true,
            Message::Run(RunMessage::Changed(settings)) => self.on_changed(settings.actor),
            _ => false,
        };
        if !expected {
            out.refuse(from);
        }
        self.go_on(now, out);
    }
}
