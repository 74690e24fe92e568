//! Conservative backfilling that makes all reservations again when time is given back.
//!
//! With reservations made again in the queue's order at every early end, hardly any of them is ever used.
//! So the plan is made only as far as a query needs (`plan/gradual.rs`). A submission and an estimate need
//! all of it, because their result lies behind all waiting jobs.

use std::borrow::Cow;

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::coallocation::KeepsParts;
use crate::maintenance::OnPlan;
use crate::plan::Plan;
use crate::plan::gradual::{Gradual, Until};
use crate::plan::waiting::Entry;
use crate::scheduler::{Killed, LocalScheduler, Request, Slot, promise};
use crate::{Capabilities, Interval, Maintaining, Order, Overlap, Profile};

/// Gives every waiting job a reservation, and another one when time is given back.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Replan {
    order: Order,
    /// Running jobs, and windows of maintenance.
    plan: Plan,
    /// Waiting jobs, beside the plan.
    waiting: Gradual,
    /// Time was given back, or the plan cannot be kept: it must be made again.
    outdated: bool,
    /// True if jobs wait in another order than the one in which their reservations were made.
    out_of_order: bool,
    sequence: u32,
}

impl Replan {
    /// For a machine of `processors`.
    pub fn new(processors: u32, order: Order) -> Replan {
        Replan {
            order,
            plan: Plan::new(processors),
            waiting: Gradual::new(processors),
            outdated: false,
            out_of_order: false,
            sequence: 0,
        }
    }

    /// Drops the plan if it is outdated.
    fn renew(&mut self, now: Time) {
        self.waiting.forget_before(now);
        if std::mem::take(&mut self.outdated) {
            self.waiting.plan_anew(now, self.plan.profile_from(now));
        }
    }
}

impl LocalScheduler for Replan {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        let Request { slot, processors, ahead, .. } = request;
        let span = request.planned_span();
        let key = self.order.key(&request, span, self.sequence);
        self.sequence += 1;
        self.out_of_order |= self.order != Order::Arrival;
        self.outdated |= ahead;
        self.renew(now);
        // A job ahead of the queue is planned before all others.
        if !ahead {
            self.waiting.plan_all(now);
        }
        let entry = Entry { key, booked: now, span, slot, processors };
        promise(self.waiting.insert(now, entry) + span)
    }

    fn sort(&self, together: &mut [Request]) {
        together.sort_by_key(|it| self.order.key(it, it.planned_span(), 0));
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        let planned_end = self.plan.finished(now, slot).planned_end;
        // A window may take processors that a part gave back before.
        self.outdated |= self.plan.complete_windows(now);
        // If nothing was given back, each job would find its old place again.
        self.outdated |= std::mem::take(&mut self.out_of_order) || now < planned_end;
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
        self.outdated = true;
    }

    fn withdraw(&mut self, _now: Time, slot: Slot) -> bool {
        let waits = self.waiting.remove(slot).is_some();
        self.outdated |= waits;
        waits
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        self.plan.start_fixed(now, started);
        self.renew(now);
        self.waiting.plan_until(Until::Instant(now), now);
        let mut not_yet = Vec::new();
        while let Some(due) = self.waiting.take_due(now) {
            // A job that ends at this very instant may not have given its processors back yet; its end
            // brings the next pass.
            let (.., slot) = due;
            let &Entry { processors, span, .. } =
                self.waiting.get(slot).expect("what is due waits");
            if processors > self.plan.free() {
                not_yet.push(due);
                continue;
            }
            self.plan.book_and_start(now, slot, processors, now + span);
            self.waiting.remove(slot);
            started.push(slot);
        }
        self.waiting.not_yet(not_yet);
        // `next_start` needs the planned start of the next job.
        self.waiting.plan_until(Until::NextStart, now);
        self.waiting.tidy();
    }

    fn next_start(&self) -> Option<Time> {
        self.waiting.next_start()
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        self.renew(now);
        self.waiting.plan_all(now);
        let span = span.unwrap_or(Span::FOREVER);
        self.waiting.profile().earliest_or_never(processors, span, now)
    }

    fn queue_length(&self) -> usize {
        self.waiting.len()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::without_parts("all reservations are made again when time is given back")
    }

    fn maintenance(&mut self) -> &mut dyn Maintaining {
        self
    }
}

impl OnPlan for Replan {
    fn plan_mut(&mut self) -> &mut Plan {
        &mut self.plan
    }

    fn make_way(&mut self, _now: Time, change: impl FnOnce(&mut Plan)) {
        change(&mut self.plan);
        self.outdated = true;
    }

    fn given_back(&mut self, _from: Time, _until: Time, _processors: u32) {
        self.outdated = true;
    }

    fn bring_up_to_date(&mut self, now: Time) {
        self.renew(now);
        self.waiting.plan_all(now);
    }

    fn announce_beside(&mut self, now: Time, number: u32, window: Interval) -> bool {
        let beside = self.waiting.profile_mut();
        beside.add_if_free(window.start, window.end(), window.processors)
            && self.plan.announce(now, number, window, Overlap::Refuse)
    }

    fn first_fit(&mut self, now: Time, window: Interval) -> Option<Time> {
        let Interval { start, span, processors } = window;
        self.waiting.profile().earliest_fit(processors, span, start.max(now))
    }

    fn complete_windows(&mut self, now: Time) {
        self.outdated |= self.plan.lacks_for_windows();
        self.plan.complete_windows(now);
    }
}

/// All reservations are promised until they are made again: a part takes none of their time. Then the
/// reservations are made around it.
impl KeepsParts for Replan {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn next_number(&mut self) -> u32 {
        self.sequence += 1;
        self.sequence - 1
    }

    fn offered(&mut self, now: Time) -> Cow<'_, Profile> {
        self.bring_up_to_date(now);
        Cow::Borrowed(self.waiting.profile())
    }

    fn copy(&mut self) -> Option<&mut Profile> {
        Some(self.waiting.profile_mut())
    }
}
