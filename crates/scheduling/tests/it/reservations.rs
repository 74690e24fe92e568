//! Reservations with windows: worked cases, and random worlds against the definition.

use haggle_model::Time;
use haggle_model::reservation::Remedy;
use haggle_scheduling::reservations::{
    AfterAnchor, Alternative, Criterion, Displaced, Granted, Granting, Percent, ReservationConfig,
    Reservations, Reserve, Size, Window,
};
use haggle_scheduling::{Killed, LocalScheduler, Request, Slot};
use haggle_testing::{at_micros, micros};
use proptest::prelude::*;

use crate::obvious_reservations::{FOREVER, Job, ObviousReservations};

fn no_draw(_: usize) -> usize {
    panic!("only the shuffle draws")
}

/// A waiting or requested reservation. The numbers are those of a table: slot, submitted, processors, span, ready
/// time, deadline.
pub(crate) fn reserve(
    slot: u32,
    submitted: i64,
    work: (u32, i64),
    ready: Option<i64>,
    by: i64,
) -> Reserve {
    Reserve {
        slot: Slot(slot),
        submitted: at_micros(submitted),
        processors: work.0,
        span: micros(work.1),
        window: Window { ready: ready.map(at_micros), deadline: at_micros(by) },
        fix_at: None,
        accepts: None,
        remedy: Remedy::Postpone,
    }
}

/// Requests a reservation and returns the granted start.
fn ask(queue: &mut Reservations, now: i64, request: &Reserve) -> Option<i64> {
    let granted = queue.ask(at_micros(now), request, &[], &mut no_draw);
    granted.map(|granted| granted.start.as_micros())
}

fn planned(queue: &mut Reservations, slot: u32) -> Option<i64> {
    queue.start_of(Time::ZERO, Slot(slot)).map(Time::as_micros)
}

fn queue(processors: u32, criterion: Criterion, threshold: Option<Percent>) -> Reservations {
    let config = ReservationConfig { criterion, threshold, ..ReservationConfig::default() };
    Reservations::new(processors, config)
}

/// The end of a job without a limit is unknown, so jobs behind it have no planned start. They get one when it ends,
/// at 5 s, and when processors that had failed are back, at 8 s, even if nothing else moves.
#[test]
fn who_waits_for_a_job_without_a_limit_gets_a_place_when_it_ends() {
    for compresses in [true, false] {
        let config = ReservationConfig { compresses, ..ReservationConfig::default() };
        let mut queue = Reservations::new(4, config);
        let job = |slot, processors, limit: Option<i64>| {
            Request::new(Slot(slot), processors, limit.map(micros))
        };
        queue.submit(at_micros(0), job(0, 1, None));
        queue.submit(at_micros(0), job(1, 4, Some(2)));
        let mut started = Vec::new();
        queue.start_due(at_micros(0), &mut started);
        assert_eq!(started, [Slot(0)]);
        assert_eq!(queue.next_start(), None);
        queue.finished(at_micros(5), Slot(0));
        queue.start_due(at_micros(5), &mut started);
        assert_eq!(started, [Slot(0), Slot(1)], "compresses: {compresses}");
        queue.failed(
            at_micros(6),
            1,
            &[Killed { slot: Slot(1), processors: 4, planned_end: at_micros(7) }],
        );
        queue.submit(at_micros(6), job(2, 4, Some(2)));
        assert_eq!(queue.next_start(), None);
        queue.restored(at_micros(8), 1);
        queue.start_due(at_micros(8), &mut started);
        assert_eq!(started, [Slot(0), Slot(1), Slot(2)], "compresses: {compresses}");
    }
}

/// Case M1: best effort, backfilling, an early end, compression.
#[test]
fn what_waits_moves_up_when_something_ends_early() {
    for (compresses, starts) in [(true, [6, 11]), (false, [10, 15])] {
        let config = ReservationConfig {
            criterion: Criterion::Fifo,
            compresses,
            ..ReservationConfig::default()
        };
        let mut queue = Reservations::new(4, config);
        let mut started = Vec::new();
        let jobs = [(3, 10, 0), (2, 5, 10), (1, 8, 2), (4, 2, 15)];
        for (now, (processors, span, start)) in (0_u32..).zip(jobs) {
            let time = i64::from(now);
            let job = reserve(now + 1, time, (processors, span), None, FOREVER);
            assert_eq!(ask(&mut queue, time, &job), Some(start));
            queue.start_due(at_micros(time), &mut started);
        }
        assert_eq!(started, [Slot(1), Slot(3)]);
        queue.finished(at_micros(6), Slot(1));
        queue.start_due(at_micros(6), &mut started);
        assert_eq!(started.len() == 3, compresses, "the second starts when there is room");
        assert_eq!(planned(&mut queue, 4), Some(starts[1]));
        assert_eq!(planned(&mut queue, 2), (!compresses).then_some(starts[0]));
    }
}

/// Case M2: the flexibility of a table; the orders are beside their definition.
#[test]
fn flexibility_shrinks_as_time_goes_on() {
    let table = [
        (Some(120), 200, 50, 30),
        (Some(150), 170, 20, 0),
        (None, 400, 200, 100),
        (Some(90), 300, 10, 190),
        (Some(110), 260, 120, 30),
    ];
    for (ready, deadline, time, delta) in table {
        let window = Window { ready: ready.map(at_micros), deadline: at_micros(deadline) };
        assert_eq!(window.flexibility(micros(time), at_micros(100)), micros(delta));
    }
    let window = Window { ready: None, deadline: at_micros(400) };
    assert_eq!(window.flexibility(micros(200), at_micros(150)), micros(50));
}

/// Case M3: the new job goes behind the job that finds no place any more.
#[test]
fn the_newcomer_moves_back_behind_whom_it_displaces() {
    let mut queue = queue(2, Criterion::Edf, None);
    assert_eq!(ask(&mut queue, -5, &reserve(0, -5, (2, 14), Some(16), 30)), Some(16));
    assert_eq!(ask(&mut queue, -4, &reserve(1, -4, (2, 6), Some(6), 30)), Some(6));
    assert_eq!(ask(&mut queue, 0, &reserve(2, 0, (2, 3), Some(9), 16)), Some(12));
    assert_eq!([planned(&mut queue, 0), planned(&mut queue, 1)], [Some(16), Some(6)]);
}

/// Case M4: distances of alternatives, and the threshold.
#[test]
fn the_nearest_alternative_within_the_threshold_is_taken() {
    for (threshold, granted) in [(50, None), (100, Some(3)), (150, Some(3))] {
        let mut queue = queue(2, Criterion::Edf, Some(threshold));
        assert_eq!(ask(&mut queue, -4, &reserve(0, -4, (2, 10), Some(8), 22)), Some(8));
        let mut newcomer = reserve(1, 0, (2, 5), Some(8), 20);
        assert_eq!(ask(&mut queue, 0, &newcomer), None, "it takes none");
        let offered = queue.alternatives(at_micros(0), &newcomer, &[], 9, &mut no_draw);
        let offered: Vec<_> =
            offered.iter().map(|it| (it.start.as_micros(), it.phi(newcomer.span))).collect();
        let expected = [(3, 1.0), (22, 1.4)];
        let near = expected.iter().filter(|(_, phi)| phi * 100.0 <= f64::from(threshold));
        assert_eq!(offered, near.copied().collect::<Vec<_>>());
        newcomer.accepts = Some(1_000);
        assert_eq!(ask(&mut queue, 0, &newcomer), granted);
        assert_eq!(planned(&mut queue, 0), Some(8));
        assert_eq!(queue.queue_length(), 1 + usize::from(granted.is_some()));
    }
}

/// Case M5: behind a running job.
#[test]
fn an_alternative_may_come_behind_what_runs() {
    for (threshold, granted) in [(25, None), (50, Some(30))] {
        let mut queue = queue(4, Criterion::Edf, Some(threshold));
        assert_eq!(ask(&mut queue, -1, &reserve(0, -1, (3, 31), None, FOREVER)), Some(-1));
        queue.start_due(at_micros(-1), &mut Vec::new());
        assert_eq!(ask(&mut queue, 0, &reserve(1, 0, (2, 10), Some(40), 50)), Some(40));
        assert_eq!(ask(&mut queue, 0, &reserve(2, 0, (4, 5), Some(50), 60)), Some(50));
        let newcomer = Reserve { accepts: Some(100), ..reserve(3, 0, (2, 10), Some(25), 35) };
        let taken = queue.ask(at_micros(0), &newcomer, &[], &mut no_draw);
        assert_eq!(taken.map(|it| it.start.as_micros()), granted);
        let phi = taken.and_then(|it| it.alternative).map(|it| it.phi(newcomer.span));
        assert_eq!(phi, granted.map(|_| 0.5));
        assert_eq!([planned(&mut queue, 1), planned(&mut queue, 2)], [Some(40), Some(50)]);
    }
}

/// Case M7: a start that is fixed after a share of the waiting time. The waiting time follows the plan.
#[test]
fn windows_close_after_a_share_of_the_waiting_time() {
    let shares = [25, 50, 75];
    let fixed = |start: i64| {
        shares.map(|share| {
            let request = Reserve { fix_at: Some(share), ..reserve(0, 0, (1, 7), None, 90) };
            request.fixed_at(at_micros(start)).map(Time::as_micros)
        })
    };
    assert_eq!(fixed(40), [Some(10), Some(20), Some(30)]);
    assert_eq!(fixed(24), [Some(6), Some(12), Some(18)]);
    // Two processors until 40; one of two jobs ends at 8 and another runs until 24.
    let mut queue = queue(2, Criterion::Edf, None);
    for (slot, end) in [(0, 40), (1, 24)] {
        assert_eq!(ask(&mut queue, 0, &reserve(slot, 0, (1, end), Some(0), end)), Some(0));
    }
    queue.start_due(at_micros(0), &mut Vec::new());
    let request = Reserve { fix_at: Some(50), ..reserve(2, 0, (2, 7), None, 90) };
    assert_eq!(ask(&mut queue, 0, &request), Some(40));
    assert_eq!(queue.next_start(), Some(at_micros(20)));
    queue.finished(at_micros(8), Slot(0));
    queue.start_due(at_micros(8), &mut Vec::new());
    assert_eq!((planned(&mut queue, 2), queue.next_start()), (Some(24), Some(at_micros(12))));
    queue.start_due(at_micros(12), &mut Vec::new());
    assert_eq!(queue.next_start(), Some(at_micros(24)));
    queue.finished(at_micros(13), Slot(1));
    queue.start_due(at_micros(13), &mut Vec::new());
    assert_eq!(planned(&mut queue, 2), Some(24), "it moves no more");
    assert_eq!(queue.fix(at_micros(14), Slot(2)), Some(at_micros(24)));
}

/// A share of zero fixes the start at once, and a later job must be planned around it.
#[test]
fn a_window_may_close_when_it_is_granted() {
    for (fix_at, granted) in [(None, Some(0)), (Some(0), None)] {
        let mut queue = queue(1, Criterion::Edf, None);
        let flexible = Reserve { fix_at, ..reserve(0, 0, (1, 5), Some(0), 20) };
        assert_eq!(ask(&mut queue, 0, &flexible), Some(0));
        assert_eq!(ask(&mut queue, 0, &reserve(1, 0, (1, 5), Some(0), 5)), granted);
    }
}

pub(crate) fn request(slot: u32, processors: u32, span: i64) -> Request {
    Request::new(Slot(slot), processors, Some(micros(span)))
}

pub(crate) fn displaced(queue: &mut Reservations) -> Vec<(u32, Displaced)> {
    let mut displaced = Vec::new();
    queue.displaced(&mut displaced);
    displaced.into_iter().map(|(slot, displaced)| (slot.0, displaced)).collect()
}

pub(crate) fn started(queue: &mut Reservations, now: i64) -> Vec<u32> {
    let mut started = Vec::new();
    queue.start_due(at_micros(now), &mut started);
    started.into_iter().map(|slot| slot.0).collect()
}

/// A job without a window waits behind all bookings, and is moved for later reservations.
#[test]
fn a_job_without_a_window_goes_aside() {
    let mut queue = queue(2, Criterion::Edf, None);
    assert_eq!(ask(&mut queue, 0, &reserve(0, 0, (2, 5), Some(10), 15)), Some(10));
    assert_eq!(queue.estimate_start(at_micros(0), 1, Some(micros(12))), Some(at_micros(15)));
    assert_eq!(queue.submit(at_micros(0), request(1, 1, 12)), None, "nothing is promised");
    assert_eq!(planned(&mut queue, 1), Some(15));
    assert_eq!(ask(&mut queue, 1, &reserve(2, 1, (2, 9), Some(16), 25)), Some(16));
    assert_eq!(planned(&mut queue, 1), Some(25));
    assert!(queue.withdraw(at_micros(2), Slot(2)));
    assert_eq!((started(&mut queue, 2), planned(&mut queue, 1)), (vec![], Some(15)));
}

/// Two jobs without a window wait for 400 to 501, and for the time behind that. A reservation for just that time is
/// granted under every criterion. This holds even if these jobs were submitted first, are larger, or have no planned
/// start because a job without a limit is ahead of them.
#[test]
fn a_job_without_a_window_keeps_no_reservation_out() {
    for criterion in Criterion::ALL {
        for forever in [false, true] {
            let mut queue = queue(5, criterion, None);
            let mut draw = |below: usize| below / 2;
            let mut ask = |queue: &mut Reservations, now, request: &Reserve| {
                queue
                    .ask(at_micros(now), request, &[], &mut draw)
                    .map(|granted| granted.start.as_micros())
            };
            let granted = ask(&mut queue, 0, &reserve(0, 0, (4, 400), Some(0), 400));
            assert_eq!(granted, Some(0));
            queue.submit(at_micros(0), request(1, 4, 101));
            let behind = Request { span: (!forever).then(|| micros(90)), ..request(2, 2, 90) };
            queue.submit(at_micros(0), behind);
            queue.submit(at_micros(0), request(3, 5, 10));
            assert_eq!(planned(&mut queue, 1), Some(400));
            let granted = ask(&mut queue, 10, &reserve(4, 10, (5, 50), Some(400), 450));
            assert_eq!(granted, Some(400), "{criterion:?}");
            assert!(planned(&mut queue, 1).is_some_and(|start| start >= 450), "{criterion:?}");
        }
    }
}

/// One of two processors fails at 5. A reservation keeps its place, and the job without a window that would start
/// before it is moved.
#[test]
fn a_job_without_a_window_goes_aside_where_processors_fail() {
    let mut queue = queue(2, Criterion::Edf, None);
    assert_eq!(ask(&mut queue, 0, &reserve(0, 0, (1, 10), Some(0), 10)), Some(0));
    assert_eq!(ask(&mut queue, 0, &reserve(1, 0, (1, 10), Some(0), 10)), Some(0));
    assert_eq!(started(&mut queue, 0), [0, 1]);
    queue.submit(at_micros(0), request(2, 1, 10));
    assert_eq!(ask(&mut queue, 0, &reserve(3, 0, (1, 3), Some(12), 15)), Some(12));
    assert_eq!(planned(&mut queue, 2), Some(10));
    queue.failed(
        at_micros(5),
        1,
        &[Killed { slot: Slot(1), processors: 1, planned_end: at_micros(10) }],
    );
    assert_eq!((planned(&mut queue, 2), planned(&mut queue, 3)), (Some(15), Some(12)));
    assert!(displaced(&mut queue).iter().all(|&(slot, _)| slot == 2));
}

/// Biggest job first, 16 processors: submit, processors, time, ready time, deadline. The last one finds no room in
/// its window, and is offered 857 by a plan in which the third moves from 884 to 966. If it takes the offer at once,
/// it gets that. Jobs without a window that arrive in the meantime change nothing.
#[test]
fn an_alternative_that_was_offered_is_granted_on_an_unchanged_plan() {
    let table = [
        (22, 5, 45, 112, 157),
        (42, 14, 84, 42, 347),
        (50, 3, 139, 884, 1305),
        (57, 11, 100, 757, 857),
        (87, 16, 109, 850, 959),
    ];
    let request_of = |slot: usize| {
        let (submitted, processors, time, ready, by) = table[slot];
        reserve(slot as u32, submitted, (processors, time), Some(ready), by)
    };
    for comes in [false, true] {
        let mut queue = queue(16, Criterion::Bjf, Some(50));
        for (slot, &(submitted, ..)) in table.iter().enumerate().take(4) {
            assert!(ask(&mut queue, submitted, &request_of(slot)).is_some());
        }
        let newcomer = request_of(4);
        assert_eq!(ask(&mut queue, 87, &newcomer), None);
        let offered = queue.alternatives(at_micros(87), &newcomer, &[], 5, &mut no_draw);
        assert_eq!(offered.first().map(|it| it.start), Some(at_micros(857)));
        assert_eq!(planned(&mut queue, 2), Some(884));
        if comes {
            queue.submit(at_micros(88), request(9, 16, 700));
        }
        // The reservation is recognised by its request, whatever slot it gets.
        let again = Reserve { slot: Slot(7), ..newcomer };
        let taken = queue.take(at_micros(89), &again, offered[0], &mut no_draw);
        assert_eq!(
            taken.map(|it| (it.start, it.alternative)),
            Some((at_micros(857), Some(offered[0])))
        );
        assert_eq!((planned(&mut queue, 7), planned(&mut queue, 2)), (Some(857), Some(966)));
    }
}

/// A job without a window that has started since leaves no room for the offer: the plan has changed.
#[test]
fn an_alternative_is_lost_when_others_have_taken_its_place() {
    let mut queue = queue(1, Criterion::Edf, Some(200));
    assert_eq!(ask(&mut queue, 0, &reserve(0, 0, (1, 10), Some(10), 20)), Some(10));
    let newcomer = reserve(1, 0, (1, 10), Some(12), 22);
    let offered = queue.alternatives(at_micros(0), &newcomer, &[], 5, &mut no_draw);
    let starts: Vec<i64> = offered.iter().map(|it| it.start.as_micros()).collect();
    assert_eq!(starts, [20, 0]);
    queue.submit(at_micros(0), request(2, 1, 5));
    assert_eq!(started(&mut queue, 0), [2]);
    assert_eq!(queue.take(at_micros(1), &newcomer, offered[1], &mut no_draw), None);
    let taken = queue.take(at_micros(1), &newcomer, offered[0], &mut no_draw);
    assert_eq!(taken.map(|it| it.start), Some(at_micros(20)));
}

/// A job that overruns moves others within their windows, and breaks the windows without room. A reservation that was
/// hit keeps its place from then on.
#[test]
fn who_runs_over_its_plan_breaks_no_window_that_has_room() {
    let mut queue = queue(1, Criterion::Edf, None);
    assert_eq!(ask(&mut queue, 0, &reserve(0, 0, (1, 10), Some(0), 10)), Some(0));
    assert_eq!(ask(&mut queue, 0, &reserve(1, 0, (1, 4), Some(10), 14)), Some(10));
    assert_eq!(ask(&mut queue, 0, &reserve(2, 0, (1, 2), Some(14), 30)), Some(14));
    assert_eq!(started(&mut queue, 0), [0]);
    queue.overran(at_micros(10), Slot(0), at_micros(20));
    assert_eq!((planned(&mut queue, 1), planned(&mut queue, 2)), (Some(22), Some(20)));
    let expected = [(2, Displaced::Moved(at_micros(20))), (1, Displaced::Postponed(at_micros(22)))];
    assert_eq!(displaced(&mut queue), expected);
    assert_eq!(ask(&mut queue, 11, &reserve(3, 11, (1, 4), Some(22), 26)), None);
    queue.finished(at_micros(12), Slot(0));
    assert_eq!(started(&mut queue, 12), Vec::<u32>::new());
    let moved = (planned(&mut queue, 1), planned(&mut queue, 2));
    assert_eq!(moved, (Some(16), Some(14)), "both move up, the one that starts first before");
    assert_eq!(displaced(&mut queue), []);
}

/// Failed processors are not used in plans until they are back.
#[test]
fn failures_break_windows_that_have_no_room_left() {
    let mut queue = queue(3, Criterion::Edf, None);
    for (slot, width, ready, by) in [(0, 2, 0, 10), (1, 3, 10, 20), (2, 1, 20, 30)] {
        let asked = reserve(slot, 0, (width, 10), Some(ready), by);
        assert_eq!(ask(&mut queue, 0, &asked), Some(ready));
    }
    assert_eq!(started(&mut queue, 0), [0]);
    let killed = Killed { slot: Slot(0), processors: 2, planned_end: at_micros(10) };
    queue.failed(at_micros(4), 1, &[killed]);
    assert_eq!(displaced(&mut queue), [(1, Displaced::Postponed(Time::FOREVER))]);
    queue.submit(at_micros(4), request(0, 2, 10));
    assert_eq!(started(&mut queue, 4), [0], "two are left");
    assert_eq!(planned(&mut queue, 2), Some(20));
    queue.restored(at_micros(6), 1);
    assert_eq!((started(&mut queue, 6), planned(&mut queue, 1)), (vec![], Some(30)));
    assert_eq!(queue.next_start(), Some(at_micros(20)));
}

/// One of three processors fails. Beside a job on two of them there is no room until that ends at 12. A job of 10 has
/// room by 30, but not by 20. Its user's remedy decides.
#[test]
fn who_has_no_room_left_waits_on_or_not() {
    for (remedy, by, expected) in [
        (Remedy::Postpone, 20, Some(Displaced::Postponed(at_micros(12)))),
        (Remedy::Substitute, 20, None),
        (Remedy::Shrink, 20, None),
        (Remedy::Substitute, 30, Some(Displaced::Moved(at_micros(12)))),
        (Remedy::Revoke, 30, None),
    ] {
        let mut queue = queue(3, Criterion::Edf, None);
        assert_eq!(ask(&mut queue, 0, &reserve(0, 0, (2, 12), Some(0), 12)), Some(0));
        let asked = Reserve { remedy, ..reserve(1, 0, (1, 10), Some(0), by) };
        assert_eq!(ask(&mut queue, 0, &asked), Some(0));
        assert_eq!(ask(&mut queue, 0, &reserve(2, 0, (1, 2), Some(12), 14)), Some(12));
        queue.failed(at_micros(0), 1, &[]);
        let expected = expected.unwrap_or(Displaced::Out(asked));
        assert_eq!(displaced(&mut queue), [(1, expected)]);
        let waits = planned(&mut queue, 1).is_some();
        assert_eq!(waits, !matches!(expected, Displaced::Out(_)));
        assert_eq!(planned(&mut queue, 0), Some(0));
    }
}

/// Request of a user in a random world.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) at: i64,
    pub(crate) job: Job,
    /// Other numbers of processors, each with the time on them.
    pub(crate) sizes: Vec<(u32, i64)>,
    /// Run time, as a percentage of its time.
    pub(crate) percent: i64,
    pub(crate) remedy: Remedy,
    pub(crate) accepts: Option<u32>,
    /// A waiting job that is cancelled right after.
    pub(crate) cancelled: Option<usize>,
}

impl Asked {
    /// Its run time if it is planned for so long.
    pub(crate) fn runs(&self, span: i64) -> i64 {
        i64::max(1, span * self.percent / 100)
    }
}

pub(crate) fn asked() -> impl Strategy<Value = Vec<Asked>> {
    let window = (prop::option::of(0..30_i64), prop::option::weighted(0.9, 0..40_i64));
    let share = || prop::option::weighted(0.3, prop::sample::select(vec![0_u32, 25, 50, 75]));
    let one = (
        (0..6_i64, 1..=4_u32, 1..=12_i64, 20..=100_i64),
        (window, share(), prop::option::of(0..=200_u32)),
        prop::option::weighted(0.1, 0..9_usize),
        prop::collection::btree_map(1..=5_u32, 1..=20_i64, 0..4),
        prop::sample::select(vec![
            Remedy::Postpone,
            Remedy::Substitute,
            Remedy::Shrink,
            Remedy::Revoke,
        ]),
    );
    prop::collection::vec(one, 1..25).prop_map(|drawn| {
        let mut now = 0;
        let mut worlds = Vec::new();
        for (slot, (work, wishes, cancelled, mut sizes, remedy)) in (0..).zip(drawn) {
            let (gap, processors, span, percent) = work;
            let (window, fix_at, accepts) = wishes;
            now += gap;
            let ready = window.0.map(|lead| now + lead);
            let slack = window.1.map(|slack| ready.unwrap_or(now) + span + slack);
            let deadline = slack.unwrap_or(FOREVER);
            let job = Job {
                slot,
                id: 0,
                submitted: now,
                processors,
                span,
                ready,
                deadline,
                fix_at,
                start: now,
            };
            sizes.remove(&processors);
            let sizes = sizes.into_iter().collect();
            worlds.push(Asked { at: now, job, sizes, percent, remedy, accepts, cancelled });
        }
        worlds
    })
}

/// Ways in which users get alternatives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Taking {
    /// With the request.
    AtOnce,
    /// The queue makes offers, and the user takes one of them.
    OfOffers,
}

/// Runs both worlds side by side, tick by tick.
fn compare(
    config: ReservationConfig,
    taking: Taking,
    asked: &[Asked],
) -> Result<(), TestCaseError> {
    let capacity = 5;
    let mut fast = Reservations::new(capacity, config);
    let mut slow = ObviousReservations {
        capacity,
        criterion: config.criterion,
        threshold: config.threshold,
        after: config.after,
        running: Vec::new(),
        waiting: Vec::new(),
        asked: 0,
    };
    let drawn = |mut state: u64| {
        move |below: usize| {
            state = haggle_model::random::splitmix(state);
            (state % below as u64) as usize
        }
    };
    let (mut fast_draw, mut slow_draw) = (drawn(3), drawn(3));
    let mut accepted: Vec<(usize, Window)> = Vec::new();
    let mut starts: Vec<Option<i64>> = vec![None; asked.len()];
    let mut sizes: Vec<(u32, i64)> =
        asked.iter().map(|it| (it.job.processors, it.job.span)).collect();
    let mut next = 0;
    for now in 0..900 {
        let mut early = false;
        for (slot, it) in (0_u32..).zip(asked) {
            let span = sizes[slot as usize].1;
            if starts[slot as usize].is_some_and(|start| start + it.runs(span) == now) {
                fast.finished(at_micros(now), Slot(slot));
                slow.leave(slot);
                early |= it.runs(span) < span;
            }
        }
        if early {
            slow.compress(now);
        }
        slow.fix_due(now);
        let start_due = |fast: &mut Reservations, slow: &mut ObviousReservations| {
            let mut started = Vec::new();
            fast.start_due(at_micros(now), &mut started);
            let expected: Vec<Slot> = slow.start_due(now).into_iter().map(Slot).collect();
            prop_assert_eq!(&started, &expected);
            prop_assert!(fast.next_start().is_none_or(|time| time > at_micros(now)));
            Ok(started)
        };
        for slot in start_due(&mut fast, &mut slow)? {
            starts[slot.index()] = Some(now);
        }
        while let Some(Asked { job, accepts, cancelled, sizes: others, .. }) =
            asked.get(next).filter(|it| it.at == now)
        {
            let request = Reserve {
                fix_at: job.fix_at,
                accepts: *accepts,
                ..reserve(job.slot, now, (job.processors, job.span), job.ready, job.deadline)
            };
            let other = |&(processors, time): &(u32, i64)| Size { processors, span: micros(time) };
            let others_fast: Vec<Size> = others.iter().map(other).collect();
            if job.ready.is_none() && job.deadline == FOREVER {
                fast.submit(at_micros(now), self::request(job.slot, job.processors, job.span));
                slow.submit(now, Job { fix_at: None, ..*job });
                slow.fix_due(now);
                accepted.push((next, Window::ANY));
                next += 1;
                continue;
            }
            let accepts = accepts.filter(|_| taking == Taking::AtOnce);
            let request = Reserve { accepts, ..request };
            let mut found = fast.ask(at_micros(now), &request, &others_fast, &mut fast_draw);
            let mut expected = slow.ask(now, *job, others, accepts, &mut slow_draw);
            if taking == Taking::OfOffers && found.is_none() && expected.is_none() {
                let offered =
                    fast.alternatives(at_micros(now), &request, &others_fast, 4, &mut fast_draw);
                let mut offers = slow.offers(now, *job, others, 4, &mut slow_draw);
                let starts = |it: &Alternative| it.start.as_micros();
                let expected_starts: Vec<i64> = offers.iter().map(|it| it.0.3).collect();
                prop_assert_eq!(offered.iter().map(starts).collect::<Vec<_>>(), expected_starts);
                if !offers.is_empty() {
                    let which = job.slot as usize % offers.len();
                    found = fast.take(at_micros(now), &request, offered[which], &mut no_draw);
                    let (option, plan) = offers.swap_remove(which);
                    slow.waiting = plan;
                    expected = Some((option.3, Some(option)));
                }
            }
            slow.fix_due(now);
            let seen = found.map(|Granted { start, alternative }| {
                let other = |it: Alternative| {
                    let (completion, start) = (it.completion.as_micros(), it.start.as_micros());
                    (it.distance.as_micros(), completion, it.processors, start)
                };
                (start.as_micros(), alternative.map(other))
            });
            prop_assert_eq!(seen, expected);
            if let Some(granted) = found {
                let taken = granted.alternative.map_or(request, |it| request.at(it));
                sizes[next] = (taken.processors, taken.span.as_micros());
                accepted.push((next, taken.window));
            }
            if let Some(&Job { slot, .. }) = cancelled.and_then(|place| slow.waiting.get(place)) {
                prop_assert!(fast.withdraw(at_micros(now), Slot(slot)));
                slow.leave(slot);
                slow.compress(now);
                slow.fix_due(now);
                accepted.retain(|&(place, _)| place != slot as usize);
            }
            next += 1;
        }
        for slot in start_due(&mut fast, &mut slow)? {
            starts[slot.index()] = Some(now);
        }
        prop_assert_eq!(fast.queue_length(), slow.waiting.len());
        for job in &slow.waiting {
            prop_assert_eq!(planned(&mut fast, job.slot), Some(job.start));
        }
    }
    // Every accepted reservation has started, within its window.
    for (place, window) in accepted {
        let start = starts[place].expect("what is accepted is never refused");
        prop_assert!(window.earliest(at_micros(asked[place].at)) <= at_micros(start));
        prop_assert!(at_micros(start) <= window.latest_start(micros(sizes[place].1)));
    }
    let runs = |time: i64| {
        let starts = starts.iter().zip(asked).zip(&sizes);
        let runs = starts.filter(|((start, it), size)| {
            start.is_some_and(|start| start <= time && time < start + it.runs(size.1))
        });
        runs.map(|(_, size)| size.0).sum::<u32>()
    };
    prop_assert!((0..900).all(|time| runs(time) <= capacity));
    Ok(())
}

/// Many jobs wait at once, so that searches begin where others have ended. All windows are long, and some begin late.
#[test]
fn deep_queues_decide_as_defined() {
    let mut state = 5;
    let mut draw = |below: i64| {
        state = haggle_model::random::splitmix(state);
        (state % below as u64) as i64
    };
    let one = |slot: u32| {
        let at = i64::from(slot) / 8;
        let (processors, span) = (1 + draw(5) as u32, 1 + draw(9));
        let ready = (draw(4) == 0).then(|| at + draw(60));
        let deadline = ready.unwrap_or(at) + span + draw(500);
        let (id, submitted, fix_at, start) = (0, at, None, at);
        let job = Job { slot, id, submitted, processors, span, ready, deadline, fix_at, start };
        let (remedy, accepts) = (Remedy::Postpone, Some(100));
        Asked { at, job, sizes: vec![], percent: 100, remedy, accepts, cancelled: None }
    };
    let asked: Vec<Asked> = (0..120).map(one).collect();
    for criterion in Criterion::ALL {
        let config =
            ReservationConfig { criterion, threshold: Some(50), ..ReservationConfig::default() };
        compare(config, Taking::AtOnce, &asked).expect("as defined");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn decisions_are_those_of_the_definition(
        asked in asked(),
        threshold in prop::option::of(0..=150_u32),
        after in prop::sample::select(vec![AfterAnchor::Deadline, AfterAnchor::Completion]),
    ) {
        for criterion in Criterion::ALL {
            let config = ReservationConfig { criterion, threshold, after, compresses: true };
            compare(config, Taking::AtOnce, &asked)?;
            compare(config, Taking::OfOffers, &asked)?;
        }
    }

    /// Strict intervals and exact times: the order has no effect.
    #[test]
    fn without_flexibility_all_orders_are_one(asked in asked()) {
        let granted = |criterion| {
            let mut queue = queue(5, criterion, None);
            let mut draw = |below: usize| below / 2;
            let strict = |it: &Asked| Reserve {
                window: Window::strict(at_micros(it.job.ready.unwrap_or(it.at)), micros(it.job.span)),
                ..reserve(it.job.slot, it.at, (it.job.processors, it.job.span), None, 0)
            };
            let ask = |it: &Asked| queue.ask(at_micros(it.at), &strict(it), &[], &mut draw);
            asked.iter().map(ask).collect::<Vec<_>>()
        };
        for criterion in Criterion::ALL {
            prop_assert_eq!(granted(criterion), granted(Criterion::Fifo));
        }
    }

    /// Windows that are fixed at once under any order are the same as first come, first served: the new job is last.
    /// Jobs without a deadline are left out, because a new job with a deadline goes before these.
    #[test]
    fn fixed_windows_are_first_come_first_served(asked in asked()) {
        let has_deadline = |it: &Asked| it.job.deadline < FOREVER;
        let asked: Vec<Asked> = asked.into_iter().filter(has_deadline).collect();
        let granted = |criterion, fix_at| {
            let mut queue = queue(5, criterion, None);
            let mut draw = |below: usize| below / 2;
            let ask = |it: &Asked| {
                let Job { slot, processors, span, ready, deadline, .. } = it.job;
                let request = reserve(slot, it.at, (processors, span), ready, deadline);
                queue.ask(at_micros(it.at), &Reserve { fix_at, ..request }, &[], &mut draw)
            };
            asked.iter().map(ask).collect::<Vec<_>>()
        };
        for criterion in Criterion::ALL {
            prop_assert_eq!(granted(criterion, Some(0)), granted(Criterion::Fifo, None));
        }
    }
}
