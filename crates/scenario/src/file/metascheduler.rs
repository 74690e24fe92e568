//! `[[metascheduler]]`: who places external jobs on providers.

use crate::Rules;
use haggle_model::{Disclosure, Span};
use haggle_scheduling::composition::CompositionPolicy;
use haggle_scheduling::placement;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AsksFor, Coallocation, Mapping, Protocol, ReallocationHeuristic, Tuning, WeightRule};
use crate::quantity::{Bandwidth, Bytes, Name, TimeSpan};

/// An actor that places jobs on providers it does not own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Metascheduler {
    /// Name of the metascheduler, unique among all actors.
    pub name: Name,
    /// Rule by which the metascheduler chooses the provider of a job.
    #[serde(default)]
    pub placement: Placement,
    /// Providers that the metascheduler may use, and the grid if it may use that; all providers without the grid if not
    /// given. A grid takes rigid jobs of one processor; it discloses its load, or the start and the end of a job, as
    /// providers do.
    #[serde(default)]
    pub providers: Vec<Name>,
    /// Composition of bags of tasks from offers, instead of placing rigid jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composition: Option<Composition>,
    /// Co-allocation of rigid jobs over several providers, instead of placing each on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coallocation: Option<Coallocation>,
    /// Mapping of iterative applications to cores of several providers, instead of placing rigid jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<Mapping>,
    /// Moves of moldable jobs between providers that choose their sizes, instead of placing rigid jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reallocation: Option<Reallocation>,
    /// Negotiation over bags of tasks; read with `composition` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negotiation: Option<Negotiation>,
}

impl Metascheduler {
    /// A metascheduler that places each rigid job on one provider, by the default rule.
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

    /// The metascheduler's way to handle jobs. A scenario with two ways is refused before.
    pub const fn role(&self) -> Role<'_> {
        match (&self.composition, &self.coallocation, self.reallocation, &self.mapping) {
            (Some(composition), ..) => Role::Composes(composition),
            (None, Some(coallocation), ..) => Role::Spreads(coallocation),
            (None, None, Some(reallocation), _) => Role::Moves(reallocation),
            (None, None, None, Some(mapping)) => Role::Maps(mapping),
            (None, None, None, None) => Role::Places(&self.placement),
        }
    }

    /// The protocol by which the metascheduler obtains parts of jobs, if one is chosen, and its co-allocation.
    pub fn transaction(&self) -> Option<(&Protocol, &Coallocation)> {
        let coallocation = self.coallocation.as_ref()?;
        Some((coallocation.protocol.as_ref()?, coallocation))
    }

    /// Time after which it repeats a message without answer, if it repeats messages.
    pub fn retry(&self) -> Option<TimeSpan> {
        match self.role() {
            Role::Composes(_) => self.negotiation.and_then(|it| it.retry),
            Role::Spreads(coallocation) => coallocation.retry,
            Role::Places(_) | Role::Moves(_) | Role::Maps(_) => None,
        }
    }

    /// The table with the key `retry`, if it has one.
    pub fn retry_table(&self) -> Option<&'static str> {
        match self.role() {
            Role::Composes(_) => Some("negotiation"),
            Role::Spreads(_) => Some("coallocation"),
            Role::Places(_) | Role::Moves(_) | Role::Maps(_) => None,
        }
    }

    /// True if providers hold parts of jobs for the metascheduler.
    pub const fn takes_parts(&self) -> bool {
        self.coallocation.is_some() || self.mapping.is_some()
    }

    /// Least disclosure that the metascheduler needs from providers; it may use one of these rules.
    pub fn needs(&self, own: &Rules) -> Disclosure {
        self.role().needs(own)
    }
}

/// A metascheduler's way to handle jobs.
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
    /// The key by which it is chosen, and the word of that key.
    pub fn named(self) -> (&'static str, &'a str) {
        match self {
            Role::Composes(composition) => ("composition", composition.name()),
            Role::Spreads(coallocation) => ("coallocation", coallocation.policy.name()),
            Role::Moves(reallocation) => ("reallocation", reallocation.algorithm.name()),
            Role::Maps(mapping) => ("mapping", mapping.asks_for.name()),
            Role::Places(placement) => ("placement", placement.name()),
        }
    }

    /// Least disclosure that it needs from providers; it may use one of these rules.
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

/// Moves of waiting moldable jobs; every job goes first to the provider that would complete it first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Reallocation {
    /// Treatment of waiting jobs.
    pub algorithm: ReallocationAlgorithm,
    /// Order in which waiting jobs are treated.
    pub heuristic: ReallocationHeuristic,
    /// Time between two examinations of the waiting jobs, from time zero on.
    pub period: TimeSpan,
    /// Under "regular", a job moves if its gain exceeds this.
    pub threshold: TimeSpan,
    /// Number of the oldest jobs that heuristics compare.
    #[schemars(range(min = 1, max = 100_000))]
    pub window: u32,
    /// Occasions on which the size of a waiting job is searched anew.
    pub resizes: Resizes,
    /// Search of providers for the size of a job.
    pub tuning: Tuning,
    /// Time at each start for which a job that has moved holds its processors before it computes.
    pub start_up: TimeSpan,
    /// Data that must be at the provider where a job starts; they are sent again at each move.
    pub data: Bytes,
    /// Bandwidth of each of these transfers, independent of all others.
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
    /// Duration of the transfer of a job's data when it moves.
    pub fn transfer(&self) -> Span {
        let seconds = self.data.0 as f64 * 8.0 / self.bandwidth.0;
        Span::from_micros((seconds * 1e6).ceil() as i64).min(Span::FOREVER)
    }
}

haggle_model::words! {
    /// Treatment of waiting moldable jobs.
    #[derive(Default)]
    pub enum ReallocationAlgorithm {
        /// A job stays where it is, unless another provider completes it earlier by more than `threshold`.
        #[default]
        Regular = "regular",
        /// All are cancelled; then each goes to the provider that completes it first.
        AllCancellation = "all-cancellation",
        /// No moves: a job stays where it was placed.
        None = "none",
    }
}

/// Occasions on which the size of a waiting job is searched anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Resizes {
    /// Never: a job keeps the processors that it was first submitted with.
    Never,
    /// Each time a job is submitted again.
    #[default]
    WithMoves,
    /// Also where it waits: under "regular", the job may be submitted there again with another size.
    Always,
}

/// Rule by which a metascheduler composes a bag of tasks from offers.
pub type Composition = CompositionPolicy<Name>;

/// Negotiation of a metascheduler over bags of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Negotiation {
    /// Number of times that a bag is composed anew because offers went stale, before one provider gets the whole bag.
    pub rounds: u32,
    /// Time to wait for offers; without it, until all have arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<TimeSpan>,
    /// Time after which a message without answer is repeated; a reliable transport repeats lost messages itself. Without
    /// it, no message is repeated. Then each message must arrive once, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<TimeSpan>,
    /// True if shares may take as long as the latest share of their bag.
    pub relax: bool,
    /// Measure of the computing power left, for "offers-dplb-v2".
    pub weights: WeightRule,
    /// Division of bags without a deadline.
    pub spread: SpreadRule,
}

impl Default for Negotiation {
    fn default() -> Negotiation {
        Negotiation {
            rounds: 5,
            wait: None,
            retry: None,
            relax: false,
            weights: WeightRule::default(),
            spread: SpreadRule::default(),
        }
    }
}

/// Division of bags without a deadline over offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpreadRule {
    /// As they were composed: the earliest offers first.
    #[default]
    AsComposed,
    /// In proportion over all offers with the same completion.
    Proportional,
}

/// Rule by which a metascheduler chooses the provider of a job.
pub type Placement = placement::Placement<Name>;
