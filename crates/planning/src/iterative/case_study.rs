//! The case study of Netto 2009, section 5.4: an evolutionary optimiser of 480 processes on seven
//! clusters of Grid'5000, with the values of its tables.

use super::{Core, IterativeApplication};

/// The sizes of processes: the topologies that connect individuals of a population.
pub const TOPOLOGIES: [&str; 4] = ["regular-2d", "scale-free", "small-world", "random"];

/// Index of the size among [`TOPOLOGIES`].
pub const REGULAR: usize = 0;
/// See [`REGULAR`].
pub const SCALE_FREE: usize = 1;
/// See [`REGULAR`].
pub const SMALL_WORLD: usize = 2;
/// See [`REGULAR`].
pub const RANDOM: usize = 3;

/// A cluster (table 5.1) with its measurements (tables 5.3 and 5.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cluster {
    /// Its name.
    pub name: &'static str,
    /// Its city, an index into [`SITES`].
    pub site: usize,
    /// Cores that share a node.
    pub cores_per_node: u32,
    /// "Total CPUs".
    pub cpus: u32,
    /// Iterations a second for each topology.
    pub throughputs: [f64; 4],
    /// Seconds that the measurements took; `None` if another cluster with the same processor stands for this one.
    pub seconds: Option<[u32; 4]>,
}

/// The cities.
pub const SITES: [&str; 3] = ["Rennes", "Sophia", "Bordeaux"];

/// The clusters, the fastest first. Paraquad was not measured, but has the processor of paramount.
pub const CLUSTERS: [Cluster; 7] = [
    Cluster {
        name: "paradent",
        site: 0,
        cores_per_node: 8,
        cpus: 128,
        throughputs: [10.87, 11.36, 3.57, 3.29],
        seconds: Some([23, 14, 42, 46]),
    },
    Cluster {
        name: "paramount",
        site: 0,
        cores_per_node: 4,
        cpus: 66,
        throughputs: [10.00, 10.42, 3.33, 3.05],
        seconds: Some([25, 15, 45, 49]),
    },
    Cluster {
        name: "paraquad",
        site: 0,
        cores_per_node: 4,
        cpus: 132,
        throughputs: [10.00, 10.42, 3.33, 3.05],
        seconds: None,
    },
    Cluster {
        name: "sol",
        site: 1,
        cores_per_node: 4,
        cpus: 100,
        throughputs: [9.26, 9.62, 3.09, 2.81],
        seconds: Some([27, 16, 49, 54]),
    },
    Cluster {
        name: "bordemer",
        site: 2,
        cores_per_node: 2,
        cpus: 96,
        throughputs: [7.81, 7.81, 2.60, 2.38],
        seconds: Some([32, 19, 58, 63]),
    },
    Cluster {
        name: "azur",
        site: 1,
        cores_per_node: 2,
        cpus: 144,
        throughputs: [7.14, 7.35, 2.34, 2.14],
        seconds: Some([35, 21, 64, 70]),
    },
    Cluster {
        name: "bordeplage",
        site: 2,
        cores_per_node: 2,
        cpus: 102,
        throughputs: [5.81, 6.10, 1.89, 1.68],
        seconds: Some([43, 26, 80, 90]),
    },
];

/// Cores of each cluster in the seven resource sets (table 5.2), clusters as in [`CLUSTERS`].
pub const RESOURCE_SETS: [[u32; 7]; 7] = [
    [32, 4, 4, 0, 0, 0, 0],
    [0, 0, 20, 12, 2, 6, 0],
    [0, 20, 0, 12, 8, 0, 0],
    [0, 0, 0, 20, 20, 0, 0],
    [0, 0, 0, 20, 8, 6, 6],
    [0, 4, 0, 12, 6, 10, 8],
    [0, 0, 0, 0, 20, 0, 20],
];

/// Number of processes of each topology.
pub const PROCESSES: u32 = 120;
/// Least number of iterations of each process.
pub const ITERATIONS: u32 = 200;

/// The application with the given number of processes of each topology.
pub fn application(processes: [u32; 4]) -> IterativeApplication {
    let throughputs = CLUSTERS.map(|cluster| cluster.throughputs.to_vec()).to_vec();
    IterativeApplication::new(processes.to_vec(), ITERATIONS, throughputs)
        .expect("every throughput was measured, and somebody runs")
}

/// The cores of a resource set, in the order of [`CLUSTERS`].
pub fn cores(set: &[u32; 7]) -> Vec<Core> {
    let of = |(kind, &number): (usize, &u32)| {
        std::iter::repeat_n(Core { kind, site: CLUSTERS[kind].site }, number as usize)
    };
    set.iter().enumerate().flat_map(of).collect()
}
