//! Maintenance: windows in which a provider closes processors. They are announced to its scheduler
//! before.
//!
//! ```text
//!   announced ──▶ planned ──▶ closed ──▶ over
//!       │
//!       ▼ promises are in the way, or it has begun already
//!    refused
//! ```
//!
//! The record of a window is made when it is refused, when it begins, or at the end of a run before that.
//!
//! The closed processors are free ones at the beginning of the window. A closed processor that fails is
//! down like any other. But the scheduler is notified of that at the end of the window only,
//! because the processor would not have run anything before. While the scheduler is down, its
//! machine is closed and opened all the same, as processors fail and come back.

use std::collections::BTreeMap;

use haggle_model::reservation::Cause;
use haggle_model::{MaintenanceRecord, Observation, ProcessorSet, Time, WindowFate};
use haggle_scheduling::{Interval, Overlap};

use super::Provider;
use crate::Outbox;
use crate::protocol::Timer;

/// A window of maintenance as a scenario describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maintenance {
    /// Time at which the scheduler is notified, or as soon as it is up again; before that it plans
    /// without the window.
    pub announced: Time,
    /// Time and number of the processors to close: at most those of the machine.
    pub window: Interval,
    /// Treatment of the window if its time has been promised to others.
    pub overlap: Overlap,
}

/// The windows that are announced and not over, by number.
#[derive(Debug, Default)]
pub(super) struct Windows(BTreeMap<u32, Window>);

/// A window that is announced.
#[derive(Debug)]
struct Window {
    /// Time at which the scheduler was notified.
    heard: Time,
    /// The processors that are closed, since it has begun.
    closed: Option<ProcessorSet>,
}

impl Windows {
    /// The closed ones of these processors.
    pub(super) fn closed(&self, processors: &ProcessorSet) -> ProcessorSet {
        let windows = self.0.values().filter_map(|window| window.closed.as_ref());
        windows.fold(ProcessorSet::new(), |all, it| all.union(&it.intersection(processors)))
    }
}

impl Provider {
    pub(super) fn on_maintenance_announced(
        &mut self,
        now: Time,
        number: u32,
        out: &mut Outbox,
    ) -> bool {
        let Some(&Maintenance { window, overlap, .. }) = self.window(number) else { return false };
        let mut scheduler = self.scheduler.maintaining().filter(|_| now <= window.start);
        let accepted =
            scheduler.as_mut().is_some_and(|it| it.announce(now, number, window, overlap));
        if accepted {
            self.windows.0.insert(number, Window { heard: now, closed: None });
            self.answer_displaced(now, Cause::Maintenance, out);
            out.wake(window.start, Timer::MaintenanceBegins { number });
            self.plan_changed(now, out);
        } else {
            let possible = scheduler.and_then(|it| it.first_room(now, window));
            self.observe_window(number, now, WindowFate::Refused { possible }, out);
        }
        true
    }

    pub(super) fn on_maintenance_begins(
        &mut self,
        now: Time,
        number: u32,
        out: &mut Outbox,
    ) -> bool {
        let (Some(&Maintenance { window, .. }), Some(&Window { heard, closed: None })) =
            (self.window(number), self.windows.0.get(&number))
        else {
            return false;
        };
        let Some(scheduler) = self.scheduler.maintaining() else { return false };
        let kept = scheduler.kept(now, number).min(self.machine.free());
        let closed = self.machine.close(kept);
        match &mut self.mailbox {
            Some(mailbox) => mailbox.begin(number, kept),
            None => scheduler.begin(now, number, kept),
        }
        self.observe_window(number, heard, WindowFate::Begun(closed.clone()), out);
        self.windows.0.insert(number, Window { heard, closed: Some(closed) });
        out.wake(window.end(), Timer::MaintenanceEnds { number });
        self.plan_changed(now, out);
        true
    }

    pub(super) fn on_maintenance_ends(&mut self, now: Time, number: u32, out: &mut Outbox) -> bool {
        let Some(Window { closed: Some(closed), .. }) = self.windows.0.remove(&number) else {
            return false;
        };
        let down = self.machine.down_of(&closed);
        let mut opened = closed;
        opened.remove_all(&down);
        self.machine.open(&opened);
        if let Some(mailbox) = &mut self.mailbox {
            mailbox.end(number, &down);
            return true;
        }
        self.tell_maintenance_over(now, number);
        if !down.is_empty() {
            self.scheduler.failed(now, down.count(), &[]);
            self.answer_displaced(now, Cause::Failure, out);
        }
        self.plan_changed(now, out);
        true
    }

    pub(super) fn tell_maintenance_over(&mut self, now: Time, number: u32) {
        let scheduler = self.scheduler.maintaining().expect("it was announced to it");
        scheduler.end(now, number);
    }

    /// True if windows may be ahead at the end of the run.
    pub(crate) fn has_maintenance(&self) -> bool {
        !self.config.maintenance.is_empty()
    }

    /// Records the windows that were announced and have not begun, at the end of the run.
    pub(super) fn observe_windows_ahead(&self, out: &mut Outbox) {
        for (&number, &Window { heard, ref closed }) in &self.windows.0 {
            if closed.is_none() {
                self.observe_window(number, heard, WindowFate::Ahead, out);
            }
        }
    }

    fn window(&self, number: u32) -> Option<&Maintenance> {
        self.config.maintenance.get(number as usize)
    }

    fn observe_window(&self, number: u32, announced: Time, fate: WindowFate, out: &mut Outbox) {
        let Some(&Maintenance { window, .. }) = self.window(number) else { return };
        let record = MaintenanceRecord {
            provider: self.config.id,
            number,
            announced,
            start: window.start,
            end: window.end(),
            processors: window.processors,
            fate,
        };
        out.observe(Observation::Maintenance(Box::new(record)));
    }
}
