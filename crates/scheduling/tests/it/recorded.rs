//! Starts as recorded: by hand, and second by second against a plain list of jobs.

use haggle_model::{Span, Time};
use haggle_scheduling::{
    Interval, Killed, LocalScheduler, Maintaining, Overlap, Recorded, Request, Slot,
};
use haggle_testing::at;
use proptest::prelude::*;

use crate::obvious::{Booked, ObviousProfile};

const PROCESSORS: u32 = 8;

/// A job, in seconds. It runs no longer than requested.
#[derive(Clone, Copy, Debug)]
struct Work {
    submit: i64,
    /// Waiting time in the log.
    wait: Option<i64>,
    requested: i64,
    run: i64,
    processors: u32,
}

/// A window of maintenance, or a failure without an announcement.
#[derive(Clone, Copy, Debug)]
struct Closing {
    announced: Option<i64>,
    start: i64,
    length: i64,
    processors: u32,
}

/// Starts of each job, acceptance of each window, and estimates.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    starts: Vec<Vec<i64>>,
    accepted: Vec<bool>,
    estimates: Vec<Option<Time>>,
}

fn request(job: usize, work: &Work, ahead: bool, is_lost: bool) -> Request {
    let (slot, span) = (Slot(job as u32), Some(Span::from_secs(work.requested)));
    let recorded = work.wait.filter(|_| !is_lost).map(|wait| at(work.submit + wait));
    Request { ahead, recorded, ..Request::new(slot, work.processors, span) }
}

/// Second by second: ends, repairs, failures, windows, submissions, then starts.
fn simulate(queue: &mut dyn LocalScheduler, jobs: &[Work], closings: &[Closing]) -> Outcome {
    let mut outcome = Outcome {
        starts: vec![Vec::new(); jobs.len()],
        accepted: vec![false; closings.len()],
        estimates: Vec::new(),
    };
    // Job, its end, and its planned end.
    let mut running: Vec<(usize, i64, i64)> = Vec::new();
    let mut over = 0;
    for now in 0.. {
        if over == jobs.len() && closings.iter().all(|it| it.start + it.length < now) {
            break;
        }
        assert!(now < 10_000, "it never ends");
        running.retain(|&(job, end, _)| {
            let ends = end == now;
            if ends {
                queue.finished(at(now), Slot(job as u32));
                over += 1;
            }
            !ends
        });
        for (number, it) in closings.iter().enumerate() {
            let (end, accepted) = (it.start + it.length, outcome.accepted[number]);
            match it.announced {
                None if end == now => queue.restored(at(now), it.processors),
                Some(_) if accepted && end == now => {
                    queue.maintenance().end(at(now), number as u32);
                }
                _ => {}
            }
        }
        for it in closings.iter().filter(|it| it.announced.is_none() && it.start == now) {
            fail(queue, now, it, (jobs, closings), &mut running);
        }
        for (number, it) in closings.iter().enumerate() {
            let (span, processors) = (Span::from_secs(it.length), it.processors);
            let window = Interval { start: at(it.start), span, processors };
            let maintenance = queue.maintenance();
            if it.announced == Some(now) {
                outcome.accepted[number] =
                    maintenance.announce(at(now), number as u32, window, Overlap::Refuse);
            }
            if outcome.accepted[number] && it.start == now {
                let kept = maintenance.kept(at(now), number as u32);
                assert_eq!(kept, it.processors, "a window that was accepted is kept");
                maintenance.begin(at(now), number as u32, kept);
            }
        }
        for (job, work) in jobs.iter().enumerate().filter(|(_, work)| work.submit == now) {
            queue.submit(at(now), request(job, work, false, false));
        }
        let mut started = Vec::new();
        queue.start_due(at(now), &mut started);
        for slot in started {
            let Work { requested, run, .. } = jobs[slot.index()];
            outcome.starts[slot.index()].push(now);
            running.push((slot.index(), now + run, now + requested));
        }
        if now % 7 == 0 {
            let estimate = queue.estimate_start(at(now), 3, Some(Span::from_secs(5)));
            outcome.estimates.push(estimate);
        }
    }
    outcome
}

/// The jobs that started last are lost until enough processors are idle. They wait again, every other one ahead.
fn fail(
    queue: &mut dyn LocalScheduler,
    now: i64,
    it: &Closing,
    (jobs, closings): (&[Work], &[Closing]),
    running: &mut Vec<(usize, i64, i64)>,
) {
    let down =
        closings.iter().filter(|other| other.start < now && now < other.start + other.length);
    let down: u32 = down.map(|other| other.processors).sum();
    let mut killed = Vec::new();
    let used = |running: &[(usize, i64, i64)]| -> u32 {
        running.iter().map(|&(job, ..)| jobs[job].processors).sum()
    };
    while PROCESSORS - down - used(running) < it.processors {
        let (job, _, planned_end) = running.pop().expect("somebody has them");
        let (slot, processors) = (Slot(job as u32), jobs[job].processors);
        killed.push(Killed { slot, processors, planned_end: at(planned_end) });
    }
    queue.failed(at(now), it.processors, &killed);
    for it in killed {
        let job = it.slot.index();
        queue.submit(at(now), request(job, &jobs[job], job % 2 == 0, true));
    }
}

/// Place in the queue of a waiting job.
type Place = (u8, Option<Time>, usize);

/// The definition: every second, all waiting jobs are examined in order.
#[derive(Debug, Default)]
struct Listed {
    running: Vec<(Slot, Booked)>,
    waiting: Vec<(Place, Request)>,
    windows: Vec<(u32, Booked)>,
    down: u32,
    submitted: usize,
}

impl Listed {
    fn profile(&self) -> ObviousProfile {
        let down = Booked { start: i64::MIN, end: i64::MAX, processors: self.down };
        let running = self.running.iter().map(|it| it.1);
        let booked = running.chain(self.windows.iter().map(|it| it.1)).chain([down]).collect();
        ObviousProfile { capacity: PROCESSORS, booked }
    }

    fn sorted(&mut self) -> Vec<Request> {
        self.waiting.sort_by_key(|it| it.0);
        self.waiting.iter().map(|it| it.1).collect()
    }
}

fn micros(time: Time) -> i64 {
    time.as_micros()
}

fn span(request: &Request) -> i64 {
    request.span.expect("all have limits").as_micros()
}

impl LocalScheduler for Listed {
    fn submit(&mut self, _: Time, request: Request) -> Option<Time> {
        let kind = match request.recorded {
            _ if request.ahead => 0,
            Some(_) => 1,
            None => 2,
        };
        self.submitted += 1;
        self.waiting.push(((kind, request.recorded, self.submitted), request));
        None
    }

    fn finished(&mut self, _: Time, slot: Slot) {
        self.running.retain(|it| it.0 != slot);
    }

    fn overran(&mut self, _: Time, _: Slot, _: Time) {
        unreachable!("all jobs end in time")
    }

    fn failed(&mut self, _: Time, processors: u32, killed: &[Killed]) {
        self.running.retain(|it| killed.iter().all(|other| other.slot != it.0));
        self.down += processors;
    }

    fn restored(&mut self, _: Time, processors: u32) {
        self.down -= processors;
    }

    fn withdraw(&mut self, _: Time, slot: Slot) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|it| it.1.slot != slot);
        self.waiting.len() < before
    }

    fn start_due(&mut self, now: Time, started: &mut Vec<Slot>) {
        for request in self.sorted() {
            let start = micros(now);
            let end = start + span(&request);
            let is_due = request.recorded.is_none_or(|recorded| recorded <= now);
            if is_due && self.profile().min_free(start, end) >= request.processors {
                let processors = request.processors;
                self.running.push((request.slot, Booked { start, end, processors }));
                self.withdraw(now, request.slot);
                started.push(request.slot);
            }
        }
    }

    fn next_start(&self) -> Option<Time> {
        None
    }

    fn estimate_start(&mut self, now: Time, processors: u32, lasts: Option<Span>) -> Option<Time> {
        let mut profile = self.profile();
        let (due, coming) = self
            .sorted()
            .into_iter()
            .partition::<Vec<_>, _>(|it| it.recorded.is_none_or(|recorded| recorded <= now));
        for it in due.into_iter().chain(coming) {
            let from = it.recorded.map_or(now, |recorded| recorded.max(now));
            let start = profile.earliest_fit(it.processors, span(&it), micros(from));
            let start = start.unwrap_or(micros(Time::FOREVER));
            let (end, processors) = (start.saturating_add(span(&it)), it.processors);
            profile.booked.push(Booked { start, end, processors });
        }
        let lasts = lasts.expect("it has a limit").as_micros();
        let start = profile.earliest_fit(processors, lasts, micros(now));
        Some(start.map_or(Time::FOREVER, Time::from_micros))
    }

    fn queue_length(&self) -> usize {
        self.waiting.len()
    }

    fn maintenance(&mut self) -> &mut dyn Maintaining {
        self
    }
}

impl Maintaining for Listed {
    fn announce(&mut self, _: Time, number: u32, window: Interval, _: Overlap) -> bool {
        let Interval { start, processors, .. } = window;
        let (start, end) = (micros(start), micros(window.end()));
        let accepted = self.profile().min_free(start, end) >= processors;
        if accepted {
            self.windows.push((number, Booked { start, end, processors }));
        }
        accepted
    }

    fn first_room(&mut self, _: Time, _: Interval) -> Option<Time> {
        unreachable!("nobody asks")
    }

    fn kept(&mut self, _: Time, number: u32) -> u32 {
        let mine = self.windows.iter().find(|it| it.0 == number);
        mine.map_or(0, |it| it.1.processors)
    }

    fn begin(&mut self, _: Time, _: u32, _: u32) {}

    fn end(&mut self, _: Time, number: u32) {
        self.windows.retain(|it| it.0 != number);
    }
}

fn work() -> impl Strategy<Value = Vec<Work>> {
    let wait = prop_oneof![4 => (0..40_i64).prop_map(Some), 1 => Just(None)];
    let job = (0..6_i64, wait, 1..=20_i64, 0..=100_i64, 1..=PROCESSORS);
    prop::collection::vec(job, 1..60).prop_map(|drawn| {
        let mut submit = 0;
        let job = |(gap, wait, requested, percent, processors)| {
            submit += gap;
            let run = i64::max(1, requested * percent / 100);
            Work { submit, wait, requested, run, processors }
        };
        drawn.into_iter().map(job).collect()
    })
}

fn windows() -> impl Strategy<Value = Vec<Closing>> {
    let window = (0..100_i64, 1..60_i64, 1..30_i64, 1..=PROCESSORS);
    let window = window.prop_map(|(announced, notice, length, processors)| Closing {
        announced: Some(announced),
        start: announced + notice,
        length,
        processors,
    });
    prop::collection::vec(window, 0..5)
}

/// Failures one after the other.
fn failures() -> impl Strategy<Value = Vec<Closing>> {
    let failure = (1..40_i64, 1..20_i64, 1..=PROCESSORS);
    prop::collection::vec(failure, 1..6).prop_map(|drawn| {
        let mut start = 0;
        let failure = |(gap, length, processors)| {
            start += gap;
            let it = Closing { announced: None, start, length, processors };
            start += length;
            it
        };
        drawn.into_iter().map(failure).collect()
    })
}

proptest! {
    #[test]
    fn every_job_starts_when_it_does_in_the_list(
        jobs in work(),
        closings in prop_oneof![windows(), failures()],
    ) {
        let fast = simulate(&mut Recorded::new(PROCESSORS), &jobs, &closings);
        let listed = simulate(&mut Listed::default(), &jobs, &closings);
        prop_assert_eq!(fast, listed);
    }

    /// With as many processors as all jobs together need, every job starts as recorded.
    #[test]
    fn a_job_without_a_conflict_starts_as_recorded(jobs in work()) {
        let all = jobs.iter().map(|it| it.processors).sum();
        let outcome = simulate(&mut Recorded::new(all), &jobs, &[]);
        for (job, starts) in jobs.iter().zip(outcome.starts) {
            prop_assert_eq!(starts, [job.submit + job.wait.unwrap_or(0)]);
        }
    }

    /// A withdrawn job leaves no trace, before and after it is due.
    #[test]
    fn withdrawn_jobs_never_start(jobs in work(), withdrawn in prop::collection::vec(any::<bool>(), 60)) {
        let mut queue = Recorded::new(PROCESSORS);
        let mut kept = Recorded::new(PROCESSORS);
        for (number, job) in jobs.iter().enumerate() {
            queue.submit(at(0), request(number, job, false, false));
            if !withdrawn[number] {
                kept.submit(at(0), request(number, job, false, false));
            }
        }
        let stays = |slot: &Slot| !withdrawn[slot.index()];
        let mut slots = (0..jobs.len() as u32).map(Slot);
        prop_assert!(slots.all(|slot| stays(&slot) || queue.withdraw(at(0), slot)));
        prop_assert_eq!(queue.queue_length(), kept.queue_length());
        for now in [0, 100, 500] {
            let (mut these, mut those) = (Vec::new(), Vec::new());
            queue.start_due(at(now), &mut these);
            kept.start_due(at(now), &mut those);
            prop_assert_eq!(these, those);
        }
    }
}

/// Five jobs on four processors. The log says that job 1 started at 10 s, while job 0 had three processors until
/// 15 s: job 1 waits until then, and job 2 passes it at its own start. Job 4 has no recorded wait.
///
/// ```text
///   job   submitted   recorded start   processors   runs   starts
///     0           0                5            3     10        5
///     1           1               10            2     10       15   conflict with job 0
///     2           2               11            1      4       11   passes job 1
///     3           3               30            4      5       30   nothing runs from 25 s on, and it waits
///     4           4                -            1      3        4
/// ```
#[test]
fn five_jobs_by_hand() {
    let job = |submit, start: Option<i64>, run, processors| Work {
        submit,
        wait: start.map(|start| start - submit),
        requested: 2 * run,
        run,
        processors,
    };
    let jobs = [
        job(0, Some(5), 10, 3),
        job(1, Some(10), 10, 2),
        job(2, Some(11), 4, 1),
        job(3, Some(30), 5, 4),
        job(4, None, 3, 1),
    ];
    let starts = simulate(&mut Recorded::new(4), &jobs, &[]).starts;
    assert_eq!(starts, [[5], [15], [11], [30], [4]]);
}

/// The provider wakes up for the next recorded start, and not for due jobs.
#[test]
fn the_next_start_is_the_next_recorded_one() {
    let mut queue = Recorded::new(4);
    let work = |wait| Work { submit: 0, wait, requested: 10, run: 10, processors: 4 };
    queue.submit(at(0), request(0, &work(Some(7)), false, false));
    queue.submit(at(0), request(1, &work(Some(3)), false, false));
    queue.submit(at(0), request(2, &work(None), false, false));
    assert_eq!(queue.next_start(), Some(at(3)));
    let mut started = Vec::new();
    queue.start_due(at(0), &mut started);
    assert_eq!(started, [Slot(2)]);
    queue.start_due(at(7), &mut started);
    assert_eq!((started.as_slice(), queue.next_start()), (&[Slot(2)][..], None));
    queue.finished(at(10), Slot(2));
    queue.start_due(at(10), &mut started);
    assert_eq!(started, [Slot(2), Slot(1)], "in the order of recorded starts");
}
