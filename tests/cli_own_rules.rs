//! Own rules: a program with some runs scenarios that name them, and the command `haggle` reports
//! the missing ones.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use haggle::experiment::sweep::{OnFailure, SweepConduct, SweepError, Wanted, sweep};
use haggle::experiment::{Figures, Keep, summarise};
use haggle::grids::GridPolicy;
use haggle::grids::workflows::prediction::Extrapolation;
use haggle::model::{Span, Time};
use haggle::scenario::file::{Lublin, Model, Order, Policy};
use haggle::scenario::{Experiment, Logs, Source};
use haggle::scheduling::checkpoints::JobSituation;
use haggle::scheduling::checkpoints::Situation;
use haggle::scheduling::composition::{
    BagCall, Composer, Composition, CompositionOptions, NoLb, Part, View, level,
};
use haggle::scheduling::{Asked, Award, Offer};
use haggle::{Builder, Rules, write};
use haggle_results::Provenance;

use crate::command::{Folder, shown, stderr_of, stdout_of};
use crate::examples::own_rules;

/// `examples/own_rules.rs`, built here because tests that are run by name do not build examples.
pub(crate) static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let haggle = PathBuf::from(assert_cmd::cargo::cargo_bin!("haggle"));
    let folder = haggle.parent().expect("it lies in a folder");
    let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Libraries of the workspace have the same features as under `cargo test --workspace`, so they are not built again.
    build.args(["build", "--quiet", "--workspace", "--example", "own_rules", "--target-dir"]);
    build.arg(folder.parent().expect("that of all profiles"));
    if folder.file_name().is_some_and(|name| name == "release") {
        build.arg("--release");
    }
    build.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    assert!(build.status().is_ok_and(|status| status.success()), "the example can be built");
    folder.join("examples/own_rules")
});

fn own(folder: &Folder, arguments: &[&str]) -> String {
    let mut command = Command::new(&*PROGRAM);
    command.current_dir(folder.path()).args(arguments).stdin(Stdio::null());
    shown(&command.output().expect("the program can be started"))
}

const ONE_SITE: &str = r#"
scenario = { name = "own" }
workload = [{ name = "jobs", model = "lublin-feitelson", lublin = { jobs = 60, processors = 16 } }]
provider = [{ name = "north", processors = 16, policy = { name = "fcfs", order = { own = "smallest-area" } } }]
user = [{ name = "users", workload = "jobs", submits-to = "north" }]
"#;

#[test]
fn a_program_has_every_verb_for_its_rules() {
    let folder = Folder::with(&[("own.toml", ONE_SITE)]);
    let first = own(&folder, &["run", "own.toml", "-o", "first", "--check"]);
    assert!(first.starts_with("exit code: 0"), "{first}");
    let provenance: Provenance =
        serde_json::from_str(&folder.read("first/provenance.json")).expect("JSON");
    let rules: Vec<String> = provenance
        .own_rules
        .iter()
        .map(|it| format!("{} {} {}", it.kind, it.name, it.version))
        .collect();
    assert_eq!(rules, ["order smallest-area 1"], "no rule that the scenario does not name");
    for arguments in [
        &["verify", "own.toml"][..],
        &["verify", "first"],
        &["show", "own.toml"],
        &["validate", "own.toml"],
        &["explain", "first", "3"],
        &["plot", "first", "--kind", "utilisation", "-o", "utilisation.svg"],
        &["run", "first/scenario.toml", "-o", "again"],
        &["compare", "first", "again"],
    ] {
        let shown = own(&folder, arguments);
        assert!(shown.starts_with("exit code: 0"), "{arguments:?}: {shown}");
    }
    let listed = own(&folder, &["list", "orders"]);
    assert!(stdout_of(&listed).contains("{ own = \"smallest-area\" }"), "{listed}");
}

#[test]
fn what_is_there_is_read_without_the_rules() {
    let folder = Folder::with(&[("own.toml", ONE_SITE)]);
    own(&folder, &["run", "own.toml", "-o", "first"]);
    for arguments in [
        &["verify", "first"][..],
        &["show", "own.toml"],
        &["explain", "first", "3"],
        &["plot", "first", "--kind", "utilisation", "-o", "utilisation.svg"],
        &["compare", "first", "first"],
    ] {
        let shown = folder.haggle(arguments);
        assert!(shown.starts_with("exit code: 0"), "{arguments:?}: {shown}");
    }
    let refused = folder.haggle(&["run", "own.toml"]);
    let errors = stderr_of(&refused);
    assert!(refused.starts_with("exit code: 3"), "{refused}");
    assert!(errors.contains("no order of one's own is called \"smallest-area\""), "{errors}");
    assert!(errors.contains("docs/own-rules.md"), "{errors}");
}

#[test]
fn axes_have_words_beside_rules() {
    let sweep = "[sweep]\n[[sweep.axis]]\npath = \"provider.north.policy.order\"\n\
                 values = [\"arrival\", \"shortest\", { own = \"smallest-area\" }]\n";
    let folder = Folder::with(&[("own.toml", &format!("{ONE_SITE}{sweep}"))]);
    let swept = own(&folder, &["sweep", "own.toml", "-o", "swept"]);
    assert!(swept.starts_with("exit code: 0"), "{swept}");
    assert!(folder.names_in("swept").contains(&"order=smallest-area".to_owned()), "{swept}");
    assert!(folder.read("swept/runs.csv").contains("smallest-area"));
    let plotted = folder.haggle(&[
        "plot",
        "swept",
        "--kind",
        "bars",
        "--metric",
        "mean-waiting-time",
        "--x",
        "order",
        "-o",
        "bars.svg",
    ]);
    assert!(plotted.starts_with("exit code: 0"), "{plotted}");
    let again = own(&folder, &["sweep", "own.toml", "-o", "swept"]);
    assert!(again.contains("3 of 3") || again.contains("done already"), "{again}");
}

/// Of the three jobs that wait on `north`, the one of area 80 starts first, then that of 120, then
/// that of 300. At 7 s, `south` has (47 + 48 + 50) / 2 s of work, which is too much.
#[test]
fn rules_decide_as_by_hand() {
    let text = include_str!("../examples/own_rules.toml");
    let folder = Folder::with(&[("rules.toml", text)]);
    let ran = own(&folder, &["run", "rules.toml", "-o", "out", "--format", "csv", "--check"]);
    assert!(ran.starts_with("exit code: 0"), "{ran}");
    assert_eq!(stderr_of(&ran), "", "nothing is said to be too wide");
    let jobs = folder.read("out/jobs.csv");
    let starts = jobs.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        format!("{} {} {}", fields[1], fields[0], fields[8])
    });
    let mut starts: Vec<String> = starts.collect();
    starts.sort();
    let expected = [
        "external 1 4.0",
        "external 2 5.0",
        "external 3 54.0",
        "external 4 ",
        "external 5 ",
        "local 1 0.0",
        "local 2 170.0",
        "local 3 100.0",
        "local 4 140.0",
    ];
    assert_eq!(starts, expected);
}

#[test]
fn a_name_that_is_not_there_is_said_with_those_that_are() {
    let read = |text: &str| {
        let source = Source::new("own.toml", text);
        Experiment::read_with(source, Logs::MustExist, &own_rules::rules())
    };
    assert!(read(ONE_SITE).is_ok());
    let error = read(&ONE_SITE.replace("smallest", "smalest")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "own.toml:4:90: no order of one's own is called \"smalest-area\""
    );
    let help = error.problems[0].help.as_deref();
    assert_eq!(help, Some("did you mean \"smallest-area\"? this program has \"smallest-area\""));
    let error = read(&ONE_SITE.replace("{ own =", "{ onw =")).unwrap_err();
    assert_eq!(error.problems[0].help.as_deref(), Some("did you mean `own`?"));
    let error =
        read(&ONE_SITE.replace("{ own = \"smallest-area\" }", "\"smallest-area\"")).unwrap_err();
    let help = error.problems[0].help.clone().unwrap_or_default();
    assert!(help.ends_with("or \"key\"; or a table, `{ own = \"…\" }`"), "{help}");
    let grid = "scenario = { name = \"own\" }\n[grid]\npolicy = { own = \"mine\" }\n\
                site = [{ name = \"s\", resources = 2 }]\n";
    let error = read(grid).unwrap_err().to_string();
    assert!(error.contains("no grid policy of one's own is called \"mine\""), "{error}");
}

#[test]
fn what_another_version_made_is_not_done() {
    let area = |version| {
        Rules::new().order("smallest-area", version, |request, _| request.processors.into())
    };
    // A rule that the scenario does not name changes nothing.
    let more = |version| area(1).order("other", version, |_, _| 0);
    let folder = tempfile::tempdir().expect("a folder");
    let carry_out = |rules: &Rules| {
        let source = Source::new("own.toml", ONE_SITE);
        let experiment = Experiment::read_with(source, Logs::MustExist, rules).expect("valid");
        let conduct = SweepConduct {
            output: folder.path(),
            wanted: Wanted { keep: Keep::Tables, any_build: false },
            pack: None,
            workers: 1,
            figures: Figures::Skip,
            on_failure: OnFailure::Stop,
            stop: &AtomicBool::new(false),
            on_run: &|| {},
        };
        sweep(&experiment, Path::new(""), &conduct).map(|_| ())
    };
    carry_out(&area(1)).expect("a run");
    carry_out(&more(1)).expect("it is there");
    carry_out(&more(2)).expect("it is there");
    let error = carry_out(&area(2)).expect_err("another version made it");
    assert!(
        matches!(&error, SweepError::OtherRule { rule, .. } if rule == "smallest-area"),
        "{error}"
    );
}

#[test]
fn scenarios_in_code_name_rules() {
    let build = |order: Order, rules: Rules| {
        Builder::new("one-site")
            .rules(rules)
            .workload("jobs", |jobs| {
                jobs.model = Some(Model::LublinFeitelson);
                jobs.lublin = Some(Lublin { load: Some(0.9), ..Lublin::of(200, 64) });
            })
            .provider("north", 64, |north| north.policy = Policy::Fcfs { order })
            .user("users", "jobs", "north", |_| {})
            .build()
    };
    let wait = |order, rules| {
        let experiment = build(order, rules).expect("valid");
        let run = experiment.runs().next().expect("a run");
        summarise(&run).expect("it ends").metric("mean_waiting_time")
    };
    // An own rule with the key of a built-in one decides like that.
    let largest = Rules::new().order("widest", 1, |request, _| -i64::from(request.processors));
    let named = Order::Own("widest".parse().expect("a name"));
    assert_eq!(wait(named.clone(), largest), wait(Order::Largest, Rules::new()));
    assert_ne!(wait(Order::Largest, Rules::new()), wait(Order::Arrival, Rules::new()));
    let error = build(named, Rules::new()).unwrap_err().to_string();
    assert!(error.contains("no order of one's own is called \"widest\""), "{error}");
}

/// As "offers-no-lb".
#[derive(Default)]
struct Earliest;

impl Composer for Earliest {
    type Needs = <NoLb as Composer>::Needs;

    fn compose(
        &self,
        bag: &BagCall,
        views: &[View<Self::Needs>],
        turn: u64,
    ) -> Option<Composition> {
        NoLb { options: CompositionOptions::default() }.compose(bag, views, turn)
    }
}

/// Gives the whole bag to the provider with the least load for its power that offers to take it.
#[derive(Default)]
struct Lightest;

impl Composer for Lightest {
    type Needs = level::Load;

    fn compose(&self, bag: &BagCall, views: &[View<level::Load>], _: u64) -> Option<Composition> {
        let whole = views.iter().enumerate().filter_map(|(provider, view)| {
            let offer = view.offers().iter().find(|offer| offer.tasks >= bag.tasks)?;
            Some((view.load() / u128::from(view.power()), provider, *offer))
        });
        let (_, provider, offer) = whole.min()?;
        let award = Award::Offered { tasks: bag.tasks, offer };
        let part = Part { provider, award, offer: Some(offer) };
        Some(Composition {
            completion: offer.completion,
            parts: vec![part],
            balanced: false,
            sizes: 1,
        })
    }
}

/// Leaves out one task.
#[derive(Default)]
struct Forgetful;

impl Composer for Forgetful {
    type Needs = level::Offers;

    fn compose(&self, bag: &BagCall, views: &[View<level::Offers>], _: u64) -> Option<Composition> {
        let offer = *views.first()?.offers().last()?;
        let award = Award::Offered { tasks: bag.tasks - 1, offer };
        let parts = vec![Part { provider: 0, award, offer: Some(offer) }];
        Some(Composition { completion: Time::ZERO, parts, balanced: false, sizes: 1 })
    }
}

/// As `padding = "20%"`.
fn padded(asked: &Asked, offer: &Offer) -> Option<Span> {
    Some((offer.completion - asked.now).scaled(0.2 * asked.draw))
}

/// Makes offers only for the whole bag.
fn whole(asked: &Asked, offer: &Offer) -> Option<Span> {
    (offer.tasks == asked.bag.tasks).then_some(Span::ZERO)
}

fn ten_minutes(_: &Situation) -> Span {
    Span::from_secs(600)
}

/// Shorter intervals for wider jobs.
fn by_width(job: &JobSituation) -> Span {
    Span::from_secs(3_600 / i64::from(job.processors))
}

fn hour(_: &JobSituation) -> Span {
    Span::from_secs(3_600)
}

const MIGRATION: GridPolicy = GridPolicy::Migration { checkpointing: true };

fn more_rules() -> Rules {
    Rules::new()
        .composition::<Earliest>("earliest", 1)
        .composition::<Lightest>("lightest", 1)
        .composition::<Forgetful>("forgetful", 1)
        .offers("padded-too", 1, padded)
        .offers("whole", 1, whole)
        .grid_policy("migration-too", 1, |resources| MIGRATION.build(resources))
        .prediction("extrapolation-too", 1, || Box::new(Extrapolation))
        .grid_checkpoints("ten-minutes", 1, ten_minutes)
        .job_checkpoints("hour", 1, hour)
        .job_checkpoints("by-width", 1, by_width)
}

/// The digest of the only run of a scenario with these values set, and its summary.
fn digest(text: &str, settings: &[(&str, &str)]) -> (String, haggle::Summary) {
    let owned = |&(path, value): &(&str, &str)| (path.to_owned(), value.to_owned());
    let settings = Vec::from_iter(settings.iter().map(owned));
    let source = Source::new("own.toml", text).with(&settings);
    let experiment = Experiment::read_with(source, Logs::MustExist, &more_rules());
    let experiment = experiment.unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().expect("a folder");
    let run = experiment.runs().next().expect("a run");
    let results = write(&run, &folder.path().join("run")).expect("it ends");
    let found = haggle::audit::audit(&folder.path().join("run"));
    assert!(found.is_ok(), "{found:?}");
    let overall = results.provenance().expect("it is there").digest.overall;
    (overall, results.summary().expect("it is there"))
}

#[test]
fn compositions_of_ones_own_decide() {
    let text = include_str!("../scenarios/bargaining.toml");
    let composed = |value: &str| digest(text, &[("metascheduler.broker.composition", value)]);
    let ours = composed("offers-no-lb");
    assert_eq!(composed("{ own = \"earliest\" }").0, ours.0);
    let (other, summary) = digest(
        text,
        &[
            ("metascheduler.broker.composition", "{ own = \"lightest\" }"),
            ("provider.*.disclosure", "load"),
        ],
    );
    assert_ne!(other, ours.0);
    assert!(summary.metric("completed_jobs") > Some(0.0));
    let (_, summary) = composed("{ own = \"forgetful\" }");
    let bags = |summary: &haggle::Summary| {
        let bags = summary.classes.iter().find(|class| class.name == "external");
        bags.expect("there are bags").outcomes.completed
    };
    assert_eq!(bags(&summary), 0, "what is not the whole bag is nothing");
    assert!(bags(&ours.1) > 0);
}

#[test]
fn a_composition_reads_no_more_than_providers_disclose() {
    let text = include_str!("../scenarios/bargaining.toml");
    let settings =
        [("metascheduler.broker.composition".to_owned(), "{ own = \"lightest\" }".to_owned())];
    let source = Source::new("own.toml", text).with(&settings);
    let error = Experiment::read_with(source, Logs::MustExist, &more_rules()).unwrap_err();
    let expected = "composition \"lightest\" needs disclosure \"load\", provider \"north\" discloses only \"offers\"";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn providers_tell_of_offers_by_rules_of_ones_own() {
    let text = include_str!("../scenarios/bargaining.toml");
    let ours = digest(text, &[("provider.*.policy.offers.padding", "20%")]).0;
    assert_eq!(
        digest(text, &[("provider.*.policy.offers.told", "{ own = \"padded-too\" }")]).0,
        ours
    );
    assert_ne!(digest(text, &[]).0, ours);
    let (whole, _) = digest(text, &[("provider.*.policy.offers.told", "{ own = \"whole\" }")]);
    assert_eq!(digest(text, &[("provider.*.policy.offers.fractions", "[\"100%\"]")]).0, whole);
}

#[test]
fn grids_have_schedulers_and_predictions_of_ones_own() {
    let text = include_str!("every_key/young.toml");
    let with = |policy: &str| {
        let (_, summary) = digest(text, &[("grid.policy", policy)]);
        ["makespan", "mean_turnaround_time", "lost_work"].map(|name| summary.metric(name))
    };
    assert_eq!(with("{ own = \"migration-too\" }"), with("migration"));
    assert_ne!(with("rescheduling"), with("migration"));
    let text = include_str!("every_key/workflows.toml");
    let with = |prediction: &str| digest(text, &[("grid.policy.prediction", prediction)]).0;
    assert_eq!(with("{ own = \"extrapolation-too\" }"), with("extrapolation"));
    assert_ne!(with("average"), with("extrapolation"));
}

#[test]
fn checkpoints_are_written_by_rules_of_ones_own() {
    let text = include_str!("every_key/young.toml");
    let ours =
        digest(text, &[("grid.checkpoints", "{ rule = \"periodic\", interval = \"10min\" }")]).0;
    assert_eq!(
        digest(text, &[("grid.checkpoints", "{ rule = { own = \"ten-minutes\" } }")]).0,
        ours
    );
    let text = include_str!("../scenarios/failing-sites.toml");
    let rule = |name: &str| {
        let value =
            format!("{{ rule = {{ own = \"{name}\" }}, cost = \"1min\", recovery = \"2min\" }}");
        digest(text, &[("provider.1.checkpoints", &value)]).0
    };
    assert_eq!(rule("hour"), digest(text, &[]).0);
    assert_ne!(rule("by-width"), rule("hour"));
}
