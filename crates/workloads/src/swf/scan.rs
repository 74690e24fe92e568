//! The common line, in one pass: 18 plain numbers and spaces.
//!
//! All other lines are left to the slower parser in `reader`, which accepts every spelling and reports errors.

use super::record::SwfRecord;
use haggle_model::time::MICROS_PER_SECOND;
use haggle_model::{Span, Time};

/// With so few digits, a number can neither overflow nor exceed the limits of the slower parser.
const DIGITS_MAX: usize = 12;

/// The record, if the line is a common one.
#[inline]
pub(super) fn record(line: &[u8]) -> Option<SwfRecord> {
    let mut scan = Scan { line, at: 0 };
    let record = SwfRecord {
        number: scan.whole()?,
        submit: Time::ZERO + scan.span()?,
        wait: scan.span()?,
        run_time: scan.span()?,
        allocated_processors: scan.small()?,
        average_cpu_time: scan.span()?,
        used_memory: scan.whole()?,
        requested_processors: scan.small()?,
        requested_time: scan.span()?,
        requested_memory: scan.whole()?,
        status: scan.small()?,
        user: scan.small()?,
        group: scan.small()?,
        executable: scan.small()?,
        queue: scan.small()?,
        partition: scan.small()?,
        preceding_job: scan.whole()?,
        think_time: scan.span()?,
    };
    scan.is_at_end().then_some(record)
}

struct Scan<'a> {
    line: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    #[inline]
    fn byte(&self) -> u8 {
        // The end of the line counts as a space, so that it needs no test of its own.
        self.line.get(self.at).copied().unwrap_or(b' ')
    }

    #[inline]
    fn skip_spaces(&mut self) {
        while self.line.get(self.at).is_some_and(|&byte| byte == b' ') {
            self.at += 1;
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_spaces();
        self.at == self.line.len() || (self.at + 1 == self.line.len() && self.byte() == b'\r')
    }

    /// Sign and digits before a space or a point.
    #[inline]
    fn integer(&mut self) -> Option<(bool, i64)> {
        self.skip_spaces();
        let negative = self.byte() == b'-';
        self.at += usize::from(negative);
        let start = self.at;
        let mut value = 0_i64;
        loop {
            let digit = self.byte().wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
            self.at += 1;
        }
        // The value of more digits may have wrapped; the slower parser reads such numbers.
        (1..=DIGITS_MAX).contains(&(self.at - start)).then_some((negative, value))
    }

    #[inline]
    fn whole(&mut self) -> Option<i64> {
        let (negative, value) = self.integer()?;
        self.ends(if negative { -value } else { value })
    }

    #[inline]
    fn small(&mut self) -> Option<i32> {
        i32::try_from(self.whole()?).ok()
    }

    #[inline]
    fn span(&mut self) -> Option<Span> {
        let (negative, seconds) = self.integer()?;
        let mut micros = seconds * MICROS_PER_SECOND;
        if self.byte() == b'.' {
            self.at += 1;
            let mut weight = MICROS_PER_SECOND / 10;
            loop {
                let digit = self.byte().wrapping_sub(b'0');
                if digit > 9 {
                    break;
                }
                // A seventh decimal needs rounding, which the slower parser does.
                if weight == 0 {
                    return None;
                }
                micros += weight * i64::from(digit);
                weight /= 10;
                self.at += 1;
            }
        }
        self.ends(Span::from_micros(if negative { -micros } else { micros }))
    }

    /// The value, if a space or the line's end is next.
    #[inline]
    fn ends<T>(&self, value: T) -> Option<T> {
        matches!(self.byte(), b' ' | b'\r').then_some(value)
    }
}
