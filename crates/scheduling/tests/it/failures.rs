//! Processors that fail and come back under every scheduler.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::DerefMut;

use haggle_model::{Span, Time};
use haggle_scheduling::{
    Compression, EdfConfig, Fractions, Killed, LocalScheduler, Order, Policy, Request,
    ReschedulingConfig, ReschedulingRule, SchedulerConfig, Scheduling, Shares, Slot,
};
use proptest::prelude::*;

use crate::obvious::Obvious;

/// A queue of ours, or a definition of one.
type Queue = dyn DerefMut<Target = dyn LocalScheduler>;

fn boxed(queue: impl LocalScheduler + 'static) -> Box<dyn LocalScheduler> {
    Box::new(queue)
}

const PROCESSORS: u32 = 8;

fn schedulers() -> Vec<Scheduling> {
    let mut all = vec![Scheduling::Edf(EdfConfig::default())];
    for policy in Policy::ALL {
        for compression in Compression::ALL {
            if policy == Policy::Conservative || compression == Compression::ByStart {
                let order = Order::Arrival;
                all.push(
                    SchedulerConfig { policy, order, compression, depth: None, window: None }
                        .into(),
                );
            }
        }
    }
    for rule in ReschedulingRule::ALL {
        let rescheduling = ReschedulingConfig::from(rule);
        all.push(Scheduling::Bags {
            rescheduling,
            fractions: Fractions::default(),
            shares: Shares::Tasks,
        });
    }
    all
}

#[derive(Clone, Copy, Debug)]
struct Work {
    submit: i64,
    processors: u32,
    requested: i64,
    run: i64,
    deadline: Option<i64>,
    /// Time in which it cannot start, if the scheduler reserves.
    data: i64,
}

/// (fails at, back after, processors).
type Failure = (i64, i64, u32);

fn work() -> impl Strategy<Value = Work> {
    let times = (0_i64..60, 1..=PROCESSORS, 1_i64..20, 1_i64..=100);
    let data = prop_oneof![2 => Just(0), 1 => 1_i64..40];
    (times, prop::option::of(0_i64..50), data).prop_map(
        |((submit, processors, requested, share), late, data)| {
            let run = (requested * share / 100).max(1);
            let deadline = late.map(|late| submit + requested + late);
            Work { submit, processors, requested, run, deadline, data }
        },
    )
}

fn failure() -> impl Strategy<Value = Failure> {
    (0_i64..90, 1_i64..40, 1..=PROCESSORS)
}

/// Work of a provider for its scheduler, without the numbers of processors.
struct Machine<'a> {
    work: &'a [Work],
    scheduler: Box<Queue>,
    /// (planned end, attempt) of running jobs.
    running: BTreeMap<Slot, (Time, u32)>,
    attempts: u32,
    ends: BinaryHeap<Reverse<(Time, Slot, u32)>>,
    failed: u32,
    /// Starts of each job.
    starts: Vec<u32>,
    /// Every start, in order.
    log: Vec<(Time, Slot)>,
    done: usize,
}

impl Machine<'_> {
    fn used(&self) -> u32 {
        self.running.keys().map(|slot| self.work[slot.index()].processors).sum()
    }

    fn submit(&mut self, now: Time, slot: Slot) {
        let Work { processors, requested, deadline, data, .. } = self.work[slot.index()];
        let starts = self.starts[slot.index()];
        let request = Request {
            deadline: deadline.map(Time::from_secs),
            // A killed job keeps its place every other time.
            ahead: starts % 2 == 1,
            ..Request::new(slot, processors, Some(Span::from_secs(requested)))
        };
        if data > 0 && starts == 0 {
            self.scheduler.submit_after(now, request, now + Span::from_secs(data));
        } else {
            self.scheduler.submit(now, request);
        }
    }

    /// Kills the youngest jobs until enough processors are free to fail.
    fn fail(&mut self, now: Time, processors: u32) {
        let mut killed = Vec::new();
        while PROCESSORS - self.failed - self.used() < processors {
            let youngest = self.running.iter().max_by_key(|(_, (_, attempt))| *attempt);
            let (&slot, &(planned_end, _)) = youngest.expect("what is not free or failed runs");
            self.running.remove(&slot);
            let processors = self.work[slot.index()].processors;
            killed.push(Killed { slot, processors, planned_end });
        }
        self.failed += processors;
        self.scheduler.failed(now, processors, &killed);
        for job in killed {
            self.submit(now, job.slot);
        }
    }

    fn start_due(&mut self, now: Time) {
        let mut started = Vec::new();
        self.scheduler.start_due(now, &mut started);
        for slot in started {
            let Work { requested, run, .. } = self.work[slot.index()];
            self.attempts += 1;
            let attempt = (now + Span::from_secs(requested), self.attempts);
            assert!(self.running.insert(slot, attempt).is_none(), "it runs twice");
            self.starts[slot.index()] += 1;
            self.log.push((now, slot));
            self.ends.push(Reverse((now + Span::from_secs(run), slot, self.attempts)));
        }
        assert!(self.used() + self.failed <= PROCESSORS, "more runs than the machine has");
    }
}

/// Runs the work with failures. Returns the number of starts of each job.
fn run(scheduling: &Scheduling, work: &[Work], failures: &[Failure]) -> Vec<u32> {
    let log = run_by(scheduling.build(PROCESSORS), work, failures);
    let starts = |slot| log.iter().filter(|(_, other)| *other == Slot(slot)).count() as u32;
    (0..work.len() as u32).map(starts).collect()
}

/// Runs the work with failures. Returns every start in order.
fn run_by(scheduler: Box<Queue>, work: &[Work], failures: &[Failure]) -> Vec<(Time, Slot)> {
    let mut machine = Machine {
        work,
        scheduler,
        running: BTreeMap::new(),
        attempts: 0,
        ends: BinaryHeap::new(),
        failed: 0,
        starts: vec![0; work.len()],
        log: Vec::new(),
        done: 0,
    };
    // Restores, failures, submissions: (time, kind, number).
    let mut events = BinaryHeap::new();
    for (slot, work) in (0..).zip(work) {
        events.push(Reverse((Time::from_secs(work.submit), 2, slot)));
    }
    for &(at, after, processors) in failures {
        events.push(Reverse((Time::from_secs(at), 1, processors)));
        events.push(Reverse((Time::from_secs(at + after), 0, processors)));
    }
    let mut refused: BTreeMap<u32, u32> = BTreeMap::new();
    loop {
        let event = events.peek().map(|&Reverse((time, ..))| time);
        let end = machine.ends.peek().map(|&Reverse((time, ..))| time);
        let start = machine.scheduler.next_start().filter(|&start| start < Time::FOREVER);
        let Some(now) = [event, end, start].into_iter().flatten().min() else { break };
        while let Some(&Reverse((time, slot, attempt))) = machine.ends.peek()
            && time == now
        {
            machine.ends.pop();
            // A killed job does not end.
            if machine.running.get(&slot).is_some_and(|&(_, current)| current == attempt) {
                machine.running.remove(&slot);
                machine.done += 1;
                machine.scheduler.finished(now, slot);
            }
        }
        while let Some(&Reverse((time, kind, number))) = events.peek()
            && time == now
        {
            events.pop();
            match kind {
                0 if refused.get(&number).is_some_and(|&count| count > 0) => {
                    *refused.get_mut(&number).expect("just seen") -= 1;
                }
                0 => {
                    machine.failed -= number;
                    machine.scheduler.restored(now, number);
                }
                1 if machine.failed + number > PROCESSORS => {
                    *refused.entry(number).or_insert(0) += 1;
                }
                1 => machine.fail(now, number),
                _ => machine.submit(now, Slot(number)),
            }
        }
        machine.start_due(now);
    }
    assert_eq!(machine.done, work.len(), "some jobs never ended");
    assert_eq!(machine.scheduler.queue_length(), 0);
    machine.log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_job_ends_and_nothing_runs_on_what_has_failed(
        work in prop::collection::vec(work(), 1..30),
        failures in prop::collection::vec(failure(), 0..8),
    ) {
        for scheduling in schedulers() {
            let starts = run(&scheduling, &work, &failures);
            if failures.is_empty() {
                prop_assert!(starts.iter().all(|&starts| starts == 1));
            }
        }
    }

    #[test]
    fn every_job_starts_when_it_does_in_the_obvious_version_among_failures(
        work in prop::collection::vec(work(), 1..40),
        failures in prop::collection::vec(failure(), 0..8),
    ) {
        for policy in Policy::ALL {
            for order in Order::ALL {
                for compression in Compression::ALL {
                    let config = SchedulerConfig { policy, order, compression, depth: None, window: None };
                    let fast = run_by(config.build(PROCESSORS), &work, &failures);
                    let obvious = Obvious::new(PROCESSORS, policy, order, compression);
                    let expected = run_by(Box::new(boxed(obvious)), &work, &failures);
                    prop_assert_eq!(fast, expected, "{}", config);
                    if policy != Policy::Conservative {
                        break;
                    }
                }
            }
        }
    }
}

/// A failure of free processors that are not needed meanwhile changes no schedule.
#[test]
fn what_was_free_all_the_while_is_not_missed() {
    let work = [
        Work { submit: 0, processors: 4, requested: 10, run: 8, deadline: None, data: 0 },
        Work { submit: 1, processors: 2, requested: 10, run: 5, deadline: None, data: 0 },
    ];
    for scheduling in schedulers() {
        assert_eq!(run(&scheduling, &work, &[(2, 3, 2)]), [1, 1], "{scheduling}");
    }
}

/// The killed job comes before the next job of the queue.
#[test]
fn a_lost_job_can_go_ahead_of_all_that_waits() {
    for policy in Policy::ALL {
        let config = SchedulerConfig {
            policy,
            order: Order::Arrival,
            compression: Compression::ByStart,
            depth: None,
            window: None,
        };
        let mut scheduler = config.build(4);
        let request = |slot, ahead| Request {
            ahead,
            ..Request::new(Slot(slot), 4, Some(Span::from_secs(10)))
        };
        let mut started = Vec::new();
        let at = Time::from_secs;
        scheduler.submit(at(0), request(0, false));
        scheduler.submit(at(0), request(1, false));
        scheduler.start_due(at(0), &mut started);
        let killed = Killed { slot: Slot(0), processors: 4, planned_end: at(10) };
        scheduler.failed(at(3), 1, &[killed]);
        scheduler.submit(at(3), request(0, true));
        scheduler.start_due(at(3), &mut started);
        assert_eq!(started, [Slot(0)], "{config}: nothing fits while a processor is down");
        scheduler.restored(at(7), 1);
        scheduler.start_due(at(7), &mut started);
        assert_eq!(started, [Slot(0), Slot(0)], "{config}");
        scheduler.finished(at(17), Slot(0));
        scheduler.start_due(at(17), &mut started);
        assert_eq!(started, [Slot(0), Slot(0), Slot(1)], "{config}");
    }
}

/// While half of the machine is down, a job as wide as all of it waits and others pass.
#[test]
fn a_job_that_is_too_wide_for_what_is_left_waits() {
    let work = [
        Work { submit: 1, processors: 8, requested: 5, run: 5, deadline: None, data: 0 },
        Work { submit: 2, processors: 2, requested: 5, run: 5, deadline: None, data: 0 },
    ];
    for scheduling in schedulers() {
        assert_eq!(run(&scheduling, &work, &[(0, 100, 4)]), [1, 1], "{scheduling}");
    }
}
