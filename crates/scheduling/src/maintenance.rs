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
use crate::scheduler::LocalScheduler;

haggle_model::words! {
    /// Treatment of a window of maintenance whose time is promised to jobs.
    #[derive(Default)]
    pub enum Overlap {
        /// The window is refused, unless all promises can be kept and no running job is in the way.
        #[default]
        Refuse = "refuse",
        /// Waiting jobs are planned anew around the window, and may be later than promised. Running jobs continue, and
        /// parts of jobs on several providers stay.
        Break = "break",
    }
}

/// A local scheduler that plans around maintenance. The caller numbers the windows.
///
/// At the instant at which a window begins, ends are reported first. Then [`Maintaining::kept`] returns the
/// processors left for the window, and [`Maintaining::begin`] closes them. The provider asks for starts
/// after the beginning and after the end of a window.
pub trait Maintaining: LocalScheduler {
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
