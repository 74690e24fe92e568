//! Settings of the other studies of plans (sections 4, 7 and 7.2). Random settings are taken from the
//! draws themselves.

use std::collections::BTreeSet;

use haggle_planning::plan::GeneticOptions;
use haggle_planning::synthetic::{ApplicationKind, SyntheticGrid};

use super::costs::{COSTS, DRAWS, PHASES};
use super::errors::RUNS;
use super::runs::GRIDS;
use super::{Compute, Effort, MACHINES, THRESHOLD};
use crate::data::Data;

/// Smallest and largest value of each setting, and number of distinct values.
pub(in crate::study) struct PlanSettings;

impl Compute for PlanSettings {
    fn name(&self) -> &'static str {
        "plan-settings"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["setting"]);
        let grids = effort.replications(GRIDS, &mut data);
        let genetic = GeneticOptions::default();
        let applications = [
            ("phases of MD", ApplicationKind::Md),
            ("phases of ChaNGa", ApplicationKind::Changa),
            ("phases of Athena", ApplicationKind::Athena),
            ("phases of LAMMPS", ApplicationKind::Lammps),
            ("phases of MPB", ApplicationKind::Mpb),
        ];
        let fixed = [
            ("threshold, min", THRESHOLD.as_secs_f64() / 60.0),
            ("machines of the one cluster", MACHINES as f64),
            ("merged phases of ChaNGa", PHASES as f64),
            ("draws of its loads", f64::from(DRAWS)),
            ("runs predicted of an application", RUNS as f64),
            ("grids", f64::from(GRIDS)),
            ("generations", genetic.generations as f64),
            ("chromosomes", genetic.population as f64),
            ("elite, %", 100.0 * genetic.elite),
        ];
        let phases = applications.map(|(name, kind)| (name, kind.phases() as f64));
        for (name, value) in fixed.into_iter().chain(phases) {
            push(&mut data, name, [value]);
        }
        push(
            &mut data,
            "cost of rescheduling on the one cluster, s",
            COSTS.map(|cost| cost as f64),
        );
        push_grids(&mut data, &Vec::from_iter((0..u64::from(grids)).map(SyntheticGrid::draw)));
        Ok(data)
    }
}

/// Adds the drawn settings of grids, and of their loads at the beginning.
fn push_grids(data: &mut Data, grids: &[SyntheticGrid]) {
    let clusters = || grids.iter().flat_map(SyntheticGrid::clusters);
    let loads = Vec::from_iter(grids.iter().map(|grid| grid.loads(0)));
    let between = grids.iter().flat_map(|grid| {
        let pairs = pairs(grid.clusters().count());
        pairs.map(move |(one, other)| grid.between(one, other))
    });
    let ways = loads.iter().flat_map(|loads| {
        pairs(loads.between.len()).map(move |(one, other)| 100.0 * loads.between[one][other])
    });
    let loaded = || loads.iter().flat_map(|loads| &loads.clusters);
    push(data, "clusters of a grid", grids.iter().map(|grid| grid.clusters().count() as f64));
    push(data, "machines of a cluster", clusters().map(|(machines, ..)| f64::from(machines)));
    push(data, "speed of a cluster", clusters().map(|(_, speed, _)| speed));
    push(data, "bandwidth within a cluster, Mbit/s", clusters().map(|(.., within)| within));
    push(data, "bandwidth between clusters, Mbit/s", between);
    push(data, "available of a processor, %", loaded().flat_map(|it| &it.0).map(|it| 100.0 * it));
    push(data, "available of a link, %", loaded().flat_map(|it| &it.1).map(|it| 100.0 * it));
    push(data, "available between clusters, %", ways);
}

/// All pairs of numbers below `count`.
fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |one| (one + 1..count).map(move |other| (one, other)))
}

fn push(data: &mut Data, setting: &str, values: impl IntoIterator<Item = f64>) {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut different = BTreeSet::new();
    for value in values {
        (least, most) = (least.min(value), most.max(value));
        // A set needs an order of all values, which floats lack and their bits have.
        different.insert(value.to_bits());
    }
    let values = [("least", least), ("most", most), ("different", different.len() as f64)];
    data.push(&[setting], 1, &values);
}
