//! The numbers of names: those of the log of jobs, as queues and accounts state them.

use std::collections::BTreeMap;

use haggle_scenario::file::LogNames;

use super::Site;
use super::accounts::Associations;

/// Names in the order of their numbers, from 1.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    pub(super) users: Vec<String>,
    pub(super) accounts: Vec<String>,
    pub(super) qualities: Vec<String>,
    pub(super) partitions: Vec<String>,
}

/// The number of a name in a list.
pub(super) fn number(names: &[String], name: &str) -> Option<i32> {
    let place = names.iter().position(|it| it == name)?;
    i32::try_from(place + 1).ok()
}

impl Numbers {
    /// Numbers of all partitions, QOS and accounts, and of the users whose shares differ from others.
    pub(super) fn of(site: &Site, associations: &Associations) -> Numbers {
        let names = |records: &[super::Record], key: &str| {
            let mut names: Vec<String> = Vec::new();
            let mut known = BTreeMap::new();
            for name in records.iter().filter_map(|it| it.get(key)) {
                if known.insert(name.to_owned(), ()).is_none() {
                    names.push(name.to_owned());
                }
            }
            names
        };
        Numbers {
            users: associations.users_with_shares(),
            accounts: associations.names(),
            qualities: names(&site.qualities, "Name"),
            partitions: names(&site.partitions, "PartitionName"),
        }
    }

    pub(super) fn names(&self) -> LogNames {
        LogNames {
            users: self.users.clone(),
            groups: self.accounts.clone(),
            queues: self.qualities.clone(),
            partitions: self.partitions.clone(),
        }
    }
}
