//! The end of the last segment: a write that a crash has torn, or damage.
//!
//! A disk writes whole sectors, in any order, and a file may have its new length before its new bytes. A torn write
//! therefore leaves a file that ends within a record, or a record with a sector of zeros. Any other broken record is
//! damage.
//!
//! Records behind the broken one tell more. Each states how many records before it were not durable when it was
//! appended. If the broken one was durable by then, a crash cannot have torn it.

use std::io;
use std::path::PathBuf;

use crate::error::{Damage, Error};
use crate::format::{RECORD_HEAD, RecordHead};
use crate::segment::Segment;
use crate::storage::StoredFile;

/// Bytes that a disk writes together.
const SECTOR: u64 = 512;

/// Bytes that are looked through at once.
const PIECE: usize = 1 << 16;

/// The end of the last segment that a crash has torn. It was never synced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The segment.
    pub path: PathBuf,
    /// Bytes of the segment that are whole.
    pub offset: u64,
    /// Bytes behind them.
    pub bytes: u64,
    /// Number of the first record that is lost.
    pub number: u64,
}

/// Takes the broken end of the last segment as a torn write, or refuses it as damage.
pub(crate) fn judge<F: StoredFile>(segment: &Segment<F>, damage: Damage) -> Result<Cut, Error> {
    let Segment { offset, length, next, .. } = *segment;
    let is_torn =
        || Ok(damage == Damage::Short || has_empty_sector(segment.file(), offset, end(segment)?)?);
    if !is_torn().map_err(|error| segment.trouble(error))? {
        return Err(segment.damaged(damage));
    }
    if let Some(later) = written_later(segment).map_err(|error| segment.trouble(error))? {
        return Err(segment.damaged(Damage::Before(later)));
    }
    Ok(Cut { path: segment.path.clone(), offset, bytes: length - offset, number: next })
}

/// The end of the broken record; that of the file, if its length is unknown.
fn end<F: StoredFile>(segment: &Segment<F>) -> io::Result<u64> {
    let mut bytes = [0; RECORD_HEAD];
    let read = fill(segment.file(), segment.offset, &mut bytes)?;
    let head = (read == RECORD_HEAD).then(|| RecordHead::from_bytes(segment.head.salt, &bytes));
    let end = |head: RecordHead| segment.offset + RECORD_HEAD as u64 + u64::from(head.length);
    Ok(head.flatten().map_or(segment.length, end))
}

/// `true` = a sector has only zeros between two places of the file.
fn has_empty_sector<F: StoredFile>(file: &F, from: u64, to: u64) -> io::Result<bool> {
    let mut sector = [0; SECTOR as usize];
    let mut at = from;
    while at < to {
        let behind = (at / SECTOR + 1) * SECTOR;
        let part = &mut sector[..(behind.min(to) - at) as usize];
        fill(file, at, part)?;
        if part.iter().all(|&byte| byte == 0) {
            return Ok(true);
        }
        at = behind;
    }
    Ok(false)
}

/// Number of a record behind the broken one that was appended when the broken one was durable.
fn written_later<F: StoredFile>(segment: &Segment<F>) -> io::Result<Option<u64>> {
    let broken = segment.next;
    let most = (segment.length - segment.offset) / RECORD_HEAD as u64;
    let mut piece = vec![0; PIECE];
    let mut at = segment.offset + 1;
    loop {
        let room = piece.len().min(segment.length.saturating_sub(at) as usize);
        let count = fill(segment.file(), at, &mut piece[..room])?;
        if count < RECORD_HEAD {
            return Ok(None);
        }
        for bytes in piece[..count].windows(RECORD_HEAD).filter_map(<[u8]>::first_chunk) {
            let number = RecordHead::unchecked(bytes).number;
            // Few places are left for the check sum, which takes longer.
            if number <= broken || number - broken > most {
                continue;
            }
            let Some(head) = RecordHead::from_bytes(segment.head.salt, bytes) else { continue };
            if number.saturating_sub(u64::from(head.unsynced)) > broken {
                return Ok(Some(number));
            }
        }
        at += (count - RECORD_HEAD + 1) as u64;
    }
}

/// Reads until the room is full or the file ends; returns the bytes that were read.
fn fill<F: StoredFile>(file: &F, at: u64, room: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < room.len() {
        match file.read(at + count as u64, &mut room[count..])? {
            0 => break,
            more => count += more,
        }
    }
    Ok(count)
}
