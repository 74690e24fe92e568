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
use std::sync::Arc;

use haggle_model::{
    ActorId, BagRecord, Job, JobId, JobOutcome, JobRecord, JobShape, Observation, ProviderId,
    Refusal, Span, Time,
};
use haggle_scheduling::bag_table::{BagTable, Change};
use haggle_scheduling::composition::{
    AnyView, BagCall, Composition, CompositionOptions, CompositionPolicy,
};
use haggle_scheduling::{Award, promise};

use crate::desk::{Desk, Entry, Withdrawal};
use crate::protocol::{
    AgreementMessage, Answer as Answered, BargainMessage, Call, Message, QueryMessage, RunMessage,
    ShareMessage, Submission, SubmissionMessage, Timer,
};
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
    desk: Desk<Stage>,
    /// Bags that come after the one whose messages are under way at this instant.
    backlog: VecDeque<JobId>,
    /// That one: bags of one instant are placed one after the other.
    current: Option<JobId>,
    /// By the providers' places in its list.
    table: BagTable,
}

/// How far a bag has come.
#[derive(Debug)]
enum Stage {
    /// Its turn has not come.
    Backlog,
    /// It is bargained over.
    Open(Box<Bargain>),
    /// Providers have it.
    Placed(Box<Placed>),
}

/// A bag that is being bargained over.
#[derive(Debug)]
struct Bargain {
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
        view: AnyView,
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
    answered: Vec<bool>,
    failed: bool,
}

/// A bag at providers.
#[derive(Debug)]
struct Placed {
    /// When it will be done, by what the providers have said so far.
    expected: Time,
    /// Providers that have not said yet that they have their share: before the last has,
    /// nothing is promised, for what was held may have expired.
    uncommitted: Vec<ActorId>,
    promised_end: Option<Time>,
    placed: Time,
    /// Providers that have not finished their share.
    left: Vec<ActorId>,
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
            desk: Desk::default(),
            backlog: VecDeque::new(),
            current: None,
            table: BagTable::default(),
        }
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
        let refusal = if job.shape != JobShape::Bag {
            Some(Refusal::WrongShape)
        } else {
            // Nobody can offer a completion of what may never end.
            job.requested_time.is_none().then_some(Refusal::NoLimit)
        };
        if !self.desk.take_in(submitter, submission, Stage::Backlog) {
            return false;
        }
        match refusal {
            Some(reason) => self.desk.refuse(id, reason, out),
            None => {
                self.backlog.push_back(id);
                self.take_up_next(now, out);
            }
        }
        true
    }

    /// Calls for offers for the next bag, if none is being placed at this instant.
    fn take_up_next(&mut self, now: Time, out: &mut Outbox) {
        while self.current.is_none() {
            let Some(job) = self.backlog.pop_front() else { return };
            self.take_up(now, job, out);
        }
    }

    fn take_up(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        // One that was withdrawn meanwhile is not there any more.
        let Some(entry) = self.desk.get_mut(id) else { return };
        let job = &entry.submission.job;
        let call = Call {
            job: id,
            tasks: job.processors,
            task_time: job.requested_time.unwrap_or(Span::FOREVER),
            program: job.run_time,
            lot: job.lot,
            deadline: job.deadline,
            asks: self.config.policy.needs(),
            wants_offers: self.config.policy != CompositionPolicy::FreeTimeSlots,
        };
        for &provider in &self.config.providers {
            out.send(provider, BargainMessage::Call(Box::new(call.clone())));
        }
        let answers = self.config.providers.iter().map(|_| Answer::Awaited).collect();
        let turn = self.turn;
        self.turn += 1;
        let bargain =
            Bargain { turn, answers, due: false, round: 0, refreshed: 0, preparing: None };
        entry.stage = Stage::Open(Box::new(bargain));
        self.current = Some(id);
        out.set(now, Timer::NextBag);
        if let Some(wait) = self.config.offers_wait {
            out.set(now + wait, Timer::OffersDue { job: id });
        }
    }

    /// What is awaited of the current bag takes time: the next one can be taken up.
    fn on_next_bag(&mut self, now: Time, out: &mut Outbox) {
        self.current = None;
        self.take_up_next(now, out);
    }

    /// The bag is bargained over no more, and the next one can be taken up.
    fn close(&mut self, now: Time, id: JobId, out: &mut Outbox) -> Option<Bargain> {
        let entry = self.desk.get_mut(id)?;
        entry.open()?;
        let Stage::Open(bargain) = std::mem::replace(&mut entry.stage, Stage::Backlog) else {
            return None;
        };
        if self.config.offers_wait.is_some() {
            out.stop(Timer::OffersDue { job: id });
        }
        if self.current == Some(id) {
            self.current = None;
            self.take_up_next(now, out);
        }
        Some(*bargain)
    }

    fn bargain(&mut self, id: JobId) -> Option<&mut Bargain> {
        self.desk.get_mut(id)?.open()
    }

    /// An answer that is awaited, or offers instead of a part that was to be held.
    fn on_answer(
        &mut self,
        now: Time,
        from: ActorId,
        id: JobId,
        answer: Answer,
        out: &mut Outbox,
    ) -> bool {
        let Some(&place) = self.places.get(&from) else { return false };
        let Some(bargain) = self.bargain(id) else { return true };
        if let Some(preparing) = &mut bargain.preparing
            && let Some(part) = preparing.part_of(place)
        {
            if preparing.answered[part] {
                return false;
            }
            preparing.answered[part] = true;
            preparing.failed = true;
            bargain.answers[place] = answer;
            self.conclude(now, id, out);
        } else {
            bargain.answers[place] = answer;
            self.compose_if_complete(now, id, out);
        }
        true
    }

    /// Waiting for offers is over.
    fn on_offers_due(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        if let Some(bargain) = self.bargain(id) {
            bargain.due = true;
            self.compose_if_complete(now, id, out);
        }
    }

    fn on_probe(&mut self, from: ActorId, id: JobId, stale: u32) -> bool {
        let Some(&place) = self.places.get(&from) else { return false };
        // It may be late, and the bag placed.
        let Some(bargain) = self.bargain(id) else { return true };
        if matches!(bargain.answers[place], Answer::Offers { answer, .. } if answer <= stale) {
            bargain.answers[place] = Answer::Stale;
        }
        true
    }

    /// Composes once every answer is there and none is stale.
    fn compose_if_complete(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let Some(bargain) = self.desk.get_mut(id).and_then(Entry::open) else { return };
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
                out.send(provider, BargainMessage::Refresh { job: id });
            }
        }
        if refreshed {
            bargain.refreshed += 1;
        } else {
            self.compose(now, id, out);
        }
    }

    fn compose(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let Some(entry) = self.desk.get_mut(id) else { return };
        if entry.withdrawn {
            self.cancel(now, id, out);
            return;
        }
        let job = Arc::clone(&entry.submission.job);
        let Some(bargain) = entry.open() else { return };
        let mut views = Vec::new();
        let mut who = Vec::new();
        for (place, answer) in bargain.answers.iter().enumerate() {
            if let Answer::Offers { view, .. } = answer {
                views.push(view.clone());
                who.push(place);
            }
        }
        let call = bag_call(&job, now);
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
            let to = self.config.providers[part.provider];
            out.send(to, AgreementMessage::Prepare { job: id, award });
        }
        let parts = composition.parts.len();
        let (ready, answered) = (vec![None; parts], vec![false; parts]);
        bargain.preparing = Some(Preparing { composition, ready, answered, failed: false });
    }

    fn on_ready(
        &mut self,
        now: Time,
        from: ActorId,
        id: JobId,
        completion: Time,
        out: &mut Outbox,
    ) -> bool {
        let Some(&place) = self.places.get(&from) else { return false };
        let Some(bargain) = self.bargain(id) else { return false };
        let Some(preparing) = &mut bargain.preparing else { return false };
        let part = preparing.part_of(place).filter(|&part| !preparing.answered[part]);
        let Some(part) = part else { return false };
        preparing.ready[part] = Some(completion);
        preparing.answered[part] = true;
        self.conclude(now, id, out);
        true
    }

    /// Commits or starts over once all parts have answered.
    fn conclude(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let Some(entry) = self.desk.get_mut(id) else { return };
        let withdrawn = entry.withdrawn;
        let Some(bargain) = entry.open() else { return };
        let complete = |it: &mut Preparing| !it.answered.contains(&false);
        let Some(preparing) = bargain.preparing.take_if(complete) else { return };
        if !preparing.failed && !withdrawn {
            self.commit(now, id, preparing, out);
            return;
        }
        bargain.round += 1;
        for (part, ready) in preparing.composition.parts.iter().zip(&preparing.ready) {
            if ready.is_some() {
                let to = self.config.providers[part.provider];
                out.send(to, AgreementMessage::Abort { job: id });
                bargain.answers[part.provider] = Answer::Stale;
            }
        }
        self.compose_if_complete(now, id, out);
    }

    /// All parts are held.
    fn commit(&mut self, now: Time, id: JobId, preparing: Preparing, out: &mut Outbox) {
        let Some(bargain) = self.close(now, id, out) else { return };
        let Preparing { composition, ready, .. } = preparing;
        let held: Vec<Time> = ready.into_iter().flatten().collect();
        let latest = held.iter().copied().max().unwrap_or(composition.completion);
        let deadline = self.desk.get(id).and_then(|entry| entry.submission.job.deadline);
        let completion = match deadline {
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
            out.send(to, AgreementMessage::Commit { job: id, expected, unheld: part.tasks() });
        }
        let record = BagRecord {
            balanced: composition.balanced,
            parts: composition.parts.iter().map(|part| pieces(&part.award)).sum(),
            equal_offers: composition.balanced && composition.sizes == 1,
            recompositions: bargain.round,
            shares: Vec::new(),
        };
        let providers: Vec<usize> = composition.parts.iter().map(|part| part.provider).collect();
        self.place(now, id, record, &providers, completion, out);
    }

    /// After too many rounds: the whole bag goes to the provider that would have it done
    /// first as far as is known, whatever has changed there since. What is promised is what
    /// that provider then says.
    fn force(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        let Some(bargain) = self.close(now, id, out) else { return };
        let Some(entry) = self.desk.get(id) else { return };
        let (tasks, policy) = (entry.submission.job.processors, self.config.policy);
        let call = BagCall { deadline: None, ..bag_call(&entry.submission.job, now) };
        let earliest = entry.submission.job.deadline.unwrap_or(now);
        let alone = |view: &AnyView| {
            let view = std::slice::from_ref(view);
            let composed = policy.compose(&call, view, self.config.options, bargain.turn);
            composed.map_or(Time::FOREVER, |it| it.completion)
        };
        let answers = bargain.answers.iter().enumerate();
        let offered = answers.filter_map(|(place, answer)| match answer {
            Answer::Offers { view, .. } => Some((alone(view), place)),
            _ => None,
        });
        let Some((completion, place)) = offered.min() else { return };
        if self.config.coordinated {
            self.table.commit(id, at(place), completion);
        }
        let expected = self.config.coordinated.then_some(completion);
        let to = self.config.providers[place];
        out.send(to, AgreementMessage::Commit { job: id, expected, unheld: tasks });
        let record = BagRecord { parts: 1, recompositions: bargain.round, ..BagRecord::default() };
        self.place(now, id, record, &[place], earliest, out);
    }

    fn place(
        &mut self,
        now: Time,
        id: JobId,
        record: BagRecord,
        providers: &[usize],
        expected: Time,
        out: &mut Outbox,
    ) {
        for (place, &provider) in self.config.providers.iter().enumerate() {
            if !providers.contains(&place) {
                out.send(provider, AgreementMessage::Release { job: id });
            }
        }
        let Some(entry) = self.desk.get_mut(id) else { return };
        out.send(entry.submitter, SubmissionMessage::Accepted { job: id });
        let left: Vec<ActorId> = providers.iter().map(|&it| self.config.providers[it]).collect();
        entry.stage = Stage::Placed(Box::new(Placed {
            expected,
            uncommitted: left.clone(),
            promised_end: None,
            placed: now,
            left,
            started: false,
            outcome: JobOutcome::Completed,
            record: Box::new(record),
        }));
    }

    /// The bag is bargained over no more, and no provider needs to think of it.
    fn release(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        if self.close(now, id, out).is_some() {
            for &provider in &self.config.providers {
                out.send(provider, AgreementMessage::Release { job: id });
            }
        }
    }

    /// Nobody takes the bag.
    fn give_back(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        self.release(now, id, out);
        self.desk.refuse(id, Refusal::NoProvider, out);
    }

    fn cancel(&mut self, now: Time, id: JobId, out: &mut Outbox) {
        self.release(now, id, out);
        self.desk.cancel(now, id, out);
    }

    fn on_withdrawn(&mut self, now: Time, from: ActorId, job: JobId, out: &mut Outbox) {
        if self.desk.withdraw(from, job, out) != Withdrawal::Here {
            return;
        }
        match self.desk.get(job).map(|entry| &entry.stage) {
            Some(Stage::Backlog) => self.desk.cancel(now, job, out),
            // What is agreed on stands.
            Some(Stage::Placed(_)) => out.send(from, SubmissionMessage::NotWithdrawn { job }),
            // Its offers are on their way: it is dropped when they are in.
            Some(Stage::Open(_)) | None => {}
        }
    }

    /// A provider has its share, the whole of which it will have done as it said, or then.
    fn on_committed(
        &mut self,
        from: ActorId,
        job: JobId,
        completion: Option<Time>,
        out: &mut Outbox,
    ) -> bool {
        let Some(entry) = self.desk.get_mut(job) else { return false };
        let submitter = entry.submitter;
        let Some(placed) = entry.placed() else { return false };
        if !strike(&mut placed.uncommitted, from) {
            return false;
        }
        placed.expected = placed.expected.max(completion.unwrap_or(placed.expected));
        if placed.uncommitted.is_empty()
            && let Some(completion) = promise(placed.expected)
        {
            placed.promised_end = Some(completion);
            out.send(submitter, SubmissionMessage::Promise { job, completion });
        }
        true
    }

    fn on_share_started(&mut self, from: ActorId, job: JobId, out: &mut Outbox) -> bool {
        let Some(entry) = self.desk.get_mut(job) else { return false };
        let submitter = entry.submitter;
        let Some(placed) = entry.placed().filter(|it| it.left.contains(&from)) else {
            return false;
        };
        if !std::mem::replace(&mut placed.started, true) {
            out.send(submitter, SubmissionMessage::Started { job });
        }
        true
    }

    fn on_share_finished(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        outcome: JobOutcome,
        out: &mut Outbox,
    ) -> bool {
        let Some(placed) = self.desk.get_mut(job).and_then(Entry::placed) else { return false };
        if !strike(&mut placed.left, from) {
            return false;
        }
        placed.outcome = worse(placed.outcome, outcome);
        let outcome = placed.outcome;
        if placed.left.is_empty() {
            self.table.forget(job);
            if let Some(entry) = self.desk.finish(job, outcome, out) {
                out.observe(over(entry, outcome, now));
            }
        }
        true
    }

    /// Bags at providers are unfinished; the others are on their users' desks, too.
    fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        for job in self.desk.jobs() {
            if let Some(entry) = self.desk.close(job)
                && matches!(entry.stage, Stage::Placed(_))
            {
                out.observe(over(entry, JobOutcome::Unfinished, now));
            }
        }
    }

    fn on_new_completion_times(
        &mut self,
        from: ActorId,
        entries: Vec<(JobId, Time)>,
        out: &mut Outbox,
    ) -> bool {
        let Some(&place) = self.places.get(&from) else { return false };
        for (job, completion) in entries {
            if let Change::Global { completion } = self.table.report(job, at(place), completion) {
                for (place, _) in self.table.providers(job) {
                    let to = self.config.providers[place.index()];
                    out.send(to, ShareMessage::BagCompletion { job, completion });
                }
            }
        }
        true
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

impl Preparing {
    /// Which part a provider is to hold.
    fn part_of(&self, place: usize) -> Option<usize> {
        self.composition.parts.iter().position(|part| part.provider == place)
    }
}

/// Strikes somebody off a list; false if they are not on it.
fn strike(list: &mut Vec<ActorId>, who: ActorId) -> bool {
    let place = list.iter().position(|&it| it == who);
    place.map(|place| list.swap_remove(place)).is_some()
}

/// The story of a bag that is over in this way.
fn over(entry: Entry<Stage>, outcome: JobOutcome, now: Time) -> Observation {
    let Submission { job, class, .. } = entry.submission;
    let walltime = job.requested_time;
    let record = JobRecord::never_queued(job, class, outcome, now);
    let Stage::Placed(placed) = entry.stage else { return Observation::JobOver(Box::new(record)) };
    Observation::JobOver(Box::new(JobRecord {
        queued: Some(placed.placed),
        promised_end: placed.promised_end,
        walltime,
        bag: Some(placed.record),
        ..record
    }))
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

impl Negotiator {
    fn on_offers(&mut self, now: Time, from: ActorId, answer: Answered, out: &mut Outbox) -> bool {
        let Answered { job, answer, valid: (made, until), view } = answer;
        // The way back takes as long as the way here.
        let reply_by = until - (now - made);
        self.on_answer(now, from, job, Answer::Offers { answer, reply_by, view }, out)
    }

    fn on_submission(
        &mut self,
        now: Time,
        from: ActorId,
        message: SubmissionMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            SubmissionMessage::Submit(submission) => self.on_submitted(now, from, submission, out),
            SubmissionMessage::Withdraw { job } => {
                self.on_withdrawn(now, from, job, out);
                true
            }
            _ => false,
        }
    }

    fn on_bargain(
        &mut self,
        now: Time,
        from: ActorId,
        message: BargainMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            BargainMessage::Offers(answer) => self.on_offers(now, from, *answer, out),
            BargainMessage::Probe { job, answer } => self.on_probe(from, job, answer),
            BargainMessage::Call(_) | BargainMessage::Refresh { .. } => false,
        }
    }

    fn on_agreement(
        &mut self,
        now: Time,
        from: ActorId,
        message: AgreementMessage,
        out: &mut Outbox,
    ) -> bool {
        match message {
            AgreementMessage::NotReady(answer) => self.on_offers(now, from, *answer, out),
            AgreementMessage::Ready { job, completion } => {
                self.on_ready(now, from, job, completion, out)
            }
            AgreementMessage::Committed { job, completion } => {
                self.on_committed(from, job, completion, out)
            }
            _ => false,
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
            ShareMessage::Started { job } => self.on_share_started(from, job, out),
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
            _ => return false,
        }
        true
    }
}

impl Actor for Negotiator {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        let expected = match message {
            Message::Submission(message) => self.on_submission(now, from, message, out),
            Message::Bargain(message) => self.on_bargain(now, from, message, out),
            Message::Query(QueryMessage::NoAnswer { job, .. }) => {
                self.on_answer(now, from, job, Answer::None, out)
            }
            Message::Agreement(message) => self.on_agreement(now, from, message, out),
            Message::Share(message) => self.on_share(now, from, message, out),
            Message::Wake(timer) => self.on_timer(now, timer, out),
            Message::Run(RunMessage::RunOver) => {
                self.on_run_over(now, out);
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
