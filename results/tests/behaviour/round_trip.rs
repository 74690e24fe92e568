//! What is written is what is read, in either format.

use haggle_results::{Format, RunReader, Table, WriteOptions};

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
        assert_eq!(row.allocated, record.processors.shifted(first));
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
    assert_eq!(digest, "d0cffa6dc53671abf02ad85a68b0e3f9db0414f1bb181df4360ba7463a46edff");
}
