//! Work of listed jobs, by the actors that they are submitted to.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::Span;

use crate::check::names::Names;
use crate::directory::Directory;
use crate::file::Scenario;

/// Seconds of listed jobs, each workload counted once.
pub(super) struct Submitted<'s> {
    /// Seconds of each workload, until the horizon.
    seconds: Vec<f64>,
    /// Workloads by the name of the provider.
    by_provider: BTreeMap<&'s str, BTreeSet<usize>>,
    /// Workloads of metaschedulers, which may send all of their jobs to any provider.
    anywhere: BTreeSet<usize>,
    /// Seconds of these.
    seconds_anywhere: f64,
}

impl<'s> Submitted<'s> {
    pub(super) fn of(
        scenario: &'s Scenario,
        directory: &Directory<'_>,
        names: &Names,
    ) -> Submitted<'s> {
        let horizon = scenario.scenario.horizon.map_or(Span::FOREVER, |horizon| horizon.0);
        let seconds = scenario.workloads.iter().map(|workload| {
            let jobs = workload.jobs.iter().flatten();
            jobs.map(|job| job.run.0.min(horizon).as_secs_f64()).sum()
        });
        let seconds: Vec<f64> = seconds.collect();
        let metaschedulers: BTreeSet<&str> =
            names.metaschedulers.iter().map(String::as_str).collect();
        let mut by_provider = BTreeMap::<&str, BTreeSet<usize>>::new();
        let mut anywhere = BTreeSet::new();
        for user in &scenario.users {
            let to = user.submits_to.as_str();
            let known = match metaschedulers.contains(to) {
                true => &mut anywhere,
                false => by_provider.entry(to).or_default(),
            };
            known.extend(directory.sources(user.workload.as_str()));
        }
        let seconds_anywhere = anywhere.iter().map(|&workload| seconds[workload]).sum();
        Submitted { seconds, by_provider, anywhere, seconds_anywhere }
    }

    /// Seconds of the jobs that providers of these names may get.
    pub(super) fn seconds_at(&self, providers: &[String]) -> f64 {
        let own = providers.iter().filter_map(|name| self.by_provider.get(name.as_str()));
        let own: BTreeSet<usize> =
            own.flat_map(|it| it.difference(&self.anywhere).copied()).collect();
        self.seconds_anywhere + own.iter().map(|&workload| self.seconds[workload]).sum::<f64>()
    }
}
