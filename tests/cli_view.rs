//! `haggle view`: its address, its views and its end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout};

use crate::command::{Folder, interrupt, signal, stderr_of, unwrapped};

const SCENARIO: &str = r#"
[scenario]
name = "small"

[[workload]]
name = "jobs"
model = "lublin-feitelson"
lublin = { jobs = 50, processors = 16, load = 0.6 }

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[provider]]
name = "north"
processors = 16
policy = "easy"

[[sweep.axis]]
path = "provider.north.policy"
values = ["fcfs", "easy"]
"#;

/// Starts the viewer and returns its address.
fn start(folder: &Folder, arguments: &[&str]) -> (Child, String, BufReader<ChildStdout>) {
    let mut child = folder.start(&[&["view", "--no-open"], arguments].concat());
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("it prints");
    (child, line.trim_end().to_owned(), out)
}

/// The answer to a path below an address.
fn get(address: &str, path: &str) -> String {
    let rest = address.strip_prefix("http://").expect("an address");
    let (host, below) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("it listens");
    let request =
        format!("GET /{below}{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it can be sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    text
}

#[test]
fn ctrl_c_ends_the_viewer() {
    let scenario = SCENARIO.split("[[sweep").next().expect("the first part");
    let folder = Folder::with(&[("small.toml", scenario)]);
    folder.haggle(&["run", "small.toml", "-o", "small"]);
    for (name, code) in [("INT", 0), ("TERM", 143)] {
        let (mut child, address, _out) = start(&folder, &["small"]);
        assert!(address.starts_with("http://127.0.0.1:") && address.ends_with('/'), "{address}");
        // The token of 128 bits.
        assert_eq!(address.trim_end_matches('/').rsplit('/').next().map(str::len), Some(32));
        assert!(get(&address, "").contains("<!doctype html>"));
        assert!(get(&address, "api/views").contains("\"name\":\"small\""));
        match name {
            "INT" => interrupt(&child),
            _ => signal(&child, name),
        }
        assert_eq!(child.wait().expect("it ends").code(), Some(code));
    }
}

#[test]
fn a_sweep_has_a_view_for_each_run() {
    let folder = Folder::with(&[("small.toml", SCENARIO)]);
    folder.haggle(&["sweep", "small.toml", "-o", "loose"]);
    folder.haggle(&["sweep", "small.toml", "-o", "packed", "--pack", "10"]);
    for sweep in ["loose", "packed"] {
        let (mut child, address, _out) = start(&folder, &[sweep]);
        let views = get(&address, "api/views");
        for policy in ["fcfs", "easy"] {
            let name = format!("\"name\":\"{sweep} policy={policy}/seed=");
            assert_eq!(views.matches(&name).count(), 1, "{views}");
        }
        for view in ["api/views/0", "api/views/1"] {
            let overview = get(&address, view);
            assert!(overview.contains("\"rows\":16"), "{overview}");
            assert!(overview.contains("\"problems\":[]"), "{overview}");
        }
        interrupt(&child);
        child.wait().expect("it ends");
    }
    let one = folder.names_in("packed");
    assert!(one.iter().all(|it| !it.starts_with("policy=")), "the sweep is packed: {one:?}");
}

#[test]
fn views_have_the_order_of_the_arguments() {
    let scenario = SCENARIO.split("[[sweep").next().expect("the first part");
    let folder = Folder::with(&[("small.toml", scenario)]);
    folder.haggle(&["run", "small.toml", "-o", "results"]);
    for arguments in [["small.toml", "results"], ["results", "small.toml"]] {
        let (mut child, address, _out) = start(&folder, &arguments);
        let views = get(&address, "api/views");
        let places = arguments.map(|path| views.find(&format!("{path}\",\"base\"")));
        assert!(places[0].is_some() && places[0] < places[1], "{arguments:?}: {views}");
        interrupt(&child);
        child.wait().expect("it ends");
    }
}

#[test]
fn mistakes_of_the_arguments_are_told() {
    let folder = Folder::with(&[("small.toml", SCENARIO)]);
    let shown = folder.haggle(&["view", "--no-open", "nowhere"]);
    assert!(shown.starts_with("exit code: 3"), "{shown}");
    assert!(stderr_of(&shown).contains("nowhere"), "{shown}");
    let scenario = SCENARIO.split("[[sweep").next().expect("the first part");
    let folder = Folder::with(&[("small.toml", scenario)]);
    folder.haggle(&["run", "small.toml", "-o", "small"]);
    let (mut child, address, _out) = start(&folder, &["small"]);
    let port = address.trim_start_matches("http://127.0.0.1:").split('/').next().expect("a port");
    let shown = folder.haggle(&["view", "--no-open", "small", "--port", port]);
    assert!(shown.starts_with("exit code: 2"), "{shown}");
    assert!(stderr_of(&shown).contains("hint: choose another port"), "{shown}");
    interrupt(&child);
    child.wait().expect("it ends");
    // All tables are read, and nothing else happens.
    let shown = folder.haggle(&["view", "--no-open", "small", "--for", "0s"]);
    assert!(shown.starts_with("exit code: 0"), "{shown}");
    // A table that no chart needs is missed, too.
    std::fs::remove_file(folder.path().join("small/offers.parquet")).expect("it is there");
    let shown = folder.haggle(&["view", "--no-open", "small", "--for", "0s"]);
    assert!(shown.starts_with("exit code: 1"), "{shown}");
    assert!(stderr_of(&shown).contains("offers"), "{shown}");
}

#[test]
fn tables_of_another_run_are_a_problem() {
    let scenario = SCENARIO.split("[[sweep").next().expect("the first part");
    let folder = Folder::with(&[("small.toml", scenario)]);
    folder.haggle(&["run", "small.toml", "-o", "small"]);
    folder.haggle(&["run", "small.toml", "-o", "other", "--seed", "77"]);
    let [here, other] =
        ["small", "other"].map(|name| folder.path().join(name).join("jobs.parquet"));
    std::fs::copy(other, here).expect("it can be copied");
    let shown = folder.haggle(&["view", "--no-open", "small", "--for", "0s"]);
    assert!(shown.starts_with("exit code: 1"), "{shown}");
    let problem = "`jobs.parquet` was changed after its run: it is not as in provenance.json";
    assert!(unwrapped(stderr_of(&shown)).contains(problem), "{shown}");
}

#[test]
fn a_missing_scenario_and_a_missing_run_are_problems() {
    let folder = Folder::with(&[("small.toml", SCENARIO)]);
    let check = |path: &str| folder.haggle(&["view", "--no-open", path, "--for", "0s"]);
    folder.haggle(&["sweep", "small.toml", "-o", "loose"]);
    folder.haggle(&["sweep", "small.toml", "-o", "packed", "--pack", "10"]);
    for sweep in ["loose", "packed", "loose/policy=easy"] {
        let shown = check(sweep);
        assert!(shown.starts_with("exit code: 0"), "{shown}");
    }
    let seed = folder.names_in("loose/policy=easy").pop().expect("a run");
    let run = format!("policy=easy/{seed}");
    std::fs::remove_dir_all(folder.path().join("loose").join(&run)).expect("it is there");
    let shown = check("loose");
    assert!(shown.starts_with("exit code: 1"), "{shown}");
    let problem = format!("loose: run 1 is missing: there is no folder `{run}`");
    assert!(unwrapped(stderr_of(&shown)).contains(&problem), "{shown}");
    // The other run is whole.
    let other = format!("loose/policy=fcfs/{seed}");
    assert!(check(&other).starts_with("exit code: 0"));
    for (path, problem) in [
        (other.as_str(), "`scenario.toml` is missing, so the run cannot be repeated"),
        ("loose", "its runs are not known: "),
    ] {
        std::fs::remove_file(folder.path().join(path).join("scenario.toml")).expect("it is there");
        let shown = check(path);
        assert!(shown.starts_with("exit code: 1"), "{shown}");
        assert!(unwrapped(stderr_of(&shown)).contains(problem), "{shown}");
    }
}

#[test]
fn one_run_of_a_sweep_is_stepped() {
    let folder = Folder::with(&[("small.toml", SCENARIO)]);
    let view = |more: &[&str]| {
        folder.haggle(&[&["view", "--no-open", "small.toml", "--for", "0s"], more].concat())
    };
    let shown = view(&[]);
    assert!(shown.starts_with("exit code: 2"), "{shown}");
    assert!(stderr_of(&shown).contains("--run NUMBER"), "{shown}");
    assert!(view(&["--run", "1"]).starts_with("exit code: 0"));
    assert!(view(&["--run", "9"]).starts_with("exit code: 2"));
    assert!(view(&["--set", "provider.north.policy=easy"]).starts_with("exit code: 0"));
    let shown = view(&["--set", "provider.north.policy=conservative"]);
    assert!(stderr_of(&shown).contains("no run of the sweep has these values"), "{shown}");
}
