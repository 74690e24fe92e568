//! Proportional load balancing (Netto 2009, section 6.4.2, OffersWithPLB).

use std::cmp::Reverse;

use crate::bags::Offer;

use super::offers::{self, Feasible};
use super::view::{View, level};
use super::{BagCall, Composer, Composition, CompositionOptions};

/// Distributes a bag in proportion to the offers that meet its deadline.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plb {
    /// Variants.
    pub options: CompositionOptions,
}

impl Composer for Plb {
    type Needs = level::Offers;

    fn compose(
        &self,
        bag: &BagCall,
        views: &[View<level::Offers>],
        turn: u64,
    ) -> Option<Composition> {
        let offers: Vec<&[Offer]> = views.iter().map(View::offers).collect();
        offers::compose(bag, &offers, self.options, turn, |feasible| shares(feasible, bag.tasks))
    }
}

/// Tasks for each offer, in proportion to its size.
pub(super) fn shares(feasible: &[Feasible], tasks: u32) -> Vec<u32> {
    let mut order: Vec<usize> = (0..feasible.len()).collect();
    // Of equal remainders, that of the larger offer goes first.
    order.sort_by_key(|&i| Reverse(feasible[i].offer.tasks));
    let sizes: Vec<u64> = order.iter().map(|&i| u64::from(feasible[i].offer.tasks)).collect();
    let mut shares = vec![0; feasible.len()];
    for (i, share) in order.into_iter().zip(apportion(&sizes, tasks)) {
        shares[i] = share;
    }
    shares
}

/// Divides `tasks` in proportion to `sizes` by the largest remainder; ties go to the first.
pub(super) fn apportion(sizes: &[u64], tasks: u32) -> Vec<u32> {
    let sum: u128 = sizes.iter().map(|&size| u128::from(size)).sum();
    if sum == 0 {
        return vec![0; sizes.len()];
    }
    let exact = |&size: &u64| u128::from(size) * u128::from(tasks);
    let mut shares: Vec<u32> = sizes.iter().map(|size| (exact(size) / sum) as u32).collect();
    let left = tasks - shares.iter().sum::<u32>();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&i| Reverse(exact(&sizes[i]) % sum));
    for &i in order.iter().take(left as usize) {
        shares[i] += 1;
    }
    shares
}
