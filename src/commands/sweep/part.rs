//! A part of a sweep, `3/10`, for any scheduler.

use std::fmt;
use std::str::FromStr;

/// One of several parts of a sweep. The runs of a part are spread over the sweep, since adjacent
/// points often take equally long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Number of the part, from 1.
    number: usize,
    of: usize,
}

impl Part {
    pub(super) fn has(self, run: usize) -> bool {
        run % self.of == self.number - 1
    }
}

impl FromStr for Part {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Part, Self::Err> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            Some(Part { number: number.parse().ok()?, of: of.parse().ok()? })
        });
        let part = numbers.filter(|part| (1..=part.of).contains(&part.number));
        part.ok_or("write K/N, such as 3/10: part 3 of 10")
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}
