//! Metaschedulers: they place external jobs and know of the providers only
//! what these answer.

use std::collections::{BTreeMap, VecDeque};

use haggle_model::observation::DisclosedItem;
use haggle_model::random::Stream;
use haggle_model::{ActorId, JobId, JobOutcome, JobRecord, Observation, Refusal, Time};
use haggle_scheduling::placement::{Answer, Placement, Question, rank};
use rand::RngExt;

use crate::message::{Message, Submission};
use crate::{Actor, Outbox};

/// A metascheduler as a scenario describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct MetaschedulerConfig {
    /// The rule by which it places jobs.
    pub placement: Placement,
    /// The providers it may use.
    pub providers: Vec<ActorId>,
}

/// Places external jobs on providers.
#[derive(Debug)]
pub struct Metascheduler {
    config: MetaschedulerConfig,
    /// Where each provider stands in the list.
    places: BTreeMap<ActorId, usize>,
    /// For [`Placement::Random`].
    stream: Stream,
    /// Provider whose turn it is.
    turn: usize,
    /// Jobs that no provider has accepted yet. A policy that asks first has one
    /// at a time, so that an answer accounts for every job placed before.
    open: BTreeMap<JobId, Open>,
    /// Jobs that come after the one being placed.
    backlog: VecDeque<(ActorId, Box<Submission>)>,
    /// Jobs at providers, with who submitted them.
    placed: BTreeMap<JobId, Placed>,
}

/// A job for which providers are being asked or tried.
#[derive(Debug)]
struct Open {
    /// `None` while a provider looks at it.
    submission: Option<Box<Submission>>,
    submitter: ActorId,
    /// Provider from which turns are counted.
    turn: usize,
    /// Answers so far: by provider, or in the order of asking where one is asked after the other.
    answers: Vec<Option<Answer>>,
    /// Answers that are there.
    answered: usize,
    candidates: Candidates,
    withdrawn: bool,
}

/// Providers still to be tried.
///
/// Most jobs are taken by the first one tried, so nothing is listed before it is needed.
#[derive(Debug)]
enum Candidates {
    /// Not known before the answers are there.
    Unknown,
    /// From the one whose turn it is, round the list once.
    InTurn {
        /// How many have been tried.
        tried: usize,
    },
    /// Drawn one after the other, without putting back.
    Drawn {
        /// Those that have been tried, in order.
        tried: Vec<usize>,
    },
    /// In order of merit, best last.
    Ranked(Vec<usize>),
}

#[derive(Debug)]
struct Placed {
    submitter: ActorId,
    provider: ActorId,
}

impl Metascheduler {
    /// A metascheduler that draws from `stream`.
    pub fn new(config: MetaschedulerConfig, stream: Stream) -> Metascheduler {
        let places = config.providers.iter().enumerate().map(|(place, &id)| (id, place)).collect();
        Metascheduler {
            config,
            places,
            stream,
            turn: 0,
            open: BTreeMap::new(),
            backlog: VecDeque::new(),
            placed: BTreeMap::new(),
        }
    }

    /// Takes up the jobs whose turn has come.
    fn take_up_backlog(&mut self, now: Time, out: &mut Outbox) {
        let asks = self.config.placement.question() != Question::None;
        while !asks || self.open.is_empty() {
            let Some((submitter, submission)) = self.backlog.pop_front() else { break };
            self.take_up(now, submitter, submission, out);
        }
    }

    fn take_up(
        &mut self,
        now: Time,
        submitter: ActorId,
        submission: Box<Submission>,
        out: &mut Outbox,
    ) {
        let id = submission.job.id;
        let providers = self.config.providers.len();
        let turn = self.turn;
        self.turn = (turn + 1) % providers.max(1);
        let mut open = Open {
            submission: Some(submission),
            submitter,
            turn,
            answers: Vec::new(),
            answered: 0,
            candidates: match self.config.placement {
                Placement::RoundRobin => Candidates::InTurn { tried: 0 },
                Placement::Random => Candidates::Drawn { tried: Vec::new() },
                _ => Candidates::Unknown,
            },
            withdrawn: false,
        };
        match self.config.placement.question() {
            Question::None => {
                self.open.insert(id, open);
                self.try_next(now, id, out);
            }
            Question::EstimateOfAll | Question::LoadOfAll => {
                open.answers = vec![None; providers];
                for &provider in &self.config.providers {
                    out.send(provider, self.question(&open));
                }
                self.open.insert(id, open);
            }
            Question::EstimateOneByOne => {
                if let Some(&first) = self.config.providers.get(turn) {
                    out.send(first, self.question(&open));
                }
                self.open.insert(id, open);
            }
        }
    }

    fn question(&self, open: &Open) -> Message {
        let job = &open.submission.as_ref().expect("nobody has it yet").job;
        match self.config.placement.question() {
            Question::LoadOfAll => Message::LoadRequest { job: job.id },
            _ => Message::EstimateRequest {
                job: job.id,
                processors: job.processors,
                requested_time: job.requested_time,
            },
        }
    }

    fn on_answer(&mut self, now: Time, from: ActorId, id: JobId, answer: Answer, out: &mut Outbox) {
        let providers = self.config.providers.len();
        let one_by_one = self.config.placement.question() == Question::EstimateOneByOne;
        let Some(open) = self.open.get_mut(&id) else { return };
        open.answered += 1;
        let starts_now = matches!(answer, Answer::Estimate { start, .. } if start <= now);
        if one_by_one {
            open.answers.push(Some(answer));
        } else {
            let place = self.places.get(&from).expect("only those asked answer");
            open.answers[*place] = Some(answer);
        }
        if open.answered == providers || (one_by_one && starts_now) {
            let answers: Vec<Answer> = open.answers.iter().copied().flatten().collect();
            let turn = open.turn;
            let provider = |place| if one_by_one { (turn + place) % providers } else { place };
            let ranked = rank(self.config.placement, &answers);
            open.candidates = Candidates::Ranked(ranked.into_iter().rev().map(provider).collect());
            self.try_next(now, id, out);
        } else if one_by_one {
            let next = self.config.providers[(open.turn + open.answered) % providers];
            let open = &self.open[&id];
            out.send(next, self.question(open));
        }
    }

    /// Submits the job to the best provider not tried yet, or gives it back.
    fn try_next(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let open = self.open.get_mut(&id).expect("an open job");
        let submission = open.submission.take().expect("nobody has it");
        if open.withdrawn {
            self.open.remove(&id);
            cancel(now, *submission, out);
            return;
        }
        let providers = self.config.providers.len();
        match open.next_candidate(providers, &mut self.stream) {
            Some(best) => out.send(self.config.providers[best], Message::Submit(submission)),
            None => {
                let submitter = open.submitter;
                self.open.remove(&id);
                let reason = Refusal::NoProvider;
                let (to, item) = (submitter, DisclosedItem::Refusal);
                out.observe(Observation::Disclosed { to, item, count: 1, job: Some(id) });
                out.send(submitter, Message::Refused { submission, reason });
            }
        }
    }

    fn on_accepted(&mut self, provider: ActorId, id: JobId, out: &mut Outbox) {
        let open = self.open.remove(&id).expect("a provider accepts what was submitted to it");
        if open.withdrawn {
            out.send(provider, Message::Withdraw { job: id });
        }
        self.placed.insert(id, Placed { submitter: open.submitter, provider });
        out.send(open.submitter, Message::Accepted { job: id });
    }

    fn on_refused(&mut self, now: Time, submission: Box<Submission>, out: &mut Outbox) {
        let id = submission.job.id;
        let open = self.open.get_mut(&id).expect("a provider refuses what was submitted to it");
        open.submission = Some(submission);
        self.try_next(now, id, out);
    }

    fn on_withdrawn(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        if let Some(placed) = self.placed.get(&job) {
            out.send(placed.provider, Message::Withdraw { job });
        } else if let Some(open) = self.open.get_mut(&job) {
            open.withdrawn = true;
        } else if let Some(place) = self.backlog.iter().position(|(_, s)| s.job.id == job) {
            let (_, submission) = self.backlog.remove(place).expect("found there");
            cancel(now, *submission, out);
        } else {
            out.send(from, Message::NotWithdrawn { job });
        }
    }

    /// What no provider has yet is unfinished.
    fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        let open = std::mem::take(&mut self.open).into_values();
        let backlog = self.backlog.drain(..).map(|(_, submission)| submission);
        for submission in open.filter_map(|open| open.submission).chain(backlog) {
            out.observe(submission.unfinished(now));
        }
    }

    fn on_finished(&mut self, job: JobId, outcome: JobOutcome, out: &mut Outbox) {
        if let Some(placed) = self.placed.remove(&job) {
            out.send(placed.submitter, Message::Finished { job, outcome });
        }
    }
}

impl Open {
    /// The provider to try next, out of so many.
    fn next_candidate(&mut self, providers: usize, stream: &mut Stream) -> Option<usize> {
        match &mut self.candidates {
            Candidates::Unknown => None,
            Candidates::InTurn { tried } => (*tried < providers).then(|| {
                *tried += 1;
                (self.turn + *tried - 1) % providers
            }),
            Candidates::Drawn { tried } => (tried.len() < providers).then(|| {
                // The n-th of those not tried yet.
                let mut drawn = stream.random_range(0..providers - tried.len());
                let mut place = 0;
                while place < tried.len() && tried[place] <= drawn {
                    drawn += 1;
                    place += 1;
                }
                tried.insert(place, drawn);
                drawn
            }),
            Candidates::Ranked(best_last) => best_last.pop(),
        }
    }
}

/// Records a job that was withdrawn before any provider queued it.
fn cancel(now: Time, submission: Submission, out: &mut Outbox) {
    let Submission { job, class, user } = submission;
    out.send(user, Message::Finished { job: job.id, outcome: JobOutcome::Cancelled });
    let record = JobRecord::never_queued(job, class, JobOutcome::Cancelled, now);
    out.observe(Observation::JobOver(Box::new(record)));
}

impl Actor for Metascheduler {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::Submit(submission) => self.backlog.push_back((from, submission)),
            Message::Estimate { job, start, completion } => {
                self.on_answer(now, from, job, Answer::Estimate { start, completion }, out);
            }
            Message::Load { job, drain_time } => {
                self.on_answer(now, from, job, Answer::Load(drain_time), out);
            }
            Message::NoAnswer { job, .. } => self.on_answer(now, from, job, Answer::Refused, out),
            Message::Accepted { job } => self.on_accepted(from, job, out),
            Message::Refused { submission, .. } => self.on_refused(now, submission, out),
            Message::Started { job } => {
                if let Some(placed) = self.placed.get(&job) {
                    out.send(placed.submitter, Message::Started { job });
                }
            }
            Message::Finished { job, outcome } => self.on_finished(job, outcome, out),
            Message::Withdraw { job } => self.on_withdrawn(now, from, job, out),
            Message::NotWithdrawn { job } => {
                if let Some(placed) = self.placed.get(&job) {
                    out.send(placed.submitter, Message::NotWithdrawn { job });
                }
            }
            Message::RunOver => return self.on_run_over(now, out),
            other => unreachable!("nobody sends a metascheduler {other:?}"),
        }
        self.take_up_backlog(now, out);
    }
}
