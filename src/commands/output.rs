//! Files that appear under their name only once they are complete.
//!
//! Data are written to a hidden file beside the target, which is renamed at the end. After an
//! interrupt, or on a full disk, either the old file exists or none.

mod zst;

use std::fs::{self, File};
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};
use std::process;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::Error;
use crate::experiment::leftovers;
use crate::interrupt;

/// Target of data: a file, packed by its extension, or standard output for `-`.
pub(crate) struct Output {
    packer: Option<Packer>,
    path: PathBuf,
    /// The hidden file and its final name; `None` if bytes go directly to the target.
    rename: Option<(PathBuf, PathBuf)>,
    force: bool,
}

enum Packer {
    Plain(BufWriter<Sink>),
    Gzip(GzEncoder<BufWriter<Sink>>),
    Zstd(zst::Packer<BufWriter<Sink>>),
}

enum Sink {
    File(File),
    Stdout(Stdout),
}

/// Checks that data may go to `path`, before any input is read.
pub(crate) fn check_free(path: &Path, force: bool) -> Result<(), Error> {
    match fs::metadata(path) {
        // First: a file called `-` does not matter.
        _ if path == Path::new("-") => Ok(()),
        Ok(found) if found.is_file() && !force => Err(Error::Exists(path.to_owned())),
        Ok(found) if found.is_dir() => Err(failed(path, io::ErrorKind::IsADirectory.into())),
        _ => Ok(()),
    }
}

/// The error for writing to `path`.
pub(crate) fn failed(path: &Path, error: io::Error) -> Error {
    if path == Path::new("-") {
        Error::Output(error)
    } else {
        Error::Write { path: path.to_owned(), error }
    }
}

impl Output {
    /// Opens the output. No file is visible under `path` before [`Output::finish`].
    pub(crate) fn create(path: &Path, force: bool) -> Result<Output, Error> {
        check_free(path, force)?;
        let (sink, rename) = if path == Path::new("-") {
            (Sink::Stdout(io::stdout()), None)
        } else {
            open(path).map_err(|error| failed(path, error))?
        };
        let buffer = BufWriter::with_capacity(128 * 1024, sink);
        let packer = match path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Packer::Gzip(GzEncoder::new(buffer, Compression::default())),
            Some("zst") => Packer::Zstd(zst::Packer::new(buffer)),
            _ => Packer::Plain(buffer),
        };
        Ok(Output { packer: Some(packer), path: path.to_owned(), rename, force })
    }

    /// Completes the data and gives the file its name.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        self.complete().map_err(|error| failed(&self.path, error))?;
        if let Some((hidden, end)) = &self.rename {
            // Another command may have created the file meanwhile.
            check_free(&self.path, self.force)?;
            fs::rename(hidden, end).map_err(|error| failed(&self.path, error))?;
            // The file has its name now, so that dropping removes nothing.
            self.rename = None;
        }
        Ok(())
    }

    fn complete(&mut self) -> io::Result<()> {
        // Taken, because packers are consumed by their end.
        let mut buffer = match self.packer.take() {
            None => return Ok(()),
            Some(Packer::Plain(buffer)) => buffer,
            Some(Packer::Gzip(packer)) => packer.finish()?,
            Some(Packer::Zstd(packer)) => packer.finish()?,
        };
        buffer.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((hidden, _)) = &self.rename {
            // The file is closed before it is removed, which some systems require.
            self.packer = None;
            // The hidden file is useless now, and no caller could handle an error.
            let _ = fs::remove_file(hidden);
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.packer {
            // Nothing is written after `finish`, which consumes the output.
            None => Ok(bytes.len()),
            Some(Packer::Plain(buffer)) => buffer.write(bytes),
            Some(Packer::Gzip(packer)) => packer.write(bytes),
            Some(Packer::Zstd(packer)) => packer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // Only `finish` flushes: earlier flushes make packers less efficient.
        Ok(())
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::File(file) => file.write(bytes),
            Sink::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::File(file) => file.flush(),
            Sink::Stdout(stdout) => stdout.flush(),
        }
    }
}

/// True if `hidden` is a name that a command gives to an incomplete file.
fn is_hidden_of(name: &str, hidden: &str) -> bool {
    let number = hidden.strip_prefix('.').and_then(|it| it.strip_prefix(name)?.strip_prefix('.'));
    let number = number.and_then(|it| it.strip_suffix(".partial"));
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|c| c.is_ascii_digit()))
}

/// A file to write to, and its final renaming.
fn open(path: &Path) -> io::Result<(Sink, Option<(PathBuf, PathBuf)>)> {
    let end = match fs::metadata(path) {
        // A link is followed, and its target is replaced.
        Ok(found) if found.is_file() => fs::canonicalize(path)?,
        // A device or a pipe cannot be replaced, only written.
        Ok(_) => return Ok((Sink::File(File::options().write(true).open(path)?), None)),
        Err(_) => path.to_owned(),
    };
    let Some(name) = end.file_name() else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    let mut hidden_name = std::ffi::OsString::from(".");
    hidden_name.push(name);
    // The process number keeps two commands from sharing a file.
    hidden_name.push(format!(".{}.partial", process::id()));
    let hidden = end.with_file_name(hidden_name);
    // The parent of a bare name is the empty path.
    let folder = end.parent().filter(|folder| !folder.as_os_str().is_empty());
    // Only files of this name, because other commands may write beside it.
    leftovers::clear(folder.unwrap_or(Path::new(".")), |it| {
        is_hidden_of(&name.to_string_lossy(), it)
    });
    // Before the file exists, so that no signal finds it unknown.
    interrupt::hide(&hidden);
    loop {
        let file = File::create(&hidden)?;
        // Another command may have cleared the file between its creation and the lock.
        if leftovers::hold(&file, &hidden)? {
            return Ok((Sink::File(file), Some((hidden, end))));
        }
    }
}
