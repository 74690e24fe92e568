//! `haggle verify --histories`: histories of a small world from the command line.

use crate::command::{Folder, json_of, stdout_of};

/// One job of one provider, which may crash. When the last message of the job is on its way, no other actor has work.
const ONE: &str = r#"
[[workload]]
name = "jobs"
jobs = [{ submit = "0s", processors = 2, run = "10s", requested = "10s" }]

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[provider]]
name = "north"
processors = 4
policy = "fcfs"

[[failures]]
actors = ["north"]
law = { up = { law = "exponential", mean = "100d" }, down = { law = "constant", value = "5s" } }
"#;

/// A provider that crashes at the end of the last job restarts before the history is judged.
#[test]
fn a_crash_after_the_last_job_is_followed_by_its_restart() {
    let folder = Folder::with(&[("one.toml", ONE)]);
    let shown = folder.haggle(&["verify", "--histories", "one.toml"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    assert!(shown.contains("none, complete up to 2 deviations"), "{shown}");
    let told = folder.haggle(&["verify", "--histories", "one.toml", "--history", "crash@5"]);
    let lines = Vec::from_iter(stdout_of(&told).lines().skip(5).map(str::trim));
    assert_eq!(
        lines,
        [
            "5  10 s  north: crashed",
            "6  10 s  north: wake",
            "7  15 s  north: restarted",
            "8  15 s  north -> users: finished job#0",
            "no violation"
        ]
    );
}

/// The number of each message in a list is that by which `--history` names it.
#[test]
fn messages_are_numbered_as_history_names_them() {
    let folder = Folder::with(&[]);
    let world = ["verify", "--histories", "--protocol", "two-phase"];
    let told = |steps: &[&str]| {
        let shown = folder.haggle(&[&world[..], steps].concat());
        assert!(shown.starts_with("exit code: 0"), "{steps:?}: {shown}");
        let lines = stdout_of(&shown).lines().map(|line| line.trim().to_owned());
        Vec::from_iter(lines)
    };
    let all = told(&["--history"]);
    let crash = told(&["--history", "crash@7"]);
    assert_eq!(crash[..7], all[..7], "the beginning is the same");
    let prepares = all.iter().filter(|line| line.contains("prepare"));
    let mut lost = 0;
    for line in prepares.take(3) {
        let (number, message) = line.split_once("  ").expect("a number");
        let step = format!("lose@{number}");
        let again = told(&["--history", &step]);
        let place = again.iter().position(|it| it.starts_with(&format!("{number}  ")));
        let at = &again[place.expect("it has the number")];
        let sent = message.split(" job#").next().expect("a message");
        assert_eq!(*at, format!("{number}  {sent} is LOST"), "{again:#?}");
        // A further deviation is named by its number in the list of this history.
        let next = again[place.expect("it is there")..].iter().find(|it| it.contains("-> m1"));
        if let Some((number, _)) = next.and_then(|it| it.split_once("  ")) {
            let both = told(&["--history", &step, "--history", &format!("lose@{number}")]);
            assert_eq!(both.iter().filter(|it| it.ends_with("is LOST")).count(), 2, "{both:#?}");
            lost += 1;
        }
    }
    assert!(lost > 0, "{all:#?}");
}

#[test]
fn a_repeated_history_is_told_as_json() {
    let folder = Folder::with(&[("one.toml", ONE)]);
    let told = ["verify", "--histories", "one.toml", "--history", "crash@5", "--json"];
    let json = json_of(&folder.haggle(&told));
    assert_eq!(json["world"], "one");
    assert_eq!(json["history"][0]["deviation"], "crash");
    assert_eq!(json["history"][0]["at"], 5);
    assert!(json["violation"].is_null(), "{json}");
    assert_eq!(json["messages"].as_array().map(Vec::len), Some(9), "{json}");
}
