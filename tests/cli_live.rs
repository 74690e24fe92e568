//! `haggle live run` and `haggle live verify`: nodes in real time, and their repetition.

use std::fs;
use std::time::Duration;

use crate::command::{Folder, refused, stdout_of, succeeds};

pub(crate) const SCENARIO: &str = r#"
[scenario]
name = "pair"

[[workload]]
name = "jobs"
model = "lublin-feitelson"
lublin = { jobs = 60, processors = 32, load = 0.6 }

[[user]]
name = "users"
workload = "jobs"
submits-to = "broker"

[[provider]]
name = "north"
processors = 32
policy = "conservative"

[[provider]]
name = "east"
processors = 32
policy = "easy"

[[metascheduler]]
name = "broker"
placement = "minimum-completion-time"

[results]
messages = "all"
"#;

#[test]
fn a_live_run_has_normal_results_and_repeats() {
    let folder = Folder::with(&[("pair.toml", SCENARIO)]);
    let run = ["live", "run", "pair.toml", "--scale", "200000", "-o", "live", "--check"];
    succeeds(&folder, &run);
    for name in ["jobs.parquet", "summary.json", "scenario.toml"] {
        assert!(folder.path().join("live").join(name).exists(), "{name}");
    }
    let summary = fs::read_to_string(folder.path().join("live/summary.json")).expect("it is there");
    assert!(summary.contains("this run was live, at scale 200000"), "{summary}");
    let explained = succeeds(&folder, &["explain", "live", "1"]);
    assert!(!stdout_of(&explained).is_empty());
    let verified = succeeds(&folder, &["live", "verify", "live.live"]);
    let said = stdout_of(&verified);
    assert!(said.contains("4 nodes") && said.contains("the same"), "{said}");
    assert!(said.contains("5 simulations of 60 jobs") && said.contains("(5 draws)"), "{said}");
    // Draws depend on their seeds alone, and are made only if they are wanted.
    let again = succeeds(&folder, &["live", "verify", "live.live", "--draws", "5"]);
    assert_eq!(stdout_of(&again), said);
    let none = succeeds(&folder, &["live", "verify", "live.live", "--draws", "0"]);
    assert!(!stdout_of(&none).contains("simulations"), "{none}");
    // Neither results nor journals are replaced.
    let output = folder.haggle(&run);
    assert!(output.starts_with("exit code: 4") && output.contains("exists"), "{output}");
}

#[test]
fn a_horizon_ends_a_live_run_and_its_repetition() {
    let scenario = SCENARIO.replace("name = \"pair\"", "name = \"pair\"\nhorizon = \"12h\"");
    let folder = Folder::with(&[("pair.toml", &scenario)]);
    let shown = succeeds(&folder, &["live", "run", "pair.toml", "--scale", "20000", "-o", "live"]);
    assert!(stdout_of(&shown).contains("still"), "{shown}");
    let verified = succeeds(&folder, &["live", "verify", "live.live"]);
    let said = stdout_of(&verified);
    assert!(said.contains("up to 43200 s: the same") && said.contains("(5 draws)"), "{said}");
}

#[test]
fn a_damaged_journal_is_found() {
    let folder = Folder::with(&[("pair.toml", SCENARIO)]);
    succeeds(&folder, &["live", "run", "pair.toml", "--scale", "500000", "-o", "live", "--quiet"]);
    let node = folder.path().join("live.live/north/journal");
    let segments = fs::read_dir(node).expect("a folder").map(|it| it.expect("an entry").path());
    let segment = segments.filter(|it| it.extension().is_some_and(|it| it == "log")).min();
    let segment = segment.expect("a segment");
    let mut bytes = fs::read(&segment).expect("it can be read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segment, bytes).expect("it can be written");
    let output = folder.haggle(&["live", "verify", "live.live"]);
    assert!(output.starts_with("exit code: 1") && output.contains("damaged"), "{output}");
}

#[test]
fn a_live_run_that_cannot_be_is_refused() {
    let change = "[[change]]\nat = \"1h\"\nset = { \"provider.east.policy\" = \"fcfs\" }\n";
    let change = format!("{SCENARIO}\n{change}");
    let folder = Folder::with(&[("pair.toml", SCENARIO), ("change.toml", &change)]);
    let output = refused(&folder, &["live", "run", "pair.toml", "--scale", "0", "-o", "live"]);
    assert!(output.contains("the scale is 0"), "{output}");
    let output = refused(&folder, &["live", "run", "change.toml", "-o", "live"]);
    assert!(output.contains("[[change]]"), "{output}");
    // Waiting times of logs are in no message.
    let policy = "provider.east.policy=recorded";
    let output = refused(&folder, &["live", "run", "pair.toml", "--set", policy, "-o", "live"]);
    assert!(output.contains("has policy \"recorded\""), "{output}");
    assert!(!folder.path().join("live.live").exists());
}

/// A run that was killed has no results. All of its nodes go on from their journals.
#[test]
fn a_killed_run_continues_and_repeats() {
    let folder = Folder::with(&[("pair.toml", SCENARIO)]);
    let mut child = folder.start(&["live", "run", "pair.toml", "--scale", "10000", "-o", "live"]);
    let journal = |node: &str| folder.path().join("live.live").join(node).join("journal").exists();
    let begun = || ["users", "north", "east", "broker"].into_iter().all(journal);
    for _ in 0..600 {
        if begun() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    // The run takes some ten seconds.
    std::thread::sleep(Duration::from_secs(2));
    child.kill().expect("it runs");
    child.wait().expect("it has ended");
    assert!(!folder.path().join("live").exists());
    succeeds(&folder, &["live", "run", "--continue", "live.live", "--check"]);
    let said = succeeds(&folder, &["live", "verify", "live.live"]);
    let said = stdout_of(&said);
    assert!(said.contains("4 restarts") && said.contains("the same"), "{said}");
}

/// A study with live runs: the others are simulated, and all are read in the same way.
#[test]
fn a_study_has_live_runs() {
    let sweep = format!(
        "{SCENARIO}\n[sweep]\nreplications = 2\n[[sweep.axis]]\nname = \"system\"\n\
         [[sweep.axis.variant]]\nname = \"simulated\"\n[[sweep.axis.variant]]\nname = \"live\"\n"
    );
    let figures = r#"
[[live]]
sweep = "pair.toml"
where = { system = "live" }
scale = { full = 500_000, quick = 1_000_000 }

[[figure]]
name = "pair-table"
about = "Waiting times, simulated and live"
sweeps = ["pair.toml"]

[[figure.draw]]
kind = "table"
metric = "mean-waiting-time"
x = { axis = "system" }
"#;
    let claims = r#"
[[claim]]
id = "P-1"
figures = ["pair-table"]
statement = "The same jobs end live and simulated"
expected = "60 jobs"
grade = "exact"
check = 'close(value("impact.jobs", "all", #{system: "live"}, #{system: "simulated"}), 60, 0)'
"#;
    let folder = Folder::with(&[]);
    let study = folder.path().join("lib/pair");
    fs::create_dir_all(&study).expect("it can be made");
    for (name, text) in [("pair", sweep.as_str()), ("figures", figures), ("claims", claims)] {
        fs::write(study.join(format!("{name}.toml")), text).expect("it can be written");
    }
    let reproduce = ["reproduce", "pair-table", "--scenarios", "lib", "-o", "out"];
    let said = succeeds(&folder, &reproduce);
    assert!(stdout_of(&said).contains("held  P-1"), "{said}");
    let run = |system: &str, seed: u32| {
        let run = format!("out/pair/pair/system={system}/seed={seed}");
        fs::read_to_string(folder.path().join(run).join("summary.json")).expect("it is there")
    };
    for seed in [1, 2] {
        assert!(run("live", seed).contains("this run was live, at scale 500000"), "{seed}");
        assert!(!run("simulated", seed).contains("this run was live"), "{seed}");
        let journals = format!("out/pair/pair/system=live/seed={seed}.live");
        succeeds(&folder, &["live", "verify", &journals, "--draws", "0"]);
    }
    // Runs that are there are not made again.
    let before = run("live", 1);
    let said = succeeds(&folder, &reproduce);
    assert!(said.contains("4 of 4 runs are done already"), "{said}");
    assert_eq!(run("live", 1), before);
}
