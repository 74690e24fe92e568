//! Grids of clusters under random loads, as in section 7.2.3.

use std::sync::Arc;

use haggle_model::Span;
use serde::{Deserialize, Serialize};

use super::Draws;
use crate::multi::{GridView, Migration};
use crate::{Application, Cluster, ClusterOracle, PlanSearch};

/// Available parts of processors, lowest and highest.
pub const CPU: (f64, f64) = (0.1, 1.0);
/// Available parts of links, lowest and highest.
pub const BANDWIDTH: (f64, f64) = (0.2, 0.8);

const SPEEDS: [f64; 5] = [0.6, 0.8, 1.0, 1.2, 1.4];
const WITHIN_MBITS: [f64; 4] = [100.0, 1_000.0, 5_000.0, 10_000.0];
const BETWEEN_MBITS: [f64; 5] = [0.6, 0.8, 1.0, 5.0, 10.0];

/// Clusters and the links between them, without loads: five to twelve clusters of 32 to 512 machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SyntheticGrid {
    number: u64,
    clusters: Vec<ClusterPlan>,
    /// Mbit/s of the link between every two clusters.
    between: Vec<Vec<f64>>,
}

/// Available parts in an epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct GridLoads {
    /// Available parts of processors and of uplinks, by cluster.
    pub clusters: Vec<(Vec<f64>, Vec<f64>)>,
    /// Available parts of the links between clusters; 1 on the diagonal.
    pub between: Vec<Vec<f64>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ClusterPlan {
    machines: u32,
    speed: f64,
    /// Mbit/s of a link between two machines.
    within: f64,
}

impl SyntheticGrid {
    /// The grid with this number.
    pub fn draw(number: u64) -> SyntheticGrid {
        let mut draws = Draws::new(number.wrapping_add(5_000));
        let count = draws.whole(5, 12) as usize;
        let cluster = |_| ClusterPlan {
            machines: draws.whole(32, 512),
            speed: draws.one_of(&SPEEDS),
            within: draws.one_of(&WITHIN_MBITS),
        };
        let clusters: Vec<ClusterPlan> = (0..count).map(cluster).collect();
        let between = symmetric(count, |_, _| draws.one_of(&BETWEEN_MBITS));
        SyntheticGrid { number, clusters, between }
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Ratio of the greatest to the least capacity of a cluster, machines times speed (section 7.2.4).
    pub fn heterogeneity(&self) -> f64 {
        let weights = self.clusters.iter().map(|plan| f64::from(plan.machines) * plan.speed);
        let (least, most) = weights.fold((f64::INFINITY, 0.0_f64), |(least, most), weight| {
            (least.min(weight), most.max(weight))
        });
        most / least
    }

    /// Machines, speed and Mbit/s of a link between two machines of each cluster.
    pub fn clusters(&self) -> impl Iterator<Item = (u32, f64, f64)> + '_ {
        self.clusters.iter().map(|plan| (plan.machines, plan.speed, plan.within))
    }

    /// Mbit/s of the link between two clusters.
    pub fn between(&self, one: usize, other: usize) -> f64 {
        self.between[one][other]
    }

    /// The same grid with links of equal speed between all clusters, in Mbit/s.
    pub fn with_links(mut self, mbits: f64) -> SyntheticGrid {
        self.between.iter_mut().flatten().for_each(|link| *link = mbits);
        self
    }

    /// Available parts in an epoch: processors and uplinks of each cluster, and the links between clusters.
    pub fn loads(&self, epoch: usize) -> GridLoads {
        let seed = self.number.wrapping_mul(1_000).wrapping_add(900_000 + epoch as u64);
        let mut draws = Draws::new(seed);
        let clusters = self.clusters.iter();
        let clusters = clusters
            .map(|plan| shares(&mut draws, plan.machines as usize, CPU, BANDWIDTH))
            .collect();
        let between =
            symmetric(self.clusters.len(), |_, _| draws.between(BANDWIDTH.0, BANDWIDTH.1));
        GridLoads { clusters, between }
    }

    /// The grid under the loads of an epoch, for one application. Loads depend only on the numbers of
    /// grid and epoch, so they are the same for all planners.
    pub fn view(
        &self,
        application: &Arc<Application>,
        migration: Migration,
        search: PlanSearch,
        epoch: usize,
    ) -> SyntheticView {
        let GridLoads { clusters, between: shares } = self.loads(epoch);
        let oracles = self.clusters.iter().zip(clusters).map(|(plan, (cpu, uplinks))| {
            let cluster = Cluster::with_uplinks(plan.speed, cpu, uplinks);
            let cluster = cluster.expect("shares are drawn from their range");
            ClusterOracle::new(application, &Arc::new(cluster), search)
        });
        let oracles = oracles.collect();
        // Half of the bandwidth: the mean of the available parts.
        let within = self.clusters.iter().map(|plan| migration.over(plan.within, 0.5)).collect();
        let between = self.between.iter().zip(shares).map(|(row, shares)| {
            row.iter().zip(shares).map(|(mbits, share)| migration.over(*mbits, share)).collect()
        });
        SyntheticView { oracles, within, between: between.collect() }
    }
}

/// A cluster of speed 1 under random loads. All processors are drawn first, then all uplinks.
pub fn loaded(draws: &mut Draws, machines: usize) -> Cluster {
    loaded_between(draws, machines, CPU, BANDWIDTH)
}

/// The same with other ranges of available parts of processors and of links.
///
/// # Panics
/// If a bound is not a part from a millionth to 1.
pub fn loaded_between(
    draws: &mut Draws,
    machines: usize,
    cpu: (f64, f64),
    bandwidth: (f64, f64),
) -> Cluster {
    let (cpu, uplinks) = shares(draws, machines, cpu, bandwidth);
    Cluster::with_uplinks(1.0, cpu, uplinks).expect("shares are drawn from their range")
}

/// Available parts of all processors, and of all uplinks; drawn in this order.
fn shares(
    draws: &mut Draws,
    machines: usize,
    cpu: (f64, f64),
    bandwidth: (f64, f64),
) -> (Vec<f64>, Vec<f64>) {
    let mut parts =
        |(low, high): (f64, f64)| (0..machines).map(|_| draws.between(low, high)).collect();
    (parts(cpu), parts(bandwidth))
}

/// A symmetric matrix of values for all pairs, drawn row by row; 1 on the diagonal.
pub fn symmetric(count: usize, mut value: impl FnMut(usize, usize) -> f64) -> Vec<Vec<f64>> {
    let mut matrix = vec![vec![1.0; count]; count];
    for (one, other) in (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other))) {
        matrix[one][other] = value(one, other);
        matrix[other][one] = matrix[one][other];
    }
    matrix
}

/// A grid under the loads of one epoch.
#[derive(Debug)]
pub struct SyntheticView {
    oracles: Vec<Option<ClusterOracle>>,
    within: Vec<Span>,
    between: Vec<Vec<Span>>,
}

impl GridView for SyntheticView {
    type Oracle = ClusterOracle;

    fn clusters(&self) -> usize {
        self.oracles.len()
    }

    fn oracle(&self, cluster: usize) -> Option<&ClusterOracle> {
        self.oracles.get(cluster)?.as_ref()
    }

    fn within(&self, cluster: usize) -> Span {
        self.within[cluster]
    }

    fn between(&self, from: usize, to: usize) -> Span {
        self.between[from][to]
    }
}
