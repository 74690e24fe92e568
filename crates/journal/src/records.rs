//! The records of several segments, one after the other.

use std::vec::IntoIter;

use crate::error::Error;
use crate::folder::{Folder, segment_name};
use crate::format::Content;
use crate::segment::{Next, Segment};
use crate::storage::Storage;
use crate::tail::{Cut, judge};

/// A record of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Place in the journal, from 1, without gaps.
    pub number: u64,
    /// A word of the owner of the journal.
    pub kind: u8,
    /// Its contents.
    pub payload: Vec<u8>,
}

/// Reads records in order, with memory for one of them. It ends after the first error.
#[derive(Debug)]
pub struct Records<S: Storage> {
    storage: S,
    key: Option<String>,
    segments: IntoIter<u64>,
    current: Option<Segment<S::File>>,
    incarnation: u32,
    /// Number of the next record.
    next: u64,
    /// Number of the first record that is returned.
    from: u64,
    /// Number of the last record that is returned.
    to: u64,
    cut: Option<Cut>,
}

impl<S: Storage> Records<S> {
    /// All records from a number on. Earlier ones in the same segment are checked, too.
    pub(crate) fn new(
        storage: &S,
        folder: &Folder,
        key: Option<String>,
        from: u64,
    ) -> Result<Records<S>, Error> {
        let segments = folder.segments_from(from);
        let missing = |path, found| Error::Missing { path, found, due: from };
        let first = *segments.first().ok_or_else(|| missing(storage.path(""), None))?;
        if first > from {
            return Err(missing(storage.path(&segment_name(first)), Some(first)));
        }
        let segments: Vec<u64> = segments.to_vec();
        let (storage, next, to) = (storage.clone(), first, u64::MAX);
        Ok(Records {
            storage,
            key,
            segments: segments.into_iter(),
            current: None,
            incarnation: 0,
            next,
            from,
            to,
            cut: None,
        })
    }

    /// The same without records behind a number.
    pub(crate) fn up_to(mut self, number: u64) -> Records<S> {
        self.to = number;
        self
    }

    /// The torn end of the journal, if it was reached and is torn.
    pub fn cut(&self) -> Option<&Cut> {
        self.cut.as_ref()
    }

    /// Number of the next record.
    pub(crate) fn next_number(&self) -> u64 {
        self.next
    }

    /// Incarnation of the last segment that was opened.
    pub(crate) fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// Reads one record, and returns its kind. Its payload is that of the current segment.
    pub(crate) fn advance(&mut self) -> Result<Option<u8>, Error> {
        loop {
            let Some(segment) = &mut self.current else {
                let Some(first) = self.segments.next() else { return Ok(None) };
                self.current = Some(self.open(first)?);
                continue;
            };
            match segment.read()? {
                Next::Record(kind) => {
                    self.next = segment.next;
                    return Ok(Some(kind));
                }
                Next::End => {}
                // A segment was synced before the next one was created.
                Next::Broken(damage) if !self.segments.as_slice().is_empty() => {
                    return Err(segment.damaged(damage));
                }
                Next::Broken(damage) => self.cut = Some(judge(segment, damage)?),
            }
            self.current = None;
        }
    }

    fn open(&mut self, first: u64) -> Result<Segment<S::File>, Error> {
        let name = segment_name(first);
        if first != self.next {
            let path = self.storage.path(&name);
            return Err(Error::Missing { path, found: Some(first), due: self.next });
        }
        let key = self.key.as_deref();
        let segment = Segment::open(&self.storage, Content::Segment, &name, first, key)?;
        self.key.get_or_insert_with(|| segment.head.key.clone());
        self.incarnation = segment.head.incarnation;
        Ok(segment)
    }
}

impl<S: Storage> Iterator for Records<S> {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Result<Record, Error>> {
        while self.next <= self.to {
            let number = self.next;
            match self.advance() {
                Ok(None) => return None,
                Ok(Some(_)) if number < self.from => {}
                Ok(Some(kind)) => {
                    let segment = self.current.as_mut().expect("it has the record");
                    let payload = std::mem::take(&mut segment.payload);
                    return Some(Ok(Record { number, kind, payload }));
                }
                Err(error) => {
                    (self.segments, self.current) = (Vec::new().into_iter(), None);
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
