//! `[[workload.step]]`: what is done to the jobs of a workload before the run.

use haggle_model::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    DependenciesFrom, FollowOn, KeyField, KeyOrder, Law, LoggedMemory, Overshoot, Remedy, Rounding,
    SplitBy, TimeLaw, TimeOf, WindowStart,
};
use crate::quantity::{Bytes, EstimateRule, Name, Share, TimeSpan};

/// The largest factor of the gaps between submissions, and of the load of a window.
pub const SCALE_MAX: f64 = 1e6;

/// A transformation of the jobs of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    deny_unknown_fields
)]
pub enum Step {
    /// Keeps the jobs submitted from `from` until before `until`.
    Window {
        /// Start of the window, from time zero.
        #[serde(default = "zero")]
        from: TimeSpan,
        /// End of the window, from time zero; without it, the end of the workload.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<TimeSpan>,
        /// Instant that becomes time zero.
        #[serde(default)]
        start: WindowStart,
    },
    /// Keeps the jobs of a drawn window, so that runs with several seeds use several parts of a log.
    RandomWindow {
        /// Length of the window.
        length: TimeSpan,
        /// Earliest beginning of the window, from time zero; the drawn beginning becomes time zero.
        #[serde(default = "zero")]
        from: TimeSpan,
        /// Latest end of the window, from time zero; without it, the last submission.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<TimeSpan>,
        /// Distance between beginnings that may be drawn: with weeks, jobs keep their time of week.
        #[serde(default = "week")]
        every: TimeSpan,
    },
    /// Keeps the jobs that meet every condition given.
    Filter {
        /// Fewest processors.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        processors_min: Option<u32>,
        /// Most processors.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        processors_max: Option<u32>,
        /// Shortest run time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_min: Option<TimeSpan>,
        /// Longest run time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_max: Option<TimeSpan>,
        /// Shortest requested time; a job without a limit exceeds every bound.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requested_min: Option<TimeSpan>,
        /// Longest requested time; a job without a limit exceeds every bound.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requested_max: Option<TimeSpan>,
        /// Only jobs of these users of the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1))]
        users: Option<Vec<i32>>,
        /// Only jobs of these groups of the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1))]
        groups: Option<Vec<i32>>,
        /// Only jobs of these queues of the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1))]
        queues: Option<Vec<i32>>,
        /// Only jobs of these partitions of the log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1))]
        partitions: Option<Vec<i32>>,
    },
    /// Keeps the first jobs.
    First {
        /// Number of jobs.
        #[schemars(range(min = 1))]
        jobs: u64,
    },
    /// Changes the load by multiplying all gaps between submissions: 0.5 doubles it.
    ScaleGaps {
        /// Factor of the gaps.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = SCALE_MAX))]
        factor: f64,
    },
    /// Changes the load of a fixed window by moving more or less of the workload into it.
    FillWindow {
        /// Start of the window, from time zero; it becomes time zero.
        #[serde(default = "zero")]
        from: TimeSpan,
        /// Length of the window after filling.
        length: TimeSpan,
        /// Number of jobs in the window, relative to the untouched workload.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = SCALE_MAX))]
        load: f64,
    },
    /// Replaces the requested times: one of `rule`, `factor` and `over`.
    Estimates {
        /// Rule by which users estimate: trace, exact, no-limit, factor:F, over:P%, uniform:F or precision:+P.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<EstimateRule>,
        /// Factor drawn for each job; a request is 1 s or longer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        factor: Option<Law>,
        /// Percent by which the requested time exceeds the run time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0, max = 1e6))]
        over: Option<f64>,
        /// Time that the factor multiplies; "run-time" if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<TimeOf>,
    },
    /// Gives jobs a deadline, by a drawn multiple or a drawn slack: one of `factor` and `slack`.
    Deadlines {
        /// Deadline = submission + the time in `of` x the larger of this factor and `least`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        factor: Option<Law>,
        /// Smallest factor; 1 if not given, so that no job has less time than it needs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0, max = 1e6))]
        least: Option<f64>,
        /// Deadline = submission + the time in `of` + this slack.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slack: Option<TimeLaw>,
        /// Deadline = submission + the time in `of` + one of these slacks, all equally likely.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1))]
        one_of: Option<Vec<TimeSpan>>,
        /// Number that distinguishes workloads with `one-of`: the slack of a job depends on it, the seed and the job's
        /// place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stream: Option<u64>,
        /// Time of a job from which its deadline is computed.
        #[serde(default = "requested_time")]
        of: TimeOf,
    },
    /// Gives jobs an earliest start, never before the submission: one of `delay` and `lead`.
    ReadyTimes {
        /// Ready = submission + this delay.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay: Option<TimeLaw>,
        /// Ready = deadline - this lead; jobs without a deadline stay as they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lead: Option<TimeLaw>,
    },
    /// Makes jobs ask their provider for an advance reservation, from ready time to deadline.
    Reservations {
        /// Deadline = submission + requested time x the larger of this factor and 1; ready time = deadline - requested
        /// time: an interval that is just long enough. Without it, ready times and deadlines stay as they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lead: Option<Law>,
        /// Probability that a job is flexible.
        #[serde(default = "every")]
        flexible: Share,
        /// Percent of the requested time by which the deadline of a flexible job is later.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flexibility: Option<Law>,
        /// Largest distance from the window, in percent of the requested time, of an interval that the user of a
        /// flexible job accepts instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0, max = 1_000_000))]
        accepts: Option<u32>,
        /// Fewest processors on which a moldable job may run, in percent of its requested processors; 100 if not given.
        #[serde(default = "hundred", skip_serializing_if = "is_hundred")]
        #[schemars(range(min = 1, max = 100))]
        narrowest: u32,
        /// Most processors on which a moldable job may run, in percent of its requested processors; 100 if not given.
        #[serde(default = "hundred", skip_serializing_if = "is_hundred")]
        #[schemars(range(min = 100, max = 1_000_000))]
        widest: u32,
        /// Wish of users when processors fail under the place of a reservation, or other jobs take it; "postpone" if
        /// not given.
        #[serde(default, skip_serializing_if = "is_default")]
        on_failure: Remedy,
    },
    /// Sets the priority key of each job.
    Key {
        /// The field that is the key.
        by: KeyField,
        /// Values that go first.
        #[serde(default)]
        order: KeyOrder,
    },
    /// Keeps one of several parts, or more, so that one log can feed several users.
    Split {
        /// The first part that is kept, from 0.
        part: u32,
        /// Number of parts that are kept, from that one on; 1 if not given.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        #[schemars(range(min = 1))]
        count: u32,
        /// Number of all parts.
        #[schemars(range(min = 1))]
        parts: u32,
        /// Unit that is not divided.
        #[serde(default)]
        by: SplitBy,
        /// Common name of the parts: use one name for the parts of each log.
        #[serde(default = "pool")]
        pool: Name,
    },
    /// Keeps consecutive jobs.
    Slice {
        /// Number of jobs dropped before them.
        #[serde(default)]
        skip: u64,
        /// Number of jobs kept.
        #[schemars(range(min = 1))]
        jobs: u64,
    },
    /// Stretches or shrinks the workload so that its submissions fill a given time.
    Spread {
        /// The length, from time zero.
        length: TimeSpan,
    },
    /// Takes as many jobs into a period, by shrinking all gaps, as make a given load.
    FitLoad {
        /// Length of the period, from time zero; later jobs are dropped.
        length: TimeSpan,
        /// Processors to which the load is relative.
        #[schemars(range(min = 1))]
        processors: u64,
        /// Run time x processors of the jobs over processors x length.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000))]
        load: f64,
        /// Largest difference from the load; upwards, if the job that exceeds it is taken.
        #[serde(default = "two_thousandths")]
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
        tolerance: f64,
        /// Treatment of a job that makes the load too large.
        #[serde(default)]
        overshoot: Overshoot,
    },
    /// Moves every submission by a drawn time; runs with several seeds then show how much a result depends on the
    /// instants of a log (Tsafrir, Ouaknine and Feitelson 2007).
    Shake {
        /// Largest move of a submission, to either side.
        most: TimeSpan,
        /// Unit that moves by the same time: "job" = each job by its own, "user" = all jobs of a user by one.
        #[serde(default = "job")]
        by: SplitBy,
    },
    /// Makes another workload of the same users; each seed draws other users. Each user's jobs move by whole weeks
    /// (after Zakay and Feitelson 2013).
    Resample {
        /// Number of weeks of the new workload; as many as in the original if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 100_000))]
        weeks: Option<u32>,
        /// Number of weeks from which a user counts as long-term and stays for the whole time; 12 if not given. Other
        /// users come and go.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 100_000))]
        long_term: Option<u32>,
    },
    /// Makes every job run exactly as long as requested.
    RunTimesAsRequested {},
    /// Makes every job run for a drawn part of its requested time.
    RunTimes {
        /// The part, in percent; at most 100 % and at least a second, in whole seconds.
        percent: Law,
    },
    /// Makes every job run longer by a share of its requested time, up to all of that.
    ExtendRunTimes {
        /// The share; requests become more precise by it.
        by: Share,
    },
    /// Makes each job a bag of independent one-processor tasks, one for each requested processor.
    Bags {},
    /// Makes jobs moldable: providers of a metascheduler with `reallocation` choose their sizes. One of four kinds is
    /// drawn for each job, or all jobs are alike: `parallel` and `limit`.
    Moldable {
        /// The part of the work that processors divide among them, from 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0, max = 1))]
        parallel: Option<f64>,
        /// Most processors that make a job faster; goes with `parallel`, without a limit if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 100_000_000))]
        limit: Option<u32>,
        /// True if the requested processors of a job are cut to the most that make it faster; the requested time then
        /// refers to those. Without it, the request stays.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        capped: bool,
        /// Unit to which the times on other processors are rounded up.
        #[serde(default, skip_serializing_if = "is_default")]
        rounding: Rounding,
    },
    /// Multiplies run times and requested times, for example those of a log of a machine that is faster than the
    /// reference.
    ScaleTimes {
        /// Factor of the times.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000))]
        factor: f64,
    },
    /// Lets jobs follow others: users submit them after the ends of these in the simulation. Steps that drop or move jobs
    /// come before it.
    Dependencies {
        /// Source of the jobs that a job follows.
        from: DependenciesFrom,
        /// Ends of these jobs that count.
        #[serde(default, skip_serializing_if = "is_default")]
        on: FollowOn,
        /// Longest think time within a session, with `from = "sessions"`; 20min if not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gap: Option<TimeSpan>,
    },
    /// Gives jobs a demand for resources of nodes.
    Demand {
        /// Memory for each processor of a job.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memory_per_processor: Option<Bytes>,
        /// Instead of `memory-per-processor`: the memory that the log states. Jobs without it need none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memory_from: Option<LoggedMemory>,
        /// Accelerators of each job.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 1_000_000))]
        gpus: Option<u32>,
        /// True if jobs share their nodes with no other job.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        exclusive: bool,
    },
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

fn hundred() -> u32 {
    100
}

fn is_hundred(percent: &u32) -> bool {
    *percent == 100
}

fn two_thousandths() -> f64 {
    0.002
}

fn zero() -> TimeSpan {
    TimeSpan::ZERO
}

fn week() -> TimeSpan {
    TimeSpan(Span::from_secs(7 * 24 * 3600))
}

fn job() -> SplitBy {
    SplitBy::Job
}

fn every() -> Share {
    Share::ALL
}

fn requested_time() -> TimeOf {
    TimeOf::RequestedTime
}

fn pool() -> Name {
    "split".parse().expect("letters make a name")
}

fn is_default<T: Default + PartialEq>(it: &T) -> bool {
    *it == T::default()
}
