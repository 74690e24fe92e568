//! The journal of a run: its events in order, so that books that were lost are kept again.
//!
//! Tables of a run are written as it goes on, and their writers cannot continue a file of a killed run. A
//! continued run therefore writes them again from the journal, which takes less time than the run itself.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use haggle_model::Time;
use haggle_runtime::OutsideError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::event::Event;

/// Appends events to a file. Each entry is its length in four bytes, then its time and event. A copy is
/// another name for the same journal.
#[derive(Clone, Debug)]
pub struct Journal(Rc<RefCell<Open>>);

#[derive(Debug)]
struct Open {
    path: PathBuf,
    file: BufWriter<File>,
    written: u64,
    digest: Sha256,
    entry: Vec<u8>,
}

/// The entries of a journal up to some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Their size in bytes.
    pub length: u64,
    /// Their SHA-256.
    pub sha256: [u8; 32],
}

/// A journal cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct JournalError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    #[source]
    pub error: io::Error,
}

impl Journal {
    /// A journal in a new file.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(path: &Path) -> Result<Journal, JournalError> {
        let file = File::create(path).map_err(|error| at(path, error))?;
        Ok(Journal::of(path, file, 0, Sha256::new()))
    }

    /// The journal in a file, which is cut off behind `extent`: later entries are of a time that is repeated.
    ///
    /// # Errors
    /// If the file cannot be opened, is shorter, or has other entries.
    pub fn reopen(path: &Path, extent: &Extent) -> Result<Journal, JournalError> {
        let open = || {
            let mut file = File::options().read(true).write(true).open(path)?;
            let mut digest = Sha256::new();
            let mut entries = (&file).take(extent.length);
            let mut room = vec![0; 1 << 16];
            loop {
                match entries.read(&mut room)? {
                    0 => break,
                    count => digest.update(&room[..count]),
                }
            }
            // A missing entry changes the digest, too.
            if digest.clone().finalize()[..] != extent.sha256 {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "other entries"));
            }
            file.set_len(extent.length)?;
            file.seek(SeekFrom::End(0))?;
            Ok((file, digest))
        };
        let (file, digest) = open().map_err(|error| at(path, error))?;
        Ok(Journal::of(path, file, extent.length, digest))
    }

    fn of(path: &Path, file: File, written: u64, digest: Sha256) -> Journal {
        let (path, file) = (path.to_owned(), BufWriter::new(file));
        Journal(Rc::new(RefCell::new(Open { path, file, written, digest, entry: Vec::new() })))
    }

    /// Adds an event.
    pub(crate) fn add(&self, now: Time, event: &Event<'_>) -> Result<(), JournalError> {
        let mut open = self.0.borrow_mut();
        open.add(now, event).map_err(|error| at(&open.path, error))
    }

    /// Makes all entries durable.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn sync(&self) -> Result<Extent, JournalError> {
        let mut open = self.0.borrow_mut();
        let sync = open.file.flush().and_then(|()| open.file.get_ref().sync_data());
        sync.map_err(|error| at(&open.path, error))?;
        let sha256 = open.digest.clone().finalize().into();
        Ok(Extent { length: open.written, sha256 })
    }
}

impl Open {
    fn add(&mut self, now: Time, event: &Event<'_>) -> io::Result<()> {
        let mut entry = std::mem::take(&mut self.entry);
        entry.clear();
        let entry = postcard::to_extend(&(now, event), entry).map_err(io::Error::other)?;
        let length = u32::try_from(entry.len()).map_err(io::Error::other)?;
        for bytes in [&length.to_le_bytes()[..], &entry] {
            self.digest.update(bytes);
            self.file.write_all(bytes)?;
        }
        self.written += 4 + u64::from(length);
        self.entry = entry;
        Ok(())
    }
}

/// Calls `take` with the time and event of each entry in the first `length` bytes of a journal.
pub(crate) fn read(
    path: &Path,
    length: u64,
    mut take: impl FnMut(Time, Event<'_>) -> Result<(), OutsideError>,
) -> Result<(), OutsideError> {
    let trouble = |error| at(path, error);
    let mut file = BufReader::new(File::open(path).map_err(trouble)?).take(length);
    let mut entry = Vec::new();
    while file.limit() > 0 {
        let mut size = [0; 4];
        file.read_exact(&mut size).map_err(trouble)?;
        entry.resize(u32::from_le_bytes(size) as usize, 0);
        file.read_exact(&mut entry).map_err(trouble)?;
        let damaged = |error| trouble(io::Error::new(io::ErrorKind::InvalidData, error));
        let (now, event) = postcard::from_bytes(&entry).map_err(damaged)?;
        take(now, event)?;
    }
    Ok(())
}

fn at(path: &Path, error: io::Error) -> JournalError {
    JournalError { path: path.to_owned(), error }
}
