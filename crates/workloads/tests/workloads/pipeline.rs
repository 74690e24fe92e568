//! Properties that hold for every pipe of steps.

use haggle_model::law::Law;
use haggle_model::{Job, Span, Time};
use haggle_workloads::lublin::LublinParameters;
use haggle_workloads::steps::{
    Deadlines, Estimates, FillWindow, FitLoad, Overshoot, ReadyTimes, Resample, RunTimes,
    ScaleGaps, Shake, Slice, Split, SplitBy, Spread, TimeOf, Window, WindowStart,
};
use haggle_workloads::{JobStream, Source, Step, Workload, merge};
use proptest::prelude::*;

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let job = (0..5_000_i64, 1..64_u32, 0..100_000_i64, prop::option::of(1..100_000_i64), 0..9_i32);
    prop::collection::vec(job, 0..60).prop_map(|mut described| {
        described.sort_unstable_by_key(|job| job.0);
        let jobs =
            described.into_iter().zip(0..).map(|((submit, size, run_time, request, user), id)| {
                let mut job =
                    Job::new(id, Time::from_secs(submit), size, Span::from_secs(run_time));
                job.requested_time = request.map(Span::from_secs);
                job.origin.user = user;
                job
            });
        jobs.collect()
    })
}

fn law() -> impl Strategy<Value = Law> {
    prop_oneof![
        (0.0..9.0).prop_map(Law::Constant),
        (0.1..50.0).prop_map(|mean| Law::Exponential { mean }),
        (0.1..50.0).prop_map(|mean| Law::Poisson { mean }),
        (-9.0..9.0, 0.0..9.0)
            .prop_map(|(mean, standard_deviation)| Law::Normal { mean, standard_deviation }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let base = TimeOf::RequestedTime;
    prop_oneof![
        (0..4_000_i64, prop::option::of(1..4_000_i64)).prop_map(|(from, length)| {
            let length = length.map(Span::from_secs);
            Step::Window(Window {
                from: Time::from_secs(from),
                length,
                start: WindowStart::default(),
            })
        }),
        (0..80_u64).prop_map(Step::First),
        (0..20_u64, 0..80_u64).prop_map(|(skip, jobs)| Step::Slice(Slice { skip, jobs })),
        (1..9_000_i64)
            .prop_map(|length| { Step::Spread(Spread { length: Span::from_secs(length) }) }),
        Just(Step::RunTimes(RunTimes::Requested)),
        (1..900_i64).prop_map(|most| {
            Step::Shake(Shake { most: Span::from_secs(most), by: SplitBy::Job })
        }),
        (1..3_u32, 1..3_u32).prop_map(|(weeks, long_term)| {
            Step::Resample(Resample { weeks: Some(weeks), long_term: Some(long_term) })
        }),
        prop::collection::vec(0..99_i64, 1..4).prop_map(move |slacks| {
            let slacks = slacks.into_iter().map(Span::from_secs).collect();
            Step::Deadlines(Deadlines::Listed { base, slacks, stream: 6 })
        }),
        (0.01..9.0).prop_map(|factor| Step::ScaleGaps(ScaleGaps { factor })),
        (0..2_000_i64, 1..4_000_i64, 0.1..9.0).prop_map(|(from, length, load)| {
            let (from, length) = (Time::from_secs(from), Span::from_secs(length));
            Step::FillWindow(FillWindow { from, length, load })
        }),
        (0.0..100.0).prop_map(|points| Step::Estimates(Estimates::RaisedPrecision { points })),
        law().prop_map(|factor| {
            Step::Estimates(Estimates::Multiplied { base: TimeOf::RunTime, factor })
        }),
        law().prop_map(move |slack| Step::Deadlines(Deadlines::Slack { base, slack })),
        law().prop_map(|lead| Step::ReadyTimes(ReadyTimes::BeforeDeadline { lead })),
        (0..3_u32).prop_map(|part| {
            Step::Split(Split {
                pool: "all".into(),
                parts: 3,
                part,
                by: SplitBy::User,
                ..Split::default()
            })
        }),
    ]
}

fn open(jobs: &[Job], steps: &[Step], index: u16) -> JobStream {
    let mut workload = Workload::new("pipe", Source::Jobs(jobs.to_vec()));
    workload.steps = steps.to_vec();
    workload.index = index;
    workload.open().expect("good steps").jobs
}

fn check(found: &[Job]) {
    assert!(found.is_sorted_by_key(|job| job.submit), "out of order");
    for (place, job) in found.iter().enumerate() {
        assert_eq!(job.id.index(), place);
        assert!(job.ready.is_none_or(|ready| ready >= job.submit), "{job:?}");
        assert!(job.deadline.is_none_or(|deadline| deadline >= job.submit), "{job:?}");
        assert!(job.requested_time.is_none_or(|request| request > Span::ZERO), "{job:?}");
    }
}

proptest! {
    #[test]
    fn jobs_stay_in_order_with_dense_ids_through_all_steps(
        jobs in jobs(),
        steps in prop::collection::vec(step(), 0..6),
    ) {
        let all = || open(&jobs, &steps, 0).map(|job| job.expect("no errors here"));
        let found: Vec<Job> = all().collect();
        check(&found);
        prop_assert!(all().eq(found), "not the same twice");
    }

    #[test]
    fn merged_streams_hold_every_job_in_order(first in jobs(), second in jobs()) {
        let streams = vec![open(&first, &[], 0), open(&second, &[], 1)];
        let found: Vec<Job> = merge(streams).map(|job| job.expect("no errors here")).collect();
        prop_assert_eq!(found.len(), first.len() + second.len());
        check(&found);
        prop_assert!(found.is_sorted_by_key(|job| (job.submit, job.workload, job.number)));
    }
}

#[test]
fn a_model_is_squeezed_until_it_offers_a_load() {
    let length = Span::from_secs(15 * 86_400);
    let overshoot = Overshoot::LeaveOut;
    let fit = FitLoad { length, processors: 1_200, load: 0.7, tolerance: 0.005, overshoot };
    for seed in 1..=15 {
        let parameters = LublinParameters { jobs: 3_000, ..LublinParameters::default() };
        let source = Source::Lublin(Box::new(parameters.sized(1_200)));
        let mut workload = Workload::new("bags", source);
        workload.seed = seed;
        workload.steps = vec![Step::FitLoad(fit)];
        let jobs = workload.open().expect("good parameters").jobs;
        let jobs: Vec<Job> = jobs.map(|job| job.expect("jobs enough")).collect();
        check(&jobs);
        let work =
            |job: &Job| f64::from(job.processors) * job.run_time.reveal_to_machine().as_secs_f64();
        let load = jobs.iter().map(work).sum::<f64>() / (1_200.0 * length.as_secs_f64());
        assert!((load - 0.7).abs() <= 0.005, "seed {seed}: {load}");
        assert!((700..1_200).contains(&jobs.len()), "seed {seed}: {} jobs", jobs.len());
        assert!(jobs.last().is_some_and(|job| job.submit < Time::ZERO + length));
    }
}
