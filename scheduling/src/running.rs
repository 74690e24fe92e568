//! The running jobs of a machine: how many processors are free now, and when
//! the rest are planned to come back.

use haggle_model::{Span, Time};

use crate::Profile;
use crate::scheduler::{Killed, Slot};

/// What runs, by slot, with the availability profile it leaves.
#[derive(Debug)]
pub(crate) struct Running {
    free: u32,
    profile: Profile,
    jobs: Vec<Option<Job>>,
}

#[derive(Clone, Copy, Debug)]
struct Job {
    processors: u32,
    planned_end: Time,
}

impl Running {
    pub(crate) fn new(processors: u32) -> Running {
        Running { free: processors, profile: Profile::new(processors), jobs: Vec::new() }
    }

    /// Processors that no running job holds.
    pub(crate) fn free(&self) -> u32 {
        self.free
    }

    /// Availability from `now` on if every running job ends as planned.
    pub(crate) fn profile(&mut self, now: Time) -> &Profile {
        self.profile.forget_before(now);
        &self.profile
    }

    /// Starts a job.
    pub(crate) fn start(&mut self, now: Time, slot: Slot, processors: u32, span: Span) {
        self.book(now, processors, span);
        self.start_booked(now, slot, processors, span);
    }

    /// Plans to start a job within this instant.
    pub(crate) fn book(&mut self, now: Time, processors: u32, span: Span) {
        self.profile.add(now, now + span, processors);
    }

    /// Undoes [`Running::book`].
    pub(crate) fn unbook(&mut self, now: Time, processors: u32, span: Span) {
        self.profile.remove(now, now + span, processors);
    }

    /// Starts a job whose time is booked.
    pub(crate) fn start_booked(&mut self, now: Time, slot: Slot, processors: u32, span: Span) {
        self.free -= processors;
        if slot.index() >= self.jobs.len() {
            self.jobs.resize(slot.index() + 1, None);
        }
        self.jobs[slot.index()] = Some(Job { processors, planned_end: now + span });
    }

    /// A job has ended; says when it was planned to.
    pub(crate) fn finished(&mut self, now: Time, slot: Slot) -> Time {
        let job = self.jobs[slot.index()].take().expect("only a running job ends");
        self.free += job.processors;
        self.profile.remove(now, job.planned_end, job.processors);
        job.planned_end
    }

    /// Processors fail for who knows how long, and jobs with them.
    pub(crate) fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        for job in killed {
            self.finished(now, job.slot);
        }
        self.free -= processors;
        self.profile.forget_before(now);
        self.profile.add(now, Time::FOREVER, processors);
    }

    pub(crate) fn restored(&mut self, now: Time, processors: u32) {
        self.free += processors;
        self.profile.forget_before(now);
        self.profile.remove(now, Time::FOREVER, processors);
    }

    pub(crate) fn overran(&mut self, now: Time, slot: Slot, end: Time) {
        let job = self.jobs[slot.index()].as_mut().expect("only a running job overruns");
        self.profile.add(job.planned_end.max(now), end, job.processors);
        job.planned_end = end;
    }
}
