//! `haggle workload`: inspects logs, converts, generates and scales them.

use std::fs;

use crate::command::{Folder, json_of};

/// Five lines: one cancelled, one that exceeded its request, and one that ran for no time.
const LOG: &str = "\
; Computer: Test machine
; MaxProcs: 8
; UnixStartTime: 1000
1 100 5 60 2 -1 -1 2 90 -1 1 1 -1 -1 1 -1 -1 -1
2 200 5 -1 -1 -1 -1 4 90 -1 5 2 -1 -1 1 -1 -1 -1
3 300 5 120 4 -1 -1 4 90 -1 1 2 -1 -1 1 -1 -1 -1
4 400 5 0 8 -1 -1 8 90 -1 1 1 -1 -1 2 -1 -1 -1
5 500 5 60 1 -1 -1 -1 -1 -1 1 1 -1 -1 2 -1 -1 -1
";

/// The same with a truncated line and one with other contents.
fn broken() -> String {
    let mut lines: Vec<&str> = LOG.lines().collect();
    lines.insert(4, "2 150 5 60 2");
    lines.insert(6, "2 x 5 -1 -1 -1 -1 4 90 -1 5 2 -1 -1 1 -1 -1 -1");
    lines.join("\n") + "\n"
}

#[test]
fn a_log_is_described() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    insta::assert_snapshot!(folder.haggle(&["workload", "inspect", "log.swf"]), @r#"
    exit code: 0
    ----- stdout -----
    log            log.swf
    computer       Test machine
    processors     8
    jobs           4
    users          2
    span           6.67 min
    offered load   0.171 by run time, 0.412 by requested time
    sizes          25% serial, 75% a power of two
    requests       1 exact, 1 exceeded, 0 missing

                          values      mean       min    median       90%       99%       max
    run time, s                4      52.8         1        60        90        90        90
    requested time, s          4      82.5        60        90        90        90        90
    processors                 4      3.75         1         2         8         8         8
    gap, s                     3     133.3       100       100       200       200       200
    accuracy, %                4      67.0      1.10      66.7       100       100       100

            5  job lines read
            1  cancelled before it started: dropped
            1  processors not requested: allocated taken
            1  run time 0: taken as 1 s
            1  requested time unknown: run time taken
            1  ran over the request: cut to it
            4  jobs kept
    ----- stderr -----
    "#);
}

#[test]
fn a_description_can_be_json() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let shown = folder.haggle(&["workload", "inspect", "--json", "--processors", "4", "log.swf"]);
    let json = json_of(&shown);
    assert_eq!(json["computer"], "Test machine");
    assert_eq!(json["statistics"]["machine_size"], 4);
    assert_eq!(json["statistics"]["jobs"], 4);
    assert_eq!(json["cleaning"]["lines"], 5);
}

#[test]
fn rules_can_be_chosen() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let arguments = ["workload", "convert", "--rules", "canonical", "--cancelled", "drop"];
    let shown = folder.haggle(&[&arguments[..], &["log.swf", "-"]].concat());
    insta::assert_snapshot!(shown, @r#"
    exit code: 0
    ----- stdout -----
    ; Computer: Test machine
    ; MaxProcs: 8
    ; UnixStartTime: 1100
    ; Note: converted by haggle 0.2.0 under preset = "canonical", cancelled = "drop"; time zero is 100 s after that of the original
    1 0 5 60 2 -1 -1 2 90 -1 1 1 -1 -1 1 -1 -1 -1
    3 200 5 90 4 -1 -1 4 90 -1 1 2 -1 -1 1 -1 -1 -1
    ----- stderr -----
            5  job lines read
            1  cancelled before it started: dropped (line 5)
            1  run time 0: dropped (line 7)
            1  requested time unknown: dropped (line 8)
            1  ran over the request: cut to it (line 6)
            2  jobs kept
            2  jobs written
    "#);
}

#[test]
fn malformed_lines_are_refused_with_their_place() {
    let folder = Folder::with(&[("log.swf", &broken())]);
    insta::assert_snapshot!(folder.haggle(&["workload", "inspect", "log.swf"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: log.swf:5: expected 18 fields, found 5

    hint: add --lenient to leave such lines out and count them
    "#);
}

#[test]
fn malformed_lines_are_skipped_and_counted() {
    let folder = Folder::with(&[("log.swf", &broken())]);
    let shown = folder.haggle(&["workload", "convert", "--lenient", "log.swf", "out.swf"]);
    insta::assert_snapshot!(shown, @r#"
    exit code: 0
    ----- stdout -----
    ----- stderr -----
            7  job lines read
            2  malformed line: skipped
            1  cancelled before it started: dropped (line 6)
            1  processors not requested: allocated taken (line 10)
            1  run time 0: taken as 1 s (line 9)
            1  requested time unknown: run time taken (line 10)
            1  ran over the request: cut to it (line 8)
               log.swf:5: expected 18 fields, found 5
               log.swf:7:3: field 2 (submit time): expected a number, found "x"
            4  jobs kept
            4  jobs written
    "#);
}

#[test]
fn logs_that_are_none_are_refused() {
    let folder = Folder::with(&[
        ("empty.swf", ""),
        ("header.swf", "; MaxProcs: 8\n"),
        ("cancelled.swf", "1 0 -1 -1 -1 -1 -1 4 90 -1 5 2 -1 -1 1 -1 -1 -1\n"),
        ("unsorted.swf", &LOG.replace("\n4 400", "\n4 40")),
    ]);
    let garbage: Vec<u8> = (0..200_u8).map(|byte| byte.wrapping_mul(37)).collect();
    fs::write(folder.path().join("garbage.swf"), garbage).expect("it can be written");
    fs::write(folder.path().join("cut.swf.gz"), [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 75])
        .expect("it can be written");
    let names = ["missing", "empty", "header", "cancelled", "unsorted", "garbage"];
    let names = names.map(|name| format!("{name}.swf"));
    let shown: String = names
        .iter()
        .map(String::as_str)
        .chain(["cut.swf.gz", "."])
        .map(|name| folder.haggle(&["workload", "inspect", name]))
        .collect();
    insta::assert_snapshot!(shown, @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: missing.swf: cannot open the log: No such file or directory (os error 2)

    hint: logs are in the Parallel Workloads Archive (https://www.cs.huji.ac.il/labs/parallel/workload/); `haggle workload generate --jobs 2000 --processors 64 log.swf.gz` generates one
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: empty.swf: log holds no jobs
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: header.swf: log holds no jobs
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: cancelled.swf: log holds no jobs that can be used: the rules dropped all 1 lines

    hint: the options under "Rules for the log" in --help keep more
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: unsorted.swf:7: job 4 was submitted at 40 s, before the job above it (300 s); set the order rule to sort

    hint: add --order sort to sort the log
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: garbage.swf:1: expected 18 fields, found 5

    hint: add --lenient to leave such lines out and count them
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: cut.swf.gz: cannot read on: incomplete deflate stream
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: .: cannot open the log: it is a folder, and not a file
    "#);
}

#[test]
fn an_output_that_exists_is_kept() {
    let folder = Folder::with(&[("log.swf", LOG), ("out.swf", "precious\n")]);
    let convert = ["workload", "convert", "log.swf", "out.swf"];
    insta::assert_snapshot!(folder.haggle(&convert), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `out.swf` exists already

    hint: add --force to overwrite it
    "#);
    assert_eq!(folder.read("out.swf"), "precious\n");
    let forced = folder.haggle(&[&convert[..], &["--force"]].concat());
    assert!(forced.starts_with("exit code: 0\n"), "{forced}");
    assert!(folder.read("out.swf").starts_with("; Computer: Test machine\n"));
}

#[test]
fn nothing_is_left_of_an_output_that_failed() {
    let folder = Folder::with(&[("log.swf", &broken())]);
    let shown = folder.haggle(&["workload", "convert", "log.swf", "out.swf"]);
    assert!(shown.starts_with("exit code: 3\n"), "{shown}");
    let nowhere = folder.haggle(&["workload", "convert", "--lenient", "log.swf", "no/out.swf"]);
    insta::assert_snapshot!(nowhere, @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: cannot write `no/out.swf`: No such file or directory (os error 2)
    "#);
    assert_eq!(folder.names(), ["log.swf"]);
}

#[test]
fn packed_logs_read_back_the_same() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let jobs = |log| {
        let shown = folder.haggle(&["workload", "convert", log, "-"]);
        let lines = shown.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(jobs("log.swf").len(), 4);
    for (packed, start) in [("out.swf.gz", [0x1f, 0x8b]), ("out.swf.zst", [0x28, 0xb5])] {
        folder.haggle(&["workload", "convert", "log.swf", packed]);
        let bytes = fs::read(folder.path().join(packed)).expect("it was written");
        assert_eq!(bytes[..2], start);
        assert_eq!(jobs(packed), jobs("log.swf"));
    }
}

#[test]
fn pipes_are_read_and_written() {
    let folder = Folder::with(&[]);
    let generate = ["workload", "generate", "--jobs", "20", "--processors", "8", "-"];
    let generated = folder.haggle(&generate);
    let log = generated.split("----- stdout -----\n").nth(1).unwrap_or_default();
    let log = log.split("----- stderr").next().unwrap_or_default();
    let shown = folder.haggle_reading(log, &["workload", "inspect", "-"]);
    let facts: Vec<&str> = shown.lines().take(6).collect();
    insta::assert_snapshot!(facts.join("\n"), @r#"
    exit code: 0
    ----- stdout -----
    log            standard input
    computer       Lublin-Feitelson model
    processors     8
    jobs           20
    "#);
}

#[test]
fn a_window_behind_the_log_has_no_jobs() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let scale = ["workload", "scale", "log.swf", "out.swf", "--load", "2"];
    let window = ["--window", "1h", "--from", "1d"];
    insta::assert_snapshot!(folder.haggle(&[&scale[..], &window].concat()), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: no job to write to `out.swf`: the window is empty

    hint: `haggle workload inspect` shows how long the log is; --from and --window must lie in it
    "#);
    assert_eq!(folder.names(), ["log.swf"]);
}

#[test]
fn loads_are_scaled_in_two_ways() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let scale = ["workload", "scale", "log.swf", "-"];
    let gaps = folder.haggle(&[&scale[..], &["--load", "2"]].concat());
    let stretched = folder.haggle(&[&scale[..], &["--stretch", "0.5"]].concat());
    assert_eq!(gaps, stretched);
    insta::assert_snapshot!(gaps, @r#"
    exit code: 0
    ----- stdout -----
    ; Computer: Test machine
    ; MaxProcs: 8
    ; UnixStartTime: 1100
    ; Note: scaled by haggle 0.2.0: all gaps multiplied by 0.5; time zero is 100 s after that of the original
    1 0 -1 60 2 -1 -1 2 90 -1 1 1 -1 -1 1 -1 -1 -1
    3 100 -1 90 4 -1 -1 4 90 -1 1 2 -1 -1 1 -1 -1 -1
    4 150 -1 1 8 -1 -1 8 90 -1 1 1 -1 -1 2 -1 -1 -1
    5 200 -1 60 1 -1 -1 1 60 -1 1 1 -1 -1 2 -1 -1 -1
    ----- stderr -----
            5  job lines read
            1  cancelled before it started: dropped
            1  processors not requested: allocated taken
            1  run time 0: taken as 1 s
            1  requested time unknown: run time taken
            1  ran over the request: cut to it
            4  jobs kept
            4  jobs written
    "#);
    let window = ["--load", "2", "--window", "100s", "--from", "200s"];
    insta::assert_snapshot!(folder.haggle(&[&scale[..], &window].concat()), @r#"
    exit code: 0
    ----- stdout -----
    ; Computer: Test machine
    ; MaxProcs: 8
    ; UnixStartTime: 1300
    ; Note: scaled by haggle 0.2.0: a window of 100s from 200s on filled 2 times; time zero is 300 s after that of the original
    3 0 -1 90 4 -1 -1 4 90 -1 1 2 -1 -1 1 -1 -1 -1
    4 50 -1 1 8 -1 -1 8 90 -1 1 1 -1 -1 2 -1 -1 -1
    ----- stderr -----
            5  job lines read
            1  cancelled before it started: dropped
            1  processors not requested: allocated taken
            1  run time 0: taken as 1 s
            1  requested time unknown: run time taken
            1  ran over the request: cut to it
            4  jobs kept
            2  jobs written
    "#);
}

#[test]
fn loads_need_a_factor() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let shown = folder.haggle(&["workload", "scale", "log.swf", "-", "--load", "0"]);
    insta::assert_snapshot!(shown, @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value '0' for '--load <FACTOR>': expected a number above 0

    For more information, try '--help'.
    "#);
}

#[test]
fn generated_workloads_repeat() {
    let folder = Folder::with(&[]);
    let generate = ["workload", "generate", "--jobs", "3", "--processors", "8"];
    let shown = folder.haggle(&[&generate[..], &["--load", "0.7", "-"]].concat());
    insta::assert_snapshot!(shown, @r#"
    exit code: 0
    ----- stdout -----
    ; Version: 2.2
    ; Computer: Lublin-Feitelson model
    ; MaxJobs: 3
    ; MaxRecords: 3
    ; MaxProcs: 8
    ; Note: generated by haggle 0.2.0: one class of jobs, start hour 0, seed 1, name generated, load 0.7
    1 18775 -1 21909 2 -1 -1 2 21909 -1 1 -1 -1 -1 0 -1 -1 -1
    2 31242 -1 13726 2 -1 -1 2 13726 -1 1 -1 -1 -1 0 -1 -1 -1
    3 31614 -1 313 2 -1 -1 2 313 -1 1 -1 -1 -1 0 -1 -1 -1
    ----- stderr -----
    "#);
    assert_eq!(folder.haggle(&[&generate[..], &["--load", "0.7", "-"]].concat()), shown);
    let other = folder.haggle(&[&generate[..], &["--seed", "2", "-"]].concat());
    assert_ne!(other, shown);
}

#[test]
fn histograms_are_drawn_into_files_of_their_own() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let arguments = ["workload", "inspect", "log.swf", "--figure", "log.svg"];
    let shown = folder.haggle(&arguments);
    let stderr = shown.split("----- stderr -----\n").nth(1).unwrap_or_default();
    insta::assert_snapshot!(stderr, @r#"
    drew log-run-time.svg
    drew log-requested-time.svg
    drew log-processors.svg
    drew log-accuracy.svg
    drew log-hour.svg
    drew log-weekday.svg
    drew log-week.svg
    "#);
    assert!(folder.read("log-hour.svg").contains("<svg"));
    insta::assert_snapshot!(folder.haggle(&arguments), @r#"
    exit code: 4
    ----- stdout -----
    ----- stderr -----
    error: `log-run-time.svg` exists already

    hint: add --force to overwrite it
    "#);
    let shown = folder.haggle(&["workload", "inspect", "log.swf", "--figure", "log.jpg"]);
    insta::assert_snapshot!(shown, @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: `log.jpg` is no name of a figure: it must end in .png, .svg or .pdf
    "#);
}

/// Out of order, with waiting times, processor times and three kinds of status; a thousand processors.
const RECORDED: &str = "\
; MaxProcs: 1,024
3 60 7 10 1 8.5 100 2 20 200 5 1 1 -1 1 1 -1 -1
1 0 3 10 1 9.5 100 2 20 200 0 1 1 -1 1 1 -1 -1
2 30 9 10 1 9.5 100 600 20 200 1 1 1 -1 1 1 -1 0
";

#[test]
fn what_is_converted_keeps_all_fields() {
    let folder = Folder::with(&[("log.swf", RECORDED)]);
    let shown = folder.haggle(&["workload", "convert", "log.swf", "sorted.swf", "--order", "sort"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let written = folder.read("sorted.swf");
    let jobs: Vec<&str> = written.lines().filter(|line| !line.starts_with(';')).collect();
    let lines: Vec<&str> = RECORDED.lines().collect();
    assert_eq!(jobs, [lines[2], lines[3], lines[1]]);
    let replayed = folder.haggle(&["replay", "sorted.swf", "--policy", "easy"]);
    let waits = replayed.lines().find(|line| line.contains("mean waiting time"));
    assert!(waits.is_some_and(|line| line.ends_with("6.33")), "{replayed}");
    // A think time of 0 alone has no meaning, and all jobs fit.
    assert!(!replayed.contains("warning"), "{replayed}");
    // Waiting times depend on the load of the log, so they are dropped.
    let scaled = folder.haggle(&["workload", "scale", "sorted.swf", "-", "--stretch", "0.5"]);
    assert!(scaled.contains("\n1 0 -1 10 1 9.5 100 2 20 200 0 1 1"), "{scaled}");
}

#[test]
fn columns_behind_the_eighteenth_are_told() {
    let log = "1 20 0 1200 1 -1 3145728 1 1200 3145728 1 1 1 1 1 1 -1 0\tDAG-1\t1\n\
               2 20 0 2100 5 -1 15728640 5 2100 15728640 1 1 1 1 1 1 1 0\tDAG-1\t2\n";
    let folder = Folder::with(&[("log.swf", log)]);
    let shown = folder.haggle(&["replay", "log.swf", "--processors", "16", "--policy", "fcfs"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let told = "lines of the log have more than 18 columns (2 of them)";
    assert!(shown.contains(told), "{shown}");
    assert!(shown.contains("1 job names a preceding job"), "{shown}");
    let shown = folder.haggle(&["workload", "inspect", "log.swf"]);
    assert!(shown.contains("2  of the lines with more than 18 columns"), "{shown}");
}

#[test]
fn texts_of_other_tools_are_read() {
    let folder = Folder::with(&[("log.swf", LOG)]);
    let of = |name: &str| folder.haggle(&["workload", "convert", name, "-"]);
    let plain = of("log.swf");
    let text: Vec<u8> = LOG.encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(folder.path().join("wide.swf"), [&[0xff, 0xfe], &text[..]].concat())
        .expect("it can be written");
    folder.haggle(&["workload", "convert", "log.swf", "packed.swf.gz", "--origin", "log"]);
    let mut packed = fs::read(folder.path().join("packed.swf.gz")).expect("it is there");
    packed.extend([0; 1_024]);
    fs::write(folder.path().join("padded.swf.gz"), packed).expect("it can be written");
    assert_eq!(of("wide.swf"), plain);
    assert_eq!(of("padded.swf.gz"), of("packed.swf.gz"));
}

#[test]
fn a_load_in_per_cent_is_warned_about() {
    let folder = Folder::with(&[]);
    let generate =
        |load| ["workload", "generate", "--jobs", "20", "--processors", "8", "--load", load, "-"];
    let shown = folder.haggle(&generate("80"));
    let warned = "warning: --load 80 is 8000 % of the machine";
    assert!(shown.starts_with("exit code: 0\n") && shown.contains(warned), "{shown}");
    assert!(!folder.haggle(&generate("0.8")).contains("warning"));
}
