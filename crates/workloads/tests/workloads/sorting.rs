//! Logs that are sorted: those with many jobs wait in a temporary file.

use std::fmt::Write;

use haggle_model::Time;
use haggle_workloads::cleaning::CleanJobs;
use haggle_workloads::rules::{Origin, Rules, SubmitOrder};
use haggle_workloads::swf::{Malformed, SwfReader};
use haggle_workloads::{CleaningReport, SharedReport};

/// More than wait in memory.
const JOBS: i64 = 150_000;

#[test]
fn jobs_that_waited_in_a_file_are_unchanged_and_in_order() {
    let mut log = String::new();
    // Each time is there many times, all over the log.
    let submit = |number: i64| number * 7_919 % 1_009;
    for number in 1..=JOBS {
        writeln!(
            log,
            "{number} {} 5 60.5 4 1.5 7 4 90 8 1 {number} 2 3 4 5 6 7 x{number}",
            submit(number)
        )
        .expect("memory takes it");
    }
    let rules = Rules { order: SubmitOrder::Sort, origin: Origin::Log, ..Rules::default() };
    let reader = SwfReader::new(log.as_bytes(), "a.swf", Malformed::Refuse).expect("a log");
    let report = SharedReport::default();
    let mut jobs = CleanJobs::new(reader, rules, report.clone()).keeping_further();
    let mut expected: Vec<i64> = (1..=JOBS).collect();
    expected.sort_by_key(|&number| submit(number));
    let mut ids = 0..;
    for number in expected {
        let entry = jobs.next_entry().expect("a job").expect("a good job");
        assert_eq!((entry.job.number, Some(entry.job.id.0)), (number, ids.next()));
        assert_eq!(entry.job.submit, Time::from_secs(submit(number)));
        assert_eq!(entry.further, [format!("x{number}")]);
        // All fields of the log came back.
        let record = haggle_workloads::swf::SwfRecord::from_job(&entry.job);
        let mut line = Vec::new();
        haggle_workloads::swf::write_record(&mut line, &record).expect("memory takes it");
        let rest = format!(" 5 60.5 4 1.5 7 4 90 8 1 {number} 2 3 4 5 6 7\n");
        assert!(line.ends_with(rest.as_bytes()), "{}", String::from_utf8_lossy(&line));
    }
    assert!(jobs.next_entry().is_none());
    let CleaningReport { jobs, complete, .. } = report.snapshot();
    assert_eq!((jobs, complete), (JOBS as u64, true));
}
