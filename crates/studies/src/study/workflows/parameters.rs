//! The parameters of both chapters as in the runs (Chtepen 2011, tables 5.2 and 6.1), and the sites of
//! their grids as drawn (figure 6.3).

use haggle_model::progress::{EstimateError, Side};

use super::{Point, variant, workflows};
use crate::data::Data;
use crate::study::{Compute, Effort};
use haggle_experiment::grid::speeds;
use haggle_scenario::Scenario;
use haggle_scenario::file::{Grid, InformationMode, TimeLaw, Workload};

/// A scenario of each chapter. Tasks with fluctuating estimates have all parameters.
const CHAPTERS: [(&str, &str, Point); 2] = [
    ("5", "balance.toml", &[("estimates", "fluctuating"), ("spread", "80%"), ("width", "20")]),
    ("6", "prediction.toml", &[("noise", "50%")]),
];
/// Number of seeds over which ranges of drawn parameters are taken.
const SEEDS: u64 = 10;

/// The study: each parameter as `value`, with its unit in its name. Drawn parameters have rows for the
/// smallest and the largest value.
pub(in crate::study) struct WorkflowParameters;

impl Compute for WorkflowParameters {
    fn name(&self) -> &'static str {
        "workflow-parameters"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["parameter", "chapter"]);
        for (chapter, file, at) in CHAPTERS {
            let scenario = variant(file, at)?;
            let grid = scenario.grid.as_ref().ok_or("there is no grid")?;
            let workload = scenario.workloads.first().ok_or("there is no workload")?;
            let mut rows = of_grid(&scenario, grid);
            rows.extend(of_tasks(workload));
            rows.extend(drawn(&scenario)?);
            for (parameter, value) in rows {
                data.push(&[parameter, chapter], 1, &[("value", value)]);
            }
        }
        Ok(data)
    }
}

type Row = (&'static str, f64);

fn of_grid(scenario: &Scenario, grid: &Grid) -> Vec<Row> {
    let all = grid.sites.iter().flat_map(|site| speeds(scenario.scenario.seed, site));
    let (count, slowest, fastest) = all
        .fold((0.0, f64::INFINITY, 0.0_f64), |(count, low, high), speed| {
            (count + 1.0, low.min(speed), high.max(speed))
        });
    let network = &grid.network;
    let mut rows = vec![
        ("sites", grid.sites.len() as f64),
        ("resources", count),
        ("tasks on a resource, at most", grid.sites[0].slots().map_or(f64::NAN, f64::from)),
        ("slowest resource, MIPS", slowest),
        ("fastest resource, MIPS", fastest),
        ("time between rounds, min", grid.period.0.as_secs_f64() / 60.0),
        ("bandwidth in a site, Gbit/s", network.bandwidth.0 / 1e9),
        ("latency in a site, ms", 1e3 * network.latency.0.as_secs_f64()),
        ("bandwidth of a flow between sites, Mbit/s", network.wan_bandwidth.0 / 1e6),
    ];
    if grid.information.mode == InformationMode::Periodic {
        rows.push((
            "time between two views of the grid, min",
            grid.information.delay.0.as_secs_f64() / 60.0,
        ));
    }
    if let TimeLaw::Uniform { low, high } = &network.wan_latency {
        rows.push(("least latency between sites, ms", 1e3 * low.0.as_secs_f64()));
        rows.push(("largest latency between sites, ms", 1e3 * high.0.as_secs_f64()));
    }
    if let Some(cost) = grid.checkpoints.as_ref().and_then(|it| it.cost) {
        rows.push(("cost of a checkpoint, s", cost.0.as_secs_f64()));
    }
    if let Some((load, period)) = grid.sites[0].load.and_then(|load| Some((load, load.period?))) {
        rows.push(("time between changes of load, min", period.0.as_secs_f64() / 60.0));
        rows.push(("least change of load, %", 100.0 * load.change_min.fraction()));
        rows.push(("largest change of load, %", 100.0 * load.change_max.fraction()));
    }
    rows
}

fn of_tasks(workload: &Workload) -> Vec<Row> {
    let data = workload.data.unwrap_or_default();
    let mut rows = vec![
        ("input of a task, GB", data.input.0 as f64 / 1e9),
        ("output of a task, GB", data.output.0 as f64 / 1e9),
        ("checkpoint of a task, GB", data.checkpoint.0 as f64 / 1e9),
    ];
    if let Some(progress) = workload.workflows.as_ref().and_then(|it| it.progress) {
        rows.push(("least amplitude A, % of the length", 100.0 * progress.amplitude));
        rows.push(("largest amplitude A, % of the length", 100.0 * progress.amplitude_max));
        rows.push(("least estimate, % of the length", 100.0 * progress.floor.fraction()));
        rows.push(("work between two reports, % of the length", 100.0 * progress.step.fraction()));
        rows.push(("noise p, % of the amplitude", 100.0 * progress.noise.fraction()));
    }
    rows
}

/// Ranges of the parameters that tasks have drawn.
fn drawn(scenario: &Scenario) -> Result<Vec<Row>, String> {
    let first = scenario.scenario.seed;
    let (mut children, mut flows) = (0, 0);
    let mut decay = Range::default();
    let mut swing = Range::default();
    let mut shift = Range::default();
    for seed in first..first + SEEDS {
        for tasks in workflows(scenario, seed)? {
            flows += 1;
            children += tasks.len() - 1;
            for task in tasks.iter().filter_map(|job| job.task.as_ref()?.progress) {
                let EstimateError { side, decay: b, .. } = task.error();
                decay.take_in(b);
                if let Side::Fluctuating { period, shift: at, .. } = side {
                    swing.take_in(100.0 * period / task.actual());
                    shift.take_in(100.0 * at / task.actual());
                }
            }
        }
    }
    Ok(vec![
        (
            "tasks that need others, mean of a workflow",
            f64::from(children as u32) / f64::from(flows),
        ),
        ("least decay b drawn, a per cent done", decay.low),
        ("largest decay b drawn, a per cent done", decay.high),
        ("least period F drawn, % of the length", swing.low),
        ("largest period F drawn, % of the length", swing.high),
        ("least phase shift r2 φ drawn, % of the length", shift.low),
        ("largest phase shift r2 φ drawn, % of the length", shift.high),
    ])
}

struct Range {
    low: f64,
    high: f64,
}

impl Default for Range {
    fn default() -> Range {
        Range { low: f64::INFINITY, high: f64::NEG_INFINITY }
    }
}

impl Range {
    fn take_in(&mut self, value: f64) {
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }
}

/// The study: the sites of each chapter's grid as drawn for the first replication. Values are the
/// number of `resources`, the `slots` of one, and their speeds: `slowest`, `mean` and `fastest`, MIPS.
pub(in crate::study) struct WorkflowSites;

impl Compute for WorkflowSites {
    fn name(&self) -> &'static str {
        "workflow-sites"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["chapter", "site"]);
        for (chapter, file, at) in CHAPTERS {
            let scenario = variant(file, at)?;
            let grid = scenario.grid.as_ref().ok_or("there is no grid")?;
            for site in &grid.sites {
                let speeds = speeds(scenario.scenario.seed, site);
                let mut range = Range::default();
                speeds.iter().for_each(|&speed| range.take_in(speed));
                let values = [
                    ("resources", speeds.len() as f64),
                    ("slots", site.slots().map_or(f64::NAN, f64::from)),
                    ("slowest", range.low),
                    ("mean", speeds.iter().sum::<f64>() / speeds.len() as f64),
                    ("fastest", range.high),
                ];
                data.push(&[chapter, site.name.as_str()], 1, &values);
            }
        }
        Ok(data)
    }
}
