//! Facts about the logs of the archive, which are not part of this repository.

use haggle_model::{Job, Span, Time};
use haggle_testing::real_log;
use haggle_workloads::rules::{
    Cancelled, MissingRequest, MissingRunTime, OverRequest, PartialExecution, ProcessorsFrom, Rules,
};
use haggle_workloads::steps::{Bounds, Filter, RunTimes, Slice, Spread};
use haggle_workloads::swf::{self, Malformed, SwfReader, SwfRecord, SwfWriter};
use haggle_workloads::{Source, Step, Workload, WorkloadStatistics, inspect};

const CTC: &str = "CTC-SP2-1996-3.1-cln.swf.gz";
const HPC2N: &str = "HPC2N-2002-2.2-cln.swf.gz";
const SDSC_SP2: &str = "SDSC-SP2-1998-4.2-cln.swf.gz";
const LPC: &str = "LPC-EGEE-2004-1.2-cln.swf.gz";
const BLUE: &str = "SDSC-BLUE-2000-4.2-cln.swf.gz";
const LUBLIN_256: &str = "lublin_256.swf.gz";

fn workload(log: &str, rules: Rules) -> Workload {
    Workload::new("log", Source::Log { path: real_log(log), options: Box::default(), rules })
}

fn check_kept(name: &str, rules: Rules, kept: u64) {
    let open = workload(name, rules).open().expect("an archive log");
    let report = open.report.clone();
    let jobs: Vec<_> = open.jobs.map(|job| job.expect("a clean log")).collect();
    assert_eq!(jobs.len() as u64, kept, "{name}");
    assert_eq!(report.snapshot().jobs, kept);
    assert!(jobs.is_sorted_by_key(|job| (job.submit, job.id)));
    assert!(jobs.iter().all(|job| {
        let limit = job.requested_time.expect("the canonical log has requests");
        job.run_time.reveal_to_machine() <= limit
    }));
}

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn the_canonical_logs_have_the_known_number_of_jobs() {
    check_kept(CTC, Rules::canonical(), 77_199);
    let first_lines = Rules { lines: Some(10_000), ..Rules::canonical() };
    check_kept(SDSC_SP2, first_lines, 8_943);
    let exact = Rules { missing_request: MissingRequest::UseRunTime, ..Rules::canonical() };
    check_kept(LUBLIN_256, exact, 10_000);
}

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn the_default_rules_report_what_they_did_to_ctc() {
    let open = workload(CTC, Rules::default()).open().expect("an archive log");
    let report = open.report.clone();
    assert_eq!(open.header.machine_size(), Some(338));
    assert_eq!(open.header.max_records(), Some(79_302));
    assert_eq!(open.jobs.filter(Result::is_ok).count(), 77_222);
    let found: Vec<_> = report.snapshot().counts.into_iter().map(|c| (c.rule, c.jobs)).collect();
    let expected = [
        ("processors not requested: allocated taken", 77_222),
        ("run time 0: taken as 1 s", 17),
        ("requested time unknown: run time taken", 6),
        ("ran over the request: cut to it", 7_174),
    ];
    assert_eq!(found, expected.map(|(rule, jobs)| (rule.to_owned(), jobs)));
}

fn statistics(name: &str, rules: Rules) -> WorkloadStatistics {
    let open = workload(name, rules).open().expect("an archive log");
    inspect(open, None).expect("a clean log")
}

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn statistics_agree_with_the_published_table() {
    // The table's loads count the whole use of every job, over its request or not.
    let uncut = Rules {
        processors: ProcessorsFrom::AllocatedThenRequested,
        overrun: OverRequest::Keep,
        ..Rules::default()
    };
    for (name, jobs, users, load) in [(CTC, 77_222, 679, 0.842), (HPC2N, 202_871, 257, 0.602)] {
        let found = statistics(name, uncut.clone());
        assert_eq!((found.jobs, found.users), (jobs, users), "{name}");
        let offered = found.offered_load.expect("the header knows the machine");
        assert!((offered - load).abs() < 0.0006, "{name}: {offered}");
    }
}

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn statistics_of_the_model_output_agree_with_its_description() {
    let found = statistics(LUBLIN_256, Rules::default());
    assert!((1.0 - found.serial_share - 0.751).abs() < 0.001);
    assert!((found.power_of_two_share / (1.0 - found.serial_share) - 0.815).abs() < 0.001);
    assert!((found.processors.mean - 22.1).abs() < 0.1);
    assert!((found.run_time_s.mean - 4_863.0).abs() < 1.0);
    assert_eq!(found.run_time_s.median, 137.0);
    assert_eq!((found.gap_s.median, found.gap_s.max), (116.0, 139_588.0));
}

#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn a_real_log_survives_writing_and_reading() {
    for name in [CTC, LPC] {
        let reader = swf::open(&real_log(name), Malformed::Refuse).expect("an archive log");
        let header = reader.header().clone();
        let records: Vec<SwfRecord> = reader.map(|record| record.expect("a clean log")).collect();
        let mut writer = SwfWriter::new(Vec::new(), &header).expect("memory takes it");
        for record in &records {
            writer.write(record).expect("memory takes it");
        }
        let bytes = writer.finish().expect("memory takes it");
        let again = SwfReader::new(&bytes[..], name, Malformed::Refuse).expect("just written");
        assert_eq!(again.header(), &header);
        assert!(again.map(|record| record.expect("just written")).eq(records));
    }
}

/// Hours.
const fn hours(count: i64) -> Span {
    Span::from_secs(3_600 * count)
}

/// A row of the published table of workloads: log, begin of the slice, and
/// figures of the slice.
struct Row {
    log: &'static str,
    skip: u64,
    jobs: u64,
    processors: (u32, u32),
    requested_time: (Span, Span),
    machine: u32,
    load: f64,
    widest: u32,
}

/// Netto 2009, Table 6.2, on the versions of the logs that are at hand.
#[test]
#[ignore = "needs the logs of HAGGLE_TRACES"]
fn slices_of_the_logs_offer_the_loads_of_the_published_table() {
    let rows = [
        (CTC, 1, 3_478, (1, 306), (hours(1), hours(18)), 430, 49.14, 306),
        (HPC2N, 1_932, 959, (1, 128), (hours(1), hours(120)), 240, 55.63, 128),
        (HPC2N, 20_373, 4_913, (1, 128), (hours(1), hours(120)), 240, 48.40, 128),
        (SDSC_SP2, 3_161, 1_088, (1, 115), (hours(1), hours(18)), 128, 54.46, 115),
        (LPC, 0, 6_574, (1, 1), (hours(2), hours(72)), 140, 51.60, 1),
        (BLUE, 12_889, 969, (64, 632), (hours(1), hours(36)), 1_178, 54.07, 624),
    ];
    for (log, skip, jobs, processors, requested_time, machine, load, widest) in rows {
        check_row(&Row { log, skip, jobs, processors, requested_time, machine, load, widest });
    }
}

fn check_row(row: &Row) {
    // Only what has no processors or no request is left out.
    let rules = Rules {
        partial: PartialExecution::Keep,
        cancelled: Cancelled::Keep,
        missing_run_time: MissingRunTime::OneSecond,
        missing_request: MissingRequest::Drop,
        ..Rules::default()
    };
    fn between<T>((min, max): (T, T)) -> Bounds<T> {
        Bounds { min: Some(min), max: Some(max) }
    }
    let length = hours(24 * 60);
    let mut workload = workload(row.log, rules);
    workload.steps = vec![
        Step::Filter(Filter {
            processors: between(row.processors),
            requested_time: between(row.requested_time),
            ..Filter::default()
        }),
        Step::Slice(Slice { skip: row.skip, jobs: row.jobs }),
        Step::Spread(Spread { length }),
        Step::RunTimes(RunTimes::Requested),
    ];
    let jobs = workload.open().expect("an archive log").jobs;
    let jobs: Vec<_> = jobs.map(|job| job.expect("a clean log")).collect();
    assert_eq!(jobs.len() as u64, row.jobs, "{}", row.log);
    let work =
        |job: &Job| f64::from(job.processors) * job.run_time.reveal_to_machine().as_secs_f64();
    let capacity = f64::from(row.machine) * length.as_secs_f64();
    let load = 100.0 * jobs.iter().map(work).sum::<f64>() / capacity;
    assert!((load - row.load).abs() < 0.005, "{}: {load} %", row.log);
    let widest = jobs.iter().map(|job| job.processors).max();
    assert_eq!(widest, Some(row.widest), "{}", row.log);
    let longest = jobs.iter().filter_map(|job| job.requested_time).max();
    assert_eq!(longest, Some(row.requested_time.1), "{}", row.log);
    assert_eq!(jobs[0].submit, Time::ZERO);
    assert!(jobs[jobs.len() - 1].submit < Time::ZERO + length);
}
