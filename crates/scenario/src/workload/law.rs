//! Laws of numbers and of lengths of time as laws of numbers.

use haggle_model::law::{self, Weighted};

use super::seconds;
use crate::file::{Law, TimeLaw};

impl Law {
    /// True if two draws may differ.
    pub fn draws(&self) -> bool {
        !matches!(self, Law::Constant { .. })
    }

    /// The law, in the terms of the model.
    pub fn to_model(&self) -> law::Law {
        match *self {
            Law::Constant { value } => law::Law::Constant(value),
            Law::Uniform { low, high } => law::Law::Uniform { low, high },
            Law::Choice { ref values, ref weights } => choice(values.iter().copied(), weights),
            Law::Exponential { mean } => law::Law::Exponential { mean },
            Law::Normal { mean, standard_deviation } => {
                law::Law::Normal { mean, standard_deviation }
            }
            Law::Lognormal { mu, sigma } => law::Law::Lognormal { mu, sigma },
            Law::Poisson { mean } => law::Law::Poisson { mean },
            Law::Weibull { shape, scale } => law::Law::Weibull { shape, scale },
            Law::Gamma { shape, scale } => law::Law::Gamma { shape, scale },
            Law::Histogram { ref edges, ref weights } => {
                law::Law::Histogram { edges: edges.clone(), weights: weights.clone() }
            }
        }
    }

    /// Numbers of weights that are needed and given, for laws with weights. A choice needs one for each value, and
    /// a histogram one for each bin.
    pub(crate) fn weights(&self) -> Option<(usize, usize)> {
        match self {
            Law::Choice { values, weights: Some(weights) } => Some((values.len(), weights.len())),
            Law::Histogram { edges, weights } => {
                Some((edges.len().saturating_sub(1), weights.len()))
            }
            _ => None,
        }
    }
}

impl TimeLaw {
    /// True if two draws may differ.
    pub fn draws(&self) -> bool {
        !matches!(self, TimeLaw::Constant { .. })
    }

    /// The law in seconds, in the terms of the model.
    pub fn to_model(&self) -> law::Law {
        match *self {
            TimeLaw::Constant { value } => law::Law::Constant(seconds(value)),
            TimeLaw::Uniform { low, high } => {
                law::Law::Uniform { low: seconds(low), high: seconds(high) }
            }
            TimeLaw::Choice { ref values, ref weights } => {
                choice(values.iter().copied().map(seconds), weights)
            }
            TimeLaw::Exponential { mean } => law::Law::Exponential { mean: seconds(mean) },
            TimeLaw::Normal { mean, standard_deviation } => law::Law::Normal {
                mean: seconds(mean),
                standard_deviation: seconds(standard_deviation),
            },
            // The median of a lognormal variable is e to the mean of its logarithm.
            TimeLaw::Lognormal { median, sigma } => {
                law::Law::Lognormal { mu: seconds(median).ln(), sigma }
            }
            TimeLaw::Poisson { mean } => law::Law::Poisson { mean: seconds(mean) },
            TimeLaw::Weibull { shape, scale } => law::Law::Weibull { shape, scale: seconds(scale) },
            TimeLaw::Gamma { shape, scale } => law::Law::Gamma { shape, scale: seconds(scale) },
            TimeLaw::Histogram { ref edges, ref weights } => law::Law::Histogram {
                edges: edges.iter().copied().map(seconds).collect(),
                weights: weights.clone(),
            },
        }
    }

    /// Numbers of weights that are needed and given, for laws with weights. A choice needs one for each value, and
    /// a histogram one for each bin.
    pub(crate) fn weights(&self) -> Option<(usize, usize)> {
        match self {
            TimeLaw::Choice { values, weights: Some(weights) } => {
                Some((values.len(), weights.len()))
            }
            TimeLaw::Histogram { edges, weights } => {
                Some((edges.len().saturating_sub(1), weights.len()))
            }
            _ => None,
        }
    }
}

fn choice(values: impl Iterator<Item = f64>, weights: &Option<Vec<f64>>) -> law::Law {
    match weights {
        None => law::Law::among(values),
        Some(weights) => {
            let weighted = |(value, &weight)| Weighted { value, weight };
            law::Law::Choice(values.zip(weights).map(weighted).collect())
        }
    }
}
