//! The folder of a run while it is being made: a hidden sibling that gets its
//! final name only when everything is in it.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::ResultsError;

/// The file by which a folder is known to hold a run.
pub(crate) const MARKER: &str = "provenance.json";

/// What to do about a folder that has the final name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Existing {
    /// Refuse to start.
    #[default]
    Keep,
    /// Put the new run in its place once it is complete; only a run or an empty folder is replaced.
    Replace,
}

/// Locked by whoever writes into the folder: with its process the lock is gone.
const LOCK: &str = ".lock";

/// A folder under construction. Dropped before [`PartialFolder::publish`], it leaves nothing.
#[derive(Debug)]
pub(crate) struct PartialFolder {
    partial: PathBuf,
    end: PathBuf,
    existing: Existing,
    published: bool,
    cleared: bool,
    /// Nobody else writes here as long as it is open.
    _lock: File,
}

impl PartialFolder {
    /// Creates the hidden sibling of `end`, replacing what an interrupted run left there.
    pub(crate) fn create(end: &Path, existing: Existing) -> Result<PartialFolder, ResultsError> {
        let name = end.file_name().ok_or_else(|| ResultsError::NoName { path: end.to_owned() })?;
        check_final(end, existing)?;
        let partial = end.with_file_name(format!(".{}.partial", name.to_string_lossy()));
        let trouble = |error| ResultsError::write(&partial, error);
        let lock = loop {
            match lock(&partial).map_err(trouble)? {
                Lock::Held(file) => break file,
                Lock::Gone => {}
                Lock::Taken => return Err(ResultsError::InUse { path: end.to_owned() }),
            }
        };
        let cleared = clear(&partial).map_err(trouble)?;
        let end = end.to_owned();
        Ok(PartialFolder { partial, end, existing, published: false, cleared, _lock: lock })
    }

    /// True if there was something that a run left which was killed.
    pub(crate) fn cleared(&self) -> bool {
        self.cleared
    }

    /// Where to write.
    pub(crate) fn path(&self) -> &Path {
        &self.partial
    }

    /// Gives the folder its final name.
    pub(crate) fn publish(mut self) -> Result<PathBuf, ResultsError> {
        // Somebody may have made the folder while the run was going on.
        check_final(&self.end, self.existing)?;
        let rename = |from: &Path, to: &Path| {
            fs::rename(from, to).map_err(|error| ResultsError::write(to, error))
        };
        if self.end.exists() {
            // The old run moves aside first, so that at every instant one whole run is on the disk.
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
        // Not before: who came in between would lock a folder that is about to go.
        let lock = self.end.join(LOCK);
        fs::remove_file(&lock).map_err(|error| ResultsError::write(&lock, error))?;
        Ok(self.end.clone())
    }
}

impl Drop for PartialFolder {
    fn drop(&mut self) {
        if !self.published {
            // Nothing sensible can be done about a failure here: the name says what the folder is.
            let _ = fs::remove_dir_all(&self.partial);
        }
    }
}

/// What came of an attempt to be the only one who writes into a folder.
enum Lock {
    Held(File),
    /// Somebody else is.
    Taken,
    /// The folder has got its final name, or was removed, meanwhile.
    Gone,
}

fn lock(partial: &Path) -> io::Result<Lock> {
    fs::create_dir_all(partial)?;
    let path = partial.join(LOCK);
    let file = match File::options().create(true).truncate(false).write(true).open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Lock::Gone),
        file => file?,
    };
    // Some file systems know no locks; there, two runs at once are the user's business.
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Ok(Lock::Taken);
    }
    let opened = file.metadata()?;
    let same = |found: Metadata| (found.dev(), found.ino()) == (opened.dev(), opened.ino());
    Ok(if fs::metadata(&path).is_ok_and(same) { Lock::Held(file) } else { Lock::Gone })
}

/// Empties a folder but for its lock, and says whether there was anything.
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
        // A folder cannot take the name of a link, and would be refused when all is done.
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
    // --force on a mistyped path must not cost anybody their files.
    let is_ours = [MARKER, "pack.json"].iter().any(|name| end.join(name).exists());
    if is_ours || entries.next().is_none() {
        return Ok(());
    }
    Err(ResultsError::NotARun { path })
}
