//! How often waiting jobs were submitted again, and the cost of examining them.

use haggle_model::observation::Review;
use haggle_model::{ActorId, JobId, JobRecord, Sizing, Span, StageIn, Time};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// How often waiting jobs were submitted again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moves {
    /// Moves to another provider.
    pub moved: u64,
    /// Moves to the same provider, where the job may get another size and place.
    pub resubmitted: u64,
    /// Of these, moves that got another number of processors.
    #[serde(default)]
    pub resized: u64,
    /// Time for which data were in transit, sum over all moves, s.
    #[serde(default)]
    pub data_time: f64,
    /// Processor-seconds that moved jobs held during their start-up.
    #[serde(default)]
    pub start_up_work: f64,
    /// Events in which waiting jobs were examined.
    #[serde(default)]
    pub events: u64,
    /// Jobs that waited, sum over these events.
    #[serde(default)]
    pub waiting: u64,
    /// Estimates that were requested in these events.
    #[serde(default)]
    pub estimates: u64,
    /// Estimates that would have been requested without remembering answers of providers until they change.
    #[serde(default)]
    pub forgetful_estimates: u64,
    /// Events in which the number of waiting jobs reached the number that is compared.
    #[serde(default)]
    pub full_events: u64,
    /// Sum of `forgetful_estimates` over these events.
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

/// The size that a provider has chosen for a job, and the job's stage-in there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) sizing: Sizing,
    pub(crate) stage_in: StageIn,
}

/// The sizes that providers have chosen: the last two of each job.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes(FxHashMap<JobId, (Chosen, Chosen)>);

impl Sizes {
    /// Records the size that a provider has chosen.
    pub(crate) fn sized(&mut self, job: JobId, sizing: Sizing, stage_in: StageIn) {
        let chosen = Chosen { sizing, stage_in };
        // The first choice stands for the previous one, too.
        let sizes = self.0.entry(job).or_insert((chosen, chosen));
        *sizes = (sizes.1, chosen);
    }

    /// The previous and the last choice.
    pub(crate) fn of(&self, job: JobId) -> Option<(Chosen, Chosen)> {
        self.0.get(&job).copied()
    }

    /// Removes a job that is over; gives its last choice.
    pub(crate) fn over(&mut self, job: JobId) -> Option<Chosen> {
        self.0.remove(&job).map(|(_, last)| last)
    }
}

/// Collects moves while a run goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct MoveLog {
    /// Present as soon as waiting jobs have been examined.
    pub(super) moves: Option<Moves>,
    pub(super) sizes: Sizes,
    /// Sums in microseconds.
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
        // The job has left its place and entered the same provider again.
        moves.resubmitted += 1;
        let resized =
            |(before, after): (Chosen, Chosen)| before.sizing.processors != after.sizing.processors;
        moves.resized += u64::from(chosen.is_some_and(resized));
    }

    /// Records that a job is over. All of its attempts ran at the provider of the last choice.
    pub(super) fn job_over(&mut self, record: &JobRecord) {
        let Some(last) = self.sizes.over(record.job.id) else { return };
        let start_up = last.stage_in.start_up;
        if start_up <= Span::ZERO {
            return;
        }
        let lost = record.lost.iter().map(|run| (run.end - run.start, &run.processors));
        let ran = record.run_time().map(|ran| (ran, &record.processors));
        for (ran, processors) in lost.chain(ran) {
            // A run may end during its start-up.
            let held = start_up.min(ran).as_micros();
            self.start_up += i128::from(held) * i128::from(processors.count());
        }
        let moves = self.moves.get_or_insert_default();
        moves.start_up_work = self.start_up as f64 / SECOND;
    }
}
