//! The model of synthetic months.

use haggle_workloads::{MonthSite, SyntheticMonth, WorkloadError};

use crate::file;

impl file::SyntheticMonth {
    /// Parameters of the model.
    pub fn to_model(&self) -> SyntheticMonth {
        let site = |it: &file::MonthSite| MonthSite { jobs: it.jobs, processors: it.processors };
        SyntheticMonth {
            number: self.number,
            days: self.days,
            sites: self.sites.iter().map(site).collect(),
            site: self.site as usize,
            load: self.load,
            seed: self.seed,
        }
    }

    /// Key that the model does not accept, with the reason, if any.
    pub(crate) fn problem(&self) -> Option<(&'static str, String)> {
        match self.to_model().check().err()? {
            WorkloadError::SyntheticMonth { parameter, problem } => Some((parameter, problem)),
            other => Some(("days", other.to_string())),
        }
    }
}
