//! Names of nodes, which are also names of folders.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

/// Most bytes of a name.
const BYTES_MAX: usize = 63;

/// Files beside the folders of nodes.
const TAKEN: [&str; 2] = [super::folder::AUTHORITY, super::folder::AUTHORITY_KEY];

/// The name of a node: letters, digits, `-`, `_` and `.`. Its first character is a letter, a digit or `_`, so it is
/// neither a hidden file, nor a folder above, nor an option of a command.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeName(String);

/// A text that is no name of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// It has no characters, or too many.
    #[error("a name has 1 to {BYTES_MAX} bytes, not {0}")]
    Length(usize),
    /// It has another character.
    #[error("a name has only letters from a to z, digits, `-`, `_` and `.`, not {0:?}")]
    Character(char),
    /// It begins with another character.
    #[error("a name begins with a letter, a digit or `_`, not with `{0}`")]
    First(char),
    /// A file of the authority has this name.
    #[error("a file of the authority has the name `{0}`; choose another one")]
    Taken(&'static str),
}

impl FromStr for NodeName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<NodeName, BadName> {
        if text.is_empty() || text.len() > BYTES_MAX {
            return Err(BadName::Length(text.len()));
        }
        let is_other = |it: &char| !it.is_ascii_alphanumeric() && !"-_.".contains(*it);
        if let Some(other) = text.chars().find(is_other) {
            return Err(BadName::Character(other));
        }
        if let Some(first @ ('-' | '.')) = text.chars().next() {
            return Err(BadName::First(first));
        }
        // A file system may not tell capitals from other letters.
        if let Some(taken) = TAKEN.into_iter().find(|it| it.eq_ignore_ascii_case(text)) {
            return Err(BadName::Taken(taken));
        }
        Ok(NodeName(text.to_owned()))
    }
}

impl NodeName {
    /// The name as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Borrow<str> for NodeName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_are_taken() {
        let longest = "n".repeat(BYTES_MAX);
        for text in ["a", "_", "7", "site-1.north_2", "10.0.0.1", "a..b", &longest] {
            assert_eq!(text.parse::<NodeName>().map(|it| it.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let long = "n".repeat(BYTES_MAX + 1);
        for (text, message) in [
            ("", "a name has 1 to 63 bytes, not 0"),
            (long.as_str(), "a name has 1 to 63 bytes, not 64"),
            (".", "a name begins with a letter, a digit or `_`, not with `.`"),
            ("..", "a name begins with a letter, a digit or `_`, not with `.`"),
            (".ssh", "a name begins with a letter, a digit or `_`, not with `.`"),
            ("--force", "a name begins with a letter, a digit or `_`, not with `-`"),
            ("../north", "a name has only letters from a to z, digits, `-`, `_` and `.`, not '/'"),
            ("/etc", "a name has only letters from a to z, digits, `-`, `_` and `.`, not '/'"),
            ("a\\b", "a name has only letters from a to z, digits, `-`, `_` and `.`, not '\\\\'"),
            ("a\0", "a name has only letters from a to z, digits, `-`, `_` and `.`, not '\\0'"),
            (
                "\u{1b}[1m",
                "a name has only letters from a to z, digits, `-`, `_` and `.`, not '\\u{1b}'",
            ),
            ("zürich", "a name has only letters from a to z, digits, `-`, `_` and `.`, not 'ü'"),
            (
                "Authority.key",
                "a file of the authority has the name `authority.key`; choose another one",
            ),
        ] {
            let found = text.parse::<NodeName>().expect_err(text);
            assert_eq!(found.to_string(), message, "{text:?}");
        }
    }
}
