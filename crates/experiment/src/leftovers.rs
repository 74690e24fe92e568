//! Temporary files and folders of commands that were killed. The process that makes one locks it.
//! When the process ends, its lock is gone, and the next command removes the file or folder.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Locks a new file at `path`. `false` if another command removed it before it was locked: the file
/// must then be made again.
///
/// # Errors
/// If the file cannot be examined.
pub fn hold(file: &File, path: &Path) -> io::Result<bool> {
    // Some file systems have no locks; nothing is removed there.
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Ok(false);
    }
    is_at(file, path)
}

/// Removes the files in a folder that have such names and no process. A file that cannot be removed
/// stays.
pub fn clear(folder: &Path, is_left: impl Fn(&str) -> bool) {
    for path in entries(folder, &is_left) {
        if path.symlink_metadata().is_ok_and(|it| it.is_file()) && free(&path).is_some() {
            // A file that cannot be removed does not stop the command.
            let _ = fs::remove_file(&path);
        }
    }
}

/// A folder for temporary files, among those of the system.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    _lock: File,
}

/// Prefix of the names of such folders.
const SCRATCH: &str = "haggle-scratch-";

/// Locked file in such a folder.
const LOCK: &str = ".lock";

impl Scratch {
    /// Makes one, and removes those whose process has ended.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn create() -> io::Result<Scratch> {
        let place = std::env::temp_dir();
        for path in entries(&place, &|name| name.starts_with(SCRATCH)) {
            let is_folder = path.symlink_metadata().is_ok_and(|it| it.is_dir());
            // The lock is held until the folder is gone.
            if let Some(_lock) = is_folder.then(|| free(&path.join(LOCK))).flatten() {
                let _ = fs::remove_dir_all(&path);
            }
        }
        loop {
            let folder = tempfile::Builder::new().prefix(SCRATCH).tempdir_in(&place)?;
            let path = folder.path().join(LOCK);
            let lock = File::create_new(&path)?;
            if hold(&lock, &path)? {
                return Ok(Scratch { folder, _lock: lock });
            }
        }
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn entries(folder: &Path, is_left: &impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let named = |path: &PathBuf| path.file_name()?.to_str().map(is_left);
    entries.flatten().map(|it| it.path()).filter(|path| named(path) == Some(true)).collect()
}

/// A file whose process has ended; it is now locked.
fn free(path: &Path) -> Option<File> {
    let file = File::options().write(true).open(path).ok()?;
    file.try_lock().ok()?;
    // Before the file was locked, another command may have replaced it.
    is_at(&file, path).ok()?.then_some(file)
}

/// True if the path still leads to the file that was opened there.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let opened = file.metadata()?;
    let same = |it: fs::Metadata| (it.dev(), it.ino()) == (opened.dev(), opened.ino());
    Ok(fs::symlink_metadata(path).is_ok_and(same))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_without_a_process_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let held = File::create(path(".held.partial")).expect("made");
        assert!(hold(&held, &path(".held.partial")).expect("it is there"));
        for name in [".left.partial", "other"] {
            fs::write(path(name), "half").expect("written");
        }
        fs::create_dir(path(".run.partial")).expect("made");
        let left = |name: &str| name.ends_with(".partial");
        clear(folder.path(), left);
        let there = [".held.partial", ".left.partial", ".run.partial", "other"];
        assert_eq!(there.map(|name| path(name).exists()), [true, false, true, true]);
        drop(held);
        clear(folder.path(), left);
        assert!(!path(".held.partial").exists());
    }

    #[test]
    fn a_file_that_was_taken_for_left_is_made_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(".x.partial");
        let file = File::create(&path).expect("made");
        clear(folder.path(), |_| true);
        assert!(!hold(&file, &path).expect("its metadata are there"));
    }
}
