//! Names of the files of a journal.

use std::io;

use crate::error::Error;
use crate::storage::{Storage, StoredFile};

/// The file that the writing process has locked.
pub(crate) const LOCK: &str = "lock";

const SEGMENT: &str = ".log";
const SNAPSHOT: &str = ".snapshot";
const UNFINISHED: &str = ".new";

/// Snapshots that are kept: the older one replaces the newer one if that is damaged.
const KEPT: usize = 2;

/// The files of a journal, by their numbers in ascending order. Other files are left alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folder {
    /// First numbers of the segments.
    pub(crate) segments: Vec<u64>,
    /// Numbers of the snapshots.
    pub(crate) snapshots: Vec<u64>,
    /// Names of files that an earlier process has not finished.
    pub(crate) unfinished: Vec<String>,
}

impl Folder {
    pub(crate) fn read<S: Storage>(storage: &S) -> Result<Folder, Error> {
        let mut folder = Folder::default();
        for name in storage.list().map_err(trouble(storage, "", "list the files"))? {
            if let Some(first) = number(&name, SEGMENT) {
                folder.segments.push(first);
            } else if let Some(number) = number(&name, SNAPSHOT) {
                folder.snapshots.push(number);
            } else if name.ends_with(UNFINISHED) {
                folder.unfinished.push(name);
            }
        }
        folder.segments.sort_unstable();
        folder.snapshots.sort_unstable();
        Ok(folder)
    }

    /// The segments with all records from `number` on.
    pub(crate) fn segments_from(&self, number: u64) -> &[u64] {
        let behind = self.segments.partition_point(|&first| first <= number);
        &self.segments[behind.saturating_sub(1)..]
    }

    /// Number of the oldest snapshot that is kept, if older ones and the records before it are unnecessary.
    pub(crate) fn floor(&self) -> Option<u64> {
        let oldest = self.snapshots.len().checked_sub(KEPT)?;
        Some(self.snapshots[oldest])
    }

    /// Takes the unnecessary files out of the folder, and returns their names, oldest first.
    pub(crate) fn compact(&mut self) -> Vec<String> {
        let Some(floor) = self.floor() else { return Vec::new() };
        let needed = self.segments_from(floor.saturating_add(1)).len();
        let segments = self.segments.drain(..self.segments.len() - needed).map(segment_name);
        let snapshots = self.snapshots.drain(..self.snapshots.len() - KEPT).map(snapshot_name);
        segments.chain(snapshots).collect()
    }
}

pub(crate) fn segment_name(first: u64) -> String {
    format!("{first:020}{SEGMENT}")
}

pub(crate) fn snapshot_name(number: u64) -> String {
    format!("{number:020}{SNAPSHOT}")
}

fn number(name: &str, ending: &str) -> Option<u64> {
    let digits = name.strip_suffix(ending)?;
    let is_number = digits.len() == 20 && digits.bytes().all(|it| it.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

/// Writes a file under a name of its own, and gives it its name when it is durable: a file that has its name is whole.
pub(crate) fn publish<S: Storage>(
    storage: &S,
    name: &str,
    parts: &[&[u8]],
) -> Result<S::File, Error> {
    let unfinished = format!("{name}{UNFINISHED}");
    let publish = || {
        let mut file = storage.create(&unfinished)?;
        for part in parts {
            file.append(part)?;
        }
        file.sync()?;
        storage.rename(&unfinished, name)?;
        storage.sync_folder()?;
        Ok(file)
    };
    publish().map_err(trouble(storage, name, "write"))
}

/// Adds place and operation to an error of the storage. The name "" is the folder.
pub(crate) fn trouble<S: Storage>(
    storage: &S,
    name: &str,
    action: &'static str,
) -> impl FnOnce(io::Error) -> Error {
    let path = storage.path(name);
    move |error| Error::Storage { path, action, error }
}
