//! Table 6.2 of Netto 2009: the workloads that the scenario of chapter 6 derives from the logs, before
//! any run.

use haggle_model::time::MICROS_PER_SECOND;

use super::{Compute, Effort};
use crate::Library;
use crate::data::Data;
use haggle_experiment::workload::Workloads;
use haggle_scenario::{Experiment, Logs};

/// The study.
pub(super) struct WorkloadTable;

const SCENARIO: (&str, &str) = ("netto-offers", "policies.toml");
const WINDOW: f64 = 60.0 * 86_400.0;

impl Compute for WorkloadTable {
    fn name(&self) -> &'static str {
        "workload-table"
    }

    fn scenario(&self) -> Option<(&'static str, &'static str)> {
        Some(SCENARIO)
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let (study, file) = SCENARIO;
        let source = Library::Embedded.read(study, file).map_err(|error| error.to_string())?;
        let folder = source.folder().to_owned();
        let experiment = Experiment::read(source, Logs::MustExist)
            .map_err(|error| format!("{error}; set HAGGLE_TRACES to the folder of the logs"))?;
        let scenario = &experiment.variants.first().ok_or("no variant")?.scenario;
        let workloads = Workloads::new(scenario, &folder, scenario.scenario.seed)
            .map_err(|error| error.to_string())?;
        let total: u32 = scenario.providers.iter().map(|it| it.processors).sum();
        let mut data = Data::table(self.name(), &["workload"]);
        for user in &scenario.users {
            let provider = scenario.providers.iter().find(|it| it.name == user.submits_to);
            // A user who submits to a broker reaches all providers.
            let processors = provider.map_or(total, |it| it.processors);
            let name = user.workload.as_str();
            let open = workloads.open(name).map_err(|error| error.to_string())?;
            let mut row = Row::default();
            for job in open.jobs {
                row.add(&job.map_err(|error| error.to_string())?);
            }
            let capacity = f64::from(processors) * WINDOW;
            let hours = |micros: i64| micros as f64 / MICROS_PER_SECOND as f64 / 3600.0;
            let values = [
                ("processors", f64::from(processors)),
                ("jobs", row.jobs),
                ("load", 100.0 * row.work as f64 / MICROS_PER_SECOND as f64 / capacity),
                ("narrowest", f64::from(row.narrowest)),
                ("widest", f64::from(row.widest)),
                ("shortest", hours(row.shortest)),
                ("longest", hours(row.longest)),
            ];
            data.push(&[name], 1, &values);
        }
        Ok(data)
    }
}

/// A workload in numbers; times in microseconds.
struct Row {
    jobs: f64,
    work: i128,
    narrowest: u32,
    widest: u32,
    shortest: i64,
    longest: i64,
}

impl Default for Row {
    fn default() -> Row {
        Row { jobs: 0.0, work: 0, narrowest: u32::MAX, widest: 0, shortest: i64::MAX, longest: 0 }
    }
}

impl Row {
    fn add(&mut self, job: &haggle_model::Job) {
        let time = job.requested_time.map_or(0, |time| time.as_micros());
        self.jobs += 1.0;
        // Processors times microseconds of a whole log may exceed an `i64`.
        self.work += i128::from(job.processors) * i128::from(time);
        self.narrowest = self.narrowest.min(job.processors);
        self.widest = self.widest.max(job.processors);
        self.shortest = self.shortest.min(time);
        self.longest = self.longest.max(time);
    }
}
