//! Event logs, word for word.

use haggle_model::{EventsOrder, JobOutcome, Refusal, Span, Time};
use haggle_runtime::RunError;
use haggle_scheduling::placement::Placement;
use haggle_scheduling::{
    Compression, EdfConfig, Fractions, Order, Policy, ReschedulingRule, SchedulerConfig,
    Scheduling, Shares,
};

use crate::setup::{Setup, job};

/// specs: flexible reservations, M1, as the actors play it.
#[test]
fn m1_local_jobs_on_one_provider() {
    let jobs =
        vec![job(1, 0, 10, 6, 3), job(2, 1, 5, 5, 2), job(3, 2, 8, 8, 1), job(4, 3, 2, 2, 4)];
    let ran = Setup::default().provider(4, Policy::Conservative).user(0, jobs).run_on_both();
    let expected = "\
0 1>1 job_due 0
0 1>0 submit 0
0 0>1 accepted 0
0 0>0 wake -
0 0>1 started 0
1 1>1 job_due 1
1 1>0 submit 1
1 0>1 accepted 1
1 0>0 wake -
2 1>1 job_due 2
2 1>0 submit 2
2 0>1 accepted 2
2 0>0 wake -
2 0>1 started 2
3 1>1 job_due 3
3 1>0 submit 3
3 0>1 accepted 3
3 0>0 wake -
6 0>0 wake -
6 0 | 1 completed [0-2]
6 0>1 finished 0
6 0>0 wake -
6 0>1 started 1
10 0>0 wake -
10 0 | 3 completed [3]
10 0>1 finished 2
10 0>0 wake -
11 0>0 wake -
11 0 | 2 completed [0-1]
11 0>1 finished 1
11 0>0 wake -
11 0>1 started 3
13 0>0 wake -
13 0 | 4 completed [0-3]
13 0>1 finished 3
";
    assert_eq!(ran.log, expected);
    assert_eq!(ran.starts(), [Some(0), Some(6), Some(2), Some(11)]);
}

/// A job behind a job without a limit has no planned start. It starts when that job ends, even if nothing else moves.
#[test]
fn jobs_without_a_limit_follow_each_other() {
    let bags = Scheduling::Bags {
        rescheduling: ReschedulingRule::None.into(),
        fractions: Fractions::default(),
        shares: Shares::Tasks,
    };
    let queue = |compression| {
        let (policy, order) = (Policy::Conservative, Order::Arrival);
        Scheduling::Queue(SchedulerConfig { policy, order, compression, depth: None, window: None })
    };
    let queues = Compression::ALL.map(queue).into_iter();
    for scheduling in queues.chain([bags, Scheduling::Edf(EdfConfig::default())]) {
        for first in [0, 40_000] {
            let jobs = vec![
                job(1, first, 0, 10, 1),
                job(2, first + 1, 0, 20, 1),
                job(3, first + 2, 5, 5, 1),
                job(4, first + 3, 0, 10, 1),
            ];
            let ran = Setup::default()
                .provider(1, Policy::Fcfs)
                .change(|it| it.scheduler = scheduling.clone())
                .user(0, jobs)
                .run_on_both();
            let starts = ran.starts().into_iter().map(|start| start.map(|start| start - first));
            let starts: Vec<_> = starts.collect();
            assert_eq!(starts, [Some(0), Some(10), Some(30), Some(35)], "{scheduling}");
            assert!(ran.records.iter().all(|record| record.promised_end.is_none()));
            assert_eq!(ran.result.expect("it ends").end, Time::from_secs(first + 45));
        }
    }
}

/// The next job of the queue is withdrawn: the job behind it is planned then.
#[test]
fn who_waits_for_a_job_without_a_limit_that_is_withdrawn_is_planned() {
    let queue = SchedulerConfig {
        policy: Policy::Conservative,
        order: Order::Arrival,
        compression: Compression::None,
        depth: None,
        window: None,
    };
    let rules =
        [ReschedulingRule::None, ReschedulingRule::Coordinated].map(|rule| Scheduling::Bags {
            rescheduling: rule.into(),
            fractions: Fractions::default(),
            shares: Shares::Tasks,
        });
    for scheduling in rules.into_iter().chain([queue.into()]) {
        let ran = Setup::default()
            .provider(1, Policy::Fcfs)
            .change(|it| it.scheduler = scheduling.clone())
            .user(0, vec![job(1, 0, 10, 10, 1), job(3, 2, 5, 5, 1)])
            .user_with_patience(0, Some(Span::from_secs(4)), vec![job(2, 1, 0, 20, 1)])
            .run_on_both();
        assert_eq!(ran.starts(), [Some(0), None, Some(10)], "{scheduling}");
    }
}

#[test]
fn an_external_job_goes_where_it_ends_first_and_messages_take_time() {
    let mut setup = Setup::default()
        .provider(4, Policy::Easy)
        .provider(8, Policy::Easy)
        .metascheduler(Placement::MinimumCompletionTime)
        .user(2, vec![job(1, 0, 10, 10, 4), job(2, 1, 10, 10, 6), job(3, 2, 10, 10, 9)]);
    setup.latency = Span::from_secs(1);
    let ran = setup.run_on_both();
    let expected = "\
0 3>3 job_due 0
1 3>2 submit 0
1 3>3 job_due 1
2 3>2 submit 1
2 3>3 job_due 2
2 2>0 estimate_request 0
2 2 | tells 0 job
2 2>1 estimate_request 0
2 2 | tells 1 job
3 3>2 submit 2
3 0>2 estimate 0
3 0 | tells 2 estimate
3 1>2 estimate 0
3 1 | tells 2 estimate
4 2>0 submit 0
4 2 | tells 0 job
4 0>0 wake -
5 0>2 accepted 0
5 0>2 started 0
5 0 | tells 2 job_status
6 2>3 accepted 0
6 2>0 estimate_request 1
6 2 | tells 0 job
6 2>1 estimate_request 1
6 2 | tells 1 job
6 2>3 started 0
7 0>2 no_answer_too_wide 1
7 0 | tells 2 refusal
7 1>2 estimate 1
7 1 | tells 2 estimate
8 2>1 submit 1
8 2 | tells 1 job
8 1>1 wake -
9 1>2 accepted 1
9 1>2 started 1
9 1 | tells 2 job_status
10 2>3 accepted 1
10 2>0 estimate_request 2
10 2 | tells 0 job
10 2>1 estimate_request 2
10 2 | tells 1 job
10 2>3 started 1
11 0>2 no_answer_too_wide 2
11 0 | tells 2 refusal
11 1>2 no_answer_too_wide 2
11 1 | tells 2 refusal
12 2>3 refused_no_provider 2
12 2 | tells 3 refusal
12 3 | 3 rejected []
14 0>0 wake -
14 0 | 1 completed [0-3]
15 0>2 finished 0
15 0 | tells 2 job_status
16 2>3 finished 0
18 1>1 wake -
18 1 | 2 completed [0-5]
19 1>2 finished 1
19 1 | tells 2 job_status
20 2>3 finished 1
";
    assert_eq!(ran.log, expected);
    assert_eq!(ran.outcomes()[2], JobOutcome::Rejected(Refusal::NoProvider));
}

#[test]
fn a_job_that_loses_patience_leaves_the_queue() {
    let jobs = vec![job(1, 0, 100, 100, 4), job(2, 1, 10, 10, 4), job(3, 2, 10, 10, 1)];
    let patience = Some(Span::from_secs(20));
    let ran = Setup::default()
        .provider(4, Policy::Fcfs)
        .metascheduler(Placement::RoundRobin)
        .user_with_patience(1, patience, jobs)
        .run_on_both();
    use JobOutcome::{Cancelled, Completed};
    assert_eq!(ran.outcomes(), [Completed, Cancelled, Cancelled]);
    assert!(ran.log.contains("21 2>1 withdraw 1\n21 1>0 withdraw 1\n"), "{}", ran.log);
}

#[test]
fn at_one_instant_submissions_come_before_completions_unless_said_otherwise() {
    // The job that ends at 10 frees its processors before its plan says so, and
    // a job arrives at the same instant.
    let jobs = vec![job(1, 0, 20, 10, 4), job(2, 1, 20, 20, 4), job(3, 10, 5, 5, 4)];
    let mut setup = Setup::default().provider(4, Policy::Easy).user(0, jobs);
    let positions = |log: &str| {
        let position = |what: &str| log.find(what).expect("it happens");
        (position("10 1>0 submit 2"), position("10 0 | 1 completed"))
    };
    let (submitted, ended) = positions(&setup.run_on_both().log);
    assert!(submitted < ended);
    setup.order = EventsOrder::CompletionsFirst;
    let (submitted, ended) = positions(&setup.run_on_both().log);
    assert!(ended < submitted);
}

#[test]
fn jobs_out_of_order_are_an_error_and_not_a_wrong_result() {
    let jobs = vec![job(1, 5, 10, 10, 1), job(2, 4, 10, 10, 1)];
    let ran = Setup::default().provider(4, Policy::Easy).user(0, jobs).run_on_both();
    assert!(matches!(ran.result, Err(RunError::OutOfOrder { number: 2, .. })));
}

/// Batsim's test_submitorder: jobs of one instant run in order of their numbers.
#[test]
fn case_19_jobs_of_one_instant_run_in_their_order() {
    let jobs = (1..=6).flat_map(|k| (0..3).map(move |i| job(10 * k + i, 10 * k, 10, 10, 1)));
    let ran = Setup::default().provider(1, Policy::Fcfs).user(0, jobs.collect()).run_on_both();
    let starts: Vec<Option<i64>> = (1..=18).map(|n| Some(10 * n)).collect();
    assert_eq!(ran.starts(), starts);
}

/// Batsim's test_walltime, with one difference: a job whose run time equals its
/// request has done its work and counts as completed.
#[test]
fn case_20_jobs_are_stopped_when_their_requested_time_is_over() {
    let jobs = (1..=20).map(|w| job(w, 0, w, 10, 1)).collect();
    let ran = Setup::default().provider(20, Policy::Easy).user(0, jobs).run_on_both();
    for record in &ran.records {
        let w = record.job.number;
        let killed = w < 10;
        assert_eq!(record.outcome == JobOutcome::WalltimeReached, killed, "walltime {w}");
        assert_eq!(record.end.as_micros(), 1_000_000 * w.min(10));
    }
}
