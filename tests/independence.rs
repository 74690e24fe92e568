//! The fate of a job does not depend on other jobs in the scenario, unless they share something.

use crate::command::Folder;

/// Draws of every kind: profiling times, padding, jitter, random placement, failures, patience.
const WORLD: &str = r#"
[scenario]
seed = 3

[network]
latency = "1s"
jitter = "2s"

[[workload]]
name = "bags"
model = "lublin-feitelson"
lublin = { jobs = 12, processors = 4, load = 0.5 }

[[workload.step]]
kind = "bags"

[[workload]]
name = "rigid"
model = "lublin-feitelson"
lublin = { jobs = 25, processors = 4, load = 0.7 }

[[provider]]
name = "a"
processors = 4

[provider.policy]
name = "bags"
estimates = { from = "profiled", error = "50%", time-min = "5s", time-max = "600s" }
offers = { padding = "20%" }


[[provider]]
name = "b"
processors = 8
policy = "easy"

[[provider]]
name = "c"
processors = 8
policy = "conservative"

[[metascheduler]]
name = "bargains"
composition = "offers-no-lb"
providers = ["a"]

[[metascheduler]]
name = "draws"
placement = "random"
providers = ["b", "c"]

[[user]]
name = "u"
workload = "bags"
submits-to = "bargains"

[[user]]
name = "v"
workload = "rigid"
submits-to = "draws"
patience = "3h"

[[failures]]
of = ["a", "b"]
law = { up = { law = "exponential", mean = "10h" }, down = { law = "exponential", mean = "1h" } }

[results]
format = "csv"
"#;

/// Other workloads, users and providers. They precede the first ones in every list except that of
/// the providers.
const OTHERS: [(&str, &str); 4] = [
    (
        "[[workload]]\nname = \"bags\"",
        r#"
[[workload]]
name = "others"
model = "lublin-feitelson"
lublin = { jobs = JOBS, processors = 4, load = 0.9 }

"#,
    ),
    (
        "[[metascheduler]]\nname = \"bargains\"",
        r#"
[[provider]]
name = "z"
processors = 5
policy = "fcfs"

[[metascheduler]]
name = "elsewhere"
placement = "random"
providers = ["z"]

"#,
    ),
    (
        "[[user]]\nname = \"u\"",
        r#"
[[user]]
name = "t"
workload = "others"
submits-to = "elsewhere"

"#,
    ),
    (
        "[[failures]]",
        r#"
[[failures]]
of = ["z"]
law = { up = { law = "exponential", mean = "5h" }, down = { law = "exponential", mean = "1h" } }

"#,
    ),
];

/// The rows of a table about these workloads, without the numbers that count all jobs of a run.
fn rows(folder: &Folder, table: &str) -> Vec<String> {
    let text = folder.read(&format!("out/{table}.csv"));
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let column = |wanted| header.iter().position(|&name| name == wanted).expect("a column");
    let (number, workload) = (column("job"), column("workload_name"));
    let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let mut rows: Vec<Vec<String>> = lines.map(cells).collect();
    rows.retain(|row| ["bags", "rigid"].contains(&row[workload].as_str()));
    for row in &mut rows {
        row.remove(number);
    }
    rows.into_iter().map(|row| row.join(",")).collect()
}

fn run(scenario: &str) -> [Vec<String>; 2] {
    let folder = Folder::with(&[("world.toml", scenario)]);
    let shown = folder.haggle(&["run", "world.toml", "--output", "out", "--check"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    ["jobs", "attempts"].map(|table| rows(&folder, table))
}

/// Random numbers are keyed by names and by a job's number in its own workload. So they do not
/// depend on other jobs, for any seed and number of these.
#[test]
fn others_elsewhere_change_nothing_here() {
    for (seed, jobs) in [(3, 1), (3, 60), (5, 7), (8, 23), (13, 40), (21, 2)] {
        let world = WORLD.replace("seed = 3", &format!("seed = {seed}"));
        let alone = run(&world);
        assert_eq!(alone[0].len(), 12 + 25);
        let mut beside = world;
        for (before, added) in OTHERS {
            assert!(beside.contains(before), "{before}");
            let added = format!("{added}{before}").replace("JOBS", &jobs.to_string());
            beside = beside.replacen(before, &added, 1);
        }
        assert_eq!(run(&beside), alone, "seed {seed}, beside {jobs} jobs of others");
    }
}
