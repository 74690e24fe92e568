//! The numbers of names: those of the log of jobs, as queues and accounts state them.

use std::collections::{BTreeMap, BTreeSet};

use haggle_scenario::file::LogNames;
use haggle_scenario::quantity::Name;

use super::accounts::Associations;
use super::{Record, Site};

/// Names of one kind in the order of their numbers, from 1. The scenario writes each one differently.
#[derive(Clone, Debug, Default)]
pub(super) struct Listed {
    names: Vec<String>,
    known: BTreeMap<String, (i32, Name)>,
}

impl Listed {
    /// The first of equal names counts.
    pub(super) fn of<'a>(all: impl IntoIterator<Item = &'a str>) -> Listed {
        let mut listed = Listed::default();
        let mut written = BTreeSet::new();
        for name in all {
            if listed.known.contains_key(name) {
                continue;
            }
            let Ok(number) = i32::try_from(listed.names.len() + 1) else { break };
            // Characters that no scenario may have are replaced, so that two names may become one.
            let mut own = Name::like(name);
            if written.contains(own.as_str()) {
                own = Name::like(&format!("{own}-{number}"));
            }
            while !written.insert(own.as_str().to_owned()) {
                own = Name::like(&format!("{own}-"));
            }
            listed.names.push(name.to_owned());
            listed.known.insert(name.to_owned(), (number, own));
        }
        listed
    }

    pub(super) fn number(&self, name: &str) -> Option<i32> {
        self.known.get(name).map(|it| it.0)
    }

    /// The name as the scenario has it.
    pub(super) fn written(&self, name: &str) -> Name {
        self.known.get(name).map_or_else(|| Name::like(name), |it| it.1.clone())
    }

    /// The names with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, i32)> {
        self.names.iter().map(String::as_str).zip(1..)
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}

/// Names of each kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    pub(super) users: Listed,
    pub(super) accounts: Listed,
    pub(super) qualities: Listed,
    pub(super) partitions: Listed,
}

impl Numbers {
    /// Numbers of all partitions, QOS and accounts, and of the users whose shares differ from others.
    pub(super) fn of(site: &Site, associations: &Associations) -> Numbers {
        let listed =
            |records: &[Record], key: &str| Listed::of(records.iter().filter_map(|it| it.get(key)));
        Numbers {
            users: Listed::of(associations.users_with_shares().iter().map(String::as_str)),
            accounts: Listed::of(associations.names()),
            qualities: listed(&site.qualities, "Name"),
            partitions: listed(&site.partitions, "PartitionName"),
        }
    }

    pub(super) fn names(&self) -> LogNames {
        let all = |it: &Listed| it.names.clone();
        LogNames {
            users: all(&self.users),
            groups: all(&self.accounts),
            queues: all(&self.qualities),
            partitions: all(&self.partitions),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "a b" and "a-b" are written alike, and so is the name that the second one would get.
    #[test]
    fn names_stay_apart() {
        let names = ["a b", "a-b", "a b", "a-b-2"];
        let listed = Listed::of(names);
        let numbers = names.map(|it| listed.number(it));
        assert_eq!(numbers, [Some(1), Some(2), Some(1), Some(3)]);
        let written = BTreeSet::from_iter(names.map(|it| listed.written(it).as_str().to_owned()));
        assert_eq!(written.len(), 3, "{written:?}");
        assert_eq!(listed.number("b"), None);
    }
}
