//! An earliest-deadline-first queue that keeps its promises and bargains over bags.
//!
//! All accepted work, a rigid job or a share of a bag, gets a promised completion. It waits in the order of
//! these promises (Netto 2009, section 3.3, Algorithms 1 and 2). The plan in force always keeps every
//! promise. New work is placed by its deadline, and all entries behind it are placed again. It moves back
//! behind each entry that would be late otherwise. If it cannot be done by its deadline, a binary search
//! finds the earliest completion that can be promised (section 6.3.1). Rigid jobs without a deadline have
//! no promise and come last, in the order of acceptance.
//!
//! A provider calls [`LocalScheduler::start_due`] and then
//! [`Bargainer::tasks_due`] at the end of every instant in which something
//! happened.

mod again;
mod bargain;
mod demand;
mod parts;
mod queue;
mod steps;
mod sweep;
mod tail;
mod trial;

use haggle_model::{Span, Time};

use crate::bags::{Bargainer, Batch, Fractions};
use crate::maintenance::OnPlan;
use crate::plan::Plan;
use crate::scheduler::{BEYOND_ALL_LIMITS, Killed, LocalScheduler, Request, Slot};
use crate::{Capabilities, Interval, Maintaining};

use demand::Demand;
use queue::{Entry, Queue};
use serde::{Deserialize, Serialize};
use trial::Trial;

haggle_model::words! {
    /// Treatment of new work that would make a promise late.
    #[derive(Default)]
    pub enum Late {
        /// It moves behind the work that would be late, as often as needed (Netto 2009, Algorithm 1, `fixqueue`).
        #[default]
        Repair = "repair",
        /// It is not accepted by that deadline.
        Strict = "strict",
    }
}

/// How an [`Edf`] queue works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdfConfig {
    /// Treatment of new work that would make a promise late.
    pub mode: Late,
    /// Tolerance of the search for the earliest completion that can be promised; at least a tick. With a
    /// whole number of seconds, whole seconds stay whole.
    pub resolution: Span,
    /// The sizes for which offers are made.
    pub fractions: Fractions,
    /// True if shares awarded into published slots stay exactly there.
    pub pinned: bool,
}

/// Repair, a second, the default fractions, nothing pinned.
impl Default for EdfConfig {
    fn default() -> EdfConfig {
        EdfConfig {
            mode: Late::Repair,
            resolution: Span::from_secs(1),
            fractions: Fractions::default(),
            pinned: false,
        }
    }
}

/// Counts of the work of an [`Edf`] queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EdfStats {
    /// Entries behind which accepted work moved back; probes and offers do not count.
    pub repairs: u64,
    /// Attempts to place work by some deadline, including those of the searches.
    pub attempts: u64,
    /// Probes of the searches for the earliest completion that can be promised.
    pub probes: u64,
}

/// Earliest deadline first, with promises that are kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Edf {
    config: EdfConfig,
    queue: Queue,
    /// True if time has been given back since the plan was last made.
    given_back: bool,
    /// Parts held so far.
    numbered: u32,
    stats: EdfStats,
}

impl Edf {
    /// For a machine of `processors`.
    pub fn new(processors: u32, mut config: EdfConfig) -> Edf {
        config.resolution = config.resolution.max(Span::TICK);
        let (queue, stats) = (Queue::new(processors), EdfStats::default());
        Edf { config, queue, given_back: false, numbered: 0, stats }
    }

    /// Counts so far.
    pub fn stats(&self) -> EdfStats {
        self.stats
    }

    /// Remaining work, in processor-microseconds: of running jobs until their planned ends, and of all
    /// waiting entries. Jobs without a limit count as [`Span::FOREVER`].
    pub fn remaining_work(&self, now: Time) -> u128 {
        self.queue.waiting_work() + self.queue.plan().running_work(now)
    }

    /// Waiting entries, in the queue's order: (slot, processors or tasks, promised completion).
    pub fn waiting(&self) -> impl Iterator<Item = (Slot, u32, Time)> + '_ {
        self.queue.waiting().map(|(slot, demand, promise)| (slot, demand.units, promise))
    }

    /// Planned batches of the waiting part of this job or share; empty if no part waits.
    pub fn planned(&self, slot: Slot) -> Vec<Batch> {
        let entry = self.queue.planned(slot);
        entry.map_or_else(Vec::new, |entry| entry.batches.clone())
    }

    /// Moves waiting entries up to the time that has been given back.
    fn catch_up(&mut self, now: Time) {
        self.queue.forget_before(now);
        if std::mem::take(&mut self.given_back) {
            // Windows of maintenance take missing processors before waiting entries move up.
            self.queue.complete_windows(now);
            self.queue.improve(now);
        }
    }

    /// Accepts work at the earliest promise from `deadline` on that can be kept.
    fn accept(&mut self, now: Time, slot: Slot, demand: Demand, deadline: Time) -> Time {
        let mut trial = Trial::new(demand, &self.config);
        let promise = trial.promise(&mut self.queue, now, deadline, &mut self.stats);
        if promise == Time::FOREVER && demand.rigid {
            self.queue.line_up(now, slot, demand);
            return promise;
        }
        self.queue.end_tail_before(promise);
        let chain = trial
            .attempt(&mut self.queue, now, promise)
            .expect("what has just been promised is possible");
        self.stats.repairs += chain.repairs;
        let batches = trial.apply(&mut self.queue, chain);
        self.queue.accept(now, Entry::new(slot, demand, promise, batches), 0);
        promise
    }
}

impl LocalScheduler for Edf {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        self.queue.forget_before(now);
        let demand = Demand::rigid(request.processors, request.planned_span());
        let deadline = match (request.deadline, request.span) {
            (Some(deadline), Some(_)) => deadline.min(Time::FOREVER),
            // No promise is possible for a job that may hold its processors for ever.
            _ => Time::FOREVER,
        };
        let promise = self.accept(now, request.slot, demand, deadline);
        (promise < Time::FOREVER).then_some(promise)
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        let Some(part) = self.queue.plan().only(slot) else {
            debug_assert!(false, "only a running job ends");
            return;
        };
        self.tasks_finished(now, slot, part.processors, part.planned_end);
    }

    fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        self.make_way(now, |plan| plan.overran(now, slot, end));
    }

    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        for &Killed { slot, processors, planned_end } in killed {
            self.tasks_finished(now, slot, processors, planned_end);
        }
        // The killed work has ended above.
        self.make_way(now, |plan| plan.failed(now, processors, &[]));
    }

    fn restored(&mut self, now: Time, processors: u32) {
        self.queue.restored(now, processors);
        self.given_back = true;
    }

    fn withdraw(&mut self, now: Time, slot: Slot) -> bool {
        // A job that has started, or a share with started tasks, cannot be withdrawn.
        if self.queue.plan().has_started(slot) || !self.queue.remove(slot) {
            return false;
        }
        self.queue.forget_before(now);
        self.given_back = true;
        true
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        self.catch_up(now);
        self.queue.plan_mut().start_fixed(now, started);
        self.queue.start(now, true, |slot, _| started.push(slot));
    }

    fn next_start(&self) -> Option<Time> {
        let starts = self.queue.entries().iter().map(|entry| entry.batches[0].start);
        starts.chain(self.queue.tail.next_start()).min().filter(|&start| start < BEYOND_ALL_LIMITS)
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        let span = span.unwrap_or(Span::FOREVER).max(Span::TICK);
        self.queue.forget_before(now);
        let window = self.queue.whole().earliest(processors, span, now, Time::FOREVER);
        let large_enough = processors <= self.queue.plan().profile().capacity();
        large_enough.then(|| window.map_or(Time::FOREVER, |window| window.start))
    }

    fn queue_length(&self) -> usize {
        self.queue.len()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            bags: Ok(()),
            ..Capabilities::without_parts(
                "work with an earlier deadline takes the start of other work",
            )
        }
    }

    fn bags(&mut self) -> &mut dyn Bargainer {
        self
    }

    fn maintenance(&mut self) -> &mut dyn Maintaining {
        self
    }
}

impl OnPlan for Edf {
    fn plan_mut(&mut self) -> &mut Plan {
        self.queue.plan_mut()
    }

    fn make_way(&mut self, now: Time, change: impl FnOnce(&mut Plan)) {
        self.queue.plan_anew_around(now, change);
    }

    fn given_back(&mut self, _from: Time, _until: Time, _processors: u32) {
        self.queue.outdate();
        self.given_back = true;
    }

    fn bring_up_to_date(&mut self, now: Time) {
        self.queue.forget_before(now);
    }

    fn windows_changed(&mut self) {
        self.queue.outdate();
    }

    fn announce_beside(&mut self, now: Time, number: u32, window: Interval) -> bool {
        self.queue.announce(now, number, window)
    }

    fn complete_windows(&mut self, now: Time) {
        self.queue.complete_windows(now);
    }
}
