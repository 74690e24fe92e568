//! A disk in memory that fails as a test tells it, the same for the same seed.
//!
//! The disk has what the process has written, and what is durable. A test ends the process at a chosen operation, and
//! lets the machine lose power or not:
//!
//! - **Process.** All bytes that were written are there; the last write may be a part of it.
//! - **Power.** Bytes and names that were not synced may be there, in parts: a file ends at any byte, or has sectors of
//!   zeros. Synced ones are there.
//!
//! A disk can also be full, slow, fail a sync, and damage bytes.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::format::{Content, FILE_HEAD, FileHead, RECORD_HEAD, RecordHead};
use crate::storage::{Storage, StoredFile};

/// Bytes that are written together or not at all.
const SECTOR: usize = 512;

/// A folder in memory. A copy is another handle of the same folder.
#[derive(Clone, Debug)]
pub struct Disk(Arc<Mutex<State>>);

/// Ends of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The process ends, the machine goes on.
    Process,
    /// The machine loses its power.
    Power,
}

#[derive(Debug)]
struct State {
    random: ChaCha8Rng,
    /// Contents, by the number of the file. A file keeps its number when it is renamed.
    files: Vec<Contents>,
    /// Names that a process sees.
    names: BTreeMap<String, usize>,
    /// Names that are durable.
    durable_names: BTreeMap<String, usize>,
    /// Changes of names since they were durable.
    changes: Vec<Change>,
    /// Number of the present process. Handles of earlier ones fail.
    process: u64,
    has_ended: bool,
    is_locked: bool,
    operations: u64,
    end_at: Option<u64>,
    failing_sync: Option<u64>,
    room: Option<usize>,
    delay: Duration,
}

#[derive(Clone, Debug, Default)]
struct Contents {
    /// Bytes that a process sees.
    seen: Vec<u8>,
    /// How many of them are durable.
    durable: usize,
    /// A sync has failed: no later one writes the bytes that are not durable.
    has_failed: bool,
}

#[derive(Clone, Debug)]
enum Change {
    Set(String, usize),
    Rename(String, String, usize),
    Remove(String),
}

impl Disk {
    /// An empty folder. The seed draws the parts that survive a crash.
    pub fn new(seed: u64) -> Disk {
        Disk(Arc::new(Mutex::new(State {
            random: ChaCha8Rng::seed_from_u64(seed),
            files: Vec::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            changes: Vec::new(),
            process: 0,
            has_ended: false,
            is_locked: false,
            operations: 0,
            end_at: None,
            failing_sync: None,
            room: None,
            delay: Duration::ZERO,
        })))
    }

    /// Operations so far that change or sync something.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Ends the process in the operation after the next `operations` ones, which may have a part of its effect. All
    /// later operations of the process fail.
    pub fn end_after(&self, operations: u64) {
        let mut state = self.state();
        state.end_at = Some(state.operations + operations);
    }

    /// Fails the sync of a file after the next `syncs` ones.
    pub fn fail_sync_after(&self, syncs: u64) {
        self.state().failing_sync = Some(syncs);
    }

    /// Leaves room for so many more bytes, or for any number.
    pub fn leave_room(&self, bytes: Option<usize>) {
        self.state().room = bytes;
    }

    /// Makes each sync take so much time.
    pub fn slow_down(&self, delay: Duration) {
        self.state().delay = delay;
    }

    /// Ends the process, if it has not ended yet, and begins the next one without the faults that were asked for.
    pub fn restart(&self, loss: Loss) {
        let mut state = self.state();
        if loss == Loss::Power {
            state.lose_power();
        }
        state.process += 1;
        (state.has_ended, state.is_locked) = (false, false);
        (state.end_at, state.failing_sync, state.room) = (None, None, None);
        state.delay = Duration::ZERO;
    }

    /// The bytes of all files, by name.
    pub fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.state();
        let files = state.names.iter();
        files.map(|(name, &file)| (name.clone(), state.files[file].seen.clone())).collect()
    }

    /// Replaces a file, durably.
    pub fn put(&self, name: &str, bytes: Vec<u8>) {
        let mut state = self.state();
        let file = state.files.len();
        state.files.push(Contents { durable: bytes.len(), seen: bytes, has_failed: false });
        state.names.insert(name.to_owned(), file);
        state.durable_names.insert(name.to_owned(), file);
    }

    /// Removes a file, durably.
    pub fn take(&self, name: &str) {
        let mut state = self.state();
        state.names.remove(name);
        state.durable_names.remove(name);
    }

    /// Flips a bit of a file; a bit behind its end stays.
    pub fn flip(&self, name: &str, bit: usize) {
        self.change(name, |bytes| {
            if let Some(byte) = bytes.get_mut(bit / 8) {
                *byte ^= 1 << (bit % 8);
            }
        });
    }

    /// Sets bytes of a file to zero, those behind its end left out.
    pub fn zero(&self, name: &str, range: Range<usize>) {
        self.change(name, |bytes| {
            let end = range.end.min(bytes.len());
            bytes[range.start.min(end)..end].fill(0);
        });
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.contents().remove(name).unwrap_or_default();
        change(&mut bytes);
        self.put(name, bytes);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A test that panics has its message already.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts an operation. `true` = the process ends in it.
    fn begin(&mut self, process: u64) -> io::Result<bool> {
        self.check(process)?;
        let ends = self.end_at == Some(self.operations);
        self.operations += 1;
        self.has_ended |= ends;
        Ok(ends)
    }

    /// Fails if the process has ended.
    fn check(&self, process: u64) -> io::Result<()> {
        if self.has_ended || process != self.process { Err(ended()) } else { Ok(()) }
    }

    /// An operation that is done or not if the process ends in it.
    fn whole(
        &mut self,
        process: u64,
        work: impl FnOnce(&mut State) -> io::Result<()>,
    ) -> io::Result<()> {
        let ends = self.begin(process)?;
        if ends && self.random.random() {
            return Err(ended());
        }
        let done = work(self);
        if ends { Err(ended()) } else { done }
    }

    fn find(&self, name: &str) -> io::Result<usize> {
        self.names.get(name).copied().ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn append(&mut self, process: u64, file: usize, bytes: &[u8]) -> io::Result<()> {
        let ends = self.begin(process)?;
        let room = self.room.unwrap_or(usize::MAX).min(bytes.len());
        let count = if ends { self.random.random_range(0..=room) } else { room };
        self.room = self.room.map(|room| room - count);
        self.files[file].seen.extend(&bytes[..count]);
        match (ends, count < bytes.len()) {
            (true, _) => Err(ended()),
            (false, true) => Err(ErrorKind::StorageFull.into()),
            (false, false) => Ok(()),
        }
    }

    fn sync(&mut self, process: u64, file: usize) -> io::Result<()> {
        let fails = self.failing_sync == Some(0);
        self.failing_sync = self.failing_sync.and_then(|syncs| syncs.checked_sub(1));
        self.whole(process, |state| {
            state.files[file].has_failed |= fails;
            if fails {
                return Err(io::Error::other("the disk has failed"));
            }
            state.files[file].sync();
            Ok(())
        })
    }

    fn lose_power(&mut self) {
        for change in std::mem::take(&mut self.changes) {
            if self.random.random() {
                change.apply(&mut self.durable_names);
            }
        }
        self.names = self.durable_names.clone();
        for contents in &mut self.files {
            contents.lose_power(&mut self.random);
        }
    }
}

impl Contents {
    fn sync(&mut self) {
        if !self.has_failed {
            self.durable = self.seen.len();
        }
    }

    /// Loses bytes that are not durable.
    fn lose_power(&mut self, random: &mut ChaCha8Rng) {
        let end = random.random_range(self.durable..=self.seen.len());
        self.seen.truncate(end);
        match random.random_range(0..3) {
            0 => self.seen.truncate(self.durable),
            1 => {}
            _ => {
                let sectors = self.durable / SECTOR..end.div_ceil(SECTOR);
                for sector in sectors.filter(|_| random.random()).collect::<Vec<usize>>() {
                    let from = (sector * SECTOR).max(self.durable);
                    self.seen[from..((sector + 1) * SECTOR).min(end)].fill(0);
                }
            }
        }
        (self.durable, self.has_failed) = (self.seen.len(), false);
    }
}

impl Change {
    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            Change::Set(name, file) => {
                names.insert(name.clone(), *file);
            }
            Change::Rename(from, to, file) => {
                names.remove(from);
                names.insert(to.clone(), *file);
            }
            Change::Remove(name) => {
                names.remove(name);
            }
        }
    }
}

/// The storage of one process. A test makes it anew after each restart.
#[derive(Clone, Debug)]
pub struct DiskFolder {
    disk: Disk,
    process: u64,
}

impl Disk {
    /// The folder, for the present process.
    pub fn folder(&self) -> DiskFolder {
        DiskFolder { disk: self.clone(), process: self.state().process }
    }
}

impl DiskFolder {
    fn change(&self, change: impl FnOnce(&State) -> io::Result<Change>) -> io::Result<()> {
        self.disk.state().whole(self.process, |state| {
            let change = change(state)?;
            change.apply(&mut state.names);
            state.changes.push(change);
            Ok(())
        })
    }
}

impl Storage for DiskFolder {
    type File = DiskFile;
    type Lock = DiskLock;

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from("disk").join(name)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let state = self.disk.state();
        state.check(self.process)?;
        Ok(state.names.keys().cloned().collect())
    }

    fn create(&self, name: &str) -> io::Result<DiskFile> {
        let mut state = self.disk.state();
        let file = state.files.len();
        state.files.push(Contents::default());
        drop(state);
        self.change(|_| Ok(Change::Set(name.to_owned(), file)))?;
        Ok(DiskFile { folder: self.clone(), file })
    }

    fn open(&self, name: &str) -> io::Result<DiskFile> {
        let state = self.disk.state();
        state.check(self.process)?;
        Ok(DiskFile { folder: self.clone(), file: state.find(name)? })
    }

    fn settle(&self, name: &str) -> io::Result<()> {
        self.disk.state().whole(self.process, |state| {
            let file = state.find(name)?;
            let State { files, random, .. } = state;
            match files[file].has_failed {
                true => files[file].lose_power(random),
                false => files[file].sync(),
            }
            Ok(())
        })
    }

    fn cut(&self, name: &str, length: u64) -> io::Result<()> {
        self.disk.state().whole(self.process, |state| {
            let file = state.find(name)?;
            let contents = &mut state.files[file];
            contents.seen.truncate(length as usize);
            contents.durable = contents.seen.len();
            Ok(())
        })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.change(|state| Ok(Change::Rename(from.to_owned(), to.to_owned(), state.find(from)?)))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.change(|state| state.find(name).map(|_| Change::Remove(name.to_owned())))
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.disk.state().whole(self.process, |state| {
            state.changes.clear();
            state.durable_names = state.names.clone();
            Ok(())
        })
    }

    fn lock(&self, _name: &str) -> io::Result<Option<DiskLock>> {
        let mut state = self.disk.state();
        state.check(self.process)?;
        let is_free = !std::mem::replace(&mut state.is_locked, true);
        Ok(is_free.then(|| DiskLock(self.clone())))
    }

    fn salt(&self) -> u64 {
        self.disk.state().random.random()
    }
}

/// A file of a [`Disk`].
#[derive(Clone, Debug)]
pub struct DiskFile {
    folder: DiskFolder,
    file: usize,
}

impl StoredFile for DiskFile {
    fn length(&self) -> io::Result<u64> {
        let state = self.folder.disk.state();
        state.check(self.folder.process)?;
        Ok(state.files[self.file].seen.len() as u64)
    }

    fn read(&self, offset: u64, room: &mut [u8]) -> io::Result<usize> {
        let state = self.folder.disk.state();
        state.check(self.folder.process)?;
        let seen = &state.files[self.file].seen;
        let rest = &seen[seen.len().min(offset as usize)..];
        let count = rest.len().min(room.len());
        room[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.folder.disk.state().append(self.folder.process, self.file, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.folder.disk.state();
        std::thread::sleep(state.delay);
        state.sync(self.folder.process, self.file)
    }
}

/// The right to write to a [`Disk`].
#[derive(Debug)]
pub struct DiskLock(DiskFolder);

impl Drop for DiskLock {
    fn drop(&mut self) {
        let mut state = self.0.disk.state();
        if state.process == self.0.process {
            state.is_locked = false;
        }
    }
}

/// Renews the check sums of a file, so that its other fields can be damaged on purpose. A file without a head stays.
pub fn seal(bytes: &mut [u8]) {
    let content = if bytes.starts_with(b"haggle-s") { Content::Snapshot } else { Content::Segment };
    let Some(&[low, high]) = bytes.get(10..12).and_then(<[u8]>::first_chunk) else { return };
    let size = FILE_HEAD + usize::from(u16::from_le_bytes([low, high]));
    let Some((head, rest)) = bytes.split_at_mut_checked(size) else { return };
    let Some(sum) = rest.first_chunk_mut() else { return };
    *sum = crc32c::crc32c(head).to_le_bytes();
    let Some((head, size)) = FileHead::from_bytes(content, bytes) else { return };
    let mut at = size;
    while let Some(&record) = bytes[at..].first_chunk::<RECORD_HEAD>() {
        let fields = RecordHead::unchecked(&record);
        let end = (at + RECORD_HEAD).saturating_add(fields.length as usize).min(bytes.len());
        let sum = crc32c::crc32c(&bytes[at + RECORD_HEAD..end]);
        bytes[at..at + RECORD_HEAD]
            .copy_from_slice(&RecordHead { sum, ..fields }.to_bytes(head.salt));
        at = end;
    }
}

fn ended() -> io::Error {
    io::Error::other("the process has ended")
}
