//! `[[metascheduler]]`: who places external jobs on providers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Disclosure;
use crate::scenario::quantity::Name;

/// Places jobs on providers it does not own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Metascheduler {
    /// Name of the metascheduler, unique among all actors.
    pub name: Name,
    /// How it chooses the provider of a job.
    #[serde(default)]
    pub placement: Placement,
    /// Providers it may use; without it, all of them.
    #[serde(default)]
    pub providers: Vec<Name>,
}

/// How a metascheduler chooses the provider of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The provider that offers the earliest completion.
    #[default]
    MinimumCompletionTime,
    /// One provider after the other.
    RoundRobin,
    /// Any provider, each as likely as the others.
    Random,
    /// The provider with the least remaining work per processor; needs disclosure "load".
    LeastLoaded,
    /// The first provider that can start the job at once, beginning one further with every job;
    /// if none can, the one with the earliest start.
    NextFit,
}

impl Placement {
    /// The least that providers have to disclose for it.
    pub const fn needs(self) -> Disclosure {
        match self {
            Placement::LeastLoaded => Disclosure::Load,
            Placement::MinimumCompletionTime
            | Placement::RoundRobin
            | Placement::Random
            | Placement::NextFit => Disclosure::Offers,
        }
    }

    /// The word in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Placement::MinimumCompletionTime => "minimum-completion-time",
            Placement::RoundRobin => "round-robin",
            Placement::Random => "random",
            Placement::LeastLoaded => "least-loaded",
            Placement::NextFit => "next-fit",
        }
    }
}
