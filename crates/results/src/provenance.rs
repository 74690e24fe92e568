//! Origin of a run and facts about it beside its tables (`provenance.json`), and its cost (`timing.json`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::digest::hex;
use crate::{About, ResultsError, RunDigest};

/// Version of the form of tables and summary. It is increased when older programs cannot read new
/// results, or new programs cannot read old ones.
pub const FORMAT: u32 = 3;

/// All inputs that decide a run's results, facts for readers, and a digest of the results. It has no
/// date and no name of a machine, so that the same run gives the same file on any machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of the program.
    pub version: String,
    /// Build of that version: a hash of its sources.
    #[serde(default = "unknown")]
    pub build: String,
    /// The form of the tables and of the summary, see [`FORMAT`]. Runs older than this field have form 1.
    #[serde(default = "first")]
    pub format: u32,
    /// SHA-256 of the resolved scenario, with paths relative to its own folder.
    pub scenario_sha256: String,
    /// The master seed.
    pub seed: u64,
    /// The files that were read.
    pub inputs: Vec<Input>,
    /// The external rules that the scenario names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_rules: Vec<OwnRule>,
    /// Local time of the logs at time zero, seconds since 1970-01-01, without summer time. Missing if
    /// the logs do not state it, or differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_time_at_zero: Option<i64>,
    /// Facts for readers of the tables. Runs older than the third form do not have them.
    #[serde(default)]
    pub about: About,
    /// Digest of the results.
    pub digest: RunDigest,
    /// The files of the tables and their sizes in bytes, which reveal a damaged file. Empty if only the
    /// summary was kept.
    #[serde(default)]
    pub tables: BTreeMap<String, u64>,
}

impl Provenance {
    /// True if only the digests of the tables were kept.
    pub fn has_summary_only(&self) -> bool {
        self.tables.is_empty() && !self.digest.tables.is_empty()
    }
}

/// Form of a run that does not state its form.
fn first() -> u32 {
    1
}

/// Build of a run that does not state its build.
fn unknown() -> String {
    "unknown".to_owned()
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Its path as the scenario gives it.
    pub path: String,
    /// SHA-256 of its bytes, 64 hexadecimal digits.
    pub sha256: String,
    /// Its size in bytes.
    pub bytes: u64,
}

impl Input {
    /// Describes the file at `path`, which the scenario calls `name`.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn of_file(path: &Path, name: &str) -> Result<Input, ResultsError> {
        let trouble = |error| ResultsError::read(path, error);
        let mut file = File::open(path).map_err(trouble)?;
        let mut hash = Sha256::new();
        let mut bytes = 0;
        let mut room = vec![0; 256 * 1024];
        loop {
            let read = file.read(&mut room).map_err(trouble)?;
            if read == 0 {
                break;
            }
            hash.update(&room[..read]);
            bytes += read as u64;
        }
        Ok(Input { path: name.to_owned(), sha256: hex(&hash.finalize()), bytes })
    }
}

/// A rule from outside the program `haggle` that was used in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnRule {
    /// Its kind, such as `order`.
    pub kind: String,
    /// Its name in scenarios.
    pub name: String,
    /// Its version, as counted by its author.
    pub version: u32,
}

/// Cost of a run on one machine on one day. It differs from run to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Elapsed time, s.
    pub wall_seconds: f64,
    /// Processor time, user and system, s.
    pub cpu_seconds: f64,
    /// Largest resident memory, kB (Batsim's `memory_VmHWM_kB`).
    pub peak_memory_kb: u64,
    /// Messages delivered.
    pub messages_delivered: u64,
    /// Cost of the snapshots of the run, or of its last part if it was continued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<SnapshotCost>,
}

/// Cost of the snapshots of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SnapshotCost {
    /// Number of snapshots.
    pub count: u64,
    /// Size of the largest one, bytes.
    pub bytes_max: u64,
    /// Elapsed time of the slowest one, s.
    pub seconds_max: f64,
    /// Elapsed time of all of them, s.
    pub seconds: f64,
}
