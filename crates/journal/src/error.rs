//! Reasons why a journal cannot be used, each with its place and a remedy.

use std::io;
use std::path::PathBuf;

use crate::format::{KEY_MAX, RECORD_MAX, SNAPSHOT_MAX, VERSION};

/// A journal cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk refused an operation. While a journal is written, the process must end afterwards.
    #[error("{}: cannot {action}: {error}", path.display())]
    Storage {
        /// The file or folder.
        path: PathBuf,
        /// The operation as a verb.
        action: &'static str,
        /// The reason.
        #[source]
        error: io::Error,
    },
    /// The file is not as it was written.
    #[error("{}: byte {offset}: record {number}: {damage}; {}", path.display(), damage.remedy(*offset))]
    Damaged {
        /// The segment or snapshot.
        path: PathBuf,
        /// Place of the record in the file.
        offset: u64,
        /// Number of the record; for a snapshot, that of the last record before it.
        number: u64,
        /// The reason.
        damage: Damage,
    },
    /// Files are missing, or have numbers twice.
    #[error("{}: {}; restore the missing files from a copy of the journal", path.display(), gap(*found, *due))]
    Missing {
        /// The next segment, or the folder if there is none.
        path: PathBuf,
        /// Number of the next record that exists.
        found: Option<u64>,
        /// Number of the record that must come next.
        due: u64,
    },
    /// The journal belongs to another actor.
    #[error(
        "{}: journal of {found:?}, not of {key:?}; name the folder of {key:?}", path.display()
    )]
    ForeignKey {
        /// The file.
        path: PathBuf,
        /// The key in the file.
        found: String,
        /// The key that was asked for.
        key: String,
    },
    /// A newer haggle wrote the file.
    #[error(
        "{}: format {found} of a newer version, this version reads {VERSION}; \
         use the version that wrote it", path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u16,
    },
    /// Another process writes the journal.
    #[error("{}: another process writes this journal; end it first", path.display())]
    Busy {
        /// The file that is locked.
        path: PathBuf,
    },
    /// The folder is on a file system of a network, which may lose synced bytes and locks.
    #[error("{}: file system {kind} of a network; use a local disk, or allow it", path.display())]
    Network {
        /// The folder.
        path: PathBuf,
        /// The name of the file system.
        kind: &'static str,
    },
    /// The journal was opened as often as it can be.
    #[error("{}: no further incarnation; begin a journal in another folder", path.display())]
    Incarnations {
        /// The last segment.
        path: PathBuf,
    },
    /// The key is unusable.
    #[error("a key has 1 to {KEY_MAX} bytes, not {0}")]
    Key(usize),
    /// The record is too large.
    #[error("a record has at most {RECORD_MAX} bytes, not {0}; divide it")]
    RecordSize(usize),
    /// The snapshot is too large.
    #[error("a snapshot has at most {SNAPSHOT_MAX} bytes, not {0}")]
    SnapshotSize(usize),
    /// The snapshot has a number that is not appended yet, or older than that of the last snapshot.
    #[error("a snapshot after record {number} does not fit: it must be one of {from} to {to}")]
    SnapshotNumber {
        /// Number of the snapshot.
        number: u64,
        /// Number of the last snapshot.
        from: u64,
        /// Number of the last record.
        to: u64,
    },
    /// An operation of the disk has failed before.
    #[error("{}: a write has failed before; end the process and start it again", path.display())]
    Poisoned {
        /// The segment that was written.
        path: PathBuf,
    },
}

impl Error {
    /// True if the disk refused to take something.
    pub fn is_write(&self) -> bool {
        match self {
            Error::Storage { action, .. } => !matches!(*action, "read" | "list the files" | "lock"),
            Error::Poisoned { .. } => true,
            _ => false,
        }
    }
}

fn gap(found: Option<u64>, due: u64) -> String {
    match found {
        Some(found) => format!("begins with record {found}, but record {due} is due"),
        None => format!("record {due} is missing"),
    }
}

/// Kinds of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The head of the file is short or has another check sum.
    #[error("the head of the file is damaged")]
    FileHead,
    /// The head names another number than the name of the file.
    #[error("the head of the file begins at record {0}")]
    FileNumber(u64),
    /// The file ends within the record.
    #[error("the file ends within it")]
    Short,
    /// The head of the record has another check sum.
    #[error("its head is damaged")]
    Head,
    /// The payload has another check sum.
    #[error("its payload is damaged")]
    Payload,
    /// The record is longer than any may be.
    #[error("it has {0} bytes, more than a record may have")]
    Length(u32),
    /// The record has another number.
    #[error("record {0} is in its place")]
    Number(u64),
    /// A record behind it was written when this one was durable already.
    #[error("it is damaged, but record {0} behind it was written after it was durable")]
    Before(u64),
    /// Bytes follow the only record of a snapshot.
    #[error("other bytes follow it")]
    Trailing,
}

impl Damage {
    /// A way out, for damage at an offset.
    fn remedy(self, offset: u64) -> String {
        let copy = "restore the file from a copy of the journal";
        match self {
            Damage::FileHead | Damage::FileNumber(_) | Damage::Trailing => copy.to_owned(),
            _ => format!(
                "{copy}, or lose this record and all later ones: remove later files, and cut this one to {offset} bytes"
            ),
        }
    }
}
