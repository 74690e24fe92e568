//! Parts of jobs that have other parts at other providers, as a queue keeps them.

use haggle_model::{Span, Time};

use super::{FreeTimes, Stretch};
use crate::Interval;
use crate::scheduler::{Request, Slot};

/// A queue that keeps parts at agreed places, beside its jobs.
///
/// Parts and jobs have common slots. They are withdrawn, start and end in the same way
/// ([`LocalScheduler`](crate::LocalScheduler)).
///
/// Failed processors and jobs that run past their requested times may take the processors of waiting
/// parts. Then each part keeps its place while there is room, in the order of planned starts; of equal
/// starts the part held first comes first. A part without room is *displaced*: it waits here no longer, and
/// [`Parts::take_displaced`] returns it. A part about to move needs both its places. Windows of maintenance
/// and waiting jobs get the processors that the parts leave.
pub trait Parts {
    /// Free processors over time; the part `without` counts as free.
    fn free_times(&mut self, now: Time, without: Option<Slot>) -> FreeTimes;

    /// The stretch outside which [`Parts::free_during`] has not changed since the last call.
    fn take_changed(&mut self, now: Time) -> Option<(Time, Time)>;

    /// Free times from `from` until `until`.
    fn free_during(&mut self, now: Time, from: Time, until: Time) -> Stretch;

    /// Free times during the planned run of a waiting part, which itself counts as free; nothing if it does
    /// not wait.
    fn free_around(&mut self, now: Time, part: Slot) -> Stretch;

    /// Number of processors that are neither used nor booked from now on.
    fn free_for_ever(&mut self, now: Time) -> u32;

    /// Returns whether a processor is neither used nor booked now.
    fn is_idle(&mut self, now: Time) -> bool;

    /// Holds a part if there is room for it; otherwise returns `false`.
    fn hold(&mut self, now: Time, slot: Slot, part: Interval) -> bool;

    /// The booking of a waiting part.
    fn planned(&self, slot: Slot) -> Option<Interval>;

    /// Keeps another place for a waiting part, whose own place counts as free. Both are kept until the move
    /// is [settled](Parts::settle) or [dropped](Parts::abandon). Returns `false` if
    /// there is no room, or if the part moves already.
    fn prepare(&mut self, now: Time, slot: Slot, to: Interval) -> bool;

    /// Moves a part to the place kept for it. Returns `false`, and the part keeps its own place, if there is none, or
    /// if its start is over.
    fn settle(&mut self, now: Time, slot: Slot) -> bool;

    /// Drops the place kept for a part, which keeps its own; returns `false` if there is none.
    fn abandon(&mut self, now: Time, slot: Slot) -> bool;

    /// The first start from `from` on with enough room.
    fn earliest(&mut self, now: Time, from: Time, processors: u32, span: Span) -> Option<Time>;

    /// Returns whether there is enough room from `from` on.
    fn fits(&mut self, now: Time, from: Time, processors: u32, span: Span) -> bool;

    /// Books a part until `end` and no longer, whether it waits or runs. The time behind that is given
    /// back.
    fn shorten(&mut self, now: Time, slot: Slot, end: Time);

    /// Gives parts that should have started before now, or that have lost their place, the next free
    /// places. Jobs are planned again around them.
    fn catch_up(&mut self, now: Time, parts: &[Slot]);

    /// Turns a waiting part into a job of its own, because it is the only part left. It keeps its place as a
    /// reservation, and may move up by itself.
    fn turn_into_job(&mut self, request: Request);

    /// Appends the parts that have lost their places since the last call, in the order in which they lost
    /// them. Their slots may be used again.
    fn take_displaced(&mut self, displaced: &mut Vec<Slot>);

    /// Moves waiting jobs up to the time that has been given back.
    fn compress(&mut self, now: Time);
}
