//! The folder of a run while it is being made: a hidden sibling that gets its
//! final name only when everything is in it.

use std::fs;
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

/// A folder under construction. Dropped before [`PartialFolder::publish`], it leaves nothing.
#[derive(Debug)]
pub(crate) struct PartialFolder {
    partial: PathBuf,
    end: PathBuf,
    existing: Existing,
    published: bool,
}

impl PartialFolder {
    /// Creates the hidden sibling of `end`, replacing what an interrupted run left there.
    pub(crate) fn create(end: &Path, existing: Existing) -> Result<PartialFolder, ResultsError> {
        let name = end.file_name().ok_or_else(|| ResultsError::NoName { path: end.to_owned() })?;
        check_final(end, existing)?;
        let partial = end.with_file_name(format!(".{}.partial", name.to_string_lossy()));
        if partial.exists() {
            fs::remove_dir_all(&partial).map_err(|error| ResultsError::write(&partial, error))?;
        }
        fs::create_dir_all(&partial).map_err(|error| ResultsError::write(&partial, error))?;
        Ok(PartialFolder { partial, end: end.to_owned(), existing, published: false })
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

fn check_final(end: &Path, existing: Existing) -> Result<(), ResultsError> {
    if !end.exists() {
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
    if end.join(MARKER).exists() || entries.next().is_none() {
        return Ok(());
    }
    Err(ResultsError::NotARun { path })
}
