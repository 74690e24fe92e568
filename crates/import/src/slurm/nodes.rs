//! Nodes, in groups of equal ones.

use std::collections::BTreeMap;

use haggle_scenario::file::{LoggedDemand, Node};
use haggle_scenario::quantity::{Bytes, Name};
use haggle_workloads::logs::slurm::values::{self, Tres};

use super::{ImportError, Record, Site};
use crate::Remarks;

/// Nodes with equal resources in the same partitions.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) node: Node,
    pub(super) partitions: Vec<String>,
    /// Names of its nodes, in the order of the dump.
    pub(super) hosts: Vec<String>,
}

/// All nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeGroups {
    pub(super) groups: Vec<Group>,
    /// Number of each node, from 1, in the order of the groups.
    pub(super) places: BTreeMap<String, u32>,
}

/// The partitions of a node, in the order of the alphabet.
fn partitions_of(node: &Record) -> Vec<String> {
    let names = node.get("Partitions").unwrap_or_default().split(',');
    let mut names = Vec::from_iter(names.filter(|it| !it.is_empty()).map(str::to_owned));
    names.sort_unstable();
    names
}

/// True if the site counts memory as a resource of jobs.
fn counts_memory(site: &Site) -> bool {
    let words = site.config.get("SelectTypeParameters").unwrap_or_default();
    words.to_ascii_uppercase().contains("MEMORY")
}

impl NodeGroups {
    pub(super) fn of(site: &Site, remarks: &mut Remarks) -> Result<NodeGroups, ImportError> {
        let mut groups: Vec<Group> = Vec::new();
        let has_memory = counts_memory(site);
        let mut weights = BTreeMap::new();
        for record in &site.nodes {
            let Some(host) = record.get("NodeName") else { continue };
            let tres = record.read("CfgTRES", "resources such as cpu=8,mem=16G", Tres::read)?;
            let tres = tres.unwrap_or_default();
            let total = record.number("CPUTot")?;
            let cores =
                tres.processors.or(total).and_then(|it| u32::try_from(it).ok()).unwrap_or(0);
            if cores == 0 {
                remarks.add("nodes without processors are left out", host);
                continue;
            }
            let partitions = partitions_of(record);
            if partitions.is_empty() {
                remarks.add("nodes in no partition are left out", host);
                continue;
            }
            let real = record.read("RealMemory", "an amount of memory", values::memory)?;
            let memory = tres.memory.or(real).filter(|_| has_memory).map(Bytes);
            let gpus = tres.gpus.or_else(|| gpus(record.get("Gres")?));
            let gpus = gpus.and_then(|it| u32::try_from(it).ok()).unwrap_or(0);
            weights.insert(record.get("Weight").unwrap_or_default(), ());
            let state = record.get("State").unwrap_or_default();
            if ["DOWN", "DRAIN", "FAIL"].iter().any(|it| state.contains(it)) {
                remarks.add(
                    "nodes that were down or drained when the dump was taken are up behind its end",
                    host,
                );
            }
            let node = Node { memory, gpus, ..Node::new(1, cores) };
            let alike = |it: &&mut Group| {
                (it.node.cores, it.node.memory, it.node.gpus) == (cores, memory, gpus)
                    && it.partitions == partitions
            };
            match groups.iter_mut().find(alike) {
                Some(group) => {
                    group.node.count += 1;
                    group.hosts.push(host.to_owned());
                }
                None => groups.push(Group { node, partitions, hosts: vec![host.to_owned()] }),
            }
        }
        if weights.len() > 1 {
            remarks
                .add("weights of nodes are left out: of equal nodes, the first one is taken", "");
        }
        if site.config.get("SelectType").is_some_and(|it| it.contains("linear")) {
            remarks.add("whole nodes are allocated (select/linear): jobs have all processors of their nodes", "");
        }
        for (number, group) in (1..).zip(&mut groups) {
            let name = format!("{}-{number}", prefix(&group.hosts));
            group.node.name = Some(Name::like(&name));
        }
        let hosts = groups.iter().flat_map(|it| &it.hosts).cloned();
        let places = hosts.zip(1..).collect();
        Ok(NodeGroups { groups, places })
    }

    /// Resources for which jobs ask.
    pub(super) fn demands(&self, site: &Site) -> Vec<LoggedDemand> {
        let memory = counts_memory(site).then_some(LoggedDemand::Memory);
        let has_gpus = self.groups.iter().any(|it| it.node.gpus > 0);
        let gpus = has_gpus.then_some(LoggedDemand::Gpus);
        [Some(LoggedDemand::Nodes), memory, gpus].into_iter().flatten().collect()
    }

    /// Names of the groups of a partition; `None` if all groups are in it.
    pub(super) fn names_of(&self, partition: &str) -> Option<Vec<Name>> {
        let own = self.groups.iter().filter(|it| it.partitions.iter().any(|it| it == partition));
        let names = Vec::from_iter(own.filter_map(|it| it.node.name.clone()));
        (names.len() < self.groups.len()).then_some(names)
    }
}

/// Accelerators in a list such as `gpu:a100:4(S:0-1),gpu:2,license:1`.
fn gpus(list: &str) -> Option<u64> {
    let mut sum = None;
    // Commas also stand within parentheses, in lists of sockets.
    let mut depth = 0_i32;
    let outside = |it: char| {
        depth += i32::from(it == '(') - i32::from(it == ')');
        it == ',' && depth <= 0
    };
    for part in list.split(outside) {
        let part = part.split('(').next().unwrap_or_default();
        let Some(rest) = part.strip_prefix("gpu") else { continue };
        let count = rest.rsplit(':').next().and_then(|it| it.parse::<u64>().ok()).unwrap_or(1);
        sum = Some(sum.unwrap_or(0_u64).saturating_add(count));
    }
    sum
}

/// The letters that the names of nodes begin with.
fn prefix(hosts: &[String]) -> String {
    let first = hosts.first().map_or("", String::as_str);
    let letters: String = first.chars().take_while(|it| !it.is_ascii_digit()).collect();
    let letters = letters.trim_end_matches(['-', '_']);
    if letters.is_empty() { "nodes".to_owned() } else { letters.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accelerators_of_a_node() {
        assert_eq!(gpus("gpu:2"), Some(2));
        assert_eq!(gpus("gpu:a100:4(S:0,1),gpu:k80:1,license:7"), Some(5));
        assert_eq!(gpus("gpu"), Some(1));
        assert_eq!(gpus("mps:100"), None);
    }

    #[test]
    fn names_of_groups_begin_like_their_nodes() {
        let name = |host: &str| prefix(&[host.to_owned()]);
        assert_eq!(
            (name("gpu-01"), name("n12"), name("7")),
            ("gpu".into(), "n".into(), "nodes".into())
        );
    }
}
