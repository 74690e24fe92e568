//! Files with the state of the owner after a record.

use crate::error::{Damage, Error};
use crate::folder::{Folder, publish, snapshot_name};
use crate::format::{Content, FileHead, RecordHead};
use crate::segment::{Next, Segment};
use crate::storage::Storage;

/// The state of the owner of a journal after a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Number of the last record before it.
    pub number: u64,
    /// Bytes of the owner.
    pub state: Vec<u8>,
}

impl Snapshot {
    /// Reads a snapshot and its key. With a key, it must be that of the file.
    pub(crate) fn read<S: Storage>(
        storage: &S,
        number: u64,
        key: Option<&str>,
    ) -> Result<(Snapshot, String), Error> {
        let name = snapshot_name(number);
        let mut file = Segment::open(storage, Content::Snapshot, &name, number, key)?;
        match file.read()? {
            Next::Record(_) => {}
            Next::End => return Err(file.damaged(Damage::Short)),
            Next::Broken(damage) => return Err(file.damaged(damage)),
        }
        let state = std::mem::take(&mut file.payload);
        match file.read()? {
            Next::End => Ok((Snapshot { number, state }, file.head.key)),
            Next::Record(_) | Next::Broken(_) => Err(file.damaged(Damage::Trailing)),
        }
    }

    /// The newest snapshot that is whole, and the errors of newer ones.
    pub(crate) fn newest<S: Storage>(
        storage: &S,
        folder: &Folder,
        key: &str,
    ) -> Result<(Option<Snapshot>, Vec<Error>), Error> {
        let mut damaged = Vec::new();
        for &number in folder.snapshots.iter().rev() {
            match Snapshot::read(storage, number, Some(key)) {
                Ok((snapshot, _)) => return Ok((Some(snapshot), damaged)),
                Err(error @ Error::Damaged { .. }) => damaged.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok((None, damaged))
    }

    /// Writes a snapshot. It is durable afterwards.
    pub(crate) fn write<S: Storage>(
        storage: &S,
        head: &FileHead,
        state: &[u8],
    ) -> Result<(), Error> {
        let record = RecordHead::of(head.number, 0, 0, state).to_bytes(head.salt);
        let parts = [&head.to_bytes(Content::Snapshot)[..], &record, state];
        publish(storage, &snapshot_name(head.number), &parts).map(drop)
    }
}
