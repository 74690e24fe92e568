//! Figures 7.10 to 7.12 of Netto 2009: the number of requests that fit into the time left by
//! overestimation, if only their lengths mattered.

use crate::backfilling_limit::{fit, fragments};
use haggle_model::Span;

use super::{Compute, Effort};
use crate::Library;
use crate::data::Data;
use haggle_experiment::workload::Workloads;
use haggle_scenario::{Experiment, Logs};

/// The study.
pub(super) struct BackfillingLimit;

/// Accuracies of figures 7.10 and 7.11, in percent.
const ACCURACIES: [u32; 2] = [85, 50];

/// Ranks of the sorted lists that are kept: every percent of them.
const RANKS: usize = 100;

impl Compute for BackfillingLimit {
    fn name(&self) -> &'static str {
        "backfilling-limit"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["what", "x"]);
        for seed in 1..=u64::from(effort.replications(15, &mut data)) {
            let run_times = run_times(seed)?;
            let share = |count: usize| 100.0 * count as f64 / run_times.len() as f64;
            for over in (0..=400).step_by(10) {
                let values = [("fitting", share(fit(&run_times, (over, 100))))];
                data.push(&["limit", &over.to_string()], seed, &values);
            }
            for accuracy in ACCURACIES {
                let found = fragments(&run_times, (100 - accuracy, accuracy));
                let fitting = share(found.fitting);
                for percent in 0..=RANKS {
                    // The lists are as long as the run times, however many these are under a seed. Percents
                    // make seeds comparable.
                    let place = percent * (run_times.len() - 1) / RANKS;
                    let values = [
                        ("request", found.requests[place].as_secs_f64()),
                        // Zero cannot be drawn on a logarithmic axis.
                        ("fragment", found.fragments[place].as_secs_f64().max(1.0)),
                        ("fitting", fitting),
                    ];
                    let what = format!("accuracy-{accuracy}");
                    data.push(&[&what, &percent.to_string()], seed, &values);
                }
            }
        }
        Ok(data)
    }
}

/// Run times of the bags of chapter 7 under a seed.
fn run_times(seed: u64) -> Result<Vec<Span>, String> {
    let source = Library::Embedded
        .read("netto-rescheduling", "policies.toml")
        .map_err(|error| error.to_string())?;
    let folder = source.folder().to_owned();
    let experiment =
        Experiment::read(source, Logs::MustExist).map_err(|error| error.to_string())?;
    let scenario = &experiment.variants.first().ok_or("no variant")?.scenario;
    let workloads = Workloads::new(scenario, &folder, seed).map_err(|error| error.to_string())?;
    let open = workloads.open("bags").map_err(|error| error.to_string())?;
    open.jobs
        .map(|job| {
            let job = job.map_err(|error| error.to_string())?;
            Ok(job.run_time.reveal_to_machine())
        })
        .collect()
}
