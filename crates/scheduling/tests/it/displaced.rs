//! Reservations on a machine whose processors fail or are closed, and whose jobs overrun. A granted window is kept,
//! or answered as its user wishes.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::reservation::Remedy;
use haggle_scheduling::reservations::{
    Criterion, Displaced, Granting, ReservationConfig, Reservations, Reserve, Size, Window,
};
use haggle_scheduling::{Interval, Killed, LocalScheduler, Maintaining, Overlap, Slot};
use haggle_testing::{at_micros, micros};
use proptest::prelude::*;

use crate::reservations::{Asked, asked, displaced, request, reserve, started};

/// A failure: time, processors, and length.
type Break = (i64, u32, i64);

/// A window of maintenance: time of its announcement, lead time, processors, and length.
type Close = (i64, i64, u32, i64);

const CAPACITY: u32 = 5;

/// Work of a provider for its scheduler, in a world of ticks.
struct Machine<'a> {
    queue: Reservations,
    asked: &'a [Asked],
    overruns: &'a [bool],
    /// Running jobs: slot, end, planned end.
    running: Vec<(usize, i64, i64)>,
    /// Processors and time of each slot.
    sizes: Vec<(u32, i64)>,
    /// Windows that must be kept.
    windows: Vec<Option<Window>>,
    down: u32,
    closed: BTreeMap<u32, u32>,
    disturbed: bool,
    accepted: usize,
    over: usize,
}

impl<'a> Machine<'a> {
    fn new(criterion: Criterion, asked: &'a [Asked], overruns: &'a [bool]) -> Machine<'a> {
        let config = ReservationConfig { criterion, ..ReservationConfig::default() };
        Machine {
            queue: Reservations::new(CAPACITY, config),
            asked,
            overruns,
            running: Vec::new(),
            sizes: asked.iter().map(|it| (it.job.processors, it.job.span)).collect(),
            windows: vec![None; asked.len()],
            down: 0,
            closed: BTreeMap::new(),
            disturbed: false,
            accepted: 0,
            over: 0,
        }
    }

    fn used(&self) -> u32 {
        let running: u32 = self.running.iter().map(|it| self.sizes[it.0].0).sum();
        running + self.down + self.closed.values().sum::<u32>()
    }

    /// Killed jobs wait again, in their windows if their users want that.
    fn fails(&mut self, now: i64, count: u32) -> Result<(), TestCaseError> {
        self.disturbed = true;
        let mut killed = Vec::new();
        while self.used() + count > CAPACITY {
            let (slot, _, end) = self.running.pop().expect("something runs");
            killed.push(Killed {
                slot: Slot(slot as u32),
                processors: self.sizes[slot].0,
                planned_end: at_micros(end),
            });
        }
        self.queue.failed(at_micros(now), count, &killed);
        self.down += count;
        self.answer(now, true)?;
        for it in killed {
            let slot = it.slot.index();
            let (processors, time) = self.sizes[slot];
            match self.windows[slot].filter(|_| self.asked[slot].remedy != Remedy::Postpone) {
                Some(window) => {
                    let Asked { job, remedy, .. } = &self.asked[slot];
                    let request = reserve(it.slot.0, job.submitted, (processors, time), None, 0);
                    let request = Reserve { window, remedy: *remedy, ..request };
                    self.find_place(now, &request, true);
                }
                None => {
                    self.windows[slot] = None;
                    self.queue.submit(at_micros(now), request(it.slot.0, processors, time));
                }
            }
        }
        Ok(())
    }

    fn answer(&mut self, now: i64, fails: bool) -> Result<(), TestCaseError> {
        for (slot, displaced) in displaced(&mut self.queue) {
            prop_assert!(self.disturbed, "nothing has hit {slot}: {displaced:?}");
            let place = slot as usize;
            let Asked { remedy, .. } = self.asked[place];
            match displaced {
                Displaced::Moved(start) => {
                    let revoked =
                        fails && remedy == Remedy::Revoke && self.windows[place].is_some();
                    prop_assert!(!revoked, "{slot} was not to be moved");
                    // Other jobs may leave room when they find places, which moves it up again.
                    prop_assert!(self.queue.start_of(at_micros(now), Slot(slot)) <= Some(start));
                }
                Displaced::Postponed(start) => {
                    prop_assert_eq!(remedy, Remedy::Postpone);
                    prop_assert!(self.queue.start_of(at_micros(now), Slot(slot)) <= Some(start));
                    self.windows[place] = None;
                }
                Displaced::Out(request) => {
                    prop_assert_ne!(remedy, Remedy::Postpone);
                    prop_assert_eq!(self.queue.start_of(at_micros(now), Slot(slot)), None);
                    self.find_place(now, &request, fails);
                }
            }
        }
        Ok(())
    }

    fn find_place(&mut self, now: i64, request: &Reserve, fails: bool) {
        let slot = request.slot.index();
        let seeks = !fails || request.remedy != Remedy::Revoke;
        let own = seeks.then(|| request.size());
        let fewer = self.asked[slot].sizes.iter().rev();
        let fewer =
            fewer.filter(|it| request.remedy == Remedy::Shrink && it.0 < request.processors);
        let fewer = fewer.map(|&(processors, time)| Size { processors, span: micros(time) });
        for size in own.into_iter().chain(fewer) {
            let wish = Reserve { processors: size.processors, span: size.span, ..*request };
            if self.queue.ask(at_micros(now), &wish, &[], &mut |below| below / 2).is_some() {
                self.sizes[slot] = (size.processors, size.span.as_micros());
                return;
            }
        }
        self.windows[slot] = None;
        self.over += 1;
    }

    fn ends(&mut self, now: i64) -> Result<(), TestCaseError> {
        let ended: Vec<_> = self.running.extract_if(.., |&mut (_, end, _)| end == now).collect();
        for (slot, ..) in ended {
            self.queue.finished(at_micros(now), Slot(slot as u32));
            self.over += 1;
        }
        for place in 0..self.running.len() {
            let (slot, _, planned) = self.running[place];
            if planned == now {
                self.disturbed = true;
                self.running[place].2 += self.sizes[slot].1;
                self.queue.overran(
                    at_micros(now),
                    Slot(slot as u32),
                    at_micros(self.running[place].2),
                );
                self.answer(now, false)?;
            }
        }
        Ok(())
    }

    fn starts(&mut self, now: i64) -> Result<(), TestCaseError> {
        for slot in started(&mut self.queue, now) {
            let place = slot as usize;
            let (asked, time) = (&self.asked[place], self.sizes[place].1);
            if let Some(window) = self.windows[place] {
                prop_assert!(window.earliest(at_micros(asked.job.submitted)) <= at_micros(now));
                prop_assert!(at_micros(now) <= window.latest_start(micros(time)));
            }
            let run = if self.overruns[place] { 2 * time } else { asked.runs(time) };
            self.running.push((place, now + run, now + time));
        }
        prop_assert!(self.used() <= CAPACITY);
        Ok(())
    }

    fn lives(mut self, breaks: &[Break], closes: &[Close]) -> Result<(), TestCaseError> {
        let mut next = 0;
        // Failures that found enough processors and are not over.
        let mut failed = BTreeSet::new();
        let mut announced = BTreeSet::new();
        for now in 0..3_000 {
            for (number, &(told, lead, count, lasts)) in (0..).zip(closes) {
                let start = told + lead;
                let window =
                    Interval { start: at_micros(start), span: micros(lasts), processors: count };
                if now == start + lasts && announced.remove(&number) {
                    self.closed.remove(&number);
                    self.queue.end(at_micros(now), number);
                }
                let overlap = if number == 0 { Overlap::Refuse } else { Overlap::Break };
                if now == told && self.queue.announce(at_micros(now), number, window, overlap) {
                    self.disturbed = true;
                    announced.insert(number);
                    self.answer(now, false)?;
                }
            }
            for (place, &(from, count, lasts)) in breaks.iter().enumerate() {
                if from + lasts == now && failed.remove(&place) {
                    self.queue.restored(at_micros(now), count);
                    self.down -= count;
                }
                let closed: u32 = self.closed.values().sum();
                if from == now && self.down + closed + count < CAPACITY {
                    failed.insert(place);
                    self.fails(now, count)?;
                }
            }
            self.ends(now)?;
            for (number, &(told, lead, ..)) in (0..).zip(closes) {
                if now == told + lead && announced.contains(&number) {
                    let kept = self.queue.kept(at_micros(now), number).min(CAPACITY - self.used());
                    self.queue.begin(at_micros(now), number, kept);
                    self.closed.insert(number, kept);
                }
            }
            while let Some(Asked { job, remedy, .. }) =
                self.asked.get(next).filter(|it| it.at == now)
            {
                let request =
                    reserve(job.slot, now, (job.processors, job.span), job.ready, job.deadline);
                let request = Reserve { remedy: *remedy, ..request };
                if self.queue.ask(at_micros(now), &request, &[], &mut |below| below / 2).is_some() {
                    self.windows[next] = Some(request.window);
                    self.accepted += 1;
                }
                next += 1;
            }
            self.starts(now)?;
        }
        let left = (self.over, self.queue.queue_length());
        prop_assert_eq!(left, (self.accepted, 0), "all come to their end");
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// In spite of failures, overruns and maintenance, every granted window is kept or answered, and no job runs
    /// without processors.
    #[test]
    fn windows_are_kept_or_answered(
        asked in asked(),
        breaks in prop::collection::vec((1..60_i64, 1..=3_u32, 1..40_i64), 0..4),
        closes in prop::collection::vec((1..60_i64, 0..30_i64, 1..=3_u32, 1..20_i64), 0..3),
        overruns in prop::collection::vec(prop::bool::weighted(0.2), 25),
    ) {
        for criterion in [Criterion::Shuffle, Criterion::Edf] {
            Machine::new(criterion, &asked, &overruns).lives(&breaks, &closes)?;
        }
    }
}
