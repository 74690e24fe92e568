//! Equal tasks that move up one after the other, each into the place that the last one left.

use std::iter::Peekable;

use haggle_model::Time;
use serde::{Deserialize, Serialize};

/// Finds earlier places for tasks of one entry, in order of their planned starts, in a stretch of time that
/// is no longer than a task.
///
/// All places in the stretch overlap. So a move only needs the time from the new start to the old one to be
/// free, and takes that time. The possible places depend on the fewest processors that are free from there
/// until the task's start. `places` keeps these numbers while the starts advance.
///
/// As a rule each task moves to the former place of the task before it. So for any number of moves, in the
/// end one start is new and one is gone.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Relay {
    /// Processors of one task.
    width: u32,
    /// End of the stretch for which `places` have been found.
    reached: Time,
    /// Free processors there, in the profile.
    free: u32,
    /// (from when, processors free until `reached`); both ascend. The numbers are too large by `taken`.
    places: Vec<(Time, u32)>,
    /// The first `full` places are full.
    full: usize,
    taken: u32,
    /// (start, tasks) that are new, and that are gone; both by ascending start.
    come: Vec<(Time, u32)>,
    gone: Vec<(Time, u32)>,
    /// The first `passed` entries of `gone` get no task any more.
    passed: usize,
    /// Buffer for the net result of the moves.
    bends: Vec<(Time, i32)>,
}

impl Relay {
    /// Begins with tasks of `width` and the stretch from `from` on, with `free` free processors.
    pub(super) fn begin(&mut self, width: u32, from: Time, free: u32) {
        (self.width, self.reached, self.free, self.taken) = (width, from, free, 0);
        self.places.clear();
        self.full = 0;
        self.come.clear();
        self.gone.clear();
        self.passed = 0;
    }

    /// Advances to tasks that are planned to start at `start`. The next `steps` of the profile are (start,
    /// free processors).
    pub(super) fn reach(
        &mut self,
        start: Time,
        steps: &mut Peekable<impl Iterator<Item = (Time, u32)>>,
    ) {
        // Moved tasks were planned to start before this, and have taken no processors here.
        while self.reached < start {
            let (mut place, free) = (self.reached, self.free + self.taken);
            while let [.., (earlier, at_least)] = self.places[self.full..]
                && at_least >= free
            {
                place = earlier;
                self.places.pop();
            }
            self.places.push((place, free));
            match steps.next_if(|&(step, _)| step <= start) {
                Some((step, free)) => (self.reached, self.free) = (step, free),
                None => self.reached = start,
            }
        }
    }

    /// The earliest place for the tasks, and the number of tasks that fit there.
    pub(super) fn place(&mut self) -> Option<(Time, u32)> {
        while let Some(&(place, free)) = self.places.get(self.full) {
            let free = free - self.taken;
            if free >= self.width {
                return Some((place, free / self.width));
            }
            self.full += 1;
        }
        None
    }

    /// Moves `tasks` tasks from the start reached to the place found.
    pub(super) fn move_up(&mut self, place: Time, tasks: u32) {
        self.taken += tasks * self.width;
        self.gone.push((self.reached, tasks));
        while self.gone[self.passed].0 < place {
            self.passed += 1;
        }
        // New tasks first fill the places of tasks that are gone from there.
        let mut come = tasks;
        let gone = self.gone[self.passed..].iter_mut();
        for (_, gone) in gone.take_while(|(start, _)| *start == place) {
            let back = come.min(*gone);
            (come, *gone) = (come - back, *gone - back);
        }
        if come > 0 {
            self.come.push((place, come));
        }
    }

    /// The net result of the moves for the profile, in the stretch: from each time on, room for this many
    /// more tasks than before it.
    pub(super) fn bends(&mut self) -> &[(Time, i32)] {
        let bends = &mut self.bends;
        bends.clear();
        bends.extend(self.come.iter().map(|&(time, tasks)| (time, -(tasks as i32))));
        let gone = self.gone.iter().filter(|(_, tasks)| *tasks > 0);
        bends.extend(gone.map(|&(time, tasks)| (time, tasks as i32)));
        bends.sort_unstable_by_key(|&(time, _)| time);
        bends.dedup_by(|next, sum| {
            let same = next.0 == sum.0;
            sum.1 += if same { next.1 } else { 0 };
            same
        });
        bends
    }

    /// Assigns tasks to places: calls `moved` with an old start, a new start, and the number of tasks that
    /// move between them.
    pub(super) fn finish(&self, mut moved: impl FnMut(Time, Time, u32)) {
        // The first tasks that are gone take the first new places.
        let mut come = self.come.iter().copied();
        let (mut place, mut room) = (self.reached, 0);
        for &(start, mut gone) in &self.gone {
            while gone > 0 {
                if room == 0 {
                    (place, room) = come.next().expect("as many come as go");
                }
                let tasks = room.min(gone);
                (room, gone) = (room - tasks, gone - tasks);
                moved(start, place, tasks);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use haggle_testing::at;

    use super::*;

    /// Places of single tasks planned to start at `starts`, and the net result, as (old start, new start).
    fn relayed(steps: &[(i64, u32)], starts: &[i64]) -> (Vec<Option<Time>>, Vec<(Time, Time)>) {
        let mut steps = steps.iter().map(|&(start, free)| (at(start), free)).peekable();
        let mut relay = Relay::default();
        let (from, free) = steps.next().expect("one step at least");
        relay.begin(1, from, free);
        let mut places = Vec::new();
        for &start in starts {
            relay.reach(at(start), &mut steps);
            let place = relay.place();
            if let Some((place, _)) = place {
                relay.move_up(place, 1);
            }
            places.push(place.map(|(place, _)| place));
        }
        let (mut moves, mut bends) = (Vec::new(), BTreeMap::new());
        relay.finish(|start, earlier, tasks| {
            assert_eq!(tasks, 1, "one task each");
            moves.push((start, earlier));
            *bends.entry(earlier).or_insert(0) -= 1;
            *bends.entry(start).or_insert(0) += 1;
        });
        assert_eq!(relay.bends(), bends.into_iter().collect::<Vec<_>>());
        (places, moves)
    }

    #[test]
    fn each_goes_to_where_the_one_before_it_has_been() {
        let (places, moves) = relayed(&[(2, 1), (9, 0)], &[3, 5, 9]);
        assert_eq!(places, [Some(at(2)), Some(at(3)), Some(at(5))]);
        assert_eq!(moves, [(at(9), at(2))]);
    }

    #[test]
    fn none_goes_across_a_time_without_free_processors() {
        let (places, moves) = relayed(&[(2, 1), (4, 0), (6, 1)], &[3, 5, 6, 7]);
        assert_eq!(places, [Some(at(2)), None, None, Some(at(6))]);
        assert_eq!(moves, [(at(3), at(2)), (at(7), at(6))]);
    }

    #[test]
    fn two_holes_side_by_side_are_handed_on_by_turns() {
        let (places, moves) = relayed(&[(2, 1), (3, 2)], &[4, 5, 6, 7]);
        assert_eq!(places, [Some(at(2)), Some(at(3)), Some(at(4)), Some(at(5))]);
        assert_eq!(moves, [(at(6), at(2)), (at(7), at(3))]);
    }
}
