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

use haggle_model::{MaintenanceRecord, Observation, ProcessorSet, Time, WindowFate};
use haggle_scheduling::{Interval, Overlap};
use serde::{Deserialize, Serialize};

use crate::glimpse::{Promise, PromiseKind};
use crate::protocol::Timer;
use crate::provider::core::{Core, Turn};

/// A window of maintenance as a scenario describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Windows(BTreeMap<u32, Window>);

/// A window that is announced.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Window {
    /// Time at which the scheduler was notified.
    heard: Time,
    /// The processors that are closed, since it has begun.
    closed: Option<ProcessorSet>,
}

impl Windows {
    /// A window is announced. Returns whether the scheduler plans around it; `None` if there is no
    /// such window.
    pub(super) fn announce(&mut self, turn: &mut Turn<'_>, number: u32) -> Option<bool> {
        let &Maintenance { window, overlap, .. } = window(turn.core, number)?;
        let now = turn.now;
        let (queue, is_ahead) = (turn.core.scheduler.maintenance(), now <= window.start);
        let accepted = is_ahead && queue.announce(now, number, window, overlap);
        if accepted {
            self.0.insert(number, Window { heard: now, closed: None });
        } else {
            let possible = if is_ahead { queue.first_room(now, window) } else { None };
            observe(turn, number, now, WindowFate::Refused { possible });
        }
        Some(accepted)
    }

    /// The windows that are announced, and the ones that have begun.
    pub(super) fn promises(&self, core: &Core) -> Vec<Promise> {
        let known =
            self.0.keys().filter_map(|&number| core.config.maintenance.get(number as usize));
        let row = |it: &Maintenance| Promise {
            start: Some(it.window.start),
            end: Some(it.window.end()),
            ..Promise::new(PromiseKind::Maintenance, it.window.processors)
        };
        known.map(row).collect()
    }

    /// Sets the timer for the beginning of a window.
    pub(super) fn wait_for(&self, turn: &mut Turn<'_>, number: u32) {
        if let Some(&Maintenance { window, .. }) = window(turn.core, number) {
            turn.out.wake(window.start, Timer::MaintenanceBegins { number });
        }
    }

    pub(super) fn on_begins(&mut self, turn: &mut Turn<'_>, number: u32) -> bool {
        let (Some(&Maintenance { window, .. }), Some(&Window { heard, closed: None })) =
            (window(turn.core, number), self.0.get(&number))
        else {
            return false;
        };
        let scheduler = turn.core.scheduler.maintenance();
        // The scheduler may count processors as free that have failed since it was notified.
        let kept = scheduler.kept(turn.now, number).min(turn.core.machine.free());
        let closed = turn.core.machine.close(kept);
        match &mut turn.core.mailbox {
            Some(mailbox) => mailbox.begin(number, kept),
            None => scheduler.begin(turn.now, number, kept),
        }
        observe(turn, number, heard, WindowFate::Begun(closed.clone()));
        self.0.insert(number, Window { heard, closed: Some(closed) });
        turn.out.wake(window.end(), Timer::MaintenanceEnds { number });
        turn.plan_changed();
        true
    }

    /// A window is over: the scheduler is notified, now or when it is up again. Returns the number
    /// of its processors that are down; `None` if the window was not in force.
    pub(super) fn on_ends(&mut self, turn: &mut Turn<'_>, number: u32) -> Option<u32> {
        let Window { closed, .. } = self.0.remove(&number)?;
        let down = turn.core.machine.open(&closed?);
        match &mut turn.core.mailbox {
            Some(mailbox) => mailbox.end(number, &down),
            None => turn.tell_maintenance_over(number),
        }
        Some(down.count())
    }

    /// Records the windows that were announced and have not begun, at the end of the run.
    pub(super) fn observe_ahead(&self, turn: &mut Turn<'_>) {
        for (&number, &Window { heard, ref closed }) in &self.0 {
            if closed.is_none() {
                observe(turn, number, heard, WindowFate::Ahead);
            }
        }
    }
}

/// A window of the scenario.
fn window(core: &Core, number: u32) -> Option<&Maintenance> {
    core.config.maintenance.get(number as usize)
}

fn observe(turn: &mut Turn<'_>, number: u32, announced: Time, fate: WindowFate) {
    let Some(&Maintenance { window, .. }) = window(turn.core, number) else { return };
    let record = MaintenanceRecord {
        provider: turn.core.config.id,
        number,
        announced,
        start: window.start,
        end: window.end(),
        processors: window.processors,
        fate,
    };
    turn.out.observe(Observation::Maintenance(Box::new(record)));
}
