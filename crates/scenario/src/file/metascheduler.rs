//! `[[metascheduler]]`: who places external jobs on providers.

use crate::Rules;
use haggle_model::{Disclosure, Span};
use haggle_scheduling::composition::CompositionPolicy;
use haggle_scheduling::placement;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AsksFor, Coallocation, Mapping, Protocol, ReallocationHeuristic, Tuning, WeightRule};
use crate::quantity::{Bandwidth, Bytes, Name, TimeSpan};

/// Places jobs on providers it does not own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Metascheduler {
    /// Name of the metascheduler, unique among all actors.
    pub name: Name,
    /// How it chooses the provider of a job.
    #[serde(default)]
    pub placement: Placement,
    /// Providers it may use, and the grid if it is to use that; all providers, but not the grid, if not given. A grid
    /// takes rigid jobs of one processor; it is asked for its load, or when a job would start and end, as providers are.
    #[serde(default)]
    pub providers: Vec<Name>,
    /// How it puts a bag of tasks together from offers, instead of placing rigid jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composition: Option<Composition>,
    /// How it spreads rigid jobs over providers, instead of placing each on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coallocation: Option<Coallocation>,
    /// How it maps iterative applications to cores of several providers, instead of placing rigid jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<Mapping>,
    /// How it moves moldable jobs between providers that choose their sizes, instead of placing rigid
    /// ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reallocation: Option<Reallocation>,
    /// How it negotiates over bags of tasks; read with `composition` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negotiation: Option<Negotiation>,
}

impl Metascheduler {
    /// One that places each rigid job on one provider, by the usual rule.
    pub fn named(name: Name) -> Metascheduler {
        Metascheduler {
            name,
            placement: Placement::default(),
            providers: Vec::new(),
            composition: None,
            coallocation: None,
            mapping: None,
            reallocation: None,
            negotiation: None,
        }
    }

    /// What it does with jobs. Who is said to do two things is refused before.
    pub const fn role(&self) -> Role<'_> {
        match (&self.composition, &self.coallocation, self.reallocation, &self.mapping) {
            (Some(composition), ..) => Role::Composes(composition),
            (None, Some(coallocation), ..) => Role::Spreads(coallocation),
            (None, None, Some(reallocation), _) => Role::Moves(reallocation),
            (None, None, None, Some(mapping)) => Role::Maps(mapping),
            (None, None, None, None) => Role::Places(&self.placement),
        }
    }

    /// The protocol by which it gets parts of jobs, if one is chosen, and how it spreads these.
    pub fn transaction(&self) -> Option<(&Protocol, &Coallocation)> {
        let coallocation = self.coallocation.as_ref()?;
        Some((coallocation.protocol.as_ref()?, coallocation))
    }

    /// Whether providers hold parts of jobs for it.
    pub const fn takes_parts(&self) -> bool {
        self.coallocation.is_some() || self.mapping.is_some()
    }

    /// The least that providers have to disclose for it, if it may be one of these rules.
    pub fn needs(&self, own: &Rules) -> Disclosure {
        self.role().needs(own)
    }
}

/// What a metascheduler does with jobs.
#[derive(Clone, Copy, Debug)]
pub enum Role<'a> {
    /// Each rigid job goes to one provider.
    Places(&'a Placement),
    /// Bags are put together from offers.
    Composes(&'a Composition),
    /// Rigid jobs are spread over providers.
    Spreads(&'a Coallocation),
    /// Moldable jobs go to one provider, and move.
    Moves(Reallocation),
    /// Iterative applications are mapped to cores of providers.
    Maps(&'a Mapping),
}

impl<'a> Role<'a> {
    /// The key by which it is chosen, and the word there.
    pub fn named(self) -> (&'static str, &'a str) {
        match self {
            Role::Composes(composition) => ("composition", composition.name()),
            Role::Spreads(coallocation) => ("coallocation", coallocation.policy.name()),
            Role::Moves(reallocation) => ("reallocation", reallocation.algorithm.name()),
            Role::Maps(mapping) => ("mapping", mapping.asks_for.name()),
            Role::Places(placement) => ("placement", placement.name()),
        }
    }

    /// The least that providers have to disclose for it, if it may be one of these rules.
    pub fn needs(self, own: &Rules) -> Disclosure {
        // A rule that is not there is refused.
        match self {
            Role::Composes(composition) => composition
                .among(&own.compositions)
                .map_or(Disclosure::Offers, CompositionPolicy::needs),
            Role::Spreads(Coallocation { protocol: Some(_), .. }) => Disclosure::Offers,
            Role::Spreads(_) => Disclosure::Slots,
            Role::Moves(_) => Disclosure::Offers,
            Role::Maps(Mapping { asks_for: AsksFor::Slots, .. }) => Disclosure::Slots,
            // Throughputs that are measured tell the computing power.
            Role::Maps(Mapping { profiling: true, .. }) => Disclosure::Power,
            Role::Maps(_) => Disclosure::Offers,
            Role::Places(placement) => placement
                .among(&own.placements)
                .map_or(Disclosure::Offers, |it| it.question().needs()),
        }
    }
}

/// How a metascheduler moves moldable jobs that wait, all of which go first to where they would be
/// done first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Reallocation {
    /// What is done with the jobs that wait.
    pub algorithm: ReallocationAlgorithm,
    /// Which of them goes first.
    pub heuristic: ReallocationHeuristic,
    /// How often what waits is looked at, from time zero on.
    pub period: TimeSpan,
    /// Under "regular", a job moves if it gains more than that.
    pub threshold: TimeSpan,
    /// How many of the oldest jobs are compared by heuristics that compare jobs.
    #[schemars(range(min = 1, max = 100_000))]
    pub window: u32,
    /// When the size of a job that waits is searched anew.
    pub resizes: Resizes,
    /// How providers search for the size of a job.
    pub tuning: Tuning,
    /// For how long a job that has moved holds its processors before it computes, each time that it
    /// starts.
    pub start_up: TimeSpan,
    /// What has to be where a job starts, and is sent there whenever it moves.
    pub data: Bytes,
    /// Bandwidth of each of these transfers, beside all others.
    pub bandwidth: Bandwidth,
}

impl Default for Reallocation {
    fn default() -> Reallocation {
        Reallocation {
            algorithm: ReallocationAlgorithm::default(),
            heuristic: ReallocationHeuristic::default(),
            period: TimeSpan(Span::from_secs(3_600)),
            threshold: TimeSpan(Span::from_secs(60)),
            window: 20,
            resizes: Resizes::default(),
            tuning: Tuning::default(),
            start_up: TimeSpan::ZERO,
            data: Bytes(0),
            bandwidth: Bandwidth(1e9),
        }
    }
}

impl Reallocation {
    /// For how long the data of a job are on their way when it moves.
    pub fn transfer(&self) -> Span {
        let seconds = self.data.0 as f64 * 8.0 / self.bandwidth.0;
        Span::from_micros((seconds * 1e6).ceil() as i64).min(Span::FOREVER)
    }
}

haggle_model::words! {
    /// What is done with moldable jobs that wait.
    #[derive(Default)]
    pub enum ReallocationAlgorithm {
        /// A job stays where it is unless another provider has it done earlier by more than `threshold`.
        #[default]
        Regular = "regular",
        /// All are cancelled, and then each goes to the provider that has it done first.
        AllCancellation = "all-cancellation",
        /// Nothing: a job stays where it was placed.
        None = "none",
    }
}

/// When the size of a job that waits is searched anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Resizes {
    /// Never: a job keeps the processors that it was first submitted with.
    Never,
    /// Whenever it is submitted again.
    #[default]
    WithMoves,
    /// Also where it waits: under "regular", it may be submitted there again with another size.
    Always,
}

/// How a metascheduler puts a bag of tasks together.
pub type Composition = CompositionPolicy<Name>;

/// How a metascheduler negotiates over bags of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Negotiation {
    /// How often a bag is composed anew because offers went stale, before one provider gets it all.
    pub rounds: u32,
    /// How long it waits for offers; without it, until all are there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<TimeSpan>,
    /// Whether shares may take as long as the latest share of their bag.
    pub relax: bool,
    /// What "offers-dplb-v2" takes for the computing power left.
    pub weights: WeightRule,
    /// How bags without a deadline are spread.
    pub spread: SpreadRule,
}

impl Default for Negotiation {
    fn default() -> Negotiation {
        Negotiation {
            rounds: 5,
            wait: None,
            relax: false,
            weights: WeightRule::default(),
            spread: SpreadRule::default(),
        }
    }
}

/// How bags without a deadline are spread over offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpreadRule {
    /// As they were composed: the earliest offers first.
    #[default]
    AsComposed,
    /// In proportion over all offers that are as early.
    Proportional,
}

/// How a metascheduler chooses the provider of a job.
pub type Placement = placement::Placement<Name>;
