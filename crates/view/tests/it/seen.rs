//! Views as one of their actors sees them: no route tells what the actor may not know.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use haggle_runtime::Driver;
use haggle_scenario::{Experiment, Logs, Source};
use haggle_view::results::RunView;
use haggle_view::{Views, simulation};
use serde_json::Value;

use crate::client::Running;
use crate::runs::{example, scenarios};

/// A finished run, and a simulation of the same scenario that has gone some way.
fn both(name: &str, folder: &Path) -> Running {
    let run = folder.join("run");
    example(name, &run);
    let views = Views::new();
    let view = RunView::new(&run, "run".to_owned());
    while !view.is_read() {
        thread::sleep(Duration::from_millis(5));
    }
    views.add(Arc::new(view));
    let path = scenarios().join(format!("{name}.toml"));
    let source = Source::read(&path).expect("it can be read");
    let experiment = Experiment::read(source, Logs::MustExist).expect("it is valid");
    let scenario = experiment.runs().next().expect("a run").scenario();
    let opened = simulation::open(scenario, &scenarios(), &path, Driver::Sequential);
    views.add(Arc::new(opened.expect("a world")));
    let server = Running::with(views);
    assert_eq!(server.post("api/views/1/steps", r#"{"messages": 6000}"#).status, 202);
    while server.json("api/views/1/state")["state"] == "running" {
        thread::sleep(Duration::from_millis(5));
    }
    server
}

/// A view, and an actor that sees it.
struct Eyes<'a> {
    server: &'a Running,
    view: usize,
    actor: &'a str,
}

impl Eyes<'_> {
    fn path(&self, path: &str) -> String {
        let mark = if path.contains('?') { '&' } else { '?' };
        let slash = if path.is_empty() { "" } else { "/" };
        format!("api/views/{}{slash}{path}{mark}as={}", self.view, self.actor)
    }

    fn sees(&self, path: &str) -> Value {
        self.server.json(&self.path(path))
    }

    /// Refused, because the actor does not know it.
    fn is_refused(&self, path: &str) {
        let answer = self.server.get(&self.path(path));
        let text = String::from_utf8_lossy(&answer.body);
        assert_eq!(answer.status, 404, "{path}: {text}");
        assert!(text.contains(&format!("{} does not know ", self.actor)), "{path}: {text}");
    }

    /// All of it, as nobody sees it.
    fn all(&self, path: &str) -> Value {
        let slash = if path.is_empty() { "" } else { "/" };
        self.server.json(&format!("api/views/{}{slash}{path}", self.view))
    }
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

#[test]
fn no_route_tells_what_an_actor_does_not_know() {
    for name in ["bargaining", "failing-sites"] {
        let folder = tempfile::tempdir().expect("a folder");
        let server = both(name, folder.path());
        for view in 0..2 {
            let charts = server.json(&format!("api/views/{view}"))["charts"].clone();
            let charts = list(&charts);
            let names = Vec::from_iter(charts.iter().map(|it| text(&it["name"])));
            let eyes = Eyes { server: &server, view, actor: names[0] };
            overview_is_own(&eyes, charts);
            charts_are_own(&eyes, charts);
            let kinds = jobs_are_known(&eyes, &names[1..]);
            // Jobs that are unknown, described and whole.
            let all_kinds = kinds.iter().all(|it| *it > 0);
            assert!(all_kinds || name != "bargaining", "{kinds:?}");
            messages_are_own(&eyes, names[1]);
        }
    }
}

fn overview_is_own(eyes: &Eyes<'_>, charts: &[Value]) {
    let (all, seen) = (eyes.all(""), eyes.sees(""));
    assert_eq!(seen["seen_by"], eyes.actor);
    assert!(!list(&all["metrics"]).is_empty());
    for part in ["metrics", "pictures", "problems"] {
        assert!(list(&seen[part]).is_empty(), "{part}");
    }
    let bytes = seen.to_string();
    for (chart, entry) in charts.iter().zip(list(&seen["charts"])).skip(1) {
        for hidden in ["utilisation", "speed", "jobs"] {
            assert!(entry[hidden].is_null(), "{entry}");
        }
        assert_eq!((&entry["hidden"], &entry["scheduler"]), (&true.into(), &"".into()));
        let utilisation = chart["utilisation"].to_string();
        assert!(utilisation.len() < 6 || !bytes.contains(&utilisation), "{chart}");
    }
    assert_eq!(seen["charts"][0], all["charts"][0]);
    let series = Vec::from_iter(list(&seen["series"]).iter().map(|it| text(&it["id"])));
    assert_eq!(series, ["queue:0", "busy:0"]);
}

fn charts_are_own(eyes: &Eyes<'_>, charts: &[Value]) {
    let window = "from=0&to=999999999999&columns=64";
    let series = |id: &str| format!("series?id={id}&{window}");
    assert_eq!(eyes.sees(&series("queue:0")), eyes.all(&series("queue:0")));
    for id in ["queue:1", "busy:1", "queue:all", "busy:all", "none"] {
        eyes.is_refused(&series(id));
    }
    eyes.is_refused(&format!("{}&id=busy:all", series("busy:0")));
    let size = |body: &[u8]| {
        let word = |at: usize| u32::from_le_bytes(body[at..at + 4].try_into().expect("a word"));
        [word(36), word(40), word(44), word(48)]
    };
    for (chart, entry) in charts.iter().enumerate() {
        let rows = &entry["rows"];
        let tile = format!("charts/{chart}/tile?{window}&first_row=0&rows={rows}&lanes=32");
        let body = eyes.server.get(&eyes.path(&tile)).body;
        let whole = eyes.server.get(&format!("api/views/{}/{tile}", eyes.view)).body;
        let (sum, bands) =
            (format!("charts/{chart}/sum?{window}"), format!("charts/{chart}/bands"));
        if chart == 0 {
            assert_eq!(body, whole);
            assert_eq!(eyes.sees(&sum)["jobs"], eyes.all(&sum)["jobs"]);
            assert_eq!(eyes.sees(&bands), eyes.all(&bands));
            continue;
        }
        assert_eq!(size(&body), [0; 4], "{chart}");
        assert!(size(&whole) != [0; 4] || eyes.view == 1, "{chart}");
        eyes.is_refused(&sum);
        assert!(list(&eyes.sees(&bands)).is_empty());
        // Somewhere there is a job, but not for others.
        let at = |time: u64| format!("charts/{chart}/at?time={time}&row=0");
        let times = (0..200).map(|it| it * 600_000_000);
        let found = times.clone().find(|it| !eyes.all(&at(*it))["job"].is_null());
        assert!(found.is_some() || eyes.view == 1, "{chart}");
        assert!(found.is_none_or(|it| eyes.sees(&at(it))["job"].is_null()), "{chart}");
    }
    eyes.is_refused("picture?kind=gantt&format=svg");
}

/// Returns the numbers of jobs that are unknown, described and whole.
fn jobs_are_known(eyes: &Eyes<'_>, others: &[&str]) -> [usize; 3] {
    let all = eyes.all("jobs?count=1000");
    let columns = Vec::from_iter(list(&all["columns"]).iter().map(|it| text(&it["name"])));
    let place = |name: &str| columns.iter().position(|it| *it == name).expect(name);
    let (job, provider) = (place("job"), place("provider"));
    let seen = eyes.sees("jobs?count=1000");
    assert_eq!(seen["total"], seen["matching"]);
    let known = Vec::from_iter(list(&seen["rows"]).iter().map(|it| it[job].to_string()));
    // The order of the table tells when jobs ended elsewhere. Described jobs have no waiting time: ties.
    for order in ["", "&sort=waiting_time", "&sort=-waiting_time"] {
        let rows = eyes.sees(&format!("jobs?count=1000{order}"))["rows"].clone();
        let is_tie = |it: &&Value| order.is_empty() || it[place("waiting_time")].is_null();
        let ties = list(&rows).iter().filter(is_tie).map(|it| it[job].as_u64());
        assert!(ties.is_sorted(), "{order}");
    }
    let mut kinds = [0; 3];
    for row in list(&all["rows"]) {
        let number = row[job].to_string();
        let path = format!("jobs/{number}");
        let is_found = |found: &Value| {
            let jobs = list(&found["matches"]).iter().filter(|it| it["kind"] == "job");
            jobs.filter(|it| it["id"] == row[job]).count()
        };
        let find = format!("find?text={number}");
        if !known.contains(&number) {
            eyes.is_refused(&path);
            assert_eq!(is_found(&eyes.sees(&find)), 0, "{number}");
            kinds[0] += 1;
            continue;
        }
        let answer = eyes.sees(&path);
        let values = list(&answer["values"]);
        let value = |name: &str| &values.iter().find(|it| it["name"] == name).expect(name)["value"];
        assert_eq!(value("submission_time"), &row[place("submission_time")]);
        let is_whole = !value("outcome").is_null();
        kinds[1 + usize::from(is_whole)] += 1;
        if is_whole {
            assert_eq!(row[provider], eyes.actor, "{row}");
        } else {
            for name in ["provider", "starting_time", "finish_time", "waiting_time", "attempts"] {
                assert!(value(name).is_null(), "{number}: {name}");
            }
        }
        let bytes = answer.to_string();
        for other in others {
            // A name as a word of its own: a meaning may have the letters of one within a word.
            let mut words = bytes.split(|it: char| !it.is_alphanumeric());
            assert!(!words.any(|word| word == *other), "{number}: {other} in {bytes}");
        }
        assert!(list(&answer["bars"]).iter().all(|it| it["chart"] == 0));
        for neighbour in ["previous_of_user", "next_of_user"] {
            let neighbour = &answer[neighbour];
            assert!(neighbour.is_null() || known.contains(&neighbour.to_string()), "{number}");
        }
    }
    eyes.is_refused("jobs/4000000");
    let filter = format!("jobs?filter=provider%20==%20%22{}%22", others[0]);
    assert_eq!(eyes.sees(&filter)["matching"], 0);
    // A comparison counts the jobs that the actor knows.
    let differences = eyes.sees(&format!("differences?with={}", eyes.view));
    assert_eq!(differences["in_both"], known.len());
    kinds
}

fn messages_are_own(eyes: &Eyes<'_>, other: &str) {
    let all = list(&eyes.all("messages?count=1")["rows"]).len();
    assert_eq!(all, 1);
    let seen = eyes.sees("messages?count=5000");
    let rows = list(&seen["rows"]);
    assert!(!rows.is_empty());
    for row in rows {
        assert!(row["sender"] == eyes.actor || row["receiver"] == eyes.actor, "{row}");
        assert!(row["number"].is_null(), "{row}");
    }
    let both = eyes.sees(&format!("messages?actor={other}&count=5000"));
    for row in list(&both["rows"]) {
        let ends = [&row["sender"], &row["receiver"]];
        assert!(ends.contains(&&eyes.actor.into()) && ends.contains(&&other.into()), "{row}");
    }
    eyes.is_refused(&format!("told?actor={other}"));
    assert_eq!(
        eyes.sees(&format!("told?actor={}", eyes.actor)),
        eyes.all(&format!("told?actor={}", eyes.actor))
    );
    if eyes.view == 1 {
        eyes.is_refused(&format!("actors/{other}"));
        assert_eq!(eyes.sees(&format!("actors/{}", eyes.actor))["name"], eyes.actor);
        let state = eyes.sees("state");
        for hidden in ["jobs", "jobs_over", "next"] {
            assert!(state[hidden].is_null(), "{hidden}: {state}");
        }
        assert_eq!(state["messages"], seen["total"]);
    }
}
