//! A provider's side of the negotiation over a bag.
//!
//! ```text
//!            Call                 Prepare              Commit
//!   idle ──────────▶ offered ───────────────▶ held ───────────▶ committed
//!                     ▲  │ Release            │ Abort, Release, or its first
//!             Refresh └──┘                     ▼ task was due: given back
//! ```
//!
//! Offers bind nobody: the plan they were made on has a number, the epoch, which
//! the provider keeps to itself, and when the plan changes whoever holds older
//! offers is told by a probe (Haji et al. 2005; Netto 2009, section 7.2). What is
//! held is bound until the first of its tasks is due.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use haggle_model::job::Lot;
use haggle_model::random::Stream;
use haggle_model::{ActorId, JobId, JobOutcome, Observation, OffersMade, Refusal, Span, Time};
use haggle_scheduling::composition::{AnyView, Facts, FreeTime, QueueEntry};
use haggle_scheduling::{Award, BagRequest, Bargainer, Offer, Scheduling, Slot};
use rand::RngExt;

use super::load::work;
use super::shares::Share;
use super::{Held, Provider};
use crate::Outbox;
use crate::protocol::{AgreementMessage, Answer, BargainMessage, Call, QueryMessage, Timer};

/// Where a provider's run time estimates come from.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Estimates {
    /// From the users.
    #[default]
    Users,
    /// From profiling the program: it takes a while, drawn anew for each bag but the same at
    /// every provider, and errs by a fraction of what the user errs by (Netto 2009, section 7.4).
    Profiled {
        /// That fraction (a, b) = a/b.
        error: (u32, u32),
        /// Shortest and longest time it takes, in whole seconds.
        time: (Span, Span),
    },
    /// The truth, at once: a bound on what better estimates can bring.
    Perfect,
}

/// How a provider negotiates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bargaining {
    /// Where its run time estimates come from.
    pub estimates: Estimates,
    /// How long its offers can be taken up after they were made; what is taken
    /// up is held as long again, and no task starts before that is over. Four
    /// times the latency is enough for the messages of an agreement.
    pub validity: Span,
    /// Completions are offered later than planned by a factor drawn from [1, 1 + padding].
    pub padding: f64,
    /// How long it takes to answer a call, so that its offers may be stale when they come.
    pub delay: Span,
    /// Whether it reports that a share is done earlier as soon as that turns out
    /// to matter for the whole bag, not only when it moves.
    pub catches_up: bool,
    /// The run's seed, for the draws above.
    pub seed: u64,
}

/// Users' estimates, offers that are good at once only and as planned, and catching up.
impl Default for Bargaining {
    fn default() -> Bargaining {
        Bargaining {
            estimates: Estimates::Users,
            validity: Span::ZERO,
            padding: 0.0,
            delay: Span::ZERO,
            catches_up: true,
            seed: 0,
        }
    }
}

/// A provider's open calls.
#[derive(Debug)]
pub(super) struct Negotiation {
    /// The state of the plan.
    pub(super) epoch: u64,
    /// Whether it has changed since the epoch was counted.
    pub(super) changed: bool,
    /// Whether open calls have to be told of a new epoch.
    probes_due: bool,
    open: BTreeMap<JobId, OpenCall>,
    stream: Stream,
}

#[derive(Debug)]
struct OpenCall {
    metascheduler: ActorId,
    call: Box<Call>,
    /// How many answers it was given.
    answers: u32,
    /// Epoch of the offers made; `None` before.
    offered: Option<u64>,
    /// Until when these offers can be taken up.
    valid_until: Time,
    /// When their first task may start.
    earliest: Time,
    held: Option<Hold>,
}

#[derive(Debug)]
struct Hold {
    slot: Slot,
    tasks: u32,
    promised_end: Time,
}

impl Negotiation {
    pub(super) fn new(stream: Stream) -> Negotiation {
        Negotiation { epoch: 0, changed: false, probes_due: false, open: BTreeMap::new(), stream }
    }

    /// Counts a new epoch if the plan has changed.
    fn count_epoch(&mut self) {
        if std::mem::take(&mut self.changed) {
            self.epoch += 1;
            self.probes_due = true;
        }
    }
}

impl Provider {
    pub(super) fn on_called(
        &mut self,
        now: Time,
        from: ActorId,
        call: Box<Call>,
        out: &mut Outbox,
    ) -> bool {
        let job = call.job;
        if self.slots.contains_key(&job) || self.negotiation.open.contains_key(&job) {
            return false;
        }
        let reason = if self.config.disclosure < call.asks {
            Some(Refusal::NotDisclosed)
        } else {
            (!self.bargains || call.tasks == 0).then_some(Refusal::WrongShape)
        };
        if let Some(reason) = reason {
            out.send(from, QueryMessage::NoAnswer { job, reason });
            return true;
        }
        let wait = self.config.bargaining.delay + self.profiling_time(call.lot);
        let open = OpenCall {
            metascheduler: from,
            call,
            answers: 0,
            offered: None,
            valid_until: now,
            earliest: now,
            held: None,
        };
        self.negotiation.open.insert(job, open);
        if wait > Span::ZERO {
            out.set(now + wait, Timer::EstimateReady { job });
        } else {
            self.answer(now, job, out);
        }
        true
    }

    /// How long it takes to profile this bag's program.
    fn profiling_time(&self, lot: Lot) -> Span {
        let Estimates::Profiled { time: (shortest, longest), .. } =
            self.config.bargaining.estimates
        else {
            return Span::ZERO;
        };
        let seconds = |span: Span| span.as_micros() / haggle_model::time::MICROS_PER_SECOND;
        let mut stream = lot.stream(self.config.bargaining.seed, "profiling time");
        Span::from_secs(stream.random_range(seconds(shortest)..=seconds(longest)))
    }

    /// The estimate this provider plans with, on its own processors.
    fn planned_span(&self, call: &Call) -> Span {
        let estimate = match self.config.bargaining.estimates {
            Estimates::Users => call.task_time,
            Estimates::Profiled { error, .. } => call.program.profiled(call.task_time, error),
            Estimates::Perfect => call.program.profiled(call.task_time, (0, 1)),
        };
        estimate.at_speed(self.config.speed).max(Span::TICK)
    }

    fn request(&self, call: &Call, tasks: u32, earliest: Time) -> BagRequest {
        BagRequest { tasks, span: self.planned_span(call), deadline: call.deadline, earliest }
    }

    /// Offers for an open call, and what else it asked for.
    pub(super) fn answer(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        if let Some((to, answer)) = self.make_offers(now, job, out) {
            out.send(to, BargainMessage::Offers(Box::new(answer)));
        }
    }

    fn make_offers(
        &mut self,
        now: Time,
        job: JobId,
        out: &mut Outbox,
    ) -> Option<(ActorId, Answer)> {
        self.negotiation.count_epoch();
        let epoch = self.negotiation.epoch;
        let validity = self.config.bargaining.validity;
        let (valid_until, earliest) = (now + validity, now + validity + validity);
        let padding = self.config.bargaining.padding;
        let open = self.negotiation.open.get_mut(&job)?;
        (open.offered, open.valid_until, open.earliest) = (Some(epoch), valid_until, earliest);
        open.answers += 1;
        let padding =
            if padding > 0.0 { padding * self.negotiation.stream.random::<f64>() } else { 0.0 };
        let open = &self.negotiation.open[&job];
        let (to, asks, answer) = (open.metascheduler, open.call.asks, open.answers);
        let request = self.request(&open.call, open.call.tasks, earliest);
        let mut facts = Lookup {
            now,
            request,
            wants_offers: open.call.wants_offers,
            padding,
            power: power(self.config.processors, self.config.speed),
            load: self.work_left(now),
            bargainer: self.scheduler.bargainer().expect("it bargains"),
        };
        let view = AnyView::disclose(asks, &mut facts);
        let (power, load) = (facts.power, facts.load);
        self.note_offers(to, job, &view, power, load, out);
        Some((to, Answer { job, answer, valid: (now, valid_until), view }))
    }

    /// Observes what was offered, and what was kept to oneself.
    fn note_offers(
        &self,
        to: ActorId,
        job: JobId,
        view: &AnyView,
        power: u64,
        load: u128,
        out: &mut Outbox,
    ) {
        let call = &self.negotiation.open[&job].call;
        out.observe(Observation::OffersMade(Box::new(OffersMade {
            to,
            job,
            tasks: call.tasks,
            task_time: call.task_time,
            deadline: call.deadline,
            level: view.disclosure(),
            offers: view.offers().iter().map(|offer| (offer.tasks, offer.completion)).collect(),
            power,
            load,
        })));
    }

    /// Work left, in thousandths of a microsecond of a reference processor.
    fn work_left(&self, now: Time) -> u128 {
        let here = u128::try_from(self.load.work(now)).unwrap_or(0);
        here * u128::from(power(1, self.config.speed))
    }

    /// The open call of this metascheduler for a bag, to which it has been given an answer.
    fn open_call(&self, from: ActorId, job: JobId) -> Option<&OpenCall> {
        let open = self.negotiation.open.get(&job)?;
        (open.metascheduler == from && open.offered.is_some()).then_some(open)
    }

    pub(super) fn on_refresh(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        out: &mut Outbox,
    ) -> bool {
        let is_open = self.open_call(from, job).is_some_and(|open| open.held.is_none());
        if is_open {
            self.answer(now, job, out);
        }
        is_open
    }

    pub(super) fn on_prepare(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        award: &Award,
        out: &mut Outbox,
    ) -> bool {
        let open = self.open_call(from, job).filter(|open| open.held.is_none());
        let Some(open) = open else { return false };
        let in_time = now <= open.valid_until;
        let request = self.request(&open.call, open.call.tasks, open.earliest);
        let slot = self.jobs.next();
        let bargainer = self.scheduler.bargainer().expect("it bargains");
        let booked = if in_time { bargainer.award(now, slot, &request, award) } else { None };
        let Some(completion) = booked else {
            if let Some((to, answer)) = self.make_offers(now, job, out) {
                out.send(to, AgreementMessage::NotReady(Box::new(answer)));
            }
            return true;
        };
        let (tasks, promised_end) = match award {
            Award::Offered { tasks, offer } => (*tasks, self.promised(*offer, completion)),
            Award::Placed { batches, deadline } => {
                (batches.iter().map(|batch| batch.tasks).sum(), *deadline)
            }
        };
        self.jobs.insert(Held::Part);
        self.load.waiting += work(tasks, Some(request.span));
        if let Some(open) = self.negotiation.open.get_mut(&job) {
            open.held = Some(Hold { slot, tasks, promised_end });
        }
        // Its own metascheduler knows of this change.
        self.plan_changed(now, out);
        out.send(from, AgreementMessage::Ready { job, completion: promised_end });
        true
    }

    /// What an award promises: planned completions never grow under conservative
    /// backfilling, an EDF queue uses the time up to what it offered.
    fn promised(&self, offer: Offer, planned: Time) -> Time {
        match self.config.scheduler {
            Scheduling::Bags { .. } => planned,
            _ => offer.completion,
        }
    }

    pub(super) fn on_commit(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        expected: Option<Time>,
        unheld: u32,
        out: &mut Outbox,
    ) -> bool {
        if self.open_call(from, job).is_none() || unheld == 0 {
            return false;
        }
        let Some(open) = self.negotiation.open.remove(&job) else { return false };
        let mut share = Share {
            walltime: self.planned_span(&open.call),
            call: open.call,
            metascheduler: from,
            tasks: unheld,
            queued: now,
            promised_end: Time::FOREVER,
            running: Vec::new(),
            outcome: JobOutcome::Completed,
            left: unheld,
            lost: 0,
        };
        let slot = match open.held {
            Some(Hold { slot, tasks, promised_end }) => {
                (share.tasks, share.left, share.promised_end) = (tasks, tasks, promised_end);
                out.send(from, AgreementMessage::Committed { job, completion: None });
                slot
            }
            None => {
                let slot = self.take_unheld(now, &mut share, out);
                let completion = Some(share.promised_end);
                out.send(from, AgreementMessage::Committed { job, completion });
                slot
            }
        };
        self.jobs.replace(slot, Held::Share(Box::new(share)));
        self.slots.insert(job, slot);
        self.expect(job, slot, expected, out);
        true
    }

    /// Queues a share for which nothing was held: as soon as it fits, whenever that is.
    fn take_unheld(&mut self, now: Time, share: &mut Share, out: &mut Outbox) -> Slot {
        let request = self.request(&share.call, share.tasks, now);
        let slot = self.jobs.insert(Held::Part);
        let bargainer = self.scheduler.bargainer().expect("it bargains");
        let offer = bargainer.offers(now, &request).pop().expect("the whole bag is offered");
        let award = Award::Offered { tasks: share.tasks, offer };
        let completion =
            bargainer.award(now, slot, &request, &award).expect("the plan has not changed");
        share.promised_end = self.promised(offer, completion);
        self.load.waiting += work(share.tasks, Some(share.walltime));
        self.plan_changed(now, out);
        slot
    }

    /// Gives up what is held for a bag; `over` = the metascheduler needs no more offers.
    pub(super) fn on_given_up(
        &mut self,
        now: Time,
        from: ActorId,
        job: JobId,
        over: bool,
        out: &mut Outbox,
    ) -> bool {
        match self.negotiation.open.get(&job) {
            Some(open) if open.metascheduler == from => {
                self.give_up(now, job, over, out);
                true
            }
            // The call may have been refused, or what was held been given back.
            open => open.is_none(),
        }
    }

    fn give_up(&mut self, now: Time, job: JobId, over: bool, out: &mut Outbox) {
        let Some(open) = self.negotiation.open.get_mut(&job) else { return };
        let (held, awaits_estimate) = (open.held.take(), open.offered.is_none());
        let span = self.planned_span(&self.negotiation.open[&job].call);
        if over {
            self.negotiation.open.remove(&job);
            if awaits_estimate {
                out.stop(Timer::EstimateReady { job });
            }
        }
        if let Some(Hold { slot, tasks, .. }) = held {
            let withdrawn = self.scheduler.withdraw(now, slot);
            assert!(withdrawn, "no task of a held part has started");
            self.jobs.take(slot);
            self.load.waiting -= work(tasks, Some(span));
            self.plan_changed(now, out);
        }
    }

    /// Gives back what is held and was not committed by the time its first task may start.
    pub(super) fn expire_holds(&mut self, now: Time, out: &mut Outbox) {
        let held = self.negotiation.open.iter();
        let due = |open: &OpenCall| open.held.is_some() && open.earliest <= now;
        let due: Vec<JobId> = held.filter(|(_, open)| due(open)).map(|(&job, _)| job).collect();
        for job in due {
            self.give_up(now, job, false, out);
        }
    }

    /// Tells those with older offers that something has changed.
    pub(super) fn send_probes(&mut self, out: &mut Outbox) {
        self.negotiation.count_epoch();
        if !std::mem::take(&mut self.negotiation.probes_due) {
            return;
        }
        let epoch = self.negotiation.epoch;
        for (&job, open) in &self.negotiation.open {
            let stale = open.offered.is_some_and(|offered| offered < epoch);
            if stale && open.held.is_none() {
                let message = BargainMessage::Probe { job, answer: open.answers };
                out.send(open.metascheduler, message);
            }
        }
    }
}

/// Where an answer is looked up, item by item.
struct Lookup<'a> {
    now: Time,
    request: BagRequest,
    wants_offers: bool,
    /// Completions are said to be later by this part of the time to them.
    padding: f64,
    power: u64,
    load: u128,
    bargainer: &'a mut dyn Bargainer,
}

impl Facts for Lookup<'_> {
    fn offers(&mut self) -> Vec<Offer> {
        if !self.wants_offers {
            return Vec::new();
        }
        let mut offers = self.bargainer.offers(self.now, &self.request);
        if self.padding > 0.0 {
            for offer in &mut offers {
                offer.completion += (offer.completion - self.now).scaled(self.padding);
            }
        }
        offers
    }

    fn power(&mut self) -> u64 {
        self.power
    }

    fn load(&mut self) -> u128 {
        self.load
    }

    fn free_time(&mut self) -> FreeTime {
        let mut slots = self.bargainer.free_slots(self.now);
        // Nothing can be agreed on to start before.
        let earliest = self.request.earliest;
        slots.retain(|slot| slot.end > earliest);
        for slot in &mut slots {
            slot.start = slot.start.max(earliest);
        }
        slots.sort_unstable_by_key(|slot| (slot.start, Reverse(slot.end)));
        FreeTime { slots, task: self.request.span }
    }

    fn queue(&mut self) -> Vec<QueueEntry> {
        self.bargainer.queue()
    }
}

/// Computing power in thousandths of a reference processor.
fn power(processors: u32, speed: f64) -> u64 {
    (f64::from(processors) * speed * 1000.0).round() as u64
}
