//! Grids of clusters under random loads, as those of section 7.2.3.

use std::sync::Arc;

use haggle_model::Span;

use super::Draws;
use crate::multi::{GridView, Migration};
use crate::{Application, Cluster, ClusterOracle, Search};

/// Available parts of processors, from and to.
pub const CPU: (f64, f64) = (0.1, 1.0);
/// Available parts of links, from and to.
pub const BANDWIDTH: (f64, f64) = (0.2, 0.8);

const SPEEDS: [f64; 5] = [0.6, 0.8, 1.0, 1.2, 1.4];
const WITHIN_MBITS: [f64; 4] = [100.0, 1_000.0, 5_000.0, 10_000.0];
const BETWEEN_MBITS: [f64; 5] = [0.6, 0.8, 1.0, 5.0, 10.0];

/// Clusters and the links between them, without loads: five to twelve clusters of 32 to 512 machines.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticGrid {
    number: u64,
    clusters: Vec<ClusterPlan>,
    /// Mbit/s of the link between each two clusters.
    between: Vec<Vec<f64>>,
}

#[derive(Clone, Debug, PartialEq)]
struct ClusterPlan {
    machines: u32,
    speed: f64,
    /// Mbit/s of a link between two machines.
    within: f64,
}

impl SyntheticGrid {
    /// The grid of this number.
    pub fn draw(number: u64) -> SyntheticGrid {
        let mut draws = Draws::new(number.wrapping_add(5_000));
        let count = draws.whole(5, 12) as usize;
        let cluster = |_| ClusterPlan {
            machines: draws.whole(32, 512),
            speed: draws.one_of(&SPEEDS),
            within: draws.one_of(&WITHIN_MBITS),
        };
        let clusters: Vec<ClusterPlan> = (0..count).map(cluster).collect();
        let between = symmetric(count, || draws.one_of(&BETWEEN_MBITS));
        SyntheticGrid { number, clusters, between }
    }

    /// The greatest by the least capacity of a cluster, machines times speed (section 7.2.4).
    pub fn heterogeneity(&self) -> f64 {
        let weights = self.clusters.iter().map(|plan| f64::from(plan.machines) * plan.speed);
        let (least, most) = weights.fold((f64::INFINITY, 0.0_f64), |(least, most), weight| {
            (least.min(weight), most.max(weight))
        });
        most / least
    }

    /// The grid under the loads of an epoch, for one application. Loads depend on the numbers of grid
    /// and epoch only, so that all planners meet the same ones.
    pub fn view(
        &self,
        application: &Arc<Application>,
        migration: Migration,
        search: Search,
        epoch: usize,
    ) -> SyntheticView {
        let seed = self.number.wrapping_mul(1_000).wrapping_add(900_000 + epoch as u64);
        let mut draws = Draws::new(seed);
        let oracles = self.clusters.iter().map(|plan| {
            let cluster = loaded(&mut draws, plan.machines as usize, plan.speed);
            ClusterOracle::new(application, &Arc::new(cluster), search)
        });
        let oracles = oracles.collect();
        let shares = symmetric(self.clusters.len(), || draws.between(BANDWIDTH.0, BANDWIDTH.1));
        let within = self.clusters.iter().map(|plan| migration.over(plan.within, 0.5)).collect();
        let between = self.between.iter().zip(shares).map(|(row, shares)| {
            row.iter().zip(shares).map(|(mbits, share)| migration.over(*mbits, share)).collect()
        });
        SyntheticView { oracles, within, between: between.collect() }
    }
}

/// A cluster under random loads: all processors, and then all uplinks.
pub fn loaded(draws: &mut Draws, machines: usize, speed: f64) -> Cluster {
    let mut shares =
        |(low, high): (f64, f64)| (0..machines).map(|_| draws.between(low, high)).collect();
    let (cpu, uplinks) = (shares(CPU), shares(BANDWIDTH));
    Cluster::with_uplinks(speed, cpu, uplinks).expect("shares are drawn from their range")
}

/// A value for each pair, drawn row by row; 1 on the diagonal.
fn symmetric(count: usize, mut draw: impl FnMut() -> f64) -> Vec<Vec<f64>> {
    let mut matrix = vec![vec![1.0; count]; count];
    for (one, other) in (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other))) {
        matrix[one][other] = draw();
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
