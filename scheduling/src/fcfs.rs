//! First come, first served: no job passes one that stands before it.

use haggle_model::{Span, Time};

use crate::index::{Entry, Index};
use crate::plan::Plan;
use crate::scheduler::{Killed, LocalScheduler, Request, Slot};
use crate::{Order, Profile};

/// Starts the head of the queue as soon as its processors are free.
#[derive(Debug)]
pub struct Fcfs {
    order: Order,
    plan: Plan,
    waiting: Index,
    /// Width and key of each waiting job, by slot.
    entries: Vec<Option<Entry>>,
    sequence: u32,
}

impl Fcfs {
    /// For a machine of `processors`.
    pub fn new(processors: u32, order: Order) -> Fcfs {
        Fcfs {
            order,
            plan: Plan::new(processors),
            waiting: Index::new(processors),
            entries: Vec::new(),
            sequence: 0,
        }
    }
}

impl LocalScheduler for Fcfs {
    fn submit(&mut self, _now: Time, request: Request) -> Option<Time> {
        let span = request.planned_span();
        let key = self.order.key(&request, span, self.sequence);
        self.sequence += 1;
        let entry = Entry { key, slot: request.slot, processors: request.processors, span };
        store(&mut self.entries, entry);
        self.waiting.insert(entry);
        None
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        self.plan.finished(now, slot);
    }

    fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        self.plan.overran(now, slot, end);
    }

    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        self.plan.failed(now, processors, killed);
    }

    fn restored(&mut self, now: Time, processors: u32) {
        self.plan.restored(now, processors);
    }

    fn withdraw(&mut self, _now: Time, slot: Slot) -> bool {
        take(&mut self.entries, slot).is_some_and(|entry| {
            self.waiting.remove(entry.key, entry.processors);
            true
        })
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        // One ended job may make room for several, hence the loop.
        while let Some(&head) = self.waiting.first() {
            if head.processors > self.plan.free() {
                break;
            }
            self.waiting.remove(head.key, head.processors);
            self.entries[head.slot.index()] = None;
            self.plan.book_and_start(now, head.slot, head.processors, now + head.span);
            started.push(head.slot);
        }
    }

    fn next_start(&self) -> Option<Time> {
        None
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        let mut profile: Profile = self.plan.profile_from(now).clone();
        let mut earliest = now;
        for entry in self.waiting.sorted() {
            earliest = profile.earliest_or_never(entry.processors, entry.span, earliest)?;
            profile.add(earliest, earliest + entry.span, entry.processors);
        }
        profile.earliest_or_never(processors, span.unwrap_or(Span::FOREVER), earliest)
    }

    fn queue_length(&self) -> usize {
        self.waiting.len()
    }
}

/// Files `entry` under its slot.
pub(crate) fn store(entries: &mut Vec<Option<Entry>>, entry: Entry) {
    let index = entry.slot.index();
    if index >= entries.len() {
        entries.resize(index + 1, None);
    }
    entries[index] = Some(entry);
}

/// Takes the entry of `slot` out, if it has one.
pub(crate) fn take(entries: &mut [Option<Entry>], slot: Slot) -> Option<Entry> {
    entries.get_mut(slot.index()).and_then(Option::take)
}
