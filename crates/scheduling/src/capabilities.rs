//! Guarantees of a queue beside those to its jobs, and their refusal.
//!
//! A provider asks a queue once for its [`Capabilities`], and then uses the services that the queue has:
//!
//! ```text
//!   LocalScheduler ──▶ bags()          offers and awards of bags of tasks
//!                  ──▶ starts()        reliable estimates for jobs that may come
//!                  ──▶ windows()       advance reservations
//!                  ──▶ parts()         parts of jobs that have other parts elsewhere
//!                  ──▶ maintenance()   closed processors
//!                  ──▶ nodes()         places of jobs on nodes
//! ```
//!
//! A queue that lacks a service refuses every request to it: it makes no offer, grants no window and holds
//! no part. So a caller needs no second way for a queue without the service.

use haggle_model::{Demand, Span, Time};

use crate::bags::{Award, BagRequest, Bargainer, FreeSlot, Offer};
use crate::coallocation::{FreeTimes, Parts, Stretch};
use crate::composition::QueueEntry;
use crate::maintenance::{Maintaining, Overlap};
use crate::reservations::{Alternative, Displaced, Granted, Granting, Reserve, Size};
use crate::scheduler::{Killed, Request, Slot};
use crate::site::Denied;
use crate::{Interval, OnNodes, Reserving};

/// `Ok` if the plan of a queue can guarantee it, or else the reason why not.
pub type Guarantee = Result<(), &'static str>;

/// The guarantees of a queue. They do not change while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Completions of bags of tasks.
    pub bags: Guarantee,
    /// A start for each waiting job, which later operations only make earlier.
    pub starts: Guarantee,
    /// Starts within windows that users request.
    pub windows: Guarantee,
    /// Intervals for parts of jobs that have other parts elsewhere.
    pub parts: Guarantee,
    /// Processors for announced maintenance.
    pub maintenance: Guarantee,
}

impl Capabilities {
    /// No guarantee, for this reason.
    pub const fn none(reason: &'static str) -> Capabilities {
        let refused = Err(reason);
        Capabilities {
            bags: refused,
            starts: refused,
            windows: refused,
            parts: refused,
            maintenance: refused,
        }
    }

    /// Maintenance, and nothing else for this reason.
    pub const fn only_maintenance(reason: &'static str) -> Capabilities {
        Capabilities { maintenance: Ok(()), ..Capabilities::none(reason) }
    }

    /// As [`Capabilities::only_maintenance`], of a queue that has a form of its own for parts and windows.
    pub(crate) const fn without_parts(reason: &'static str) -> Capabilities {
        let other = Err("this queue has another form for them");
        Capabilities { parts: other, windows: other, ..Capabilities::only_maintenance(reason) }
    }
}

/// The services that a queue lacks: every request is refused.
#[derive(Debug)]
pub(crate) struct Refusing;

impl Refusing {
    /// It has no state, so its box takes no memory.
    pub(crate) fn all() -> &'static mut Refusing {
        Box::leak(Box::new(Refusing))
    }
}

impl Bargainer for Refusing {
    fn offers(&mut self, _: Time, _: &BagRequest) -> Vec<Offer> {
        Vec::new()
    }

    fn award(&mut self, _: Time, _: Slot, _: &BagRequest, _: &Award) -> Option<Time> {
        None
    }

    fn free_slots(&mut self, _: Time) -> Vec<FreeSlot> {
        Vec::new()
    }

    fn tasks_due(&mut self, _: Time, _: &mut Vec<(Slot, u32)>) {}

    fn tasks_finished(&mut self, _: Time, _: Slot, _: u32, _: Time) {}

    fn wait_again(&mut self, _: Time, _: Slot, _: &BagRequest) {}

    fn latest_completion(&self, _: Slot) -> Option<Time> {
        None
    }

    fn queue(&self) -> Vec<QueueEntry> {
        Vec::new()
    }
}

impl Reserving for Refusing {
    fn planned_start(&mut self, _: Time, _: Slot) -> Option<Time> {
        None
    }

    fn estimate_after(&mut self, _: Time, _: u32, _: Option<Span>, _: Time) -> Option<Time> {
        None
    }

    fn withdraw_all(&mut self, _: Time, _: &[Slot]) {}
}

impl Granting for Refusing {
    fn ask(
        &mut self,
        _: Time,
        _: &Reserve,
        _: &[Size],
        _: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted> {
        None
    }

    fn alternatives(
        &mut self,
        _: Time,
        _: &Reserve,
        _: &[Size],
        _: usize,
        _: &mut dyn FnMut(usize) -> usize,
    ) -> Vec<Alternative> {
        Vec::new()
    }

    fn take(
        &mut self,
        _: Time,
        _: &Reserve,
        _: Alternative,
        _: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Granted> {
        None
    }

    fn start_of(&mut self, _: Time, _: Slot) -> Option<Time> {
        None
    }

    fn fix(&mut self, _: Time, _: Slot) -> Option<Time> {
        None
    }

    fn fixed(&mut self, _: &mut Vec<(Slot, Time)>) {}

    fn displaced(&mut self, _: &mut Vec<(Slot, Displaced)>) {}
}

impl Parts for Refusing {
    fn free_times(&mut self, _: Time, _: Option<Slot>) -> FreeTimes {
        FreeTimes::none()
    }

    fn take_changed(&mut self, _: Time) -> Option<(Time, Time)> {
        None
    }

    fn free_during(&mut self, _: Time, _: Time, _: Time) -> Stretch {
        Stretch::default()
    }

    fn free_around(&mut self, _: Time, _: Slot) -> Stretch {
        Stretch::default()
    }

    fn free_for_ever(&mut self, _: Time) -> u32 {
        0
    }

    fn is_idle(&mut self, _: Time) -> bool {
        false
    }

    fn hold(&mut self, _: Time, _: Slot, _: Interval) -> bool {
        false
    }

    fn planned(&self, _: Slot) -> Option<Interval> {
        None
    }

    fn prepare(&mut self, _: Time, _: Slot, _: Interval) -> bool {
        false
    }

    fn settle(&mut self, _: Time, _: Slot) -> bool {
        false
    }

    fn abandon(&mut self, _: Time, _: Slot) -> bool {
        false
    }

    fn earliest(&mut self, _: Time, _: Time, _: u32, _: Span) -> Option<Time> {
        None
    }

    fn fits(&mut self, _: Time, _: Time, _: u32, _: Span) -> bool {
        false
    }

    fn shorten(&mut self, _: Time, _: Slot, _: Time) {}

    fn catch_up(&mut self, _: Time, _: &[Slot]) {}

    fn turn_into_job(&mut self, _: Request) {}

    fn take_displaced(&mut self, _: &mut Vec<Slot>) {}

    fn compress(&mut self, _: Time) {}
}

impl Maintaining for Refusing {
    fn announce(&mut self, _: Time, _: u32, _: Interval, _: Overlap) -> bool {
        false
    }

    fn first_room(&mut self, _: Time, _: Interval) -> Option<Time> {
        None
    }

    fn kept(&mut self, _: Time, _: u32) -> u32 {
        0
    }

    fn begin(&mut self, _: Time, _: u32, _: u32) {}

    fn end(&mut self, _: Time, _: u32) {}
}

impl OnNodes for Refusing {
    fn estimate(&mut self, _: Time, _: &Demand, _: Option<Span>) -> Option<Time> {
        None
    }

    fn places(&self, _: Slot) -> Vec<(u32, u32)> {
        Vec::new()
    }

    fn accept(&mut self, _: Time, _: &Request) -> Result<(), Denied> {
        Ok(())
    }

    fn gone_before(&mut self, _: Slot) {}

    fn failed_on(&mut self, _: Time, _: &[(u32, u32)], _: &[Killed]) {}

    fn restored_on(&mut self, _: Time, _: &[(u32, u32)]) {}
}
