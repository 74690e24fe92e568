//! The composite that is done first (Netto 2009, section 6.4.1, OffersNoLB).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use haggle_model::Time;

use crate::bags::Offer;

use super::view::{View, level};
use super::{BagCall, Composer, Composition, CompositionOptions, offers};

/// Takes the composite that is done first; loads are not balanced.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLb {
    /// Variants.
    pub options: CompositionOptions,
}

impl Composer for NoLb {
    type Needs = level::Offers;

    fn compose(
        &self,
        bag: &BagCall,
        views: &[View<level::Offers>],
        turn: u64,
    ) -> Option<Composition> {
        let offers: Vec<&[Offer]> = views.iter().map(View::offers).collect();
        offers::earliest(bag, &offers, self.options, turn)
    }
}

/// Some tasks of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Take {
    pub(super) provider: usize,
    pub(super) offer: Offer,
    pub(super) tasks: u32,
}

/// Compatible takes, in the order in which they were added.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Composite {
    takes: Vec<Take>,
    /// Tasks still to be taken.
    missing: u32,
}

impl Composite {
    fn take(&mut self, provider: usize, offer: Offer) {
        let tasks = offer.tasks.min(self.missing);
        self.missing -= tasks;
        self.takes.push(Take { provider, offer, tasks });
    }

    fn completion(&self) -> Time {
        let completions = self.takes.iter().map(|take| take.offer.completion);
        completions.max().unwrap_or(Time::FOREVER)
    }
}

/// The takes of the first composite to be done; `None` if no composite has all tasks.
///
/// Offers are added one by one, the best first. Each offer goes into every incomplete composite that has no
/// take of its provider. If a smaller take of its provider is in the way, the offer goes into a copy
/// without that take.
pub(super) fn takes(bag: &BagCall, offers: &[&[Offer]], turn: u64) -> Option<Vec<Take>> {
    let mut composites: Vec<Composite> = Vec::new();
    let mut seen = BTreeSet::new();
    for (provider, offer) in candidates(bag, offers, turn) {
        if composites.is_empty() {
            let mut first = Composite { takes: Vec::new(), missing: bag.tasks };
            first.take(provider, offer);
            composites.push(first);
            continue;
        }
        // Equal composites have equal futures, so one of them is enough. Composites of earlier rounds do
        // not have this offer and cannot be equal.
        seen.clear();
        for index in 0..composites.len() {
            let composite = &mut composites[index];
            if composite.missing == 0 {
                continue;
            }
            match composite.takes.iter().position(|take| take.provider == provider) {
                None => {
                    composite.take(provider, offer);
                    seen.insert(composite.takes.clone());
                }
                Some(place) if composite.takes[place].offer.tasks < offer.tasks => {
                    let mut copy = composite.clone();
                    copy.missing += copy.takes.remove(place).tasks;
                    copy.take(provider, offer);
                    if seen.insert(copy.takes.clone()) {
                        composites.push(copy);
                    }
                }
                Some(_) => {}
            }
        }
    }
    let complete = composites.into_iter().filter(|composite| composite.missing == 0);
    complete.min_by_key(Composite::completion).map(|composite| composite.takes)
}

/// All offers, the best first, up to the first one for the whole bag.
///
/// Offers that meet the deadline are ordered by size, the others by completion. Without a deadline, equal
/// offers are ordered in turn, so that not always the same provider is first.
fn candidates(bag: &BagCall, offers: &[&[Offer]], turn: u64) -> Vec<(usize, Offer)> {
    let providers = offers.len() as u64;
    let rank = |provider: usize| match bag.deadline {
        Some(_) => provider as u64,
        None => (provider as u64 + providers - turn % providers) % providers,
    };
    let key = |&(provider, offer): &(usize, Offer)| {
        let on_time = bag.deadline.is_some_and(|deadline| offer.completion <= deadline);
        let late = (!on_time).then_some(offer.completion);
        (late, Reverse(offer.tasks), rank(provider))
    };
    let each = |(provider, offers): (usize, &&[Offer])| {
        offers.iter().map(move |&offer| (provider, offer)).collect::<Vec<_>>()
    };
    let mut candidates: Vec<(usize, Offer)> = offers.iter().enumerate().flat_map(each).collect();
    candidates.retain(|(_, offer)| offer.tasks > 0);
    candidates.sort_by_key(key);
    let whole = candidates.iter().position(|(_, offer)| offer.tasks >= bag.tasks);
    candidates.truncate(whole.map_or(candidates.len(), |last| last + 1));
    candidates
}
