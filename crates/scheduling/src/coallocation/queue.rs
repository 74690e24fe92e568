//! The queue of a provider that accepts parts of jobs and advance reservations, beside jobs of its own.

use std::collections::BTreeSet;

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::keeping::KeepsParts;
use super::{FreeTimes, Parts, Stretch};
use crate::bags::Bargainer;
use crate::reservations::Granting;
use crate::scheduler::{BEYOND_ALL_LIMITS, Killed, LocalQueue, LocalScheduler, Request, Slot};
use crate::{Capabilities, Interval, Maintaining, Profile, Reserving};

/// A queue of jobs around parts and reservations, which keep their places.
///
/// Jobs move up to returned time when [`Parts::compress`] is called. The provider calls it after all ends of
/// an instant, before parts are asked to move, and again when these have moved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CoallocationQueue<Q> {
    pub(super) queue: Q,
    /// The course of offered processors at the last [`Parts::take_changed`].
    known: Profile,
    /// Waiting parts that are jobs of their own here, and waiting reservations. They may move up.
    pub(super) single: BTreeSet<Slot>,
    /// True if processors have been given back since the last of them moved up.
    pub(super) given_back: bool,
}

/// An empty queue, around parts.
pub(crate) fn around_parts(processors: u32, queue: LocalQueue) -> LocalQueue {
    match queue {
        LocalQueue::Fcfs(queue) => LocalQueue::FcfsAndParts(around(processors, queue)),
        LocalQueue::Easy(queue) => LocalQueue::EasyAndParts(around(processors, queue)),
        LocalQueue::Conservative(queue) => {
            LocalQueue::ConservativeAndParts(around(processors, queue.deferring()))
        }
        LocalQueue::Replan(queue) => LocalQueue::ReplanAndParts(around(processors, queue)),
        LocalQueue::Edf(queue) => LocalQueue::EdfAndParts(around(processors, queue)),
        LocalQueue::Bags(queue) => LocalQueue::BagsAndParts(around(processors, queue)),
        // These keep parts already, move all work for their own reservations, or plan nothing.
        LocalQueue::FcfsAndParts(_)
        | LocalQueue::EasyAndParts(_)
        | LocalQueue::ConservativeAndParts(_)
        | LocalQueue::ReplanAndParts(_)
        | LocalQueue::EdfAndParts(_)
        | LocalQueue::BagsAndParts(_)
        | LocalQueue::Reservations(_)
        | LocalQueue::Recorded(_)
        | LocalQueue::Nodes(_) => queue,
    }
}

fn around<Q>(processors: u32, queue: Q) -> CoallocationQueue<Q> {
    let known = Profile::new(processors);
    CoallocationQueue { queue, known, single: BTreeSet::new(), given_back: false }
}

/// Steps of several services.
trait Keeping {
    /// Offered processors between two times, and `more`.
    fn stretch(&mut self, now: Time, from: Time, until: Time, more: u32) -> Stretch;

    /// Gives the rest of an interval back.
    fn give_back(&mut self, now: Time, interval: Interval);

    /// Moves a part to a place that is free once its own is given back.
    fn move_part(&mut self, now: Time, slot: Slot, to: Interval);

    /// Each part that is a job of its own moves to the first start that is offered, in the order of starts.
    fn move_single_parts_up(&mut self, now: Time);
}

impl<Q: KeepsParts> Keeping for CoallocationQueue<Q> {
    fn stretch(&mut self, now: Time, from: Time, until: Time, more: u32) -> Stretch {
        let from = from.max(now);
        if from >= until {
            return Stretch::default();
        }
        let offered = self.queue.offered(now);
        let steps = offered.steps_from(from).map(|(start, free)| (start.max(from), free + more));
        // A time behind jobs without a limit is as good as never.
        let during = steps.take_while(|&(start, _)| start < until.min(BEYOND_ALL_LIMITS));
        Stretch::new(during.collect(), until).expect("steps of a profile ascend")
    }

    fn give_back(&mut self, now: Time, interval: Interval) {
        self.given_back = true;
        self.queue.give_back(now, interval);
    }

    fn move_part(&mut self, now: Time, slot: Slot, to: Interval) {
        if let Some(from) = self.queue.plan_mut().move_fixed(now, slot, to) {
            self.give_back(now, from);
        }
    }

    fn move_single_parts_up(&mut self, now: Time) {
        if !std::mem::take(&mut self.given_back) || self.single.is_empty() {
            return;
        }
        let place = |&slot: &Slot| Some((self.queue.plan().fixed(slot)?, slot));
        let mut parts = Vec::from_iter(self.single.iter().filter_map(place));
        parts.sort_by_key(|&(place, slot)| (place.start, slot));
        let mut offered = self.queue.offered(now).into_owned();
        let mut moved = Vec::new();
        for (place, slot) in parts {
            let Interval { start, span, processors } = place;
            offered.remove(start.max(now), place.end(), processors);
            let request = self.queue.plan().reserved(slot);
            let from = request.map_or(now, |request| request.window.earliest(now));
            let first = offered.earliest_or_never(processors, span, from);
            let to = Interval { start: first.map_or(start, |first| first.min(start)), ..place };
            offered.add(to.start, to.end(), processors);
            if to.start < start {
                moved.push((slot, to));
            }
        }
        for (slot, to) in moved {
            self.move_part(now, slot, to);
        }
        // The next parts move up to the time that these have left, when more is given back.
        self.given_back = false;
    }
}

impl<Q: KeepsParts> Parts for CoallocationQueue<Q> {
    fn free_times(&mut self, now: Time, without: Option<Slot>) -> FreeTimes {
        let mut profile = self.queue.offered(now).into_owned();
        if let Some(part) = without.and_then(|it| self.planned(it)) {
            profile.remove(part.start.max(now), part.end(), part.processors);
        }
        // A time behind jobs without a limit is as good as never.
        let steps = profile.steps_from(now).map(|(start, free)| (start.max(now), free));
        FreeTimes::new(steps.filter(|&(start, _)| start < BEYOND_ALL_LIMITS).collect())
            .expect("steps of a profile ascend")
    }

    fn take_changed(&mut self, now: Time) -> Option<(Time, Time)> {
        self.queue.take_changed(now, &mut self.known)
    }

    fn free_during(&mut self, now: Time, from: Time, until: Time) -> Stretch {
        self.stretch(now, from, until, 0)
    }

    fn free_around(&mut self, now: Time, part: Slot) -> Stretch {
        let Some(part) = self.planned(part) else { return Stretch::default() };
        self.stretch(now, part.start, part.end(), part.processors)
    }

    fn free_for_ever(&mut self, now: Time) -> u32 {
        self.queue.offered(now).min_free(now, Time::FOREVER)
    }

    fn is_idle(&mut self, now: Time) -> bool {
        self.queue.offered(now).free_at(now) > 0
    }

    fn hold(&mut self, now: Time, slot: Slot, part: Interval) -> bool {
        let has_room = now <= part.start
            && Span::ZERO < part.span
            && part.processors <= self.queue.offered(now).min_free(part.start, part.end());
        if has_room {
            let number = self.queue.next_number();
            self.queue.take_offered(|copy| copy.add(part.start, part.end(), part.processors));
            self.queue.plan_mut().fix(slot, part, number);
        }
        has_room
    }

    fn planned(&self, slot: Slot) -> Option<Interval> {
        self.queue.plan().fixed(slot)
    }

    fn prepare(&mut self, now: Time, slot: Slot, to: Interval) -> bool {
        if to.start < now || to.span <= Span::ZERO {
            return false;
        }
        let extra = self.queue.plan().needed_to_move(slot, to);
        let Some(extra) = extra.filter(|extra| extra.fits(now, &self.queue.offered(now))) else {
            return false;
        };
        self.queue.take_offered(|copy| extra.book(now, copy));
        self.queue.plan_mut().begin_move(now, slot, to, extra);
        true
    }

    fn settle(&mut self, now: Time, slot: Slot) -> bool {
        let Some(to) = self.queue.plan_mut().end_move(now, slot) else { return false };
        if to.start < now {
            self.give_back(now, to);
            return false;
        }
        self.move_part(now, slot, to);
        true
    }

    fn abandon(&mut self, now: Time, slot: Slot) -> bool {
        let dropped = self.queue.plan_mut().end_move(now, slot);
        if let Some(to) = dropped {
            self.give_back(now, to);
        }
        dropped.is_some()
    }

    fn earliest(&mut self, now: Time, from: Time, processors: u32, span: Span) -> Option<Time> {
        self.queue.offered(now).earliest_fit(processors, span, from.max(now))
    }

    fn fits(&mut self, now: Time, from: Time, processors: u32, span: Span) -> bool {
        let from = from.max(now);
        let found = self.queue.offered(now).earliest_fit_by(processors, span, from, from);
        found == Some(from)
    }

    fn shorten(&mut self, now: Time, slot: Slot, end: Time) {
        if let Some(part) = self.queue.plan_mut().unfix(now, slot) {
            self.give_back(now, part);
            let start = part.start.max(now);
            let number = self.queue.next_number();
            let shorter = Interval { start, span: end - start, ..part };
            self.queue.plan_mut().fix(slot, shorter, number);
        } else {
            let run = self.queue.plan_mut().shorten(now, slot, end);
            self.given_back = true;
            let from = end.min(run.planned_end);
            self.queue.given_back(from, run.planned_end, run.processors);
        }
    }

    fn catch_up(&mut self, now: Time, parts: &[Slot]) {
        let is_late = |part: Interval| part.start < now || part.start >= BEYOND_ALL_LIMITS;
        let late = parts
            .iter()
            .filter_map(|&slot| Some((self.planned(slot).filter(|&it| is_late(it))?.start, slot)));
        let mut late = Vec::from_iter(late);
        late.sort_unstable();
        if !late.is_empty() {
            let numbered = late.into_iter().map(|(_, slot)| (slot, self.queue.next_number()));
            let numbered = Vec::from_iter(numbered);
            self.queue.make_way(now, |plan| plan.postpone(now, &numbered));
        }
    }

    fn turn_into_job(&mut self, request: Request) {
        let slot = request.slot;
        if self.planned(slot).is_some() {
            if !self.queue.join(request) {
                self.single.insert(slot);
            }
            self.given_back = true;
        }
    }

    fn take_displaced(&mut self, displaced: &mut Vec<Slot>) {
        let before = displaced.len();
        self.queue.plan_mut().take_displaced(displaced);
        displaced[before..].iter().for_each(|slot| {
            self.single.remove(slot);
        });
    }

    fn compress(&mut self, now: Time) {
        self.queue.jobs_move_up(now);
        self.move_single_parts_up(now);
    }
}

impl<Q: KeepsParts> LocalScheduler for CoallocationQueue<Q> {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        // A job ahead of the queue may leave time to parts that was promised to others.
        self.given_back |= request.ahead;
        self.queue.submit(now, request)
    }

    fn sort(&self, together: &mut [Request]) {
        self.queue.sort(together);
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        self.given_back = true;
        self.queue.finished(now, slot);
    }

    fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        // Displaced parts leave their time to others.
        self.given_back = true;
        self.queue.overran(now, slot, end);
    }

    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        self.given_back = true;
        self.queue.failed(now, processors, killed);
    }

    fn restored(&mut self, now: Time, processors: u32) {
        self.given_back = true;
        self.queue.restored(now, processors);
    }

    fn withdraw(&mut self, now: Time, slot: Slot) -> bool {
        self.abandon(now, slot);
        self.given_back = true;
        if self.planned(slot).is_none() {
            return self.queue.withdraw(now, slot);
        }
        self.single.remove(&slot);
        if let Some(part) = self.queue.plan_mut().unfix(now, slot) {
            self.give_back(now, part);
        }
        true
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        // A part that is due starts at its own place, so the place kept for a move is given back.
        for slot in self.queue.plan().moves_due(now) {
            self.abandon(now, slot);
        }
        let before = started.len();
        self.queue.start_due(now, started);
        started[before..].iter().for_each(|slot| {
            self.single.remove(slot);
        });
    }

    fn next_start(&self) -> Option<Time> {
        let starts = [self.queue.next_start(), self.queue.plan().next_fixed()];
        starts.into_iter().flatten().min()
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        self.queue.estimate_start(now, processors, span)
    }

    fn queue_length(&self) -> usize {
        self.queue.queue_length() + self.single.len()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { parts: Ok(()), windows: Ok(()), ..self.queue.capabilities() }
    }

    fn submit_after(&mut self, now: Time, request: Request, ready: Time) -> Option<Time> {
        self.given_back |= request.ahead;
        self.queue.jobs_move_up_if_due(now);
        self.queue.submit_after(now, request, ready)
    }

    fn starts(&mut self) -> &mut dyn Reserving {
        self
    }

    fn bags(&mut self) -> &mut dyn Bargainer {
        self.given_back = true;
        self.queue.bags()
    }

    fn windows(&mut self) -> &mut dyn Granting {
        self
    }

    fn parts(&mut self) -> &mut dyn Parts {
        self
    }

    fn maintenance(&mut self) -> &mut dyn Maintaining {
        self.given_back = true;
        self.queue.maintenance()
    }
}

/// Parts take offered time only, so a job keeps its reservation beside them. Waiting jobs move up before an
/// answer, because returned time that they will use is not free for another job.
impl<Q: KeepsParts> Reserving for CoallocationQueue<Q> {
    fn planned_start(&mut self, now: Time, slot: Slot) -> Option<Time> {
        self.queue.jobs_move_up_if_due(now);
        self.queue.starts().planned_start(now, slot)
    }

    fn estimate_after(
        &mut self,
        now: Time,
        processors: u32,
        span: Option<Span>,
        ready: Time,
    ) -> Option<Time> {
        self.queue.jobs_move_up_if_due(now);
        self.queue.starts().estimate_after(now, processors, span, ready)
    }

    fn withdraw_all(&mut self, now: Time, slots: &[Slot]) {
        self.given_back = true;
        self.queue.starts().withdraw_all(now, slots);
    }
}
