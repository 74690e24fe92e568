//! The jobs of Chtepen 2011, section 4.3.4, before any run: their arrivals over the day, and their
//! lengths (Fig. 4.4).

use haggle_model::time::MICROS_PER_SECOND;

use super::{Compute, Effort};
use crate::Library;
use crate::data::Data;
use haggle_experiment::workload::Workloads;
use haggle_scenario::{Experiment, Logs, Scenario};

/// The study. Its axis `bin` is an hour of the day for `arrivals`, and a class of `lengths`.
pub(super) struct GridJobs;

const HOURS: usize = 24;
/// Number of classes of lengths. Each is an hour wide, and the last one has all longer jobs.
const CLASSES: usize = 11;
/// The scenarios, and the factor by which lengths of the second one differ from those of the first.
const LOADS: [(&str, &str, f64); 2] =
    [("high", "high-load.toml", 1.0), ("low", "low-load.toml", 0.12)];

impl Compute for GridJobs {
    fn name(&self) -> &'static str {
        "grid-jobs"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["load", "bin"]);
        for (load, file, scale) in LOADS {
            let source = Library::Embedded
                .read("chtepen-faults", file)
                .map_err(|error| error.to_string())?;
            let experiment =
                Experiment::read(source, Logs::Ignore).map_err(|error| error.to_string())?;
            let scenario = &experiment.variants.first().ok_or("no variant")?.scenario;
            let first = scenario.scenario.seed;
            let replications = effort.replications(experiment.replications, &mut data);
            // Seeds of the replications of this scenario, so these are the jobs of its runs.
            for seed in (first..).take(replications as usize) {
                let counts = count(scenario, seed, scale)?;
                for bin in 0..HOURS {
                    let share = |count: u64| count as f64 / counts.jobs.max(1) as f64;
                    let mut values = vec![("arrivals", share(counts.arrivals[bin]))];
                    // There are fewer classes of lengths than hours.
                    values.extend(counts.lengths.get(bin).map(|&it| ("lengths", share(it))));
                    data.push(&[load, &bin.to_string()], seed, &values);
                }
            }
        }
        Ok(data)
    }
}

/// Numbers of jobs by hour of arrival, and by length.
#[derive(Default)]
struct Counts {
    jobs: u64,
    arrivals: [u64; HOURS],
    lengths: [u64; CLASSES],
}

fn count(scenario: &Scenario, seed: u64, scale: f64) -> Result<Counts, String> {
    let hour = 3_600.0 * MICROS_PER_SECOND as f64;
    let workloads = Workloads::new(scenario, std::path::Path::new(""), seed)
        .map_err(|error| error.to_string())?;
    let mut counts = Counts::default();
    for user in &scenario.users {
        let open = workloads.open(user.workload.as_str()).map_err(|error| error.to_string())?;
        for job in open.jobs {
            let job = job.map_err(|error| error.to_string())?;
            let length = job.requested_time.map_or(0, |time| time.as_micros()) as f64;
            counts.jobs += 1;
            counts.arrivals[(job.submit.as_micros() as f64 / hour) as usize % HOURS] += 1;
            counts.lengths[((length / hour / scale) as usize).min(CLASSES - 1)] += 1;
        }
    }
    Ok(counts)
}
