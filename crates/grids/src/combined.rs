//! Replication while there is room, checkpoints under load (CombinedFT, Chtepen
//! 2011, section 4.4.3).

use haggle_model::JobId;
use serde::{Deserialize, Serialize};

use super::jobs::{Turn, most_advanced};
use super::replication::Replicas;
use super::scheduler::{Checkpointing, GridScheduler, Questions, Restart, Round};
use super::view::{Detection, View};

/// Switches between replicas and checkpoints by the room for the next job.
///
/// One mode holds for a whole round: cancelling replicas makes room, which would otherwise bring them back
/// at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CombinedFt {
    /// Rep_max and CL; Rep_min is not used, for under load a job has one replica.
    replicas: Replicas,
    /// Replication begins again when this much room is left for the next job.
    resume: u64,
    mode: Mode,
}

/// The protection of jobs against failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Mode {
    Replicas,
    Checkpoints,
}

impl CombinedFt {
    /// Replicates while CA ≥ CL.
    pub const fn new(replicas: Replicas) -> CombinedFt {
        CombinedFt { replicas, resume: replicas.room, mode: Mode::Replicas }
    }

    /// After a change to checkpoints, uses them until CA ≥ `resume`, at least CL.
    pub const fn with_hysteresis(self, resume: u64) -> CombinedFt {
        CombinedFt { resume, ..self }
    }

    fn next_mode(&self, view: &View) -> Mode {
        let enough = match self.mode {
            Mode::Replicas => self.replicas.room,
            Mode::Checkpoints => self.resume.max(self.replicas.room),
        };
        let free = view.resources().free(self.replicas.unit);
        if free >= enough { Mode::Replicas } else { Mode::Checkpoints }
    }

    /// Jobs without a replica get one; jobs with several keep the most advanced one.
    fn protect(&self, view: &mut View, round: &mut Round<'_>) {
        let mut after: Option<Turn> = None;
        loop {
            let jobs = view.jobs();
            let waiting = jobs.next_with(0, after);
            let running = [jobs.next_bare(after), jobs.next_from(2, after)];
            let next = running.into_iter().chain([waiting]).flatten().min();
            let Some(turn @ (_, job)) = next else { return };
            after = Some(turn);
            // The next job in turn runs: it keeps one replica, which writes checkpoints.
            if Some(turn) != waiting {
                reduce(view, round, job);
                continue;
            }
            // Room is made by taking a replica from any job that has several.
            if !view.resources().any_available() {
                let Some(replicated) = jobs.any_replicated(round.draw) else { return };
                reduce(view, round, replicated);
            }
            // A cancelled replica may have held no slot, or one of a resource that is down.
            let Some(resource) = view.place(job) else { return };
            round.set_checkpointing(view, job, true);
            round.dispatch(view, job, resource, Restart::FromCheckpoint);
        }
    }

    /// As many replicas as there is room for. Without room, each job without a replica gets one with
    /// checkpoints.
    fn replicate(&self, view: &mut View, round: &mut Round<'_>) {
        let mut postponed: Option<Turn> = None;
        while view.resources().any_available() {
            let room = self.replicas.have_room(view.resources());
            // The room is examined anew for each job, because every dispatch takes some.
            let limit = if room { self.replicas.max } else { 1 };
            let Some(turn @ (_, job)) = view.jobs().next_below(limit, postponed) else { return };
            let Some(resource) = view.place(job) else {
                // All available resources have a copy of this job; later jobs may still be placed.
                postponed = Some(turn);
                continue;
            };
            round.dispatch(view, job, resource, Restart::FromCheckpoint);
            if !room {
                round.set_checkpointing(view, job, true);
            } else if view.job(job).replicas.len() as u32 >= self.replicas.max {
                // All replicas protect it, so it needs no checkpoints.
                round.set_checkpointing(view, job, false);
            }
        }
    }
}

/// Leaves a job its most advanced replica, which writes checkpoints from now on.
fn reduce(view: &mut View, round: &mut Round<'_>, job: JobId) {
    let insight = round.insight;
    let kept = most_advanced(view.job(job), |resource| insight.progress(job, resource));
    let mut others = view.job(job).replicas.clone();
    others.retain(|copy| Some(*copy) != kept);
    for copy in others {
        round.cancel(view, job, copy);
    }
    round.set_checkpointing(view, job, true);
}

#[typetag::serde]
impl GridScheduler for CombinedFt {
    fn detection(&self) -> Detection {
        Detection::RestartReport
    }

    fn checkpointing(&self) -> Checkpointing {
        Checkpointing::Switched
    }

    /// The most advanced replica of each replicated job is kept, so their progress is requested.
    fn questions(&self, view: &View) -> Questions {
        let mut progress = Vec::new();
        let mut after = None;
        while self.next_mode(view) == Mode::Checkpoints
            && let Some(turn @ (_, job)) = view.jobs().next_from(2, after)
        {
            after = Some(turn);
            progress.extend(view.job(job).replicas.iter().map(|&resource| (job, resource)));
        }
        Questions { progress, traffic: false }
    }

    fn round(&mut self, view: &mut View, round: &mut Round<'_>) {
        self.mode = self.next_mode(view);
        match self.mode {
            Mode::Replicas => self.replicate(view, round),
            Mode::Checkpoints => self.protect(view, round),
        }
    }
}
