//! Metaschedulers: they place external jobs, and know of providers only their answers. A task of a
//! workflow is submitted to its provider before the data that it needs. So the provider counts the
//! task in its answer about the next job. The data are sent after the task has been accepted.

mod glimpse;
mod staging;

use std::collections::{BTreeMap, VecDeque};

use haggle_model::random::Stream;
use haggle_model::workflow::Staged;
use haggle_model::{ActorId, JobId, JobOutcome, Observation, Refusal, Time};
use haggle_scheduling::placement::{Answer, Placement, Question, rank};
use rand::RngExt;

use crate::desk::{Desk, Entry, Withdrawal};
use crate::protocol::{
    DataMessage, Message, QueryMessage, RunMessage, Submission, SubmissionMessage, Timer,
};
use crate::{Actor, AnyActor, Outbox, Settings};
use serde::{Deserialize, Serialize};
pub use staging::{DataPaths, DataWays};
use staging::{Outputs, Transfers};

/// A metascheduler as a scenario describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetaschedulerConfig {
    /// Its own address.
    pub me: ActorId,
    /// The rule by which it places jobs.
    pub placement: Placement,
    /// The providers it may use.
    pub providers: Vec<ActorId>,
    /// How data of tasks travel.
    pub ways: DataWays,
}

impl MetaschedulerConfig {
    /// A metascheduler for which data of tasks are everywhere at once.
    pub fn new(me: ActorId, placement: Placement, providers: Vec<ActorId>) -> MetaschedulerConfig {
        MetaschedulerConfig { me, placement, providers, ways: DataWays::default() }
    }
}

/// Places external jobs on providers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Metascheduler {
    config: MetaschedulerConfig,
    /// Position of each provider in the list.
    places: BTreeMap<ActorId, usize>,
    /// For [`Placement::Random`].
    stream: Stream,
    /// Provider whose turn it is.
    turn: usize,
    desk: Desk<Stage>,
    /// Jobs that come after the one being placed.
    backlog: VecDeque<JobId>,
    /// Jobs that are being placed. A policy that asks first has one at a time, so that an
    /// answer accounts for every job placed before.
    open: usize,
    outputs: Outputs,
    /// Transfers under way over shared links.
    transfers: Transfers,
    /// The rule by which it places jobs as soon as it is placing none.
    next: Option<Placement>,
}

/// Progress of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Stage {
    /// Its turn has not come.
    Backlog,
    /// Providers are being asked or tried.
    Open(Open),
    /// A provider has accepted it, and its data are on their way there.
    Staging(Staged),
    /// A provider has it.
    Placed,
}

/// A job for which providers are being asked or tried.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Open {
    /// The provider that considers it.
    tried: Option<ActorId>,
    /// True if it was submitted there ahead of its data.
    ahead: bool,
    /// Provider from which turns are counted.
    turn: usize,
    /// Answers so far: by provider, or in the order of asking if providers are asked one after the
    /// other.
    answers: Vec<Option<Answer>>,
    /// Number of answers received.
    answered: usize,
    candidates: Candidates,
}

/// Providers still to be tried.
///
/// Most jobs are accepted by the first provider tried, so the list is made only when it is needed.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Candidates {
    /// Unknown before all answers have been received.
    Unknown,
    /// Round the list once, from the provider whose turn it is.
    InTurn {
        /// Number of providers tried.
        tried: usize,
    },
    /// Drawn one after the other, without replacement.
    Drawn {
        /// Providers that have been tried, in ascending order.
        tried: Vec<usize>,
    },
    /// In order of merit, the best one last.
    Ranked(Vec<usize>),
}

impl Entry<Stage> {
    fn open(&mut self) -> Option<&mut Open> {
        match &mut self.stage {
            Stage::Open(open) => Some(open),
            Stage::Backlog | Stage::Staging(_) | Stage::Placed => None,
        }
    }
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
            desk: Desk::default(),
            backlog: VecDeque::new(),
            open: 0,
            outputs: Outputs::default(),
            transfers: Transfers::default(),
            next: None,
        }
    }

    fn on_submitted(&mut self, submitter: ActorId, submission: Submission) -> bool {
        let job = submission.job.id;
        let is_new = self.desk.take_in(submitter, submission, Stage::Backlog).is_some();
        if is_new {
            self.backlog.push_back(job);
        }
        is_new
    }

    /// Takes up the jobs whose turn has come.
    fn take_up_backlog(&mut self, now: Time, out: &mut Outbox) {
        if self.next.is_some() {
            if self.open > 0 {
                return;
            }
            // Only between jobs: answers under way belong to the question of the old rule.
            self.config.placement = self.next.take().unwrap_or(self.config.placement);
        }
        let asks = self.config.placement.question() != Question::None;
        // One job at a time if providers are asked: their answers must count every job that was placed before.
        while !asks || self.open == 0 {
            let Some(job) = self.backlog.pop_front() else { break };
            self.take_up(now, job, out);
        }
    }

    /// Takes over the rule of placement.
    fn on_changed(&mut self, settings: Settings) -> bool {
        let AnyActor::Metascheduler(anew) = settings.actor else { return false };
        self.next = Some(anew.config.placement);
        if settings.reseeded {
            self.stream = anew.stream;
        }
        true
    }

    fn take_up(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        // A job that was withdrawn meanwhile is not on the desk any more.
        let Some(entry) = self.desk.get_mut(id) else { return };
        let providers = self.config.providers.len();
        // The turn moves on with each job, accepted or not, so no provider is preferred.
        let turn = self.turn;
        self.turn = (turn + 1) % providers.max(1);
        self.open += 1;
        let question = self.config.placement.question();
        let asked: &[ActorId] = match question {
            Question::None => &[],
            Question::EstimateOfAll | Question::LoadOfAll => &self.config.providers,
            Question::EstimateOneByOne => {
                self.config.providers.get(turn..=turn).unwrap_or_default()
            }
        };
        for &provider in asked {
            out.send(provider, ask(question, &entry.submission));
        }
        entry.stage = Stage::Open(Open {
            tried: None,
            ahead: false,
            turn,
            answers: match question {
                Question::EstimateOfAll | Question::LoadOfAll => vec![None; providers],
                Question::None | Question::EstimateOneByOne => Vec::new(),
            },
            answered: 0,
            candidates: match question {
                Question::None if self.config.placement.draws() => {
                    Candidates::Drawn { tried: Vec::new() }
                }
                Question::None => Candidates::InTurn { tried: 0 },
                _ => Candidates::Unknown,
            },
        });
        if question == Question::None {
            self.try_next(now, id, out);
        }
    }

    /// Records the answer to a question; false if the question was not asked, or was answered
    /// before.
    fn on_answer(
        &mut self,
        now: Time,
        from: ActorId,
        id: JobId,
        answer: Answer,
        out: &mut Outbox,
    ) -> bool {
        let providers = self.config.providers.len();
        let question = self.config.placement.question();
        let one_by_one = question == Question::EstimateOneByOne;
        let Some(&place) = self.places.get(&from) else { return false };
        let Some(entry) = self.desk.get_mut(id) else { return false };
        let Some(open) = entry.open().filter(|open| open.answered < providers) else {
            return false;
        };
        if one_by_one {
            if (open.turn + open.answered) % providers != place {
                return false;
            }
            open.answers.push(Some(answer));
        } else {
            // A second answer of the same provider is not expected.
            let Some(free @ None) = open.answers.get_mut(place) else { return false };
            *free = Some(answer);
        }
        open.answered += 1;
        let starts_now = matches!(answer, Answer::Estimate { start, .. } if start <= now);
        if open.answered == providers || (one_by_one && starts_now) {
            // If the job can start now, no other provider can start it earlier: no other is asked.
            open.answered = providers;
            let answers: Vec<Answer> = open.answers.iter().copied().flatten().collect();
            let turn = open.turn;
            let provider = |place| if one_by_one { (turn + place) % providers } else { place };
            let ranked = rank(self.config.placement, &answers);
            // In reverse, because candidates are taken from the end.
            open.candidates = Candidates::Ranked(ranked.into_iter().rev().map(provider).collect());
            self.try_next(now, id, out);
        } else if one_by_one {
            let next = self.config.providers[(open.turn + open.answered) % providers];
            out.send(next, ask(question, &entry.submission));
        }
        true
    }

    /// Submits the job to the best provider not tried yet, or refuses it.
    fn try_next(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let providers = &self.config.providers;
        let Some(entry) = self.desk.get_mut(id) else { return };
        let withdrawn = entry.withdrawn;
        let Some(open) = entry.open() else { return };
        // No provider has the job yet, so it ends here and is not submitted.
        if withdrawn {
            self.open -= 1;
            self.desk.cancel(now, id, out);
            return;
        }
        let next = open.next_candidate(providers.len(), &mut self.stream);
        open.tried = next.map(|best| providers[best]);
        match open.tried {
            Some(best) => self.submit(now, id, best, out),
            None => {
                self.open -= 1;
                self.desk.refuse(id, Refusal::NoProvider, out);
            }
        }
    }

    /// Submits a job to the provider to try: ahead of its inputs, if some of them are elsewhere.
    fn submit(&mut self, now: Time, id: JobId, at: ActorId, out: &mut Outbox) {
        let Some(entry) = self.desk.get_mut(id) else { return };
        let submission = entry.submission.clone();
        let ends = (self.config.me, at);
        let staged = self.outputs.staged(now, &submission.job, ends, &self.config.ways);
        // Inputs that are there already need no transfer: the job can start as soon as it is submitted.
        let ahead = staged.as_ref().is_some_and(Staged::moves);
        if let Some(open) = entry.open() {
            open.ahead = ahead;
        }
        if ahead {
            return out.send(at, SubmissionMessage::SubmitAhead(submission));
        }
        if let Some(staged) = staged {
            out.observe(Observation::Staged(Box::new(staged)));
        }
        out.send(at, SubmissionMessage::Submit(submission));
    }

    /// Sends the inputs of a job to the provider that has accepted it.
    fn send_data(&mut self, now: Time, id: JobId, at: ActorId, out: &mut Outbox) {
        let Some(entry) = self.desk.get_mut(id) else { return };
        let ends = (self.config.me, at);
        let job = &entry.submission.job;
        let Some(staged) = self.outputs.staged(now, job, ends, &self.config.ways) else { return };
        match (&self.config.ways, staged.arrived()) {
            (&DataWays::Shared(network), _) => self.transfers.start(network, &staged, out),
            (DataWays::Apart(_), Some(arrival)) => {
                out.set(arrival, Timer::InputsArrive { job: id })
            }
            (DataWays::Apart(_), None) => {}
        }
        entry.stage = Stage::Staging(staged);
    }

    /// A transfer of the network has ended. It may be the last one that its task needs.
    fn on_data(&mut self, from: ActorId, message: DataMessage, out: &mut Outbox) -> bool {
        let DataMessage::Transferred { number, at } = message else { return false };
        if self.config.ways != DataWays::Shared(from) {
            return false;
        }
        // A transfer whose task was withdrawn meanwhile is not under way any more.
        let Some((job, place)) = self.transfers.end(number) else { return true };
        let Some(entry) = self.desk.get_mut(job) else { return true };
        if let Stage::Staging(staged) = &mut entry.stage {
            staged.arrive(place, at);
            if staged.is_there() {
                return self.on_inputs_arrived(job, out);
            }
        }
        true
    }

    fn on_inputs_arrived(&mut self, id: JobId, out: &mut Outbox) -> bool {
        let Some(staged) = self.stop_staging(id) else { return false };
        out.send(staged.at, SubmissionMessage::DataArrived { job: id });
        out.observe(Observation::Staged(Box::new(staged)));
        true
    }

    /// Stops the transfers of the inputs of a job, and records how far they came.
    fn cut_off(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        if let Some(staged) = self.stop_staging(id) {
            out.observe(Observation::Staged(Box::new(staged.cut_off(now))));
        }
    }

    /// Ends the staging of a job; `None` if none of its inputs is under way.
    fn stop_staging(&mut self, id: JobId) -> Option<Staged> {
        let entry = self.desk.get_mut(id)?;
        // The staged data are moved out of the entry; any other stage is put back.
        match std::mem::replace(&mut entry.stage, Stage::Placed) {
            Stage::Staging(staged) => Some(staged),
            stage => {
                entry.stage = stage;
                None
            }
        }
    }

    /// The entry of a job that this provider considers.
    fn tried_by(&mut self, provider: ActorId, job: JobId) -> Option<&mut Entry<Stage>> {
        let entry = self.desk.get_mut(job)?;
        (entry.open()?.tried == Some(provider)).then_some(entry)
    }

    /// The tried provider has accepted the job. Its other messages about the job imply this, too,
    /// because messages may overtake each other.
    fn on_accepted(&mut self, now: Time, provider: ActorId, job: JobId, out: &mut Outbox) {
        let Some(entry) = self.tried_by(provider, job) else { return };
        entry.at = Some(provider);
        // Read before the stage changes. Data of a withdrawn job would travel for nothing.
        let sends_data = entry.open().is_some_and(|open| open.ahead) && !entry.withdrawn;
        entry.stage = Stage::Placed;
        if entry.withdrawn {
            out.send(provider, SubmissionMessage::Withdraw { job });
        }
        out.send(entry.submitter, SubmissionMessage::Accepted { job });
        self.open -= 1;
        if sends_data {
            self.send_data(now, job, provider, out);
        }
    }

    fn on_refused(&mut self, now: Time, provider: ActorId, job: JobId, out: &mut Outbox) -> bool {
        let is_tried = self.tried_by(provider, job).is_some();
        if is_tried {
            self.try_next(now, job, out);
        }
        is_tried
    }

    fn on_withdrawn(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        let has_data_on_the_way = |entry: &Entry<Stage>| {
            entry.submitter == from && matches!(entry.stage, Stage::Staging(_))
        };
        if self.desk.get(job).is_some_and(has_data_on_the_way) {
            match self.config.ways {
                DataWays::Shared(network) => self.transfers.abort(network, job, out),
                DataWays::Apart(_) => out.stop(Timer::InputsArrive { job }),
            }
            self.cut_off(now, job, out);
        }
        let waits = |entry: &Entry<Stage>| matches!(entry.stage, Stage::Backlog);
        // A job that is being placed is only marked: answers about it are under way, and `try_next` drops it then.
        if self.desk.withdraw(from, job, out) == Withdrawal::Here
            && self.desk.get(job).is_some_and(waits)
        {
            self.desk.cancel(now, job, out);
        }
    }

    /// Passes a provider's message about a job that it has on to the submitter.
    fn relay(
        &mut self,
        now: Time,
        from: ActorId,
        message: (JobId, SubmissionMessage),
        out: &mut Outbox,
    ) {
        let (job, message) = message;
        self.on_accepted(now, from, job, out);
        if let Some(entry) = self.desk.at(job, from) {
            out.send(entry.submitter, message);
        }
    }

    fn on_finished(
        &mut self,
        now: Time,
        from: ActorId,
        (job, outcome): (JobId, JobOutcome),
        out: &mut Outbox,
    ) {
        // The end of the job may overtake the message that the provider has accepted it.
        self.on_accepted(now, from, job, out);
        if self.desk.at(job, from).is_some()
            && let Some(entry) = self.desk.finish(job, outcome, out)
            && outcome == JobOutcome::Completed
        {
            self.outputs.done(&entry.submission.job, from);
        }
    }

    fn on_submission(
        &mut self,
        now: Time,
        from: ActorId,
        message: SubmissionMessage,
        out: &mut Outbox,
    ) -> bool {
        // A provider's message may come after the end of the job: it is expected, but changes
        // nothing.
        let is_provider = self.places.contains_key(&from);
        match message {
            SubmissionMessage::Submit(submission) => return self.on_submitted(from, submission),
            SubmissionMessage::Withdraw { job } => {
                self.on_withdrawn(now, from, job, out);
                return true;
            }
            SubmissionMessage::Refused { job, .. } => return self.on_refused(now, from, job, out),
            SubmissionMessage::Accepted { job } => self.on_accepted(now, from, job, out),
            SubmissionMessage::Finished { job, outcome } => {
                self.on_finished(now, from, (job, outcome), out);
            }
            SubmissionMessage::Started { job } | SubmissionMessage::NotWithdrawn { job } => {
                self.relay(now, from, (job, message), out);
            }
            // Promises are for users, and jobs ahead of their data are for providers.
            SubmissionMessage::Promise { .. }
            | SubmissionMessage::SubmitAhead(_)
            | SubmissionMessage::DataArrived { .. } => return false,
        }
        is_provider
    }

    fn on_query(
        &mut self,
        now: Time,
        from: ActorId,
        message: QueryMessage,
        out: &mut Outbox,
    ) -> bool {
        let (job, answer) = match message {
            QueryMessage::Estimate { job, start, completion } => {
                (job, Answer::Estimate { start, completion })
            }
            QueryMessage::Load { job, drain_time } => (job, Answer::Load(drain_time)),
            QueryMessage::NoAnswer { job, .. } => (job, Answer::Refused),
            QueryMessage::EstimateRequest { .. } | QueryMessage::LoadRequest { .. } => {
                return false;
            }
        };
        self.on_answer(now, from, job, answer, out)
    }
}

impl Open {
    /// The provider to try next, of `providers` in all.
    fn next_candidate(&mut self, providers: usize, stream: &mut Stream) -> Option<usize> {
        match &mut self.candidates {
            Candidates::Unknown => None,
            Candidates::InTurn { tried } => (*tried < providers).then(|| {
                *tried += 1;
                (self.turn + *tried - 1) % providers
            }),
            Candidates::Drawn { tried } => (tried.len() < providers).then(|| {
                // The n-th of the providers not tried yet: `tried` is in ascending order.
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

fn ask(question: Question, submission: &Submission) -> QueryMessage {
    let job = &submission.job;
    match question {
        Question::LoadOfAll => QueryMessage::LoadRequest { job: job.id },
        _ => QueryMessage::EstimateRequest {
            job: job.id,
            processors: job.processors,
            requested_time: job.requested_time,
            demand: job.demand.clone(),
        },
    }
}

impl Actor for Metascheduler {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        let expected = match message {
            Message::Submission(message) => self.on_submission(now, from, message, out),
            Message::Query(message) => self.on_query(now, from, message, out),
            Message::Data(message) => self.on_data(from, message, out),
            Message::Wake(Timer::InputsArrive { job }) => self.on_inputs_arrived(job, out),
            // The users record its jobs, which are on their desks, too.
            Message::Run(RunMessage::RunOver) => {
                return self.desk.jobs().into_iter().for_each(|job| self.cut_off(now, job, out));
            }
            // The state of a metascheduler survives a crash.
            Message::Run(RunMessage::Crashed | RunMessage::Restarted) => true,
            Message::Run(RunMessage::Changed(settings)) => self.on_changed(*settings),
            _ => false,
        };
        if !expected {
            out.refuse(from);
        }
        self.take_up_backlog(now, out);
    }
}
