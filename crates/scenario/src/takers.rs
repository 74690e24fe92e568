//! Targets of users and metaschedulers: providers and metaschedulers, a grid, or clusters with plans.

use super::file::{
    LinkSharing, Metascheduler, Model, OnFailure, Overflow, Provider, Scenario, Shown, User,
    Workload,
};
use super::quantity::Name;

impl Scenario {
    /// True if a user submits to the grid.
    pub fn submits_to_grid(&self, user: &User) -> bool {
        self.grid.as_ref().is_some_and(|grid| grid.name == user.submits_to)
    }

    /// True if a user submits to the plans, which reschedule applications over clusters.
    pub(crate) fn submits_to_plans(&self, user: &User) -> bool {
        self.plans.as_ref().is_some_and(|plans| plans.name == user.submits_to)
    }

    /// True if a metascheduler may use the grid beside providers.
    pub fn uses_grid(&self, metascheduler: &Metascheduler) -> bool {
        let name = self.grid.as_ref().map(|grid| &grid.name);
        name.is_some_and(|name| metascheduler.providers.contains(name))
    }

    /// Overflow of the grid: the target of jobs that have waited too long, if any.
    pub(crate) fn overflow(&self) -> Option<&Overflow> {
        self.grid.as_ref()?.overflow.as_ref()
    }

    /// True if `one` is the grid, and passes jobs on to `other`.
    pub(crate) fn overflows(&self, one: &str, other: &str) -> bool {
        let grid = self.grid.as_ref().filter(|grid| grid.name.as_str() == one);
        grid.and_then(|grid| grid.overflow.as_ref()).is_some_and(|it| it.to.as_str() == other)
    }

    /// Storage of the checkpoints of rigid jobs of a provider, if these go there over the network.
    pub fn store_of<'s>(&self, provider: &'s Provider) -> Option<&'s Name> {
        let resumes = provider.on_failure == Some(OnFailure::Resume);
        // Jobs that start anew after a failure write no checkpoints.
        let checkpoints = provider.checkpoints.as_ref().filter(|_| resumes)?;
        let store = checkpoints.store.as_ref();
        // Checkpoints without a size need no transfer.
        store.filter(|_| checkpoints.size.is_some_and(|size| size.0 > 0))
    }

    /// True if checkpoints of a provider go over the network.
    pub fn carries_checkpoints(&self) -> bool {
        self.providers.iter().any(|it| self.store_of(it).is_some())
    }

    /// True if data of tasks may move between providers.
    pub fn moves_data(&self) -> bool {
        self.directory().moves_data()
    }

    /// Sharing of links by data, if any data move and share links.
    pub fn link_sharing(&self) -> Option<LinkSharing> {
        let moves = || self.carries_checkpoints() || self.moves_data();
        self.network.sharing.filter(|_| moves())
    }

    /// Number of places where jobs run: providers, clusters and resources of a grid. They come first among the
    /// actors.
    pub fn places(&self) -> u32 {
        let clusters = self.plans.as_ref().map_or(0, |it| it.clusters.len());
        let sites = self.grid.iter().flat_map(|grid| &grid.sites);
        let resources: u32 = sites.map(|site| site.resources).sum();
        (self.providers.len() + clusters) as u32 + resources
    }

    /// Resources that figures of the scenario can show.
    pub fn shown(&self) -> Shown {
        Shown {
            processors: !self.providers.is_empty() || self.plans.is_some(),
            resources: self.grid.is_some(),
        }
    }

    /// Word for the owners of processors or resources that a list of names may contain.
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

    /// Word for an owner that is not a provider.
    pub(crate) fn owners_of(&self, name: &str) -> &'static str {
        let mut sites = self.grid.iter().flat_map(|grid| &grid.sites);
        if sites.any(|site| site.name.as_str() == name) { "site" } else { "cluster" }
    }
}

impl Workload {
    /// True if its jobs are tasks of workflows.
    pub(crate) fn is_workflows(&self) -> bool {
        self.model == Some(Model::Workflows)
    }
}
