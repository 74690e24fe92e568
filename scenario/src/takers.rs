//! Who takes the jobs of whom: providers and metaschedulers, a grid, or clusters with plans.

use std::collections::BTreeSet;

use super::file::{Scenario, Shown, User, Workload};

impl Scenario {
    /// Whether a user submits to the grid.
    pub fn submits_to_grid(&self, user: &User) -> bool {
        self.grid.as_ref().is_some_and(|grid| grid.name == user.submits_to)
    }

    /// Whether a user submits to who reschedules applications over clusters.
    pub(crate) fn submits_to_plans(&self, user: &User) -> bool {
        self.plans.as_ref().is_some_and(|plans| plans.name == user.submits_to)
    }

    /// Whether jobs of a workload run on the grid, also through a merger; of what nobody submits, whether
    /// they could run nowhere else.
    pub fn runs_on_grid(&self, workload: &Workload) -> bool {
        // Most scenarios have none, some have a thousand users, and this is asked for each workload.
        if self.grid.is_none() {
            return false;
        }
        let brings = |user: &User| {
            let mut sources = self.sources(user.workload.as_str()).into_iter();
            sources.any(|place| self.workloads[place].name == workload.name)
        };
        self.users.iter().any(|user| self.submits_to_grid(user) && brings(user))
            || (self.providers.is_empty() && self.plans.is_none() && !self.users.iter().any(brings))
    }

    /// The places in the file of a workload and of all that is merged into it, at whatever depth.
    pub fn sources(&self, workload: &str) -> BTreeSet<usize> {
        let mut places = BTreeSet::new();
        let mut open = vec![workload];
        while let Some(name) = open.pop() {
            let found = self.workloads.iter().position(|it| it.name.as_str() == name);
            if let Some(place) = found.filter(|&place| places.insert(place)) {
                let merged = self.workloads[place].merge.iter().flatten();
                open.extend(merged.map(|it| it.as_str()));
            }
        }
        places
    }

    /// How many places there are where jobs run: providers, clusters and resources of a grid. They come
    /// first among the actors.
    pub fn places(&self) -> u32 {
        let clusters = self.plans.as_ref().map_or(0, |it| it.clusters.len());
        let sites = self.grid.iter().flat_map(|grid| &grid.sites);
        let resources: u32 = sites.map(|site| site.resources).sum();
        (self.providers.len() + clusters) as u32 + resources
    }

    /// What figures of the scenario can show.
    pub fn shown(&self) -> Shown {
        Shown {
            processors: !self.providers.is_empty() || self.plans.is_some(),
            resources: self.grid.is_some(),
        }
    }

    /// What those are called whose processors or resources a list of names may hold.
    pub(crate) fn owners_are(&self) -> &'static str {
        match (self.providers.is_empty(), &self.grid, &self.plans) {
            (true, Some(_), None) => "site",
            (true, None, Some(_)) => "cluster",
            (_, None, None) => "provider",
            (false, Some(_), None) => "provider or site",
            (false, None, Some(_)) => "provider or cluster",
            (true, Some(_), Some(_)) => "site or cluster",
            (false, Some(_), Some(_)) => "provider, site or cluster",
        }
    }

    /// What one of these that is no provider is called.
    pub(crate) fn owners_of(&self, name: &str) -> &'static str {
        let mut sites = self.grid.iter().flat_map(|grid| &grid.sites);
        if sites.any(|site| site.name.as_str() == name) { "site" } else { "cluster" }
    }
}
