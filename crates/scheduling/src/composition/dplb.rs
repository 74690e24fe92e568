//! Double-proportional load balancing (Netto 2009, section 6.4.3, Algorithm 6): in proportion to the
//! offers, and among equal offers in proportion to known data of the providers. These are their computing
//! power, or the capacity that their load leaves before the deadline.

use std::cmp::Reverse;

use haggle_model::Time;

use crate::bags::Offer;

use super::offers::{self, Feasible};
use super::plb::apportion;
use super::view::{View, level};
use super::{BagCall, Composer, Composition, CompositionOptions};

haggle_model::words! {
    /// Measure of the computing power left before a deadline.
    #[derive(Default)]
    pub enum WeightRule {
        /// Computing power x time to the deadline - load.
        #[default]
        FreeCapacity = "free-capacity",
        /// Inverse of the time to complete the load and one task.
        DrainTime = "drain-time",
    }
}

impl WeightRule {
    fn weight(self, bag: &BagCall, power: u64, load: u128) -> u128 {
        let power = u128::from(power);
        let micros = |micros: i64| micros.max(0) as u128;
        match self {
            WeightRule::FreeCapacity => {
                let deadline = bag.deadline.unwrap_or(Time::FOREVER);
                (power * micros((deadline - bag.now).as_micros())).saturating_sub(load)
            }
            WeightRule::DrainTime => {
                // Fixed point: weights with different denominators have no common one that fits.
                let drain = load.saturating_add(power * micros(bag.span.as_micros()));
                (power * power).saturating_mul(1 << 40).checked_div(drain).unwrap_or(0)
            }
        }
    }
}

/// Balances by offers and by power.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dplb {
    /// Variants.
    pub options: CompositionOptions,
}

impl Composer for Dplb {
    type Needs = level::Power;

    fn compose(
        &self,
        bag: &BagCall,
        views: &[View<level::Power>],
        turn: u64,
    ) -> Option<Composition> {
        let offers: Vec<&[Offer]> = views.iter().map(View::offers).collect();
        offers::compose(bag, &offers, self.options, turn, |feasible| {
            let weigh = |f: &Feasible| {
                let power = u128::from(views[f.provider].power());
                weighted(f, power, power)
            };
            shares(feasible.iter().map(weigh).collect(), bag.tasks)
        })
    }
}

/// Balances by offers, power and load.
#[derive(Clone, Copy, Debug, Default)]
pub struct DplbV2 {
    /// Variants.
    pub options: CompositionOptions,
}

impl Composer for DplbV2 {
    type Needs = level::Load;

    fn compose(
        &self,
        bag: &BagCall,
        views: &[View<level::Load>],
        turn: u64,
    ) -> Option<Composition> {
        let offers: Vec<&[Offer]> = views.iter().map(View::offers).collect();
        offers::compose(bag, &offers, self.options, turn, |feasible| {
            let weigh = |f: &Feasible| {
                let view = &views[f.provider];
                let (power, load) = (view.power(), view.load());
                let weight = self.options.load_weights.weight(bag, power, load);
                weighted(f, weight, u128::from(power))
            };
            shares(feasible.iter().map(weigh).collect(), bag.tasks)
        })
    }
}

/// Bits left free above the largest weight: for twice the tasks, and for sums.
const HEADROOM: u32 = 40;

/// An offer and the weight of its provider.
#[derive(Clone, Copy, Debug)]
struct Weighted {
    size: u32,
    weight: u128,
    /// Used where all weights of a group are 0.
    power: u128,
}

fn weighted(feasible: &Feasible, weight: u128, power: u128) -> Weighted {
    Weighted { size: feasible.offer.tasks, weight, power }
}

/// Tasks for each offer: groups of equal size in proportion to these sizes,
/// inside a group in proportion to the weights.
fn shares(offers: Vec<Weighted>, tasks: u32) -> Vec<u32> {
    let mut order: Vec<usize> = (0..offers.len()).collect();
    order.sort_by_key(|&i| (Reverse(offers[i].size), Reverse(offers[i].weight)));
    let groups: Vec<&[usize]> = order.chunk_by(|&a, &b| offers[a].size == offers[b].size).collect();
    let group_size = |group: &&[usize]| u64::from(offers[group[0]].size) * group.len() as u64;
    // The remainders' ties go to the larger offers, which come first.
    let targets = apportion(&groups.iter().map(group_size).collect::<Vec<_>>(), tasks);
    let mut shares = vec![0; offers.len()];
    for (group, target) in groups.into_iter().zip(targets) {
        share_group(&offers, group, target, &mut shares);
    }
    shares
}

fn share_group(offers: &[Weighted], group: &[usize], target: u32, shares: &mut [u32]) {
    let all_zero = group.iter().all(|&i| offers[i].weight == 0);
    let weight = |i: usize| if all_zero { offers[i].power } else { offers[i].weight };
    // Only the ratio of weights counts, and their products with tasks must fit.
    let largest = group.iter().map(|&i| weight(i)).max().unwrap_or(0);
    let shift = HEADROOM.saturating_sub(largest.leading_zeros());
    let weight = |i: usize| weight(i) >> shift;
    let sum: u128 = group.iter().map(|&i| weight(i)).sum();
    let mut left = target;
    for (place, &i) in group.iter().enumerate() {
        let share = if place + 1 == group.len() {
            left
        } else {
            // To the nearest whole task, halves up.
            (2 * weight(i) * u128::from(target) + sum)
                .checked_div(2 * sum)
                .map_or(target / group.len() as u32, |share| share as u32)
        };
        shares[i] = share.min(offers[i].size).min(left);
        left -= shares[i];
    }
    // Tasks for which an offer was too small go to the others.
    for &i in group {
        let more = left.min(offers[i].size - shares[i]);
        shares[i] += more;
        left -= more;
    }
}
