//! Entries that are placed again because new entries come before them, or because there is more room.

use haggle_model::Time;

use super::queue::{Entry, Queue};
use super::steps::Steps;
use crate::bags::Batch;
use crate::hints::Hints;

/// Number of entries placed again from which on separate hints pay off; most attempts fail before.
const DEEP: usize = 256;

/// Most batches that are taken out of steps one by one.
const FEW: usize = 64;

/// New places for some entries.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// (index, number of batches), by index.
    entries: Vec<(usize, usize)>,
    batches: Vec<Batch>,
}

impl Moves {
    /// (index, batches), by index.
    fn iter(&self) -> impl Iterator<Item = (usize, &[Batch])> {
        let mut rest = &self.batches[..];
        self.entries.iter().map(move |&(index, count)| {
            let (batches, behind) = rest.split_at(count);
            rest = behind;
            (index, batches)
        })
    }
}

/// Returns whether giving back the batches of these entries is faster than copying a saved prefix.
pub(super) fn are_few(entries: &[Entry]) -> bool {
    entries.iter().map(|entry| entry.batches.len()).sum::<usize>() <= FEW
}

impl Queue {
    /// Places the entries from `from` on again, in key order, in `steps`. The steps must have at most the
    /// room that the entries before `from` leave. Returns the moves, or the first entry that would be late.
    /// The steps are of no use afterwards.
    pub(super) fn place_again(
        &mut self,
        steps: &mut Steps,
        now: Time,
        from: usize,
    ) -> Result<Moves, usize> {
        let mut moves = Moves::default();
        let mut hints = Hints::default();
        let nearest = self.nearest(from);
        for index in from..self.entries.len() {
            if self.entries[index].pinned {
                continue;
            }
            let kept = moves.batches.len();
            let demand = self.entries[index].demand;
            let mut earliest = self.saved[nearest].earliest(demand, now);
            if index - from >= DEEP {
                // Such an entry does not fit before the place found for the last one of its class, either.
                hints.booked();
                earliest = steps.earliest_hinted(&mut hints, demand, earliest);
            }
            let entry = &self.entries[index];
            if demand.place(steps, earliest, entry.limit, &mut moves.batches).is_none() {
                return Err(index);
            }
            let placed = &moves.batches[kept..];
            if placed == entry.batches {
                moves.batches.truncate(kept);
            } else {
                moves.entries.push((index, placed.len()));
            }
        }
        Ok(moves)
    }

    pub(super) fn apply(&mut self, moves: &Moves) {
        if let Some(&(first, _)) = moves.entries.first() {
            // Prefixes that include a moved entry are invalid.
            self.saved.retain(|saved| saved.count <= first);
        }
        for (index, batches) in moves.iter() {
            let entry = &mut self.entries[index].batches;
            entry.clear();
            entry.extend_from_slice(batches);
        }
    }
}
