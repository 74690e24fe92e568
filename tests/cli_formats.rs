//! Logs of jobs in other formats: `haggle workload` and scenarios read them, `haggle workload convert` lists
//! what was dropped, changed and guessed.

use crate::command::{Folder, json_of, refused, stdout_of, succeeds};

const SACCT: &str = "\
JobID|JobIDRaw|JobName|Submit|Start|End|State|AllocCPUS|Timelimit|User|Partition
5|5|train one|2024-07-01T10:00:00|2024-07-01T10:00:30|2024-07-01T11:00:30|COMPLETED|16|02:00:00|ann|main
5.batch|5.batch|batch|2024-07-01T10:00:30|2024-07-01T10:00:30|2024-07-01T11:00:30|COMPLETED|16||ann|
6_1|7|a|2024-07-01T10:01:00|2024-07-01T10:02:00|Unknown|RUNNING|4|UNLIMITED|bob|gpu
8|8||2024-07-01T10:05:00|2024-07-01T10:06:00|2024-07-01T10:16:00|TIMEOUT|8|00:10:00|ann|gpu
";

#[test]
fn output_of_sacct_is_converted_and_the_changes_are_listed() {
    let folder = Folder::with(&[("jobs.txt", SACCT)]);
    let convert = ["workload", "convert", "--time-zone", "Europe/Berlin", "jobs.txt"];
    insta::assert_snapshot!(folder.haggle(&[&convert[..], &["-"]].concat()), @r#"
    exit code: 0
    ----- stdout -----
    ; Version: 2.2
    ; UnixStartTime: 1719820800
    ; TimeZone: 3600
    ; TimeZoneString: Europe/Berlin
    ; Partition: 1 main
    ; Partition: 2 gpu
    ; Note: converted by haggle 0.2.0 under the rules "careful"; time zero is 1719820800 s after that of the original
    5 0 30 3600 16 -1 -1 16 7200 -1 1 1 -1 -1 -1 1 -1 -1
    8 300 60 600 8 -1 -1 8 600 -1 0 1 -1 -1 -1 2 -1 -1
    ----- stderr -----
            3  job lines read
            2  dropped: column JobName (lines 2, 4)
            1  dropped: step of a job (line 3)
            3  changed: name of a user: a number, in the order of appearance (lines 2, 4, 5)
            1  changed: task of an array: a job of its own (line 4)
            1  changed: time limit UNLIMITED: requested time unknown (line 4)
            1  changed: job that had not ended: run time unknown (line 4)
            1  changed: state TIMEOUT: status 0 (line 5)
            3  processors not requested: allocated taken (lines 2, 4, 5)
            1  run time unknown: dropped (line 4)
            2  jobs kept
            2  jobs written
    "#);
    let keep =
        folder.haggle(&[&convert[..], &["--keep", "JobName", "--json", "kept.swf"]].concat());
    let json = json_of(&keep);
    assert_eq!(json["notes"][0]["fact"], "step of a job");
    assert_eq!(json["notes"][0]["lines"][0], 3);
    assert_eq!((&json["lines"], &json["written"]), (&3.into(), &2.into()));
    insta::assert_snapshot!(folder.read("kept.swf"), @r#"
    ; Version: 2.2
    ; UnixStartTime: 1719820800
    ; TimeZone: 3600
    ; TimeZoneString: Europe/Berlin
    ; ExtraColumns: JobName
    ; Partition: 1 main
    ; Partition: 2 gpu
    ; Note: converted by haggle 0.2.0 under the rules "careful"; time zero is 1719820800 s after that of the original
    5 0 30 3600 16 -1 -1 16 7200 -1 1 1 -1 -1 -1 1 -1 -1 train_one
    8 300 60 600 8 -1 -1 8 600 -1 0 1 -1 -1 -1 2 -1 -1 -1
    "#);
    // The columns are those of the new log.
    let again = folder.haggle(&["workload", "convert", "kept.swf", "-"]);
    assert!(again.contains("; ExtraColumns: JobName\n"), "{again}");
    assert!(again.contains(" -1 -1 train_one\n"), "{again}");
}

#[test]
fn columns_behind_the_eighteenth_are_kept_and_named() {
    let line = "1 0 -1 60 2 -1 -1 2 90 -1 1 3 4 5 6 7 -1 -1 4 frontier:1x2";
    let folder = Folder::with(&[("log.swf", &format!("; MaxProcs: 8\n{line}\n"))]);
    let shown = folder.haggle(&["workload", "convert", "log.swf", "-", "--columns", "gpus,system"]);
    insta::assert_snapshot!(shown, @r#"
    exit code: 0
    ----- stdout -----
    ; MaxProcs: 8
    ; ExtraColumns: gpus system
    ; Note: converted by haggle 0.2.0 under the rules "careful"
    1 0 -1 60 2 -1 -1 2 90 -1 1 3 4 5 6 7 -1 -1 4 frontier:1x2
    ----- stderr -----
            1  job lines read
            1  jobs kept
            1  jobs written
    "#);
}

#[test]
fn settings_that_have_no_effect_on_a_log_are_refused() {
    let folder = Folder::with(&[
        ("jobs.txt", SACCT),
        ("log.swf", "1 0 -1 60 2 -1 -1 2 90 -1 1 3 4 5 6 7 -1 -1\n"),
    ]);
    let shown: String = [
        &["workload", "convert", "--json", "jobs.txt", "-"][..],
        &["workload", "convert", "--keep", "all", "log.swf", "-"],
        &["workload", "inspect", "--columns", "a,b", "log.swf"],
        &["workload", "inspect", "--time-zone", "Berlin", "jobs.txt"],
        &["workload", "convert", "--keep", "Name", "jobs.txt", "-"],
        &["workload", "convert", "--log-format", "sacct", "log.swf", "-"],
    ]
    .map(|arguments| folder.haggle(arguments))
    .concat();
    insta::assert_snapshot!(shown, @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: standard output cannot have both the log and the list of --json
    
    hint: write the log into a file
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: log.swf: a log in Standard Workload Format keeps all of its columns, so no columns to keep can be chosen
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: --columns names the fields of a log of sacct without a line of names
    
    hint: add --log-format sacct, or remove --columns
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: invalid value 'Berlin' for '--time-zone <ZONE>': `Berlin` is not a time zone: write a name such as "Europe/Berlin" or "UTC", or an offset such as "+01:00"
    
    For more information, try '--help'.
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: jobs.txt:1: no column "Name" to keep; the log has JobID, JobIDRaw, JobName, Submit, Start, End, State, AllocCPUS, Timelimit, User, Partition
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: log.swf:1: the first line has no names of fields; write the log without `-n` of sacct, or name its fields (`columns`)
    "#);
}

#[test]
fn scenarios_and_replays_read_other_formats() {
    let scenario = "\
[[workload]]
name = \"jobs\"
log = \"jobs.txt\"
reading = { format = \"sacct\", time-zone = \"Europe/Berlin\" }

[[provider]]
name = \"cluster\"
processors = 16

[[user]]
name = \"users\"
workload = \"jobs\"
submits-to = \"cluster\"
";
    let folder = Folder::with(&[
        ("jobs.txt", SACCT),
        ("good.toml", scenario),
        ("zone.toml", &scenario.replace("Europe/Berlin", "Berlin")),
        (
            "columns.toml",
            &scenario
                .replace("time-zone = \"Europe/Berlin\"", "columns = [\"a\"]")
                .replace("sacct", "swf"),
        ),
        ("none.toml", &scenario.replace("log = \"jobs.txt\"", "jobs = []")),
    ]);
    let run = folder.haggle(&["run", "good.toml", "--quiet"]);
    assert!(run.starts_with("exit code: 0"), "{run}");
    let replay = ["replay", "jobs.txt", "--policy", "easy", "--processors", "16"];
    let shown = folder.haggle(&replay);
    assert!(shown.contains("1  dropped: step of a job (line 3)"), "{shown}");
    assert!(shown.contains("guessed: local time of an unknown zone: taken as UTC"), "{shown}");
    let zoned = folder.haggle(&[&replay[..], &["--time-zone", "Europe/Berlin"]].concat());
    assert!(zoned.starts_with("exit code: 0") && !zoned.contains("unknown zone"), "{zoned}");
    let columns = folder.haggle(&[&replay[..], &["--columns", "a"]].concat());
    assert!(columns.contains("hint: add --log-format sacct, or remove --columns"), "{columns}");
    let refused = ["zone.toml", "columns.toml", "none.toml"]
        .map(|name| folder.haggle(&["validate", name]))
        .concat();
    insta::assert_snapshot!(refused, @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × `Berlin` is not a time zone
       ╭─[zone.toml:4:43]
     4 │ reading = { format = "sacct", time-zone = "Berlin" }
       ·                                           ────┬───
       ·                                               ╰── cannot be read
       ╰────
      help: write a name such as "Europe/Berlin" or "UTC", or an offset such as "+01:00"
    
    error: zone.toml has 1 problem
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × `columns` names the fields of a log of sacct without a line of names
       ╭─[columns.toml:4:39]
     4 │ reading = { format = "swf", columns = ["a"] }
       ·                                       ──┬──
       ·                                         ╰── not used
       ╰────
      help: add `format = "sacct"`, or remove `columns`
    
    error: columns.toml has 1 problem
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × workload "jobs" has `reading`, but no log
       ╭─[none.toml:4:11]
     4 │ reading = { format = "sacct", time-zone = "Europe/Berlin" }
       ·           ────────────────────────┬────────────────────────
       ·                                   ╰── not used
       ╰────
      help: remove it, or put it under the workload that reads the log
    
    error: none.toml has 1 problem
    "#);
}

#[test]
fn each_format_is_recognised_by_its_content() {
    let json = "{\"jobs\": [{\"job_id\": 7, \"state\": {\"current\": [\"COMPLETED\"]}, \"time\": {\"submission\": 100, \
                \"start\": 160, \"end\": 220, \"elapsed\": 60, \"limit\": {\"set\": true, \"infinite\": false, \"number\": 2}}, \
                \"required\": {\"CPUs\": 4}}], \"meta\": {}}";
    let pbs = "01/31/2024 11:01:00;E;7.srv;user=ann ctime=100 start=160 end=220 Resource_List.ncpus=4 \
               Resource_List.walltime=00:02:00 Exit_status=0\n";
    let gwf = "# JobID SubmitTime ...\n7 100 60 60 4 -1 -1 4 120 -1 1 1 1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n";
    let batsim = "{\"jobs\": [{\"id\": 7, \"subtime\": 100, \"res\": 4, \"walltime\": 120, \"profile\": \"a\"}], \
                  \"profiles\": {\"a\": {\"type\": \"delay\", \"delay\": 60}}, \"nb_res\": 4}";
    let table = "id,at,begin,length,n\n7,100,160,1,4\n";
    let mapping = "[columns]\nnumber = \"id\"\nsubmit = \"at\"\nstart = \"begin\"\nrun = { column = \"length\", unit = \"min\" }\n\
                   requested-processors = \"n\"\n";
    let folder = Folder::with(&[
        ("jobs.json", json),
        ("jobs.pbs", pbs),
        ("jobs.gwf", gwf),
        ("batsim.json", batsim),
        ("jobs.csv", table),
        ("site.toml", mapping),
        ("bad.toml", "[columns]\nsubmits = \"at\"\n"),
    ]);
    for arguments in [
        &["jobs.json"][..],
        &["jobs.pbs"],
        &["jobs.gwf"],
        &["batsim.json"],
        &["jobs.csv", "--mapping", "site.toml"],
    ] {
        let shown = folder.haggle(&[&["workload", "convert"], arguments, &["-"]].concat());
        assert!(shown.starts_with("exit code: 0"), "{shown}");
        let wait = if arguments == ["batsim.json"] { -1 } else { 60 };
        assert!(shown.contains(&format!("\n7 0 {wait} 60 ")), "{shown}");
        let replay = [&["replay"], arguments, &["--processors", "4", "--policy", "easy"]].concat();
        let shown = folder.haggle(&replay);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
        let (log, mapping) = (arguments[0], arguments.get(2));
        let reading = mapping.map_or(String::new(), |file| format!("mapping = \"{file}\""));
        let scenario = format!(
            "[[workload]]\nname = \"jobs\"\nlog = \"{log}\"\nreading = {{ {reading} }}\n\n[[provider]]\n\
             name = \"cluster\"\nprocessors = 4\n\n[[user]]\nname = \"users\"\nworkload = \"jobs\"\n\
             submits-to = \"cluster\"\n"
        );
        std::fs::write(folder.path().join("named.toml"), scenario).expect("a folder of our own");
        let shown = folder.haggle(&["run", "named.toml", "--quiet", "--force", "-o", "out"]);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
    }
    let bad = folder.haggle(&["workload", "convert", "jobs.csv", "-", "--mapping", "bad.toml"]);
    assert!(
        bad.contains(
            "error: bad.toml:2:1: unknown field `submits`, expected one of `number`, `submit`"
        ),
        "{bad}"
    );
    let other = folder.haggle(&[
        "workload",
        "inspect",
        "jobs.pbs",
        "--mapping",
        "site.toml",
        "--log-format",
        "pbs",
    ]);
    assert!(
        other.contains(
            "error: --mapping is for tables of jobs\n\nhint: remove it, or write --log-format csv or parquet"
        ),
        "{other}"
    );
}

#[test]
fn logs_are_written_for_batsim() {
    let folder = Folder::with(&[(
        "log.swf",
        "; MaxProcs: 8\n1 5 3 60 2 -1 -1 2 90 -1 1 3 -1 -1 -1 -1 -1 -1\n2 9 -1 7.5 4 -1 -1 4 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n",
    )]);
    let shown: String = [
        &["workload", "convert", "log.swf", "log.json"][..],
        &["workload", "convert", "log.swf", "-", "--to", "batsim-4"],
        &["workload", "convert", "log.swf", "jobs.csv"],
        &["workload", "convert", "log.swf", "log.json.gz", "--keep", "all"],
        &["workload", "convert", "log.json", "none.csv"],
        &["workload", "convert", "log.json", "-"],
    ]
    .map(|arguments| folder.haggle(arguments))
    .concat();
    insta::assert_snapshot!(shown, @r#"
    exit code: 0
    ----- stdout -----
    ----- stderr -----
            2  job lines read
            1  dropped: user
            1  dropped: waiting time
            1  requested time unknown: run time taken (line 3)
            2  jobs kept
            2  jobs written
    exit code: 0
    ----- stdout -----
    {
    "jobs": [
    {"id": 1, "subtime": 0, "res": 2, "profile": "delay60", "walltime": 90},
    {"id": 2, "subtime": 4, "res": 4, "profile": "delay7.5-failed", "walltime": 7.5}
    ],
    "profiles": {
    "delay7.5-failed": {"type": "delay", "delay": 7.5, "ret": 1},
    "delay60": {"type": "delay", "delay": 60}
    },
    "nb_res": 8
    }
    ----- stderr -----
            2  job lines read
            1  dropped: user
            1  dropped: waiting time
            1  requested time unknown: run time taken (line 3)
            2  jobs kept
            2  jobs written
    exit code: 0
    ----- stdout -----
    ----- stderr -----
            2  job lines read
            1  dropped: user
            1  dropped: job without a start
            1  guessed: numbers of its processors: none
            1  requested time unknown: run time taken (line 3)
            2  jobs kept
            1  jobs written
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: --keep is for logs in Standard Workload Format

    hint: remove it, or write --to swf
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: no job can be written in this format: job without a start

    hint: name another format by --to
    exit code: 0
    ----- stdout -----
    ; Version: 2.2
    ; MaxProcs: 8
    ; Note: converted by haggle 0.2.0 under the rules "careful"
    1 0 -1 60 -1 -1 -1 2 90 -1 1 -1 -1 -1 -1 -1 -1 -1
    2 4 -1 7.5 -1 -1 -1 4 7.5 -1 0 -1 -1 -1 -1 -1 -1 -1
    ----- stderr -----
            2  job lines read
            2  jobs kept
            2  jobs written
    "#);
    insta::assert_snapshot!(folder.read("log.json"), @r#"
    {
    "jobs": [
    {"id": 1, "subtime": 0, "res": 2, "profile": "delay60", "walltime": 90},
    {"id": 2, "subtime": 4, "res": 4, "profile": "delay7.5-failed", "walltime": 7.5}
    ],
    "profiles": {
    "delay7.5-failed": {"type": "DelayProfile", "delay": 7.5, "ret": 1},
    "delay60": {"type": "DelayProfile", "delay": 60}
    },
    "nb_res": 8
    }
    "#);
    insta::assert_snapshot!(folder.read("jobs.csv"), @r#"
    job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata
    1,w0,delay60,0,2,90,1,COMPLETED_SUCCESSFULLY,3,60,63,3,63,1.05,,-1,
    "#);
    // Nothing is left of a log that could not be written.
    assert!(!folder.path().join("none.csv").exists());
    let generated = folder.haggle(&[
        "workload",
        "generate",
        "--jobs",
        "5",
        "--processors",
        "8",
        "-",
        "--to",
        "batsim-5",
    ]);
    assert!(generated.contains("\"nb_res\": 8\n"), "{generated}");
    let packed = folder.haggle(&["workload", "convert", "log.swf", "log.json.gz"]);
    assert!(packed.starts_with("exit code: 0"), "{packed}");
    let same = folder.haggle(&["workload", "convert", "log.json.gz", "log.json", "--force"]);
    assert!(same.starts_with("exit code: 0"), "{same}");
}

#[test]
fn tables_of_a_run_are_read_by_a_mapping() {
    let mapping = "[columns]\nnumber = \"job_id\"\nsubmit = \"submission_time\"\nwait = \"waiting_time\"\n\
                   run = \"execution_time\"\nprocessors = \"requested_number_of_resources\"\n";
    let log = "1 0 -1 60 2 -1 -1 2 90 -1 1 -1 -1 -1 -1 -1 -1 -1\n\
               2 5 -1 30.5 2 -1 -1 2 90 -1 1 -1 -1 -1 -1 -1 -1 -1\n";
    let folder = Folder::with(&[("log.swf", log), ("run.toml", mapping)]);
    let replay = ["replay", "log.swf", "--processors", "2", "--policy", "fcfs", "-o", "out"];
    assert!(folder.haggle(&replay).starts_with("exit code: 0"));
    let convert = ["workload", "convert", "out/jobs.parquet", "-", "--mapping", "run.toml"];
    let shown = folder.haggle(&convert);
    assert!(shown.contains("\n1 0 0 60 2 "), "{shown}");
    assert!(shown.contains("\n2 5 55 30.5 2 "), "{shown}");
    assert!(shown.contains("2  dropped: column final_state (lines 1, 2)"), "{shown}");
    let other = folder.haggle(&[&convert[..], &["--log-format", "pbs"]].concat());
    assert!(other.contains("or write --log-format csv or parquet"), "{other}");
    let without = folder.haggle(&convert[..4]);
    assert!(
        without.contains("out/jobs.parquet: a table needs a mapping of its columns"),
        "{without}"
    );
}

/// Output of `sacct` in which jobs wait: job n of 60 has the whole machine for 50 s.
fn waiting_jobs(broken: &str) -> String {
    let mut text = "JobID|JobIDRaw|Submit|Start|End|State|AllocCPUS|Timelimit\n".to_owned();
    let clock = |seconds: i32| {
        format!(
            "2024-07-01T{:02}:{:02}:{:02}",
            10 + seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )
    };
    for number in 1..=60 {
        let (submit, start) = (clock(40 * (number - 1)), clock(50 * (number - 1)));
        let end = clock(50 * number);
        text += &format!("{number}|{number}|{submit}|{start}|{end}|COMPLETED|4|00:01:40\n");
    }
    text + broken
}

#[test]
fn forecasts_read_other_formats() {
    let folder = Folder::with(&[
        ("jobs.txt", &waiting_jobs("")),
        ("broken.txt", &waiting_jobs("61|61|soon\n")),
    ]);
    let zone = ["--time-zone", "Europe/Berlin"];
    let convert = [&["workload", "convert", "jobs.txt", "jobs.swf"][..], &zone].concat();
    succeeds(&folder, &convert);
    let state = |log: &str, options: &[&str]| {
        let words = ["forecast", "state", log, "--at", "1510s", "--processors", "4"];
        let shown = succeeds(&folder, &[&words[..], options].concat());
        // The first lines name the log.
        stdout_of(&shown).split_once("\n\n").map(|it| it.1.to_owned()).expect("a scenario")
    };
    let common = state("jobs.swf", &[]);
    assert!(common.contains("number = 38"), "{common}");
    assert_eq!(state("jobs.txt", &zone), common);
    assert_eq!(state("jobs.txt", &["--log-format", "sacct"]), common);
    assert_eq!(state("broken.txt", &["--lenient"]), common);
    let words = ["forecast", "state", "broken.txt", "--at", "1510s", "--processors", "4"];
    assert!(refused(&folder, &words).contains("broken.txt:62"));
    let coverage = |log: &str, options: &[&str]| {
        let words = ["forecast", "coverage", log, "--processors", "4", "--instants", "3"];
        let rest = ["--runs", "3", "--json", "--truth", "recorded"];
        json_of(&succeeds(&folder, &[&words[..], &rest, options].concat()))
    };
    assert_eq!(coverage("jobs.txt", &zone), coverage("jobs.swf", &[]));
}

#[test]
fn new_scenarios_read_other_formats() {
    let mapping =
        "[columns]\nnumber = \"id\"\nsubmit = \"at\"\nrun = \"time\"\nprocessors = \"cores\"\n";
    let folder = Folder::with(&[
        ("jobs.txt", &waiting_jobs("61|61|soon\n")),
        ("jobs.csv", "id,at,time,cores\n1,0,60,2\n"),
        ("map \"1\".toml", mapping),
    ]);
    std::fs::create_dir(folder.path().join("other")).expect("made");
    let new = |file: &str, log: &str, options: &[&str]| {
        let words = ["new", file, "--log", log, "--processors", "4"];
        succeeds(&folder, &[&words[..], options].concat());
        let checked = succeeds(&folder, &["validate", file]);
        assert!(!checked.contains("warning"), "{checked}");
        folder.read(file)
    };
    let zone = ["--time-zone", "Europe/Berlin", "--lenient"];
    let text = new("mine.toml", "jobs.txt", &zone);
    assert!(
        text.contains("log = \"jobs.txt\"\nreading = { time-zone = \"Europe/Berlin\" }\n"),
        "{text}"
    );
    assert!(text.contains("rules = { preset = \"careful\", malformed = \"skip\" } #"), "{text}");
    let mapped = ["--mapping", "map \"1\".toml", "--log-format", "csv"];
    let text = new("table.toml", "jobs.csv", &mapped);
    assert!(
        text.contains("reading = { format = \"csv\", mapping = 'map \"1\".toml' }\n"),
        "{text}"
    );
    // In another folder, both paths begin at the root.
    new("other/table.toml", "jobs.csv", &mapped);
    let shown = refused(&folder, &["new", "none.toml", "--time-zone", "UTC"]);
    assert!(shown.contains("name the log with --log, or remove them"), "{shown}");
    let shown = refused(&folder, &["new", "a.toml", "--log", "jobs.csv", "--columns", "a"]);
    assert!(shown.contains("add --log-format sacct, or remove --columns"), "{shown}");
}
