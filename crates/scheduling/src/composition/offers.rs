//! Common parts of all policies that use offers: the offers that meet the deadline, and the composite when
//! these do not suffice (Netto 2009, section 6.4).

use haggle_model::Time;

use crate::bags::{Award, Offer};

use super::no_lb::{self, Take};
use super::{BagCall, Composition, CompositionOptions, Part};

/// The offer of a provider that meets the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Feasible {
    pub(super) provider: usize,
    pub(super) offer: Offer,
}

/// For each provider its largest offer that is done by `time`, if there is one.
pub(super) fn feasible<'a>(offers: impl Iterator<Item = &'a [Offer]>, time: Time) -> Vec<Feasible> {
    let largest = |(provider, offers): (usize, &[Offer])| {
        let on_time = offers.iter().filter(|offer| offer.completion <= time && offer.tasks > 0);
        on_time.max_by_key(|offer| offer.tasks).map(|&offer| Feasible { provider, offer })
    };
    offers.enumerate().filter_map(largest).collect()
}

/// Distributes a bag: by `balance` over the offers that meet the deadline if
/// these suffice, else as the composite that is done first.
///
/// `balance` returns the shares of the offers it is given, in their order.
pub(super) fn compose(
    bag: &BagCall,
    offers: &[&[Offer]],
    options: CompositionOptions,
    turn: u64,
    balance: impl FnOnce(&[Feasible]) -> Vec<u32>,
) -> Option<Composition> {
    if let Some(deadline) = bag.deadline {
        let feasible = feasible(offers.iter().copied(), deadline);
        if suffice(&feasible, bag.tasks) {
            let shares = balance(&feasible);
            return Some(balanced(&feasible, &shares, deadline));
        }
    }
    earliest(bag, offers, options, turn)
}

/// Returns whether the offers together have room for `tasks`.
pub(super) fn suffice(feasible: &[Feasible], tasks: u32) -> bool {
    let sum: u64 = feasible.iter().map(|feasible| u64::from(feasible.offer.tasks)).sum();
    tasks > 0 && sum >= u64::from(tasks)
}

fn balanced(feasible: &[Feasible], shares: &[u32], deadline: Time) -> Composition {
    let parts = feasible.iter().zip(shares).filter(|&(_, &tasks)| tasks > 0);
    let part = |(&Feasible { provider, offer }, &tasks): (&Feasible, &u32)| Part {
        provider,
        award: Award::Offered { tasks, offer },
        offer: Some(offer),
    };
    let mut sizes: Vec<u32> = feasible.iter().map(|feasible| feasible.offer.tasks).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let parts = parts.map(part).collect();
    Composition { completion: deadline, parts, balanced: true, sizes: sizes.len() }
}

/// The composite that is done first.
pub(super) fn earliest(
    bag: &BagCall,
    offers: &[&[Offer]],
    options: CompositionOptions,
    turn: u64,
) -> Option<Composition> {
    let mut takes = no_lb::takes(bag, offers, turn)?;
    let latest = takes.iter().map(|take| take.offer.completion).max()?;
    if bag.deadline.is_none() && options.balance_without_deadline {
        let feasible = feasible(offers.iter().copied(), latest);
        let shares = super::plb::shares(&feasible, bag.tasks);
        return Some(balanced(&feasible, &shares, latest));
    }
    let completion = bag.deadline.map_or(latest, |deadline| deadline.max(latest));
    takes.sort_by_key(|take| take.provider);
    let part = |Take { provider, offer, tasks }| {
        let mut awarded: Offer = offer;
        if options.relax_to_composite {
            awarded.completion = completion;
        }
        let award = Award::Offered { tasks, offer: awarded };
        Part { provider, award, offer: Some(offer) }
    };
    let parts = takes.into_iter().map(part).collect();
    Some(Composition { completion, parts, balanced: false, sizes: 0 })
}
