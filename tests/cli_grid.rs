//! Grids: time-shared resources that fail, and one scheduler that sends jobs to them.

use serde_json::Value;

use crate::command::{Folder, stdout_of};

/// Three jobs that share one resource, and move input and output.
const SHARED: &str = r#"
[scenario]
name = "shared"

[[workload]]
name = "jobs"
data = { input = "1 MB", output = "2 MB" }
jobs = [
    { submit = "0s", processors = 1, requested = "4s", run = "4s" },
    { submit = "0s", processors = 1, requested = "2s", run = "2s" },
    { submit = "0s", processors = 1, requested = "3s", run = "3s" },
]

[[user]]
name = "users"
workload = "jobs"
submits-to = "grid"

[grid]
policy = "fjbcr"
period = "0s"
information = { mode = "immediate" }
network = { model = "constant", bandwidth = "8 Mbit/s", latency = "0s" }

[[grid.site]]
name = "alpha"
resources = 1

[results]
format = "csv"
messages = "counts"
"#;

/// Ten resources that fail often, and jobs for two days.
fn failing(grid: &str) -> String {
    format!(
        r#"
[scenario]
name = "failing"
horizon = "2d"

[[workload]]
name = "jobs"
model = "independent-jobs"
data = {{ input = "10 MB", output = "100 MB", checkpoint = "10 MB" }}

[workload.independent-jobs]
between = {{ law = "exponential", mean = "6min" }}
length = "2d"
run = {{ law = "uniform", low = "10min", high = "2h" }}

[[user]]
name = "users"
workload = "jobs"
submits-to = "grid"

[grid]
information = {{ mode = "delayed", delay = "5min" }}
{grid}

[[grid.site]]
name = "alpha"
resources = 6

[[grid.site]]
name = "beta"
resources = 4
mips = 2
load = {{ initial-max = "50%", period = "20min" }}

[[failures]]
nominal = 50
correlation = {{ probability = "20%", delay = "1min" }}
"#
    )
}

#[test]
fn jobs_share_a_resource_and_data_take_time() {
    let folder = Folder::with(&[("shared.toml", SHARED)]);
    insta::assert_snapshot!(folder.haggle(&["run", "shared.toml", "-o", "out", "--check"]), @r"
    exit code: 0
    ----- stdout -----
    3 jobs on 1 resource of a grid
      3 completed
      makespan 12 s (0.0 days)
      0 failures, availability 100.00 %, busy 75.00 %; 3 attempts, 0 jobs lost
      of all work 100.00 % useful, 0.00 % lost, 0.00 % duplicate, 0.00 % in progress
      network: 8 Mbit/s; data took 16.67 % of the time in slots

                                      mean         std      median        95 %         max
    waiting time, s                   2.67        2.89        1.00        5.50        6.00
    turnaround time, s                9.67        2.52       10.00       11.80       12.00
    slowdown                          1.43        0.50        1.17        1.92        2.00
    bounded slowdown (10 s)           1.07        0.12        1.00        1.18        1.20

    results  out
    digest   d810b01c3189b98323d18a9b350f4382fd6c8c747d15d55debb52d1c9574edeb
    ----- stderr -----
    ");
    insta::assert_snapshot!(folder.read("out/attempts.csv"), @"
    job,job_id,workload_name,attempt,provider,submission_time,queued_time,starting_time,finish_time,requested_number_of_resources,allocated_resources,outcome,promised_finish_time,saved_time,checkpointing_time,parent,slot_left_time,work_at_start,work_at_end,computing_time,data_time,checkpoints,checkpoints_omitted,stopped_for
    1,2,jobs,1,alpha-1,0.0,0.0,1.0,7.0,1,0,completed,,,0.0,,5.0,0.0,2.0,4.0,1.0,0,0,
    0,1,jobs,1,alpha-1,0.0,0.0,1.0,10.0,1,0,completed,,,0.0,,8.0,0.0,4.0,7.0,1.0,0,0,
    2,3,jobs,1,alpha-1,0.0,5.0,6.0,12.0,1,0,completed,,,0.0,,10.0,0.0,3.0,4.0,1.0,0,0,
    ");
    insta::assert_snapshot!(folder.read("out/transfers.csv"), @"
    from,to,transfers,bytes
    alpha,(storage),3,6000000
    (storage),alpha,3,3000000
    ");
}

#[test]
fn every_policy_balances_its_books_on_both_drivers() {
    const CHECKPOINTS: &str = "checkpoints = { rule = \"mean-failure\", interval = \"10min\" }";
    for grid in [
        "policy = \"fcfs\"".to_owned(),
        "policy = \"min-max\"\nperiod = \"0s\"".to_owned(),
        "policy = { name = \"wqr\", replicas = { max = 3 } }".to_owned(),
        "policy = { name = \"failure-dependent-rep\", replicas = { max = 3, room = 4 } }\noutput = \"survives\"".to_owned(),
        format!("policy = \"migration\"\n{CHECKPOINTS}"),
        format!("policy = \"migration\"\nquery = \"2s\"\nschedule = \"4min\"\n{CHECKPOINTS}"),
        format!("policy = {{ name = \"rescheduling\", gain = \"10%\" }}\n{CHECKPOINTS}"),
        format!("policy = {{ name = \"combined-ft\", replicas = {{ max = 3, room = 3 }} }}\n{CHECKPOINTS}"),
    ] {
        let folder = Folder::with(&[("failing.toml", &*failing(&grid))]);
        stdout_of(&folder.haggle(&["run", "failing.toml", "-o", "one", "--check"]));
        stdout_of(&folder.haggle(&["run", "failing.toml", "-o", "two", "--driver", "actix"]));
        let summary = folder.read("one/summary.json");
        assert_eq!(summary, folder.read("two/summary.json"), "{grid}");
        let summary: Value = serde_json::from_str(&summary).expect("JSON");
        let number = |path: &str| summary.pointer(path).and_then(Value::as_f64).expect("a number");
        assert!(number("/grid/done") > 50.0, "{grid}: {summary:#}");
        assert!(number("/grid/failures") > 50.0, "{grid}: {summary:#}");
        let parts = ["useful", "lost", "duplicate", "in_progress"];
        let sum: f64 = parts.iter().map(|part| number(&format!("/grid/work/{part}"))).sum();
        assert!((sum - number("/grid/work/total")).abs() < 1e-3, "{grid}: {summary:#}");
    }
}

/// Knowledge of failures, and checkpoints, reduce the losses.
#[test]
fn checkpoints_save_work() {
    let done = |grid: &str| {
        let folder = Folder::with(&[("failing.toml", &*failing(grid))]);
        stdout_of(&folder.haggle(&["run", "failing.toml", "-o", "out"]));
        let summary = folder.summary("out");
        (summary["grid"]["done"].as_u64().expect("a number"), summary["grid"]["lost"].clone())
    };
    let (alone, _) = done("policy = \"fjbcr\"");
    let (saved, lost) =
        done("policy = \"migration\"\ncheckpoints = { rule = \"periodic\", interval = \"5min\" }");
    assert!(saved > alone, "{saved} against {alone}");
    assert_eq!(lost, 0);
}

#[test]
fn what_does_not_go_together_is_said_all_at_once() {
    let wrong = r#"
[[workload]]
name = "jobs"
data = { output = "1 TB" }
jobs = [{ submit = "0s", processors = 1, run = "4s" }]

[[user]]
name = "users"
workload = "jobs"
submits-to = "grid"

[network]
latency = "1s"

[grid]
policy.name = "load-dependent-rep"
policy.replicas = { min = 3 }
checkpoints = { rule = "young", interval = "1h", cost = "0s" }
storage = { capacity = "10 GB" }
network = { model = "constant", bandwidth = "100 Mbit", service-bandwidth = "1 Gbit/s" }

[[grid.site]]
name = "users"
resources = 1
load = { initial-min = "50%", initial-max = "20%", period = "0s" }

[[failures]]
of = ["alfa"]
nominal = 50
"#;
    let folder = Folder::with(&[("wrong.toml", wrong)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "wrong.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × two actors are called "users"
       ╭─[wrong.toml:8:8]
     8 │ name = "users"
       ·        ───┬───
       ·           ╰── taken
       ╰────
      help: the site on line 23 has this name; give one of them another

      × messages between the actors of a grid take no time
        ╭─[wrong.toml:13:11]
     13 │ latency = "1s"
        ·           ──┬─
        ·             ╰── not used
        ╰────
      help: remove it; times of transfers are in [grid.network]

      × resources of this grid never stop changing, and the end of the run is missing
        ╭─[wrong.toml:15:1]
     15 │ [grid]
        · ───┬──
        ·    ╰── when?
        ╰────
      help: add `horizon` to [scenario], such as `horizon = "7d"`

      × `min` is 3, more than `max`, 2
        ╭─[wrong.toml:17:19]
     17 │ policy.replicas = { min = 3 }
        ·                   ─────┬─────
        ·                        ╰── the two contradict each other
        ╰────
      help: the smaller one is the minimum; they are 1 and 2 if not given

      × no job writes checkpoints under this policy
        ╭─[wrong.toml:18:15]
     18 │ checkpoints = { rule = "young", interval = "1h", cost = "0s" }
        ·               ────────────────────────┬───────────────────────
        ·                                       ╰── not used
        ╰────
      help: remove it, or set `policy` to "migration", "rescheduling", "combined-ft" or "workflow"

      × this rule computes the interval by itself
        ╭─[wrong.toml:18:44]
     18 │ checkpoints = { rule = "young", interval = "1h", cost = "0s" }
        ·                                            ──┬─
        ·                                              ╰── not used
        ╰────
      help: remove it, or choose another `rule`

      × if a checkpoint takes no time, the best interval is zero
        ╭─[wrong.toml:18:57]
     18 │ checkpoints = { rule = "young", interval = "1h", cost = "0s" }
        ·                                                         ──┬─
        ·                                                           ╰── no cost
        ╰────
      help: write a length of time above zero, or choose another `rule`

      × the storage holds 10 GB, and an output is 1 TB
        ╭─[wrong.toml:19:24]
     19 │ storage = { capacity = "10 GB" }
        ·                        ───┬───
        ·                           ╰── too small
        ╰────
      help: make it larger, or the outputs smaller

      × `100 Mbit` is not a bandwidth
        ╭─[wrong.toml:20:45]
     20 │ network = { model = "constant", bandwidth = "100 Mbit", service-bandwidth = "1 Gbit/s" }
        ·                                             ─────┬────
        ·                                                  ╰── cannot be read
        ╰────
      help: write a number above 0 and a unit (bit/s, kbit/s, Mbit/s, Gbit/s), such as "100 Mbit/s"

      × a constant network has no links to services
        ╭─[wrong.toml:20:77]
     20 │ network = { model = "constant", bandwidth = "100 Mbit", service-bandwidth = "1 Gbit/s" }
        ·                                                                             ─────┬────
        ·                                                                                  ╰── not used
        ╰────
      help: remove it, or set `model = "stars"`

      × `initial-min` is 50%, more than the largest, 20%
        ╭─[wrong.toml:25:24]
     25 │ load = { initial-min = "50%", initial-max = "20%", period = "0s" }
        ·                        ──┬──
        ·                          ╰── the two contradict each other
        ╰────
      help: the smaller one is the minimum

      × a load cannot change all the time
        ╭─[wrong.toml:25:61]
     25 │ load = { initial-min = "50%", initial-max = "20%", period = "0s" }
        ·                                                             ──┬─
        ·                                                               ╰── no time
        ╰────
      help: write a length of time above zero, or remove it

      × no site is called "alfa"
        ╭─[wrong.toml:28:7]
     28 │ of = ["alfa"]
        ·       ───┬──
        ·          ╰── no such site
        ╰────
      help: the scenario has "users"

    error: wrong.toml has 13 problems
    "#);
}

#[test]
fn wide_jobs_are_refused() {
    let folder =
        Folder::with(&[("wide.toml", &*SHARED.replacen("processors = 1", "processors = 2", 1))]);
    let shown = folder.haggle(&["run", "wide.toml", "-o", "out", "--check"]);
    assert!(shown.contains("1 rejected"), "{shown}");
}

/// Messages of a grid do not use the network, so its faults cannot affect them.
#[test]
fn what_befalls_no_message_of_a_grid_is_warned_about() {
    let network = "[network]\nloss = \"1%\"\ntransport = \"reliable\"\n\n[grid]";
    let folder = Folder::with(&[("grid.toml", &SHARED.replace("[grid]", network))]);
    let shown = folder.haggle(&["validate", "grid.toml"]);
    let words = shown.split([' ', '\n', '│']).filter(|word| !word.is_empty());
    let shown = Vec::from_iter(words).join(" ");
    for key in ["loss", "transport"] {
        let says = format!(
            "`{key}` of the network has no effect: messages between the actors of a grid take no time, and \
             each arrives once"
        );
        assert!(shown.contains(&says), "{key}: {shown}");
    }
    assert!(shown.contains("2 warnings"), "{shown}");
}
