//! Running jobs that are stopped for others, by commands.

use crate::command::{Folder, json_of, unwrapped};

/// A machine of 4 processors. The jobs of queue 2 stop those of queue 1, which go on for 10 s.
const QUEUES: &str = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 2, run = "100s", requested = "2min", queue = 1 },
    { submit = "10s", processors = 2, run = "100s", requested = "2min", queue = 1 },
    { submit = "30s", processors = 2, run = "20s", requested = "30s", queue = 2 },
]

[[provider]]
name = "site"
processors = 4
policy = "easy"

[[provider.queue]]
name = "low"
number = 1
grace = "10s"

[[provider.queue]]
name = "high"
number = 2
preempts = ["low"]

[[user]]
name = "users"
workload = "jobs"
submits-to = "site"
"#;

/// Rows of a table as the cells of some columns, in the order of the file.
fn rows(folder: &Folder, run: &str, table: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let table = folder.read(&format!("{run}/{table}.csv"));
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let names = rows.headers().expect("a line of names").clone();
    let place = |name: &&str| names.iter().position(|it| it == *name).expect("a column");
    let places = Vec::from_iter(columns.iter().map(place));
    let cells = |row: Result<csv::StringRecord, csv::Error>| {
        let row = row.expect("a row");
        places.iter().map(|&place| row[place].to_owned()).collect()
    };
    rows.records().map(cells).collect()
}

const ATTEMPT: [&str; 6] =
    ["job", "attempt", "starting_time", "finish_time", "outcome", "stopped_for"];

fn attempts(folder: &Folder, run: &str) -> Vec<String> {
    let mut all = rows(folder, run, "attempts", &ATTEMPT);
    all.sort();
    all.into_iter().map(|it| it.join(" ")).collect()
}

/// Runs a scenario in all ways, and checks its results.
fn run(folder: &Folder, name: &str) {
    let (file, check) = (format!("{name}.toml"), "--check");
    for command in [&["run", &file, "-o", name, check, "--format", "csv"][..], &["verify", &file]] {
        let told = folder.haggle(command);
        assert!(told.starts_with("exit code: 0"), "{told}");
    }
}

/// The second job started last. It is stopped 10 s after the third one has come, and waits for that one to end.
#[test]
fn the_job_that_started_last_is_stopped() {
    let folder = Folder::with(&[("site.toml", QUEUES)]);
    run(&folder, "site");
    let expected = [
        "0 1 0.0 100.0 completed ",
        "1 1 10.0 40.0 preempted 2",
        "1 2 60.0 160.0 completed ",
        "2 1 40.0 60.0 completed ",
    ];
    assert_eq!(attempts(&folder, "site"), expected);
    let summary = folder.haggle(&["show", "site", "--json"]);
    let summary = json_of(&summary);
    let preemptions = &summary["preemptions"];
    assert_eq!(preemptions["attempts_preempted"], 1, "{summary}");
    assert_eq!(preemptions["work_preempted"], 60.0);
    let told = unwrapped(&folder.haggle(&["explain", "site", "jobs!2"]));
    assert!(told.contains("attempt 1 was stopped at site for job 2 (jobs!3) after 30 s"), "{told}");
    let told = unwrapped(&folder.haggle(&["explain", "site", "jobs!3"]));
    let stopped = "job 1 (jobs!2) on 2 processors was stopped for it at site: 60 processor-seconds";
    assert!(told.contains(stopped), "{told}");
    let told = folder.haggle(&["show", "site"]);
    assert!(told.contains("1 attempt stopped for other jobs"), "{told}");
}

#[test]
fn a_cancelled_job_does_not_start_again() {
    let cancelling = QUEUES.replace("grace = \"10s\"", "on-preemption = \"cancel\"");
    let folder = Folder::with(&[("site.toml", &cancelling)]);
    run(&folder, "site");
    let expected =
        ["0 1 0.0 100.0 completed ", "1 1 10.0 30.0 preempted 2", "2 1 30.0 50.0 completed "];
    assert_eq!(attempts(&folder, "site"), expected);
    let jobs = rows(&folder, "site", "jobs", &["job", "outcome"]);
    assert!(jobs.contains(&vec!["1".to_owned(), "cancelled".to_owned()]), "{jobs:?}");
    let told = unwrapped(&folder.haggle(&["explain", "site", "jobs!2"]));
    assert!(told.contains("cancelled: it was stopped for another job"), "{told}");
}

/// A job that would end within its grace time is complete.
#[test]
fn a_job_may_end_within_its_grace_time() {
    let late = QUEUES.replace("submit = \"30s\"", "submit = \"105s\"");
    let folder = Folder::with(&[(
        "site.toml",
        &late.replace("processors = 2, run = \"20s\"", "processors = 4, run = \"20s\""),
    )]);
    run(&folder, "site");
    let expected =
        ["0 1 0.0 100.0 completed ", "1 1 10.0 110.0 completed ", "2 1 110.0 130.0 completed "];
    assert_eq!(attempts(&folder, "site"), expected);
}

/// With checkpoints each 20 s, the stopped job goes on from the last one.
#[test]
fn a_stopped_job_goes_on_from_its_last_checkpoint() {
    let saving = QUEUES.replace(
        "policy = \"easy\"",
        "policy = \"easy\"\non-failure = \"resume\"\n[provider.checkpoints]\ninterval = \"20s\"",
    );
    let failing =
        format!("{saving}[[failures]]\nof = [\"site\"]\noutages = [[\"20min\", \"21min\"]]\n");
    let folder = Folder::with(&[("site.toml", &failing)]);
    run(&folder, "site");
    let saved = rows(&folder, "site", "attempts", &["job", "attempt", "saved_time", "finish_time"]);
    let of = |job: &str, attempt: &str| {
        let found = saved.iter().find(|it| it[0] == job && it[1] == attempt);
        (found.expect("an attempt")[2].clone(), found.expect("an attempt")[3].clone())
    };
    assert_eq!(of("1", "1"), ("20.0".to_owned(), "40.0".to_owned()));
    assert_eq!(of("1", "2").1, "140.0", "80 s are left at 60 s");
}

/// Processors that fail within the grace time of a job end its attempt, as they do with all others.
#[test]
fn a_failure_in_the_grace_time_is_a_failure() {
    let text = QUEUES.replace("policy = \"easy\"", "policy = \"easy\"\non-failure = \"fail\"");
    let outage = "[[failures]]\nof = [\"site\"]\noutages = [[\"35s\", \"36s\"]]\n";
    let folder = Folder::with(&[("site.toml", &format!("{text}{outage}"))]);
    run(&folder, "site");
    let expected = ["0 1 0.0 35.0 failed ", "1 1 10.0 35.0 failed ", "2 1 36.0 56.0 completed "];
    assert_eq!(attempts(&folder, "site"), expected);
}

/// Each of two queues has nodes of its own. Both first jobs come at the same time, and both stop others.
#[test]
fn the_first_jobs_of_different_nodes_stop_others_at_once() {
    let mut text = String::from(
        r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 4, run = "3h", requested = "3h", queue = 1 },
    { submit = "0s", processors = 4, run = "3h", requested = "3h", queue = 3 },
    { submit = "100s", processors = 4, run = "10min", requested = "10min", queue = 2 },
    { submit = "100s", processors = 4, run = "10min", requested = "10min", queue = 4 },
]

[[user]]
name = "users"
workload = "jobs"
submits-to = "site"

[[provider]]
name = "site"
policy = "easy"
"#,
    );
    for (node, low) in [("a", 1), ("b", 3)] {
        let high = low + 1;
        text += &format!(
            "[[provider.node]]\nname = \"{node}\"\ncores = 4\n\
             [[provider.queue]]\nname = \"low-{node}\"\nnumber = {low}\nnodes = [\"{node}\"]\ngrace = \"10min\"\n\
             [[provider.queue]]\nname = \"high-{node}\"\nnumber = {high}\nnodes = [\"{node}\"]\n\
             tier = 2\npreempts = [\"low-{node}\"]\n"
        );
    }
    for policy in ["\"easy\"", "\"fcfs\"", "{ name = \"conservative\", compression = \"replan\" }"]
    {
        let text = text.replace("\"easy\"", policy);
        let folder = Folder::with(&[("site.toml", &text)]);
        run(&folder, "site");
        let starts = rows(&folder, "site", "jobs", &["job", "starting_time"]);
        for job in ["2", "3"] {
            assert!(starts.contains(&vec![job.to_owned(), "700.0".to_owned()]), "{starts:?}");
        }
    }
}

/// A short job that comes within the grace time brings a pass, in which no second job is stopped.
#[test]
fn a_job_for_which_one_is_stopped_stops_no_other() {
    let text = QUEUES
        .replace("name = \"low\"\nnumber = 1\n", "name = \"low\"\nnumber = 1\ntier = 2\n")
        .replace("queue = 2 },\n", "queue = 2 },\n    { submit = \"32s\", processors = 1, run = \"5s\", requested = \"5s\", queue = 3 },\n")
        .replace("submit = \"0s\", processors = 2, run = \"100s\", requested = \"2min\", queue = 1", "submit = \"0s\", processors = 2, run = \"100s\", requested = \"2min\", queue = 3")
        .replace("preempts = [\"low\"]", "tier = 3\npreempts = [\"low\", \"lowest\"]\n[[provider.queue]]\nname = \"lowest\"\nnumber = 3");
    let folder = Folder::with(&[("site.toml", &text)]);
    run(&folder, "site");
    let expected = [
        "0 1 0.0 100.0 completed ",
        "1 1 10.0 40.0 preempted 2",
        "1 2 60.0 160.0 completed ",
        "2 1 40.0 60.0 completed ",
        "3 1 100.0 105.0 completed ",
    ];
    assert_eq!(attempts(&folder, "site"), expected);
}

/// With passes each minute, a job is stopped at a pass. None is stopped that has to end by then.
#[test]
fn passes_at_intervals_stop_jobs_at_passes() {
    let text = QUEUES.replace("policy = \"easy\"", "policy = \"easy\"\ninterval = \"1min\"");
    let all = text.replace(
        "\"30s\", processors = 2, run = \"20s\", requested = \"30s\"",
        "\"65s\", processors = 4, run = \"20s\", requested = \"30s\"",
    );
    let folder = Folder::with(&[("site.toml", &all)]);
    run(&folder, "site");
    // Both jobs have started at a pass, and have to end by the one at 180 s.
    let expected =
        ["0 1 0.0 100.0 completed ", "1 1 60.0 160.0 completed ", "2 1 180.0 200.0 completed "];
    assert_eq!(attempts(&folder, "site"), expected);
    let longer = all
        .replace("requested = \"2min\"", "requested = \"10min\"")
        .replace("run = \"100s\"", "run = \"300s\"");
    let longer = longer.replace("grace = \"10s\"", "grace = \"10s\"\non-preemption = \"cancel\"");
    let folder = Folder::with(&[("site.toml", &longer)]);
    run(&folder, "site");
    let expected =
        ["0 1 0.0 180.0 preempted 2", "1 1 60.0 180.0 preempted 2", "2 1 180.0 200.0 completed "];
    assert_eq!(attempts(&folder, "site"), expected);
}

#[test]
fn tasks_of_workflows_may_be_stopped() {
    let text = r#"
[[workload]]
name = "flows"
model = "workflows"
[workload.workflows]
count = 3
shape = "fork-join"
tasks = 12

[[workload]]
name = "urgent"
jobs = [
    { submit = "10000s", processors = 3, run = "1min", requested = "1min", queue = 2 },
    { submit = "20min", processors = 4, run = "1min", requested = "1min", queue = 2 },
]
[[user]]
name = "flows"
workload = "flows"
submits-to = "site"
"#;
    let rest = QUEUES.split_once("[[provider]]").expect("a provider").1;
    let rest =
        format!("[[provider]]{rest}").replace("workload = \"jobs\"", "workload = \"urgent\"");
    let folder = Folder::with(&[("site.toml", &format!("{text}{rest}"))]);
    run(&folder, "site");
    let outcomes = rows(&folder, "site", "attempts", &["outcome"]).concat();
    assert!(outcomes.iter().any(|it| it == "preempted"), "{outcomes:?}");
    let failures = rows(&folder, "site", "workflows", &["failures"]).concat();
    assert!(failures.iter().all(|it| it == "0"), "{failures:?}");
}

#[test]
fn mistakes_are_named() {
    for (from, to, expected) in [
        (
            "preempts = [\"low\"]",
            "preempts = [\"slow\"]",
            "queue \"high\" stops jobs of queue \"slow\", and there is none",
        ),
        (
            "preempts = [\"low\"]",
            "preempts = [\"high\"]",
            "jobs of queue \"high\" would stop each other in turn",
        ),
        (
            "preempts = [\"low\"]",
            "preempts = [\"low\", \"low\"]",
            "queue \"high\" lists queue \"low\" twice",
        ),
        (
            "grace = \"10s\"",
            "preempts = [\"high\"]",
            "jobs would stop each other in turn: low, high",
        ),
        ("preempts = [\"low\"]", "tier = 2", "`grace` of queue \"low\" has no effect"),
    ] {
        let folder = Folder::with(&[("site.toml", &QUEUES.replace(from, to))]);
        let told = unwrapped(&folder.haggle(&["validate", "site.toml"]));
        assert!(told.contains(expected), "{to}: {told}");
    }
}
