//! Metrics have the values that follow by hand from their definitions.

use haggle_model::observation::{BagRecord, ShareRecord, TaskRun};
use haggle_model::reservation::{Answer, Cause, Displacement, GrantedWindow};
use haggle_model::{
    Cast, Job, JobClass, JobId, JobOutcome, JobRecord, LostRun, ProcessorSet, ProviderId, Refusal,
    Span, Time,
};
use haggle_results::{Cut, Extent, Metrics, MetricsOptions, Summary};

use crate::made_up;

/// A job that ran: (submit, start, end, processors), times in seconds.
fn ran(id: u32, (submit, start, end, processors): (i64, i64, i64, u32)) -> JobRecord {
    let span = Span::from_secs(end - start);
    JobRecord {
        job: Job::new(id, Time::from_secs(submit), processors, span).into(),
        class: JobClass::Local,
        outcome: JobOutcome::Completed,
        provider: Some(ProviderId(0)),
        queued: Some(Time::from_secs(submit)),
        start: Some(Time::from_secs(start)),
        end: Time::from_secs(end),
        walltime: Some(span),
        promised_end: None,
        processors: ProcessorSet::range(0, processors),
        bag: None,
        lost: Vec::new(),
        given_up: Vec::new(),
        checkpointing: Span::ZERO,
        checkpoints: Vec::new(),
        granted: None,
        alternative: None,
        recorded: None,
        priority: None,
    }
}

/// Provider north alone: 64 processors.
fn north() -> Cast {
    let mut cast = made_up::cast();
    cast.providers.truncate(1);
    cast
}

fn summary(cut: Cut, records: &[JobRecord]) -> Summary {
    let options = MetricsOptions { cut, ..MetricsOptions::default() };
    let mut metrics = Metrics::new(north(), options);
    for record in records {
        metrics.job_over(record);
    }
    metrics.summarise()
}

fn four_jobs() -> Vec<JobRecord> {
    let jobs = [(10, 10, 110, 64), (20, 110, 114, 32), (30, 114, 214, 64), (40, 214, 234, 16)];
    (0..).zip(jobs).map(|(id, job)| ran(id, job)).collect()
}

#[test]
fn values_are_those_of_the_definitions() {
    let it = summary(Cut::default(), &four_jobs());
    assert_eq!(it.makespan, Some(224.0));
    let area = (100 * 64 + 4 * 32 + 100 * 64 + 20 * 16) as f64;
    assert_eq!(it.time_computing, area);
    assert_eq!(it.utilisation, Some(area / (64.0 * 224.0)));
    assert_eq!(it.utilisation_in_window, it.utilisation);
    assert_eq!(it.mean_waiting_time, Some((90.0 + 84.0 + 174.0) / 4.0));
    assert_eq!(it.max_slowdown, Some(94.0 / 4.0));
    let bounded = it.all.bounded_slowdown.expect("jobs ran");
    let expected = (1.0 + 94.0 / 10.0 + 184.0 / 100.0 + 194.0 / 20.0) / 4.0;
    assert!((bounded.mean - expected).abs() < 1e-12);
    let weighted = (6400.0 * 100.0 + 128.0 * 94.0 + 6400.0 * 184.0 + 320.0 * 194.0) / area;
    let response = it.all.average_weighted_response_time.expect("jobs ran");
    assert!((response - weighted).abs() < 1e-9);
}

/// Granted time counts as far as it lies in the window: 44 of 80 processor-seconds of a machine of
/// 4, so 44 of 1,280 of one of 64.
#[test]
fn utilisation_in_a_window_is_that_of_what_was_granted() {
    let jobs = [(0, 0, 6, 3), (1, 6, 11, 2), (2, 2, 10, 1), (3, 18, 22, 4)];
    let (at, distances) = (Time::ZERO, [None, Some(1), None, Some(3)]);
    let mut records: Vec<JobRecord> = (0..).zip(jobs).map(|(id, job)| ran(id, job)).collect();
    for (record, distance) in records.iter_mut().zip(distances) {
        let start = record.start.expect("it ran");
        let span = record.end - start;
        let processors = record.job.processors;
        let displacement = |answer| Displacement {
            at,
            cause: Cause::Failure,
            answer,
            processors,
            span,
            start: record.start,
        };
        let displaced = match distance {
            Some(3) => vec![Answer::Moved, Answer::Moved, Answer::Postponed],
            Some(_) => vec![Answer::Moved],
            None => Vec::new(),
        };
        record.granted = Some(Box::new(GrantedWindow {
            at,
            ready: record.start,
            deadline: record.end,
            asked: processors + u32::from(distance == Some(1)),
            processors,
            span,
            planned: start,
            distance: distance.map(Span::from_secs),
            fixed: distance.map(|_| (at, start)),
            displaced: displaced.into_iter().map(displacement).collect(),
        }));
    }
    let window = Some((Time::ZERO, Time::from_secs(20)));
    let options = MetricsOptions { window, ..MetricsOptions::default() };
    let mut metrics = Metrics::new(north(), options);
    records.iter().for_each(|record| metrics.job_over(record));
    let it = metrics.summarise();
    assert_eq!(it.utilisation_in_window, Some(44.0 / 1_280.0));
    assert_eq!(it.utilisation_in_window.map(|it| it * 64.0 / 4.0), Some(0.55));
    let reservations = it.all.reservations.expect("some were granted");
    let counts = [reservations.granted, reservations.beside, reservations.fixed];
    assert_eq!((counts, reservations.broken), ([4, 2, 2], 1));
    let answers = [reservations.moved, reservations.shrunk, reservations.revoked];
    assert_eq!((answers, reservations.resized), ([2, 0, 0], 1));
    // 1 of 5 s and 3 of 4 s.
    let distance = reservations.distance_percent.expect("two are beside their windows");
    assert_eq!((distance.count, distance.max, distance.mean), (2, 75.0, 47.5));
    assert_eq!(reservations.total_distance_percent, 95.0);
}

/// On a machine of 4, until 9 s: one job gives back 3 processors at 4 s, one 1 at 6 s, and one 2 at
/// 8 s. Up to 6 s, 3 are idle, then 2, and from 8 s on none.
#[test]
fn what_is_given_back_is_used_again_where_more_is_given_back_than_idle() {
    let jobs = [(0, 0, 4, 3, 10), (1, 6, 8, 2, 4), (2, 8, 9, 4, 1), (3, 4, 6, 1, 9)];
    let records = jobs.map(|(id, start, end, processors, planned)| {
        let mut record = ran(id, (start, start, end, processors));
        record.granted = Some(Box::new(GrantedWindow {
            at: Time::ZERO,
            ready: record.start,
            deadline: Time::FOREVER,
            asked: processors,
            processors,
            span: Span::from_secs(planned),
            planned: Time::from_secs(start),
            distance: None,
            fixed: None,
            displaced: Vec::new(),
        }));
        record
    });
    let window = Some((Time::ZERO, Time::from_secs(9)));
    let options = MetricsOptions { window, ..MetricsOptions::default() };
    let mut cast = north();
    cast.providers[0].processors = 4;
    let mut metrics = Metrics::new(cast.clone(), options);
    records.iter().for_each(|record| metrics.job_over(record));
    let it = metrics.summarise().given_back.expect("two ended early");
    assert_eq!(it.work, 5.0 * 3.0 + 3.0 * 1.0 + 1.0 * 2.0);
    assert_eq!(it.used_again, 2.0 * (3.0 - 3.0) + 2.0 * (4.0 - 2.0) + 1.0 * (6.0 - 0.0));
    assert_eq!(it.used_again_percent, 50.0);
    assert_eq!(summary(Cut::default(), &four_jobs()).given_back, None);
}

#[test]
fn cuts_leave_out_jobs_but_not_the_work_they_did() {
    let cut = Cut { warm_up: Extent::Seconds(10.0), cool_down: Extent::Share(0.25) };
    let it = summary(cut, &four_jobs());
    assert_eq!((it.nb_jobs, it.jobs_cut), (2, 2));
    assert_eq!(it.mean_waiting_time, Some((90.0 + 84.0) / 2.0));
    assert_eq!(it.makespan, Some(224.0));
    // Between the submissions of the second and the third job, the first one has all processors.
    assert_eq!(it.utilisation_in_window, Some(1.0));
    let whole = Cut { warm_up: Extent::Share(1.0), cool_down: Extent::Seconds(1e9) };
    let nothing = summary(whole, &four_jobs());
    assert_eq!((nothing.nb_jobs, nothing.all.waiting_time), (0, None));
}

#[test]
fn every_outcome_is_counted() {
    let mut records = four_jobs();
    records[0].outcome = JobOutcome::WalltimeReached;
    records[1].promised_end = Some(Time::from_secs(113));
    records[2].promised_end = Some(Time::from_secs(214));
    records[3].outcome = JobOutcome::Rejected(Refusal::NoProvider);
    records[3].start = None;
    let it = summary(Cut::default(), &records);
    let counts = &it.all.outcomes;
    assert_eq!((counts.completed, counts.walltime_reached, counts.rejected), (2, 1, 1));
    assert_eq!(counts.refusals.get("no_provider"), Some(&1));
    assert_eq!((counts.promises, counts.promises_broken), (2, 1));
    assert_eq!((it.nb_jobs_finished, it.nb_jobs_killed, it.success_rate), (3, 1, Some(0.5)));
}

/// Two processors from 0 to 20, with 12 s saved and 3 s in checkpoints, and from 30 to 50 with 2 s
/// in checkpoints; submitted at 0.
fn resumed(id: u32, outcome: JobOutcome) -> JobRecord {
    let secs = Span::from_secs;
    let gives_up = matches!(outcome, JobOutcome::Failed | JobOutcome::Cancelled);
    JobRecord {
        outcome,
        start: (!gives_up).then_some(Time::from_secs(30)),
        lost: vec![LostRun {
            stopped_for: None,
            cancelled: false,
            provider: ProviderId(0),
            start: Time::ZERO,
            end: Time::from_secs(20),
            processors: ProcessorSet::range(0, 2),
            saved: secs(12),
            checkpointing: secs(3),
            checkpoints: Vec::new(),
        }],
        checkpointing: if gives_up { Span::ZERO } else { secs(2) },
        ..ran(id, (0, 30, 50, 2))
    }
}

/// Useful, lost, checkpoint, unfinished and total work; processor-seconds.
fn work(outcome: JobOutcome) -> [f64; 5] {
    let mut cast = north();
    cast.providers.iter_mut().for_each(|it| it.may_fail = true);
    let mut metrics = Metrics::new(cast.clone(), MetricsOptions::default());
    metrics.job_over(&resumed(0, outcome));
    metrics.run_over(Time::from_secs(50)).expect("no grid");
    let all = metrics.work() as f64 / 1e6;
    let it = metrics.summarise().failures.expect("something may fail");
    [it.work_useful, it.work_lost, it.work_checkpoints, it.work_unfinished, all]
}

#[test]
fn what_was_saved_counts_as_what_becomes_of_the_job() {
    let [lost, checkpoints, all] = [2.0 * 5.0, 2.0 * (3.0 + 2.0), 2.0 * 40.0];
    let kept = 2.0 * (12.0 + 18.0);
    for outcome in [JobOutcome::Completed, JobOutcome::WalltimeReached] {
        assert_eq!(work(outcome), [kept, lost, checkpoints, 0.0, all]);
    }
    assert_eq!(work(JobOutcome::Unfinished), [0.0, lost, checkpoints, kept, all]);
    for outcome in [JobOutcome::Failed, JobOutcome::Cancelled] {
        assert_eq!(work(outcome), [0.0, 2.0 * (5.0 + 12.0), 2.0 * 3.0, 0.0, 2.0 * 20.0]);
    }
}

#[test]
fn a_job_that_went_on_ran_for_what_counted_of_its_tries() {
    let it = summary(Cut::default(), &[resumed(0, JobOutcome::Completed)]);
    assert_eq!(it.mean_waiting_time, Some(18.0));
    assert_eq!(it.mean_turnaround_time, Some(50.0));
    assert_eq!(it.mean_slowdown, Some(50.0 / 32.0));
    assert_eq!(it.utilisation, Some(2.0 * 32.0 / (64.0 * 50.0)));
}

#[test]
fn run_without_jobs_has_a_summary() {
    let it = summary(Cut::default(), &[]);
    assert_eq!((it.makespan, it.utilisation, it.success_rate), (None, None, None));
    assert!(it.to_string().contains("no job ran"));
}

#[test]
fn order_of_records_does_not_matter() {
    let mut records = made_up::records(300);
    let cast = made_up::cast();
    let json = |records: &[JobRecord]| {
        let mut metrics = Metrics::new(cast.clone(), MetricsOptions::default());
        records.iter().for_each(|record| metrics.job_over(record));
        serde_json::to_string(&metrics.summarise()).expect("plain data")
    };
    let first = json(&records);
    records.reverse();
    assert_eq!(first, json(&records));
}

#[test]
fn summary_reads_well_on_a_terminal() {
    let mut metrics = Metrics::new(made_up::cast(), MetricsOptions::default());
    made_up::records(300).iter().for_each(|record| metrics.job_over(record));
    let text = metrics.summarise().to_string();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert_eq!(text, include_str!("summary.txt"), "\n{text}");
}

#[test]
fn shares_that_ended_late_have_a_line() {
    let share = |provider, end: i64, promised: i64| ShareRecord {
        job: JobId(0),
        provider: ProviderId(provider),
        tasks: 1,
        queued: Time::ZERO,
        walltime: Span::from_secs(100),
        promised_end: Some(Time::from_secs(promised)),
        agreement: None,
        runs: vec![TaskRun {
            start: Time::from_secs(10),
            end: Time::from_secs(end),
            outcome: JobOutcome::Completed,
            processors: ProcessorSet::range(0, 1),
        }],
    };
    let said = |promised: i64| {
        let bag = BagRecord {
            balanced: true,
            parts: 2,
            equal_offers: false,
            recompositions: 0,
            shares: vec![share(0, 50, 50), share(1, 60, promised)],
            coallocated: None,
            bookings: Vec::new(),
            phased: false,
        };
        let record = JobRecord { bag: Some(Box::new(bag)), ..ran(0, (0, 10, 60, 2)) };
        let mut metrics = Metrics::new(made_up::cast(), MetricsOptions::default());
        metrics.job_over(&record);
        metrics.summarise().to_string()
    };
    let late = said(59);
    assert!(late.contains("\n  1 of 2 shares that providers had promised ended late\n"), "{late}");
    let kept = said(60);
    assert!(!kept.contains("ended late"), "{kept}");
}
