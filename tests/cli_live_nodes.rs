//! Nodes of live mode as processes: `haggle live init`, `node`, `status`, `results`, and `run --processes`.

use std::fs;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use crate::cli_live::SCENARIO;
use crate::command::{Folder, ended, json_of, refused, signal, stdout_of, succeeds};

/// Ports of a test, which no other one has.
fn ports(first: u16) -> [String; 4] {
    ["--port".into(), first.to_string(), "--status-port".into(), (first + 50).to_string()]
}

fn init(folder: &Folder, scale: &str, first: u16, others: &[&str]) -> String {
    let ports = ports(first);
    let mut all = vec!["live", "init", "pair.toml", "--scale", scale, "-o", "nodes"];
    all.extend(ports.iter().map(String::as_str));
    all.extend(others);
    succeeds(folder, &all)
}

pub(crate) fn start(folder: &Folder, node: &str) -> Node {
    Node(Some(folder.start(&["live", "node", &format!("nodes/{node}"), "--log", "json"])))
}

/// A process that does not outlive its test.
pub(crate) struct Node(Option<Child>);

impl Node {
    pub(crate) fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("it has not ended")
    }

    pub(crate) fn ended(mut self) -> String {
        ended(self.0.take().expect("it has not ended"))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits until a condition holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        sleep(Duration::from_millis(100));
    }
    panic!("{what}");
}

#[test]
fn nodes_in_processes_agree_on_beginning_and_end() {
    let folder = Folder::with(&[("pair.toml", SCENARIO)]);
    let said = init(&folder, "20000", 21_300, &[]);
    let said = stdout_of(&said);
    for node in ["users", "north", "east", "broker"] {
        assert!(said.contains(&format!("haggle live node nodes/{node}")), "{said}");
    }
    let mut nodes = vec![start(&folder, "broker"), start(&folder, "users")];
    // No node begins before all are there.
    sleep(Duration::from_secs(1));
    assert!(!folder.path().join("nodes/users/clock").exists());
    nodes.extend([start(&folder, "north"), start(&folder, "east")]);
    until("all run", || {
        let status = json_of(&succeeds(&folder, &["live", "status", "nodes", "--json"]));
        let has_job = |it: &serde_json::Value| it["status"]["progress"]["jobs"].as_u64() > Some(0);
        status.as_array().is_some_and(|all| all.len() == 4 && all.iter().any(has_job))
    });
    // A provider ends at once, and starts again.
    let mut east = nodes.pop().expect("it was started");
    east.child().kill().expect("it runs");
    drop(east);
    let shown = succeeds(&folder, &["live", "status", "nodes"]);
    assert!(stdout_of(&shown).contains("down"), "{shown}");
    // A provider is asked to stop, and starts again.
    let mut north = nodes.pop().expect("it was started");
    signal(north.child(), "TERM");
    let said = north.ended();
    assert!(said.starts_with("exit code: 143"), "{said}");
    nodes.extend([start(&folder, "north"), start(&folder, "east")]);
    for node in nodes {
        let said = node.ended();
        assert!(said.starts_with("exit code: 0") && said.contains("the run is over"), "{said}");
    }
    // A node that knows that all have ended needs no others.
    for node in ["users", "north", "east", "broker"] {
        assert!(folder.path().join("nodes").join(node).join("over").exists(), "{node}");
        let said = start(&folder, node).ended();
        assert!(said.starts_with("exit code: 0"), "{said}");
        assert!(!said.contains("not all nodes have confirmed"), "{said}");
    }
    succeeds(&folder, &["live", "results", "nodes", "--check", "--no-figures"]);
    assert!(folder.path().join("nodes/results/jobs.parquet").exists());
    let said = succeeds(&folder, &["live", "verify", "nodes"]);
    let said = stdout_of(&said);
    assert!(said.contains("2 restarts") && said.contains("the same"), "{said}");
}

/// The other nodes know how many messages they had from it, also if they have started again.
#[test]
fn a_node_without_its_journal_does_not_begin_anew() {
    let folder = Folder::with(&[("pair.toml", SCENARIO)]);
    init(&folder, "20000", 21_600, &[]);
    let all = ["north", "east", "broker", "users"];
    let mut nodes = all.map(|it| start(&folder, it));
    until("all run", || {
        let status = json_of(&succeeds(&folder, &["live", "status", "nodes", "--json"]));
        let over = |it: &serde_json::Value| it["status"]["progress"]["over"].as_u64() > Some(0);
        status.as_array().is_some_and(|all| all.iter().any(over))
    });
    for node in &mut nodes {
        signal(node.child(), "TERM");
    }
    for node in nodes {
        assert!(node.ended().starts_with("exit code: 143"));
    }
    let of_east = folder.path().join("nodes/east");
    fs::remove_dir_all(of_east.join("journal")).expect("it is there");
    let mut nodes = all.map(|it| start(&folder, it)).into_iter();
    let (_north, east) = (nodes.next(), nodes.next().expect("it was started"));
    let said = east.ended();
    assert!(said.starts_with("exit code: 3") && said.contains("lacks messages"), "{said}");
}

#[test]
fn a_run_of_processes_survives_its_end() {
    let folder = Folder::with(&[("pair.toml", SCENARIO)]);
    let arguments =
        ["live", "run", "pair.toml", "--scale", "20000", "-o", "live", "--processes", "--check"];
    let mut run = folder.start(&arguments);
    let begun = |node: &str| folder.path().join("live.live").join(node).join("clock").exists();
    until("all begin", || ["users", "north", "east", "broker"].into_iter().all(begun));
    sleep(Duration::from_secs(1));
    run.kill().expect("it runs");
    run.wait().expect("it has ended");
    // Its nodes notice, and let their journals go.
    let goes_on = ["live", "run", "--continue", "live.live", "--no-figures"];
    let mut shown = String::new();
    until("it continues", || {
        shown = folder.haggle(&goes_on);
        shown.starts_with("exit code: 0")
    });
    let said = succeeds(&folder, &["live", "verify", "live.live"]);
    let said = stdout_of(&said);
    assert!(said.contains("the same") && !said.contains(" 0 restarts"), "{said}");
}

#[test]
fn actors_share_a_node() {
    let folder = Folder::with(&[("pair.toml", SCENARIO)]);
    let said = init(&folder, "500000", 21_200, &["--together", "users,broker"]);
    assert!(stdout_of(&said).contains("3 nodes"), "{said}");
    let nodes = ["north", "east", "broker"].map(|it| start(&folder, it));
    for node in nodes {
        let said = node.ended();
        assert!(said.starts_with("exit code: 0"), "{said}");
    }
    succeeds(&folder, &["live", "verify", "nodes"]);
}

#[test]
fn a_node_of_another_run_is_refused() {
    let folder = Folder::with(&[("pair.toml", SCENARIO)]);
    init(&folder, "500000", 21_400, &[]);
    let facts = folder.read("nodes/live.toml");
    // The owner of a node has another scenario.
    fs::create_dir(folder.path().join("other")).expect("a new folder");
    for name in ["live.toml", "scenario.toml"] {
        let text = folder.read(&format!("nodes/{name}")).replace("0.6", "0.7");
        fs::write(folder.path().join("other").join(name), text).expect("it can be written");
    }
    fs::rename(folder.path().join("nodes/users"), folder.path().join("other/users"))
        .expect("it is there");
    // The coordinator is the first node.
    let mut north = start(&folder, "north");
    let users = folder.start(&["live", "node", "other/users"]);
    let said = ended(users);
    assert!(said.starts_with("exit code: 3") && said.contains("another scenario"), "{said}");
    // The same node of another run has the same address of its state.
    let ports = ports(21_400);
    let mut all = vec!["live", "init", "pair.toml", "-o", "second"];
    all.extend(ports.iter().map(String::as_str));
    succeeds(&folder, &all);
    let state = |of: &str| {
        let shown = json_of(&succeeds(&folder, &["live", "status", of, "--json"]));
        let north = shown.as_array().and_then(|all| all.iter().find(|it| it["node"] == "north"));
        north.map(|it| it["state"].clone()).unwrap_or_default()
    };
    until("it waits", || state("nodes").as_str().is_some_and(|it| it.starts_with("waits for")));
    assert_eq!(state("second"), "not begun");
    signal(north.child(), "INT");
    assert!(north.ended().starts_with("exit code: 130"));
    assert_eq!(folder.read("nodes/live.toml"), facts);
}

#[test]
fn mistakes_of_nodes_are_explained() {
    let folder = Folder::with(&[("pair.toml", SCENARIO)]);
    let to = |others: &[&str]| {
        let mut all = vec!["live", "init", "pair.toml", "-o", "nodes"];
        all.extend(others);
        refused(&folder, &all)
    };
    assert!(to(&["--host", "west=a"]).contains("no node is named \"west\""));
    assert!(to(&["--host", "north"]).contains("NODE=HOST"));
    assert!(to(&["--host", "north=127.0.0.1:7000"]).contains("set by --port"));
    assert!(to(&["--host", "north=http://a"]).contains("no name or address"));
    assert!(to(&["--host", "north=a", "--host", "north=b"]).contains("given twice"));
    assert!(refused(&folder, &["live", "init", "-o", "nodes"]).contains("no scenario is given"));
    assert!(to(&["--together", "users,west"]).contains("no actor is named \"west\""));
    assert!(to(&["--together", "users"]).contains("at least two"));
    assert!(to(&["--together", "users,users"]).contains("two different"));
    assert!(to(&["--port", "7100", "--status-port", "7103"]).contains("differ by 4"));
    assert!(to(&["--port", "65534"]).contains("ports"));
    assert!(!folder.path().join("nodes").exists());
    init(&folder, "1", 21_500, &[]);
    let node = |name: &str| refused(&folder, &["live", "node", name]);
    assert!(node("nodes/west").contains("no node is named \"west\""));
    let path = folder.path().join("nodes/north/node.toml");
    fs::write(&path, "listen = \"127.0.0.1:21501\"\nlissten = 1\n").expect("it can be written");
    let said = node("nodes/north");
    assert!(said.contains("node.toml") && said.contains("lissten"), "{said}");
    fs::write(&path, "listen = \"127.0.0.1\"\n").expect("it can be written");
    let said = node("nodes/north");
    assert!(said.contains("127.0.0.1") && said.contains("HOST:PORT"), "{said}");
    let said = refused(&folder, &["live", "results", "nodes"]);
    assert!(said.contains("journal"), "{said}");
}
