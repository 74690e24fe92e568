//! The journal of the process that writes it.

use crate::error::Error;
use crate::folder::{Folder, LOCK, publish, segment_name, snapshot_name, trouble};
use crate::format::{
    Content, FileHead, KEY_MAX, RECORD_HEAD, RECORD_MAX, RecordHead, SNAPSHOT_MAX, VERSION,
};
use crate::records::Records;
use crate::snapshot::Snapshot;
use crate::storage::{Storage, StoredFile};
use crate::tail::Cut;

/// Bytes after which a segment ends, unless the owner chooses others.
pub const SEGMENT_BYTES: u64 = 8 << 20;

/// Bytes of records that wait in memory; more are written before the next sync.
const WAITING_MAX: usize = 1 << 20;

/// The journal of a process. Only one process writes a journal.
#[derive(Debug)]
pub struct Journal<S: Storage> {
    storage: S,
    segment_bytes: u64,
    folder: Folder,
    /// Head of the last segment, and of the snapshots.
    head: FileHead,
    file: S::File,
    /// Bytes of the last segment, those that wait included.
    length: u64,
    /// Bytes that are not written yet.
    waiting: Vec<u8>,
    /// Number of the next record.
    next: u64,
    /// Number of the first record that is not durable.
    unsynced: u64,
    /// An operation of the storage has failed.
    poisoned: bool,
    _lock: S::Lock,
}

/// Contents of a journal that was opened.
#[derive(Debug)]
pub struct Recovered<S: Storage> {
    /// The newest snapshot that is whole.
    pub snapshot: Option<Snapshot>,
    /// The records behind it, to be read before the next snapshot. All were checked; an error is one of the disk.
    pub records: Records<S>,
    /// Number of this opening for writing, from 1. No earlier opening of the journal had it.
    pub incarnation: u32,
    /// The torn end that was cut.
    pub cut: Option<Cut>,
    /// Newer snapshots that are damaged. Their files have the ending `.damaged` now.
    pub damaged: Vec<Error>,
}

impl<S: Storage> Journal<S> {
    /// Opens the journal of `key`, or begins it. Segments end after `segment_bytes`.
    ///
    /// All records that are recovered are durable. A torn end is cut.
    ///
    /// # Errors
    /// If another process has the journal open, or it is damaged, incomplete or one of another key, or the storage
    /// fails. The files are then as they were, except that a torn end may be cut.
    pub fn open(
        storage: S,
        key: &str,
        segment_bytes: u64,
    ) -> Result<(Journal<S>, Recovered<S>), Error> {
        if key.is_empty() || key.len() > KEY_MAX {
            return Err(Error::Key(key.len()));
        }
        let lock = storage.lock(LOCK).map_err(trouble(&storage, LOCK, "lock"))?;
        let lock = lock.ok_or_else(|| Error::Busy { path: storage.path(LOCK) })?;
        let mut folder = tidy(&storage)?;
        let (snapshot, damaged) = Snapshot::newest(&storage, &folder, key)?;
        let from = snapshot.as_ref().map_or(1, |it| it.number.saturating_add(1));
        let end = match check(&storage, &folder, key, from) {
            // With the damaged snapshot, the missing records were unnecessary.
            Err(Error::Missing { .. }) if !damaged.is_empty() => {
                return Err(damaged.into_iter().next().expect("there is one"));
            }
            end => end?,
        };
        put_aside(&storage, &mut folder, damaged.len())?;
        if let Some(Cut { offset, .. }) = end.cut {
            let name = segment_name(*folder.segments.last().expect("it has the torn end"));
            storage.cut(&name, offset).map_err(trouble(&storage, &name, "cut"))?;
        }
        let incarnation = end.incarnation.checked_add(1);
        let incarnation =
            incarnation.ok_or_else(|| Error::Incarnations { path: storage.path("") })?;
        let head = FileHead {
            version: VERSION,
            incarnation,
            number: end.next,
            salt: storage.salt(),
            key: key.to_owned(),
        };
        let (file, length) = begin(&storage, &mut folder, &head)?;
        let records = Records::new(&storage, &folder, Some(key.to_owned()), from)?;
        let records = records.up_to(end.next - 1);
        let recovered = Recovered { snapshot, records, incarnation, cut: end.cut, damaged };
        let journal = Journal {
            storage,
            segment_bytes,
            folder,
            file,
            length,
            waiting: Vec::new(),
            next: head.number,
            unsynced: head.number,
            head,
            poisoned: false,
            _lock: lock,
        };
        Ok((journal, recovered))
    }

    /// Adds a record, and returns its number. It is durable after the next [`Journal::sync`]; without one it may be lost,
    /// also when the journal is dropped.
    ///
    /// # Errors
    /// If it is larger than [`RECORD_MAX`], or the storage fails now or has failed before.
    pub fn append(&mut self, kind: u8, payload: &[u8]) -> Result<u64, Error> {
        self.refuse_if_poisoned()?;
        if payload.len() > RECORD_MAX {
            return Err(Error::RecordSize(payload.len()));
        }
        self.attempt(|journal| {
            if journal.length >= journal.segment_bytes && journal.next > journal.head.number {
                journal.roll()?;
            }
            let number = journal.next;
            // A smaller number than the true one makes recovery stricter.
            let unsynced = u32::try_from(number - journal.unsynced).unwrap_or(u32::MAX);
            let head = RecordHead::of(number, unsynced, kind, payload);
            journal.waiting.extend(head.to_bytes(journal.head.salt));
            journal.waiting.extend(payload);
            journal.length += (RECORD_HEAD + payload.len()) as u64;
            journal.next += 1;
            if journal.waiting.len() >= WAITING_MAX {
                journal.write()?;
            }
            Ok(number)
        })
    }

    /// Hands all records to the system: they survive the end of this process, but not that of the machine.
    ///
    /// # Errors
    /// If the storage fails now or has failed before. The process must end then.
    pub fn hand_over(&mut self) -> Result<(), Error> {
        self.refuse_if_poisoned()?;
        self.attempt(|journal| if journal.waiting.is_empty() { Ok(()) } else { journal.write() })
    }

    /// Makes all records durable.
    ///
    /// # Errors
    /// If the storage fails now or has failed before. The process must end then.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.refuse_if_poisoned()?;
        self.attempt(Journal::sync_records)
    }

    /// Keeps the state of the owner after record `number`, and makes all records durable. The last two snapshots are
    /// kept, and the records behind the older one.
    ///
    /// # Errors
    /// If there is no record `number`, or the last snapshot has a later one. If the state is larger than
    /// [`SNAPSHOT_MAX`], or the storage fails now or has failed before.
    pub fn snapshot(&mut self, number: u64, state: &[u8]) -> Result<(), Error> {
        self.refuse_if_poisoned()?;
        let (from, to) = (self.folder.snapshots.last().copied().unwrap_or(0), self.next - 1);
        if number < from || number > to {
            return Err(Error::SnapshotNumber { number, from, to });
        }
        if state.len() > SNAPSHOT_MAX {
            return Err(Error::SnapshotSize(state.len()));
        }
        self.attempt(|journal| {
            journal.sync_records()?;
            // The state after a record is always the same.
            if journal.folder.snapshots.last() == Some(&number) {
                return Ok(());
            }
            let salt = journal.storage.salt();
            let head = FileHead { number, salt, ..journal.head.clone() };
            Snapshot::write(&journal.storage, &head, state)?;
            journal.folder.snapshots.push(number);
            for name in journal.folder.compact() {
                let removed = journal.storage.remove(&name);
                removed.map_err(trouble(&journal.storage, &name, "remove"))?;
            }
            Ok(())
        })
    }

    /// Poisons the journal if `work` fails.
    fn attempt<T>(
        &mut self,
        work: impl FnOnce(&mut Journal<S>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let done = work(self);
        self.poisoned = done.is_err();
        done
    }

    fn refuse_if_poisoned(&self) -> Result<(), Error> {
        let path = || self.storage.path(&segment_name(self.head.number));
        if self.poisoned { Err(Error::Poisoned { path: path() }) } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), Error> {
        let name = segment_name(self.head.number);
        self.file.append(&self.waiting).map_err(trouble(&self.storage, &name, "write"))?;
        self.waiting.clear();
        self.waiting.shrink_to(2 * WAITING_MAX);
        Ok(())
    }

    fn sync_records(&mut self) -> Result<(), Error> {
        if self.unsynced == self.next {
            return Ok(());
        }
        self.write()?;
        let name = segment_name(self.head.number);
        self.file.sync().map_err(trouble(&self.storage, &name, "sync"))?;
        self.unsynced = self.next;
        Ok(())
    }

    /// Ends the segment, and begins the next one.
    fn roll(&mut self) -> Result<(), Error> {
        self.sync_records()?;
        self.head.number = self.next;
        self.head.salt = self.storage.salt();
        (self.file, self.length) = begin(&self.storage, &mut self.folder, &self.head)?;
        Ok(())
    }
}

/// The end of the records of a journal.
struct End {
    /// Number of the next record.
    next: u64,
    /// Of the last process that wrote.
    incarnation: u32,
    cut: Option<Cut>,
}

/// Ends the work of an earlier process: unfinished files, and bytes that are not durable. Names are durable when the new
/// segment is.
fn tidy<S: Storage>(storage: &S) -> Result<Folder, Error> {
    let folder = Folder::read(storage)?;
    for name in &folder.unfinished {
        storage.remove(name).map_err(trouble(storage, name, "remove"))?;
    }
    if let Some(&last) = folder.segments.last() {
        let name = segment_name(last);
        storage.settle(&name).map_err(trouble(storage, &name, "sync"))?;
    }
    Ok(folder)
}

/// Checks all records from a number on.
fn check<S: Storage>(storage: &S, folder: &Folder, key: &str, from: u64) -> Result<End, Error> {
    if folder.segments.is_empty() && folder.snapshots.is_empty() {
        return Ok(End { next: 1, incarnation: 0, cut: None });
    }
    let mut records = Records::new(storage, folder, Some(key.to_owned()), from)?;
    while records.advance()?.is_some() {}
    // A snapshot is written after the records before it, so they were there even if it is damaged.
    let newest = folder.snapshots.last().map_or(0, |number| number.saturating_add(1));
    let next = records.next_number();
    if next < from.max(newest) {
        return Err(Error::Missing { path: storage.path(""), found: None, due: next });
    }
    Ok(End { next, incarnation: records.incarnation(), cut: records.cut().cloned() })
}

/// Renames the newest snapshots, which are damaged. They stay in the folder for the people who look for the reason.
fn put_aside<S: Storage>(storage: &S, folder: &mut Folder, count: usize) -> Result<(), Error> {
    for number in folder.snapshots.drain(folder.snapshots.len() - count..) {
        let name = snapshot_name(number);
        let renamed = storage.rename(&name, &format!("{name}.damaged"));
        renamed.map_err(trouble(storage, &name, "rename"))?;
    }
    Ok(())
}

/// Begins a segment, in place of an empty one. Returns it with its bytes.
fn begin<S: Storage>(
    storage: &S,
    folder: &mut Folder,
    head: &FileHead,
) -> Result<(S::File, u64), Error> {
    let bytes = head.to_bytes(Content::Segment);
    let file = publish(storage, &segment_name(head.number), &[&bytes])?;
    if folder.segments.last() != Some(&head.number) {
        folder.segments.push(head.number);
    }
    Ok((file, bytes.len() as u64))
}
