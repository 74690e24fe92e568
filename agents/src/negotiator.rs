//! Metaschedulers that bargain: they call for offers, compose them into a
//! placement of the whole bag, and have it confirmed by all or none.
//!
//! ```text
//!  bag ──▶ calling ──▶ preparing ──▶ placed ──▶ over
//!            ▲  ▲  all offers in │  │ all ready
//!   a probe  │  └────────────────┘  ▼
//!   (refresh)└── somebody not ready: abort, compose again
//! ```
//!
//! What it knows of providers is what their answers disclose (section 6.3 and
//! 7.2 of Netto 2009; the three phases after Haji et al. 2005).

use std::collections::{BTreeMap, VecDeque};

use haggle_model::observation::DisclosedItem;
use haggle_model::{
    ActorId, BagRecord, Job, JobId, JobOutcome, JobRecord, JobShape, Observation, ProviderId,
    Refusal, Span, Time,
};
use haggle_scheduling::bag_table::{BagTable, Change};
use haggle_scheduling::composition::{
    AnyView, BagCall, Composition, CompositionOptions, CompositionPolicy,
};
use haggle_scheduling::{Award, promise};

use crate::message::{Call, Message, Submission, Timer};
use crate::provider::worse;
use crate::{Actor, Outbox};

/// A bargaining metascheduler as a scenario describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct NegotiatorConfig {
    /// How it composes offers.
    pub policy: CompositionPolicy,
    /// Variants of that.
    pub options: CompositionOptions,
    /// The providers it calls.
    pub providers: Vec<ActorId>,
    /// Whether it tells providers when whole bags are expected to be done, so
    /// that they can reschedule in step.
    pub coordinated: bool,
    /// Times a bag is composed before it goes to one provider as it is.
    pub rounds: u32,
    /// How long it waits for offers; without it, until all are in.
    pub offers_wait: Option<Span>,
}

/// Places bags by bargaining.
#[derive(Debug)]
pub struct Negotiator {
    config: NegotiatorConfig,
    places: BTreeMap<ActorId, usize>,
    /// Running number of the next bag.
    turn: u64,
    /// Bags that come after the one whose messages are under way at this instant.
    backlog: VecDeque<(ActorId, Box<Submission>)>,
    /// That one: bags of one instant are placed one after the other.
    current: Option<JobId>,
    /// Whether the wake-up at the end of this instant is on its way.
    next_bag_due: bool,
    open: BTreeMap<JobId, Bargain>,
    placed: BTreeMap<JobId, Placed>,
    /// By the providers' places in its list.
    table: BagTable,
}

/// A bag that is being bargained over.
#[derive(Debug)]
struct Bargain {
    submission: Box<Submission>,
    submitter: ActorId,
    turn: u64,
    answers: Vec<Answer>,
    /// Whether it is composed without the answers that have not come.
    due: bool,
    /// Times it was composed in vain.
    round: u32,
    /// Times old offers were asked for anew.
    refreshed: u32,
    /// What providers are holding parts of; `None` while offers are awaited.
    preparing: Option<Preparing>,
    withdrawn: bool,
}

/// What a provider has answered.
#[derive(Debug)]
enum Answer {
    /// Nothing yet.
    Awaited,
    /// Nothing yet, but an old answer that is no longer good: the new one is
    /// waited for however long that takes.
    Refreshed,
    Offers {
        /// Which of its answers.
        answer: u32,
        /// When they must have been sent back to be in time.
        reply_by: Time,
        view: Box<AnyView>,
    },
    /// It changed its plan after it answered.
    Stale,
    None,
}

#[derive(Debug)]
struct Preparing {
    composition: Composition,
    /// Completions of the parts held so far, in the order of the parts.
    ready: Vec<Option<Time>>,
    answered: usize,
    failed: bool,
}

/// A bag at providers.
#[derive(Debug)]
struct Placed {
    submission: Box<Submission>,
    submitter: ActorId,
    /// When it will be done, by what the providers have said so far.
    expected: Time,
    /// Providers that have not said yet that they have their share: before the last has,
    /// nothing is promised, for what was held may have expired.
    uncommitted: usize,
    promised_end: Option<Time>,
    placed: Time,
    /// Providers that have not finished their share.
    left: usize,
    started: bool,
    outcome: JobOutcome,
    record: Box<BagRecord>,
}

impl Negotiator {
    /// A metascheduler that has seen no bag.
    pub fn new(config: NegotiatorConfig) -> Negotiator {
        let places = config.providers.iter().enumerate().map(|(place, &id)| (id, place)).collect();
        Negotiator {
            config,
            places,
            turn: 0,
            backlog: VecDeque::new(),
            current: None,
            next_bag_due: false,
            open: BTreeMap::new(),
            placed: BTreeMap::new(),
            table: BagTable::default(),
        }
    }

    fn on_submitted(
        &mut self,
        now: Time,
        submitter: ActorId,
        submission: Box<Submission>,
        out: &mut Outbox,
    ) {
        let job = &submission.job;
        let refusal = if job.shape != JobShape::Bag {
            Some(Refusal::WrongShape)
        } else {
            // Nobody can offer a completion of what may never end.
            job.requested_time.is_none().then_some(Refusal::NoLimit)
        };
        if let Some(reason) = refusal {
            refuse(submitter, submission, reason, out);
            return;
        }
        self.backlog.push_back((submitter, submission));
        self.take_up_next(now, out);
    }

    /// Calls for offers for the next bag, if none is being placed at this instant.
    fn take_up_next(&mut self, now: Time, out: &mut Outbox) {
        while self.current.is_none() {
            let Some((submitter, submission)) = self.backlog.pop_front() else { return };
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
        let job = &submission.job;
        let id = job.id;
        let asks = self.config.policy.needs();
        let call = Call {
            job: id,
            tasks: job.processors,
            task_time: job.requested_time.unwrap_or(Span::FOREVER),
            program: job.run_time,
            lot: job.lot,
            deadline: job.deadline,
            asks,
            wants_offers: self.config.policy != CompositionPolicy::FreeTimeSlots,
        };
        for &provider in &self.config.providers {
            out.send(provider, Message::Call(Box::new(call.clone())));
        }
        let answers = self.config.providers.iter().map(|_| Answer::Awaited).collect();
        let turn = self.turn;
        self.turn += 1;
        let bargain = Bargain {
            submission,
            submitter,
            turn,
            answers,
            due: false,
            round: 0,
            refreshed: 0,
            preparing: None,
            withdrawn: false,
        };
        self.open.insert(id, bargain);
        self.current = Some(id);
        if !std::mem::replace(&mut self.next_bag_due, true) {
            out.wake(now, Message::Wake(Timer::NextBag));
        }
        if let Some(wait) = self.config.offers_wait {
            out.wake(now + wait, Message::Wake(Timer::OffersDue { job: id }));
        }
    }

    /// What is awaited of the current bag takes time: the next one can be taken up.
    fn on_next_bag(&mut self, now: Time, out: &mut Outbox) {
        self.next_bag_due = false;
        self.current = None;
        self.take_up_next(now, out);
    }

    fn close(&mut self, now: Time, id: JobId, out: &mut Outbox) -> Option<Bargain> {
        let bargain = self.open.remove(&id);
        if self.current == Some(id) {
            self.current = None;
            self.take_up_next(now, out);
        }
        bargain
    }

    fn on_answer(&mut self, now: Time, from: ActorId, id: JobId, answer: Answer, out: &mut Outbox) {
        let place = self.places[&from];
        let Some(bargain) = self.open.get_mut(&id) else { return };
        bargain.answers[place] = answer;
        if let Some(preparing) = &mut bargain.preparing
            && preparing.composition.parts.iter().any(|part| part.provider == place)
        {
            preparing.answered += 1;
            preparing.failed = true;
            self.conclude(now, id, out);
        } else {
            self.compose_if_complete(now, id, out);
        }
    }

    /// Waiting for offers is over.
    fn on_offers_due(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        if let Some(bargain) = self.open.get_mut(&id) {
            bargain.due = true;
            self.compose_if_complete(now, id, out);
        }
    }

    fn on_probe(&mut self, from: ActorId, id: JobId, stale: u32) {
        let place = self.places[&from];
        let Some(bargain) = self.open.get_mut(&id) else { return };
        if matches!(bargain.answers[place], Answer::Offers { answer, .. } if answer <= stale) {
            bargain.answers[place] = Answer::Stale;
        }
    }

    /// Composes once every answer is there and none is stale.
    fn compose_if_complete(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let Some(bargain) = self.open.get_mut(&id) else { return };
        if bargain.preparing.is_some() {
            return;
        }
        let due = bargain.due;
        let awaited = |answer: &Answer| match answer {
            Answer::Awaited => !due,
            answer => matches!(answer, Answer::Refreshed),
        };
        if bargain.answers.iter().any(awaited) {
            return;
        }
        // Where offers never last as long as an agreement takes, asking has to end.
        let asks = bargain.refreshed < self.config.rounds;
        let mut refreshed = false;
        for (answer, &provider) in bargain.answers.iter_mut().zip(&self.config.providers) {
            let stale = match answer {
                Answer::Stale => true,
                Answer::Offers { reply_by, .. } => asks && now > *reply_by,
                Answer::Awaited | Answer::Refreshed | Answer::None => false,
            };
            if stale {
                *answer = Answer::Refreshed;
                refreshed = true;
                out.send(provider, Message::Refresh { job: id });
            }
        }
        if refreshed {
            bargain.refreshed += 1;
        } else {
            self.compose(now, id, out);
        }
    }

    fn compose(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let bargain = &self.open[&id];
        if bargain.withdrawn {
            self.cancel(now, id, out);
            return;
        }
        let mut views = Vec::new();
        let mut who = Vec::new();
        for (place, answer) in bargain.answers.iter().enumerate() {
            if let Answer::Offers { view, .. } = answer {
                views.push((**view).clone());
                who.push(place);
            }
        }
        let call = bag_call(&bargain.submission.job, now);
        // A relaxed award may have to be refused, one as offered is good for sure.
        let relax = self.config.options.relax_to_composite && bargain.round == 0;
        let options = CompositionOptions { relax_to_composite: relax, ..self.config.options };
        let composed = self.config.policy.compose(&call, &views, options, bargain.turn);
        let Some(mut composition) = composed else {
            self.give_back(now, id, out);
            return;
        };
        for part in &mut composition.parts {
            part.provider = who[part.provider];
        }
        if bargain.round >= self.config.rounds {
            self.force(now, id, out);
            return;
        }
        composition.parts.sort_by_key(|part| part.provider);
        for part in &composition.parts {
            let award = Box::new(part.award.clone());
            out.send(self.config.providers[part.provider], Message::Prepare { job: id, award });
        }
        let ready = vec![None; composition.parts.len()];
        let preparing = Preparing { composition, ready, answered: 0, failed: false };
        self.open.get_mut(&id).expect("looked up above").preparing = Some(preparing);
    }

    fn on_ready(
        &mut self,
        now: Time,
        from: ActorId,
        id: JobId,
        completion: Time,
        out: &mut Outbox,
    ) {
        let place = self.places[&from];
        let Some(bargain) = self.open.get_mut(&id) else { return };
        let Some(preparing) = &mut bargain.preparing else { return };
        let parts = &preparing.composition.parts;
        let Some(part) = parts.iter().position(|part| part.provider == place) else { return };
        preparing.ready[part] = Some(completion);
        preparing.answered += 1;
        self.conclude(now, id, out);
    }

    /// Commits or starts over once all parts have answered.
    fn conclude(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let bargain = self.open.get_mut(&id).expect("an open bag");
        let preparing = bargain.preparing.as_ref().expect("parts are being prepared");
        if preparing.answered < preparing.ready.len() {
            return;
        }
        if !preparing.failed && !bargain.withdrawn {
            self.commit(now, id, out);
            return;
        }
        let preparing = bargain.preparing.take().expect("just seen");
        bargain.round += 1;
        for (part, ready) in preparing.composition.parts.iter().zip(&preparing.ready) {
            if ready.is_some() {
                out.send(self.config.providers[part.provider], Message::Abort { job: id });
                bargain.answers[part.provider] = Answer::Stale;
            }
        }
        self.compose_if_complete(now, id, out);
    }

    fn commit(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let Some(mut bargain) = self.close(now, id, out) else { return };
        let Preparing { composition, ready, .. } =
            bargain.preparing.take().expect("all parts are ready");
        let held: Vec<Time> = ready.into_iter().flatten().collect();
        let latest = held.iter().copied().max().expect("a composition has parts");
        let completion = match bargain.submission.job.deadline {
            Some(_) => composition.completion,
            None => latest,
        };
        if self.config.coordinated {
            for (part, &completion) in composition.parts.iter().zip(&held) {
                self.table.commit(id, at(part.provider), completion);
            }
        }
        let expected = self.config.coordinated.then_some(latest);
        for part in &composition.parts {
            let to = self.config.providers[part.provider];
            tell_bag_completion(to, id, expected, out);
            out.send(to, Message::Commit { job: id, expected, unheld: part.tasks() });
        }
        let record = BagRecord {
            balanced: composition.balanced,
            parts: composition.parts.iter().map(|part| pieces(&part.award)).sum(),
            equal_offers: composition.balanced && composition.sizes == 1,
            recompositions: bargain.round,
            shares: Vec::new(),
        };
        let providers: Vec<usize> = composition.parts.iter().map(|part| part.provider).collect();
        self.place(now, bargain, record, &providers, completion, out);
    }

    /// After too many rounds: the whole bag goes to the provider that would have it done
    /// first as far as is known, whatever has changed there since. What is promised is what
    /// that provider then says.
    fn force(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let Some(bargain) = self.close(now, id, out) else { return };
        let tasks = bargain.submission.job.processors;
        let policy = self.config.policy;
        let call = BagCall { deadline: None, ..bag_call(&bargain.submission.job, now) };
        let alone = |view: &AnyView| {
            let view = std::slice::from_ref(view);
            let composed = policy.compose(&call, view, self.config.options, bargain.turn);
            composed.map_or(Time::FOREVER, |it| it.completion)
        };
        let answers = bargain.answers.iter().enumerate();
        let (completion, place) = answers
            .filter_map(|(place, answer)| match answer {
                Answer::Offers { view, .. } => Some((alone(view), place)),
                _ => None,
            })
            .min()
            .expect("something was composed from answers");
        if self.config.coordinated {
            self.table.commit(id, at(place), completion);
        }
        let expected = self.config.coordinated.then_some(completion);
        let to = self.config.providers[place];
        tell_bag_completion(to, id, expected, out);
        out.send(to, Message::Commit { job: id, expected, unheld: tasks });
        let earliest = bargain.submission.job.deadline.unwrap_or(now);
        let record = BagRecord { parts: 1, recompositions: bargain.round, ..BagRecord::default() };
        self.place(now, bargain, record, &[place], earliest, out);
    }

    fn place(
        &mut self,
        now: Time,
        bargain: Bargain,
        record: BagRecord,
        providers: &[usize],
        expected: Time,
        out: &mut Outbox,
    ) {
        let id = bargain.submission.job.id;
        for (place, &provider) in self.config.providers.iter().enumerate() {
            if !providers.contains(&place) {
                out.send(provider, Message::Release { job: id });
            }
        }
        out.send(bargain.submitter, Message::Accepted { job: id });
        let placed = Placed {
            submission: bargain.submission,
            submitter: bargain.submitter,
            expected,
            uncommitted: providers.len(),
            promised_end: None,
            placed: now,
            left: providers.len(),
            started: false,
            outcome: JobOutcome::Completed,
            record: Box::new(record),
        };
        self.placed.insert(id, placed);
    }

    /// Nobody takes the bag.
    fn give_back(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let Some(bargain) = self.close(now, id, out) else { return };
        for &provider in &self.config.providers {
            out.send(provider, Message::Release { job: id });
        }
        refuse(bargain.submitter, bargain.submission, Refusal::NoProvider, out);
    }

    fn cancel(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let Some(bargain) = self.close(now, id, out) else { return };
        for &provider in &self.config.providers {
            out.send(provider, Message::Release { job: id });
        }
        cancelled(now, *bargain.submission, out);
    }

    fn on_withdrawn(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        if let Some(bargain) = self.open.get_mut(&job) {
            // Its offers are on their way: it is dropped when they are in.
            bargain.withdrawn = true;
        } else if let Some(place) = self.backlog.iter().position(|(_, it)| it.job.id == job) {
            let (_, submission) = self.backlog.remove(place).expect("found there");
            cancelled(now, *submission, out);
        } else {
            // What is agreed on stands.
            out.send(from, Message::NotWithdrawn { job });
        }
    }

    /// A provider has its share, the whole of which it will have done as it said, or then.
    fn on_committed(&mut self, job: JobId, completion: Option<Time>, out: &mut Outbox) {
        let Some(placed) = self.placed.get_mut(&job) else { return };
        placed.expected = placed.expected.max(completion.unwrap_or(placed.expected));
        placed.uncommitted -= 1;
        if placed.uncommitted == 0
            && let Some(completion) = promise(placed.expected)
        {
            placed.promised_end = Some(completion);
            out.send(placed.submitter, Message::Promise { job, completion });
        }
    }

    fn on_share_started(&mut self, job: JobId, out: &mut Outbox) {
        if let Some(placed) = self.placed.get_mut(&job)
            && !std::mem::replace(&mut placed.started, true)
        {
            out.send(placed.submitter, Message::Started { job });
        }
    }

    fn on_share_finished(&mut self, now: Time, job: JobId, outcome: JobOutcome, out: &mut Outbox) {
        let placed = self.placed.get_mut(&job).expect("shares are of placed bags");
        placed.left -= 1;
        placed.outcome = worse(placed.outcome, outcome);
        if placed.left > 0 {
            return;
        }
        let placed = self.placed.remove(&job).expect("looked up above");
        self.table.forget(job);
        let outcome = placed.outcome;
        out.send(placed.submitter, Message::Finished { job, outcome });
        out.observe(placed.over(outcome, now));
    }

    /// Bags that are not over are unfinished, at providers or not.
    fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        for (_, placed) in std::mem::take(&mut self.placed) {
            out.observe(placed.over(JobOutcome::Unfinished, now));
        }
        let open = std::mem::take(&mut self.open).into_values();
        let backlog = self.backlog.drain(..).map(|(_, submission)| submission);
        for submission in open.map(|bargain| bargain.submission).chain(backlog) {
            out.observe(submission.unfinished(now));
        }
    }

    fn on_new_completion_times(
        &mut self,
        from: ActorId,
        entries: Vec<(JobId, Time)>,
        out: &mut Outbox,
    ) {
        let place = self.places[&from];
        for (job, completion) in entries {
            if let Change::Global { completion } = self.table.report(job, at(place), completion) {
                for (place, _) in self.table.providers(job) {
                    let to = self.config.providers[place.index()];
                    tell_bag_completion(to, job, Some(completion), out);
                    out.send(to, Message::BagCompletion { job, completion });
                }
            }
        }
    }
}

impl Placed {
    /// The bag is over, in this way.
    fn over(self, outcome: JobOutcome, now: Time) -> Observation {
        let Submission { job, class, .. } = *self.submission;
        Observation::JobOver(Box::new(JobRecord {
            queued: Some(self.placed),
            promised_end: self.promised_end,
            walltime: job.requested_time,
            bag: Some(self.record),
            ..JobRecord::never_queued(job, class, outcome, now)
        }))
    }
}

fn bag_call(job: &Job, now: Time) -> BagCall {
    BagCall {
        tasks: job.processors,
        span: job.requested_time.unwrap_or(Span::FOREVER),
        deadline: job.deadline,
        now,
    }
}

/// A provider's place in the list, as the table names it.
fn at(place: usize) -> ProviderId {
    ProviderId(place as u32)
}

/// Offers or free time slots that an award takes up.
fn pieces(award: &Award) -> u32 {
    match award {
        Award::Offered { .. } => 1,
        Award::Placed { batches, .. } => batches.len() as u32,
    }
}

/// Notes that a provider learns when a whole bag is expected to be done.
fn tell_bag_completion(to: ActorId, job: JobId, expected: Option<Time>, out: &mut Outbox) {
    if expected.is_some() {
        let item = DisclosedItem::BagCompletion;
        out.observe(Observation::Disclosed { to, item, count: 1, job: Some(job) });
    }
}

fn refuse(to: ActorId, submission: Box<Submission>, reason: Refusal, out: &mut Outbox) {
    let (item, job) = (DisclosedItem::Refusal, Some(submission.job.id));
    out.observe(Observation::Disclosed { to, item, count: 1, job });
    out.send(to, Message::Refused { submission, reason });
}

/// Records a bag that was withdrawn before it was placed.
fn cancelled(now: Time, submission: Submission, out: &mut Outbox) {
    let Submission { job, class, user } = submission;
    out.send(user, Message::Finished { job: job.id, outcome: JobOutcome::Cancelled });
    let record = JobRecord::never_queued(job, class, JobOutcome::Cancelled, now);
    out.observe(Observation::JobOver(Box::new(record)));
}

impl Actor for Negotiator {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::Submit(submission) => self.on_submitted(now, from, submission, out),
            Message::Offers { job, answer, valid: (made, until), view }
            | Message::NotReady { job, answer, valid: (made, until), view } => {
                // The way back takes as long as the way here.
                let reply_by = until - (now - made);
                self.on_answer(now, from, job, Answer::Offers { answer, reply_by, view }, out);
            }
            Message::NoAnswer { job, .. } => self.on_answer(now, from, job, Answer::None, out),
            Message::Probe { job, answer } => self.on_probe(from, job, answer),
            Message::Ready { job, completion } => self.on_ready(now, from, job, completion, out),
            Message::Committed { job, completion } => self.on_committed(job, completion, out),
            Message::ShareStarted { job } => self.on_share_started(job, out),
            Message::ShareFinished { job, outcome } => {
                self.on_share_finished(now, job, outcome, out);
            }
            Message::NewCompletionTimes { entries } => {
                self.on_new_completion_times(from, entries, out);
            }
            Message::Withdraw { job } => self.on_withdrawn(now, from, job, out),
            Message::Wake(Timer::NextBag) => self.on_next_bag(now, out),
            Message::Wake(Timer::OffersDue { job }) => self.on_offers_due(now, job, out),
            Message::RunOver => self.on_run_over(now, out),
            other => unreachable!("nobody sends a bargaining metascheduler {other:?}"),
        }
    }
}
