//! The dump of a Slurm site as a scenario.

mod accounts;
mod events;
mod hosts;
mod jobs;
mod limits;
mod nodes;
mod numbers;
mod preemption;
mod priority;
mod queues;
mod text;

use std::path::{Path, PathBuf};

use haggle_scenario::file::LogReading;
use haggle_scenario::quantity::TimeZone;

use super::dump::{self, Record};
use super::{ImportError, Remarks};
use accounts::Associations;
use limits::Enforced;
use nodes::NodeGroups;
use numbers::Numbers;

/// Script that takes the dump at a site.
pub const SCRIPT: &str = include_str!("../../../docs/slurm-dump.sh");

/// A dump, and the place of the scenario.
#[derive(Clone, Debug)]
pub struct Dump {
    /// Folder of the dump.
    pub folder: PathBuf,
    /// Path of the folder from that of the scenario.
    pub from_scenario: PathBuf,
    /// Zone of local times of jobs, if they are not seconds since 1970.
    pub zone: Option<TimeZone>,
}

/// A scenario of a site.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Its text.
    pub text: String,
    /// Facts without a place in it.
    pub remarks: Remarks,
    /// Sizes of the site.
    pub counts: Counts,
}

/// Sizes of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Nodes.
    pub nodes: usize,
    /// Processors of all nodes.
    pub processors: u64,
    /// Partitions.
    pub partitions: usize,
    /// Qualities of service.
    pub qualities: usize,
    /// Accounts.
    pub accounts: usize,
    /// Jobs with a run time.
    pub jobs: u64,
    /// Times in which nodes were down or drained, from the first submission on.
    pub down_times: usize,
}

/// The records of a dump.
struct Site {
    config: Record,
    nodes: Vec<Record>,
    partitions: Vec<Record>,
    qualities: Vec<Record>,
    associations: Vec<Record>,
    events: Vec<Record>,
    reservations: Vec<Record>,
    enforced: Enforced,
}

impl Site {
    fn read(folder: &Path, remarks: &mut Remarks) -> Result<Site, ImportError> {
        let file = |name: &str| folder.join(name);
        let needed = |name: &str| ImportError::Unfit {
            file: file(name),
            problem: "there is no such file; is it the folder of a dump by `haggle import script`?"
                .to_owned(),
        };
        let settings = |name| dump::settings(&file(name))?.ok_or_else(|| needed(name));
        let config =
            dump::configuration(&file("config.txt"))?.ok_or_else(|| needed("config.txt"))?;
        let mut table = |name: &str| -> Result<Vec<Record>, ImportError> {
            let table = dump::table(&file(name))?;
            if table.is_none() {
                remarks.add("files that the dump does not have", name);
            }
            Ok(table.unwrap_or_default())
        };
        let mut site = Site {
            nodes: settings("nodes.txt")?,
            partitions: settings("partitions.txt")?,
            qualities: table("qos.txt")?,
            associations: table("assoc.txt")?,
            events: table("events.txt")?,
            reservations: table("past-reservations.txt")?,
            enforced: Enforced::of(&config),
            config,
        };
        // Slurm marks a message about no reservations as a line of settings.
        site.reservations.retain(|it| it.get("Name").is_some());
        Ok(site)
    }
}

/// The scenario of a dump.
///
/// # Errors
/// If a file is missing, or has a value that cannot be read.
pub fn import(dump: &Dump) -> Result<Imported, ImportError> {
    let mut remarks = Remarks::default();
    let site = Site::read(&dump.folder, &mut remarks)?;
    let groups = NodeGroups::of(&site, &mut remarks)?;
    let associations = Associations::of(&site, &mut remarks)?;
    let numbers = Numbers::of(&site, &associations);
    let reading = LogReading {
        time_zone: dump.zone.clone(),
        demands: groups.demands(&site),
        names: numbers.names(),
        ..LogReading::default()
    };
    let log = dump.folder.join("sacct.txt");
    let jobs = jobs::Jobs::read(&log, &reading, &numbers, &mut remarks)?;
    let down = events::outages(&site, &groups, &jobs, &dump.folder, &mut remarks)?;
    let queues = queues::queues(&site, &groups, &numbers, &mut remarks)?;
    let qualities = queues::qualities(&site, &numbers, &mut remarks)?;
    let accounts = associations.accounts(&site, &numbers, &mut remarks)?;
    let priority = priority::priority(&site, &qualities, &queues, &mut remarks)?;
    let counts = Counts {
        nodes: site.nodes.len(),
        processors: groups.groups.iter().map(|it| it.node.processors()).sum(),
        partitions: queues.len(),
        qualities: qualities.len(),
        accounts: accounts.len(),
        jobs: jobs.count,
        down_times: down.iter().map(|it| it.outages.as_ref().map_or(0, Vec::len)).sum(),
    };
    let scenario = text::Scenario {
        name: site.config.get("ClusterName").unwrap_or("cluster"),
        policy: queues::policy(&site, &mut remarks),
        log: dump.from_scenario.join("sacct.txt"),
        reading,
        groups: &groups,
        queues,
        qualities,
        accounts,
        priority,
        down,
    };
    let text = scenario.write(&counts, &remarks);
    Ok(Imported { text, remarks, counts })
}
