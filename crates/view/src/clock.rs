//! Times of tables in whole microseconds, as the page gets them.

use haggle_model::time::MICROS_PER_SECOND;

/// Largest time: a number of JavaScript holds it exactly (285 years).
pub(crate) const LAST: i64 = 1 << 53;

/// A time in seconds as whole microseconds, within [`LAST`]; `None` for a value that is no number.
pub(crate) fn micros(seconds: f64) -> Option<i64> {
    if seconds.is_nan() {
        return None;
    }
    // The conversion of a float to an integer saturates.
    Some(((seconds * MICROS_PER_SECOND as f64).round() as i64).clamp(-LAST, LAST))
}

/// A time in microseconds within [`LAST`].
pub(crate) fn clamped(micros: i64) -> i64 {
    micros.clamp(-LAST, LAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_and_bounded() {
        assert_eq!(micros(0.000_001), Some(1));
        assert_eq!(micros(-1.5), Some(-1_500_000));
        assert_eq!(micros(f64::INFINITY), Some(LAST));
        assert_eq!(micros(-1e300), Some(-LAST));
        assert_eq!(micros(f64::NAN), None);
    }
}
