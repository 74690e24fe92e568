//! Costs of plans for one cluster (section 7.2.2).

use std::sync::Arc;

use haggle_model::Span;
use haggle_model::random::stream;
use haggle_planning::plan::GeneticOptions;
use haggle_planning::synthetic::{
    ApplicationKind, BANDWIDTH, CPU, Draws, hierarchical, loaded, loaded_between,
};
use haggle_planning::{
    Application, Cluster, ClusterOracle, Interval, IntervalOracle, Method, PlanSearch, Problem,
};

use super::{Compute, Effort, MACHINES, MIGRATION, THRESHOLD, application, each, methods};
use crate::data::Data;

/// Costs of rescheduling, s (section 7.2.2).
pub(super) const COSTS: [i64; 6] = [0, 60, 120, 180, 240, 300];
/// Number of draws of loads (section 7.2.2).
pub(super) const DRAWS: u32 = 50;
/// Number of merged phases of ChaNGa (section 7.2.2).
pub(super) const PHASES: usize = 15;

/// The first 45 phases of ChaNGa, merged in threes.
fn changa() -> Result<Arc<Application>, String> {
    application(&ApplicationKind::Changa.draw(1)[..3 * PHASES], 3)
}

fn oracle(application: &Arc<Application>, cluster: Cluster) -> Result<ClusterOracle, String> {
    let oracle = ClusterOracle::new(application, &Arc::new(cluster), PlanSearch::Hulls);
    oracle.ok_or_else(|| "a cluster has no machines".to_owned())
}

fn problem(oracle: &ClusterOracle, rescheduling: Span) -> Problem<'_, ClusterOracle> {
    Problem { oracle, first: 1, rescheduling, threshold: THRESHOLD }
}

/// One instance: the plans of all planners.
struct Costs {
    /// Cost of the plan by dynamic programming.
    optimum: f64,
    /// A lower bound of the costs of all plans.
    phase_sum: f64,
    /// For each planner: cost and number of markers of its plan, and number of examined intervals or plans.
    planners: Vec<(&'static str, [f64; 3])>,
    /// Reduction of the genetic plan's cost by the last ten generations, in percent.
    late_gain: f64,
    /// Largest increase of an interval's time if it is split in two, s.
    split_loss: f64,
}

fn costs(application: &Arc<Application>, seed: u64, rescheduling: Span) -> Result<Costs, String> {
    let oracle = oracle(application, loaded(&mut Draws::new(seed), MACHINES))?;
    let problem = problem(&oracle, rescheduling);
    // All planners use the same draws. A run with fewer generations thus is the beginning of one with more.
    let plan = |method: Method| {
        let plan = method.plan(&problem, &mut stream(seed, "cluster", "plans"));
        [plan.cost.as_secs_f64(), plan.markers().len() as f64, plan.examined as f64]
    };
    // The number of plans doubles with each phase. For more phases, the equal optimum by number is the
    // reference.
    let reference = match application.phases() {
        ..=PHASES => ("brute-force", Method::BruteForce),
        _ => ("by-number", Method::OptimumByNumber),
    };
    let [optimum, ..] = plan(Method::Optimum);
    let methods = [reference, ("optimum", Method::Optimum)].into_iter().chain(methods());
    let planners = Vec::from_iter(methods.map(|(name, method)| (name, plan(method))));
    let [early, ..] =
        plan(Method::Genetic(GeneticOptions { generations: 40, ..GeneticOptions::default() }));
    // The genetic planner is the last one of `methods`.
    let [genetic, ..] = planners[planners.len() - 1].1;
    Ok(Costs {
        optimum,
        phase_sum: problem.phase_sum().as_secs_f64(),
        planners,
        late_gain: 100.0 * (early - genetic) / early,
        split_loss: split_loss(&oracle).as_secs_f64(),
    })
}

/// Largest increase of any interval's time if it is split in two.
fn split_loss(oracle: &ClusterOracle) -> Span {
    let phases = oracle.phases();
    let intervals =
        (1..=phases).flat_map(|first| (first..=phases).map(move |last| Interval::new(first, last)));
    let losses = intervals.flat_map(|whole| {
        (whole.first..whole.last).map(move |phase| {
            let (left, right) = whole.split_after(phase);
            oracle.least_time(left) + oracle.least_time(right) - oracle.least_time(whole)
        })
    });
    losses.max().unwrap_or(Span::ZERO)
}

fn push_costs(data: &mut Data, at: &[&str], seed: u64, costs: &Costs) {
    let Costs { optimum, phase_sum, ref planners, late_gain, split_loss } = *costs;
    for &(method, [cost, markers, examined]) in planners {
        let values = [
            ("cost", cost),
            ("gap_percent", 100.0 * (cost - optimum) / optimum),
            ("gap_to_phase_sum_percent", 100.0 * (cost - phase_sum) / phase_sum),
            ("markers", markers),
            ("examined", examined),
            ("late_gain_percent", late_gain),
            ("split_loss", split_loss),
        ];
        data.push(&[at, &[method]].concat(), seed, &values);
    }
}

/// Plans of one cluster for 15 merged phases of ChaNGa, at six costs of rescheduling, under 50 draws of loads.
pub(in crate::study) struct PlanCosts;

impl Compute for PlanCosts {
    fn name(&self) -> &'static str {
        "plan-costs"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["rescheduling", "method"]);
        let seeds = Vec::from_iter(1..=u64::from(effort.replications(DRAWS, &mut data)));
        let application = changa()?;
        for seconds in COSTS {
            let all = each(&seeds, |seed| costs(&application, seed, Span::from_secs(seconds)))?;
            for (&seed, costs) in seeds.iter().zip(&all) {
                push_costs(&mut data, &[&seconds.to_string()], seed, costs);
            }
        }
        Ok(data)
    }
}

/// The same for 20 hierarchical applications, whose regimes last long.
pub(in crate::study) struct Hierarchies;

impl Compute for Hierarchies {
    fn name(&self) -> &'static str {
        "plan-hierarchies"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["method"]);
        let seeds = Vec::from_iter(1..=u64::from(effort.replications(20, &mut data)));
        let all = each(&seeds, |seed| {
            let phases = hierarchical(seed, ApplicationKind::Changa.phases(), 0.95);
            costs(&application(&phases, 1)?, seed, Span::from_secs(120))
        })?;
        for (&seed, costs) in seeds.iter().zip(&all) {
            push_costs(&mut data, &[], seed, costs);
        }
        Ok(data)
    }
}

/// Range of an available part.
type Part = (f64, f64);

/// Usual and mild loads: their names, and the available parts of processors and links.
const LOADS: [(&str, Part, Part); 2] =
    [("usual", CPU, BANDWIDTH), ("mild", (0.7, 1.0), (0.5, 0.8))];

/// The same application under the usual and under mild loads.
pub(in crate::study) struct PlanLoads;

impl Compute for PlanLoads {
    fn name(&self) -> &'static str {
        "plan-loads"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["loads", "rescheduling", "method"]);
        let seeds = Vec::from_iter(1..=u64::from(effort.replications(DRAWS, &mut data)));
        let application = changa()?;
        let planners = [("optimum", Method::Optimum)].into_iter().chain(methods());
        let planners = Vec::from_iter(planners);
        for (name, cpu, bandwidth) in LOADS {
            for seconds in COSTS {
                let all = each(&seeds, |seed| {
                    let cluster = loaded_between(&mut Draws::new(seed), MACHINES, cpu, bandwidth);
                    let oracle = oracle(&application, cluster)?;
                    let problem = problem(&oracle, Span::from_secs(seconds));
                    let plan = |(_, method): &(_, Method)| {
                        let plan = method.plan(&problem, &mut stream(seed, "cluster", "plans"));
                        [plan.cost.as_secs_f64(), plan.markers().len() as f64]
                    };
                    Ok(Vec::from_iter(planners.iter().map(plan)))
                })?;
                for (&seed, plans) in seeds.iter().zip(&all) {
                    for ((method, _), &[cost, markers]) in planners.iter().zip(plans) {
                        let at = [name, &seconds.to_string(), method];
                        data.push(&at, seed, &[("cost", cost), ("markers", markers)]);
                    }
                }
            }
        }
        Ok(data)
    }
}

/// Bandwidths within a cluster, Mbit/s (section 7.2.2).
const BANDWIDTHS: [(&str, f64); 4] =
    [("100", 100.0), ("1000", 1_000.0), ("5000", 5_000.0), ("10000", 10_000.0)];

/// The best plan of the same application, if rescheduling costs the time of a checkpoint, for four
/// bandwidths within the cluster.
pub(in crate::study) struct PlanBandwidths;

impl Compute for PlanBandwidths {
    fn name(&self) -> &'static str {
        "plan-bandwidths"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["bandwidth"]);
        let seeds = Vec::from_iter(1..=u64::from(effort.replications(DRAWS, &mut data)));
        let application = changa()?;
        let all = each(&seeds, |seed| {
            let oracle = oracle(&application, loaded(&mut Draws::new(seed), MACHINES))?;
            Ok(BANDWIDTHS.map(|(_, mbits)| {
                let rescheduling = MIGRATION.over(mbits, 0.5);
                let problem = problem(&oracle, rescheduling);
                let plan = Method::Optimum.plan(&problem, &mut stream(seed, "cluster", "plans"));
                (rescheduling, plan)
            }))
        })?;
        for (&seed, plans) in seeds.iter().zip(&all) {
            // `BANDWIDTHS` begins with the lowest bandwidth.
            let slowest = plans[0].1.markers();
            for ((name, _), (rescheduling, plan)) in BANDWIDTHS.iter().zip(plans) {
                let is_other = plan.markers() != slowest;
                let values = [
                    ("rescheduling", rescheduling.as_secs_f64()),
                    ("cost", plan.cost.as_secs_f64()),
                    ("changed_percent", 100.0 * f64::from(u8::from(is_other))),
                ];
                data.push(&[name], seed, &values);
            }
        }
        Ok(data)
    }
}
