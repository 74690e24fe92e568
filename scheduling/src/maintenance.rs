//! Maintenance that is announced: windows in which processors are closed, and around which everything
//! is planned from their announcement on.
//!
//! ```text
//!   announce ──▶ booked in the plan ──▶ begin ──▶ closed ──▶ end
//!      │
//!      ▼ promises, or what runs, are in the way
//!   refused
//! ```
//!
//! What runs is never stopped for a window, and what has been promised only with [`Overlap::Break`].
//! Maintenance is no failure: it is known before, and nothing is lost by it.

use haggle_model::Time;

use crate::Interval;
use crate::scheduler::LocalScheduler;

haggle_model::words! {
    /// What becomes of a window of maintenance whose time is promised to others.
    #[derive(Default)]
    pub enum Overlap {
        /// It is refused, unless all promises can be kept beside it and no job that runs is in the way.
        #[default]
        Refuse = "refuse",
        /// What waits is planned anew around it, and may be later than promised; what runs is left alone, as are parts
        /// of jobs on several providers.
        Break = "break",
    }
}

/// A local scheduler that plans around maintenance. Windows have numbers of the caller's.
///
/// At the instant at which a window begins, ends are reported first; then
/// [`Maintaining::kept`] says how many processors are left for it, and [`Maintaining::begin`] that they
/// are closed. Starts are asked for after the beginning and after the end of a window.
pub trait Maintaining: LocalScheduler {
    /// Plans around a window from now on, which has not begun yet. `false`, and nothing changes, if
    /// that cannot be.
    fn announce(&mut self, now: Time, number: u32, window: Interval, overlap: Overlap) -> bool;

    /// The first start, no earlier than the window's own, at which it would be in the way of nothing that
    /// runs or is planned now; `None` if there is none.
    fn first_room(&mut self, now: Time, window: Interval) -> Option<Time>;

    /// How many processors are free for a window, at most as many as were announced.
    fn kept(&mut self, now: Time, number: u32) -> u32;

    /// A window begins: so many processors that are free are closed, no more than are
    /// [kept](Maintaining::kept) for it.
    fn begin(&mut self, now: Time, number: u32, processors: u32);

    /// A window is over: its processors are free.
    fn end(&mut self, now: Time, number: u32);
}
