//! EASY backfilling: only the head of the queue has a reservation.
//!
//! When the head cannot start, its *shadow time* is the instant at which enough
//! processors are free for it, if every running job ends as planned. The
//! *extra* processors are those free then beyond the head's need. A later job
//! may start now if it ends by the shadow time or needs no more than the extra
//! processors (Lifka 1995; Mu'alem and Feitelson 2001).
//!
//! This rule holds because processors only come back. If maintenance or a part will take some, the head is
//! booked on a copy of the profile. Then a job may start if it fits there during its whole time.

use std::borrow::Cow;
use std::collections::VecDeque;

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::coallocation::KeepsParts;
use crate::fcfs::{store, take};
use crate::index::{Entry, Fits, Index, Key};
use crate::maintenance::OnPlan;
use crate::plan::Plan;
use crate::scheduler::{Killed, LocalScheduler, Request, Slot};
use crate::{Capabilities, Maintaining, Order, Profile};

/// Starts the head of the queue, then any job that does not delay the new head.
///
/// Decisions count the processors that are free by plan. A job planned to end at this very instant counts
/// as ended, even if its end has not been reported yet. A job decided on its processors starts when they
/// are back, within the same instant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Easy {
    order: Order,
    /// Number of jobs behind the head that a pass examines; `None` = all.
    depth: Option<u32>,
    plan: Plan,
    waiting: Index,
    entries: Vec<Option<Entry>>,
    /// Jobs decided to start now that wait for an end of this instant; in order.
    decided: VecDeque<Entry>,
    sequence: u32,
    news: News,
    /// Processors free by plan after the last pass.
    left_free: u32,
}

/// Changes since the last pass, which determine the jobs to examine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum News {
    /// No change: a job that could not start then cannot start now. The shadow time has not moved, and the
    /// time left before it has only shrunk.
    Nothing,
    /// One job has joined behind the head: only that job is examined.
    OneJoined(Entry),
    /// All jobs are examined.
    Everything,
}

impl Easy {
    /// For a machine of `processors`.
    pub fn new(processors: u32, order: Order) -> Easy {
        Easy {
            order,
            depth: None,
            plan: Plan::new(processors),
            waiting: Index::new(processors),
            entries: Vec::new(),
            decided: VecDeque::new(),
            sequence: 0,
            news: News::Nothing,
            left_free: processors,
        }
    }

    /// A pass examines so many jobs behind the head; `None` = all.
    pub fn with_depth(self, depth: Option<u32>) -> Easy {
        Easy { depth, ..self }
    }

    /// The last job that a pass examines behind `head`; `None` if it examines all.
    fn last_examined(&self, head: &Entry) -> Option<Key> {
        let depth = self.depth.filter(|&depth| (depth as usize) < self.waiting.len() - 1)?;
        let any = Fits { processors: u32::MAX, span: Span::FOREVER, any_span_up_to: u32::MAX };
        let mut last = head.key;
        for _ in 0..depth {
            last = self.waiting.next(last, any)?.key;
        }
        Some(last)
    }

    fn decide(&mut self, now: Time, entry: Entry) {
        self.waiting.remove(entry.key, entry.processors);
        self.entries[entry.slot.index()] = None;
        self.plan.profile_mut().add(now, now + entry.span, entry.processors);
        self.decided.push_back(entry);
    }

    /// Puts jobs that were decided but have not started back to their places in the queue.
    fn revoke(&mut self, now: Time) {
        for entry in std::mem::take(&mut self.decided) {
            self.plan.profile_mut().remove(now, now + entry.span, entry.processors);
            store(&mut self.entries, entry);
            self.waiting.insert(entry);
        }
        self.news = News::Everything;
    }

    /// Size of a job that may start now without delaying `head`.
    fn room_beside(&mut self, now: Time, head: &Entry) -> Fits {
        let profile = self.plan.profile_from(now);
        let free = profile.free_at(now);
        let Some(shadow) = profile.earliest_fit(head.processors, head.span, now) else {
            // So many processors have failed that the start of the head is unknown.
            return Fits { processors: free, span: Span::FOREVER, any_span_up_to: free };
        };
        let extra = profile.free_at(shadow) - head.processors;
        Fits { processors: free, span: shadow - now, any_span_up_to: extra.min(free) }
    }

    /// As above, with maintenance or parts ahead: the availability beside the head's reservation.
    fn beside_head(&mut self, now: Time, head: &Entry) -> Profile {
        let mut profile = self.plan.profile_from(now).clone();
        if let Some(shadow) = profile.earliest_fit(head.processors, head.span, now) {
            profile.add(shadow, shadow + head.span, head.processors);
        }
        profile
    }

    /// Returns whether a job that needs at most the free processors may start before `head`.
    fn may_pass(&mut self, now: Time, head: &Entry, entry: &Entry) -> bool {
        if self.plan.promises_ahead() {
            return entry.fits(&self.beside_head(now, head), now);
        }
        let room = self.room_beside(now, head);
        entry.span <= room.span || entry.processors <= room.any_span_up_to
    }

    fn backfill_before_promises(&mut self, now: Time, head: &Entry) {
        let mut profile = self.beside_head(now, head);
        let (mut after, last) = (head.key, self.last_examined(head));
        let widest = profile.capacity();
        while let Some(&next) = self.waiting.next_beside(&profile, now, widest, after)
            && last.is_none_or(|last| next.key <= last)
        {
            after = next.key;
            profile.add(now, now + next.span, next.processors);
            self.decide(now, next);
        }
    }

    fn backfill(&mut self, now: Time, head: &Entry) {
        if self.plan.promises_ahead() {
            return self.backfill_before_promises(now, head);
        }
        let mut room = self.room_beside(now, head);
        let (mut after, last) = (head.key, self.last_examined(head));
        while room.processors > 0 {
            let next = self.waiting.next(after, room).copied();
            let Some(next) = next.filter(|next| last.is_none_or(|last| next.key <= last)) else {
                break;
            };
            self.decide(now, next);
            after = next.key;
            room.processors -= next.processors;
            // A job that ends after the shadow time uses some of the extra processors.
            if next.span > room.span {
                room.any_span_up_to -= next.processors;
            }
            room.any_span_up_to = room.any_span_up_to.min(room.processors);
        }
    }

    fn pass(&mut self, now: Time) {
        let free = self.plan.profile_from(now).free_at(now);
        let news = std::mem::replace(&mut self.news, News::Nothing);
        // A plan that has run out frees processors before the end of its job is reported.
        let news = if free == self.left_free { news } else { News::Everything };
        // A job that joins may lie behind those that a pass examines.
        let news = match news {
            News::OneJoined(_) if self.depth.is_some() => News::Everything,
            news => news,
        };
        let waiting = self.waiting.len();
        match news {
            News::Nothing => {}
            News::OneJoined(entry) if entry.processors > free => {}
            News::OneJoined(entry) => {
                let head = *self.waiting.first().expect("one has joined behind it");
                if self.may_pass(now, &head, &entry) {
                    self.decide(now, entry);
                }
            }
            News::Everything => {
                while let Some(&head) = self.waiting.first() {
                    let free = self.plan.profile_from(now).free_at(now);
                    if head.processors > free || self.plan.runs_into_a_promise(now, &head) {
                        if self.waiting.len() > 1 && free > 0 {
                            self.backfill(now, &head);
                        }
                        break;
                    }
                    self.decide(now, head);
                }
            }
        }
        self.left_free = self.plan.profile_from(now).free_at(now);
        // After a start, the next pass reaches a job further back in the queue.
        if self.depth.is_some() && self.waiting.len() < waiting {
            self.news = News::Everything;
        }
    }
}

impl LocalScheduler for Easy {
    fn submit(&mut self, _now: Time, request: Request) -> Option<Time> {
        let span = request.planned_span();
        let key = self.order.key(&request, span, self.sequence);
        self.sequence += 1;
        let entry = Entry { key, slot: request.slot, processors: request.processors, span };
        let joins_behind = self.waiting.first().is_some_and(|head| head.key < key);
        store(&mut self.entries, entry);
        self.waiting.insert(entry);
        self.news = match self.news {
            News::Nothing if joins_behind => News::OneJoined(entry),
            _ => News::Everything,
        };
        None
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        self.plan.finished(now, slot);
        self.plan.complete_windows(now);
        self.news = News::Everything;
    }

    fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        self.make_way(now, |plan| plan.overran(now, slot, end));
    }

    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        self.make_way(now, |plan| plan.failed(now, processors, killed));
    }

    fn restored(&mut self, now: Time, processors: u32) {
        self.plan.restored(now, processors);
        self.plan.complete_windows(now);
        self.news = News::Everything;
    }

    fn withdraw(&mut self, _now: Time, slot: Slot) -> bool {
        take(&mut self.entries, slot).is_some_and(|entry| {
            self.waiting.remove(entry.key, entry.processors);
            self.news = News::Everything;
            true
        })
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        self.plan.start_fixed(now, started);
        self.pass(now);
        while let Some(&next) = self.decided.front()
            && next.processors <= self.plan.free()
        {
            self.decided.pop_front();
            // The job's time was booked when it was decided.
            self.plan.start(next.slot, next.processors, now + next.span);
            started.push(next.slot);
        }
    }

    fn next_start(&self) -> Option<Time> {
        None
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        // Only the head has a reservation; the conservative plan of the whole queue is the usual guess.
        let mut profile: Profile = self.plan.profile_from(now).clone();
        for entry in self.waiting.sorted() {
            let start = profile.earliest_or_never(entry.processors, entry.span, now)?;
            profile.add(start, start + entry.span, entry.processors);
        }
        profile.earliest_or_never(processors, span.unwrap_or(Span::FOREVER), now)
    }

    fn queue_length(&self) -> usize {
        self.waiting.len() + self.decided.len()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::without_parts("EASY guarantees the start of the first waiting job only")
    }

    fn maintenance(&mut self) -> &mut dyn Maintaining {
        self
    }
}

impl OnPlan for Easy {
    fn plan_mut(&mut self) -> &mut Plan {
        // The plan may change.
        self.news = News::Everything;
        &mut self.plan
    }

    fn make_way(&mut self, now: Time, change: impl FnOnce(&mut Plan)) {
        // Decided jobs may count on the processors that the change takes.
        self.revoke(now);
        change(&mut self.plan);
    }
}

/// The reservation of the head is promised: a part takes only time that the head does not need then. Jobs
/// behind the head may start later because of a part.
impl KeepsParts for Easy {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn next_number(&mut self) -> u32 {
        self.sequence += 1;
        self.sequence - 1
    }

    fn offered(&mut self, now: Time) -> Cow<'_, Profile> {
        match self.waiting.first().copied() {
            Some(head) => Cow::Owned(self.beside_head(now, &head)),
            None => Cow::Borrowed(self.plan.profile_from(now)),
        }
    }
}
