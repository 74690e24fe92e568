//! A journal: numbered records that are appended, and snapshots that make old records unnecessary.
//!
//! A process that gives promises appends its inputs, and syncs them before an effect of them leaves. After a crash it
//! opens the journal, takes its newest snapshot, and repeats the records behind it. A record is a number, a kind and
//! bytes; the journal knows no meaning of them.
//!
//! ```text
//! folder of a journal
//!   lock                            held by the one process that writes
//!   00000000000000000001.log        segment: records from number 1
//!   00000000000000041234.log        segment: records from number 41234; the last one grows
//!   00000000000000050000.snapshot   state after record 50000
//!   *.new                           file that is not finished; the next process removes it
//! ```
//!
//! ```no_run
//! use haggle_journal::{FileSystem, Journal, Network, SEGMENT_BYTES};
//!
//! let folder = FileSystem::open("journals/north".as_ref(), Network::Refuse)?;
//! let (mut journal, recovered) = Journal::open(folder, "north", SEGMENT_BYTES)?;
//! for record in recovered.records {
//!     println!("repeat record {}", record?.number);
//! }
//! journal.append(1, b"an input")?;
//! journal.sync()?; // its effects may leave now
//! # Ok::<(), haggle_journal::Error>(())
//! ```
//!
//! Trouble that a user of this crate meets:
//!
//! - **A failed write or sync** poisons the journal. The process must end, and a new one opens the journal again. It
//!   is unknown which bytes the disk has, and a second sync reports success without writing them.
//! - **A torn end** of the last segment is cut, and reported. It was never synced, or is the loss of a disk that
//!   reports syncs it has not made.
//! - **Damage** elsewhere is never repaired. The error has file, offset, record and remedy.
//!
//! `docs/internals/journal.md` has the bytes of the files and all rules of recovery.

mod error;
mod file_system;
mod folder;
mod format;
mod journal;
mod reader;
mod records;
mod segment;
mod snapshot;
mod storage;
mod tail;
#[cfg(feature = "testing")]
pub mod testing;

pub use error::{Damage, Error};
pub use file_system::{FileSystem, Network};
pub use format::{KEY_MAX, RECORD_MAX, SNAPSHOT_MAX};
pub use journal::{Journal, Recovered, SEGMENT_BYTES};
pub use reader::Reader;
pub use records::{Record, Records};
pub use snapshot::Snapshot;
pub use storage::{Storage, StoredFile};
pub use tail::Cut;
