//! Course of throughput until it is steady (figures 5.5 to 5.9). The thesis has only drawings of the
//! measurements. In our model, a process takes a while to start and is regular from then on.

use haggle_planning::iterative::case_study::{CLUSTERS, TOPOLOGIES};

use crate::data::Data;
use crate::study::{Compute, Effort};

/// Our own: start-up time of a process, s.
const START_UP: f64 = 0.5;

/// Our own: largest relative change of a steady throughput.
pub(super) const TOLERANCE: f64 = 0.02;

/// Numbers of iterations of the measurements.
const ITERATIONS: [u32; 15] = [1, 3, 5, 10, 25, 50, 100, 150, 200, 250, 500, 750, 1000, 1250, 1500];

/// Time that a process of this steady throughput takes for `iterations`, s.
pub(super) fn elapsed(throughput: f64, iterations: u32) -> f64 {
    f64::from(iterations) / throughput + START_UP
}

/// Run times and throughputs of one process after these numbers of iterations.
pub(in crate::study) struct Courses;

impl Compute for Courses {
    fn name(&self) -> &'static str {
        "iterative-courses"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["cluster", "topology", "iterations"]);
        for cluster in &CLUSTERS {
            for (topology, &throughput) in TOPOLOGIES.iter().zip(&cluster.throughputs) {
                for iterations in ITERATIONS {
                    let seconds = elapsed(throughput, iterations);
                    let rate = f64::from(iterations) / seconds;
                    let values = [("seconds", seconds), ("throughput", rate)];
                    data.push(&[cluster.name, topology, &iterations.to_string()], 1, &values);
                }
            }
        }
        Ok(data)
    }
}
