//! Stepping is running, and going back leaves no trace.

mod http;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

use haggle_agents::glimpse::PromiseKind;
use haggle_experiment::{Conduct, Destination, Figures, Keep, Unwatched, run};
use haggle_model::{ActorId, Time};
use haggle_results::reader::{JobRow, PlacementRow};
use haggle_results::{Existing, RunReader};
use haggle_runtime::Driver;
use haggle_scenario::{Experiment, Logs, Source};
use proptest::test_runner::{Config, TestRunner};

use super::past::Past;
use super::stepper::{Aim, Phase};
use super::until::{StepRequest, Until};
use super::walk::{Script, Stop, Walk, words};
use super::{BranchRequest, Simulated, open};
use super::{drawn, series};
use crate::View;
use crate::clock::{clamped, elapsed};
use crate::jobs::JobsQuery;
use crate::results::RunView;
use crate::scene::{Bar, Chart, ChartKind, Mark, Scene, flag};
use crate::seen::Seen;
use crate::view::{MessageEntry, MessagesQuery, SeriesQuery};

fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// A scenario of the repository that is a single run.
fn script(name: &str, settings: &[(&str, &str)], driver: Driver) -> Option<Script> {
    let folder = scenarios();
    let path = folder.join(format!("{name}.toml"));
    let text = std::fs::read_to_string(&path).expect("the scenario is there");
    // Tests that need logs of real machines are others.
    if text.contains("$HAGGLE_TRACES") {
        return None;
    }
    let settings = Vec::from_iter(settings.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())));
    let source = Source::new(path, text).with(&settings);
    let experiment = Experiment::read(source, Logs::MustExist).expect("a good scenario");
    let mut runs = experiment.runs();
    let first = runs.next().map(|run| run.scenario());
    let scenario = first.filter(|_| runs.next().is_none())?;
    Some(Script { scenario, folder, driver })
}

fn quickstart() -> Script {
    script("quickstart", &[], Driver::Sequential).expect("one run")
}

fn walk(script: Script) -> Walk {
    Walk::new(script).expect("a world")
}

fn go(walk: &mut Walk, until: Until) -> Stop {
    walk.step(until, &mut |_| true)
}

fn shown(walk: &Walk) -> Scene {
    drawn::scene(&walk.past(), walk.now())
}

/// All that a state consists of, as text.
fn print(walk: &Walk) -> String {
    let past = walk.past();
    let scene = drawn::scene(&past, walk.now());
    // Not the bytes of the state, which also have jobs that were read ahead, and places of free memory.
    let actors = 0..walk.cast().actors.len() as u32;
    let knows = Vec::from_iter(actors.map(|it| walk.simulation().glimpse(ActorId(it))));
    let charts = scene.charts.iter().map(|chart| {
        let mut bars = Vec::from_iter(chart.bars());
        bars.sort_by_key(|bar| (bar.start, bar.row, bar.job, bar.end));
        format!("{} {} {:?} {:?} {bars:?}", chart.name, chart.rows, chart.marks(), chart.ticks())
    });
    let said = past.messages.iter().map(|it| format!("{it:?}")).collect::<Vec<_>>();
    let told = past.told.iter().map(|it| format!("{it:?}")).collect::<Vec<_>>();
    format!(
        "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {said:?} {told:?}",
        past.number,
        walk.now(),
        walk.next(),
        knows,
        charts.collect::<Vec<_>>(),
        past.waiting,
        past.machines,
        walk.measures().all(&past),
    )
}

fn carry_out(script: &Script, folder: &Path) {
    let destination = Destination {
        folder: folder.to_owned(),
        end: None,
        existing: Existing::Keep,
        keep: Keep::Tables,
        figures: Figures::Skip,
    };
    let stop = AtomicBool::new(false);
    let conduct = Conduct {
        driver: Driver::Sequential,
        stop: &stop,
        watch: &Unwatched,
        check: false,
        warnings: &[],
    };
    run(&script.scenario, &script.folder, Some(&destination), &conduct).expect("it runs");
}

/// Bars as texts, in any order.
fn bars_of(chart: &Chart) -> Vec<String> {
    let mut bars = Vec::from_iter(chart.bars().map(|bar| format!("{bar:?}")));
    bars.sort();
    bars
}

/// Marks, as starts, rows and kinds. A failure that lasts has no end.
fn marks_of(chart: &Chart) -> Vec<String> {
    let text = |it: &Mark| format!("{} {} {} {:?}", it.start, it.row, it.rows, it.kind);
    let mut marks = Vec::from_iter(chart.marks().iter().map(text));
    marks.sort();
    marks
}

/// Names of the scenarios of the repository that are no studies.
fn names() -> Vec<String> {
    let files = std::fs::read_dir(scenarios()).expect("a folder");
    let names = files.filter_map(|file| {
        let path = file.expect("a file").path();
        let is_scenario = path.extension().is_some_and(|it| it == "toml");
        is_scenario.then(|| path.file_stem().expect("a name").to_string_lossy().into_owned())
    });
    let mut names = Vec::from_iter(names);
    names.sort();
    names
}

#[test]
fn at_the_end_the_bars_are_those_of_the_tables() {
    let mut kinds = BTreeMap::new();
    let mut waiting = 0;
    for name in names() {
        let Some(script) = script(&name, &[], Driver::Sequential) else { continue };
        let folder = tempfile::tempdir().expect("a folder");
        let results = folder.path().join("run");
        carry_out(&script, &results);
        let mut walk = walk(script);
        assert_eq!(go(&mut walk, Until::End), Stop::Over, "{name}");
        // Work that runs at the horizon was shown shortly before, and has its records now.
        walk.go_back(walk.number().saturating_sub(1)).expect("a state before the last message");
        let _ = shown(&walk);
        assert_eq!(go(&mut walk, Until::End), Stop::Over, "{name}");
        let scene = shown(&walk);
        let run = RunView::new(&results, "run".to_owned());
        while !run.is_read() {
            sleep(Duration::from_millis(5));
        }
        let expected = run.scene().expect("charts");
        assert_eq!(scene.charts.len(), expected.charts.len(), "{name}");
        for (chart, expected) in scene.charts.iter().zip(&expected.charts) {
            let place = format!("{name}: {}", chart.name);
            assert_eq!(chart.kind, expected.kind, "{place}");
            assert_eq!(chart.name, expected.name, "{place}");
            assert_eq!((chart.rows, &chart.bands), (expected.rows, &expected.bands), "{place}");
            assert_eq!(bars_of(chart), bars_of(expected), "{place}");
            assert_eq!(chart.ticks(), expected.ticks(), "{place}");
            assert_eq!(chart.jobs, expected.jobs, "{place}");
            assert_eq!(marks_of(chart), marks_of(expected), "{place}");
            *kinds.entry(format!("{:?}", chart.kind)).or_insert(0) += chart.bars().count();
        }
        drop(expected);
        waiting += same_series(&walk.past(), &scene, walk.now(), &run, &name);
        // The same from the tables themselves.
        let reader = RunReader::open(&results).expect("results");
        let rows = reader.placements().expect("placements");
        let chart_of =
            |row: &PlacementRow| scene.charts.iter().position(|it| it.name == row.provider);
        let bars: usize = scene
            .charts
            .iter()
            .filter(|it| it.kind != ChartKind::Grid)
            .map(|it| it.bars().count())
            .sum();
        assert_eq!(bars, rows.len(), "{name}");
        for row in rows {
            let chart = &scene.charts[chart_of(&row).expect("a chart")];
            let micros = |time: f64| (time * 1e6).round() as i64;
            let is_it = |bar: &&Bar| {
                i64::from(bar.row) + chart.first_number == row.first
                    && i64::from(bar.rows) == row.last - row.first + 1
                    && (bar.start, bar.end) == (micros(row.start), micros(row.end))
                    && (i64::from(bar.job), i64::from(bar.attempt)) == (row.job, row.attempt)
            };
            assert_eq!(chart.bars().filter(is_it).count(), 1, "{name}: {row:?}");
        }
    }
    for kind in ["Provider", "Grid", "Cluster"] {
        assert!(kinds.get(kind).is_some_and(|&bars| bars > 10), "{kinds:?}");
    }
    assert!(waiting > 10, "{waiting} queues of several jobs");
}

#[test]
fn the_table_of_jobs_becomes_that_of_the_run() {
    let mut left_out = 0;
    for name in ["quickstart", "bargaining", "failing-grid", "coallocation"] {
        let Some(script) = script(name, &[], Driver::Sequential) else { continue };
        let folder = tempfile::tempdir().expect("a folder");
        carry_out(&script, &folder.path().join("run"));
        let view =
            open(script.scenario.clone(), &script.folder, Path::new("a.toml"), script.driver)
                .expect("a world");
        step(&view, r#"{"end": true}"#);
        let reader = RunReader::open(&folder.path().join("run")).expect("results");
        let rows: Vec<JobRow> = reader.jobs().expect("jobs");
        let table = view.job_table().expect("a table");
        assert_eq!(table.rows(), rows.len(), "{name}");
        let numbers = table.column("job").expect("a column");
        let waits = table.column("waiting_time").expect("a column");
        let places = table.column("allocated_resources").expect("a column");
        let counted = table.column("counted").expect("a column");
        for (place, row) in rows.iter().enumerate() {
            assert_eq!(numbers.number(place).map(i64::from), Some(row.job), "{name}");
            assert_eq!(waits.real(place), row.waiting_time, "{name}: {row:?}");
            let allocated = row.allocated.as_ref().map(ToString::to_string);
            assert_eq!(places.text(place).map(str::to_owned), allocated, "{name}: {row:?}");
            assert_eq!(counted.number(place), Some(row.counted.into()), "{name}: {row:?}");
        }
        left_out += rows.iter().filter(|row| !row.counted).count();
        // Only the end of the run tells how many jobs 5 % of them are.
        let end = view.stepper.moment().number;
        wait(&view, view.stepper.set_out(Aim::Back(end - 1)).expect("nothing goes on"));
        let has_cut = rows.iter().any(|row| !row.counted);
        let counted = view.job_table().expect("a table").column("counted").expect("a column");
        assert_eq!(counted.number(0).is_none(), has_cut, "{name}");
    }
    assert!(left_out > 10, "{left_out}");
}

/// The series of a simulation that is over are those of its results. Returns the number of queues with more than one job.
fn same_series(past: &Past, scene: &Scene, now: Time, run: &RunView, name: &str) -> usize {
    let ids = run.overview().expect("an overview").series.into_iter().map(|it| it.id);
    let until = clamped(now.as_micros()).max(1);
    let query = SeriesQuery { ids: ids.collect(), from: -until / 4, to: until, columns: 500 };
    let here = series::answer(past, scene, &query, now).expect("series").series;
    let there = run.series(&query).expect("series").series;
    assert_eq!(here.len(), 2 * (scene.charts.len() + 1), "{name}");
    for (here, there) in here.iter().zip(&there) {
        assert_eq!(here.id, there.id, "{name}");
        assert_eq!(here.max, there.max, "{name}: {}", here.id);
        assert_eq!(here.mean, there.mean, "{name}: {}", here.id);
    }
    // The sum is that of the charts.
    let (all, charts): (Vec<_>, Vec<_>) = here.iter().partition(|it| it.id.ends_with(":all"));
    for all in all {
        let kind = all.id.split(':').next().expect("a kind");
        for (column, mean) in all.mean.iter().enumerate() {
            let parts = charts.iter().filter(|it| it.id.starts_with(kind));
            let sum: f64 = parts.map(|it| it.mean[column]).sum();
            assert!((sum - mean).abs() < 1e-6, "{name}: {}", all.id);
        }
    }
    let queues = charts.iter().filter(|it| it.id.starts_with("queue"));
    queues.filter(|it| it.max.iter().any(|&it| it > 1.0)).count()
}

#[test]
fn stepping_is_running_on_both_drivers() {
    for driver in [Driver::Sequential, Driver::Actix] {
        let script = script("quickstart", &[("workload.*.lublin.jobs", "30")], driver)
            .unwrap_or_else(|| panic!("one run"));
        let mut whole = walk(Script { driver: Driver::Sequential, ..script.clone() });
        assert_eq!(go(&mut whole, Until::End), Stop::Over);
        let mut steps = walk(script);
        let mut turn = 0;
        while steps.next().is_some() {
            turn += 1;
            let until = match turn % 4 {
                0 => Until::Instants(3),
                1 => Until::Messages(7),
                2 => Until::Span(haggle_model::Span::from_secs(900)),
                _ => Until::Time(steps.now() + haggle_model::Span::from_secs(60)),
            };
            go(&mut steps, until);
        }
        assert_eq!(print(&whole), print(&steps), "{driver:?}");
    }
}

/// Walks with bags, failures, a grid, protocols, reservations and crashes.
const WORLDS: [&str; 6] =
    ["quickstart", "bargaining", "failing-grid", "failing-sites", "coallocation", "reservations"];

#[test]
fn going_back_and_forth_leaves_no_trace() {
    for name in WORLDS {
        let Some(script) = script(name, &[], Driver::Sequential) else { continue };
        let mut there = walk(script.clone());
        go(&mut there, Until::Messages(2_500));
        let end = there.number();
        let mut prints = BTreeMap::new();
        let mut fresh = walk(script);
        for number in (0..=end).step_by(101) {
            let count = number - fresh.number();
            if count > 0 {
                go(&mut fresh, Until::Messages(count));
            }
            prints.insert(number, print(&fresh));
        }
        let numbers = Vec::from_iter(prints.keys().copied());
        let mut runner =
            TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
        let cell = std::cell::RefCell::new(there);
        let ways = proptest::collection::vec(0..numbers.len(), 1..4);
        let done = runner.run(&ways, |ways| {
            let mut walk = cell.borrow_mut();
            for place in ways {
                let number = numbers[place];
                match number.checked_sub(walk.number()) {
                    Some(0) => {}
                    Some(count) => {
                        go(&mut walk, Until::Messages(count));
                    }
                    None => walk.go_back(number).expect("it goes back"),
                }
                assert_eq!(print(&walk), prints[&number], "{name} at {number}");
            }
            Ok(())
        });
        done.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn a_step_adds_to_the_last_layer_of_bars_alone() {
    let many = script("quickstart", &[("workload.*.lublin.jobs", "2500")], Driver::Sequential);
    let mut walk = walk(many.expect("one run"));
    go(&mut walk, Until::Messages(60_000));
    let before = walk.past().bars.layers(0, Vec::new());
    go(&mut walk, Until::Messages(1));
    let layers = walk.past().bars.layers(0, Vec::new());
    let sizes = Vec::from_iter(layers.iter().map(|it| it.bars().len()));
    let (last, large) = sizes.split_last().expect("a layer");
    assert!(large.iter().sum::<usize>() > 3_000 && *last < 1_100, "{sizes:?}");
    assert!(large.windows(2).all(|it| it[0] >= 2 * it[1]), "{sizes:?}");
    let shared = before.iter().zip(&layers).filter(|(a, b)| Arc::ptr_eq(a, b)).count();
    assert!(shared + 2 >= layers.len() && shared > 0, "{sizes:?}");
}

#[test]
fn going_back_to_a_time_leaves_all_of_its_messages() {
    let mut walk = walk(quickstart());
    go(&mut walk, Until::Messages(3_000));
    let time = Time::from_micros(walk.now().as_micros() / 2);
    walk.go_back_to(time).expect("it goes back");
    let mut fresh = self::walk(quickstart());
    go(&mut fresh, Until::Time(time));
    assert_eq!(print(&walk), print(&fresh));
    assert!(walk.next().is_some_and(|next| next > time) && walk.now() == time);
    walk.go_back(0).expect("it goes back");
    assert_eq!((walk.number(), print(&walk)), (0, print(&self::walk(quickstart()))));
}

/// Carries out a step of a request, and waits for its end.
fn step(view: &Simulated, request: &str) -> String {
    let until = StepRequest::read(request.as_bytes()).and_then(|it| it.until(view));
    let before = view.stepper.set_out(Aim::Forward(until.expect("a good step")));
    wait(view, before.expect("nothing else goes on"))
}

/// Waits for the end of a step that began at a version.
fn wait(view: &Simulated, version: u64) -> String {
    loop {
        let moment = view.stepper.moment();
        if moment.phase != Phase::Running && moment.version > version {
            return moment.stopped_by.clone().unwrap_or_default();
        }
        sleep(Duration::from_millis(2));
    }
}

fn view(script: Script) -> Simulated {
    open(script.scenario, &script.folder, Path::new("quickstart.toml"), script.driver)
        .expect("a world")
}

#[test]
fn each_step_says_why_it_stopped() {
    let view = view(quickstart());
    assert_eq!(step(&view, r#"{"messages": 3}"#), "3 messages were delivered");
    assert_eq!(step(&view, r#"{"instants": 2}"#), "2 instants are over");
    let span = step(&view, r#"{"span": 3600000000}"#);
    assert_eq!(span, format!("the time is {}", words(view.stepper.moment().now)));
    let past = view.stepper.moment();
    let waits =
        (0..).find(|&it| past.past.job(haggle_model::JobId(it)).is_none()).expect("a job to come");
    let started = step(&view, &format!(r#"{{"starts": {waits}}}"#));
    assert!(started.starts_with(&format!("job {waits} has started at")), "{started}");
    let scene = view.scene().expect("charts");
    let is_it = |bar: &&Bar| bar.job == waits && bar.look & flag::RUNNING != 0;
    assert!(scene.charts.iter().flat_map(|it| it.bars()).any(|bar| is_it(&bar)));
    drop(scene);
    assert_eq!(step(&view, &format!(r#"{{"ends": {waits}}}"#)), format!("job {waits} is over"));
    let name = &view.stepper.cast.providers[0].name;
    let sent =
        step(&view, &format!(r#"{{"message": {{"receiver": "{name}", "kind": "submit"}}}}"#));
    assert!(sent.contains("has sent submit to"), "{sent}");
    let held = step(&view, r#"{"condition": "jobs_over >= 200 && utilisation > 0"}"#);
    assert_eq!(held, "the condition holds: jobs_over >= 200 && utilisation > 0");
    assert!(view.stepper.moment().past.over >= 200);
    assert_eq!(step(&view, r#"{"end": true}"#), "the run is over");
    assert_eq!(view.stepper.moment().phase, Phase::Over);
}

#[test]
fn an_actor_sees_its_own_last_message() {
    let view = view(quickstart());
    let mut earlier = 0;
    for _ in 0..60 {
        step(&view, r#"{"messages": 7}"#);
        let name = &view.stepper.cast.providers[0].name;
        let last = view.last(Some(name)).expect("an actor");
        let query = MessagesQuery {
            known_to: Some(name.clone()),
            count: 10_000,
            ..MessagesQuery::default()
        };
        let all = view.messages(&query).expect("messages");
        let Some(expected) = all.rows.last() else { continue };
        let last = last.expect("it has spoken");
        assert!(last.sender == *name || last.receiver == *name, "{last:?}");
        assert_eq!(last.number, None);
        // A timer is the last message, too, but is not kept.
        if last.sender != last.receiver {
            let (one, other) = (&last, expected);
            assert_eq!((one.time, &one.kind, one.job), (other.time, &other.kind, other.job));
        }
        earlier += usize::from(last.time < clamped(view.stepper.moment().now.as_micros()));
    }
    assert!(earlier > 10, "{earlier}");
}

#[test]
fn numbers_that_are_missing_fit_no_condition() {
    let view = view(quickstart());
    let held = step(&view, r#"{"condition": "mean_waiting_time * 2 > 60"}"#);
    assert_eq!(held, "the condition holds: mean_waiting_time * 2 > 60");
    let (sum, count) = view.stepper.moment().past.waiting;
    assert!(sum * 2 > 60_000_000 * i128::from(count) && count > 0);
}

#[test]
fn a_condition_without_an_answer_ends_the_step_there() {
    let view = view(quickstart());
    // No number that it contains shows this beforehand.
    let ended = step(&view, r#"{"condition": "jobs * jobs == 49 && now"}"#);
    let reason = "the step ended, because the condition is neither true nor false here: ";
    assert!(ended.starts_with(reason), "{ended}");
    let moment = view.stepper.moment();
    assert_eq!((moment.phase, moment.past.arrived), (Phase::Paused, 7));
    // The run goes on.
    assert_eq!(step(&view, r#"{"messages": 3}"#), "3 messages were delivered");
}

#[test]
fn the_manual_has_the_numbers_of_conditions() {
    let page = include_str!("../../../../docs/internals/stepping.md");
    for it in super::measures::MEASURES {
        let unit = if it.unit.is_empty() { String::new() } else { format!("{} ", it.unit) };
        let row = format!("| `{}` | {unit}| {} |", it.name, it.meaning);
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn broken_requests_are_refused() {
    let view = view(quickstart());
    for request in [
        "",
        "[]",
        "{}",
        r#"{"messages": 0}"#,
        r#"{"messages": -1}"#,
        r#"{"time": -1}"#,
        r#"{"span": 0}"#,
        r#"{"messages": 1, "end": true}"#,
        r#"{"end": false}"#,
        r#"{"message": {"sender": "nobody"}}"#,
        r#"{"message": {"kind": "<b>"}}"#,
        r#"{"message": {"word": 1}}"#,
        r#"{"condition": "jobs >"}"#,
        r#"{"condition": "jobs + 1"}"#,
        r#"{"condition": "jobs > 5 && messages"}"#,
        r#"{"condition": "waits > 1"}"#,
        r#"{"condition": "jobs == 7 && now"}"#,
        r#"{"condition": "if jobs > 5 { 3 } else { jobs > 4 }"}"#,
        r#"{"starts": -4}"#,
        r#"{"messages": 99999999999999999999999}"#,
    ] {
        let refused = StepRequest::read(request.as_bytes()).and_then(|it| it.until(&view));
        let refused = refused.err().unwrap_or_else(|| panic!("{request} was accepted"));
        assert!((400..500).contains(&refused.status) && !refused.error.is_empty(), "{request}");
    }
    // Huge numbers end with the run.
    assert_eq!(step(&view, &format!(r#"{{"messages": {}}}"#, u64::MAX)), "the run is over");
    let refused = view.actor("nobody").expect_err("no such actor");
    assert_eq!(refused.status, 404);
}

/// The refusal of a step, with its remedy.
fn refused(view: &Simulated, request: &str) -> (u16, String, String) {
    let until = StepRequest::read(request.as_bytes()).and_then(|it| it.until(view));
    let refused = until.and_then(|until| until.ahead_of(&view.stepper.moment()));
    let refused = refused.err().unwrap_or_else(|| panic!("{request} was accepted"));
    (refused.status, refused.error, refused.help.unwrap_or_default())
}

#[test]
fn names_that_do_not_exist_are_refused_with_the_nearest_ones() {
    let view = view(quickstart());
    let kind = refused(&view, r#"{"message": {"kind": "submitt"}}"#);
    assert_eq!(
        kind,
        (400, "no message is of the kind `submitt`".to_owned(), "did you mean submit?".to_owned())
    );
    let name = &view.stepper.cast.providers[0].name;
    let actor = refused(&view, &format!(r#"{{"message": {{"sender": "{name}x"}}}}"#));
    assert_eq!(actor.0, 404);
    assert!(actor.2.contains(name), "{actor:?}");
    let jobs = view.script.jobs().expect("a number of jobs");
    for request in [
        format!(r#"{{"starts": {jobs}}}"#),
        format!(r#"{{"ends": {jobs}}}"#),
        format!(r#"{{"message": {{"job": {jobs}}}}}"#),
    ] {
        let job = refused(&view, &request);
        assert_eq!((job.0, job.1), (404, format!("there is no job {jobs}")));
        assert!(job.2.ends_with(&format!("from 0 to {}", jobs - 1)), "{}", job.2);
    }
    step(&view, r#"{"end": true}"#);
    assert_eq!(view.stepper.moment().past.arrived as usize, jobs);
    // Each message that occurs has a kind of the list.
    let kinds = view.overview().expect("an overview").kinds;
    let moment = view.stepper.moment();
    assert!(moment.past.messages.iter().all(|it| kinds.contains(&it.kind)));
}

#[test]
fn a_step_to_something_that_has_been_is_refused() {
    let view = view(quickstart());
    step(&view, r#"{"starts": 5}"#);
    let start = view.stepper.moment().now;
    step(&view, r#"{"messages": 1}"#);
    let runs = refused(&view, r#"{"starts": 5}"#);
    assert_eq!((runs.0, runs.1), (409, format!("job 5 runs already, since {}", words(start))));
    step(&view, r#"{"ends": 5}"#);
    let end = view.stepper.moment().now;
    for request in [r#"{"starts": 5}"#, r#"{"ends": 5}"#] {
        let over = refused(&view, request);
        assert_eq!((over.0, over.1), (409, format!("job 5 has been over since {}", words(end))));
    }
    assert_eq!(refused(&view, r#"{"time": 0}"#).1, format!("the time is {} already", words(end)));
    step(&view, r#"{"end": true}"#);
    assert_eq!(refused(&view, r#"{"end": true}"#).1, "the run is over");
}

#[test]
fn messages_show_their_contents_to_their_parties() {
    let view = view(script("bargaining", &[], Driver::Sequential).expect("one run"));
    step(&view, r#"{"message": {"kind": "offers"}}"#);
    let last = view.last(None).expect("an answer").expect("a message");
    assert_eq!((&*last.kind, last.number), ("offers", Some(view.stepper.moment().number as usize)));
    let values = last.values.expect("contents");
    let value = |name: &str| values.iter().find(|it| it.0 == name).map(|it| &it.1);
    let offer = &value("offers").expect("offers")[0]["fields"];
    assert!(offer[0][0] == "tasks" && offer[0][1].as_u64().is_some_and(|it| it > 0), "{offer}");
    assert!(offer[1][0] == "completion" && offer[1][1]["time"].is_i64(), "{offer}");
    let (me, other) = (&*last.sender, &*last.receiver);
    let cast = &view.stepper.cast;
    for actor in &cast.actors {
        let seen = view.last(Some(&actor.name)).expect("an answer");
        let is_party = |it: &MessageEntry| it.sender == actor.name || it.receiver == actor.name;
        assert!(seen.as_ref().is_none_or(is_party), "{}: {seen:?}", actor.name);
        let has_offers = seen.is_some_and(|it| it.kind == "offers");
        assert_eq!(has_offers, actor.name == me || actor.name == other, "{}", actor.name);
    }
    // No message has the true run time of a job.
    step(&view, r#"{"messages": 3000}"#);
    let query = MessagesQuery { count: 10_000, ..MessagesQuery::default() };
    let rows = view.messages(&query).expect("messages").rows;
    let mut kinds = BTreeMap::new();
    for row in rows {
        let values = row.values.expect("contents");
        assert!(values.iter().all(|(name, _)| !name.contains("run time")), "{values:?}");
        kinds.insert(row.kind, values);
    }
    assert!(kinds["submit"].iter().any(|it| it.0 == "processors"), "{:?}", kinds["submit"]);
    assert!(kinds["call"].iter().any(|it| it.0 == "tasks"), "{:?}", kinds["call"]);
    // The knowledge of an actor has the contents of what it was told.
    let grid = cast.actors.iter().find(|it| it.name == other).expect("an actor");
    let told = view.panel(&grid.name).expect("a panel");
    let told = told["told"].as_array().expect("a list").clone();
    assert!(!told.is_empty() && told.iter().all(|it| it["values"].is_array()), "{told:?}");
}

#[test]
fn granted_windows_are_planned_bars_and_have_words() {
    let view = view(script("reservations", &[], Driver::Sequential).expect("one run"));
    // The windows of all three jobs are granted before the first one of the second and the third job begins.
    step(&view, r#"{"time": 900000000}"#);
    let moment = view.stepper.moment();
    let glimpse = moment.past.machines.values().next().expect("a machine");
    let windows = glimpse.promises.iter().filter(|it| it.kind == PromiseKind::Window);
    let jobs = Vec::from_iter(windows.filter_map(|it| Some(it.job?.0)));
    assert_eq!(jobs.len(), 2, "{glimpse:?}");
    let scene = view.scene().expect("charts");
    let bars = Vec::from_iter(scene.charts[0].bars().copied());
    drop(scene);
    for job in jobs {
        let is_it = |bar: &&Bar| bar.job == job && bar.look & flag::PLANNED != 0;
        assert!(bars.iter().any(|bar| is_it(&bar)), "{job}: {bars:?} {glimpse:?}");
        let story = view.job(job).expect("a job").story;
        let text = Vec::from_iter(story.lines.iter().map(|it| it.text.as_str())).join("\n");
        assert!(text.contains("a window from ") && text.contains(" is granted at north"), "{text}");
        assert!(text.contains("its start is planned at north for "), "{text}");
        assert!(text.contains(": granted: start "), "{text}");
    }
}

#[test]
fn a_timer_and_a_way_back_have_their_last_message() {
    let view = view(quickstart());
    assert!(view.last(None).expect("an answer").is_none());
    step(&view, r#"{"message": {"kind": "wake"}}"#);
    let last = view.last(None).expect("an answer").expect("a message");
    assert_eq!(last.sender, last.receiver);
    let timer = last.values.expect("contents");
    assert!(timer.iter().any(|it| it.0 == "timer"), "{timer:?}");
    let number = view.stepper.moment().number;
    let before = view.last(None).expect("an answer").map(|it| (it.number, it.kind));
    step(&view, r#"{"messages": 900}"#);
    let version = view.stepper.set_out(Aim::Back(number)).expect("nothing goes on");
    wait(&view, version);
    assert_eq!(view.last(None).expect("an answer").map(|it| (it.number, it.kind)), before);
}

#[test]
fn a_long_run_can_be_stopped_and_goes_on() {
    let view = view(
        script("quickstart", &[("workload.*.lublin.jobs", "100000")], Driver::Sequential)
            .expect("one run"),
    );
    let before = view.stepper.set_out(Aim::Forward(Until::End)).expect("it begins");
    assert_eq!(view.stepper.set_out(Aim::Forward(Until::End)).map_err(|it| it.status), Err(409));
    // An answer does not wait for the run, which has no client.
    assert!(view.stepper.look(haggle_model::ActorId(0)).expect("an answer").is_some());
    while view.stepper.moment().number < 1_000 {
        sleep(Duration::from_millis(2));
    }
    view.stepper.stop();
    assert_eq!(wait(&view, before), "the step was stopped");
    let moment = view.stepper.moment();
    assert!(moment.phase == Phase::Paused && moment.number >= 1_000 && moment.next.is_some());
    assert_eq!(step(&view, r#"{"messages": 1}"#), "1 message was delivered");
    assert_eq!(view.stepper.moment().number, moment.number + 1);
}

#[test]
fn an_error_of_the_run_leaves_its_state() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = |number: i64| {
        format!("{number} {} 0 60 1 -1 -1 1 60 -1 1 1 1 -1 1 1 -1 -1\n", number * 100)
    };
    let log: String = (1..=80).map(job).chain(["81 not a job\n".to_owned()]).collect();
    std::fs::write(folder.path().join("bad.swf"), log).expect("it is written");
    let text = "[scenario]\nname = \"bad\"\n[[workload]]\nname = \"log\"\nlog = \"bad.swf\"\n\
        [[provider]]\nname = \"north\"\nprocessors = 4\npolicy = \"easy\"\n\
        [[user]]\nname = \"users\"\nworkload = \"log\"\nsubmits-to = \"north\"\n";
    let source = Source::new(folder.path().join("bad.toml"), text);
    let experiment = Experiment::read(source, Logs::MustExist).expect("a good scenario");
    let scenario = experiment.runs().next().expect("a run").scenario();
    let view =
        view(Script { scenario, folder: folder.path().to_owned(), driver: Driver::Sequential });
    step(&view, r#"{"end": true}"#);
    let moment = view.stepper.moment();
    assert_eq!(moment.phase, Phase::Failed);
    assert!(moment.error.as_ref().is_some_and(|it| it.contains("bad.swf")), "{:?}", moment.error);
    assert!(moment.past.over > 10 && view.job_table().expect("a table").rows() > 10);
    // The state before the error can be taken up again.
    let before = view.stepper.set_out(Aim::Back(20)).expect("nothing goes on");
    wait(&view, before);
    let moment = view.stepper.moment();
    assert_eq!((moment.phase, moment.number, moment.error.clone()), (Phase::Paused, 20, None));
}

#[test]
fn a_branch_has_the_same_past_and_another_future() {
    let base = view(quickstart());
    step(&base, r#"{"messages": 2000}"#);
    let provider = base.stepper.cast.providers[0].name.clone();
    let request = format!(r#"{{"set": ["provider.{provider}.policy=fcfs"]}}"#);
    let branch = BranchRequest::read(request.as_bytes())
        .and_then(|it| base.branch(0, it))
        .expect("a branch");
    assert_eq!(wait(&branch, 1), "a branch begins here");
    let (here, there) = (base.stepper.moment(), branch.stepper.moment());
    assert_eq!((here.number, here.now, here.next), (there.number, there.now, there.next));
    let said = |moment: &super::Moment| moment.past.messages.iter().copied().collect::<Vec<_>>();
    assert_eq!(said(&here), said(&there));
    let words = branch.overview().expect("an overview").charts[0].scheduler.clone();
    let time = elapsed(here.now.as_micros() + 1);
    assert!(words.contains(&format!("; from {time}: fcfs")), "{words}");
    assert_eq!(branch.identity().base, Some(0));
    assert_eq!(branch.identity().branch_at, Some(clamped(here.now.as_micros())));
    step(&base, r#"{"end": true}"#);
    step(&branch, r#"{"end": true}"#);
    assert_ne!(said(&base.stepper.moment()), said(&branch.stepper.moment()));
    let late = BranchRequest::read(request.as_bytes()).and_then(|it| base.branch(0, it));
    assert_eq!(late.err().map(|it| it.status), Some(409), "the run is over");
    let before = base.stepper.set_out(Aim::Back(2_000)).expect("nothing goes on");
    wait(&base, before);
    for request in [
        r#"{}"#,
        r#"{"set": ["nothing"]}"#,
        r#"{"set": ["provider.nobody.policy=fcfs"]}"#,
        r#"{"set": ["provider.north.policy=nonsense", "provider.north.speed=0"]}"#,
        r#"{"fail": ["x"]}"#,
        r#"{"fail": ["nobody:1@9d"]}"#,
        r#"{"submit": "["}"#,
        r#"{"set": 3}"#,
    ] {
        let refused = BranchRequest::read(request.as_bytes()).and_then(|it| base.branch(0, it));
        let refused = refused.err().unwrap_or_else(|| panic!("{request} was accepted"));
        assert!((400..500).contains(&refused.status), "{request}");
        let told = [refused.error, refused.help.unwrap_or_default()].join(" ");
        assert!(!told.contains("after the change at"), "{told}");
        assert!(
            !told.contains(&format!("{}us", base.stepper.moment().now.as_micros() + 1)),
            "{told}"
        );
    }
}

#[test]
fn a_branch_begins_at_the_present_time_of_its_base() {
    let base = view(quickstart());
    step(&base, r#"{"messages": 2000}"#);
    let time = Time::from_micros(base.stepper.moment().now.as_micros() / 2);
    wait(&base, base.stepper.set_out(Aim::BackTo(time)).expect("nothing goes on"));
    let here = base.stepper.moment();
    assert!(here.now == time && here.past.last_time() < Some(time), "between two messages");
    let request = BranchRequest::read(br#"{"set": ["provider.*.policy=fcfs"]}"#);
    let branch = request.and_then(|it| base.branch(0, it)).expect("a branch");
    assert_eq!(wait(&branch, 1), "a branch begins here");
    let there = branch.stepper.moment();
    assert_eq!((there.now, there.number), (time, here.number));
    // A span counts from the present time.
    let ends = [&base, &branch].map(|it| step(it, r#"{"span": 43200000000}"#));
    assert_eq!(ends[0], ends[1]);
}

#[test]
fn an_actor_sees_nothing_of_others() {
    let view = Arc::new(view(script("bargaining", &[], Driver::Sequential).expect("one run")));
    step(&view, r#"{"messages": 4000}"#);
    let moment = view.stepper.moment();
    let cast = &view.stepper.cast;
    for provider in &cast.providers {
        let me = &provider.name;
        let others =
            Vec::from_iter(cast.providers.iter().map(|it| &it.name).filter(|it| *it != me));
        let seen = Seen::by(Arc::clone(&view) as Arc<dyn View>, me.clone()).expect("it is known");
        assert_eq!(seen.known_to(me).expect("it is known").charts.len(), 1);
        let query = MessagesQuery { count: 10_000, ..MessagesQuery::default() };
        let messages = seen.messages(&query).expect("messages");
        assert!(
            messages.total > 0
                && messages.rows.iter().all(|it| &it.sender == me || &it.receiver == me)
        );
        let query = JobsQuery { count: 1_000, ..JobsQuery::default() };
        let jobs = seen.jobs(&query).expect("jobs");
        assert!(jobs.matching > 0 && jobs.matching < moment.past.arrived as usize);
        assert_eq!(jobs.total, jobs.matching);
        let text = serde_json::to_string(&jobs.rows).expect("JSON");
        for other in &others {
            assert!(!text.contains(&format!("\"{other}\"")), "{me} sees {other}");
            assert_eq!(seen.panel(other).expect_err("it is hidden").status, 404);
        }
        // Filters must not see what is hidden.
        let query = JobsQuery { filter: format!("provider == \"{}\"", others[0]), ..query };
        assert_eq!(seen.jobs(&query).expect("jobs").matching, 0);
        let panel = seen.panel(me).expect("a panel");
        for told in panel["told"].as_array().expect("a list") {
            assert!(told["sender"].as_str().is_some_and(|it| !it.is_empty()));
        }
    }
}
