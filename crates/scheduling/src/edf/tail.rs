//! Rigid jobs without a promise, behind all other entries of the queue.
//!
//! They have no promised completion and come after all entries that have one, so other work is placed as if
//! they were absent. When the entries before them are placed again, so are they. Most of such a plan is
//! dropped before it is used, so it is made no farther than a query needs. Other changes before them move
//! none of them: time given back that cannot be used, or an entry that is taken out. Then their plan is
//! made to its end, beside the bookings with which it was begun, and kept.

use std::borrow::Cow;

use haggle_model::Time;
use serde::{Deserialize, Serialize};

use super::demand::Demand;
use super::queue::{Entry as Placed, Queue};
use super::steps::Steps;
use crate::Profile;
use crate::bags::Batch;
use crate::plan::Plan;
use crate::plan::gradual::{Due, Gradual, Until};
use crate::plan::waiting::Entry;
use crate::scheduler::{BEYOND_ALL_LIMITS, Slot};

/// Jobs in the order of acceptance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tail {
    jobs: Gradual,
    /// Jobs that start by then are planned; the others will be planned as if at that instant.
    as_of: Time,
    /// True if the bookings before or beside the jobs have changed since they were planned.
    outdated: bool,
    /// True if the next start is planned.
    knows_next: bool,
    accepted: u32,
}

impl Tail {
    /// For a machine of `processors`.
    pub(super) fn new(processors: u32) -> Tail {
        let jobs = Gradual::new(processors);
        Tail { jobs, as_of: Time::ZERO, outdated: false, knows_next: true, accepted: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.jobs.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Slots and demands, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Slot, Demand)> {
        self.jobs.iter().map(|job| (job.slot, demand(job)))
    }

    pub(super) fn waits(&self, slot: Slot) -> bool {
        self.jobs.get(slot).is_some()
    }

    /// The bookings before the jobs have changed, and the jobs keep their places.
    pub(super) fn keep_places(&mut self) {
        self.outdated = true;
    }

    pub(super) fn next_start(&self) -> Option<Time> {
        if self.knows_next {
            return self.jobs.next_start();
        }
        // After a scheduling pass the next start is known; other callers may pay for a copy.
        let mut tail = self.clone();
        tail.plan_next();
        tail.jobs.next_start()
    }

    fn plan_next(&mut self) {
        self.jobs.plan_until(Until::NextStart, self.as_of);
        self.knows_next = true;
    }

    pub(super) fn plan_all(&mut self) {
        self.jobs.plan_all(self.as_of);
        self.knows_next = true;
    }

    fn plan_anew(&mut self, now: Time, profile: &Profile) {
        self.jobs.plan_anew(now, profile);
        (self.as_of, self.outdated, self.knows_next) = (now, false, false);
    }

    /// Requires that all jobs are planned. Returns the jobs with a planned start, and whether there are
    /// others.
    pub(super) fn planned(&self) -> (impl Iterator<Item = &Entry>, bool) {
        let is_planned = |job: &&Entry| job.booked < BEYOND_ALL_LIMITS;
        (self.jobs.iter().filter(is_planned), self.jobs.iter().any(|job| !is_planned(&job)))
    }

    /// Takes a job out; `false` if it is not here.
    pub(super) fn remove(&mut self, slot: Slot) -> bool {
        let waits = self.waits(slot);
        if waits {
            self.plan_all();
            self.jobs.take_out(slot);
            self.keep_places();
        }
        waits
    }

    /// Starts, in order, the due jobs that find free processors; returns whether any job started.
    pub(super) fn start(
        &mut self,
        now: Time,
        plan: &mut Plan,
        mut begin: impl FnMut(Slot, u32),
    ) -> bool {
        let Tail { jobs, as_of, outdated, .. } = self;
        jobs.plan_until(Until::Instant(now), *as_of);
        *as_of = now;
        jobs.forget_before(now);
        let mut due: Vec<Due> = std::iter::from_fn(|| jobs.take_due(now)).collect();
        // Due jobs start in the order of acceptance.
        due.sort_unstable_by_key(|&(_, key, _)| key);
        let waiting = jobs.len();
        due.retain(|&(start, _, slot)| {
            let &Entry { processors, span, .. } = jobs.get(slot).expect("what is due waits");
            let starts = processors <= plan.free();
            if starts {
                plan.book_and_start(now, slot, processors, now + span);
                jobs.remove(slot);
                *outdated |= start < now;
                begin(slot, processors);
            }
            !starts
        });
        jobs.not_yet(due);
        self.plan_next();
        self.jobs.tidy();
        self.jobs.len() < waiting
    }
}

fn demand(job: &Entry) -> Demand {
    Demand::rigid(job.processors, job.span)
}

/// A planned job as an entry.
fn placed(job: &Entry) -> Placed {
    let batches = vec![Batch { start: job.booked, tasks: job.processors }];
    Placed::new(job.slot, demand(job), Time::FOREVER, batches)
}

fn book(profile: &mut Profile, entry: &Placed) {
    for &Batch { start, tasks } in &entry.batches {
        profile.add(start, start + entry.demand.span, tasks);
    }
}

impl Queue {
    /// Adds a job at the end; it is planned when a query needs it.
    pub(super) fn line_up(&mut self, now: Time, slot: Slot, demand: Demand) {
        if self.tail.is_empty() {
            self.tail.plan_anew(now, &self.beside_entries());
        } else if self.tail.outdated {
            self.planned_tail();
        }
        let tail = &mut self.tail;
        let (key, Demand { units: processors, span, .. }) = ((0, 0, tail.accepted), demand);
        tail.accepted += 1;
        tail.knows_next = false;
        tail.jobs.push(now, Entry { key, booked: now, span, slot, processors });
    }

    /// The entries before the tail have been placed again, so the tail is planned again.
    pub(super) fn place_tail_again(&mut self, now: Time) {
        if !self.tail.is_empty() {
            self.tail.plan_anew(now, &self.beside_entries());
        }
    }

    /// As [`Queue::place_tail_again`], with `new` work that is not in the queue yet. It will have `surplus`
    /// tasks fewer once the tail has been placed.
    pub(super) fn place_tail_behind(&mut self, now: Time, new: &Placed, surplus: u32) {
        if self.tail.is_empty() {
            return;
        }
        let mut beside = self.beside_entries();
        book(&mut beside, new);
        self.tail.plan_anew(now, &beside);
        // The tail has been placed beside tasks that will not be there.
        if surplus > 0 {
            self.tail.keep_places();
        }
    }

    /// Jobs of the tail without a planned start are placed again; all others keep their places.
    pub(super) fn place_rest_of_tail(&mut self, now: Time) {
        if !self.tail.is_empty() {
            let beside = self.beside_entries();
            self.tail.jobs.keep_places(now, beside, true);
            let Tail { as_of, outdated, knows_next, .. } = &mut self.tail;
            (*as_of, *outdated, *knows_next) = (now, false, false);
        }
    }

    /// The availability beside the plan and all entries before the tail.
    fn beside_entries(&self) -> Profile {
        let mut profile = self.plan().profile().clone();
        for entry in self.entries.iter().filter(|entry| !entry.pinned) {
            book(&mut profile, entry);
        }
        profile
    }

    /// The tail with all jobs planned, beside the present bookings.
    fn planned_tail(&mut self) -> &mut Tail {
        self.tail.plan_all();
        if std::mem::take(&mut self.tail.outdated) {
            let beside = self.beside_entries();
            self.tail.jobs.keep_places(self.tail.as_of, beside, false);
        }
        &mut self.tail
    }

    /// As [`Queue::whole`], as a profile.
    pub(super) fn beside_all(&mut self) -> Profile {
        match self.tail.is_empty() {
            true => self.beside_entries(),
            false => self.planned_tail().jobs.profile().clone(),
        }
    }

    /// The availability beside all waiting work.
    pub(super) fn whole(&mut self) -> Steps {
        if self.tail.is_empty() {
            return self.prefix(self.entries.len());
        }
        self.planned_tail().jobs.profile().into()
    }

    /// The waiting entry of `slot`, with its place.
    pub(super) fn planned(&self, slot: Slot) -> Option<Cow<'_, Placed>> {
        if !self.tail.waits(slot) {
            return self.entries.iter().find(|entry| entry.slot == slot).map(Cow::Borrowed);
        }
        // Bargaining queries shares only; for jobs of the tail a copy is fast enough.
        let mut tail = self.tail.clone();
        tail.plan_all();
        tail.jobs.get(slot).map(|job| Cow::Owned(placed(job)))
    }

    /// If work with this `promise` comes behind the tail, the jobs of the tail become entries, each with
    /// its place.
    pub(super) fn end_tail_before(&mut self, promise: Time) {
        if promise < Time::FOREVER || self.tail.is_empty() {
            return;
        }
        self.tail.plan_all();
        let capacity = self.plan().profile().capacity();
        let Tail { jobs, .. } = std::mem::replace(&mut self.tail, Tail::new(capacity));
        self.entries.extend(jobs.iter().map(placed));
    }
}
