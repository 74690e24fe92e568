//! Conversion of the lines of a log into jobs: one option for each field that a line may lack.
//!
//! Every line that a rule changes or drops is counted, see
//! [`CleaningReport`](super::CleaningReport). The rules are applied in the order of
//! the fields of [`Rules`].

pub use super::swf::Malformed;

/// The rules. [`Rules::default`] is for careful everyday use, [`Rules::canonical`] for comparison with
/// published figures. Both leave out jobs that never ran, and cut a run that was longer than its
/// request.
///
/// ```
/// use haggle_workloads::rules::{MissingRequest, Rules};
/// let rules = Rules { missing_request: MissingRequest::Drop, ..Rules::default() };
/// assert_ne!(rules, Rules::canonical());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Rules {
    /// Largest number of job lines to read; `None` = all.
    pub lines: Option<u64>,
    /// Lines that are not records.
    pub malformed: Malformed,
    /// Jobs without a submit time.
    pub missing_submit: MissingSubmit,
    /// Lines that describe a part of a job that was stopped and restarted (status 2 to 4).
    pub partial: PartialExecution,
    /// Jobs cancelled before they started (status 5, no run time).
    pub cancelled: Cancelled,
    /// Source of the number of processors.
    pub processors: ProcessorsFrom,
    /// Processors of the machine; `None` = as in the log's header.
    pub machine_size: Option<u32>,
    /// Jobs with more processors than the machine.
    pub too_wide: TooWide,
    /// Jobs whose run time is unknown (negative).
    pub missing_run_time: MissingRunTime,
    /// Jobs that ran for 0 s.
    pub zero_run_time: ZeroRunTime,
    /// Jobs without a requested time (zero or negative).
    pub missing_request: MissingRequest,
    /// Jobs that ran longer than requested.
    pub overrun: OverRequest,
    /// Lines that are not in order of submission.
    pub order: SubmitOrder,
    /// Time zero of the log.
    pub origin: Origin,
}

impl Rules {
    /// The canonical log of the field's comparisons. Processors = field 5 if positive, else field 8.
    /// Lines without run time, processors or requested time are dropped. A run longer than its request
    /// is cut to it. The first submission is time zero. Partial and cancelled lines get no special
    /// treatment, and the machine's size is ignored.
    pub fn canonical() -> Rules {
        Rules {
            partial: PartialExecution::Keep,
            cancelled: Cancelled::Keep,
            processors: ProcessorsFrom::AllocatedThenRequested,
            too_wide: TooWide::Keep,
            missing_run_time: MissingRunTime::Drop,
            zero_run_time: ZeroRunTime::Drop,
            missing_request: MissingRequest::Drop,
            overrun: OverRequest::Cut,
            ..Rules::default()
        }
    }
}

haggle_model::words! {
    /// Treatment of a job whose submit time is unknown.
    #[derive(Default)]
    pub enum MissingSubmit {
        /// It is left out.
        #[default]
        Drop = "drop",
        /// It is submitted together with the job above it.
        AsPrevious = "as-previous",
    }
}

haggle_model::words! {
    /// Treatment of a line about a part of a job that was stopped and restarted.
    #[derive(Default)]
    pub enum PartialExecution {
        /// It is left out: a line of its own has the same work.
        #[default]
        Drop = "drop",
        /// It is a job.
        Keep = "keep",
    }
}

haggle_model::words! {
    /// Treatment of a job that was cancelled before it started.
    #[derive(Default)]
    pub enum Cancelled {
        /// It is left out.
        #[default]
        Drop = "drop",
        /// The rules on run times decide.
        Keep = "keep",
    }
}

haggle_model::words! {
    /// Field with the number of processors that a job needs.
    #[derive(Default)]
    pub enum ProcessorsFrom {
        /// Requested processors (field 8), or allocated ones (field 5) where the request is missing.
        #[default]
        RequestedThenAllocated = "requested-then-allocated",
        /// Allocated processors (field 5), or requested ones (field 8) where the allocation is missing.
        AllocatedThenRequested = "allocated-then-requested",
        /// Requested processors (field 8); jobs without them are left out.
        Requested = "requested",
        /// Allocated processors (field 5); jobs without them are left out.
        Allocated = "allocated",
    }
}

haggle_model::words! {
    /// Treatment of a job that needs more processors than the machine has.
    #[derive(Default)]
    pub enum TooWide {
        /// It stays as it is, so that providers refuse it.
        #[default]
        Keep = "keep",
        /// It is left out.
        Drop = "drop",
        /// It asks for the whole machine.
        Clamp = "clamp",
    }
}

haggle_model::words! {
    /// Treatment of a job whose run time is unknown.
    #[derive(Default)]
    pub enum MissingRunTime {
        /// It is left out.
        #[default]
        Drop = "drop",
        /// It runs for one second.
        OneSecond = "one-second",
        /// It has a run time of zero.
        Zero = "zero",
    }
}

haggle_model::words! {
    /// Treatment of a job that ran for 0 s.
    #[derive(Default)]
    pub enum ZeroRunTime {
        /// It runs for one second.
        #[default]
        OneSecond = "one-second",
        /// It is left out.
        Drop = "drop",
        /// It has a run time of zero.
        Keep = "keep",
    }
}

haggle_model::words! {
    /// Substitute for a missing requested time.
    #[derive(Default)]
    pub enum MissingRequest {
        /// The job's run time.
        #[default]
        UseRunTime = "use-run-time",
        /// None: the job is left out.
        Drop = "drop",
        /// None: the job has no limit.
        NoLimit = "no-limit",
    }
}

haggle_model::words! {
    /// Treatment of a job that ran longer than requested.
    #[derive(Default)]
    pub enum OverRequest {
        /// Its run time is cut to its requested time.
        #[default]
        Cut = "cut",
        /// Its run time stays, and the provider's overrun rule decides.
        Keep = "keep",
        /// Its requested time is raised to its run time.
        RaiseRequest = "raise-request",
    }
}

haggle_model::words! {
    // A stream learns of a late line only after it has passed on the lines above, so sorting only where
    // needed cannot stream. The default reports the first line out of order; logs of the archive are in
    // order.
    /// Treatment of a log that is not in order of submission.
    #[derive(Default)]
    pub enum SubmitOrder {
        /// The first line out of order is an error.
        #[default]
        Require = "require",
        /// The whole log is read and sorted before its first job is passed on.
        Sort = "sort",
    }
}

haggle_model::words! {
    /// Position of time zero in a log.
    #[derive(Default)]
    pub enum Origin {
        /// The first job that is kept is submitted at time zero.
        #[default]
        FirstJob = "first-job",
        /// Times stay as the log has them.
        Log = "log",
    }
}
