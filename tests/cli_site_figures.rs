//! Figures of providers with nodes, queues and accounts.

use crate::command::Folder;

/// A site with two groups of nodes, two queues and two accounts.
const SITE: &str = r#"
[[workload]]
name = "jobs"
jobs = [
    { submit = "0s", processors = 4, run = "1h", requested = "2h", user = 1, group = 1, queue = 1, memory = "8 GB" },
    { submit = "0s", processors = 2, run = "1h", requested = "2h", user = 2, group = 2, queue = 1, gpus = 1 },
    { submit = "1min", processors = 4, run = "1h", requested = "2h", user = 1, group = 1, queue = 1 },
    { submit = "2min", processors = 4, run = "1h", requested = "2h", user = 2, group = 2, queue = 2 },
    { submit = "3min", processors = 1, run = "1h", requested = "2h", user = 3, queue = 2 },
]

[[provider]]
name = "site"
policy = "easy"

[[provider.node]]
name = "batch"
count = 2
cores = 4
memory = "16 GB"

[[provider.node]]
name = "fast"
count = 1
cores = 2
gpus = 1

[[provider.queue]]
name = "long"
number = 1

[[provider.queue]]
name = "short"
number = 2

[[provider.account]]
name = "physics"
groups = [1]
shares = 2

[[provider.account]]
name = "biology"
groups = [2]

[provider.priority]
weights = { fair-share = 1000 }

[[user]]
name = "users"
workload = "jobs"
submits-to = "site"
"#;

/// The texts of a figure that a command draws as SVG.
fn texts(folder: &Folder, options: &[&str]) -> Vec<String> {
    let command = [&["plot", "run", "--force", "-o", "it.svg"], options].concat();
    let told = folder.haggle(&command);
    assert!(told.starts_with("exit code: 0"), "{told}");
    let svg = folder.read("it.svg");
    svg.lines()
        .filter(|line| !line.trim_start().starts_with('<'))
        .map(|it| it.trim().to_owned())
        .collect()
}

fn has(texts: &[String], sought: &[&str]) {
    for text in sought {
        assert!(texts.iter().any(|it| it == text), "no {text} in {texts:?}");
    }
}

fn ran(scenario: &str) -> Folder {
    let folder = Folder::with(&[("it.toml", scenario)]);
    let told = folder.haggle(&["run", "it.toml", "-o", "run", "--check"]);
    assert!(told.starts_with("exit code: 0"), "{told}");
    folder
}

#[test]
fn a_gantt_names_nodes() {
    let drawn = texts(&ran(SITE), &["--kind", "gantt"]);
    has(&drawn, &["site: node", "batch 0", "batch 1", "fast 2"]);
    // Nodes without names have their numbers.
    let plain = SITE.replace("name = \"batch\"\n", "").replace("name = \"fast\"\n", "");
    let drawn = texts(&ran(&plain), &["--kind", "gantt", "--group-by", "account"]);
    has(&drawn, &["site: node", "0", "1", "2", "physics", "biology", "no account"]);
}

#[test]
fn each_resource_of_nodes_has_a_panel() {
    let drawn = texts(&ran(SITE), &["--kind", "node-utilisation"]);
    has(&drawn, &["site: processors in use, %", "site: memory in use, %", "site: gpus in use, %"]);
}

#[test]
fn waits_are_grouped_by_queue_and_by_account() {
    let folder = ran(SITE);
    let drawn = texts(&folder, &["--kind", "waiting-ecdf", "--group-by", "queue"]);
    has(&drawn, &["it: waiting times by queue", "long", "short"]);
    let metric = ["--kind", "box", "--metric", "mean-waiting-time", "--group-by", "account"];
    let drawn = texts(&folder, &metric);
    has(&drawn, &["physics", "biology", "no account"]);
    let bars = ["plot", "run", "--kind", "bars", "--metric", "jobs", "--group-by", "queue"];
    let told = folder.haggle(&bars);
    assert!(told.contains("the summary has no metrics of each queue: use \"box\""), "{told}");
}

#[test]
fn usage_stands_beside_shares() {
    let folder = ran(SITE);
    let drawn = texts(&folder, &["--kind", "usage-shares"]);
    has(&drawn, &["share of usage, %", "physics", "biology", "no account", "target share"]);
    let drawn = texts(&folder, &["--kind", "usage-shares", "--group-by", "user"]);
    has(&drawn, &["1 (physics)", "2 (biology)", "3 (no account)"]);
    let told = folder.haggle(&["plot", "run", "--kind", "usage-shares", "--group-by", "class"]);
    assert!(told.contains("use account or user"), "{told}");
}

#[test]
fn figures_without_nodes_or_accounts_say_so() {
    let folder = ran(crate::command::VALID);
    for (options, told) in [
        (&["--kind", "node-utilisation"][..], "no provider places jobs on nodes"),
        (&["--kind", "usage-shares"], "no provider has accounts"),
        (&["--kind", "waiting-ecdf", "--group-by", "account"], "the run has no accounts"),
        (&["--kind", "gantt", "--group-by", "account"], "the run has no accounts"),
    ] {
        let shown = folder.haggle(&[&["plot", "run"], options].concat());
        assert!(shown.contains(told), "{shown}");
    }
    // Queues of a log are those of its numbers.
    let drawn = texts(&folder, &["--kind", "waiting-ecdf", "--group-by", "queue"]);
    has(&drawn, &["it: waiting times by queue"]);
    for (figure, told) in [
        ("kind = \"usage-shares\"", "no provider has accounts"),
        ("kind = \"node-utilisation\"", "no provider has nodes"),
        ("kind = \"gantt\"\ngroup-by = \"account\"", "no provider has accounts"),
        (
            "kind = \"bars\"\nmetric = \"jobs\"\ngroup-by = \"queue\"",
            "no group or sweep axis is called \"queue\"",
        ),
    ] {
        let text = format!("{}\n[[figure]]\n{figure}\n", crate::command::VALID);
        let folder = Folder::with(&[("it.toml", &text)]);
        let shown = folder.haggle(&["validate", "it.toml"]);
        assert!(shown.contains(told), "{shown}");
    }
}

/// Names of a scenario are letters and digits, but the folder of a run may come from anywhere.
#[test]
fn names_are_text() {
    let folder = ran(SITE);
    let about = folder.read("run/provenance.json");
    let strange = about.replace("\"batch\"", r#""a<b>&\u001b[31m""#);
    let strange = strange.replace("\"physics\"", r#""<i>&""#).replace("\"long\"", r#""</svg>""#);
    assert_ne!(strange, about);
    std::fs::write(folder.path().join("run/provenance.json"), strange).expect("it can be written");
    for options in [
        &["--kind", "gantt"][..],
        &["--kind", "usage-shares"],
        &["--kind", "waiting-ecdf", "--group-by", "queue"],
    ] {
        texts(&folder, options);
        let svg = folder.read("it.svg");
        assert!(!svg.contains("<b>") && !svg.contains("<i>"), "{svg}");
        assert!(!svg.contains('\u{1b}') && svg.matches("</svg>").count() == 1, "{svg}");
    }
}
