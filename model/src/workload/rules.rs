//! How the lines of a log become jobs: one option for each thing a line may lack.
//!
//! Every line that a rule changes or drops is counted, see
//! [`CleaningReport`](super::CleaningReport). The rules are applied in the order of
//! the fields of [`Rules`].

use super::swf::Malformed;

/// The rules; [`Rules::default`] is for careful everyday use, [`Rules::canonical`]
/// for comparison with published figures. Both leave out jobs that never ran, and cut a run
/// that was longer than its request.
///
/// ```
/// use haggle_model::workload::rules::{MissingRequest, Rules};
/// let rules = Rules { missing_request: MissingRequest::Drop, ..Rules::default() };
/// assert_ne!(rules, Rules::canonical());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Rules {
    /// Read only so many job lines; `None` = all.
    pub lines: Option<u64>,
    /// Lines that are not records.
    pub malformed: Malformed,
    /// Jobs without a submit time.
    pub missing_submit: MissingSubmit,
    /// Lines that describe a part of a job that was stopped and restarted (status 2 to 4).
    pub partial: PartialExecution,
    /// Jobs cancelled before they started (status 5, no run time).
    pub cancelled: Cancelled,
    /// Where the number of processors comes from.
    pub processors: ProcessorsFrom,
    /// Processors of the machine; `None` = as the log's header says.
    pub machine_size: Option<u32>,
    /// Jobs with more processors than the machine.
    pub too_wide: TooWide,
    /// Jobs whose run time is unknown (negative).
    pub missing_run_time: NoRunTime,
    /// Jobs that ran for 0 s.
    pub zero_run_time: ZeroRunTime,
    /// Jobs without a requested time (zero or negative).
    pub missing_request: MissingRequest,
    /// Jobs that ran longer than requested.
    pub overrun: Overrun,
    /// Lines that are not in order of submission.
    pub order: SubmitOrder,
    /// Where time zero is.
    pub origin: Origin,
}

impl Rules {
    /// The canonical log that the field's comparisons use: processors = field 5
    /// if positive, else field 8; lines with no run time, no processors or no
    /// requested time are dropped; a run longer than its request is cut to it;
    /// the first submission is time zero. Partial and cancelled lines get no
    /// treatment of their own, and the machine's size is not looked at.
    pub fn canonical() -> Rules {
        Rules {
            partial: PartialExecution::Keep,
            cancelled: Cancelled::Keep,
            processors: ProcessorsFrom::AllocatedThenRequested,
            too_wide: TooWide::Keep,
            missing_run_time: NoRunTime::Drop,
            zero_run_time: ZeroRunTime::Drop,
            missing_request: MissingRequest::Drop,
            overrun: Overrun::Cut,
            ..Rules::default()
        }
    }
}

/// What becomes of a job whose submit time is unknown (negative).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingSubmit {
    /// It is dropped, for any time would be invented.
    #[default]
    Drop,
    /// It is submitted together with the job above it.
    AsPrevious,
}

/// What becomes of lines with status 2, 3 or 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialExecution {
    /// They are dropped: the same work stands in a line of its own with status 0 or 1.
    #[default]
    Drop,
    /// Each is a job.
    Keep,
}

/// What becomes of a job with status 5 and no run time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cancelled {
    /// It is dropped: nobody knows how long it would have run.
    #[default]
    Drop,
    /// It goes on to the rules on run times.
    Keep,
}

/// Which of the two fields says how many processors a job needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessorsFrom {
    /// What the user asked for (field 8), else what the job got (field 5).
    #[default]
    RequestedThenAllocated,
    /// What the job got, else what the user asked for.
    AllocatedThenRequested,
    /// What the user asked for; jobs without it are dropped.
    Requested,
    /// What the job got; jobs without it are dropped.
    Allocated,
}

/// What becomes of a job that needs more processors than the machine has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TooWide {
    /// It stays as it is, so that providers refuse it and the result shows it.
    #[default]
    Keep,
    /// It is dropped.
    Drop,
    /// It asks for the whole machine instead.
    Clamp,
}

/// What becomes of a job whose run time is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoRunTime {
    /// It is dropped.
    #[default]
    Drop,
    /// It runs for 1 s.
    OneSecond,
    /// It runs for 0 s.
    Zero,
}

/// What becomes of a job that ran for 0 s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZeroRunTime {
    /// It runs for 1 s: logs in whole seconds mean "less than a second", and it held processors.
    #[default]
    OneSecond,
    /// It is dropped.
    Drop,
    /// It runs for 0 s.
    Keep,
}

/// What becomes of a job without a requested time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingRequest {
    /// Its request is its run time, as if its user knew.
    #[default]
    UseRunTime,
    /// It is dropped.
    Drop,
    /// It has no limit; schedulers that plan must then expect it to run for ever.
    NoLimit,
}

/// What becomes of a job that ran longer than it asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overrun {
    /// Its run time is cut to the request, as if it had been stopped there.
    #[default]
    Cut,
    /// It stays, and the machine stops it or not, as the scenario says.
    Keep,
    /// Its request is raised to its run time.
    RaiseRequest,
}

/// What becomes of a log that is not in order of submission.
///
/// A stream cannot know of a late line before it has passed on the lines above
/// it, so there is no "sort where needed" that also streams. The default says
/// where the disorder is; logs of the archive are in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubmitOrder {
    /// The first line that is out of order is an error.
    #[default]
    Require,
    /// The whole log is read into memory and sorted; equal times keep their order.
    Sort,
}

/// Where a workload's time zero is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The first job that is kept is submitted at time zero.
    #[default]
    FirstJob,
    /// Times stay as the log has them.
    Log,
}
