//! Operations of a disk that a journal needs. Tests break them one by one.

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;

/// A folder with files. A copy is another handle of the same folder.
pub trait Storage: Clone + Debug {
    /// A file of the folder.
    type File: StoredFile;

    /// The right to write; it ends when it is dropped, and with its process.
    type Lock: Debug;

    /// The place of a file, for messages.
    fn path(&self, name: &str) -> PathBuf;

    /// Names of all files, in any order.
    ///
    /// # Errors
    /// If the folder cannot be read.
    fn list(&self) -> io::Result<Vec<String>>;

    /// An empty file in place of any that has this name. Its name is durable after [`Storage::sync_folder`].
    ///
    /// # Errors
    /// If it cannot be created.
    fn create(&self, name: &str) -> io::Result<Self::File>;

    /// A file to read.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn open(&self, name: &str) -> io::Result<Self::File>;

    /// Makes the bytes of a file durable that an earlier process wrote. Later reads give bytes of the disk: those that
    /// a failed sync has left in memory alone are forgotten.
    ///
    /// # Errors
    /// If it fails. It is then unknown which bytes the disk has.
    fn settle(&self, name: &str) -> io::Result<()>;

    /// Shortens a file, durably.
    ///
    /// # Errors
    /// If it fails.
    fn cut(&self, name: &str, length: u64) -> io::Result<()>;

    /// Gives a file another name, in place of any that has it. Either the old or the new state survives a crash.
    ///
    /// # Errors
    /// If it fails.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// If it fails.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes all names durable.
    ///
    /// # Errors
    /// If it fails.
    fn sync_folder(&self) -> io::Result<()>;

    /// The right to write, or `None` if another process has it.
    ///
    /// # Errors
    /// If the storage knows no such right.
    fn lock(&self, name: &str) -> io::Result<Option<Self::Lock>>;

    /// A number that strangers cannot guess.
    fn salt(&self) -> u64;
}

/// A file of a [`Storage`].
pub trait StoredFile: Debug {
    /// Bytes of the file.
    ///
    /// # Errors
    /// If it is unknown.
    fn length(&self) -> io::Result<u64>;

    /// Reads bytes from `offset`; returns how many, none only at the end.
    ///
    /// # Errors
    /// If the disk cannot read them.
    fn read(&self, offset: u64, room: &mut [u8]) -> io::Result<usize>;

    /// Adds bytes to a file that was created. They are durable after [`StoredFile::sync`].
    ///
    /// # Errors
    /// If not all were written; some of them may be.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes all bytes durable.
    ///
    /// # Errors
    /// If it fails. It is then unknown which bytes the disk has, and no later sync can make up for it.
    fn sync(&mut self) -> io::Result<()>;
}
