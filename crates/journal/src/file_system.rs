//! A folder of the file system.

use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::storage::{Storage, StoredFile};

/// A folder of the file system. Its path is fixed, whatever the current folder of the process.
#[derive(Clone, Debug)]
pub struct FileSystem {
    folder: Arc<Path>,
}

/// File systems of networks: some report syncs that they have not made, some grant a lock twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// They are refused.
    Refuse,
    /// They are accepted.
    Allow,
}

impl FileSystem {
    /// Opens a folder, or creates it durably.
    ///
    /// # Errors
    /// If it cannot be created, or is on a file system that is refused.
    pub fn open(folder: &Path, network: Network) -> Result<FileSystem, Error> {
        let trouble =
            |action| move |error| Error::Storage { path: folder.to_owned(), action, error };
        let folder = std::path::absolute(folder).map_err(trouble("create the folder"))?;
        create(&folder).map_err(trouble("create the folder"))?;
        let kind = network_kind(&folder).map_err(trouble("find the file system"))?;
        match (network, kind) {
            (Network::Refuse, Some(kind)) => Err(Error::Network { path: folder, kind }),
            _ => Ok(FileSystem { folder: folder.into() }),
        }
    }
}

/// Creates a folder and those above it; each is durable when it returns.
fn create(folder: &Path) -> io::Result<()> {
    match folder.parent() {
        Some(parent) if !folder.is_dir() => {
            create(parent)?;
            fs::create_dir(folder)?;
            File::open(parent)?.sync_all()
        }
        _ => Ok(()),
    }
}

/// Magic numbers of file systems of networks.
#[cfg(target_os = "linux")]
const NETWORKS: [(u32, &str); 14] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x6573_5546, "FUSE"),
    (0x0bd0_0bd0, "Lustre"),
    (0x00c3_6400, "Ceph"),
    (0x4750_4653, "GPFS"),
    (0x1983_0326, "BeeGFS"),
    (0x0102_1997, "9P"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
];

#[cfg(target_os = "linux")]
fn network_kind(folder: &Path) -> io::Result<Option<&'static str>> {
    let magic = nix::sys::statfs::statfs(folder)?.filesystem_type().0 as u32;
    Ok(network_name(magic))
}

#[cfg(target_os = "linux")]
fn network_name(magic: u32) -> Option<&'static str> {
    NETWORKS.iter().find(|(number, _)| *number == magic).map(|(_, name)| *name)
}

#[cfg(not(target_os = "linux"))]
fn network_kind(folder: &Path) -> io::Result<Option<&'static str>> {
    const NETWORKS: [&str; 6] = ["nfs", "smbfs", "webdav", "afpfs", "macfuse", "osxfuse"];
    let found = nix::sys::statfs::statfs(folder)?;
    Ok(NETWORKS.into_iter().find(|&name| found.filesystem_type_name() == name))
}

impl Storage for FileSystem {
    type File = OpenFile;
    type Lock = File;

    fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.folder.to_path_buf() } else { self.folder.join(name) }
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.folder)?.map(|entry| Ok(entry?.file_name()));
        // Names of our files are of ASCII letters.
        let names = names
            .filter_map(|name: io::Result<_>| name.map(|it| it.into_string().ok()).transpose());
        names.collect()
    }

    fn create(&self, name: &str) -> io::Result<OpenFile> {
        File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(self.path(name))
            .map(OpenFile)
    }

    fn open(&self, name: &str) -> io::Result<OpenFile> {
        File::open(self.path(name)).map(OpenFile)
    }

    fn settle(&self, name: &str) -> io::Result<()> {
        let file = File::open(self.path(name))?;
        file.sync_all()?;
        // After a failed sync, Linux has pages in memory that the disk lacks, and takes them for written. Without the
        // pages, the next reader gets the bytes of the disk.
        #[cfg(target_os = "linux")]
        {
            use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
            posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
        }
        Ok(())
    }

    fn cut(&self, name: &str, length: u64) -> io::Result<()> {
        let file = File::options().write(true).open(self.path(name))?;
        file.set_len(length)?;
        file.sync_all()
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path(name))
    }

    fn sync_folder(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }

    fn lock(&self, name: &str) -> io::Result<Option<File>> {
        let path = self.path(name);
        let file = File::options().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn salt(&self) -> u64 {
        // The standard library takes the keys of its hash maps from the system's source of random numbers.
        RandomState::new().build_hasher().finish()
    }
}

/// A file that is open.
#[derive(Debug)]
pub struct OpenFile(File);

impl StoredFile for OpenFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read(&self, offset: u64, room: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(room, offset)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_local_folder_is_created_and_accepted_and_networks_are_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("two/deep");
        FileSystem::open(&path, Network::Refuse).expect("a local disk");
        assert!(path.is_dir());
        use nix::sys::statfs::{EXT4_SUPER_MAGIC, FUSE_SUPER_MAGIC, NFS_SUPER_MAGIC};
        let name = |magic: nix::sys::statfs::FsType| network_name(magic.0 as u32);
        assert_eq!(name(NFS_SUPER_MAGIC), Some("NFS"));
        assert_eq!(name(FUSE_SUPER_MAGIC), Some("FUSE"));
        assert_eq!(name(EXT4_SUPER_MAGIC), None);
    }
}
