//! Processors that fail under providers of every kind.

use std::collections::BTreeMap;

use haggle_agents::protocol::SubmissionMessage;
use haggle_agents::{Message, OnFailure};
use haggle_model::network::LinkSharing;
use haggle_model::work::Fraction;
use haggle_model::{
    Disclosure, Job, JobOutcome, JobRecord, JobShape, ProcessorSet, ProviderId, Span, Time,
};
use haggle_runtime::Driver;
use haggle_scheduling::checkpoints::{Every, IntervalRule, Length, MeanFailure, Volume};
use haggle_scheduling::composition::CompositionPolicy;
use haggle_scheduling::placement::Placement;
use haggle_scheduling::{
    CheckpointRule, Compression, EdfConfig, Fractions, MAX_ATTEMPTS, Order, Overrun, Policy,
    ReschedulingConfig, ReschedulingRule, SchedulerConfig, Scheduling, Shares,
};
use proptest::prelude::*;

use crate::flows::sites;
use crate::setup::{NEVER, Ran, Setup, job};
use crate::trouble::trouble;

fn lines(ran: &Ran) -> Vec<&str> {
    ran.log.lines().filter(|line| !line.contains("wake")).collect()
}

/// Two processors, one job on each; the second fails from 3 to 5.
fn two_jobs(on_failure: OnFailure) -> Ran {
    let mut setup = Setup::default()
        .provider(2, Policy::Fcfs)
        .change(|provider| provider.on_failure = on_failure)
        .user(0, vec![job(1, 0, 10, 8, 1), job(2, 0, 10, 6, 1), job(3, 1, 10, 2, 1)]);
    setup.failing = vec![(0, ProcessorSet::range(1, 1), vec![(3, 5)])];
    setup.run_on_both()
}

fn ends(ran: &Ran) -> Vec<(i64, i64, JobOutcome)> {
    let secs = |time: Time| time.as_micros() / 1_000_000;
    let mut records: Vec<&JobRecord> = ran.records.iter().collect();
    records.sort_by_key(|record| record.job.number);
    let start = |record: &JobRecord| record.start.map_or(-1, secs);
    records.iter().map(|record| (start(record), secs(record.end), record.outcome)).collect()
}

#[test]
fn a_lost_job_starts_again_before_others() {
    let ran = two_jobs(OnFailure::Restart);
    let done = JobOutcome::Completed;
    assert_eq!(ends(&ran), [(0, 8, done), (5, 11, done), (8, 10, done)]);
    assert_eq!(
        lines(&ran),
        [
            "0 1>1 job_due 0",
            "0 1>0 submit 0",
            "0 1>1 job_due 1",
            "0 1>0 submit 1",
            "0 0>1 accepted 0",
            "0 0>1 accepted 1",
            "0 0>1 started 0",
            "0 0>1 started 1",
            "1 1>1 job_due 2",
            "1 1>0 submit 2",
            "1 0>1 accepted 2",
            "3 2>2 outage_due -",
            "3 2>0 failed -",
            "3 0 | loses 1 [1]",
            "3 0 | fails [1]",
            "5 2>0 restored -",
            "5 0 | has back [1]",
            "5 0>1 started 1",
            "8 0 | 1 completed [0]",
            "8 0>1 finished 0",
            "8 0>1 started 2",
            "10 0 | 3 completed [0]",
            "10 0>1 finished 2",
            "11 0 | 2 completed [1]",
            "11 0>1 finished 1",
        ]
    );
}

#[test]
fn a_lost_job_can_go_behind_all_others() {
    let done = JobOutcome::Completed;
    let ran = two_jobs(OnFailure::Requeue);
    assert_eq!(ends(&ran), [(0, 8, done), (7, 13, done), (5, 7, done)]);
}

#[test]
fn a_lost_job_can_be_over() {
    let done = JobOutcome::Completed;
    let ran = two_jobs(OnFailure::Fail);
    assert_eq!(ends(&ran), [(0, 8, done), (-1, 3, JobOutcome::Failed), (5, 7, done)]);
}

/// The second job ends at 6, after the repair of its processor at 5. The first outage of the test below ends later: the
/// processor is down from 6 to 9.
#[test]
fn a_job_on_a_drained_processor_goes_on() {
    let done = JobOutcome::Completed;
    let ran = two_jobs(OnFailure::Drain);
    assert_eq!(ends(&ran), [(0, 8, done), (0, 6, done), (6, 8, done)]);
    assert!(!lines(&ran).iter().any(|line| line.contains("fails")));

    let mut setup = Setup::default()
        .provider(2, Policy::Fcfs)
        .change(|provider| provider.on_failure = OnFailure::Drain)
        .user(0, vec![job(1, 0, 10, 8, 1), job(2, 0, 10, 6, 1), job(3, 1, 10, 2, 2)]);
    setup.failing = vec![(0, ProcessorSet::range(1, 1), vec![(3, 9)])];
    let ran = setup.run_on_both();
    assert_eq!(ends(&ran), [(0, 8, done), (0, 6, done), (9, 11, done)]);
    let lines = lines(&ran);
    assert!(lines.contains(&"6 0 | fails [1]"), "{lines:#?}");
    assert!(lines.contains(&"9 0 | has back [1]"), "{lines:#?}");
}

fn resume(interval: i64, cost: i64, recovery: i64) -> OnFailure {
    let [interval, cost, recovery] = [interval, cost, recovery].map(Span::from_secs);
    OnFailure::Resume(CheckpointRule::every(interval, cost, recovery))
}

/// Rules that use the failures observed by nodes of two processors.
fn adaptive(rule: IntervalRule, cost: i64, recovery: i64) -> OnFailure {
    let [cost, recovery] = [cost, recovery].map(Span::from_secs);
    let every = Every::Adaptive { rule, node: 2, mean_failure: MeanFailure::Elapsed };
    OnFailure::Resume(CheckpointRule { every, cost, recovery, volume: None })
}

fn last_failure(interval: i64, cost: i64, recovery: i64) -> OnFailure {
    let interval = Span::from_secs(interval);
    adaptive(IntervalRule::LastFailure { interval, max_omit: None }, cost, recovery)
}

fn mean_failure(interval: i64, cost: i64, recovery: i64) -> OnFailure {
    let interval = Span::from_secs(interval);
    let (minimum, step) = (Length::Fixed(Span::from_secs(1)), Length::Fixed(Span::from_secs(2)));
    let (limit, first) = (Fraction::ONE, Span::from_secs(3));
    adaptive(IntervalRule::MeanFailure { interval, minimum, step, limit, first }, cost, recovery)
}

/// A checkpoint after every 2 s takes 1 s more: 8 s are 11, and of 6 s 2 are saved when the
/// second processor fails; with 1 s of recovery and one more checkpoint the other 4 are 6.
#[test]
fn a_lost_job_goes_on_from_its_last_checkpoint() {
    let done = JobOutcome::Completed;
    let ran = two_jobs(resume(2, 1, 1));
    assert_eq!(ends(&ran), [(0, 11, done), (5, 11, done), (11, 13, done)]);
    let secs = Span::from_secs;
    let lost = &ran.records.iter().find(|it| it.job.number == 2).expect("it is over").lost;
    let lost: Vec<_> = lost.iter().map(|it| (it.saved, it.checkpointing, it.undone())).collect();
    assert_eq!(lost, [(secs(2), secs(1), secs(0))]);
    let of = |number| ran.records.iter().find(move |it| it.job.number == number);
    let times = |number| {
        let it = of(number).expect("it is over");
        (it.waiting_time(), it.run_time(), it.checkpointing)
    };
    assert_eq!(times(1), (Some(secs(0)), Some(secs(11)), secs(3)));
    assert_eq!(times(2), (Some(secs(3)), Some(secs(8)), secs(2)));
    assert_eq!(times(3), (Some(secs(10)), Some(secs(2)), secs(0)));
}

/// One processor, and one job of 20 s with this requested time.
fn one_job(requested: i64, change: impl FnOnce(&mut Setup)) -> JobRecord {
    let mut setup = Setup::default()
        .provider(1, Policy::Conservative)
        .change(|provider| provider.on_failure = resume(5, 1, 2))
        .user(0, vec![job(1, 0, requested, 20, 1)]);
    setup.failing = vec![(0, ProcessorSet::range(0, 1), vec![(13, 14)])];
    change(&mut setup);
    setup.run_on_both().records.remove(0)
}

fn end_and_outcome(record: &JobRecord) -> (i64, JobOutcome) {
    (record.end.as_micros() / 1_000_000, record.outcome)
}

/// Checkpoints do not count as requested time, and are planned for: 20 + 3 s. Two of them are there at 13 s, and the
/// rest takes 2 + 5 + 1 + 5 s.
#[test]
fn checkpoints_are_on_top_of_the_requested_time() {
    let record = one_job(20, |setup| setup.failing.clear());
    assert_eq!(end_and_outcome(&record), (23, JobOutcome::Completed));
    assert_eq!(record.promised_end, Some(Time::from_secs(23)));
    assert_eq!(record.walltime, Some(Span::from_secs(20)));
    assert_eq!(end_and_outcome(&one_job(20, |_| ())), (27, JobOutcome::Completed));
}

/// The job may compute for 18 s. 10 s are saved at 13 s, and the rest takes 2 + 5 + 1 + 3 s.
#[test]
fn a_job_that_goes_on_is_killed_when_it_has_computed_what_it_asked_for() {
    let record = one_job(18, |_| ());
    assert_eq!(end_and_outcome(&record), (25, JobOutcome::WalltimeReached));
}

/// 6 s were planned for; 10 s are saved.
#[test]
fn a_job_may_have_saved_more_than_it_asked_for() {
    let extend = |setup: &mut Setup| setup.providers[0].overrun = Overrun::Extend;
    let record = one_job(6, extend);
    assert_eq!(end_and_outcome(&record), (27, JobOutcome::Completed));
}

#[test]
fn what_was_saved_is_told_of_jobs_that_do_not_end() {
    let record = one_job(20, |setup| setup.horizon = Some(Time::from_secs(20)));
    assert_eq!(end_and_outcome(&record), (20, JobOutcome::Unfinished));
    // From 14 to 16 it recovered, then it computed.
    let secs = Span::from_secs;
    assert_eq!((record.saved(), record.checkpointing), (secs(10), secs(2)));
    let record = one_job(20, |setup| setup.providers[0].max_attempts = 1);
    assert_eq!(end_and_outcome(&record), (13, JobOutcome::Failed));
    assert_eq!((record.run_time(), record.saved()), (None, secs(10)));
}

/// A job of 20 s saves its progress every 5 s, up to 20 s after the failure of its node. It is planned as if it
/// always did. A job that is lost without a checkpoint begins anew, and then saves three times.
#[test]
fn a_job_whose_node_has_not_failed_for_long_saves_nothing() {
    let run = |outage| {
        let mut setup = Setup::default()
            .provider(1, Policy::Conservative)
            .change(|provider| provider.on_failure = last_failure(5, 1, 2))
            .user(0, vec![job(1, 100, 20, 20, 1)]);
        setup.failing = vec![(0, ProcessorSet::range(0, 1), vec![outage])];
        let record = setup.run_on_both().records.remove(0);
        assert_eq!(record.promised_end, Some(Time::from_secs(123)));
        (record.end, record.checkpointing)
    };
    let secs = Span::from_secs;
    assert_eq!(run((13, 14)), (Time::from_secs(120), secs(0)));
    assert_eq!(run((90, 91)), (Time::from_secs(121), secs(1)), "95 to 110 s count");
    assert_eq!(run((113, 114)), (Time::from_secs(137), secs(3)));
}

/// A failure after the end of the last job does not happen.
#[test]
fn nature_ends_with_the_last_job() {
    let mut setup = Setup::default().provider(1, Policy::Easy).user(0, vec![job(1, 0, 5, 5, 1)]);
    setup.failing = vec![(0, ProcessorSet::range(0, 1), vec![(6, 7), (100, 200)])];
    let ran = setup.run_on_both();
    assert_eq!(ran.result.expect("it ends").end, Time::from_secs(5));
    assert!(!ran.log.contains("outage_due"));
}

/// Tasks on failed processors wait again; the others of their share go on.
#[test]
fn tasks_of_a_bag_that_are_lost_wait_again() {
    let mut setup = Setup::default()
        .provider(4, Policy::Fcfs)
        .change(|provider| provider.scheduler = Scheduling::Edf(EdfConfig::default()))
        .negotiator(CompositionPolicy::OffersPlb)
        .user(1, vec![Job { shape: JobShape::Bag, ..job(1, 0, 10, 10, 4) }]);
    setup.failing = vec![(0, ProcessorSet::range(0, 2), vec![(4, 6)])];
    let ran = setup.run_on_both();
    let bag = ran.records[0].bag.as_ref().expect("a bag");
    let secs = |time: Time| time.as_micros() / 1_000_000;
    let runs: Vec<_> = bag.shares[0]
        .runs
        .iter()
        .map(|run| (secs(run.start), secs(run.end), run.processors.to_string()))
        .collect();
    assert_eq!(runs, [(0, 10, "2-3".into()), (6, 16, "0-1".into())]);
    assert_eq!(secs(ran.records[0].promised_end.expect("promised")), 10);
}

#[test]
fn a_job_is_given_up_after_so_many_tries() {
    let mut setup = Setup::default()
        .provider(1, Policy::Easy)
        .change(|provider| provider.max_attempts = 3)
        .user(0, vec![job(1, 0, 20, 20, 1), job(2, 1, 5, 5, 1)]);
    setup.failing =
        vec![(0, ProcessorSet::range(0, 1), (1..9).map(|n| (9 * n, 9 * n + 1)).collect())];
    let ran = setup.run_on_both();
    assert_eq!(ends(&ran), [(-1, 27, JobOutcome::Failed), (28, 33, JobOutcome::Completed)]);
    let tries: Vec<_> = ran.records[0].lost.iter().map(|run| (run.start, run.end)).collect();
    let secs = Time::from_secs;
    assert_eq!(tries, [(secs(0), secs(9)), (secs(10), secs(18)), (secs(19), secs(27))]);
}

#[test]
fn at_the_horizon_the_run_stops() {
    let mut setup = Setup::default().provider(2, Policy::Fcfs).user(
        0,
        vec![job(1, 0, 9, 5, 1), job(2, 0, 9, 9, 1), job(3, 1, 9, 9, 2), job(4, 6, 9, 9, 1)],
    );
    setup.horizon = Some(Time::from_secs(5));
    setup.failing = vec![(0, ProcessorSet::range(1, 1), vec![(4, 6)])];
    let ran = setup.run_on_both();
    let (done, open) = (JobOutcome::Completed, JobOutcome::Unfinished);
    // A job that ends at this very instant has ended, and a later job never arrives.
    assert_eq!(ends(&ran), [(0, 5, done), (5, 5, open), (-1, 5, open)]);
    let stats = ran.result.expect("it stops");
    assert_eq!((stats.jobs, stats.end), (3, Time::from_secs(5)));
}

#[test]
fn what_is_on_its_way_at_the_horizon_is_unfinished() {
    let mut setup = Setup::default().provider(2, Policy::Fcfs).user(0, vec![job(1, 0, 9, 5, 1)]);
    setup = setup.metascheduler(Placement::RoundRobin).user(1, vec![job(1, 3, 9, 5, 1)]);
    setup.latency = Span::from_secs(2);
    setup.horizon = Some(Time::from_secs(4));
    let ran = setup.run_on_both();
    assert_eq!(ran.outcomes(), [JobOutcome::Unfinished; 2]);
}

#[test]
fn what_waits_for_processors_that_never_come_back_is_unfinished() {
    let mut setup = Setup::default()
        .provider(2, Policy::Easy)
        .user(0, vec![job(1, 0, 9, 5, 2), job(2, 1, 9, 5, 1)]);
    setup.failing = vec![(0, ProcessorSet::range(1, 1), vec![(3, NEVER)])];
    let ran = setup.run_on_both();
    let stories = ends(&ran);
    assert_eq!(stories[0].2, JobOutcome::Unfinished);
    assert_eq!(stories.len(), 2);
}

/// Two processors that take turns at being up, and jobs that need both.
#[test]
fn a_run_that_would_not_end_is_stopped() {
    let jobs = (1..=30).map(|number| job(number, 1, 5, 5, 2)).collect();
    let mut setup = Setup::default().provider(2, Policy::Conservative).user(0, jobs);
    let turns = |first: i64| (0..40_000).map(|n| (2 * n + first, 2 * n + first + 1)).collect();
    setup.failing =
        vec![(0, ProcessorSet::range(0, 1), turns(0)), (0, ProcessorSet::range(1, 1), turns(1))];
    let error = setup.run(Driver::Sequential).result.expect_err("it is noticed");
    assert!(error.to_string().starts_with("stuck at 20000 s with jobs left (30)"), "{error}");
    setup.horizon = Some(Time::from_secs(30_000));
    let ran = setup.run(Driver::Sequential);
    assert_eq!(ends(&ran), vec![(-1, 30_000, JobOutcome::Unfinished); 30]);
}

/// One processor that is up for 2 s out of 3, and a job of 5 s with any number of attempts. No attempt completes
/// unless progress is saved.
#[test]
fn a_job_that_is_lost_again_and_again_does_not_get_on() {
    let run = |on_failure| {
        let mut setup = Setup::default()
            .provider(1, Policy::Conservative)
            .change(|it| (it.on_failure, it.max_attempts) = (on_failure, u32::MAX))
            .user(0, vec![job(1, 1, 5, 5, 1)]);
        let outages = (0..20_000).map(|n| (3 * n, 3 * n + 1)).collect();
        setup.failing = vec![(0, ProcessorSet::range(0, 1), outages)];
        setup.run(Driver::Sequential)
    };
    let error = run(OnFailure::Restart).result.expect_err("it is noticed");
    assert!(error.to_string().starts_with("stuck at 30000 s with jobs left (1)"), "{error}");
    assert_eq!(ends(&run(resume(1, 0, 0))), [(7, 8, JobOutcome::Completed)]);
}

fn bags_provider(setup: Setup, max_attempts: u32) -> Setup {
    setup.provider(1, Policy::Fcfs).change(|it| {
        let rescheduling = ReschedulingRule::Coordinated.into();
        it.scheduler = Scheduling::Bags {
            rescheduling,
            fractions: Fractions::default(),
            shares: Shares::Tasks,
        };
        it.max_attempts = max_attempts;
    })
}

/// One task at either provider. The task behind the local job is lost at 60 s and given up.
#[test]
fn a_bag_is_over_when_its_last_task_is_given_up() {
    let bag = Job { shape: JobShape::Bag, ..job(2, 0, 40, 40, 2) };
    let mut setup = bags_provider(bags_provider(Setup::default(), 1), 1)
        .negotiator(CompositionPolicy::OffersNoLb)
        .user(1, vec![job(1, 0, 35, 35, 1)])
        .user(2, vec![bag]);
    setup.failing = vec![(1, ProcessorSet::range(0, 1), vec![(60, 70)])];
    let ran = setup.run_on_both();
    let record = ran.records.iter().find(|it| it.bag.is_some()).expect("it is over");
    assert_eq!(record.outcome, JobOutcome::Failed);
    assert_eq!((record.start, record.end), (Some(Time::ZERO), Time::from_secs(60)));
    assert_eq!(told_to_be_over(&ran, record), Some(record.end));
}

/// Three of four tasks run on. The lost one starts where one task fits, and nothing waits for the others.
#[test]
fn of_a_block_only_what_was_lost_starts_again() {
    let bag = Job { shape: JobShape::Bag, ..job(1, 0, 40, 40, 4) };
    let mut setup = bags_provider(Setup::default(), 10)
        .change(|it| {
            let rescheduling = ReschedulingRule::Coordinated.into();
            let (fractions, shares) = (Fractions::default(), Shares::Blocks);
            it.scheduler = Scheduling::Bags { rescheduling, fractions, shares };
            it.processors = 4;
        })
        .negotiator(CompositionPolicy::OffersNoLb)
        .user(1, vec![bag]);
    setup.failing = vec![(0, ProcessorSet::range(2, 1), vec![(10, 15)])];
    let ran = setup.run_on_both();
    let record = ran.records.iter().find(|it| it.bag.is_some()).expect("it is over");
    let runs = &record.bag.as_ref().expect("it was placed").shares[0].runs;
    let runs: Vec<_> = runs.iter().map(|run| (run.start, run.processors.count())).collect();
    assert_eq!(runs, [(Time::ZERO, 3), (Time::from_secs(15), 1)]);
}

/// The whole machine fails at 4 s, one processor after the other. Each running job is lost once; it is given up only
/// after as many outages as it may have attempts.
#[test]
fn what_fails_at_one_instant_fails_before_anybody_starts() {
    for kind in 0..9 {
        let jobs = vec![job(1, 0, 9, 9, 2), job(2, 0, 9, 9, 1), job(3, 1, 9, 9, 4)];
        let mut setup = Setup::default()
            .provider(4, Policy::ALL[kind % 3])
            .change(|it| {
                it.scheduler = scheduling(kind).unwrap_or_else(|| it.scheduler.clone());
                it.max_attempts = 2;
            })
            .user(0, jobs);
        setup.failing = (0..4).map(|it| (0, ProcessorSet::range(it, 1), vec![(4, 6)])).collect();
        let ran = setup.run_on_both();
        let lost: Vec<usize> = ran.records.iter().map(|record| record.lost.len()).collect();
        assert_eq!(lost.iter().sum::<usize>(), 2, "{kind}: {}", ran.log);
        assert_eq!(ran.outcomes(), [JobOutcome::Completed; 3], "{kind}: {}", ran.log);
    }
}

/// The first waiting job starts first when all processors are back, although others would have found enough
/// processors before.
#[test]
fn what_comes_back_at_one_instant_is_back_before_anybody_starts() {
    for kind in 0..9 {
        let mut setup = Setup::default()
            .provider(4, Policy::ALL[kind % 3])
            .change(|it| it.scheduler = scheduling(kind).unwrap_or_else(|| it.scheduler.clone()))
            .user(0, vec![job(1, 2, 9, 9, 4), job(2, 3, 9, 9, 1)]);
        setup.failing = (0..4).map(|it| (0, ProcessorSet::range(it, 1), vec![(1, 6)])).collect();
        let done = JobOutcome::Completed;
        let ran = setup.run_on_both();
        assert_eq!(ends(&ran), [(6, 15, done), (15, 24, done)], "{kind}: {}", ran.log);
    }
}

/// (submission gap, requested, run in percent, processors).
pub(crate) type Work = (i64, i64, i64, u32);

fn work() -> impl Strategy<Value = Vec<Work>> {
    // Now and then a job without a limit.
    let requested = prop_oneof![8 => 1_i64..20, 1 => Just(0)];
    prop::collection::vec((0_i64..12, requested, 1_i64..=150, 1_u32..=4), 0..10)
}

fn scheduling(kind: usize) -> Option<Scheduling> {
    let bags = |rule, shares| Scheduling::Bags {
        rescheduling: ReschedulingConfig::from(rule),
        fractions: Fractions::default(),
        shares,
    };
    match kind {
        0 => Some(Scheduling::Edf(EdfConfig::default())),
        1 => Some(bags(ReschedulingRule::Coordinated, Shares::Tasks)),
        2 => Some(bags(ReschedulingRule::None, Shares::Tasks)),
        3 => Some(Scheduling::Queue(SchedulerConfig {
            policy: Policy::Conservative,
            order: Order::Arrival,
            compression: Compression::None,
            depth: None,
            window: None,
        })),
        4 => Some(bags(ReschedulingRule::Coordinated, Shares::Blocks)),
        5 => Some(bags(ReschedulingRule::None, Shares::Blocks)),
        _ => None,
    }
}

/// Choices that keep checkpoints in a storage.
const STORED: usize = 7;
const STORED_ADAPTIVE: usize = 8;

/// The same with checkpoints of 5 MB a processor and more, for links of 10 MB a second.
fn stored(on_failure: OnFailure, more: i64) -> OnFailure {
    let bytes = 5_000_000 * (1 + more as u64);
    let (latency, rounding) = (Span::from_secs(1), Span::from_micros(1_000));
    let volume = Some(Volume { bytes, latency, bandwidth: 80_000_000, rounding });
    let OnFailure::Resume(rule) = on_failure else { panic!("{on_failure:?} saves nothing") };
    OnFailure::Resume(CheckpointRule { volume, ..rule })
}

fn choice_of(drawn: (usize, i64, i64, i64)) -> OnFailure {
    match drawn {
        (0, ..) => OnFailure::Restart,
        (1, ..) => OnFailure::Requeue,
        (2, ..) => OnFailure::Fail,
        (3, interval, cost, recovery) => last_failure(interval, cost, recovery),
        (4, interval, cost, recovery) => mean_failure(interval, cost, recovery),
        (STORED, interval, cost, recovery) => stored(resume(interval, cost, recovery), cost),
        (STORED_ADAPTIVE, interval, cost, recovery) => {
            stored(mean_failure(interval, cost, recovery), cost)
        }
        (_, interval, cost, recovery) => resume(interval, cost, recovery),
    }
}

/// Behaviour on failure and on overrun, and speed.
pub(crate) type Ways = ((usize, i64, i64, i64), bool, f64);

/// (kind of scheduler, ways, local jobs, outages of its two halves).
pub(crate) type Drawn = (usize, Ways, Vec<Work>, [Vec<(i64, i64)>; 2]);

pub(crate) fn provider() -> impl Strategy<Value = Drawn> {
    let outages = || prop::collection::vec((0_i64..150, 1_i64..40), 0..6);
    let outages = (outages(), outages()).prop_map(|(a, b)| [a, b]);
    let choice = (0_usize..9, 1_i64..12, 0_i64..4, 0_i64..4);
    let speed = prop_oneof![Just(1.0), Just(0.7), Just(3.0)];
    (0_usize..9, (choice, any::<bool>(), speed), work(), outages)
}

pub(crate) fn setup(drawn: &[Drawn], bags: &[Work], latency: i64) -> Setup {
    let mut setup = Setup::default();
    for (number, (kind, (choice, extends, speed), _, outages)) in (0..).zip(drawn) {
        setup = setup.provider(4, Policy::ALL[kind % 3]).change(|provider| {
            if let Some(scheduling) = scheduling(*kind) {
                provider.scheduler = scheduling;
            }
            provider.disclosure = Disclosure::Queue;
            provider.on_failure = choice_of(*choice);
            provider.overrun = if *extends { Overrun::Extend } else { Overrun::Kill };
            provider.speed = *speed;
            provider.bargaining.validity = Span::from_secs(4 * latency);
        });
        if [STORED, STORED_ADAPTIVE].contains(&choice.0) {
            setup.stored.push(number as usize);
            setup.sites = Some((sites(drawn.len() as u32 + 1), LinkSharing::MaxMin));
        }
        for (half, outages) in (0..).zip(outages) {
            let times = outages.iter().map(|&(fail, after)| (fail, fail + after)).collect();
            setup.failing.push((number, ProcessorSet::range(2 * half, 2), times));
        }
    }
    setup = setup.negotiator(CompositionPolicy::OffersPlb);
    let mut number = 0;
    let mut list = |drawn: &[Work], shape| {
        let mut submit = 0;
        let jobs = drawn.iter().map(|&(gap, requested, share, processors)| {
            submit += gap;
            number += 1;
            // A job without a limit runs for a while; a bag needs a limit.
            let planned = if requested > 0 { requested } else { 10 };
            let requested = if shape == JobShape::Bag { planned } else { requested };
            let run = (planned * share / 100).max(1);
            Job { shape, ..job(number, submit, requested, run, processors) }
        });
        jobs.collect::<Vec<_>>()
    };
    for (provider, (.., jobs, _)) in drawn.iter().enumerate() {
        setup = setup.user(provider, list(jobs, JobShape::Rigid));
    }
    setup = setup.user(drawn.len(), list(bags, JobShape::Bag));
    setup.latency = Span::from_secs(latency);
    setup
}

/// Times at which each (provider, processor) was held or down.
fn uses(ran: &Ran, setup: &Setup) -> BTreeMap<(u32, u32), Vec<(Time, Time)>> {
    let mut uses: BTreeMap<(u32, u32), Vec<(Time, Time)>> = BTreeMap::new();
    let mut hold = |provider: u32, processors: &ProcessorSet, start, end| {
        for &(first, last) in processors.intervals() {
            for processor in first..=last {
                uses.entry((provider, processor)).or_default().push((start, end));
            }
        }
    };
    for record in &ran.records {
        if let (Some(provider), Some(start), None) = (record.provider, record.start, &record.bag) {
            hold(provider.0, &record.processors, start, record.end);
        }
        for share in record.bag.iter().flat_map(|bag| &bag.shares) {
            for run in &share.runs {
                hold(share.provider.0, &run.processors, run.start, run.end);
            }
        }
    }
    for (provider, start, end, processors) in &ran.lost {
        hold(*provider, processors, *start, *end);
    }
    for (provider, processors, outages) in &setup.failing {
        let mut outages: Vec<_> = outages.clone();
        outages.sort_unstable();
        let mut until = i64::MIN;
        for (fail, restore) in outages {
            // Outages that overlap are one.
            let from = fail.max(until);
            if from < restore {
                hold(*provider, processors, Time::from_secs(from), Time::from_secs(restore));
                until = restore;
            }
        }
    }
    uses
}

/// Time at which the user was notified of the end of a job.
fn told_to_be_over(ran: &Ran, record: &JobRecord) -> Option<Time> {
    let over = |message: &Message| {
        let finished = matches!(message, Message::Submission(SubmissionMessage::Finished { .. }));
        finished && message.job() == Some(record.job.id)
    };
    ran.messages.iter().find(|(.., message)| over(message)).map(|&(now, ..)| now)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_job_is_lost_and_nothing_runs_on_what_is_down(
        drawn in prop::collection::vec(provider(), 1..4),
        bags in work(),
        latency in prop_oneof![2 => Just(0_i64), 1 => 1_i64..4],
        max_attempts in prop_oneof![Just(MAX_ATTEMPTS), 1_u32..4],
        horizon in prop::option::of(0_i64..200),
        trouble in trouble(),
    ) {
        let mut setup = setup(&drawn, &bags, latency);
        setup.trouble = trouble;
        setup.providers.iter_mut().for_each(|provider| provider.max_attempts = max_attempts);
        setup.horizon = horizon.map(Time::from_secs);
        let ran = setup.run_on_both();
        setup.assert_recovery(&ran.log);
        let jobs = ran.result.as_ref().expect("it ends").jobs;
        prop_assert_eq!(ran.records.len() as u64, jobs);
        ran.assert_disclosures();
        let mut uses = uses(&ran, &setup);
        for ((provider, processor), stretches) in &mut uses {
            stretches.sort_unstable();
            for pair in stretches.windows(2) {
                prop_assert!(
                    pair[0].1 <= pair[1].0,
                    "processor {} of provider {}: {:?}\n{}", processor, provider, pair, ran.log
                );
            }
        }
        for record in &ran.records {
            let choice = record.provider.map(|it| choice_of(drawn[it.0 as usize].1.0));
            let may_fail = choice == Some(OnFailure::Fail) && record.bag.is_none();
            let may_fail = may_fail || max_attempts < MAX_ATTEMPTS;
            prop_assert!(record.outcome != JobOutcome::Failed || may_fail);
            prop_assert!(record.outcome != JobOutcome::Unfinished || horizon.is_some());
            for run in &record.lost {
                let Some(OnFailure::Resume(rule)) = choice.filter(|_| record.bag.is_none()) else {
                    prop_assert_eq!((run.saved, run.checkpointing), (Span::ZERO, Span::ZERO));
                    continue;
                };
                prop_assert!(run.undone() >= Span::ZERO);
                let Every::Interval(interval) = rule.every else { continue };
                prop_assert!(run.undone() <= interval);
                prop_assert_eq!(run.saved.as_micros() % interval.as_micros(), 0);
            }
            // A job computes its whole run time, in any number of attempts.
            if let (Some(ran), Some(provider), None) =
                (record.run_time(), record.provider, &record.bag)
            {
                let speed = drawn[provider.index()].1.2;
                let long = record.job.run_time.reveal_to_machine().at_speed(speed);
                let computed = ran - record.checkpointing;
                match record.outcome {
                    JobOutcome::Completed => prop_assert_eq!(computed, long),
                    JobOutcome::WalltimeReached => {
                        prop_assert_eq!(Some(computed), record.walltime);
                    }
                    _ => prop_assert!(computed <= long),
                }
            }
            prop_assert!(record.end < Time::from_secs(100_000), "job {} waits", record.job.number);
            if let Some(bag) = &record.bag {
                let at_once = latency == 0 && setup.trouble.is_none();
                if at_once && record.outcome != JobOutcome::Unfinished {
                    prop_assert_eq!(Some(record.end), told_to_be_over(&ran, record));
                }
                let runs = bag.shares.iter().flat_map(|share| &share.runs);
                let tasks: u32 = runs.map(|run| run.processors.count()).sum();
                let whole = tasks == record.job.processors;
                let open = matches!(record.outcome, JobOutcome::Failed | JobOutcome::Unfinished);
                prop_assert!(whole || open, "{} of {}", tasks, record.job.processors);
            }
        }
    }

    /// Processors that fail and come back one after the other at one instant have the same effect as processors that
    /// fail together.
    #[test]
    fn one_outage_is_as_many_at_one_instant(
        drawn in prop::collection::vec(provider(), 1..3),
        bags in work(),
        latency in prop_oneof![2 => Just(0_i64), 1 => 1_i64..4],
        max_attempts in prop_oneof![Just(MAX_ATTEMPTS), 1_u32..4],
    ) {
        let mut together = setup(&drawn, &bags, latency);
        together.providers.iter_mut().for_each(|provider| provider.max_attempts = max_attempts);
        let mut apart = setup(&drawn, &bags, latency);
        apart.providers.clone_from(&together.providers);
        apart.failing = Vec::new();
        for (provider, processors, outages) in &together.failing {
            let each = processors.intervals().iter().flat_map(|&(first, last)| first..=last);
            let alone = |it| (*provider, ProcessorSet::range(it, 1), outages.clone());
            apart.failing.extend(each.rev().map(alone));
        }
        let (together, apart) = (together.run_on_both(), apart.run_on_both());
        prop_assert_eq!(stories(&together), stories(&apart), "{}\n{}", together.log, apart.log);
    }
}

/// Outcome of each job, and its lost attempts.
fn stories(ran: &Ran) -> Vec<String> {
    let mut stories: Vec<String> = ran.records.iter().map(story).collect();
    stories.sort();
    stories
}

fn story(record: &JobRecord) -> String {
    // Each provider numbers its processors from 0.
    let mut lost: BTreeMap<(Time, Time, ProviderId), ProcessorSet> = BTreeMap::new();
    for run in &record.lost {
        lost.entry((run.start, run.end, run.provider)).or_default().insert_all(&run.processors);
    }
    let JobRecord { job, start, end, outcome, processors, promised_end, .. } = record;
    let tries = (start, end, outcome, processors, promised_end, lost);
    format!("{:?}: {tries:?}", job.id)
}
