//! Tables of jobs by a mapping: units, zones, words of states, and damage.

use haggle_model::{Span, Time};
use haggle_workloads::logs::{LogFormat, Options};

use super::{Read, fields, read_by, read_with};
use haggle_workloads::swf::Malformed;

const MAPPING: &str = r#"
time-zone = "Europe/Rome"
missing = ["?"]
machine-size = 1024

[columns]
number = "job"
submit = "submitted"
start = "started"
end = "ended"
processors = { column = "nodes", times = 128 }
requested-time = { column = "limit", unit = "min" }
requested-memory = { column = "mem", unit = "GB" }
status = { column = "state", completed = ["DONE"], failed = ["ERROR", "TIMEOUT"], cancelled = ["KILLED"] }
user = "who"
queue = "queue"
"#;

const NAMES: &str = "job,submitted,started,ended,nodes,limit,mem,state,who,queue,note";

fn options(mapping: &str) -> Options {
    Options { mapping: Some(mapping.parse().expect("a good mapping")), ..Options::default() }
}

fn read(lines: &[&str]) -> Read {
    read_with(&format!("{NAMES}\n{}\n", lines.join("\n")), &options(MAPPING)).expect("a good table")
}

fn refused(text: &str, mapping: &str) -> String {
    read_with(text, &options(mapping)).map(|_| ()).expect_err("a bad table")
}

#[test]
fn columns_become_fields_with_their_units() {
    let log = read(&[
        "7,2024-01-31 11:00:00,2024-01-31 11:01:00,2024-01-31 12:01:00,2,90,4,DONE,ann,long,\"a, b\"",
        "8,2024-01-31 11:00:05,?,NULL,1,?,,KILLED,1001,long,",
    ]);
    assert_eq!(log.records[0].submit, Time::from_secs(1_706_695_200));
    assert_eq!(fields(&log.records[0]), "7 60 3600 256 -1 -1 -1 5400 4194304 1 1 -1 -1 1 -1 -1 -1");
    assert_eq!(fields(&log.records[1]), "8 -1 -1 128 -1 -1 -1 -1 -1 5 1001 -1 -1 1 -1 -1 -1");
    assert_eq!(log.names, ["Queue: 1 long"]);
    assert_eq!(
        log.notes,
        [
            "changed: name of a user: a number, in the order of appearance (line 2)",
            "dropped: column note (line 2)"
        ]
    );
}

#[test]
fn states_that_the_mapping_does_not_name_are_listed() {
    let log =
        read(&["7,2024-01-31 11:00:00,2024-01-31 11:01:00,2024-01-31 11:00:30,2,90,4,HELD,1,2,"]);
    assert_eq!((log.records[0].status, log.records[0].run_time), (-1, Span::from_secs(-1)));
    assert_eq!(
        log.notes,
        [
            "changed: negative run time: unknown (line 2)",
            "changed: state HELD, which the mapping does not name: unknown (line 2)"
        ]
    );
}

#[test]
fn instants_and_lengths_have_units() {
    let mapping = r#"
        [columns]
        submit = { column = "t", unit = "ms" }
        wait = { column = "w", unit = "us" }
        run = "r"
        requested-processors = "n"
        processor-time = { column = "cpu", unit = "h" }
    "#;
    let log = read_with("t;w;r;n;cpu\n1706695200500;1500000;1-00:00:01;4;2\n", &options(mapping))
        .expect("good");
    assert_eq!(log.records[0].submit, Time::from_micros(1_706_695_200_500_000));
    assert_eq!(fields(&log.records[0]), "1 1.5 86401 -1 1800 -1 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1");
    assert_eq!(log.notes, ["guessed: number of a job: its place in the table (line 2)"]);
}

#[test]
fn local_times_with_summer_time() {
    let log =
        read(&["7,2024-10-27 02:50:00,2024-10-27 02:30:00,2024-10-27 02:40:00,1,90,4,DONE,1,2,"]);
    assert_eq!(
        (log.records[0].wait, log.records[0].run_time),
        (Span::from_secs(2_400), Span::from_secs(600))
    );
    assert!(log.notes[0].starts_with("guessed: local time that occurs twice"));
}

#[test]
fn further_columns_can_be_kept() {
    let keep = Options { keep: vec!["all".to_owned(), "state".to_owned()], ..options(MAPPING) };
    let line = "7,2024-01-31 11:00:00,2024-01-31 11:01:00,2024-01-31 12:01:00,2,90,4,DONE,1,2,\"a \"\"b\"\"\"";
    let log = read_with(&format!("{NAMES}\n{line}\n"), &keep).expect("a good table");
    assert_eq!(
        (log.further[0].clone(), log.notes.len()),
        (vec!["a \"b\"".to_owned(), "DONE".to_owned()], 0)
    );
}

#[test]
fn damage_is_named_and_can_be_skipped() {
    let line = "7,2024-01-31 11:00:00,2024-01-31 11:01:00,2024-01-31 12:01:00,2,90,4,DONE,1,2,";
    let bad = |from: &str, to: &str| format!("{NAMES}\n{line}\n{}\n", line.replacen(from, to, 1));
    assert_eq!(
        refused(&bad("2024-01-31 11:01:00", "noon"), MAPPING),
        "a.log:3: started: expected a time such as 2024-01-31T10:54:00, or seconds since 1970, found \"noon\""
    );
    assert_eq!(
        refused(&bad(",2,90", ",two,90"), MAPPING),
        "a.log:3: nodes: expected a whole number, found \"two\""
    );
    let error = refused(&bad(",DONE", ",DONE,x"), MAPPING);
    assert!(
        error.starts_with(
            "a.log:3: expected 11 values, found 12; values that contain the separator"
        ),
        "{error}"
    );
    let quote = bad(",DONE", ",\"DONE");
    assert!(
        refused(&quote, MAPPING).contains("expected 11 values, found 8"),
        "{}",
        refused(&quote, MAPPING)
    );
    let skipped = read_by(&quote, &options(MAPPING), Malformed::Skip).expect("the rest is good");
    assert_eq!((skipped.records.len(), skipped.skipped.len()), (1, 1));
    let error = refused("job,submitted\n", MAPPING);
    assert_eq!(
        error,
        "a.log:1: no column \"started\", which the mapping names for `start`; the table has job, submitted"
    );
    let without = Options { format: Some(LogFormat::Csv), ..Options::default() };
    let error = read_with("a,b\n", &without).map(|_| ()).expect_err("no mapping");
    assert_eq!(error, "a.log: a table needs a mapping of its columns (`mapping`)");
}
