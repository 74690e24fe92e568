//! Reading and writing of files, of which some are private.

use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::error::KeyError;

/// Most bytes of a file; a device may have no end.
const BYTES_MAX: u64 = 16 << 20;

/// Fate of keys that exist already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// They stay, and nothing is made in their place.
    Keep,
    /// New ones take their place.
    Replace,
}

/// Readers of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readers {
    /// Its owner alone.
    Owner,
    /// All users of the machine.
    All,
}

/// The text of a file that all may read.
pub(super) fn read(path: &Path) -> Result<String, KeyError> {
    let text = File::open(path).and_then(text);
    text.map_err(|error| KeyError::Read { path: path.to_owned(), error })
}

/// The text of a file that only its owner can read.
pub(super) fn read_private(path: &Path) -> Result<String, KeyError> {
    let failed = |error| KeyError::Read { path: path.to_owned(), error };
    let file = File::open(path).map_err(failed)?;
    // Of the open file, because another one may take its place meanwhile.
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyError::Exposed { path: path.to_owned(), mode });
    }
    text(file).map_err(failed)
}

fn text(file: File) -> io::Result<String> {
    let mut text = String::new();
    // One byte above the limit shows that the file is longer.
    file.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    match text.len() as u64 > BYTES_MAX {
        true => Err(io::Error::other(format!("it is longer than {} MiB", BYTES_MAX >> 20))),
        false => Ok(text),
    }
}

/// Writes a file as a whole: a reader sees the old text or the new one. The disk has it afterwards.
pub(super) fn write(
    path: &Path,
    text: &str,
    readers: Readers,
    existing: Existing,
) -> Result<(), KeyError> {
    let failed = |error| KeyError::Write { path: path.to_owned(), error };
    let mode = match readers {
        Readers::Owner => 0o600,
        Readers::All => 0o644,
    };
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder.unwrap_or(Path::new(".")))
        .map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    let kept = match existing {
        Existing::Keep => file.persist_noclobber(path),
        Existing::Replace => file.persist(path),
    };
    match kept {
        Ok(_) => Ok(()),
        Err(it) if it.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(KeyError::Exists(path.to_owned()))
        }
        Err(it) => Err(failed(it.error)),
    }
}

/// Makes a folder, if it is not there. A link in its place is refused, because it may lead elsewhere.
pub(super) fn folder(path: &Path) -> Result<(), KeyError> {
    let failed = |error| KeyError::Write { path: path.to_owned(), error };
    match std::fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let found = path.symlink_metadata().map_err(failed)?;
            found.is_dir().then_some(()).ok_or_else(|| KeyError::NoFolder(path.to_owned()))
        }
        made => made.map_err(failed),
    }
}

/// True if something has this path, also a link that leads nowhere.
pub(super) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
