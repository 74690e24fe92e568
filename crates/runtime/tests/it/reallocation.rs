//! Moldable jobs that move between providers, by messages.

use haggle_agents::protocol::{Message, ReallocationMessage};
use haggle_model::{EventsOrder, Job, JobOutcome, JobShape, Refusal, Span, Speedup, Time};
use haggle_runtime::Driver;
use haggle_scheduling::reallocation::MoveCost;
use haggle_scheduling::reallocation::{Algorithm, ReallocationHeuristic, Rule, Tuning};
use haggle_scheduling::{Compression, Order, Policy, SchedulerConfig};

use crate::setup::{Ran, Setup, job};

/// A job of which four fifths run in parallel.
pub(crate) fn moldable(rigid: Job) -> Job {
    let speedup = Speedup::new(0.8, 32).expect("a speedup");
    Job { shape: JobShape::Moldable(speedup), ..rigid }
}

/// The six jobs of the example M-10 on two providers of four processors.
fn six_jobs(reallocation: Option<(Algorithm, ReallocationHeuristic)>) -> Setup {
    let jobs = [
        (0, 7_200, 7_200),
        (0, 9_000, 3_000),
        (60, 1_200, 1_200),
        (120, 600, 300),
        (3_300, 2_400, 2_400),
        (3_700, 600, 600),
    ];
    let jobs = (1..)
        .zip(jobs)
        .map(|(number, (submit, requested, run))| moldable(job(number, submit, requested, run, 4)));
    let reallocation = reallocation.map(|(algorithm, heuristic)| {
        (Span::from_secs(3_600), Rule { algorithm, heuristic, ..Rule::default() })
    });
    let mut setup = Setup::default();
    for _ in 0..2 {
        setup = setup.provider(4, Policy::Conservative).change(job_by_job);
    }
    setup.order = EventsOrder::CompletionsFirst;
    setup.reallocator(Tuning::Binary, reallocation).user(2, jobs.collect())
}

fn job_by_job(provider: &mut haggle_agents::ProviderConfig) {
    let (policy, order) = (Policy::Conservative, Order::Arrival);
    let compression = Compression::JobByJob;
    provider.scheduler =
        SchedulerConfig { policy, order, compression, depth: None, window: None }.into();
}

/// End of each job, in seconds.
fn ends(ran: &Ran) -> Vec<i64> {
    let mut records = Vec::from_iter(&ran.records);
    records.sort_by_key(|record| record.job.number);
    records.iter().map(|record| record.end.as_micros() / 1_000_000).collect()
}

/// Number of moves to other places, and of submissions to the same place.
fn moves(ran: &Ran) -> (usize, usize) {
    let moves = ran.log.lines().filter_map(|line| line.split_once(" moves ")?.1.split_once('>'));
    let (same, other): (Vec<_>, Vec<_>) = moves.partition(|(from, to)| from == to);
    (other.len(), same.len())
}

/// M-10, as the functions have it.
#[test]
fn jobs_are_done_when_they_are_without_messages() {
    let reference = six_jobs(None).run_on_both();
    assert_eq!(ends(&reference), [7_200, 3_000, 8_400, 8_700, 5_700, 6_300]);
    assert_eq!(moves(&reference), (0, 0));
    for algorithm in Algorithm::ALL {
        for (heuristic, expected) in [
            (ReallocationHeuristic::Mct, [7_200, 3_000, 6_900, 7_200, 5_700, 7_800]),
            (ReallocationHeuristic::MinMin, [7_200, 3_000, 7_200, 6_000, 5_700, 7_800]),
        ] {
            let ran = six_jobs(Some((algorithm, heuristic))).run_on_both();
            assert_eq!(ends(&ran), expected, "{algorithm:?} {heuristic:?}");
            assert_eq!(moves(&ran), (2, 0));
            ran.assert_disclosures();
            assert!(ran.records.iter().all(|record| record.processors.count() == 4));
        }
    }
}

/// The same with 200 s for the data of moved jobs and 100 s for their start-up. Data that arrive while the processors
/// are taken cost nothing. The fourth job had gained 300 s; now it gains 100 s, which is more than the threshold.
#[test]
fn what_a_move_costs_is_part_of_what_it_brings() {
    let second = |seconds| Span::from_secs(seconds);
    let cost = MoveCost { transfer: second(200), start_up: second(100) };
    let rule = Some((Algorithm::Regular, ReallocationHeuristic::Mct));
    let ran = six_jobs(rule).moving_costs(cost).run_on_both();
    assert_eq!(moves(&ran), (2, 0));
    assert_eq!(ends(&ran), [7_200, 3_000, 7_000, 7_400, 5_700, 7_800]);
    let moved =
        ran.records.iter().filter(|record| ran.staged[&record.job.id].start_up > Span::ZERO);
    for record in moved {
        assert_eq!(ran.staged[&record.job.id].ready, Time::from_secs(3_800));
        assert_eq!(record.checkpointing, second(100));
    }
}

/// With messages that take 10 s, moved jobs start that much later, and nothing is lost.
#[test]
fn messages_may_take_time() {
    let mut setup = six_jobs(Some((Algorithm::AllCancellation, ReallocationHeuristic::Mct)));
    setup.latency = Span::from_secs(10);
    let ran = setup.run_on_both();
    assert!(ran.outcomes().iter().all(|&outcome| outcome == JobOutcome::Completed));
    assert_eq!(moves(&ran).0, 2);
}

/// EASY backfilling cannot guarantee an estimate, so it gives none.
#[test]
fn who_reserves_nothing_gets_no_moldable_job() {
    let jobs = || vec![moldable(job(1, 0, 100, 100, 2)), moldable(job(2, 0, 100, 100, 2))];
    let setup = Setup::default().provider(8, Policy::Easy).reallocator(Tuning::Binary, None);
    let ran = setup.user(1, jobs()).run_on_both();
    assert_eq!(ran.outcomes(), [JobOutcome::Rejected(Refusal::NoProvider); 2]);
    assert!(ran.log.contains(" no_size "));
    let setup = Setup::default().provider(8, Policy::Easy).provider(1, Policy::Fcfs);
    let ran = setup.reallocator(Tuning::Binary, None).user(2, jobs()).run_on_both();
    assert_eq!(ran.providers(), [Some(1); 2]);
    // One of two processors does the parallel part alone: 0.2 + 0.8 instead of 0.2 + 0.4, up to microseconds.
    let mut ends = Vec::from_iter(ran.records.iter().map(|record| record.end.as_micros()));
    ends.sort_unstable();
    assert_eq!(ends, [166_666_667, 333_333_334]);
}

/// An actor that does not mold jobs runs a moldable job as its user describes it.
#[test]
fn a_moldable_job_is_rigid_elsewhere() {
    let jobs = || vec![moldable(job(1, 0, 100, 80, 2))];
    for policy in Policy::ALL {
        let ran = Setup::default().provider(8, policy).user(0, jobs()).run_on_both();
        assert_eq!((ends(&ran), ran.records[0].processors.count()), (vec![80], 2));
    }
}

/// The reallocator only knows its own jobs.
#[test]
fn local_jobs_are_neither_seen_nor_moved() {
    let rule = Rule { algorithm: Algorithm::AllCancellation, ..Rule::default() };
    let local = |first: i64| Vec::from_iter((0..4).map(|it| job(first + it, 0, 500, 500, 3)));
    let theirs = (20..26).map(|it| moldable(job(it, 0, 300, 200, 2)));
    let ran = Setup::default()
        .provider(4, Policy::Conservative)
        .provider(4, Policy::Conservative)
        .reallocator(Tuning::Binary, Some((Span::from_secs(100), rule)))
        .user(0, local(1))
        .user(1, local(10))
        .user(2, theirs.collect())
        .run(Driver::Sequential);
    let theirs: Vec<_> =
        ran.records.iter().filter(|it| it.job.number >= 20).map(|it| it.job.id).collect();
    let mut listed = 0;
    for (.., message) in &ran.messages {
        match message {
            Message::Reallocation(ReallocationMessage::Waiting { jobs }) => {
                listed += jobs.len();
                assert!(jobs.iter().all(|(job, _)| theirs.contains(job)));
            }
            Message::Reallocation(ReallocationMessage::TakeBack { jobs }) => {
                assert!(jobs.iter().all(|job| theirs.contains(job)));
            }
            _ => {}
        }
    }
    assert!(listed > 6, "{listed}");
}

/// An impatient user gets the job back wherever it is, also while it moves.
#[test]
fn a_job_is_withdrawn_wherever_it_is() {
    let rule = Rule { algorithm: Algorithm::AllCancellation, ..Rule::default() };
    let mut cancelled = 0;
    for patience in 1..40 {
        let jobs = (2..9).map(|it| moldable(job(it, 0, 300, 300, 2)));
        let mut setup = Setup::default()
            .provider(4, Policy::Conservative)
            .provider(2, Policy::Fcfs)
            .reallocator(Tuning::Binary, Some((Span::from_secs(15), rule)))
            .user_with_patience(2, Some(Span::from_secs(patience)), jobs.collect());
        setup.latency = Span::from_secs(2);
        let ran = setup.run_on_both();
        assert_eq!(ran.records.len(), 7);
        cancelled += ran.outcomes().iter().filter(|&&it| it == JobOutcome::Cancelled).count();
        assert!(ran.records.iter().all(|record| record.end < Time::from_secs(1_000)));
    }
    assert!(cancelled > 100, "{cancelled}");
}
