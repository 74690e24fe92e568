//! Inputs of a run that are read as it goes on, with their positions.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Items that are read one after the other. A copy or a snapshot has only the position: the same items are
/// opened again and read up to it, see [`Input::reopen`].
pub(crate) struct Input<T> {
    items: Box<dyn Iterator<Item = T> + Send>,
    position: Position,
}

/// A position in an input.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Position {
    /// Number of items that have been read.
    read: u64,
    /// True if the end has been met. A reader may count lines behind its last item.
    ended: bool,
}

impl<T: 'static> Input<T> {
    /// Items of which none has been read.
    pub(crate) fn new(items: Box<dyn Iterator<Item = T> + Send>) -> Input<T> {
        Input { items, position: Position::default() }
    }

    /// An input at this position, which has no items until it is reopened.
    fn closed(position: Position) -> Input<T> {
        Input { items: Box::new(std::iter::empty()), position }
    }

    /// True if its end has been met.
    pub(crate) fn has_ended(&self) -> bool {
        self.position.ended
    }

    /// Does not count the item that was read last: a reopened input has it as its first one.
    pub(crate) fn uncount(&mut self) {
        self.position.read -= 1;
    }

    /// Reads `items` up to the position. Returns false if there are other ones.
    pub(crate) fn reopen(&mut self, items: Box<dyn Iterator<Item = T> + Send>) -> bool {
        self.items = items;
        // Not `nth`, which would stop at the first item of a count of zero.
        let missing = (0..self.position.read).find(|_| self.items.next().is_none());
        missing.is_none() && (!self.position.ended || self.items.next().is_none())
    }
}

impl<T> Iterator for Input<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let item = self.items.next();
        self.position.read += u64::from(item.is_some());
        self.position.ended = item.is_none();
        item
    }
}

impl<T: 'static> Clone for Input<T> {
    fn clone(&self) -> Input<T> {
        Input::closed(self.position)
    }
}

impl<T> fmt::Debug for Input<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("position", &self.position).finish_non_exhaustive()
    }
}

impl<T> Serialize for Input<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.position.serialize(serializer)
    }
}

impl<'de, T: 'static> Deserialize<'de> for Input<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Input<T>, D::Error> {
        Position::deserialize(deserializer).map(Input::closed)
    }
}
