//! Numbers parsed directly from bytes: parsing takes most of the time of reading a log.

use haggle_model::Span;
use haggle_model::time::MICROS_PER_SECOND;

/// Largest time in a log, seconds: some 31,700 years. Sums of times then stay far from the end of the range.
pub(crate) const SECONDS_MAX: i64 = 1_000_000_000_000;

const MICROS_MAX: i64 = SECONDS_MAX * MICROS_PER_SECOND;

/// Description of the expected text where a number could not be read.
pub(crate) type Expected = &'static str;

const A_NUMBER: Expected = "a number";
const A_WHOLE_NUMBER: Expected = "a whole number";
const A_SMALLER_TIME: Expected = "a time of at most 1000000000000 s";
const A_SMALLER_NUMBER: Expected = "a number of at most 2147483647";
const A_SMALLER_LARGE_NUMBER: Expected = "a number of at most 9007199254740992";

/// Treatment of decimals where the format has whole numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decimals {
    /// Rounded up to the next whole number: for amounts of memory.
    RoundUp,
    /// Refused unless they are zeros: for identifiers and counts.
    Refuse,
}

/// A time in seconds, to the microsecond, further decimals rounded up.
#[inline]
pub(crate) fn span(token: &[u8]) -> Result<Span, Expected> {
    match decimal(token) {
        Some(Decimal { negative, whole, micros, more }) if whole <= SECONDS_MAX => {
            let magnitude = whole * MICROS_PER_SECOND + micros;
            // For a negative number, up means towards zero.
            let value = if negative { -magnitude } else { magnitude + i64::from(more) };
            Ok(Span::from_micros(value))
        }
        Some(_) => Err(A_SMALLER_TIME),
        None => {
            let micros = (float(token)? * MICROS_PER_SECOND as f64).ceil();
            if micros.abs() > MICROS_MAX as f64 {
                return Err(A_SMALLER_TIME);
            }
            Ok(Span::from_micros(micros as i64))
        }
    }
}

/// A number that fits 32 bits.
#[inline]
pub(crate) fn small(token: &[u8]) -> Result<i32, Expected> {
    let value = large(token, Decimals::Refuse)?;
    i32::try_from(value).map_err(|_| A_SMALLER_NUMBER)
}

/// A number of up to 53 bits, so that tools that store it as a float keep it exactly.
#[inline]
pub(crate) fn large(token: &[u8], decimals: Decimals) -> Result<i64, Expected> {
    const MAX: i64 = 1 << 53;
    let (value, has_part) = match decimal(token) {
        Some(found) => {
            let has_part = found.micros != 0 || found.more;
            // For a negative number, dropping the decimals is already rounding up.
            let up = i64::from(has_part && !found.negative);
            let whole = if found.negative { -found.whole } else { found.whole + up };
            (whole, has_part)
        }
        None => {
            let value = float(token)?;
            if value.abs() > MAX as f64 {
                return Err(A_SMALLER_LARGE_NUMBER);
            }
            (value.ceil() as i64, value.fract() != 0.0)
        }
    };
    if has_part && decimals == Decimals::Refuse {
        return Err(A_WHOLE_NUMBER);
    }
    if value.abs() > MAX {
        return Err(A_SMALLER_LARGE_NUMBER);
    }
    Ok(value)
}

/// The parts of a number such as `-12.5`.
struct Decimal {
    negative: bool,
    whole: i64,
    /// First six decimals.
    micros: i64,
    /// True if a decimal after the sixth is not zero.
    more: bool,
}

/// The common spellings: sign, up to 17 digits, decimals. `None` for all others.
#[inline]
fn decimal(token: &[u8]) -> Option<Decimal> {
    let (negative, digits) = match token {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, token),
    };
    let mut whole = 0_i64;
    let mut at = 0;
    while at < digits.len() {
        let digit = digits[at].wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        whole = whole.wrapping_mul(10).wrapping_add(i64::from(digit));
        at += 1;
    }
    // Seventeen digits fit 63 bits. The value of more digits may have wrapped, so it is not used.
    if at == 0 || at > 17 {
        return None;
    }
    if at == digits.len() {
        return Some(Decimal { negative, whole, micros: 0, more: false });
    }
    if digits[at] != b'.' {
        return None;
    }
    let (micros, more) = fraction(&digits[at + 1..])?;
    Some(Decimal { negative, whole, micros, more })
}

fn fraction(digits: &[u8]) -> Option<(i64, bool)> {
    let mut micros = 0;
    let mut more = false;
    let mut weight = MICROS_PER_SECOND / 10;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        if weight > 0 {
            micros += weight * i64::from(digit);
            weight /= 10;
        } else {
            more |= digit != 0;
        }
    }
    Some((micros, more))
}

/// The rare spellings: `+5`, `.5`, `1e5`, very long digit strings.
#[cold]
fn float(token: &[u8]) -> Result<f64, Expected> {
    let text = std::str::from_utf8(token).map_err(|_| A_NUMBER)?;
    let value: f64 = text.parse().map_err(|_| A_NUMBER)?;
    // Also refuses `inf` and `nan`, which are floats but no numbers.
    if value.is_finite() { Ok(value) } else { Err(A_NUMBER) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_microseconds_and_round_up() {
        let micros = |text: &str| span(text.as_bytes()).map(Span::as_micros);
        assert_eq!(micros("12"), Ok(12_000_000));
        assert_eq!(micros("-1"), Ok(-1_000_000));
        assert_eq!(micros("-1.00"), Ok(-1_000_000));
        assert_eq!(micros("7.38"), Ok(7_380_000));
        assert_eq!(micros("0.0000001"), Ok(1));
        assert_eq!(micros("1e3"), Ok(1_000_000_000));
        assert_eq!(micros("+.5"), Ok(500_000));
        assert_eq!(micros("1000000000001"), Err(A_SMALLER_TIME));
        assert_eq!(micros("1e300"), Err(A_SMALLER_TIME));
        for wrong in ["", "-", ".", "abc", "1.2.3", "0x10", "nan", "inf", "1 2", "--1"] {
            assert_eq!(micros(wrong), Err(A_NUMBER), "{wrong}");
        }
    }

    #[test]
    fn counts_refuse_decimals_and_memory_rounds_them_up() {
        assert_eq!(small(b"4.00"), Ok(4));
        assert_eq!(small(b"4.5"), Err(A_WHOLE_NUMBER));
        assert_eq!(small(b"2147483648"), Err(A_SMALLER_NUMBER));
        assert_eq!(large(b"4.5", Decimals::RoundUp), Ok(5));
        assert_eq!(large(b"-1", Decimals::RoundUp), Ok(-1));
        assert_eq!(
            large(b"99999999999999999999999", Decimals::Refuse),
            Err(A_SMALLER_LARGE_NUMBER)
        );
    }
}
