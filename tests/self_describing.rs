//! A folder of results describes itself: all readers give the same results without its
//! `scenario.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use haggle::audit::audit;
use haggle::experiment::compare::{Comparison, compare};
use haggle::experiment::explain::Chronicle;
use haggle::experiment::figures::{declared, draw, file_name};
use haggle::scenario::file::{Figure, FigureKind, ImageFormat};
use haggle_plots::load::Tables;
use haggle_results::RunReader;
use serde_json::json;

use crate::command::{Folder, stdout_of};
use crate::explain_adds_up::ran;
use crate::scenarios_in_the_repository::{extended, needs_logs, scenarios, shortened};

/// Jobs of a run whose stories are compared.
const TOLD: usize = 60;

/// Every figure that can be requested: each kind, by default and grouped by users, and the declared
/// ones.
fn figures(run: &RunReader) -> Vec<Figure> {
    let users = "user".parse().expect("a name");
    let metric = |name: &str| name.parse().expect("a metric");
    let of_kind = |kind: FigureKind| {
        let plain = Figure {
            metric: kind.shows_spread().then(|| metric("mean_waiting_time")),
            metrics: match kind {
                FigureKind::StackedBars => {
                    vec![metric("mean_waiting_time"), metric("mean_turnaround_time")]
                }
                _ => Vec::new(),
            },
            ..Figure::of_kind(kind)
        };
        let by_user = Figure { group_by: Some(Clone::clone(&users)), ..plain.clone() };
        let name = format!("{}-by-user", kind.name()).parse().expect("a name");
        [plain, Figure { name: Some(name), ..by_user }]
    };
    let mut figures: Vec<Figure> = FigureKind::ALL.into_iter().flat_map(of_kind).collect();
    for (place, figure) in declared(run).expect("it is there").into_iter().enumerate() {
        let name = format!("declared-{place}").parse().expect("a name");
        figures.push(Figure { name: Some(name), ..figure });
    }
    figures
}

/// All data that readers get from a run, by name: pictures or the reasons why there are none,
/// stories, and whether its tables agree.
fn read(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let run = RunReader::open(folder).expect("the folder is there");
    let tables = Tables::new(&run);
    let pictures = tempfile::tempdir().expect("a temporary folder");
    let mut all = BTreeMap::new();
    for figure in figures(&run) {
        let figure = Figure { format: ImageFormat::Svg, ..figure };
        let (name, path) = (file_name(&figure), pictures.path().join("figure.svg"));
        let drawn = match draw(&figure, &tables, &path) {
            Ok(()) => fs::read(&path).expect("it has been drawn"),
            Err(error) => error.to_string().into_bytes(),
        };
        all.insert(name, drawn);
    }
    let chronicle = Chronicle::read(&run).expect("its tables can be read");
    let step = chronicle.jobs().len().div_ceil(TOLD).max(1);
    for job in chronicle.jobs().iter().step_by(step) {
        let told = json!(chronicle.story(job)).to_string();
        all.insert(format!("story of {}", job.job), told.into_bytes());
    }
    all.insert("audit".to_owned(), format!("{:?}", audit(folder)).into_bytes());
    all.insert("digest".to_owned(), json!(run.digest().expect("readable")).to_string().into());
    all
}

fn compared(a: &Path, b: &Path) -> Comparison {
    let open = |folder| RunReader::open(folder).expect("the folder is there");
    compare(&open(a), &open(b), 5).expect("both can be read")
}

/// The names of the data that differ.
fn differing<'a>(
    a: &'a BTreeMap<String, Vec<u8>>,
    b: &'a BTreeMap<String, Vec<u8>>,
) -> BTreeSet<&'a String> {
    let names = a.keys().chain(b.keys());
    names.filter(|name| a.get(*name) != b.get(*name)).collect()
}

/// Reads a run, then without its scenario; returns the names of the drawn pictures.
fn reads_the_same(folder: &Path) -> BTreeSet<String> {
    let before = read(folder);
    let with_scenario = compared(folder, folder);
    fs::remove_file(folder.join("scenario.toml")).expect("it was there");
    let after = read(folder);
    assert_eq!(differing(&before, &after), BTreeSet::new(), "{}", folder.display());
    assert_eq!(after["audit"], b"Ok(())", "{}", folder.display());
    assert_eq!(compared(folder, folder), with_scenario, "{}", folder.display());
    let drawn = after.into_iter().filter(|(_, what)| what.starts_with(b"<svg"));
    drawn.map(|(name, _)| name).collect()
}

#[test]
fn every_kind_of_run_is_read_without_its_scenario() {
    let mut drawn = BTreeSet::new();
    // A scenario that extends another one is similar to it, so it is skipped.
    let alone = |it: &&PathBuf| !needs_logs(it) && extended(it).is_none();
    for scenario in scenarios().iter().filter(alone) {
        let folder = shortened(scenario.parent().expect("it lies in a folder"));
        let name = scenario.file_name().expect("it has a name");
        drawn.extend(reads_the_same(&ran(&folder.path().join(name), &folder.path().join("out"))));
    }
    let lines = FigureKind::Lines;
    for kind in FigureKind::ALL.into_iter().filter(|&it| it != lines) {
        assert!(drawn.contains(&format!("{}.svg", kind.name())), "{}: {drawn:?}", kind.name());
    }
}

/// A provider, a user with another name, and a sweep if `rest` has one.
fn scenario(rest: &str) -> String {
    format!(
        r#"
[scenario]
name = "told"

[[workload]]
name = "jobs"
model = "lublin-feitelson"
lublin = {{ jobs = 80, processors = 32, load = 0.9 }}

[[provider]]
name = "north"
processors = 32
policy = "easy"

[[user]]
name = "people"
workload = "jobs"
submits-to = "north"

{rest}
"#
    )
}

const FIGURES: &str = r#"
[[figure]]
kind = "gantt"
format = "svg"
until = "6h"

[[figure]]
kind = "bars"
format = "svg"
metric = "mean-waiting-time"
group-by = "user"
title = "Who waited"
"#;

#[test]
fn commands_say_the_same() {
    let folder = Folder::with(&[("told.toml", &scenario(FIGURES))]);
    folder.haggle(&["run", "told.toml", "-o", "out"]);
    folder.haggle(&["run", "told.toml", "-o", "other", "--set", "provider.north.policy=fcfs"]);
    let said = || {
        let mut said = folder.tree("pictures");
        for arguments in [
            &["plot", "out", "-o", "pictures", "--force"][..],
            &["plot", "out", "--kind", "gantt", "--provider", "north", "-o", "one.svg", "--force"],
            &["plot", "out", "--kind", "gantt", "--provider", "nroth", "-o", "one.svg", "--force"],
            &["plot", "out", "other", "--kind", "waiting-ecdf", "-o", "both.svg", "--force"],
            &["explain", "out", "7", "--messages"],
            &["explain", "out", "jobs!35", "--json"],
            &["verify", "out"],
            &["compare", "out", "out"],
        ] {
            said.insert(arguments.join(" "), folder.haggle(arguments).into_bytes());
        }
        said.extend(
            ["one.svg", "both.svg"].map(|it| (it.to_owned(), folder.read(it).into_bytes())),
        );
        said
    };
    folder.haggle(&["plot", "out", "-o", "pictures"]);
    let compared = || folder.haggle(&["compare", "out", "other"]);
    let (before, differences) = (said(), compared());
    assert!(before.contains_key("bars.svg"), "{:?}", before.keys());
    fs::remove_file(folder.path().join("out/scenario.toml")).expect("it was there");
    assert_eq!(differing(&said(), &before), BTreeSet::new());
    // The keys of scenarios are only in scenarios.
    let without = compared();
    let keys = "provider.north.policy";
    let none = "\nthe scenarios are not the same; their keys are not compared";
    assert!(differences.contains(keys) && !without.contains(keys), "{differences}\n{without}");
    assert!(without.contains(none), "{without}");
    let metrics = |text: &'_ str| {
        let at = text.find("\n  metric ").expect("there are some");
        text[at..].to_owned()
    };
    assert_eq!(metrics(stdout_of(&without)), metrics(stdout_of(&differences)));
}

#[test]
fn runs_of_sweeps_and_packs_describe_themselves() {
    let axes = "[sweep]\nreplications = 2\n\n[[sweep.axis]]\npath = \"provider.north.policy\"\n\
                values = [\"fcfs\", \"easy\"]\n";
    let folder = Folder::with(&[("sweep.toml", &scenario(axes))]);
    folder.haggle(&["sweep", "sweep.toml", "-o", "whole"]);
    folder.haggle(&["sweep", "sweep.toml", "-o", "packed", "--pack", "4"]);
    let tables = ["runs.csv", "aggregate.csv"].map(|it| folder.read(&format!("whole/{it}")));
    let (run, other) = ("policy=easy/seed=1", "policy=fcfs/seed=2");
    let said = |sweep: &str| {
        let (a, b) = (format!("{sweep}/{run}"), format!("{sweep}/{other}"));
        let bars = ["--kind", "bars", "--group-by", "user", "-o", "1.svg", "--force"];
        let mut said = BTreeMap::new();
        for arguments in [
            &[&["plot", &a][..], &bars].concat()[..],
            &["plot", &a, &b, "--kind", "waiting-ecdf", "-o", "2.svg", "--force"],
            &["explain", &a, "7"],
            &["verify", &a],
            &["compare", &a, &a],
        ] {
            said.insert(arguments.join(" "), folder.haggle(arguments));
        }
        said.extend(["1.svg", "2.svg"].map(|it| (it.to_owned(), folder.read(it))));
        let neutral = |(name, text): (String, String)| {
            [name, text].map(|it| it.replace(sweep, "SWEEP")).into()
        };
        let said: BTreeMap<String, String> = said.into_iter().map(neutral).collect();
        said.into_iter().map(|(name, text)| (name, text.into_bytes())).collect()
    };
    let (before, packed) = (said("whole"), said("packed"));
    assert_eq!(differing(&before, &packed), BTreeSet::new());
    for run in
        ["policy=easy/seed=1", "policy=easy/seed=2", "policy=fcfs/seed=1", "policy=fcfs/seed=2"]
    {
        let scenario = folder.path().join("whole").join(run).join("scenario.toml");
        fs::remove_file(scenario).expect("it was there");
    }
    assert_eq!(differing(&said("whole"), &before), BTreeSet::new());
    // The sweep is summed up from them as before.
    let shown = folder.haggle(&["sweep", "sweep.toml", "-o", "whole"]);
    assert!(shown.contains("4 of 4 runs are done already"), "{shown}");
    assert_eq!(["runs.csv", "aggregate.csv"].map(|it| folder.read(&format!("whole/{it}"))), tables);
}

#[test]
fn folders_of_another_format_are_refused_by_name() {
    let folder = Folder::with(&[("told.toml", &scenario(FIGURES))]);
    folder.haggle(&["run", "told.toml", "-o", "out", "--no-figures"]);
    let provenance = folder.read("out/provenance.json");
    let before = provenance.replace("\"format\": 3", "\"format\": 2");
    assert_ne!(
        before, provenance,
        "the format is counted up: so is the one that this test takes away"
    );
    fs::write(folder.path().join("out/provenance.json"), before).expect("it can be written");
    for arguments in [
        &["plot", "out", "--kind", "gantt", "-o", "one.svg"][..],
        &["plot", "out", "-o", "pictures"],
        &["explain", "out", "7"],
        &["compare", "out", "out"],
        &["verify", "out"],
    ] {
        let shown = folder.haggle(arguments);
        let refused = "`out` was written by another version of haggle (";
        assert!(shown.starts_with("exit code: 3\n") && shown.contains(refused), "{shown}");
    }
}
