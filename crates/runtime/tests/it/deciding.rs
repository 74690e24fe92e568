//! One decision per instant: fast queues against obvious ones, and worked cases.

use haggle_model::{JobOutcome, ProcessorSet, Span, Time};
use haggle_scheduling::coallocation::CoallocationPolicy;
use haggle_scheduling::{Compression, Order, Passes, Policy, SchedulerConfig};
use proptest::prelude::*;

use crate::setup::{Setup, job};

/// A job: submission, request, run time and processors.
type Work = (i64, i64, i64, u32);

fn queue(setup: Setup, processors: u32, policy: Policy, order: Order) -> Setup {
    let compression = Compression::JobByJob;
    let config = SchedulerConfig { policy, order, compression, depth: None, window: None };
    setup.provider(processors, policy).change(|it| it.scheduler = config.into())
}

fn jobs(first: i64, work: &[Work]) -> Vec<haggle_model::Job> {
    let numbered = (first..).zip(work);
    numbered
        .map(|(number, &(submit, requested, run, width))| {
            job(number, submit, requested, run, width)
        })
        .collect()
}

/// The starts of jobs at one provider.
fn starts(processors: u32, policy: Policy, order: Order, work: &[Work]) -> Vec<i64> {
    let setup = queue(Setup::default(), processors, policy, order).user(0, jobs(1, work));
    setup.run_on_both().starts().into_iter().map(|it| it.expect("it starts")).collect()
}

/// A queue by its definition: at each instant all ends, then all submissions, then one pass.
struct Obvious<'a> {
    processors: u32,
    policy: Policy,
    order: Order,
    work: &'a [Work],
    /// Start of each job that has started, or has a reservation.
    starts: Vec<Option<i64>>,
    running: Vec<usize>,
    /// In the order of the queue.
    waiting: Vec<usize>,
}

impl Obvious<'_> {
    fn starts(mut self) -> Vec<i64> {
        let mut now = self.work.iter().map(|it| it.0).min().unwrap_or(0);
        loop {
            let before = self.running.len();
            let ended = |&job: &usize| self.starts[job].expect("it runs") + self.work[job].2 > now;
            self.running.retain(ended);
            if self.running.len() < before && self.policy == Policy::Conservative {
                for job in self.waiting.clone() {
                    self.reserve(job, now);
                }
            }
            let mut arrived =
                Vec::from_iter((0..self.work.len()).filter(|&it| self.work[it].0 == now));
            arrived.sort_by_key(|&it| self.key(it));
            for job in arrived {
                if self.policy == Policy::Conservative {
                    self.reserve(job, now);
                }
                self.waiting.push(job);
            }
            let mut waiting = std::mem::take(&mut self.waiting);
            waiting.sort_by_key(|&it| (self.key(it), self.work[it].0, it));
            self.waiting = waiting;
            self.pass(now);
            let submissions = self.work.iter().map(|it| it.0);
            let ends =
                self.running.iter().map(|&it| self.starts[it].expect("it runs") + self.work[it].2);
            let planned = self.waiting.iter().filter_map(|&it| self.starts[it]);
            let next = submissions.chain(ends).chain(planned).filter(|&it| it > now).min();
            match next {
                Some(next) => now = next,
                None => return self.starts.into_iter().map(|it| it.expect("it starts")).collect(),
            }
        }
    }

    fn key(&self, job: usize) -> i64 {
        match self.order {
            Order::Shortest => self.work[job].1,
            Order::Largest => -i64::from(self.work[job].3),
            _ => 0,
        }
    }

    /// Processors that are free at an instant by plan.
    fn free(&self, at: i64, without: Option<usize>) -> i64 {
        let holds = |&job: &usize| {
            let start = self.starts[job].filter(|_| Some(job) != without);
            start.is_some_and(|start| start <= at && at < start + self.work[job].1)
        };
        let all = self.running.iter().chain(&self.waiting);
        let used: u32 = all.filter(|it| holds(it)).map(|&it| self.work[it].3).sum();
        i64::from(self.processors) - i64::from(used)
    }

    /// The earliest start of a job from `now` on, if all others stay.
    fn earliest(&self, job: usize, now: i64) -> i64 {
        let (_, span, _, width) = self.work[job];
        let others = self.running.iter().chain(&self.waiting).filter(|&&it| it != job);
        let ends = others.clone().filter_map(|&it| Some(self.starts[it]? + self.work[it].1));
        let begins = others.filter_map(|&it| self.starts[it]);
        let mut instants = Vec::from_iter(ends.chain(begins).chain([now]).filter(|&it| it >= now));
        instants.sort_unstable();
        let fits = |&&start: &&i64| {
            let during = instants.iter().filter(|&&it| start <= it && it < start + span);
            during.clone().all(|&it| self.free(it, Some(job)) >= i64::from(width))
        };
        *instants.iter().find(fits).expect("it fits behind all others")
    }

    fn reserve(&mut self, job: usize, now: i64) {
        self.starts[job] = None;
        self.starts[job] = Some(self.earliest(job, now));
    }

    fn start(&mut self, job: usize, now: i64) {
        self.starts[job] = Some(now);
        self.waiting.retain(|&it| it != job);
        self.running.push(job);
    }

    fn pass(&mut self, now: i64) {
        if self.policy == Policy::Conservative {
            for job in self.waiting.clone() {
                if self.starts[job] == Some(now) {
                    self.start(job, now);
                }
            }
            return;
        }
        while let Some(&head) = self.waiting.first() {
            let wide = i64::from(self.work[head].3);
            if wide <= self.free(now, None) {
                self.start(head, now);
                continue;
            }
            if self.policy == Policy::Easy {
                let behind = Vec::from(&self.waiting[1..]);
                for job in behind {
                    let shadow = self.earliest(head, now);
                    let (_, span, _, width) = self.work[job];
                    let width = i64::from(width);
                    let ends_before = now + span <= shadow;
                    let is_beside = width <= self.free(shadow, None) - wide;
                    if width <= self.free(now, None) && (ends_before || is_beside) {
                        self.start(job, now);
                    }
                }
            }
            break;
        }
    }
}

/// Many jobs whose submissions and ends meet at few instants.
fn work() -> impl Strategy<Value = Vec<Work>> {
    let job = (0_i64..8, 1_i64..6, 0_i64..4, 1_u32..=4);
    let jobs = prop::collection::vec(job, 1..25);
    jobs.prop_map(|drawn| {
        let job = |(submit, run, over, width)| (10 * submit, 10 * (run + over), 10 * run, width);
        let mut work = Vec::from_iter(drawn.into_iter().map(job));
        work.sort_by_key(|it| it.0);
        work
    })
}

/// Jobs at any times.
fn uneven_work() -> impl Strategy<Value = Vec<Work>> {
    let job = (0_i64..90, 1_i64..60, 0_i64..40, 1_u32..=4);
    prop::collection::vec(job, 1..25).prop_map(|drawn| {
        let job = |(submit, run, over, width)| (submit, run + over, run, width);
        let mut work = Vec::from_iter(drawn.into_iter().map(job));
        work.sort_by_key(|it| it.0);
        work
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_queue_decides_once_for_all_that_happens_at_an_instant(
        work in work(),
        policy in prop::sample::select(Policy::ALL.to_vec()),
        order in prop::sample::select(vec![Order::Arrival, Order::Shortest, Order::Largest]),
    ) {
        let obvious = Obvious {
            processors: 4,
            policy,
            order,
            work: &work,
            starts: vec![None; work.len()],
            running: Vec::new(),
            waiting: Vec::new(),
        };
        prop_assert_eq!(starts(4, policy, order, &work), obvious.starts());
    }

    /// A scheduler with an interval knows of submissions and ends at its passes only, and plans up to them. So its jobs start
    /// as if all of their times were rounded up to passes.
    #[test]
    fn a_scheduler_with_an_interval_decides_at_its_passes_alone(
        work in uneven_work(),
        policy in prop::sample::select(Policy::ALL.to_vec()),
        order in prop::sample::select(vec![Order::Arrival, Order::Shortest, Order::Largest]),
        interval in prop::sample::select(vec![1_i64, 7, 10, 60]),
    ) {
        let up = |time: i64| (time + interval - 1).div_euclid(interval) * interval;
        let rounded = Vec::from_iter(
            work.iter().map(|&(submit, requested, run, width)| (up(submit), up(requested), up(run), width)),
        );
        let obvious = Obvious {
            processors: 4,
            policy,
            order,
            work: &rounded,
            starts: vec![None; work.len()],
            running: Vec::new(),
            waiting: Vec::new(),
        };
        let setup = queue(Setup::default(), 4, policy, order)
            .change(|it| it.interval = Some(Span::from_secs(interval)))
            .user(0, jobs(1, &work));
        let ran = setup.run_on_both();
        let starts = Vec::from_iter(ran.starts().into_iter().map(|it| it.expect("it starts")));
        prop_assert_eq!(starts, obvious.starts());
        // The scheduler learns of ends later, and the records have them as they are.
        for record in &ran.records {
            let (_, _, run, _) = work[record.job.number as usize - 1];
            prop_assert_eq!(record.end - record.start.expect("it started"), Span::from_secs(run));
        }
    }

    /// A metascheduler that has no job, or only requests estimates, does not change the schedule of other jobs.
    #[test]
    fn a_broker_that_only_asks_changes_no_local_schedule(work in work(), asks in any::<bool>()) {
        for policy in Policy::ALL {
            let alone = starts(4, policy, Order::Arrival, &work);
            let setup = queue(Setup::default(), 4, policy, Order::Arrival).provider(9, Policy::Fcfs);
            let setup = setup.metascheduler(haggle_scheduling::placement::Placement::MinimumCompletionTime);
            // These jobs are too wide for the first provider, which still receives requests for estimates.
            let guests = jobs(100, &[(10, 10, 10, 9), (20, 10, 10, 9), (20, 10, 10, 9)]);
            let setup = setup.user(0, jobs(1, &work)).user(2, if asks { guests } else { Vec::new() });
            let beside = setup.run_on_both().starts();
            let local = Vec::from_iter(beside.into_iter().flatten().take(work.len()));
            prop_assert_eq!(local, alone);
        }
    }
}

#[test]
fn two_jobs_that_end_together_make_room_for_a_wide_one() {
    // Both end at 20 s, long before their requested times. The third needs both processors. The fourth would fit
    // beside the second one if that one were believed to go on.
    let work = [(0, 100, 20, 1), (0, 100, 20, 1), (1, 50, 50, 2), (2, 80, 30, 1)];
    for policy in Policy::ALL {
        assert_eq!(starts(2, policy, Order::Arrival, &work), [0, 0, 20, 70], "{policy:?}");
    }
}

#[test]
fn one_compression_follows_all_ends_of_an_instant() {
    // The first two end at 50 s, so that the wide job moves up to them, and the last one finds no room before it.
    let work = [(0, 100, 50, 2), (0, 100, 50, 2), (1, 100, 100, 4), (2, 40, 40, 2)];
    assert_eq!(starts(4, Policy::Conservative, Order::Arrival, &work), [0, 0, 50, 150]);
}

/// A pass every 10 s. The first job ends at 13 s, and the scheduler knows of it at 20 s.
#[test]
fn a_job_waits_for_the_next_pass() {
    let work = [(0, 30, 13, 4), (3, 10, 5, 4), (21, 10, 5, 4)];
    for policy in Policy::ALL {
        let setup = queue(Setup::default(), 4, policy, Order::Arrival)
            .change(|it| it.interval = Some(Span::from_secs(10)))
            .user(0, jobs(1, &work));
        let ran = setup.run_on_both();
        assert_eq!(ran.starts(), [Some(0), Some(20), Some(30)], "{policy:?}");
    }
}

/// Processors fail at 12 s and are back at 14 s: the lost job starts again with the pass at 20 s.
#[test]
fn a_lost_job_starts_again_with_the_next_pass() {
    for policy in Policy::ALL {
        let mut setup = queue(Setup::default(), 1, policy, Order::Arrival)
            .change(|it| it.interval = Some(Span::from_secs(10)))
            .user(0, jobs(1, &[(0, 30, 25, 1), (1, 30, 5, 1)]));
        setup.failing = vec![(0, ProcessorSet::range(0, 1), vec![(12, 14)])];
        assert_eq!(setup.run_on_both().starts(), [Some(20), Some(50)], "{policy:?}");
    }
}

#[test]
fn a_queue_may_decide_after_each_event() {
    let work = [(0, 100, 20, 1), (0, 100, 20, 1), (1, 50, 50, 2), (2, 80, 30, 1)];
    let setup = queue(Setup::default(), 2, Policy::Easy, Order::Arrival)
        .change(|it| it.passes = Passes::Event)
        .user(0, jobs(1, &work));
    let starts = setup.run_on_both().starts();
    assert_eq!(starts, [Some(0), Some(0), Some(50), Some(20)]);
}

#[test]
fn the_order_of_a_queue_holds_among_jobs_that_are_submitted_together() {
    let by_time = [(0, 100, 100, 1), (0, 10, 10, 1), (0, 50, 50, 1)];
    let by_width = [(0, 10, 10, 1), (0, 10, 10, 3), (0, 10, 10, 2)];
    for policy in Policy::ALL {
        assert_eq!(starts(1, policy, Order::Shortest, &by_time), [60, 0, 10], "{policy:?}");
        assert_eq!(starts(3, policy, Order::Largest, &by_width), [10, 0, 10], "{policy:?}");
    }
}

/// Seventeen jobs of 20 s at four processors; later jobs have shorter requests.
#[test]
fn easy_fills_four_processors_in_seven_waves() {
    let widths = [4, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
    let requests = [80, 80, 80, 80, 80, 80, 80, 70, 65, 60, 55, 50, 45, 40, 35, 30, 25];
    let work =
        Vec::from_iter(widths.into_iter().zip(requests).map(|(width, it)| (0, it, 20, width)));
    let expected = [0, 20, 40, 60, 60, 80, 80, 20, 40, 100, 100, 100, 100, 120, 120, 120, 120];
    assert_eq!(starts(4, Policy::Easy, Order::Arrival, &work), expected);
}

#[test]
fn work_that_is_done_when_its_processor_fails_is_complete() {
    let work = [(0, 200, 100, 1), (1, 50, 50, 1)];
    for passes in [Passes::Instant, Passes::Event] {
        let mut setup = queue(Setup::default(), 1, Policy::Fcfs, Order::Arrival)
            .change(|it| it.passes = passes)
            .user(0, jobs(1, &work));
        setup.failing = vec![(0, ProcessorSet::range(0, 1), vec![(100, 130)])];
        let ran = setup.run_on_both();
        assert_eq!(ran.outcomes(), [JobOutcome::Completed; 2]);
        assert_eq!(ran.starts(), [Some(0), Some(130)]);
        assert_eq!(ran.records[0].end, Time::from_secs(100));
        assert!(ran.lost.is_empty());
    }
}

/// A metascheduler whose jobs take longer by `overhead` percent on several providers.
fn spread(overhead: u32, processors: &[u32]) -> Setup {
    let setup = Setup::default();
    let setup = processors.iter().fold(setup, |setup, &it| setup.coallocating(it));
    setup.coallocator(CoallocationPolicy::Shift, overhead)
}

#[test]
fn a_job_that_arrives_as_others_move_is_placed_behind_them() {
    let external =
        [(117_980, 200, 120, 8), (123_200, 7_020, 5_400, 28), (127_460, 5_300, 4_240, 27)];
    let last = [(128_600, 6_000, 4_500, 21)];
    let external = [jobs(1, &external), jobs(10, &last)].concat();
    let setup = spread(0, &[16, 8, 16]).user(0, jobs(50, &[(128_120, 6_000, 1_980, 4)]));
    let ran = setup.user(3, external).run_on_both();
    let last = ran.records.iter().find(|it| it.job.number == 10).expect("it is over");
    let shares = &last.bag.as_ref().expect("it runs in parts").shares;
    let parts = Vec::from_iter(shares.iter().map(|it| (it.provider.0, it.tasks)));
    // The third job has moved to 128,600 s by then: 12, 8 and 16 processors are free from 133,900 s on.
    assert_eq!(parts, [(0, 12), (2, 1), (1, 8)]);
}

#[test]
fn local_jobs_are_offered_a_hole_before_other_parts_move() {
    let external = [
        (6_094, 6_000, 3_660, 42),
        (9_971, 6_000, 3_000, 56),
        (10_607, 6_000, 3_300, 37),
        (13_860, 1_860, 600, 46),
        (17_704, 1_200, 1_080, 41),
    ];
    let setup = spread(20, &[8, 32, 16]).user(1, jobs(50, &[(13_160, 6_000, 3_600, 31)]));
    let ran = setup.user(3, jobs(1, &external)).run_on_both();
    let local = ran.records.iter().find(|it| it.job.number == 50).expect("it is over");
    // The job of 37 processors ends then. It left a hole at 14,086 s, which was offered to the local job before a
    // move of the job of 46 processors was requested.
    assert_eq!(local.start, Some(Time::from_secs(18_046)));
}
