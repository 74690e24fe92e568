//! Fast conversion of numbers to text. A run's tables hold tens of millions of numbers, and the
//! standard library's formatting would cost more than everything else.

use std::io::Write;

const MICROS: u64 = 1_000_000;

/// Appends an integer.
pub(crate) fn push_integer(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    // The smallest number has no positive counterpart in 64 bits with sign.
    push_unsigned(out, value.unsigned_abs());
}

/// Appends an integer that is not negative.
pub(crate) fn push_unsigned(out: &mut Vec<u8>, mut value: u64) {
    // The largest number has 20 digits.
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends microseconds as seconds with one to six decimals. Readers that infer types then see a float:
/// `12.0`, `0.25`.
pub(crate) fn push_seconds(out: &mut Vec<u8>, micros: i64) {
    if micros < 0 {
        out.push(b'-');
    }
    let micros = micros.unsigned_abs();
    push_unsigned(out, micros / MICROS);
    out.push(b'.');
    let mut rest = micros % MICROS;
    let mut scale = MICROS / 10;
    loop {
        out.push(b'0' + (rest / scale) as u8);
        rest %= scale;
        scale /= 10;
        if rest == 0 {
            break;
        }
    }
}

/// Appends the shortest text that is read as the same float.
pub(crate) fn push_real(out: &mut Vec<u8>, value: f64) {
    let _ = write!(out, "{value:?}"); // writing to a Vec cannot fail
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(push: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        push(&mut out);
        String::from_utf8(out).expect("digits are ASCII")
    }

    #[test]
    fn seconds_keep_one_to_six_decimals() {
        for (micros, expected) in [
            (0, "0.0"),
            (12_000_000, "12.0"),
            (250_000, "0.25"),
            (-1, "-0.000001"),
            (1_000_001, "1.000001"),
            (-1_500_000, "-1.5"),
        ] {
            assert_eq!(text(|out| push_seconds(out, micros)), expected);
        }
    }

    #[test]
    fn integers_and_floats_read_back() {
        for value in [0, 7, -1, i64::MAX, i64::MIN] {
            assert_eq!(text(|out| push_integer(out, value)), value.to_string());
        }
        for value in [1.0, 0.1, -1.0, 1e300, 19.743] {
            assert_eq!(text(|out| push_real(out, value)).parse(), Ok(value));
        }
    }
}
