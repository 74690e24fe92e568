//! How often jobs that waited were submitted again, and what looking at them took.

use haggle_model::observation::Review;
use haggle_model::{ActorId, JobId, JobRecord, Sizing, Span, StageIn, Time};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// How often jobs that waited were submitted again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moves {
    /// To another provider.
    pub moved: u64,
    /// To the same one, where they may have another size and place.
    pub resubmitted: u64,
    /// Those of these that got another number of processors there.
    #[serde(default)]
    pub resized: u64,
    /// For how long their data were on their way, sum over all moves, s.
    #[serde(default)]
    pub data_time: f64,
    /// What jobs that had moved held while they were started up, processor-seconds.
    #[serde(default)]
    pub start_up_work: f64,
    /// How often jobs that waited were looked at.
    #[serde(default)]
    pub events: u64,
    /// Jobs that waited then, sum over these events.
    #[serde(default)]
    pub waiting: u64,
    /// Estimates that were asked for in these events.
    #[serde(default)]
    pub estimates: u64,
    /// How many it would have been if nothing that a provider said were remembered until it changes.
    #[serde(default)]
    pub forgetful_estimates: u64,
    /// Events in which as many jobs waited as are compared, or more.
    #[serde(default)]
    pub full_events: u64,
    /// What `forgetful_estimates` are of these.
    #[serde(default)]
    pub full_forgetful_estimates: u64,
}

impl Moves {
    pub(super) fn reviewed(&mut self, review: &Review) {
        self.events += 1;
        self.waiting += u64::from(review.waiting);
        self.estimates += review.estimates;
        self.forgetful_estimates += review.forgetful_estimates;
        if review.is_full {
            self.full_events += 1;
            self.full_forgetful_estimates += review.forgetful_estimates;
        }
    }
}

/// What a provider has chosen for a job, and what the job needs there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) sizing: Sizing,
    pub(crate) stage_in: StageIn,
}

/// The sizes that providers have chosen for jobs: of each the last two.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes(FxHashMap<JobId, (Chosen, Chosen)>);

impl Sizes {
    /// A provider has chosen a size.
    pub(crate) fn sized(&mut self, job: JobId, sizing: Sizing, stage_in: StageIn) {
        let chosen = Chosen { sizing, stage_in };
        let sizes = self.0.entry(job).or_insert((chosen, chosen));
        *sizes = (sizes.1, chosen);
    }

    /// What was chosen before, and last.
    pub(crate) fn of(&self, job: JobId) -> Option<(Chosen, Chosen)> {
        self.0.get(&job).copied()
    }

    /// A job is over: what was chosen last.
    pub(crate) fn over(&mut self, job: JobId) -> Option<Chosen> {
        self.0.remove(&job).map(|(_, last)| last)
    }
}

/// Collects moves while a run goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct MoveLog {
    /// Present as soon as somebody has looked at what waits.
    pub(super) moves: Option<Moves>,
    pub(super) sizes: Sizes,
    /// What is summed up, in microseconds.
    data: i64,
    start_up: i128,
}

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

impl MoveLog {
    pub(super) fn moved(&mut self, now: Time, job: JobId, from: ActorId, to: ActorId) {
        let moves = self.moves.get_or_insert_default();
        let chosen = self.sizes.of(job);
        if from != to {
            moves.moved += 1;
            let ready = chosen.and_then(|(_, last)| last.stage_in.data());
            let data = ready.map_or(Span::ZERO, |ready| (ready - now).max(Span::ZERO));
            self.data = self.data.saturating_add(data.as_micros());
            moves.data_time = self.data as f64 / SECOND;
            return;
        }
        moves.resubmitted += 1;
        let resized =
            |(before, after): (Chosen, Chosen)| before.sizing.processors != after.sizing.processors;
        moves.resized += u64::from(chosen.is_some_and(resized));
    }

    /// A job is over; all of its attempts were where it went last.
    pub(super) fn job_over(&mut self, record: &JobRecord) {
        let Some(last) = self.sizes.over(record.job.id) else { return };
        let start_up = last.stage_in.start_up;
        if start_up <= Span::ZERO {
            return;
        }
        let lost = record.lost.iter().map(|run| (run.end - run.start, &run.processors));
        let ran = record.run_time().map(|ran| (ran, &record.processors));
        for (ran, processors) in lost.chain(ran) {
            let held = start_up.min(ran).as_micros();
            self.start_up += i128::from(held) * i128::from(processors.count());
        }
        let moves = self.moves.get_or_insert_default();
        moves.start_up_work = self.start_up as f64 / SECOND;
    }
}
