//! First come, first served: no job passes one that stands before it.

use std::borrow::Cow;

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::capabilities::Refusing;
use crate::coallocation::KeepsParts;
use crate::index::{Entry, Index};
use crate::maintenance::OnPlan;
use crate::not_before::NotBefore;
use crate::plan::Plan;
use crate::reserving::Reserving;
use crate::scheduler::{Killed, LocalScheduler, Request, Slot};
use crate::{Capabilities, Maintaining, Order, Profile};

/// Starts the head of the queue as soon as its processors are free.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fcfs {
    order: Order,
    plan: Plan,
    waiting: Index,
    /// Earliest starts of jobs; a head that cannot start yet keeps the others from starting.
    not_before: NotBefore,
    /// Width and key of each waiting job, by slot.
    entries: Vec<Option<Entry>>,
    sequence: u32,
    /// Starts of the queue's jobs, from the last query; valid while jobs only join the end.
    foreseen: Option<Foreseen>,
}

/// The queue as it will run if all jobs run as booked.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Foreseen {
    profile: Profile,
    /// When the last job of the queue starts.
    last: Time,
    /// By slot.
    starts: Vec<Time>,
}

impl Foreseen {
    /// The start of one more job that may start from `from` on.
    fn start(&self, from: Time, processors: u32, span: Span) -> Option<Time> {
        self.profile.earliest_or_never(processors, span, self.last.max(from))
    }

    /// Adds one more job behind all others, which may start from `from` on.
    fn join(&mut self, from: Time, entry: &Entry) {
        let start = self.start(from, entry.processors, entry.span).unwrap_or(Time::FOREVER);
        self.profile.add(start, start + entry.span, entry.processors);
        self.last = start;
        let index = entry.slot.index();
        if index >= self.starts.len() {
            self.starts.resize(index + 1, Time::FOREVER);
        }
        self.starts[index] = start;
    }
}

impl Fcfs {
    /// For a machine of `processors`.
    pub fn new(processors: u32, order: Order) -> Fcfs {
        Fcfs {
            order,
            plan: Plan::new(processors),
            waiting: Index::new(processors),
            not_before: NotBefore::default(),
            entries: Vec::new(),
            sequence: 0,
            foreseen: None,
        }
    }

    fn foreseen(&mut self, now: Time) -> &Foreseen {
        let Fcfs { plan, waiting, not_before, foreseen, .. } = self;
        foreseen.get_or_insert_with(|| {
            let profile = plan.profile_from(now).clone();
            let mut queue = Foreseen { profile, last: now, starts: Vec::new() };
            for entry in waiting.sorted() {
                queue.join(not_before.from(now, entry.slot), &entry);
            }
            queue
        })
    }
}

impl LocalScheduler for Fcfs {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        self.submit_after(now, request, now)
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        self.foreseen = None;
        self.plan.finished(now, slot);
        self.plan.complete_windows(now);
    }

    fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        self.make_way(now, |plan| plan.overran(now, slot, end));
    }

    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        self.make_way(now, |plan| plan.failed(now, processors, killed));
    }

    fn restored(&mut self, now: Time, processors: u32) {
        self.foreseen = None;
        self.plan.restored(now, processors);
        self.plan.complete_windows(now);
    }

    fn withdraw(&mut self, _now: Time, slot: Slot) -> bool {
        take(&mut self.entries, slot).is_some_and(|entry| {
            self.foreseen = None;
            self.not_before.forget(slot);
            self.waiting.remove(entry.key, entry.processors);
            true
        })
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        self.plan.start_fixed(now, started);
        // One ended job may make room for several, hence the loop.
        while let Some(&head) = self.waiting.first() {
            if self.not_before.from(now, head.slot) > now {
                break;
            }
            // The head waits for processors only now: `next_start` must not return its earliest start.
            self.not_before.forget(head.slot);
            if head.processors > self.plan.free() || self.plan.runs_into_a_promise(now, &head) {
                break;
            }
            self.foreseen = None;
            self.waiting.remove(head.key, head.processors);
            self.entries[head.slot.index()] = None;
            self.plan.book_and_start(now, head.slot, head.processors, now + head.span);
            started.push(head.slot);
        }
    }

    /// The next pass follows the end of a job, unless the head of the queue waits for its earliest start.
    fn next_start(&self) -> Option<Time> {
        self.not_before.get(self.waiting.first()?.slot)
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        self.foreseen(now).start(now, processors, span.unwrap_or(Span::FOREVER))
    }

    fn queue_length(&self) -> usize {
        self.waiting.len()
    }

    fn submit_after(&mut self, now: Time, request: Request, ready: Time) -> Option<Time> {
        let span = request.planned_span();
        let key = self.order.key(&request, span, self.sequence);
        self.sequence += 1;
        let entry = Entry { key, slot: request.slot, processors: request.processors, span };
        store(&mut self.entries, entry);
        self.not_before.set(now, entry.slot, ready);
        self.waiting.insert(entry);
        // The foreseen starts hold only if the job joins the end of the queue.
        if self.order != Order::Arrival || request.ahead {
            self.foreseen = None;
        }
        if let Some(queue) = &mut self.foreseen {
            queue.join(ready.max(now), &entry);
        }
        None
    }

    fn capabilities(&self) -> Capabilities {
        let none = Capabilities::without_parts("no job starts before the jobs ahead of it");
        match self.order {
            Order::Arrival => Capabilities { starts: Ok(()), ..none },
            _ => Capabilities { starts: Err("a later job may go ahead of a waiting one"), ..none },
        }
    }

    fn starts(&mut self) -> &mut dyn Reserving {
        match self.order {
            Order::Arrival => self,
            _ => Refusing::all(),
        }
    }

    fn maintenance(&mut self) -> &mut dyn Maintaining {
        self
    }
}

impl OnPlan for Fcfs {
    fn plan_mut(&mut self) -> &mut Plan {
        // The plan may change.
        self.foreseen = None;
        &mut self.plan
    }
}

/// The planned starts of all waiting jobs are promised: a part takes only time that no job needs then. So in
/// the order of arrival, no part makes a job start later. A head that would run into a part waits, and with it
/// all others.
impl KeepsParts for Fcfs {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn next_number(&mut self) -> u32 {
        self.sequence += 1;
        self.sequence - 1
    }

    fn offered(&mut self, now: Time) -> Cow<'_, Profile> {
        Cow::Borrowed(&self.foreseen(now).profile)
    }
}

impl Reserving for Fcfs {
    fn planned_start(&mut self, now: Time, slot: Slot) -> Option<Time> {
        self.entries.get(slot.index())?.as_ref()?;
        Some(self.foreseen(now).starts[slot.index()])
    }

    fn estimate_after(
        &mut self,
        now: Time,
        processors: u32,
        span: Option<Span>,
        ready: Time,
    ) -> Option<Time> {
        let from = ready.max(now);
        self.foreseen(now).start(from, processors, span.unwrap_or(Span::FOREVER))
    }

    fn withdraw_all(&mut self, now: Time, slots: &[Slot]) {
        for &slot in slots {
            self.withdraw(now, slot);
        }
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
