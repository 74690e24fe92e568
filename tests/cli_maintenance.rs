//! Processors that are closed for maintenance: keys of scenarios, and fates of jobs.

use haggle::scenario::vocabulary;
use serde_json::Value;

use crate::command::{Folder, json_of, stdout_of};

/// Four processors, closed from 100 to 150. One job would run into that time, one ends before it,
/// and one comes meanwhile.
const CLOSED: &str = r#"
[scenario]
name = "closed"

[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 2, requested = "120s", run = "60s" },
    { submit = "10s", processors = 3, requested = "90s", run = "80s" },
    { submit = "120s", processors = 1, requested = "20s", run = "20s" },
]

[[provider]]
name = "north"
processors = 4
policy = "easy"

[[maintenance]]
from = "100s"
until = "150s"

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#;

/// Two of four processors are closed from 50 s on, and the only job ends after 100 s.
const LONGER_THAN_JOBS: &str = r#"
[[workload]]
name = "jobs"
jobs = [{ submit = "0s", processors = 2, requested = "100s", run = "100s" }]

[[provider]]
name = "north"
processors = 4
policy = "conservative"

[[maintenance]]
from = "50s"
until = "400s"
processors = 2

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
patience = "1000s"
"#;

#[test]
fn what_is_closed_counts_until_the_last_job_has_left() {
    let closed = |text: &str| {
        let folder = Folder::with(&[("s.toml", text)]);
        let shown = folder.haggle(&["run", "s.toml", "-o", "out", "--check", "--quiet"]);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
        folder.summary("out")["maintenance"]["closed"].as_f64()
    };
    assert_eq!(closed(LONGER_THAN_JOBS), Some(100.0));
    let until = |horizon| format!("[scenario]\nhorizon = \"{horizon}\"\n{LONGER_THAN_JOBS}");
    assert_eq!(closed(&until("150s")), Some(200.0));
    assert_eq!(closed(&until("1h")), Some(700.0));
}

/// A window is announced 50 s before it begins, and the scheduler is down from 30 to 60 s.
const ANNOUNCED_LATE: &str = r#"
[[provider]]
name = "north"
processors = 8
policy = { name = "reservations", fix-at = "38%" }

[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 8, run = "10s", requested = "10s" },
    { submit = "0s", processors = 8, run = "50s", requested = "50s", ready = "100s", deadline = "160s" },
]
[[workload.step]]
kind = "reservations"

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[maintenance]]
from = "90s"
until = "120s"
notice = "50s"
overlap = "break"

[network]
transport = "reliable"

[[failures]]
actors = ["north"]
outages = [["30s", "60s"]]

[results]
format = "csv"
"#;

#[test]
fn a_scheduler_hears_of_a_window_when_it_is_back() {
    let announced = |until: &str| {
        let text = ANNOUNCED_LATE.replace("\"60s\"]]", &format!("\"{until}\"]]"));
        let folder = Folder::with(&[("s.toml", &text)]);
        let shown = folder.haggle(&["run", "s.toml", "-o", "out", "--check", "--quiet"]);
        assert!(shown.starts_with("exit code: 0"), "{until}: {shown}");
        let table = folder.read("out/maintenance.csv");
        let cell = |name: &str| {
            let header = table.lines().next().expect("a header").split(',');
            let place = header.into_iter().position(|it| it == name).expect("a column");
            table.lines().nth(1).expect("a row").split(',').nth(place).expect("a cell").to_owned()
        };
        (cell("announcement_time"), cell("outcome"))
    };
    let named = |time: &str, outcome: &str| (time.to_owned(), outcome.to_owned());
    assert_eq!(announced("35s"), named("40.0", "held"));
    assert_eq!(announced("60s"), named("60.0", "held"));
    // The window should have begun by then.
    assert_eq!(announced("95s"), named("95.0", "refused"));
}

#[test]
fn no_job_starts_that_would_run_into_maintenance() {
    let text = format!("{CLOSED}\n[results]\nformat = \"csv\"\n[[figure]]\nkind = \"gantt\"\n");
    for policy in vocabulary::words("Policy").into_iter().map(|it| it.word) {
        let text = text.replace("\"easy\"", &format!("\"{policy}\""));
        let folder = Folder::with(&[("s.toml", &text)]);
        let shown = folder.haggle(&["run", "s.toml", "-o", "out", "--check", "--quiet"]);
        assert!(shown.starts_with("exit code: 0"), "{policy}: {shown}");
        let jobs = folder.read("out/jobs.csv");
        let header: Vec<&str> = jobs.lines().next().expect("a header").split(',').collect();
        let column = |name: &str| header.iter().position(|it| *it == name).expect("a column");
        let (id, start) = (column("job_id"), column("starting_time"));
        let mut starts: Vec<(&str, &str)> = jobs
            .lines()
            .skip(1)
            .map(|line| {
                let cells: Vec<&str> = line.split(',').collect();
                (cells[id], cells[start])
            })
            .collect();
        starts.sort_unstable();
        // Under first come, first served, the second job waits for the first one.
        let expected = match policy.as_str() {
            "fcfs" => [("1", "150.0"), ("2", "210.0"), ("3", "210.0")],
            _ => [("1", "150.0"), ("2", "10.0"), ("3", "150.0")],
        };
        assert_eq!(starts, expected, "{policy}");
        let table = folder.read("out/maintenance.csv");
        let row = "north,1,0.0,100.0,150.0,4,4,held,0,3,";
        assert_eq!(table.lines().nth(1), Some(row), "{policy}");
        let sums = &folder.summary("out")["maintenance"];
        let expected = r#"{"windows":1,"short":0,"refused":0,"closed":200.0,"missed":0.0}"#;
        assert_eq!(
            sums.to_string(),
            serde_json::from_str::<Value>(expected).expect("JSON").to_string()
        );
        assert!(folder.names_in("out").contains(&"gantt.png".to_owned()));
    }
}

#[test]
fn a_job_that_waited_for_maintenance_is_told_so() {
    let folder = Folder::with(&[("s.toml", CLOSED)]);
    folder.haggle(&["run", "s.toml", "-o", "out", "--quiet"]);
    let shown = folder.haggle(&["explain", "out", "jobs!1"]);
    let told = stdout_of(&shown);
    assert!(
        told.contains(
            "north had 4 processors in maintenance from 100 s to 150 s, known from the beginning."
        ),
        "{told}"
    );
    let line = |text: &str| {
        told.lines().find(|line| line.trim_start().starts_with(text)).map(str::to_owned)
    };
    let waited = line("maintenance, or too short a time before it").expect("a part");
    assert!(waited.contains(" 70 "), "{told}");
    let story = json_of(&folder.haggle(&["explain", "out", "jobs!1", "--json"]));
    // From 10 to 90 s the second job holds most processors; before and after, the window is too
    // near.
    let parts: Vec<(&Value, &Value)> = story["parts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| (&it["part"], &it["waiting"]))
        .collect();
    let expected = [("busy", 80.0), ("maintenance", 70.0), ("computing", 0.0)];
    assert_eq!(parts.len(), 3);
    for ((part, waiting), (name, seconds)) in parts.into_iter().zip(expected) {
        assert_eq!((part.as_str(), waiting.as_f64()), (Some(name), Some(seconds)));
    }
    // The third job comes while all processors are closed.
    let shown = folder.haggle(&["explain", "out", "jobs!3", "--json"]);
    let story = json_of(&shown);
    assert_eq!(story["parts"][0]["part"], "maintenance");
    assert_eq!(story["parts"][0]["waiting"], 30.0);
}

/// The run ends before the window, because of which no job could start.
const BEFORE_THE_WINDOW: &str = r#"
[scenario]
horizon = "8s"

[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 2, run = "15s", requested = "15s" },
    { submit = "0s", processors = 2, run = "20s", requested = "20s" },
]

[[provider]]
name = "north"
processors = 2
policy = "easy"

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[maintenance]]
from = "10s"
until = "20s"

[results]
format = "csv"
"#;

#[test]
fn a_window_behind_the_end_of_the_run_is_in_the_table() {
    let folder = Folder::with(&[("s.toml", BEFORE_THE_WINDOW)]);
    for driver in ["sequential", "actix"] {
        let shown = folder.haggle(&[
            "run", "s.toml", "-o", "out", "--check", "--quiet", "--force", "--driver", driver,
        ]);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
        let table = folder.read("out/maintenance.csv");
        let row = "north,1,0.0,10.0,20.0,2,0,announced,,,";
        assert_eq!(table.lines().skip(1).collect::<Vec<_>>(), [row], "{driver}");
        assert!(folder.summary("out")["maintenance"].is_null());
    }
    let shown = folder.haggle(&["explain", "out", "0"]);
    let told = stdout_of(&shown);
    assert!(told.contains("maintenance, or too short a time before it           8"), "{told}");
    assert!(!told.contains("order of the queue"), "{told}");
    let window = "north should have had 2 processors in maintenance from 10 s to 20 s, known from the beginning; the run was over before.";
    assert!(told.contains(window), "{told}");
}

/// A window takes the place of a reservation, and the run ends before the window begins.
#[test]
fn a_reservation_loses_its_place_to_a_window_behind_the_end_of_the_run() {
    let world = |remedy: &str| {
        format!(
            r#"
[scenario]
horizon = "15s"

[[provider]]
name = "north"
processors = 2
policy = "reservations"

[[workload]]
name = "jobs"
jobs = [{{ submit = "0s", processors = 2, run = "10s", requested = "10s", ready = "20s", deadline = "30s" }}]

[[workload.step]]
kind = "reservations"
on-failure = "{remedy}"

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[maintenance]]
from = "20s"
until = "40s"
notice = "10s"
overlap = "break"
"#
        )
    };
    for remedy in ["substitute", "postpone"] {
        let folder = Folder::with(&[("s.toml", &world(remedy))]);
        let shown = folder.haggle(&["run", "s.toml", "-o", "out", "--check", "--quiet"]);
        assert!(shown.starts_with("exit code: 0"), "{remedy}: {shown}");
    }
}

/// A window that is announced after a promise is refused, or breaks the promise.
#[test]
fn a_promise_in_the_way_is_kept_or_counted_as_broken() {
    let late = CLOSED.replace("\"easy\"", "\"conservative\"").replace(
        "from = \"100s\"\nuntil = \"150s\"",
        "from = \"130s\"\nuntil = \"150s\"\nnotice = \"115s\"",
    );
    for (overlap, counts) in [("refuse", [0, 1, 0]), ("break", [1, 0, 1])] {
        let text = late.replace("notice", &format!("overlap = \"{overlap}\"\nnotice"));
        let text = format!("{text}\n[results]\nformat = \"csv\"\n");
        let folder = Folder::with(&[("s.toml", &text)]);
        let shown = folder.haggle(&["run", "s.toml", "-o", "out", "--check", "--quiet"]);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
        let summary = folder.summary("out");
        let sums = &summary["maintenance"];
        let broken = summary["all"]["outcomes"]["promises_broken"].as_u64();
        let seen = [sums["windows"].as_u64(), sums["refused"].as_u64(), broken];
        assert_eq!(seen, counts.map(Some), "{overlap}: {summary:#}");
        // The second job is planned from 120 to 210, so four processors are not free before 210.
        let table = folder.read("out/maintenance.csv");
        let possible = table.lines().nth(1).and_then(|row| row.rsplit(',').next());
        let expected = if overlap == "refuse" { "210.0" } else { "" };
        assert_eq!(possible, Some(expected), "{table}");
    }
}

#[test]
fn windows_that_cannot_be_are_refused() {
    for (from, to, expected) in [
        ("until = \"150s\"", "until = \"90s\"", "a window from 100s until 90s has no time"),
        ("until = \"150s\"", "until = \"150s\"\ntimes = 3", "the time between them is missing"),
        (
            "until = \"150s\"",
            "until = \"150s\"\nevery = \"20s\"\ntimes = 3",
            "the next one begins after 20s",
        ),
        ("until = \"150s\"", "until = \"150s\"\nprocessors = 5", "has 4 processors, not 5"),
        ("until = \"150s\"", "until = \"150s\"\nof = [\"nort\"]", "did you mean \"north\"?"),
        (
            "[[user]]",
            "[[maintenance]]\nfrom = \"120s\"\nuntil = \"160s\"\nprocessors = 1\n\n[[user]]",
            "windows of provider \"north\" close more than its 4 processors",
        ),
    ] {
        let folder = Folder::with(&[("s.toml", &CLOSED.replace(from, to))]);
        let shown = folder.haggle(&["validate", "s.toml"]);
        assert!(!shown.starts_with("exit code: 0"), "{to}");
        assert!(shown.contains(expected), "{to}: {shown}");
    }
}

#[test]
fn maintenance_that_nobody_meets_is_warned_about() {
    for (from, to, expected) in [
        (
            "until = \"150s\"",
            "until = \"150s\"\nevery = \"1h\"",
            "`every` of maintenance has no effect",
        ),
        (
            "until = \"150s\"",
            "until = \"150s\"\noverlap = \"break\"",
            "`overlap` of maintenance has no effect",
        ),
        (
            "[[user]]",
            "notice = \"40s\"\n\n[[user]]",
            "maintenance has no effect: the run is over before it is announced",
        ),
    ] {
        let text = CLOSED.replace("name = \"closed\"", "name = \"closed\"\nhorizon = \"50s\"");
        let folder = Folder::with(&[("s.toml", &text.replace(from, to))]);
        let shown = folder.haggle(&["validate", "s.toml"]);
        assert!(shown.contains(expected), "{to}: {shown}");
    }
    // The run is over before the window is announced.
    let early = CLOSED.replace(
        "from = \"100s\"\nuntil = \"150s\"",
        "from = \"1d\"\nuntil = \"2d\"\nnotice = \"1h\"",
    );
    let folder = Folder::with(&[("s.toml", &early)]);
    folder.haggle(&["run", "s.toml", "-o", "out", "--quiet"]);
    let warning = &folder.summary("out")["warnings"][0];
    assert_eq!(
        warning,
        "maintenance has no effect: the run was over before a window was announced"
    );
}

/// The first job asks for more time than there is before the window, and so it does not start.
#[test]
fn a_window_behind_the_end_may_keep_jobs_back() {
    let text = CLOSED.replace("name = \"closed\"", "name = \"closed\"\nhorizon = \"50s\"");
    let folder = Folder::with(&[("s.toml", &text)]);
    let validated = folder.haggle(&["validate", "s.toml"]);
    assert!(!validated.contains("maintenance has no effect"), "{validated}");
    folder.haggle(&["run", "s.toml", "-o", "out", "--quiet"]);
    let summary = folder.summary("out");
    // The second job starts at 10 s instead, on three of four processors.
    assert_eq!(summary["utilisation"], 0.6, "{summary:#}");
    let warnings = summary["warnings"].to_string();
    assert!(warnings.contains("no window of maintenance began"), "{warnings}");
    assert!(!warnings.contains("has no effect"), "{warnings}");
}
