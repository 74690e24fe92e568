//! Reading one file, record by record, with memory for one record.

use std::io::{self, BufReader, Read};
use std::path::PathBuf;

use crate::error::{Damage, Error};
use crate::folder::trouble;
use crate::format::{Content, FileHead, RECORD_HEAD, RecordHead, VERSION};
use crate::storage::{Storage, StoredFile};

/// Bytes that are read at once.
const PIECE: usize = 1 << 16;

/// A segment or snapshot that is read.
#[derive(Debug)]
pub(crate) struct Segment<F> {
    pub(crate) path: PathBuf,
    pub(crate) head: FileHead,
    /// Place of the next record.
    pub(crate) offset: u64,
    /// Bytes of the file when it was opened. It may grow while it is read.
    pub(crate) length: u64,
    /// Number of the next record.
    pub(crate) next: u64,
    /// Payload of the last record.
    pub(crate) payload: Vec<u8>,
    content: Content,
    input: BufReader<Sequence<F>>,
}

/// The next thing in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A record of this kind.
    Record(u8),
    /// The end of the file, right behind a record.
    End,
    /// A record that is not as it was written. The file may end within a write.
    Broken(Damage),
}

impl<F: StoredFile> Segment<F> {
    /// Opens a file, and checks its head. With a key, it must be that of the file.
    pub(crate) fn open<S: Storage<File = F>>(
        storage: &S,
        content: Content,
        name: &str,
        number: u64,
        key: Option<&str>,
    ) -> Result<Segment<F>, Error> {
        let path = storage.path(name);
        let read = || {
            let file = storage.open(name)?;
            let length = file.length()?;
            let mut input = Sequence { file, offset: 0 };
            let mut bytes = Vec::with_capacity(FileHead::MAX);
            (&mut input).take(FileHead::MAX as u64).read_to_end(&mut bytes)?;
            Ok((length, input.file, bytes))
        };
        let (length, file, bytes) = read().map_err(trouble(storage, name, "read"))?;
        let damaged = |damage| Error::Damaged { path: path.clone(), offset: 0, number, damage };
        let head = FileHead::from_bytes(content, &bytes);
        let (head, size) = head.ok_or_else(|| damaged(Damage::FileHead))?;
        if head.version != VERSION {
            return Err(Error::Version { path, found: head.version });
        }
        if let Some(key) = key.filter(|&key| key != head.key) {
            return Err(Error::ForeignKey { path, found: head.key, key: key.to_owned() });
        }
        if head.number != number {
            return Err(damaged(Damage::FileNumber(head.number)));
        }
        let (offset, next, payload) = (size as u64, number, Vec::new());
        let input = BufReader::with_capacity(PIECE, Sequence { file, offset });
        Ok(Segment { path, head, offset, length, next, payload, content, input })
    }

    /// The next record; its payload is in [`Segment::payload`].
    pub(crate) fn read(&mut self) -> Result<Next, Error> {
        let rest = self.length.saturating_sub(self.offset);
        if rest == 0 {
            return Ok(Next::End);
        }
        let Some(room) = rest.checked_sub(RECORD_HEAD as u64) else {
            return Ok(Next::Broken(Damage::Short));
        };
        let mut bytes = [0; RECORD_HEAD];
        self.input.read_exact(&mut bytes).map_err(|error| self.trouble(error))?;
        let Some(head) = RecordHead::from_bytes(self.head.salt, &bytes) else {
            return Ok(Next::Broken(Damage::Head));
        };
        if head.number != self.next {
            return Err(self.damaged(Damage::Number(head.number)));
        }
        if head.length as usize > self.content.payload_max() {
            return Err(self.damaged(Damage::Length(head.length)));
        }
        if u64::from(head.length) > room {
            return Ok(Next::Broken(Damage::Short));
        }
        self.payload.resize(head.length as usize, 0);
        let read = self.input.read_exact(&mut self.payload);
        read.map_err(|error| self.trouble(error))?;
        if !head.fits(&self.payload) {
            return Ok(Next::Broken(Damage::Payload));
        }
        self.offset += RECORD_HEAD as u64 + u64::from(head.length);
        self.next = self.next.saturating_add(1);
        Ok(Next::Record(head.kind))
    }

    /// The bytes of the file, for a second look at them.
    pub(crate) fn file(&self) -> &F {
        &self.input.get_ref().file
    }

    pub(crate) fn damaged(&self, damage: Damage) -> Error {
        Error::Damaged { path: self.path.clone(), offset: self.offset, number: self.next, damage }
    }

    pub(crate) fn trouble(&self, error: io::Error) -> Error {
        Error::Storage { path: self.path.clone(), action: "read", error }
    }
}

/// Reads a file from its beginning.
#[derive(Debug)]
struct Sequence<F> {
    file: F,
    offset: u64,
}

impl<F: StoredFile> Read for Sequence<F> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(self.offset, room)?;
        self.offset += count as u64;
        Ok(count)
    }
}
