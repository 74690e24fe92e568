//! How long to wait before a group is tried again.
//!
//! Whoever was in each other's way and tries again at once is in the way again. Exponential
//! back-off draws the wait from a range that doubles with each failure, so that sooner or later
//! one of them is alone. It needs no order among participants, and goes with any protocol.

use haggle_model::Span;
use serde::{Deserialize, Serialize};

/// What lies between a failure and the next try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BackOff {
    /// Nothing.
    None,
    /// So much.
    Fixed(Span),
    /// Anything below `first`, twice as much after each failure, at most `cap`.
    Exponential {
        /// The bound after the first failure.
        first: Span,
        /// The greatest bound.
        cap: Span,
    },
}

impl BackOff {
    /// The wait after so many failures; any number for `draw`, evenly distributed.
    pub fn wait(self, failures: u32, draw: u64) -> Span {
        match self {
            BackOff::None => Span::ZERO,
            BackOff::Fixed(wait) => wait,
            BackOff::Exponential { .. } => {
                let bound = self.bound(failures).as_micros().max(1) as u128;
                // The upper part of the product is evenly distributed below the bound.
                Span::from_micros(((u128::from(draw) * bound) >> 64) as i64)
            }
        }
    }

    /// What the wait after so many failures is less than, or is if it is not drawn.
    pub fn bound(self, failures: u32) -> Span {
        match self {
            BackOff::None => Span::ZERO,
            BackOff::Fixed(wait) => wait,
            BackOff::Exponential { first, cap } => {
                let doublings = failures.saturating_sub(1).min(62);
                let bound = i128::from(first.as_micros()) << doublings;
                Span::from_micros(bound.min(i128::from(cap.as_micros())) as i64)
            }
        }
    }
}
