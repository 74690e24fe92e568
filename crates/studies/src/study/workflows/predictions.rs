//! Errors of predicted lengths by number of reports (Chtepen 2011, section 6.4 and 6.5.2).

use haggle_grids::workflows::curve::Direction;
use haggle_grids::workflows::prediction::{CurveFit, Extrapolation, History, Predictor};
use haggle_model::progress::{Progress, Side};

use super::{side_by_side, variant, workflows};
use crate::data::Data;
use crate::study::{Compute, Effort};

/// The study: values over tasks of the runs of chapter 6, by the noise of their reports and the number
/// of reports,
///
/// - `extrapolated` and `fitted`: error of a prediction, mean over tasks, % of the length;
/// - `better`: tasks whose fitted curve is nearer than the extrapolation, or as near within a millionth of the
///   length, %;
/// - `wrong`: of the tasks whose estimates err to one side and for which a curve was found, those for which the
///   curve from the other side was taken, %;
/// - `near`: tasks whose last estimate is less than 5 % off, %.
pub(in crate::study) struct LengthPredictions;

const NOISES: [&str; 3] = ["0%", "5%", "50%"];
/// Numbers of reports; there are two per per cent of work.
const REPORTS: [usize; 8] = [4, 6, 10, 20, 40, 80, 140, 200];
const REPLICATIONS: u32 = 10;
/// Largest difference of equal errors, as a part of the length.
const SAME: f64 = 1e-6;

impl Compute for LengthPredictions {
    fn name(&self) -> &'static str {
        "length-predictions"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["noise", "reports"]);
        let replications = effort.replications(REPLICATIONS, &mut data);
        for noise in NOISES {
            let scenario = variant("prediction.toml", &[("noise", noise)])?;
            let first = scenario.scenario.seed;
            for seed in first..first + u64::from(replications) {
                // Only one task of each workflow, because a curve through 200 reports takes a millisecond.
                let flows = workflows(&scenario, seed)?;
                let jobs = flows.iter().filter_map(|tasks| side_by_side(tasks).first());
                let tasks = jobs.filter_map(|job| job.task.as_ref()?.progress);
                let tasks: Vec<Progress> = tasks.collect();
                for count in REPORTS {
                    let mut sums = Sums::default();
                    tasks.iter().for_each(|task| sums.take_in(task, count));
                    data.push(&[noise, &count.to_string()], seed, &sums.values());
                }
            }
        }
        Ok(data)
    }
}

#[derive(Default)]
struct Sums {
    tasks: u32,
    extrapolated: f64,
    fitted: f64,
    better: u32,
    one_sided: u32,
    wrong: u32,
    near: u32,
}

impl Sums {
    fn take_in(&mut self, task: &Progress, count: usize) {
        let reports = task.reports(task.actual(), 0);
        // A task may have ended before it has made that many reports.
        let reports = &reports[..count.min(reports.len())];
        let done = reports.last().map_or(0.0, |report| report.done);
        let history = History { a_priori: None, reports, done };
        let off = |predictor: &dyn Predictor| {
            let length = predictor.predict(&history).unwrap_or_default();
            (length - task.actual()).abs() / task.actual()
        };
        let (extrapolated, fitted) = (off(&Extrapolation), off(&CurveFit::default()));
        self.tasks += 1;
        self.extrapolated += extrapolated;
        self.fitted += fitted;
        self.better += u32::from(fitted <= extrapolated + SAME);
        self.near += u32::from(extrapolated < 0.05);
        // Estimates above the length fall towards it, and those below rise. If they fluctuate, neither is
        // wrong.
        let right = match task.error().side {
            Side::Over => Some(Direction::Falling),
            Side::Under => Some(Direction::Rising),
            Side::Fluctuating { .. } => None,
        };
        if let (Some(right), Some((taken, _))) = (right, CurveFit::default().fit(&history)) {
            self.one_sided += 1;
            self.wrong += u32::from(taken != right);
        }
    }

    fn values(&self) -> [(&'static str, f64); 5] {
        let tasks = f64::from(self.tasks);
        // Without one-sided tasks there is no wrong curve, so the share is 0 instead of undefined.
        let one_sided = f64::from(self.one_sided.max(1));
        [
            ("extrapolated", 100.0 * self.extrapolated / tasks),
            ("fitted", 100.0 * self.fitted / tasks),
            ("better", 100.0 * f64::from(self.better) / tasks),
            ("wrong", 100.0 * f64::from(self.wrong) / one_sided),
            ("near", 100.0 * f64::from(self.near) / tasks),
        ]
    }
}
