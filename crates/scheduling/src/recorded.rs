//! As recorded: each job starts at the time that its log has recorded, if its processors are free then.
//!
//! ```text
//!   submitted ──▶ coming ── recorded start ──▶ due ── processors are free ──▶ runs
//!       │                                       ▲
//!       └── no recorded start ──────────────────┘  behind the jobs that have one
//! ```
//!
//! A job whose processors are not free at its recorded start stays due. It keeps no processors free, so that
//! one conflict does not delay the jobs behind it.

use std::collections::BTreeMap;

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::fcfs::{store, take};
use crate::index::{Entry, FIRST, Fits, Index, Key};
use crate::maintenance::OnPlan;
use crate::plan::Plan;
use crate::scheduler::{Killed, LocalScheduler, Request, Slot};
use crate::{Capabilities, Maintaining};

/// Starts jobs at their recorded starts. Due jobs start in the order of these; a later one passes if it fits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recorded {
    plan: Plan,
    /// Jobs whose recorded start is to come, in its order.
    coming: BTreeMap<Key, Entry>,
    /// Jobs that start as soon as their processors are free, in this order.
    due: Index,
    /// Width and key of each waiting job, by slot.
    entries: Vec<Option<Entry>>,
    sequence: u32,
    /// Jobs that have become due since the last pass.
    fresh: Vec<Entry>,
    /// True if processors may have come free since the last pass. Otherwise, only fresh jobs can start.
    has_room: bool,
}

/// Place of a job among due ones: lost jobs first, then recorded starts, then jobs without one.
fn key(request: &Request, sequence: u32) -> Key {
    match request.recorded {
        _ if request.ahead => (0, 0, sequence),
        Some(start) => (RECORDED, start.as_micros(), sequence),
        None => (2, 0, sequence),
    }
}

/// Kind of place of a job with a recorded start.
const RECORDED: i64 = 1;

/// The time before which a job does not start.
fn recorded(entry: &Entry) -> Option<Time> {
    let (kind, start, _) = entry.key;
    (kind == RECORDED).then_some(Time::from_micros(start))
}

impl Recorded {
    /// For a machine of `processors`.
    pub fn new(processors: u32) -> Recorded {
        Recorded {
            plan: Plan::new(processors),
            coming: BTreeMap::new(),
            due: Index::new(processors),
            entries: Vec::new(),
            sequence: 0,
            fresh: Vec::new(),
            has_room: false,
        }
    }

    fn become_due(&mut self, entry: Entry) {
        self.due.insert(entry);
        self.fresh.push(entry);
    }

    /// Moves the jobs whose recorded starts have come to the due ones.
    fn catch_up(&mut self, now: Time) {
        while let Some(first) = self.coming.first_entry()
            && recorded(first.get()) <= Some(now)
        {
            let entry = first.remove();
            self.become_due(entry);
        }
    }

    fn start(&mut self, now: Time, entry: &Entry) {
        self.due.remove(entry.key, entry.processors);
        self.entries[entry.slot.index()] = None;
        self.plan.book_and_start(now, entry.slot, entry.processors, now + entry.span);
    }

    /// The first due job behind `after` that can start now, and does not run into maintenance.
    fn next(&mut self, now: Time, after: Key) -> Option<Entry> {
        let free = self.plan.free();
        if self.plan.promises_ahead() {
            return self.due.next_beside(self.plan.profile_from(now), now, free, after).copied();
        }
        let fits = Fits { processors: free, span: Span::FOREVER, any_span_up_to: free };
        self.due.next(after, fits).copied()
    }
}

impl LocalScheduler for Recorded {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        let Request { slot, processors, .. } = request;
        let (key, span) = (key(&request, self.sequence), request.planned_span());
        self.sequence += 1;
        let entry = Entry { key, slot, processors, span };
        store(&mut self.entries, entry);
        match recorded(&entry) {
            Some(start) if start > now => drop(self.coming.insert(key, entry)),
            _ => self.become_due(entry),
        }
        None
    }

    fn sort(&self, together: &mut [Request]) {
        together.sort_by_key(|request| key(request, 0));
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        let plan = self.plan_mut();
        plan.finished(now, slot);
        plan.complete_windows(now);
    }

    fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        self.make_way(now, |plan| plan.overran(now, slot, end));
    }

    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        self.make_way(now, |plan| plan.failed(now, processors, killed));
    }

    fn restored(&mut self, now: Time, processors: u32) {
        let plan = self.plan_mut();
        plan.restored(now, processors);
        plan.complete_windows(now);
    }

    fn withdraw(&mut self, _now: Time, slot: Slot) -> bool {
        take(&mut self.entries, slot).is_some_and(|entry| {
            if self.coming.remove(&entry.key).is_none() {
                self.due.remove(entry.key, entry.processors);
                self.fresh.retain(|fresh| fresh.slot != slot);
            }
            true
        })
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        self.catch_up(now);
        let mut fresh = std::mem::take(&mut self.fresh);
        if std::mem::take(&mut self.has_room) {
            // Each start takes room, so no job before it can start any more.
            let mut after = FIRST;
            while let Some(next) = self.next(now, after) {
                self.start(now, &next);
                started.push(next.slot);
                after = next.key;
            }
            return;
        }
        fresh.sort_unstable_by_key(|entry| entry.key);
        for entry in fresh {
            let waits = entry.processors > self.plan.free();
            if !waits && !self.plan.runs_into_a_promise(now, &entry) {
                self.start(now, &entry);
                started.push(entry.slot);
            }
        }
    }

    /// The next recorded start. Due jobs wait for the end of a job.
    fn next_start(&self) -> Option<Time> {
        recorded(self.coming.first_key_value()?.1)
    }

    /// By the plan of all waiting jobs, each at its first fit from its recorded start on.
    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        let mut profile = self.plan.profile_from(now).clone();
        for entry in self.due.sorted().iter().chain(self.coming.values()) {
            let from = recorded(entry).map_or(now, |start| start.max(now));
            let start = profile.earliest_or_never(entry.processors, entry.span, from)?;
            profile.add(start, start + entry.span, entry.processors);
        }
        profile.earliest_or_never(processors, span.unwrap_or(Span::FOREVER), now)
    }

    fn queue_length(&self) -> usize {
        self.due.len() + self.coming.len()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::only_maintenance(
            "each job starts when its log says, whatever else is planned",
        )
    }

    fn maintenance(&mut self) -> &mut dyn Maintaining {
        self
    }
}

impl OnPlan for Recorded {
    fn plan_mut(&mut self) -> &mut Plan {
        // The plan may change.
        self.has_room = true;
        &mut self.plan
    }
}
