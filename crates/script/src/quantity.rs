//! Values of expressions: numbers, and samples over replications.

use haggle_results::stats::{Estimate, mean};

/// Beginning of the message if an expression needs a spread and there is only one replication.
pub(crate) const NO_SPREAD: &str = "one replication has no spread";

/// The values of one metric over replications, in the order of their seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    seeds: Vec<u64>,
    values: Vec<f64>,
}

/// A number or a sample.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// The same value in every replication.
    Number(f64),
    /// A value for each replication.
    Sample(Sample),
}

impl Sample {
    /// A sample of (seed, value) pairs.
    pub fn new(pairs: impl IntoIterator<Item = (u64, f64)>) -> Sample {
        let mut pairs: Vec<(u64, f64)> = pairs.into_iter().collect();
        // Samples are paired seed by seed, so both need one order.
        pairs.sort_by_key(|(seed, _)| *seed);
        let (seeds, values) = pairs.into_iter().unzip();
        Sample { seeds, values }
    }

    /// The values, in the order of their seeds.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Number of values.
    pub fn n(&self) -> usize {
        self.values.len()
    }

    /// Applies a function to each value.
    pub fn map(&self, of: impl Fn(f64) -> f64) -> Sample {
        Sample { seeds: self.seeds.clone(), values: self.values.iter().map(|it| of(*it)).collect() }
    }

    /// Applies a function to pairs of values with the same seed.
    ///
    /// # Errors
    /// If their seeds differ.
    pub fn pairs(&self, other: &Sample, of: impl Fn(f64, f64) -> f64) -> Result<Sample, String> {
        if self.seeds != other.seeds {
            return Err(format!(
                "samples of {} and {} replications cannot be paired: their seeds differ",
                self.n(),
                other.n()
            ));
        }
        let values = self.values.iter().zip(&other.values).map(|(a, b)| of(*a, *b)).collect();
        Ok(Sample { seeds: self.seeds.clone(), values })
    }

    /// The mean with its spread and confidence interval; `None` for an empty sample.
    pub fn estimate(&self) -> Option<Estimate> {
        Estimate::of(&self.values)
    }
}

impl Quantity {
    /// The number, or the sample's mean (not a number for an empty one).
    pub fn mean(&self) -> f64 {
        match self {
            Quantity::Number(number) => *number,
            Quantity::Sample(sample) => mean(sample.values()).unwrap_or(f64::NAN),
        }
    }

    /// Number of values; `None` for a number.
    pub fn n(&self) -> Option<usize> {
        match self {
            Quantity::Number(_) => None,
            Quantity::Sample(sample) => Some(sample.n()),
        }
    }

    /// The estimate of the mean; for a number, without a spread.
    pub fn estimate(&self) -> Estimate {
        let bare = Estimate { n: 0, mean: self.mean(), std: None, half_width: None };
        match self {
            Quantity::Number(_) => bare,
            Quantity::Sample(sample) => sample.estimate().unwrap_or(bare),
        }
    }

    /// The number, or the values over replications.
    pub fn values(&self) -> Vec<f64> {
        match self {
            Quantity::Number(number) => vec![*number],
            Quantity::Sample(sample) => sample.values.clone(),
        }
    }

    /// Applies a function to each value.
    pub fn map(&self, of: impl Fn(f64) -> f64) -> Quantity {
        match self {
            Quantity::Number(number) => Quantity::Number(of(*number)),
            Quantity::Sample(sample) => Quantity::Sample(sample.map(of)),
        }
    }

    /// Applies a function to two quantities; samples are paired by seed.
    ///
    /// # Errors
    /// If both are samples and their seeds differ.
    pub fn with(&self, other: &Quantity, of: impl Fn(f64, f64) -> f64) -> Result<Quantity, String> {
        Ok(match (self, other) {
            (Quantity::Number(a), Quantity::Number(b)) => Quantity::Number(of(*a, *b)),
            (Quantity::Number(a), Quantity::Sample(b)) => Quantity::Sample(b.map(|b| of(*a, b))),
            (Quantity::Sample(a), Quantity::Number(b)) => Quantity::Sample(a.map(|a| of(a, *b))),
            (Quantity::Sample(a), Quantity::Sample(b)) => Quantity::Sample(a.pairs(b, of)?),
        })
    }

    /// Mean and half of the 95 % confidence interval's width, formatted for readers.
    pub fn text(&self) -> String {
        let estimate = self.estimate();
        match estimate.half_width {
            // A tiny spread is a rounding error.
            Some(half) if half <= estimate.mean.abs() * 1e-12 => {
                format!("{} ± 0", number(estimate.mean))
            }
            Some(half) => format!("{} ± {}", number(estimate.mean), number(half)),
            None => number(estimate.mean),
        }
    }
}

/// A number with four significant digits.
pub fn number(value: f64) -> String {
    const DIGITS: i32 = 4;
    // These have no logarithm from which digits could be counted.
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let power = value.abs().log10().floor() as i32;
    if !(-4..7).contains(&power) {
        return format!("{value:.3e}");
    }
    let decimals = (DIGITS - 1 - power).max(0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_paired_by_seed() {
        let a = Sample::new([(2, 20.0), (1, 10.0)]);
        let b = Sample::new([(1, 1.0), (2, 2.0)]);
        assert_eq!(a.pairs(&b, |a, b| a - b).expect("the same seeds").values(), [9.0, 18.0]);
        let other = Sample::new([(1, 1.0), (3, 2.0)]);
        assert!(a.pairs(&other, |a, _| a).unwrap_err().contains("seeds differ"));
    }

    #[test]
    fn numbers_have_four_digits() {
        let texts = [0.0, 12.0, 1234567.0, 0.123456, -7.65432, 1e9, 2.5e-7, 99.99999].map(number);
        assert_eq!(texts, ["0", "12", "1234567", "0.1235", "-7.654", "1.000e9", "2.500e-7", "100"]);
        let sample = Quantity::Sample(Sample::new((1..=5).map(|i| (i, i as f64))));
        assert_eq!(sample.text(), "3 ± 1.963");
        assert_eq!(Quantity::Number(2.5).text(), "2.5");
    }
}
