//! Moves running jobs to resources where they would end earlier (Chtepen 2011, section 2.2).

use super::jobs::Turn;
use super::queues::QueueScheduler;
use super::resources::ResourceId;
use super::scheduler::{Checkpointing, GridScheduler, Insight, Questions, Round};
use super::view::{Detection, View};
use haggle_model::work::{EffectiveSpeed, Fraction};
use serde::{Deserialize, Serialize};

/// Moves each running job, in order of arrival, to the resource where it would end first, if that is worth
/// it. Then sends the waiting jobs as FJBCR does.
///
/// Staying takes RE, the rest at the present share. Moving takes C + NO + R0 and the rest at
/// `avail / (n_res + 1)` of the other resource; without checkpoints, the whole length. A round examines every running job
/// once, and other resources only if they are faster than its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rescheduling {
    /// θ: a job moves if moving takes less than (1 − θ) of staying.
    pub gain: Fraction,
    /// True if a moving job saves its progress first.
    pub checkpointing: bool,
    /// Detection of failures.
    pub detection: Detection,
}

impl Rescheduling {
    /// The resource to which the only replica of a job moves from `current`.
    fn better(
        &self,
        view: &View,
        insight: &dyn Insight,
        (_, job): Turn,
        current: ResourceId,
    ) -> Option<ResourceId> {
        let resources = view.resources();
        let here = resources.get(current);
        let length = view.job(job).length;
        let left = length.saturating_sub(insight.progress(job, current));
        let share = EffectiveSpeed::shared(here.avail, u64::from(here.held.max(1)));
        let whole = i128::from(Fraction::ONE.as_ppm());
        let part = whole - i128::from(self.gain.as_ppm());
        // Both sides are multiplied by a million, so that the comparison is exact.
        let stay = i128::from(left.at_effective(share).as_micros()) * part;
        let work = if self.checkpointing { left } else { length };
        let mut best = None;
        for id in resources.by_effective_speed() {
            // Resources come in order of falling speed: from here on computing alone takes too long.
            let computing = work.at_effective(resources.get(id).effective_speed());
            let worth = |micros: i64| i128::from(micros) * whole < stay;
            let beaten = best.is_some_and(|(moving, _)| computing >= moving);
            if beaten || !worth(computing.as_micros()) {
                break;
            }
            // After the break above: the resource of the job itself may end the search.
            if id == current {
                continue;
            }
            // A job that does not compute cannot move.
            let Some(pause) = insight.moving_time(job, current, id) else { continue };
            let moving = pause + computing;
            if worth(moving.as_micros()) && best.is_none_or(|(least, _)| moving < least) {
                best = Some((moving, id));
            }
        }
        best.map(|(_, id)| id)
    }
}

#[typetag::serde]
impl GridScheduler for Rescheduling {
    fn detection(&self) -> Detection {
        self.detection
    }

    fn checkpointing(&self) -> Checkpointing {
        if self.checkpointing { Checkpointing::Always } else { Checkpointing::Never }
    }

    fn questions(&self, view: &View) -> Questions {
        let mut progress = Vec::new();
        let mut after = None;
        while view.resources().any_available()
            && let Some(turn @ (_, job)) = view.jobs().next_with(1, after)
        {
            after = Some(turn);
            progress.extend(view.job(job).replicas.iter().map(|&resource| (job, resource)));
        }
        Questions { traffic: !progress.is_empty(), progress }
    }

    fn round(&mut self, view: &mut View, round: &mut Round<'_>) {
        let mut after = None;
        while view.resources().any_available()
            && let Some(turn) = view.jobs().next_with(1, after)
        {
            after = Some(turn);
            let current = view.job(turn.1).replicas[0];
            // A job on a failed resource has nothing to move: its loss will be noticed.
            let better = match view.resources().get(current).up {
                true => self.better(view, round.insight, turn, current),
                false => None,
            };
            if let Some(to) = better {
                round.migrate(view, turn.1, current, to, self.checkpointing);
            }
        }
        // Waiting jobs get the room that the moves leave.
        QueueScheduler::FJBCR.with_recovery(self.detection, self.checkpointing).round(view, round);
    }
}
