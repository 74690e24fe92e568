//! Studies in code, and the example of the manual, through the library as `haggle reproduce` uses
//! it.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use haggle::Rules;
use haggle::script::Language;
use haggle::studies::catalogue::Origin;
use haggle::studies::draw::draw;
use haggle::studies::live::{LiveRun, RunLive};
use haggle::studies::obtain::{Stock, Task};
use haggle::studies::study::{Compute, Effort};
use haggle::studies::{Catalogue, Data, Judgement, Library, judge};

use crate::command::Folder;

/// Sorted lengths on a logarithmic axis, which need no simulation.
struct Ranks;

impl Compute for Ranks {
    fn name(&self) -> &'static str {
        "ranks"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let ranks = if effort == Effort::Quick { 10 } else { 200 };
        let mut data = Data::table("ranks", &["kind", "rank"]);
        for (kind, factor) in [("requests", 30.0), ("fragments", 2.0)] {
            for rank in 0..ranks {
                let length = factor * f64::from(rank).exp2().sqrt().min(1e6);
                data.push(&[kind, &rank.to_string()], 0, &[("length", length)]);
            }
        }
        Ok(data)
    }
}

const STUDIES: &[&dyn Compute] = &[&Ranks];

const FIGURES: &str = r#"
[[figure]]
name = "ranks-1"
about = "Sorted lengths of requests and fragments"
study = "ranks"

[[figure.draw]]
kind = "lines"
metric = "length"
label = "length"
y-scale = "log-time"
x = { axis = "rank" }
series = { axis = "kind" }
"#;

const CLAIMS: &str = r#"
[[claim]]
id = "R-1"
figures = ["ranks-1"]
statement = "Fragments are shorter than requests"
expected = "at rank 5"
grade = "trend"
check = 'lower_mean(value("length", #{kind: "fragments", rank: 5}), value("length", #{kind: "requests", rank: 5}))'
"#;

/// Draws every figure of the studies in `lib` and returns the findings of the claims.
fn reproduced(folder: &Folder, quick: bool) -> Vec<String> {
    let library = Library::Folder(folder.path().join("lib"));
    let catalogue = Catalogue::read(&library, STUDIES).expect("it is sound");
    let mut findings = Vec::new();
    for (study, figure) in catalogue.figures() {
        let output = folder.path().join("out");
        fs::create_dir_all(&output).expect("it can be made");
        let data = |origin: &Origin| {
            let stock =
                Stock { library: &library, studies: STUDIES, own: &Rules::new(), live: None };
            let task = Task::new(stock, study, origin, &output, quick, false);
            let task = task.expect("it can be had");
            Rc::new(
                task.carry_out(NonZeroUsize::new(2), &AtomicBool::new(false), &|| ())
                    .expect("it ends well"),
            )
        };
        let own: Vec<Rc<Data>> = figure.origins.iter().map(data).collect();
        let language = Language::new(own.clone(), &study.functions).expect("sound functions");
        for how in &figure.draws {
            let drawn = draw(figure, how, &own, &language, &output).expect("it can be drawn");
            let image = drawn.image.map(|image| fs::read(image).expect("it was written"));
            assert!(image.is_none_or(|bytes| bytes.starts_with(b"\x89PNG")));
        }
        for claim in study.claims_about(&figure.name) {
            let origins = study.origins(claim.figures.iter().map(String::as_str));
            let all = origins.iter().map(data).collect();
            let language = Language::new(all, &study.functions).expect("sound functions");
            let finding = judge(claim, Some(&language));
            let failed = matches!(finding.judgement, Judgement::Failed(_));
            assert!(!failed, "{}: {}", claim.id, finding.judgement.text());
            findings.push(format!("{} {}", claim.id, finding.judgement.name()));
        }
    }
    findings
}

fn study(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::with(&[]);
    let place = folder.path().join("lib/made-up");
    fs::create_dir_all(&place).expect("it can be made");
    for (name, text) in files {
        fs::write(place.join(name), text).expect("it can be written");
    }
    folder
}

#[test]
fn a_study_by_code_is_drawn_and_claimed_about() {
    let folder = study(&[("figures.toml", FIGURES), ("claims.toml", CLAIMS)]);
    assert_eq!(reproduced(&folder, false), ["R-1 held"]);
    assert_eq!(folder.read("out/ranks-1.csv").lines().count(), 1 + 2 * 200);
    assert_eq!(reproduced(&folder, true), ["R-1 held"]);
    assert_eq!(folder.read("out/ranks-1.csv").lines().count(), 1 + 2 * 10);
}

#[test]
fn the_example_of_the_manual_can_be_reproduced() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/studies.md");
    let page = fs::read_to_string(page).expect("it is there");
    let blocks: Vec<&str> = page.split("```toml\n").skip(1).collect();
    let block = |name: &str| {
        let begins = |block: &&&str| block.starts_with(&format!("# {name}\n"));
        let text = blocks.iter().find(begins).and_then(|block| block.split("```").next());
        text.unwrap_or_else(|| panic!("{name} is in the manual"))
    };
    let names = ["figures.toml", "claims.toml", "queues.toml", "single.toml"];
    let folder = study(&names.map(|name| (name, block(name))));
    let findings = reproduced(&folder, false);
    assert_eq!(findings.len(), 8, "{findings:?}");
    reproduced(&folder, true);
}

/// Local jobs that take 10, 20 and 30 s and an external one of 100 s; under the other policy they
/// take 8, 16, 30 and 80 s.
const RESPONSES: &str = r#"
[[workload]]
name = "own"
jobs = [
    { submit = "0s", processors = 1, run = "10s" },
    { submit = "5s", processors = 1, run = "20s" },
    { submit = "9s", processors = 1, run = "30s" },
]

[[workload]]
name = "wide"
jobs = [{ submit = "0s", processors = 12, run = "100s", requested = "100s" }]

[[provider]]
name = "site"
processors = 16
policy = "conservative"
disclosure = "slots"

[[metascheduler]]
name = "broker"
coallocation = { policy = "rigid" }

[[user]]
name = "own-users"
workload = "own"
submits-to = "site"

[[user]]
name = "wide-users"
workload = "wide"
submits-to = "broker"

[[sweep.axis]]
name = "load"

[[sweep.axis.variant]]
name = "low"

[[sweep.axis]]
name = "precision"

[[sweep.axis.variant]]
name = "0"

[[sweep.axis]]
name = "policy"

[[sweep.axis.variant]]
name = "rigid"

[[sweep.axis.variant]]
name = "shift"
set = { "workload.own.jobs.1.run" = "8s", "workload.own.jobs.2.run" = "16s", "workload.wide.jobs.1.run" = "80s" }
"#;

const REDUCED: &str = r#"
[[figure]]
name = "reduced"
about = "Reduction of response times"
sweeps = ["policies.toml"]

[[figure.draw]]
kind = "table"
where = { policy = "shift" }
x = { axis = "policy" }
series = { values = [{ name = "all", value = 'reduction("all", "low", "0", "shift")' }] }
"#;

const REDUCTIONS: &str = r#"
[[claim]]
id = "M9"
figures = ["reduced"]
statement = "Response times fall by so much"
expected = "local 10 %, external 20 %, all 16.25 %"
grade = "exact"
check = '''
all([["local", 10], ["external", 20], ["all", 16.25]].map(|it| close(reduction(it[0], "low", "0", "shift"), it[1], 1e-9)))
'''
"#;

/// A reduction is that of the mean over jobs, as the studies of co-allocation compute it. For all
/// jobs it is not the mean of the reductions of both groups (15 %).
#[test]
fn reductions_are_of_mean_response_times() {
    for study_of in ["netto-coallocation", "grid2008"] {
        let path = format!("{}/scenarios/{study_of}/figures.toml", env!("CARGO_MANIFEST_DIR"));
        let published = fs::read_to_string(path).expect("it is there");
        let functions = published.split("'''").nth(1).expect("functions come first");
        let figures = format!("functions = '''{functions}'''\n{REDUCED}");
        let files = [
            ("figures.toml", figures.as_str()),
            ("claims.toml", REDUCTIONS),
            ("policies.toml", RESPONSES),
        ];
        assert_eq!(reproduced(&study(&files), false), ["M9 held"], "{study_of}");
    }
}

const SYSTEMS: &str = r#"
[[workload]]
name = "jobs"
jobs = [{ submit = "0s", processors = 1, run = "10s" }]

[[provider]]
name = "site"
processors = 16

[[user]]
name = "users"
workload = "jobs"
submits-to = "site"

[[sweep.axis]]
name = "system"

[[sweep.axis.variant]]
name = "simulated"

[[sweep.axis.variant]]
name = "live"
"#;

const SYSTEMS_TABLE: &str = r#"
[[live]]
sweep = "systems.toml"
where = { system = "live" }
scale = { full = 7, quick = 9 }

[[figure]]
name = "systems"
about = "Simulated and live"
sweeps = ["systems.toml"]

[[figure.draw]]
kind = "table"
metric = "makespan"
x = { axis = "system" }
"#;

/// A live run that fails, or that the program cannot make, ends the figure: no simulation stands in for it.
#[test]
fn live_runs_are_never_simulated() {
    let folder = study(&[("figures.toml", SYSTEMS_TABLE), ("systems.toml", SYSTEMS)]);
    let library = Library::Folder(folder.path().join("lib"));
    let catalogue = Catalogue::read(&library, STUDIES).expect("it is sound");
    let (study, figure) = catalogue.figure("systems").expect("it is there");
    let output = folder.path().join("out");
    let error = |quick: bool, live: Option<&RunLive>| {
        let stock = Stock { library: &library, studies: STUDIES, own: &Rules::new(), live };
        let task = Task::new(stock, study, &figure.origins[0], &output, quick, false);
        let task = task.expect("it can be had");
        assert!(task.is_live() && task.sweep().is_none());
        let data = task.carry_out(None, &AtomicBool::new(false), &|| ());
        data.expect_err("a run is live").to_string()
    };
    let fails = |run: &LiveRun<'_>| {
        assert!(run.results.ends_with("system=live/seed=1"), "{}", run.results.display());
        Err(format!("scale {}", run.scale))
    };
    let failed = |scale| format!("live run system=live/seed=1: scale {scale}");
    assert_eq!(error(false, Some(&fails)), failed(7));
    assert_eq!(error(true, Some(&fails)), failed(9));
    let unable = error(false, None);
    assert!(unable.contains("has live runs, which this program cannot carry out"), "{unable}");
    assert!(!output.exists(), "nothing was simulated");
}

/// Entries of `[[live]]` that are about nothing are found before any run.
#[test]
fn live_runs_must_be_runs_of_a_figure() {
    let other = SYSTEMS_TABLE.replacen("systems.toml", "other.toml", 1);
    let folder = study(&[("figures.toml", &other), ("systems.toml", SYSTEMS)]);
    let error = Catalogue::read(&Library::Folder(folder.path().join("lib")), STUDIES);
    let error = error.expect_err("no figure has it").to_string();
    assert!(error.contains("no figure has the sweep `other.toml`"), "{error}");
    let other = SYSTEMS_TABLE.replace("system = \"live\"", "system = \"real\"");
    let folder = study(&[("figures.toml", &other), ("systems.toml", SYSTEMS)]);
    let library = Library::Folder(folder.path().join("lib"));
    let catalogue = Catalogue::read(&library, STUDIES).expect("it is sound");
    let (study, figure) = catalogue.figure("systems").expect("it is there");
    let stock = Stock { library: &library, studies: STUDIES, own: &Rules::new(), live: None };
    let task = Task::new(stock, study, &figure.origins[0], folder.path(), false, false);
    let error = task.err().expect("no run is live").to_string();
    assert!(error.contains("no run has system = real"), "{error}");
}
