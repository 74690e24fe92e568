//! The runs of a sweep with which the others are compared, job by job.

use std::collections::BTreeMap;

use super::axis::{Place, text_of};
use super::{Experiment, Run, Setting};
use crate::{Problem, Scenario};
use haggle_config::Findings;
use haggle_config::document::{Node, Path};
use haggle_config::nearest;

/// Reports unknown axes and values in `[sweep] reference` and in `against` of figures, and references with which
/// nothing can be compared.
pub(super) fn check(scenario: &Scenario, root: &Node, places: &[Place], findings: &mut Findings) {
    let mut report = |path: &Path, message: String, label: &str, help: String| {
        let (span, label) = (root.place(path), label.into());
        findings.problems.push(Problem { message, span, label, help: Some(help) });
    };
    if let Some(reference) = scenario.sweep.as_ref().and_then(|sweep| sweep.reference.as_ref()) {
        let at = Path::root().key("sweep").key("reference");
        let seed = Path::root().key("scenario").key("seed");
        for place in places.iter().filter(|place| place.sets(&seed)) {
            let message =
                format!("runs of axis \"{}\" have other jobs than their reference", place.axis);
            let help = "runs are compared job by job; `replications` of `[sweep]` repeats each with other seeds";
            report(&at, message, "compares runs of one seed", help.to_owned());
        }
        check_values(reference, &at, places, &mut report);
    }
    for (index, figure) in scenario.figures.iter().enumerate() {
        if let Some(against) = &figure.against {
            let at = Path::root().key("figure").index(index).key("against");
            check_values(against, &at, places, &mut report);
        }
    }
}

/// Reports unknown axes and values, and a reference that contains all runs.
fn check_values(
    reference: &BTreeMap<String, toml::Value>,
    at: &Path,
    places: &[Place],
    report: &mut impl FnMut(&Path, String, &str, String),
) {
    let mut others = 0;
    for (axis, value) in reference {
        let Some(place) = places.iter().find(|place| place.axis == *axis) else {
            let known = || places.iter().map(|place| place.axis.as_str());
            let help = match nearest(axis, known()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("there is {}", Vec::from_iter(known()).join(", ")),
            };
            report(&at.key(axis), format!("the sweep has no axis \"{axis}\""), "no axis", help);
            continue;
        };
        let values = Vec::from_iter(place.values.iter().map(|value| text_of(&value.to_toml())));
        others += values.len() - 1;
        if !values.contains(&text_of(value)) {
            let message = format!("axis \"{axis}\" has no value {}", text_of(value));
            let help = format!("it has {}", values.join(", "));
            report(&at.key(axis), message, "not there", help);
        }
    }
    // Only if all axes are known: an unknown one has been reported.
    if others == 0 && reference.keys().all(|axis| places.iter().any(|it| it.axis == *axis)) {
        let message = "every run would be its own reference".to_owned();
        let help = "name an axis that has other values, such as `{ policy = \"fcfs\" }`";
        report(at, message, "compares nothing", help.to_owned());
    }
}

impl Experiment {
    /// Values of axes of the reference runs, if the sweep has a reference.
    pub fn reference(&self) -> Option<BTreeMap<String, String>> {
        let reference = self.scenario.sweep.as_ref()?.reference.as_ref()?;
        Some(reference.iter().map(|(axis, value)| (axis.clone(), text_of(value))).collect())
    }
}

/// Reference run of each run of a sweep.
pub struct References<'e> {
    experiment: &'e Experiment,
    /// Axes of the reference, and their values there.
    at: BTreeMap<String, String>,
    /// Places of variants, by their values on all axes.
    places: BTreeMap<Vec<String>, usize>,
}

impl<'e> References<'e> {
    /// References of a sweep; `None` if it has no `reference`.
    pub fn of(experiment: &'e Experiment) -> Option<References<'e>> {
        let at = experiment.reference()?;
        let point = |(place, variant): (usize, &'e super::Variant)| {
            (variant.settings.iter().map(Setting::text).collect(), place)
        };
        let places = experiment.variants.iter().enumerate().map(point).collect();
        Some(References { experiment, at, places })
    }

    /// Run with which `run` is compared; `None` for a reference itself.
    pub fn run(&self, run: &Run<'_>) -> Option<Run<'e>> {
        let text = |it: &Setting| self.at.get(&it.axis).cloned().unwrap_or_else(|| it.text());
        let point: Vec<String> = run.variant.settings.iter().map(text).collect();
        let place = *self.places.get(&point)?;
        let variant = &self.experiment.variants[place];
        if variant.label == run.variant.label {
            return None;
        }
        let replications = self.experiment.replications as usize;
        // Runs are numbered variant by variant, so equal remainders are equal replications.
        let number = place * replications + run.number % replications;
        Some(Run { number, variant, seed: run.seed })
    }
}
