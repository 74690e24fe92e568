//! The sharing of links between flows.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

crate::words! {
    /// Rule by which flows share a link.
    #[derive(Default)]
    pub enum LinkSharing {
        // On each shared link, a flow is given capacity x weight / Σ weights of the flows on it. Its
        // weight is the inverse of its route's latency. Its rate is the least of these shares (Chtepen
        // 2011, equations 5.2 and 5.3).
        /// By the inverse of their latencies; bandwidth that a flow does not use stays unused.
        #[default]
        Literal = "literal",
        // The rates of all flows grow in proportion to their weights until a link is full or a flow has
        // reached its highest rate; the others continue to grow.
        /// By the inverse of their latencies, max-min fair: bandwidth that a flow does not use goes to the others.
        MaxMin = "max-min",
    }
}

/// A flow that takes all it can get.
pub(super) struct Demand<'a> {
    pub(super) weight: f64,
    /// Highest rate; may be infinite.
    pub(super) rate_max: f64,
    /// The links it crosses, as indices into the list of links.
    pub(super) links: &'a [usize],
}

/// Max-min fair rates of `demands` over links of these capacities, by progressive filling. Every demand
/// must cross a link or have a highest rate.
///
/// The common level rises. The next stop, a full link or a highest rate, comes from a heap. A link's
/// level only rises while flows leave it. An outdated entry is therefore too low, and is computed again
/// when it comes up.
pub(super) fn max_min(capacities: &[f64], demands: &[Demand<'_>]) -> Vec<f64> {
    let mut on_link = vec![Vec::new(); capacities.len()];
    let mut stops = BinaryHeap::with_capacity(capacities.len() + demands.len());
    for (index, demand) in demands.iter().enumerate() {
        demand.links.iter().for_each(|&link| on_link[link].push(index));
        if demand.rate_max.is_finite() {
            let level = demand.rate_max / demand.weight;
            stops.push(Reverse(Stop { level, at: At::Demand(index) }));
        }
    }
    // Every link comes up at once and is put back at its true level.
    for link in 0..capacities.len() {
        stops.push(Reverse(Stop { level: 0.0, at: At::Link(link) }));
    }
    let mut rates: Vec<Option<f64>> = vec![None; demands.len()];
    while let Some(Reverse(Stop { level, at })) = stops.pop() {
        match at {
            At::Demand(index) => {
                rates[index].get_or_insert(demands[index].rate_max);
            }
            At::Link(link) => {
                let (mut left, mut weight) = (capacities[link], 0.0);
                for &index in &on_link[link] {
                    match rates[index] {
                        Some(rate) => left -= rate,
                        None => weight += demands[index].weight,
                    }
                }
                // No flow on this link grows any more.
                if weight == 0.0 {
                    continue;
                }
                // Rounding may leave less than nothing.
                let level_now = left.max(0.0) / weight;
                if level_now > level {
                    stops.push(Reverse(Stop { level: level_now, at }));
                    continue;
                }
                for &index in &on_link[link] {
                    let Demand { weight, rate_max, .. } = demands[index];
                    rates[index].get_or_insert((level_now * weight).min(rate_max));
                }
            }
        }
    }
    rates.into_iter().map(|rate| rate.unwrap_or(f64::INFINITY)).collect()
}

/// A level at which some flows stop growing.
#[derive(Clone, Copy)]
struct Stop {
    level: f64,
    at: At,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Demand(usize),
    Link(usize),
}

impl Ord for Stop {
    fn cmp(&self, other: &Stop) -> Ordering {
        // Equal levels have a fixed order, so that rounding is the same in every run.
        self.level.total_cmp(&other.level).then(self.at.cmp(&other.at))
    }
}

impl PartialOrd for Stop {
    fn partial_cmp(&self, other: &Stop) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Stop {
    fn eq(&self, other: &Stop) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Stop {}
