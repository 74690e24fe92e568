//! Bytes of the files. A segment is a head of the file and records; a snapshot is the same with one record.
//!
//! Numbers are little endian. The check sum of the head of a record begins with the salt of its file. Bytes that a
//! stranger puts into a payload can therefore not look like a record.

use crc32c::{crc32c, crc32c_append};

/// Most bytes of the payload of a record.
pub const RECORD_MAX: usize = 64 << 20;

/// Most bytes of a snapshot.
pub const SNAPSHOT_MAX: usize = u32::MAX as usize;

/// Most bytes of a key.
pub const KEY_MAX: usize = 255;

/// The format that this version writes and reads.
pub(crate) const VERSION: u16 = 1;

/// Bytes of the head of a record.
pub(crate) const RECORD_HEAD: usize = 25;

/// Bytes of the head of a file up to its key.
pub(crate) const FILE_HEAD: usize = 32;

/// Bytes of a check sum.
const SUM: usize = 4;

/// Kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Segment,
    Snapshot,
}

impl Content {
    fn magic(self) -> &'static [u8; 8] {
        match self {
            Content::Segment => b"haggle-j",
            Content::Snapshot => b"haggle-s",
        }
    }

    /// Most bytes of the payload of a record in such a file.
    pub(crate) fn payload_max(self) -> usize {
        match self {
            Content::Segment => RECORD_MAX,
            Content::Snapshot => SNAPSHOT_MAX,
        }
    }
}

/// The head of a file. All versions of the format have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileHead {
    pub(crate) version: u16,
    /// Of the process that wrote the file.
    pub(crate) incarnation: u32,
    /// Number of the first record.
    pub(crate) number: u64,
    /// Begins the check sums of the heads of records.
    pub(crate) salt: u64,
    /// Of the owner.
    pub(crate) key: String,
}

impl FileHead {
    /// Most bytes of a head.
    pub(crate) const MAX: usize = FILE_HEAD + KEY_MAX + SUM;

    pub(crate) fn to_bytes(&self, content: Content) -> Vec<u8> {
        let length = u16::try_from(self.key.len()).expect("a key has at most 255 bytes");
        let mut bytes = Vec::with_capacity(FileHead::MAX);
        bytes.extend(content.magic());
        bytes.extend(self.version.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(self.incarnation.to_le_bytes());
        bytes.extend(self.number.to_le_bytes());
        bytes.extend(self.salt.to_le_bytes());
        bytes.extend(self.key.as_bytes());
        bytes.extend(crc32c(&bytes).to_le_bytes());
        bytes
    }

    /// The head at the beginning of `bytes`, and its size; `None` = it is damaged.
    pub(crate) fn from_bytes(content: Content, bytes: &[u8]) -> Option<(FileHead, usize)> {
        let (magic, rest) = bytes.split_first_chunk()?;
        let (version, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (incarnation, rest) = rest.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let (salt, rest) = rest.split_first_chunk()?;
        let (key, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        let sum = rest.first_chunk::<SUM>()?;
        let size = FILE_HEAD + key.len();
        if magic != content.magic() || crc32c(&bytes[..size]) != u32::from_le_bytes(*sum) {
            return None;
        }
        let head = FileHead {
            version: u16::from_le_bytes(*version),
            incarnation: u32::from_le_bytes(*incarnation),
            number: u64::from_le_bytes(*number),
            salt: u64::from_le_bytes(*salt),
            key: String::from_utf8(key.to_vec()).ok()?,
        };
        Some((head, size + SUM))
    }
}

/// The head of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordHead {
    pub(crate) number: u64,
    /// Records right before this one that were not durable when it was appended.
    pub(crate) unsynced: u32,
    /// Bytes of the payload.
    pub(crate) length: u32,
    pub(crate) kind: u8,
    /// Check sum of the payload.
    pub(crate) sum: u32,
}

impl RecordHead {
    pub(crate) fn of(number: u64, unsynced: u32, kind: u8, payload: &[u8]) -> RecordHead {
        let length = u32::try_from(payload.len()).expect("a payload has at most 4 GiB");
        RecordHead { number, unsynced, length, kind, sum: crc32c(payload) }
    }

    pub(crate) fn to_bytes(self, salt: u64) -> [u8; RECORD_HEAD] {
        let mut bytes = [0; RECORD_HEAD];
        bytes[4..8].copy_from_slice(&self.sum.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.number.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.unsynced.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.length.to_le_bytes());
        bytes[24] = self.kind;
        let sum = head_sum(salt, &bytes);
        bytes[..SUM].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// `None` = it is damaged.
    pub(crate) fn from_bytes(salt: u64, bytes: &[u8; RECORD_HEAD]) -> Option<RecordHead> {
        let (sum, _) = bytes.split_first_chunk()?;
        (head_sum(salt, bytes) == u32::from_le_bytes(*sum)).then(|| RecordHead::unchecked(bytes))
    }

    /// The fields, though their check sum may not fit.
    pub(crate) fn unchecked(bytes: &[u8; RECORD_HEAD]) -> RecordHead {
        RecordHead {
            sum: u32::from_le_bytes(part(bytes, 4)),
            number: u64::from_le_bytes(part(bytes, 8)),
            unsynced: u32::from_le_bytes(part(bytes, 16)),
            length: u32::from_le_bytes(part(bytes, 20)),
            kind: bytes[24],
        }
    }

    /// `true` = the payload is the one that was written.
    pub(crate) fn fits(&self, payload: &[u8]) -> bool {
        crc32c(payload) == self.sum
    }
}

fn head_sum(salt: u64, bytes: &[u8; RECORD_HEAD]) -> u32 {
    crc32c_append(crc32c(&salt.to_le_bytes()), &bytes[SUM..])
}

fn part<const SIZE: usize>(bytes: &[u8; RECORD_HEAD], at: usize) -> [u8; SIZE] {
    std::array::from_fn(|it| bytes[at + it])
}
