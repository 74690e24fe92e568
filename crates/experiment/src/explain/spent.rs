//! What the time of a job was spent on: parts that add up, to the microsecond.

use std::collections::BTreeMap;

use haggle_results::JobRow;
use serde::Serialize;

/// What some time of a job was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// No provider had queued it: messages, questions and negotiation of a metascheduler. Of a job that
    /// has moved, also the time at providers before the last one.
    Placing,
    /// Its user did not allow it to start yet, or a parent of the task was not done.
    NotReady,
    /// Queued: too few processors were free, or no slot of a grid, and none were missing because
    /// something was down.
    Busy,
    /// Queued, with enough free processors: the order of the queue, or reservations for others.
    Order,
    /// At the scheduler of a grid, while a resource had a free slot: until its next round.
    Round,
    /// There would have been enough free processors, or a slot, if none had been down.
    Down,
    /// The resource where a static schedule had the task worked again, and the scheduler had not heard of that.
    RepairUnknown,
    /// There would have been enough if none had been in maintenance; or enough were free, and a window
    /// was to begin within its requested time that leaves the provider too few.
    Maintenance,
    /// Whoever had it was down: its user or metascheduler before it was queued, and the scheduler of
    /// its provider, too, while enough processors were free.
    SchedulerDown,
    /// It had a slot of a grid and waited for data; or it had moved, and its data were on their way.
    Transfers,
    /// It computed in vain, in an attempt that was lost or not needed.
    Lost,
    /// It had moved, and held processors to be started up.
    StartUp,
    /// It read or wrote checkpoints.
    Checkpoints,
    /// It computed what counts.
    Computing,
}

/// How much of one thing, s.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spent {
    /// On what.
    pub part: Part,
    /// So much of its waiting time.
    pub waiting: f64,
    /// So much of its run time.
    pub running: f64,
}

/// To which of a job's two times something counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Waiting,
    Running,
}

/// The time of one job, told from its submission on, without a gap.
pub(super) struct Ledger {
    start: Option<i64>,
    left: i64,
    told: i64,
    parts: BTreeMap<Part, [i64; 2]>,
}

impl Ledger {
    pub(super) fn new(job: &JobRow) -> Ledger {
        let (start, left) = (job.start.map(micros), micros(job.left));
        Ledger { start, left, told: micros(job.submit), parts: BTreeMap::new() }
    }

    /// Up to when all is told.
    pub(super) fn told(&self) -> i64 {
        self.told
    }

    /// When the job left.
    pub(super) fn left(&self) -> i64 {
        self.left
    }

    /// All until then was spent on `part`. What is before the job's start is waiting time.
    pub(super) fn until(&mut self, until: i64, part: Part) {
        let until = until.min(self.left);
        let start = self.start.unwrap_or(self.left);
        self.spend(until.min(start), part, Column::Waiting);
        self.spend(until, part, Column::Running);
    }

    /// Until then, `known` was spent as far as that is told, and all else on `rest`: for an
    /// attempt of which tables have sums.
    pub(super) fn mixed(
        &mut self,
        until: i64,
        known: &[(Part, Column, i64)],
        rest: (Part, Column),
    ) {
        let until = until.min(self.left);
        for &(part, column, spent) in known {
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

    /// What was spent, in the order of [`Part`].
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
