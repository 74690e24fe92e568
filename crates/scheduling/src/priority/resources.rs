//! Amounts of resources that jobs hold, and their billing in processors.

use serde::{Deserialize, Serialize};

/// Bytes of a gibibyte.
const GIBIBYTE: f64 = (1_u64 << 30) as f64;

/// Billing units of a processor.
const UNITS: f64 = 1e6;

/// A value for each of the four resources, in Slurm's order of trackable resources (TRES).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerResource<T> {
    /// Of processors.
    pub processors: T,
    /// Of memory, in bytes.
    pub memory: T,
    /// Of nodes.
    pub nodes: T,
    /// Of accelerators.
    pub gpus: T,
}

/// How much of each resource a job holds in total: processors, bytes, nodes, accelerators.
pub type Totals = PerResource<u64>;

impl<T: Copy> PerResource<T> {
    /// The values in order.
    pub const fn values(self) -> [T; 4] {
        [self.processors, self.memory, self.nodes, self.gpus]
    }

    /// The result of a function for the values of each resource.
    pub fn zip<U: Copy, V>(
        self,
        other: PerResource<U>,
        mut function: impl FnMut(T, U) -> V,
    ) -> PerResource<V> {
        PerResource {
            processors: function(self.processors, other.processors),
            memory: function(self.memory, other.memory),
            nodes: function(self.nodes, other.nodes),
            gpus: function(self.gpus, other.gpus),
        }
    }
}

/// How the weighted amounts of a job become one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BillingRule {
    /// Their sum.
    #[default]
    Sum,
    /// The largest of them (`PriorityFlags=MAX_TRES`).
    Largest,
}

/// Prices of resources in processors (`TRESBillingWeights`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BillingWeights {
    /// Processors for each processor, gibibyte of memory, node and accelerator.
    pub weights: PerResource<f64>,
    /// Sum or largest.
    pub rule: BillingRule,
}

impl Default for BillingWeights {
    /// A processor costs a processor, and all else is free.
    fn default() -> BillingWeights {
        let weights = PerResource { processors: 1.0, ..PerResource::default() };
        BillingWeights { weights, rule: BillingRule::Sum }
    }
}

impl BillingWeights {
    /// The billing of a job with these amounts, times the usage factor of its QOS.
    pub fn billing(&self, amounts: Totals, usage_factor: f64) -> Billing {
        let mut amounts = amounts.zip(self.weights, |amount, _| amount as f64);
        amounts.memory /= GIBIBYTE;
        let weighted = amounts.zip(self.weights, |amount, weight| amount * weight).values();
        let processors = match self.rule {
            BillingRule::Sum => weighted.iter().sum(),
            BillingRule::Largest => weighted.iter().copied().fold(0.0, f64::max),
        };
        Billing::of(processors * usage_factor)
    }
}

/// The rate at which a running job is charged, in millionths of a processor.
///
/// Sums of whole numbers are exact, so the rate of a user is zero again when all jobs have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Billing(pub u64);

impl Billing {
    /// Rounds a number of processors to the nearest millionth; a number below 0 or NaN becomes 0.
    pub fn of(processors: f64) -> Billing {
        Billing((processors * UNITS).round() as u64)
    }

    /// The rate in processors.
    pub fn processors(self) -> f64 {
        self.0 as f64 / UNITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(processors: u64, gibibytes: u64) -> Totals {
        Totals { processors, memory: gibibytes << 30, ..Totals::default() }
    }

    /// Three jobs on nodes of 16 processors and 64 GiB; a gibibyte costs a quarter of a processor.
    #[test]
    fn the_published_example_of_billing() {
        let weights = PerResource { processors: 1.0, memory: 0.25, nodes: 0.0, gpus: 0.0 };
        let sum = BillingWeights { weights, rule: BillingRule::Sum };
        let bills = [job(1, 60), job(16, 1), job(16, 60)];
        let bills = bills.map(|job| sum.billing(job, 1.0).processors());
        assert_eq!(bills, [16.0, 16.25, 31.0]);
        let largest = BillingWeights { weights, rule: BillingRule::Largest };
        let bills = [job(1, 60), job(15, 1), job(16, 64)];
        let bills = bills.map(|job| largest.billing(job, 1.0).processors());
        assert_eq!(bills, [15.0, 15.0, 16.0]);
    }

    #[test]
    fn the_usage_factor_of_a_qos_scales_the_bill() {
        let weights = BillingWeights::default();
        assert_eq!(weights.billing(job(8, 64), 0.5), Billing(4_000_000));
        assert_eq!(weights.billing(job(8, 64), 0.0), Billing(0));
    }
}
