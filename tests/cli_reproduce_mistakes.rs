//! Errors of `haggle reproduce` for mistakes in studies, and for missing files.

use crate::cli_reproduce::{BASE, CLAIMS, FIGURES, reproduce, study, write};

#[test]
fn unknown_figures_are_named() {
    let folder = study(None);
    insta::assert_snapshot!(reproduce(&folder, &["mad-1"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: there is no figure "mad-1"

    hint: did you mean "made-1"? `haggle list figures` lists all figures
    "#);
    insta::assert_snapshot!(reproduce(&folder, &["something"]), @r#"
    exit code: 2
    ----- stdout -----
    ----- stderr -----
    error: there is no figure "something"

    hint: `haggle list figures` lists all figures
    "#);
}

#[test]
fn charts_of_runs_say_what_is_plotted() {
    let with = |draw: &str| FIGURES.replace("kind = \"table\"\nwhere = { load = 0.7 }", draw);
    let folder = study(Some(("figures.toml", with("kind = \"run\""))));
    insta::assert_snapshot!(reproduce(&folder, &["made-t1"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × figure "made-t1" draws a run and does not say how
        ╭─[lib/made-up/figures.toml:47:8]
     47 │ name = "made-t1"
        ·        ────┬────
        ·            ╰── this one
        ╰────
      help: give it `plot`, such as `plot = { kind = "gantt" }`

    error: lib/made-up/figures.toml has 1 problem
    "#);
    let plot = "kind = \"run\"\nplot = { kind = \"gantt\" }\nwhere = { load = 0.7";
    write(&folder, "figures.toml", &with(&format!("{plot} }}")));
    let shown = reproduce(&folder, &["made-t1", "--quiet"]);
    assert!(shown.contains("cannot be drawn: say which policy is meant: base has fcfs"), "{shown}");
    write(&folder, "figures.toml", &with(&format!("{plot}, policy = \"easy\" }}")));
    let shown = reproduce(&folder, &["made-t1", "--quiet"]);
    let run = "out/made-up/base/policy=easy/load=0.7/seed=1";
    assert!(shown.contains(&format!("  figure   out/made-t1.png\n  numbers  {run}\n")), "{shown}");
}

#[test]
fn broken_expressions_are_found_before_anything_is_run() {
    let claims = CLAIMS.replace("wait(\"fcfs\", l)))", "wait(\"fcfs\", l))");
    let folder = study(Some(("claims.toml", claims)));
    insta::assert_snapshot!(reproduce(&folder, &["made-1"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × claim MU-1-a: Expecting ')' to close the arguments list of this function call 'each'
        ╭─[lib/made-up/claims.toml:11:1]
     11 │ '''
        · ┬
        · ╰── here
        ╰────

    error: lib/made-up/claims.toml has 1 problem
    "#);
    let figures = FIGURES.replace("wait(\"fcfs\", x)", "wait(\"fcfs\", y)");
    let folder = study(Some(("figures.toml", figures)));
    insta::assert_snapshot!(reproduce(&folder, &["made-1"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × figure "made-2": Undefined variable: y in `100 * (1 - wait(at.policy, x) / wait("fcfs", y))`
        ╭─[lib/made-up/figures.toml:25:8]
     25 │ name = "made-2"
        ·        ────┬───
        ·            ╰── its value, line 1, column 46
        ╰────
      help: put it right there

    error: lib/made-up/figures.toml has 1 problem
    "#);
    let figures = FIGURES.replace("fn wait(p, l)", "fn wait(p, l");
    let folder = study(Some(("figures.toml", figures)));
    insta::assert_snapshot!(reproduce(&folder, &["made-1"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × functions: Expecting ',' to separate the parameters of function 'wait'
       ╭─[lib/made-up/figures.toml:3:14]
     3 │ fn wait(p, l { value("mean-waiting-time", #{policy: p, load: l}) / 60 }
       ·              ┬
       ·              ╰── here
       ╰────

    error: lib/made-up/figures.toml has 1 problem
    "#);
    assert_eq!(folder.names(), ["lib"]);
}

#[test]
fn expressions_that_fail_do_not_cost_the_others() {
    let claims = CLAIMS.replace("wait(\"fcfs\", l)", "wait(\"fifo\", l)");
    let folder = study(Some(("claims.toml", claims)));
    insta::assert_snapshot!(reproduce(&folder, &["made-1"]), @r#"
    exit code: 3
    ----- stdout -----
    made-1: Waiting times under three policies
      figure   out/made-1.png
      numbers  out/made-1.csv

      failed      MU-1-a  Backfilling shortens waiting, whatever the load of the provider's own users,
                          and this is a statement to be wrapped
                          expected  EASY < FCFS on the average (trend)
                          because   lib/made-up/claims.toml:10:33: claim MU-1-a: base has no policy =
                                    fifo: there is fcfs, easy, conservative

      missed      MU-1-b  Every job waits
                          expected  EASY at least a year (exact)
                          came out  36.51 ± 45.57 (n = 3), asked for at least 525600
                          note      made up

      untestable  MU-1-c  Users were content
                          expected  words of praise (trend)
                          because   nobody was asked

    3 claims: 1 missed, 1 untestable, 1 failed
    ----- stderr -----
      × claim MU-1-a: base has no policy = fifo: there is fcfs, easy, conservative
        ╭─[lib/made-up/claims.toml:10:33]
     10 │     lower_mean(wait("easy", l), wait("fifo", l)))
        ·                                 ──┬─
        ·                                   ╰── here
        ╰────

    error: lib/made-up/claims.toml has 1 problem

    A missed claim is a result and no error: the result here differs from the published one. Reasons
    are workloads that a publication describes in part, and choices it does not state.
    `expected` and `came out` have the numbers, `note` explains the difference as far as known, and
    docs/studies.md describes how claims are decided. The exit code is 1, so that scripts see it.
    "#);
}

#[test]
fn catalogues_with_mistakes_are_refused() {
    let figures = FIGURES.replace("name = \"made-2\"", "name = \"made-1\"");
    let figures = figures
        .replacen("base.toml", "bas.toml", 1)
        .replace("minutes = { full = 0.1 }", "study = \"none\"");
    let folder = study(Some(("figures.toml", figures)));
    insta::assert_snapshot!(reproduce(&folder, &["made-1"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × the study has no scenario `bas.toml`
        ╭─[lib/made-up/figures.toml:13:11]
     13 │ sweeps = ["bas.toml"]
        ·           ─────┬────
        ·                ╰── not there
        ╰────
      help: name a file of the same folder, with its ending .toml

      × two figures are called "made-1"
        ╭─[lib/made-up/figures.toml:25:8]
     25 │ name = "made-1"
        ·        ────┬───
        ·            ╰── taken
        ╰────
      help: rename one of them

      × there is no study "none"
        ╭─[lib/made-up/figures.toml:50:9]
     50 │ study = "none"
        ·         ───┬──
        ·            ╰── not there
        ╰────
      help: there is composition-table, workload-table, frames, grid-jobs, backfilling-limit,
            speedups, job-kinds, size-search, size-searches, protocol-traits, protocol-deliveries,
            plan-costs, plan-hierarchies, plan-runs, plan-groups, plan-links, plan-loads, plan-
            bandwidths, plan-counts, plan-settings, prediction-errors, prediction-runs, iterative-
            sets, iterative-throughputs, iterative-courses, iterative-runs, iterative-topologies,
            iterative-optima, workflow-example, workflow-inputs, estimate-curves, length-predictions,
            workflow-parameters, workflow-sites

    error: lib/made-up/figures.toml has 3 problems
    "#);
    let claims = CLAIMS.replace("\"made-2\"]", "\"made-3\"]").replace("MU-2", "MU-1-a");
    let claims = claims.replace("untestable = \"nobody was asked\"", "");
    let claims = claims.replace("reason = \"patience\"", "reason = \"patence\"");
    let folder = study(Some(("claims.toml", claims)));
    insta::assert_snapshot!(reproduce(&folder, &["made-1"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × the study has no figure "made-3"
        ╭─[lib/made-up/claims.toml:15:22]
     15 │ figures = ["made-1", "made-3"]
        ·                      ────┬───
        ·                          ╰── not there
        ╰────
      help: did you mean "made-1"?

      × claim MU-1-c has no check
        ╭─[lib/made-up/claims.toml:23:6]
     23 │ id = "MU-1-c"
        ·      ────┬───
        ·          ╰── this one
        ╰────
      help: give it either a `check` or the reason why it is `untestable`

      × two claims are called "MU-1-a"
        ╭─[lib/made-up/claims.toml:31:6]
     31 │ id = "MU-1-a"
        ·      ────┬───
        ·          ╰── taken
        ╰────
      help: rename one of them

      × the study has no figure "made-3"
        ╭─[lib/made-up/claims.toml:32:12]
     32 │ figures = ["made-3"]
        ·            ────┬───
        ·                ╰── not there
        ╰────
      help: did you mean "made-1"?

      × the study has no reason "patence"
        ╭─[lib/made-up/claims.toml:37:10]
     37 │ reason = "patence"
        ·          ────┬────
        ·              ╰── not there
        ╰────
      help: did you mean "patience"?

    error: lib/made-up/claims.toml has 5 problems
    "#);
    let figures = FIGURES.replace("kind = \"bars\"", "kind = \"pie\"");
    let folder = study(Some(("figures.toml", figures)));
    insta::assert_snapshot!(reproduce(&folder, &["made-1"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × unknown variant `pie`, expected one of `bars`, `box`, `letter-values`, `lines`, `scatter`,
      │ `graph`, `table`, `run`
        ╭─[lib/made-up/figures.toml:17:8]
     17 │ kind = "pie"
        ·        ──┬──
        ·          ╰── here
        ╰────

    error: lib/made-up/figures.toml has 1 problem
    "#);
    let figures = FIGURES.replace("is = \"fcfs\", name", "is = \"fcfs\", nme");
    let folder = study(Some(("figures.toml", figures)));
    insta::assert_snapshot!(reproduce(&folder, &["made-1"]), @r#"
    exit code: 3
    ----- stdout -----
    ----- stderr -----
      × unknown field `nme`, expected one of `is`, `name`, `where`, `sweep`, `group`, `metric`,
      │ `value`, `scale`, `label`
        ╭─[lib/made-up/figures.toml:21:38]
     21 │ series = { axis = "policy", values = ["easy", { is = "fcfs", nme = "first come" }] }
        ·                                      ──────────────────────┬──────────────────────
        ·                                                            ╰── here
        ╰────

    error: lib/made-up/figures.toml has 1 problem
    "#);
}

#[test]
fn drawings_that_ask_for_too_much_say_so() {
    let figures = FIGURES.replace("metric = \"nb_jobs\"", "metric = \"nb_jbs\"");
    let figures = figures.replace("[\"easy\", { is", "[\"eas\", { is");
    let folder = study(Some(("figures.toml", figures)));
    insta::assert_snapshot!(reproduce(&folder, &["made-1", "made-t1"]), @r#"
    exit code: 3
    ----- stdout -----
    made-1: Waiting times under three policies

      undecided   MU-1-a  Backfilling shortens waiting, whatever the load of the provider's own users,
                          and this is a statement to be wrapped
                          expected  EASY < FCFS on the average (trend)
                          came out  0.5: 26.25 ± 42.95 against 311.7 ± 778.2, difference -285.4 ± 736.5
                                    (n = 3) (within the noise);
                                    0.7: 29.04 ± 45.54 against 338.1 ± 834.3, difference -309 ± 792 (n =
                                    3) (within the noise);
                                    1.5: 36.51 ± 45.57 against 380 ± 889.3, difference -343.4 ± 852.5 (n
                                    = 3) (within the noise)

      missed      MU-1-b  Every job waits
                          expected  EASY at least a year (exact)
                          came out  36.51 ± 45.57 (n = 3), asked for at least 525600
                          note      made up

      untestable  MU-1-c  Users were content
                          expected  words of praise (trend)
                          because   nobody was asked

    made-t1: Summary of all policies

    3 claims: 1 missed, 1 undecided, 1 untestable
    ----- stderr -----
    error: figure "made-1" cannot be drawn: axis "policy" has no value eas: it has fcfs, easy, conservative

    hint: correct it in the study's figures.toml
    error: figure "made-t1" cannot be drawn: there is no "nb_jbs", did you mean "nb_jobs"? in base (policy fcfs, load 0.7, seed 1)

    hint: correct it in the study's figures.toml

    A missed claim is a result and no error: the result here differs from the published one. Reasons
    are workloads that a publication describes in part, and choices it does not state.
    `expected` and `came out` have the numbers, `note` explains the difference as far as known, and
    docs/studies.md describes how claims are decided. The exit code is 1, so that scripts see it.
    "#);
}

#[test]
fn logs_that_are_not_there_are_said_and_cost_no_other_figure() {
    let folder = study(None);
    let (model, sweep) = BASE.split_once("[sweep]").expect("it has one");
    let log = "log = \"$HAGGLE_TRACES/log.swf\"";
    let lines = model.lines().filter(|line| !line.starts_with("lublin"));
    let lines = lines.map(|line| if line.starts_with("model") { log } else { line });
    let log: Vec<&str> = lines.collect();
    let sweep = sweep.split("\n[[sweep.axis]]\nname").next().expect("the axis of policies");
    write(&folder, "logs.toml", &format!("{}\n[sweep]{sweep}", log.join("\n")));
    let more = r#"
[[figure]]
name = "made-3"
about = "Waiting on a real log"
sweeps = ["logs.toml"]
"#;
    write(&folder, "figures.toml", &format!("{FIGURES}{more}"));
    let more = r#"
[[claim]]
id = "MU-3"
figures = ["made-3"]
statement = "There is a log"
expected = "jobs"
grade = "trend"
check = 'at_least(value("nb_jobs", #{policy: "easy"}), 1)'
"#;
    write(&folder, "claims.toml", &format!("{CLAIMS}{more}"));
    insta::assert_snapshot!(reproduce(&folder, &["made-3", "made-t1"]), @r#"
    exit code: 3
    ----- stdout -----
    made-t1: Summary of all policies
      numbers  out/made-t1.csv

      policy        jobs  done, %
      fcfs            60      100
      easy            60      100
      conservative    60      100

    0 claims
    ----- stderr -----
    error: made-3 cannot be drawn without logs, which belong to other owners and are no part of haggle:

      Parallel Workloads Archive, https://www.cs.huji.ac.il/labs/parallel/workload/
        log.swf: environment variable `HAGGLE_TRACES` is not set

    hint: put them into a folder under these names and name it, as in HAGGLE_TRACES=~/traces;
          `haggle list figures` says which figures need no logs: haggle-sessions is one
    "#);
}
