//! Who takes the jobs of whom: providers and metaschedulers, a grid, or clusters with plans.

use std::collections::BTreeSet;

use super::file::{
    LinkSharing, Metascheduler, Model, OnFailure, Overflow, Provider, Scenario, Shown, User,
    Workflows, Workload,
};
use super::quantity::Name;

/// Where jobs may run.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// On the grid.
    grid: bool,
    /// At providers or clusters.
    elsewhere: bool,
}

impl Scenario {
    /// Whether a user submits to the grid.
    pub fn submits_to_grid(&self, user: &User) -> bool {
        self.grid.as_ref().is_some_and(|grid| grid.name == user.submits_to)
    }

    /// Whether a user submits to who reschedules applications over clusters.
    pub(crate) fn submits_to_plans(&self, user: &User) -> bool {
        self.plans.as_ref().is_some_and(|plans| plans.name == user.submits_to)
    }

    /// Whether a metascheduler may use the grid beside providers.
    pub fn uses_grid(&self, metascheduler: &Metascheduler) -> bool {
        let name = self.grid.as_ref().map(|grid| &grid.name);
        name.is_some_and(|name| metascheduler.providers.contains(name))
    }

    /// Where jobs of the grid go that have waited too long, if they do.
    pub(crate) fn overflow(&self) -> Option<&Overflow> {
        self.grid.as_ref()?.overflow.as_ref()
    }

    /// Whether `one` is the grid, and passes jobs on to `other`.
    pub(crate) fn overflows(&self, one: &str, other: &str) -> bool {
        let grid = self.grid.as_ref().filter(|grid| grid.name.as_str() == one);
        grid.and_then(|grid| grid.overflow.as_ref()).is_some_and(|it| it.to.as_str() == other)
    }

    /// Where jobs of a user may run that are tasks of workflows, or are not.
    fn reach(&self, user: &User, are_tasks: bool) -> Reach {
        if self.submits_to_grid(user) {
            return Reach { grid: true, elsewhere: !are_tasks && self.overflow().is_some() };
        }
        let target = self.metaschedulers.iter().find(|it| it.name == user.submits_to);
        Reach { grid: target.is_some_and(|it| self.uses_grid(it)), elsewhere: true }
    }

    /// Where jobs of a workload may run, also through a merger; of what nobody submits, on the grid if they could
    /// run nowhere else.
    fn reached_by(&self, workload: &Workload) -> Reach {
        // Most scenarios have no grid, some have a thousand users, and this is asked for each workload.
        if self.grid.is_none() {
            return Reach { grid: false, elsewhere: true };
        }
        // With a thousand users and workloads, only those of mergers are worth a walk.
        let mergers = Vec::from_iter(self.workloads.iter().filter(|it| it.merge.is_some()));
        let merged = |user: &User| {
            mergers.iter().any(|it| it.name == user.workload) && {
                let mut sources = self.sources(user.workload.as_str()).into_iter();
                sources.any(|place| self.workloads[place].name == workload.name)
            }
        };
        let brings = |user: &&User| user.workload == workload.name || merged(user);
        let are_tasks = workload.workflows.is_some();
        let reach = |user| self.reach(user, are_tasks);
        let mut submitted = self.users.iter().filter(brings).map(reach);
        let Some(first) = submitted.next() else {
            let only_grid = self.providers.is_empty() && self.plans.is_none();
            return Reach { grid: only_grid, elsewhere: !only_grid };
        };
        submitted.fold(first, |all, it| Reach {
            grid: all.grid || it.grid,
            elsewhere: all.elsewhere || it.elsewhere,
        })
    }

    /// Whether jobs of a workload run on the grid and nowhere else.
    pub fn runs_on_grid(&self, workload: &Workload) -> bool {
        let reach = self.reached_by(workload);
        reach.grid && !reach.elsewhere
    }

    /// Whether jobs of a workload may run on the grid.
    pub fn may_run_on_grid(&self, workload: &Workload) -> bool {
        self.reached_by(workload).grid
    }

    /// The workloads of workflows that a user submits, also through mergers.
    pub(crate) fn workflows_of(
        &self,
        user: &User,
    ) -> impl Iterator<Item = (&Workload, Option<&Workflows>)> {
        let places = self.sources(user.workload.as_str()).into_iter();
        let parts = places.map(|place| &self.workloads[place]).filter(|it| it.is_workflows());
        parts.map(|it| (it, it.workflows.as_ref()))
    }

    /// Whether data of tasks come to providers by way of this metascheduler.
    pub(crate) fn sends_data(&self, metascheduler: &Metascheduler) -> bool {
        let brings_data = |it: &Workflows| it.shape.is_some() || it.files.is_some();
        let mut users = self.users.iter().filter(|user| user.submits_to == metascheduler.name);
        users.any(|user| self.workflows_of(user).any(|(_, it)| it.is_some_and(brings_data)))
    }

    /// Whether data of tasks may move between providers.
    pub fn moves_data(&self) -> bool {
        self.metaschedulers.iter().any(|it| self.sends_data(it))
    }

    /// Where rigid jobs of a provider keep their checkpoints, if these go there over the network.
    pub fn store_of<'s>(&self, provider: &'s Provider) -> Option<&'s Name> {
        let resumes = provider.on_failure == Some(OnFailure::Resume);
        let checkpoints = provider.checkpoints.as_ref().filter(|_| resumes)?;
        let store = checkpoints.store.as_ref();
        store.filter(|_| checkpoints.size.is_some_and(|size| size.0 > 0))
    }

    /// Whether checkpoints of a provider go over the network.
    pub fn carries_checkpoints(&self) -> bool {
        self.providers.iter().any(|it| self.store_of(it).is_some())
    }

    /// How data share links, if any move and they do.
    pub fn link_sharing(&self) -> Option<LinkSharing> {
        self.network.sharing.filter(|_| self.moves_data() || self.carries_checkpoints())
    }

    /// Where an actor is: a user, at whom it submits to.
    pub fn site_of<'s>(&'s self, actor: &'s str) -> &'s str {
        let user = self.users.iter().find(|user| user.name.as_str() == actor);
        user.map_or(actor, |user| user.submits_to.as_str())
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

impl Workload {
    /// Whether its jobs are tasks of workflows.
    pub(crate) fn is_workflows(&self) -> bool {
        self.model == Some(Model::Workflows)
    }
}
