//! Providers, a grid and clusters with plans in one scenario: each behaves as if it were alone.

use std::collections::BTreeMap;

use crate::command::{Folder, json_of};

const HEADER: &str = "[scenario]\nseed = 5\nhorizon = \"3d\"\n\n[results]\nformat = \"csv\"\n";

/// A part of a world: its workload, its text, and the tables that it fills.
struct Part {
    workload: &'static str,
    text: &'static str,
    tables: &'static [&'static str],
}

const PROVIDERS: Part = Part {
    workload: "rigid",
    text: r#"
[[workload]]
name = "rigid"
model = "lublin-feitelson"
lublin = { jobs = 60, processors = 16, load = 0.8 }

[[provider]]
name = "north"
processors = 16
policy = "easy"

[[provider]]
name = "south"
processors = 8
policy = "conservative"

[[metascheduler]]
name = "broker"
placement = "random"
providers = ["north", "south"]

[[user]]
name = "scientists"
workload = "rigid"
submits-to = "broker"
patience = "2h"

[[failures]]
of = ["north"]
law = { up = { law = "exponential", mean = "5d" }, down = { law = "exponential", mean = "1h" } }
"#,
    tables: &["jobs", "attempts"],
};

const GRID: Part = Part {
    workload: "tasks",
    text: r#"
[[workload]]
name = "tasks"
model = "independent-jobs"
data = { input = "50 MB", output = "5 MB", checkpoint = "20 MB" }

[workload.independent-jobs]
jobs = 60
between = { law = "exponential", mean = "10min" }
run = { law = "uniform", low = "30min", high = "3h" }

[grid]
name = "desktops"
policy = "combined-ft"
period = "5min"
information = { mode = "delayed", delay = "3min" }
network = { model = "stars", bandwidth = "100 Mbit/s", wan-bandwidth = "10 Mbit/s" }

[grid.checkpoints]
rule = "mean-failure"
interval = "30min"
cost = "1min"

[[grid.site]]
name = "campus"
resources = 5
mips = 1.0
mips-max = 2.0

[[grid.site]]
name = "library"
resources = 3
mips = 1.0
slots = 2
load = { initial-min = "0%", initial-max = "40%", period = "1h" }

[[user]]
name = "volunteers"
workload = "tasks"
submits-to = "desktops"

[[failures]]
of = ["campus"]
law = { up = { law = "exponential", mean = "8h" }, down = { law = "exponential", mean = "1h" } }
"#,
    tables: &["jobs", "attempts", "checkpoints", "transfers"],
};

const CLUSTERS: Part = Part {
    workload: "md",
    text: r#"
[[workload]]
name = "md"
model = "applications"
applications = { like = "md", jobs = 2, between = "6h" }

[plans]
name = "planner"
method = "division"
threshold = "20min"
checkpoint = "25 MB"

[[plans.cluster]]
name = "alpha"
machines = 24

[[plans.cluster]]
name = "beta"
machines = 32
speed = 0.8

[[user]]
name = "chemists"
workload = "md"
submits-to = "planner"

[[failures]]
of = ["beta"]
law = { up = { law = "exponential", mean = "20d" }, down = { law = "constant", value = "1h" } }
"#,
    tables: &["jobs", "attempts", "intervals"],
};

/// Jobs on both providers at once, by a protocol with actors of its own.
const TRANSACTIONS: Part = Part {
    workload: "wide",
    text: r#"
[[workload]]
name = "wide"
jobs = [
    { submit = "0s", processors = 8, run = "10s", requested = "10s" },
    { submit = "1s", processors = 4, run = "10s", requested = "10s" },
    { submit = "2s", processors = 7, run = "10s", requested = "10s" },
]

[[provider]]
name = "east"
processors = 6
policy = "conservative"

[[provider]]
name = "west"
processors = 4
policy = "conservative"

[[metascheduler]]
name = "spreader"
providers = ["east", "west"]

[metascheduler.coallocation]
policy = "rigid"
protocol = { name = "paxos", acceptors = 3 }

[[user]]
name = "physicists"
workload = "wide"
submits-to = "spreader"
"#,
    tables: &["jobs", "attempts", "transactions"],
};

/// Applications whose times were measured, cluster by cluster.
const MEASURED: Part = Part {
    workload: "measured",
    text: r#"
[[workload]]
name = "measured"
model = "applications"

[workload.applications]
jobs = 2
between = "10min"
measured = [
    { cluster = "gamma", machines = 2, times = ["1000s", "1000s"] },
    { cluster = "delta", machines = 1, times = ["1500s", "500s"] },
]

[plans]
name = "planner"
method = "optimum"

[[plans.cluster]]
name = "gamma"
machines = 2

[[plans.cluster]]
name = "delta"
machines = 1

[[user]]
name = "engineers"
workload = "measured"
submits-to = "planner"
"#,
    tables: &["jobs", "attempts", "intervals"],
};

/// Tasks that providers run, with data between them.
const FLOWS: Part = Part {
    workload: "genomes",
    text: r#"
[network]
latency = "50ms"
bandwidth = "10 Mbit/s"
sharing = "max-min"

[[workload]]
name = "genomes"
model = "workflows"

[workload.workflows]
count = 3
shape = "epigenomics"
tasks = 30
processors = 2
processors-max = 6

[[provider]]
name = "hill"
processors = 16
policy = "conservative"

[[provider]]
name = "valley"
processors = 8
speed = 1.5
policy = "easy"

[[metascheduler]]
name = "carrier"
placement = "minimum-completion-time"
providers = ["hill", "valley"]

[[user]]
name = "biologists"
workload = "genomes"
submits-to = "carrier"

[[failures]]
of = ["hill"]
processors-per-node = 4
law = { up = { law = "exponential", mean = "1d" }, down = { law = "constant", value = "30min" } }
"#,
    tables: &["jobs", "attempts", "inputs", "workflows"],
};

/// Tasks that a grid runs, which report their progress.
const GRID_FLOWS: Part = Part {
    workload: "montages",
    text: r#"
[[workload]]
name = "montages"
model = "workflows"

[workload.workflows]
count = 4
shape = "montage"
tasks = 25
recorded-mips = 40
progress = { estimates = "mixed" }

[grid]
name = "desktops"
policy = "balanced-workflow"
period = "2min"
network = { model = "stars", bandwidth = "100 Mbit/s" }

[[grid.site]]
name = "campus"
resources = 5
mips = 0.5
mips-max = 4

[[user]]
name = "astronomers"
workload = "montages"
submits-to = "desktops"

[[failures]]
of = ["campus"]
law = { up = { law = "exponential", mean = "8h" }, down = { law = "exponential", mean = "1h" } }
"#,
    tables: &["jobs", "attempts", "workflows"],
};

/// Runs these parts in one world, with every check; the results are in `out`.
fn run(parts: &[&Part], driver: &str) -> (Folder, String) {
    let texts = parts.iter().map(|part| part.text);
    let scenario = [HEADER].into_iter().chain(texts).collect::<String>();
    let folder = Folder::with(&[("world.toml", &scenario)]);
    let shown =
        folder.haggle(&["run", "world.toml", "--output", "out", "--check", "--driver", driver]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    (folder, shown)
}

/// A table as cells, with the names of its columns.
fn table(folder: &Folder, name: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let text = folder.read(&format!("out/{name}.csv"));
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    (lines.next().expect("a header"), lines.collect())
}

/// The rows of a table about the jobs of one workload, in some order. Jobs have their numbers in
/// the workload; the numbers of processors in the whole run are left out.
fn rows(folder: &Folder, name: &str, workload: &str) -> Vec<Vec<String>> {
    let (header, jobs) = table(folder, "jobs");
    let place = |header: &[String], wanted: &str| header.iter().position(|name| name == wanted);
    let [job, of, number] =
        ["job", "workload_name", "job_id"].map(|name| place(&header, name).expect("a column"));
    let numbers: BTreeMap<String, String> = jobs
        .into_iter()
        .filter(|row| row[of] == workload)
        .map(|row| (row[job].clone(), row[number].clone()))
        .collect();
    let (header, mut rows) = table(folder, name);
    if let Some(job) = place(&header, "job") {
        rows.retain(|row| numbers.contains_key(&row[job]));
        rows.iter_mut().for_each(|row| row[job] = numbers[&row[job]].clone());
    }
    if let Some(of) = place(&header, "workload_name").or(place(&header, "workload")) {
        rows.retain(|row| row[of] == workload);
    }
    if let Some(column) = place(&header, "allocated_resources") {
        rows.iter_mut().for_each(|row| row[column].clear());
    }
    rows.sort_unstable();
    rows
}

#[test]
fn each_world_does_what_it_does_alone() {
    let all = [&PROVIDERS, &GRID, &CLUSTERS];
    let (together, shown) = run(&all, "sequential");
    let (again, _) = run(&[&CLUSTERS, &GRID, &PROVIDERS], "actix");
    for part in all {
        let (alone, _) = run(&[part], "sequential");
        for name in part.tables {
            let expected = rows(&alone, name, part.workload);
            assert!(expected.len() > 1, "{name} of {}", part.workload);
            for beside in [&together, &again] {
                assert_eq!(rows(beside, name, part.workload), expected, "{name}");
            }
        }
    }
    let expected = "122 jobs on 80 processors of 4 providers and 8 resources of a grid";
    assert!(shown.contains(expected), "{shown}");
    assert!(shown.contains("the grid: "), "{shown}");
}

/// An actor that knows others by number still knows them if more actors precede them.
#[test]
fn numbers_of_others_are_no_matter() {
    for parts in [
        [&TRANSACTIONS, &GRID],
        [&MEASURED, &PROVIDERS],
        [&MEASURED, &TRANSACTIONS],
        [&FLOWS, &GRID_FLOWS],
        [&FLOWS, &MEASURED],
    ] {
        let (together, _) = run(&parts, "sequential");
        for part in parts {
            let (alone, _) = run(&[part], "sequential");
            for name in part.tables {
                let expected = rows(&alone, name, part.workload);
                assert!(expected.len() > 1, "{name} of {}", part.workload);
                assert_eq!(rows(&together, name, part.workload), expected, "{name}");
            }
        }
    }
}

/// Every two of these parts in one world.
#[test]
fn any_two_worlds_stand_side_by_side() {
    for parts in [[&PROVIDERS, &GRID], [&GRID, &CLUSTERS], [&PROVIDERS, &CLUSTERS]] {
        let (folder, _) = run(&parts, "sequential");
        for part in parts {
            assert!(!rows(&folder, "jobs", part.workload).is_empty());
        }
    }
}

/// The explanation of a job depends on the place where it ran.
#[test]
fn jobs_of_each_world_are_explained() {
    let (folder, _) = run(&[&PROVIDERS, &GRID, &CLUSTERS], "sequential");
    let (header, jobs) = table(&folder, "jobs");
    let place = |wanted: &str| header.iter().position(|name| name == wanted).expect("a column");
    for (workload, says) in [
        ("rigid", "scientists to broker"),
        ("tasks", "volunteers to desktops"),
        ("md", "an application of phases"),
    ] {
        let job = jobs.iter().find(|row| {
            row[place("workload_name")] == workload
                && row[place("final_state")] == "COMPLETED_SUCCESSFULLY"
        });
        let job = &job.expect("one that is done")[place("job")];
        let told = folder.haggle(&["explain", "out", job]);
        assert!(told.starts_with("exit code: 0") && told.contains(says), "{workload}: {told}");
    }
}

#[test]
fn a_metascheduler_needs_providers_beside_a_grid() {
    let texts = [HEADER, GRID.text, "\n[[metascheduler]]\nname = \"broker\"\n"].concat();
    let folder = Folder::with(&[("world.toml", &texts)]);
    let shown = folder.haggle(&["validate", "world.toml"]);
    assert!(shown.starts_with("exit code: 3"), "{shown}");
    assert!(shown.contains("\"broker\" has no provider to place jobs on"), "{shown}");
}

/// A workload that is merged twice reaches the grid like any other.
#[test]
fn mergers_of_mergers_run_where_they_are_submitted() {
    let merged = GRID.text.replace("workload = \"tasks\"", "workload = \"all\"");
    assert_ne!(merged, GRID.text);
    let mergers = "\n[[workload]]\nname = \"some\"\nmerge = [\"tasks\"]\n\n[[workload]]\nname = \"all\"\nmerge = [\"some\"]\n";
    let folder =
        Folder::with(&[("world.toml", &[HEADER, PROVIDERS.text, &merged, mergers].concat())]);
    let shown = folder.haggle(&["run", "world.toml", "--output", "out", "--check", "--json"]);
    let summary = json_of(&shown);
    assert_eq!(summary["grid"]["jobs"], 60);
    let (alone, _) = run(&[&GRID], "sequential");
    assert_eq!(rows(&folder, "attempts", "tasks"), rows(&alone, "attempts", "tasks"));
}

/// A part without users has no effect, which causes a warning.
#[test]
fn worlds_that_nobody_submits_to_are_named() {
    for (text, name) in [(GRID.text, "[grid]"), (CLUSTERS.text, "[plans]")] {
        let user = text.find("[[user]]").expect("a user");
        let rest = text[user..].find("[[failures]]").expect("failures") + user;
        let scenario = [HEADER, PROVIDERS.text, &text[..user], &text[rest..]].concat();
        let folder = Folder::with(&[("world.toml", &scenario)]);
        let shown = folder.haggle(&["validate", "world.toml"]);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
        assert!(shown.contains(&format!("{name} has no effect")), "{shown}");
    }
}

/// Both may run jobs of one workload. They may not share workflows, because only one of the two
/// keeps their graphs.
#[test]
fn users_of_a_grid_and_of_providers_may_share_a_workload() {
    let texts = [HEADER, PROVIDERS.text, GRID.text].concat();
    let shared = texts.replacen("workload = \"rigid\"", "workload = \"tasks\"", 1);
    let folder = Folder::with(&[("world.toml", &shared)]);
    let shown = folder.haggle(&["run", "world.toml", "--output", "out", "--check"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    assert_eq!(rows(&folder, "jobs", "tasks").len(), 120);
    let texts = [HEADER, FLOWS.text, GRID_FLOWS.text].concat();
    let shared = texts.replacen("workload = \"genomes\"", "workload = \"montages\"", 1);
    let folder = Folder::with(&[("world.toml", &shared)]);
    let shown = folder.haggle(&["validate", "world.toml"]);
    assert!(shown.starts_with("exit code: 3"), "{shown}");
    assert!(shown.contains("the workflows of \"montages\" are submitted twice"), "{shown}");
}
