//! A sweep expands into variants and numbered runs.

use haggle::scenario::file::{PartialExecution, Placement};
use haggle::scenario::{Experiment, Logs, Source};

use crate::command::VALID;
use crate::scenario_round_trips::EVERYTHING;

fn read(text: &str) -> Result<Experiment, String> {
    Experiment::read(Source::new("s.toml", text), Logs::Ignore).map_err(|error| error.to_string())
}

#[test]
fn a_scenario_without_a_sweep_is_one_run() {
    let experiment = read(VALID).expect("valid");
    let folders: Vec<String> =
        experiment.runs().map(|run| run.folder().display().to_string()).collect();
    assert_eq!(folders, ["seed=1"]);
}

#[test]
fn axes_multiply_and_the_last_varies_fastest() {
    let experiment = read(EVERYTHING).expect("valid");
    let labels: Vec<&str> =
        experiment.variants.iter().map(|variant| variant.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "load=0.5/placement=least-loaded",
            "load=0.5/placement=random",
            "load=0.7/placement=least-loaded",
            "load=0.7/placement=random",
            "load=0.9/placement=least-loaded",
            "load=0.9/placement=random",
        ]
    );
    let second = &experiment.variants[1].scenario;
    assert_eq!(second.metaschedulers[0].placement, Placement::Random);
    assert_eq!(second.workloads[1].lublin.as_ref().and_then(|lublin| lublin.load), Some(0.5));
    let runs: Vec<(usize, u64)> = experiment.runs().map(|run| (run.number, run.seed)).collect();
    assert_eq!(runs.len(), 18);
    assert_eq!((runs[0], runs[2], runs[3], runs[17]), ((0, 7), (2, 9), (3, 7), (17, 9)));
}

#[test]
fn figures_over_axes_belong_to_the_experiment_and_the_others_to_each_run() {
    let experiment = read(EVERYTHING).expect("valid");
    let names = |figures: &[haggle::scenario::file::Figure]| -> Vec<String> {
        figures.iter().filter_map(|figure| figure.name.as_ref()).map(ToString::to_string).collect()
    };
    assert_eq!(names(&experiment.figures), ["lines"]);
    assert_eq!(names(&experiment.variants[0].scenario.figures), ["first-day"]);
}

#[test]
fn copies_are_made_and_groups_stand_for_them() {
    let experiment = read(EVERYTHING).expect("valid");
    // The axes of the whole sweep name the provider as it is written.
    let written = &experiment.scenario.providers;
    assert!(written.len() == 1 && written[0].count == 3, "{written:?}");
    let scenario = &experiment.variants[0].scenario;
    let names: Vec<&str> =
        scenario.providers.iter().map(|provider| provider.name.as_str()).collect();
    assert_eq!(names, ["site-1", "site-2", "site-3"]);
    assert_eq!(scenario.figures[0].providers.len(), 3);
    assert_eq!(scenario.metaschedulers[0].providers.len(), 2);
    assert!(scenario.providers.iter().all(|provider| provider.policy.name() == "conservative"));
}

#[test]
fn a_wrong_value_of_an_axis_is_shown_where_it_is_written() {
    let text =
        format!("{VALID}\n[[sweep.axis]]\npath = \"results.warm-up\"\nvalues = [\"5%\", \"6\"]\n");
    assert_eq!(
        read(&text).expect_err("6 has no unit"),
        "s.toml:17:17: `6` is neither a length of time nor a share"
    );
}

#[test]
fn a_value_that_stands_twice_on_an_axis_is_refused() {
    let axis = "path = \"provider.*.policy\"\nvalues = [\"fcfs\", \"easy\", \"fcfs\"]";
    assert_eq!(
        read(&format!("{VALID}\n[[sweep.axis]]\n{axis}\n")).expect_err("fcfs is there already"),
        "s.toml:17:27: axis \"policy\" has fcfs twice"
    );
}

#[test]
fn a_combination_that_cannot_run_is_refused_before_anything_runs() {
    let text = EVERYTHING.replace(
        "path = \"workload.model.lublin.load\"\nvalues = [0.5, 0.7, 0.9]",
        "path = \"provider.*.disclosure\"\nvalues = [\"offers\", \"queue\"]",
    );
    let error = read(&text).expect_err("least-loaded needs the load");
    assert!(
        error.contains("needs disclosure \"load\", provider \"site\" discloses only \"offers\""),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn more_runs_than_allowed_are_refused() {
    let text = EVERYTHING.replace("max-runs = 100", "max-runs = 17");
    assert!(read(&text).expect_err("18 runs").contains("the sweep has 18 runs, more than 17"));
}

#[test]
fn a_sweep_over_sets_of_rules_changes_the_rules() {
    let text = EVERYTHING.replace(
        "path = \"workload.model.lublin.load\"\nvalues = [0.5, 0.7, 0.9]",
        "path = \"workload.log.rules.preset\"\nvalues = [\"careful\", \"canonical\"]",
    );
    let text = text.replace("partial = \"drop\"\n", "");
    // The scenario with its defaults written out is tested too.
    for text in [read(&text).expect("valid").scenario.to_toml(), text] {
        let experiment = read(&text).expect("valid");
        let partial = |at: usize| experiment.variants[at].scenario.workloads[0].rules.partial;
        assert_eq!(partial(0), Some(PartialExecution::Drop));
        assert_eq!(partial(2), Some(PartialExecution::Keep));
    }
}
