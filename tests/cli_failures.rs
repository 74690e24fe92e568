//! Processors that fail: keys of scenarios, and fates of jobs.

use std::fs;

use haggle_results::RunReader;
use serde_json::Value;

use crate::command::{Folder, stderr_of, stdout_of};

/// Two processors, the first of which is down from 30 to 50, and three jobs of one processor each.
const LOST: &str = r#"
[scenario]
name = "lost"

[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 1, requested = "100s", run = "80s" },
    { submit = "0s", processors = 1, requested = "100s", run = "60s" },
    { submit = "10s", processors = 1, requested = "100s", run = "20s" },
]

[[provider]]
name = "north"
processors = 2
policy = "fcfs"

[[failures]]
of = ["north"]
nodes = 1
outages = [["30s", "50s"]]

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#;

/// A job of one hour, on a machine that is never up for longer than half an hour.
const ENDLESS: &str = r#"
[[workload]]
name = "jobs"
jobs = [{ submit = "1d", processors = 1, requested = "2h", run = "1h" }]

[[provider]]
name = "north"
processors = 1

[[failures]]
law = { up = { law = "uniform", low = "1min", high = "30min" }, down = { law = "constant", value = "1min" } }

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#;

/// A machine that fails as a whole, one processor after the other.
const WHOLE: &str = r#"
[[workload]]
name = "jobs"
model = "lublin-feitelson"
lublin = { jobs = 60, processors = 64, load = 0.9 }

[[provider]]
name = "north"
processors = 64
policy = "POLICY"
max-attempts = 2

[[failures]]
of = ["north"]
outages = [["5h", "6h"]]

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#;

const BARGAINING: &str = r#"
[scenario]
horizon = "2d"

[[workload]]
name = "bags"
model = "lublin-feitelson"
lublin = { jobs = 60, processors = 32, load = 0.7 }
step = [
    { kind = "estimates", rule = "uniform:3" },
    { kind = "deadlines", slack = { law = "exponential", mean = "5h" } },
    { kind = "bags" },
]

[[workload]]
name = "local"
model = "lublin-feitelson"
lublin = { jobs = 60, processors = 16, load = 0.5 }
step = [{ kind = "estimates", rule = "uniform:3" }]

[[provider]]
name = "a"
processors = 16
policy = "edf"
on-failure = "requeue"
max-attempts = 2

[[provider]]
name = "b"
processors = 16
policy = "bags"

[[metascheduler]]
name = "grid"
composition = "offers-plb"

[[user]]
name = "users"
workload = "bags"
submits-to = "grid"

[[user]]
name = "local-users"
workload = "local"
submits-to = "a"

[[failures]]
processors-per-node = 4
law = { up = { law = "weibull", shape = 0.75, scale = "6h" }, down = { law = "exponential", mean = "30min" } }
"#;

/// Outages of two nodes at two sites, in the format of the Failure Trace Archive.
const RECORD: &str = "\
# event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time event_end_reason
0\t0\t1\t5\tG1/east/c1/node1\t0\t1000\t1060\tNULL
1\t0\t2\t5\tG1/west/c1/node1\t0\t1030\t1040\tNULL
2\t0\t2\t5\tG1/west/c1/node1\t0\t1055\t1075\tNULL
";

/// The rows of a table, of these columns only.
fn rows(folder: &Folder, file: &str, columns: &[&str]) -> String {
    let text = folder.read(file);
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let place = |name: &&str| header.iter().position(|it| it == name).expect("a column");
    let places: Vec<usize> = columns.iter().map(place).collect();
    let row = |line: Vec<&str>| places.iter().map(|&at| line[at]).collect::<Vec<_>>().join(" ");
    lines.map(row).collect::<Vec<_>>().join("\n")
}

const ATTEMPT: [&str; 6] =
    ["job_id", "attempt", "starting_time", "finish_time", "allocated_resources", "outcome"];
const JOB: [&str; 5] = ["job_id", "final_state", "starting_time", "finish_time", "attempts"];

/// Output of a checked run of a scenario, in CSV.
fn ran(scenario: &str) -> (Folder, String) {
    let folder = Folder::with(&[("it.toml", scenario), ("record.tab", RECORD)]);
    let arguments = ["run", "it.toml", "--check", "--format", "csv", "-o", "out"];
    let shown = folder.haggle(&arguments);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    (folder, shown)
}

fn failures(folder: &Folder) -> Value {
    let summary = folder.summary("out");
    summary["failures"].clone()
}

#[test]
fn a_lost_job_starts_again() {
    let (folder, shown) = ran(LOST);
    let summary: Vec<&str> = stdout_of(&shown).lines().take(4).collect();
    insta::assert_snapshot!(summary.join("\n"), @r"
    3 jobs on 2 processors of 1 provider
      3 completed
      makespan 130 s (0.0 days), utilisation 61.54 %
      1 node outage, availability 92.31 %; 1 attempt lost, 15.79 % of all work
    ");
    insta::assert_snapshot!(rows(&folder, "out/attempts.csv", &ATTEMPT), @r"
    2 1 0.0 60.0 1 completed
    3 1 60.0 80.0 1 completed
    1 1 0.0 30.0 0 failed
    1 2 50.0 130.0 0 completed
    ");
    insta::assert_snapshot!(folder.read("out/failures.csv"), @r"
    time,provider,first_resource,last_resource,event
    30.0,north,0,0,failed
    50.0,north,0,0,restored
    ");
    insta::assert_snapshot!(folder.read("out/outages.csv"), @r"
    provider,first_resource,last_resource,failure_time,restoration_time,jobs_lost,work_lost
    north,0,0,30.0,50.0,1,30.0
    ");
    let placed = rows(&folder, "out/placements.csv", &["job", "attempt", "first_resource"]);
    insta::assert_snapshot!(placed, @r"
    1 1 1
    2 1 1
    0 1 0
    0 2 0
    ");
    let failures = failures(&folder);
    let work = ["work", "work_useful", "work_lost", "work_unfinished"];
    assert_eq!(work.map(|key| failures[key].as_f64()), [190.0, 160.0, 30.0, 0.0].map(Some));
    assert_eq!(failures["providers"][0]["availability"], failures["availability"]);
}

/// A run at that instant is lost once, and no job starts on processors that are about to fail. No
/// attempt ends at its beginning, and jobs run as if the machine were one node.
#[test]
fn outages_of_one_instant_are_one_for_those_who_wait() {
    for policy in ["fcfs", "easy", "conservative", "reservations", "edf", "bags"] {
        let apart = WHOLE.replace("POLICY", policy);
        let nodes = apart.replace("outages", "processors-per-node = 64\noutages");
        let (folder, shown) = ran(&apart);
        let (together, _) = ran(&nodes);
        let jobs = rows(&together, "out/jobs.csv", &JOB);
        assert_eq!(rows(&folder, "out/jobs.csv", &JOB), jobs, "{policy}");
        let tries = rows(&together, "out/attempts.csv", &ATTEMPT);
        assert_eq!(rows(&folder, "out/attempts.csv", &ATTEMPT), tries, "{policy}");
        let lost = tries.lines().filter(|line| line.ends_with(" failed")).count();
        assert!(lost > 1 && lost < 60, "{policy}: {tries}");
        assert_eq!(failures(&folder)["attempts_lost"], lost, "{policy}");
        assert_eq!(failures(&folder)["outages"], 64, "{policy}");
        let costs = rows(&folder, "out/outages.csv", &["jobs_lost"]);
        let costs = costs.lines().map(|it| it.parse::<usize>().expect("a number"));
        assert_eq!(costs.sum::<usize>(), lost, "{policy}");
        assert!(shown.contains("\n  60 completed\n"), "{policy}: {shown}");
        let verified = folder.haggle(&["verify", "it.toml"]);
        assert!(verified.starts_with("exit code: 0\n"), "{policy}: {verified}");
    }
}

#[test]
fn what_happens_on_a_failure_is_the_providers_choice() {
    let choose =
        |word: &str| LOST.replace("\"fcfs\"", &format!("\"fcfs\"\non-failure = \"{word}\""));
    let (folder, _) = ran(&choose("requeue"));
    insta::assert_snapshot!(rows(&folder, "out/attempts.csv", &ATTEMPT), @r"
    2 1 0.0 60.0 1 completed
    3 1 50.0 70.0 0 completed
    1 1 0.0 30.0 0 failed
    1 2 60.0 140.0 1 completed
    ");
    let (folder, shown) = ran(&choose("fail"));
    assert!(shown.contains("\n  2 completed, 1 failed\n"), "{shown}");
    insta::assert_snapshot!(rows(&folder, "out/jobs.csv", &JOB), @r"
    1 COMPLETED_FAILED  30.0 1
    2 COMPLETED_SUCCESSFULLY 0.0 60.0 1
    3 COMPLETED_SUCCESSFULLY 50.0 70.0 1
    ");
    let explained = folder.haggle(&["explain", "out", "0"]);
    assert!(
        explained
            .contains("30 s  its attempt failed at north after 30 s: processors down until 50 s"),
        "{explained}"
    );
    assert!(explained.contains("30 s  given up: it is not started again"), "{explained}");
}

/// 80 s need three more checkpoints, after 20 s each: 92 s. One exists after 30 s, and the other 60
/// s take 5 s of recovery and two checkpoints.
#[test]
fn a_job_goes_on_from_its_checkpoint() {
    let resume = "\"fcfs\"\non-failure = \"resume\"\n\
        checkpoints = { interval = \"20s\", cost = \"4s\", recovery = \"5s\" }";
    let scenario = LOST.replace("\"fcfs\"", resume);
    let (folder, shown) = ran(&scenario);
    let summary: Vec<&str> = stdout_of(&shown).lines().take(4).collect();
    insta::assert_snapshot!(summary.join("\n"), @r"
    3 jobs on 2 processors of 1 provider
      3 completed
      makespan 123 s (0.0 days), utilisation 73.58 %
      1 node outage, availability 91.87 %; 1 attempt lost, 3.14 % of all work, 13.09 % on checkpoints
    ");
    let columns = [&ATTEMPT[..], &["saved_time", "checkpointing_time"]].concat();
    insta::assert_snapshot!(rows(&folder, "out/attempts.csv", &columns), @r"
    2 1 0.0 68.0 1 completed 0.0 8.0
    3 1 68.0 88.0 1 completed 0.0 0.0
    1 1 0.0 30.0 0 failed 20.0 4.0
    1 2 50.0 123.0 0 completed 0.0 13.0
    ");
    let columns = [&JOB[..], &["waiting_time", "execution_time", "turnaround_time"]].concat();
    insta::assert_snapshot!(rows(&folder, "out/jobs.csv", &columns), @r"
    2 COMPLETED_SUCCESSFULLY 0.0 68.0 1 0.0 68.0 68.0
    3 COMPLETED_SUCCESSFULLY 68.0 88.0 1 58.0 20.0 78.0
    1 COMPLETED_SUCCESSFULLY 50.0 123.0 2 30.0 93.0 123.0
    ");
    insta::assert_snapshot!(folder.read("out/outages.csv"), @r"
    provider,first_resource,last_resource,failure_time,restoration_time,jobs_lost,work_lost
    north,0,0,30.0,50.0,1,6.0
    ");
    let failures = failures(&folder);
    let work = ["work", "work_useful", "work_lost", "work_checkpoints", "work_unfinished"];
    assert_eq!(work.map(|key| failures[key].as_f64()), [191.0, 160.0, 6.0, 25.0, 0.0].map(Some));
    // One denominator: the text above rounds it to 3.14 % and 13.09 %.
    let run = RunReader::open(&folder.path().join("out")).expect("it is there");
    let summary = run.summary().expect("it is there");
    let shares = ["useful-work", "lost-work", "checkpoint-work", "wasted-work", "wasted-hours"];
    let expected =
        [16_000.0 / 191.0, 600.0 / 191.0, 2_500.0 / 191.0, 3_100.0 / 191.0, 31.0 / 3600.0];
    assert_eq!(shares.map(|name| summary.metric(name)), expected.map(Some));
    assert_eq!(failures["lost_percent_of_work"].as_f64(), summary.metric("lost-work"));
    let explained = folder.haggle(&["explain", "out", "0"]);
    assert!(
        explained.contains("attempt 1 failed at north after 30 s, of which checkpoints saved 20 s"),
        "{explained}"
    );
    let verified = folder.haggle(&["verify", "it.toml"]);
    assert!(verified.starts_with("exit code: 0\n"), "{verified}");
}

#[test]
fn a_sweep_says_what_failures_did() {
    let checkpoints = "\"fcfs\"\ncheckpoints = { interval = \"20s\", cost = \"4s\" }";
    let sweep = r#"
[[sweep.axis]]
path = "provider.north.on-failure"
values = ["restart", "resume", "fail"]

[[figure]]
kind = "bars"
metric = "lost-work"
group-by = "on-failure"
"#;
    let scenario = LOST.replace("\"fcfs\"", checkpoints) + sweep;
    let folder = Folder::with(&[("it.toml", &scenario)]);
    let shown = folder.haggle(&["sweep", "it.toml", "-o", "out"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert!(folder.tree("out").contains_key("bars.png"), "{shown}");
    let columns = [
        "on-failure",
        "completed_jobs",
        "failures.attempts_lost",
        "failures.availability",
        "failures.lost_percent_of_work",
        "failures.work_checkpoints",
        "lost_work",
        "checkpoint_work",
        "wasted_work",
    ];
    insta::assert_snapshot!(rows(&folder, "out/runs.csv", &columns), @"
    restart 3.0 1.0 0.9230769230769231 15.789473684210526 0.0 15.789473684210526 0.0 15.789473684210526
    resume 3.0 1.0 0.9152542372881356 3.225806451612903 20.0 3.225806451612903 10.75268817204301 13.978494623655914
    fail 2.0 1.0 0.8571428571428571 27.272727272727273 0.0 27.272727272727273 0.0 27.272727272727273
    ");
}

/// A job on one of two processors that each fail every 50 s stops for 4 s after every √(2·4·50) =
/// 20 s. The same holds if both are one node that fails every 50 s. Jobs on both of two nodes stop
/// after √(2·4·25) = 14.1 s.
#[test]
fn intervals_are_computed_from_the_nodes_of_a_job() {
    let (folder, _) = ran(LOST);
    let attempts = |checkpoints: &str, per_node: u32, processors: u32| {
        let resume =
            format!("\"fcfs\"\non-failure = \"resume\"\ncheckpoints = {{ {checkpoints} }}");
        let scenario = LOST.replace("\"fcfs\"", &resume);
        let scenario =
            scenario.replace("outages", &format!("processors-per-node = {per_node}\noutages"));
        let scenario = scenario.replace("processors = 1,", &format!("processors = {processors},"));
        fs::write(folder.path().join("it.toml"), scenario).expect("it can be written");
        let shown = folder.haggle(&["run", "it.toml", "-o", "out", "--force", "--format", "csv"]);
        assert!(shown.starts_with("exit code: 0\n"), "{shown}");
        rows(&folder, "out/attempts.csv", &[&ATTEMPT[..], &["checkpointing_time"]].concat())
    };
    let fixed = "interval = \"20s\", cost = \"4s\", recovery = \"5s\"";
    let young = "rule = \"young\", mtbf = \"50s\", cost = \"4s\", recovery = \"5s\"";
    assert_eq!(attempts(young, 1, 1), attempts(fixed, 1, 1));
    assert_eq!(attempts(young, 2, 2), attempts(fixed, 2, 2));
    let computed = fixed.replace("20s", "14142135us");
    assert_eq!(attempts(young, 1, 2), attempts(&computed, 1, 2));
    assert_ne!(attempts(young, 1, 2), attempts(fixed, 1, 2));
    let daly = "rule = \"daly\", mtbf = \"50s\", cost = \"4s\", recovery = \"5s\"";
    assert_ne!(attempts(daly, 1, 1), attempts(fixed, 1, 1));
}

/// Three jobs of one, one and four processors stop at 100 s for 2 s. Their data of 1 GB a processor
/// flow from 103 s on at a third of 1 Gbit/s each. 8 Gbit arrive at 127 s, and 24 of the 32 Gbit of
/// the third job are left for 24 s more. Its data are in transit for the third time when its node
/// fails at 400 s. It begins again with 3 s of recovery and 33 s of reading.
const STORED: &str = r#"
[scenario]
name = "stored"

[network]
bandwidth = "1 Gbit/s"
latency = "1s"
sharing = "max-min"
stores = ["disk"]

[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 1, run = "250s", requested = "300s" },
    { submit = "0s", processors = 1, run = "250s", requested = "300s" },
    { submit = "0s", processors = 4, run = "500s", requested = "500s" },
]

[[provider]]
name = "north"
processors = 8
policy = "easy"
on-failure = "resume"
checkpoints = { interval = "100s", cost = "2s", recovery = "3s", size = "1 GB", store = "disk" }

[[failures]]
of = ["north"]
processors-per-node = 4
nodes = 1
outages = [["400s", "500s"]]

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#;

#[test]
fn checkpoints_share_the_way_to_a_storage() {
    let folder = Folder::with(&[("it.toml", STORED)]);
    let shown = folder.haggle(&["run", "it.toml", "-o", "out", "--format", "csv", "--check"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let columns = ["job", "attempt", "requested_time", "written_time", "work_saved"];
    insta::assert_snapshot!(rows(&folder, "out/checkpoints.csv", &columns), @"
    0 1 100.0 127.0 100.0
    0 1 227.0 246.0 200.0
    1 1 100.0 127.0 100.0
    1 1 227.0 246.0 200.0
    2 1 100.0 151.0 400.0
    2 1 251.0 286.0 800.0
    2 1 386.0  1200.0
    2 2 536.0 571.0 1200.0
    2 2 671.0 706.0 1600.0
    ");
    let columns = ["job", "finish_time", "saved_time", "checkpointing_time"];
    insta::assert_snapshot!(rows(&folder, "out/attempts.csv", &columns), @"
    0 296.0 0.0 46.0
    1 296.0 0.0 46.0
    2 400.0 200.0 100.0
    2 806.0 0.0 106.0
    ");
    assert!(folder.haggle(&["verify", "it.toml"]).starts_with("exit code: 0\n"));
    assert!(folder.haggle(&["verify", "out"]).starts_with("exit code: 0\n"));
    // Without sharing, each has the whole bandwidth, and its start determines the time of writing.
    let alone = STORED.replace("sharing = \"max-min\"\n", "");
    fs::write(folder.path().join("it.toml"), &alone).expect("it can be written");
    folder.haggle(&["run", "it.toml", "-o", "out", "--force", "--format", "csv", "--check"]);
    insta::assert_snapshot!(rows(&folder, "out/attempts.csv", &columns), @"
    0 272.0 0.0 22.0
    1 272.0 0.0 22.0
    2 400.0 200.0 100.0
    2 806.0 0.0 106.0
    ");
    assert!(!folder.path().join("out/checkpoints.csv").exists());
}

/// Storages of checkpoints, and the keys of the network about them.
#[test]
fn checkpoints_are_kept_elsewhere() {
    let folder = Folder::with(&[]);
    for (from, to, told) in [
        ("store = \"disk\"", "store = \"north\"", "jobs of \"north\" are there already"),
        ("store = \"disk\"", "store = \"dish\"", "did you mean \"disk\"?"),
        ("store =", "bandwidth = \"1 Gbit/s\", store =", "a second rate"),
        (", store = \"disk\"", "", "the rate at which checkpoints are written is missing"),
        ("stores = [\"disk\"]", "stores = [\"disk\", \"north\"]", "are called \"north\""),
        (
            "stores = [\"disk\"]",
            "stores = [\"disk\", \"tape\"]",
            "no provider keeps checkpoints in",
        ),
        ("\"resume\"", "\"restart\"", "no provider keeps checkpoints in"),
    ] {
        let scenario = STORED.replace(from, to);
        assert_ne!(scenario, STORED);
        fs::write(folder.path().join("it.toml"), scenario).expect("it can be written");
        let shown = folder.haggle(&["validate", "it.toml"]);
        assert!(shown.contains(told), "{to}: {shown}");
    }
}

#[test]
fn a_rule_that_computes_the_interval_needs_what_it_computes_it_from() {
    let folder = Folder::with(&[]);
    for (checkpoints, problem) in [
        ("rule = \"daly\", cost = \"1min\", mtbf = \"0s\"", "fail all the time complete no job"),
        ("rule = \"young\", mtbf = \"1d\"", "the best interval is zero"),
        ("rule = \"young\", mtbf = \"1d\", cost = \"1s\", interval = \"1h\"", "by itself"),
        ("cost = \"1s\"", "checkpoints have no `interval`"),
        (
            "interval = \"1h\", size = \"1 GB\"",
            "the rate at which checkpoints are written is missing",
        ),
        ("interval = \"1h\", bandwidth = \"1 Gbit/s\"", "the size of checkpoints is missing"),
        ("interval = \"1h\", store = \"disk\"", "the size of checkpoints is missing"),
        (
            "interval = \"1h\", size = \"1 GB\", store = \"disk\"",
            "no place for checkpoints is called",
        ),
        ("rule = \"last-failure\"", "checkpoints have no `interval`"),
        (
            "rule = \"mean-failure\", interval = \"1h\", interval-min = \"0s\"",
            "the interval may shrink to zero",
        ),
    ] {
        let resume =
            format!("\"fcfs\"\non-failure = \"resume\"\ncheckpoints = {{ {checkpoints} }}");
        let scenario = LOST.replace("\"fcfs\"", &resume);
        fs::write(folder.path().join("it.toml"), scenario).expect("it can be written");
        let shown = folder.haggle(&["validate", "it.toml"]);
        assert!(shown.starts_with("exit code: 3\n"), "{checkpoints}: {shown}");
        let told = stderr_of(&shown);
        assert!(told.contains(problem) && told.contains("help: "), "{checkpoints}: {shown}");
    }
    for (rule, key) in [
        ("", "mtbf = \"1d\""),
        ("rule = \"last-failure\", ", "step = \"1min\""),
        ("rule = \"mean-failure\", ", "omit-max = 3"),
    ] {
        let resume = format!(
            "\"fcfs\"\non-failure = \"resume\"\ncheckpoints = {{ {rule}interval = \"20s\", {key} }}"
        );
        fs::write(folder.path().join("it.toml"), LOST.replace("\"fcfs\"", &resume))
            .expect("written");
        let shown = folder.haggle(&["validate", "it.toml"]);
        assert!(shown.contains("this rule does not read it"), "{shown}");
    }
}

#[test]
fn jobs_go_on_only_from_checkpoints_that_they_write() {
    let choose =
        |more: &str| LOST.replace("\"fcfs\"", &format!("\"fcfs\"\non-failure = \"resume\"{more}"));
    let files = [
        ("none.toml", choose("")),
        ("always.toml", choose("\ncheckpoints = { interval = \"0s\" }")),
        ("typo.toml", choose("\ncheckpoints = { every = \"1h\" }")),
    ];
    let folder = Folder::with(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
    insta::assert_snapshot!(folder.haggle(&["validate", "none.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × jobs cannot continue from checkpoints that they never write
        ╭─[none.toml:17:14]
     17 │ on-failure = "resume"
        ·              ────┬───
        ·                  ╰── needs checkpoints
        ╰────
      help: add the time between them, such as `checkpoints = { interval = "1h", cost = "1min" }`

    error: none.toml has 1 problem
    "#);
    insta::assert_snapshot!(folder.haggle(&["validate", "always.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × the time between checkpoints must be above zero
        ╭─[always.toml:18:28]
     18 │ checkpoints = { interval = "0s" }
        ·                            ──┬─
        ·                              ╰── no time
        ╰────
      help: write a length of time above zero, such as "30min"

    error: always.toml has 1 problem
    "#);
    insta::assert_snapshot!(folder.haggle(&["validate", "typo.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × checkpoints have no `interval`
        ╭─[typo.toml:18:15]
     18 │ checkpoints = { every = "1h" }
        ·               ────────┬───────
        ·                       ╰── `interval` is missing here
        ╰────
      help: add the time between checkpoints, such as `interval = "30min"`

      × [provider.checkpoints] has no key `every`
        ╭─[typo.toml:18:17]
     18 │ checkpoints = { every = "1h" }
        ·                 ──┬──
        ·                   ╰── unknown key
        ╰────
      help: [provider.checkpoints] has `bandwidth`, `cost`, `first`, `interval`, `interval-min`,
            `limit`, `mean-failure`, `mtbf`, `omit-max`, `recovery`, `rule`, `size`, `step`, `store`

    error: typo.toml has 2 problems
    "#);
}

#[test]
fn the_words_are_listed() {
    let folder = Folder::with(&[]);
    insta::assert_snapshot!(folder.haggle(&["list", "on-failure"]), @r"
    exit code: 0
    ----- stdout -----
    restart  It starts again from the beginning, ahead of all waiting jobs
    requeue  It starts again from the beginning, behind all waiting jobs
    resume   It continues from its last checkpoint, ahead of all waiting jobs
    fail     It ends as failed
    drain    It continues to its end, and its failed processors go down then. So a record of outages whose effects are in the run times of a log already counts once
    ----- stderr -----
    ");
}

#[test]
fn at_the_horizon_jobs_are_told_as_they_stand() {
    let stopped = LOST.replace("name = \"lost\"", "name = \"lost\"\nhorizon = \"45s\"");
    let (folder, shown) = ran(&stopped);
    assert!(shown.contains("\n  0 completed, 1 still running, 2 still waiting\n"), "{shown}");
    insta::assert_snapshot!(rows(&folder, "out/jobs.csv", &JOB), @r"
    1 SUBMITTED   2
    2 RUNNING 0.0  1
    3 SUBMITTED   1
    ");
    insta::assert_snapshot!(rows(&folder, "out/attempts.csv", &ATTEMPT), @r"
    1 1 0.0 30.0 0 failed
    1 2  45.0  unfinished
    2 1 0.0 45.0 1 unfinished
    3 1  45.0  unfinished
    ");
    assert_eq!(failures(&folder)["work_unfinished"], 45.0);
    let verified = folder.haggle(&["verify", "it.toml"]);
    assert!(verified.starts_with("exit code: 0\n"), "{verified}");
}

#[test]
fn processors_that_never_come_back_leave_jobs_waiting() {
    let open =
        LOST.replace(", \"50s\"", "").replace("\"10s\", processors = 1", "\"10s\", processors = 2");
    let (folder, shown) = ran(&open);
    assert!(shown.contains("\n  2 completed, 1 still waiting\n"), "{shown}");
    insta::assert_snapshot!(rows(&folder, "out/jobs.csv", &JOB), @r"
    2 COMPLETED_SUCCESSFULLY 0.0 60.0 1
    1 COMPLETED_SUCCESSFULLY 60.0 140.0 2
    3 SUBMITTED   1
    ");
    let columns = ["failure_time", "restoration_time", "jobs_lost"];
    assert_eq!(rows(&folder, "out/outages.csv", &columns), "30.0  1");
}

/// Chtepen 2011, Table 3.1: the row of 50 % is up for 50 % of the time in the long run.
#[test]
fn availability_tends_to_that_of_the_law() {
    let long = ENDLESS.replace("processors = 1\n", "processors = 10\n");
    let (before, law) = long.split_once("law = {").expect("a law");
    let rest = law.split_once('\n').expect("a line").1;
    let (folder, _) = ran(&format!("scenario.horizon = \"35d\"\n{before}nominal = 50\n{rest}"));
    let failures = failures(&folder);
    let found = failures["availability"].as_f64().expect("a number");
    assert!((found - 0.5).abs() < 0.01, "{found}");
    // Nature continues to the horizon, long after the end of the only job.
    assert!(failures["outages"].as_u64().is_some_and(|outages| outages > 2_000), "{failures}");
}

#[test]
fn failures_can_be_swept() {
    let (before, law) = ENDLESS.split_once("law = {").expect("a law");
    let rest = law.split_once('\n').expect("a line").1;
    let sweep = "[[sweep.axis]]\npath = \"failures.1.nominal\"\nvalues = [95, 50]\n";
    let folder = Folder::with(&[("it.toml", &format!("{before}nominal = 50\n{rest}{sweep}"))]);
    insta::assert_snapshot!(folder.haggle(&["show", "--runs", "it.toml"]), @r"
    exit code: 0
    ----- stdout -----
    run	seed	folder	nominal
    0	1	nominal=95/seed=1	95
    1	1	nominal=50/seed=1	50
    ----- stderr -----
    ");
}

/// A provider that promises and one that reschedules, bags and local jobs.
#[test]
fn bags_bargain_on_while_processors_fail() {
    let (folder, shown) = ran(BARGAINING);
    assert!(failures(&folder)["attempts_lost"].as_u64().is_some_and(|lost| lost > 10), "{shown}");
    let verified = folder.haggle(&["verify", "it.toml"]);
    assert!(verified.starts_with("exit code: 0\n"), "{verified}");
}

#[test]
fn a_job_that_can_never_end_is_given_up() {
    let (_, shown) = ran(ENDLESS);
    assert!(shown.contains("\n  0 completed, 1 failed\n  no job ran to its end\n"), "{shown}");
    assert!(shown.contains("; 1000 attempts lost, 100.00 % of all work\n"), "{shown}");
    let (_, shown) =
        ran(&ENDLESS.replace("processors = 1\n", "processors = 1\nmax-attempts = 3\n"));
    assert!(shown.contains("; 3 attempts lost, 100.00 % of all work\n"), "{shown}");
}

#[test]
fn a_job_that_can_never_start_ends_the_run() {
    let wide = ENDLESS.replace("processors = 1", "processors = 20");
    let (before, law) = wide.split_once("law = {").expect("a law");
    let rest = law.split_once('\n').expect("a line").1;
    let folder = Folder::with(&[("it.toml", &format!("{before}nominal = 5\n{rest}"))]);
    let shown = folder.haggle(&["run", "it.toml", "-o", "out"]);
    assert!(shown.starts_with("exit code: 3\n"), "{shown}");
    assert!(shown.contains("\nerror: stuck at "), "{shown}");
    assert!(shown.contains("`horizon` ends such a run"), "{shown}");
    assert_eq!(folder.names(), ["it.toml"]);
}

#[test]
fn recorded_failures_are_replayed() {
    let record = |more: &str| {
        let line = format!("recorded = {{ log = \"record.tab\", format = \"fta\"{more} }}");
        LOST.replace("outages = [[\"30s\", \"50s\"]]", &line)
    };
    // Time zero is the beginning of the first node's observation.
    let (folder, _) = ran(&record("").replace("nodes = 1\n", ""));
    insta::assert_snapshot!(rows(&folder, "out/failures.csv", &["time", "first_resource", "event"]), @r"
    0.0 0 failed
    30.0 1 failed
    40.0 1 restored
    55.0 1 failed
    60.0 0 restored
    75.0 1 restored
    ");
    let (folder, _) = ran(&record(", sites = [\"west\"], from = \"20s\", length = \"30s\""));
    insta::assert_snapshot!(rows(&folder, "out/failures.csv", &["time", "first_resource", "event"]), @r"
    10.0 0 failed
    20.0 0 restored
    ");
    // The record is an input, and its path is relative to the folder of the results.
    assert!(folder.read("out/provenance.json").contains("\"record.tab\""));
    assert!(folder.read("out/scenario.toml").contains("log = \"../record.tab\""));
    let many = record("").replace("nodes = 1\n", "").replace("processors = 2", "processors = 3");
    let folder = Folder::with(&[("it.toml", &many), ("record.tab", RECORD)]);
    insta::assert_snapshot!(folder.haggle(&["run", "it.toml", "-o", "out"]), @r"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
    error: record.tab: 3 nodes are wanted, but 2 are recorded; take at most that many
    ");
}

#[test]
fn failures_spread_within_a_provider() {
    let spread = ENDLESS
        .replace("processors = 1\n", "processors = 4\nmax-attempts = 5\n")
        .replace("[[user]]", "correlation = { probability = \"100%\", delay = \"0s\" }\n[[user]]");
    let (folder, _) = ran(&spread);
    let events = rows(&folder, "out/failures.csv", &["time", "event"]);
    let first: Vec<&str> = events.lines().take(4).collect();
    assert!(first.iter().all(|event| *event == first[0]), "{events}");
}

#[test]
fn every_mistake_is_shown_with_its_way_out() {
    let wrong = r#"
[scenario]
horizon = "0s"

[[workload]]
name = "jobs"
jobs = [{ submit = "1s", processors = 1, requested = "2h", run = "1h" }]

[[provider]]
name = "north"
processors = 8
on-failure = "give-up"
max-attempts = 0

[[provider]]
name = "south"
processors = 8

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[failures]]
of = ["north", "sooth"]
nominal = 90
law = { up = { law = "normal", mean = "1h", standard-deviation = "1min" }, down = { law = "exponential", mean = "1h" } }
processors-per-node = 4
nodes = 3

[[failures]]
outages = [["1h", "2h"], ["90min", "3h"]]

[[failures]]
of = ["south"]
recorded = { log = "nowhere.tab", format = "fta" }
correlation = { probability = "10%" }

[[failures]]
of = ["south"]
"#;
    let folder = Folder::with(&[("wrong.toml", wrong)]);
    let shown = folder.haggle(&["validate", "wrong.toml"]);
    assert!(shown.starts_with("exit code: 3\n"), "{shown}");
    let lines = shown.lines().filter(|line| line.contains('×') || line.contains("help:"));
    insta::assert_snapshot!(lines.map(str::trim).collect::<Vec<_>>().join("\n"), @r#"
    × `horizon` is 0s, needs more
    help: remove `horizon` to run until every job is over
    × `on-failure` cannot be "give-up"
    help: `on-failure` is one of "restart", "requeue", "resume", "fail" or "drain"
    × `max-attempts` is 0, needs at least 1
    help: `max-attempts`: Most starts of a job, after which it has failed; 1000 if not given. For a
    × no provider is called "sooth"
    help: did you mean "south"?
    × Table 3.1 of Chtepen 2011 has no row 90
    help: its rows are 100, 95, 80, 70, 60, 50, 30, 20, 15, 10, 5; others can be had with `law`
    × these failures have two sources, `law` and `nominal`
    help: keep one of them, or make two [[failures]] of different providers
    × the normal law has values below 0 or no finite mean above 0
    help: constant, uniform, choice, exponential, lognormal, weibull and gamma can be used, with
    × provider "north" has 2 nodes, not 3
    help: remove `nodes` to let all fail
    × provider "north" has failures in two tables
    help: the table on line 24 is about it too; name it in one of them, or let other nodes fail by
    × outage 2 starts at 5400 s, when the one before it is not over (restored at 7200 s)
    help: write [failure, restoration] in order of time; only the last may have no restoration
    × provider "south" has failures in two tables
    help: the table on line 31 is about it too; name it in one of them, or let other nodes fail by
    × log `nowhere.tab` is not there
    help: paths start from the scenario's folder; the README lists sources of logs
    × recorded and listed failures do not spread
    help: remove it, or let the nodes fail by `law` or `nominal`
    × these failures have no source
    help: add one of `law`, `nominal`, `recorded` and `outages`
    × provider "south" has failures in two tables
    help: the table on line 31 is about it too; name it in one of them, or let other nodes fail by
    "#);
}
