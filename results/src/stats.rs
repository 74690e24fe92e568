//! Means, confidence intervals and paired differences over replications.
//!
//! A confidence interval is Student's: mean ± t × s / √n, with the t of n - 1
//! degrees of freedom and the sample standard deviation s. It supposes that
//! replications are independent; two policies under the same seeds are not, and
//! [`paired_difference`] makes use of that (common random numbers).

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean and how far it can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// How many values it is the mean of.
    pub n: u64,
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation; missing for a single value.
    pub std: Option<f64>,
    /// Half of the 95 % confidence interval's width; missing for a single value.
    pub half_width: Option<f64>,
}

impl Estimate {
    /// The estimate from `values`, or `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let mean = mean(values)?;
        let std = sample_std(values);
        let n = values.len() as f64;
        Some(Estimate {
            n: values.len() as u64,
            mean,
            std,
            half_width: std.map(|std| student_t_95(n - 1.0) * std / n.sqrt()),
        })
    }
}

/// The mean, or `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample standard deviation √(Σ (x - mean)² / (n - 1)), or `None` below two values.
pub fn sample_std(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The estimate of `a[i] - b[i]`, where run `i` of both had the same seed; `None` if
/// there are none or their numbers differ.
pub fn paired_difference(a: &[f64], b: &[f64]) -> Option<Estimate> {
    if a.len() != b.len() {
        return None;
    }
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    Estimate::of(&differences)
}

/// The t that 95 % of a Student distribution lies within, on both sides.
fn student_t_95(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom)
        .expect("two values or more leave at least one degree of freedom")
        .inverse_cdf(0.975)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_is_that_of_the_textbook() {
        // t(4, 0.975) = 2.7764, s = 1.5811, n = 5
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("five values");
        let half = estimate.half_width.expect("five values");
        assert!((half - 1.9632).abs() < 1e-4, "{half}");
        assert_eq!(estimate.mean, 3.0);
    }

    #[test]
    fn pairs_remove_what_runs_have_in_common() {
        let a = [10.0, 20.0, 30.0];
        let b = [9.0, 19.0, 29.0];
        let difference = paired_difference(&a, &b).expect("three pairs");
        assert_eq!((difference.mean, difference.half_width), (1.0, Some(0.0)));
        assert_eq!(paired_difference(&a, &b[..2]), None);
        assert_eq!(Estimate::of(&[4.0]).and_then(|it| it.half_width), None);
    }
}
