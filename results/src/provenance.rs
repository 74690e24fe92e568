//! Where a run came from, and what describes it beside its tables (`provenance.json`); what it cost (`timing.json`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::digest::hex;
use crate::{About, ResultsError, RunDigest};

/// The form of tables and summary, counted up when programs of before cannot read what is written
/// now, or the other way round.
pub const FORMAT: u32 = 3;

/// All that decides a run's results, what their readers have to know, and a digest of them. Holds no date and no
/// name of a machine, so that the same run leaves the same file anywhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of the program.
    pub version: String,
    /// Which build of that version: a hash of its sources.
    #[serde(default = "unknown")]
    pub build: String,
    /// The form of the tables and of the summary, see [`FORMAT`]; runs of before it was counted have the first.
    #[serde(default = "first")]
    pub format: u32,
    /// SHA-256 of the resolved scenario, with paths as they start from its own folder.
    pub scenario_sha256: String,
    /// The master seed.
    pub seed: u64,
    /// The files that were read.
    pub inputs: Vec<Input>,
    /// The rules from outside that the scenario names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_rules: Vec<OwnRule>,
    /// What the clocks of the logs showed at time zero, seconds since 1970-01-01 in local time without
    /// summer time; missing if they do not say, or differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_time_at_zero: Option<i64>,
    /// What readers of the tables have to know besides; runs of before the third format do not say it.
    #[serde(default)]
    pub about: About,
    /// What came out.
    pub digest: RunDigest,
    /// The files of the tables and their sizes in bytes, by which a damaged one is known; none where
    /// only the summary was kept.
    #[serde(default)]
    pub tables: BTreeMap<String, u64>,
}

impl Provenance {
    /// Whether no table was kept, but their digests.
    pub fn has_summary_only(&self) -> bool {
        self.tables.is_empty() && !self.digest.tables.is_empty()
    }
}

/// Of a run that does not say in which form it is.
fn first() -> u32 {
    1
}

/// Of a build that did not say.
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

/// A rule that is not part of the program `haggle`, and that decided something in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnRule {
    /// What it is for, such as `order`.
    pub kind: String,
    /// What scenarios call it.
    pub name: String,
    /// Its version, as its author counts.
    pub version: u32,
}

/// What a run cost on one machine on one day; no two runs agree on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Time that passed, s.
    pub wall_seconds: f64,
    /// Processor time, user and system, s.
    pub cpu_seconds: f64,
    /// Largest resident memory, kB (Batsim's `memory_VmHWM_kB`).
    pub peak_memory_kb: u64,
    /// Messages delivered.
    pub messages_delivered: u64,
}
