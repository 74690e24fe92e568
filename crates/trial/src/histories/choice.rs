//! Deviations of a history, in words.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Kind of a deviation at a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deviation {
    /// The message comes behind all others of its phase and instant.
    Delay,
    /// The network loses the message.
    Lose,
    /// Its receiver crashes before the message.
    Crash,
}

impl Deviation {
    /// All deviations.
    pub const ALL: [Deviation; 3] = [Deviation::Delay, Deviation::Lose, Deviation::Crash];

    /// The word in a history.
    pub const fn name(self) -> &'static str {
        match self {
            Deviation::Delay => "delay",
            Deviation::Lose => "lose",
            Deviation::Crash => "crash",
        }
    }
}

/// A deviation at a message of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Choice {
    /// The number of events before it: delivered messages and earlier deviations.
    pub at: u64,
    /// Kind of the deviation.
    pub deviation: Deviation,
}

/// Such as `lose@12`.
impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.deviation.name(), self.at)
    }
}

/// A text that is no choice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no step of a history; write delay@N, lose@N or crash@N, such as lose@12")]
pub struct ChoiceError {
    text: String,
}

impl FromStr for Choice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Choice, ChoiceError> {
        let read = || {
            let (word, at) = text.split_once('@')?;
            let deviation = Deviation::ALL.into_iter().find(|it| it.name() == word)?;
            Some(Choice { at: at.parse().ok()?, deviation })
        };
        read().ok_or_else(|| ChoiceError { text: text.escape_debug().to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_as_they_are_printed() {
        for deviation in Deviation::ALL {
            let choice = Choice { at: 17, deviation };
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
        for text in ["", "lose", "lose@", "@3", "win@3", "lose@-1", "lose@3@4"] {
            assert!(text.parse::<Choice>().is_err(), "{text}");
        }
    }
}
