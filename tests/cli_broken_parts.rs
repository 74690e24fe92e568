//! Jobs on several providers whose processors fail, whose schedulers crash, or whose local jobs run over.

use crate::command::Folder;

/// Local jobs at two providers, and jobs that need both.
const SPREAD: &str = r#"
[scenario]
name = "spread"

[[workload]]
name = "local"
model = "lublin-feitelson"
lublin = { jobs = 40, processors = 16, load = 0.4 }

[[workload]]
name = "wide"
model = "lublin-feitelson"
lublin = { jobs = 90, processors = 32, load = 0.4 }

[[workload.step]]
kind = "filter"
processors-min = 4

[[user]]
name = "locals"
workload = "local"
submits-to = "north"

[[user]]
name = "wides"
workload = "wide"
submits-to = "broker"

[[provider]]
name = "north"
processors = 16
speed = 2
policy = "conservative"
disclosure = "slots"

[[provider]]
name = "south"
processors = 16
speed = 2
policy = "conservative"
disclosure = "slots"

[[metascheduler]]
name = "broker"
coallocation = { policy = "rigid", parts = 2 }
"#;

const NODES_FAIL: &str = r#"
[[failures]]
of = ["north", "south"]
processors-per-node = 4
law = { up = { law = "exponential", mean = "6h" }, down = { law = "exponential", mean = "20min" } }
"#;

const ACTORS_CRASH: &str = r#"
[[failures]]
actors = ["north", "broker"]
law = { up = { law = "exponential", mean = "6h" }, down = { law = "exponential", mean = "5min" } }
"#;

/// The policies whose queues keep parts.
const POLICIES: [&str; 4] = [
    "\"conservative\"",
    "\"fcfs\"",
    "\"easy\"",
    "{ name = \"conservative\", compression = \"replan\" }",
];

/// A scenario under each of these policies.
fn under<'a>(world: &'a str, policies: &'a [&str]) -> impl Iterator<Item = (&'a str, String)> {
    policies.iter().map(move |&policy| {
        let with = world.replace("policy = \"conservative\"", &format!("policy = {policy}"));
        (policy, with)
    })
}

/// Runs a scenario on both drivers with all checks. Returns the summary, and whether parts were broken.
fn run(world: &str) -> (serde_json::Value, bool) {
    let folder = Folder::with(&[("world.toml", world)]);
    for driver in ["sequential", "actix"] {
        let output = ["--no-figures", "--format", "csv", "-o", driver];
        let arguments =
            [&["run", "world.toml", "--check", "--driver", driver][..], &output].concat();
        let said = folder.haggle(&arguments);
        assert!(said.starts_with("exit code: 0"), "{said}");
    }
    let read = |driver: &str, name: &str| folder.read(&format!("{driver}/{name}"));
    assert_eq!(read("sequential", "jobs.csv"), read("actix", "jobs.csv"));
    assert_eq!(read("sequential", "attempts.csv"), read("actix", "attempts.csv"));
    let summary = serde_json::from_str(&read("sequential", "summary.json")).expect("JSON");
    (summary, read("sequential", "messages.csv").contains(",part_broken,"))
}

fn completed(summary: &serde_json::Value) -> (u64, u64) {
    (count(summary, "jobs"), count(summary, "completed") + count(summary, "walltime_reached"))
}

/// Number of jobs with an outcome.
fn count(summary: &serde_json::Value, outcome: &str) -> u64 {
    summary["all"]["outcomes"][outcome].as_u64().unwrap_or(0)
}

#[test]
fn a_job_whose_processors_fail_is_placed_again_until_it_is_done() {
    for (policy, world) in under(&format!("{SPREAD}{NODES_FAIL}"), &POLICIES) {
        let (summary, broken) = run(&world);
        assert!(broken, "{policy}: no part was broken");
        let (jobs, done) = completed(&summary);
        assert_eq!(jobs, done, "{policy}: {}", summary["all"]);
        let failures = &summary["failures"];
        let lost = failures["work_lost"].as_f64().expect("a number");
        let by_provider = failures["providers"].as_array().expect("providers").iter();
        let there: f64 = by_provider.map(|it| it["work_lost"].as_f64().expect("a number")).sum();
        assert!(lost > there, "work of parts that were given up is lost, too: {lost}, {there}");
    }
}

#[test]
fn a_job_that_is_broken_too_often_has_failed() {
    let once = SPREAD.replace("speed = 2", "speed = 2\nmax-attempts = 1");
    let (summary, broken) = run(&format!("{once}{NODES_FAIL}"));
    assert!(broken, "no part was broken");
    let failed = count(&summary, "failed");
    assert!(failed > 0, "{}", summary["all"]);
}

#[test]
fn local_jobs_that_run_over_break_parts() {
    let step = "[[workload.step]]\nkind = \"estimates\"\nof = \"run-time\"\nfactor = { law = \"constant\", value = 0.5 }\n\n[[workload]]\nname = \"wide\"";
    let runs_over = SPREAD
        .replace("[[workload]]\nname = \"wide\"", step)
        .replace("speed = 2", "speed = 2\noverrun = \"extend\"");
    for (policy, world) in under(&runs_over, &POLICIES) {
        let (summary, broken) = run(&world);
        assert!(broken, "{policy}: no part was broken");
        let (jobs, done) = completed(&summary);
        assert_eq!(jobs, done, "{policy}: {}", summary["all"]);
    }
}

#[test]
fn providers_crash_and_their_jobs_are_placed_again_if_messages_are_repeated() {
    let world = format!("{SPREAD}{NODES_FAIL}{ACTORS_CRASH}");
    let folder = Folder::with(&[("world.toml", &world)]);
    let refused = folder.haggle(&["validate", "world.toml"]);
    assert!(refused.contains("crashes"), "{refused}");
    // A reliable transport delays messages without bound, so parts could start late.
    assert!(!refused.contains("reliable"), "{refused}");
    assert!(refused.contains("help: set `retry` of [metascheduler.coallocation]"), "{refused}");
    let repeats = world.replace("policy = \"rigid\"", "policy = \"rigid\", retry = \"10s\"");
    let late = format!("{repeats}\n[network]\nlatency = \"1s\"\n");
    for (policy, world) in under(&late, &POLICIES) {
        let (summary, broken) = run(&world);
        assert!(broken, "{policy}: no part was broken");
        let (jobs, done) = completed(&summary);
        assert_eq!(jobs, done, "{policy}: {}", summary["all"]);
    }
}

#[test]
fn a_part_of_a_transaction_fails_with_its_processors() {
    for protocol in ["two-phase", "negotiation", "claiming", "ordered"] {
        let how = format!("policy = \"rigid\", trials = 50, protocol = \"{protocol}\"");
        let world = SPREAD.replace("policy = \"rigid\", parts = 2", &how);
        for (policy, world) in under(&format!("{world}{NODES_FAIL}"), &POLICIES) {
            let (summary, _) = run(&world);
            let failed = count(&summary, "failed");
            assert!(failed > 0, "{protocol}, {policy}: {}", summary["all"]);
        }
    }
}

#[test]
fn moldable_jobs_move_beside_parts() {
    let beside = r#"
[[workload]]
name = "moldable"
model = "lublin-feitelson"
lublin = { jobs = 30, processors = 16, load = 0.3 }

[[workload.step]]
kind = "moldable"

[[user]]
name = "movers"
workload = "moldable"
submits-to = "mover"

[[metascheduler]]
name = "mover"
reallocation = { period = "10min" }
"#;
    // Reallocation needs a reservation for each job.
    for (policy, world) in under(&format!("{SPREAD}{beside}{NODES_FAIL}"), &POLICIES[..2]) {
        let (summary, _) = run(&world);
        let (jobs, done) = completed(&summary);
        assert_eq!(jobs, done, "{policy}: {}", summary["all"]);
    }
}

#[test]
fn what_cannot_be_undone_is_refused() {
    let moves = SPREAD.replace("\"rigid\"", "\"shift\"");
    let folder = Folder::with(&[("world.toml", &format!("{moves}{NODES_FAIL}"))]);
    let refused = folder.haggle(&["validate", "world.toml"]);
    assert!(refused.contains("which fails"), "{refused}");
    let faster = SPREAD.replacen("speed = 2", "speed = 3", 1);
    let folder = Folder::with(&[("world.toml", &faster)]);
    let refused = folder.haggle(&["validate", "world.toml"]);
    assert!(refused.contains("another speed"), "{refused}");
}

/// Two small providers, and jobs that need both.
fn small(jobs: &str, coallocation: &str, processors: u32, rest: &str) -> String {
    format!(
        r#"
[[workload]]
name = "wide"
jobs = [{jobs}]

[[user]]
name = "wides"
workload = "wide"
submits-to = "broker"

[[metascheduler]]
name = "broker"
coallocation = {{ {coallocation} }}

[[provider]]
name = "site"
count = 2
processors = {processors}
policy = "conservative"
disclosure = "slots"
{rest}"#
    )
}

fn runs(world: &str) -> String {
    let folder = Folder::with(&[("world.toml", world)]);
    folder.haggle(&["run", "world.toml", "--check", "--no-figures", "-o", "out"])
}

#[test]
fn a_job_that_is_broken_before_the_end_of_the_run_has_one_record() {
    let job = "{ submit = \"0s\", processors = 8, run = \"100s\", requested = \"200s\" }";
    let fails = "[[failures]]\nof = [\"site-2\"]\noutages = [[\"50s\", \"500s\"]]\n[scenario]\n";
    let world = small(job, "policy = \"rigid\"", 4, &format!("{fails}horizon = \"60s\"\n"));
    let said = runs(&world);
    assert!(said.starts_with("exit code: 0"), "{said}");
    assert!(said.contains("1 still waiting"), "{said}");
}

#[test]
fn a_part_that_ended_before_another_one_broke_is_in_the_tables() {
    let job = "{ submit = \"10s\", processors = 2, run = \"0s\", requested = \"10s\" }";
    // The part of the second site breaks after its commit, so the job never starts there.
    let fails = "max-attempts = 1\n[[failures]]\nof = [\"site-2\"]\noutages = [[\"36s\", \"1000s\"]]\n\
                 [network]\nlatency = \"5s\"\n";
    let world = small(job, "policy = \"rigid\", parts = 2", 2, fails);
    for (horizon, outcome) in
        [("", "1 failed"), ("[scenario]\nhorizon = \"40s\"\n", "1 still running")]
    {
        let said = runs(&format!("{world}{horizon}"));
        assert!(said.starts_with("exit code: 0"), "{said}");
        assert!(said.contains(outcome), "{said}");
    }
}

/// Columns `attempt`, `provider`, `starting_time`, `finish_time` and `outcome` of all attempts.
fn attempts(folder: &Folder) -> Vec<String> {
    let table = folder.read("out/attempts.csv");
    let row = |line: &str| {
        let cells = Vec::from_iter(line.split(','));
        [3, 4, 7, 8, 11].map(|at| cells[at]).join(" ")
    };
    table.lines().skip(1).map(row).collect()
}

const FAILS: &str = "[[failures]]\nof = [\"site-2\"]\noutages = [[\"50s\", \"1000s\"]]\n";
const WHOLE: &str = "{ submit = \"0s\", processors = 8, run = \"100s\", requested = \"200s\" }";
const CHECKED: [&str; 7] = ["run", "world.toml", "--check", "--format", "csv", "-o", "out"];

#[test]
fn a_part_that_is_given_up_has_a_row_and_is_in_the_story_of_its_job() {
    let exact = "policy = \"rigid\", overhead = { law = \"constant\", value = 0 }";
    let folder = Folder::with(&[("world.toml", &small(WHOLE, exact, 4, FAILS))]);
    let said = folder.haggle(&CHECKED);
    assert!(said.starts_with("exit code: 0"), "{said}");
    let rows = [
        "1 site-1 1000.0 1100.0 completed",
        "2 site-2 1000.0 1100.0 completed",
        "3 site-2 0.0 50.0 failed",
        "4 site-1 0.0 50.0 given_up",
    ];
    assert_eq!(attempts(&folder), rows);
    let summary: serde_json::Value =
        serde_json::from_str(&folder.read("out/summary.json")).expect("JSON");
    assert_eq!(summary["failures"]["work_lost"], 400.0);
    assert_eq!(summary["failures"]["work"], 1200.0);
    let story = folder.haggle(&["explain", "out", "0"]);
    for line in [
        "part started at site-1 on 4 processors",
        "part at site-1 given up after 50 s: its job could not run as a whole",
        "part at site-2 failed after 50 s: processors down until 1000 s",
    ] {
        assert!(story.contains(line), "{line} is not in {story}");
    }
    let lost = story.lines().find(|line| line.contains("wasted computing"));
    assert!(lost.is_some_and(|line| line.contains(" 50")), "{story}");
    assert!(!story.contains("3 parts"), "{story}");
}

#[test]
fn a_part_that_ends_after_its_job_has_a_row() {
    for (network, end) in [("", 50.0), ("[network]\nlatency = \"5s\"\n", 60.0)] {
        let fails = format!("max-attempts = 1\n{FAILS}{network}");
        let folder =
            Folder::with(&[("world.toml", &small(WHOLE, "policy = \"rigid\"", 4, &fails))]);
        let said = folder.haggle(&CHECKED);
        assert!(said.starts_with("exit code: 0"), "{said}");
        let rows = attempts(&folder);
        assert!(rows.iter().any(|row| row.ends_with(&format!("{end:.1} given_up"))), "{rows:?}");
        assert!(folder.haggle(&["explain", "out", "0"]).contains("part at site-1 given up"));
    }
}

#[test]
fn a_late_part_that_loses_its_processors_was_given_up() {
    // Site 1 fails after the job has failed with site 2, and before it is notified of that.
    let fails =
        "max-attempts = 1\n[[failures]]\nof = [\"site-1\"]\noutages = [[\"58s\", \"1000s\"]]\n";
    let fails = format!("{fails}{FAILS}[network]\nlatency = \"5s\"\n");
    // Processors fail as long as there are jobs.
    let jobs = format!("{WHOLE}, {}", WHOLE.replace("0s\", p", "200s\", p"));
    let folder = Folder::with(&[("world.toml", &small(&jobs, "policy = \"rigid\"", 4, &fails))]);
    let said = folder.haggle(&CHECKED);
    assert!(said.starts_with("exit code: 0"), "{said}");
    let rows = attempts(&folder);
    assert!(rows.iter().any(|row| row.ends_with("58.0 given_up")), "{rows:?}");
}

#[test]
fn a_hold_ends_when_its_processors_fail() {
    let jobs = "{ submit = \"0s\", processors = 2, run = \"60s\", requested = \"60s\" }, \
                { submit = \"60s\", processors = 2, run = \"60s\", requested = \"60s\" }";
    let local = r#"
[[workload]]
name = "local"
jobs = [{ submit = "0s", processors = 1, run = "90s", requested = "90s" }]

[[user]]
name = "locals"
workload = "local"
submits-to = "site-2"

[[failures]]
of = ["site-1"]
outages = [["30s", "31s"]]
"#;
    let said = runs(&small(jobs, "policy = \"rigid\", protocol = \"ordered\"", 1, local));
    assert!(said.starts_with("exit code: 0"), "{said}");
}

#[test]
fn a_job_is_not_booked_behind_a_job_without_a_limit() {
    let jobs = "{ submit = \"0s\", processors = 2, run = \"200s\", requested = \"300s\" }, \
                { submit = \"10s\", processors = 2, run = \"100s\", requested = \"200s\" }";
    let local = r#"
[[workload]]
name = "local"
jobs = [{ submit = "10s", processors = 1, run = "100s" }]

[[user]]
name = "locals"
workload = "local"
submits-to = "site-1"
"#;
    let said = runs(&small(jobs, "policy = \"rigid\"", 1, local));
    assert!(said.starts_with("exit code: 0"), "{said}");
    assert!(said.contains("no provider"), "{said}");
}

#[test]
fn patience_ends_with_the_first_start() {
    // The user asks too late to withdraw the job, which starts before it breaks.
    let local = r#"
[[workload]]
name = "local"
jobs = [{ submit = "0s", processors = 4, run = "10s", requested = "10s" }]

[[user]]
name = "locals"
workload = "local"
submits-to = "site-1"
"#;
    let world = small(WHOLE, "policy = \"rigid\"", 4, &format!("{local}{FAILS}"));
    let world =
        world.replacen("submits-to = \"broker\"", "submits-to = \"broker\"\npatience = \"5s\"", 1);
    let world =
        world.replacen("submit = \"0s\", processors = 8", "submit = \"1s\", processors = 8", 1);
    let folder = Folder::with(&[("world.toml", &world)]);
    let said = folder.haggle(&CHECKED);
    assert!(said.starts_with("exit code: 0"), "{said}");
    assert!(said.contains("% longer than on one in the mean (`overhead`)"), "{said}");
    assert!(said.contains("2 completed"), "{said}");
    assert!(folder.read("out/messages.csv").contains(",not_withdrawn,"));
}

#[test]
fn keys_without_effect_on_parts_are_warned_about() {
    let keys = "on-failure = \"requeue\"\n";
    let warned = validated(&small(WHOLE, "policy = \"rigid\"", 4, &format!("{keys}{FAILS}")));
    assert!(warned.contains("`on-failure` of provider \"site\" has no effect"), "{warned}");
    let local = "[[user]]\nname = \"locals\"\nworkload = \"wide\"\nsubmits-to = \"site-2\"\n";
    let used = small(WHOLE, "policy = \"rigid\"", 4, &format!("{keys}{local}{FAILS}"));
    assert!(!validated(&used).contains("no effect"), "{}", validated(&used));
    let by_protocol = small(WHOLE, "policy = \"rigid\", protocol = \"two-phase\"", 4, "");
    let warned = validated(&by_protocol);
    assert!(warned.contains("requests parts, and no disclosure above"), "{warned}");
}

fn validated(world: &str) -> String {
    // Lines are joined, because messages are wrapped.
    let said = Folder::with(&[("world.toml", world)]).haggle(&["validate", "world.toml"]);
    said.replace("\n  │", "").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_form_of_outages_is_named() {
    let fails =
        "[[failures]]\nof = [\"site-2\"]\noutages = [{ from = \"50s\", until = \"60s\" }]\n";
    let refused = validated(&small(WHOLE, "policy = \"rigid\"", 4, fails));
    assert!(refused.contains("[\"1h\", \"2h\"]"), "{refused}");
}

#[test]
fn a_job_without_a_limit_cannot_be_spread() {
    let job = "{ submit = \"0s\", processors = 8, run = \"100s\" }";
    let folder = Folder::with(&[("world.toml", &small(job, "policy = \"rigid\"", 4, ""))]);
    let said = folder.haggle(&CHECKED);
    assert!(said.starts_with("exit code: 0"), "{said}");
    let story = folder.haggle(&["explain", "out", "0"]);
    assert!(story.contains("A job for several providers needs a requested time"), "{story}");
}
