//! Whom a provider asks to move that has become idle (Netto 2009, Algorithm 3).

use std::collections::VecDeque;

haggle_model::words! {
    /// In which order a metascheduler serves the requests of several providers for moves.
    #[derive(Default)]
    pub enum RequestOrder {
        /// First come, first served: a provider asks for one job at a time, so that idle providers take turns.
        #[default]
        InTurns = "in-turns",
        /// All requests of one provider before those of the others, the first one in the scenario first.
        ByProvider = "by-provider",
    }
}

/// Rounds in which those that have a part at a provider are asked, one after the other.
///
/// A round begins while processors are idle, and while somebody has moved in the round before.
#[derive(Clone, Debug)]
pub struct Rounds<J> {
    /// Rounds that may still begin.
    left: u32,
    /// To be asked in this round.
    to_ask: VecDeque<J>,
    /// Whether somebody has moved in this round; so it seems before the first one.
    progress: bool,
}

impl<J> Rounds<J> {
    /// Rounds at most, where nothing else is said.
    pub const MOST: u32 = 10;

    /// So many rounds at most.
    pub fn new(most: u32) -> Rounds<J> {
        Rounds { left: most, to_ask: VecDeque::new(), progress: true }
    }

    /// Who is asked next; `waiting` are those that wait when a round begins, and `idle` says whether
    /// there is room.
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

    /// The one who was asked has moved.
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
