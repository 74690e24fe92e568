//! Requests of an idle provider to jobs to move (Netto 2009, Algorithm 3).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

haggle_model::words! {
    /// Order in which a metascheduler serves the requests of several providers for moves.
    #[derive(Default)]
    pub enum RequestOrder {
        /// First come, first served: a provider requests one job at a time, so that idle providers take turns.
        #[default]
        InTurns = "in-turns",
        /// All requests of one provider before those of the others, in the order of the scenario.
        ByProvider = "by-provider",
    }
}

/// Rounds in which the jobs with a part at a provider are asked to move, one after the other.
///
/// A round begins while processors are idle and a job has moved in the round before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rounds<J> {
    /// Rounds that may still begin.
    left: u32,
    /// Jobs to be asked in this round.
    to_ask: VecDeque<J>,
    /// True if a job has moved in this round; `true` before the first one.
    progress: bool,
}

impl<J> Rounds<J> {
    /// Default for the largest number of rounds.
    pub const MOST: u32 = 10;

    /// At most `most` rounds.
    pub fn new(most: u32) -> Rounds<J> {
        Rounds { left: most, to_ask: VecDeque::new(), progress: true }
    }

    /// The job that is asked next. `waiting` returns the waiting jobs when a round begins; `idle` returns
    /// whether processors are idle.
    pub fn next(
        &mut self,
        idle: impl FnOnce() -> bool,
        waiting: impl FnOnce() -> Vec<J>,
    ) -> Option<J> {
        if self.to_ask.is_empty() && self.progress && self.left > 0 && idle() {
            self.left -= 1;
            self.progress = false;
            self.to_ask = waiting().into();
        }
        self.to_ask.pop_front()
    }

    /// The job that was asked last has moved.
    pub fn moved(&mut self) {
        self.progress = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_end_when_nobody_moves_or_nothing_is_idle() {
        let mut rounds = Rounds::new(9);
        assert_eq!(rounds.next(|| true, || vec![1, 2]), Some(1));
        rounds.moved();
        assert_eq!(rounds.next(|| false, Vec::new), Some(2), "idle counts at the head of a round");
        assert_eq!(rounds.next(|| true, || vec![2]), Some(2));
        assert_eq!(rounds.next(|| true, || vec![2]), None, "nobody has moved");
        let mut rounds = Rounds::<u8>::new(9);
        assert_eq!(rounds.next(|| false, || vec![1]), None);
    }

    #[test]
    fn there_are_at_most_so_many_rounds() {
        let mut rounds = Rounds::new(2);
        for _ in 0..2 {
            assert_eq!(rounds.next(|| true, || vec![1]), Some(1));
            rounds.moved();
        }
        assert_eq!(rounds.next(|| true, || vec![1]), None);
    }
}
