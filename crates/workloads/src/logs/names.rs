//! Numbers for names, as records of the Standard Workload Format need them.

use std::collections::BTreeMap;

use crate::swf::HeaderLine;

/// Most names of a kind: more names are more likely a wrong column.
const NAMES_MAX: usize = 1_000_000;

/// Names of a log whose numbers are stated: the first name of a list has the number 1. Names that are not listed have
/// the numbers behind them, in the order in which the log has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbered {
    /// Of users.
    pub users: Vec<String>,
    /// Of groups.
    pub groups: Vec<String>,
    /// Of queues.
    pub queues: Vec<String>,
    /// Of partitions.
    pub partitions: Vec<String>,
}

impl Numbered {
    /// True if no name is listed.
    pub fn is_empty(&self) -> bool {
        *self == Numbered::default()
    }
}

/// Names in the order in which they were met, numbered from 1.
#[derive(Default)]
pub(super) struct Names(BTreeMap<Box<str>, i32>);

impl Names {
    /// Names that have their numbers already.
    pub(super) fn of(listed: &[String]) -> Names {
        Names(listed.iter().map(|name| Box::from(name.as_str())).zip(1..).collect())
    }

    /// The number of a name; `None` if there are too many names.
    pub(super) fn number(&mut self, name: &str) -> Option<i32> {
        if let Some(&number) = self.0.get(name) {
            return Some(number);
        }
        if self.0.len() == NAMES_MAX {
            return None;
        }
        let number = self.0.len() as i32 + 1;
        self.0.insert(Box::from(name), number);
        Some(number)
    }

    /// Lines of a header for the names, such as `Queue: 1 long`.
    pub(super) fn header_lines(&self, key: &str) -> Vec<HeaderLine> {
        let line =
            |(number, name)| HeaderLine { key: key.to_owned(), value: format!("{number} {name}") };
        self.in_order().into_iter().map(line).collect()
    }

    /// The names with their numbers, in the order of the numbers.
    fn in_order(&self) -> Vec<(i32, &str)> {
        let mut all: Vec<(i32, &str)> =
            self.0.iter().map(|(name, &number)| (number, &**name)).collect();
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_as_they_are_met() {
        let mut names = Names::default();
        let found = ["long", "debug", "long"].map(|name| names.number(name));
        assert_eq!(found, [Some(1), Some(2), Some(1)]);
        assert_eq!(names.in_order(), [(1, "long"), (2, "debug")]);
    }

    #[test]
    fn listed_names_have_the_first_numbers() {
        let mut names = Names::of(&["night".to_owned(), "long".to_owned()]);
        assert_eq!(["debug", "long"].map(|name| names.number(name)), [Some(3), Some(2)]);
    }
}
