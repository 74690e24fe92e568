//! Cost of a checkpoint for the job that writes it.

use haggle_model::Span;

use haggle_model::work::{Work, span_of};
use serde::{Deserialize, Serialize};

/// C: time for which writing a checkpoint stops the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckpointCost {
    /// The same for every job.
    Constant(Span),
    /// `base` for the shortest jobs, `base + slope` for jobs of `full` or longer,
    /// and in proportion between them.
    Affine {
        /// Cost for a job without length.
        base: Span,
        /// Additional cost of the longest jobs.
        slope: Span,
        /// Length from which on the cost does not grow.
        full: Work,
    },
}

impl CheckpointCost {
    /// 0.1 s to 5 s depending on the job's length, the full cost from 10 h at
    /// 1 MIPS on (after section 4.3.4, which names the range only).
    pub const BY_LENGTH: CheckpointCost = CheckpointCost::Affine {
        base: Span::from_micros(100_000),
        slope: Span::from_micros(4_900_000),
        full: Work::from_mi(36_000),
    };

    /// C of a job of this length, rounded up to the next microsecond.
    #[inline]
    pub fn of(&self, length: Work) -> Span {
        match *self {
            CheckpointCost::Constant(cost) => cost,
            CheckpointCost::Affine { base, slope, full } if length >= full => base + slope,
            CheckpointCost::Affine { base, slope, full } => {
                let slope_micros = u128::from(slope.as_micros().unsigned_abs());
                // In millionths of a thousandth of a MI, so that products fit.
                let nanos = |work: Work| work.as_parts() / (Work::PER_MICRO * 1_000);
                let part = slope_micros.saturating_mul(nanos(length)).div_ceil(nanos(full).max(1));
                base + span_of(part).min(slope)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_grows_with_the_length_up_to_ten_hours() {
        let cost = |mi| CheckpointCost::BY_LENGTH.of(Work::from_mi(mi)).as_micros();
        assert_eq!(cost(0), 100_000);
        assert_eq!(cost(18_000), 2_550_000);
        assert_eq!(cost(36_000), 5_000_000);
        assert_eq!(cost(1_000_000), 5_000_000);
        assert_eq!(
            CheckpointCost::Constant(Span::from_secs(2)).of(Work::from_mi(7)),
            Span::from_secs(2)
        );
    }
}
