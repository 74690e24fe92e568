//! Workloads of Batsim: both versions, written and read again, and each trap.

use std::sync::Arc;

use haggle_model::{Span, Time};
use haggle_workloads::logs::{
    BatsimJobs, BatsimVersion, BatsimWorkload, LogWriter, Notes, Options,
};
use haggle_workloads::swf::{Malformed, SwfHeader, SwfReader, SwfRecord};

use super::{Read, fields, read_by, read_with};

/// A workload of version 5, whose jobs stand before their profiles.
const FIVE: &str = r#"{
  "jobs": [
    {"id": 7, "subtime": 0.5, "res": 4, "walltime": 100, "profile": "long"},
    {"id": "w0!8", "subtime": 3, "res": 2, "profile": "bad", "extra_data": "{\"queue\": \"main\"}"},
    {"id": "first", "subtime": 1e1, "res": 1, "walltime": 30, "profile": "long"}
  ],
  "profiles": {
    "long": {"type": "DelayProfile", "delay": 60.25},
    "bad": {"type": "DelayProfile", "delay": 5, "ret": 1}
  },
  "nb_res": 8
}"#;

fn read(text: &str) -> Read {
    read_with(text, &Options::default()).expect("a good workload")
}

fn refused(text: &str) -> String {
    read_with(text, &Options::default()).map(|_| ()).expect_err("a bad workload")
}

fn changed(from: &str, to: &str) -> String {
    assert!(FIVE.contains(from), "{from}");
    FIVE.replacen(from, to, 1)
}

#[test]
fn jobs_have_the_delays_of_their_profiles() {
    let four = FIVE
        .replace("DelayProfile", "delay")
        .replace("\"profile\": \"bad\"", "\"walltime\": -1, \"profile\": \"bad\"");
    for text in [FIVE, &four] {
        let log = read(text);
        assert_eq!(log.records[0].submit, Time::from_micros(500_000));
        assert_eq!(fields(&log.records[0]), "7 -1 60.25 -1 -1 -1 4 100 -1 1 -1 -1 -1 -1 -1 -1 -1");
        assert_eq!(fields(&log.records[1]), "8 -1 5 -1 -1 -1 2 -1 -1 0 -1 -1 -1 -1 -1 -1 -1");
        assert_eq!(fields(&log.records[2]), "3 -1 60.25 -1 -1 -1 1 30 -1 1 -1 -1 -1 -1 -1 -1 -1");
        assert_eq!(
            log.notes,
            [
                "dropped: member extra_data (line 4)",
                "changed: id of a job that is no number: its place in the list (line 5)"
            ]
        );
    }
}

#[test]
fn profiles_and_the_size_may_come_first() {
    let (jobs, rest) = FIVE.split_once("],\n").expect("two parts");
    let (profiles, size) = rest.rsplit_once(",\n").expect("two parts");
    let jobs = jobs.trim_start_matches('{');
    let text = format!("{{{},{profiles},{jobs}]}}", size.trim_end_matches('}'));
    let (turned, usual) = (read(&text), read(FIVE));
    assert_eq!(turned.records, usual.records);
    let input = Box::new(std::io::Cursor::new(text.into_bytes()));
    let log =
        haggle_workloads::logs::read(input, Arc::from("a"), &Options::default(), Malformed::Refuse);
    assert_eq!(log.ok().and_then(|log| log.header().machine_size()), Some(8));
}

#[test]
fn members_without_a_place_can_be_kept() {
    let text = changed("\"profile\": \"long\"}", "\"profile\": \"long\", \"extra_data\": \"\"}");
    let keep = Options { keep: vec!["extra_data".to_owned()], ..Options::default() };
    let log = read_with(&text, &keep).expect("a good workload");
    assert_eq!(log.further, [[""], ["{\"queue\": \"main\"}"], [""]]);
    assert_eq!(log.notes.len(), 1);
}

#[test]
fn profiles_without_a_run_time_are_named_or_skipped() {
    let text = changed("\"type\": \"DelayProfile\", \"delay\": 5", "\"type\": \"SmpiProfile\"");
    assert_eq!(
        refused(&text),
        "a.log:4:5: profile \"bad\" is of the type \"SmpiProfile\", whose run time depends on a platform; only \
         delays have a run time"
    );
    let skipped = read_by(&text, &Options::default(), Malformed::Skip).expect("the rest is good");
    assert_eq!((skipped.records.len(), skipped.skipped.len()), (2, 1));
    let undefined = changed("\"bad\": {", "\"good\": {");
    assert_eq!(refused(&undefined), "a.log:4:5: `profiles` has no profile \"bad\"");
}

#[test]
fn damage_has_a_place() {
    for (from, to, error) in [
        ("\"res\": 4, ", "", "a.log:3:5: the member `res` is missing"),
        (
            "\"res\": 4",
            "\"res\": 4.5",
            "a.log:3:5: res: invalid type: floating point `4.5`, expected i32",
        ),
        (
            "\"subtime\": 3",
            "\"subtime\": -3",
            "a.log:4:5: subtime: expected seconds from 0 to 1000000000000, found \"-3\"",
        ),
        ("\"id\": 7", "\"id\": true", "a.log:3:5: id: a number or a text"),
        (
            "60.25",
            "-1",
            "a.log:8:13: delay: expected seconds from 0 to 1000000000000, found \"-1\"",
        ),
        (", \"delay\": 60.25", "", "a.log:8:13: a delay needs the member `delay`, in seconds"),
        ("\"type\": \"DelayProfile\", ", "", "a.log:8:28: missing field `type`"),
        (
            "\"nb_res\": 8",
            "\"nb_res\": \"8\"",
            "a.log:11:13: nb_res: expected a number of processors above 0, found \"\\\"8\\\"\"",
        ),
        (
            "\"nb_res\": 8",
            "\"nb_res\": 8, \"jobs\": 1",
            "a.log:11:24: jobs: expected a list, as Batsim has it",
        ),
        (
            "\n}",
            "",
            "a.log:11:14: expected `,` or `}`, found the end of the text; is the file complete?",
        ),
    ] {
        let found = refused(&changed(from, to));
        let column = |text: &str| text.split(": ").nth(1).map(str::to_owned);
        assert!(found.starts_with(error), "{found}\n{error}\n{:?}", column(&found));
    }
}

const SWF: &str = "\
7 0 5 60.25 4 -1 -1 4 100 -1 1 -1 -1 -1 -1 -1 -1 -1
7 3 2 5 2 -1 -1 2 -1 -1 0 -1 -1 -1 -1 -1 -1 -1
8 10 0 60.25 1 10 -1 1 30 4096 5 3 1 -1 2 -1 -1 -1
9 11 -1 0 1 -1 -1 1 30 -1 1 -1 -1 -1 -1 -1 -1 -1
";

fn records() -> Vec<SwfRecord> {
    let reader = SwfReader::new(SWF.as_bytes(), "a.swf", Malformed::Refuse).expect("a log");
    reader.map(|record| record.expect("a record")).collect()
}

/// The facts about what was written.
fn facts(notes: &Notes) -> Vec<String> {
    notes.as_slice().iter().map(|note| note.to_string().trim_start().to_owned()).collect()
}

#[test]
fn workloads_are_written_and_read_again() {
    for (version, word) in
        [(BatsimVersion::Four, "\"delay\""), (BatsimVersion::Five, "\"DelayProfile\"")]
    {
        let mut text = Vec::new();
        let mut writer = BatsimWorkload::new(&mut text, version).expect("memory takes it");
        let records = records();
        let written = records.iter().map(|record| writer.write(record, &[]).expect("memory"));
        assert_eq!(written.collect::<Vec<_>>(), [true, true, true, false]);
        let notes = writer.finish(&SwfHeader::default()).expect("memory takes it");
        let text = String::from_utf8(text).expect("a text");
        assert!(text.contains(&format!("{{\"type\": {word}, \"delay\": 60.25}}")), "{text}");
        assert!(text.contains("\"nb_res\": 4\n"), "{text}");
        let log = read(&text);
        let lines: Vec<String> = log.records.iter().map(fields).collect();
        assert_eq!(
            lines,
            [
                "7 -1 60.25 -1 -1 -1 4 100 -1 1 -1 -1 -1 -1 -1 -1 -1",
                "2 -1 5 -1 -1 -1 2 -1 -1 0 -1 -1 -1 -1 -1 -1 -1",
                "8 -1 60.25 -1 -1 -1 1 30 -1 1 -1 -1 -1 -1 -1 -1 -1"
            ]
        );
        let submitted: Vec<Time> = log.records.iter().map(|record| record.submit).collect();
        assert_eq!(submitted, [0, 3, 10].map(Time::from_secs));
        assert_eq!(
            facts(&notes),
            [
                "3  dropped: waiting time",
                "1  changed: one more job of this number: an id of its own, which is a text",
                "1  dropped: average processor time",
                "1  dropped: memory",
                "1  dropped: user",
                "1  dropped: group",
                "1  dropped: queue",
                "1  changed: status that is not 0 or 1: completed",
                "1  dropped: job without a run time above 0, which Batsim refuses",
                "1  guessed: size of the machine: that of the largest job"
            ]
        );
    }
}

#[test]
fn a_workload_has_the_size_of_the_machine() {
    let mut text = Vec::new();
    let writer = BatsimWorkload::new(&mut text, BatsimVersion::Five).expect("memory takes it");
    let mut header = SwfHeader::default();
    header.push("MaxProcs", 128);
    let notes = writer.finish(&header).expect("memory takes it");
    let text = String::from_utf8(text).expect("a text");
    assert_eq!(
        (text.as_str(), notes),
        ("{\n\"jobs\": [\n],\n\"profiles\": {\n},\n\"nb_res\": 128\n}\n", Notes::NONE)
    );
    assert_eq!(read(&text).records, []);
}

#[test]
fn the_table_of_jobs_has_their_starts() {
    let mut text = Vec::new();
    let mut writer = BatsimJobs::new(&mut text).expect("memory takes it");
    let mut records = records();
    // It was stopped at its limit.
    records[1].requested_time = Span::from_secs(5);
    let written = records.iter().map(|record| writer.write(record, &[]).expect("memory"));
    assert_eq!(written.collect::<Vec<_>>(), [true, true, true, false]);
    let notes = writer.finish().expect("memory takes it");
    let text = String::from_utf8(text).expect("a text");
    let (names, lines) = text.split_once('\n').expect("lines");
    assert_eq!(names.split(',').count(), 17);
    assert_eq!(
        lines,
        "\
7,w0,delay60.25,0,4,100,1,COMPLETED_SUCCESSFULLY,5,60.25,65.25,5,65.25,1.0829875518672198,,-1,
7,w0,delay5,3,2,5,0,COMPLETED_WALLTIME_REACHED,5,5,10,2,7,1.4,,-1,
8,w0,delay60.25,10,1,30,0,COMPLETED_KILLED,10,60.25,70.25,0,60.25,1,,-1,
"
    );
    assert!(facts(&notes).contains(&"1  dropped: job without a start".to_owned()));
}
