//! Reading a journal without changing it.

use crate::error::Error;
use crate::folder::Folder;
use crate::records::Records;
use crate::snapshot::Snapshot;
use crate::storage::Storage;

/// The whole journal that is kept: its older snapshot, and all records behind that.
///
/// It takes no lock, so a process may write the journal meanwhile. Records that the process appends later are left out.
/// If it removes a file that is not read yet, reading ends with an error; a new reader then succeeds.
#[derive(Debug)]
pub struct Reader<S: Storage> {
    /// The older of two snapshots; `None` = the journal is kept from its first record.
    pub snapshot: Option<Snapshot>,
    /// The records behind it. [`Records::cut`] has the torn end, which the writing process may still complete.
    pub records: Records<S>,
}

impl<S: Storage> Reader<S> {
    /// Opens the journal of a folder. All files must be of one key.
    ///
    /// # Errors
    /// If there is no journal, its snapshot is damaged, or records are missing.
    pub fn open(storage: &S) -> Result<Reader<S>, Error> {
        let folder = Folder::read(storage)?;
        let snapshot = folder.floor().map(|number| Snapshot::read(storage, number, None));
        let (snapshot, key) = snapshot.transpose()?.unzip();
        let from = snapshot.as_ref().map_or(1, |it: &Snapshot| it.number.saturating_add(1));
        let records = Records::new(storage, &folder, key, from)?;
        Ok(Reader { snapshot, records })
    }
}
