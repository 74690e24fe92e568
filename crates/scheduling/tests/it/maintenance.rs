//! Windows of maintenance under every scheduler.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::DerefMut;

use haggle_model::Span;
use haggle_model::reservation::Remedy;
use haggle_scheduling::reservations::{Displaced, Granting, ReservationConfig, Reserve, Window};
use haggle_scheduling::{
    Compression, EdfConfig, Fractions, Interval, Killed, LocalScheduler, Order, Overlap, Policy,
    Request, ReschedulingConfig, ReschedulingRule, SchedulerConfig, Scheduling, Shares, Slot,
};
use haggle_testing::at;
use proptest::prelude::*;

use crate::obvious::Obvious;

/// A queue of ours, or a definition of one.
type Queue = dyn DerefMut<Target = dyn LocalScheduler>;

fn boxed(queue: impl LocalScheduler + 'static) -> Box<dyn LocalScheduler> {
    Box::new(queue)
}

const PROCESSORS: u32 = 8;

#[derive(Clone, Copy, Debug)]
struct Work {
    submit: i64,
    processors: u32,
    /// 0 = no limit.
    requested: i64,
    run: i64,
}

#[derive(Clone, Copy, Debug)]
struct Closing {
    announced: i64,
    notice: i64,
    lasts: i64,
    processors: u32,
    overlap: Overlap,
}

impl Closing {
    fn start(&self) -> i64 {
        self.announced + self.notice
    }
}

fn work(requested: BoxedStrategy<i64>) -> impl Strategy<Value = Vec<Work>> {
    let one = (0_i64..60, 1..=PROCESSORS, requested, 1_i64..=100).prop_map(
        |(submit, processors, requested, share)| {
            let run = if requested == 0 { share / 4 } else { requested * share / 100 };
            Work { submit, processors, requested, run: run.max(1) }
        },
    );
    prop::collection::vec(one, 1..40)
}

/// Windows never overlap, so there are always enough processors for one.
fn closings() -> impl Strategy<Value = Vec<Closing>> {
    let overlap = prop::sample::select(vec![Overlap::Refuse, Overlap::Break]);
    let one = (0_i64..25, 0_i64..30, 1_i64..15, 1..=PROCESSORS, overlap);
    prop::collection::vec(one, 0..5).prop_map(|drawn| {
        let mut free = 0;
        let closing = |(gap, notice, lasts, processors, overlap): (i64, i64, i64, u32, Overlap)| {
            let start = free + gap;
            free = start + lasts;
            let announced = (start - notice).max(0);
            Closing { announced, notice: start - announced, lasts, processors, overlap }
        };
        drawn.into_iter().map(closing).collect()
    })
}

/// Work of a provider for its scheduler, without the numbers of processors.
struct Machine<'a> {
    work: &'a [Work],
    scheduler: Box<Queue>,
    /// (end, planned end) of running jobs.
    running: BTreeMap<Slot, (i64, i64)>,
    /// Windows in progress, with their processors.
    closed: BTreeMap<usize, u32>,
    down: u32,
    promises: Vec<Option<i64>>,
    starts: Vec<Option<i64>>,
    ends: Vec<Option<i64>>,
}

/// Result of a run.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    starts: Vec<i64>,
    /// Processors of each window; `None` = it was refused.
    held: Vec<Option<u32>>,
}

impl Machine<'_> {
    fn used(&self) -> u32 {
        let running = self.running.keys().map(|slot| self.work[slot.index()].processors);
        running.sum::<u32>() + self.closed.values().sum::<u32>() + self.down
    }

    fn start_due(&mut self, now: i64) {
        let mut started = Vec::new();
        self.scheduler.start_due(at(now), &mut started);
        for slot in started {
            let Work { requested, run, .. } = self.work[slot.index()];
            let limit = if requested == 0 { i64::MAX / 4 } else { requested };
            let ends = (now + run, now + limit);
            assert!(self.running.insert(slot, ends).is_none(), "it runs twice");
            self.starts[slot.index()] = Some(now);
        }
        assert!(self.used() <= PROCESSORS, "more runs than the machine has");
    }

    fn submit(&mut self, now: i64, job: usize) {
        let Work { processors, requested, .. } = self.work[job];
        let slot = Slot(job as u32);
        let span = Some(Span::from_secs(requested)).filter(|&it| it > Span::ZERO);
        let request = Request::new(slot, processors, span);
        let promise = self.scheduler.submit(at(now), request);
        self.promises[job] =
            self.promises[job].or(promise.map(|time| time.as_micros() / 1_000_000));
    }

    fn finish(&mut self, now: i64) {
        let ended = Vec::from_iter(
            self.running.iter().filter(|(_, ends)| ends.0 == now).map(|(&slot, _)| slot),
        );
        for slot in ended {
            self.running.remove(&slot);
            self.ends[slot.index()] = Some(now);
            self.scheduler.finished(at(now), slot);
        }
        for (&slot, ends) in self.running.iter_mut().filter(|(_, ends)| ends.1 == now) {
            ends.1 += self.work[slot.index()].requested;
            self.scheduler.overran(at(now), slot, at(ends.1));
        }
    }

    /// Kills enough jobs for this many processors to fail, but leaves maintenance its processors.
    fn fail(&mut self, now: i64, processors: u32) -> u32 {
        let fails = processors.min(PROCESSORS - self.down - self.closed.values().sum::<u32>());
        let mut killed = Vec::new();
        while PROCESSORS - self.used() < fails {
            let (slot, (_, planned_end)) = self.running.pop_last().expect("somebody has them");
            let processors = self.work[slot.index()].processors;
            killed.push(Killed { slot, processors, planned_end: at(planned_end) });
        }
        self.down += fails;
        self.scheduler.failed(at(now), fails, &killed);
        for job in killed {
            self.promises[job.slot.index()] = None;
            self.submit(now, job.slot.index());
        }
        fails
    }
}

/// A failure: time, length, processors.
type Failure = (i64, i64, u32);

/// Runs second by second. A job that overruns goes on for its requested time again.
fn run(
    scheduler: Box<Queue>,
    work: &[Work],
    closings: &[Closing],
    failures: &[Failure],
) -> (Outcome, Vec<Option<i64>>) {
    let none = vec![None; work.len()];
    let mut machine = Machine {
        work,
        scheduler,
        running: BTreeMap::new(),
        closed: BTreeMap::new(),
        down: 0,
        promises: none.clone(),
        starts: none.clone(),
        ends: none,
    };
    let mut held = vec![None; closings.len()];
    let mut announced = BTreeSet::new();
    let mut to_restore: Vec<(i64, u32)> = Vec::new();
    let mut now = 0;
    while machine.ends.contains(&None) {
        assert!(now < 5_000, "{:?}", &**machine.scheduler);
        for (_, processors) in to_restore.extract_if(.., |it| it.0 == now) {
            machine.down -= processors;
            machine.scheduler.restored(at(now), processors);
        }
        for (number, closing) in closings.iter().enumerate() {
            if closing.start() + closing.lasts == now && announced.contains(&number) {
                machine.closed.remove(&number);
                machine.scheduler.maintenance().end(at(now), number as u32);
            }
            if closing.announced == now {
                let (start, span) = (at(closing.start()), Span::from_secs(closing.lasts));
                let window = Interval { start, span, processors: closing.processors };
                let maintaining = machine.scheduler.maintenance();
                if maintaining.announce(at(now), number as u32, window, closing.overlap) {
                    announced.insert(number);
                }
            }
        }
        for &(_, lasts, processors) in failures.iter().filter(|it| it.0 == now) {
            let fails = machine.fail(now, processors);
            to_restore.push((now + lasts, fails));
        }
        machine.finish(now);
        machine.start_due(now);
        for (job, _) in work.iter().enumerate().filter(|(_, it)| it.submit == now) {
            machine.submit(now, job);
            machine.start_due(now);
        }
        for (number, closing) in closings.iter().enumerate() {
            if closing.start() == now && announced.contains(&number) {
                let free = PROCESSORS - machine.used();
                let maintaining = machine.scheduler.maintenance();
                let kept = maintaining.kept(at(now), number as u32);
                assert!(kept <= closing.processors);
                let gets = kept.min(free);
                assert!(gets == kept || !failures.is_empty(), "{kept} kept, {free} free");
                maintaining.begin(at(now), number as u32, gets);
                machine.closed.insert(number, gets);
                held[number] = Some(gets);
            }
        }
        machine.start_due(now);
        now += 1;
    }
    let starts = machine.starts.into_iter().map(|start| start.expect("it has ended")).collect();
    let late = machine.promises.iter().zip(&machine.ends);
    let late = late.map(|(promise, end)| promise.zip(*end).map(|(promise, end)| end - promise));
    (Outcome { starts, held }, late.collect())
}

fn queues() -> Vec<SchedulerConfig> {
    let mut all = Vec::new();
    for policy in Policy::ALL {
        for order in Order::ALL {
            for compression in Compression::ALL {
                if policy == Policy::Conservative || compression == Compression::ByStart {
                    all.push(SchedulerConfig {
                        policy,
                        order,
                        compression,
                        depth: None,
                        window: None,
                    });
                }
            }
        }
    }
    all
}

fn others() -> Vec<Scheduling> {
    let mut all = vec![
        Scheduling::Edf(EdfConfig::default()),
        Scheduling::Reservations(ReservationConfig::default()),
    ];
    for rule in ReschedulingRule::ALL {
        for rebuild in [false, true] {
            let rescheduling = ReschedulingConfig { rebuild, ..rule.into() };
            let (fractions, shares) = (Fractions::default(), Shares::Tasks);
            all.push(Scheduling::Bags { rescheduling, fractions, shares });
        }
    }
    all
}

fn requested() -> BoxedStrategy<i64> {
    prop_oneof![12 => 1..20_i64, 1 => Just(0)].boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_job_starts_when_it_does_in_the_obvious_version_around_maintenance(
        work in work(requested()),
        closings in closings(),
    ) {
        for config in queues() {
            let SchedulerConfig { policy, order, compression, .. } = config;
            let mut closings = closings.clone();
            if compression == Compression::Replan {
                // This queue keeps no reservations. A window that lacks processors takes those of waiting jobs,
                // before these are planned anew; a window that may be refused lacks none.
                closings.iter_mut().for_each(|closing| closing.overlap = Overlap::Refuse);
            }
            let (fast, _) = run(config.build(PROCESSORS), &work, &closings, &[]);
            let obvious = Obvious::new(PROCESSORS, policy, order, compression);
            let (expected, _) = run(Box::new(boxed(obvious)), &work, &closings, &[]);
            prop_assert_eq!(fast, expected, "{}", config);
        }
    }

    /// If a window in the way of promises is refused, no promise is broken.
    #[test]
    fn maintenance_gets_what_was_announced_and_breaks_nothing(
        work in work((1..20_i64).boxed()),
        mut closings in closings(),
    ) {
        for closing in &mut closings {
            closing.overlap = Overlap::Refuse;
        }
        let queues = queues().into_iter().filter(|it| it.compression != Compression::Replan);
        for scheduling in queues.map(Scheduling::from).chain(others()) {
            let (outcome, late) = run(scheduling.build(PROCESSORS), &work, &closings, &[]);
            for (held, closing) in outcome.held.iter().zip(&closings) {
                prop_assert!(held.is_none_or(|it| it == closing.processors), "{}", scheduling);
            }
            prop_assert!(late.iter().flatten().all(|&late| late <= 0), "{}: {:?}", scheduling, late);
        }
    }

    /// With failures, overruns and windows that break promises, all jobs end, and no processor is used twice.
    #[test]
    fn whatever_fails_and_overruns_maintenance_takes_what_is_there(
        mut work in work((1..20_i64).boxed()),
        closings in closings(),
        failures in prop::collection::vec((0_i64..60, 1_i64..30, 1..=PROCESSORS), 1..5),
        overruns in prop::collection::vec(prop::bool::weighted(0.2), 40),
    ) {
        for (work, overruns) in work.iter_mut().zip(overruns) {
            work.run = if overruns { work.requested + work.run } else { work.run };
        }
        let queues = queues().into_iter().map(Scheduling::from);
        for scheduling in queues.chain(others()) {
            run(scheduling.build(PROCESSORS), &work, &closings, &failures);
        }
    }
}

/// The machine is closed from 10 to 15 s. No job starts whose requested time overlaps that. A short job may pass,
/// under every policy that permits it.
#[test]
fn no_job_starts_that_would_run_into_maintenance() {
    let long = Work { submit: 0, processors: 4, requested: 12, run: 2 };
    let short = Work { submit: 0, processors: 4, requested: 10, run: 10 };
    let (announced, overlap) = (0, Overlap::Refuse);
    let closing = Closing { announced, notice: 10, lasts: 5, processors: PROCESSORS, overlap };
    for config in queues().into_iter().filter(|it| it.order == Order::Arrival) {
        let (outcome, _) = run(config.build(PROCESSORS), &[long, short], &[closing], &[]);
        let passes = if config.policy == Policy::Fcfs { 15 } else { 0 };
        assert_eq!(outcome.starts, [15, passes], "{config}");
        assert_eq!(outcome.held, [Some(PROCESSORS)]);
    }
}

/// Forty jobs as wide as the machine end early one after the other, and later jobs move up. The window in the middle
/// of them stays where it is.
#[test]
fn maintenance_stays_where_it_is_when_the_end_of_a_long_queue_moves() {
    let work = [Work { submit: 0, processors: PROCESSORS, requested: 10, run: 6 }; 40];
    let (announced, overlap) = (0, Overlap::Refuse);
    let closing = Closing { announced, notice: 105, lasts: 10, processors: 4, overlap };
    for config in queues().into_iter().filter(|it| it.order == Order::Arrival) {
        let SchedulerConfig { policy, order, compression, .. } = config;
        let (fast, _) = run(config.build(PROCESSORS), &work, &[closing], &[]);
        let obvious = Obvious::new(PROCESSORS, policy, order, compression);
        let (expected, _) = run(Box::new(boxed(obvious)), &work, &[closing], &[]);
        assert_eq!(fast, expected, "{config}");
    }
}

/// Half of the machine is closed: the other half goes on.
#[test]
fn what_is_not_closed_is_used() {
    let work = [Work { submit: 0, processors: 4, requested: 30, run: 30 }; 2];
    let (announced, overlap) = (0, Overlap::Refuse);
    let closing = Closing { announced, notice: 10, lasts: 5, processors: 4, overlap };
    for scheduling in queues().into_iter().map(Scheduling::from).chain(others()) {
        let (outcome, _) = run(scheduling.build(PROCESSORS), &work, &[closing], &[]);
        assert_eq!(outcome.starts, [0, 15], "{scheduling}");
    }
}

/// A reservation is in the way: the window is refused, or the reservation is broken and that is reported. A
/// reservation that can move within its window makes room.
#[test]
fn a_window_in_the_way_of_a_reservation_is_refused_or_told() {
    for (flexible, overlap, accepted, told) in [
        (false, Overlap::Refuse, false, 0),
        (false, Overlap::Break, true, 1),
        (true, Overlap::Refuse, true, 0),
    ] {
        let config = ReservationConfig::default();
        let mut queue = haggle_scheduling::reservations::Reservations::new(4, config);
        let deadline = at(if flexible { 40 } else { 20 });
        let request = Reserve {
            slot: Slot(0),
            submitted: at(0),
            processors: 3,
            span: Span::from_secs(10),
            window: Window { ready: Some(at(10)), deadline },
            fix_at: None,
            accepts: None,
            remedy: Remedy::Postpone,
        };
        assert!(queue.ask(at(0), &request, &[], &mut |_| 0).is_some());
        let window = Interval { start: at(15), span: Span::from_secs(5), processors: 2 };
        let maintaining = queue.maintenance();
        assert_eq!(maintaining.announce(at(1), 0, window, overlap), accepted);
        if !accepted {
            assert_eq!(maintaining.first_room(at(1), window), Some(at(20)));
        }
        let mut displaced = Vec::new();
        queue.displaced(&mut displaced);
        displaced.retain(|(_, it)| !matches!(it, Displaced::Moved(_)));
        assert_eq!(displaced.len(), told, "{displaced:?}");
        let planned = if accepted { at(20) } else { at(10) };
        assert_eq!(queue.start_of(at(1), Slot(0)), Some(planned));
    }
}
