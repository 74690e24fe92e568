//! `haggle reproduce` and `haggle list figures`, on a made-up study.

use std::fs;

use crate::command::{Folder, json_of, stderr_of, stdout_of};

/// Two sites under three policies and two loads, three seeds each.
pub(crate) const BASE: &str = r#"
[[workload]]
name = "jobs"
model = "lublin-feitelson"
lublin = { jobs = 60, processors = 32, load = 0.8 }

[[provider]]
name = "north"
processors = 32

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[sweep]
replications = 3

[[sweep.axis]]
path = "provider.north.policy"
values = ["fcfs", "easy", "conservative"]

[[sweep.axis]]
name = "load"
path = "workload.jobs.lublin.load"
values = [0.5, 0.7, 1.5]
"#;

/// Part of the study that --quick keeps.
const QUICK: &str = "replications = 2\naxes = { load = [0.5, 1.5] }\n";

/// Bars in panels, lines, a scatter and a table.
pub(crate) const FIGURES: &str = r#"
functions = '''
fn wait(p, l) { value("mean-waiting-time", #{policy: p, load: l}) / 60 }
'''

[quick]
replications = 2
axes = { load = [0.5, 1.5] }

[[figure]]
name = "made-1"
about = "Waiting times under three policies"
sweeps = ["base.toml"]
minutes = { full = 150, quick = 0.5 }

[[figure.draw]]
kind = "bars"
metric = "mean-waiting-time"
label = "mean waiting time, s"
x = { axis = "load" }
series = { axis = "policy", values = ["easy", { is = "fcfs", name = "first come" }] }
panels = { values = [{ name = "local", group = "local" }, { name = "all jobs" }] }

[[figure]]
name = "made-2"
about = "Reduction of waiting times against FCFS"
sweeps = ["base.toml"]

[[figure.draw]]
kind = "lines"
value = '''100 * (1 - wait(at.policy, x) / wait("fcfs", x))'''
label = "reduction, %"
bars = "ci95"
x = { axis = "load" }
series = { axis = "policy", values = ["easy", "conservative"] }

[[figure.draw]]
kind = "scatter"
suffix = "price"
where = { load = 1.5 }
metric = "mean-waiting-time"
label = "mean waiting time, s"
x = { metric = "messages", label = "messages" }
series = { axis = "policy" }

[[figure]]
name = "made-t1"
about = "Summary of all policies"
sweeps = ["base.toml"]
minutes = { full = 0.1 }

[[figure.draw]]
kind = "table"
where = { load = 0.7 }
bars = "none"
x = { axis = "policy" }
series = { values = [{ name = "jobs", metric = "nb_jobs" }, { name = "done, %", value = "100 * value(\"outcomes.completed\", at) / 60" }] }
"#;

/// Some claims hold, one does not, and one cannot be tested.
pub(crate) const CLAIMS: &str = r#"
[[claim]]
id = "MU-1-a"
figures = ["made-1"]
statement = "Backfilling shortens waiting, whatever the load of the provider's own users, and this is a statement to be wrapped"
expected = "EASY < FCFS on the average"
grade = "trend"
check = '''
each(axis("load"), |l|
    lower_mean(wait("easy", l), wait("fcfs", l)))
'''

[[claim]]
id = "MU-1-b"
figures = ["made-1", "made-2"]
statement = "Every job waits"
expected = "EASY at least a year"
grade = "exact"
check = 'at_least(wait("easy", 1.5), 525600)'
note = "made up"

[[claim]]
id = "MU-1-c"
figures = ["made-1"]
statement = "Users were content"
expected = "words of praise"
grade = "trend"
untestable = "nobody was asked"

[[claim]]
id = "MU-2"
figures = ["made-2"]
statement = "No job is lost under middling load"
expected = "60 jobs"
grade = "exact"
check = 'close(value("outcomes.completed", "local", #{policy: "easy", load: 0.7}), 60, 0)'
reason = "patience"

[reasons]
patience = "nobody gives up"
"#;

/// A folder with the study in `lib`; one file may be replaced.
pub(crate) fn study(changed: Option<(&str, String)>) -> Folder {
    let folder = Folder::with(&[]);
    fs::create_dir_all(folder.path().join("lib/made-up")).expect("it can be made");
    let files = [("base.toml", BASE), ("figures.toml", FIGURES), ("claims.toml", CLAIMS)];
    for (name, text) in files {
        write(&folder, name, text);
    }
    if let Some((name, text)) = changed {
        write(&folder, name, &text);
    }
    folder
}

/// Writes a file of the study.
pub(crate) fn write(folder: &Folder, name: &str, text: &str) {
    fs::write(folder.path().join("lib/made-up").join(name), text).expect("it can be written");
}

/// Exit code and output of `haggle reproduce`.
pub(crate) fn reproduce(folder: &Folder, arguments: &[&str]) -> String {
    let fixed = ["reproduce", "--scenarios", "lib", "-o", "out"];
    folder.haggle(&[&fixed[..], arguments].concat())
}

/// A page made from earlier JSON output, without any run.
#[test]
fn what_came_of_claims_becomes_a_page() {
    let folder = study(None);
    let told = reproduce(&folder, &["all", "--json", "--quiet"]);
    fs::write(folder.path().join("claims.json"), stdout_of(&told)).expect("it can be written");
    fs::remove_dir_all(folder.path().join("out")).expect("it is there");
    let shown = reproduce(&folder, &["--page", "claims.json"]);
    assert!(!folder.path().join("out").exists(), "something was run");
    let version = env!("CARGO_PKG_VERSION");
    let date = shown.split(&format!("{version}, ")).nth(1).and_then(|rest| rest.get(..10));
    let date = date.expect("a date");
    assert!(date.starts_with("20") && date.matches('-').count() == 2, "{date}");
    let shown = shown.replace(date, "DATE").replace(version, "VERSION");
    insta::assert_snapshot!(shown, @r#"
    exit code: 0
    ----- stdout -----
    # Claims and results

    Claims of publications about their figures, and expectations of haggle's own studies, tested in full. A missed claim is a result: the result here differs from the published one. Claims, expressions and reasons stand in `scenarios/*/claims.toml` ([studies.md](studies.md)); `haggle reproduce FIGURE` repeats any of them with all numbers.

    <!-- Made by: haggle reproduce STUDY --json > STUDY.json for each study; haggle reproduce --page *.json -->

    | study | claims | held | missed | undecided | untestable | tested |
    |---|--:|--:|--:|--:|--:|---|
    | **all** | 4 | 1 | 1 | 1 | 1 |  |
    | [made-up](#made-up) | 4 | 1 | 1 | 1 | 1 | VERSION, DATE |

    *held*: the result agrees with the claim; *missed*: it does not; *undecided*: the difference is within the noise of the replications, or fewer were made than the study requires; *reported*: other data are used in place of the original ones; *untestable*: the known facts cannot decide it.

    ## made-up

    ### made-1

    Waiting times under three policies.

    | claim | | what was said | expected |
    |---|---|---|---|
    | MU-1-a | undecided | Backfilling shortens waiting, whatever the load of the provider's own users, and this is a statement to be wrapped | EASY \< FCFS on the average (trend) |
    | MU-1-b | **missed** | Every job waits | EASY at least a year (exact) |
    | MU-1-c | untestable | Users were content | words of praise (trend) |

    **MU-1-a**, undecided. Came out: 0.5: 26.25 ± 42.95 against 311.7 ± 778.2, difference -285.4 ± 736.5 (n = 3) (within the noise); 0.7: 29.04 ± 45.54 against 338.1 ± 834.3, difference -309 ± 792 (n = 3) (within the noise); 1.5: 36.51 ± 45.57 against 380 ± 889.3, difference -343.4 ± 852.5 (n = 3) (within the noise).

    **MU-1-b** (also about made-2), missed. Came out: 36.51 ± 45.57 (n = 3), asked for at least 525600. *Note*: made up

    **MU-1-c**, untestable. Because: nobody was asked.

    ### made-2

    Reduction of waiting times against FCFS.

    | claim | | what was said | expected |
    |---|---|---|---|
    | MU-2 | held | No job is lost under middling load | 60 jobs (exact) |
    ----- stderr -----
    "#);
    let other = stdout_of(&told).replace("made-2", "made-7");
    fs::write(folder.path().join("other.json"), other).expect("it can be written");
    let refused = reproduce(&folder, &["--page", "other.json"]);
    assert!(
        refused.contains("claim MU-2 is about made-7, of which there is no study here"),
        "{refused}"
    );
    fs::write(folder.path().join("none.json"), "{}").expect("it can be written");
    let refused = reproduce(&folder, &["--page", "none.json"]);
    assert!(refused.starts_with("exit code: 2") && refused.contains("has no claims"), "{refused}");
}

#[test]
fn figures_are_drawn_and_claims_tested() {
    let folder = study(None);
    insta::assert_snapshot!(reproduce(&folder, &["all"]), @r#"
    exit code: 1
    ----- stdout -----
    made-1: Waiting times under three policies
      figure   out/made-1.png
      numbers  out/made-1.csv

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

    made-2: Reduction of waiting times against FCFS
      figure   out/made-2.png
      numbers  out/made-2.csv
      figure   out/made-2-price.png
      numbers  out/made-2-price.csv

      held  MU-2  No job is lost under middling load
                  expected  60 jobs (exact)
                  came out  60 ± 0 (n = 3), asked for 60 within 0
                  why       patience: see the end

    made-t1: Summary of all policies
      numbers  out/made-t1.csv

      policy        jobs  done, %
      fcfs            60      100
      easy            60      100
      conservative    60      100

    why patience: nobody gives up

    4 claims: 1 held, 1 missed, 1 undecided, 1 untestable
    ----- stderr -----

    A missed claim is a result and no error: the result here differs from the published one. Reasons
    are workloads that a publication describes in part, and choices it does not state.
    `expected` and `came out` have the numbers, `note` explains the difference as far as known, and
    docs/studies.md describes how claims are decided. The exit code is 1, so that scripts see it.
    "#);
    let mut files = folder.names_in("out");
    files.retain(|name| name.contains('.'));
    insta::assert_snapshot!(files.join(" "), @"made-1.csv made-1.png made-2-price.csv made-2-price.png made-2.csv made-2.png made-t1.csv");
    let png = fs::read(folder.path().join("out/made-1.png")).expect("it was drawn");
    assert!(png.starts_with(b"\x89PNG"));
    let csv = folder.read("out/made-1.csv");
    assert_eq!(csv.lines().count(), 1 + 2 * 2 * 3, "{csv}");
    assert!(csv.starts_with("panel,series,x,n,mean,std,ci95\nlocal,easy,0.5,3,"), "{csv}");
    let csv = folder.read("out/made-2-price.csv");
    assert!(csv.starts_with("panel,series,n,x_mean,x_std,x_ci95,y_mean,"), "{csv}");
    insta::assert_snapshot!(folder.read("out/made-t1.csv"), @r#"
    panel,series,x,n,mean,std,ci95
    ,jobs,fcfs,3,60.0,0.0,0.0
    ,jobs,easy,3,60.0,0.0,0.0
    ,jobs,conservative,3,60.0,0.0,0.0
    ,"done, %",fcfs,3,100.0,0.0,0.0
    ,"done, %",easy,3,100.0,0.0,0.0
    ,"done, %",conservative,3,100.0,0.0,0.0
    "#);
}

#[test]
fn claims_are_printed_as_json() {
    let folder = study(None);
    let told = reproduce(&folder, &["made-2", "--json"]);
    let date = told.split("\"date\": \"").nth(1).and_then(|rest| rest.get(..10)).expect("a date");
    let told = told.replace(date, "DATE").replace(env!("CARGO_PKG_VERSION"), "VERSION");
    insta::assert_snapshot!(told, @r#"
    exit code: 1
    ----- stdout -----
    {
      "claims": [
        {
          "expected": "EASY at least a year",
          "figures": [
            "made-1",
            "made-2"
          ],
          "got": "36.51 ± 45.57 (n = 3), asked for at least 525600",
          "grade": "exact",
          "id": "MU-1-b",
          "note": "made up",
          "statement": "Every job waits",
          "verdict": "missed"
        },
        {
          "expected": "60 jobs",
          "figures": [
            "made-2"
          ],
          "got": "60 ± 0 (n = 3), asked for 60 within 0",
          "grade": "exact",
          "id": "MU-2",
          "statement": "No job is lost under middling load",
          "verdict": "held",
          "why": "nobody gives up"
        }
      ],
      "date": "DATE",
      "version": "VERSION"
    }
    ----- stderr -----
    "#);
}

#[test]
fn what_is_done_is_not_done_again() {
    let folder = study(None);
    let first = reproduce(&folder, &["made-t1"]);
    assert!(first.starts_with("exit code: 0\n"), "{first}");
    assert_eq!(stderr_of(&first), "");
    let before = folder.tree("out/made-up");
    assert!(before.keys().filter(|name| name.ends_with("timing.json")).count() == 27);
    // Another figure of the same sweep: even the durations of runs stay unchanged.
    let second = reproduce(&folder, &["made-2"]);
    let said = stderr_of(&second);
    assert!(said.starts_with("base: 27 of 27 runs are done already\n"), "{said}");
    assert_eq!(stderr_of(&reproduce(&folder, &["made-2", "--quiet"])), "");
    assert!(folder.tree("out/made-up") == before);
    // A changed scenario must not use the old runs.
    write(&folder, "base.toml", &BASE.replace("jobs = 60", "jobs = 61"));
    insta::assert_snapshot!(reproduce(&folder, &["made-t1"]), @r#"
    exit code: 4
    ----- stdout -----
    made-t1: Summary of all policies

    0 claims
    ----- stderr -----
    error: `out/made-up/base/policy=fcfs/load=0.5/seed=1` holds results of another scenario, seed or version

    hint: name another folder with -o, or remove this one; `haggle sweep` does such runs again with --force
    "#);
    assert!(folder.tree("out/made-up") == before);
}

#[test]
fn quick_leaves_out_variants_by_name() {
    let values =
        "path = \"provider.north.policy\"\nvalues = [\"fcfs\", \"easy\", \"conservative\"]\n";
    let variant = |name: &str| {
        let set = format!("set = {{ \"provider.north.policy\" = \"{name}\" }}");
        format!("[[sweep.axis.variant]]\nname = \"{name}\"\n{set}\n")
    };
    let variants = ["fcfs", "easy", "conservative"].map(variant).concat();
    let folder = study(None);
    write(&folder, "base.toml", &BASE.replace(values, &format!("name = \"policy\"\n{variants}")));
    let kept = "axes = { policy = [\"easy\", \"fcfs\"], load";
    write(&folder, "figures.toml", &FIGURES.replace("axes = { load", kept));
    let shown = reproduce(&folder, &["made-1", "--quick"]);
    let left = "2 of 3 replications, 2 of 3 values of policy, 2 of 3 values of load";
    assert!(shown.contains(&format!("quick    base: {left}")), "{shown}");
    let files = folder.tree("out/quick/made-up");
    assert_eq!(files.keys().filter(|it| it.ends_with("provenance.json")).count(), 2 * 2 * 2);
}

#[test]
fn quick_says_what_it_leaves_out() {
    let folder = study(None);
    let shown = reproduce(&folder, &["made-2", "--quick"]);
    insta::assert_snapshot!(shown, @r#"
    exit code: 0
    ----- stdout -----
    made-2: Reduction of waiting times against FCFS
      figure   out/quick/made-2.png
      numbers  out/quick/made-2.csv
      figure   out/quick/made-2-price.png
      numbers  out/quick/made-2-price.csv
      quick    base: 2 of 3 replications, 2 of 3 values of load

      undecided   MU-1-b  Every job waits
                          expected  EASY at least a year (exact)
                          came out  32.57 ± 216.3 (n = 2), asked for at least 525600
                          note      made up

      untestable  MU-2    No job is lost under middling load
                          expected  60 jobs (exact)
                          because   it needs load = 0.7, which --quick leaves out
                          why       patience: see the end

    why patience: nobody gives up

    2 claims: 1 undecided, 1 untestable
    ----- stderr -----
    "#);
    assert!(!folder.path().join("out/made-2.png").exists());
    let csv = folder.read("out/quick/made-2.csv");
    assert_eq!(csv.lines().count(), 1 + 2 * 2, "{csv}");
    let json = reproduce(&folder, &["made-2", "--quick", "--json", "--quiet"]);
    insta::assert_snapshot!(stderr_of(&json), @"  quick    base: 2 of 3 replications, 2 of 3 values of load");
    let tested = json_of(&json);
    let claims = &tested["claims"];
    assert_eq!(claims[0]["verdict"], "undecided");
    assert!(claims[0]["got"].as_str().is_some_and(|got| got.starts_with("32.57 ")), "{claims}");
}

/// If --quick keeps all of a study, no claim is undecided. If it leaves out values of an axis,
/// claims about the remaining values are decided.
#[test]
fn quick_decides_what_it_has_all_of() {
    let folder = study(None);
    let verdicts = |quick: &str| {
        write(&folder, "figures.toml", &FIGURES.replace(QUICK, quick));
        let shown = reproduce(&folder, &["made-1", "made-2", "--quick", "--json", "--quiet"]);
        let tested = json_of(&shown);
        let words = tested["claims"].as_array().expect("a list").iter();
        let verdict = |claim: &serde_json::Value| format!("{} {}", claim["id"], claim["verdict"]);
        let verdicts: Vec<String> = words.map(verdict).collect();
        format!(
            "{} {}",
            shown.lines().next().expect("a line"),
            verdicts.join(", ").replace('"', "")
        )
    };
    insta::assert_snapshot!(verdicts(QUICK), @"exit code: 0 MU-1-a undecided, MU-1-b undecided, MU-1-c untestable, MU-2 untestable");
    let (all, some) = ("replications = 3\n", "replications = 3\naxes = { load = [0.5, 1.5] }\n");
    insta::assert_snapshot!(verdicts(all), @"exit code: 1 MU-1-a undecided, MU-1-b missed, MU-1-c untestable, MU-2 held");
    insta::assert_snapshot!(verdicts(some), @"exit code: 1 MU-1-a undecided, MU-1-b missed, MU-1-c untestable, MU-2 untestable");
}

#[test]
fn a_study_stands_for_all_its_figures() {
    let folder = study(None);
    let said = reproduce(&folder, &["made-2", "made-up", "--quick"]);
    let figures = said.lines().filter(|line| line.starts_with("made-"));
    assert_eq!(
        Vec::from_iter(figures),
        [
            "made-2: Reduction of waiting times against FCFS",
            "made-1: Waiting times under three policies",
            "made-t1: Summary of all policies",
        ]
    );
}

#[test]
fn figures_are_listed() {
    let folder = study(None);
    insta::assert_snapshot!(folder.haggle(&["list", "figures", "--scenarios", "lib"]), @r#"
    exit code: 0
    ----- stdout -----
      made-1   2.5 h, quick 30 s  no logs  Waiting times under three policies
      made-2   not measured       no logs  Reduction of waiting times against FCFS
      made-t1  6 s                no logs  Summary of all policies
    ----- stderr -----
    "#);
    let json = folder.haggle(&["list", "figures", "--json", "--scenarios", "lib"]);
    let list = json_of(&json);
    insta::assert_snapshot!(list[0].to_string(), @r#"{"about":"Waiting times under three policies","logs":[],"minutes":{"full":150.0,"quick":0.5},"name":"made-1","study":"made-up"}"#);
}

#[test]
fn the_figures_of_the_program_are_sound() {
    let folder = Folder::with(&[]);
    let shown = folder.haggle(&["list", "figures"]);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    for (figure, logs) in [
        ("haggle-sessions", "no logs"),
        ("netto-6.2", "5 logs"),
        ("netto-t6.2", "5 logs"),
        ("haggle-recorded-g5k06", "1 log"),
    ] {
        let begin = format!("  {figure} ");
        let line = shown.lines().find(|line| line.starts_with(&begin)).expect("it is listed");
        assert!(line.contains(&format!("  {logs}  ")), "{line}");
    }
}

#[test]
#[cfg(unix)]
fn a_reproduction_that_is_interrupted_goes_on() {
    let long = BASE.replace("jobs = 60", "jobs = 10000");
    let folder = study(Some(("base.toml", long)));
    let arguments = ["reproduce", "made-t1", "--scenarios", "lib", "-o", "out", "--jobs", "2"];
    let child = folder.start(&arguments);
    let variant = folder.path().join("out/made-up/base/policy=fcfs/load=0.5");
    crate::cli_run::wait_for(|| (1..=3).any(|seed| variant.join(format!("seed={seed}")).is_dir()));
    crate::command::interrupt(&child);
    insta::assert_snapshot!(crate::command::ended(child), @r#"
    exit code: 130
    ----- stdout -----
    ----- stderr -----

    stopping; press Ctrl-C again to stop at once
    interrupted: finished runs are kept

    hint: the same command continues with the others
    "#);
    let tree = folder.tree("out/made-up");
    let done = tree.keys().filter(|name| name.ends_with("timing.json")).count();
    assert!((1..27).contains(&done), "{done} runs were done before it could be stopped");
    let shown = folder.haggle(&arguments);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    assert_eq!(stderr_of(&shown), format!("base: {done} of 27 runs are done already\n"));
}
