//! A provider's offers for a bag, before an agreement on it.
//!
//! ```text
//!            Call                 Prepare              Commit
//!   idle ──────────▶ offered ───────────────▶ held ───────────▶ committed
//!                     ▲  │ Release            │ Abort, Release, or its first
//!             Refresh └──┘                     ▼ task was due: given back
//!   └───────── this file ───────┴──────────── agreement.rs ───────────────┘
//! ```
//!
//! Offers bind neither side. The plan from which they were made has a number, the epoch, which the
//! provider does not disclose. When the plan changes, a probe notifies the holders of older offers
//! (Haji et al. 2005; Netto 2009, section 7.2).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use haggle_model::job::Lot;
use haggle_model::random::Stream;
use haggle_model::{ActorId, JobId, Observation, OffersMade, Refusal, Span, Time};
use haggle_scheduling::composition::{AnyView, Facts, FreeTime, QueueEntry};
use haggle_scheduling::{Asked, BagRequest, Bargainer, Offer, OfferRule, Own};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::Bargains;
use super::agreement::Hold;
use crate::glimpse::{Promise, PromiseKind, Stage, Work, known};
use crate::protocol::{Answer, BargainMessage, Call, QueryMessage, Timer};
use crate::provider::core::{Core, Turn};

/// Origin of a provider's run time estimates.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub enum Estimates {
    /// From the users.
    #[default]
    Users,
    /// From profiling the program. The time for it is drawn anew for each bag, but is the same at
    /// every provider. Its error is a fraction of the error of the user's estimate (Netto 2009,
    /// section 7.4).
    Profiled {
        /// That fraction (a, b) = a/b.
        error: (u32, u32),
        /// Shortest and longest time of profiling, in whole seconds.
        time: (Span, Span),
    },
    /// The true run time, at once: a bound on the benefit of better estimates.
    Perfect,
}

/// A provider's rules for bargaining.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bargaining {
    /// Origin of its run time estimates.
    pub estimates: Estimates,
    /// Time for which its offers can be taken up. A part that is taken up is held as long again,
    /// and no task starts before that is over. Four times the latency is enough for the messages of
    /// an agreement.
    pub validity: Span,
    /// Completions are offered later than planned by a factor drawn from [1, 1 + padding].
    pub padding: f64,
    /// A user-defined rule for the offers that it discloses, in place of the padding.
    pub told: Option<Own<OfferRule>>,
    /// Time to answer a call, so that its offers may be stale when they arrive.
    pub delay: Span,
    /// True if it reports an earlier end of a share as soon as that matters for the whole bag, not
    /// only when the share moves.
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
            told: None,
            delay: Span::ZERO,
            catches_up: true,
            seed: 0,
        }
    }
}

/// A provider's open calls.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Negotiation {
    /// The number of the plan.
    pub(super) epoch: u64,
    /// True if open calls must be notified of a new epoch.
    probes_due: bool,
    pub(super) open: BTreeMap<JobId, OpenCall>,
    stream: Stream,
}

/// A call for offers, until the bag is agreed on or released.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OpenCall {
    pub(super) metascheduler: ActorId,
    pub(super) call: Box<Call>,
    /// Number of answers sent.
    answers: u32,
    /// The last of them that has been reported as stale.
    probed: u32,
    /// Epoch of the offers made; `None` before.
    pub(super) offered: Option<u64>,
    /// Time until which these offers can be taken up.
    pub(super) valid_until: Time,
    /// Earliest start of their first task.
    pub(super) earliest: Time,
    /// The part of them that is held.
    pub(super) held: Option<Hold>,
}

impl OpenCall {
    /// The offers that can be taken up as one row, and the tasks that are held.
    pub(super) fn promises(&self, job: JobId) -> Vec<Promise> {
        let row = |kind, tasks| Promise {
            job: Some(job),
            with: Some(self.metascheduler),
            ..Promise::new(kind, tasks)
        };
        let offered = self.offered.filter(|_| self.held.is_none()).map(|_| Promise {
            start: known(self.earliest),
            until: known(self.valid_until),
            ..row(PromiseKind::Offer, None)
        });
        let held = self.held.as_ref().map(|held| Promise {
            agreement: Some(held.agreement()),
            end: known(held.promised_end()),
            ..row(PromiseKind::Hold, Some(held.tasks()))
        });
        offered.into_iter().chain(held).collect()
    }

    /// The row of its held tasks.
    pub(super) fn held_work(&self, job: JobId) -> Option<Work> {
        let held = self.held.as_ref()?;
        let promised_end = known(held.promised_end());
        let work = Work::new(job, Stage::Held, held.tasks(), self.metascheduler);
        Some(Work { promised_end, ..work })
    }
}

impl Negotiation {
    pub(super) fn new(stream: Stream) -> Negotiation {
        Negotiation { epoch: 0, probes_due: false, open: BTreeMap::new(), stream }
    }

    /// Counts a new epoch if the plan has changed.
    fn count_epoch(&mut self, core: &mut Core) {
        if core.deciding.take_changed() {
            self.epoch += 1;
            self.probes_due = true;
        }
    }
}

impl Bargains {
    pub(in crate::provider::services) fn on_called(
        &mut self,
        turn: &mut Turn<'_>,
        from: ActorId,
        call: Box<Call>,
    ) -> bool {
        let job = call.job;
        if turn.core.pieces.has(job) || self.negotiation.open.contains_key(&job) {
            return false;
        }
        let reason = if turn.core.config.disclosure < call.asks {
            Some(Refusal::NotDisclosed)
        } else {
            (call.tasks == 0).then_some(Refusal::WrongShape)
        };
        if let Some(reason) = reason {
            turn.out.send(from, QueryMessage::NoAnswer { job, reason });
            return true;
        }
        let wait = turn.core.config.bargaining.delay + self.profiling_time(turn.core, call.lot);
        let open = OpenCall {
            metascheduler: from,
            call,
            answers: 0,
            probed: 0,
            offered: None,
            valid_until: turn.now,
            earliest: turn.now,
            held: None,
        };
        self.negotiation.open.insert(job, open);
        if wait > Span::ZERO {
            turn.out.set(turn.now + wait, Timer::EstimateReady { job });
        } else {
            self.answer(turn, job);
        }
        true
    }

    /// Time to profile this bag's program.
    fn profiling_time(&self, core: &Core, lot: Lot) -> Span {
        let Estimates::Profiled { time: (shortest, longest), .. } =
            core.config.bargaining.estimates
        else {
            return Span::ZERO;
        };
        let seconds = |span: Span| span.as_micros() / haggle_model::time::MICROS_PER_SECOND;
        let mut stream = lot.stream(core.config.bargaining.seed, "profiling time");
        Span::from_secs(stream.random_range(seconds(shortest)..=seconds(longest)))
    }

    /// The estimate with which this provider plans, on its own processors.
    pub(super) fn planned_span(&self, core: &Core, call: &Call) -> Span {
        let estimate = match core.config.bargaining.estimates {
            Estimates::Users => call.task_time,
            Estimates::Profiled { error, .. } => call.program.profiled(call.task_time, error),
            Estimates::Perfect => call.program.profiled(call.task_time, (0, 1)),
        };
        estimate.at_speed(core.config.speed).max(Span::TICK)
    }

    pub(super) fn request(
        &self,
        core: &Core,
        call: &Call,
        tasks: u32,
        earliest: Time,
    ) -> BagRequest {
        BagRequest { tasks, span: self.planned_span(core, call), deadline: call.deadline, earliest }
    }

    /// Sends offers for an open call, and the other facts it asked for.
    pub(in crate::provider::services) fn answer(&mut self, turn: &mut Turn<'_>, job: JobId) {
        if let Some((to, answer)) = self.make_offers(turn, job) {
            turn.out.send(to, BargainMessage::Offers(Box::new(answer)));
        }
    }

    pub(super) fn make_offers(
        &mut self,
        turn: &mut Turn<'_>,
        job: JobId,
    ) -> Option<(ActorId, Answer)> {
        self.negotiation.count_epoch(turn.core);
        let epoch = self.negotiation.epoch;
        let validity = turn.core.config.bargaining.validity;
        let (valid_until, earliest) = (turn.now + validity, turn.now + validity + validity);
        let padding = turn.core.config.bargaining.padding;
        let open = self.negotiation.open.get_mut(&job)?;
        (open.offered, open.valid_until, open.earliest) = (Some(epoch), valid_until, earliest);
        open.answers += 1;
        let told = turn.core.config.bargaining.told;
        let drawn = if padding > 0.0 || told.is_some() {
            self.negotiation.stream.random::<f64>()
        } else {
            0.0
        };
        let open = &self.negotiation.open[&job];
        let (to, asks, answer) = (open.metascheduler, open.call.asks, open.answers);
        let request = self.request(turn.core, &open.call, open.call.tasks, earliest);
        let now = turn.now;
        let mut facts = Lookup {
            now,
            request,
            wants_offers: open.call.wants_offers,
            padding: padding * drawn,
            told: told.map(|told| (told.rule, drawn)),
            power: power(turn.core.config.processors, turn.core.config.speed),
            load: work_left(turn),
            bargainer: turn.core.scheduler.bags(),
        };
        let view = AnyView::disclose(asks, &mut facts);
        let (power, load) = (facts.power, facts.load);
        self.note_offers(turn, to, job, &view, power, load);
        Some((to, Answer { job, answer, valid: (turn.now, valid_until), view }))
    }

    /// Records the offers, and the facts that were not disclosed.
    fn note_offers(
        &self,
        turn: &mut Turn<'_>,
        to: ActorId,
        job: JobId,
        view: &AnyView,
        power: u64,
        load: u128,
    ) {
        let call = &self.negotiation.open[&job].call;
        turn.out.observe(Observation::OffersMade(Box::new(OffersMade {
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

    /// The open call of this metascheduler for a bag, if it has been answered.
    pub(super) fn open_call(&self, from: ActorId, job: JobId) -> Option<&OpenCall> {
        let open = self.negotiation.open.get(&job)?;
        (open.metascheduler == from && open.offered.is_some()).then_some(open)
    }

    pub(super) fn on_refresh(&mut self, turn: &mut Turn<'_>, from: ActorId, job: JobId) -> bool {
        // A metascheduler that asks anew has given up the agreement, and its abort may be lost.
        if turn.core.numbered.knows(from) && self.open_call(from, job).is_some() {
            self.abort_hold(turn, from, job);
        }
        let is_open = self.open_call(from, job).is_some_and(|open| open.held.is_none());
        if is_open {
            self.answer(turn, job);
        }
        is_open
    }

    /// Notifies the holders of older offers that the plan has changed.
    pub(in crate::provider::services) fn send_probes(&mut self, turn: &mut Turn<'_>) {
        self.negotiation.count_epoch(turn.core);
        if !std::mem::take(&mut self.negotiation.probes_due) {
            return;
        }
        let epoch = self.negotiation.epoch;
        for (&job, open) in &mut self.negotiation.open {
            let stale = open.offered.is_some_and(|offered| offered < epoch);
            // Each answer is reported as stale once, however often the plan changes until the next
            // answer.
            if stale && open.held.is_none() && open.probed < open.answers {
                open.probed = open.answers;
                let message = BargainMessage::Probe { job, answer: open.answers };
                turn.out.send(open.metascheduler, message);
            }
        }
    }
}

/// The facts about a provider, looked up one by one for an answer.
struct Lookup<'a> {
    now: Time,
    request: BagRequest,
    wants_offers: bool,
    /// Completions are offered later by this part of the time until them.
    padding: f64,
    /// The user-defined rule for offers, and the number that it may use as drawn.
    told: Option<(OfferRule, f64)>,
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
        if let Some((rule, draw)) = self.told {
            let Lookup { now, request: bag, power, load, .. } = *self;
            let asked = Asked { now, bag, power, load, draw };
            offers.retain_mut(|offer| match rule(&asked, offer) {
                Some(later) => {
                    offer.completion += later.max(Span::ZERO);
                    true
                }
                None => false,
            });
            return offers;
        }
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
        // No agreed task can start earlier.
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

/// Work left, in thousandths of a microsecond of a reference processor.
fn work_left(turn: &Turn<'_>) -> u128 {
    let here = u128::try_from(turn.core.load.work(turn.now, &turn.core.machine)).unwrap_or(0);
    here * u128::from(power(1, turn.core.config.speed))
}
