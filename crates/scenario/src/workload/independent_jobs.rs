//! The model of independent jobs.

use haggle_model::Span;
use haggle_model::law::Law;
use haggle_workloads::independent::{Arrivals, IndependentJobs};
use haggle_workloads::{WorkloadError, independent};

use crate::file;

impl file::IndependentJobs {
    /// Parameters of the model. Without a way of arriving, which a check would refuse, nothing arrives.
    pub fn to_model(&self) -> IndependentJobs {
        let days = self.days.unwrap_or(1);
        let length = self.length.map(|length| length.0);
        let arrivals = if let Some(between) = &self.between {
            Arrivals::Renewal { between: between.to_model(), length }
        } else if let Some(hours) = &self.hours {
            let weights = std::array::from_fn(|hour| hours.get(hour).copied().unwrap_or(0.0));
            Arrivals::Hourly { weights, days }
        } else if let Some(number) = &self.per_day {
            Arrivals::Daily { number: number.to_model(), days }
        } else {
            Arrivals::Renewal { between: Law::Constant(1.0), length: Some(Span::TICK) }
        };
        let one_or =
            |law: &Option<file::Law>| law.as_ref().map_or(Law::Constant(1.0), |it| it.to_model());
        IndependentJobs {
            arrivals,
            jobs: self.jobs,
            batch: one_or(&self.batch),
            processors: one_or(&self.processors),
            run: self.run.to_model(),
            run_min: self.run_min.map_or(Span::TICK, |run_min| run_min.0),
            users: self.users.unwrap_or(0),
        }
    }

    /// Key that the model does not accept, with the reason, if any.
    pub(crate) fn problem(&self) -> Option<(String, String)> {
        // This only validates: nothing is drawn before the first job is read.
        match independent::generate(&self.to_model(), 0, "").err()? {
            WorkloadError::IndependentJobs { parameter, problem } => {
                let written = |text: &str| text.replace('_', "-");
                Some((written(parameter), written(&problem)))
            }
            other => Some(("run".to_owned(), other.to_string())),
        }
    }
}
