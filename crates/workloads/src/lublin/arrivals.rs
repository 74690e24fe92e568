//! Arrivals of the jobs of one class: a gamma law modulated by the hour of the day.

use rand_distr::{Distribution, Gamma};

use super::super::error::WorkloadError;
use super::parameters::{ClassParameters, GammaParameters, LublinParameters, wrong};
use haggle_model::random::Stream;

/// Half hours in a day.
const BUCKETS: usize = 48;
const BUCKET_SECONDS: f64 = 1_800.0;

/// Start of the daily cycle: its quietest half hour is the one before 05:30.
const CYCLE_START: usize = 11;

/// The clock of a class.
///
/// A draw of the gamma law is a number of points. Each half hour offers as many points as its weight,
/// and the next job arrives when the points are used up. Balance and remainder are kept from job to
/// job; otherwise part of every gap would be lost.
pub(super) struct Arrivals {
    weights: [f64; BUCKETS],
    points: Gamma<f64>,
    exponent_max: f64,
    stream: Stream,
    bucket: usize,
    clock: i64,
    balance: f64,
    remainder: f64,
}

impl Arrivals {
    /// A clock at the first arrival.
    pub(super) fn new(
        class: &ClassParameters,
        parameters: &LublinParameters,
        stream: Stream,
        name: &str,
    ) -> Result<Arrivals, WorkloadError> {
        let points =
            GammaParameters { shape: class.gap.shape * class.rush_factor, scale: class.gap.scale };
        points.check_cut(&format!("{name}.gap"), parameters.gap_exponent_max)?;
        let mut arrivals = Arrivals {
            weights: daily_cycle(class.cycle, name)?,
            points: points.law("gap")?,
            exponent_max: parameters.gap_exponent_max,
            stream,
            bucket: parameters.start_hour as usize * 2 % BUCKETS,
            clock: 0,
            balance: 0.0,
            remainder: 0.0,
        };
        arrivals.advance();
        Ok(arrivals)
    }

    /// Arrival of the next job of this class, whole seconds.
    pub(super) fn clock(&self) -> i64 {
        self.clock
    }

    /// Moves the clock to the next arrival.
    pub(super) fn advance(&mut self) {
        let mut exponent = self.points.sample(&mut self.stream);
        // As in the authors' program, a draw above the cut is repeated.
        while exponent > self.exponent_max {
            exponent = self.points.sample(&mut self.stream);
        }
        self.balance += exponent.exp() / BUCKET_SECONDS;
        let mut gap = 0.0;
        while self.balance > self.weights[self.bucket] {
            self.balance -= self.weights[self.bucket];
            self.bucket = (self.bucket + 1) % BUCKETS;
            gap += BUCKET_SECONDS;
        }
        let remainder = self.balance / self.weights[self.bucket];
        // The last arrival was already that far into its half hour, so the earlier remainder is subtracted.
        gap += BUCKET_SECONDS * (remainder - self.remainder);
        self.remainder = remainder;
        self.clock = (self.clock as f64 + gap) as i64;
    }
}

/// The weights of the half hours from midnight on; they average 1.
fn daily_cycle(cycle: GammaParameters, name: &str) -> Result<[f64; BUCKETS], WorkloadError> {
    cycle.law(&format!("{name}.cycle"))?;
    let mut weights = [0.0; BUCKETS];
    for i in CYCLE_START..CYCLE_START + BUCKETS {
        let middle = i as f64;
        weights[(i - 1) % BUCKETS] = cycle.cumulated(middle + 0.5) - cycle.cumulated(middle - 0.5);
    }
    let mean = weights.iter().sum::<f64>() / BUCKETS as f64;
    let weights = weights.map(|weight| weight / mean);
    // With weight 0, a half hour would never end.
    if weights.iter().all(|weight| weight.is_finite() && *weight > 1e-9) {
        return Ok(weights);
    }
    let value = format!("{}, {}", cycle.shape, cycle.scale);
    Err(wrong(&format!("{name}.cycle"), value, "a law that leaves some weight to every half hour"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights of the authors' parameters, from midnight on.
    const BATCH: &str = "\
        0.546159 0.501147 0.458903 0.419392 0.382556 0.348319 0.316589 0.287262
        0.260225 0.235361 0.347154 0.448419 0.558983 0.676002 0.796419 0.917153
        1.035250 1.148005 1.253052 1.348420 1.432562 1.504357 1.563098 1.608462
        1.640470 1.659440 1.665940 1.660740 1.644759 1.619027 1.584641 1.542728
        1.494419 1.440820 1.382993 1.321940 1.258591 1.193797 1.128322 1.062849
        0.997970 0.934196 0.871959 0.811613 0.753445 0.697676 0.644471 0.593943";
    const INTERACTIVE: &str = "\
        0.513505 0.458814 0.408651 0.362865 0.321267 0.283636 0.249734 0.219309
        0.192105 0.167865 0.118694 0.179699 0.257571 0.352352 0.462981 0.587358
        0.722497 0.864744 1.010041 1.154181 1.293059 1.422884 1.540347 1.642740
        1.728026 1.794858 1.842566 1.871107 1.880994 1.873210 1.849116 1.810349
        1.758740 1.696219 1.624751 1.546263 1.462600 1.375481 1.286476 1.196979
        1.108209 1.021198 0.936802 0.855707 0.778441 0.705386 0.636799 0.572823";
    const ONE_CLASS: &str = "\
        0.507821 0.456122 0.408512 0.364863 0.325015 0.288779 0.255953 0.226321
        0.199662 0.175754 0.164918 0.238895 0.329302 0.435111 0.554304 0.684030
        0.820824 0.960853 1.100163 1.234902 1.361518 1.476904 1.578504 1.664373
        1.733194 1.784262 1.817444 1.833114 1.832075 1.815481 1.784752 1.741490
        1.687411 1.624272 1.553821 1.477743 1.397629 1.314948 1.231024 1.147032
        1.063988 0.982752 0.904032 0.828396 0.756280 0.687999 0.623764 0.563692";

    fn check(class: ClassParameters, expected: &str) {
        let found = daily_cycle(class.cycle, "test").expect("good parameters");
        let expected: Vec<f64> =
            expected.split_whitespace().map(|weight| weight.parse().expect("a number")).collect();
        assert_eq!(found.len(), expected.len());
        for (bucket, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!((found - expected).abs() <= 6e-7, "{bucket}: {found}, not {expected}");
        }
    }

    #[test]
    fn the_daily_cycle_has_the_published_weights() {
        check(ClassParameters::batch(), BATCH);
        check(ClassParameters::interactive(), INTERACTIVE);
        check(ClassParameters::one_class(), ONE_CLASS);
    }

    #[test]
    fn a_cycle_that_leaves_hours_empty_is_refused() {
        let narrow = GammaParameters { shape: 1e6, scale: 3e-5 };
        let error = daily_cycle(narrow, "one").expect_err("too narrow").to_string();
        assert!(error.starts_with("lublin-feitelson: one.cycle is 1000000, 0.00003"), "{error}");
    }
}
