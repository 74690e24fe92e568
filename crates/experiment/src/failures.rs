//! From the words of a scenario to the times of failures.
//!
//! Owners have numbers of members, for example a provider and its processors. The caller decides
//! the kind of the members.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use haggle_model::Span;
use haggle_workloads::failures::recorded::{ChoiceError, NodeChoice, TraceError};
use haggle_workloads::failures::{
    Cause, Correlation, FailureError, Failures, MINUTE, NominalRow, OutageList, PlatformOutages,
    RecordedNode, Recording, Resource, Window,
};
use haggle_workloads::swf::Malformed;

use super::memory::{NODE_BYTES, NoRoom, room_for};
use haggle_scenario::quantity::TimeSpan;
use haggle_scenario::{LogPathError, file, log_path};

/// Reason why the failures cannot be read or drawn.
#[derive(Debug, thiserror::Error)]
pub enum FailuresError {
    /// The path of a record cannot be resolved.
    #[error("failures: log `{log}` cannot be found: {error}")]
    LogPath {
        /// The path as written.
        log: String,
        /// Why.
        #[source]
        error: LogPathError,
    },
    /// A record cannot be read.
    #[error(transparent)]
    Record(#[from] TraceError),
    /// A record lacks the requested nodes.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// A record does not name the sites of its nodes.
    #[error(
        "failures: {log}: its nodes have no sites, which stand before a `/` in their names; remove `sites`"
    )]
    NoSites {
        /// The path as written.
        log: String,
    },
    /// A record has fewer nodes at the sites than requested.
    #[error(
        "failures: {log}: {wanted} nodes are wanted, but {found} are recorded at the sites named; \
         name more `sites`, or lower `nodes`"
    )]
    TooFew {
        /// The path as written.
        log: String,
        /// Number requested.
        wanted: usize,
        /// Number recorded.
        found: usize,
    },
    /// The memory does not suffice.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    /// A law or a correlation is invalid.
    #[error("failures: {0}")]
    Failures(#[from] FailureError),
}

/// Failing nodes and their outages.
pub struct Failing {
    /// Members that fail as one, by their index in the outages.
    pub nodes: Vec<Node>,
    /// The outages of the nodes, in order of time.
    pub outages: PlatformOutages,
    /// Records that were read: names in the scenario, and paths.
    pub inputs: Vec<(String, PathBuf)>,
    /// Warnings about records that do not cover the whole run.
    pub warnings: Vec<String>,
}

/// Members of one owner that fail as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Index of the owner in the list of owners.
    pub owner: usize,
    /// Its members, numbered from 0 for each owner.
    pub members: Range<u32>,
}

/// The failures of `owners`, each with a name and the number of its members; `own_nodes` are the nodes that one states. `tables` belong to a
/// checked and resolved scenario in `folder`. `None` if nothing can fail. The run stops at its
/// `horizon`, if it has one.
///
/// # Errors
/// If a record cannot be read, or has too few nodes.
pub fn failing<'n>(
    tables: &[file::Failures],
    owners: &[(&str, u32)],
    own_nodes: impl Fn(&str) -> &'n [file::Node],
    folder: &Path,
    seed: u64,
    horizon: Option<Span>,
) -> Result<Option<Failing>, FailuresError> {
    if tables.is_empty() {
        return Ok(None);
    }
    let mut nodes: Vec<Node> = Vec::new();
    let mut failures = Failures { seed, ..Failures::default() };
    let mut records = Records::default();
    let mut warnings = Vec::new();
    for (number, table) in (1..).zip(tables) {
        let first = nodes.len();
        let known: BTreeSet<usize> = nodes.iter().map(|node| node.owner).collect();
        let mut groups = Vec::new();
        for (owner, &(name, members)) in owners.iter().enumerate() {
            // A table has either actors or owners of processors.
            let failing = table.actors.as_ref().unwrap_or(&table.of);
            if !failing.iter().any(|it| it.as_str() == name) {
                continue;
            }
            let begin = nodes.len();
            // Before the nodes are made: a scenario may ask for billions of them.
            let own = own_nodes(name);
            let count = table.count_nodes(members, own) as usize;
            room_for(count, "nodes that fail", NODE_BYTES)?;
            nodes.extend(table.nodes_among(members, own).map(|members| Node { owner, members }));
            groups.push((begin..nodes.len()).collect());
        }
        let wanted = nodes.len() - first;
        // For all nodes of the table at once, because a record gives each of them another recorded node.
        let causes = causes(table, wanted, folder, &mut records)?;
        if let Some(recorded) = &table.recorded {
            let recording = records.open(recorded, folder)?;
            warnings.extend(unobserved(recorded, recording, wanted, horizon)?);
        }
        for (node, cause) in nodes[first..].iter().zip(causes) {
            // The random numbers of a node depend on its name alone.
            let owner = owners[node.owner].0;
            let name = match table.actors {
                Some(_) => format!("crash of {owner}"),
                // Another table about the same owner has random numbers of its own.
                None if known.contains(&node.owner) => {
                    format!("{owner}/{} in table {number}", node.members.start)
                }
                None => format!("{owner}/{}", node.members.start),
            };
            failures.resources.push(Resource { name, cause });
        }
        if let Some(correlation) = table.correlation {
            failures.correlations.push(Correlation {
                name: format!("correlation-{number}"),
                groups,
                probability: correlation.probability.fraction(),
                mean_delay: correlation.delay.0,
            });
        }
    }
    let outages = failures.outages()?;
    let inputs = records.0.into_iter().map(|(log, (path, _))| (log, path)).collect();
    Ok(Some(Failing { nodes, outages, inputs, warnings }))
}

/// Cause of the failures of each node.
fn causes(
    table: &file::Failures,
    nodes: usize,
    folder: &Path,
    records: &mut Records,
) -> Result<Vec<Cause>, FailuresError> {
    if let Some(recorded) = &table.recorded {
        let recording = records.open(recorded, folder)?;
        let window = window(recorded, recording);
        let chosen = choose(recorded, recording, nodes)?;
        let list = |node: &RecordedNode| Cause::List(node.outages.within(window));
        return Ok(chosen.into_iter().map(list).collect());
    }
    let cause = match (&table.law, table.nominal.and_then(NominalRow::named), table.listed()) {
        (Some(law), ..) => Cause::Law(law.to_model()),
        (_, Some(row), _) => Cause::Law(row.law(MINUTE)),
        (.., Some(list)) => Cause::List(OutageList::united(list)),
        _ => Cause::None,
    };
    Ok(vec![cause; nodes])
}

fn window(recorded: &file::Recorded, recording: &Recording) -> Window {
    let start = recording.from() + recorded.from.0;
    // The window may begin behind the end of the record.
    let rest = (recording.until() - start).max(Span::ZERO);
    Window { start, length: recorded.length.map_or(rest, |length| length.0) }
}

/// A warning if some of the chosen nodes are not observed in the whole run.
fn unobserved(
    recorded: &file::Recorded,
    recording: &Recording,
    wanted: usize,
    horizon: Option<Span>,
) -> Result<Option<String>, FailuresError> {
    let start = recording.from() + recorded.from.0;
    let length = [recorded.length.map(|length| length.0), horizon].into_iter().flatten().min();
    // Without an end, only the start of the run is known.
    let end = length.map_or(start, |length| start + length);
    let nodes = choose(recorded, recording, wanted)?;
    let outside = nodes.iter().filter(|node| node.from > start || node.until < end).count();
    let first = nodes.iter().map(|node| node.from).max().unwrap_or(start);
    let last = nodes.iter().map(|node| node.until).min().unwrap_or(end);
    let log = &recorded.log;
    let all = match TimeSpan((first - recording.from()).max(Span::ZERO)) {
        _ if first >= last => "at no time all of them are".to_owned(),
        from => {
            format!("all of them are from {from} of the record on, for {}", TimeSpan(last - first))
        }
    };
    let text = || {
        format!(
            "failures: {outside} of {wanted} nodes of record `{log}` are not observed in the whole \
             run, and count as up where they are not; {all}"
        )
    };
    Ok((outside > 0).then(text))
}

fn choose<'a>(
    recorded: &file::Recorded,
    recording: &'a Recording,
    wanted: usize,
) -> Result<Vec<&'a RecordedNode>, FailuresError> {
    if recorded.sites.is_empty() {
        return Ok(recording.choose(&NodeChoice::First(wanted))?);
    }
    let chosen = recording.choose(&NodeChoice::Sites(recorded.sites.clone()));
    let mut chosen = chosen.map_err(|error| match error {
        ChoiceError::NoSite { known, .. } if known.is_empty() => {
            FailuresError::NoSites { log: recorded.log.clone() }
        }
        error => error.into(),
    })?;
    if chosen.len() < wanted {
        let (log, found) = (recorded.log.clone(), chosen.len());
        return Err(FailuresError::TooFew { log, wanted, found });
    }
    // The first ones, as without sites.
    chosen.truncate(wanted);
    Ok(chosen)
}

/// Open records by their paths as written. Several tables share one, so none is read twice.
#[derive(Default)]
struct Records(BTreeMap<String, (PathBuf, Recording)>);

impl Records {
    fn open(
        &mut self,
        recorded: &file::Recorded,
        folder: &Path,
    ) -> Result<&Recording, FailuresError> {
        if !self.0.contains_key(&recorded.log) {
            let log = recorded.log.clone();
            let path = log_path(&log, folder)
                .map_err(|error| FailuresError::LogPath { log: log.clone(), error })?;
            let malformed = match recorded.malformed {
                Some(file::Malformed::Skip) => Malformed::Skip,
                Some(file::Malformed::Refuse) | None => Malformed::Refuse,
            };
            let recording = Recording::open(&path, recorded.format, malformed)?;
            self.0.insert(log, (path, recording));
        }
        Ok(&self.0[&recorded.log].1)
    }
}
