//! A plan of jobs, one after the other in their order, each at its first fit. It is made only as far as a
//! query needs.
//!
//! Most of such a plan is dropped before it is used. A scheduling pass needs only the jobs that start now
//! and the time of the next start. A job without a place before then stays unplanned; more bookings only
//! leave less room (`gradual/later.rs`).

mod later;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use haggle_model::Time;

use super::waiting::{Entry, Waiting};
use crate::Profile;
use crate::hints::Hints;
use crate::index::Key;
use crate::scheduler::{BEYOND_ALL_LIMITS, Slot};

use later::Later;
pub(crate) use later::Until;
use serde::{Deserialize, Serialize};

/// A planned start.
pub(crate) type Due = (Time, Key, Slot);

/// Waiting jobs, and the part of their plan that was needed so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Gradual {
    waiting: Waiting,
    /// The waiting jobs, by slot.
    entries: Vec<Option<Entry>>,
    /// The bookings beside which jobs are planned, and the planned jobs.
    profile: Profile,
    /// Jobs of the waiting list that are not planned yet, in order.
    later: Vec<Later>,
    /// Planned starts, earliest first.
    due: BinaryHeap<Reverse<Due>>,
    hints: Hints,
}

impl Gradual {
    /// For a machine of `processors`.
    pub(crate) fn new(processors: u32) -> Gradual {
        Gradual {
            waiting: Waiting::default(),
            entries: Vec::new(),
            profile: Profile::new(processors),
            later: Vec::new(),
            due: BinaryHeap::new(),
            hints: Hints::default(),
        }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The job that waits under `slot`, with its planned start if it is planned.
    pub(crate) fn get(&self, slot: Slot) -> Option<&Entry> {
        self.entries.get(slot.index())?.as_ref()
    }

    /// All waiting jobs; in order, unless jobs were inserted since the list was last brought in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        // The slot may be in use by another job by now.
        let waits = |entry: &&Entry| self.get(entry.slot).is_some_and(|it| it.key == entry.key);
        self.waiting.iter().filter(waits).filter_map(|entry| self.get(entry.slot))
    }

    /// The availability beside the planned jobs.
    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// To book other intervals beside the planned jobs.
    pub(crate) fn profile_mut(&mut self) -> &mut Profile {
        &mut self.profile
    }

    pub(crate) fn forget_before(&mut self, now: Time) {
        self.profile.forget_before(now);
    }

    /// Drops the plan; the next one is made beside `profile`.
    pub(crate) fn plan_anew(&mut self, now: Time, profile: &Profile) {
        // `later` holds places of the list, so the list must be in order first.
        self.settle();
        self.profile.clone_from(profile);
        self.later.clear();
        let places = 0..self.waiting.list().len();
        self.later.extend(places.map(|place| Later { place, not_before: now }));
        self.due.clear();
        self.hints.forget();
    }

    /// Requires that all jobs are planned. They keep their places, beside `profile`. Jobs without a planned
    /// start are planned again if `anew`.
    pub(crate) fn keep_places(&mut self, now: Time, profile: Profile, anew: bool) {
        debug_assert!(self.later.is_empty(), "who is not planned has no start");
        self.settle();
        self.profile = profile;
        self.hints.forget();
        for (place, job) in self.waiting.list().iter().enumerate() {
            let &Entry { booked, span, processors, .. } =
                self.entries[job.slot.index()].as_ref().expect("the list has been settled");
            if booked < BEYOND_ALL_LIMITS || !anew {
                self.profile.add(booked, booked + span, processors);
            } else {
                self.later.push(Later { place, not_before: now });
            }
        }
    }

    /// Brings the list of waiting jobs in order.
    fn settle(&mut self) {
        let Gradual { waiting, entries, .. } = self;
        waiting.settle(|entry| entries[entry.slot.index()].is_some_and(|it| it.key == entry.key));
    }

    /// Brings the list of waiting jobs in order if most of its entries have gone.
    pub(crate) fn tidy(&mut self) {
        // `later` holds places of the list, which must not move.
        if self.waiting.most_have_gone() && self.later.is_empty() {
            self.settle();
        }
    }

    /// Plans all waiting jobs.
    pub(crate) fn plan_all(&mut self, now: Time) {
        self.plan_until(Until::Instant(Time::FOREVER), now);
    }

    /// Adds a job, at any place in the order, at its first fit beside the planned jobs.
    pub(crate) fn insert(&mut self, now: Time, mut entry: Entry) -> Time {
        let Entry { processors, span, slot, .. } = entry;
        let from = self.hints.earliest(&self.profile, processors, span, now);
        let start = self
            .profile
            .earliest_or_never(processors, span, from)
            .expect("the provider refuses jobs wider than the machine");
        entry.booked = start;
        self.put(entry);
        self.waiting.insert(entry);
        self.book(start, slot);
        start
    }

    /// Adds a job behind all others; it is planned when a query needs it.
    pub(crate) fn push(&mut self, now: Time, entry: Entry) {
        self.put(entry);
        let place = self.waiting.push(entry);
        self.later.push(Later { place, not_before: now });
    }

    fn put(&mut self, entry: Entry) {
        let index = entry.slot.index();
        if index >= self.entries.len() {
            self.entries.resize(index + 1, None);
        }
        self.entries[index] = Some(entry);
    }

    /// Books a job and makes it due then.
    fn book(&mut self, start: Time, slot: Slot) {
        let entry = self.entries[slot.index()].as_mut().expect("who is planned waits");
        entry.booked = start;
        self.profile.add(start, start + entry.span, entry.processors);
        // A job without a planned start becomes due when it gets one.
        if start < BEYOND_ALL_LIMITS {
            self.due.push(Reverse((start, entry.key, slot)));
        }
    }

    /// A job waits no longer: it starts, or another plan will be made.
    pub(crate) fn remove(&mut self, slot: Slot) -> Option<Entry> {
        let gone = self.entries.get_mut(slot.index())?.take();
        if gone.is_some() {
            self.waiting.one_has_gone();
        }
        gone
    }

    /// Takes a planned job out; the others stay where they are.
    pub(crate) fn take_out(&mut self, slot: Slot) {
        self.remove(slot);
        self.due.retain(|&Reverse((.., other))| other != slot);
    }

    /// Start of the next planned job.
    pub(crate) fn next_start(&self) -> Option<Time> {
        self.due.peek().map(|&Reverse((start, ..))| start)
    }

    /// The next job that is planned to start by `now`. If it does not start, the caller [puts it
    /// back](Gradual::not_yet).
    pub(crate) fn take_due(&mut self, now: Time) -> Option<Due> {
        let &Reverse((start, ..)) = self.due.peek()?;
        let due = (start <= now).then(|| self.due.pop())?;
        due.map(|Reverse(due)| due)
    }

    pub(crate) fn not_yet(&mut self, due: impl IntoIterator<Item = Due>) {
        self.due.extend(due.into_iter().map(Reverse));
    }
}
