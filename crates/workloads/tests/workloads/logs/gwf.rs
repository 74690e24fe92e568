//! Grid Workload Format.

use haggle_model::Time;
use haggle_workloads::logs::{LogFormat, Options};

use super::{fields, read_by, read_with};
use haggle_workloads::swf::Malformed;

const NAMES: &str = "# JobID SubmitTime WaitTime RunTime NProcs ...";
const LINE: &str = "7 100 60 3600 16 10.5 1000 16 7200 -1 1 U4 G1 X2 Q1 P1 O1 R2 UNITARY -1 -1 -1 -1 -1 -1 -1 -1 V1 -1";

#[test]
fn the_first_columns_are_those_of_a_log() {
    let numbers = LINE.replace("U4 G1 X2 Q1 P1", "4 1 2 1 1");
    let log = read_with(&format!("{NAMES}\n{LINE}\n\n{numbers}\n"), &Options::default())
        .expect("a good log");
    assert_eq!(log.records[0].submit, Time::from_secs(100));
    assert_eq!(fields(&log.records[0]), "7 60 3600 16 10.5 1000 16 7200 -1 1 1 1 1 1 1 -1 -1");
    assert_eq!(fields(&log.records[1]), "7 60 3600 16 10.5 1000 16 7200 -1 1 4 1 2 1 1 -1 -1");
    assert_eq!(log.names, ["Queue: 1 Q1", "Partition: 1 P1"]);
    assert_eq!(log.notes[3], "dropped: column OrigSiteID (lines 2, 4)");
    assert_eq!(log.notes.len(), 7, "three names, and four columns with values: {:?}", log.notes);
}

#[test]
fn sites_can_be_kept() {
    let keep = Options {
        keep: vec!["OrigSiteID".to_owned(), "VOID".to_owned(), "ProjectID".to_owned()],
        ..Options::default()
    };
    let log = read_with(&format!("{NAMES}\n{LINE}\n"), &keep).expect("a good log");
    assert_eq!(log.further, [["O1", "V1", ""]]);
}

#[test]
fn damage_and_the_other_dialect_are_named() {
    let refused =
        |text: &str| read_with(text, &Options::default()).map(|_| ()).expect_err("damaged");
    let bad = |from: &str, to: &str| format!("{NAMES}\n{LINE}\n{}\n", LINE.replacen(from, to, 1));
    assert_eq!(
        refused(&bad("3600", "long")),
        "a.log:3:10: RunTime: expected a number, found \"long\""
    );
    assert_eq!(refused(&bad(" -1 1 ", " ")), "a.log:3: expected 29 columns, found 27");
    let lenient = read_by(&bad("3600", "long"), &Options::default(), Malformed::Skip);
    assert_eq!(lenient.map(|log| log.records.len()), Ok(1));
    let gwf = Options { format: Some(LogFormat::Gwf), ..Options::default() };
    let error = read_with("1,2,3,4,5,6,\n", &gwf).map(|_| ()).expect_err("another dialect");
    assert_eq!(
        error,
        "a.log:1: expected 29 columns, found 1; the dialect with commas is read by a mapping (format `csv`)"
    );
}
