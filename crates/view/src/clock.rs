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

/// The same of a time that can be drawn: within [`LAST`].
pub(crate) fn drawn(seconds: f64) -> Option<i64> {
    micros(seconds).filter(|it| it.abs() < LAST)
}

/// A time in microseconds within [`LAST`].
pub(crate) fn clamped(micros: i64) -> i64 {
    micros.clamp(-LAST, LAST)
}

/// Elapsed time as the page writes it, such as `3d 04:00`, `00:15:07.5` or `9.25 s`, µs.
pub(crate) fn elapsed(micros: i64) -> String {
    let (sign, time) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
    let seconds = |micros: u64| {
        let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let text = match time {
        0 => "0".to_owned(),
        1..1_000 => format!("{time} µs"),
        1_000..1_000_000 => format!("{} ms", time as f64 / 1e3),
        1_000_000..60_000_000 => format!("{} s", seconds(time)),
        _ => {
            let (minutes, rest) = (time / 60_000_000, time % 60_000_000);
            let (days, hours) = (minutes / 1_440, minutes / 60 % 24);
            let day = if days > 0 { format!("{days}d ") } else { String::new() };
            let zero = if rest < 10_000_000 { "0" } else { "" };
            let second = if rest > 0 { format!(":{zero}{}", seconds(rest)) } else { String::new() };
            format!("{day}{hours:02}:{:02}{second}", minutes % 60)
        }
    };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elapsed_time_is_that_of_the_page() {
        let hour = 3_600_000_000;
        assert_eq!(
            [0, 17, 1_500, 9_250_000, hour, 76 * hour, 900 * 1_000_000 + 7_500_000, -hour]
                .map(elapsed),
            ["0", "17 µs", "1.5 ms", "9.25 s", "01:00", "3d 04:00", "00:15:07.5", "-01:00"]
        );
    }

    #[test]
    fn times_are_exact_and_bounded() {
        assert_eq!(micros(0.000_001), Some(1));
        assert_eq!(micros(-1.5), Some(-1_500_000));
        assert_eq!(micros(f64::INFINITY), Some(LAST));
        assert_eq!(micros(-1e300), Some(-LAST));
        assert_eq!(micros(f64::NAN), None);
        assert_eq!(
            [1.5, -1e9, f64::INFINITY, 1e308, -1e300].map(drawn)[1..],
            [Some(-1_000_000_000_000_000), None, None, None]
        );
    }
}
