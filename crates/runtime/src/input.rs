//! Inputs of a run that are read as it goes on, with their positions.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Items that are read one after the other. A copy or a snapshot has only the position: the same items are
/// opened again and read up to it, see [`Input::reopen`].
pub(crate) struct Input<T> {
    items: Box<dyn Iterator<Item = T> + Send>,
    read: u64,
}

impl<T: 'static> Input<T> {
    /// Items of which none has been read.
    pub(crate) fn new(items: Box<dyn Iterator<Item = T> + Send>) -> Input<T> {
        Input { items, read: 0 }
    }

    /// An input at this position, which has no items until it is reopened.
    fn closed(read: u64) -> Input<T> {
        Input { items: Box::new(std::iter::empty()), read }
    }

    /// Does not count the item that was read last: a reopened input has it as its first one.
    pub(crate) fn uncount(&mut self) {
        self.read -= 1;
    }

    /// Reads `items` up to the position. Returns false if there are fewer.
    pub(crate) fn reopen(&mut self, items: Box<dyn Iterator<Item = T> + Send>) -> bool {
        self.items = items;
        // Not `nth`, which would stop at the first item of a count of zero.
        let missing = (0..self.read).find(|_| self.items.next().is_none());
        missing.is_none()
    }
}

impl<T> Iterator for Input<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let item = self.items.next();
        self.read += u64::from(item.is_some());
        item
    }
}

impl<T: 'static> Clone for Input<T> {
    fn clone(&self) -> Input<T> {
        Input::closed(self.read)
    }
}

impl<T> fmt::Debug for Input<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("read", &self.read).finish_non_exhaustive()
    }
}

impl<T> Serialize for Input<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.read.serialize(serializer)
    }
}

impl<'de, T: 'static> Deserialize<'de> for Input<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Input<T>, D::Error> {
        u64::deserialize(deserializer).map(Input::closed)
    }
}
