//! The choice of recorded nodes that become resources of a run.

use std::collections::BTreeSet;

use super::{RecordedNode, Recording};

/// Nodes to take from a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeChoice {
    /// The first nodes, up to this number, in the order of the file.
    First(usize),
    /// All nodes of these sites or clusters, in the order of the file.
    Sites(Vec<String>),
}

/// Reason why nodes cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// The recording has too few nodes.
    #[error("{file}: {wanted} nodes are wanted, but {found} are recorded; take at most that many")]
    TooFew {
        /// Name of the file in messages.
        file: String,
        /// Number of nodes wanted.
        wanted: usize,
        /// Number of nodes recorded.
        found: usize,
    },
    /// The recording has no node at a site or cluster of this name.
    #[error("{file}: no node of a site or cluster \"{site}\" is recorded; there are {known}")]
    NoSite {
        /// Name of the file in messages.
        file: String,
        /// The name given.
        site: String,
        /// The names of all sites.
        known: String,
    },
}

impl Recording {
    /// The chosen nodes: the first becomes the first resource, and so on.
    pub fn choose(&self, choice: &NodeChoice) -> Result<Vec<&RecordedNode>, ChoiceError> {
        let file = || self.file.to_string();
        match choice {
            NodeChoice::First(wanted) => {
                let nodes = self.nodes.get(..*wanted).ok_or_else(|| ChoiceError::TooFew {
                    file: file(),
                    wanted: *wanted,
                    found: self.nodes.len(),
                })?;
                Ok(nodes.iter().collect())
            }
            NodeChoice::Sites(sites) => {
                let is_at = |node: &RecordedNode, site: &String| {
                    node.site == *site || node.cluster == *site
                };
                let unknown =
                    sites.iter().find(|site| !self.nodes.iter().any(|node| is_at(node, site)));
                if let Some(site) = unknown {
                    let known: BTreeSet<&str> =
                        self.nodes.iter().map(|node| node.site.as_str()).collect();
                    let known = known.into_iter().collect::<Vec<_>>().join(", ");
                    return Err(ChoiceError::NoSite { file: file(), site: site.clone(), known });
                }
                let chosen = |node: &&RecordedNode| sites.iter().any(|site| is_at(node, site));
                Ok(self.nodes.iter().filter(chosen).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RecordFormat, parse_bytes};
    use super::*;
    use crate::swf::Malformed;

    fn names(choice: &NodeChoice) -> Result<Vec<String>, String> {
        let line = |id: u32, name: &str| format!("0\t0\t{id}\t1\t{name}\t0\t10\t20\tNULL\n");
        let table = ["G/s1/c1/a", "G/s2/c1/b", "G/s1/c2/c"];
        let table: String = (0..).zip(table).map(|(id, name)| line(id, name)).collect();
        let format = RecordFormat::Fta;
        let recording = parse_bytes(table.as_bytes(), format, Malformed::Refuse);
        let recording = recording.expect("a good table");
        let chosen = recording.choose(choice).map_err(|error| error.to_string())?;
        Ok(chosen.into_iter().map(|node| node.name.replace("G/", "")).collect())
    }

    #[test]
    fn nodes_are_taken_by_number_or_by_site() {
        let names = |choice| names(&choice).expect("a good choice");
        let sites = |sites: &[&str]| NodeChoice::Sites(sites.iter().map(|&s| s.into()).collect());
        assert_eq!(names(NodeChoice::First(2)), ["s1/c1/a", "s2/c1/b"]);
        assert_eq!(names(sites(&["s1"])), ["s1/c1/a", "s1/c2/c"]);
        assert_eq!(names(sites(&["s2", "s1/c2"])), ["s2/c1/b", "s1/c2/c"]);
    }

    #[test]
    fn what_is_not_recorded_cannot_be_taken() {
        let message = |choice| names(&choice).expect_err("a wrong choice");
        assert_eq!(
            message(NodeChoice::First(4)),
            "<memory>: 4 nodes are wanted, but 3 are recorded; take at most that many"
        );
        assert_eq!(
            message(NodeChoice::Sites(vec!["s3".into()])),
            "<memory>: no node of a site or cluster \"s3\" is recorded; there are s1, s2"
        );
    }
}
