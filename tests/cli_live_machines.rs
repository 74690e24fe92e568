//! Real machines of nodes: programs run while their provider decides.

use std::fmt::Write;
use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::cli_live_nodes::{start, until};
use crate::command::{Folder, json_of, refused, signal, stdout_of, succeeds};

const SCENARIO: &str = r#"
[scenario]
name = "real"

[[workload]]
name = "jobs"
log = "jobs.swf"

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[provider]]
name = "north"
processors = 16
policy = "easy"
"#;

/// Jobs on 4 processors, each as submission and run time, requested time, and application.
fn log(jobs: &[(u32, u32, u32, i32)]) -> String {
    let mut text = "; MaxProcs: 16\n".to_owned();
    for (number, (submit, run_time, requested, application)) in (1..).zip(jobs) {
        let _ = writeln!(
            text,
            "{number} {submit} -1 {run_time} 4 -1 -1 4 {requested} -1 1 1 1 {application} 1 1 -1 -1"
        );
    }
    text
}

/// A folder with a live run of two nodes, and the machine of the node of the provider.
fn made(first: u16, jobs: &[(u32, u32, u32, i32)], machine: &str) -> Folder {
    let folder = Folder::with(&[("real.toml", SCENARIO), ("jobs.swf", &log(jobs))]);
    let (port, status) = (first.to_string(), (first + 50).to_string());
    let init = ["live", "init", "real.toml", "--scale", "60", "-o", "nodes"];
    succeeds(&folder, &[&init[..], &["--port", &port, "--status-port", &status]].concat());
    equip(&folder, "north", machine);
    folder
}

fn equip(folder: &Folder, node: &str, machine: &str) {
    let path = format!("nodes/{node}/node.toml");
    let settings = folder.read(&path) + "\n[machine]\n" + machine;
    fs::write(folder.path().join(path), settings).expect("it can be written");
}

/// A program that notes its start, lasts as long as the job, and notes its end.
const NOTES: &str = r#"
kind = "command"
command = ["sh", "-c", "echo begins {job} >> ../../../../runs; sleep {seconds}; echo ends {job} >> ../../../../runs"]
applications.3 = ["sh", "-c", "echo begins {job} >> ../../../../runs; exit 3"]
limits = { memory-mib = 4000, cpu-seconds = 60 }
"#;

#[test]
fn each_program_runs_once_whatever_happens_to_its_node() {
    let mut jobs = Vec::from_iter((0..12).map(|it| (20 * it, 60 + 5 * it, 300, -1)));
    // The last but one is longer than its request, and the last one fails at once.
    jobs.extend([(240, 1_800, 100, -1), (240, 60, 300, 3)]);
    let folder = made(21_700, &jobs, NOTES);
    let users = start(&folder, "users");
    let mut north = start(&folder, "north");
    let runs = || fs::read_to_string(folder.path().join("runs")).unwrap_or_default();
    let began =
        |count: usize| runs().lines().filter(|it| it.starts_with("begins")).count() >= count;
    until("two programs run", || began(2));
    north.child().kill().expect("it runs");
    drop(north);
    // Programs go on, and end, without their node.
    until("one has ended", || runs().contains("ends 0\n"));
    let mut north = start(&folder, "north");
    until("five programs run", || began(5));
    signal(north.child(), "TERM");
    assert!(north.ended().starts_with("exit code: 143"));
    sleep(Duration::from_millis(300));
    let north = start(&folder, "north");
    until("the last job has begun", || runs().contains("begins 13\n"));
    let status = json_of(&succeeds(&folder, &["live", "status", "nodes", "--json"]));
    let shown = status.to_string();
    assert!(shown.contains("\"kind\":\"command\""), "{shown}");
    for (node, word) in [(users, "the run is over"), (north, "a program failed")] {
        let said = node.ended();
        assert!(said.starts_with("exit code: 0") && said.contains(word), "{said}");
    }
    for job in 0..14 {
        let count = |word: &str| runs().lines().filter(|it| *it == format!("{word} {job}")).count();
        let ends = usize::from(job < 12);
        assert_eq!((count("begins"), count("ends")), (1, ends), "job {job}: {}", runs());
    }
    let said = succeeds(&folder, &["live", "results", "nodes", "--check", "--no-figures"]);
    assert!(said.contains("1 program failed, of the jobs 13:"), "{said}");
    let outcomes = &folder.summary("nodes/results")["all"]["outcomes"];
    assert_eq!(outcomes["completed"].as_u64(), Some(13), "{outcomes}");
    let verified = succeeds(&folder, &["live", "verify", "nodes"]);
    let said = stdout_of(&verified);
    assert!(said.contains("2 restarts") && said.contains("the same"), "{said}");
}

#[test]
fn a_program_ends_at_the_limit_of_its_job() {
    let folder = made(21_720, &[(0, 36_000, 100, -1)], NOTES);
    let nodes = [start(&folder, "users"), start(&folder, "north")];
    for node in nodes {
        let said = node.ended();
        assert!(said.starts_with("exit code: 0"), "{said}");
    }
    let attempts = folder.names_in("nodes/north/work");
    let [attempt] = &attempts[..] else { panic!("{attempts:?}") };
    let end = folder.json(&format!("nodes/north/work/{attempt}/ended"));
    assert_eq!(end["signal"].as_u64(), Some(15), "{end}");
    assert_eq!(fs::read_to_string(folder.path().join("runs")).expect("it began"), "begins 0\n");
}

/// The first attempt is lost with its supervisor; the second one cleans up within its time of grace.
#[test]
fn a_lost_program_ends_and_starts_again() {
    let machine = r#"
kind = "command"
command = ["sh", "-c", "trap 'sleep 2; echo cleaned >> ../../../../runs; exit 0' TERM; echo begins >> ../../../../runs; while :; do sleep 0.1; done"]
"#;
    let folder = made(21_760, &[(0, 36_000, 240, -1)], machine);
    let nodes = [start(&folder, "users"), start(&folder, "north")];
    let runs = || fs::read_to_string(folder.path().join("runs")).unwrap_or_default();
    until("it begins", || runs().contains("begins"));
    let attempts = folder.names_in("nodes/north/work");
    let supervisor = folder.read(&format!("nodes/north/work/{}/begun", attempts[0]));
    let killed = Command::new("kill").args(["-9", supervisor.trim()]).status();
    assert!(killed.is_ok_and(|it| it.success()));
    for node in nodes {
        let said = node.ended();
        assert!(said.starts_with("exit code: 0"), "{said}");
    }
    assert_eq!(runs(), "begins\nbegins\ncleaned\n");
    succeeds(&folder, &["live", "results", "nodes", "--check", "--no-figures"]);
    assert!(stdout_of(&succeeds(&folder, &["live", "verify", "nodes"])).contains("the same"));
}

#[test]
fn mistakes_are_named() {
    for (machine, word) in [
        ("kind = \"command\"\ncommand = []", "`command` is empty"),
        ("kind = \"command\"\ncommand = [\"a\", \"{size}\"]", "{size}"),
        ("kind = \"command\"\ncommand = [\"true\"]\napplications.1 = [\"./nothing\"]", "/nothing`"),
        ("kind = \"comand\"\ncommand = [\"a\"]", "comand"),
        ("kind = \"command\"\ncommand = [\"true\"]\nlimit = 3", "limit"),
    ] {
        let folder = made(21_740, &[(0, 60, 100, -1)], machine);
        let said = refused(&folder, &["live", "node", "nodes/north"]);
        assert!(said.contains(word) && said.contains("node.toml"), "{said}");
    }
    let folder = made(21_740, &[(0, 60, 100, -1)], "kind = \"command\"\ncommand = [\"true\"]");
    equip(&folder, "users", "kind = \"command\"\ncommand = [\"true\"]");
    let said = refused(&folder, &["live", "node", "nodes/users"]);
    assert!(said.contains("no provider"), "{said}");
}
