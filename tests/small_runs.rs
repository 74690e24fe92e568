//! Small runs of which every instant can be checked by hand.
//!
//! North has 4 processors and its own users, south has 2. The job of the grid comes at 0 s, needs 2
//! processors and is sent to south, which runs it until 10 s.
//!
//! ```text
//! job  submitted  processors  limit  runs   north under EASY     under FCFS
//!  1        0 s           3   100 s  100 s     0 –  100 s          0 – 100 s
//!  2       10 s           4    60 s   50 s   100 –  150 s        100 – 150 s
//!  3       20 s           1    40 s   30 s    20 –   50 s        150 – 180 s
//!  4       30 s           8    10 s    5 s   refused: too wide
//! ```

use crate::command::Folder;

const LOCAL: &str = "\
1 0 -1 100 3 -1 -1 3 100 -1 1 1 1 1 1 -1 -1 -1
2 10 -1 50 4 -1 -1 4 60 -1 1 1 1 1 1 -1 -1 -1
3 20 -1 30 1 -1 -1 1 40 -1 1 1 1 1 1 -1 -1 -1
4 30 -1 5 8 -1 -1 8 10 -1 1 1 1 1 1 -1 -1 -1
";

const EXTERNAL: &str = "1 0 -1 10 2 -1 -1 2 20 -1 1 1 1 1 1 -1 -1 -1\n";

const SCENARIO: &str = r#"
[[workload]]
name = "local"
log = "local.swf"

[[workload]]
name = "external"
log = "external.swf"

[[user]]
name = "natives"
workload = "local"
submits-to = "north"

[[user]]
name = "guests"
workload = "external"
submits-to = "grid"

[[provider]]
name = "north"
processors = 4
policy = "easy"

[[provider]]
name = "south"
processors = 2
policy = "easy"

[[metascheduler]]
name = "grid"
placement = "minimum-completion-time"

[results]
messages = "all"
format = "csv"
"#;

const SWEEP: &str = r#"
[[figure]]
kind = "lines"
metric = "mean-waiting-time"
x = "speed"
group-by = "policy"

[sweep]
replications = 2
[[sweep.axis]]
path = "provider.north.policy"
values = ["easy", "fcfs"]
[[sweep.axis]]
path = "provider.north.speed"
values = [1, 2]
"#;

/// A folder with the runs `easy`, `fcfs` and `silent`, which is `easy` without messages,
/// and a scenario with a sweep, `sweep.toml`.
pub(crate) fn runs() -> Folder {
    let fcfs = SCENARIO.replacen("\"easy\"", "\"fcfs\"", 1);
    let silent = SCENARIO.replace("\"all\"", "\"none\"");
    let folder = Folder::with(&[
        ("local.swf", LOCAL),
        ("external.swf", EXTERNAL),
        ("easy.toml", SCENARIO),
        ("fcfs.toml", &fcfs),
        ("silent.toml", &silent),
        ("sweep.toml", &format!("{SCENARIO}{SWEEP}")),
    ]);
    for name in ["easy", "fcfs", "silent"] {
        let file = format!("{name}.toml");
        let said = folder.haggle(&["run", &file, "-o", name, "--quiet"]);
        assert!(said.starts_with("exit code: 0"), "{said}");
    }
    folder
}
