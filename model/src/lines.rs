//! Text files line by line, plain or packed with gzip or zstd: what the readers
//! of all formats share.

mod zstd;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use memchr::memchr;

use zstd::Frames;

/// Longest line that is read, bytes: no real line comes near it, and without a
/// bound a binary file would be read into memory as one line.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// Bytes without a line feed after which nothing of what is read can be a text.
const NO_TEXT_BYTES: usize = 64 * 1024 * 1024;

/// Large enough that the cost of a call over the boxed input disappears.
const BUFFER_BYTES: usize = 128 * 1024;

/// Why a file has no lines.
#[derive(Debug)]
pub enum Unreadable {
    /// It could not be opened.
    Open(io::Error),
    /// It could not be read on, or its compressed data are damaged.
    Read(io::Error),
    /// It is compressed in a way that is not read here.
    Compression(&'static str),
}

/// The plain text of the file at `path`, or of standard input for `-`.
///
/// Compression is told from the first bytes, not from the name, because names
/// are changed by hand and standard input has none.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>, Unreadable> {
    if path == Path::new("-") {
        return decompressed(io::stdin());
    }
    // Some systems open folders and only fail to read them.
    if path.is_dir() {
        return Err(Unreadable::Open(io::Error::other("it is a folder, and not a file")));
    }
    decompressed(File::open(path).map_err(Unreadable::Open)?)
}

/// The file at `path` as messages name it.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// The plain text of `input`, whatever it is packed in.
pub fn decompressed<'a>(
    mut input: impl Read + Send + 'a,
) -> Result<Box<dyn BufRead + Send + 'a>, Unreadable> {
    let mut start = Vec::with_capacity(6);
    (&mut input).take(6).read_to_end(&mut start).map_err(Unreadable::Read)?;
    let packing = packing(&start);
    let whole = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(start).chain(input));
    Ok(match packing {
        Packing::Plain => Box::new(whole),
        Packing::Gzip => {
            let plain = MultiGzDecoder::new(whole);
            Box::new(BufReader::with_capacity(BUFFER_BYTES, plain))
        }
        Packing::Zstd => {
            let plain = Frames::new(whole);
            Box::new(BufReader::with_capacity(BUFFER_BYTES, plain))
        }
        Packing::Unread(kind) => return Err(Unreadable::Compression(kind)),
    })
}

enum Packing {
    Plain,
    Gzip,
    Zstd,
    Unread(&'static str),
}

fn packing(start: &[u8]) -> Packing {
    match start {
        [0x1f, 0x8b, ..] => Packing::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
        [0xfd, b'7', b'z', b'X', b'Z', ..] => Packing::Unread("xz"),
        [b'B', b'Z', b'h', ..] => Packing::Unread("bzip2"),
        [b'P', b'K', 3, 4, ..] => Packing::Unread("zip"),
        _ => Packing::Plain,
    }
}

/// What there was to read.
#[derive(PartialEq, Eq)]
pub(crate) enum Found {
    End,
    Line,
    TooLong,
}

/// Reads up to the next line feed, which is left out, into `line`.
pub(crate) fn fill_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Found> {
    line.clear();
    let mut too_long = false;
    let mut bytes = 0;
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            break;
        }
        let end = memchr(b'\n', available);
        let part = &available[..end.unwrap_or(available.len())];
        too_long |= line.len() + part.len() > LINE_BYTES_MAX;
        if !too_long {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        bytes += used;
        if end.is_some() {
            break;
        }
        if bytes > NO_TEXT_BYTES {
            let message = format!("no line ends within {NO_TEXT_BYTES} bytes, so it is no text");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
    }
    Ok(match (bytes, too_long) {
        (0, _) => Found::End,
        (_, false) => Found::Line,
        (_, true) => Found::TooLong,
    })
}
