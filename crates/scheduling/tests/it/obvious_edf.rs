//! The obvious earliest-deadline-first queue: a plain list of steps, where every attempt and every offer begins from
//! scratch. Slow, short, and written from the definition.

use haggle_model::{Span, Time};
use haggle_scheduling::composition::QueueEntry;
use haggle_scheduling::{
    Award, BagRequest, Bargainer, Batch, EdfConfig, EdfStats, FreeSlot, Killed, Late,
    LocalScheduler, Offer, Request, Slot,
};

/// Free processors from each time on, in microseconds.
#[derive(Clone, Debug)]
struct Steps(Vec<(i64, i64)>);

impl Steps {
    fn free_at(&self, time: i64) -> i64 {
        self.0.iter().rev().find(|&&(start, _)| start <= time).expect("covers all time").1
    }

    fn min_free(&self, start: i64, end: i64) -> i64 {
        let inside = self.0.iter().filter(|&&(time, _)| start < time && time < end);
        inside.map(|&(_, free)| free).min().unwrap_or(i64::MAX).min(self.free_at(start))
    }

    fn book(&mut self, start: i64, end: i64, processors: i64) {
        for time in [start, end] {
            if !self.0.iter().any(|&(known, _)| known == time) {
                let free = self.free_at(time);
                self.0.push((time, free));
                self.0.sort_unstable();
            }
        }
        for (time, free) in &mut self.0 {
            if start <= *time && *time < end {
                *free -= processors;
            }
        }
    }

    fn earliest(&self, processors: i64, span: i64, from: i64) -> i64 {
        let later = self.0.iter().map(|&(time, _)| time).filter(|&time| time > from);
        let mut candidates = std::iter::once(from).chain(later);
        candidates
            .find(|&time| self.min_free(time, time + span) >= processors)
            .expect("the machine is large enough and nothing runs for ever")
    }

    /// Batches of (start, processors), and the completion.
    fn place(&mut self, work: &Work, now: i64) -> (Vec<(i64, i64)>, i64) {
        let mut batches = Vec::new();
        let mut left = work.units;
        let mut last = now;
        while left > 0 {
            let width = if work.rigid { left } else { 1 };
            last = self.earliest(width, work.span, now);
            let most = self.min_free(last, last + work.span);
            let together = if work.rigid { left } else { left.min(most) };
            self.book(last, last + work.span, together);
            batches.push((last, together));
            left -= together;
        }
        (batches, last + work.span)
    }
}

#[derive(Clone, Copy, Debug)]
struct Work {
    slot: Slot,
    rigid: bool,
    units: i64,
    span: i64,
}

#[derive(Clone, Debug)]
struct Entry {
    work: Work,
    promise: i64,
    sequence: u64,
    batches: Vec<(i64, i64)>,
    pinned: bool,
}

/// Place of the new work, places of all waiting work, and the repairs.
type Success = (Vec<(i64, i64)>, Vec<Vec<(i64, i64)>>, u64);

#[derive(Clone, Debug)]
pub(crate) struct ObviousEdf {
    processors: i64,
    config: EdfConfig,
    /// (slot, planned end, processors)
    running: Vec<(Slot, i64, i64)>,
    waiting: Vec<Entry>,
    ended: Vec<(Slot, i64)>,
    given_back: bool,
    sequence: u64,
    pub(crate) stats: EdfStats,
}

const NEVER: i64 = Time::FOREVER.as_micros();

impl ObviousEdf {
    pub(crate) fn new(processors: u32, config: EdfConfig) -> ObviousEdf {
        ObviousEdf {
            processors: i64::from(processors),
            config,
            running: Vec::new(),
            waiting: Vec::new(),
            ended: Vec::new(),
            given_back: false,
            sequence: 0,
            stats: EdfStats::default(),
        }
    }

    pub(crate) fn planned(&self, slot: Slot) -> Vec<Batch> {
        let entry = self.waiting.iter().find(|entry| entry.work.slot == slot);
        entry.map_or(Vec::new(), |entry| entry.batches.iter().map(batch).collect())
    }

    /// The machine without running work, pinned work, and the first `count` entries.
    fn profile(&self, count: usize) -> Steps {
        let mut steps = Steps(vec![(i64::MIN, self.processors)]);
        for &(_, end, processors) in &self.running {
            steps.book(i64::MIN, end, processors);
        }
        for (index, entry) in self.waiting.iter().enumerate() {
            if entry.pinned || index < count {
                for &(start, processors) in &entry.batches {
                    steps.book(start, start + entry.work.span, processors);
                }
            }
        }
        steps
    }

    /// New places for the entries from `from` on, or the first one that is late.
    fn again(
        &self,
        steps: &mut Steps,
        now: i64,
        from: usize,
    ) -> Result<Vec<Vec<(i64, i64)>>, usize> {
        let mut places: Vec<_> = self.waiting.iter().map(|entry| entry.batches.clone()).collect();
        for (index, entry) in self.waiting.iter().enumerate().skip(from) {
            if !entry.pinned {
                let (batches, completion) = steps.place(&entry.work, now);
                if completion > entry.promise {
                    return Err(index);
                }
                places[index] = batches;
            }
        }
        Ok(places)
    }

    fn attempt(&mut self, work: &Work, now: i64, deadline: i64) -> Option<Success> {
        self.stats.attempts += 1;
        let mut k = self.waiting.iter().filter(|entry| entry.promise <= deadline).count();
        let mut repairs = 0;
        loop {
            let mut steps = self.profile(k);
            let (batches, completion) = steps.place(work, now);
            if completion > deadline {
                return None;
            }
            match self.again(&mut steps, now, k) {
                Ok(places) => return Some((batches, places, repairs)),
                Err(_) if self.config.mode == Late::Strict => return None,
                Err(victim) => k = victim + 1,
            }
            repairs += 1;
        }
    }

    fn promise(&mut self, work: &Work, now: i64, wished: i64) -> (i64, Option<Success>) {
        if let Some(success) = self.attempt(work, now, wished) {
            return (wished, Some(success));
        }
        let promised = self.waiting.iter().filter(|entry| entry.promise < NEVER).count();
        let mut high = self.profile(promised).place(work, now).1;
        if self.config.mode == Late::Strict && promised > 0 {
            high = high.max(self.waiting[promised - 1].promise);
        }
        let mut low = wished;
        let step = self.config.resolution.as_micros();
        let mut success = None;
        while high - low > step {
            let middle = low + ((high - low) / (2 * step)).max(1) * step;
            self.stats.probes += 1;
            match self.attempt(work, now, middle) {
                Some(found) => (high, success) = (middle, Some(found)),
                None => low = middle,
            }
        }
        if success.is_none() {
            success = self.attempt(work, now, high);
            self.stats.attempts -= 1;
            assert!(success.is_some(), "the upper end of the search is feasible");
        }
        (high, success)
    }

    fn insert(&mut self, work: Work, promise: i64, batches: Vec<(i64, i64)>, pinned: bool) {
        self.sequence += 1;
        self.waiting.push(Entry { work, promise, sequence: self.sequence, batches, pinned });
        self.waiting.sort_by_key(|entry| (entry.promise, entry.sequence));
    }

    fn move_to(&mut self, places: Vec<Vec<(i64, i64)>>) {
        for (entry, batches) in self.waiting.iter_mut().zip(places) {
            entry.batches = batches;
        }
    }

    fn start(&mut self, now: Time, rigid: bool, started: &mut Vec<(Slot, u32)>) {
        let now = now.as_micros();
        for entry in self.waiting.iter_mut().filter(|entry| entry.work.rigid == rigid) {
            while let Some(&(start, processors)) = entry.batches.first() {
                let used: i64 = self.running.iter().map(|&(_, _, processors)| processors).sum();
                if start > now || used + processors > self.processors {
                    break;
                }
                entry.batches.remove(0);
                entry.work.units -= processors;
                self.running.push((entry.work.slot, now + entry.work.span, processors));
                started.push((entry.work.slot, processors as u32));
            }
        }
        self.waiting.retain(|entry| !entry.batches.is_empty());
    }
}

fn batch(&(start, processors): &(i64, i64)) -> Batch {
    Batch { start: Time::from_micros(start), tasks: processors as u32 }
}

impl LocalScheduler for ObviousEdf {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        let work = Work {
            slot: request.slot,
            rigid: true,
            units: i64::from(request.processors),
            span: request.span.expect("all jobs have limits here").as_micros(),
        };
        let wished = request.deadline.map_or(NEVER, Time::as_micros);
        let (promise, success) = self.promise(&work, now.as_micros(), wished);
        let (batches, places, repairs) = success.expect("what is promised is possible");
        self.stats.repairs += repairs;
        self.move_to(places);
        self.insert(work, promise, batches, false);
        (promise < NEVER).then(|| Time::from_micros(promise))
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        let &(_, end, processors) =
            self.running.iter().find(|&&(other, ..)| other == slot).expect("it runs");
        self.tasks_finished(now, slot, processors as u32, Time::from_micros(end));
    }

    fn overran(&mut self, _now: Time, _slot: Slot, _end: Time) {
        unreachable!("no job runs over its limit here");
    }

    fn failed(&mut self, _now: Time, _processors: u32, _killed: &[Killed]) {
        unreachable!("nothing fails in the histories that are compared")
    }

    fn restored(&mut self, _now: Time, _processors: u32) {
        unreachable!("nothing fails in the histories that are compared")
    }

    fn withdraw(&mut self, _now: Time, slot: Slot) -> bool {
        let touched = self.running.iter().any(|&(other, ..)| other == slot)
            || self.ended.iter().any(|&(other, _)| other == slot);
        let before = self.waiting.len();
        self.waiting.retain(|entry| touched || entry.work.slot != slot);
        self.given_back |= self.waiting.len() < before;
        self.waiting.len() < before
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        if std::mem::take(&mut self.given_back) {
            let mut steps = self.profile(0);
            if let Ok(places) = self.again(&mut steps, now.as_micros(), 0) {
                self.move_to(places);
            }
        }
        let mut batches = Vec::new();
        self.start(now, true, &mut batches);
        started.extend(batches.into_iter().map(|(slot, _)| slot));
    }

    fn next_start(&self) -> Option<Time> {
        let starts = self.waiting.iter().map(|entry| entry.batches[0].0);
        starts.min().map(Time::from_micros)
    }

    fn estimate_start(&mut self, now: Time, processors: u32, span: Option<Span>) -> Option<Time> {
        let steps = self.profile(self.waiting.len());
        let span = span.expect("all jobs have limits here").as_micros();
        let fits = i64::from(processors) <= self.processors;
        let earliest = || steps.earliest(i64::from(processors), span, now.as_micros());
        fits.then(|| Time::from_micros(earliest()))
    }

    fn queue_length(&self) -> usize {
        self.waiting.len()
    }
}

impl Bargainer for ObviousEdf {
    fn wait_again(&mut self, _: Time, _: Slot, _: &BagRequest) {
        unreachable!("nothing fails in the histories that are compared")
    }

    fn queue(&self) -> Vec<QueueEntry> {
        unreachable!("nobody asks the oracle")
    }

    fn offers(&mut self, now: Time, bag: &BagRequest) -> Vec<Offer> {
        let mut offers: Vec<Offer> = Vec::new();
        for tasks in self.config.fractions.sizes(bag.tasks) {
            let span = bag.span.as_micros();
            let work = Work { slot: Slot(u32::MAX), rigid: false, units: i64::from(tasks), span };
            let wished = bag.deadline.unwrap_or(now).as_micros();
            let (promise, _) = self.promise(&work, now.as_micros(), wished);
            let completion = Time::from_micros(promise);
            offers.retain(|offer| offer.completion < completion);
            offers.push(Offer { tasks, completion });
        }
        offers
    }

    fn award(&mut self, now: Time, slot: Slot, bag: &BagRequest, award: &Award) -> Option<Time> {
        let now = now.as_micros();
        let span = bag.span.as_micros();
        let share = |tasks: u32| Work { slot, rigid: false, units: i64::from(tasks), span };
        match award {
            Award::Offered { tasks, offer } => {
                let promise = offer.completion.as_micros();
                let mut success = self.attempt(&share(*tasks), now, promise);
                let mut surplus = 0;
                if success.is_none() && *tasks < offer.tasks {
                    success = self.attempt(&share(offer.tasks), now, promise);
                    surplus = i64::from(offer.tasks - tasks);
                }
                let (mut batches, places, repairs) = success?;
                for _ in 0..surplus {
                    let last = batches.last_mut().expect("more tasks were offered than awarded");
                    last.1 -= 1;
                    if last.1 == 0 {
                        batches.pop();
                    }
                }
                self.stats.repairs += repairs;
                self.move_to(places);
                let completion = batches.last().expect("at least one task").0 + span;
                self.insert(share(*tasks), promise, batches, false);
                Some(Time::from_micros(completion))
            }
            Award::Placed { batches, deadline } => {
                let tasks = batches.iter().map(|batch| batch.tasks).sum();
                let places: Vec<(i64, i64)> =
                    batches.iter().map(|b| (b.start.as_micros(), i64::from(b.tasks))).collect();
                let completion = places.last().expect("at least one task").0 + span;
                self.insert(share(tasks), deadline.as_micros(), places, self.config.pinned);
                Some(Time::from_micros(completion))
            }
        }
    }

    fn free_slots(&mut self, now: Time) -> Vec<FreeSlot> {
        // Processor by processor: the i-th is free where at least i are.
        let steps = self.profile(self.waiting.len());
        let now = now.as_micros();
        let mut slots = Vec::new();
        for i in 1..=self.processors {
            let mut open = (steps.free_at(now) >= i).then_some(now);
            for &(time, free) in steps.0.iter().filter(|&&(time, _)| time > now) {
                if free >= i {
                    open = open.or(Some(time));
                } else if let Some(start) = open.take() {
                    slots.push((start, time));
                }
            }
            slots.extend(open.map(|start| (start, NEVER)));
        }
        slots.sort_unstable_by_key(|&(start, end)| (start, -end));
        let slot = |(start, end)| FreeSlot {
            start: Time::from_micros(start),
            end: Time::from_micros(end),
        };
        slots.into_iter().map(slot).collect()
    }

    fn tasks_due(&mut self, now: Time, started: &mut Vec<(Slot, u32)>) {
        self.start(now, false, started);
    }

    fn tasks_finished(&mut self, now: Time, slot: Slot, tasks: u32, planned_end: Time) {
        let (now, end) = (now.as_micros(), planned_end.as_micros());
        let mut left = i64::from(tasks);
        for running in self.running.iter_mut().filter(|r| (r.0, r.1) == (slot, end)) {
            let ended = running.2.min(left);
            running.2 -= ended;
            left -= ended;
        }
        assert_eq!(left, 0, "only what runs can end");
        self.running.retain(|&(_, _, processors)| processors > 0);
        self.ended.push((slot, now));
        self.given_back |= now < end;
    }

    fn latest_completion(&self, slot: Slot) -> Option<Time> {
        let waiting = self.waiting.iter().filter(|entry| entry.work.slot == slot);
        let planned =
            waiting.clone().flat_map(|entry| entry.batches.iter().map(|b| b.0 + entry.work.span));
        let running = self.running.iter().filter(|r| r.0 == slot).map(|r| r.1);
        let over = waiting.count() == 0 && !self.running.iter().any(|r| r.0 == slot);
        let ended = self.ended.iter().filter(|e| !over && e.0 == slot).map(|e| e.1);
        planned.chain(running).chain(ended).max().map(Time::from_micros)
    }
}
