//! Waiting entries in key order, and their places beside running jobs.
//!
//! The queue copies the profile for every attempt, and places hundreds of entries in the copies.

use haggle_model::Time;
use serde::{Deserialize, Serialize};

use crate::bags::Batch;
use crate::scheduler::{BEYOND_ALL_LIMITS, Slot};

use super::again::are_few;
use super::demand::{Demand, add, remove};
use super::steps::Steps;
use super::tail::Tail;
use crate::hints::Hints;
use crate::plan::{Part, Plan};
use crate::{Interval, Overlap};

/// Entries between two saved prefixes when they are made. As entries start the distance shrinks, to half of
/// this at least.
const STRIDE: usize = 16;

/// The availability that the first `count` entries leave.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Saved {
    pub(super) count: usize,
    steps: Steps,
    /// Valid for at most that room: a new entry among these leaves less, and a change that leaves more
    /// makes the prefix anew.
    hints: Hints,
}

impl Saved {
    /// A lower bound of the earliest start of work beside these entries.
    pub(super) fn earliest(&mut self, demand: Demand, now: Time) -> Time {
        self.steps.earliest_hinted(&mut self.hints, demand, now)
    }
}

/// Accepted work, or its part that has not started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) slot: Slot,
    pub(super) demand: Demand,
    /// Promised completion; [`Time::FOREVER`] = no promise.
    pub(super) promise: Time,
    /// Its place in the plan, earliest first.
    pub(super) batches: Vec<Batch>,
    /// True if it must stay there.
    pub(super) pinned: bool,
    /// Latest completion that breaks no promise; after an overrun has broken the promise, the planned
    /// completion.
    pub(super) limit: Time,
}

impl Entry {
    pub(super) fn new(slot: Slot, demand: Demand, promise: Time, batches: Vec<Batch>) -> Entry {
        Entry { slot, demand, promise, batches, pinned: false, limit: promise }
    }

    pub(super) fn completion(&self) -> Time {
        self.demand.completion(&self.batches)
    }

    /// Takes `surplus` tasks out of the latest batches.
    fn leave_out(&mut self, mut surplus: u32) {
        self.demand.units -= surplus;
        while surplus > 0
            && let Some(last) = self.batches.last_mut()
        {
            let fewer = surplus.min(last.tasks);
            last.tasks -= fewer;
            surplus -= fewer;
            if last.tasks == 0 {
                self.batches.pop();
            }
        }
    }
}

/// Waiting entries, and the plan of running work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Queue {
    /// Running and pinned work.
    plan: Plan,
    /// By (promise, order of acceptance).
    pub(super) entries: Vec<Entry>,
    /// Rigid jobs without a promise, behind the entries.
    pub(super) tail: Tail,
    /// Saved prefixes by count, from 0 on; made as needed.
    pub(super) saved: Vec<Saved>,
}

impl Queue {
    pub(super) fn new(processors: u32) -> Queue {
        Queue {
            plan: Plan::new(processors),
            entries: Vec::new(),
            tail: Tail::new(processors),
            saved: Vec::new(),
        }
    }

    /// The plan, to change its windows.
    pub(super) fn plan_mut(&mut self) -> &mut Plan {
        &mut self.plan
    }

    /// The plan of running and pinned work.
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// All waiting entries except the tail.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len() + self.tail.len()
    }

    /// Waiting work, in order: (slot, demand, promised completion).
    pub(super) fn waiting(&self) -> impl Iterator<Item = (Slot, Demand, Time)> {
        let entries = self.entries.iter().map(|it| (it.slot, it.demand, it.promise));
        entries.chain(self.tail.iter().map(|(slot, demand)| (slot, demand, Time::FOREVER)))
    }

    pub(super) fn forget_before(&mut self, now: Time) {
        self.plan.profile_from(now);
    }

    pub(super) fn waits(&self, slot: Slot) -> bool {
        self.tail.waits(slot) || self.entries.iter().any(|entry| entry.slot == slot)
    }

    /// Number of entries promised for `time` or before.
    pub(super) fn position(&self, time: Time) -> usize {
        self.entries.partition_point(|entry| entry.promise <= time)
    }

    /// The availability that the first `count` entries leave.
    pub(super) fn prefix(&mut self, count: usize) -> Steps {
        let nearest = self.nearest(count);
        let mut steps = self.saved[nearest].steps.clone();
        self.book(&mut steps, self.saved[nearest].count, count);
        steps
    }

    /// A lower bound of the earliest start of work beside the first `count` entries.
    pub(super) fn earliest(&mut self, count: usize, demand: Demand, now: Time) -> Time {
        let nearest = self.nearest(count);
        self.saved[nearest].earliest(demand, now)
    }

    /// The last saved prefix of at most `count` entries, and of not many fewer.
    pub(super) fn nearest(&mut self, count: usize) -> usize {
        if self.saved.is_empty() {
            let steps = self.plan.profile().into();
            self.saved.push(Saved { count: 0, steps, hints: Hints::default() });
        }
        let mut nearest = self.saved.partition_point(|saved| saved.count <= count) - 1;
        while self.saved[nearest].count + 2 * STRIDE <= count {
            let done = self.saved[nearest].count;
            let mut steps = self.saved[nearest].steps.clone();
            self.book(&mut steps, done, done + STRIDE);
            nearest += 1;
            let saved = Saved { count: done + STRIDE, steps, hints: Hints::default() };
            self.saved.insert(nearest, saved);
        }
        nearest
    }

    fn book(&self, steps: &mut Steps, from: usize, to: usize) {
        // Pinned entries are booked in the plan already.
        for entry in self.entries[from..to].iter().filter(|entry| !entry.pinned) {
            add(steps, &entry.batches, entry.demand.span);
        }
    }

    /// Turns the availability behind `from` entries into that behind `to` entries. Returns `false`,
    /// unchanged, if they differ by too many batches.
    pub(super) fn go_on(&self, steps: &mut Steps, from: usize, to: usize) -> bool {
        let between = &self.entries[from.min(to)..from.max(to)];
        let few = are_few(between);
        if few && from < to {
            self.book(steps, from, to);
        } else if few {
            for entry in between.iter().filter(|entry| !entry.pinned) {
                remove(steps, &entry.batches, entry.demand.span);
            }
        }
        few
    }

    /// Places all entries again; if one would be late, only those without a planned start.
    pub(super) fn improve(&mut self, now: Time) {
        let mut steps = self.prefix(0);
        match self.place_again(&mut steps, now, 0) {
            Ok(moves) => {
                self.apply(&moves);
                self.place_tail_again(now);
            }
            Err(_) => self.place_the_rest(now),
        }
    }

    /// Places the entries that wait for a job without a limit or for failed processors, around all entries
    /// with a planned start.
    fn place_the_rest(&mut self, now: Time) {
        let unplanned = |batches: &[Batch]| {
            batches.last().is_some_and(|batch| batch.start >= BEYOND_ALL_LIMITS)
        };
        self.tail.plan_all();
        let Queue { plan, entries, tail, saved } = self;
        let (planned, some_are_not) = tail.planned();
        if !some_are_not && !entries.iter().any(|it| unplanned(&it.batches)) {
            return;
        }
        let mut steps = Steps::from(plan.profile());
        for entry in entries.iter().filter(|it| !it.pinned && !unplanned(&it.batches)) {
            add(&mut steps, &entry.batches, entry.demand.span);
        }
        planned.for_each(|it| steps.add(it.booked, it.booked + it.span, it.processors));
        for entry in entries.iter_mut().filter(|it| unplanned(&it.batches)) {
            entry.batches.clear();
            let placed = entry.demand.place(&mut steps, now, Time::FOREVER, &mut entry.batches);
            debug_assert!(placed.is_some(), "without a limit there is always a place");
            saved.clear();
        }
        self.place_rest_of_tail(now);
    }

    /// Adds work for which other entries have been moved, less `surplus` tasks; returns its completion.
    pub(super) fn accept(&mut self, now: Time, mut entry: Entry, surplus: u32) -> Time {
        self.place_tail_behind(now, &entry, surplus);
        entry.leave_out(surplus);
        let completion = entry.completion();
        self.insert(entry);
        completion
    }

    /// Adds work that has found room beside all waiting entries.
    pub(super) fn insert_beside(&mut self, entry: Entry) {
        self.end_tail_before(entry.promise);
        self.tail.keep_places();
        self.insert(entry);
    }

    /// Adds an entry behind those promised for the same time.
    fn insert(&mut self, entry: Entry) {
        let index = self.position(entry.promise);
        if entry.pinned {
            // Every prefix begins with the plan, which changes here.
            self.saved.clear();
            self.plan.book(&entry.batches, entry.demand.span);
        }
        for saved in self.saved.iter_mut().filter(|saved| saved.count > index) {
            saved.count += 1;
            saved.hints.booked();
            add(&mut saved.steps, &entry.batches, entry.demand.span);
        }
        self.entries.insert(index, entry);
    }

    /// Takes an entry out; `false` if there is none.
    pub(super) fn remove(&mut self, slot: Slot) -> bool {
        let Some(index) = self.entries.iter().position(|entry| entry.slot == slot) else {
            return self.tail.remove(slot);
        };
        let entry = self.entries.remove(index);
        if entry.pinned {
            self.plan.unbook(Time::PAST, &entry.batches, entry.demand.span);
        }
        self.outdate();
        true
    }

    /// The plan or the entries have changed, and all waiting work keeps its place.
    pub(super) fn outdate(&mut self) {
        self.saved.clear();
        self.tail.keep_places();
    }

    /// A part that runs under `slot` has ended; returns its processors and its planned end, if it ran.
    pub(super) fn end(&mut self, now: Time, slot: Slot, part: Part) -> Option<Part> {
        let ended = self.plan.end(now, slot, part)?;
        // Work that ends as planned gives no time back.
        if now < ended.planned_end {
            self.outdate();
        }
        Some(ended)
    }

    /// Processors are back.
    pub(super) fn restored(&mut self, now: Time, processors: u32) {
        self.plan.restored(now, processors);
        self.outdate();
    }

    /// All work under `slot` has ended.
    pub(super) fn forget(&mut self, slot: Slot) {
        self.plan.forget(slot);
    }

    /// Plans around a window of maintenance if all waiting entries can keep their limits beside it.
    pub(super) fn announce(&mut self, now: Time, number: u32, window: Interval) -> bool {
        // On a copy: the window is refused if an entry finds no place within its limit.
        let mut anew = self.clone();
        let has_room = anew.plan.announce(now, number, window, Overlap::Refuse);
        has_room && self.take_over(anew, now)
    }

    /// Windows of maintenance take the processors they lack, if all waiting entries can keep their limits.
    pub(super) fn complete_windows(&mut self, now: Time) {
        if self.plan.lacks_for_windows() {
            let mut anew = self.clone();
            anew.plan.complete_windows(now);
            self.take_over(anew, now);
        }
    }

    /// Takes over a queue with another plan, if all its entries find places there within their limits.
    fn take_over(&mut self, mut anew: Queue, now: Time) -> bool {
        anew.saved.clear();
        let mut steps = anew.prefix(0);
        let moves = anew.place_again(&mut steps, now, 0);
        let fits = moves.is_ok();
        if let Ok(moves) = moves {
            anew.apply(&moves);
            anew.place_tail_again(now);
            *self = anew;
        }
        fits
    }

    /// A `change` of the plan takes time that may be planned for entries. All waiting entries are planned
    /// again around it, late or not, pinned or not.
    pub(super) fn plan_anew_around(&mut self, now: Time, change: impl FnOnce(&mut Plan)) {
        self.forget_before(now);
        for entry in self.entries.iter_mut().filter(|entry| entry.pinned) {
            self.plan.unbook(now, &entry.batches, entry.demand.span);
            entry.pinned = false;
        }
        change(&mut self.plan);
        self.saved.clear();
        let mut steps = Steps::from(self.plan.profile());
        for entry in &mut self.entries {
            entry.batches.clear();
            let placed = entry.demand.place(&mut steps, now, Time::FOREVER, &mut entry.batches);
            debug_assert!(placed.is_some(), "without a limit there is always a place");
            entry.limit = entry.limit.max(entry.completion());
        }
        self.place_tail_again(now);
    }

    /// Starts, in key order, the due rigid jobs or tasks that find free processors: calls `begin(slot,
    /// processors)`.
    ///
    /// Work that ends at this very instant may not have given its processors back yet; its end brings the
    /// next pass.
    pub(super) fn start(&mut self, now: Time, rigid: bool, mut begin: impl FnMut(Slot, u32)) {
        let is_due = |it: &Entry| it.demand.rigid == rigid && it.batches[0].start <= now;
        if let Some(first) = self.entries.iter().position(is_due) {
            self.start_from(first, now, rigid, &mut begin);
        }
        if rigid && self.tail.start(now, &mut self.plan, begin) {
            self.saved.clear();
        }
    }

    /// As [`Queue::start`], for entries; `first` is the first due one.
    fn start_from(
        &mut self,
        first: usize,
        now: Time,
        rigid: bool,
        begin: &mut impl FnMut(Slot, u32),
    ) {
        let Queue { plan, entries, tail, saved } = self;
        saved.iter_mut().for_each(|saved| saved.steps.forget_before(now));
        let mut index = first;
        while let Some(entry) = entries.get_mut(index) {
            let mut due = 0;
            for batch in &entry.batches {
                if entry.demand.rigid != rigid || batch.start > now || batch.tasks > plan.free() {
                    break;
                }
                // A late start ends later than prefixes and tail assume.
                if batch.start < now {
                    tail.keep_places();
                    saved.clear();
                }
                due += 1;
                entry.demand.units -= batch.tasks;
                let end = now + entry.demand.span;
                if !entry.pinned {
                    plan.profile_mut().add(now, end, batch.tasks);
                    // Prefixes that include the entry do not change: the batch only moves from entry to
                    // plan.
                    for before in saved.iter_mut().take_while(|saved| saved.count <= index) {
                        before.hints.booked();
                        before.steps.add(now, end, batch.tasks);
                    }
                }
                plan.start(entry.slot, batch.tasks, end);
                begin(entry.slot, batch.tasks);
            }
            if due < entry.batches.len() {
                if due > 0 {
                    entry.batches.drain(..due);
                }
                index += 1;
                continue;
            }
            entries.remove(index);
            saved.iter_mut().filter(|saved| saved.count > index).for_each(|it| it.count -= 1);
            // If two prefixes come close to each other, one is enough.
            saved.dedup_by(|next, kept| next.count < kept.count + STRIDE / 2);
        }
    }

    /// Processor-microseconds of waiting work.
    pub(super) fn waiting_work(&self) -> u128 {
        let work = |demand: Demand| u128::from(demand.units) * demand.span.as_micros() as u128;
        self.waiting().map(|(_, demand, _)| work(demand)).sum()
    }
}
