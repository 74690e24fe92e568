//! Small queues around parts, worked out by hand: one machine of four processors.

use haggle_model::Span;
use haggle_scheduling::{
    Compression, Interval, LocalQueue, Order, Policy, Request, SchedulerConfig, Scheduling, Slot,
};
use haggle_testing::at;

struct Queue(Box<LocalQueue>);

fn queue(policy: Policy, compression: Compression) -> Queue {
    let config =
        SchedulerConfig { policy, order: Order::Arrival, compression, depth: None, window: None };
    Queue(Scheduling::from(config).around_parts().build(4))
}

fn fcfs() -> Queue {
    queue(Policy::Fcfs, Compression::default())
}

fn easy() -> Queue {
    queue(Policy::Easy, Compression::default())
}

fn replan() -> Queue {
    queue(Policy::Conservative, Compression::Replan)
}

impl Queue {
    /// Holds a part of so many processors.
    fn hold(&mut self, now: i64, slot: u32, (start, end): (i64, i64), processors: u32) -> bool {
        let place = Interval { start: at(start), span: Span::from_secs(end - start), processors };
        self.0.parts().hold(at(now), Slot(slot), place)
    }

    fn request(slot: u32, processors: u32, secs: i64) -> Request {
        let span = Some(Span::from_secs(secs));
        Request::new(Slot(slot), processors, span)
    }

    fn submit(&mut self, now: i64, slot: u32, processors: u32, secs: i64) {
        self.0.submit(at(now), Queue::request(slot, processors, secs));
    }

    fn start(&mut self, now: i64) -> Vec<u32> {
        let mut started = Vec::new();
        self.0.parts().compress(at(now));
        self.0.start_due(at(now), &mut started);
        started.into_iter().map(|slot| slot.0).collect()
    }

    fn end(&mut self, now: i64, slot: u32) {
        self.0.finished(at(now), Slot(slot));
    }

    /// Fewest processors that are offered to parts during an interval.
    fn offered(&mut self, now: i64, (start, end): (i64, i64)) -> u32 {
        self.0.parts().free_times(at(now), None).min_free(at(start), at(end))
    }

    fn displaced(&mut self) -> Vec<u32> {
        let mut displaced = Vec::new();
        self.0.parts().take_displaced(&mut displaced);
        displaced.into_iter().map(|slot| slot.0).collect()
    }

    fn next_start(&self) -> Option<i64> {
        self.0.next_start().map(|start| start.as_micros() / 1_000_000)
    }
}

/// A part of three processors from 10 s to 20 s. Job 1 ends before it; job 2 would run into it.
fn around_a_part(queue: &mut Queue) {
    assert!(queue.hold(0, 0, (10, 20), 3));
    queue.submit(0, 1, 2, 10);
    queue.submit(0, 2, 2, 15);
    queue.submit(0, 3, 1, 5);
    queue.submit(0, 4, 1, 40);
}

/// Job 2 is the head and waits for the end of the part. No job passes it, although jobs 3 and 4 would fit.
#[test]
fn first_come_first_served_waits_for_the_end_of_a_part() {
    let mut queue = fcfs();
    around_a_part(&mut queue);
    assert_eq!(queue.start(0), [1]);
    assert_eq!(queue.next_start(), Some(10), "the part");
    queue.end(10, 1);
    assert_eq!(queue.start(10), [0]);
    assert_eq!(queue.next_start(), None);
    queue.end(18, 0);
    assert_eq!(queue.start(18), [2, 3, 4], "the part ends early");
}

/// Job 2 has its reservation at 20 s. Job 3 ends before the part, and job 4 needs the one processor that the part
/// and job 2 leave.
#[test]
fn easy_backfills_beside_a_part_and_the_first_job() {
    let mut queue = easy();
    around_a_part(&mut queue);
    assert_eq!(queue.start(0), [1, 3, 4]);
    queue.submit(2, 5, 1, 4);
    assert!(queue.start(2).is_empty(), "no processor is free");
    queue.end(5, 3);
    assert_eq!(queue.start(5), [5]);
    queue.end(9, 5);
    queue.submit(9, 6, 1, 2);
    assert!(queue.start(9).is_empty(), "job 6 would run into the part");
    queue.end(10, 1);
    assert_eq!(queue.start(10), [0]);
    queue.end(20, 0);
    assert_eq!(queue.start(20), [2, 6]);
}

/// Reservations are made around the part: job 2 at 20 s, jobs 3 and 4 at once. Job 1 ends at 4 s, and then all
/// reservations are made again.
#[test]
fn replan_makes_reservations_around_a_part() {
    let mut queue = replan();
    around_a_part(&mut queue);
    assert_eq!(queue.start(0), [1, 3, 4]);
    queue.submit(1, 5, 2, 6);
    assert_eq!(queue.next_start(), Some(10));
    queue.end(4, 1);
    assert_eq!(queue.start(4), [5], "job 5 ends when the part starts");
    queue.end(5, 3);
    queue.end(10, 5);
    assert_eq!(queue.start(10), [0]);
    queue.end(20, 0);
    assert_eq!(queue.start(20), [2]);
}

/// Job 0 uses three processors until 10 s. Jobs 1 and 2 wait: each needs two processors for 10 s. FCFS promises
/// both starts, at 10 s. EASY promises the first one only, so its second job waits for the part.
#[test]
fn parts_take_no_promised_time() {
    let two_wait = |queue: &mut Queue| {
        queue.submit(0, 0, 3, 10);
        assert_eq!(queue.start(0), [0]);
        queue.submit(0, 1, 2, 10);
        queue.submit(0, 2, 2, 10);
        assert!(queue.start(0).is_empty());
    };
    for (mut queue, offered) in [(fcfs(), 0), (easy(), 2), (replan(), 0)] {
        two_wait(&mut queue);
        assert_eq!(queue.offered(0, (0, 10)), 1);
        assert_eq!(queue.offered(0, (10, 20)), offered);
        assert!(!queue.hold(0, 3, (10, 20), offered + 1));
        assert!(queue.hold(0, 3, (0, 10), 1) && queue.hold(0, 4, (20, 30), 4));
        assert_eq!(queue.hold(0, 5, (10, 20), 2), offered == 2);
        assert_eq!(queue.start(0), [3]);
        queue.end(10, 0);
        queue.end(10, 3);
        let starts: &[u32] = if offered == 2 { &[5, 1] } else { &[1, 2] };
        assert_eq!(queue.start(10), starts);
    }
}

/// The job without a limit fits nowhere before the part, and is promised the time behind it. So later parts leave
/// it room, and it does not wait for ever.
#[test]
fn parts_do_not_hold_back_the_first_job_for_ever() {
    for mut queue in [fcfs(), easy(), replan()] {
        assert!(queue.hold(0, 0, (10, 20), 2));
        let endless = Request { span: None, ..Queue::request(1, 3, 0) };
        queue.0.submit(at(0), endless);
        assert!(queue.start(0).is_empty());
        assert_eq!(queue.offered(0, (20, 1_000_000)), 1);
        assert!(!queue.hold(0, 2, (30, 40), 2));
        assert_eq!(queue.start(10), [0]);
        queue.end(20, 0);
        assert_eq!(queue.start(20), [1]);
    }
}

/// A part that is the only one of its job keeps its place, and moves up when a job ends early; it does not take
/// the time of the first job that waits.
#[test]
fn a_single_part_moves_up_to_offered_time() {
    for mut queue in [fcfs(), easy(), replan()] {
        queue.submit(0, 0, 4, 10);
        assert_eq!(queue.start(0), [0]);
        queue.submit(0, 1, 3, 10);
        assert!(queue.start(0).is_empty());
        assert!(queue.hold(0, 2, (20, 30), 2));
        queue.0.parts().turn_into_job(Queue::request(2, 2, 10));
        assert_eq!(queue.0.queue_length(), 2);
        queue.end(6, 0);
        assert_eq!(queue.start(6), [1]);
        assert_eq!(queue.next_start(), Some(16), "the time before is for job 1");
        queue.end(12, 1);
        assert_eq!(queue.start(12), [2]);
        assert_eq!(queue.0.queue_length(), 0);
    }
}

/// A job that runs on, and a processor that fails, take the places of parts that have no room left.
#[test]
fn parts_without_room_lose_their_places_in_every_queue() {
    for mut queue in [fcfs(), easy(), replan()] {
        queue.submit(0, 0, 2, 10);
        assert_eq!(queue.start(0), [0]);
        assert!(queue.hold(0, 1, (10, 20), 3) && queue.hold(0, 2, (10, 20), 1));
        assert!(queue.hold(0, 3, (30, 40), 4));
        queue.0.overran(at(10), Slot(0), at(15));
        assert_eq!(queue.displaced(), [1]);
        assert_eq!(queue.start(10), [2]);
        queue.0.failed(at(12), 1, &[]);
        assert_eq!(queue.displaced(), [3]);
        queue.0.restored(at(13), 1);
        queue.end(15, 0);
        assert!(queue.hold(15, 4, (15, 20), 3), "the time is offered again");
        assert_eq!(queue.start(15), [4]);
    }
}
