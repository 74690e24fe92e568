//! Schedulers that send each job to one resource: FCFS, FJBCR, MaxMax and
//! MinMax (Chtepen 2011, section 2.2).

use haggle_model::JobId;
use serde::{Deserialize, Serialize};

use super::resources::ResourceId;
use super::scheduler::{Checkpointing, GridScheduler, Restart, Round};
use super::view::{Detection, View};

/// Choice of the next job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum QueueOrder {
    /// The job that arrived first.
    Arrival,
    /// The longest job.
    LongestFirst,
    /// The shortest job.
    ShortestFirst,
}

/// Choice of its resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Choice {
    /// Any available resource, drawn uniformly.
    Random,
    /// The resource that the view [prefers](super::resources::Preference).
    Fastest,
}

/// Sends the next job to an available resource until jobs or resources run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueScheduler {
    /// Choice of the next job.
    pub order: QueueOrder,
    /// Choice of its resource.
    pub choice: Choice,
    /// Detection of failures; failed jobs are queued again, by arrival.
    pub detection: Detection,
    /// True if jobs write checkpoints and restart from them.
    pub checkpointing: bool,
}

impl QueueScheduler {
    const fn without_recovery(order: QueueOrder, choice: Choice) -> QueueScheduler {
        QueueScheduler { order, choice, detection: Detection::None, checkpointing: false }
    }

    /// First come, first served, to random resources.
    pub const FCFS: QueueScheduler =
        QueueScheduler::without_recovery(QueueOrder::Arrival, Choice::Random);

    /// First job, best computational resource.
    pub const FJBCR: QueueScheduler =
        QueueScheduler::without_recovery(QueueOrder::Arrival, Choice::Fastest);

    /// The longest job to the best resource.
    pub const MAX_MAX: QueueScheduler =
        QueueScheduler::without_recovery(QueueOrder::LongestFirst, Choice::Fastest);

    /// The shortest job to the best resource.
    pub const MIN_MAX: QueueScheduler =
        QueueScheduler::without_recovery(QueueOrder::ShortestFirst, Choice::Fastest);

    /// Failure detection and migration: FJBCR that notices failures and starts
    /// jobs again elsewhere, from their checkpoints if they write any.
    pub const fn with_recovery(self, detection: Detection, checkpointing: bool) -> QueueScheduler {
        QueueScheduler { detection, checkpointing, ..self }
    }

    fn next_job(&self, view: &View) -> Option<JobId> {
        let turn = match self.order {
            QueueOrder::Arrival => view.jobs().next_with(0, None),
            QueueOrder::LongestFirst => view.jobs().longest(),
            QueueOrder::ShortestFirst => view.jobs().shortest(),
        };
        turn.map(|(_, job)| job)
    }

    fn next_resource(&self, view: &View, round: &mut Round<'_>) -> Option<ResourceId> {
        match self.choice {
            Choice::Random => view.resources().random(&[], round.draw),
            Choice::Fastest => view.resources().fastest(),
        }
    }
}

#[typetag::serde]
impl GridScheduler for QueueScheduler {
    fn detection(&self) -> Detection {
        self.detection
    }

    fn checkpointing(&self) -> Checkpointing {
        if self.checkpointing { Checkpointing::Always } else { Checkpointing::Never }
    }

    fn order(&self) -> QueueOrder {
        self.order
    }

    fn round(&mut self, view: &mut View, round: &mut Round<'_>) {
        let restart = match self.checkpointing {
            true => Restart::FromCheckpoint,
            false => Restart::FromBeginning,
        };
        // The job comes first: a resource is drawn only for a job.
        while let Some(job) = self.next_job(view) {
            let Some(resource) = self.next_resource(view, round) else { return };
            round.dispatch(view, job, resource, restart);
        }
    }
}
