//! Text files line by line, plain or packed with gzip or zstd, in UTF-8 or UTF-16: the common part of
//! the readers of all formats.

mod gzip;
mod piped;
mod utf16;
mod zstd;

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, IsTerminal, Read};
use std::path::Path;

use memchr::memchr;

use gzip::Members;
use piped::Piped;
use utf16::Utf16;
use zstd::Frames;

pub use piped::{gave_up, give_up};

/// Longest line that is read, bytes. No real line comes near it. Without this bound, a binary file
/// would be read into memory as one line.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// If no line feed comes within this many bytes, the file is no text.
const NO_TEXT_BYTES: usize = 64 * 1024 * 1024;

/// Large enough that the cost of a call over the boxed input disappears.
const BUFFER_BYTES: usize = 128 * 1024;

/// Reason why the lines of a file cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// It could not be opened.
    Open(io::Error),
    /// It could not be read on, or its compressed data are damaged.
    Read(io::Error),
    /// It is compressed in a format that is not supported.
    Compression(&'static str),
}

impl Unreadable {
    /// The error of the system, if it is one.
    pub fn cause(&self) -> Option<&io::Error> {
        match self {
            Unreadable::Open(error) | Unreadable::Read(error) => Some(error),
            Unreadable::Compression(_) => None,
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Open(error) => write!(f, "cannot open the log: {error}"),
            Unreadable::Read(error) => write!(f, "cannot read on: {error}"),
            Unreadable::Compression(kind) => write!(
                f,
                "compressed with {kind}; only gzip and zstd are read, so decompress it first"
            ),
        }
    }
}

/// Adds to `out` what is packed with zstd in `packed`. More than `most` bytes are an error.
pub(crate) fn append_zstd(packed: &[u8], most: u64, out: &mut Vec<u8>) -> io::Result<()> {
    let found = Frames::new(packed).take(most.saturating_add(1)).read_to_end(out)?;
    match found as u64 > most {
        true => Err(io::Error::other("packed data are longer than announced")),
        false => Ok(()),
    }
}

/// The plain text of the file at `path`, or of standard input for `-`.
///
/// The first bytes determine the compression. The name is not used, because users rename files, and standard
/// input has no name.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>, Unreadable> {
    decompressed(open_raw(path).map_err(Unreadable::Open)?)
}

/// The bytes of the file at `path` as they are, or of standard input for `-`. Pipes are read until
/// [`give_up`] is called; folders and devices are refused, except terminals.
pub fn open_raw(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(Piped::new(|| Ok(io::stdin()))?));
    }
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() {
        return Ok(Box::new(File::open(path)?));
    }
    // Some systems open folders and fail only when these are read.
    if kind.is_dir() {
        return Err(io::Error::other("it is a folder, and not a file"));
    }
    if is_device(kind) && !File::open(path)?.is_terminal() {
        return Err(io::Error::other("it is a device, and not a file"));
    }
    let path = path.to_owned();
    // The call that opens a pipe waits for a writer.
    Ok(Box::new(Piped::new(move || File::open(path))?))
}

#[cfg(unix)]
fn is_device(kind: fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: fs::FileType) -> bool {
    false
}

/// Name of the file at `path` in messages.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// The plain text of `input` in any supported packing, converted from UTF-16 to UTF-8 if need be.
pub fn decompressed<'a>(
    mut input: impl Read + Send + 'a,
) -> Result<Box<dyn BufRead + Send + 'a>, Unreadable> {
    let start = start(&mut input, 6).map_err(Unreadable::Read)?;
    let packing = packing(&start);
    // The bytes that determined the packing are part of the text.
    let whole = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(start).chain(input));
    let plain = match packing {
        Packing::Plain => in_utf8(whole),
        Packing::Gzip => in_utf8(BufReader::with_capacity(BUFFER_BYTES, Members::new(whole))),
        Packing::Zstd => in_utf8(BufReader::with_capacity(BUFFER_BYTES, Frames::new(whole))),
        Packing::Unread(kind) => return Err(Unreadable::Compression(kind)),
    };
    plain.map_err(Unreadable::Read)
}

/// The first `count` bytes, or fewer if the input is shorter.
fn start(input: &mut impl Read, count: u64) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    input.by_ref().take(count).read_to_end(&mut start)?;
    Ok(start)
}

fn in_utf8<'a>(mut text: impl BufRead + Send + 'a) -> io::Result<Box<dyn BufRead + Send + 'a>> {
    let start = start(&mut text, 4)?;
    let order = utf16::byte_order(&start);
    let whole = Cursor::new(start).chain(text);
    Ok(match order {
        None => Box::new(whole),
        Some(order) => Box::new(BufReader::with_capacity(BUFFER_BYTES, Utf16::new(whole, order))),
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

/// Result of reading one line.
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
        // The rest of a long line is consumed all the same, so that the next line can be read.
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
    // A blank line has at least its line feed, so only the end has no bytes.
    Ok(match (bytes, too_long) {
        (0, _) => Found::End,
        (_, false) => Found::Line,
        (_, true) => Found::TooLong,
    })
}
