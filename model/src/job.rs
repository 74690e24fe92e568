//! A job, as a workload brings it and as its user describes it.

use crate::{JobId, Span, Time};

/// Whether a provider's own users sent a job or a metascheduler did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobClass {
    /// Submitted straight to one provider by its own users.
    Local,
    /// Placed by a metascheduler.
    External,
}

impl JobClass {
    /// The word used in tables, scenarios and messages.
    pub const fn name(self) -> &'static str {
        match self {
            JobClass::Local => "local",
            JobClass::External => "external",
        }
    }
}

/// Whether a job needs its processors all at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobShape {
    /// All at once, on one provider.
    #[default]
    Rigid,
    /// A bag: as many independent tasks as it has processors, each on one
    /// processor for the job's time, anywhere and at any time.
    Bag,
}

/// What only the machine that runs a job finds out: how long it really takes.
///
/// No scheduler and no policy reads it; the provider's machine does, when it
/// starts the job. The field is private so that a reader has to say
/// [`HiddenRunTime::reveal_to_machine`], which is easy to search for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HiddenRunTime(Span);

impl HiddenRunTime {
    /// Hides a run time.
    pub const fn new(run_time: Span) -> HiddenRunTime {
        HiddenRunTime(run_time)
    }

    /// The run time on the reference processor: for workload transformations
    /// before a run and for the machine during it.
    pub const fn reveal_to_machine(self) -> Span {
        self.0
    }

    /// What a profiler finds out that errs by the fraction `error` of what the
    /// user's `estimate` errs by: run time + error x (estimate - run time), to the
    /// nearest microsecond (Netto 2009, section 7.4; 0 = a perfect estimate).
    pub fn profiled(self, estimate: Span, error: f64) -> Span {
        let (truth, estimate) = (self.0.as_micros(), estimate.as_micros());
        let off = (estimate - truth) as f64 * error;
        Span::from_micros(truth + off.round() as i64)
    }
}

/// A job. Times are those of a reference processor (speed 1).
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Identifies the job in this run.
    pub id: JobId,
    /// Which workload of the scenario it came from (index into the scenario's list).
    pub workload: u16,
    /// Its number in that workload, as the log's authors wrote it.
    pub number: i64,
    /// When its user submits it.
    pub submit: Time,
    /// Whether it needs its processors all at once.
    pub shape: JobShape,
    /// Processors it needs; of a bag, its tasks.
    pub processors: u32,
    /// The user's estimate and limit (walltime); `None` = the user gave no limit.
    pub requested_time: Option<Span>,
    /// How long it really runs.
    pub run_time: HiddenRunTime,
    /// Earliest start the user allows.
    pub ready: Option<Time>,
    /// Latest completion the user wishes.
    pub deadline: Option<Time>,
    /// User-supplied priority key: smaller goes first where a provider orders by it.
    pub key: i64,
    /// Numbers the log carries along; nothing in the engine reads them.
    pub origin: JobOrigin,
}

/// The log's fields that describe a job without changing how it is scheduled; -1 = unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobOrigin {
    /// User number.
    pub user: i32,
    /// Group number.
    pub group: i32,
    /// Executable (application) number.
    pub executable: i32,
    /// Queue number.
    pub queue: i32,
    /// Partition number.
    pub partition: i32,
    /// Requested memory per processor, KB.
    pub requested_memory: i64,
    /// Used memory per processor, KB.
    pub used_memory: i64,
    /// Number of the job this one waits for in the log.
    pub preceding_job: i64,
    /// Seconds between the end of that job and this submission.
    pub think_time: i64,
}

impl JobOrigin {
    /// Nothing known.
    pub const UNKNOWN: JobOrigin = JobOrigin {
        user: -1,
        group: -1,
        executable: -1,
        queue: -1,
        partition: -1,
        requested_memory: -1,
        used_memory: -1,
        preceding_job: -1,
        think_time: -1,
    };
}

impl Job {
    /// A job that needs `processors` for exactly `run_time`, with an exact
    /// request; for examples and tests, which then change what matters.
    pub fn new(id: u32, submit: Time, processors: u32, run_time: Span) -> Job {
        Job {
            id: JobId(id),
            workload: 0,
            number: i64::from(id) + 1,
            submit,
            shape: JobShape::Rigid,
            processors,
            requested_time: Some(run_time),
            run_time: HiddenRunTime::new(run_time),
            ready: None,
            deadline: None,
            key: 0,
            origin: JobOrigin::UNKNOWN,
        }
    }
}
