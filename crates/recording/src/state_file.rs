//! The file `state`: one line of JSON, the bytes of a snapshot, and a check sum of both.
//!
//! A snapshot may have hundreds of megabytes. It is therefore written in pieces while it is serialised.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use haggle_runtime::{Simulation, Snapshot};
use postcard::ser_flavors::Flavor;
use serde::Serialize;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Bytes of a piece.
const PIECE: usize = 1 << 20;

/// Bytes of the check sum.
const SUM: usize = size_of::<u64>();

/// Contents of a file that was read.
#[derive(Debug)]
pub struct StateFile {
    /// The first line, without its end.
    pub head: Vec<u8>,
    body: Vec<u8>,
}

impl StateFile {
    /// Writes a file with the state of a simulation, and returns the number of bytes of the snapshot. The file is
    /// durable afterwards.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(path: &Path, head: &[u8], simulation: &Simulation<'_>) -> io::Result<u64> {
        write(path, head, simulation)
    }

    /// Reads a file; `None` = it is not as it was written.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> io::Result<Option<StateFile>> {
        read(path)
    }

    /// The snapshot; `None` = it is one of another build.
    pub fn snapshot(&self) -> Option<Snapshot> {
        Snapshot::from_bytes(&self.body)
    }
}

fn write(path: &Path, head: &[u8], body: &impl Serialize) -> io::Result<u64> {
    let mut out = Pieces::new(File::create(path)?);
    out.add(head)?;
    out.add(b"\n")?;
    let before = out.count();
    let mut trouble = None;
    let flavor = Serialised { out: &mut out, trouble: &mut trouble };
    let serialised = postcard::serialize_with_flavor(body, flavor);
    match (trouble, serialised) {
        (Some(error), _) => return Err(error),
        (None, Err(error)) => return Err(io::Error::other(error)),
        (None, Ok(())) => {}
    }
    let bytes = out.count() - before;
    out.finish()?;
    Ok(bytes)
}

fn read(path: &Path) -> io::Result<Option<StateFile>> {
    let mut head = fs::read(path)?;
    let Some((rest, sum)) = head.split_last_chunk::<SUM>() else { return Ok(None) };
    if xxh3_64(rest) != u64::from_le_bytes(*sum) {
        return Ok(None);
    }
    head.truncate(head.len() - SUM);
    let Some(end) = head.iter().position(|&byte| byte == b'\n') else { return Ok(None) };
    let body = head.split_off(end + 1);
    head.pop();
    Ok(Some(StateFile { head, body }))
}

/// A file that is written in pieces, with the check sum of all bytes so far.
struct Pieces {
    file: File,
    piece: Vec<u8>,
    sum: Xxh3,
    written: u64,
}

impl Pieces {
    fn new(file: File) -> Pieces {
        Pieces { file, piece: Vec::with_capacity(PIECE), sum: Xxh3::new(), written: 0 }
    }

    fn count(&self) -> u64 {
        self.written + self.piece.len() as u64
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.piece.len() + bytes.len() > PIECE {
            self.flush()?;
        }
        // Longer bytes than a piece make one long piece.
        self.piece.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.piece)?;
        self.sum.update(&self.piece);
        self.written += self.piece.len() as u64;
        self.piece.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.file.write_all(&self.sum.digest().to_le_bytes())?;
        self.file.sync_all()
    }
}

/// Takes bytes from the serialiser, whose own errors have no cause.
struct Serialised<'f> {
    out: &'f mut Pieces,
    trouble: &'f mut Option<io::Error>,
}

impl Flavor for Serialised<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.try_extend(&[byte])
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.out.add(bytes).map_err(|error| {
            *self.trouble = Some(error);
            postcard::Error::SerializeBufferFull
        })
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written_and_every_other_one_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state");
        let body = Vec::from_iter(0..700_000_u64);
        let bytes = write(&path, b"{}", &body).expect("written");
        let StateFile { head, body: read_back } = read(&path).expect("read").expect("whole");
        assert_eq!((head.as_slice(), read_back.len() as u64), (&b"{}"[..], bytes));
        assert_eq!(postcard::from_bytes::<Vec<u64>>(&read_back), Ok(body));
        let whole = fs::read(&path).expect("read");
        for place in [0, 2, 3, whole.len() / 2, whole.len() - 1] {
            let mut other = whole.clone();
            other[place] ^= 1;
            fs::write(&path, &other).expect("written");
            assert!(read(&path).expect("read").is_none(), "byte {place}");
            fs::write(&path, &whole[..place]).expect("written");
            assert!(read(&path).expect("read").is_none(), "cut at {place}");
        }
    }
}
