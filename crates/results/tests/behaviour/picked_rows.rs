//! Only the requested rows are read.

use std::fs;

use haggle_results::reader::Rows;
use haggle_results::{
    Format, JobRow, PlacementRow, ResultsError, RunReader, Table, WriteOptions, writer,
};

use crate::made_up;

fn written(format: Format, jobs: u32) -> (tempfile::TempDir, RunReader) {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().join("run");
    let options = WriteOptions { format, ..WriteOptions::default() };
    made_up::write(&folder, options, &made_up::records(jobs), 0).expect("it can be written");
    let reader = RunReader::open(&folder).expect("the run was published");
    (place, reader)
}

#[test]
fn they_are_those_of_the_whole_table_for_which_the_conditions_hold() {
    for format in [Format::Parquet, Format::Csv] {
        let (_place, run) = written(format, 3_000);
        let (jobs, placements) = (run.jobs().expect("jobs"), run.placements().expect("rows"));
        let numbers = [7, 8, 1_500, 2_999, 99_999];
        let some = JobRow::some(&run, &Rows::of("job", numbers)).expect("jobs");
        let expected = jobs.iter().filter(|it| numbers.contains(&it.job)).cloned();
        assert_eq!(some, Vec::from_iter(expected));
        assert_eq!(some.len(), 4);

        let south = "south, \"big\"".to_owned();
        let spans = vec![(0.0, 50_000.0), (200_000.0, 210_000.0)];
        let of = Rows::all().with("provider", [south.clone()]);
        let of = of.during("starting_time", "finish_time", spans.clone());
        let some = PlacementRow::some(&run, &of).expect("placements");
        let expected = placements.iter().filter(|it| {
            it.provider == south && spans.iter().any(|span| it.start <= span.1 && span.0 <= it.end)
        });
        assert_eq!(some, Vec::from_iter(expected.cloned()));
        assert!(!some.is_empty() && some.len() < placements.len() / 2);

        // A job that never started has no start, which counts as before all times.
        let of = Rows::all().during("starting_time", "left_time", vec![(0.0, 0.0)]);
        let some = JobRow::some(&run, &of).expect("jobs");
        let expected = jobs.iter().filter(|it| it.start.is_none_or(|start| start <= 0.0));
        assert_eq!(some.len(), expected.count());
    }
}

#[test]
fn rows_come_in_batches_in_their_order() {
    let (_place, run) = written(Format::Parquet, 70_000);
    let (mut sizes, mut numbers) = (Vec::new(), Vec::new());
    run.in_batches(Table::Jobs, &["job"], &Rows::all(), |data| {
        sizes.push(data.rows());
        numbers.extend_from_slice(data.integer("job")?);
        Ok(())
    })
    .expect("it can be read");
    assert_eq!(sizes, [65_536, 4_464]);
    let jobs = run.jobs().expect("jobs");
    assert!(jobs.iter().map(|it| Some(it.job)).eq(numbers));
}

/// The second row group is made unreadable, and so are all pages of the first one without a
/// requested row.
#[test]
fn nothing_else_of_a_file_is_read() {
    let jobs = writer::ROWS_PER_GROUP as u32 + 20_000;
    let (_place, run) = written(Format::Parquet, jobs);
    let first = JobRow::some(&run, &Rows::of("job", [3])).expect("a job");
    assert_eq!(first.len(), 1);

    let path = run.folder().join("jobs.parquet");
    let mut bytes = fs::read(&path).expect("it is there");
    // The second group is a seventh of the rows, at the end; the footer of the file follows it.
    let (from, to) = (bytes.len() * 89 / 100, bytes.len() * 97 / 100);
    bytes[from..to].fill(0xff);
    fs::write(&path, bytes).expect("it can be written");
    let whole = run.jobs();
    assert!(matches!(whole, Err(ResultsError::Damaged { .. })), "{:?}", whole.map(|it| it.len()));
    assert_eq!(JobRow::some(&run, &Rows::of("job", [3])).expect("a job"), first);
}
