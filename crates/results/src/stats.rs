//! Means, confidence intervals and paired differences over replications.
//!
//! A confidence interval is Student's: mean ± t × s / √n, with the t of n - 1 degrees of freedom and
//! the sample standard deviation s. It assumes independent replications. Two policies under the same
//! seeds are not independent, which [`paired_difference`] uses (common random numbers).

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::statistics::Statistics;

/// A mean and its precision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Number of values.
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

/// Sum and number of the values of a block, such as those of the jobs that were submitted in one week.
pub type Block = (f64, u64);

impl Estimate {
    /// The mean of values that depend on each other within a block: of all values, Σ sums / Σ numbers. Its interval
    /// counts blocks as independent replications (ratio estimator, Cochran 1977, equation 6.13). Blocks without values
    /// do not count. `None` without values.
    pub fn of_blocks(blocks: &[Block]) -> Option<Estimate> {
        let filled = Vec::from_iter(blocks.iter().filter(|(_, count)| *count > 0));
        let (sums, counts): (Vec<f64>, Vec<f64>) =
            filled.iter().map(|(sum, count)| (*sum, *count as f64)).unzip();
        let (mean, mean_count) =
            (sums.iter().sum::<f64>() / counts.iter().sum::<f64>(), mean(&counts)?);
        let deviations =
            sums.iter().zip(&counts).map(|(sum, count)| (sum - mean * count) / mean_count);
        let spread = Estimate::of(&Vec::from_iter(deviations))?;
        // The deviations have the mean 0.
        Some(Estimate { mean, ..spread })
    }
}

/// Sums of values by the block of time in which each lies; a block has `length` seconds, from `first` on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Blocks {
    first: f64,
    length: f64,
    blocks: Vec<Block>,
}

impl Blocks {
    /// No values. The length must be above 0.
    pub fn new(first: f64, length: f64) -> Blocks {
        Blocks { first, length, blocks: Vec::new() }
    }

    /// Adds a value at a time, s, which is not before the first block.
    pub fn add(&mut self, at: f64, value: f64) {
        let place = ((at - self.first) / self.length) as usize;
        if place >= self.blocks.len() {
            self.blocks.resize(place + 1, (0.0, 0));
        }
        let (sum, count) = &mut self.blocks[place];
        *sum += value;
        *count += 1;
    }

    /// The mean of all values, and its precision.
    pub fn mean(&self) -> Option<Estimate> {
        Estimate::of_blocks(&self.blocks)
    }
}

/// The mean, or `None` without values. The mean of equal values is exactly their value, in spite of rounding.
pub fn mean(values: &[f64]) -> Option<f64> {
    let (&first, others) = values.split_first()?;
    if others.iter().all(|&other| other == first) {
        return Some(first);
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

/// The estimate of `a[i] - b[i]`, where run `i` of both had the same seed. `None` if there are no values or
/// their numbers differ.
pub fn paired_difference(a: &[f64], b: &[f64]) -> Option<Estimate> {
    if a.len() != b.len() {
        return None;
    }
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    Estimate::of(&differences)
}

/// Pearson's correlation of two lists; `None` unless they have equal lengths and values that vary.
pub fn correlation(xs: &[f64], ys: &[f64]) -> Option<f64> {
    let (slope_y, slope_x) = (slope(xs, ys)?, slope(ys, xs)?);
    // Both slopes have the sign of the covariance, so their product is not negative.
    Some(slope_y.signum() * (slope_y * slope_x).sqrt())
}

/// Slope of `ys` over `xs` by least squares; `None` unless they have equal lengths and the xs vary.
pub fn slope(xs: &[f64], ys: &[f64]) -> Option<f64> {
    if xs.len() != ys.len() || xs.len() < 2 {
        return None;
    }
    let slope = xs.covariance(ys) / xs.variance();
    // Values that do not vary have a variance of 0, so the quotient is not finite.
    slope.is_finite().then_some(slope)
}

/// Kendall's τ-b: the similarity of two orders, from -1 to 1, with correction for ties. `None` unless the
/// lists have equal lengths and values that vary.
pub fn kendall_tau(xs: &[f64], ys: &[f64]) -> Option<f64> {
    if xs.len() != ys.len() {
        return None;
    }
    let sign = |a: f64, b: f64| f64::from(i8::from(a > b) - i8::from(a < b));
    let (mut both, mut in_x, mut in_y) = (0.0, 0.0, 0.0);
    for i in 0..xs.len() {
        for j in 0..i {
            let (x, y) = (sign(xs[i], xs[j]), sign(ys[i], ys[j]));
            both += x * y;
            in_x += x * x;
            in_y += y * y;
        }
    }
    let tau = both / f64::sqrt(in_x * in_y);
    // If one list does not vary, this is 0 / 0.
    tau.is_finite().then_some(tau)
}

/// The t such that 95 % of a Student distribution lies between -t and t.
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

    /// The sample output of three runs in Chtepen 2011, section 2.2: its variance is the unbiased
    /// one, its mean percentages are means of ratios, and it cuts numbers off.
    #[test]
    fn gm_2_statistics_of_the_published_sample() {
        let accepted = [4602.0, 3531.0, 4054.0];
        let near = |value: Option<f64>, expected: f64, within: f64| {
            let value = value.expect("runs");
            assert!((value - expected).abs() <= within, "{value}, not {expected}");
        };
        let variance = |values: &[f64]| sample_std(values).map(|std| std * std);
        near(mean(&accepted[..2]), 4066.5, 0.0);
        near(variance(&accepted[..2]), 573_520.5, 1e-6);
        near(mean(&accepted), 4062.3, 0.05);
        near(variance(&accepted), 286_812.3, 0.05);
        near(mean(&[4554.0, 3492.0, 4035.0]), 4027.0, 0.0);
        near(mean(&[0.645, 0.524, 0.572]), 0.580, 1e-3);
        near(mean(&[9.101, 7.884, 8.104]), 8.363, 1e-3);
        near(mean(&[76.681, 64.298, 71.819]), 70.933, 1e-3);
        let cut = |value: Option<f64>| (value.expect("runs") * 1000.0).floor();
        assert_eq!(cut(mean(&[1057.0, 727.0, 783.0])), 855_666.0);
        let ratios = |parts: [f64; 3], wholes: [f64; 3]| {
            cut(mean(&[0, 1, 2].map(|run| parts[run] / wholes[run])))
        };
        assert_eq!(ratios(accepted, [5659.0, 4258.0, 4837.0]), 826.0);
        assert_eq!(ratios([2792.0, 2056.0, 2433.0], [3027.0, 2250.0, 2591.0]), 925.0);
        assert_eq!(ratios([1810.0, 1475.0, 1621.0], [2632.0, 2008.0, 2246.0]), 714.0);
    }

    #[test]
    fn values_of_a_block_count_together() {
        // Blocks of the sums 2, 8 and 2 over 1, 2 and 1 values: mean 3, deviations (-1, 2, -1) / (4 / 3).
        // Their standard deviation is √1.6875 = 1.29904, and t(2, 0.975) = 4.30265.
        let mut blocks = Blocks::new(100.0, 10.0);
        for (at, value) in [(100.0, 2.0), (111.0, 3.0), (119.0, 5.0), (145.0, 2.0)] {
            blocks.add(at, value);
        }
        let estimate = blocks.mean().expect("four values");
        assert_eq!((estimate.n, estimate.mean), (3, 3.0));
        let half = estimate.half_width.expect("three blocks");
        assert!((half - 4.302_65 * 1.299_04 / 3.0_f64.sqrt()).abs() < 1e-4, "{half}");
        // Blocks with one value each are values.
        let single = Estimate::of_blocks(&[(1.0, 1), (2.0, 1), (4.0, 1), (0.0, 0)]);
        let (single, values) =
            (single.expect("values"), Estimate::of(&[1.0, 2.0, 4.0]).expect("values"));
        assert_eq!((single.n, single.mean), (values.n, values.mean));
        let [half, of_values] = [single, values].map(|it| it.half_width.expect("three values"));
        assert!((half - of_values).abs() < 1e-9, "{half} and {of_values}");
        assert_eq!(Blocks::new(0.0, 1.0).mean(), None);
        assert_eq!(
            Estimate::of_blocks(&[(6.0, 3)]).map(|it| (it.mean, it.half_width)),
            Some((2.0, None))
        );
    }

    #[test]
    fn copies_have_no_spread_at_all() {
        // Five times this, over five, is not this.
        let copies = [14_162.642857142857; 5];
        assert_ne!(copies.iter().sum::<f64>() / 5.0, copies[0]);
        assert_eq!((mean(&copies), sample_std(&copies)), (Some(copies[0]), Some(0.0)));
    }

    #[test]
    fn lists_are_compared() {
        // 8 pairs in one order, 1 in the other, 1 tie in y: τ = 7 / √(10 × 9).
        // Sums of squares 10 and 26, of products 13: r = 13 / √260.
        let (xs, ys) = ([1.0, 2.0, 3.0, 4.0, 5.0], [3.0, 1.0, 4.0, 4.0, 8.0]);
        let near = |value: Option<f64>, expected: f64| {
            let value = value.expect("five pairs");
            assert!((value - expected).abs() < 1e-6, "{value}, not {expected}");
        };
        near(kendall_tau(&xs, &ys), 0.737_864_787_3);
        near(correlation(&xs, &ys), 0.806_225_774_8);
        near(slope(&xs, &ys), 1.3);
        assert_eq!(kendall_tau(&xs, &xs[..3]), None);
        assert_eq!(correlation(&xs, &[1.0; 5]), None);
        assert_eq!(slope(&[1.0; 5], &xs), None);
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
