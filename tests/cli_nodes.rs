//! Nodes with several resources.

use crate::command::{Folder, VALID, stderr_of};

/// Two nodes of 4 processors and 16 GB, and jobs of which some wait for memory.
const MEMORY: &str = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 2, run = "100s", requested = "100s", memory = "24 GB", nodes = 2 },
    { submit = "10s", processors = 1, run = "50s", requested = "50s", memory = "8 GB" },
    { submit = "20s", processors = 6, run = "10s", requested = "20s" },
    { submit = "30s", processors = 4, run = "10s", requested = "20s", exclusive = true },
]

[[provider]]
name = "site"
policy = "fcfs"

[[provider.node]]
count = 2
cores = 4
memory = "16 GB"

[[user]]
name = "users"
workload = "jobs"
submits-to = "site"
"#;

/// Starts of all jobs (s), with their nodes.
fn starts(folder: &Folder, run: &str) -> Vec<(f64, String)> {
    let table = folder.read(&format!("{run}/jobs.csv"));
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let names = rows.headers().expect("a line of names").clone();
    let place = |name: &str| names.iter().position(|it| it == name).expect("a column");
    let (job, start, nodes) = (place("job"), place("starting_time"), place("allocated_nodes"));
    let mut all = Vec::new();
    for row in rows.records() {
        let row = row.expect("a row");
        let number: u32 = row[job].parse().expect("a number");
        all.push((number, row[start].parse().expect("it started"), row[nodes].to_owned()));
    }
    all.sort_by_key(|it| it.0);
    all.into_iter().map(|(_, start, nodes)| (start, nodes)).collect()
}

#[test]
fn jobs_wait_for_memory_and_for_idle_nodes() {
    let easy = MEMORY.replace("fcfs", "easy");
    let folder = Folder::with(&[("fcfs.toml", MEMORY), ("easy.toml", &easy)]);
    for name in ["fcfs", "easy"] {
        folder.haggle(&["run", &format!("{name}.toml"), "-o", name, "--check", "--format", "csv"]);
        folder.haggle(&["verify", &format!("{name}.toml")]);
    }
    // Each node has 4 GB left until 100. The third job has its processors, but is behind the second one.
    let both = || "0-1".to_owned();
    let expected =
        [(0.0, both()), (100.0, "0".to_owned()), (100.0, both()), (110.0, "1".to_owned())];
    assert_eq!(starts(&folder, "fcfs"), expected);
    // The third job passes, because it ends before the second one is planned to start.
    let expected =
        [(0.0, both()), (100.0, "0".to_owned()), (20.0, both()), (100.0, "1".to_owned())];
    assert_eq!(starts(&folder, "easy"), expected);
    let told = folder.haggle(&["explain", "easy", "jobs!2"]);
    assert!(told.contains("processors free, but too little memory"), "{told}");
    let told = folder.haggle(&["explain", "easy", "jobs!4"]);
    assert!(told.contains("processors free, but on too many or busy nodes"), "{told}");
    let nodes = &folder.summary("fcfs")["nodes"];
    // 24 GB for 100 s, 8 GB for 50 s and a whole node for 10 s, of 32 GB for 150 s.
    let used = nodes["memory_utilisation"].as_f64().expect("a share");
    assert!((used - 2_960.0 / 4_800.0).abs() < 1e-12, "{nodes}");
    assert_eq!(nodes["jobs"], 4);
    assert_eq!(nodes["gpu_utilisation"], serde_json::Value::Null);
}

#[test]
fn nodes_change_nothing_for_jobs_that_need_processors_only() {
    let nodes = VALID.replace("processors = 8\n", "\n[[provider.node]]\ncount = 2\ncores = 4\n");
    assert_ne!(nodes, VALID);
    let folder = Folder::with(&[("plain.toml", VALID), ("nodes.toml", &nodes)]);
    for name in ["plain", "nodes"] {
        folder.haggle(&["run", &format!("{name}.toml"), "-o", name, "--format", "csv"]);
    }
    assert_eq!(folder.read("plain/jobs.csv"), folder.read("nodes/jobs.csv"));
    assert!(!folder.names_in("nodes").contains(&"nodes.csv".to_owned()));
}

#[test]
fn a_failed_node_loses_its_jobs_and_gets_no_others() {
    let failing = MEMORY.to_owned()
        + "\n[[failures]]\nof = [\"site\"]\noutages = [[\"5s\", \"200s\"]]\nnodes = 1\n";
    let folder = Folder::with(&[("it.toml", &failing)]);
    folder.haggle(&["run", "it.toml", "-o", "run", "--check", "--format", "csv"]);
    folder.haggle(&["verify", "it.toml"]);
    // The first job needs both nodes, and first come, first served lets no job pass it.
    let starts = starts(&folder, "run");
    assert!(starts.iter().all(|(start, _)| *start >= 200.0), "{starts:?}");
}

#[test]
fn jobs_that_never_fit_are_announced_and_rejected() {
    let large = MEMORY.replace("memory = \"8 GB\" }", "memory = \"20 GB\" }");
    let folder = Folder::with(&[("it.toml", &large)]);
    let warned = folder.haggle(&["validate", "it.toml"]);
    for part in [
        "a job of workload \"jobs\" needs 1 processor, 20 GB on one node, and the nodes of provider",
        "it will be rejected",
        "no node has all of that; the nodes are 2 of 4 processors, 16 GB",
    ] {
        assert!(warned.contains(part), "{warned}");
    }
    folder.haggle(&["run", "it.toml", "-o", "run", "--format", "csv"]);
    assert!(folder.read("run/jobs.csv").contains("too_demanding"));
}

/// Problems of the scenario with one part replaced.
fn problem(from: &str, to: &str) -> String {
    assert!(MEMORY.contains(from), "{from}");
    let folder = Folder::with(&[("it.toml", &MEMORY.replace(from, to))]);
    stderr_of(&folder.haggle(&["validate", "it.toml"])).to_owned()
}

#[test]
fn mistakes_are_told_with_their_remedy() {
    for (from, to, message, help) in [
        (
            "policy = \"fcfs\"",
            "policy = \"fcfs\"\nprocessors = 9",
            "the nodes of provider \"site\" have 8 processors",
            "remove it, or write 8",
        ),
        (
            "policy = \"fcfs\"",
            "policy = \"edf\"",
            "its policy counts processors only",
            "choose \"fcfs\", \"easy\" or \"conservative\"",
        ),
        (
            "memory = \"24 GB\", nodes = 2",
            "memory = \"24 GB\", nodes = 3",
            "2 processors are no equal parts of 3 nodes",
            "a number of nodes that divides both",
        ),
        (
            "memory = \"8 GB\"",
            "memory = \"8 GB\", memory-per-processor = \"8 GB\"",
            "as a whole and for each processor",
            "keep one of them",
        ),
        (
            "memory = \"8 GB\"",
            "memory-per-node = \"8 GB\"",
            "memory of each node goes with a number of nodes",
            "add `nodes`, or use another key",
        ),
        (
            "[[user]]",
            "[[maintenance]]\nfrom = \"1h\"\nuntil = \"2h\"\n\n[[user]]",
            "closes none for maintenance",
            "[[failures]] with `outages`",
        ),
        (
            "policy = \"fcfs\"",
            "policy = \"fcfs\"\non-failure = \"resume\"",
            "and writes no checkpoints",
            "choose \"restart\", \"requeue\" or \"fail\"",
        ),
        (
            "[[provider.node]]\ncount = 2\ncores = 4\nmemory = \"16 GB\"",
            "",
            "provider \"site\" has no processors",
            "add `processors`, or [[provider.node]]",
        ),
    ] {
        let told = problem(from, to);
        assert!(told.contains(message) && told.contains(help), "{told}");
    }
}

#[test]
fn demands_without_nodes_and_nodes_without_demands_are_warned_about() {
    let plain = MEMORY.replace(
        "\n[[provider.node]]\ncount = 2\ncores = 4\nmemory = \"16 GB\"\n",
        "processors = 8\n",
    );
    let nodes = VALID.replace(
        "processors = 8\n",
        "placing = \"spread\"\n\n[[provider.node]]\ncount = 2\ncores = 4\nmemory = \"1 GB\"\n",
    );
    let folder = Folder::with(&[("plain.toml", &plain), ("nodes.toml", &nodes)]);
    let told = folder.haggle(&["validate", "plain.toml"]);
    assert!(told.contains("`memory` of a job of workload \"jobs\" has no effect"), "{told}");
    let told = folder.haggle(&["validate", "nodes.toml"]);
    assert!(told.contains("`placing` of provider"), "{told}");
    assert!(told.contains("no job asks for more than processors"), "{told}");
}

/// The queue of a provider is chosen at the start, so a demand that comes later would be ignored.
#[test]
fn demands_that_come_with_a_change_need_one_at_the_start() {
    let change = "\n[[change]]\nat = \"50s\"\n\n[[change.submit]]\nuser = \"users\"\n\
                  jobs = [{ submit = \"60s\", processors = 1, run = \"1s\", gpus = 9 }]\n";
    let nodes = VALID.replace("processors = 8\n", "\n[[provider.node]]\ncount = 2\ncores = 4\n");
    let files = [("late.toml", nodes + change), ("known.toml", MEMORY.to_owned() + change)];
    let folder = Folder::with(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
    let told = folder.haggle(&["validate", "late.toml"]);
    assert!(told.contains("providers count processors only"), "{told}");
    folder.haggle(&["run", "known.toml", "-o", "run", "--format", "csv", "--check"]);
    assert!(folder.read("run/jobs.csv").contains("too_demanding"));
}

#[test]
fn sums_of_large_nodes_do_not_overflow() {
    let large = MEMORY
        .replace("count = 2", "count = 9000")
        .replace("16 GB", "9000 TB")
        .replace("cores = 4", "cores = 4\ngpus = 1000000");
    let folder = Folder::with(&[("it.toml", &large)]);
    folder.haggle(&["run", "it.toml", "-o", "run", "--check"]);
    let used = folder.summary("run")["nodes"]["memory_utilisation"].as_f64().expect("a share");
    assert!(used > 0.0 && used < 1.0, "{used}");
}

/// A running job of a start state has begun before time zero, which belongs to no run.
#[test]
fn time_before_zero_does_not_count() {
    let initial = MEMORY.replace(
        "policy = \"fcfs\"\n",
        "policy = \"fcfs\"\ninitial = [{ processors = 8, run = \"1000s\", requested = \"1000s\", submitted-ago = \"900s\", started-ago = \"900s\" }]\n",
    );
    let folder = Folder::with(&[("it.toml", &initial)]);
    let told = folder.haggle(&["run", "it.toml", "-o", "run", "--check"]);
    let used = &folder.summary("run")["nodes"]["processor_utilisation"];
    assert!(used.as_f64().is_some_and(|used| used < 1.0), "{used} {told}");
}

#[test]
fn live_runs_of_nodes_are_refused() {
    let folder = Folder::with(&[("it.toml", MEMORY)]);
    let told = folder.haggle(&["live", "run", "it.toml", "--scale", "100", "-o", "live"]);
    assert!(told.contains("places jobs on nodes"), "{told}");
    assert!(!told.starts_with("exit code: 0"), "{told}");
}
