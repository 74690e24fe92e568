//! Parts of jobs on several providers in each queue that keeps them.

use serde_json::Value;

use crate::command::{Folder, stdout_of, unwrapped};

/// The policies whose queues keep parts.
const POLICIES: [&str; 6] = [
    "fcfs",
    "easy",
    "conservative",
    "{ name = \"conservative\", compression = \"replan\" }",
    "edf",
    "bags",
];

/// South is in use until 100 s, so the wide job is booked from 100 s to 200 s at both providers. At north, job 1
/// would run into its part, and job 2 ends before it.
const AROUND: &str = r#"
[[workload]]
name = "wide"
jobs = [{ submit = "1s", processors = 6, requested = "100s", run = "100s" }]

[[workload]]
name = "north-jobs"
jobs = [
    { submit = "10s", processors = 2, requested = "150s", run = "50s" },
    { submit = "20s", processors = 1, requested = "80s", run = "80s" },
]

[[workload]]
name = "south-jobs"
jobs = [{ submit = "0s", processors = 4, requested = "100s", run = "100s" }]

[[user]]
name = "wides"
workload = "wide"
submits-to = "broker"

[[user]]
name = "northerners"
workload = "north-jobs"
submits-to = "north"

[[user]]
name = "southerners"
workload = "south-jobs"
submits-to = "south"

[[provider]]
name = "north"
processors = 4
policy = "POLICY"
disclosure = "slots"

[[provider]]
name = "south"
processors = 4
policy = "POLICY"
disclosure = "slots"

[[metascheduler]]
name = "broker"
coallocation = { policy = "rigid", parts = 2, overhead = { law = "constant", value = 0.0 } }
"#;

/// Two providers with own jobs that end early, and wide jobs that ask for one or both of them.
const RANDOM: &str = r#"
[[workload]]
name = "wide"
model = "independent-jobs"
independent-jobs = { jobs = 40, between = { law = "constant", value = "10min" }, run = { law = "uniform", low = "10min", high = "1h" }, processors = { law = "uniform", low = 2, high = 14 } }

[[workload]]
name = "north-jobs"
model = "independent-jobs"
independent-jobs = { jobs = 60, between = { law = "constant", value = "6min" }, run = { law = "uniform", low = "5min", high = "1h" }, processors = { law = "uniform", low = 1, high = 8 } }

[[workload.step]]
kind = "estimates"
rule = "uniform:5"

[[user]]
name = "wides"
workload = "wide"
submits-to = "broker"

[[user]]
name = "northerners"
workload = "north-jobs"
submits-to = "north"

[[provider]]
name = "north"
processors = 8
policy = "POLICY"
disclosure = "slots"

[[provider]]
name = "south"
processors = 8
policy = "POLICY"
disclosure = "slots"

[[metascheduler]]
name = "broker"
coallocation = { policy = "shift-remap" }
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

/// Starts by workload and number.
fn start(folder: &Folder, job: &str) -> String {
    let said = folder.haggle(&["explain", "sequential", job, "--json"]);
    let story: Value = serde_json::from_str(stdout_of(&said)).expect("JSON");
    format!("{}", story["start"])
}

fn starts(folder: &Folder) -> [String; 3] {
    ["wide!1", "north-jobs!1", "north-jobs!2"].map(|job| start(folder, job))
}

#[test]
fn each_queue_starts_its_jobs_around_a_part() {
    for policy in POLICIES {
        let folder = run(&under(AROUND, policy));
        let second = if policy == "fcfs" { "200.0" } else { "20.0" };
        assert_eq!(starts(&folder), ["100.0", "200.0", second], "{policy}");
        let said = folder.haggle(&["explain", "sequential", "north-jobs!1"]);
        let said = unwrapped(stdout_of(&said));
        let names = said.contains("it would have run into the part of job");
        assert_eq!(names, ["fcfs", "easy"].contains(&policy), "{policy}: {said}");
    }
}

/// The part needs all processors of north at 100 s, and job 1 is promised them until 160 s by FCFS, by EASY as the
/// first job, and by a reservation.
#[test]
fn a_part_takes_no_time_that_a_job_was_promised() {
    let before = AROUND
        .replace("submit = \"1s\", processors = 6", "submit = \"30s\", processors = 8")
        .replace("submit = \"20s\", processors = 1", "submit = \"0s\", processors = 3");
    for policy in POLICIES {
        let folder = run(&under(&before, policy));
        // Job 2 runs from 0 s to 80 s. Then job 1 has its limit until 230 s, and ends at 130 s.
        assert_eq!(starts(&folder), ["230.0", "80.0", "0.0"], "{policy}");
    }
}

#[test]
fn jobs_of_one_or_more_providers_move_in_each_queue() {
    for policy in POLICIES {
        let folder = run(&under(RANDOM, policy));
        let bookings = folder.read("sequential/bookings.csv");
        let mut lines = bookings.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = lines.next().expect("a header");
        let number = names.iter().position(|it| *it == "number").expect("a column");
        assert!(lines.any(|cells| cells[number] != "1"), "{policy}: no job has moved");
        let all = &folder.summary("sequential")["all"]["outcomes"];
        assert_eq!(all["rejected"].as_u64().unwrap_or(0), 0, "{policy}: {all}");
    }
}

/// Each provider has six tasks of the bag, four of them first. The parts of the wide job are held beside the other two, so
/// a provider never uses more processors than it has, although the bag holds four at its most.
#[test]
fn the_audit_counts_the_tasks_of_bags_beside_parts_one_by_one() {
    let world = r#"
[[workload]]
name = "bags"
jobs = [{ submit = "0s", processors = 12, run = "10s", requested = "10s" }]

[[workload.step]]
kind = "bags"

[[workload]]
name = "wide"
jobs = [{ submit = "1s", processors = 4, run = "10s", requested = "10s" }]

[[provider]]
name = "north"
processors = 4
policy = "bags"

[[provider]]
name = "south"
processors = 4
policy = "bags"

[[metascheduler]]
name = "composer"
composition = "offers-plb"

[[metascheduler]]
name = "spreader"

[metascheduler.coallocation]
policy = "rigid"
retry = "500ms"
trials = 60
patience = "1s"
protocol = { name = "two-phase", lease = "5s" }
overhead = { law = "constant", value = 0 }

[[user]]
name = "composers"
workload = "bags"
submits-to = "composer"

[[user]]
name = "spreaders"
workload = "wide"
submits-to = "spreader"
"#;
    let folder = Folder::with(&[("world.toml", world)]);
    let shown = folder.haggle(&["run", "world.toml", "-o", "run", "--check", "--format", "csv"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    let placements = folder.read("run/placements.csv");
    let rows = placements.lines().skip(1).map(|line| Vec::from_iter(line.split(',')));
    let of_parts = rows.filter(|row| row[0] == "1");
    let starts = Vec::from_iter(of_parts.map(|row| row[5].parse::<f64>().expect("a time")));
    assert!(starts.len() == 2 && starts.iter().all(|it| *it < 20.0), "beside tasks: {placements}");
}

/// Windows of maintenance, a horizon, late messages and protocols beside parts.
#[test]
fn parts_meet_maintenance_late_messages_and_protocols_in_each_queue() {
    let maintenance = r#"
[[maintenance]]
of = ["north", "south"]
from = "2h"
until = "3h"
processors = 5
overlap = "break"
[[maintenance]]
of = ["north"]
from = "4h"
until = "5h"
notice = "30min"
"#;
    let late = format!("{maintenance}\n[network]\nlatency = \"10s\"\n");
    let horizon = "[scenario]\nhorizon = \"3h\"\n";
    for policy in POLICIES {
        let world = under(RANDOM, policy);
        run(&format!("{world}{maintenance}"));
        run(&format!("{world}{late}{horizon}"));
        for protocol in ["two-phase", "claiming", "negotiation"] {
            let how = format!("policy = \"rigid\", protocol = \"{protocol}\"");
            run(&world.replace("policy = \"shift-remap\"", &how));
        }
    }
}

#[test]
fn a_queue_that_moves_all_work_is_refused() {
    let folder = Folder::with(&[("world.toml", &under(AROUND, "reservations"))]);
    let said = folder.haggle(&["validate", "world.toml"]);
    assert!(said.starts_with("exit code: 3"), "{said}");
    assert!(said.contains("not for parts of jobs"), "{said}");
}
