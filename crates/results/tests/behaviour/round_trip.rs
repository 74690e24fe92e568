//! Rows that are written are read back equal, in either format.

use haggle_results::{Cut, Extent, Format, JobRow, MetricsOptions, RunReader, Table, WriteOptions};

use crate::made_up;

fn written(format: Format, jobs: u32) -> (tempfile::TempDir, RunReader, String) {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().join("run");
    let options = WriteOptions { format, ..WriteOptions::default() };
    let records = made_up::records(jobs);
    let (_, digest) =
        made_up::write(&folder, options, &records, 1000).expect("the folder can be written");
    let reader = RunReader::open(&folder).expect("the run was published");
    (place, reader, digest)
}

#[test]
fn both_formats_hold_the_same_rows_and_the_same_digest() {
    let (_a, parquet, parquet_digest) = written(Format::Parquet, 500);
    let (_b, csv, csv_digest) = written(Format::Csv, 500);
    assert_eq!(parquet.jobs().expect("jobs"), csv.jobs().expect("jobs"));
    assert_eq!(parquet.placements().expect("placements"), csv.placements().expect("placements"));
    assert_eq!(parquet.resources().expect("resources"), csv.resources().expect("resources"));
    assert_eq!(parquet.messages().expect("messages"), csv.messages().expect("messages"));
    assert_eq!(
        parquet.disclosures().expect("disclosures"),
        csv.disclosures().expect("disclosures")
    );
    assert_eq!(parquet_digest, csv_digest);
    for table in Table::ALL.into_iter().filter(|&table| parquet.has(table)) {
        for column in table.columns() {
            let read =
                |run: &RunReader| run.columns(table, &[column.name]).expect(column.name).rows();
            assert_eq!(read(&parquet), read(&csv), "{} {}", table.name(), column.name);
        }
    }
}

/// With more jobs than the memory keeps, rows wait until it is known which jobs count.
#[test]
fn jobs_that_warm_up_and_cool_down_leave_out_are_marked() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let records = made_up::records(10_000);
    let read = |name: &str, cut: bool| {
        let folder = place.path().join(name);
        let share = if cut { Extent::Share(0.1) } else { Extent::Nothing };
        let cut = Cut { warm_up: share, cool_down: share };
        let metrics = MetricsOptions { cut, ..MetricsOptions::default() };
        let options = WriteOptions { format: Format::Both, metrics, ..WriteOptions::default() };
        let (summary, _) = made_up::write(&folder, options, &records, 0).expect("it is written");
        let reader = RunReader::open(&folder).expect("the run was published");
        let counted = reader.columns(Table::Jobs, &["counted", "waiting_time"]).expect("columns");
        let counts: Vec<i64> = counted
            .integer("counted")
            .expect("integers")
            .iter()
            .map(|it| it.expect("one"))
            .collect();
        (summary, reader, counts, counted.real("waiting_time").expect("times").to_vec())
    };
    let (_, whole, counts, _) = read("whole", false);
    assert!(counts.iter().all(|&it| it == 1));
    let (summary, cut, counts, waited) = read("cut", true);
    assert_eq!(counts.iter().sum::<i64>() as u64, summary.nb_jobs);
    assert_eq!(summary.jobs_cut, 2_000);
    let waited = || waited.iter().zip(&counts).filter(|it| *it.1 == 1).filter_map(|it| *it.0);
    let mean = waited().sum::<f64>() / waited().count() as f64;
    let told = summary.mean_waiting_time.expect("jobs waited");
    assert!((mean - told).abs() < 1e-6 * told, "{mean} {told}");
    // Everything else equals the run without a cut, including texts and words, and no file is left
    // beside the tables.
    let jobs = |run: &RunReader| {
        let rows = run.jobs().expect("jobs").into_iter();
        rows.map(|row| JobRow { counted: true, ..row }).collect::<Vec<_>>()
    };
    assert_eq!(jobs(&whole), jobs(&cut));
    let csv = |name: &str| {
        let text = std::fs::read_to_string(place.path().join(name).join("jobs.csv")).expect("it");
        text.lines()
            .map(|line| line.rsplit_once(',').expect("columns").0.to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(csv("whole"), csv("cut"));
    let names = |name: &str| {
        let entries = std::fs::read_dir(place.path().join(name)).expect("a folder");
        let mut names: Vec<_> = entries.map(|it| it.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names("whole"), names("cut"));
}

#[test]
fn jobs_read_back_as_they_were_recorded() {
    let (_place, reader, _) = written(Format::Parquet, 500);
    let records = made_up::records(500);
    let rows = reader.jobs().expect("jobs");
    assert_eq!(rows.len(), records.len());
    let cast = made_up::cast();
    for (row, record) in rows.iter().zip(&records) {
        assert_eq!(row.job, i64::from(record.job.id.0));
        assert_eq!(row.outcome, record.outcome.name());
        assert_eq!(row.submit, record.job.submit.as_secs_f64());
        assert_eq!(row.start, record.start.map(|time| time.as_secs_f64()));
        assert_eq!(row.left, record.end.as_secs_f64());
        let first = record.provider.map_or(0, |it| cast.providers[it.index()].first_processor);
        let held = record.processors.shifted(first);
        assert_eq!(row.allocated, Some(held).filter(|it| !it.is_empty()));
    }
    assert!(rows.iter().any(|row| row.outcome == "cancelled"));
    assert!(rows.iter().any(|row| row.refusal.as_deref() == Some("too_wide")));
}

#[test]
fn digest_changes_with_the_content() {
    let (_a, _, one) = written(Format::Csv, 100);
    let (_b, _, same) = written(Format::Csv, 100);
    let (_c, _, other) = written(Format::Csv, 101);
    assert_eq!(one, same);
    assert_ne!(one, other);
}

#[test]
fn digest_of_a_run_stays_the_same_from_version_to_version() {
    let (_place, _, digest) = written(Format::Csv, 100);
    assert_eq!(digest, "e8d51ac0b92007c389c17757324979e30e89e81d4bace80c9b8afd850c48441f");
}
