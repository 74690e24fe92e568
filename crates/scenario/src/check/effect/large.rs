//! Warns of workloads whose jobs take much memory, before the run begins.

use crate::check::Check;
use crate::file::{Model, Workload};
use haggle_config::document::Path;

/// Number of jobs from which on a workload gets a warning.
const MANY: f64 = 1e7;

/// Bytes that a job takes while it is drawn and run, without its rows in tables.
const JOB_BYTES: f64 = 300.0;

impl Check<'_> {
    pub(super) fn large_workloads(&mut self) {
        let scenario = self.scenario;
        for (index, workload) in scenario.workloads.iter().enumerate() {
            let Some((key, jobs)) = expected(workload).filter(|&(_, jobs)| jobs >= MANY) else {
                continue;
            };
            let gigabytes = jobs * JOB_BYTES / 1e9;
            self.doubt(
                &Path::root().key("workload").index(index).key(key),
                format!("workload \"{}\" has about {jobs:.0} jobs", workload.name),
                "many jobs",
                format!("they take about {gigabytes:.1} GB of memory in each run at a time; ask for fewer jobs if that is too much"),
            );
        }
    }
}

/// Key of the model of a workload and the number of its jobs, if that is known.
fn expected(workload: &Workload) -> Option<(&'static str, f64)> {
    match workload.model? {
        Model::LublinFeitelson => Some(("lublin", workload.lublin.as_ref()?.jobs as f64)),
        Model::IndependentJobs => {
            let jobs = workload.independent_jobs.as_ref()?;
            Some(("independent-jobs", jobs.to_model().expected()))
        }
        Model::SyntheticMonth => {
            let month = workload.synthetic_month.as_ref()?.to_model();
            // The sites are drawn one after the other, so the largest one counts.
            let most = month.sites.iter().map(|site| site.jobs).max()?;
            Some(("synthetic-month", f64::from(most)))
        }
        Model::Workflows => {
            let workflows = workload.workflows.as_ref()?;
            let is_known = workflows.files.is_none();
            is_known.then(|| ("workflows", workflows.tasks_most() as f64))
        }
        Model::Applications | Model::Iterative => None,
    }
}
