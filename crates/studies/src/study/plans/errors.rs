//! Errors of predictions compared with measurements: by models of phases, and by one model for the
//! whole application (section 7.2.1).
//!
//! The paper's runs cannot be repeated, and its models are not published. Here, the time of a run is
//! the prediction of its phases' models under the loads of each phase, multiplied by a lognormal
//! factor. The factor's width is chosen such that the errors of these models are about as printed. The
//! error of models of phases thus is an input; only the additional error of one model is a result.

use haggle_planning::fit::{Observation, fit};
use haggle_planning::synthetic::{ApplicationKind, BANDWIDTH, CPU, Draws};
use haggle_planning::{Phase, Shares};

use super::{Compute, Effort, each};
use crate::data::Data;

/// The applications, with the width of the lognormal factor.
const APPLICATIONS: [(&str, ApplicationKind, f64); 5] = [
    ("MD", ApplicationKind::Md, 0.31),
    ("Athena", ApplicationKind::Athena, 0.23),
    CHANGA,
    ("MPB", ApplicationKind::Mpb, 0.23),
    ("LAMMPS", ApplicationKind::Lammps, 0.27),
];

const CHANGA: (&str, ApplicationKind, f64) = ("ChaNGa", ApplicationKind::Changa, 0.32);

/// Number of runs of an application (section 7.2.1).
pub(super) const RUNS: usize = 150;
/// Number of synthetic applications of each kind.
const DRAWN: u32 = 5;

/// Problem sizes and numbers of processors: of the runs from which a model is fitted, and of the
/// predicted runs.
const KNOWN: (&[f64], &[f64]) = (&[0.25, 0.5, 1.0], &[4.0, 8.0, 16.0]);
const PREDICTED: (&[f64], &[f64]) =
    (&[0.25, 0.5, 1.0, 2.0, 4.0], &[4.0, 8.0, 16.0, 24.0, 32.0, 48.0]);

/// A run: its measured time, and the time predicted by models of its phases, s.
struct Run {
    seen: Observation,
    predicted: f64,
}

/// A number near `base`, in `range`.
fn near(draws: &mut Draws, base: f64, width: f64, range: (f64, f64)) -> f64 {
    (base + width * (draws.uniform() - 0.5)).clamp(range.0, range.1)
}

fn run(draws: &mut Draws, phases: &[Phase], among: (&[f64], &[f64]), sigma: f64) -> Run {
    let (sizes, numbers) = among;
    let size = draws.one_of(sizes);
    let processors = draws.one_of(numbers) as u32;
    let (cpu, bandwidth) = (draws.between(CPU.0, CPU.1), draws.between(BANDWIDTH.0, BANDWIDTH.1));
    let mut mean = Shares { cpu: 0.0, bandwidth: 0.0 };
    let mut predicted = 0.0;
    for phase in phases {
        let cpu = near(draws, cpu, 0.9, CPU);
        let shares = Shares { cpu, bandwidth: near(draws, bandwidth, 0.6, BANDWIDTH) };
        predicted += phase.seconds(size, shares, processors);
        mean.cpu += shares.cpu / phases.len() as f64;
        mean.bandwidth += shares.bandwidth / phases.len() as f64;
    }
    let seconds = predicted * (sigma * draws.normal()).exp();
    Run { seen: Observation { size, shares: mean, processors, seconds }, predicted }
}

/// Errors of predictions in percent of the measured time: by one model, and by models of phases.
fn errors(kind: ApplicationKind, sigma: f64, seed: u64) -> Result<Vec<[f64; 2]>, String> {
    let phases = kind.draw(seed);
    // The phases use the same seed, so runs need other draws.
    let mut draws = Draws::new(seed.wrapping_add(1_000_000 * kind.phases() as u64));
    let mut runs =
        |among| Vec::from_iter((0..RUNS).map(|_| run(&mut draws, &phases, among, sigma)));
    let known = Vec::from_iter(runs(KNOWN).iter().map(|run| run.seen));
    let model = fit(&known).ok_or("no run is known")?;
    let error = |predicted: f64, seen: &Observation| {
        100.0 * (predicted - seen.seconds).abs() / seen.seconds
    };
    let both = |Run { seen, predicted }: &Run| {
        let single = model.seconds(seen.size, seen.shares, seen.processors);
        [error(single, seen), error(*predicted, seen)]
    };
    Ok(runs(PREDICTED).iter().map(both).collect())
}

/// Mean and standard deviation.
fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count().max(2) as f64;
    let mean = values.clone().sum::<f64>() / count;
    let squares = values.map(|value| (value - mean) * (value - mean)).sum::<f64>();
    (mean, (squares / (count - 1.0)).sqrt())
}

/// Means and deviations over the runs of five synthetic applications of each kind (table 1).
pub(in crate::study) struct PredictionErrors;

impl Compute for PredictionErrors {
    fn name(&self) -> &'static str {
        "prediction-errors"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["application"]);
        let seeds = Vec::from_iter(1..=u64::from(effort.replications(DRAWN, &mut data)));
        for (name, kind, sigma) in APPLICATIONS {
            let all = each(&seeds, |seed| errors(kind, sigma, seed))?;
            for (&seed, errors) in seeds.iter().zip(&all) {
                let (single, single_sd) = moments(errors.iter().map(|it| it[0]));
                let (cumulative, cumulative_sd) = moments(errors.iter().map(|it| it[1]));
                let values = [
                    ("single", single),
                    ("single_sd", single_sd),
                    ("cumulative", cumulative),
                    ("cumulative_sd", cumulative_sd),
                ];
                data.push(&[name], seed, &values);
            }
        }
        Ok(data)
    }
}

/// The runs of one synthetic ChaNGa, one by one (figure 6).
pub(in crate::study) struct PredictionRuns;

impl Compute for PredictionRuns {
    fn name(&self) -> &'static str {
        "prediction-runs"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["run"]);
        let (_, kind, sigma) = CHANGA;
        for (number, [single, cumulative]) in (1_u32..).zip(errors(kind, sigma, 1)?) {
            let values = [("single", single), ("cumulative", cumulative)];
            data.push(&[&number.to_string()], 1, &values);
        }
        Ok(data)
    }
}
