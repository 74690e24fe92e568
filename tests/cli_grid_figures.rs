//! Timelines of a grid's resources and of its jobs, as scenarios and `haggle plot` draw them.

use crate::command::{Folder, VALID};
use crate::small_runs::runs;

const GRID: &str = include_str!("../scenarios/failing-grid.toml");

#[test]
fn a_resource_and_a_job_are_drawn() {
    let folder = Folder::with(&[("grid.toml", GRID)]);
    let shown = folder.haggle(&["run", "grid.toml", "--check", "--quiet", "-o", "run"]);
    let figures: Vec<&str> = shown.lines().filter(|line| line.starts_with("figure")).collect();
    assert_eq!(
        figures,
        ["figure   run/resource-timeline.png", "figure   run/job-timeline.png"],
        "{shown}"
    );
    insta::assert_snapshot!(folder.haggle(&[
        "plot", "run", "--kind", "resource-timeline", "--provider", "beta-1", "--provider",
        "beta-2", "--from", "6h", "--until", "1d", "-o", "beta.svg",
    ]), @r#"
    exit code: 0
    ----- stdout -----
    beta.svg
    ----- stderr -----
    "#);
    let svg = folder.read("beta.svg");
    for word in ["beta-1: slot", "beta-2: slot", "completed", "checkpoint", "time, h"] {
        assert!(svg.contains(word), "no `{word}`");
    }
    insta::assert_snapshot!(folder.haggle(&["plot", "run", "--kind", "job-timeline", "--job", "7", "-o", "seven.svg"]), @r#"
    exit code: 0
    ----- stdout -----
    seven.svg
    ----- stderr -----
    "#);
    let svg = folder.read("seven.svg");
    for word in ["job 7 of the run", "attempt 1, ", "submitted", "completed"] {
        assert!(svg.contains(word), "no `{word}`");
    }
    insta::assert_snapshot!(folder.haggle(&["plot", "run", "--kind", "job-timeline", "--job", "4711", "-o", "x.png"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: figure "job-timeline": the run has no job 4711
    "#);
    insta::assert_snapshot!(folder.haggle(&["plot", "run", "--kind", "resource-timeline", "--provider", "beta-9"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: there is no resource "beta-9"

    hint: did you mean "beta-1"?
    "#);
}

#[test]
fn runs_without_a_grid_have_no_such_timelines() {
    let folder = runs();
    for kind in ["resource-timeline", "job-timeline"] {
        assert_eq!(
            folder.haggle(&["plot", "easy", "--kind", kind]),
            format!(
                "exit code: 2\n----- stdout -----\n----- stderr -----\nerror: figure \"{kind}\": \
                 \"{kind}\" shows a grid, and this run has none: use \"gantt\"\n"
            )
        );
    }
}

#[test]
fn keys_that_do_not_fit_are_shown() {
    let without = format!("{VALID}{FIGURES}");
    let with = format!("{GRID}{MORE}");
    let folder = Folder::with(&[("without.toml", &without), ("with.toml", &with)]);
    insta::assert_snapshot!(folder.haggle(&["validate", "without.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × figure "resource-timeline" shows a grid, and the scenario has none
        ╭─[without.toml:16:8]
     16 │ kind = "resource-timeline"
        ·        ─────────┬─────────
        ·                 ╰── needs a grid
        ╰────
      help: add [grid], or choose another kind, such as "gantt"

      × figure "gantt" does not use `job`
        ╭─[without.toml:20:7]
     20 │ job = 7
        ·       ┬
        ·       ╰── not used
        ╰────
      help: remove `job`, or choose the kind "job-timeline", "workflow-timeline" or "sequence"

    error: without.toml has 2 problems
    "#);
    insta::assert_snapshot!(folder.haggle(&["validate", "with.toml"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × no resource or site is called "alpha-7"
        ╭─[with.toml:86:14]
     86 │ providers = ["alpha-7"]
        ·              ────┬────
        ·                  ╰── no such resource or site
        ╰────
      help: did you mean "alpha-1"?

      × figure "resource-timeline" does not use `group-by`
        ╭─[with.toml:87:12]
     87 │ group-by = "provider"
        ·            ─────┬────
        ·                 ╰── not used
        ╰────
      help: remove `group-by`, or choose the kind "bars" or "lines"

      × figure "job-timeline" does not use `providers`
        ╭─[with.toml:93:13]
     93 │ providers = ["alpha-1"]
        ·             ─────┬─────
        ·                  ╰── not used
        ╰────
      help: remove `providers`

    error: with.toml has 3 problems
    "#);
}

const FIGURES: &str = r#"
[[figure]]
kind = "resource-timeline"

[[figure]]
kind = "gantt"
job = 7
"#;

const MORE: &str = r#"
[[figure]]
kind = "resource-timeline"
name = "site"
providers = ["alpha", "beta-2"]

[[figure]]
kind = "resource-timeline"
name = "nobody"
providers = ["alpha-7"]
group-by = "provider"

[[figure]]
kind = "job-timeline"
name = "there"
job = 7
providers = ["alpha-1"]
"#;

#[test]
fn figures_of_processors_are_no_figures_of_grids() {
    let text = format!(
        "{GRID}\n[[figure]]\nkind = \"gantt\"\n\n[[figure]]\nkind = \"queue-length\"\n\
         providers = [\"alpha\"]\n"
    );
    let folder = Folder::with(&[("grid.toml", GRID), ("wrong.toml", &text)]);
    let shown = folder.haggle(&["validate", "wrong.toml"]);
    for said in [
        "figure \"gantt\" shows the processors held by each job, and jobs of a grid share theirs",
        "choose another kind, such as \"resource-timeline\"",
        "jobs of a grid wait at its scheduler, for any resource",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    folder.haggle(&["run", "grid.toml", "-o", "out", "--no-figures", "--quiet"]);
    let shown = folder.haggle(&["plot", "out", "--kind", "gantt"]);
    assert!(shown.contains("jobs of a grid share theirs: use \"resource-timeline\""), "{shown}");
    let shown = folder.haggle(&["plot", "out", "--kind", "utilisation", "--kind", "queue-length"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
}
