//! Parts of a job's time in the system. They add up, to the microsecond.

use std::collections::BTreeMap;

use haggle_results::JobRow;
use serde::Serialize;

/// Use of a part of a job's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Before time zero: a run has no records of that time.
    Before,
    /// No provider had queued it: messages, requests and negotiation of a metascheduler. For a
    /// moved job, also the time at providers before the last one.
    Placing,
    /// Its user held it when the run stopped: a job that it follows had not ended, or its think time was not over.
    Following,
    /// Its user did not allow it to start yet, or a parent of the task was not done.
    NotReady,
    /// Queued at a provider that starts jobs as recorded, before the start that its log has recorded.
    Recorded,
    /// Queued, and a limit of its user, its account or its queue kept it from its start.
    Limit,
    /// Queued: too few processors or slots of a grid were free, and outages were not the cause.
    Busy,
    /// Queued with enough free processors, but without enough memory beside them on their nodes.
    Memory,
    /// Queued with enough free processors, but without enough accelerators on their nodes.
    Gpus,
    /// Queued with enough free processors, but too few of them together on nodes, or on nodes that run other jobs.
    Nodes,
    /// Queued with enough free processors: the order of the queue, or reservations of other jobs.
    Order,
    /// Queued with enough free processors, until the next pass of its provider's scheduler.
    Pass,
    /// At the scheduler of a grid, while a resource had a free slot: until its next round.
    Round,
    /// Without outages, enough processors or a slot would have been free.
    Down,
    /// The resource of its static schedule worked again, but the scheduler did not know it yet.
    RepairUnknown,
    /// Without maintenance, enough processors would have been free. Or enough were free, but a
    /// window within its requested time would leave the provider too few.
    Maintenance,
    /// Its holder was down: its user or metascheduler before it was queued, or the scheduler of its
    /// provider while enough processors were free.
    SchedulerDown,
    /// It had a slot of a grid and waited for data; or it had moved, and its data were on their way.
    Transfers,
    /// Computing of an attempt that was lost or not needed.
    Lost,
    /// It had moved, and held processors during its start-up.
    StartUp,
    /// It read or wrote checkpoints.
    Checkpoints,
    /// Computing that counts.
    Computing,
}

/// Time of one part, s.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spent {
    /// The part.
    pub part: Part,
    /// Its part of the waiting time.
    pub waiting: f64,
    /// Its part of the run time.
    pub running: f64,
}

/// Column of a job's time: waiting time or run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Waiting,
    Running,
}

/// The time of one job, filled from its submission on without a gap.
pub(super) struct Ledger {
    start: Option<i64>,
    left: i64,
    told: i64,
    parts: BTreeMap<Part, [i64; 2]>,
}

impl Ledger {
    pub(super) fn new(job: &JobRow) -> Ledger {
        let (start, left) = (job.start.map(micros), micros(job.left));
        let mut ledger = Ledger { start, left, told: micros(job.submit), parts: BTreeMap::new() };
        if job.held == Some(true) {
            ledger.until(left, Part::Following);
        }
        ledger
    }

    /// Time up to which the ledger is filled.
    pub(super) fn told(&self) -> i64 {
        self.told
    }

    /// When the job left.
    pub(super) fn left(&self) -> i64 {
        self.left
    }

    /// Assigns all time until then to `part`. Time before the job's start is waiting time.
    pub(super) fn until(&mut self, until: i64, part: Part) {
        let until = until.min(self.left);
        // A job that never started only waited.
        let start = self.start.unwrap_or(self.left);
        self.spend(until.min(start), part, Column::Waiting);
        self.spend(until, part, Column::Running);
    }

    /// Assigns the time until then to `known`, as far as that suffices, and the remainder to
    /// `rest`. For attempts of which tables have only sums.
    pub(super) fn mixed(
        &mut self,
        until: i64,
        known: &[(Part, Column, i64)],
        rest: (Part, Column),
    ) {
        let until = until.min(self.left);
        for &(part, column, spent) in known {
            // Sums of tables are rounded, and must not exceed the time that is left.
            self.spend((self.told + spent.max(0)).min(until), part, column);
        }
        self.spend(until, rest.0, rest.1);
    }

    fn spend(&mut self, until: i64, part: Part, column: Column) {
        if until > self.told {
            self.parts.entry(part).or_default()[column as usize] += until - self.told;
            self.told = until;
        }
    }

    /// The parts, in the order of [`Part`].
    pub(super) fn spent(&self) -> Vec<Spent> {
        let row = |(&part, &[waiting, running]): (&Part, &[i64; 2])| Spent {
            part,
            waiting: seconds(waiting),
            running: seconds(running),
        };
        self.parts.iter().map(row).collect()
    }
}

/// Microseconds, in which tables are exact.
pub(super) fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

pub(super) fn seconds(micros: i64) -> f64 {
    micros as f64 / 1e6
}
