//! Arrivals of workflows over the day, and lengths of their tasks (Chtepen 2011, figures 5.5, 5.6, 6.5
//! and 6.6).

use haggle_model::Job;
use haggle_model::time::MICROS_PER_SECOND;

use super::{Point, side_by_side, variant, workflows};
use crate::data::Data;
use crate::study::{Compute, Effort};
use haggle_scenario::Scenario;

/// The study.
///
/// Its axis `bin` is an hour of the day for `arrivals`, a share of workflows. For `lengths`, a share of
/// the parallel tasks, it is five minutes on the reference machine.
pub(in crate::study) struct WorkflowInputs;

/// Number of hours of a day, and of classes of lengths.
const BINS: usize = 24;
const HOUR: i64 = 3_600 * MICROS_PER_SECOND;
const CLASS: f64 = 300.0;
/// Number of drawn days: one has only 40 workflows.
const DAYS: u64 = 100;

/// The variants, by name. Tasks that overestimate their length have the drawn length.
const KINDS: [(&str, &str, Point); 4] = [
    ("high", "balance.toml", &[("estimates", "over"), ("spread", "80%"), ("width", "20")]),
    ("medium", "balance.toml", &[("estimates", "over"), ("spread", "40%"), ("width", "20")]),
    ("low", "balance.toml", &[("estimates", "over"), ("spread", "10%"), ("width", "20")]),
    ("chapter 6", "prediction.toml", &[]),
];

impl Compute for WorkflowInputs {
    fn name(&self) -> &'static str {
        "workflow-inputs"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["kind", "bin"]);
        for (kind, file, at) in KINDS {
            let counts = Counts::of(&variant(file, at)?)?;
            for bin in 0..BINS {
                let values = [
                    ("arrivals", counts.arrivals[bin] as f64 / counts.workflows as f64),
                    ("lengths", counts.lengths[bin] as f64 / counts.tasks as f64),
                ];
                data.push(&[kind, &bin.to_string()], 1, &values);
            }
        }
        Ok(data)
    }
}

#[derive(Default)]
struct Counts {
    workflows: u64,
    tasks: u64,
    arrivals: [u64; BINS],
    lengths: [u64; BINS],
}

impl Counts {
    fn of(scenario: &Scenario) -> Result<Counts, String> {
        let mut counts = Counts::default();
        let first = scenario.scenario.seed;
        for seed in first..first + DAYS {
            for tasks in workflows(scenario, seed)? {
                counts.take_in(&tasks);
            }
        }
        Ok(counts)
    }

    fn take_in(&mut self, tasks: &[Job]) {
        self.workflows += 1;
        self.arrivals[(tasks[0].submit.as_micros() / HOUR) as usize % BINS] += 1;
        for job in side_by_side(tasks) {
            let progress = job.task.as_ref().and_then(|task| task.progress);
            let length = progress.map_or(0.0, |progress| progress.actual());
            self.tasks += 1;
            // The last class has all longer tasks as well.
            self.lengths[((length / CLASS) as usize).min(BINS - 1)] += 1;
        }
    }
}
