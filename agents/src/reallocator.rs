//! Reallocators: metaschedulers that let providers size moldable jobs, and move those that wait to
//! where they would be done earlier.
//!
//! A job that comes is placed like one that was cancelled: by an event of its own. So all that a
//! reallocator does is one event after the other ([`Event`]), each with one thing that it waits for,
//! and what it knows of providers is what they answered in the event that goes on.

mod answers;
mod jobs;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use haggle_model::{ActorId, JobId, Observation, Refusal, Span, Time};
use haggle_scheduling::reallocation::{
    DataPlaces, Decision, Event, MoveCost, Question, Rule, Sizes, Tuning, Waiting,
};

use crate::protocol::reallocation::SizeRequest;
use crate::protocol::{Message, ReallocationMessage, RunMessage, Timer};
use crate::{Actor, Desk, Outbox};

/// A reallocator as a scenario describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReallocatorConfig {
    /// The providers it may use.
    pub providers: Vec<ActorId>,
    /// How providers search for sizes.
    pub tuning: Tuning,
    /// Whether a job keeps the processors that it was first submitted with.
    pub keeps_sizes: bool,
    /// How often what waits is looked at, from the start of the run on, and how; `None` = never.
    pub reallocation: Option<(Span, Rule)>,
    /// What it costs to move a job.
    pub cost: MoveCost,
}

/// Places moldable jobs on providers, and moves those that wait.
#[derive(Debug)]
pub struct Reallocator {
    config: ReallocatorConfig,
    /// Where each provider stands in the list.
    places: BTreeMap<ActorId, usize>,
    desk: Desk<Stage>,
    data: DataPlaces,
    /// The processors that jobs keep.
    kept: BTreeMap<JobId, u32>,
    /// Jobs to be placed after what goes on.
    backlog: VecDeque<JobId>,
    doing: Doing,
    /// Whether what waits is to be looked at when nothing else goes on.
    is_due: bool,
    /// When that will be the case next.
    next: Option<Time>,
    /// When it last was.
    last: Time,
}

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// In hand.
    Here,
    /// On its way to this provider, or there.
    Sent(ActorId),
    /// At a provider.
    Placed,
}

/// What goes on.
#[derive(Debug)]
enum Doing {
    Nothing,
    /// Providers say what waits: by provider.
    Listing(Vec<Option<Vec<Waiting>>>),
    /// An event, and what it waits for.
    Event(Box<Event>, Waits),
}

/// What an event waits for.
#[derive(Debug)]
enum Waits {
    /// Answers to these questions.
    Answers(BTreeSet<Question>),
    /// Jobs that are to come back from these providers.
    Cancels(BTreeSet<usize>),
    /// A job that is to come back from one provider and go to another.
    Return { job: JobId, from: usize, to: usize },
    /// A provider's word on a job.
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

    /// Goes on as far as nothing is waited for.
    fn go_on(&mut self, now: Time, out: &mut Outbox) {
        loop {
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

    /// The next thing to do, if there is one.
    fn take_up(&mut self, out: &mut Outbox) -> Option<Doing> {
        let providers = &self.config.providers;
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

    /// All providers have said what waits.
    fn begin(&mut self, now: Time, said: Vec<Option<Vec<Waiting>>>, out: &mut Outbox) -> Doing {
        let Some((_, rule)) = self.config.reallocation else { return Doing::Nothing };
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

    /// All questions have been answered: there are more, or something is to be done.
    fn decide(&mut self, now: Time, mut event: Box<Event>, out: &mut Outbox) -> Doing {
        let questions = event.questions();
        if !questions.is_empty() {
            let open =
                questions.into_iter().filter(|&it| self.ask(now, it, &mut event, out)).collect();
            return Doing::Event(event, Waits::Answers(open));
        }
        let waits = match event.decide() {
            Decision::Over => {
                if !event.is_of_newcomer() {
                    out.observe(Observation::WaitingReviewed(event.review()));
                }
                return Doing::Nothing;
            }
            Decision::Stay { .. } => Waits::nothing(),
            Decision::Move { job, from, to } => {
                let provider = self.config.providers[from];
                if self.desk.at(job, provider).is_none_or(|entry| entry.withdrawn) {
                    Waits::nothing()
                } else {
                    out.send(provider, ReallocationMessage::TakeBack { jobs: vec![job] });
                    Waits::Return { job, from, to }
                }
            }
            Decision::Place { job, from, to, sizing } => {
                if let Some(sizing) = sizing.filter(|_| self.keeps_sizes()) {
                    self.kept.entry(job).or_insert(sizing.processors);
                }
                self.place(now, job, from, to, out)
            }
        };
        Doing::Event(event, waits)
    }

    /// Asks a provider; false if the job is over, so that nothing remains to be known of it.
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

    /// How providers are to come to a job's size.
    fn sizes(&self, job: JobId) -> Sizes {
        let searched = Sizes::Searched(self.config.tuning);
        self.kept.get(&job).map_or(searched, |&processors| Sizes::Kept(processors))
    }

    /// Submits a job that is in hand, unless its user wants it back.
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
                self.data.sent(job, to, stage_in);
                out.send(provider, ReallocationMessage::Submit { submission, sizes, stage_in });
                Waits::Acceptance { job, from }
            }
        }
    }

    /// The timer is set as long as there are jobs, to the next multiple of the period.
    fn set_timer(&mut self, now: Time, out: &mut Outbox) {
        let Some((period, _)) = self.config.reallocation else { return };
        match (self.desk.is_empty(), self.next) {
            (true, Some(_)) => {
                self.next = None;
                out.stop(Timer::Reallocate);
            }
            (false, None) => {
                let next = now.max(self.last + Span::TICK).next_multiple_of(period);
                self.next = Some(next);
                out.set(next, Timer::Reallocate);
            }
            _ => {}
        }
    }

    /// It is time to look at what waits. If that goes on since last time, it is left out.
    fn on_timer(&mut self, now: Time) {
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
            // Its jobs are on their users' desks, too.
            Message::Run(RunMessage::RunOver) => return,
            // What it knows it knows again.
            Message::Run(RunMessage::Crashed | RunMessage::Restarted) => true,
            _ => false,
        };
        if !expected {
            out.refuse(from);
        }
        self.go_on(now, out);
    }
}
