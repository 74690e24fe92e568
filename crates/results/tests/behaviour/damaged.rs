//! Damaged and missing files are errors that name the file and the column.

use std::fs;

use haggle_results::{Format, RunReader, WriteOptions};

use crate::made_up;

/// Writes a run, lets `harm` change the text of `jobs.csv`, and returns the error of reading it.
fn error_after(harm: impl Fn(String) -> String) -> String {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().join("run");
    let options = WriteOptions { format: Format::Csv, ..WriteOptions::default() };
    made_up::write(&folder, options, &made_up::records(5), 5).expect("written");
    let path = folder.join("jobs.csv");
    let text = fs::read_to_string(&path).expect("written");
    fs::write(&path, harm(text)).expect("written");
    let reader = RunReader::open(&folder).expect("the run is there");
    reader.jobs().expect_err("it is damaged").to_string()
}

#[test]
fn missing_column_is_named() {
    let error = error_after(|text| text.replace("queued_time", "other"));
    assert!(error.contains("jobs.csv` has no column `queued_time`"), "{error}");
}

#[test]
fn wrong_cell_is_named_with_its_line() {
    let error = error_after(|text| text.replacen(",delay,", ",delay,x", 1));
    assert!(error.contains("column `submission_time`: expected a number"), "{error}");
    assert!(error.contains("in line 2"), "{error}");
}

#[test]
fn torn_line_is_an_error() {
    let error = error_after(|text| text[..text.len() - 40].to_owned());
    assert!(error.contains("jobs.csv` is damaged"), "{error}");
}

#[test]
fn damaged_parquet_is_an_error() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().join("run");
    made_up::write(&folder, WriteOptions::default(), &made_up::records(5), 5).expect("written");
    let path = folder.join("jobs.parquet");
    let bytes = fs::read(&path).expect("written");
    for cut in [0, 3, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&path, &bytes[..cut]).expect("written");
        let reader = RunReader::open(&folder).expect("the run is there");
        let error = reader.jobs().expect_err("it is damaged").to_string();
        assert!(error.contains("jobs.parquet` is damaged"), "{error}");
    }
}

#[test]
fn missing_files_are_named() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let reader = RunReader::open(place.path()).expect("it is a folder");
    let error = reader.jobs().expect_err("there is nothing").to_string();
    assert!(error.contains("neither jobs.parquet nor jobs.csv"), "{error}");
    let error = reader.summary().expect_err("there is nothing").to_string();
    assert!(error.contains("summary.json"), "{error}");
    assert!(RunReader::open(&place.path().join("none")).is_err());
}
