//! Grids whose jobs run or wait at time zero.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::command::{Folder, json_of, stdout_of, unwrapped};

/// Two resources with one slot each. Job 11 has two of its three hours left. Three jobs wait: 13, 12 and 14 by
/// submission. A job of 90 minutes comes later.
const STATE: &str = r#"
[grid]
policy = "fjbcr"
period = "0s"
information = { mode = "immediate" }
network = { model = "constant" }
initial = [
    { number = 11, run = "3h", requested = "4h", started-ago = "1h", resource = "s-1" },
    { number = 12, run = "1h", submitted-ago = "30min" },
    { number = 13, run = "1h", submitted-ago = "45min" },
    { number = 14, run = "30min" },
]

[[grid.site]]
name = "s"
resources = 2
slots = 1

[[workload]]
name = "jobs"
jobs = [{ submit = "10min", processors = 1, run = "90min" }]

[[user]]
name = "users"
workload = "jobs"
submits-to = "grid"

[results]
format = "csv"
"#;

/// Cells of a column, by the numbers of jobs; a job of a user has its number as text and `u` before it.
fn column(csv: &str, name: &str) -> BTreeMap<String, String> {
    let mut lines = csv.lines().map(|line| Vec::from_iter(line.split(',')));
    let head = lines.next().expect("a line of names");
    let at = |name: &str| head.iter().position(|it| *it == name).expect("the column is there");
    let (job, workload, at) = (at("job_id"), at("workload_name"), at(name));
    let key = |row: &[&str]| match row[workload] {
        "grid-initial" => row[job].to_owned(),
        _ => format!("u{}", row[job]),
    };
    lines.map(|row| (key(&row), row[at].to_owned())).collect()
}

fn cells(csv: &str, name: &str) -> Vec<String> {
    column(csv, name).into_values().collect()
}

fn run(folder: &Folder, name: &str, options: &[&str]) -> String {
    let out = folder.haggle(&[&["run", "state.toml", "-o", name, "--check"], options].concat());
    assert!(out.starts_with("exit code: 0"), "{out}");
    out
}

#[test]
fn a_grid_begins_with_jobs_that_run_and_wait() {
    let folder = Folder::with(&[("state.toml", STATE)]);
    let out = run(&folder, "out", &[]);
    assert!(stdout_of(&out).contains("4 more jobs of the start state left out"), "{out}");
    let jobs = folder.read("out/jobs.csv");
    assert_eq!(
        cells(&jobs, "starting_time"),
        ["0.0", "3600.0", "0.0", "7200.0", "7200.0"],
        "{jobs}"
    );
    assert_eq!(
        cells(&jobs, "finish_time"),
        ["7200.0", "7200.0", "3600.0", "9000.0", "12600.0"],
        "{jobs}"
    );
    assert_eq!(cells(&jobs, "submission_time"), ["-3600.0", "-1800.0", "-2700.0", "0.0", "600.0"]);
    assert_eq!(cells(&jobs, "counted"), ["0", "0", "0", "0", "1"]);
    assert_eq!(cells(&jobs, "initial"), ["running", "waiting", "waiting", "waiting", ""]);
    let summary = folder.summary("out");
    assert_eq!((summary["nb_jobs"].as_u64(), summary["jobs_cut"].as_u64()), (Some(1), Some(4)));
    assert_eq!(summary["makespan"].as_f64(), Some(12_600.0), "from time zero on");
    // Two hours of the running job, and all of the others.
    let total = &summary["grid"]["slot_time"]["total"];
    assert_eq!(total.as_f64(), Some((2.0 + 1.0 + 1.0 + 0.5 + 1.5) * 3600.0), "{summary}");
}

#[test]
fn every_driver_a_snapshot_and_rounds_give_the_same() {
    let folder = Folder::with(&[("state.toml", STATE)]);
    let tables = |name: &str, options: &[&str]| {
        run(&folder, name, options);
        ["jobs", "messages", "attempts"].map(|it| folder.read(&format!("{name}/{it}.csv")))
    };
    let plain = tables("plain", &[]);
    assert_eq!(tables("actix", &["--driver", "actix"]), plain);
    assert_eq!(tables("snapshots", &["--snapshot-every", "20min"]), plain);
    // The first round is that of time zero.
    let [jobs, ..] = tables("rounds", &["--set", "grid.period=7min"]);
    assert_eq!(column(&jobs, "starting_time")["13"], "0.0", "{jobs}");
}

/// Jobs that share a resource had the shares of the jobs that had started: 1 h + 1 h / 2 and 1 h / 2 at 2 MIPS. Each
/// has 3 h at 1 MIPS left, at 1 MIPS.
#[test]
fn running_jobs_have_computed_at_their_shares() {
    let shared = STATE
        .replace("slots = 1", "slots = 2\nmips = 2")
        .replace("\"1h\", resource = \"s-1\" },", "\"1h\", resource = \"s-1\" },\n{ number = 15, run = \"6h\", started-ago = \"2h\", resource = \"s-1\" },")
        .replace("run = \"3h\"", "run = \"4h\"");
    let folder = Folder::with(&[("state.toml", &shared)]);
    run(&folder, "out", &["--set", "grid.prepare=1min"]);
    let jobs = folder.read("out/jobs.csv");
    let (starts, ends) = (column(&jobs, "starting_time"), column(&jobs, "finish_time"));
    let of = |number: &str| (starts[number].clone(), ends[number].clone());
    let both = ("0.0".to_owned(), "10800.0".to_owned());
    assert_eq!((of("11"), of("15")), (both.clone(), both), "{jobs}");
    // Others are prepared.
    assert_eq!(starts["13"], "60.0");
}

/// Job 11 is lost with its resource after an hour. It keeps the work that it had done at time zero.
#[test]
fn a_lost_job_restarts_from_its_state_at_time_zero() {
    let failing = STATE.replace("policy = \"fjbcr\"", "policy = \"migration\"")
        + "\n[[failures]]\nof = [\"s\"]\nnodes = 1\noutages = [[\"1h\", \"2h\"]]\n[scenario]\nhorizon = \"1d\"\n";
    let folder = Folder::with(&[("state.toml", &failing)]);
    run(&folder, "out", &[]);
    let jobs = folder.read("out/jobs.csv");
    let (starts, ends) = (column(&jobs, "starting_time"), column(&jobs, "finish_time"));
    let seconds = |text: &str| text.parse::<f64>().expect("a time");
    assert!(seconds(&starts["11"]) >= 3600.0, "{jobs}");
    assert_eq!(seconds(&ends["11"]) - seconds(&starts["11"]), 7200.0, "{jobs}");
}

/// Only the name of its workload shows that the job was on the grid.
#[test]
fn a_job_without_an_attempt_at_the_horizon_is_counted_on_the_grid() {
    let text = STATE.replace("period = \"0s\"", "period = \"1h\"");
    let text = format!("[scenario]\nhorizon = \"1s\"\n\n{text}");
    let folder = Folder::with(&[("cut.toml", &text)]);
    let shown = folder.haggle(&["run", "cut.toml", "-o", "cut", "--check"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
}

#[test]
fn impossible_start_states_of_grids_are_refused() {
    let of = |jobs: &str, keys: &str, site: &str| {
        format!(
            "[scenario]\nhorizon = \"1d\"\n[grid]\n{keys}\ninitial = [{jobs}]\n[[grid.site]]\nname = \"s\"\nresources = 2\n{site}\n"
        )
    };
    let one = "{ run = \"2h\", started-ago = \"1h\", resource = \"s-1\" }";
    let two = format!("{one}, {one}");
    let fjbcr = "policy = \"fjbcr\"";
    for (jobs, keys, site, message) in [
        ("{ requested = \"1h\" }", fjbcr, "", "job 1 has no run time, and no law gives one"),
        (
            "{ run = \"1h\", started-ago = \"5min\" }",
            fjbcr,
            "",
            "has started, and its resource is missing",
        ),
        (
            "{ run = \"1h\", resource = \"s-1\" }",
            fjbcr,
            "",
            "job 1 waits, and its scheduler chooses its resource",
        ),
        (
            "{ run = \"1h\", started-ago = \"5min\", resource = \"s-3\" }",
            fjbcr,
            "",
            "the grid has no resource \"s-3\"",
        ),
        (
            "{ run = \"1h\", started-ago = \"5min\", resource = \"s-01\" }",
            fjbcr,
            "",
            "the grid has no resource \"s-01\"",
        ),
        (
            "{ run = \"1h\", started-ago = \"1h\", resource = \"s-1\" }",
            fjbcr,
            "",
            "job 1 has run for 1h, and has done all of its work, 1h at 1 MIPS",
        ),
        (
            "{ run = \"1h\", started-ago = \"0s\", resource = \"s-1\" }",
            fjbcr,
            "",
            "job 1 would start at time zero, and not before",
        ),
        (
            "{ run = \"1h\", started-ago = \"5min\", submitted-ago = \"1min\", resource = \"s-1\" }",
            fjbcr,
            "",
            "was submitted 1min ago and started before, 5min ago",
        ),
        (
            "{ run = \"1h\", number = 2 }, { run = \"1h\" }",
            fjbcr,
            "",
            "job 2 is listed twice, also as entry 1",
        ),
        ("{ run = \"1h\", submitted-ago = \"9999w\" }", fjbcr, "", "is over a century ago"),
        ("{ run = \"1h\", processors = 2 }", fjbcr, "", "has no key `processors`"),
        (&two, fjbcr, "slots = 1", "job 2 is number 2 on its resource, which has 1 slots"),
        (
            one,
            fjbcr,
            "sharing = \"reserved\"",
            "whose jobs reserve shares, and jobs of a start state have none",
        ),
        (one, "policy = \"full-fill\"", "sharing = \"reserved\"", "a start state has no sessions"),
        (one, "policy = \"workflow\"", "", "jobs of a start state are no tasks of workflows"),
    ] {
        let folder = Folder::with(&[("state.toml", &of(jobs, keys, site))]);
        let out = unwrapped(&folder.haggle(&["validate", "state.toml"]));
        assert!(out.starts_with("exit code: 3") && out.contains(message), "{jobs} {keys}: {out}");
    }
    // The speed is drawn, so the job is found to be over before the run.
    let drawn =
        of("{ run = \"61min\", started-ago = \"1h\", resource = \"s-1\" }", fjbcr, "mips-max = 9");
    let folder = Folder::with(&[("state.toml", &drawn)]);
    let out = unwrapped(&folder.haggle(&["run", "state.toml"]));
    assert!(
        !out.starts_with("exit code: 0") && out.contains("job 1 is over at time zero"),
        "{out}"
    );
}

/// The running jobs hold both resources, for one or for two hours more.
#[test]
fn starts_on_a_grid_are_forecast() {
    let law = STATE
        .replace("initial = [", "initial-run = { law = \"choice\", values = [\"30min\", \"2h\", \"3h\"] }\ninitial = [\n{ number = 21, started-ago = \"1h\", resource = \"s-2\" },")
        .replace("run = \"3h\", requested = \"4h\", started-ago", "started-ago");
    let folder = Folder::with(&[("state.toml", &law)]);
    let of = |jobs: &str| {
        let out =
            folder.haggle(&["forecast", "state.toml", "--json", "--runs", "60", "--jobs", jobs]);
        assert!(out.starts_with("exit code: 0"), "{out}");
        json_of(&out)
    };
    let one = of("1");
    assert_eq!(of("2"), one, "the number of threads changes nothing");
    let jobs = one["jobs"].as_array().expect("a list");
    let numbers = Vec::from_iter(jobs.iter().map(|it| it["job"].clone()));
    assert_eq!(numbers, [13, 12, 14].map(Value::from), "the running jobs are not forecast");
    let interval = &jobs[0]["intervals"][1];
    assert_eq!(
        (&jobs[0]["provider"], &jobs[0]["submitted_s"]),
        (&Value::from("grid"), &Value::from(-2700.0))
    );
    assert_eq!(
        (interval["from_s"].as_f64(), interval["to_s"].as_f64()),
        (Some(3600.0), Some(7200.0))
    );
}

#[test]
fn a_job_that_has_waited_too_long_goes_at_time_zero() {
    let passed = STATE.replace(
        "[[grid.site]]",
        "overflow = { to = \"north\", after = \"40min\" }\n[[grid.site]]",
    ) + "\n[[provider]]\nname = \"north\"\nprocessors = 1\npolicy = \"fcfs\"\n";
    let folder = Folder::with(&[("state.toml", &passed)]);
    run(&folder, "out", &[]);
    let jobs = folder.read("out/jobs.csv");
    let (starts, initial) = (column(&jobs, "starting_time"), column(&jobs, "initial"));
    assert_eq!((starts["13"].as_str(), initial["13"].as_str()), ("0.0", "waiting"), "{jobs}");
    assert_eq!(starts["11"], "0.0", "it runs: {jobs}");
}

/// The longest job goes first, also if it was submitted before time zero.
#[test]
fn the_longest_job_of_a_start_state_goes_first() {
    let longest = STATE.replace("fjbcr", "max-max").replace(
        "run = \"1h\", submitted-ago = \"30min\"",
        "run = \"1h\", requested = \"2h\", submitted-ago = \"30min\"",
    );
    let folder = Folder::with(&[("state.toml", &longest)]);
    run(&folder, "out", &[]);
    let jobs = folder.read("out/jobs.csv");
    assert_eq!(column(&jobs, "starting_time")["12"], "0.0", "{jobs}");
}

#[test]
fn a_job_without_work_may_wait_at_time_zero() {
    let grid = "[grid]\npolicy = \"wqr\"\ninitial = [{ run = \"0s\" }]\n[[grid.site]]\nname = \"s\"\nresources = 1\n";
    let folder = Folder::with(&[("state.toml", grid)]);
    let shown = unwrapped(&folder.haggle(&["run", "state.toml", "-o", "state", "--check"]));
    assert!(shown.starts_with("exit code: 0") && !shown.contains("no effect"), "{shown}");
}
