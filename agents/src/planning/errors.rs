//! Differences between predicted and true times of phases.

use haggle_model::JobId;
use haggle_model::law::Law;
use haggle_model::random::stream;
use serde::{Deserialize, Serialize};

/// Factors by which phases take longer or shorter than predicted by models and measured times. Each
/// phase has a factor of its own, which is lognormal with the mean 1.
///
/// A factor depends only on the seed, the application and the phase. So it is the same on every
/// cluster, and when a phase runs again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictionErrors {
    /// The run's seed.
    pub seed: u64,
    /// The standard deviation of the logarithm of a factor, at least 0; 0 = predictions are exact.
    pub sigma: f64,
}

impl PredictionErrors {
    /// Predictions are exact.
    pub const NONE: PredictionErrors = PredictionErrors { seed: 0, sigma: 0.0 };

    /// The factor of each phase of an application; empty if predictions are exact.
    pub fn factors(&self, job: JobId, phases: usize) -> Vec<f64> {
        if self.sigma <= 0.0 {
            return Vec::new();
        }
        let Ok(law) = Law::lognormal_with_mean(1.0, self.sigma).sampler() else {
            return Vec::new();
        };
        let mut draws = stream(self.seed, &format!("application {}", job.0), "prediction errors");
        (0..phases).map(|_| law.sample(&mut draws)).collect()
    }
}
