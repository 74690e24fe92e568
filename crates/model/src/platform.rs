//! Participants of a run: the names and sizes that tables and figures need.

use std::collections::BTreeSet;

use crate::Nodes;

/// Kind of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActorKind {
    /// Submits jobs.
    User,
    /// Owns processors.
    Provider,
    /// Places jobs on providers.
    Metascheduler,
    /// Makes resources fail and restores them.
    Nature,
    /// Serves a grid: provides information on resources, and moves or keeps data.
    Service,
}

impl ActorKind {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            ActorKind::User => "user",
            ActorKind::Provider => "provider",
            ActorKind::Metascheduler => "metascheduler",
            ActorKind::Nature => "nature",
            ActorKind::Service => "service",
        }
    }
}

/// An actor as the tables name it; its [`crate::ActorId`] is its place in the run's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActorInfo {
    /// Unique name from the scenario.
    pub name: String,
    /// Kind of the actor.
    pub kind: ActorKind,
}

/// A place where jobs run, as the tables name it: a provider, a cluster that plans, or a resource of a
/// grid. Its [`crate::ProviderId`] is its place in the run's list.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderInfo {
    /// Unique name from the scenario.
    pub name: String,
    /// Processors it owns.
    pub processors: u32,
    /// Number of its first processor in the dense numbering across all providers.
    pub first_processor: u32,
    /// Speed of its processors; 1 = the reference processor.
    pub speed: f64,
    /// Its local scheduler in words, such as `conservative, by-start compression`.
    pub scheduler: String,
    /// True if its processors may fail.
    pub may_fail: bool,
    /// True if its running jobs may be stopped for others.
    pub may_preempt: bool,
    /// Its nodes, if it places jobs on nodes.
    pub nodes: Option<Box<Nodes>>,
}

/// A site of a grid as the tables name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteInfo {
    /// Unique name from the scenario.
    pub name: String,
    /// Number of its resources. They follow those of the site before it.
    pub resources: u32,
    /// Largest number of jobs that share a resource; `None` = any number.
    pub slots: Option<u32>,
    /// True if each job gets the share of a resource that it requests. Otherwise all jobs that compute
    /// there get equal shares.
    pub reserved: bool,
}

/// All participants of a run, with their names.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Cast {
    /// All actors, by [`crate::ActorId`].
    pub actors: Vec<ActorInfo>,
    /// All places where jobs run, by [`crate::ProviderId`]: first those that give whole processors,
    /// then the resources of a grid.
    pub providers: Vec<ProviderInfo>,
    /// Names of the workloads, by [`crate::Job::workload`].
    pub workloads: Vec<String>,
    /// The sites of a grid; empty if the run has no grid. All resources of the grid belong to them.
    pub sites: Vec<SiteInfo>,
    /// Workloads whose jobs run on a grid only, by [`crate::Job::workload`].
    pub on_grid: BTreeSet<u16>,
}

impl Cast {
    /// Number of places that give whole processors. The places behind them are resources of a grid, which jobs share.
    pub fn whole_places(&self) -> usize {
        let resources: usize = self.sites.iter().map(|site| site.resources as usize).sum();
        self.providers.len() - resources
    }
}
