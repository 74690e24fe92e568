//! Reservations at providers whose queues grant windows beside their own work.

use serde_json::Value;

use crate::command::{Folder, stdout_of, unwrapped};

/// The policies whose queues grant windows beside their own work.
const POLICIES: [&str; 7] = [
    "fcfs",
    "easy",
    "conservative",
    "{ name = \"conservative\", compression = \"job-by-job\" }",
    "{ name = \"conservative\", compression = \"replan\" }",
    "edf",
    "bags",
];

/// Job 1 ends 5 s early. Jobs 2 and 3 wait behind it, and a window is granted beside them.
const BESIDE: &str = r#"
[[workload]]
name = "own"
jobs = [
    { submit = "0s", processors = 4, requested = "10s", run = "5s" },
    { submit = "0s", processors = 2, requested = "15s", run = "15s" },
    { submit = "0s", processors = 3, requested = "5s", run = "5s" },
]

[[workload]]
name = "windows"
jobs = [
    { submit = "1s", processors = 3, requested = "10s", run = "10s", ready = "10s", deadline = "60s" },
    { submit = "2s", processors = 4, requested = "10s", run = "10s", ready = "10s", deadline = "20s" },
]

[[workload.step]]
kind = "reservations"
# remedy

[[user]]
name = "locals"
workload = "own"
submits-to = "machine"

[[user]]
name = "planners"
workload = "windows"
submits-to = "machine"

[[provider]]
name = "machine"
processors = 4
policy = "POLICY"
# more
"#;

/// Jobs of two kinds, half of them with windows, that end early.
const RANDOM: &str = r#"
[[workload]]
name = "own"
model = "independent-jobs"
independent-jobs = { jobs = 60, between = { law = "constant", value = "12min" }, run = { law = "uniform", low = "5min", high = "1h" }, processors = { law = "uniform", low = 1, high = 8 } }

[[workload.step]]
kind = "estimates"
rule = "uniform:5"

[[workload]]
name = "windows"
model = "independent-jobs"
independent-jobs = { jobs = 40, between = { law = "constant", value = "20min" }, run = { law = "uniform", low = "10min", high = "1h" }, processors = { law = "uniform", low = 1, high = 6 } }

[[workload.step]]
kind = "estimates"
rule = "uniform:2"

[[workload.step]]
kind = "reservations"
lead = { law = "uniform", low = 1, high = 4 }
flexibility = { law = "uniform", low = 0, high = 3000 }
# remedy

[[user]]
name = "locals"
workload = "own"
submits-to = "machine"

[[user]]
name = "planners"
workload = "windows"
submits-to = "machine"

[[provider]]
name = "machine"
processors = 8
policy = "POLICY"
# more
"#;

/// Bags that are composed from the offers of a provider that grants windows.
const COMPOSED: &str = r#"
[[workload]]
name = "bags"
model = "independent-jobs"
independent-jobs = { jobs = 20, between = { law = "constant", value = "20min" }, run = { law = "uniform", low = "10min", high = "1h" }, processors = { law = "uniform", low = 1, high = 12 } }

[[workload.step]]
kind = "bags"

[[user]]
name = "composers"
workload = "bags"
submits-to = "broker"

[[metascheduler]]
name = "broker"
composition = "offers-plb"
"#;

fn under(world: &str, policy: &str) -> String {
    let value = if policy.starts_with('{') { policy.to_owned() } else { format!("\"{policy}\"") };
    world.replace("\"POLICY\"", &value)
}

/// Runs a world on both drivers with all checks, and checks the folder of the run.
fn run(world: &str) -> Folder {
    let folder = Folder::with(&[("world.toml", world)]);
    for driver in ["sequential", "actix"] {
        let output = ["--no-figures", "--format", "csv", "-o", driver];
        let arguments = ["run", "world.toml", "--check", "--driver", driver];
        let said = folder.haggle(&[&arguments[..], &output].concat());
        assert!(said.starts_with("exit code: 0"), "{said}\n{world}");
    }
    for table in ["jobs.csv", "attempts.csv", "messages.csv"] {
        let read = |driver: &str| folder.read(&format!("{driver}/{table}"));
        assert_eq!(read("sequential"), read("actix"), "{table}");
    }
    let verified = folder.haggle(&["verify", "sequential"]);
    assert!(verified.starts_with("exit code: 0"), "{verified}");
    folder
}

/// The story of a job as JSON.
fn story(folder: &Folder, job: &str) -> Value {
    let said = folder.haggle(&["explain", "sequential", job, "--json"]);
    serde_json::from_str(stdout_of(&said)).expect("JSON")
}

fn reservations(folder: &Folder, key: &str) -> u64 {
    let summary = folder.summary("sequential");
    summary["all"]["reservations"][key].as_u64().unwrap_or(0)
}

/// EASY promises a start to job 2 only, so the window goes before job 3. Under the other policies it is behind both.
#[test]
fn each_queue_grants_windows_beside_its_own_promises() {
    for policy in POLICIES {
        let folder = run(&under(BESIDE, policy));
        let starts =
            ["own!2", "own!3", "windows!1"].map(|job| story(&folder, job)["start"].clone());
        let expected = if policy == "easy" { [5.0, 30.0, 20.0] } else { [5.0, 20.0, 25.0] };
        assert_eq!(starts, expected, "{policy}");
        let refused = format!("{}", story(&folder, "windows!2"));
        assert!(refused.contains("\"no_window\""), "{policy}: {refused}");
        assert_eq!(reservations(&folder, "granted"), 1, "{policy}");
        assert_eq!(reservations(&folder, "broken"), 0, "{policy}");
    }
}

/// Job 2 of the queue would have run into the window, and waits for its end.
#[test]
fn explain_names_the_reservation_for_which_the_head_waits() {
    let world = BESIDE
        .replace(
            "submit = \"0s\", processors = 2, requested = \"15s\"",
            "submit = \"2s\", processors = 2, requested = \"15s\"",
        )
        .replace(
            "submit = \"0s\", processors = 3, requested = \"5s\"",
            "submit = \"2s\", processors = 3, requested = \"5s\"",
        )
        .replace(
            "processors = 4, requested = \"10s\", run = \"5s\"",
            "processors = 1, requested = \"2s\", run = \"2s\"",
        );
    for policy in ["fcfs", "easy"] {
        let folder = run(&under(&world, policy));
        assert_eq!(story(&folder, "own!2")["start"], 20.0, "{policy}");
        let said = folder.haggle(&["explain", "sequential", "own!2"]);
        let said = unwrapped(stdout_of(&said));
        let reason = "it would have run into the reservation of job";
        assert!(said.contains(reason), "{policy}: {said}");
    }
}

/// Windows meet failures, jobs that run on, slower processors, maintenance, crashes and a horizon. `--check` compares
/// each window with the place where its job ran.
#[test]
fn windows_meet_failures_overruns_maintenance_and_crashes_in_each_queue() {
    let failures = r#"
[[failures]]
of = ["machine"]
law = { up = { law = "exponential", mean = "8h" }, down = { law = "constant", value = "20min" } }
"#;
    let crashes = r#"
[[failures]]
actors = ["machine"]
law = { up = { law = "exponential", mean = "3h" }, down = { law = "constant", value = "40min" } }
"#;
    let maintenance = r#"
[[maintenance]]
of = ["machine"]
from = "2h"
until = "3h"
processors = 5
overlap = "break"

[[maintenance]]
of = ["machine"]
from = "5h"
until = "6h"
notice = "30min"
"#;
    for policy in POLICIES {
        let world = under(RANDOM, policy);
        for remedy in ["postpone", "substitute", "revoke"] {
            let world = world.replace("# remedy", &format!("on-failure = \"{remedy}\""));
            let folder = run(&format!("{world}\n{failures}"));
            assert!(reservations(&folder, "granted") > 10, "{policy}, {remedy}");
            let displaced = folder.read("sequential/displacements.csv");
            assert!(displaced.contains(",failure,"), "{policy}, {remedy}: {displaced}");
            run(&format!("{world}\n{maintenance}\n{crashes}"));
            let extends = world.replace("# more", "overrun = \"extend\"\nspeed = 0.5");
            let extends = extends.replace("rule = \"uniform:2\"", "rule = \"exact\"");
            run(&extends);
        }
        run(&format!("{world}\n[scenario]\nhorizon = \"3h\"\n"));
    }
}

/// Bags, windows and rigid jobs of users are served by one provider.
#[test]
fn a_provider_composes_bags_and_grants_windows() {
    for policy in ["edf", "bags", "{ name = \"bags\", blocks = true }"] {
        let world = format!("{}{COMPOSED}", under(RANDOM, policy));
        let folder = run(&world);
        assert!(reservations(&folder, "granted") > 5, "{policy}");
        assert_eq!(reservations(&folder, "broken"), 0, "{policy}");
        let outcomes = &folder.summary("sequential")["all"]["outcomes"];
        assert!(outcomes["completed"].as_u64() > Some(70), "{policy}: {outcomes}");
        let slots = world.replace("composition = \"dplb\"", "composition = \"free-time-slots\"");
        run(&slots.replace("# more", "disclosure = \"slots\""));
    }
}

/// Only the queue of reservations makes no offers.
#[test]
fn the_queue_of_reservations_makes_no_offers() {
    let world = under(&format!("{RANDOM}{COMPOSED}"), "reservations");
    let folder = Folder::with(&[("world.toml", &world)]);
    let said = folder.haggle(&["validate", "world.toml"]);
    assert!(said.starts_with("exit code: 3"), "{said}");
    assert!(said.contains("needs offers, and provider \"machine\" makes none"), "{said}");
    assert!(said.contains("which grant windows"), "{said}");
}
