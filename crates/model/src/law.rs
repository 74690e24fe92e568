//! Probability laws that a scenario can name, checked before the first draw.

use rand::RngExt;
use rand_distr::{Distribution, Exp, Gamma, LogNormal, Normal, Poisson, Weibull};
use serde::{Deserialize, Serialize};
use statrs::function::gamma::gamma;

use crate::random::Stream;

/// A law of a random number; its unit is that of the caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Law {
    /// Always the same value.
    Constant(f64),
    /// All values from `low` up to, but not including, `high` are equally likely.
    Uniform {
        /// Lowest value.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// One of a list.
    Choice(Vec<Weighted>),
    /// Exponential.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Normal.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        standard_deviation: f64,
    },
    /// Lognormal: e to the power of a normal variable.
    Lognormal {
        /// Mean of the natural logarithm.
        mu: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// Poisson.
    Poisson {
        /// Mean.
        mean: f64,
    },
    /// Weibull.
    Weibull {
        /// Shape.
        shape: f64,
        /// Scale.
        scale: f64,
    },
    /// Gamma; its mean is shape x scale.
    Gamma {
        /// Shape.
        shape: f64,
        /// Scale.
        scale: f64,
    },
    /// A histogram: a bin is drawn by its weight, then a value of the bin uniformly.
    Histogram {
        /// Ends of the bins, ascending; bin i lies between edges i and i + 1.
        edges: Vec<f64>,
        /// The share of each bin, relative to the others.
        weights: Vec<f64>,
    },
}

/// A value of [`Law::Choice`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weighted {
    /// The value.
    pub value: f64,
    /// Its share, relative to the others.
    pub weight: f64,
}

/// Error in a parameter of a law.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{law} law: {parameter} is {value}, expected {expected}")]
pub struct LawError {
    /// Name of the law.
    pub law: &'static str,
    /// Name of the parameter.
    pub parameter: &'static str,
    /// The given value.
    pub value: f64,
    /// The allowed values.
    pub expected: &'static str,
}

/// A law that was checked and from which values can be drawn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sampler(Drawn);

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Drawn {
    Constant(f64),
    Uniform { low: f64, width: f64 },
    Choice { values: Vec<f64>, cumulated: Vec<f64> },
    Exponential(Exp<f64>),
    Normal(Normal<f64>),
    Lognormal(LogNormal<f64>),
    Poisson(Poisson<f64>),
    Weibull(Weibull<f64>),
    Gamma(Gamma<f64>),
    Histogram { edges: Vec<f64>, cumulated: Vec<f64> },
}

impl Law {
    /// A choice among values with equal shares.
    pub fn among(values: impl IntoIterator<Item = f64>) -> Law {
        let weighted = |value| Weighted { value, weight: 1.0 };
        Law::Choice(values.into_iter().map(weighted).collect())
    }

    /// The Weibull law of this shape whose mean is `mean`: its scale is
    /// `mean` / Γ(1 + 1 / `shape`).
    pub fn weibull_with_mean(shape: f64, mean: f64) -> Law {
        Law::Weibull { shape, scale: mean / gamma(1.0 + 1.0 / shape) }
    }

    /// The lognormal law of this `sigma` with mean `mean` (the mean of the value, not of its
    /// logarithm): mu is ln `mean` - `sigma`² / 2.
    pub fn lognormal_with_mean(mean: f64, sigma: f64) -> Law {
        Law::Lognormal { mu: mean.ln() - sigma * sigma / 2.0, sigma }
    }

    /// The mean; infinite or NaN if the parameters are out of range.
    pub fn mean(&self) -> f64 {
        match *self {
            Law::Constant(value) => value,
            // Not half of the sum: only the distance of both ends is checked to be finite.
            Law::Uniform { low, high } => low + (high - low) / 2.0,
            Law::Choice(ref choices) => {
                let total: f64 = choices.iter().map(|choice| choice.weight).sum();
                choices.iter().map(|choice| choice.value * (choice.weight / total)).sum()
            }
            Law::Exponential { mean } | Law::Normal { mean, .. } | Law::Poisson { mean } => mean,
            Law::Lognormal { mu, sigma } => (mu + sigma * sigma / 2.0).exp(),
            Law::Weibull { shape, scale } => scale * gamma(1.0 + 1.0 / shape),
            Law::Gamma { shape, scale } => shape * scale,
            Law::Histogram { ref edges, ref weights } => {
                let total: f64 = weights.iter().sum();
                let part = |(bin, weight): (&[f64], &f64)| {
                    (bin[0] + (bin[1] - bin[0]) / 2.0) * (weight / total)
                };
                edges.windows(2).zip(weights).map(part).sum()
            }
        }
    }

    /// Upper bound of all draws; infinite if there is none.
    pub fn highest(&self) -> f64 {
        match self {
            Law::Constant(value) => *value,
            Law::Uniform { high, .. } => *high,
            Law::Choice(choices) => {
                // A value of weight 0 is never drawn.
                let drawn = choices.iter().filter(|choice| choice.weight > 0.0);
                drawn.map(|choice| choice.value).fold(f64::NEG_INFINITY, f64::max)
            }
            Law::Histogram { edges, weights } => {
                let ends = edges.iter().skip(1).zip(weights);
                let drawn = ends.filter(|(_, weight)| **weight > 0.0);
                drawn.map(|(&end, _)| end).fold(f64::NEG_INFINITY, f64::max)
            }
            Law::Exponential { .. }
            | Law::Normal { .. }
            | Law::Lognormal { .. }
            | Law::Poisson { .. }
            | Law::Weibull { .. }
            | Law::Gamma { .. } => f64::INFINITY,
        }
    }

    /// The word used in scenarios and messages.
    pub const fn name(&self) -> &'static str {
        match self {
            Law::Constant(_) => "constant",
            Law::Uniform { .. } => "uniform",
            Law::Choice(_) => "choice",
            Law::Exponential { .. } => "exponential",
            Law::Normal { .. } => "normal",
            Law::Lognormal { .. } => "lognormal",
            Law::Poisson { .. } => "poisson",
            Law::Weibull { .. } => "weibull",
            Law::Gamma { .. } => "gamma",
            Law::Histogram { .. } => "histogram",
        }
    }

    /// Checks that all parameters are in range.
    pub fn validate(&self) -> Result<(), LawError> {
        self.sampler().map(|_| ())
    }

    /// The law, checked and ready for draws.
    pub fn sampler(&self) -> Result<Sampler, LawError> {
        let drawn = match *self {
            Law::Constant(value) => Drawn::Constant(self.finite("value", value)?),
            Law::Uniform { low, high } => {
                let low = self.finite("low", low)?;
                let high = self.finite("high", high)?;
                let width = high - low;
                self.check("high", high, width >= 0.0, "at least low")?;
                // Two finite ends may be so far apart that a draw would be infinite.
                self.check("high", high, width.is_finite(), "a smaller distance from low")?;
                Drawn::Uniform { low, width }
            }
            Law::Choice(ref choices) => self.choice(choices)?,
            Law::Exponential { mean } => {
                let rate = 1.0 / self.positive("mean", mean)?;
                Drawn::Exponential(self.made("mean", mean, Exp::new(rate))?)
            }
            Law::Normal { mean, standard_deviation } => {
                let mean = self.finite("mean", mean)?;
                let deviation = self.not_negative("standard deviation", standard_deviation)?;
                Drawn::Normal(self.made("mean", mean, Normal::new(mean, deviation))?)
            }
            Law::Lognormal { mu, sigma } => {
                let mu = self.finite("mu", mu)?;
                let sigma = self.not_negative("sigma", sigma)?;
                Drawn::Lognormal(self.made("sigma", sigma, LogNormal::new(mu, sigma))?)
            }
            Law::Poisson { mean } => {
                let mean = self.positive("mean", mean)?;
                Drawn::Poisson(self.made("mean", mean, Poisson::new(mean))?)
            }
            Law::Weibull { shape, scale } => {
                let shape = self.positive("shape", shape)?;
                let scale = self.positive("scale", scale)?;
                // The library takes the scale first, unlike for other laws.
                Drawn::Weibull(self.made("scale", scale, Weibull::new(scale, shape))?)
            }
            Law::Gamma { shape, scale } => {
                let shape = self.positive("shape", shape)?;
                let scale = self.positive("scale", scale)?;
                Drawn::Gamma(self.made("scale", scale, Gamma::new(shape, scale))?)
            }
            Law::Histogram { ref edges, ref weights } => self.histogram(edges, weights)?,
        };
        Ok(Sampler(drawn))
    }

    fn choice(&self, choices: &[Weighted]) -> Result<Drawn, LawError> {
        let mut values = Vec::with_capacity(choices.len());
        for choice in choices {
            values.push(self.finite("value", choice.value)?);
        }
        let cumulated = self.cumulated(choices.iter().map(|choice| choice.weight))?;
        Ok(Drawn::Choice { values, cumulated })
    }

    fn histogram(&self, edges: &[f64], weights: &[f64]) -> Result<Drawn, LawError> {
        let (bins, count) = (edges.len().saturating_sub(1), weights.len());
        self.check("number of weights", count as f64, count == bins, "one less than edges")?;
        for &edge in edges {
            self.finite("edge", edge)?;
        }
        for bin in edges.windows(2) {
            let width = bin[1] - bin[0];
            self.check("edge", bin[1], width > 0.0, "more than the edge before")?;
            self.check(
                "edge",
                bin[1],
                width.is_finite(),
                "a smaller distance from the one before",
            )?;
        }
        let cumulated = self.cumulated(weights.iter().copied())?;
        Ok(Drawn::Histogram { edges: edges.to_vec(), cumulated })
    }

    /// Sums of the weights up to each of them.
    fn cumulated(&self, weights: impl Iterator<Item = f64>) -> Result<Vec<f64>, LawError> {
        let mut total = 0.0;
        let mut cumulated = Vec::with_capacity(weights.size_hint().0);
        for weight in weights {
            total += self.not_negative("weight", weight)?;
            cumulated.push(total);
        }
        self.check("sum of weights", total, total > 0.0 && total.is_finite(), "above 0")?;
        Ok(cumulated)
    }

    fn finite(&self, parameter: &'static str, value: f64) -> Result<f64, LawError> {
        self.check(parameter, value, value.is_finite(), "a finite number")
    }

    fn positive(&self, parameter: &'static str, value: f64) -> Result<f64, LawError> {
        let holds = value > 0.0 && value.is_finite();
        self.check(parameter, value, holds, "a finite number above 0")
    }

    fn not_negative(&self, parameter: &'static str, value: f64) -> Result<f64, LawError> {
        let holds = value >= 0.0 && value.is_finite();
        self.check(parameter, value, holds, "a finite number of at least 0")
    }

    fn made<T, E>(
        &self,
        parameter: &'static str,
        value: f64,
        made: Result<T, E>,
    ) -> Result<T, LawError> {
        made.map_err(|_| LawError {
            law: self.name(),
            parameter,
            value,
            expected: "a value of moderate size",
        })
    }

    fn check(
        &self,
        parameter: &'static str,
        value: f64,
        holds: bool,
        expected: &'static str,
    ) -> Result<f64, LawError> {
        if holds {
            return Ok(value);
        }
        Err(LawError { law: self.name(), parameter, value, expected })
    }
}

impl Sampler {
    /// Draws a value.
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        match &self.0 {
            Drawn::Constant(value) => *value,
            Drawn::Uniform { low, width } => low + width * stream.random::<f64>(),
            Drawn::Choice { values, cumulated } => values[weighted(cumulated, stream)],
            Drawn::Exponential(law) => law.sample(stream),
            Drawn::Normal(law) => law.sample(stream),
            Drawn::Lognormal(law) => law.sample(stream),
            Drawn::Poisson(law) => law.sample(stream),
            Drawn::Weibull(law) => law.sample(stream),
            Drawn::Gamma(law) => law.sample(stream),
            Drawn::Histogram { edges, cumulated } => {
                let bin = weighted(cumulated, stream);
                edges[bin] + (edges[bin + 1] - edges[bin]) * stream.random::<f64>()
            }
        }
    }
}

impl Sampler {
    /// Draws a value under the condition that it exceeds `bound`. `None` if no value of the law does, or if such
    /// values are too rare to be found in 10,000 draws.
    pub fn sample_above(&self, bound: f64, stream: &mut Stream) -> Option<f64> {
        match &self.0 {
            Drawn::Choice { values, cumulated } => {
                let mut sum = 0.0;
                let weights = weights(cumulated);
                let above = values.iter().zip(weights).map(|(&value, weight)| {
                    sum += if value > bound { weight } else { 0.0 };
                    sum
                });
                let above = Vec::from_iter(above);
                (sum > 0.0).then(|| values[weighted(&above, stream)])
            }
            Drawn::Histogram { edges, cumulated } => {
                let mut sum = 0.0;
                let parts = edges.windows(2).zip(weights(cumulated)).map(|(bin, weight)| {
                    let part = (bin[1] - bin[0].max(bound)) / (bin[1] - bin[0]);
                    sum += weight * part.max(0.0);
                    sum
                });
                let parts = Vec::from_iter(parts);
                (sum > 0.0).then(|| {
                    let bin = weighted(&parts, stream);
                    let (low, high) = (edges[bin].max(bound), edges[bin + 1]);
                    // From the upper end, which is possible, to the lower one, which is not.
                    high - (high - low) * stream.random::<f64>()
                })
            }
            // It has no memory.
            Drawn::Exponential(law) => Some(bound.max(0.0) + law.sample(stream)),
            _ => (0..10_000).map(|_| self.sample(stream)).find(|&value| value > bound),
        }
    }
}

/// The weights, by their sums up to each of them.
fn weights(cumulated: &[f64]) -> impl Iterator<Item = f64> {
    let mut before = 0.0;
    cumulated.iter().map(move |&sum| sum - std::mem::replace(&mut before, sum))
}

/// Draws an index by weights, given as cumulated sums, of which there is at least one.
fn weighted(cumulated: &[f64], stream: &mut Stream) -> usize {
    let last = cumulated.len() - 1;
    let point = stream.random::<f64>() * cumulated[last];
    // With `<=`, values of weight 0 at the front are never drawn. Rounding may make the point as large as the
    // whole sum.
    cumulated.partition_point(|&sum| sum <= point).min(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    /// Mean over 20,000 draws against `mean`, within five standard errors.
    fn check_mean(law: Law, mean: f64, deviation: f64) {
        assert!((law.mean() - mean).abs() < 1e-4 * mean.abs(), "{law:?}: {}", law.mean());
        const DRAWS: u32 = 20_000;
        let sampler = law.sampler().expect("a good law");
        let mut stream = stream(3, "law", law.name());
        let sum: f64 = (0..DRAWS).map(|_| sampler.sample(&mut stream)).sum();
        let found = sum / f64::from(DRAWS);
        let allowed = 5.0 * deviation / f64::from(DRAWS).sqrt() + 1e-12;
        assert!((found - mean).abs() <= allowed, "{law:?}: {found} is not {mean}");
    }

    #[test]
    fn every_law_has_its_mean() {
        check_mean(Law::Constant(4.5), 4.5, 0.0);
        check_mean(Law::Uniform { low: 2.0, high: 4.0 }, 3.0, 0.577);
        check_mean(Law::among([1.0, 2.0, 6.0]), 3.0, 2.16);
        check_mean(Law::Exponential { mean: 7.0 }, 7.0, 7.0);
        check_mean(Law::Normal { mean: -1.0, standard_deviation: 2.0 }, -1.0, 2.0);
        check_mean(Law::Lognormal { mu: 0.0, sigma: 0.5 }, 1.1331, 0.604);
        check_mean(Law::Poisson { mean: 5.0 }, 5.0, 2.24);
        check_mean(Law::Weibull { shape: 2.0, scale: 3.0 }, 2.6587, 1.39);
        check_mean(Law::weibull_with_mean(0.75, 3.0), 3.0, 4.07);
        check_mean(Law::lognormal_with_mean(5.0, 0.5), 5.0, 2.67);
        check_mean(Law::Gamma { shape: 4.2, scale: 0.94 }, 3.948, 1.93);
        check_mean(histogram(&[0.0, 1.0, 5.0], &[1.0, 3.0]), 2.375, 1.45);
    }

    fn histogram(edges: &[f64], weights: &[f64]) -> Law {
        Law::Histogram { edges: edges.to_vec(), weights: weights.to_vec() }
    }

    /// The mean of the values above the bound, and a bound that no value exceeds.
    #[test]
    fn values_above_a_bound_have_the_conditional_law() {
        let mean = |law: &Law, bound: f64| {
            let (sampler, mut stream) =
                (law.sampler().expect("a good law"), stream(1, "above", law.name()));
            let draws = (0..20_000).map(|_| sampler.sample_above(bound, &mut stream));
            let draws: Option<Vec<f64>> = draws.collect();
            let draws = draws?;
            assert!(draws.iter().all(|&it| it > bound), "{law:?}");
            Some(draws.iter().sum::<f64>() / draws.len() as f64)
        };
        let near = |law: Law, bound, expected: f64| {
            let found = mean(&law, bound).expect("values above the bound");
            assert!((found - expected).abs() < 0.03 * expected, "{law:?}: {found}");
        };
        near(Law::among([1.0, 2.0, 4.0]), 1.0, 3.0);
        near(histogram(&[0.0, 1.0, 5.0], &[1.0, 3.0]), 3.0, 4.0);
        near(histogram(&[0.0, 1.0, 5.0], &[1.0, 3.0]), 0.5, (0.75 * 0.5 + 3.0 * 3.0) / 3.5);
        near(Law::Exponential { mean: 2.0 }, 7.0, 9.0);
        near(Law::Uniform { low: 0.0, high: 4.0 }, 2.0, 3.0);
        assert_eq!(mean(&Law::Constant(3.0), 3.0), None);
        assert_eq!(mean(&Law::among([1.0, 2.0]), 2.0), None);
        assert_eq!(mean(&histogram(&[0.0, 1.0], &[1.0]), 1.0), None);
    }

    #[test]
    fn a_histogram_fills_its_bins_by_weight() {
        let law = histogram(&[-2.0, 0.0, 1.0, 4.0], &[0.5, 0.0, 1.5]);
        let sampler = law.sampler().expect("a good law");
        let mut stream = stream(1, "law", "histogram");
        let drawn: Vec<f64> = (0..20_000).map(|_| sampler.sample(&mut stream)).collect();
        let share = |low, high| {
            drawn.iter().filter(|value| (low..high).contains(*value)).count() as f64 / 20_000.0
        };
        // Five standard errors of the share of a bin: 5 x (0.25 x 0.75 / 20,000)^0.5.
        assert!((share(-2.0, 0.0) - 0.25).abs() < 0.0154, "{}", share(-2.0, 0.0));
        assert_eq!(share(0.0, 1.0), 0.0);
        assert!((share(1.0, 2.5) - 0.375).abs() < 0.0172, "uniform within: {}", share(1.0, 2.5));
        assert_eq!(share(-2.0, 0.0) + share(1.0, 4.0), 1.0);
    }

    #[test]
    fn no_draw_is_above_the_highest() {
        let weighted = |value, weight| Weighted { value, weight };
        let choice = Law::Choice(vec![weighted(1.0, 2.0), weighted(3.0, 0.0)]);
        assert_eq!(choice.highest(), 1.0);
        assert_eq!(histogram(&[0.0, 1.0, 5.0], &[1.0, 0.0]).highest(), 1.0);
        assert_eq!(Law::Uniform { low: 2.0, high: 4.0 }.highest(), 4.0);
        assert_eq!(Law::Normal { mean: 0.0, standard_deviation: 1.0 }.highest(), f64::INFINITY);
    }

    #[test]
    fn a_value_without_weight_is_never_chosen() {
        let weighted = |value, weight| Weighted { value, weight };
        let law = Law::Choice(vec![weighted(1.0, 0.0), weighted(2.0, 3.0), weighted(3.0, 0.0)]);
        let sampler = law.sampler().expect("a good law");
        let mut stream = stream(1, "law", "choice");
        assert!((0..1000).all(|_| sampler.sample(&mut stream) == 2.0));
    }

    #[test]
    fn what_is_no_law_is_refused_by_name() {
        let message = |law: Law| law.validate().expect_err("no law").to_string();
        assert_eq!(
            message(Law::Gamma { shape: 2.0, scale: -1.0 }),
            "gamma law: scale is -1, expected a finite number above 0"
        );
        assert_eq!(
            message(histogram(&[0.0, 2.0, 2.0], &[1.0, 1.0])),
            "histogram law: edge is 2, expected more than the edge before"
        );
        for wrong in [
            Law::Constant(f64::NAN),
            Law::Uniform { low: 2.0, high: 1.0 },
            Law::Uniform { low: f64::MIN, high: f64::MAX },
            Law::among([]),
            Law::Exponential { mean: 0.0 },
            Law::Normal { mean: 0.0, standard_deviation: f64::INFINITY },
            Law::Lognormal { mu: 0.0, sigma: -0.1 },
            Law::Poisson { mean: -1.0 },
            Law::Weibull { shape: 0.0, scale: 1.0 },
            histogram(&[], &[]),
            histogram(&[1.0], &[]),
            histogram(&[0.0, 1.0], &[1.0, 1.0]),
            histogram(&[0.0, 1.0], &[0.0]),
            histogram(&[0.0, 1.0, 2.0], &[2.0, -1.0]),
            histogram(&[0.0, f64::NAN], &[1.0]),
            histogram(&[f64::MIN, f64::MAX], &[1.0]),
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
