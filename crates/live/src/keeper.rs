//! A node and its journal: each input is written down before it is taken.

use std::collections::{BTreeMap, BTreeSet};

use haggle_journal::{Cut, Journal, Storage};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::core::{Core, CoreError, Effect, Input, Taken};
use crate::parts::PartId;
use crate::session::Number;

/// First record of a journal, and part of each snapshot: the run to which it belongs.
pub const BEGINNING: u8 = 0;
/// Record of an input.
pub const INPUT: u8 = 1;
/// Record of the digest of all messages that left, after an input that let some leave.
pub const DIGEST: u8 = 2;
/// Last record of a node whose run is over.
pub const END: u8 = 3;

/// Reason why a node with a journal cannot begin or continue.
#[derive(Debug, Error)]
pub enum KeeperError {
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] haggle_journal::Error),
    /// The node cannot continue.
    #[error(transparent)]
    Core(#[from] CoreError),
    /// The journal belongs to another run.
    #[error(
        "the journal is of another run: use another folder, or the scenario and settings of that run, also its [machine]"
    )]
    OtherRun,
    /// Records are missing that the node has promised to keep.
    #[error(
        "the journal lacks messages that this node has exchanged with {peer}, and so it may lack promises; restore its \
         files from a copy that is as new as the last run of the node"
    )]
    Lost {
        /// The peer.
        peer: String,
    },
    /// A record is none of this version.
    #[error(
        "record {number} is none of this version of haggle; continue with the version that wrote it"
    )]
    Unread {
        /// Its number.
        number: u64,
    },
    /// The same inputs gave other messages.
    #[error(
        "after record {number} other messages left than this program sends; continue with the version that wrote the \
         journal"
    )]
    Differs {
        /// Number of the record with the digest.
        number: u64,
    },
}

/// A record of a journal, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The run, as its owner describes it.
    Beginning(Vec<u8>),
    /// An input.
    Input(Input),
    /// Digest of all messages that have left.
    Digest(u64),
    /// The run is over.
    End,
}

impl Entry {
    /// The meaning of a record.
    ///
    /// # Errors
    /// If it is none of this version.
    pub fn of(record: haggle_journal::Record) -> Result<Entry, KeeperError> {
        let haggle_journal::Record { number, kind, payload } = record;
        let unread = KeeperError::Unread { number };
        match kind {
            BEGINNING => Ok(Entry::Beginning(payload)),
            INPUT => match postcard::take_from_bytes(&payload) {
                Ok((input, [])) => Ok(Entry::Input(input)),
                _ => Err(unread),
            },
            DIGEST => match <[u8; 8]>::try_from(payload) {
                Ok(bytes) => Ok(Entry::Digest(u64::from_le_bytes(bytes))),
                Err(_) => Err(unread),
            },
            END if payload.is_empty() => Ok(Entry::End),
            _ => Err(unread),
        }
    }
}

/// The state in a snapshot of a journal.
#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) beginning: Vec<u8>,
    pub(crate) core: Vec<u8>,
}

impl Kept {
    /// The state in a snapshot; `None` if it is one of another version.
    pub(crate) fn read(bytes: &[u8]) -> Option<Kept> {
        postcard::from_bytes(bytes).ok()
    }
}

/// A node and its journal.
pub struct Keeper<'a, S: Storage> {
    core: Core<'a>,
    journal: Journal<S>,
    beginning: Vec<u8>,
    incarnation: u32,
    /// Number of the last record.
    last: u64,
    /// Number of the record of the last snapshot.
    snapshot: u64,
    /// The last message of each peer that is durable.
    safe: BTreeMap<PartId, Number>,
    /// Peers of which messages were taken since the last sync.
    fresh: BTreeSet<PartId>,
    unsynced: bool,
    is_over: bool,
}

/// Events of the opening of a journal.
#[derive(Debug)]
pub struct Opening {
    /// The torn end that was cut.
    pub cut: Option<Cut>,
    /// Newer snapshots that are damaged.
    pub damaged: Vec<haggle_journal::Error>,
    /// Number of inputs that were repeated.
    pub repeated: u64,
}

impl<'a, S: Storage> Keeper<'a, S> {
    /// Opens the journal of a node, and brings the node to the state after its last record. `make` makes the core, from
    /// its state or from the start.
    ///
    /// After an earlier process, [`Keeper::is_restart`] is true: the first input must then be [`Input::Restart`].
    ///
    /// # Errors
    /// If the journal is damaged, busy or one of another run, or if this program sends other messages.
    pub fn open(
        storage: S,
        key: &str,
        beginning: &[u8],
        make: impl FnOnce(Option<&[u8]>) -> Result<Core<'a>, CoreError>,
    ) -> Result<(Keeper<'a, S>, Opening), KeeperError> {
        let segment = haggle_journal::SEGMENT_BYTES;
        let (mut journal, recovered) = Journal::open(storage, key, segment)?;
        let kept = recovered.snapshot.as_ref().map(|it| (it.number, Kept::read(&it.state)));
        let (mut last, mut core) = match kept {
            Some((number, None)) => return Err(KeeperError::Unread { number }),
            Some((_, Some(kept))) if kept.beginning != beginning => {
                return Err(KeeperError::OtherRun);
            }
            Some((number, Some(kept))) => (number, make(Some(&kept.core))?),
            None => (0, make(None)?),
        };
        let snapshot = last;
        let (mut repeated, mut is_over) = (0, false);
        for record in recovered.records {
            let record = record?;
            last = record.number;
            match Entry::of(record)? {
                Entry::Beginning(of) if of != beginning => return Err(KeeperError::OtherRun),
                Entry::Beginning(_) => {}
                Entry::Input(input) => {
                    core.take(&input)?;
                    repeated += 1;
                }
                Entry::Digest(digest) if digest != core.digest() => {
                    return Err(KeeperError::Differs { number: last });
                }
                Entry::Digest(_) => {}
                Entry::End => is_over = true,
            }
        }
        if last == 0 {
            last = journal.append(BEGINNING, beginning)?;
            journal.sync()?;
        }
        let (incarnation, beginning) = (recovered.incarnation, beginning.to_vec());
        let (safe, fresh) = Default::default();
        let mut keeper = Keeper {
            core,
            journal,
            beginning,
            incarnation,
            last,
            snapshot,
            safe,
            fresh,
            unsynced: false,
            is_over,
        };
        keeper.fresh.extend(keeper.core.session().peers());
        keeper.note_safe();
        Ok((keeper, Opening { cut: recovered.cut, damaged: recovered.damaged, repeated }))
    }

    /// True if an earlier process wrote the journal.
    pub fn is_restart(&self) -> bool {
        self.incarnation > 1
    }

    /// Number of this process among all that opened the journal.
    pub fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// True if the run is over, see [`Keeper::end`].
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Makes everything durable, and notes that the run is over: there are no further inputs.
    ///
    /// # Errors
    /// If the storage fails. The process must end then.
    pub fn end(&mut self) -> Result<(), KeeperError> {
        self.last = self.journal.append(END, &[])?;
        self.is_over = true;
        self.sync()
    }

    /// The node.
    pub fn core(&self) -> &Core<'a> {
        &self.core
    }

    /// The node. Its inputs go through [`Keeper::take`] alone.
    pub fn core_mut(&mut self) -> &mut Core<'a> {
        &mut self.core
    }

    /// Writes an input down and takes it. Messages that leave may be sent after [`Keeper::sync`]. If neither they nor inputs
    /// since the last sync are durable, see [`Keeper::must_sync`], they may be sent after [`Keeper::hand_over`].
    ///
    /// # Errors
    /// If the node or its journal cannot continue. The process must end then.
    pub fn take(&mut self, input: &Input) -> Result<Taken, KeeperError> {
        let payload = postcard::to_stdvec(input).map_err(|_| CoreError::Unwritten)?;
        self.last = self.journal.append(INPUT, &payload)?;
        let taken = self.core.take(input)?;
        if !taken.left.is_empty() {
            self.last = self.journal.append(DIGEST, &self.core.digest().to_le_bytes())?;
        }
        let durable_input = match input {
            Input::Advance { .. } => false,
            Input::Letter { letter, .. } => {
                let refused = matches!(taken.effect, Effect::Refused(_));
                !refused && letter.is_durable()
            }
            Input::Restart { .. } | Input::Work { .. } => true,
        };
        let is_durable = |kind: u16| crate::wire::Kind::numbered(kind).is_none_or(|it| it.durable);
        self.unsynced |= durable_input || taken.left.iter().any(|it| is_durable(it.kind));
        if let Input::Letter { letter, .. } = input {
            self.fresh.extend(self.core.part_of(letter.from));
        }
        Ok(taken)
    }

    /// True if a message that leaves now, or an acknowledgement, must wait for a sync.
    pub fn must_sync(&self) -> bool {
        self.unsynced
    }

    /// Hands all inputs to the system, so that they survive the end of this process: a question that promises nothing
    /// may leave then. If the machine loses its power, such a question may be forgotten.
    ///
    /// # Errors
    /// If the storage fails. The process must end then.
    pub fn hand_over(&mut self) -> Result<(), KeeperError> {
        Ok(self.journal.hand_over()?)
    }

    /// True if messages were taken that cannot be acknowledged yet.
    pub fn has_unacknowledged(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Makes all inputs durable.
    ///
    /// # Errors
    /// If the storage fails. The process must end then.
    pub fn sync(&mut self) -> Result<(), KeeperError> {
        self.journal.sync()?;
        self.note_safe();
        Ok(())
    }

    fn note_safe(&mut self) {
        self.unsynced = false;
        for peer in std::mem::take(&mut self.fresh) {
            self.safe.insert(peer, self.core.session().taken(peer));
        }
    }

    /// The last message of a peer that is durable: all up to it are acknowledged.
    pub fn safe(&self, peer: PartId) -> Number {
        self.safe.get(&peer).copied().unwrap_or_default()
    }

    /// Number of the last record.
    pub fn records(&self) -> u64 {
        self.last
    }

    /// Number of records since the last snapshot.
    pub fn since_snapshot(&self) -> u64 {
        self.last - self.snapshot
    }

    /// Writes the state down, so that records before it may go.
    ///
    /// # Errors
    /// If an actor cannot be written, or the storage fails.
    pub fn snapshot(&mut self) -> Result<(), KeeperError> {
        let kept = Kept { beginning: self.beginning.clone(), core: self.core.to_bytes()? };
        let state = postcard::to_stdvec(&kept).map_err(|_| CoreError::Unwritten)?;
        self.journal.snapshot(self.last, &state)?;
        self.snapshot = self.last;
        self.note_safe();
        Ok(())
    }
}
