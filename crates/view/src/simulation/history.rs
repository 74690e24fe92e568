//! States of a simulation, from which it goes back.
//!
//! The number and the size of the states are bounded. When there are too many, those go first whose loss makes going
//! back least expensive: the distance between states grows with their age.

use haggle_model::Time;

use super::desk::Desk;

/// Most states that are kept.
const STATES_MAX: usize = 48;

/// Most bytes of all states.
const BYTES_MAX: usize = 192 << 20;

/// Least number of messages between two states.
const DISTANCE: u64 = 400;

/// Bytes of a state that cost about as much time as a message.
const BYTES_A_MESSAGE: u64 = 64;

/// A state between two messages.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// Number of messages that had been delivered.
    pub(crate) number: u64,
    /// Time of the last one.
    pub(crate) time: Time,
    /// The state as bytes.
    pub(crate) bytes: Vec<u8>,
    /// The past at that time.
    pub(crate) desk: Desk,
}

/// The states that are kept, by number of messages.
#[derive(Debug, Default)]
pub(crate) struct History {
    states: Vec<Kept>,
}

impl History {
    /// True if a state is due after so many messages.
    pub(crate) fn is_due(&self, number: u64) -> bool {
        let (last, size) = self.states.last().map_or((0, 0), |it| (it.number, it.bytes.len()));
        number >= last + DISTANCE.max(size as u64 / BYTES_A_MESSAGE)
    }

    /// Keeps a state, which is later than all others.
    pub(crate) fn keep(&mut self, state: Kept) {
        self.states.push(state);
        while self.states.len() > 1 && (self.states.len() > STATES_MAX || self.bytes() > BYTES_MAX)
        {
            let least = self.least_useful();
            self.states.remove(least);
        }
    }

    /// The last state with at most so many messages.
    pub(crate) fn before(&self, number: u64) -> Option<&Kept> {
        let later = self.states.partition_point(|it| it.number <= number);
        self.states.get(later.checked_sub(1)?)
    }

    /// The last state before all messages later than `time`.
    pub(crate) fn before_time(&self, time: Time) -> Option<&Kept> {
        let later = self.states.partition_point(|it| it.time <= time);
        self.states.get(later.checked_sub(1)?)
    }

    /// Forgets states with more messages.
    pub(crate) fn forget_after(&mut self, number: u64) {
        self.states.retain(|it| it.number <= number);
    }

    /// Numbers of messages of the states.
    #[cfg(test)]
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.states.iter().map(|it| it.number).collect()
    }

    fn bytes(&self) -> usize {
        self.states.iter().map(|it| it.bytes.len()).sum()
    }

    /// The place of the state without which the distance between its neighbours is smallest for their age. The last
    /// state stays if it can.
    fn least_useful(&self) -> usize {
        let now = self.states.last().map_or(0, |it| it.number);
        // The start of the run is a state, too, which needs no bytes.
        let cost = |place: usize| {
            let before = place.checked_sub(1).map_or(0, |it| self.states[it].number);
            let behind = self.states[place + 1].number;
            (behind - before) as f64 / (now - before).max(1) as f64
        };
        let places = 0..self.states.len().saturating_sub(1);
        places.min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use haggle_model::Cast;

    use super::super::desk::desk;
    use super::*;

    fn kept(number: u64, bytes: usize) -> Kept {
        let desk = desk(&Arc::new(Cast::default()), &Arc::default());
        Kept { number, time: Time::from_secs(number as i64), bytes: vec![0; bytes], desk }
    }

    #[test]
    fn distances_grow_with_age_and_numbers_are_bounded() {
        let mut history = History::default();
        for number in (0..4_000_000).step_by(100) {
            if history.is_due(number) {
                history.keep(kept(number, 10));
            }
        }
        let numbers = history.numbers();
        assert!(numbers.len() <= STATES_MAX, "{}", numbers.len());
        let last = 4_000_000 - 100;
        let mut before = last;
        for number in numbers.into_iter().rev() {
            // Going back by any number of messages replays at most about half as many, or a few.
            assert!(
                before - number <= 2 * DISTANCE + (last - number) / 2,
                "{number}, then {before}"
            );
            before = number;
        }
        assert!(before < 2_500_000, "the first one is at {before}");
    }

    #[test]
    fn large_states_are_few_and_far_between() {
        let mut history = History::default();
        history.keep(kept(10, 64 << 20));
        assert!(!history.is_due(100_000) && history.is_due(10 + (1 << 20)));
        for number in 1..10 {
            history.keep(kept(number << 21, 64 << 20));
        }
        assert!(history.bytes() <= BYTES_MAX && history.states.len() == 3);
        assert_eq!(history.before(5).map(|it| it.number), None);
        assert_eq!(history.before(u64::MAX).map(|it| it.number), Some(9 << 21));
    }
}
