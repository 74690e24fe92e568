//! The folder of a run under construction: a hidden sibling that gets its final name when it is complete.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::ResultsError;
use crate::columns::Table;

/// File that marks a folder as a run.
pub(crate) const MARKER: &str = "provenance.json";

/// True if the folder of a run or of a pack has files of this name: tables, figures, or what describes them.
pub fn is_file_of_run(name: &str) -> bool {
    const OTHERS: [&str; 6] =
        [MARKER, "summary.json", "timing.json", "scenario.toml", "pack.json", "runs.parquet"];
    let is_table = |stem| Table::ALL.iter().any(|table| table.name() == stem);
    let ours = match name.rsplit_once('.') {
        Some((stem, "parquet" | "csv")) => is_table(stem),
        Some((_, "png" | "svg" | "pdf")) => true,
        _ => false,
    };
    ours || OTHERS.contains(&name)
}

/// Treatment of a folder that has the final name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Existing {
    /// Refuse to start.
    #[default]
    Keep,
    /// Replace the folder when the new run is complete. Only a run or an empty folder is replaced.
    Replace,
}

/// Locked by the process that writes into the folder. The lock ends with the process.
const LOCK: &str = ".lock";

/// A folder under construction. It is removed if it is dropped before [`PartialFolder::publish`].
#[derive(Debug)]
pub(crate) struct PartialFolder {
    partial: PathBuf,
    end: PathBuf,
    existing: Existing,
    published: bool,
    cleared: bool,
    /// No other process writes here as long as this file is open.
    _lock: File,
}

impl PartialFolder {
    /// Creates the hidden sibling of `end`, and removes the remains of an interrupted run there.
    pub(crate) fn create(end: &Path, existing: Existing) -> Result<PartialFolder, ResultsError> {
        let name = end.file_name().ok_or_else(|| ResultsError::NoName { path: end.to_owned() })?;
        check_final(end, existing)?;
        let partial = end.with_file_name(format!(".{}.partial", name.to_string_lossy()));
        let trouble = |error| ResultsError::write(&partial, error);
        let lock = loop {
            match lock(&partial).map_err(trouble)? {
                Lock::Held(file) => break file,
                // The next try creates the folder again.
                Lock::Gone => {}
                Lock::Taken => return Err(ResultsError::InUse { path: end.to_owned() }),
            }
        };
        let cleared = clear(&partial).map_err(trouble)?;
        let end = end.to_owned();
        Ok(PartialFolder { partial, end, existing, published: false, cleared, _lock: lock })
    }

    /// True if the remains of a killed run were removed.
    pub(crate) fn cleared(&self) -> bool {
        self.cleared
    }

    /// The folder to write to.
    pub(crate) fn path(&self) -> &Path {
        &self.partial
    }

    /// Gives the folder its final name.
    pub(crate) fn publish(mut self) -> Result<PathBuf, ResultsError> {
        // The folder may have been created by another process during the run.
        check_final(&self.end, self.existing)?;
        let rename = |from: &Path, to: &Path| {
            fs::rename(from, to).map_err(|error| ResultsError::write(to, error))
        };
        if self.end.exists() {
            // The old run is renamed first, so that at every instant one complete run is on the disk.
            let old = self.partial.with_extension("old");
            if old.exists() {
                fs::remove_dir_all(&old).map_err(|error| ResultsError::write(&old, error))?;
            }
            rename(&self.end, &old)?;
            rename(&self.partial, &self.end)?;
            self.published = true;
            fs::remove_dir_all(&old).map_err(|error| ResultsError::write(&old, error))?;
        } else {
            rename(&self.partial, &self.end)?;
            self.published = true;
        }
        // The lock is removed last. Earlier, a new process could lock a folder that is about to get
        // another name.
        let lock = self.end.join(LOCK);
        fs::remove_file(&lock).map_err(|error| ResultsError::write(&lock, error))?;
        Ok(self.end.clone())
    }
}

impl Drop for PartialFolder {
    fn drop(&mut self) {
        if !self.published {
            // A failure here has no remedy. The name of the folder shows that it is incomplete.
            let _ = fs::remove_dir_all(&self.partial);
        }
    }
}

/// Result of an attempt to lock a folder.
enum Lock {
    Held(File),
    /// Another process has locked it.
    Taken,
    /// The folder has got its final name, or was removed, in the meantime.
    Gone,
}

fn lock(partial: &Path) -> io::Result<Lock> {
    fs::create_dir_all(partial)?;
    let path = partial.join(LOCK);
    let file = match File::options().create(true).truncate(false).write(true).open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Lock::Gone),
        file => file?,
    };
    // Some file systems have no locks. There, the user must not start two runs at once.
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Ok(Lock::Taken);
    }
    // Before it was locked, the file may have been removed. A lock on a removed file excludes no other process.
    let opened = file.metadata()?;
    let same = |found: Metadata| (found.dev(), found.ino()) == (opened.dev(), opened.ino());
    Ok(if fs::metadata(&path).is_ok_and(same) { Lock::Held(file) } else { Lock::Gone })
}

/// Removes everything in a folder except its lock. Returns true if there was anything.
fn clear(partial: &Path) -> io::Result<bool> {
    let mut cleared = false;
    for entry in fs::read_dir(partial)? {
        let entry = entry?;
        if entry.file_name() == LOCK {
            continue;
        }
        cleared = true;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(cleared)
}

fn check_final(end: &Path, existing: Existing) -> Result<(), ResultsError> {
    if !end.exists() {
        // A folder cannot replace a link. Refuse now rather than at the end of the run.
        if end.is_symlink() {
            return Err(ResultsError::DeadLink { path: end.to_owned() });
        }
        return Ok(());
    }
    let path = end.to_owned();
    if existing == Existing::Keep {
        return Err(ResultsError::FolderExists { path });
    }
    if !end.is_dir() {
        return Err(ResultsError::NotARun { path });
    }
    let mut entries = fs::read_dir(end).map_err(|error| ResultsError::read(end, error))?;
    // A mistyped path with `--force` must not delete other files.
    let is_ours = [MARKER, "pack.json"].iter().any(|name| end.join(name).exists());
    // An empty folder has nothing to lose.
    if is_ours || entries.next().is_none() {
        return Ok(());
    }
    Err(ResultsError::NotARun { path })
}
