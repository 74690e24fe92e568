//! Runs for tests.

use std::path::{Path, PathBuf};

use haggle_scenario::{Experiment, Logs, Scenario, Source};

/// The folder of the example scenarios.
pub(crate) fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// Carries out the first run of a scenario, given by its path, into a folder.
pub(crate) fn carry_out(scenario: &Path, folder: &Path, change: impl Fn(&mut Scenario)) {
    use haggle_experiment::{Conduct, Destination, Figures, Keep, run};
    let source = Source::read(scenario).expect("it can be read");
    let experiment = Experiment::read(source, Logs::MustExist).expect("it is valid");
    let mut scenario_of_run = experiment.runs().next().expect("a run").scenario();
    change(&mut scenario_of_run);
    let destination = Destination {
        folder: folder.to_owned(),
        end: None,
        existing: haggle_results::Existing::Keep,
        keep: Keep::Tables,
        figures: Figures::Skip,
    };
    let from = scenario.parent().expect("a folder");
    run(&scenario_of_run, from, Some(&destination), &Conduct::plain()).expect("it is carried out");
}

/// A run of an example.
pub(crate) fn example(name: &str, folder: &Path) {
    carry_out(&scenarios().join(format!("{name}.toml")), folder, |_| {});
}
