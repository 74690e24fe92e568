//! Moldable jobs that move, and the costs of moves, from the scenario to the output.

use std::fs;

use crate::command::{Folder, stdout_of};

/// Six jobs on two clusters of four processors. One job ends long before its limit; the numbers are
/// those of the example for moves in other tests.
const SIX: &str = r#"
[scenario]
events-order = "completions-first"

[[workload]]
name = "guests"
jobs = [
    { submit = "0s", processors = 4, run = "7200s", requested = "7200s" },
    { submit = "0s", processors = 4, run = "3000s", requested = "9000s" },
    { submit = "60s", processors = 4, run = "1200s", requested = "1200s" },
    { submit = "120s", processors = 4, run = "300s", requested = "600s" },
    { submit = "3300s", processors = 4, run = "2400s", requested = "2400s" },
    { submit = "3700s", processors = 4, run = "600s", requested = "600s" },
]

[[workload.step]]
kind = "moldable"
parallel = 0.8
limit = 32

[[provider]]
name = "north"
processors = 4
policy = { name = "conservative", compression = "job-by-job" }

[[provider]]
name = "south"
processors = 4
policy = { name = "conservative", compression = "job-by-job" }

[[metascheduler]]
name = "broker"

[[user]]
name = "users"
workload = "guests"
submits-to = "broker"

[metascheduler.reallocation]
"#;

fn costly() -> String {
    format!("{SIX}start-up = \"100s\"\ndata = \"25 GB\"\n[results]\nformat = \"csv\"\n")
}

#[test]
fn a_move_that_costs_something_is_told() {
    let folder = Folder::with(&[("six.toml", costly().as_str())]);
    let said = folder.haggle(&["run", "six.toml", "-o", "out", "--check", "--quiet"]);
    assert!(said.starts_with("exit code: 0"), "{said}");
    let shown = folder.haggle(&["show", "out"]);
    assert!(shown.contains("2 moves of waiting jobs to other providers"), "{shown}");
    let costs =
        "their data were in transit for 0.1 h in all, and start-ups took 0.2 processor-hours";
    assert!(shown.contains(costs), "{shown}");
    let moves = fs::read_to_string(folder.path().join("out/moves.csv")).expect("a table");
    insta::assert_snapshot!(moves, @r"
    time,actor,job,sender,receiver,processors_before,planned_finish_time_before,processors,planned_finish_time,ready_time,start_up_time
    3600.0,broker,2,north,south,4,8400.0,4,7000.0,3800.0,100.0
    3600.0,broker,3,north,south,4,9000.0,4,7700.0,3800.0,100.0
    ");
    let said = folder.haggle(&["explain", "out", "guests!3"]);
    let story = stdout_of(&said).split("\nIt was in the queue").next().expect("a story");
    insta::assert_snapshot!(story, @r"
    job 2 of the run, guests!3: external, 4 processors, at most 1200 s (20 min)

        60 s       1 min  submitted by users to broker
        60 s       1 min  north disclosed to broker the job's start and end there
        60 s       1 min  south disclosed to broker the job's start and end there
      3600 s   1 h 0 min  south disclosed to broker the job's start and end there
      3600 s   1 h 0 min  queued at south, with a promised completion at 7000 s
      3600 s   1 h 0 min  moved from north to south by broker, on 4 processors; planned to be done at 7000 s; its data will be there at 3800 s; 100 s to start up
      5700 s  1 h 35 min  started at south, 5640 s (1 h 34 min) after its submission
      7000 s  1 h 56 min  completed after running 1300 s (21 min), as promised

      where its time went                                             waiting, s              running, s
      not queued there yet: messages, metascheduler, other providers        3540      59 min
      too few processors free                                               1900      31 min
      data transfers                                                         200       3 min
      start-up after a move                                                                          100   1 min
      computing                                                                                     1200  20 min
      all                                                                   5640  1 h 34 min        1300  21 min
    ");
}

/// All jobs are cancelled every minute, and data take 200 s. The first ends at 3,200 + 100 + 1,200
/// s, and the second 700 s later.
#[test]
fn nobody_is_sent_on_before_its_data_have_come() {
    let often = costly().replace(
        "[metascheduler.reallocation]",
        "[metascheduler.reallocation]\nalgorithm = \"all-cancellation\"\nperiod = \"1min\"",
    );
    let folder = Folder::with(&[("often.toml", often.as_str())]);
    let said = folder.haggle(&["run", "often.toml", "-o", "out", "--check", "--quiet"]);
    assert!(said.starts_with("exit code: 0"), "{said}");
    let moves = fs::read_to_string(folder.path().join("out/moves.csv")).expect("a table");
    let paid = moves.lines().filter(|line| !line.ends_with(",,0.0"));
    insta::assert_snapshot!(Vec::from_iter(paid.take(4)).join("\n"), @r"
    time,actor,job,sender,receiver,processors_before,planned_finish_time_before,processors,planned_finish_time,ready_time,start_up_time
    3000.0,broker,2,north,south,4,8400.0,4,4500.0,3200.0,100.0
    3000.0,broker,3,north,south,4,9000.0,4,5200.0,3200.0,100.0
    3240.0,broker,3,south,south,4,5200.0,4,5200.0,3200.0,100.0
    ");
}

#[test]
fn what_a_cost_without_a_move_is_good_for_is_asked() {
    let still = costly().replace(
        "[metascheduler.reallocation]",
        "[metascheduler.reallocation]\nalgorithm = \"none\"",
    );
    let idle = format!("{SIX}bandwidth = \"10 Mbit/s\"\n");
    let folder = Folder::with(&[("still.toml", still.as_str()), ("idle.toml", idle.as_str())]);
    let said = folder.haggle(&["validate", "still.toml"]);
    for key in ["start-up", "data"] {
        let warning = format!("`{key}` of the reallocation of metascheduler \"broker\"");
        assert!(said.contains(&warning), "{said}");
    }
    let said = folder.haggle(&["validate", "idle.toml"]);
    assert!(said.contains("has no effect: no `data` move with a"), "{said}");
}

/// Impacts of M-10: half of the jobs, and two thirds of these are earlier.
#[test]
fn a_sweep_compares_its_runs_with_a_reference() {
    let sweep = r#"
[sweep]
reference = { algorithm = "none" }

[[sweep.axis]]
path = "metascheduler.broker.reallocation.algorithm"
values = ["none", "regular", "all-cancellation"]
"#;
    let text = format!("{SIX}algorithm = \"none\"\n{sweep}");
    let wrong =
        text.replace("reference = { algorithm = \"none\" }", "reference = { algoritm = 1 }");
    let absent =
        text.replace("reference = { algorithm = \"none\" }", "reference = { algorithm = 1 }");
    let files = [("six.toml", text.as_str()), ("wrong.toml", &wrong), ("absent.toml", &absent)];
    let folder = Folder::with(&files);
    let said = folder.haggle(&["sweep", "six.toml", "-o", "out", "--quiet"]);
    assert!(said.starts_with("exit code: 0"), "{said}");
    let runs = fs::read_to_string(folder.path().join("out/runs.csv")).expect("a table");
    let mut lines = runs.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().expect("a header");
    let rows = Vec::from_iter(lines);
    let column = |name: &str| {
        let place = names.iter().position(|it| *it == name).expect("a column");
        Vec::from_iter(rows.iter().map(|row| row[place].parse::<f64>().ok()))
    };
    assert_eq!(column("moves.moved"), [None, Some(2.0), Some(2.0)]);
    assert_eq!(column("impact.jobs"), [None, Some(6.0), Some(6.0)]);
    assert_eq!(column("impact.impacted_percent"), [None, Some(50.0), Some(50.0)]);
    for (name, expected) in [
        ("impact.earlier_percent", 200.0 / 3.0),
        ("impact.response_ratio", 0.923_156),
        ("impact.mean_response_ratio", 1.074_081),
    ] {
        let values = column(name);
        let near = |value: &Option<f64>| value.is_some_and(|it| (it - expected).abs() < 1e-6);
        assert!(values[0].is_none() && values[1..].iter().all(near), "{name}: {values:?}");
    }
    let said = folder.haggle(&["validate", "wrong.toml"]);
    assert!(said.contains("the sweep has no axis \"algoritm\""), "{said}");
    assert!(said.contains("did you mean \"algorithm\"?"), "{said}");
    let said = folder.haggle(&["validate", "absent.toml"]);
    assert!(said.contains("axis \"algorithm\" has no value 1"), "{said}");
}

/// Runs with other seeds have other jobs, which cannot be compared one by one.
#[test]
fn a_reference_has_the_seeds_of_the_runs_that_it_is_for() {
    let sweep = r#"
[sweep]
reference = { seed = 1 }

[[sweep.axis]]
path = "scenario.seed"
values = [1, 2]
"#;
    let folder = Folder::with(&[("seeds.toml", &format!("{SIX}algorithm = \"none\"\n{sweep}"))]);
    let said = folder.haggle(&["validate", "seeds.toml"]);
    assert!(said.starts_with("exit code: 3"), "{said}");
    assert!(said.contains("runs of axis \"seed\" have other jobs than their reference"), "{said}");
}
