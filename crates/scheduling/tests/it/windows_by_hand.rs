//! Small queues that grant windows beside their own work, worked out by hand: one machine of four processors.

use haggle_model::Span;
use haggle_model::reservation::Remedy;
use haggle_scheduling::reservations::{Displaced, Reserve, Window};
use haggle_scheduling::{
    Award, BagRequest, Compression, EdfConfig, Fractions, Interval, Killed, LocalQueue, Order,
    Overlap, Policy, Request, ReschedulingConfig, SchedulerConfig, Scheduling, Shares, Slot,
};
use haggle_testing::at;

struct Queue(Box<LocalQueue>);

fn rigid(policy: Policy, compression: Compression) -> Scheduling {
    SchedulerConfig { policy, order: Order::Arrival, compression, depth: None, window: None }.into()
}

fn edf() -> Scheduling {
    Scheduling::Edf(EdfConfig::default())
}

fn bags() -> Scheduling {
    Scheduling::Bags {
        rescheduling: ReschedulingConfig::default(),
        fractions: Fractions::default(),
        shares: Shares::Tasks,
    }
}

/// Every queue that grants windows beside its own work, by name.
fn queues() -> Vec<(&'static str, Queue)> {
    let by_start = Compression::ByStart;
    let all = [
        ("fcfs", rigid(Policy::Fcfs, by_start)),
        ("easy", rigid(Policy::Easy, by_start)),
        ("conservative", rigid(Policy::Conservative, by_start)),
        ("job-by-job", rigid(Policy::Conservative, Compression::JobByJob)),
        ("replan", rigid(Policy::Conservative, Compression::Replan)),
        ("edf", edf()),
        ("bags", bags()),
    ];
    Vec::from(all.map(|(name, scheduling)| (name, Queue(scheduling.around_parts().build(4)))))
}

fn reserve(slot: u32, processors: u32, secs: i64, (ready, deadline): (i64, i64)) -> Reserve {
    Reserve {
        slot: Slot(slot),
        submitted: at(0),
        processors,
        span: Span::from_secs(secs),
        window: Window { ready: Some(at(ready)), deadline: at(deadline) },
        fix_at: None,
        accepts: None,
        remedy: Remedy::Postpone,
    }
}

impl Queue {
    fn submit(&mut self, now: i64, slot: u32, processors: u32, secs: i64) {
        let span = Some(Span::from_secs(secs));
        let slot = Slot(slot);
        let request = Request::new(slot, processors, span);
        self.0.submit(at(now), request);
    }

    /// Requests a window, and returns the granted start.
    fn ask(&mut self, now: i64, request: &Reserve) -> Option<i64> {
        let granted = self.0.windows().ask(at(now), request, &[], &mut |_| 0);
        granted.map(|granted| granted.start.as_micros() / 1_000_000)
    }

    fn ask_again(&mut self, now: i64, request: &Reserve) -> Option<i64> {
        let granted = self.0.windows().ask_again(at(now), request, &mut |_| 0);
        granted.map(|granted| granted.start.as_micros() / 1_000_000)
    }

    fn start_of(&mut self, now: i64, slot: u32) -> Option<i64> {
        let start = self.0.windows().start_of(at(now), Slot(slot));
        start.map(|start| start.as_micros() / 1_000_000)
    }

    fn start(&mut self, now: i64) -> Vec<u32> {
        let mut started = Vec::new();
        self.0.parts().compress(at(now));
        self.0.start_due(at(now), &mut started);
        started.into_iter().map(|slot| slot.0).collect()
    }

    fn displaced(&mut self) -> Vec<(u32, Displaced)> {
        let mut displaced = Vec::new();
        self.0.windows().displaced(&mut displaced);
        displaced.into_iter().map(|(slot, it)| (slot.0, it)).collect()
    }
}

/// Job 0 uses all processors until 10 s. Jobs 1 (2 processors, 15 s) and 2 (3 processors, 5 s) wait from 10 s and 25 s
/// on. A window begins at 10 s, for three processors and 10 s. All queues but EASY offer the time behind both jobs;
/// EASY promises a start to job 1 only. Job 0 ends at 5 s, and all move up by 5 s.
#[test]
fn a_window_is_granted_beside_the_promises_of_each_queue() {
    for (name, mut queue) in queues() {
        queue.submit(0, 0, 4, 10);
        assert_eq!(queue.start(0), [0]);
        queue.submit(0, 1, 2, 15);
        queue.submit(0, 2, 3, 5);
        let start = if name == "easy" { 25 } else { 30 };
        assert_eq!(queue.ask(1, &reserve(3, 3, 10, (10, start + 9))), None, "{name}");
        assert_eq!(queue.ask(1, &reserve(3, 3, 10, (10, 60))), Some(start), "{name}");
        assert_eq!(queue.0.queue_length(), 3, "{name}: all of them wait");
        queue.0.finished(at(5), Slot(0));
        assert_eq!(queue.start(5), [1], "{name}");
        assert_eq!(queue.start_of(5, 3), Some(start - 5), "{name}: it moves up");
        queue.0.finished(at(20), Slot(1));
        let (second, last) = if name == "easy" { (3, 2) } else { (2, 3) };
        assert_eq!(queue.start(20), [second], "{name}");
        queue.0.finished(at(25), Slot(second));
        assert_eq!(queue.start(25), [last], "{name}");
    }
}

/// A reservation never starts before its window, however much time is given back.
#[test]
fn a_window_is_not_left_when_time_is_given_back() {
    for (name, mut queue) in queues() {
        queue.submit(0, 0, 4, 30);
        assert_eq!(queue.start(0), [0]);
        assert_eq!(queue.ask(0, &reserve(1, 2, 5, (20, 60))), Some(30), "{name}");
        queue.0.finished(at(4), Slot(0));
        assert!(queue.start(4).is_empty(), "{name}");
        assert_eq!((queue.start_of(4, 1), queue.0.next_start()), (Some(20), Some(at(20))));
        queue.submit(6, 2, 4, 15);
        assert!(queue.start(6).is_empty(), "{name}: job 2 would run into the window");
        assert_eq!(queue.start(20), [1], "{name}");
        queue.0.finished(at(22), Slot(1));
        assert_eq!(queue.start(22), [2], "{name}");
    }
}

/// Two of four processors run job 0 until 18 s, and two are booked for a window at 10 s. One of these fails at 5 s.
/// The window gets the first other place, at 18 s, before job 2, which has waited for the same time.
#[test]
fn a_window_that_loses_its_place_goes_before_jobs() {
    for (name, mut queue) in queues() {
        queue.submit(0, 0, 2, 18);
        assert_eq!(queue.start(0), [0]);
        assert_eq!(queue.ask(0, &reserve(1, 2, 10, (10, 40))), Some(10), "{name}");
        queue.submit(0, 2, 2, 30);
        assert!(queue.start(0).is_empty(), "{name}");
        queue.0.failed(at(5), 1, &[]);
        assert_eq!(queue.displaced(), [(1, Displaced::Moved(at(18)))], "{name}");
        assert!(queue.displaced().is_empty(), "{name}: each is returned once");
        queue.0.finished(at(18), Slot(0));
        assert_eq!(queue.start(18), [1], "{name}");
        queue.0.finished(at(28), Slot(1));
        assert_eq!(queue.start(28), [2], "{name}");
    }
}

/// No other place is left in the window. It is postponed, given back, or given back at once if processors have failed.
#[test]
fn a_window_without_a_place_has_the_fate_that_its_request_names() {
    for (name, mut queue) in queues() {
        let asked = |slot, remedy| Reserve { remedy, ..reserve(slot, 1, 5, (10, 18)) };
        queue.submit(0, 0, 1, 40);
        assert_eq!(queue.start(0), [0]);
        let requests = [asked(1, Remedy::Postpone), asked(2, Remedy::Substitute)];
        for request in &requests {
            assert_eq!(queue.ask(0, request), Some(10), "{name}");
        }
        queue.0.failed(at(2), 3, &[]);
        let out = Displaced::Out(requests[1]);
        let fates = [(1, Displaced::Postponed(at(40))), (2, out)];
        assert_eq!(queue.displaced(), fates, "{name}");
        queue.0.restored(at(12), 3);
        assert!(queue.start(12).contains(&1), "{name}: it moves up");
        let revoked = Reserve { slot: Slot(3), ..asked(3, Remedy::Revoke) };
        let late = Reserve { window: Window { ready: Some(at(50)), ..revoked.window }, ..revoked };
        let late = Reserve { window: Window { deadline: at(99), ..late.window }, ..late };
        assert_eq!(queue.ask(12, &late), Some(50), "{name}");
        queue.0.failed(at(14), 2, &[]);
        assert!(queue.displaced().is_empty(), "{name}: it keeps its place");
        queue.0.failed(at(14), 1, &[Killed { slot: Slot(1), processors: 1, planned_end: at(17) }]);
        queue.0.overran(at(40), Slot(0), at(80));
        assert_eq!(queue.displaced(), [(3, Displaced::Moved(at(80)))], "{name}");
        queue.0.failed(at(60), 1, &[Killed { slot: Slot(0), processors: 1, planned_end: at(80) }]);
        assert_eq!(queue.displaced(), [(3, Displaced::Out(late))], "{name}");
    }
}

/// Job 1 is planned from 10 s to 40 s. A window that has lost its place is asked for again, from 10 s to 30 s: job 1
/// makes way. If there is no place even then, job 1 keeps its own.
#[test]
fn jobs_make_way_for_a_window_that_is_asked_for_again() {
    for (name, mut queue) in queues() {
        queue.submit(0, 0, 4, 10);
        assert_eq!(queue.start(0), [0]);
        queue.submit(0, 1, 3, 30);
        let promised = queue.start_of(0, 1);
        for request in [reserve(2, 2, 15, (0, 24)), reserve(2, 5, 15, (0, 99))] {
            assert_eq!(queue.ask_again(1, &request), None, "{name}");
            assert_eq!(queue.start_of(1, 1), promised, "{name}");
        }
        let request = reserve(2, 2, 15, (0, 30));
        assert_eq!(queue.ask(1, &request), None, "{name}");
        assert_eq!(queue.ask_again(1, &request), Some(10), "{name}");
        queue.0.finished(at(10), Slot(0));
        assert_eq!(queue.start(10), [2], "{name}");
        queue.0.finished(at(25), Slot(2));
        assert_eq!(queue.start(25), [1], "{name}");
    }
}

/// Windows and maintenance: a window of maintenance is refused where a reservation waits, and breaks none.
#[test]
fn maintenance_leaves_windows_their_places() {
    for (name, mut queue) in queues() {
        assert_eq!(queue.ask(0, &reserve(0, 3, 10, (10, 40))), Some(10), "{name}");
        let place = Interval { start: at(5), span: Span::from_secs(10), processors: 2 };
        assert!(!queue.0.maintenance().announce(at(0), 0, place, Overlap::Refuse), "{name}");
        assert!(queue.0.maintenance().announce(at(0), 1, place, Overlap::Break), "{name}");
        assert!(queue.displaced().is_empty(), "{name}");
        let beside = reserve(1, 4, 2, (0, 30));
        assert_eq!(queue.ask(0, &beside), Some(0), "{name}");
        let behind = reserve(2, 4, 4, (2, 30));
        assert_eq!(queue.ask(0, &behind), Some(20), "{name}");
        assert_eq!(queue.start(0), [1], "{name}");
        queue.0.finished(at(2), Slot(1));
        assert_eq!(queue.0.maintenance().kept(at(5), 1), 1, "{name}: the rest");
    }
}

/// Windows, parts and shares of bags in one queue. All processors have a window from 10 s to 20 s. A bag of four tasks
/// of 15 s is offered for 35 s, and a later window is granted behind it.
#[test]
fn bags_windows_and_parts_leave_each_other_their_time() {
    for (name, scheduling) in [("edf", edf()), ("bags", bags())] {
        let mut queue = Queue(scheduling.around_parts().build(4));
        assert_eq!(queue.ask(0, &reserve(0, 4, 10, (10, 20))), Some(10), "{name}");
        let span = Span::from_secs(15);
        let bag = BagRequest { tasks: 4, span, deadline: None, earliest: at(0) };
        let offers = queue.0.bags().offers(at(0), &bag);
        let all = *offers.last().expect("an offer");
        assert_eq!((all.tasks, all.completion), (4, at(35)), "{name}: {offers:?}");
        let award = Award::Offered { tasks: 4, offer: all };
        assert_eq!(queue.0.bags().award(at(0), Slot(1), &bag, &award), Some(at(35)), "{name}");
        let part = Interval { start: at(35), span: Span::from_secs(5), processors: 3 };
        assert!(queue.0.parts().hold(at(0), Slot(2), part), "{name}");
        assert_eq!(queue.ask(0, &reserve(3, 2, 5, (20, 39))), None, "{name}");
        assert_eq!(queue.ask(0, &reserve(3, 2, 5, (20, 50))), Some(40), "{name}");
        assert_eq!(queue.0.next_start(), Some(at(10)), "{name}");
        assert_eq!(queue.start(10), [0], "{name}");
        queue.0.finished(at(20), Slot(0));
        assert!(queue.start(20).is_empty(), "{name}");
        let mut tasks = Vec::new();
        queue.0.bags().tasks_due(at(20), &mut tasks);
        let due: u32 = tasks.iter().map(|it| it.1).sum();
        assert_eq!((due, tasks[0].0), (4, Slot(1)), "{name}");
        queue.0.bags().tasks_finished(at(30), Slot(1), 4, at(35));
        queue.0.bags().reschedule(at(30));
        assert!(queue.start(30).contains(&3), "{name}: the reservation moves up");
        queue.0.finished(at(34), Slot(3));
        assert_eq!(queue.start(35), [2], "{name}: the part keeps its place");
    }
}
