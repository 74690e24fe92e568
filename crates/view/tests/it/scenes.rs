//! Scenes against the tables of the example scenarios.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use haggle_plots::load::{Part, Tables};
use haggle_plots::timeline::{Shows, grid_timeline, timeline};
use haggle_results::RunReader;
use haggle_scenario::{Experiment, Logs, Source};
use haggle_view::legend::legend;
use haggle_view::results::RunView;
use haggle_view::scene::ChartKind;
use haggle_view::view::SeriesQuery;
use haggle_view::{View, compare};

use crate::runs::{carry_out, example, scenarios};

fn read(folder: &Path) -> RunView {
    let view = RunView::new(folder, "run".to_owned());
    while !view.is_read() {
        thread::sleep(Duration::from_millis(5));
    }
    view
}

/// A time of a table in µs.
fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

/// Compares the bars with `placements`, and those of grids with `attempts`.
fn agree(folder: &Path, name: &str) {
    let (view, run) = (read(folder), RunReader::open(folder).expect("a run"));
    let overview = view.overview().expect("it has one");
    // Warnings of the run are there, but nothing is wrong with its tables.
    for problem in &overview.problems {
        assert!(!problem.contains("rows are not drawn"), "{name}: {problem}");
        assert!(!problem.contains("missing"), "{name}: {problem}");
    }
    let mut areas: BTreeMap<String, i128> = BTreeMap::new();
    for row in run.placements().expect("a table") {
        let area =
            i128::from(micros(row.end) - micros(row.start)) * i128::from(row.last - row.first + 1);
        *areas.entry(row.provider).or_default() += area;
    }
    let slots: i128 = run
        .attempts()
        .expect("a table")
        .iter()
        .filter_map(|row| row.slot())
        .map(|(from, to)| i128::from(micros(to) - micros(from)))
        .sum();
    let scene = view.scene().expect("it has one");
    for chart in &scene.charts {
        let area: i128 =
            chart.bars().map(|bar| i128::from(bar.length()) * i128::from(bar.rows)).sum();
        let expected = match chart.kind {
            ChartKind::Grid => slots,
            _ => areas.remove(&chart.name).unwrap_or(0),
        };
        assert_eq!(area, expected, "{name}, {}", chart.name);
        assert!(chart.bars().all(|bar| bar.row + bar.rows <= chart.rows), "{name}");
        let rows: u32 = chart.bands.iter().map(|band| band.rows).sum();
        assert_eq!(rows, chart.rows, "{name}, {}", chart.name);
        overlaps_nothing(
            &Vec::from_iter(chart.bars().copied()),
            &format!("{name}, {}", chart.name),
        );
    }
    assert!(areas.values().all(|it| *it == 0), "{name}: {areas:?}");
    drop(scene);
    queues_agree(&view, &run, name);
}

/// Queue lengths are those that `haggle plot` draws: of each panel, and of all.
fn queues_agree(view: &RunView, run: &RunReader, name: &str) {
    let (tables, part) = (Tables::new(run), Part::default());
    let providers = timeline(&tables, "", &part, Shows::Queue).expect("it can be read");
    let amount = ("slots held", |_: &str, _: &str| 1.0);
    let grid = grid_timeline(&tables, "", &part, Shows::Queue, amount).expect("it can be read");
    let parts = Vec::from_iter(providers.parts.iter().chain(&grid.parts));
    let overview = view.overview().expect("it has one");
    let (from, to) = (overview.from, overview.until);
    let means = |id: String| {
        let query = SeriesQuery { ids: vec![id], from, to, columns: 200 };
        view.series(&query).expect("a series").series.remove(0).mean
    };
    let drawn = |waits: &[(f64, f64)]| {
        let edge = |column: i64| (from + (to - from) * column / 200) as f64 / 1e6;
        let mean = |column: i64| {
            let (start, end) = (edge(column), edge(column + 1));
            let overlap = |&(a, b): &(f64, f64)| (b.min(end) - a.max(start)).max(0.0);
            waits.iter().map(overlap).sum::<f64>() / (end - start)
        };
        Vec::from_iter((0..200).map(mean))
    };
    let agree = |id: String, waits: &[(f64, f64)]| {
        let pairs = means(id.clone()).into_iter().zip(drawn(waits));
        for (column, (here, there)) in pairs.enumerate() {
            assert!((here - there).abs() < 1e-3, "{name}, {id}, {column}: {here} and {there}");
        }
    };
    let all = Vec::from_iter(parts.iter().flat_map(|it| it.waits.iter().copied()));
    agree("queue:all".to_owned(), &all);
    for chart in &overview.charts {
        let panel = match chart.kind {
            ChartKind::Grid => grid.parts.first(),
            _ => providers.parts.iter().find(|it| it.name == chart.name),
        };
        // Many providers have one panel together.
        if let Some(panel) = panel {
            agree(format!("queue:{}", chart.id), &panel.waits);
        }
    }
}

/// No two bars share a row at a time.
fn overlaps_nothing(bars: &[haggle_view::scene::Bar], name: &str) {
    let mut rows: BTreeMap<u32, Vec<(i64, i64)>> = BTreeMap::new();
    for bar in bars.iter().filter(|bar| bar.length() > 0) {
        for row in bar.row..bar.row + bar.rows {
            rows.entry(row).or_default().push((bar.start, bar.end));
        }
    }
    for (row, mut spans) in rows {
        spans.sort_unstable();
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{name}, row {row}");
    }
}

/// Each example that needs no other file has the same bars as its tables.
#[test]
fn bars_are_those_of_the_tables() {
    let mut names = Vec::new();
    for entry in fs::read_dir(scenarios()).expect("a folder").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|it| it != "toml") {
            continue;
        }
        let source = Source::read(&path).expect("it can be read");
        // Some examples need a log that is not here.
        if Experiment::read(source, Logs::MustExist).is_err() {
            continue;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path().join("run");
        carry_out(&path, &run, |_| {});
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        agree(&run, &name);
        names.push(name);
    }
    names.sort();
    for needed in ["quickstart", "failing-grid", "failing-sites", "plans", "reservations"] {
        assert!(names.iter().any(|it| it == needed), "{needed} is not among {names:?}");
    }
}

/// A run is no different from itself, and each job of another seed is compared.
#[test]
fn jobs_are_compared_by_their_workload_and_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    example("quickstart", &one);
    carry_out(&scenarios().join("quickstart.toml"), &other, |it| it.scenario.seed += 1);
    let (one, other) = (read(&one), read(&other));
    let jobs = one.job_table().expect("a table").rows();
    let same = compare::compared(&one, &one).expect("it can be compared").page(0, 9);
    assert_eq!((same.counts.in_both, same.total, same.largest.len()), (jobs, 0, 0));
    let found = compare::compared(&one, &other).expect("it can be compared");
    let all = &found.counts;
    assert_eq!(all.in_both + all.other + all.only_here, jobs);
    assert!(all.same < jobs);
    let there = other.job_table().expect("a table").rows();
    assert_eq!(all.only_there, there - (jobs - all.only_here));
}

/// Counts are those of `haggle compare`, and pages of differences have each job once.
#[test]
fn counts_are_those_of_compare() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = ["one", "policy", "seed"].map(|it| folder.path().join(it));
    let scenario = scenarios().join("quickstart.toml");
    example("quickstart", &paths[0]);
    carry_out(&scenario, &paths[1], |it| {
        it.providers[0].policy = it.providers[2].policy.clone();
    });
    carry_out(&scenario, &paths[2], |it| it.scenario.seed += 1);
    let views = paths.each_ref().map(|it| read(it));
    let runs = paths.each_ref().map(|it| RunReader::open(it).expect("a run"));
    let mut delayed = 0;
    for (a, b) in [(0, 1), (1, 0), (0, 2), (2, 2)] {
        let expected = haggle_experiment::compare::compare(&runs[a], &runs[b], usize::MAX);
        let expected = expected.expect("a comparison").jobs;
        // Run A of `haggle compare` is the view beside.
        let found = compare::compared(&views[b], &views[a]).expect("a comparison");
        let (counts, starts) = (found.counts, expected.starts);
        assert_eq!(counts.only_there, expected.only_in_a);
        assert_eq!(counts.only_here, expected.only_in_b);
        assert_eq!(counts.other, expected.other);
        assert_eq!(counts.in_both, starts.in_both);
        assert_eq!((counts.earlier, counts.later), (starts.earlier, starts.later));
        assert_eq!((counts.same, counts.other_provider), (starts.same, starts.other_provider));
        assert_eq!(counts.started_only_there, starts.started_only_in_a);
        assert_eq!(counts.started_only_here, starts.started_only_in_b);
        assert_eq!(counts.mean_delay, starts.mean_delay());
        let total = found.page(0, 0).total;
        let pages = (0..total).step_by(700).map(|first| found.page(first, 700).largest);
        let all = Vec::from_iter(pages.flatten());
        assert_eq!(all.len(), total);
        let is_delayed = |it: &&haggle_view::view::Difference| {
            it.start_here.zip(it.start_there).is_some_and(|(here, there)| here != there)
        };
        let listed = Vec::from_iter(all.iter().filter(is_delayed).map(|it| &it.label));
        let labels = expected.largest.iter().map(|it| format!("{}!{}", it.workload, it.job_id));
        assert!(labels.eq(listed.iter().map(|it| (*it).clone())));
        delayed += listed.len();
        for it in &all {
            assert_eq!(found.job_there(it.job), Some(it.job_there));
        }
    }
    assert!(delayed > 10);
}

/// The legend has the workloads of the colours that are drawn, and an actor sees those of its own charts.
#[test]
fn the_legend_names_what_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    example("quickstart", &run);
    let view = read(&run);
    let all = legend(&view, None).expect("a legend");
    let names = Vec::from_iter(all.colours.iter().flat_map(|it| it.names.clone()));
    assert_eq!(names, ["north-jobs", "east-jobs", "west-jobs", "external-jobs"]);
    assert_eq!((all.classes, all.ticks), (vec![0, 1], vec![1]));
    assert!(all.flags.is_empty() && all.marks.is_empty());
    let known = view.known_to("west").expect("an actor");
    let own = legend(&view, Some(&known)).expect("a legend");
    let names = Vec::from_iter(own.colours.iter().flat_map(|it| it.names.clone()));
    assert_eq!(names, ["west-jobs", "external-jobs"]);
    assert!(own.ticks.is_empty(), "west promises nothing");
}

/// A run in CSV is the same view as in Parquet, and a view that is not asked for reads nothing.
#[test]
fn both_formats_give_the_same_scene() {
    let folder = tempfile::tempdir().expect("a folder");
    let (parquet, csv) = (folder.path().join("parquet"), folder.path().join("csv"));
    example("failing-sites", &parquet);
    carry_out(&scenarios().join("failing-sites.toml"), &csv, |it| {
        it.results.format = haggle_scenario::file::TableFormat::Csv;
    });
    assert!(csv.join("jobs.csv").exists() && !csv.join("jobs.parquet").exists());
    let (parquet, csv) = (read(&parquet), read(&csv));
    let (one, other) = (parquet.scene().expect("a scene"), csv.scene().expect("a scene"));
    assert!(!one.charts.is_empty());
    for (one, other) in one.charts.iter().zip(&other.charts) {
        assert!(one.bars().eq(other.bars()));
        assert_eq!((one.marks(), one.ticks()), (other.marks(), other.ticks()));
    }
    let views: Vec<Arc<dyn View>> =
        vec![Arc::new(RunView::new(Path::new("/no/such"), "x".to_owned()))];
    assert_eq!(views[0].version(), 1);
}
