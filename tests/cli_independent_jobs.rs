//! The model of independent jobs, and histograms, in scenarios.

use crate::command::Folder;

#[test]
fn every_model_is_listed() {
    let folder = Folder::with(&[]);
    insta::assert_snapshot!(folder.haggle(&["list", "models"]), @r#"
    exit code: 0
    ----- stdout -----
    lublin-feitelson  Lublin and Feitelson 2003: sizes, run times and arrivals of rigid jobs
    independent-jobs  Arrivals, run times and sizes drawn independently from given laws
    synthetic-month   Caniou, Charrier and Desprez 2010, as far as it is known: a site's jobs in a month whose log is not available
    applications      Sanjay and Vadhiyar 2011: applications of many phases, for `[plans]`
    iterative         Netto 2009, chapter 5: iterative applications, for a metascheduler with `mapping`
    workflows         Workflows: tasks that need each other's data (Chtepen 2011, chapters 5 and 6; shapes; files)
    ----- stderr -----
    "#);
}

#[test]
fn jobs_arrive_in_three_ways() {
    let folder = Folder::with(&[("good.toml", GOOD)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "good.toml"]), @r#"
    exit code: 0
    ----- stdout -----
    ----- stderr -----
    good.toml: valid, 1 provider, 4 workloads, 1 run
    "#);
}

#[test]
fn independent_jobs_run_like_others() {
    let folder = Folder::with(&[("small.toml", SMALL)]);
    let shown = folder.haggle(&["run", "small.toml", "--check", "--quiet", "-o", "runs"]);
    // Everything but the digest, which changes with the columns of any table.
    let lines: Vec<&str> = shown.lines().filter(|line| !line.starts_with("digest")).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    exit code: 0
    ----- stdout -----
    3318 jobs on 16 processors of 1 provider
      3318 completed
      makespan 604716 s (7.0 days), utilisation 25.68 %

                                      mean         std      median        95 %         max
    waiting time, s                   0.00        0.00        0.00        0.00        0.00
    turnaround time, s              748.85      902.28      401.48      2987.9      3594.0
    slowdown                          1.00        0.00        1.00        1.00        1.00
    bounded slowdown (10 s)           1.00        0.00        1.00        1.00        1.00
      turnaround, weighted, s       1835.7   by processor-seconds

    results  runs
    ----- stderr -----
    "#);
}

#[test]
fn arrivals_come_in_one_way_and_end() {
    let folder = Folder::with(&[("arrivals.toml", ARRIVALS)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "arrivals.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × the model has both `between` and `per-day`
        ╭─[arrivals.toml:19:11]
     19 │ per-day = { law = "poisson", mean = 3 }
        ·           ──────────────┬──────────────
        ·                         ╰── the second one
        ╰────
      help: keep one of them, or make two workloads

      × the model has neither `between` nor `hours` nor `per-day`
        ╭─[arrivals.toml:25:20]
     25 │ independent-jobs = { jobs = 9, run = { law = "constant", value = "1h" } }
        ·                    ───────────────────────────┬──────────────────────────
        ·                                               ╰── one of them is missing here
        ╰────
      help: add `between` or `hours` or `per-day`

      × the end of arrivals by `between` is missing
        ╭─[arrivals.toml:30:1]
     30 │ [workload.independent-jobs]
        · ─────────────┬─────────────
        ·              ╰── `jobs` is missing here
        ╰────
      help: add `jobs = 1000` or `length = "7d"`

      × `days` goes with `hours` or `per-day`, not with `between`
        ╭─[arrivals.toml:32:8]
     32 │ days = 3
        ·        ┬
        ·        ╰── not used
        ╰────
      help: remove it, or write `length`

      × `hours` has 3 elements, needs 24
        ╭─[arrivals.toml:39:9]
     39 │ hours = [1, 2, 3]
        ·         ────┬────
        ·             ╰── needs 24
        ╰────
      help: `hours`: Relative probability of each of the 24 hours of a day, from midnight on. An
            arrival is on any of `days`, at any instant of its hour; needs `jobs` and `days`

      × the end of arrivals by `per-day` is missing
        ╭─[arrivals.toml:45:1]
     45 │ [workload.independent-jobs]
        · ─────────────┬─────────────
        ·              ╰── `days` is missing here
        ╰────
      help: add `days = 7`

      × `length` goes with `between`, not with `per-day`
        ╭─[arrivals.toml:47:10]
     47 │ length = "7d"
        ·          ──┬─
        ·            ╰── not used
        ╰────
      help: remove it, or write `days`

    error: arrivals.toml has 7 problems
    "#);
}

#[test]
fn laws_that_are_none_are_shown_where_they_stand() {
    let folder = Folder::with(&[("laws.toml", LAWS)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "laws.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × independent-jobs: hours is no law: histogram law: sum of weights is 0, expected above 0
        ╭─[laws.toml:18:9]
     18 │ hours = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        ·         ────────────────────────────────────┬───────────────────────────────────
        ·                                             ╰── out of range
        ╰────
      help: docs/workloads.md has the range of each parameter

      × independent-jobs: length is 0 s, expected more than 0 s
        ╭─[laws.toml:28:10]
     28 │ length = "0s"
        ·          ──┬─
        ·            ╰── out of range
        ╰────
      help: docs/workloads.md has the range of each parameter

      × independent-jobs: between is 0 s on average, expected more than 0 s to reach the length
        ╭─[laws.toml:35:11]
     35 │ between = { law = "constant", value = "0s" }
        ·           ─────────────────┬────────────────
        ·                            ╰── out of range
        ╰────
      help: docs/workloads.md has the range of each parameter

      × independent-jobs: run is never longer than 0 s, expected 0.000001 s (run-min) or more
        ╭─[laws.toml:45:7]
     45 │ run = { law = "constant", value = "0s" }
        ·       ─────────────────┬────────────────
        ·                        ╰── out of range
        ╰────
      help: docs/workloads.md has the range of each parameter

      × independent-jobs: run is never longer than 9 s, expected 60 s (run-min) or more
        ╭─[laws.toml:53:7]
     53 │ run = { law = "uniform", low = "1s", high = "9s" }
        ·       ──────────────────────┬─────────────────────
        ·                             ╰── out of range
        ╰────
      help: docs/workloads.md has the range of each parameter

      × the law has 1 weights, needs 2
        ╭─[laws.toml:62:66]
     62 │ run = { law = "histogram", edges = ["0h", "1h", "2h"], weights = [1] }
        ·                                                                  ─┬─
        ·                                                                   ╰── not one for each value or bin
        ╰────
      help: give each value, or each bin between two edges, a weight, in the same order

      × independent-jobs: run is no law: histogram law: edge is 3600, expected more than the edge
      │ before
        ╭─[laws.toml:70:7]
     70 │ run = { law = "histogram", edges = ["0h", "2h", "1h"], weights = [1, 1] }
        ·       ─────────────────────────────────┬─────────────────────────────────
        ·                                        ╰── out of range
        ╰────
      help: docs/workloads.md has the range of each parameter

      × workload "other" has no parameters for its model
        ╭─[laws.toml:73:1]
     73 │ [[workload]]
        · ──────┬─────
        ·       ╰── `independent-jobs` is missing here
        ╰────
      help: add `independent-jobs = { jobs = 1000, between = { law = "exponential", mean = "10min" },
            run = { law = "constant", value = "1h" } }`

      × workload "other" has parameters for a model, but its model is another
        ╭─[laws.toml:76:10]
     76 │ lublin = { jobs = 10, processors = 8 }
        ·          ──────────────┬──────────────
        ·                        ╰── not used
        ╰────
      help: write `model = "lublin-feitelson"`, or remove `lublin`

      × workload "list" has parameters for a model, but no model
        ╭─[laws.toml:81:20]
     81 │ independent-jobs = { between = { law = "exponential", mean = "1h" }, jobs = 3, run = { law = "constant", value = "1h" } }
        ·                    ───────────────────────────────────────────────────┬──────────────────────────────────────────────────
        ·                                                                       ╰── not used
        ╰────
      help: write `model = "independent-jobs"`, or remove `independent-jobs`

      × the law has 2 weights, needs 1
        ╭─[laws.toml:83:86]
     83 │   { kind = "deadlines", slack = { law = "histogram", edges = ["0h", "1h"], weights = [1, 2] } },
        ·                                                                                      ───┬──
        ·                                                                                         ╰── not one for each value or bin
        ╰────
      help: give each value, or each bin between two edges, a weight, in the same order

      × step estimates: histogram law: edge is 1, expected more than the edge before
        ╭─[laws.toml:84:3]
     84 │   { kind = "estimates", factor = { law = "histogram", edges = [2, 1], weights = [1] } },
        ·   ──────────────────────────────────────────┬──────────────────────────────────────────
        ·                                             ╰── out of range
        ╰────
      help: `haggle help KEY` explains a key, and docs/scenario.md has all keys

      × `edges` has 1 elements, needs at least 2
        ╭─[laws.toml:85:63]
     85 │   { kind = "estimates", factor = { law = "histogram", edges = [1], weights = [] } },
        ·                                                               ─┬─
        ·                                                                ╰── needs at least 2
        ╰────
      help: `edges`: Edges of the bins, rising; one more than weights

      × `weights` has 0 elements, needs at least 1
        ╭─[laws.toml:85:78]
     85 │   { kind = "estimates", factor = { law = "histogram", edges = [1], weights = [] } },
        ·                                                                              ─┬
        ·                                                                               ╰── needs at least 1
        ╰────
      help: `weights`: Relative probability of each bin

    error: laws.toml has 14 problems
    "#);
}

/// A workload for each kind of arrivals.
const GOOD: &str = r#"
[[workload]]
name = "poisson"
model = "independent-jobs"
[workload.independent-jobs]
between = { law = "uniform", low = "1min", high = "5min" }
length = "1h"
run = { law = "constant", value = "10min" }

[[workload]]
name = "week"
model = "independent-jobs"
[workload.independent-jobs]
hours = [1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 1, 1, 1]
jobs = 20
days = 7
run = { law = "histogram", edges = ["0h", "1h", "2h", "12h"], weights = [0.13, 0.355, 0.515] }

[[workload]]
name = "batches"
model = "independent-jobs"
[workload.independent-jobs]
per-day = { law = "choice", values = [1, 2] }
days = 3
batch = { law = "constant", value = 10 }
processors = { law = "histogram", edges = [1, 2, 8], weights = [3, 1] }
run = { law = "normal", mean = "10min", standard-deviation = "2min" }
run-min = "1min"

[[workload]]
name = "jobs"
merge = ["poisson", "week", "batches"]

[[provider]]
name = "north"
processors = 16

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#;

/// A week on a small machine.
const SMALL: &str = r#"[[workload]]
name = "jobs"
model = "independent-jobs"
[workload.independent-jobs]
between = { law = "uniform", low = "60s", high = "300s" }
length = "7d"
run = { law = "histogram", edges = ["0s", "10min", "1h"], weights = [3, 1] }

[[provider]]
name = "north"
processors = 16

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
"#;

/// Arrivals of no kind or of two kinds, without an end, or with the end of another kind.
const ARRIVALS: &str = r#"[[provider]]
name = "north"
processors = 16

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[workload]]
name = "jobs"
jobs = []

[[workload]]
name = "both"
model = "independent-jobs"
[workload.independent-jobs]
between = { law = "exponential", mean = "1h" }
per-day = { law = "poisson", mean = 3 }
run = { law = "constant", value = "1h" }

[[workload]]
name = "neither"
model = "independent-jobs"
independent-jobs = { jobs = 9, run = { law = "constant", value = "1h" } }

[[workload]]
name = "endless"
model = "independent-jobs"
[workload.independent-jobs]
between = { law = "exponential", mean = "1h" }
days = 3
run = { law = "constant", value = "1h" }

[[workload]]
name = "by-hours"
model = "independent-jobs"
[workload.independent-jobs]
hours = [1, 2, 3]
run = { law = "constant", value = "1h" }

[[workload]]
name = "by-day"
model = "independent-jobs"
[workload.independent-jobs]
per-day = { law = "poisson", mean = 3 }
length = "7d"
run = { law = "constant", value = "1h" }
"#;

/// Parameters out of range, and parameters of models that are not used.
const LAWS: &str = r#"[[provider]]
name = "north"
processors = 16

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[workload]]
name = "jobs"
jobs = []

[[workload]]
name = "no-hour"
model = "independent-jobs"
[workload.independent-jobs]
hours = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
jobs = 7
days = 7
run = { law = "constant", value = "1h" }

[[workload]]
name = "no-length"
model = "independent-jobs"
[workload.independent-jobs]
between = { law = "exponential", mean = "1h" }
length = "0s"
run = { law = "constant", value = "1h" }

[[workload]]
name = "no-time"
model = "independent-jobs"
[workload.independent-jobs]
between = { law = "constant", value = "0s" }
length = "1d"
run = { law = "constant", value = "1h" }

[[workload]]
name = "zero"
model = "independent-jobs"
[workload.independent-jobs]
between = { law = "constant", value = "1s" }
jobs = 3
run = { law = "constant", value = "0s" }

[[workload]]
name = "too-short"
model = "independent-jobs"
[workload.independent-jobs]
between = { law = "constant", value = "1s" }
jobs = 3
run = { law = "uniform", low = "1s", high = "9s" }
run-min = "1min"

[[workload]]
name = "weights"
model = "independent-jobs"
[workload.independent-jobs]
between = { law = "constant", value = "1s" }
jobs = 3
run = { law = "histogram", edges = ["0h", "1h", "2h"], weights = [1] }

[[workload]]
name = "edges"
model = "independent-jobs"
[workload.independent-jobs]
between = { law = "constant", value = "1s" }
jobs = 3
run = { law = "histogram", edges = ["0h", "2h", "1h"], weights = [1, 1] }
processors = { law = "choice", values = [1, 2], weights = [1, -1] }

[[workload]]
name = "other"
model = "independent-jobs"
lublin = { jobs = 10, processors = 8 }

[[workload]]
name = "list"
jobs = []
independent-jobs = { between = { law = "exponential", mean = "1h" }, jobs = 3, run = { law = "constant", value = "1h" } }
step = [
  { kind = "deadlines", slack = { law = "histogram", edges = ["0h", "1h"], weights = [1, 2] } },
  { kind = "estimates", factor = { law = "histogram", edges = [2, 1], weights = [1] } },
  { kind = "estimates", factor = { law = "histogram", edges = [1], weights = [] } },
]
"#;
