//! Sizes of files as programs write them: `100`, `100.0`, `1.0E2`, and drawn values below 0.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// Whole numbers up to this one are exact as floating point.
const EXACT_MAX: f64 = (1_u64 << 53) as f64;

/// The size of a file as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// Bytes.
    Bytes(u64),
    /// A number below 0.
    Negative(String),
    /// No whole number, or one out of range.
    Wrong(String),
}

impl Size {
    /// Parses a size.
    pub(super) fn of(text: &str) -> Size {
        // Whole numbers first, because floating point would round sizes above 2^53.
        match text.trim().parse() {
            Ok(bytes) => Size::Bytes(bytes),
            Err(_) => match text.trim().parse() {
                Ok(number) => Size::of_number(number, text),
                Err(_) => Size::Wrong(text.to_owned()),
            },
        }
    }

    fn of_number(number: f64, text: &str) -> Size {
        match number {
            _ if number < 0.0 && number.is_finite() => Size::Negative(text.to_owned()),
            _ if number.fract() == 0.0 && number <= EXACT_MAX => Size::Bytes(number as u64),
            _ => Size::Wrong(text.to_owned()),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Bytes(bytes) => bytes.fmt(f),
            Size::Negative(text) | Size::Wrong(text) => f.write_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        deserializer.deserialize_any(Number)
    }
}

struct Number;

impl Visitor<'_> for Number {
    type Value = Size;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of bytes")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Size, E> {
        Ok(Size::Bytes(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Size, E> {
        Ok(Size::of(&number.to_string()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Size, E> {
        Ok(Size::of_number(number, &number.to_string()))
    }
}
