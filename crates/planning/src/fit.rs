//! A performance model from measured times (Sanjay and Vadhiyar 2011, sections 3.2 and 7.2.1): of one
//! phase, or of a whole application treated as one phase.
//!
//! Exponents are chosen from the usual ones. For each choice, the two coefficients minimise the squares
//! of relative errors, and are not negative.

use haggle_model::phased::{Phase, Shares, Speedup, Term};

/// Exponents of the problem size in computation.
const SIZES: [f64; 4] = [1.0, 1.5, 2.0, 3.0];
/// Exponents of the number of processors that divide computation and communication.
const COMPUTING: [f64; 5] = [0.5, 0.7, 0.85, 0.95, 1.0];
const COMMUNICATING: [f64; 5] = [0.0, -0.25, -0.5, 0.5, 1.0];

/// A measured execution time, on processors of speed 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// The problem size.
    pub size: f64,
    /// The available parts of processors and links.
    pub shares: Shares,
    /// The number of processors.
    pub processors: u32,
    /// The execution time in seconds, more than 0.
    pub seconds: f64,
}

/// The mean of relative errors |prediction - time| / time of a model; 0 without observations.
pub fn mean_error(model: &Phase, observations: &[Observation]) -> f64 {
    let error = |seen: &Observation| {
        let predicted = model.seconds(seen.size, seen.shares, seen.processors);
        (predicted - seen.seconds).abs() / seen.seconds
    };
    observations.iter().map(error).sum::<f64>() / observations.len().max(1) as f64
}

/// The model with the least mean error; `None` without observations.
pub fn fit(observations: &[Observation]) -> Option<Phase> {
    let computing = SIZES.into_iter().flat_map(|size| COMPUTING.map(|speedup| term(size, speedup)));
    let models = computing.flat_map(|computation| {
        let communicating = COMMUNICATING.map(|speedup| term(1.0, speedup));
        communicating
            .map(|communication| with_coefficients(computation, communication, observations))
    });
    let models = models.map(|model| (mean_error(&model, observations), model));
    // Of equally good models, the first one of the lists wins.
    let best = models.min_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|_| !observations.is_empty()).map(|(_, model)| model)
}

fn term(size: f64, speedup: f64) -> Term {
    Term { coefficient: 1.0, size, load: 1.0, speedup: Speedup::Power(speedup) }
}

/// Solves for the coefficients of two terms. If one would be negative, it is set to 0.
fn with_coefficients(
    computation: Term,
    communication: Term,
    observations: &[Observation],
) -> Phase {
    let phase = |one, other| Phase {
        computation: Term { coefficient: one, ..computation },
        communication: Term { coefficient: other, ..communication },
    };
    let (only_computing, only_communicating) = (phase(1.0, 0.0), phase(0.0, 1.0));
    // Sums of squares and products of both terms, relative to the measured time.
    let [mut xx, mut xy, mut yy, mut x_sum, mut y_sum] = [0.0; 5];
    for seen in observations {
        let part =
            |phase: &Phase| phase.seconds(seen.size, seen.shares, seen.processors) / seen.seconds;
        let (x, y) = (part(&only_computing), part(&only_communicating));
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
        (x_sum, y_sum) = (x_sum + x, y_sum + y);
    }
    let determinant = xx * yy - xy * xy;
    let both = [(x_sum * yy - y_sum * xy) / determinant, (y_sum * xx - x_sum * xy) / determinant];
    let alone = |sum: f64, square: f64| if square > 0.0 { sum / square } else { 0.0 };
    match both {
        // For terms that are proportional to each other, the determinant is 0 and the coefficients are not
        // determined.
        [one, other] if one >= 0.0 && other >= 0.0 && determinant > 0.0 => phase(one, other),
        _ => {
            // The least squares without negative coefficients then lie where one coefficient is 0.
            let models = [phase(alone(x_sum, xx), 0.0), phase(0.0, alone(y_sum, yy))];
            let [one, other] = models.map(|model| (mean_error(&model, observations), model));
            if other.0 < one.0 { other.1 } else { one.1 }
        }
    }
}
