//! Estimates of tasks for their lengths while they run, and predictions from these (Chtepen 2011,
//! figures 5.3, 6.2 and 6.7).

use haggle_grids::workflows::prediction::{CurveFit, History, Predictor};
use haggle_model::progress::{Progress, ProgressReport};

use super::{Point, variant, word, workflows};
use crate::data::Data;
use crate::study::{Compute, Effort};
use haggle_scenario::Scenario;

/// The study: its axis `done` is the share of a task's work that is done, per cent. Values are the
/// task's `estimate`, and the prediction of a `fit`ted curve, in per cent of its length.
///
/// For each kind of error, it shows the task of a day whose errors last longer than those of nine in
/// ten tasks. Most tasks know their length after a few reports.
pub(in crate::study) struct EstimateCurves;

/// The variants, by chapter and noise.
const CASES: [(&str, &str, &str, Point); 6] = [
    ("5", "0%", "balance.toml", &[("estimates", "under")]),
    ("5", "0%", "balance.toml", &[("estimates", "fluctuating")]),
    ("5", "0%", "balance.toml", &[("estimates", "over")]),
    ("6", "0%", "prediction.toml", &[("noise", "0%")]),
    ("6", "5%", "prediction.toml", &[("noise", "5%")]),
    ("6", "50%", "prediction.toml", &[("noise", "50%")]),
];

const WAYS: [&str; 3] = ["over", "under", "fluctuating"];

impl Compute for EstimateCurves {
    fn name(&self) -> &'static str {
        "estimate-curves"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["chapter", "noise", "estimates", "done"]);
        for (chapter, noise, file, at) in CASES {
            for (way, task) in long_errors(&variant(file, at)?)? {
                let reports = task.reports(task.actual(), 0);
                for count in 1..=reports.len() {
                    let known = &reports[..count];
                    let last = &known[count - 1];
                    let of_length = |length: f64| 100.0 * length / task.actual();
                    let done = format!("{:.1}", 100.0 * last.done / task.actual());
                    let values =
                        [("estimate", of_length(last.length())), ("fit", of_length(fit(known)))];
                    data.push(&[chapter, noise, way, &done], 1, &values);
                }
            }
        }
        Ok(data)
    }
}

/// For each kind of error that occurs, the task whose decay is slower than that of nine in ten.
fn long_errors(scenario: &Scenario) -> Result<Vec<(&'static str, Progress)>, String> {
    let tasks = workflows(scenario, scenario.scenario.seed)?;
    let tasks = tasks.iter().flatten().filter_map(|job| job.task.as_ref()?.progress);
    let tasks: Vec<Progress> = tasks.collect();
    let slow = |way: &'static str| {
        let of_way = tasks.iter().filter(|task| word(task.error().side) == way);
        let mut of_way: Vec<Progress> = of_way.copied().collect();
        of_way.sort_by(|a, b| a.error().decay.total_cmp(&b.error().decay));
        // In ascending order of decay, the slowest tenth of all tasks comes before this one.
        of_way.get(of_way.len() / 10).map(|task| (way, *task))
    };
    Ok(WAYS.into_iter().filter_map(slow).collect())
}

fn fit(reports: &[ProgressReport]) -> f64 {
    let done = reports.last().map_or(0.0, |report| report.done);
    let history = History { a_priori: None, reports, done };
    CurveFit::default().predict(&history).unwrap_or_default()
}
