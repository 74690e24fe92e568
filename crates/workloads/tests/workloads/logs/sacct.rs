//! Text of `sacct`: each trap of its accounting.

use haggle_model::{Span, Time};
use haggle_workloads::logs::Options;

use super::{fields, read_all, read_leniently, read_with, refused, utc};

const NAMES: &str = "JobID|JobIDRaw|Submit|Start|End|Elapsed|State|AllocCPUS|ReqCPUS|NNodes|Timelimit|ReqMem|User|Account|QOS|Partition";

/// 10:00 on 2024-01-31.
const TEN: i64 = 1_706_695_200;

fn log(lines: &[&str]) -> String {
    format!("{NAMES}\n{}\n", lines.join("\n"))
}

#[test]
fn the_fields_of_a_job() {
    let text = log(&[
        "7|7|2024-01-31T10:00:00|2024-01-31T10:01:00|2024-01-31T11:01:00|01:00:00|COMPLETED|16|16|2|02:00:00|64Gn|ann|phys|normal|main",
        "8|8|2024-01-31T10:00:10|2024-01-31T10:01:00|2024-01-31T10:02:00|00:01:00|FAILED|4|4|1|1-00:00:00|1Gc|bob|phys|high|main",
    ]);
    let log = read_all(&text);
    assert_eq!(log.records[0].submit, Time::from_secs(TEN));
    assert_eq!(fields(&log.records[0]), "7 60 3600 16 -1 -1 16 7200 8388608 1 1 1 -1 1 1 -1 -1");
    assert_eq!(fields(&log.records[1]), "8 50 60 4 -1 -1 4 86400 1048576 0 2 1 -1 2 1 -1 -1");
    assert_eq!(log.names, ["Queue: 1 normal", "Queue: 2 high", "Partition: 1 main"]);
    let names = [
        "changed: name of a user: a number, in the order of appearance (lines 2, 3)",
        "changed: name of a group: a number, in the order of appearance (lines 2, 3)",
        "dropped: column NNodes (lines 2, 3)",
    ];
    assert_eq!(log.notes, names);
}

/// Records with these values in place of those of a plain job.
fn changed(changes: &[(&str, &str)]) -> super::Read {
    let plain = [
        ("JobIDRaw", "7"),
        ("Submit", "2024-01-31T10:00:00"),
        ("Start", "2024-01-31T10:01:00"),
        ("End", "2024-01-31T11:01:00"),
        ("Elapsed", "01:00:00"),
        ("State", "COMPLETED"),
        ("AllocCPUS", "16"),
        ("Timelimit", "02:00:00"),
    ];
    let mut columns: Vec<(&str, &str)> = plain.to_vec();
    for &(name, value) in changes {
        match columns.iter_mut().find(|it| it.0 == name) {
            Some(column) => column.1 = value,
            None => columns.push((name, value)),
        }
    }
    let (names, values): (Vec<&str>, Vec<&str>) = columns.into_iter().unzip();
    read_all(&format!("{}\n{}\n", names.join("|"), values.join("|")))
}

fn seconds(span: Span) -> i64 {
    span.as_micros() / 1_000_000
}

#[test]
fn steps_are_no_jobs() {
    let line = |id: &str| {
        format!(
            "{id}|{id}|2024-01-31T10:00:00|2024-01-31T10:00:00|2024-01-31T10:01:00|00:01:00|COMPLETED|1|1|1|||||||"
        )
    };
    let text = log(&[&line("7"), &line("7.batch"), &line("7.extern"), &line("7.0"), &line("9")]);
    // The trailing delimiter of `sacct -p`.
    let read = read_all(&text.replacen("Partition", "Partition|", 1));
    assert_eq!(read.records.len(), 2);
    assert!(read.notes.iter().any(|note| note == "dropped: step of a job (lines 3, 4, 5)"));
}

#[test]
fn tasks_of_arrays_and_parts_of_heterogeneous_jobs() {
    let with_raw = changed(&[("JobID", "5_3"), ("JobIDRaw", "7")]);
    assert_eq!(with_raw.records[0].number, 7);
    assert_eq!(with_raw.notes, ["changed: task of an array: a job of its own (line 2)"]);
    let waiting = changed(&[
        ("JobID", "5_[4-9%2]"),
        ("JobIDRaw", "5"),
        ("State", "PENDING"),
        ("Start", "Unknown"),
    ]);
    assert!(waiting.notes[0].contains("tasks of an array that had not started: one job"));
    let part = changed(&[("JobID", "5+1"), ("JobIDRaw", "6")]);
    assert_eq!(part.notes, ["changed: part of a heterogeneous job: a job of its own (line 2)"]);
    // Without raw numbers, they are made.
    let alone = read_all(
        "JobID|Submit|Start|End|AllocCPUS\n5_3|2024-01-31T10:00:00|2024-01-31T10:00:00|2024-01-31T10:01:00|1\n\
         5+1|2024-01-31T10:00:00|2024-01-31T10:00:00|2024-01-31T10:01:00|1\n",
    );
    assert_eq!([alone.records[0].number, alone.records[1].number], [50_000_003, 6]);
    let guess = "guessed: number of a task or part without JobIDRaw: made from its array or job (lines 2, 3)";
    assert!(alone.notes.iter().any(|note| note == guess), "{:?}", alone.notes);
}

#[test]
fn runs_that_were_requeued_are_jobs_of_their_own() {
    let line = |submit: &str, state: &str| {
        format!("7|7|{submit}|2024-01-31T10:30:00|2024-01-31T10:40:00|00:10:00|{state}|1|1|1||||||")
    };
    let text = log(&[
        &line("2024-01-31T10:00:00", "REQUEUED"),
        &line("2024-01-31T10:00:00", "NODE_FAIL"),
        &line("2024-01-31T10:10:00", "COMPLETED"),
    ]);
    let read = read_all(&text);
    assert_eq!(read.records.iter().map(|it| it.status).collect::<Vec<_>>(), [0, 0, 1]);
    let more =
        "changed: one more run of the job above, which was requeued: a job of its own (lines 3, 4)";
    assert!(read.notes.iter().any(|note| note == more), "{:?}", read.notes);
    assert!(read.notes.iter().any(|note| note == "changed: state REQUEUED: status 0 (line 2)"));
}

#[test]
fn jobs_that_have_not_ended() {
    let running = changed(&[("State", "RUNNING"), ("End", "Unknown"), ("Elapsed", "3-00:00:00")]);
    assert_eq!(seconds(running.records[0].run_time), -1);
    assert_eq!((seconds(running.records[0].wait), running.records[0].status), (60, -1));
    assert_eq!(running.notes, ["changed: job that had not ended: run time unknown (line 2)"]);
    let waiting = changed(&[
        ("State", "PENDING"),
        ("Start", "Unknown"),
        ("End", "Unknown"),
        ("Elapsed", "00:00:00"),
    ]);
    assert_eq!((seconds(waiting.records[0].wait), seconds(waiting.records[0].run_time)), (-1, -1));
    assert_eq!(waiting.notes, ["changed: job that had not started: run time unknown (line 2)"]);
}

#[test]
fn jobs_that_were_cancelled_before_they_started() {
    let none = changed(&[
        ("State", "CANCELLED by 1000"),
        ("Start", "None"),
        ("Elapsed", "00:00:00"),
        ("AllocCPUS", "0"),
    ]);
    assert_eq!((seconds(none.records[0].run_time), none.records[0].status), (-1, 5));
    // Some versions write the end as the start.
    let end = changed(&[
        ("State", "CANCELLED+"),
        ("Start", "2024-01-31T11:01:00"),
        ("Elapsed", "00:00:00"),
        ("AllocCPUS", "0"),
    ]);
    assert_eq!((seconds(end.records[0].wait), seconds(end.records[0].run_time)), (-1, -1));
    // This job was cancelled while it ran.
    let ran = changed(&[("State", "CANCELLED by 1000")]);
    assert_eq!((seconds(ran.records[0].run_time), ran.records[0].status), (3_600, 5));
}

#[test]
fn limits_that_are_no_time() {
    for word in ["UNLIMITED", "Partition_Limit"] {
        let read = changed(&[("Timelimit", word)]);
        assert_eq!(seconds(read.records[0].requested_time), -1);
        assert_eq!(
            read.notes,
            [format!("changed: time limit {word}: requested time unknown (line 2)")]
        );
    }
    assert_eq!(seconds(changed(&[("Timelimit", "")]).records[0].requested_time), -1);
    assert_eq!(seconds(changed(&[("TimelimitRaw", "90")]).records[0].requested_time), 5_400);
}

#[test]
fn time_in_which_a_job_was_suspended_is_no_run_time() {
    let read = changed(&[("Elapsed", "00:40:00"), ("Suspended", "00:20:00")]);
    assert_eq!(seconds(read.records[0].run_time), 2_400);
    let note = ["changed: job that was suspended: its run time is without that time (line 2)"];
    assert_eq!(read.notes, note);
    let without = "JobIDRaw|Submit|Start|End|Suspended|ReqCPUS\n\
                   7|2024-01-31T10:00:00|2024-01-31T10:01:00|2024-01-31T11:01:00|00:20:00|4\n";
    assert_eq!(seconds(read_all(without).records[0].run_time), 2_400);
}

#[test]
fn memory_of_processors_nodes_and_jobs() {
    let memory = |amount: &str| {
        let read = changed(&[("ReqMem", amount), ("NNodes", "2")]);
        (read.records[0].requested_memory, read.notes[0].split(':').next().map(str::to_owned))
    };
    let dropped = Some("dropped".to_owned());
    assert_eq!(memory("2Gc"), (2 << 20, dropped.clone()));
    assert_eq!(memory("64Gn"), (8 << 20, dropped.clone()));
    assert_eq!(memory("0n"), (-1, dropped));
    assert_eq!(memory("32G"), (2 << 20, Some("guessed".to_owned())));
    assert_eq!(memory("2147486448Mn"), (2_800 << 10, Some("changed".to_owned())));
}

#[test]
fn any_delimiter_and_texts_that_contain_it() {
    for delimiter in ["|", ";", "\u{2603}", "||", "\t"] {
        let text = "JobIDRaw|Submit|JobName|Start|End|AllocCPUS\n7|2024-01-31T10:00:00|a|2024-01-31T10:01:00|2024-01-31T11:01:00|4\n";
        let read = read_all(&text.replace('|', delimiter));
        assert_eq!(fields(&read.records[0]), "7 60 3600 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1");
    }
    let keep = Options { keep: vec!["JobName".to_owned()], ..utc() };
    let line = |name: &str| {
        format!(
            "JobIDRaw|Submit|JobName|Start|End|AllocCPUS\n7|2024-01-31T10:00:00|{name}|2024-01-31T10:01:00|2024-01-31T11:01:00|4\n"
        )
    };
    let read = read_with(&line("train|big|5"), &keep).expect("one text");
    assert_eq!(read.further, [["train|big|5"]]);
    assert_eq!(read.notes, ["changed: delimiter within JobName: its parts joined (line 2)"]);
    // Both texts may contain it.
    let both = line("a|b").replace("JobName", "JobName|Comment").replace("a|b|", "a|b|c|");
    let error = refused(&both);
    assert!(
        error.starts_with("a.log:2: expected 7 fields, found 8; a text contains the delimiter"),
        "{error}"
    );
}

#[test]
fn local_times_with_summer_time() {
    let zone =
        Options { zone: Some("Europe/Berlin".parse().expect("a zone")), ..Options::default() };
    // The job starts in the second 02:30 of this night, because it was submitted in the first 02:50.
    let text = "JobIDRaw|Submit|Start|End|AllocCPUS\n\
                7|2024-10-27T02:50:00|2024-10-27T02:30:00|2024-10-27T02:45:00|4\n\
                8|2024-03-31T02:30:00|2024-03-31T03:30:00|2024-03-31T03:45:00|4\n";
    let read = read_with(text, &zone).expect("a good log");
    assert_eq!((seconds(read.records[0].wait), seconds(read.records[0].run_time)), (2_400, 900));
    assert_eq!(seconds(read.records[1].wait), 0);
    assert_eq!(read.notes.len(), 2, "{:?}", read.notes);
    assert!(read.notes[0].starts_with("guessed: local time that occurs twice"));
    assert!(read.notes[1].starts_with("changed: local time that summer time skips"));
    let unknown = read_with(text, &Options::default()).expect("a good log");
    assert_eq!(
        unknown.notes[0],
        "guessed: local time of an unknown zone: taken as UTC (lines 2, 3)"
    );
}

#[test]
fn seconds_since_1970_need_no_zone() {
    let text = "JobIDRaw|Submit|Start|End|AllocCPUS\n7|1706695200|1706695260|1706695320|4\n";
    let read = read_with(text, &Options::default()).expect("a good log");
    assert_eq!((read.records[0].submit, read.notes.len()), (Time::from_secs(TEN), 0));
}

#[test]
fn logs_without_a_line_of_names() {
    let columns = ["JobIDRaw", "Submit", "Start", "End", "AllocCPUS"].map(str::to_owned).to_vec();
    let named =
        Options { columns, format: Some(haggle_workloads::logs::LogFormat::Sacct), ..utc() };
    let text = "7|1706695200|1706695260|1706695320|4\n";
    assert_eq!(read_with(text, &named).map(|log| log.records.len()), Ok(1));
    let unnamed = Options { columns: Vec::new(), ..named };
    let error = read_with(text, &unnamed).map(|_| ()).expect_err("no names");
    assert!(error.starts_with("a.log:1: the first line has no names of fields"), "{error}");
}

#[test]
fn files_that_were_joined_repeat_the_names() {
    let part = "JobIDRaw|Submit|Start|End|AllocCPUS\n7|1706695200|1706695260|1706695320|4\n";
    let read = read_all(&part.repeat(2));
    assert_eq!(read.records.len(), 2);
    assert_eq!(read.notes[0], "dropped: line of names again (line 3)");
}

#[test]
fn malformed_lines_are_named_and_can_be_skipped() {
    let good = "7|1706695200|1706695260|1706695320|4\n";
    let names = "JobIDRaw|Submit|Start|End|AllocCPUS\n";
    let bad = |from: &str, to: &str| format!("{names}{good}{}", good.replacen(from, to, 1));
    assert_eq!(
        refused(&bad("1706695260", "soon")),
        "a.log:3:14: Start: expected a time such as 2024-01-31T10:54:00, or seconds since 1970, found \"soon\""
    );
    assert_eq!(
        refused(&bad("|4", "")),
        "a.log:3: expected 5 fields, found 4; the line is cut, or a text of the log has a line break"
    );
    assert_eq!(
        refused(&bad("7|", "x|")),
        "a.log:3:1: JobIDRaw: expected the number of a job, such as 1234, 1234_5 or 1234.batch, found \"x\""
    );
    let read = read_leniently(&bad("|4", ""));
    assert_eq!((read.records.len(), read.skipped.len()), (1, 1));
    let error = refused("JobID|Submit|Start|AllocCPUS\n");
    assert!(
        error.starts_with("a.log:1: no field End; ask sacct for it, such as by `sacct -a -X -P"),
        "{error}"
    );
    let error = refused("JobID                      Submit      State\n-----   ------\n");
    assert!(
        error.contains("columns of a fixed width, which cut values; write the log by `sacct -P`"),
        "{error}"
    );
    let error =
        read_with(&bad("", ""), &Options { keep: vec!["QOS".to_owned()], ..utc() }).map(|_| ());
    assert_eq!(
        error,
        Err("a.log:1: no column \"QOS\" to keep; the log has JobIDRaw, Submit, Start, End, AllocCPUS".to_owned())
    );
}
