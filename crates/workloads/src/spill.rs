//! Lists of any length in bounded memory: their values wait in a file without a name.
//!
//! ```text
//! push -> part in memory -> full: arranged, and written into the file -> ... -> Parts
//!                                                     in order of parts <-  |
//!                                                     merged by a key   <-  |
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Values of a part. A job with its fields of a log takes some 400 bytes.
const PART_VALUES: usize = 1 << 17;

/// All parts are read at the same time when they are merged.
const BUFFER_BYTES: usize = 32 * 1024;

/// A list that grows. Each of its parts is arranged before it is written.
pub(crate) struct Spill<T> {
    arrange: fn(&mut Vec<T>),
    part_values: usize,
    memory: Vec<T>,
    file: Option<Written>,
}

/// The parts in the file.
struct Written {
    file: BufWriter<File>,
    bytes: u64,
    ends: Vec<u64>,
}

impl<T: Serialize + DeserializeOwned> Spill<T> {
    /// An empty list, whose parts are arranged by `arrange`.
    pub(crate) fn new(arrange: fn(&mut Vec<T>)) -> Spill<T> {
        Spill { arrange, part_values: PART_VALUES, memory: Vec::new(), file: None }
    }

    /// Adds a value at the end.
    pub(crate) fn push(&mut self, value: T) -> io::Result<()> {
        if self.memory.len() == self.part_values {
            (self.arrange)(&mut self.memory);
            self.write()?;
        }
        self.memory.push(value);
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        let written = match &mut self.file {
            Some(written) => written,
            none => {
                let file = BufWriter::with_capacity(1 << 20, tempfile::tempfile()?);
                none.insert(Written { file, bytes: 0, ends: Vec::new() })
            }
        };
        let mut bytes = Vec::new();
        for value in self.memory.drain(..) {
            bytes.clear();
            bytes = postcard::to_extend(&value, bytes).map_err(io::Error::other)?;
            let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
            written.file.write_all(&length.to_le_bytes())?;
            written.file.write_all(&bytes)?;
            written.bytes += 4 + u64::from(length);
        }
        written.ends.push(written.bytes);
        Ok(())
    }

    /// The parts, from their first values on. The last one stays in memory.
    pub(crate) fn finish(mut self) -> io::Result<Parts<T>> {
        (self.arrange)(&mut self.memory);
        let mut parts = Vec::new();
        if let Some(written) = self.file {
            let file = Arc::new(written.file.into_inner().map_err(io::IntoInnerError::into_error)?);
            let mut at = 0;
            for end in written.ends {
                let extent = Extent { file: Arc::clone(&file), at, end };
                parts.push(Part::File(BufReader::with_capacity(BUFFER_BYTES, extent), PhantomData));
                at = end;
            }
        }
        parts.push(Part::Memory(self.memory.into_iter()));
        Ok(Parts(parts))
    }
}

/// The parts of a list, in the order in which they were filled.
pub(crate) struct Parts<T>(Vec<Part<T>>);

enum Part<T> {
    File(BufReader<Extent>, PhantomData<T>),
    Memory(std::vec::IntoIter<T>),
}

impl<T: DeserializeOwned> Part<T> {
    fn next(&mut self) -> io::Result<Option<T>> {
        let file = match self {
            Part::Memory(values) => return Ok(values.next()),
            Part::File(file, _) => file,
        };
        if file.buffer().is_empty() && file.get_ref().is_at_end() {
            return Ok(None);
        }
        let mut length = [0; 4];
        file.read_exact(&mut length)?;
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        file.read_exact(&mut bytes)?;
        postcard::from_bytes(&bytes).map(Some).map_err(io::Error::other)
    }
}

/// A part of the file. All of them share its position, so each sets it before it reads.
struct Extent {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Extent {
    fn is_at_end(&self) -> bool {
        self.at == self.end
    }
}

impl Read for Extent {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(self.at))?;
        let count = file.take(self.end - self.at).read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl<T: DeserializeOwned> Parts<T> {
    /// The values in the order in which they were added, if no part was arranged.
    pub(crate) fn in_turn(self) -> InTurn<T> {
        InTurn(self.0.into_iter())
    }

    /// The values in the order of a key, by which each part is in order. Values of the same key keep the order in
    /// which they were added.
    pub(crate) fn merged<K: Ord>(mut self, key: fn(&T) -> K) -> io::Result<Merged<T, K>> {
        let mut heads = Vec::new();
        let mut next = BinaryHeap::new();
        for (at, part) in self.0.iter_mut().enumerate() {
            let head = part.next()?;
            next.extend(head.as_ref().map(|head| Reverse((key(head), at))));
            heads.push(head);
        }
        Ok(Merged { parts: self.0, key, heads, next })
    }
}

/// The values of parts, one part behind the other.
pub(crate) struct InTurn<T>(std::vec::IntoIter<Part<T>>);

impl<T: DeserializeOwned> InTurn<T> {
    /// The next value; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<T>> {
        while let Some(part) = self.0.as_mut_slice().first_mut() {
            if let Some(value) = part.next()? {
                return Ok(Some(value));
            }
            self.0.next();
        }
        Ok(None)
    }
}

/// The values of parts by a key.
pub(crate) struct Merged<T, K> {
    parts: Vec<Part<T>>,
    key: fn(&T) -> K,
    /// The next value of each part.
    heads: Vec<Option<T>>,
    next: BinaryHeap<Reverse<(K, usize)>>,
}

impl<T: DeserializeOwned, K: Ord> Merged<T, K> {
    /// The next value; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<T>> {
        let Some(Reverse((_, at))) = self.next.pop() else {
            return Ok(None);
        };
        let head = self.parts[at].next()?;
        self.next.extend(head.as_ref().map(|head| Reverse(((self.key)(head), at))));
        Ok(std::mem::replace(&mut self.heads[at], head))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A list with parts of three values.
    fn spilled(values: &[(u8, u32)], arrange: fn(&mut Vec<(u8, u32)>)) -> Parts<(u8, u32)> {
        let mut spill = Spill { part_values: 3, ..Spill::new(arrange) };
        values.iter().for_each(|&value| spill.push(value).expect("a temporary file"));
        spill.finish().expect("a temporary file")
    }

    proptest! {
        #[test]
        fn parts_give_the_values_in_turn_or_sorted(keys in prop::collection::vec(0..5_u8, 0..40)) {
            let values: Vec<(u8, u32)> = keys.into_iter().zip(0..).collect();
            let mut found = Vec::new();
            let mut in_turn = spilled(&values, |_| ()).in_turn();
            while let Some(value) = in_turn.next().expect("a temporary file") {
                found.push(value);
            }
            prop_assert_eq!(&found, &values);
            let mut sorted = values.clone();
            sorted.sort_by_key(|value| value.0);
            let parts = spilled(&values, |part| part.sort_by_key(|value| value.0));
            let mut merged = parts.merged(|value| value.0).expect("a temporary file");
            found.clear();
            while let Some(value) = merged.next().expect("a temporary file") {
                found.push(value);
            }
            prop_assert_eq!(found, sorted);
        }
    }
}
