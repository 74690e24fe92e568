//! The tasks of a share in one sweep.
//!
//! Tasks of length T start earliest first, as many at a time as are free for all of T. Let C(t) be the
//! number that have started by t, and f(s) the processors free at s. The tasks that run at s have started
//! after s - T. So C(t) - C(s - T) must not exceed f(s) for any s in [t, t + T). Earliest first is the
//! largest such C:
//!
//! ```text
//! C(t) = min over s in [t, t + T) of  f(s) + C(s - T)
//! ```
//!
//! This is a minimum over a sliding window. It takes one pass over the steps of f and over those of C
//! itself, for any number of batches.

use haggle_model::{Span, Time};

use crate::bags::Batch;

use super::steps::{FOREVER, Step, Steps};

/// The bounds on C(t), generated from left to right as C becomes known.
struct Bounds<'a> {
    steps: &'a [Step],
    span: i64,
    /// End of the bounds generated so far, which lies in step `step`.
    time: i64,
    step: usize,
    /// C(time - T), and the first batch that is not in it.
    started: u32,
    batch: usize,
    /// (bound, until when), increasing in both. Entries from `front` on can still be the minimum. A list
    /// that only grows costs less here than a ring.
    window: Vec<(u32, i64)>,
    front: usize,
}

impl Bounds<'_> {
    fn extend(&mut self, until: i64, batches: &[Batch]) {
        let Bounds { steps, span, mut time, mut step, mut started, mut batch, front, .. } = *self;
        let window = &mut self.window;
        let over =
            |batch: usize| batches.get(batch).map_or(i64::MAX, |it| it.start.as_micros() + span);
        let begins = |step: usize| steps.get(step).map_or(i64::MAX, |it| it.start);
        let mut next_step = begins(step + 1);
        while time < until {
            // When a batch has ended, later tasks may take its place.
            while over(batch) <= time {
                started += batches[batch].tasks;
                batch += 1;
            }
            let next_batch = over(batch);
            // Until then only the steps of f change.
            while time < next_batch.min(until) {
                let bound = steps[step].free.saturating_add(started);
                while window.len() > front && window[window.len() - 1].0 >= bound {
                    window.pop();
                }
                time = next_step.min(next_batch);
                window.push((bound, time));
                if time == next_step && time < i64::MAX {
                    step += 1;
                    next_step = begins(step + 1);
                }
            }
        }
        (self.time, self.step, self.started, self.batch) = (time, step, started, batch);
    }

    /// Drops the last bound from `time` on: the batch that has just started will have ended.
    fn cut(&mut self, time: i64) {
        if self.time <= time {
            return;
        }
        self.time = time;
        if self.steps[self.step].start > time {
            self.step -= 1;
        }
        if let Some((_, until)) = self.window[self.front..].last_mut() {
            *until = time;
        }
    }

    /// See [`Steps::sweep`].
    fn sweep(&mut self, tasks: u32, latest: Time, batches: &mut Vec<Batch>) -> Option<()> {
        let (kept, last) = (batches.len(), self.steps[self.steps.len() - 1]);
        let (mut time, mut started) = (self.time, 0);
        loop {
            // From the last step on no processor is ever free again.
            if time >= FOREVER || (last.free == 0 && time >= last.start) {
                if latest < Time::FOREVER {
                    return None;
                }
                batches.push(Batch { start: Time::FOREVER, tasks: tasks - started });
                return Some(());
            }
            if time > latest.as_micros() {
                return None;
            }
            self.extend(time + self.span, &batches[kept..]);
            // A task takes time, so that there is always a bound.
            let (bound, _) = self.window[self.front];
            if bound > started {
                let more = bound.min(tasks) - started;
                batches.push(Batch { start: Time::from_micros(time), tasks: more });
                started += more;
                if started == tasks {
                    return Some(());
                }
                self.cut(time + self.span);
            }
            // Nothing more can start before the tightest bound has passed.
            time = self.window[self.front].1;
            self.front += 1;
        }
    }
}

impl Steps {
    /// The batches of `tasks` that take `span`, earliest first from `now` on, added to `batches`. Returns
    /// `None` as soon as one would start after `latest`. Tasks that never find a processor start at
    /// [`Time::FOREVER`].
    pub(super) fn sweep(
        &mut self,
        tasks: u32,
        span: Span,
        now: Time,
        latest: Time,
        batches: &mut Vec<Batch>,
    ) -> Option<()> {
        let mut window = std::mem::take(&mut self.bounds);
        window.clear();
        let mut bounds = Bounds {
            steps: self.steps(),
            span: span.as_micros(),
            time: now.as_micros(),
            step: self.find(now),
            started: 0,
            batch: 0,
            window,
            front: 0,
        };
        let found = bounds.sweep(tasks, latest, batches);
        self.bounds = bounds.window;
        found
    }

    /// Books batches that take `span`, sorted by start, for which there is room.
    pub(super) fn book_batches(&mut self, batches: &[Batch], span: Span) {
        let Some(first) = batches.first().filter(|batch| batch.start < Time::FOREVER) else {
            return;
        };
        let span = span.as_micros();
        let start = |batch: Option<&Batch>| batch.map_or(FOREVER, |it| it.start.as_micros());
        let end = |batch: Option<&Batch>| start(batch).saturating_add(span).min(FOREVER);
        let mut new = self.spare();
        let old = self.steps();
        let mut index = self.find(first.start);
        new.reserve(old.len() + 2 * batches.len());
        new.extend_from_slice(&old[..index]);
        let mut time = old[index].start;
        let mut used = 0;
        // Batches that have started, and batches that have ended.
        let (mut started, mut over) = (0, 0);
        let (mut next_start, mut next_end) = (start(batches.first()), end(batches.first()));
        loop {
            while next_start <= time && started < batches.len() {
                used += batches[started].tasks;
                started += 1;
                next_start = start(batches.get(started));
            }
            while next_end <= time && over < batches.len() {
                used -= batches[over].tasks;
                over += 1;
                next_end = end(batches.get(over));
            }
            debug_assert!(used <= old[index].free, "booked more than is free");
            let free = old[index].free - used;
            if new.last().map(|step| step.free) != Some(free) {
                new.push(Step { start: time, free });
            }
            // Every batch ends after all starts before it.
            if over == batches.len() {
                break;
            }
            // Until then the same number is taken from all steps.
            time = next_start.min(next_end);
            let behind = &old[index + 1..];
            let same = behind.iter().take_while(|step| step.start < time).count();
            let less = |step: &Step| Step { free: step.free - used, ..*step };
            new.extend(behind[..same].iter().map(less));
            index += same;
            if time >= FOREVER {
                break;
            }
            index += usize::from(behind.get(same).is_some_and(|step| step.start == time));
        }
        let rest = &old[index + 1..];
        let melts = rest.first().map(|step| step.free) == new.last().map(|step| step.free);
        new.extend_from_slice(&rest[usize::from(melts && !rest.is_empty())..]);
        self.replace(new);
    }
}
