//! Parts of jobs and a queue of jobs on one machine whose processors fail or are closed, and whose jobs overrun.

use std::collections::BTreeMap;

use haggle_model::reservation::Remedy;
use haggle_model::{Span, Time};
use haggle_scheduling::reservations::{Displaced, Reserve, Window};
use haggle_scheduling::{
    Compression, Interval, Killed, LocalQueue, Order, Overlap, Policy, Request, SchedulerConfig,
    Scheduling, Slot,
};
use haggle_testing::at_micros;
use proptest::prelude::*;

use crate::obvious_parts::{Asked, Fate, NEVER, ObviousParts, Place};

const CAPACITY: u32 = 6;

fn config(policy: Policy, compression: Compression) -> SchedulerConfig {
    SchedulerConfig { policy, order: Order::Arrival, compression, depth: None, window: None }
}

fn queue(compression: Compression) -> Box<LocalQueue> {
    Scheduling::from(config(Policy::Conservative, compression)).around_parts().build(CAPACITY)
}

fn interval(place: Place) -> Interval {
    let Place { start, end, processors } = place;
    let at_micros = |start| if start < NEVER { at_micros(start) } else { Time::FOREVER };
    Interval { start: at_micros(start), span: Span::from_micros(end - start), processors }
}

fn request(slot: Slot, processors: u32, span: i64, ahead: bool) -> Request {
    let span = Some(Span::from_micros(span));
    Request { ahead, ..Request::new(slot, processors, span) }
}

/// An event of a world. A number selects one of the parts that wait.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A job: processors, requested time, time of its run, time in which it cannot start.
    Submit(u32, i64, i64, i64),
    /// The start of a job that may come: processors, requested time, time in which it cannot start.
    Estimate(u32, i64, i64),
    /// Jobs are withdrawn together: every how many of them.
    TakeBack(usize),
    /// A part: processors, time until its start, planned time, time of its run.
    Hold(u32, i64, i64, i64),
    /// A reservation: processors, time until its window, planned time, freedom, time of its run, remedy.
    Ask(u32, i64, i64, i64, i64, Remedy),
    /// Another place for a part: processors, time until its start, planned time.
    Prepare(usize, u32, i64, i64),
    Settle(usize),
    Abandon(usize),
    Withdraw(usize),
    Shorten(usize, i64),
    IntoJob(usize),
    /// Processors fail: how many, for how long.
    Fail(u32, i64),
    /// Maintenance: time until its begin, processors, length, treatment of promises.
    Close(i64, u32, i64, Overlap),
}

fn event() -> impl Strategy<Value = Event> {
    let processors = 1..=CAPACITY;
    let overlap = prop::sample::select(vec![Overlap::Refuse, Overlap::Break]);
    prop_oneof![
        6 => (processors.clone(), 1_i64..12, 1_i64..16, prop_oneof![3 => Just(0), 1 => 1_i64..15])
            .prop_map(|(it, span, run, data)| Event::Submit(it, span, run, data)),
        2 => (processors.clone(), 1_i64..12, 0_i64..15)
            .prop_map(|(it, span, data)| Event::Estimate(it, span, data)),
        1 => (1_usize..4).prop_map(Event::TakeBack),
        6 => (processors.clone(), 0_i64..20, 1_i64..12, 1_i64..12)
            .prop_map(|(it, lead, span, run)| Event::Hold(it, lead, span, run)),
        4 => (processors.clone(), 0_i64..15, 1_i64..12, 0_i64..12, 1_i64..16, remedy())
            .prop_map(|(it, lead, span, slack, run, remedy)| {
                Event::Ask(it, lead, span, slack, run, remedy)
            }),
        4 => (0_usize..4, processors.clone(), 0_i64..20, 1_i64..12)
            .prop_map(|(part, it, lead, span)| Event::Prepare(part, it, lead, span)),
        1 => (0_usize..4).prop_map(Event::Settle),
        1 => (0_usize..4).prop_map(Event::Abandon),
        1 => (0_usize..4).prop_map(Event::Withdraw),
        1 => (0_usize..4, 1_i64..9).prop_map(|(part, span)| Event::Shorten(part, span)),
        1 => (0_usize..4).prop_map(Event::IntoJob),
        3 => (processors.clone(), 1_i64..25).prop_map(|(it, lasts)| Event::Fail(it, lasts)),
        1 => (0_i64..12, processors, 1_i64..9, overlap)
            .prop_map(|(lead, it, lasts, overlap)| Event::Close(lead, it, lasts, overlap)),
    ]
}

fn remedy() -> impl Strategy<Value = Remedy> {
    prop::sample::select(vec![Remedy::Postpone, Remedy::Substitute, Remedy::Shrink, Remedy::Revoke])
}

/// Job, part or reservation: its processors, the time of its run, and its planned time.
#[derive(Clone, Copy, Debug)]
struct Work {
    processors: u32,
    run: i64,
    span: i64,
    is_part: bool,
    asked: Option<Asked>,
    attempts: u32,
}

fn reserve(slot: Slot, (processors, span): (u32, i64), asked: Asked) -> Reserve {
    Reserve {
        slot,
        submitted: Time::ZERO,
        processors,
        span: Span::from_micros(span),
        window: Window { ready: Some(at_micros(asked.ready)), deadline: at_micros(asked.deadline) },
        fix_at: None,
        accepts: None,
        remedy: asked.remedy,
    }
}

/// Work of a provider for its queue, done by the fast and by the obvious version step by step.
struct World {
    config: SchedulerConfig,
    /// The queue gives every job a start that it keeps.
    has_starts: bool,
    now: i64,
    fast: Box<LocalQueue>,
    obvious: ObviousParts,
    work: BTreeMap<Slot, Work>,
    /// End and planned end of running work, in the order of starts.
    running: Vec<(Slot, i64, i64)>,
    repairs: Vec<(i64, u32)>,
    /// Begin and end of each window; processors that are closed.
    windows: Vec<(i64, i64, u32)>,
    /// Parts that have lost their places, and the times of it.
    displaced: Vec<(i64, Slot)>,
    /// Reservations that have lost their places.
    hit: usize,
}

impl World {
    fn new(config: SchedulerConfig) -> World {
        let fast = Scheduling::from(config).around_parts().build(CAPACITY);
        World {
            config,
            has_starts: fast.capabilities().starts.is_ok(),
            now: 0,
            fast,
            obvious: ObviousParts::new(CAPACITY, config),
            work: BTreeMap::new(),
            running: Vec::new(),
            repairs: Vec::new(),
            windows: Vec::new(),
            displaced: Vec::new(),
            hit: 0,
        }
    }

    fn slot(&self) -> Slot {
        (0..).map(Slot).find(|slot| !self.work.contains_key(slot)).expect("there is a free slot")
    }

    /// Jobs move up before an answer of the fast version. In the order of the queue, a second pass may move more, and
    /// other queues move parts that are jobs of their own. So the fast version is told to make this pass.
    fn catch_up(&mut self) {
        self.obvious.compress(self.now);
        let SchedulerConfig { policy, compression, .. } = self.config;
        let keeps = policy == Policy::Conservative && compression != Compression::Replan;
        let moves_up = self.obvious.parts.iter().any(|it| it.single);
        if !keeps || compression == Compression::JobByJob || moves_up {
            self.fast.parts().compress(at_micros(self.now));
        }
    }

    fn used(&self) -> u32 {
        self.obvious.in_use()
    }

    /// Forgets the parts that have lost their places, and seeks other places for reservations.
    fn displace(&mut self, (expected, fates): (Vec<Slot>, Vec<(Slot, Fate)>)) {
        let mut displaced = Vec::new();
        self.fast.parts().take_displaced(&mut displaced);
        assert_eq!(displaced, expected, "at {}", self.now);
        for slot in displaced {
            assert_eq!(self.fast.parts().planned(slot), None);
            assert!(self.work.remove(&slot).is_some_and(|it| it.is_part));
            self.displaced.push((self.now, slot));
        }
        let mut seen = Vec::new();
        self.fast.windows().displaced(&mut seen);
        let start = |it: Time| if it < Time::FOREVER { it.as_micros() } else { NEVER };
        let fate = |it: &Displaced| match *it {
            Displaced::Moved(to) => Fate::Moved(start(to)),
            Displaced::Postponed(to) => Fate::Postponed(start(to)),
            Displaced::Out(_) => Fate::Out,
        };
        let seen = Vec::from_iter(seen.iter().map(|(slot, it)| (*slot, fate(it))));
        assert_eq!(seen, fates, "at {}", self.now);
        for (slot, fate) in fates {
            self.hit += 1;
            match fate {
                Fate::Moved(_) => {}
                Fate::Postponed(_) => {
                    // Only its new place is promised from now on.
                    let asked = self.obvious.part(slot).expect("it waits").asked;
                    self.work.get_mut(&slot).expect("it waits").asked = asked;
                }
                Fate::Out => self.ask_again(slot),
            }
        }
    }

    /// Seeks another place for a reservation that has none.
    fn ask_again(&mut self, slot: Slot) {
        let now = self.now;
        let Work { processors, span, asked, .. } = self.work[&slot];
        let (size, asked) = ((processors, span), asked.expect("a reservation"));
        self.catch_up();
        let request = reserve(slot, size, asked);
        let granted = self.fast.windows().ask_again(at_micros(now), &request, &mut |_| 0);
        let expected = self.obvious.ask_again(now, slot, size, asked);
        assert_eq!(granted.map(|it| it.start), expected.map(at_micros));
        if expected.is_none() {
            self.work.remove(&slot);
        }
    }

    fn fail(&mut self, wanted: u32, lasts: i64) {
        let closed: u32 = self.windows.iter().map(|it| it.2).sum();
        let count = wanted.min(CAPACITY - self.obvious.down - closed);
        let mut killed = Vec::new();
        let mut left = CAPACITY - self.used();
        while left < count {
            let (slot, _, end) =
                self.running.pop().expect("processors that are not free run something");
            let processors = self.work[&slot].processors;
            left += processors;
            killed.push(Killed { slot, processors, planned_end: at_micros(end) });
        }
        self.obvious.given_back = true;
        self.fast.failed(at_micros(self.now), count, &killed);
        let displaced = self.obvious.failed(self.now, count, &killed);
        self.displace(displaced);
        self.repairs.push((self.now + lasts, count));
        for Killed { slot, .. } in killed {
            let work = self.work.get_mut(&slot).expect("it ran");
            work.attempts += 1;
            let Work { processors, span, is_part, attempts, asked, .. } = *work;
            if asked.is_some_and(|it| it.remedy != Remedy::Postpone) {
                self.ask_again(slot);
            } else if is_part {
                self.work.remove(&slot);
            } else {
                self.work.get_mut(&slot).expect("it waits").asked = None;
                self.submit(slot, (processors, span), self.now, attempts % 2 == 1);
            }
        }
    }

    fn submit(&mut self, slot: Slot, (processors, span): (u32, i64), ready: i64, ahead: bool) {
        let request = request(slot, processors, span, ahead);
        self.obvious.given_back |= ahead;
        if ready > self.now {
            self.catch_up();
            self.fast.submit_after(at_micros(self.now), request, at_micros(ready));
        } else {
            self.fast.submit(at_micros(self.now), request);
        }
        self.obvious.submit(self.now, slot, (processors, span), ready, ahead);
    }

    fn end(&mut self) {
        let now = self.now;
        let ended: Vec<_> = self.running.extract_if(.., |it| it.1 == now).collect();
        for (slot, ..) in ended {
            self.obvious.given_back = true;
            self.fast.finished(at_micros(now), slot);
            self.obvious.finished(now, slot);
            self.work.remove(&slot);
        }
        for index in 0..self.running.len() {
            let (slot, _, planned) = self.running[index];
            if planned == now {
                let end = now + self.work[&slot].span;
                self.running[index].2 = end;
                self.obvious.given_back = true;
                self.fast.overran(at_micros(now), slot, at_micros(end));
                let displaced = self.obvious.overran(now, slot, end);
                self.displace(displaced);
            }
        }
    }

    fn maintain(&mut self) {
        for number in 0..self.windows.len() {
            let (begin, end, _) = self.windows[number];
            let id = number as u32;
            self.obvious.given_back |= end == self.now || begin == self.now;
            if end == self.now {
                self.fast.maintenance().end(at_micros(self.now), id);
                self.obvious.end(id);
                self.windows[number].2 = 0;
            }
            if begin == self.now {
                let kept = self.fast.maintenance().kept(at_micros(self.now), id);
                assert_eq!(kept, self.obvious.kept(self.now, id));
                let gets = kept.min(CAPACITY - self.used());
                self.fast.maintenance().begin(at_micros(self.now), id, gets);
                self.obvious.begin(id, gets);
                self.windows[number].2 = gets;
            }
        }
    }

    fn start(&mut self) {
        let mut started = Vec::new();
        self.fast.parts().compress(at_micros(self.now));
        self.obvious.compress(self.now);
        self.fast.start_due(at_micros(self.now), &mut started);
        assert_eq!(started, self.obvious.start_due(self.now), "at {}", self.now);
        for slot in started {
            let &(_, Place { end, .. }) =
                self.obvious.running.iter().find(|it| it.0 == slot).expect("it has started");
            let Work { run, span, asked, .. } = self.work[&slot];
            if let Some(asked) = asked {
                assert!(asked.ready <= self.now && self.now + span <= asked.deadline);
            }
            self.running.push((slot, self.now + run, end));
        }
        assert!(self.used() <= CAPACITY, "more processors are in use than are up");
    }

    /// The part that a number selects, if it is not about to move.
    fn part(&self, number: usize, moves: bool) -> Option<Slot> {
        let part = self.obvious.parts.get(number).filter(|part| part.to.is_some() == moves);
        part.filter(|part| !part.single).map(|part| part.slot)
    }

    fn happens(&mut self, event: Event) {
        let now = self.now;
        self.obvious.given_back |= matches!(event, Event::Close(..));
        match event {
            Event::Submit(processors, span, run, data) => {
                let slot = self.slot();
                // Other queues take no account of the time at which a job is ready.
                let ready = if self.has_starts { now + data } else { now };
                self.submit(slot, (processors, span), ready, false);
                self.work.insert(
                    slot,
                    Work { processors, run, span, is_part: false, asked: None, attempts: 0 },
                );
            }
            // EASY guesses.
            Event::Estimate(..) if self.config.policy == Policy::Easy => {}
            Event::Estimate(processors, span, data) => {
                let data = if self.has_starts { data } else { 0 };
                let lasts = Some(Span::from_micros(span));
                self.catch_up();
                let start = match self.has_starts {
                    true => {
                        let ready = at_micros(now + data);
                        self.fast.starts().estimate_after(at_micros(now), processors, lasts, ready)
                    }
                    false => self.fast.estimate_start(at_micros(now), processors, lasts),
                };
                let expected = self.obvious.estimate(now + data, processors, span);
                assert_eq!(
                    start,
                    Some(if expected < NEVER { at_micros(expected) } else { Time::FOREVER })
                );
            }
            Event::TakeBack(every) => {
                let jobs = self.obvious.jobs().into_iter().map(|it| it.0);
                let slots: Vec<Slot> = jobs.filter(|it| it.index() % every == 0).collect();
                self.obvious.given_back |= self.has_starts || !slots.is_empty();
                match self.has_starts {
                    true => self.fast.starts().withdraw_all(at_micros(now), &slots),
                    false => slots.iter().for_each(|&slot| {
                        assert!(self.fast.withdraw(at_micros(now), slot));
                    }),
                }
                for slot in slots {
                    assert!(self.obvious.withdraw(slot));
                    self.work.remove(&slot);
                }
            }
            Event::Hold(processors, lead, span, run) => {
                let slot = self.slot();
                let place = Place { start: now + lead, end: now + lead + span, processors };
                let is_held = self.fast.parts().hold(at_micros(now), slot, interval(place));
                assert_eq!(is_held, self.obvious.hold(now, slot, place));
                if is_held {
                    let run = run.min(span);
                    let work =
                        Work { processors, run, span, is_part: true, asked: None, attempts: 0 };
                    self.work.insert(slot, work);
                }
            }
            Event::Ask(processors, lead, span, slack, run, remedy) => {
                let slot = self.slot();
                let (ready, size) = (now + lead, (processors, span));
                let asked = Asked { ready, deadline: ready + span + slack, remedy };
                self.catch_up();
                let request = reserve(slot, size, asked);
                let granted = self.fast.windows().ask(at_micros(now), &request, &[], &mut |_| 0);
                let expected = self.obvious.ask(now, slot, size, asked);
                assert_eq!(granted.map(|it| it.start), expected.map(at_micros), "at {now}");
                if expected.is_some() {
                    let (is_part, asked) = (false, Some(asked));
                    let work = Work { processors, run, span, is_part, asked, attempts: 0 };
                    self.work.insert(slot, work);
                }
            }
            Event::Prepare(part, processors, lead, span) => {
                let Some(slot) = self.part(part, false) else { return };
                let to = Place { start: now + lead, end: now + lead + span, processors };
                let is_ready = self.fast.parts().prepare(at_micros(now), slot, interval(to));
                assert_eq!(is_ready, self.obvious.prepare(now, slot, to));
            }
            Event::Settle(part) => {
                let Some(slot) = self.part(part, true) else { return };
                self.obvious.given_back = true;
                let has_moved = self.fast.parts().settle(at_micros(now), slot);
                assert_eq!(has_moved, self.obvious.settle(now, slot));
                self.measure(slot);
            }
            Event::Abandon(part) => {
                let Some(slot) = self.part(part, true) else { return };
                self.obvious.given_back = true;
                assert!(
                    self.fast.parts().abandon(at_micros(now), slot) && self.obvious.abandon(slot)
                );
            }
            Event::Withdraw(part) => {
                let Some(slot) = self.obvious.parts.get(part).map(|it| it.slot) else { return };
                self.obvious.given_back = true;
                assert!(self.fast.withdraw(at_micros(now), slot) && self.obvious.withdraw(slot));
                self.work.remove(&slot);
            }
            Event::Shorten(part, span) => {
                let Some(slot) = self.part(part, false) else { return };
                let own = self.obvious.part(slot).expect("it waits").own;
                let end = own.end.min(own.start + span);
                self.fast.parts().shorten(at_micros(now), slot, at_micros(end));
                self.obvious.shorten(slot, end);
                self.obvious.given_back = true;
                self.measure(slot);
            }
            Event::IntoJob(part) => {
                let Some(slot) = self.part(part, false) else { return };
                let Work { processors, span, .. } = self.work[&slot];
                self.fast.parts().turn_into_job(request(slot, processors, span, false));
                self.obvious.turn_into_job(slot);
                self.obvious.given_back = true;
                // Only a queue with reservations has a place for it among its jobs.
                let is_part = self.obvious.part(slot).is_some();
                self.work.get_mut(&slot).expect("it waits").is_part = is_part;
            }
            Event::Fail(count, lasts) => self.fail(count, lasts),
            Event::Close(lead, processors, lasts, overlap) => {
                let place =
                    Place { start: now + lead + 1, end: now + lead + 1 + lasts, processors };
                let id = self.windows.len() as u32;
                let accepted =
                    self.fast.maintenance().announce(at_micros(now), id, interval(place), overlap);
                assert_eq!(accepted, self.obvious.announce(now, id, place, overlap));
                let times = if accepted { (place.start, place.end) } else { (-1, -1) };
                self.windows.push((times.0, times.1, 0));
            }
        }
    }

    /// A part has another size or length.
    fn measure(&mut self, slot: Slot) {
        let Place { start, end, processors } = self.obvious.part(slot).expect("it waits").own;
        let work = self.work.get_mut(&slot).expect("it waits");
        (work.processors, work.span, work.run) =
            (processors, end - start, work.run.min(end - start));
    }

    /// Compares the plans.
    fn compare(&mut self) {
        let now = self.now;
        assert_eq!(self.fast.next_start(), self.obvious.next_start(now).map(at_micros));
        // A move that was dropped at the start of its part has left room.
        self.fast.parts().compress(at_micros(now));
        self.obvious.compress(now);
        let jobs = self.obvious.jobs();
        let single = self.obvious.parts.iter().filter(|it| it.single).count();
        assert_eq!(self.fast.queue_length(), jobs.len() + single);
        for (slot, start) in jobs.into_iter().filter(|_| self.has_starts) {
            let expected = start.map_or(Time::FOREVER, at_micros);
            assert_eq!(
                self.fast.starts().planned_start(at_micros(now), slot),
                Some(expected),
                "{slot:?} at {now}"
            );
        }
        for part in &self.obvious.parts {
            assert_eq!(self.fast.parts().planned(part.slot), Some(interval(part.own)));
            assert_eq!(
                self.fast.starts().planned_start(at_micros(now), part.slot),
                None,
                "a part is no job"
            );
        }
        let free = self.fast.parts().free_times(at_micros(now), None);
        for time in now..=self.obvious.last() {
            let expected = self.obvious.free(time);
            assert_eq!(
                free.min_free(at_micros(time), at_micros(time + 1)),
                expected,
                "{time} at {now}"
            );
        }
    }

    /// The world with these events, each with the time since the one before.
    fn run(mut self, events: &[(i64, Event)]) -> World {
        let mut next = 0;
        let mut due = 0;
        while next < events.len() || !self.work.is_empty() {
            assert!(self.now < 3_000, "some work never ends");
            let now = self.now;
            self.end();
            for (_, count) in self.repairs.extract_if(.., |it| it.0 == now).collect::<Vec<_>>() {
                self.obvious.given_back = true;
                self.fast.restored(at_micros(now), count);
                self.obvious.restored(now, count);
            }
            self.maintain();
            self.start();
            while let Some(&(after, event)) = events.get(next)
                && due + after == now
            {
                self.happens(event);
                (next, due) = (next + 1, now);
            }
            self.start();
            self.compare();
            self.now += 1;
        }
        self
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(384))]

    /// Parts and jobs start, and parts lose their places, as the definition says, while processors fail, are closed
    /// and come back, and jobs overrun. No processor is used twice.
    #[test]
    fn parts_keep_their_places_as_far_as_the_definition_says(
        events in prop::collection::vec((0_i64..5, event()), 1..45),
        config in any_queue(),
    ) {
        World::new(config).run(&events);
    }

    /// Without failures, overruns and maintenance no part loses its place.
    #[test]
    fn a_part_keeps_its_place_on_a_machine_without_surprises(
        events in prop::collection::vec((0_i64..5, event()), 1..45),
        config in any_queue(),
    ) {
        let calm = events.into_iter().filter(|it| !matches!(it.1, Event::Fail(..)));
        let calm = calm.map(|(after, event)| match event {
            Event::Submit(processors, span, run, data) => {
                (after, Event::Submit(processors, span, run.min(span), data))
            }
            Event::Ask(processors, lead, span, slack, run, remedy) => {
                (after, Event::Ask(processors, lead, span, slack, run.min(span), remedy))
            }
            _ => (after, event),
        });
        let world = World::new(config).run(&Vec::from_iter(calm));
        prop_assert_eq!((world.displaced, world.hit), (vec![], 0));
    }
}

fn any_queue() -> impl Strategy<Value = SchedulerConfig> {
    let conservative = Vec::from(Compression::ALL).into_iter().map(|it| (Policy::Conservative, it));
    let others = [Policy::Fcfs, Policy::Easy].map(|it| (it, Compression::default()));
    let all = Vec::from_iter(conservative.chain(others));
    prop::sample::select(all).prop_map(|(policy, compression)| config(policy, compression))
}

fn held(queue: &mut Box<LocalQueue>, slot: u32, start: i64, end: i64, processors: u32) {
    let place = interval(Place { start, end, processors });
    assert!(queue.parts().hold(at_micros(0), Slot(slot), place), "there is room for {slot}");
}

fn displaced(queue: &mut Box<LocalQueue>) -> Vec<u32> {
    let mut displaced = Vec::new();
    queue.parts().take_displaced(&mut displaced);
    displaced.into_iter().map(|slot| slot.0).collect()
}

fn started(queue: &mut Box<LocalQueue>, now: i64) -> Vec<u32> {
    let mut started = Vec::new();
    queue.start_due(at_micros(now), &mut started);
    started.into_iter().map(|slot| slot.0).collect()
}

/// Of six processors three fail. The first part keeps its place, the second one has no room beside it, and the third
/// and narrow one has.
#[test]
fn parts_without_room_on_the_remaining_processors_lose_their_places() {
    let mut queue = queue(Compression::ByStart);
    held(&mut queue, 0, 10, 20, 2);
    held(&mut queue, 1, 12, 20, 3);
    held(&mut queue, 2, 15, 20, 1);
    held(&mut queue, 3, 30, 40, 4);
    queue.failed(at_micros(5), 3, &[]);
    assert_eq!(displaced(&mut queue), [1, 3]);
    assert!(displaced(&mut queue).is_empty(), "each is returned once");
    assert_eq!(started(&mut queue, 10), [0]);
    queue.restored(at_micros(12), 3);
    assert!(started(&mut queue, 12).is_empty());
    assert_eq!(started(&mut queue, 15), [2]);
}

/// Of parts with equal starts the part held first keeps its place.
#[test]
fn the_part_held_first_comes_first() {
    let mut queue = queue(Compression::ByStart);
    held(&mut queue, 7, 10, 20, 3);
    held(&mut queue, 2, 10, 20, 3);
    queue.failed(at_micros(5), 3, &[]);
    assert_eq!(displaced(&mut queue), [2]);
}

/// The killed part and the killed job are forgotten. The waiting part keeps its place, because their processors fail.
#[test]
fn killed_work_is_forgotten() {
    let mut queue = queue(Compression::ByStart);
    held(&mut queue, 0, 0, 20, 2);
    held(&mut queue, 1, 5, 20, 2);
    queue.submit(at_micros(0), request(Slot(2), 2, 30, false));
    assert_eq!(started(&mut queue, 0), [0, 2]);
    let killed = [(0, 2, 20), (2, 2, 30)].map(|(slot, processors, end)| Killed {
        slot: Slot(slot),
        processors,
        planned_end: at_micros(end),
    });
    queue.failed(at_micros(3), 4, &killed);
    assert!(displaced(&mut queue).is_empty());
    queue.submit(at_micros(3), request(Slot(2), 2, 30, true));
    assert_eq!(started(&mut queue, 5), [1]);
    assert_eq!(queue.next_start(), Some(at_micros(20)), "the job waits behind the part");
    queue.restored(at_micros(6), 4);
    queue.parts().compress(at_micros(6));
    assert_eq!(started(&mut queue, 6), [2]);
}

/// The job runs past its requested time, so there is no room for the part.
#[test]
fn a_job_that_overruns_takes_the_place_of_a_part() {
    let mut queue = queue(Compression::ByStart);
    queue.submit(at_micros(0), request(Slot(0), 4, 10, false));
    held(&mut queue, 1, 10, 20, 3);
    held(&mut queue, 2, 25, 30, 6);
    assert_eq!(started(&mut queue, 0), [0]);
    queue.overran(at_micros(10), Slot(0), at_micros(20));
    assert_eq!(displaced(&mut queue), [1]);
    assert!(started(&mut queue, 10).is_empty());
    assert_eq!(queue.next_start(), Some(at_micros(25)));
}

/// A part that is about to move needs both places, because its agreement may still be dropped.
#[test]
fn a_part_about_to_move_loses_both_places_together() {
    for (processors, lost, free) in [(6, vec![0], 5), (5, vec![], 0)] {
        let mut queue = queue(Compression::ByStart);
        held(&mut queue, 0, 10, 20, 2);
        let to = Place { start: 4, end: 8, processors };
        assert!(queue.parts().prepare(at_micros(0), Slot(0), interval(to)));
        queue.failed(at_micros(1), 1, &[]);
        assert_eq!(displaced(&mut queue), lost);
        assert_eq!(queue.parts().settle(at_micros(2), Slot(0)), lost.is_empty());
        assert_eq!(
            queue.parts().free_times(at_micros(2), None).min_free(at_micros(4), at_micros(99)),
            free
        );
    }
}

/// Parts keep their processors, and the window of maintenance begins with the rest.
#[test]
fn maintenance_gives_way_to_parts_when_processors_fail() {
    let mut queue = queue(Compression::ByStart);
    held(&mut queue, 0, 10, 20, 3);
    let window = interval(Place { start: 10, end: 15, processors: 3 });
    assert!(queue.maintenance().announce(at_micros(0), 0, window, Overlap::Refuse));
    queue.failed(at_micros(5), 2, &[]);
    assert!(displaced(&mut queue).is_empty());
    assert_eq!(queue.maintenance().kept(at_micros(10), 0), 1);
}

/// The part is booked behind the running job. A new job is planned around the part, with the size that ends first.
#[test]
fn sizes_of_jobs_are_estimated_beside_parts() {
    let mut queue = queue(Compression::ByStart);
    held(&mut queue, 0, 4, 20, 4);
    let mut start = |processors, span| {
        queue.starts().estimate_after(
            at_micros(0),
            processors,
            Some(Span::from_micros(span)),
            at_micros(0),
        )
    };
    assert_eq!(start(6, 4), Some(at_micros(0)));
    assert_eq!(start(4, 6), Some(at_micros(20)));
    assert_eq!(start(2, 12), Some(at_micros(0)));
    assert_eq!(
        queue.submit_after(at_micros(0), request(Slot(1), 4, 6, false), at_micros(3)),
        Some(at_micros(26))
    );
    assert_eq!(queue.starts().planned_start(at_micros(0), Slot(1)), Some(at_micros(20)));
    queue.submit(at_micros(0), request(Slot(2), 3, 5, false));
    assert_eq!(queue.starts().planned_start(at_micros(0), Slot(2)), Some(at_micros(26)));
    queue.starts().withdraw_all(at_micros(0), &[Slot(1)]);
    assert_eq!(
        queue.starts().planned_start(at_micros(0), Slot(2)),
        Some(at_micros(20)),
        "it moves up"
    );
}
