//! Tasks that need not start together, on an availability profile.

use std::cmp::Reverse;

use haggle_model::{Span, Time};

use crate::bags::{Batch, FreeSlot};
use crate::profile::Profile;

/// Books `tasks` of `width` processors each, every one at its earliest fit from `from` on. Returns the
/// batches in order of start.
///
/// As many tasks as fit are booked together at one place, with the same result as one by one. `width` is at
/// most the machine's.
pub(crate) fn place(
    profile: &mut Profile,
    width: u32,
    span: Span,
    tasks: u32,
    from: Time,
) -> Vec<Batch> {
    let mut batches = Vec::new();
    let (mut left, mut from) = (tasks, from);
    while left > 0 {
        // A booking can only delay later tasks, so the search need not start over.
        from = profile
            .earliest_or_never(width, span, from)
            .expect("the provider refuses what is wider than the machine");
        let mut tasks = left;
        // Tasks without a planned start are not booked.
        if from < Time::FOREVER {
            tasks = tasks.min(profile.min_free(from, from + span) / width);
            profile.add(from, from + span, tasks * width);
        }
        batches.push(Batch { start: from, tasks });
        left -= tasks;
    }
    batches
}

/// The free time of every processor from `now` on, sorted by start, then later end first. `steps` are (from
/// when, free processors).
///
/// When processors become busy, those with the shortest free time are taken (Netto 2009, section 6.3.2).
/// That keeps long slots whole: as many tasks fit side by side into the slots as processors are free during
/// the whole time.
pub(crate) fn free_slots(steps: impl Iterator<Item = (Time, u32)>, now: Time) -> Vec<FreeSlot> {
    let mut slots = Vec::new();
    let mut open: Vec<Time> = Vec::new();
    let mut steps = steps.peekable();
    while let Some((start, free)) = steps.next() {
        if steps.peek().is_some_and(|&(end, _)| end <= now) {
            continue;
        }
        let (time, free) = (start.max(now), free as usize);
        while open.len() > free {
            slots.extend(open.pop().map(|start| FreeSlot { start, end: time }));
        }
        open.resize(free, time);
    }
    slots.extend(open.into_iter().map(|start| FreeSlot { start, end: Time::FOREVER }));
    slots.sort_unstable_by_key(|slot| (slot.start, Reverse(slot.end)));
    slots
}

#[cfg(test)]
mod tests {
    use haggle_testing::at;

    use super::*;

    #[test]
    fn tasks_go_where_they_fit_first() {
        let mut profile = Profile::new(2);
        profile.add(at(0), at(6), 1);
        profile.add(at(10), at(14), 2);
        let batches = place(&mut profile, 1, Span::from_secs(5), 4, at(0));
        let found: Vec<_> = batches.iter().map(|batch| (batch.start, batch.tasks)).collect();
        assert_eq!(found, [(at(0), 1), (at(5), 1), (at(14), 2)]);
    }

    #[test]
    fn tasks_behind_one_that_never_ends_never_start() {
        let mut profile = Profile::new(1);
        profile.add(at(0), Time::FOREVER, 1);
        let batches = place(&mut profile, 1, Span::from_secs(5), 3, at(0));
        assert_eq!(batches, [Batch { start: Time::FOREVER, tasks: 3 }]);
    }

    #[test]
    fn the_youngest_slot_closes_first() {
        let mut profile = Profile::new(3);
        profile.add(at(0), at(4), 2);
        profile.add(at(6), at(9), 1);
        profile.add(at(7), at(8), 1);
        let slot = |start, end| FreeSlot { start: at(start), end };
        let expected = [
            slot(0, Time::FOREVER),
            slot(4, at(7)),
            slot(4, at(6)),
            slot(8, Time::FOREVER),
            slot(9, Time::FOREVER),
        ];
        assert_eq!(free_slots(profile.steps(), at(0)), expected);
        assert_eq!(free_slots(profile.steps(), at(5))[0], slot(5, Time::FOREVER));
    }
}
