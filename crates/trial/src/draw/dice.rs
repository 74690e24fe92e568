//! Draws that depend on a seed and the number of a case only.

use haggle_model::random::splitmix;

/// A generator of numbers.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64, number: u64) -> Dice {
        Dice(splitmix(seed ^ splitmix(number)))
    }

    /// Any number below `end`, with equal probability; 0 if there is none.
    pub(super) fn below(&mut self, end: usize) -> usize {
        // A counter that is scrambled: every state is visited once before any repeats.
        self.0 = self.0.wrapping_add(1);
        (splitmix(self.0) % end.max(1) as u64) as usize
    }

    /// Any number from `low` to `high`.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True with a probability of so many percent.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of a list that is not empty.
    pub(super) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}
