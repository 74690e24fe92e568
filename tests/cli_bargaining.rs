//! Bags of tasks from the command line: runs, messages and refusals.

use crate::command::{Folder, json_of};

const GRID: &str = r#"
[[workload]]
name = "north-jobs"
model = "lublin-feitelson"
lublin = { jobs = 40, processors = 16, load = 0.5 }

[[workload.step]]
kind = "deadlines"
of = "requested-time"
one-of = ["1h", "1d"]

[[workload]]
name = "bags"
model = "lublin-feitelson"
lublin = { jobs = 20, processors = 32, load = 0.4 }

[[workload.step]]
kind = "deadlines"
of = "requested-time"
one-of = ["1h", "1d"]
stream = 2

[[workload.step]]
kind = "bags"

[[provider]]
name = "north"
processors = 16
policy = "edf"
disclosure = "power"

[[provider]]
name = "south"
processors = 8
policy = "edf"
disclosure = "power"

[[metascheduler]]
name = "grid"
composition = "offers-dplb"

[[user]]
name = "north-users"
workload = "north-jobs"
submits-to = "north"

[[user]]
name = "grid-users"
workload = "bags"
submits-to = "grid"
"#;

/// Output of `haggle run` from the line that begins with `from`.
fn run_from(folder: &Folder, arguments: &[&str], from: &str) -> String {
    let shown = folder.haggle(arguments);
    assert!(shown.starts_with("exit code: 0\n"), "{shown}");
    let start = shown.find(&format!("\n{from}")).expect("the line is there");
    shown[start + 1..].lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn bags_are_bargained_over_and_who_learned_what_is_said() {
    let folder = Folder::with(&[("grid.toml", GRID)]);
    let arguments =
        ["run", "grid.toml", "--check", "--disclosures", "--no-figures", "--quiet", "-o", "out"];
    let shown = run_from(&folder, &arguments, "deadlines");
    let without_digest: Vec<&str> =
        shown.lines().filter(|line| !line.starts_with("digest")).collect();
    insta::assert_snapshot!(without_digest.join("\n"), @r#"
    deadlines              jobs  delayed           delayed work total weighted delay, %
    local                    40        0   0.00 %        0.00 %                    0.00
    external                 20        0   0.00 %        0.00 %                    0.00
    all                      60        0   0.00 %        0.00 %                    0.00

    20 bags on 1.90 providers each in the mean (10.0 % on 1, 90.0 % on 2)
      tasks of a bag on several providers end 1347.7 s apart, 10.38 % of its response time

    results  out

    disclosures
      about  learned by  what        items
      north  grid        estimate       20
      north  grid        job_status     40
      north  grid        offer          20
      north  grid        power          20
      south  grid        estimate       18
      south  grid        job_status     36
      south  grid        offer          20
      south  grid        power          20
      grid   north       bag            20
      grid   south       bag            20

    An eavesdropper on all 40 answers to calls for offers estimates computing power with 0.0 % error
    and load with 954.6 % error.
    ----- stderr -----
    "#);
}

#[test]
fn the_same_bytes_come_out_on_both_drivers() {
    let folder = Folder::with(&[("grid.toml", GRID)]);
    let shown = folder.haggle(&["verify", "grid.toml"]);
    assert!(shown.contains("lines in all three runs"), "{shown}");
}

#[test]
fn policies_that_would_need_more_are_refused_before_anything_runs() {
    let wrong = GRID
        .replace("disclosure = \"power\"", "disclosure = \"offers\"")
        .replace("policy = \"edf\"", "policy = \"easy\"")
        .replace("kind = \"bags\"", "kind = \"key\"\nby = \"number\"");
    let folder = Folder::with(&[("wrong.toml", &wrong)]);
    let shown = folder.haggle(&["validate", "wrong.toml"]);
    assert!(shown.starts_with("exit code: 3\n"), "{shown}");
    for said in [
        "composition \"offers-dplb\" needs disclosure \"power\", provider \"north\" discloses only",
        "composition \"offers-dplb\" needs offers, and provider \"south\" makes none",
        "the jobs of \"bags\" are rigid, and \"grid\" takes bags of tasks",
        "wrong.toml has 5 problems",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
}

#[test]
fn rigid_jobs_and_bags_are_not_mixed_up() {
    let wrong = GRID.replace("submits-to = \"grid\"", "submits-to = \"north\"");
    let folder = Folder::with(&[("wrong.toml", &wrong)]);
    let shown = folder.haggle(&["validate", "wrong.toml"]);
    let said = "the jobs of \"bags\" are bags of tasks, and \"north\" takes rigid jobs";
    assert!(shown.contains(said), "{shown}");
}

#[test]
fn an_axis_can_have_named_variants() {
    let sweep = r#"
[sweep]
replications = 2

[[sweep.axis]]
name = "knowledge"

[[sweep.axis.variant]]
name = "little"
set = { "metascheduler.grid.composition" = "offers-plb", "provider.*.disclosure" = "offers" }

[[sweep.axis.variant]]
name = "much"
set = { "metascheduler.grid.composition" = "free-time-slots", "provider.*.disclosure" = "slots" }
"#;
    let folder = Folder::with(&[("sweep.toml", &format!("{GRID}{sweep}"))]);
    let shown = folder.haggle(&["show", "--runs", "sweep.toml"]);
    assert!(shown.contains("knowledge=little/") && shown.contains("knowledge=much/"), "{shown}");
    let typo =
        sweep.replace("provider.*.disclosure\" = \"slots", "provider.*.disclosed\" = \"slots");
    let folder = Folder::with(&[("sweep.toml", &format!("{GRID}{typo}"))]);
    let shown = folder.haggle(&["validate", "sweep.toml"]);
    assert!(shown.contains("[[provider]] has no key `disclosed`"), "{shown}");
}

#[test]
fn with_latency_offers_last_as_long_as_an_agreement_takes() {
    let latency = format!("{GRID}\n[network]\nlatency = \"2s\"\n");
    let folder = Folder::with(&[("grid.toml", &latency)]);
    let shown =
        folder.haggle(&["run", "grid.toml", "--check", "--json", "--no-figures", "-o", "out"]);
    let summary = json_of(&shown);
    assert_eq!(summary["all"]["outcomes"]["completed"], 60);
    assert_eq!(summary["all"]["outcomes"]["promises_broken"], 0);
    assert_eq!(summary["all"]["bags"]["recompositions"], 0.0);
    // Without latency, the number is 1.9.
    let providers = summary["all"]["bags"]["providers"].as_f64().expect("a number");
    assert!(providers > 1.8, "bags are still spread: {providers}");
}

#[test]
fn bags_that_may_never_end_are_refused() {
    let step = "[[workload.step]]\nkind = \"bags\"";
    let unlimited =
        format!("[[workload.step]]\nkind = \"estimates\"\nrule = \"no-limit\"\n\n{step}");
    let folder = Folder::with(&[("grid.toml", &GRID.replace(step, &unlimited))]);
    let shown = folder.haggle(&["run", "grid.toml", "--check", "--no-figures", "-q", "-o", "out"]);
    assert!(shown.contains("40 completed, 20 rejected (20 no limit)"), "{shown}");
}

#[test]
fn profiling_takes_from_one_time_to_a_longer_one() {
    let wrong = GRID.replace(
        "policy = \"edf\"",
        "policy = { name = \"edf\", estimates = { from = \"profiled\", time-min = \"1h\" } }",
    );
    let folder = Folder::with(&[("wrong.toml", &wrong)]);
    let shown = folder.haggle(&["validate", "wrong.toml"]);
    assert!(shown.starts_with("exit code: 3\n"), "{shown}");
    assert!(shown.contains("`time-max` is 30min, less than `time-min`, 1h"), "{shown}");
}

/// A network that loses, doubles and reorders messages and parts actors, and crashes of a provider and of the
/// metascheduler.
const FAULTS: &str = r#"
[network]
latency = "2s"
jitter = "3s"
reordering = true
loss = "30%"
duplication = "20%"

[[network.partition]]
between = [["grid"], ["north"]]
from = "6h"
until = "7h"

[[failures]]
actors = ["south", "grid"]
law = { up = { law = "exponential", mean = "3h" }, down = { law = "exponential", mean = "10min" } }
"#;

#[test]
fn bags_survive_faults_of_messages_and_crashes_if_messages_are_repeated() {
    let folder = Folder::with(&[("refused.toml", &format!("{GRID}{FAULTS}"))]);
    let shown = folder.haggle(&["validate", "refused.toml"]);
    assert_eq!(
        shown.matches("set `retry` of its [metascheduler.negotiation]").count(),
        4,
        "{shown}"
    );
    assert!(shown.contains("or `retry` of [metascheduler.negotiation]"), "{shown}");
    let retry = "composition = \"offers-dplb\"\nnegotiation = { retry = \"15s\" }";
    let repeats = GRID.replace("composition = \"offers-dplb\"", retry);
    let folder = Folder::with(&[("grid.toml", &format!("{repeats}{FAULTS}"))]);
    for driver in ["sequential", "actix"] {
        let arguments =
            ["run", "grid.toml", "--check", "--json", "--no-figures", "--driver", driver, "-o"];
        let shown = folder.haggle(&[&arguments[..], &[driver]].concat());
        let summary = json_of(&shown);
        assert_eq!(summary["all"]["outcomes"]["completed"], 60, "{shown}");
        assert!(summary["message_faults"]["lost"].as_u64().is_some_and(|it| it > 50), "{shown}");
    }
    let summary = |driver: &str| folder.read(&format!("{driver}/summary.json"));
    assert_eq!(summary("sequential"), summary("actix"));
}

#[test]
fn a_message_of_a_bag_is_not_repeated_before_its_answer_can_arrive() {
    let retry = "composition = \"offers-dplb\"\nnegotiation = { retry = \"3s\" }";
    let early = GRID.replace("composition = \"offers-dplb\"", retry);
    let folder = Folder::with(&[("grid.toml", &format!("{early}\n[network]\nlatency = \"2s\"\n"))]);
    let shown = folder.haggle(&["validate", "grid.toml"]);
    let message = "`retry` is shorter than a message and its answer take, 4s";
    assert!(shown.contains(message), "{shown}");
}
