//! Many runs of a sweep in one folder: one file a table instead of one folder a run.
//!
//! ```text
//! DIR/pack=0/      the runs from number 0 on
//!   runs.parquet     a row a run: run, scenario (the folder of its variant), seed, and its summary,
//!                    provenance and scenario as texts
//!   timing.json      how long each run took, by its number
//!   jobs.parquet …   the rows of all runs, one run after the other, with the axes of the sweep, as texts,
//!                    and `seed` before the columns of the table
//!   pack.json        the sizes of the tables
//! ```
//!
//! The axes and `seed` are columns because folders of single runs have them in their names. A reader of
//! all tables of a sweep finds the same columns in both cases. A pack is made like a run's folder:
//! under a temporary name, by one process, and complete when it gets its final name.

mod file;
mod runs;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::columns::Table;
use crate::folder::{Existing, PartialFolder};
use crate::{ResultsError, read_text};

use file::PackedFile;
pub(crate) use runs::{FILE as RUNS, PackedRun};

/// Prefix of a pack's folder; the number of its first run follows.
const PREFIX: &str = "pack=";

/// Data about a pack's files.
#[derive(Serialize, Deserialize)]
struct Contents {
    tables: BTreeMap<String, u64>,
}

/// A pack under construction.
pub struct PackWriter {
    folder: PartialFolder,
    axes: Vec<String>,
    tables: BTreeMap<&'static str, PackedFile>,
    runs: Vec<PackedRun>,
}

impl PackWriter {
    /// Begins the pack of the runs from number `first` on, in the folder of a sweep with these axes. An
    /// existing pack of this name is replaced.
    ///
    /// # Errors
    /// If another process is making it, or it cannot be written.
    pub fn create(
        sweep: &Path,
        first: usize,
        axes: Vec<String>,
    ) -> Result<PackWriter, ResultsError> {
        let end = sweep.join(format!("{PREFIX}{first}"));
        let folder = PartialFolder::create(&end, Existing::Replace)?;
        Ok(PackWriter { folder, axes, tables: BTreeMap::new(), runs: Vec::new() })
    }

    /// Moves the run in the folder `place` into the pack, with its number, its value on each axis, the
    /// folder of its variant and its seed. The folder is removed.
    ///
    /// # Errors
    /// If it cannot be read or packed.
    pub fn add(
        &mut self,
        place: &Path,
        number: usize,
        (point, scenario): (&[String], &str),
        seed: u64,
    ) -> Result<(), ResultsError> {
        let text = |name: &str| {
            let path = place.join(name);
            read_text(&path)
        };
        let mut run = PackedRun {
            run: number,
            scenario: scenario.to_owned(),
            seed,
            summary: text("summary.json")?,
            provenance: text("provenance.json")?,
            timing: text("timing.json")?,
            toml: text("scenario.toml")?,
            rows: BTreeMap::new(),
        };
        for table in Table::ALL {
            let path = place.join(format!("{}.parquet", table.name()));
            // Not every run has every table.
            if !path.exists() {
                continue;
            }
            // `or_insert_with` could not report an error.
            let file = match self.tables.remove(table.name()) {
                Some(file) => file,
                None => PackedFile::create(self.folder.path(), table, &self.axes)?,
            };
            let file = self.tables.entry(table.name()).or_insert(file);
            let first = file.rows();
            file.append(point, seed, &path)?;
            run.rows.insert(table.name().to_owned(), (first, file.rows() - first));
        }
        self.runs.push(run);
        // Last, so that an error above loses no run.
        fs::remove_dir_all(place).map_err(|error| ResultsError::write(place, error))
    }

    /// Completes the pack and gives it its name.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn publish(self) -> Result<(), ResultsError> {
        // First, because closing writes the last bytes, and sizes are recorded below.
        for file in self.tables.into_values() {
            file.close()?;
        }
        let folder = self.folder.path();
        runs::write(folder, &self.runs)?;
        runs::write_timing(folder, &self.runs)?;
        let mut contents = Contents { tables: BTreeMap::new() };
        for entry in fs::read_dir(folder).map_err(|error| ResultsError::read(folder, error))? {
            let entry = entry.map_err(|error| ResultsError::read(folder, error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".parquet") {
                let size = entry.metadata().map_err(|error| ResultsError::read(folder, error))?;
                contents.tables.insert(name, size.len());
            }
        }
        let text = serde_json::to_string_pretty(&contents).expect("texts and numbers");
        let path = folder.join("pack.json");
        fs::write(&path, text + "\n").map_err(|error| ResultsError::write(&path, error))?;
        self.folder.publish().map(drop)
    }
}

/// A pack.
#[derive(Debug)]
pub struct Pack {
    folder: PathBuf,
    runs: Vec<PackedRun>,
}

impl Pack {
    /// Opens a pack, and checks that the lengths of its files are unchanged.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged.
    pub fn open(folder: &Path) -> Result<Pack, ResultsError> {
        let path = folder.join("pack.json");
        let text = read_text(&path)?;
        let contents: Contents =
            serde_json::from_str(&text).map_err(|error| ResultsError::damaged(&path, error))?;
        for (name, bytes) in contents.tables {
            let table = folder.join(name);
            if !fs::metadata(&table).is_ok_and(|file| file.len() == bytes) {
                let reason = "it is missing, or its size is another one than was written";
                return Err(ResultsError::damaged(&table, reason));
            }
        }
        Ok(Pack { folder: folder.to_owned(), runs: runs::read(folder)? })
    }

    /// The packs in the folder of a sweep, by the numbers of their first runs.
    ///
    /// # Errors
    /// If the folder is there and cannot be read.
    pub fn all_in(sweep: &Path) -> Result<BTreeMap<usize, PathBuf>, ResultsError> {
        let entries = match fs::read_dir(sweep) {
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(BTreeMap::new());
            }
            entries => entries.map_err(|error| ResultsError::read(sweep, error))?,
        };
        let mut packs = BTreeMap::new();
        for entry in entries {
            let entry = entry.map_err(|error| ResultsError::read(sweep, error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(first) = name.strip_prefix(PREFIX).and_then(|first| first.parse().ok()) {
                packs.insert(first, entry.path());
            }
        }
        Ok(packs)
    }

    /// True if a folder has the name of a pack.
    pub fn is_name_of_one(folder: &Path) -> bool {
        folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
    }

    /// Number of its runs.
    pub fn count(&self) -> usize {
        self.runs.len()
    }

    /// Number of its last run in the sweep; `None` if it has no runs.
    pub fn last(&self) -> Option<usize> {
        self.runs.last().map(|run| run.run)
    }

    /// Folders of the runs, relative to the sweep.
    pub fn folders(&self) -> impl Iterator<Item = String> {
        self.runs().iter().map(PackedRun::folder)
    }

    /// Its runs.
    pub(crate) fn runs(&self) -> &[PackedRun] {
        &self.runs
    }

    /// Its folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}
