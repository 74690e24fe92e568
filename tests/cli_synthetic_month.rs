//! The model of synthetic months in scenarios.

use crate::command::Folder;

const WRONG: &str = r#"
[[workload]]
name = "month"
model = "synthetic-month"

[workload.synthetic-month]
days = 2
load = 0.5
site = 1
sites = [{ jobs = 30, processors = 8 }]

[[workload.step]]
kind = "split"
parts = 3
part = 1
count = 3

[[workload]]
name = "none"
model = "synthetic-month"

[[provider]]
name = "north"
processors = 8

[[user]]
name = "users"
workload = "month"
submits-to = "north"
"#;

#[test]
fn what_is_no_month_is_shown_with_the_way_out() {
    let folder = Folder::with(&[("wrong.toml", WRONG)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "wrong.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × synthetic-month: site is 1; there are 1, from 0
       ╭─[wrong.toml:9:8]
     9 │ site = 1
       ·        ┬
       ·        ╰── out of range
       ╰────
      help: write a site from 0 to 0

      × there are no 3 parts from part 1 of 3 on
        ╭─[wrong.toml:16:9]
     16 │ count = 3
        ·         ┬
        ·         ╰── too many
        ╰────
      help: write a count from 1 to 2

      × workload "none" has no parameters for its model
        ╭─[wrong.toml:18:1]
     18 │ [[workload]]
        · ──────┬─────
        ·       ╰── `synthetic-month` is missing here
        ╰────
      help: add `synthetic-month = { days = 30, load = 0.8, sites = [{ jobs = 1000, processors =
            128 }] }`

    error: wrong.toml has 3 problems
    "#);
}

/// A synthetic month represents a log, so the seed of the scenario has no effect on it.
#[test]
fn a_seed_that_draws_nothing_is_warned_about() {
    let month = r#"
[scenario]
seed = 7

[[workload]]
name = "month"
model = "synthetic-month"
synthetic-month = { days = 2, load = 0.5, sites = [{ jobs = 30, processors = 8 }] }

[[provider]]
name = "north"
processors = 8

[[user]]
name = "users"
workload = "month"
submits-to = "north"
"#;
    let folder = Folder::with(&[("month.toml", month)]);
    let shown = folder.haggle(&["validate", "month.toml"]);
    assert!(shown.contains("no value is drawn, so all seeds give the same run"), "{shown}");
    let shown = folder.haggle(&["run", "month.toml", "--check", "--quiet", "-o", "runs"]);
    assert!(shown.contains("30 jobs on 8 processors of 1 provider"), "{shown}");
}

/// Combined-ft draws the job that gives up a replica, so runs of two seeds differ.
#[test]
fn a_policy_of_a_grid_that_draws_needs_a_seed() {
    let grid = |seed: u32| {
        format!(
            r#"
[scenario]
seed = {seed}

[[workload]]
name = "month"
model = "synthetic-month"
synthetic-month = {{ days = 2, load = 0.9, sites = [{{ jobs = 30, processors = 8 }}] }}

[grid]
policy = {{ name = "combined-ft", replicas = {{ max = 3, room = 3 }} }}
checkpoints = {{ rule = "periodic", interval = "10min" }}
site = [{{ name = "a", resources = 3 }}]

[[user]]
name = "users"
workload = "month"
submits-to = "grid"
"#
        )
    };
    let folder = Folder::with(&[("one.toml", &grid(1)), ("two.toml", &grid(2))]);
    let shown = folder.haggle(&["validate", "one.toml"]);
    assert!(!shown.contains("the seed changes nothing"), "{shown}");
    for run in ["one", "two"] {
        folder.haggle(&["run", &format!("{run}.toml"), "--quiet", "--format", "csv", "-o", run]);
    }
    assert_ne!(folder.read("one/attempts.csv"), folder.read("two/attempts.csv"));
}
