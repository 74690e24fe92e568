//! A run's folder appears complete or not at all, and nothing is overwritten by accident.

use std::fs;
use std::path::Path;

use haggle_results::{Existing, ResultsError, RunWriter, WriteOptions};

use crate::made_up;

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("the folder can be read")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn interrupted_run_leaves_nothing() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().join("run");
    let mut writer = RunWriter::create(&folder, made_up::cast(), WriteOptions::default())
        .expect("the folder is new");
    writer.job_over(&made_up::records(1)[0]).expect("there is room");
    assert_eq!(entries(place.path()), [".run.partial"]);
    drop(writer);
    assert!(entries(place.path()).is_empty());
}

#[test]
fn published_run_has_its_name_and_nothing_beside_it() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().join("run");
    made_up::write(&folder, WriteOptions::default(), &made_up::records(3), 2).expect("written");
    assert_eq!(entries(place.path()), ["run"]);
    assert_eq!(
        entries(&folder),
        [
            "attempts.parquet",
            "disclosures.parquet",
            "failures.parquet",
            "jobs.parquet",
            "messages.parquet",
            "offers.parquet",
            "placements.parquet",
            "provenance.json",
            "resources.parquet",
            "summary.json"
        ]
    );
}

#[test]
fn existing_run_is_kept_unless_told_otherwise() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path().join("run");
    let records = made_up::records(3);
    let write = |options| made_up::write(&folder, options, &records, 2);
    write(WriteOptions::default()).expect("the folder is new");
    let error = write(WriteOptions::default()).expect_err("it exists now");
    assert!(matches!(error, ResultsError::FolderExists { .. }));
    assert!(error.to_string().contains("--force"), "{error}");
    let replace = WriteOptions { existing: Existing::Replace, ..WriteOptions::default() };
    write(replace).expect("a run may be replaced");
    assert_eq!(entries(place.path()), ["run"]);
}

#[test]
fn force_does_not_replace_what_is_no_run() {
    let place = tempfile::tempdir().expect("a temporary folder");
    fs::write(place.path().join("thesis.tex"), "years of work").expect("written");
    let options = WriteOptions { existing: Existing::Replace, ..WriteOptions::default() };
    let error = RunWriter::create(place.path(), made_up::cast(), options).err().expect("not a run");
    assert!(matches!(error, ResultsError::NotARun { .. }), "{error}");
    assert_eq!(entries(place.path()), ["thesis.tex"]);
}

#[test]
fn folder_that_cannot_be_made_is_named() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let file = place.path().join("file");
    fs::write(&file, "").expect("written");
    let error = RunWriter::create(&file.join("run"), made_up::cast(), WriteOptions::default())
        .err()
        .expect("a file is no folder");
    assert!(error.to_string().contains("file"), "{error}");
    let error = RunWriter::create(Path::new("/"), made_up::cast(), WriteOptions::default())
        .err()
        .expect("no name");
    assert!(matches!(error, ResultsError::NoName { .. }), "{error}");
}
