//! Files that appear as a whole, and survive a loss of power.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes a file: a reader sees the old contents or the new ones.
pub(crate) fn write_whole(path: &Path, contents: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(contents)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|it| it.error)?;
    synced(folder)
}

/// Makes new names in a folder durable.
pub(crate) fn synced(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
