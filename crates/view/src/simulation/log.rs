//! A list that grows at its end, whose copies share their parts. A state that is kept for going back has such
//! copies, which cost little.

use std::sync::Arc;

/// Items of a part. A copy that grows copies at most one part.
const PART: usize = 512;

/// A list of items in parts.
#[derive(Clone, Debug)]
pub(crate) struct Log<T> {
    parts: Vec<Arc<Vec<T>>>,
    /// Items that were dropped from the beginning; a multiple of [`PART`].
    dropped: usize,
}

impl<T> Default for Log<T> {
    fn default() -> Log<T> {
        Log { parts: Vec::new(), dropped: 0 }
    }
}

impl<T: Clone> Log<T> {
    /// Adds an item.
    pub(crate) fn push(&mut self, item: T) {
        match self.parts.last_mut() {
            Some(last) if last.len() < PART => Arc::make_mut(last).push(item),
            _ => {
                let mut part = Vec::with_capacity(PART);
                part.push(item);
                self.parts.push(Arc::new(part));
            }
        }
    }

    /// Drops the oldest part while there are more than `most` items. Their numbers stay taken.
    pub(crate) fn keep(&mut self, most: usize) {
        while self.len() - self.dropped > most.max(PART) {
            self.parts.remove(0);
            self.dropped += PART;
        }
    }

    /// Number of items, with those that were dropped.
    pub(crate) fn len(&self) -> usize {
        let last = self.parts.last().map_or(0, |last| last.len());
        self.dropped + self.parts.len().saturating_sub(1) * PART + last
    }

    /// Number of items that were dropped.
    pub(crate) fn dropped(&self) -> usize {
        self.dropped
    }

    /// An item; `None` if it was dropped or does not exist.
    pub(crate) fn get(&self, place: usize) -> Option<&T> {
        let place = place.checked_sub(self.dropped)?;
        self.parts.get(place / PART)?.get(place % PART)
    }

    /// An item that may change.
    pub(crate) fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        let place = place.checked_sub(self.dropped)?;
        let part = self.parts.get_mut(place / PART)?;
        Arc::make_mut(part).get_mut(place % PART)
    }

    /// All items from a place on.
    pub(crate) fn from(&self, place: usize) -> impl Iterator<Item = &T> {
        let place = place.saturating_sub(self.dropped);
        let parts = self.parts.get(place / PART..).unwrap_or_default();
        parts.iter().flat_map(|part| part.iter()).skip(place % PART)
    }

    /// All items.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.from(0)
    }

    /// The place of the first item for which `is_before` is false; the items must be in order.
    pub(crate) fn partition_point(&self, is_before: impl Fn(&T) -> bool) -> usize {
        let part = self.parts.partition_point(|part| part.last().is_some_and(&is_before));
        let within = self.parts.get(part).map_or(0, |it| it.partition_point(&is_before));
        self.dropped + part * PART + within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_grow_apart() {
        let mut log = Log::default();
        (0..1_000).for_each(|it| log.push(it));
        let mut other = log.clone();
        other.push(1_007);
        log.push(1_008);
        *other.get_mut(3).expect("an item") = 30;
        assert_eq!((log.len(), other.len()), (1_001, 1_001));
        assert_eq!((log.get(1_000), other.get(1_000)), (Some(&1_008), Some(&1_007)));
        assert_eq!((log.get(3), other.get(3)), (Some(&3), Some(&30)));
        assert_eq!(log.from(998).copied().collect::<Vec<_>>(), [998, 999, 1_008]);
        assert_eq!(log.partition_point(|&it| it < 700), 700);
    }

    #[test]
    fn dropped_items_keep_their_numbers() {
        let mut log = Log::default();
        (0..2_000).for_each(|it| log.push(it));
        log.keep(600);
        assert_eq!(
            (log.len(), log.dropped(), log.get(100), log.get(1_999)),
            (2_000, 1_536, None, Some(&1_999))
        );
        assert_eq!(log.iter().next(), Some(&1_536));
        assert_eq!(log.partition_point(|&it| it < 1_700), 1_700);
        log.push(2_000);
        assert_eq!(log.get(2_000), Some(&2_000));
    }
}
