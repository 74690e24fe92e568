//! The queue of a provider that accepts parts of jobs, beside jobs of its own.

use std::collections::BTreeMap;

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use super::{FreeTimes, Parts, Stretch};
use crate::plan::Plan;
use crate::plan::extra::Extra;
use crate::scheduler::{BEYOND_ALL_LIMITS, Killed, LocalScheduler, Request, SchedulerConfig, Slot};
use crate::{Capabilities, Compression, Conservative, Interval, Maintaining, Reserving};

/// Conservative backfilling of jobs around parts, which keep their places.
///
/// Jobs move up to returned time when [`Parts::compress`] is called. The provider calls it after all ends of
/// an instant, before parts are asked to move, and again when these have moved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CoallocationQueue {
    queue: Conservative,
    /// New places of parts that are about to move, and the processors kept for them.
    prepared: BTreeMap<Slot, (Interval, Extra)>,
    /// Parts that have lost their places.
    displaced: Vec<Slot>,
}

impl CoallocationQueue {
    /// For a machine of `processors`, with the order and the compression of `config`.
    ///
    /// # Panics
    /// With [`Compression::Replan`], which keeps no booking where it is.
    pub fn new(processors: u32, config: SchedulerConfig) -> CoallocationQueue {
        assert_ne!(config.compression, Compression::Replan, "bookings stay");
        let queue = Conservative::new(processors, config.order, config.compression).deferring();
        CoallocationQueue { queue, prepared: BTreeMap::new(), displaced: Vec::new() }
    }

    fn stretch(&mut self, now: Time, from: Time, until: Time, more: u32) -> Stretch {
        let from = from.max(now);
        if from >= until {
            return Stretch::default();
        }
        let steps = self.queue.profile_from(now).steps_from(from);
        let steps = steps.map(|(start, free)| (start.max(from), free + more));
        // A time behind jobs without a limit is as good as never.
        let during = steps.take_while(|&(start, _)| start < until.min(BEYOND_ALL_LIMITS));
        Stretch::new(during.collect(), until).expect("steps of a profile ascend")
    }

    /// Lets waiting jobs try the place of a move that is not made.
    fn gives_back(&mut self, now: Time, to: Interval) {
        self.queue.has_given_back(to.start.max(now), to.end(), to.processors);
    }

    /// Makes an unforeseen change of the machine, which may displace parts.
    fn change(&mut self, now: Time, change: impl FnOnce(&mut Plan)) {
        let CoallocationQueue { queue, prepared, displaced } = self;
        let moves = |slot| prepared.get(&slot).map(|&(_, extra)| extra);
        let lost = queue.change_around_fixed(now, moves, change);
        for slot in lost {
            prepared.remove(&slot);
            displaced.push(slot);
        }
    }

    /// Gives back the processors kept for a move.
    fn release(&mut self, now: Time, slot: Slot) -> Option<Interval> {
        let (to, extra) = self.prepared.remove(&slot)?;
        self.queue.profile_from(now);
        extra.release(now, self.queue.profile_mut());
        Some(to)
    }
}

impl Parts for CoallocationQueue {
    fn free_times(&mut self, now: Time, without: Option<Slot>) -> FreeTimes {
        let mut profile = self.queue.profile_from(now).clone();
        if let Some(Interval { start, span, processors }) = without.and_then(|it| self.planned(it))
        {
            profile.remove(start.max(now), start + span, processors);
        }
        // A time behind jobs without a limit is as good as never.
        let steps = profile.steps_from(now).map(|(start, free)| (start.max(now), free));
        FreeTimes::new(steps.filter(|&(start, _)| start < BEYOND_ALL_LIMITS).collect())
            .expect("steps of a profile ascend")
    }

    fn take_changed(&mut self) -> Option<(Time, Time)> {
        self.queue.take_changed()
    }

    fn free_during(&mut self, now: Time, from: Time, until: Time) -> Stretch {
        self.stretch(now, from, until, 0)
    }

    fn free_around(&mut self, now: Time, part: Slot) -> Stretch {
        let Some(part) = self.planned(part) else { return Stretch::default() };
        self.stretch(now, part.start, part.end(), part.processors)
    }

    fn free_for_ever(&mut self, now: Time) -> u32 {
        self.queue.profile_from(now).min_free(now, Time::FOREVER)
    }

    fn is_idle(&mut self, now: Time) -> bool {
        self.queue.profile_from(now).free_at(now) > 0
    }

    fn hold(&mut self, now: Time, slot: Slot, part: Interval) -> bool {
        let profile = self.queue.profile_from(now);
        let has_room = now <= part.start
            && Span::ZERO < part.span
            && part.processors <= profile.min_free(part.start, part.end());
        if has_room {
            self.queue.fix(slot, part);
        }
        has_room
    }

    fn planned(&self, slot: Slot) -> Option<Interval> {
        self.queue.fixed(slot)
    }

    fn prepare(&mut self, now: Time, slot: Slot, to: Interval) -> bool {
        let Some(from) = self.planned(slot).filter(|_| now <= to.start && Span::ZERO < to.span)
        else {
            return false;
        };
        let extra = Extra::new(from, to);
        self.queue.profile_from(now);
        let is_kept =
            !self.prepared.contains_key(&slot) && extra.book_if_free(now, self.queue.profile_mut());
        if is_kept {
            self.prepared.insert(slot, (to, extra));
        }
        is_kept
    }

    fn settle(&mut self, now: Time, slot: Slot) -> bool {
        let Some(to) = self.release(now, slot) else { return false };
        if to.start < now {
            self.gives_back(now, to);
            return false;
        }
        self.queue.fix_anew(now, slot, to);
        true
    }

    fn abandon(&mut self, now: Time, slot: Slot) -> bool {
        let dropped = self.release(now, slot);
        if let Some(to) = dropped {
            self.gives_back(now, to);
        }
        dropped.is_some()
    }

    fn earliest(&mut self, now: Time, from: Time, processors: u32, span: Span) -> Option<Time> {
        self.queue.profile_from(now).earliest_fit(processors, span, from.max(now))
    }

    fn fits(&mut self, now: Time, from: Time, processors: u32, span: Span) -> bool {
        let from = from.max(now);
        let found = self.queue.profile_from(now).earliest_fit_by(processors, span, from, from);
        found == Some(from)
    }

    fn shorten(&mut self, now: Time, slot: Slot, end: Time) {
        match self.planned(slot) {
            Some(part) => {
                self.queue.withdraw(now, slot);
                let start = part.start.max(now);
                self.queue.fix(slot, Interval { start, span: end - start, ..part });
            }
            None => self.queue.shorten(now, slot, end),
        }
    }

    fn catch_up(&mut self, now: Time, parts: &[Slot]) {
        let is_late = |part: Interval| part.start < now || part.start >= BEYOND_ALL_LIMITS;
        let mut late: Vec<(Time, Slot)> = parts
            .iter()
            .filter_map(|&slot| Some((self.planned(slot).filter(|&it| is_late(it))?.start, slot)))
            .collect();
        late.sort_unstable();
        if !late.is_empty() {
            self.queue.postpone(now, late.into_iter().map(|(_, slot)| slot));
        }
    }

    fn turn_into_job(&mut self, request: Request) {
        if self.planned(request.slot).is_some() {
            self.queue.queue_fixed(request);
        }
    }

    fn take_displaced(&mut self, displaced: &mut Vec<Slot>) {
        displaced.append(&mut self.displaced);
    }

    fn compress(&mut self, now: Time) {
        self.queue.compress_now(now);
    }
}

impl LocalScheduler for CoallocationQueue {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        self.queue.submit(now, request)
    }

    fn sort(&self, together: &mut [Request]) {
        self.queue.sort(together);
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        self.queue.finished(now, slot);
    }

    fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        self.change(now, |plan| plan.overran(now, slot, end));
    }

    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        self.change(now, |plan| plan.failed(now, processors, killed));
    }

    fn restored(&mut self, now: Time, processors: u32) {
        self.queue.restored(now, processors);
    }

    fn withdraw(&mut self, now: Time, slot: Slot) -> bool {
        self.abandon(now, slot);
        self.queue.withdraw(now, slot)
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        let before = started.len();
        self.queue.start_due(now, started);
        for &slot in &started[before..] {
            // The part starts at its own place, so the place kept for a move is given back.
            self.abandon(now, slot);
        }
    }

    fn next_start(&self) -> Option<Time> {
        self.queue.next_start()
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        self.queue.estimate_start(now, processors, span)
    }

    fn queue_length(&self) -> usize {
        self.queue.queue_length()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            parts: Ok(()),
            starts: Ok(()),
            ..Capabilities::only_maintenance(
                "each job is planned as a whole, at its earliest start",
            )
        }
    }

    fn submit_after(&mut self, now: Time, request: Request, ready: Time) -> Option<Time> {
        self.queue.catch_up_now(now);
        self.queue.submit_after(now, request, ready)
    }

    fn starts(&mut self) -> &mut dyn Reserving {
        self
    }

    fn parts(&mut self) -> &mut dyn Parts {
        self
    }

    fn maintenance(&mut self) -> &mut dyn Maintaining {
        self.queue.maintenance()
    }
}

/// Parts take free time only, so a job keeps its reservation beside them. Waiting jobs move up before an
/// answer, because returned time that they will use is not free for another job.
impl Reserving for CoallocationQueue {
    fn planned_start(&mut self, now: Time, slot: Slot) -> Option<Time> {
        self.queue.catch_up_now(now);
        let is_job = self.planned(slot).is_none();
        is_job.then(|| self.queue.planned_start(now, slot))?
    }

    fn estimate_after(
        &mut self,
        now: Time,
        processors: u32,
        span: Option<Span>,
        ready: Time,
    ) -> Option<Time> {
        self.queue.catch_up_now(now);
        self.queue.estimate_after(now, processors, span, ready)
    }

    fn withdraw_all(&mut self, now: Time, slots: &[Slot]) {
        self.queue.withdraw_all(now, slots);
    }
}
