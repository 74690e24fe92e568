//! Plans for applications of many phases on clusters: keys that fit together.

use std::collections::BTreeMap;

use super::Check;
use super::exclusions::RECORDED_LOADS;
use super::rule::{Refusal, Words, below, item, refuse};
use crate::file::{MeasuredTimes, Model, PlanCluster, PlanLinks, PlanSearch, Plans, Workload};
use crate::quantity::{Share, TimeSpan};
use haggle_config::document::Path;

/// Smallest part of a machine or link that may be available, in percent.
const LEAST: f64 = 0.01;
/// Largest numbers of machines with links of pairs for the searches: within a budget, to the end, and over all
/// sets.
const WITHIN_BUDGET_MAX: u32 = 256;
const PAIRS_MAX: u32 = 64;
const SCANNED_MAX: u32 = 12;

#[rustfmt::skip] // a table
const PLANS: &[Refusal<Plans>] = &[
    refuse("period", |it, ()| it.period == Some(TimeSpan::ZERO), "the time between changes of loads must be above zero", "no time",
        "write a length of time above zero, or remove it: loads then change when an interval is over"),
    refuse("genetic.elite", |it, ()| it.genetic.elite.fraction() >= 1.0, "`elite` is {elite}, needs less than 100%",
        "any plan is that close", "lower it, such as `elite = \"10%\"`"),
];

/// Clusters; the fact is the largest number of machines that a search can take with links of pairs.
#[rustfmt::skip] // a table
const CLUSTERS: &[Refusal<PlanCluster, u32>] = &[
    refuse("machines", |it, &most| it.machines > most,
        "cluster \"{name}\" has {machines} machines, and with links of pairs this search can take at most {most}", "too many",
        "lower it, set `links = \"uplinks\"`, or `search = \"boxes-within-budget\"`"),
];

/// Least and largest part that may be available; only the first mistake is reported.
#[rustfmt::skip] // a table
const PARTS: &[Refusal<[Share; 2]>] = &[
    refuse("{low}", |[least, _], ()| least.fraction() * 100.0 < LEAST, "`{low}` is {least}, needs at least 0.01%", "too little",
        "write at least \"0.01%\""),
    refuse("{high}", |[_, most], ()| most.fraction() > 1.0, "`{high}` is {most}, more than 100%", "at most 100%", "write at most \"100%\""),
    refuse("", |[least, most], ()| least.fraction() > most.fraction(), "`{low}` is {least}, more than `{high}`, {most}",
        "the two contradict each other", "the smaller one is the minimum"),
];

/// Facts about the cluster of measured times.
struct OfCluster {
    /// Number of its machines, if it is known.
    machines: Option<u32>,
    /// Number of phases in the first row.
    phases: usize,
    /// Row before with as many machines of the cluster.
    before: Option<usize>,
}

#[rustfmt::skip] // a table
const MEASURED: &[Refusal<MeasuredTimes, OfCluster>] = &[
    refuse("machines", |it, of| of.machines.is_some_and(|machines| it.machines > machines),
        "more machines than cluster \"{name}\" has, {machines}", "more than there are", "lower it, or give the cluster more machines"),
    refuse("times", |it, of| it.times.len() != of.phases, "not the times of as many phases as in the first row, {phases}, but {times}",
        "other phases", "write the times of the same phases in every row"),
    refuse("machines", |_, of| of.before.is_some(), "row {before} is about as many machines of cluster \"{name}\"", "again",
        "keep one of them"),
];

impl Check<'_> {
    pub(super) fn check_plans(&mut self) {
        let Some(plans) = &self.scenario.plans else { return };
        let path = Path::root().key("plans");
        let period = plans.period.unwrap_or(TimeSpan::ZERO);
        self.check_recurring(&path.key("period"), period);
        self.refuse(PLANS, &path, (plans, &()), &[("elite", &plans.genetic.elite)]);
        if let Some(loads) = &plans.loads {
            self.check_file(&path.key("loads"), "log", loads);
        }
        self.refuse(RECORDED_LOADS, &path, (plans, &()), &[]);
        let most = machines_max(plans);
        self.check_parts(&path, "available", [plans.available_min, plans.available_max]);
        for (index, cluster) in plans.clusters.iter().enumerate() {
            let path = path.key("cluster").index(index);
            let words: Words<'_> =
                &[("name", &cluster.name), ("machines", &cluster.machines), ("most", &most)];
            self.refuse(CLUSTERS, &path, (cluster, &most), words);
            self.check_parts(&path, "cpu", [cluster.cpu_min, cluster.cpu_max]);
            self.check_parts(&path, "link", [cluster.link_min, cluster.link_max]);
        }
        for (index, workload) in self.scenario.workloads.iter().enumerate() {
            let measured = workload.applications.as_ref().and_then(|it| it.measured.as_ref());
            let path = below(&item("workload", index), "applications.measured");
            self.check_measured(&path, measured.map_or(&[], Vec::as_slice));
        }
    }

    /// Checks the available parts under keys that begin with a `word`.
    fn check_parts(&mut self, path: &Path, word: &str, [least, most]: [Share; 2]) {
        let (low, high) = (format!("{word}-min"), format!("{word}-max"));
        let words: Words<'_> =
            &[("low", &low), ("high", &high), ("least", &least), ("most", &most)];
        self.refuse_first(PARTS, path, (&[least, most], &()), words);
    }

    /// Measured times must name clusters of the scenario, and no more machines than these have.
    fn check_measured(&mut self, path: &Path, rows: &[MeasuredTimes]) {
        let clusters = self.scenario.plans.iter().flat_map(|plans| &plans.clusters);
        let clusters: BTreeMap<&str, u32> =
            clusters.map(|it| (it.name.as_str(), it.machines)).collect();
        let phases = rows.first().map_or(0, |row| row.times.len());
        let mut known = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            let (path, name) = (path.index(index), row.cluster.as_str());
            let machines = clusters.get(name).copied();
            if machines.is_none() {
                let names = clusters.keys().copied().collect();
                self.unknown_name(&path.key("cluster"), "cluster", name, &names);
            }
            let before = known.insert((name, row.machines), index + 1);
            let words: Words<'_> = &[
                ("name", &name),
                ("machines", &machines.unwrap_or(0)),
                ("phases", &phases),
                ("times", &row.times.len()),
                ("before", &before.unwrap_or(0)),
            ];
            self.refuse(MEASURED, &path, (row, &OfCluster { machines, phases, before }), words);
        }
    }
}

/// Largest number of machines of a cluster. With a link for each pair of machines, a search builds sets greedily many
/// times, so it can take fewer machines.
fn machines_max(plans: &Plans) -> u32 {
    match plans.search {
        _ if plans.links != PlanLinks::Pairs => u32::MAX,
        PlanSearch::BoxesWithinBudget => WITHIN_BUDGET_MAX,
        PlanSearch::Hulls | PlanSearch::Boxes => PAIRS_MAX,
        PlanSearch::Scan => SCANNED_MAX,
    }
}

/// True if the jobs of a workload are applications of phases.
pub(super) fn is_of_applications(workload: &Workload) -> bool {
    workload.model == Some(Model::Applications)
}
