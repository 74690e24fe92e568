//! Short names for times and spans: a suffix names the unit unless it is the second.

use haggle_model::{Span, Time};

/// The time `seconds` seconds after the start of a run.
pub const fn at(seconds: i64) -> Time {
    Time::from_secs(seconds)
}

/// The time `micros` microseconds after the start of a run.
pub const fn at_micros(micros: i64) -> Time {
    Time::from_micros(micros)
}

/// A span of `seconds` seconds.
pub const fn secs(seconds: i64) -> Span {
    Span::from_secs(seconds)
}

/// A span of `micros` microseconds.
pub const fn micros(micros: i64) -> Span {
    Span::from_micros(micros)
}
