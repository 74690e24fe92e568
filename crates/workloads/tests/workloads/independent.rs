//! Independent jobs: their properties, and the workloads of M. Chtepen, "Dynamic
//! Scheduling of Computationally Intensive Applications in Distributed Computing
//! Environments", PhD thesis, Ghent University, 2011.

use haggle_model::law::Law;
use haggle_model::{Job, Span, Time};
use haggle_workloads::independent::{Arrivals, HOURS, IndependentJobs};
use haggle_workloads::{Source, Workload};
use proptest::prelude::*;

const HOUR: f64 = 3_600.0;
const DAY: f64 = 24.0 * HOUR;

fn jobs(parameters: &IndependentJobs, seed: u64) -> Vec<Job> {
    let source = Source::IndependentJobs(Box::new(parameters.clone()));
    let workload = Workload { seed, ..Workload::new("grid", source) };
    let open = workload.open().expect("good parameters");
    open.jobs.map(|job| job.expect("the model has no errors")).collect()
}

fn hours_long(job: &Job) -> f64 {
    job.run_time.reveal_to_machine().as_secs_f64() / HOUR
}

fn share(jobs: &[Job], holds: impl Fn(&Job) -> bool) -> f64 {
    jobs.iter().filter(|job| holds(job)).count() as f64 / jobs.len() as f64
}

/// Figure 3.1: times between arrivals uniform from 1 to 5 minutes, jobs of one length.
#[test]
fn jobs_of_one_length_arrive_for_five_weeks() {
    let arrivals = Arrivals::Renewal {
        between: Law::Uniform { low: 60.0, high: 300.0 },
        length: Some(Span::from_secs(35 * 86_400)),
    };
    let parameters = IndependentJobs::new(arrivals, Law::Constant(600.0));
    for seed in 1..=5 {
        let jobs = jobs(&parameters, seed);
        // 35 days / 180 s, four standard deviations: 16,800^0.5 x 69.3 s / 180 s = 50.
        assert!((16_600..17_000).contains(&jobs.len()), "seed {seed}: {}", jobs.len());
        let gaps = jobs.windows(2).map(|pair| (pair[1].submit - pair[0].submit).as_secs_f64());
        assert!(gaps.clone().all(|gap| (60.0..=300.0).contains(&gap)));
        assert!(jobs.iter().all(|job| job.run_time.reveal_to_machine() == Span::from_secs(600)));
        assert!(jobs.iter().all(|job| job.processors == 1));
    }
}

/// Figure 3.3: one or two batches a day of a thousand jobs of ten minutes or so.
#[test]
fn batches_arrive_once_or_twice_a_day() {
    let arrivals = Arrivals::Daily { number: Law::among([1.0, 2.0]), days: 35 };
    let run = Law::Normal { mean: 600.0, standard_deviation: 120.0 };
    let parameters = IndependentJobs {
        batch: Law::Constant(1_000.0),
        run_min: Span::from_secs(60),
        ..IndependentJobs::new(arrivals, run)
    };
    let jobs = jobs(&parameters, 1);
    assert!(jobs.chunks(1_000).all(|batch| batch.iter().all(|it| it.submit == batch[0].submit)));
    assert!((35_000..=70_000).contains(&jobs.len()));
    let mean = jobs.iter().map(hours_long).sum::<f64>() / jobs.len() as f64 * HOUR;
    // Five standard errors over 35,000 jobs; the cut at 60 s changes less.
    assert!((mean - 600.0).abs() < 3.3, "{mean}");
    assert!(jobs.iter().all(|job| job.run_time.reveal_to_machine() >= Span::from_secs(60)));
}

/// Figure 4.4: about 7,000 jobs in a week, 80 % of them by day, over 80 % of them
/// from 1 to 6 hours long and 2.5 hours in the mean. The weights of the bins are
/// such that this comes out; the source does not print them.
fn week() -> IndependentJobs {
    let weight = |hour| if (7..21).contains(&hour) { 0.8 / 14.0 } else { 0.2 / 10.0 };
    let arrivals = Arrivals::Hourly { weights: std::array::from_fn(weight), days: 7 };
    let edges = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0];
    let weights = [0.130, 0.355, 0.240, 0.135, 0.060, 0.030, 0.020, 0.012, 0.008, 0.004, 0.006];
    let edges = edges.iter().map(|hours| hours * HOUR).collect();
    let run = Law::Histogram { edges, weights: weights.to_vec() };
    assert!((run.mean() / HOUR - 2.497).abs() < 1e-9, "{}", run.mean() / HOUR);
    IndependentJobs { jobs: Some(7_000), ..IndependentJobs::new(arrivals, run) }
}

#[test]
fn a_week_of_jobs_has_the_published_shape() {
    let mut lengths = Vec::new();
    for seed in 1..=10 {
        let jobs = jobs(&week(), seed);
        assert_eq!(jobs.len(), 7_000);
        let by_day =
            share(&jobs, |job| (7.0..21.0).contains(&(job.submit.as_secs_f64() % DAY / HOUR)));
        assert!((by_day - 0.80).abs() <= 0.02, "seed {seed}: {by_day}");
        let medium = share(&jobs, |job| (1.0..=6.0).contains(&hours_long(job)));
        assert!(medium > 0.80, "seed {seed}: {medium}");
        for day in 0..7 {
            let share = share(&jobs, |job| (job.submit.as_secs_f64() / DAY) as i32 == day);
            // Five standard errors of a seventh.
            assert!((share - 1.0 / 7.0).abs() < 0.021, "seed {seed}, day {day}: {share}");
        }
        lengths.extend(jobs.iter().map(hours_long));
    }
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    assert!((mean / 2.497 - 1.0).abs() < 0.02, "{mean}");
}

#[test]
fn fewer_jobs_are_the_first_that_were_drawn() {
    let all = jobs(&week(), 3);
    let few = jobs(&IndependentJobs { jobs: Some(700), ..week() }, 3);
    let numbered = |jobs: &[Job]| {
        let mut jobs: Vec<_> = jobs
            .iter()
            .filter(|job| job.number <= 700)
            .map(|job| (job.number, job.submit, job.run_time))
            .collect();
        jobs.sort_by_key(|job| job.0);
        jobs
    };
    assert_eq!(numbered(&few).len(), 700);
    assert_eq!(numbered(&few), numbered(&all));
}

fn law() -> impl Strategy<Value = Law> {
    prop_oneof![
        (1.0..9.0).prop_map(Law::Constant),
        (0.1..50.0).prop_map(|mean| Law::Exponential { mean }),
        (-9.0..9.0, 0.1..9.0)
            .prop_map(|(mean, standard_deviation)| Law::Normal { mean, standard_deviation }),
        prop::collection::vec(0.1..5.0, 1..6).prop_map(|weights| {
            let edges = (0..=weights.len()).map(|edge| edge as f64 * 3.0 - 1.0).collect();
            Law::Histogram { edges, weights }
        }),
    ]
}

/// Ways of arriving, and until when.
fn arrivals() -> impl Strategy<Value = (Arrivals, Option<Span>)> {
    let days = || 1..5_u32;
    let end = |days: u32| Some(Span::from_secs(86_400) * i64::from(days));
    prop_oneof![
        (law(), prop::option::of(1..2_000_i64)).prop_map(|(between, length)| {
            let length = length.map(Span::from_secs);
            (Arrivals::Renewal { between, length }, length)
        }),
        (prop::collection::vec(0.1..9.0, HOURS), days()).prop_map(move |(weights, days)| {
            let weights = std::array::from_fn(|hour| weights[hour]);
            (Arrivals::Hourly { weights, days }, end(days))
        }),
        (law(), days())
            .prop_map(move |(number, days)| (Arrivals::Daily { number, days }, end(days))),
    ]
}

proptest! {
    #[test]
    fn jobs_come_in_order_and_their_number_is_right(
        (arrivals, end) in arrivals(),
        wanted in 0..200_u64,
        (run, batch, processors) in (law(), law(), law()),
        run_min in 1..1_000_000_i64, // every law has values above a second
        seed in 0..9_u64,
    ) {
        let ends_early = end.is_some() && !matches!(arrivals, Arrivals::Hourly { .. });
        let parameters = IndependentJobs {
            jobs: Some(wanted),
            batch,
            processors,
            run_min: Span::from_micros(run_min),
            ..IndependentJobs::new(arrivals, run)
        };
        let found = jobs(&parameters, seed);
        prop_assert!(found.is_sorted_by_key(|job| (job.submit, job.number)));
        prop_assert!(found.len() as u64 == wanted || (ends_early && (found.len() as u64) < wanted));
        let mut numbers: Vec<i64> = found.iter().map(|job| job.number).collect();
        numbers.sort_unstable();
        prop_assert!(numbers.iter().copied().eq(1..=found.len() as i64), "each number once");
        for job in &found {
            prop_assert!(end.is_none_or(|end| job.submit < Time::ZERO + end), "{job:?}");
            prop_assert!(job.submit >= Time::ZERO && job.processors >= 1, "{job:?}");
            prop_assert!(job.run_time.reveal_to_machine() >= parameters.run_min, "{job:?}");
            prop_assert_eq!(job.requested_time, Some(job.run_time.reveal_to_machine()));
        }
        prop_assert_eq!(jobs(&parameters, seed), found, "not the same twice");
    }
}
