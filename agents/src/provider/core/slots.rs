//! The slots of a provider: its work, by numbers that are used again.

use haggle_scheduling::Slot;
use serde::{Deserialize, Serialize};

/// Things in slots. The slot that became free last is used first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Slots<T> {
    held: Vec<Option<T>>,
    unused: Vec<Slot>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots { held: Vec::new(), unused: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// The slot that is used next.
    pub(super) fn next(&self) -> Slot {
        self.unused.last().copied().unwrap_or(Slot(self.held.len() as u32))
    }

    /// Puts something into the next slot.
    pub(super) fn insert(&mut self, thing: T) -> Slot {
        match self.unused.pop() {
            Some(slot) => {
                self.held[slot.index()] = Some(thing);
                slot
            }
            None => {
                self.held.push(Some(thing));
                Slot(self.held.len() as u32 - 1)
            }
        }
    }

    /// Puts something else into a slot in use.
    pub(super) fn replace(&mut self, slot: Slot, thing: T) {
        self.held[slot.index()] = Some(thing);
    }

    /// Takes out the content of a slot.
    pub(super) fn take(&mut self, slot: Slot) -> Option<T> {
        let thing = self.held.get_mut(slot.index())?.take()?;
        self.unused.push(slot);
        Some(thing)
    }

    pub(super) fn get(&self, slot: Slot) -> Option<&T> {
        self.held.get(slot.index())?.as_ref()
    }

    pub(super) fn get_mut(&mut self, slot: Slot) -> Option<&mut T> {
        self.held.get_mut(slot.index())?.as_mut()
    }

    /// Everything that is held, with its slot, in order of the slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Slot, &T)> {
        let slots = self.held.iter().enumerate();
        slots.filter_map(|(index, held)| Some((Slot(index as u32), held.as_ref()?)))
    }

    /// Takes everything out, in order of the slots.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = T> {
        self.unused.clear();
        std::mem::take(&mut self.held).into_iter().flatten()
    }
}
