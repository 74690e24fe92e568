//! Free times that a provider discloses.

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};

/// All processors, in millionths.
const MILLION: u32 = 1_000_000;

/// Free processors over time: a step function, the last step for ever. Before the first step no processor
/// is free.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FreeTimes(Vec<(Time, u32)>);

/// Free times of a stretch of time: from its first step until `until`. Without steps it holds no
/// information.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stretch {
    steps: FreeTimes,
    until: Time,
}

impl Stretch {
    /// Steps in the order of time, all before `until`; `None` if they are not.
    pub fn new(steps: Vec<(Time, u32)>, until: Time) -> Option<Stretch> {
        let stretch = Stretch { steps: FreeTimes::new(steps)?, until };
        stretch.is_sound().then_some(stretch)
    }

    /// Returns whether the steps are in the order of time; steps read from outside may not be.
    pub fn is_sound(&self) -> bool {
        let ends = self.steps.0.last().is_none_or(|&(step, _)| step < self.until);
        ends && self.steps.is_sound()
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns whether it has no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Its steps as (from when, free processors).
    pub fn steps(&self) -> &[(Time, u32)] {
        self.steps.steps()
    }

    /// Start and end of the stretch.
    pub fn bounds(&self) -> Option<(Time, Time)> {
        self.steps.0.first().map(|&(from, _)| (from, self.until))
    }

    /// As [`FreeTimes::published`].
    pub fn published(self, millionths: u32) -> Stretch {
        Stretch { steps: self.steps.published(millionths), ..self }
    }
}

impl FreeTimes {
    /// Steps in the order of time; `None` if they are not.
    pub fn new(steps: Vec<(Time, u32)>) -> Option<FreeTimes> {
        let ascend = steps.is_sorted_by(|one, next| one.0 < next.0);
        ascend.then_some(FreeTimes(steps))
    }

    /// Nothing is ever free.
    pub fn none() -> FreeTimes {
        FreeTimes::default()
    }

    /// Returns whether the steps are in the order of time; steps read from outside may not be.
    pub fn is_sound(&self) -> bool {
        self.0.is_sorted_by(|one, next| one.0 < next.0)
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether nothing is ever free.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The steps as (from when, free processors).
    pub fn steps(&self) -> &[(Time, u32)] {
        &self.0
    }

    /// The same with fewer processors, which hides a part of the load: this many millionths of the free
    /// processors, rounded down.
    pub fn published(mut self, millionths: u32) -> FreeTimes {
        let millionths = u64::from(millionths.min(MILLION));
        for (_, free) in &mut self.0 {
            *free = (u64::from(*free) * millionths / u64::from(MILLION)) as u32;
        }
        self.0.dedup_by_key(|&mut (_, free)| free);
        self
    }

    /// All free times, as one stretch.
    pub fn whole(&self) -> Stretch {
        let before = (Time::from_micros(i64::MIN), 0);
        let steps = std::iter::once(before).chain(self.0.iter().copied()).collect();
        Stretch { steps: FreeTimes(steps), until: Time::FOREVER }
    }

    /// Times from `from` on at which more processors become available, up to `processors`, as if nothing
    /// later were planned.
    pub fn available(&self, processors: u32, from: Time) -> FreeTimes {
        let mut most = 0;
        let mut steps = Vec::new();
        // The first step may begin before `from`.
        let first = self.step_at(from).unwrap_or(0);
        for &(time, free) in &self.0[first.min(self.0.len())..] {
            if free.min(processors) > most {
                most = free.min(processors);
                steps.push((time.max(from), most));
            }
        }
        FreeTimes(steps)
    }

    /// Fewest free processors during `[start, end)`, which is not empty.
    pub fn min_free(&self, start: Time, end: Time) -> u32 {
        let Some(first) = self.step_at(start) else { return 0 };
        let during = self.0[first..].iter().take_while(|&&(time, _)| time <= start || time < end);
        during.map(|&(_, free)| free).min().unwrap_or(0)
    }

    /// Earliest start from `from` on at which `processors` are free during `span`.
    pub fn earliest_fit(&self, processors: u32, span: Span, from: Time) -> Option<Time> {
        let mut start = None;
        let first = self.step_at(from).unwrap_or(0);
        for &(time, free) in &self.0[first..] {
            if start.is_some_and(|start| time >= start + span) {
                break;
            }
            start = if free < processors { None } else { start.or(Some(time.max(from))) };
        }
        start
    }

    /// The step that covers `time`.
    fn step_at(&self, time: Time) -> Option<usize> {
        self.0.partition_point(|&(step, _)| step <= time).checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use haggle_testing::at_micros;

    use super::*;

    fn steps(steps: &[(i64, u32)]) -> FreeTimes {
        let steps = steps.iter().map(|&(time, free)| (at_micros(time), free)).collect();
        FreeTimes::new(steps).expect("in order")
    }

    #[test]
    fn the_fewest_free_processors_count() {
        let free = steps(&[(0, 2), (5, 1), (10, 4)]);
        assert_eq!(free.min_free(at_micros(0), at_micros(5)), 2);
        assert_eq!(free.min_free(at_micros(0), at_micros(6)), 1);
        assert_eq!(free.min_free(at_micros(12), at_micros(99)), 4);
        assert_eq!(free.min_free(at_micros(-1), at_micros(3)), 0, "nobody has said so");
        assert_eq!(FreeTimes::none().min_free(at_micros(0), at_micros(1)), 0);
    }

    #[test]
    fn a_fit_begins_at_a_step_or_at_once() {
        let free = steps(&[(0, 2), (5, 1), (10, 4)]);
        let fit = |processors, span, from| {
            free.earliest_fit(processors, Span::from_micros(span), at_micros(from))
                .map(Time::as_micros)
        };
        assert_eq!(fit(2, 3, 1), Some(1));
        assert_eq!(fit(2, 3, 3), Some(10));
        assert_eq!(fit(1, 99, -7), Some(0));
        assert_eq!(fit(5, 1, 0), None);
    }

    #[test]
    fn what_is_available_only_grows() {
        let free = steps(&[(0, 2), (5, 1), (10, 4), (20, 0), (30, 9)]);
        assert_eq!(free.available(8, at_micros(1)), steps(&[(1, 2), (10, 4), (30, 8)]));
        assert_eq!(free.available(3, at_micros(12)), steps(&[(12, 3)]));
        assert_eq!(free.available(3, at_micros(-4)), steps(&[(0, 2), (10, 3)]));
        assert_eq!(FreeTimes::none().available(3, at_micros(0)), FreeTimes::none());
    }

    #[test]
    fn less_can_be_published_than_is_free() {
        let free = steps(&[(0, 3), (5, 2), (10, 8)]);
        assert_eq!(free.clone().published(500_000), steps(&[(0, 1), (10, 4)]));
        assert_eq!(free.clone().published(MILLION), free);
    }

    #[test]
    fn steps_that_do_not_ascend_are_none() {
        assert_eq!(FreeTimes::new(vec![(at_micros(3), 1), (at_micros(3), 2)]), None);
    }
}
