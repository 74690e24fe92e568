//! Netto 2009, chapter 5: an iterative application on seven clusters of Grid'5000, from measured
//! throughput to run times on seven sets of cores. The test bed is not available. Models of our own
//! replace the course of throughput and the measured run times.

mod courses;
mod executions;
mod optima;

use haggle_model::Span;
use haggle_planning::iterative::case_study::{CLUSTERS, Cluster, RESOURCE_SETS, TOPOLOGIES};
use haggle_planning::iterative::{PROFILED_ITERATIONS, profile};

pub(super) use self::courses::Courses;
pub(super) use self::executions::Executions;
pub(super) use self::optima::{Optima, Topologies};

use super::{Compute, Effort};
use crate::data::Data;

/// The two models of communication.
const MODELS: [&str; 2] = ["synchronous", "asynchronous"];

/// One transfer between sites (section 5.4.2).
const TRANSFER: Span = Span::from_micros(800_000);

/// Our own: transfers to the coordinator, and back.
const TRANSFERS: u32 = 2;

/// The numbers of the resource sets.
fn sets() -> impl Iterator<Item = (String, &'static [u32; 7])> {
    (1..).zip(&RESOURCE_SETS).map(|(number, set): (u32, _)| (number.to_string(), set))
}

/// Tables 5.1 and 5.2: clusters, and their numbers of cores in each resource set.
pub(super) struct ResourceSets;

impl Compute for ResourceSets {
    fn name(&self) -> &'static str {
        "iterative-sets"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["cluster", "set"]);
        for (number, set) in sets() {
            for (place, (cluster, &cores)) in CLUSTERS.iter().zip(set).enumerate() {
                let sites = |of: &[Cluster]| {
                    let mut sites: Vec<usize> = of.iter().map(|cluster| cluster.site).collect();
                    sites.sort_unstable();
                    sites.dedup();
                    sites.len() as f64
                };
                let used = CLUSTERS.iter().zip(set).filter(|(_, cores)| **cores > 0);
                let used: Vec<Cluster> = used.map(|(cluster, _)| *cluster).collect();
                let values = [
                    ("cores", f64::from(cores)),
                    ("cpus", f64::from(cluster.cpus)),
                    ("cores_per_node", f64::from(cluster.cores_per_node)),
                    ("sites", sites(&used)),
                    ("sites_so_far", sites(&CLUSTERS[..=place])),
                ];
                data.push(&[cluster.name, &number], 1, &values);
            }
        }
        Ok(data)
    }
}

/// Tables 5.3 and 5.4: throughputs and the time of their measurement, as printed and by our profiler.
pub(super) struct Throughputs;

impl Compute for Throughputs {
    fn name(&self) -> &'static str {
        "iterative-throughputs"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["cluster", "topology"]);
        for cluster in &CLUSTERS {
            // The thesis has no time of measurement for one of the clusters.
            let Some(seconds) = cluster.seconds else { continue };
            let printed = cluster.throughputs.iter().zip(seconds);
            for (topology, (&throughput, seconds)) in TOPOLOGIES.iter().zip(printed) {
                let course = |iterations| courses::elapsed(throughput, iterations);
                let ours = profile(&PROFILED_ITERATIONS, courses::TOLERANCE, course);
                let ours = ours.ok_or("there is nothing to measure")?;
                let values = [
                    ("throughput", throughput),
                    ("seconds", f64::from(seconds)),
                    ("iterations", throughput * f64::from(seconds)),
                    ("profiled_throughput", ours.throughput),
                    ("profiled_seconds", ours.seconds),
                    ("profiled_iterations", f64::from(ours.iterations)),
                ];
                data.push(&[cluster.name, topology], 1, &values);
            }
        }
        Ok(data)
    }
}
