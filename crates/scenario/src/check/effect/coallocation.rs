//! Keys of a co-allocation that have no effect.

use haggle_scheduling::coallocation::CoallocationPolicy;

use crate::check::rule::{Effect, effect};
use crate::file::{Coallocation, Protocol};

/// Facts about the scenario of a co-allocation.
pub(super) struct Around {
    /// Number of providers.
    pub(super) providers: usize,
    /// True if the transport repeats lost messages.
    pub(super) is_reliable: bool,
}

/// Keys that are read only under a protocol, and keys that are read only without one.
#[rustfmt::skip] // a table
pub(super) const COALLOCATION: &[Effect<Coallocation, Around>] = &[
    effect("requests", |it, _| it.protocol.is_none(), "parts that a protocol has got stay where they are",
        "remove it, or remove `protocol`"),
    effect("requests", |it, _| it.policy.moves() != CoallocationPolicy::Rigid, "under policy \"rigid\" no job moves",
        "remove it, or choose another `policy`"),
    effect("requests", |_, at| at.providers > 1, "a job at a single provider has no parts that move",
        "remove it, or add a [[provider]]"),
    effect("fill part-min parts", |it, _| it.protocol.is_none(), "under a protocol every provider is asked for an equal part",
        "remove it, or remove `protocol`"),
    effect("patience back-off", |it, _| it.protocol.is_some(), "without a `protocol` there is no answer to wait for",
        "remove it, or choose a `protocol`"),
    effect("patience", |it, _| it.protocol.as_ref().is_some_and(Protocol::has_patience),
        "a claim is made until there is room, or `claims` are used up", "remove it, or set `claims`"),
    effect("retry", |it, at| it.protocol.is_none() || !at.is_reliable, "a reliable transport repeats lost messages itself",
        "remove it, or set `transport = \"datagram\"` in [network]"),
    effect("policy.remap", |it, _| it.parts.is_none(), "a job in `parts` is never at one provider alone", "remove it, or remove `parts`"),
];
