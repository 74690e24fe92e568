//! Runs that are killed continue from their last snapshots, and leave the same results.

use std::collections::BTreeMap;
use std::fs;
use std::process::Child;
use std::time::Duration;

use crate::command::{Folder, refused, succeeds};

/// Jobs over two providers that bargain, with failures: some seconds of work for a debug build.
const LONG: &str = r#"
[scenario]
name = "long"

[[workload]]
name = "jobs"
model = "lublin-feitelson"
lublin = { jobs = 12000, processors = 64, load = 0.7 }

[[user]]
name = "users"
workload = "jobs"
submits-to = "broker"

[[provider]]
name = "north"
processors = 64
policy = "conservative"

[[provider]]
name = "south"
processors = 64
policy = "easy"

[[failures]]
of = ["north", "south"]
processors-per-node = 8
law = { up = { law = "weibull", shape = 0.7, scale = "20h" }, down = { law = "exponential", mean = "1h" } }

[[metascheduler]]
name = "broker"
placement = "round-robin"
"#;

/// All files of results except the one that tells how long the run took.
fn files(folder: &Folder, results: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = folder.tree(results);
    files.remove("timing.json");
    files
}

/// Starts a command and kills it after so many milliseconds; true if it had not ended.
fn killed(folder: &Folder, arguments: &[&str], millis: u64) -> bool {
    let mut child = folder.start(arguments);
    std::thread::sleep(Duration::from_millis(millis));
    let was_running = child.try_wait().expect("a child").is_none();
    child.kill().expect("killed, or over");
    child.wait().expect("a child");
    was_running
}

/// The same, as soon as a run into the folder `output` has made some snapshots.
fn killed_with_snapshot(folder: &Folder, arguments: &[&str], output: &str) -> bool {
    let mut child = folder.start(arguments);
    let state = folder.path().join(format!(".{output}.snapshots/state"));
    let is_running = |child: &mut Child| child.try_wait().expect("a child").is_none();
    let (mut made, mut last) = (0, None);
    while made < 5 && is_running(&mut child) {
        let changed = state.metadata().and_then(|it| it.modified()).ok();
        if changed != last {
            (made, last) = (made + 1, changed);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let was_running = is_running(&mut child);
    child.kill().expect("killed, or over");
    child.wait().expect("a child");
    was_running
}

#[test]
fn a_run_that_is_killed_again_and_again_leaves_the_same_results() {
    let folder = Folder::with(&[("long.toml", LONG)]);
    succeeds(&folder, &["run", "long.toml", "-o", "whole", "--quiet", "--check"]);
    let first = ["run", "long.toml", "-o", "parts", "-q", "--check", "--snapshot-every", "3d"];
    let mut kills = u32::from(killed(&folder, &first, 400));
    for round in 0..6 {
        if folder.path().join("parts").exists() {
            break;
        }
        let driver = ["actix", "sequential"][round % 2];
        let go_on = ["run", "--continue", "parts", "-q", "--driver", driver];
        kills += u32::from(killed(&folder, &go_on, 300));
    }
    if !folder.path().join("parts").exists() {
        succeeds(&folder, &["run", "--continue", "parts", "--quiet"]);
    }
    assert!(kills > 0, "the run was over before it was killed");
    assert_eq!(files(&folder, "whole"), files(&folder, "parts"));
    assert!(!folder.path().join(".parts.snapshots").exists(), "snapshots of complete results");
}

#[test]
fn a_run_continues_only_with_its_own_inputs() {
    let scenario = r#"
[[workload]]
name = "log"
log = "jobs.swf"

[[user]]
name = "users"
workload = "log"
submits-to = "north"

[[provider]]
name = "north"
processors = 4
policy = "fcfs"

[scenario]
horizon = "900d"

[[failures]]
of = ["north"]
law = { up = { law = "exponential", mean = "1min" }, down = { law = "exponential", mean = "1min" } }
"#;
    let job = |run: u32| format!("1 0 -1 {run} 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1\n");
    let folder = Folder::with(&[("s.toml", scenario), ("jobs.swf", &job(50))]);
    let start = ["run", "s.toml", "-o", "out", "-q", "--snapshot-every", "10d"];
    assert!(killed_with_snapshot(&folder, &start, "out"), "the run is too short");
    fs::write(folder.path().join("jobs.swf"), job(51)).expect("written");
    let shown = refused(&folder, &["run", "--continue", "out"]);
    assert!(shown.contains("jobs.swf` has changed since the run began"), "{shown}");
    let state = folder.path().join(".out.snapshots/state");
    let mut bytes = fs::read(&state).expect("a snapshot");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&state, bytes).expect("written");
    fs::write(folder.path().join("jobs.swf"), job(50)).expect("written");
    let shown = refused(&folder, &["run", "--continue", "out"]);
    assert!(shown.contains("state` is damaged: start the run again"), "{shown}");
}

/// A step that changes the first job counts it, whether the run is continued or not.
#[test]
fn warnings_of_inputs_that_were_read_are_those_of_the_whole_run() {
    let jobs = r#"
[[workload]]
name = "jobs"
jobs = [{ submit = "0s", processors = 1, requested = "2000d", run = "2000d" }]
"#;
    let step = "[[workload.step]]\nkind = \"first\"\njobs = 1\n";
    let rest = r#"
[[provider]]
name = "north"
processors = 1
policy = "fcfs"

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[failures]]
of = ["north"]
law = { up = { law = "exponential", mean = "5min" }, down = { law = "exponential", mean = "5min" } }

[scenario]
horizon = "1500d"
"#;
    let jobs = jobs
        .replace("}]", "}, { submit = \"1s\", processors = 1, requested = \"1d\", run = \"1d\" }]");
    let folder = Folder::with(&[("s.toml", &format!("{jobs}{step}{rest}"))]);
    succeeds(&folder, &["run", "s.toml", "-o", "whole", "-q"]);
    let start = ["run", "s.toml", "-o", "parts", "-q", "--snapshot-every", "30d"];
    assert!(killed_with_snapshot(&folder, &start, "parts"), "the run is too short");
    let shown = refused(&folder, &start);
    assert!(shown.contains("continue it with --continue, or add --force"), "{shown}");
    let events = folder.path().join(".parts.snapshots/events");
    let kept = fs::read(&events).expect("the journal");
    let mut changed = kept.clone();
    changed[9] ^= 1;
    fs::write(&events, changed).expect("written");
    let shown = refused(&folder, &["run", "--continue", "parts"]);
    assert!(shown.contains("events` is damaged: start the run again"), "{shown}");
    fs::write(&events, kept).expect("written");
    succeeds(&folder, &["run", "--continue", "parts", "-q"]);
    assert_eq!(files(&folder, "whole"), files(&folder, "parts"));
}

#[test]
fn a_missing_snapshot_and_settings_that_do_not_fit_are_refused() {
    let folder = Folder::with(&[]);
    let shown = refused(&folder, &["run", "--continue", "nothing"]);
    assert!(shown.contains("there is no run to continue"), "{shown}");
    for arguments in [
        &["run", "--continue", "out", "--seed", "3"][..],
        &["run", "--continue", "out", "s.toml"],
        &["run", "--example", "quickstart", "--snapshot-every", "0s"],
    ] {
        refused(&folder, arguments);
    }
}
