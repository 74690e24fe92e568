//! The queue of bags from its definition: every task by itself, or every block as a rigid job of that width, on a
//! plain list of bookings.

use haggle_model::{Span, Time};
use haggle_scheduling::composition::QueueEntry;
use haggle_scheduling::{
    Award, BagRequest, Bargainer, Fractions, FreeSlot, Killed, LocalScheduler, Offer, Request,
    ReschedulingConfig, ReschedulingRule, Shares, Slot,
};

use crate::obvious::{Booked, ObviousProfile};

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Waits,
    Runs,
    /// At this time.
    Ended(i64),
}

/// A task or a block of them.
#[derive(Clone, Debug)]
struct Task {
    slot: Slot,
    job: bool,
    /// Entry by arrival, task in it.
    id: (u32, u32),
    width: u32,
    span: i64,
    start: i64,
    state: State,
    promised: i64,
    bag_expected: Option<i64>,
}

impl Task {
    /// Number of tasks that it counts for when it starts and ends.
    fn tasks(&self) -> u32 {
        if self.job { 1 } else { self.width }
    }

    fn completion(&self) -> i64 {
        match self.state {
            State::Ended(end) => end,
            _ => self.start + self.span,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct OneByOne {
    config: ReschedulingConfig,
    shares: Shares,
    capacity: u32,
    tasks: Vec<Task>,
    accepted: u32,
    ended_early: bool,
}

impl OneByOne {
    pub(crate) fn new(capacity: u32, config: ReschedulingConfig, shares: Shares) -> OneByOne {
        OneByOne { config, shares, capacity, tasks: Vec::new(), accepted: 0, ended_early: false }
    }

    /// Processors of each task or block of a share.
    fn widths(&self, tasks: u32) -> Vec<u32> {
        let (full, rest) = (tasks / self.capacity, tasks % self.capacity);
        match self.shares {
            Shares::Tasks => vec![1; tasks as usize],
            Shares::Blocks => {
                let mut widths = vec![self.capacity; full as usize];
                widths.extend((rest > 0).then_some(rest));
                widths
            }
        }
    }

    /// All bookings except those of the tasks at these places.
    fn profile(&self, without: &[usize]) -> ObviousProfile {
        let booked = |(_, task): (usize, &Task)| Booked {
            start: task.start,
            end: task.start + task.span,
            processors: task.width,
        };
        let there = |&(at, task): &(usize, &Task)| {
            !matches!(task.state, State::Ended(_)) && !without.contains(&at)
        };
        let booked = self.tasks.iter().enumerate().filter(there).map(booked).collect();
        ObviousProfile { capacity: self.capacity, booked }
    }

    fn queue(&mut self, slot: Slot, job: bool, widths: &[u32], span: i64, starts: &[i64]) -> i64 {
        let promised = starts.iter().max().expect("one task at least") + span;
        for ((&start, &width), number) in starts.iter().zip(widths).zip(0..) {
            self.tasks.push(Task {
                slot,
                job,
                id: (self.accepted, number),
                width,
                span,
                start,
                state: State::Waits,
                promised,
                bag_expected: None,
            });
        }
        self.accepted += 1;
        promised
    }

    fn places(&self, now: i64, widths: &[u32], span: i64) -> Vec<i64> {
        let mut profile = self.profile(&[]);
        let place = |&width: &u32| {
            let start = profile.earliest_fit(width, span, now).expect("fits the machine");
            profile.booked.push(Booked { start, end: start + span, processors: width });
            start
        };
        widths.iter().map(place).collect()
    }

    fn latest(&self, slot: Slot) -> Option<i64> {
        self.tasks.iter().filter(|task| task.slot == slot).map(Task::completion).max()
    }

    fn turns(&self, key: impl Fn(&Task) -> (i64, i64)) -> Vec<usize> {
        let mut turns: Vec<usize> =
            (0..self.tasks.len()).filter(|&at| self.tasks[at].state == State::Waits).collect();
        turns.sort_by_key(|&at| {
            let task = &self.tasks[at];
            (key(task), task.id.0, task.start, task.id.1)
        });
        turns
    }

    fn reschedule(&mut self, now: i64) {
        let rule = self.config.rule;
        let first = |task: &Task| match rule {
            ReschedulingRule::Compress => task.start,
            ReschedulingRule::Coordinated if !task.job => {
                task.bag_expected.or(self.latest(task.slot)).expect("it is there")
            }
            ReschedulingRule::Local if !task.job => self.latest(task.slot).expect("it is there"),
            _ => task.completion(),
        };
        let turns = self.turns(|task| (first(task), 0));
        if rule == ReschedulingRule::None {
            return;
        }
        if self.config.rebuild {
            self.rebuild(now, &turns);
        } else {
            self.pass(now, &turns);
        }
        if self.config.second_pass && rule != ReschedulingRule::Compress {
            self.pass(now, &self.turns(|task| (task.start, task.completion())));
        }
    }

    fn pass(&mut self, now: i64, turns: &[usize]) {
        for &at in turns {
            let Task { width, span, start, .. } = self.tasks[at];
            let earliest = self.profile(&[at]).earliest_fit(width, span, now);
            let earliest = earliest.expect("fits the machine");
            assert!(earliest <= start, "a planned start has grown");
            self.tasks[at].start = earliest;
        }
    }

    fn rebuild(&mut self, now: i64, turns: &[usize]) {
        let mut profile = self.profile(turns);
        let mut rebuilt = self.clone();
        for &at in turns {
            let Task { width, span, .. } = self.tasks[at];
            let start = profile.earliest_fit(width, span, now).expect("fits the machine");
            profile.booked.push(Booked { start, end: start + span, processors: width });
            rebuilt.tasks[at].start = start;
        }
        let kept = rebuilt
            .tasks
            .iter()
            .all(|task| task.completion() <= task.bag_expected.unwrap_or(task.promised));
        if kept {
            *self = rebuilt;
        }
    }

    fn end(&mut self, now: Time, slot: Slot, tasks: u32, planned_end: Option<Time>) {
        let now = now.as_micros();
        let mut left = tasks;
        for task in &mut self.tasks {
            let end = task.start + task.span;
            let meant = task.slot == slot
                && task.state == State::Runs
                && planned_end.is_none_or(|planned| planned.as_micros() == end);
            if meant && left > 0 {
                task.state = State::Ended(now);
                self.ended_early |= now < end;
                left -= task.tasks();
            }
        }
        assert_eq!(left, 0, "only what runs ends");
        let over = |task: &Task| task.slot != slot || matches!(task.state, State::Ended(_));
        if self.tasks.iter().all(over) {
            self.tasks.retain(|task| task.slot != slot);
        }
    }

    fn start(&mut self, now: Time, job: bool) -> Vec<(Slot, u32)> {
        let due: Vec<usize> = self
            .turns(|task| (task.start, 0))
            .into_iter()
            .filter(|&at| self.tasks[at].job == job && self.tasks[at].start <= now.as_micros())
            .collect();
        let mut started: Vec<(Slot, u32)> = Vec::new();
        for at in due {
            let task = &mut self.tasks[at];
            task.state = State::Runs;
            match started.last_mut() {
                Some((slot, tasks)) if *slot == task.slot => *tasks += task.tasks(),
                _ => started.push((task.slot, task.tasks())),
            }
        }
        started
    }
}

impl LocalScheduler for OneByOne {
    fn submit(&mut self, now: Time, request: Request) -> Option<Time> {
        let span = request.span.expect("tests give a limit").as_micros();
        let widths = [request.processors];
        let starts = self.places(now.as_micros(), &widths, span);
        let end = self.queue(request.slot, true, &widths, span, &starts);
        Some(Time::from_micros(end))
    }

    fn finished(&mut self, now: Time, slot: Slot) {
        self.end(now, slot, 1, None);
    }

    fn overran(&mut self, _: Time, _: Slot, _: Time) {
        unreachable!("jobs of these tests keep to their request");
    }

    fn failed(&mut self, _now: Time, _processors: u32, _killed: &[Killed]) {
        unreachable!("nothing fails in the histories that are compared")
    }

    fn restored(&mut self, _now: Time, _processors: u32) {
        unreachable!("nothing fails in the histories that are compared")
    }

    fn withdraw(&mut self, _: Time, slot: Slot) -> bool {
        let mut own = self.tasks.iter().filter(|task| task.slot == slot).peekable();
        let waits = own.peek().is_some() && own.all(|task| task.state == State::Waits);
        if waits {
            self.tasks.retain(|task| task.slot != slot);
        }
        waits
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        if std::mem::take(&mut self.ended_early) {
            self.reschedule(now.as_micros());
        }
        started.extend(self.start(now, true).into_iter().map(|(slot, _)| slot));
    }

    fn next_start(&self) -> Option<Time> {
        let waiting = self.tasks.iter().filter(|task| task.state == State::Waits);
        waiting.map(|task| Time::from_micros(task.start)).min()
    }

    fn estimate_start(&mut self, _: Time, _: u32, _: Option<Span>) -> Option<Time> {
        None
    }

    fn queue_length(&self) -> usize {
        let mut slots: Vec<Slot> = self
            .tasks
            .iter()
            .filter(|task| task.state == State::Waits)
            .map(|task| task.slot)
            .collect();
        slots.sort_unstable();
        slots.dedup();
        slots.len()
    }

    fn bags(&mut self) -> &mut dyn Bargainer {
        self
    }
}

impl Bargainer for OneByOne {
    fn wait_again(&mut self, _: Time, _: Slot, _: &BagRequest) {
        unreachable!("nothing fails in the histories that are compared")
    }

    fn queue(&self) -> Vec<QueueEntry> {
        unreachable!("nobody asks the oracle")
    }

    fn offers(&mut self, now: Time, bag: &BagRequest) -> Vec<Offer> {
        let span = bag.span.as_micros();
        let offer = |tasks| {
            let starts = self.places(now.as_micros(), &self.widths(tasks), span);
            let last = starts.iter().max().expect("one task at least");
            Offer { tasks, completion: Time::from_micros(last + span) }
        };
        let all: Vec<Offer> =
            Fractions::default().sizes(bag.tasks).into_iter().map(offer).collect();
        // An offer stands if every larger one completes later.
        let stands = |at: &usize| all[at + 1..].iter().all(|o| o.completion > all[*at].completion);
        (0..all.len()).filter(stands).map(|at| all[at]).collect()
    }

    fn award(&mut self, now: Time, slot: Slot, bag: &BagRequest, award: &Award) -> Option<Time> {
        let Award::Offered { tasks, offer } = award else { unreachable!("not in these tests") };
        let span = bag.span.as_micros();
        let widths = self.widths(*tasks);
        let starts = self.places(now.as_micros(), &widths, span);
        let completion = starts.iter().max().expect("one task at least") + span;
        (completion <= offer.completion.as_micros())
            .then(|| Time::from_micros(self.queue(slot, false, &widths, span, &starts)))
    }

    fn free_slots(&mut self, _: Time) -> Vec<FreeSlot> {
        Vec::new()
    }

    fn tasks_due(&mut self, now: Time, started: &mut Vec<(Slot, u32)>) {
        started.extend(self.start(now, false));
    }

    fn tasks_finished(&mut self, now: Time, slot: Slot, tasks: u32, planned_end: Time) {
        self.end(now, slot, tasks, Some(planned_end));
    }

    fn bag_expected(&mut self, slot: Slot, completion: Time) {
        let completion = completion.as_micros();
        for task in self.tasks.iter_mut().filter(|task| task.slot == slot) {
            task.bag_expected = Some(task.bag_expected.unwrap_or(completion).min(completion));
        }
    }

    fn latest_completion(&self, slot: Slot) -> Option<Time> {
        self.latest(slot).map(Time::from_micros)
    }
}
