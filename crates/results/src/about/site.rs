//! Names of nodes, queues and accounts of a provider, and the shares of its accounts.

use serde::{Deserialize, Serialize};

/// Names of nodes, queues and accounts of a provider, and the shares of its accounts. Tables have their numbers.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct SiteInfo {
    /// Its groups of nodes, in the order of their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeGroupInfo>,
    /// Its queues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueInfo>,
    /// Its accounts, each behind the account above it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<AccountInfo>,
    /// Time after which past usage counts half, s; `None`: always in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_life: Option<f64>,
}

/// Equal nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeGroupInfo {
    /// Name of the group, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Number of its nodes.
    pub count: u32,
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueInfo {
    /// Its name.
    pub name: String,
    /// Queue number of its jobs; `None`: it goes by partitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    /// Partition number of its jobs; `None`: it goes by queue numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<i64>,
}

impl QueueInfo {
    /// The number of a job by which it goes, of the numbers of its queue and partition.
    fn of_job(&self, queue: i64, partition: i64) -> i64 {
        if self.partition.is_some() { partition } else { queue }
    }

    fn own(&self) -> Option<i64> {
        self.partition.or(self.number)
    }
}

/// An account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountInfo {
    /// Its name.
    pub name: String,
    /// Place of the account above it in the list; `None` = it is at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<usize>,
    /// Group numbers of its jobs.
    pub groups: Vec<i64>,
    /// Shares among the accounts and users beside it.
    pub shares: u32,
    /// Numbers and shares of some of its users; all others have one share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<(i64, u32)>,
}

impl SiteInfo {
    /// Name of the queue of a job with these numbers of its queue and partition; negative numbers are unknown. `None` if
    /// there is none.
    pub fn queue_of(&self, queue: i64, partition: i64) -> Option<&str> {
        // All queues go by the same number.
        let first = self.queues.first()?;
        let found = match first.of_job(queue, partition) {
            ..0 => first,
            number => self.queues.iter().find(|it| it.own() == Some(number))?,
        };
        Some(found.name.as_str())
    }

    /// Place of the account of a job with these numbers of its user and group; negative numbers are unknown. `None` if
    /// it is in no account.
    pub fn account_of(&self, user: i64, group: i64) -> Option<usize> {
        self.accounts.iter().position(|it| match group {
            ..0 => it.users.iter().any(|listed| listed.0 == user),
            _ => it.groups.contains(&group),
        })
    }

    /// Name of the group of the node with this number, if it has one.
    pub fn group_of_node(&self, node: i64) -> Option<&str> {
        let mut end = 0;
        let group = self.nodes.iter().find(|it| {
            end += i64::from(it.count);
            node < end
        });
        group?.name.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_and_nodes_have_names() {
        let queue = |name: &str, number| QueueInfo {
            name: name.to_owned(),
            number: Some(number),
            partition: None,
        };
        let account = |name: &str, group, users: &[(i64, u32)]| AccountInfo {
            name: name.to_owned(),
            parent: None,
            groups: vec![group],
            shares: 1,
            users: users.to_vec(),
        };
        let nodes = [(Some("batch"), 2), (None, 3), (Some("express"), 1)];
        let nodes =
            nodes.map(|(name, count)| NodeGroupInfo { name: name.map(str::to_owned), count });
        let site = SiteInfo {
            nodes: nodes.to_vec(),
            queues: vec![queue("long", 4), queue("short", 2)],
            accounts: vec![account("physics", 1, &[]), account("biology", 2, &[(7, 3)])],
            half_life: None,
        };
        let queues = [-1, 4, 2, 3].map(|number| site.queue_of(number, 4));
        assert_eq!(queues, [Some("long"), Some("long"), Some("short"), None]);
        let by_partition =
            |it: &QueueInfo| QueueInfo { number: None, partition: it.number, ..it.clone() };
        let parted =
            SiteInfo { queues: site.queues.iter().map(by_partition).collect(), ..site.clone() };
        let queues = [-1, 4, 2, 3].map(|number| parted.queue_of(4, number));
        assert_eq!(queues, [Some("long"), Some("long"), Some("short"), None]);
        let owners = [(7, 1), (7, 2), (7, -1), (8, -1), (7, 3)];
        let accounts = owners.map(|(user, group)| site.account_of(user, group));
        assert_eq!(accounts, [Some(0), Some(1), Some(1), None, None]);
        let nodes = [0, 1, 2, 4, 5, 6].map(|node| site.group_of_node(node));
        assert_eq!(nodes, [Some("batch"), Some("batch"), None, None, Some("express"), None]);
    }
}
