//! One cluster whose machines are shared with others, as observed at an instant.

use std::sync::Arc;

use haggle_model::phased::Shares;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Machines of one speed, with the available part of each processor and of each link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    speed: f64,
    cpu: Vec<f64>,
    network: Network,
}

/// The available part of each link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Network {
    /// Each machine has one link to a switch. Two machines communicate over the busier of their two
    /// links. In this case, the best machines can be found exactly.
    Uplinks(Vec<f64>),
    /// Each pair of machines has a link of its own. The choice of the best machines is a clique problem.
    Links(Arc<Vec<Vec<f64>>>),
}

/// The machines that run an interval, by their numbers in their cluster, ascending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machines(Vec<u32>);

impl Machines {
    /// The set of these machines.
    pub fn new(mut numbers: Vec<u32>) -> Machines {
        numbers.sort_unstable();
        numbers.dedup();
        Machines(numbers)
    }

    /// Their numbers, ascending.
    pub fn numbers(&self) -> &[u32] {
        &self.0
    }
}

/// Reason why a cluster is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ClusterError {
    /// The speed is invalid or unrealistic.
    #[error("the speed of a cluster is a number from a millionth to a million")]
    Speed,
    /// A share is invalid.
    #[error("available parts of processors and links are at least a millionth and at most 1")]
    Share,
    /// The number of uplinks, or of rows and columns of links, differs from the number of machines.
    #[error("every machine has its links")]
    Links,
}

impl Cluster {
    /// A cluster in which each machine has one link to all others. `cpu` and `uplinks` are the
    /// available parts in the order of the machines, from a millionth to 1. At `speed` 2 a phase
    /// computes in half the time.
    pub fn with_uplinks(
        speed: f64,
        cpu: Vec<f64>,
        uplinks: Vec<f64>,
    ) -> Result<Cluster, ClusterError> {
        if uplinks.len() != cpu.len() {
            return Err(ClusterError::Links);
        }
        Cluster::checked(speed, cpu, Network::Uplinks(uplinks))
    }

    /// A cluster in which each pair of machines has a link. `links` has a row and a column for each
    /// machine. The busier of the two directions counts; the diagonal is ignored.
    pub fn with_links(
        speed: f64,
        cpu: Vec<f64>,
        mut links: Vec<Vec<f64>>,
    ) -> Result<Cluster, ClusterError> {
        let machines = cpu.len();
        if links.len() != machines || links.iter().any(|row| row.len() != machines) {
            return Err(ClusterError::Links);
        }
        for (machine, row) in links.iter_mut().enumerate() {
            // `Network::least` reads the diagonal as well, so it must not limit a set.
            row[machine] = 1.0;
        }
        // Checked before the busier direction replaces the other, so that a mistake in either one is
        // reported.
        let mut cluster = Cluster::checked(speed, cpu, Network::Links(Arc::new(links)))?;
        if let Network::Links(links) = &mut cluster.network {
            // The only reference so far, so nothing is copied.
            let links = Arc::make_mut(links);
            for (one, other) in
                (0..machines).flat_map(|one| (0..one).map(move |other| (one, other)))
            {
                let busier = links[one][other].min(links[other][one]);
                (links[one][other], links[other][one]) = (busier, busier);
            }
        }
        Ok(cluster)
    }

    fn checked(speed: f64, cpu: Vec<f64>, network: Network) -> Result<Cluster, ClusterError> {
        // NaN lies in no range.
        let is_share = |share: &f64| (1e-6..=1.0).contains(share);
        let links_are = match &network {
            Network::Uplinks(uplinks) => uplinks.iter().all(is_share),
            Network::Links(links) => links.iter().flatten().all(is_share),
        };
        if !(1e-6..=1e6).contains(&speed) {
            Err(ClusterError::Speed)
        } else if !(cpu.iter().all(is_share) && links_are) {
            Err(ClusterError::Share)
        } else {
            Ok(Cluster { speed, cpu, network })
        }
    }

    /// Number of machines.
    pub fn machines(&self) -> usize {
        self.cpu.len()
    }

    /// The least available parts of these machines and of the links between them.
    pub fn shares(&self, machines: &Machines) -> Shares {
        let cpu = machines.numbers().iter().map(|&machine| self.cpu(machine));
        let bandwidth = self.network.least(machines.numbers());
        Shares { cpu: cpu.fold(1.0, f64::min), bandwidth }
    }

    pub(crate) fn speed(&self) -> f64 {
        self.speed
    }

    /// Available part of a processor, mean over all machines.
    pub fn mean_available(&self) -> f64 {
        self.cpu.iter().sum::<f64>() / (self.cpu.len().max(1) as f64)
    }

    pub(crate) fn cpu(&self, machine: u32) -> f64 {
        self.cpu[machine as usize]
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }
}

impl Network {
    /// The least available part of a link between any two of `machines`; 1 for a single one.
    pub(crate) fn least(&self, machines: &[u32]) -> f64 {
        if machines.len() < 2 {
            return 1.0;
        }
        match self {
            Network::Uplinks(uplinks) => {
                machines.iter().fold(1.0, |least, &machine| least.min(uplinks[machine as usize]))
            }
            Network::Links(links) => machines.iter().fold(1.0, |least, &one| {
                let row = &links[one as usize];
                machines.iter().fold(least, |least, &other| least.min(row[other as usize]))
            }),
        }
    }
}

haggle_model::words! {
    /// Links between the machines of a cluster.
    #[derive(Default)]
    pub enum PlanLinks {
        /// One link from each machine to all others: two machines communicate over the busier of their links.
        #[default]
        Uplinks = "uplinks",
        /// A link of its own for each pair of machines.
        Pairs = "pairs",
    }
}
