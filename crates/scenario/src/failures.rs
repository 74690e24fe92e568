//! Failures of a scenario as values of the model.

use haggle_model::{Span, Time};
use haggle_workloads::failures::{FailureLaw, Outage};

use super::file;
use super::quantity::{Name, TimeSpan};
use super::workload::instant;

impl file::FailureLaw {
    /// The law, in seconds.
    pub fn to_model(&self) -> FailureLaw {
        FailureLaw {
            up_factor: self.factor,
            start: self.start,
            ..FailureLaw::new(self.up.to_model(), self.down.to_model(), Span::from_secs(1))
        }
    }
}

impl file::Scenario {
    /// Owners of members that may fail, each with the number of its members, in the order of the places where jobs
    /// run: providers (processors), clusters (machines), sites (resources).
    pub fn owners(&self) -> Vec<(&str, u32)> {
        let providers = self.providers.iter().map(|it| (it.name.as_str(), it.processors));
        let clusters = self.plans.iter().flat_map(|plans| &plans.clusters);
        let clusters = clusters.map(|it| (it.name.as_str(), it.machines));
        let sites = self.grid.iter().flat_map(|grid| &grid.sites);
        let sites = sites.map(|it| (it.name.as_str(), it.resources));
        providers.chain(clusters).chain(sites).collect()
    }

    /// Tables of failures of processors and resources.
    pub fn processor_failures(&self) -> impl Iterator<Item = &file::Failures> {
        self.failures.iter().filter(|it| it.actors.is_none())
    }

    /// As [`Self::processor_failures`], with the tables of all changes.
    pub fn all_processor_failures(&self) -> impl Iterator<Item = &file::Failures> {
        let later = self.changes.iter().flat_map(|change| &change.failures);
        self.processor_failures().chain(later.filter(|it| it.actors.is_none()))
    }

    /// The actors that may crash.
    pub fn crashing(&self) -> impl Iterator<Item = &Name> {
        self.failures.iter().filter_map(|it| it.actors.as_ref()).flatten()
    }
}

impl file::Failures {
    /// Outages of the list, if there is one, as written.
    pub fn listed(&self) -> Option<Vec<Outage>> {
        let outage = |pair: &Vec<TimeSpan>| {
            let fail = instant(*pair.first()?);
            // Without a second time, it is never repaired.
            let restore = pair.get(1).map_or(Time::FOREVER, |&restore| instant(restore));
            Some(Outage { fail, restore })
        };
        Some(self.outages.as_ref()?.iter().filter_map(outage).collect())
    }
}
