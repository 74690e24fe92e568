//! Simulations over HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use haggle_runtime::Driver;
use haggle_scenario::{Experiment, Logs, Source};
use serde_json::{Value, json};

use super::{quickstart, script, view};
use crate::Views;
use crate::server::Server;

/// A server with one simulation, until it is dropped.
struct Served {
    address: String,
    ends: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Served {
    fn new(script: super::Script) -> Served {
        let views = Arc::new(Views::new());
        views.add(Arc::new(view(script)));
        let server = Server::bind(views, 0).expect("a port");
        let address = server.address();
        let ends = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ends);
        let serve = move || server.serve(move || ended.load(Ordering::Acquire)).expect("it serves");
        Served { address, ends, thread: Some(thread::spawn(serve)) }
    }

    fn send(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let rest = self.address.strip_prefix("http://").expect("an address");
        let (host, token) = rest.split_once('/').expect("a token");
        let mut stream = TcpStream::connect(host).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        let length = body.len();
        let head =
            format!("{method} /{token}{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        let head =
            format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(format!("{head}{body}").as_bytes()).expect("it is sent");
        stream
    }

    /// Bars, marks and ticks of a tile.
    fn tile(&self, path: &str) -> [u32; 3] {
        let mut bytes = Vec::new();
        self.send("GET", path, "").read_to_end(&mut bytes).expect("an answer");
        let head = bytes.windows(4).position(|it| it == b"\r\n\r\n").expect("a head") + 4;
        let start = bytes[head..].windows(4).position(|it| it == b"HGT1").expect("a tile") + head;
        let word = |place: usize| {
            let at = start + 4 * place;
            u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
        };
        [word(9), word(10), word(11)]
    }

    /// Status and body of an answer.
    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut text = Vec::new();
        self.send(method, path, body).read_to_end(&mut text).expect("an answer");
        let text = String::from_utf8_lossy(&text);
        let status = text.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status");
        let content = text.split_once("\r\n\r\n").map_or("", |it| it.1);
        // A body in chunks has its lengths on lines of their own.
        let json = content.lines().find(|line| line.starts_with(['{', '['])).unwrap_or("null");
        (status, serde_json::from_str(json).unwrap_or(Value::Null))
    }

    fn get(&self, path: &str) -> Value {
        let (status, value) = self.ask("GET", path, "");
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    /// Sends a request that changes the simulation, and waits for the state after it.
    fn change(&self, path: &str, body: &Value) -> Value {
        let (status, value) = self.ask("POST", path, &body.to_string());
        assert_eq!(status, 202, "{path} {body}: {value}");
        let mut version = value["version"].clone();
        loop {
            let state = self.get(&format!("api/views/0/state?after={version}"));
            if state["state"] != "running" {
                return state;
            }
            version = state["version"].clone();
        }
    }
}

#[test]
fn two_clients_step_go_back_and_branch() {
    let served = Served::new(quickstart());
    let first = served.get("api/views/0/state");
    assert_eq!(
        (&first["messages"], &first["state"], &first["now"]),
        (&json!(0), &json!("paused"), &json!(0))
    );
    // The second client waits for the step of the first one.
    let mut waiting =
        served.send("GET", &format!("api/views/0/state?after={}", first["version"]), "");
    let state = served.change("api/views/0/steps", &json!({ "messages": 500 }));
    let words = "500 messages were delivered";
    assert_eq!((&state["messages"], &state["stopped_by"]), (&json!(500), &json!(words)));
    let mut text = String::new();
    waiting.read_to_string(&mut text).expect("an answer");
    assert!(text.contains("\"state\":\"running\"") || text.contains("\"messages\":500"), "{text}");
    let overview = served.get("api/views/0");
    assert_eq!((&overview["kind"], &overview["now"]), (&json!("simulation"), &state["now"]));
    assert!(
        overview["metrics"]
            .as_array()
            .is_some_and(|it| it.iter().any(|it| it["name"] == "jobs_over"))
    );
    let jobs = served.get("api/views/0/jobs?count=5");
    assert_eq!(jobs["rows"].as_array().map(Vec::len), Some(5), "{jobs}");
    let messages = served.get("api/views/0/messages?count=1000");
    assert!(messages["total"].as_u64().is_some_and(|it| it > 10));
    let series =
        served.get("api/views/0/series?id=queue:all&id=busy:0&from=0&to=86400000000&columns=24");
    assert_eq!(series["series"].as_array().map(Vec::len), Some(2));
    assert!(
        series["series"][1]["max"]
            .as_array()
            .is_some_and(|it| it.iter().any(|it| it.as_f64() > Some(0.0)))
    );
    let job = served.get("api/views/0/jobs/0");
    assert!(job["story"]["lines"].as_array().is_some_and(|it| it.len() > 2), "{job}");
    let actor = overview["actors"][0]["name"].as_str().expect("a name").to_owned();
    let panel = served.get(&format!("api/views/0/actors/{actor}"));
    assert!(panel["machine"]["processors"].as_u64().is_some_and(|it| it > 0), "{panel}");
    let back = served.change("api/views/0/back", &json!({ "to": 123 }));
    assert_eq!((&back["messages"], &back["state"]), (&json!(123), &json!("paused")));
    assert!(back["version"].as_u64() > state["version"].as_u64());
    let back = served.change("api/views/0/back", &json!({ "instants": 1 }));
    assert!(back["messages"].as_u64().is_some_and(|it| it < 123));
    let again = served.change(
        "api/views/0/steps",
        &json!({ "messages": 500 - back["messages"].as_u64().unwrap_or(0) }),
    );
    assert_eq!((&again["messages"], &again["now"]), (&state["messages"], &state["now"]));
    let fail = json!({ "fail": [format!("{actor}:1@300d..301d")] });
    let (status, branch) = served.ask("POST", "api/views/0/branches", &fail.to_string());
    assert_eq!((status, &branch["id"]), (201, &json!(1)), "{branch}");
    let views = served.get("api/views");
    assert_eq!(
        (&views["views"][1]["base"], &views["views"][1]["branch_at"]),
        (&json!(0), &state["now"])
    );
}

#[test]
fn of_several_steps_at_once_one_begins() {
    let served = Served::new(quickstart());
    for (turn, body) in
        [r#"{"messages": 1}"#, r#"{"end": true}"#].into_iter().cycle().take(12).enumerate()
    {
        let before = served.get("api/views/0/state")["version"].clone();
        // A short step may be over before the next request comes, so they name the state from which they start.
        let path = format!("api/views/0/steps?version={before}");
        let answers = thread::scope(|scope| {
            let ask = || served.ask("POST", &path, body);
            let all = Vec::from_iter((0..12).map(|_| scope.spawn(ask)));
            Vec::from_iter(all.into_iter().map(|it| it.join().expect("an answer")))
        });
        let begun = Vec::from_iter(answers.iter().filter(|it| it.0 == 202));
        assert_eq!(begun.len(), 1, "{turn}: {answers:?}");
        assert!(answers.iter().all(|it| it.0 == 202 || it.0 == 409), "{answers:?}");
        // No state is older than the one that the answer names.
        let named = begun[0].1["version"].as_u64().expect("a version");
        assert!(named > before.as_u64().expect("a version"));
        let state = served.get("api/views/0/state");
        assert!(state["version"].as_u64().is_some_and(|it| it >= named), "{state}");
        served.ask("POST", "api/views/0/stop", "");
        while served.get("api/views/0/state")["state"] == "running" {
            thread::sleep(Duration::from_millis(2));
        }
        served.change("api/views/0/back", &json!({ "to": 0 }));
    }
}

#[test]
fn the_state_after_an_answer_is_not_an_older_one() {
    let served = Served::new(quickstart());
    for turn in 0..60 {
        let (path, body) = match turn % 3 {
            2 => ("api/views/0/back", json!({ "messages": 3 })),
            _ => ("api/views/0/steps", json!({ "messages": 40 })),
        };
        let before = served.get("api/views/0/state");
        let (status, answer) = served.ask("POST", path, &body.to_string());
        assert_eq!(status, 202, "{answer}");
        let state = served.get("api/views/0/state");
        assert!(state["version"].as_u64() >= answer["version"].as_u64(), "{answer} {state}");
        assert!(state["state"] == "running" || state["messages"] != before["messages"], "{state}");
        while served.get("api/views/0/state")["state"] == "running" {
            thread::sleep(Duration::from_millis(1));
        }
    }
    let set = json!({ "set": ["provider.*.policy=fcfs"] });
    let (status, branch) = served.ask("POST", "api/views/0/branches", &set.to_string());
    assert_eq!(status, 201, "{branch}");
    let state = served.get("api/views/1/state");
    assert!(state["version"].as_u64() >= branch["version"].as_u64(), "{branch} {state}");
    assert!(state["state"] == "running" || state["messages"] != 0, "{state}");
}

#[test]
fn an_actor_sees_its_own_rows_alone() {
    let served = Served::new(script("failing-sites", &[], Driver::Sequential).expect("one run"));
    let state = served.change("api/views/0/steps", &json!({ "messages": 4000 }));
    let overview = served.get("api/views/0");
    let charts = overview["charts"].as_array().expect("charts");
    assert!(charts.len() > 1);
    for (number, chart) in charts.iter().enumerate() {
        let window = format!(
            "from=0&to={}&columns=1000&first_row=0&rows={}&lanes=1000",
            state["now"], chart["rows"]
        );
        let all = served.tile(&format!("api/views/0/charts/{number}/tile?{window}"));
        assert!(all[0] > 0, "{chart}");
        for other in charts {
            let name = other["name"].as_str().expect("a name");
            let seen = served.tile(&format!("api/views/0/charts/{number}/tile?{window}&as={name}"));
            let expected = if other["name"] == chart["name"] { all } else { [0; 3] };
            assert_eq!(seen, expected, "{name} sees {chart}");
        }
    }
}

/// Two providers, among which a broker chooses at random. The policy of `west` is another one.
fn random(policy_of_west: &str) -> super::Script {
    let provider = |name: &str, policy: &str| {
        format!("[[provider]]\nname = \"{name}\"\nprocessors = 16\npolicy = \"{policy}\"\n")
    };
    let text = format!(
        "[scenario]\nname = \"random\"\n[[workload]]\nname = \"jobs\"\nmodel = \"lublin-feitelson\"\n\
         lublin = {{ jobs = 300, processors = 16, load = 1.8 }}\n{}{}[[metascheduler]]\n\
         name = \"broker\"\nproviders = [\"north\", \"west\"]\nplacement = \"random\"\n\
         [[user]]\nname = \"users\"\nworkload = \"jobs\"\nsubmits-to = \"broker\"\n",
        provider("north", "easy"),
        provider("west", policy_of_west),
    );
    let source = Source::new("random.toml", text);
    let experiment = Experiment::read(source, Logs::MustExist).expect("a good scenario");
    let scenario = experiment.runs().next().expect("a run").scenario();
    super::Script { scenario, folder: ".".into(), driver: Driver::Sequential }
}

#[test]
fn the_policy_of_another_provider_changes_no_answer_to_an_actor() {
    // One of them plans the starts of all of its jobs.
    let served = ["fcfs", "conservative"].map(|policy| Served::new(random(policy)));
    let day = 86_400_000_000_i64;
    let states =
        served.each_ref().map(|it| it.change("api/views/0/steps", &json!({ "time": day })));
    assert_ne!(states[0]["messages"], states[1]["messages"]);
    let ends = served.each_ref().map(|it| it.get("api/views/0")["until"].clone());
    assert_ne!(ends[0], ends[1]);
    let orders = served.each_ref().map(|it| it.get("api/views/0/jobs?count=1000")["rows"].clone());
    assert_ne!(orders[0], orders[1]);
    for path in [
        "api/views/0?",
        "api/views/0/state?",
        "api/views/0/legend?",
        "api/views/0/jobs?count=1000&",
        "api/views/0/jobs?count=1000&sort=waiting_time&",
        "api/views/0/jobs?count=1000&sort=-waiting_time&",
        "api/views/0/jobs?count=1000&sort=provider&",
        "api/views/0/jobs?count=1000&sort=-user_id&filter=job%3E5&",
        "api/views/0/messages?count=10000&",
        "api/views/0/told?actor=north&",
        "api/views/0/actors/north?",
        "api/views/0/find?text=1&",
    ] {
        let answers = served.each_ref().map(|it| {
            let mut answer = it.get(&format!("{path}as=north"));
            // Numbers of states depend on the time that the machine needed.
            answer.as_object_mut().and_then(|it| it.remove("version"));
            answer
        });
        assert_eq!(answers[0], answers[1], "{path}");
    }
    let seen = served[0].get("api/views/0/jobs?count=1000&as=north");
    let columns = seen["columns"].as_array().expect("columns");
    let job = columns.iter().position(|it| it["name"] == "job").expect("a column");
    let rows = seen["rows"].as_array().expect("rows");
    let numbers = Vec::from_iter(rows.iter().map(|it| it[job].as_u64()));
    assert!(numbers.len() > 50 && numbers.is_sorted(), "{numbers:?}");
    let state = served[0].get("api/views/0/state?as=north");
    assert!(state["next"].is_null() && state["messages"].as_u64() > Some(0), "{state}");
}

#[test]
fn a_client_that_goes_away_stops_no_run() {
    let served = Served::new(
        script("quickstart", &[("workload.*.lublin.jobs", "3000")], Driver::Sequential)
            .expect("one run"),
    );
    drop(served.send("POST", "api/views/0/steps", r#"{"end": true}"#));
    drop(served.send("GET", "api/views/0/state?after=1", ""));
    loop {
        let state = served.get("api/views/0/state");
        if state["state"] == "over" {
            assert_eq!(state["jobs"], state["jobs_over"]);
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn broken_requests_are_answered_by_errors() {
    let served = Served::new(quickstart());
    for (method, path, body, expected) in [
        ("GET", "api/views/9/state", "", 404),
        ("GET", "api/views/0/state?after=x", "", 400),
        ("GET", "api/views/0/actors/nobody", "", 404),
        ("GET", "api/views/0/told?actor=nobody", "", 404),
        ("GET", "api/views/0/jobs?as=nobody", "", 404),
        ("GET", "api/views/0/messages?as=nobody", "", 404),
        ("GET", "api/views/0/last?as=nobody", "", 404),
        ("GET", "api/views/0/state?as=nobody", "", 404),
        ("POST", "api/views/0/steps?version=x", r#"{"messages": 1}"#, 400),
        ("POST", "api/views/0/steps?version=99", r#"{"messages": 1}"#, 409),
        ("GET", "api/views/0/jobs/99999999", "", 404),
        ("GET", "api/views/0/picture?kind=gantt", "", 409),
        ("POST", "api/views/0/steps", "{", 400),
        ("POST", "api/views/0/steps", r#"{"time": -5}"#, 400),
        ("POST", "api/views/0/steps", r#"{"messages": 1e400}"#, 400),
        ("POST", "api/views/0/steps", r#"{"message": {"kind": "SUBMIT"}}"#, 400),
        ("POST", "api/views/0/steps", r#"{"message": {"receiver": "nobody"}}"#, 404),
        ("POST", "api/views/0/steps", r#"{"condition": "import \"x\" as y; true"}"#, 400),
        ("POST", "api/views/0/back", r#"{"to": 5}"#, 400),
        ("POST", "api/views/0/back", r#"{"time": 9007199254740993}"#, 400),
        ("POST", "api/views/0/back", r#"{"messages": -1}"#, 400),
        ("POST", "api/views/0/back", "{}", 400),
        ("POST", "api/views/0/branches", "{}", 400),
        ("POST", "api/views/0/branches", r#"{"set": ["scenario.horizon=0s"]}"#, 400),
        ("POST", "api/views/0/branches", r#"{"fail": ["north:999999@3d"]}"#, 400),
        ("POST", "api/views/0/branches", r#"{"submit": "[[submit]]"}"#, 400),
        ("GET", "api/views/0/steps", "", 405),
    ] {
        let (status, value) = served.ask(method, path, body);
        let is_expected = status == expected || expected == 405 && (404..=405).contains(&status);
        assert!(is_expected, "{method} {path} {body}: {status} {value}");
    }
    for (path, body, error, help) in [
        (
            "back",
            r#"{"to": 5}"#,
            "only 0 messages have been delivered",
            "give a smaller number, or step to it",
        ),
        ("back", r#"{"to": 5, "time": 1}"#, "exactly one", "give one of messages, instants, time"),
        ("branches", "{}", "the branch changes nothing", "give a setting, a failure, further jobs"),
        ("branches", r#"{"seed": -1}"#, "cannot be read", "give set, fail, submit or seed"),
    ] {
        let (_, value) = served.ask("POST", &format!("api/views/0/{path}"), body);
        assert!(value["error"].as_str().is_some_and(|it| it.contains(error)), "{value}");
        assert!(value["help"].as_str().is_some_and(|it| it.starts_with(help)), "{value}");
    }
    let (status, state) = served.ask("POST", "api/views/0/stop", "");
    assert_eq!(status, 200, "{state}");
    assert_eq!(served.get("api/views/0/state")["messages"], 0);
}
