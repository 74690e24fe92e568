//! `haggle calibrate`: settings that are fitted to the recorded starts of a log.

use serde_json::{Value, json};

use crate::command::{Folder, json_of};

/// A site whose scheduler has a pass every five minutes, and examines one job behind the head.
const SITE: &str = r#"
[[workload]]
name = "log"
log = "site.swf"

[[provider]]
name = "machine"
processors = 4
policy = "easy"

[[user]]
name = "users"
workload = "log"
submits-to = "machine"
"#;

/// Jobs of that site: submission, waiting time, run time and processors, by the rules of the keys. A day repeats the same
/// jobs: one holds three of four processors, and three wait behind it.
fn log(days: i64, wait: impl Fn(i64) -> i64) -> String {
    let mut text = "; MaxProcs: 4\n".to_owned();
    let mut number = 0;
    for day in 0..days {
        for (submit, run, requested, processors, place) in [
            (0, 2_000, 3_000, 3, 0),
            (10, 500, 600, 4, 1),
            (20, 500, 600, 2, 2),
            (30, 100, 200, 1, 3),
        ] {
            number += 1;
            let submit = day * 86_400 + submit;
            let wait = wait(place);
            text += &format!(
                "{number} {submit} {wait} {run} {processors} -1 -1 {processors} {requested} -1 1 1 -1 -1 1 -1 -1 -1\n"
            );
        }
    }
    text
}

/// Starts at 0 s, 2,100 s, 2,700 s and 2,700 s of each day, 300 s apart from each other at least.
fn of_site(place: i64) -> i64 {
    [0, 2_100 - 10, 2_700 - 20, 2_700 - 30][place as usize]
}

#[test]
fn the_settings_of_a_log_are_found() {
    let folder = Folder::with(&[("site.toml", SITE), ("site.swf", &log(30, of_site))]);
    let calibrate = ["calibrate", "site.toml", "--block", "1d", "--json", "-o", "fitted.toml"];
    let found = json_of(&folder.haggle(&calibrate));
    let settings = found["settings"].as_array().expect("settings");
    assert_eq!(settings[0], json!({ "key": "interval", "given": null, "fitted": 300 }));
    assert_eq!(settings[1], json!({ "key": "policy.depth", "given": null, "fitted": 1 }));
    let (given, fitted) = (&found["test"]["given"], &found["test"]["fitted"]);
    let mean = |errors: &Value| errors["absolute"]["mean"].as_f64().expect("a number");
    // Without an interval and a depth, the last job starts at once: 2,670 s earlier than recorded.
    assert!(mean(given) > 600.0 && mean(fitted) == 0.0, "{found:#}");
    let difference = &found["test"]["difference"]["absolute"];
    let (less, half) = (&difference["mean"], &difference["half_width"]);
    assert!((less.as_f64().expect("a mean") - (mean(fitted) - mean(given))).abs() < 1e-6);
    assert!(half.as_f64().is_some_and(|half| half < 1.0), "all days are alike: {half}");
    // The written scenario has these settings, and fits the log.
    folder.haggle(&["run", "fitted.toml", "-o", "run", "--check"]);
    let beside = json_of(&folder.haggle(&["compare", "run", "--recorded", "--json"]));
    let error = beside["absolute_difference"]["mean"].as_f64().expect("a mean");
    assert_eq!(error, 0.0);
    let again = json_of(&folder.haggle(&["calibrate", "fitted.toml", "--json"]));
    assert_eq!(again["settings"][1]["given"], 1);
    // The number of workers changes nothing.
    let alone = ["calibrate", "site.toml", "--block", "1d", "--json", "--jobs", "1"];
    assert_eq!(json_of(&folder.haggle(&alone)), found);
}

#[test]
fn a_perfect_simulation_keeps_its_settings() {
    // Under EASY without further keys: the head at 2,000 s, then the third job, and the last one at once.
    let wait = |place: i64| [0, 2_000 - 10, 2_500 - 20, 0][place as usize];
    let folder = Folder::with(&[("site.toml", SITE), ("site.swf", &log(20, wait))]);
    let shown = folder.haggle(&["calibrate", "site.toml"]);
    assert!(
        shown.contains("note: no other values that were tried have a smaller error"),
        "{shown}"
    );
    for line in ["interval, s", "policy.depth"] {
        let row = shown.lines().find(|it| it.trim_start().starts_with(line)).unwrap_or_default();
        assert!(row.split_whitespace().rev().take(2).all(|it| it == "-"), "{shown}");
    }
}

#[test]
fn scenarios_that_cannot_be_calibrated_are_refused() {
    let unknown = log(30, |_| -1);
    let folder = Folder::with(&[
        ("site.toml", SITE),
        ("site.swf", &log(30, of_site)),
        ("short.toml", &SITE.replace("site.swf", "short.swf")),
        ("short.swf", &log(4, of_site)),
        ("unknown.toml", &SITE.replace("site.swf", "unknown.swf")),
        ("unknown.swf", &unknown),
        ("recorded.toml", &SITE.replace("\"easy\"", "\"recorded\"")),
        (
            "sweep.toml",
            &format!(
                "{SITE}\n[sweep]\nreplications = 2\n[[sweep.axis]]\npath = \"provider.machine.policy\"\nvalues = [\"easy\", \"fcfs\"]\n"
            ),
        ),
        ("two.toml", &format!("{SITE}\n[[provider]]\nname = \"other\"\nprocessors = 4\n")),
    ]);
    for (arguments, wanted) in [
        ("", "a scenario is missing"),
        ("short.toml", "8 jobs with recorded starts are in the first part, and 20 are needed"),
        ("unknown.toml", "no job of the scenario has a recorded start"),
        ("recorded.toml", "policy \"recorded\" has no settings to fit"),
        ("two.toml", "the scenario has 2 providers"),
        ("sweep.toml", "the scenario is a sweep of 4 runs"),
        ("site.toml --train 100%", "leaves one part without jobs"),
        ("site.toml --block 0s", "a block of no time has no jobs"),
        ("site.toml -o site.toml", "exists already"),
    ] {
        let words = ["calibrate"].into_iter().chain(arguments.split_whitespace());
        let shown = folder.haggle(&Vec::from_iter(words));
        assert!(!shown.starts_with("exit code: 0"), "{arguments}: {shown}");
        assert!(shown.contains(wanted), "{arguments}: {shown}");
        assert!(shown.contains("hint:"), "{arguments}: {shown}");
    }
}
