//! Opens files of results. A pipe or a device is refused: reading it would block, or never end.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::ResultsError;

/// Opens a regular file, or a link to one.
pub(crate) fn open(path: &Path) -> Result<File, ResultsError> {
    let trouble = |error| ResultsError::read(path, error);
    if !fs::metadata(path).map_err(trouble)?.is_file() {
        return Err(ResultsError::damaged(path, "it is no regular file"));
    }
    File::open(path).map_err(trouble)
}

/// The bytes of a regular file.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, ResultsError> {
    let mut bytes = Vec::new();
    let read = open(path)?.read_to_end(&mut bytes);
    read.map_err(|error| ResultsError::read(path, error))?;
    Ok(bytes)
}

/// The text of a regular file.
///
/// # Errors
/// If there is none, or it cannot be read.
pub fn read_text(path: &Path) -> Result<String, ResultsError> {
    let mut text = String::new();
    let read = open(path)?.read_to_string(&mut text);
    read.map_err(|error| ResultsError::read(path, error))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_not_read() {
        let error = read_text(Path::new("/dev/zero")).expect_err("it has no end");
        assert_eq!(error.to_string(), "`/dev/zero` is damaged: it is no regular file");
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "text").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        assert_eq!(read_text(&link).expect("it is there"), "text");
    }
}
