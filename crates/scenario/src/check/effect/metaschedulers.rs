//! Keys of metaschedulers that have no effect in their role.

use super::coallocation::{Around, COALLOCATION};
use crate::check::Check;
use crate::check::names::Names;
use crate::check::rule::{Effect, effect};
use crate::file::{
    Composition, Metascheduler, Reallocation, ReallocationAlgorithm, Resizes, Role, Transport,
};
use haggle_config::document::Path;

/// Placement has an effect in one role only.
#[rustfmt::skip] // a table
const PLACEMENT: &[Effect<Metascheduler>] = &[
    effect("placement", |it, ()| !matches!(it.role(), Role::Composes(_)), "it composes bags of tasks and places no rigid jobs",
        "remove it, or remove `composition`"),
    effect("placement", |it, ()| !matches!(it.role(), Role::Moves(_)), "it places every job at the provider that completes it first",
        "remove it, or remove `reallocation`"),
    effect("placement", |it, ()| !matches!(it.role(), Role::Maps(_)), "it maps iterative applications to cores of providers",
        "remove it, or remove `mapping`"),
    effect("placement", |it, ()| !matches!(it.role(), Role::Spreads(_)), "it spreads jobs over providers and places none on one of them",
        "remove it, or remove `coallocation`"),
];

#[rustfmt::skip] // a table
const NEGOTIATION: &[Effect<Metascheduler>] = &[
    effect("negotiation", |it, ()| it.composition.is_some(), "only a metascheduler with `composition` negotiates",
        "remove it, or add `composition`"),
];

/// Keys of a negotiation.
#[rustfmt::skip] // a table
const COMPOSITIONS: &[Effect<Composition>] = &[
    effect("relax spread", |it, ()| !matches!(it, Composition::Own(_)), "a composition of one's own does not read it",
        "remove it, or choose another `composition`"),
    effect("relax", |it, ()| *it != Composition::FreeTimeSlots, "there are no offers to relax",
        "remove it, or choose another `composition`"),
    effect("spread", |it, ()| *it != Composition::FreeTimeSlots, "there are no offers to spread over",
        "remove it, or choose another `composition`"),
    effect("weights", |it, ()| *it == Composition::OffersDplbV2, "only composition \"offers-dplb-v2\" reads it",
        "remove it, or choose another `composition`"),
];

#[rustfmt::skip] // a table
const REALLOCATION: &[Effect<Reallocation>] = &[
    effect("heuristic period threshold resizes window start-up data bandwidth", |it, ()| it.algorithm != ReallocationAlgorithm::None,
        "under algorithm \"none\" no job moves", "remove it, or choose another `algorithm` or `heuristic`"),
    effect("threshold", |it, ()| it.algorithm == ReallocationAlgorithm::Regular, "only \"regular\" reads it",
        "remove it, or choose another `algorithm` or `heuristic`"),
    effect("resizes", |it, ()| it.algorithm == ReallocationAlgorithm::Regular || it.resizes != Resizes::Always,
        "under \"all-cancellation\" all sizes are searched anew", "remove it, or choose another `algorithm` or `heuristic`"),
    effect("window", |it, ()| it.heuristic.compares(), "heuristic \"mct\" compares no jobs",
        "remove it, or choose another `algorithm` or `heuristic`"),
    effect("bandwidth", |it, ()| it.data.0 > 0, "no `data` move with a job", "remove it, or say how much `data` a job has"),
];

impl Check<'_> {
    pub(super) fn metascheduler_effects(
        &mut self,
        path: &Path,
        metascheduler: &Metascheduler,
        names: &Names,
    ) {
        let owner = format!("metascheduler \"{}\"", metascheduler.name);
        let of = |what: &str| format!("the {what} of {owner}");
        self.effects(PLACEMENT, path, (metascheduler, &()), &owner, &[]);
        if let Some(reallocation) = &metascheduler.reallocation {
            let at = path.key("reallocation");
            self.effects(REALLOCATION, &at, (reallocation, &()), &of("reallocation"), &[]);
        }
        if let Some(coallocation) = &metascheduler.coallocation {
            let at = path.key("coallocation");
            let providers = names.provider_copies(&metascheduler.providers).len();
            let is_reliable = self.scenario.network.transport == Transport::Reliable;
            let around = Around { providers, is_reliable };
            self.effects(COALLOCATION, &at, (coallocation, &around), &of("co-allocation"), &[]);
        }
        self.effects(NEGOTIATION, path, (metascheduler, &()), &owner, &[]);
        if let Some(composition) = &metascheduler.composition {
            let at = path.key("negotiation");
            self.effects(COMPOSITIONS, &at, (composition, &()), &of("negotiation"), &[]);
        }
    }
}
