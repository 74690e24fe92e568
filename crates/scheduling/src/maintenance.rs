//! Announced maintenance: windows in which processors are closed. From the announcement on everything is
//! planned around them.
//!
//! ```text
//!   announce ──▶ booked in the plan ──▶ begin ──▶ closed ──▶ end
//!      │
//!      ▼ promises or running jobs are in the way
//!   refused
//! ```
//!
//! A running job is never stopped for a window, and promises are broken with [`Overlap::Break`] only.
//! Maintenance is no failure: it is known before, and no work is lost.

use haggle_model::Time;

use crate::Interval;
use crate::plan::{Part, Plan};

haggle_model::words! {
    /// Treatment of a window of maintenance whose time is promised to jobs.
    #[derive(Default)]
    pub enum Overlap {
        /// The window is refused, unless all promises can be kept and no running job is in the way.
        #[default]
        Refuse = "refuse",
        /// Waiting jobs are planned anew around the window, and may be later than promised. Running jobs continue, and
        /// parts of jobs on several providers stay. So do granted reservations, except under policy "reservations".
        Break = "break",
    }
}

/// A local scheduler that plans around maintenance. The caller numbers the windows.
///
/// At the instant at which a window begins, ends are reported first. Then [`Maintaining::kept`] returns the
/// processors left for the window, and [`Maintaining::begin`] closes them. The provider asks for starts
/// after the beginning and after the end of a window.
pub trait Maintaining {
    /// Plans around a window, which has not begun yet, from now on. Returns `false`, and changes nothing,
    /// if that is impossible.
    fn announce(&mut self, now: Time, number: u32, window: Interval, overlap: Overlap) -> bool;

    /// The first start, no earlier than the window's own, at which the window overlaps nothing that runs or
    /// is planned now; `None` if there is none.
    fn first_room(&mut self, now: Time, window: Interval) -> Option<Time>;

    /// Processors that are free for a window, at most as many as were announced.
    fn kept(&mut self, now: Time, number: u32) -> u32;

    /// A window begins: `processors` free processors are closed, no more than are [kept](Maintaining::kept)
    /// for it.
    fn begin(&mut self, now: Time, number: u32, processors: u32);

    /// A window is over: its processors are free.
    fn end(&mut self, now: Time, number: u32);
}

/// A queue on a [`Plan`]. Its windows of maintenance are those of the plan; the queue says how its waiting
/// work makes way.
pub(crate) trait OnPlan: Clone {
    /// The plan, to change its windows.
    fn plan_mut(&mut self) -> &mut Plan;

    /// Plans waiting work again around a `change` of the plan. A queue without bookings of waiting work has
    /// nothing to plan again.
    fn make_way(&mut self, _now: Time, change: impl FnOnce(&mut Plan)) {
        change(self.plan_mut());
    }

    /// Processors are free between two times at which they were booked.
    fn given_back(&mut self, _from: Time, _until: Time, _processors: u32) {}

    /// Moves waiting work up to returned time, before a window is placed beside it.
    fn bring_up_to_date(&mut self, _now: Time) {}

    /// The processors of windows have changed.
    fn windows_changed(&mut self) {}

    /// Books a window if there is room for all of it beside waiting work.
    fn announce_beside(&mut self, now: Time, number: u32, window: Interval) -> bool {
        self.plan_mut().announce(now, number, window, Overlap::Refuse)
    }

    /// Books a window if waiting work can make way without a broken promise. A queue without such work has
    /// tried all in [`OnPlan::announce_beside`].
    fn announce_within_promises(&mut self, _now: Time, _number: u32, _window: Interval) -> bool {
        false
    }

    /// As [`Maintaining::first_room`], of a queue that is up to date.
    fn first_fit(&mut self, now: Time, window: Interval) -> Option<Time> {
        self.plan_mut().first_room(now, window)
    }

    /// Windows that lack processors take free ones.
    fn complete_windows(&mut self, now: Time) {
        self.plan_mut().complete_windows(now);
    }
}

impl<Q: OnPlan> Maintaining for Q {
    fn announce(&mut self, now: Time, number: u32, window: Interval, overlap: Overlap) -> bool {
        self.bring_up_to_date(now);
        // A window that fits beside all bookings breaks no promise.
        let mut accepted = self.announce_beside(now, number, window);
        if !accepted && overlap == Overlap::Break {
            self.make_way(now, |plan| accepted = plan.announce(now, number, window, overlap));
        } else if !accepted {
            accepted = self.announce_within_promises(now, number, window);
        }
        accepted
    }

    fn first_room(&mut self, now: Time, window: Interval) -> Option<Time> {
        self.bring_up_to_date(now);
        self.first_fit(now, window)
    }

    fn kept(&mut self, now: Time, number: u32) -> u32 {
        self.complete_windows(now);
        self.plan_mut().kept(number)
    }

    fn begin(&mut self, now: Time, number: u32, processors: u32) {
        let left = self.plan_mut().begin(now, number, processors);
        self.windows_changed();
        if let Some(Part { processors, planned_end }) = left {
            self.given_back(now, planned_end, processors);
        }
    }

    fn end(&mut self, now: Time, number: u32) {
        self.plan_mut().end_window(now, number);
        self.windows_changed();
    }
}
