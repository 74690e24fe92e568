//! Time to wait before a group is tried again.
//!
//! Groups that obstruct each other and try again at once obstruct each other again. Exponential back-off
//! draws the wait from a range that doubles with each failure, so that sooner or later one of them is
//! alone. It needs no order among participants, and works with any protocol.

use haggle_model::Span;
use serde::{Deserialize, Serialize};

/// Wait between a failure and the next try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BackOff {
    /// No wait.
    None,
    /// A fixed wait.
    Fixed(Span),
    /// A random wait below `first`, which doubles after each failure, at most `cap`.
    Exponential {
        /// The bound after the first failure.
        first: Span,
        /// The greatest bound.
        cap: Span,
    },
}

impl BackOff {
    /// The wait after `failures` failures; `draw` is any number, evenly distributed.
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

    /// Bound below which the wait after `failures` failures is drawn, or the fixed wait.
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
