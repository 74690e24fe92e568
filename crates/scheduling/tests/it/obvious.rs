//! Obvious versions of the schedulers: a sorted list of bookings, in which every job is examined after every event.
//! Slow, short, and written from the definitions.

use haggle_model::{Span, Time};
use haggle_scheduling::{
    Compression, Interval, Killed, LocalScheduler, Maintaining, Order, Overlap, Policy, Request,
    Reserving, Slot,
};

/// One booking: `[start, end)` and processors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Booked {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) processors: u32,
}

/// Bookings in a plain list.
#[derive(Clone, Debug)]
pub(crate) struct ObviousProfile {
    pub(crate) capacity: u32,
    pub(crate) booked: Vec<Booked>,
}

impl ObviousProfile {
    pub(crate) fn free_at(&self, time: i64) -> u32 {
        let used: u32 = self
            .booked
            .iter()
            .filter(|b| b.start <= time && time < b.end)
            .map(|b| b.processors)
            .sum();
        self.capacity - used
    }

    pub(crate) fn min_free(&self, start: i64, end: i64) -> u32 {
        let inside = self.booked.iter().map(|b| b.start).filter(|&t| start < t && t < end);
        inside.chain([start]).map(|time| self.free_at(time)).min().expect("never empty")
    }

    pub(crate) fn earliest_fit(&self, processors: u32, span: i64, from: i64) -> Option<i64> {
        let ends = self.booked.iter().map(|b| b.end);
        let mut candidates: Vec<i64> =
            ends.filter(|&end| from < end && end < Time::FOREVER.as_micros()).collect();
        candidates.push(from);
        candidates.sort_unstable();
        candidates.into_iter().find(|&time| self.min_free(time, time + span) >= processors)
    }
}

/// Starts from here on wait for a job without a limit.
const BEYOND_ALL_LIMITS: i64 = Span::FOREVER.as_micros();

/// No planned start.
const NEVER: i64 = Time::FOREVER.as_micros();

/// End of a job of this length.
fn end(start: i64, span: i64) -> i64 {
    (start + span).min(Time::FOREVER.as_micros())
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    slot: Slot,
    processors: u32,
    span: i64,
    rank: (i64, u32),
    start: i64,
    /// It cannot start before.
    ready: i64,
}

/// Any of the policies, in an obvious implementation.
#[derive(Clone, Debug)]
pub(crate) struct Obvious {
    policy: Policy,
    order: Order,
    compression: Compression,
    /// Number of jobs behind the head that EASY examines.
    depth: usize,
    capacity: u32,
    running: Vec<(Slot, Booked)>,
    waiting: Vec<Waiting>,
    /// Jobs that start at this instant, and whose processors are not free yet.
    decided: Vec<(Waiting, Booked)>,
    /// Processors that have failed.
    down: u32,
    /// Announced maintenance: number, interval, whether it has begun, announced processors.
    windows: Vec<(u32, Booked, bool, u32)>,
    sequence: u32,
    /// Time of the last start of due jobs.
    passed: i64,
    /// Latest planned end of the processors that were given back since the last compression.
    given_back: Option<i64>,
}

impl Obvious {
    pub(crate) fn new(
        capacity: u32,
        policy: Policy,
        order: Order,
        compression: Compression,
    ) -> Obvious {
        Obvious {
            policy,
            order,
            compression,
            depth: usize::MAX,
            capacity,
            running: Vec::new(),
            waiting: Vec::new(),
            decided: Vec::new(),
            down: 0,
            windows: Vec::new(),
            sequence: 0,
            passed: 0,
            given_back: None,
        }
    }

    pub(crate) fn with_depth(self, depth: usize) -> Obvious {
        Obvious { depth, ..self }
    }

    fn used(&self) -> u32 {
        let closed = self.windows.iter().filter(|it| it.2).map(|it| it.1.processors).sum::<u32>();
        let running = self.running.iter().map(|(_, booked)| booked.processors).sum::<u32>();
        self.down + closed + running
    }

    fn profile(&self, without: Option<Slot>) -> ObviousProfile {
        let running = self.running.iter().map(|&(_, booked)| booked);
        let decided = self.decided.iter().map(|&(_, booked)| booked);
        let down = Booked { start: i64::MIN, end: NEVER, processors: self.down };
        let windows = self.windows.iter().map(|it| it.1);
        let mut booked: Vec<Booked> = running.chain(decided).chain([down]).chain(windows).collect();
        if self.policy == Policy::Conservative {
            let planned = self.waiting.iter().filter(|w| w.start < Time::FOREVER.as_micros());
            booked.extend(planned.filter(|w| Some(w.slot) != without).map(|w| Booked {
                start: w.start,
                end: end(w.start, w.span),
                processors: w.processors,
            }));
        }
        ObviousProfile { capacity: self.capacity, booked }
    }

    /// Takes these jobs out of the plan and puts them back in the queue's order.
    fn plan_anew(&mut self, now: i64, which: impl Fn(&Waiting) -> bool) {
        let all = std::mem::take(&mut self.waiting);
        let (mut anew, stay): (Vec<Waiting>, Vec<Waiting>) = all.into_iter().partition(which);
        self.waiting = stay;
        anew.sort_by_key(|w| w.rank);
        for mut w in anew {
            w.start = self.fit(None, w.processors, w.span, now.max(w.ready));
            self.waiting.push(w);
        }
    }

    fn fit(&self, without: Option<Slot>, processors: u32, span: i64, now: i64) -> i64 {
        let fit = self.profile(without).earliest_fit(processors, span, now);
        fit.unwrap_or(Time::FOREVER.as_micros())
    }

    /// Notes returned time: the planned end of its job was `end`.
    fn give_back(&mut self, end: i64) {
        if self.policy == Policy::Conservative {
            self.given_back = self.given_back.max(Some(end));
        }
    }

    /// One compression for all returned time.
    fn catch_up(&mut self, now: Time) {
        if let Some(end) = self.given_back.take() {
            self.compress(now.as_micros(), end);
        }
    }

    fn compress(&mut self, now: i64, end: i64) {
        match self.compression {
            Compression::None if end < BEYOND_ALL_LIMITS => {}
            Compression::None => self.plan_anew(now, |w| w.start >= BEYOND_ALL_LIMITS),
            Compression::Replan => self.plan_anew(now, |_| true),
            Compression::ByStart | Compression::JobByJob => {
                let mut order: Vec<Waiting> = self.waiting.clone();
                if self.compression == Compression::ByStart {
                    order.sort_by_key(|w| (w.start, w.rank));
                } else {
                    order.sort_by_key(|w| w.rank);
                }
                for job in order {
                    let from = now.max(job.ready);
                    let start = self.fit(Some(job.slot), job.processors, job.span, from);
                    let waiting = self.waiting.iter_mut().find(|w| w.slot == job.slot);
                    waiting.expect("it waits").start = start;
                }
            }
        }
    }

    /// Windows that lack processors, because jobs were in the way, take returned ones.
    fn complete_windows(&mut self) {
        for place in 0..self.windows.len() {
            let (_, Booked { start, end, processors }, has_begun, wanted) = self.windows[place];
            if !has_begun {
                let free = self.profile(None).min_free(start, end);
                self.windows[place].1.processors += free.min(wanted - processors);
            }
        }
    }

    fn run(&mut self, now: i64, slot: Slot, started: &mut Vec<Slot>) {
        let at = self.waiting.iter().position(|w| w.slot == slot).expect("it waits");
        let w = self.waiting.remove(at);
        let booked = Booked { start: now, end: end(now, w.span), processors: w.processors };
        self.running.push((slot, booked));
        started.push(slot);
    }

    fn decide(&mut self, now: i64, slot: Slot) {
        let at = self.waiting.iter().position(|w| w.slot == slot).expect("it waits");
        let w = self.waiting.remove(at);
        let booked = Booked { start: now, end: end(now, w.span), processors: w.processors };
        self.decided.push((w, booked));
    }

    fn queue(&self) -> Vec<Waiting> {
        let mut queue = self.waiting.clone();
        queue.sort_by_key(|w| w.rank);
        queue
    }
}

impl LocalScheduler for Obvious {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        self.submit_after(now, request, now)
    }

    fn finished(&mut self, _: Time, slot: Slot) {
        let at = self.running.iter().position(|&(other, _)| other == slot).expect("it runs");
        let (_, booked) = self.running.remove(at);
        self.complete_windows();
        self.give_back(booked.end);
    }

    fn overran(&mut self, _: Time, _: Slot, _: Time) {
        unreachable!("jobs of these tests keep to their request");
    }

    fn failed(&mut self, now: Time, processors: u32, killed: &[Killed]) {
        self.running.retain(|(slot, _)| killed.iter().all(|it| it.slot != *slot));
        self.down += processors;
        // Decisions that used lost processors are made again.
        let decided = std::mem::take(&mut self.decided);
        self.waiting.extend(decided.into_iter().map(|(job, _)| job));
        for waiting in &mut self.waiting {
            waiting.start = NEVER;
        }
        self.plan_anew(now.as_micros(), |_| true);
    }

    fn restored(&mut self, _: Time, processors: u32) {
        self.down -= processors;
        self.give_back(NEVER);
    }

    fn withdraw(&mut self, _: Time, slot: Slot) -> bool {
        let Some(at) = self.waiting.iter().position(|w| w.slot == slot) else { return false };
        let job = self.waiting.remove(at);
        self.give_back(end(job.start, job.span));
        true
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        self.catch_up(now);
        let now = now.as_micros();
        self.passed = now;
        let mut queue = self.queue();
        if self.policy == Policy::Conservative {
            queue.sort_by_key(|w| (w.start, w.rank));
            for job in queue {
                if job.start <= now && job.processors <= self.capacity - self.used() {
                    self.run(now, job.slot, started);
                }
            }
            return;
        }
        if self.policy == Policy::Fcfs {
            for head in queue {
                if head.ready > now {
                    break;
                }
                let planned = self.profile(None).min_free(now, end(now, head.span));
                if head.processors > planned.min(self.capacity - self.used()) {
                    break;
                }
                self.run(now, head.slot, started);
            }
            return;
        }
        // EASY decides by plan. A decided job starts when its processors are free.
        let planned_free =
            |me: &Obvious, job: &Waiting| me.profile(None).min_free(now, end(now, job.span));
        while let Some(head) = queue.first().copied() {
            if head.processors > planned_free(self, &head) {
                break;
            }
            self.decide(now, head.slot);
            queue.remove(0);
        }
        if !queue.is_empty() {
            let head = queue.remove(0);
            for job in queue.into_iter().take(self.depth) {
                if job.processors > planned_free(self, &job) {
                    continue;
                }
                let mut with_job = self.profile(None);
                let shadow = with_job.earliest_fit(head.processors, head.span, now);
                let (start, end) = (now, end(now, job.span));
                with_job.booked.push(Booked { start, end, processors: job.processors });
                if with_job.earliest_fit(head.processors, head.span, now) == shadow {
                    self.decide(now, job.slot);
                }
            }
        }
        while let Some(&(Waiting { slot, .. }, booked)) = self.decided.first()
            && booked.processors <= self.capacity - self.used()
        {
            self.decided.remove(0);
            self.running.push((slot, booked));
            started.push(slot);
        }
    }

    fn next_start(&self) -> Option<Time> {
        if self.policy == Policy::Fcfs {
            let head = *self.queue().first()?;
            return (head.ready > self.passed).then(|| Time::from_micros(head.ready));
        }
        let planned = (self.policy == Policy::Conservative).then_some(&self.waiting)?;
        let starts = planned.iter().map(|w| w.start).filter(|&start| start < BEYOND_ALL_LIMITS);
        starts.min().map(Time::from_micros)
    }

    fn estimate_start(&mut self, _: Time, _: u32, _: Option<Span>) -> Option<Time> {
        None
    }

    fn queue_length(&self) -> usize {
        self.waiting.len() + self.decided.len()
    }

    fn submit_after(&mut self, now: Time, request: Request, ready: Time) -> Option<Time> {
        self.catch_up(now);
        let span = request.span.unwrap_or(Span::FOREVER).as_micros();
        let primary = match self.order {
            _ if request.ahead => i64::MIN,
            Order::Arrival => 0,
            Order::Shortest => span,
            Order::Largest => -i64::from(request.processors),
            Order::Key => request.key,
            Order::Own(own) => {
                (own.rule)(&request, request.span.unwrap_or(Span::FOREVER).max(Span::TICK))
            }
        };
        let rank = (primary, self.sequence);
        self.sequence += 1;
        let (slot, processors) = (request.slot, request.processors);
        let others = if request.ahead { std::mem::take(&mut self.waiting) } else { Vec::new() };
        // The other policies guarantee no start, and take no account of it.
        let reserves = match self.policy {
            Policy::Fcfs => true,
            Policy::Easy => false,
            Policy::Conservative => self.compression != Compression::Replan,
        };
        let ready = if reserves { ready } else { now }.as_micros();
        let start = self.fit(None, processors, span, now.as_micros().max(ready));
        self.waiting.push(Waiting { slot, processors, span, rank, start, ready });
        // A job that goes ahead of the others is planned before them.
        self.waiting.extend(others.iter().map(|&other| Waiting { start: NEVER, ..other }));
        self.plan_anew(now.as_micros(), |w| others.iter().any(|other| other.slot == w.slot));
        let promised = self.policy == Policy::Conservative && end(start, span) < BEYOND_ALL_LIMITS;
        promised.then(|| Time::from_micros(start + span))
    }

    fn starts(&mut self) -> &mut dyn Reserving {
        self
    }

    fn maintenance(&mut self) -> &mut dyn Maintaining {
        self
    }
}

impl Reserving for Obvious {
    fn planned_start(&mut self, now: Time, slot: Slot) -> Option<Time> {
        self.catch_up(now);
        let job = self.waiting.iter().find(|w| w.slot == slot)?;
        Some(Time::from_micros(job.start))
    }

    fn estimate_after(&mut self, _: Time, _: u32, _: Option<Span>, _: Time) -> Option<Time> {
        None
    }

    fn withdraw_all(&mut self, now: Time, slots: &[Slot]) {
        for &slot in slots {
            self.withdraw(now, slot);
        }
    }
}

/// Windows as in the tests: nothing fails, and jobs keep to their requested times.
impl Maintaining for Obvious {
    fn announce(&mut self, now: Time, number: u32, window: Interval, overlap: Overlap) -> bool {
        self.catch_up(now);
        let (start, end) = (window.start.as_micros(), window.end().as_micros());
        let processors = window.processors;
        let wanted = processors;
        if self.profile(None).min_free(start, end) >= processors {
            self.windows.push((number, Booked { start, end, processors }, false, wanted));
            return true;
        }
        if overlap == Overlap::Refuse {
            return false;
        }
        self.waiting.iter_mut().for_each(|job| job.start = NEVER);
        let processors = self.profile(None).min_free(start, end).min(wanted);
        self.windows.push((number, Booked { start, end, processors }, false, wanted));
        self.plan_anew(now.as_micros(), |_| true);
        true
    }

    fn first_room(&mut self, now: Time, window: Interval) -> Option<Time> {
        self.catch_up(now);
        let from = window.start.max(now).as_micros();
        let profile = self.profile(None);
        let start = profile.earliest_fit(window.processors, window.span.as_micros(), from)?;
        Some(Time::from_micros(start))
    }

    fn kept(&mut self, now: Time, number: u32) -> u32 {
        self.catch_up(now);
        self.complete_windows();
        let window = self.windows.iter().find(|it| it.0 == number);
        window.map_or(0, |it| it.1.processors)
    }

    fn begin(&mut self, _: Time, number: u32, processors: u32) {
        let window = self.windows.iter_mut().find(|it| it.0 == number).expect("it was announced");
        assert_eq!(window.1.processors, processors, "it gets all of it");
        window.2 = true;
    }

    fn end(&mut self, _: Time, number: u32) {
        self.windows.retain(|it| it.0 != number);
    }
}
