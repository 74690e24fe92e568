//! Snapshots of a run on disk, from which a killed run continues.
//!
//! A folder beside the results has three files:
//!
//! | file | contents |
//! |---|---|
//! | `run.json` | the scenario, its destination and the digests of its inputs |
//! | `events` | the [journal](haggle_recording::Journal) of the run |
//! | `state` | the last snapshot, and the length of the journal at its time |
//!
//! A new `state` replaces the old one at once, after the journal is durable. So a run that is killed at any
//! moment continues from the last complete snapshot. The folder is removed when the results are complete.

use std::any::Any;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use haggle_model::{Span, Time};
use haggle_recording::{Extent, Journal, JournalError, StateFile};
use haggle_results::{Input, OwnRule, Provenance, SnapshotCost, sha256};
use haggle_runtime::{Simulation, Snapshot};
use haggle_scenario::{Rules, Scenario};
use haggle_scheduling::own::with_rules;
use serde::{Deserialize, Serialize};

use super::cost::Instant;
use super::run::BUILD;

/// Layout of the files. The build decides on the state of the actors.
const FORMAT: u32 = 2;

/// Time between two snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Every {
    /// Simulated time.
    Simulated(Span),
    /// Real time.
    Real(Duration),
}

/// A run as it was started: all that its continuation needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    /// The resolved scenario.
    pub scenario: String,
    /// Absolute path of the file from which its relative paths start.
    pub file: PathBuf,
    /// Absolute path of the results.
    pub results: PathBuf,
    /// True if existing results are replaced.
    pub replaces: bool,
    /// True if figures are drawn.
    pub draws: bool,
    /// True if jobs and tables are checked.
    pub checks: bool,
    /// Settings without effect that were known before the run.
    pub warnings: Vec<String>,
    /// Origin of the scenario, if the results are in the scenario's own folder.
    pub made_from: Option<String>,
    /// Time between two snapshots.
    pub every: Every,
}

/// Contents of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Origin {
    format: u32,
    version: String,
    build: String,
    begun: Begun,
    inputs: Vec<Input>,
    own_rules: Vec<OwnRule>,
}

/// The last snapshot of a run.
#[derive(Debug)]
struct Saved {
    file: StateFile,
    journal: Extent,
}

/// First line of `state`, in JSON.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    /// SHA-256 of `run.json`.
    run_sha256: String,
    journal: Extent,
}

/// The snapshots of a run.
#[derive(Debug)]
pub struct Snapshots {
    folder: PathBuf,
    begun: Begun,
    /// `None` at the first start of the run.
    origin: Option<Origin>,
    saved: Option<Saved>,
    cost: SnapshotCost,
    /// SHA-256 of `run.json`.
    run_sha256: String,
}

/// Reason why snapshots cannot be written, or a run cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// No run with snapshots was interrupted there.
    #[error(
        "there is no run to continue for `{}`: there are no snapshots in `{}`; start the run again, with \
         --snapshot-every",
        results.display(), folder.display()
    )]
    Nothing {
        /// The results.
        results: PathBuf,
        /// The folder of their snapshots.
        folder: PathBuf,
    },
    /// An interrupted run with these results can continue.
    #[error(
        "`{}` has snapshots of an interrupted run: continue it with --continue, or add --force to start it again",
        results.display()
    )]
    Unfinished {
        /// The results.
        results: PathBuf,
    },
    /// The snapshots are of another build.
    #[error(
        "the snapshots in `{}` are of haggle {version} (build {build}), and this is haggle {} (build {BUILD}): \
         continue with that program, or start the run again",
        folder.display(), env!("CARGO_PKG_VERSION")
    )]
    OtherBuild {
        /// The folder of the snapshots.
        folder: PathBuf,
        /// Its version.
        version: String,
        /// Its build.
        build: String,
    },
    /// An input file has changed.
    #[error("`{}` has changed since the run began: bring it back, or start the run again", path.display())]
    InputChanged {
        /// The file.
        path: PathBuf,
    },
    /// The rules of this program are others.
    #[error("the run uses rules of one's own that this program does not have in the same versions")]
    OtherRules,
    /// A pipe cannot be read again.
    #[error("`{}` cannot be read again: runs with snapshots need their inputs in files", path.display())]
    Pipe {
        /// The input.
        path: PathBuf,
    },
    /// A file is not complete, or of another program.
    #[error("`{}` is damaged: start the run again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        #[source]
        error: io::Error,
    },
}

impl From<JournalError> for SnapshotError {
    fn from(JournalError { path, error }: JournalError) -> SnapshotError {
        SnapshotError::File { path, error }
    }
}

/// Folder of the snapshots of results.
pub fn folder_of(results: &Path) -> PathBuf {
    let name = results.file_name().unwrap_or_default();
    results.with_file_name(format!(".{}.snapshots", name.to_string_lossy()))
}

impl Snapshots {
    /// Snapshots of a run that begins.
    pub fn begin(begun: Begun) -> Snapshots {
        let folder = folder_of(&begun.results);
        let (cost, run_sha256) = (SnapshotCost::default(), String::new());
        Snapshots { folder, begun, origin: None, saved: None, cost, run_sha256 }
    }

    /// The snapshots of an interrupted run with these results.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn of(results: &Path) -> Result<Snapshots, SnapshotError> {
        let folder = folder_of(results);
        let path = folder.join("run.json");
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(SnapshotError::Nothing { results: results.to_owned(), folder });
            }
            text => text.map_err(|error| at(&path, error))?,
        };
        // The format is read alone first, because other fields may be of another version.
        #[derive(Deserialize)]
        struct Made {
            format: u32,
            version: String,
            build: String,
        }
        let damaged = |_| SnapshotError::Damaged { path: path.clone() };
        let Made { format, version, build } = serde_json::from_slice(&text).map_err(damaged)?;
        if format != FORMAT || version != env!("CARGO_PKG_VERSION") || build != BUILD {
            return Err(SnapshotError::OtherBuild { folder, version, build });
        }
        let origin: Origin = serde_json::from_slice(&text).map_err(damaged)?;
        // A run that was killed before its first snapshot begins anew.
        let state = folder.join("state");
        let run_sha256 = sha256(&text);
        let saved = state.exists().then(|| read_state(&state, &run_sha256)).transpose()?;
        let begun = origin.begun.clone();
        let cost = SnapshotCost::default();
        Ok(Snapshots { folder, begun, origin: Some(origin), saved, cost, run_sha256 })
    }

    /// The run as it was started.
    pub fn begun(&self) -> &Begun {
        &self.begun
    }

    /// Checks that inputs and rules are those with which the run began, or notes them if it begins now.
    pub(super) fn open(
        &mut self,
        inputs: &[(String, PathBuf)],
        own_rules: &[OwnRule],
    ) -> Result<(), SnapshotError> {
        if let Some((_, path)) = inputs.iter().find(|(name, path)| name == "-" || !path.is_file()) {
            return Err(SnapshotError::Pipe { path: path.clone() });
        }
        let described = inputs.iter().map(|(name, path)| {
            Input::of_file(path, name).map_err(|error| at(path, io::Error::other(error)))
        });
        let described = described.collect::<Result<Vec<Input>, SnapshotError>>()?;
        if let Some(origin) = &self.origin {
            let changed =
                inputs.iter().zip(&described).find(|(_, now)| !origin.inputs.contains(now));
            if let Some(((_, path), _)) = changed {
                return Err(SnapshotError::InputChanged { path: path.clone() });
            }
            if origin.own_rules != own_rules {
                return Err(SnapshotError::OtherRules);
            }
            return Ok(());
        }
        let origin = Origin {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: BUILD.to_owned(),
            begun: self.begun.clone(),
            inputs: described,
            own_rules: own_rules.to_vec(),
        };
        // Snapshots of an earlier run with the same results are of no more use.
        remove_of(&self.begun.results)?;
        fs::create_dir_all(&self.folder).map_err(|error| at(&self.folder, error))?;
        let path = self.folder.join("run.json");
        let text = serde_json::to_vec_pretty(&origin).map_err(|error| at(&path, error.into()))?;
        self.run_sha256 = sha256(&text);
        self.replace(&path, |new| {
            let mut file = File::create(new)?;
            file.write_all(&text)?;
            file.sync_all()
        })
    }

    /// Replaces a file at once: a command that is killed leaves the old or the new one.
    /// Puts a durable file in the place of the one at `path`.
    fn replace<T>(
        &self,
        path: &Path,
        write: impl FnOnce(&Path) -> io::Result<T>,
    ) -> Result<T, SnapshotError> {
        let new = path.with_extension("new");
        let write = || {
            let written = write(&new)?;
            fs::rename(&new, path)?;
            File::open(&self.folder)?.sync_all()?;
            Ok(written)
        };
        write().map_err(|error| at(path, error))
    }

    /// The journal of the run, up to the last snapshot.
    pub(super) fn journal(&self) -> Result<Journal, SnapshotError> {
        let path = self.events();
        let journal = match &self.saved {
            Some(saved) => Journal::reopen(&path, &saved.journal),
            None => Journal::create(&path),
        };
        journal.map_err(|error| match error.error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::NotFound => {
                SnapshotError::Damaged { path: error.path }
            }
            _ => at(&error.path, error.error),
        })
    }

    /// Path of the journal, and its length at the last snapshot, if there is one.
    pub(super) fn past(&self) -> Option<(PathBuf, u64)> {
        self.saved.as_ref().map(|saved| (self.events(), saved.journal.length))
    }

    /// The last snapshot, if there is one; its rules are those of `scenario`.
    pub(super) fn take(&mut self, scenario: &Scenario) -> Result<Option<Snapshot>, SnapshotError> {
        let Some(saved) = self.saved.take() else { return Ok(None) };
        let read = with_rules(lists(&scenario.own), || saved.file.snapshot());
        let damaged = || SnapshotError::Damaged { path: self.folder.join("state") };
        read.map(Some).ok_or_else(damaged)
    }

    /// Writes a snapshot, and removes the one before.
    pub(super) fn save(
        &mut self,
        simulation: &Simulation<'_>,
        journal: Extent,
    ) -> Result<(), SnapshotError> {
        let (path, start) = (self.folder.join("state"), Instant::now());
        let head = Head { run_sha256: self.run_sha256.clone(), journal };
        let head = serde_json::to_vec(&head).map_err(|error| at(&path, error.into()))?;
        let bytes = self.replace(&path, |new| StateFile::write(new, &head, simulation))?;
        let seconds = start.elapsed().as_secs_f64();
        let SnapshotCost { count, bytes_max, seconds_max, seconds: before } = self.cost;
        self.cost = SnapshotCost {
            count: count + 1,
            bytes_max: bytes_max.max(bytes),
            seconds_max: seconds_max.max(seconds),
            seconds: before + seconds,
        };
        Ok(())
    }

    /// Cost of the snapshots so far.
    pub(super) fn cost(&self) -> SnapshotCost {
        self.cost
    }

    fn events(&self) -> PathBuf {
        self.folder.join("events")
    }
}

/// Removes the snapshots of results, if there are any. Other files in their folder stay, and so does the folder then.
pub fn remove_of(results: &Path) -> Result<(), SnapshotError> {
    let folder = folder_of(results);
    if !is_unfinished(results) {
        return Ok(());
    }
    // `run.json` is the last one, because it marks the folder as ours.
    for name in ["events", "state", "state.new", "run.new", "run.json"] {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(&path, error)),
            _ => {}
        }
    }
    match fs::remove_dir(&folder) {
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(at(&folder, error)),
        _ => Ok(()),
    }
}

/// True if there are snapshots of a run with these results.
pub fn is_unfinished(results: &Path) -> bool {
    folder_of(results).join("run.json").is_file()
}

/// True if the results of a run with snapshots are complete: the run was killed before it removed its snapshots.
pub fn are_complete(begun: &Begun) -> bool {
    let text = fs::read(begun.results.join("provenance.json")).ok();
    let known = text.and_then(|text| serde_json::from_slice::<Provenance>(&text).ok());
    known.is_some_and(|known| {
        known.build == BUILD && known.scenario_sha256 == sha256(begun.scenario.as_bytes())
    })
}

/// Decides when the next snapshot is due.
#[derive(Debug)]
pub(super) struct Cadence {
    every: Every,
    at: Time,
    since: Instant,
}

impl Cadence {
    /// A snapshot was made `now`.
    pub(super) fn new(every: Every, now: Time) -> Cadence {
        let at = match every {
            Every::Simulated(span) => now + span.max(Span::TICK),
            Every::Real(_) => Time::FOREVER,
        };
        Cadence { every, at, since: Instant::now() }
    }

    /// No message after this instant may be delivered before the next snapshot.
    pub(super) fn at(&self) -> Time {
        self.at
    }

    /// True if a snapshot is due, when the next message is due at `next`.
    pub(super) fn is_due(&self, next: Time) -> bool {
        match self.every {
            Every::Simulated(_) => next > self.at,
            Every::Real(time) => self.since.elapsed() >= time,
        }
    }
}

/// Reads the file of a snapshot.
fn read_state(path: &Path, run_sha256: &str) -> Result<Saved, SnapshotError> {
    let damaged = || SnapshotError::Damaged { path: path.to_owned() };
    let read = StateFile::read(path).map_err(|error| at(path, error))?;
    let file = read.ok_or_else(damaged)?;
    let head: Head = serde_json::from_slice(&file.head).map_err(|_| damaged())?;
    if head.run_sha256 != run_sha256 {
        return Err(SnapshotError::Damaged { path: path.with_file_name("run.json") });
    }
    Ok(Saved { file, journal: head.journal })
}

/// The snapshot that [`Snapshot::to_bytes`] wrote; its rules are those of `scenario`. `None` = it is of
/// another build.
pub fn of_bytes(bytes: &[u8], scenario: &Scenario) -> Option<Snapshot> {
    with_rules(lists(&scenario.own), || Snapshot::from_bytes(bytes))
}

/// The lists in which rules of a snapshot are found.
fn lists(rules: &Rules) -> Vec<Box<dyn Any>> {
    let Rules {
        orders,
        placements,
        grid_policies,
        predictions,
        compositions,
        offers,
        grid_checkpoints,
        job_checkpoints,
    } = rules.clone();
    vec![
        Box::new(orders),
        Box::new(placements),
        Box::new(grid_policies),
        Box::new(predictions),
        Box::new(compositions),
        Box::new(offers),
        Box::new(grid_checkpoints),
        Box::new(job_checkpoints),
    ]
}

fn at(path: &Path, error: io::Error) -> SnapshotError {
    SnapshotError::File { path: path.to_owned(), error }
}
