//! Plans of rescheduling beside each other: on one cluster against the optimum, and as whole runs on grids of
//! clusters (Sanjay and Vadhiyar 2011, section 7). The performance models of the paper's applications are not
//! published, so these are synthetic ones.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use haggle_agents::planning::PlansConfig;
use haggle_agents::{AnyActor, User, UserConfig};
use haggle_model::phased::{IntervalRecord, Move};
use haggle_model::random::stream;
use haggle_model::{ActorId, Job, JobClass, Observation, Phased, Span, Time};
use haggle_planning::multi::Migration;
use haggle_planning::plan::{GeneticOptions, IncrementalOptions};
use haggle_planning::synthetic::{Draws, Synthetic, SyntheticGrid, hierarchical, loaded};
use haggle_planning::{Application, ClusterOracle, Method, Phase, Problem, Search};
use haggle_runtime::{Driver, OutsideError, Sink, World, run};

use super::{Compute, Effort};
use crate::reproduce::data::Data;

/// Methods by their words.
const METHODS: [(&str, Method); 3] = [
    (
        "incremental",
        Method::Incremental(IncrementalOptions {
            tail: haggle_planning::plan::Tail::Merge,
            reoptimise: false,
        }),
    ),
    ("division", Method::Division),
    (
        "genetic",
        Method::Genetic(GeneticOptions {
            generations: 50,
            population: 200,
            elite: 0.1,
            crossover: 0.8,
            mutation: 0.2,
        }),
    ),
];

/// An interval has to take longer (section 4).
const THRESHOLD: Span = Span::from_secs(1200);
/// Machines of the one cluster (section 7.2.2).
const MACHINES: usize = 512;
/// Our own: the paper has neither the fixed part of a move nor the size of a checkpoint.
const MIGRATION: Migration = Migration { fixed: 60.0, volume: 200.0 };

fn application(phases: &[Phase], merged: usize) -> Result<Arc<Application>, String> {
    let application = Application::new(phases, 1.0).map_err(|error| error.to_string())?;
    Ok(Arc::new(application.merged(merged)))
}

/// One result for each number, in their order; on all processors.
fn each<T: Send>(
    numbers: &[u64],
    of: impl Fn(u64) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let parts = numbers.chunks(numbers.len().div_ceil(workers).max(1));
    thread::scope(|scope| {
        let of = &of;
        let part = |part: &'_ [u64]| part.iter().map(|&number| of(number)).collect();
        let running = parts.map(|it| scope.spawn(move || part(it)));
        let running = Vec::from_iter(running);
        let mut all = Vec::with_capacity(numbers.len());
        for worker in running {
            let part: Result<Vec<T>, String> =
                worker.join().map_err(|_| "a computation has failed".to_owned())?;
            all.extend(part?);
        }
        Ok(all)
    })
}

/// One instance: each planner's plan.
struct Costs {
    /// By dynamic programming.
    optimum: f64,
    /// No plan costs less.
    phase_sum: f64,
    /// What each planner's plan costs, how many markers it has, and what the planner examined.
    planners: Vec<(&'static str, [f64; 3])>,
    /// By how many percent the last ten generations made the genetic plan cheaper.
    late_gain: f64,
}

fn costs(application: &Arc<Application>, seed: u64, rescheduling: Span) -> Result<Costs, String> {
    let cluster = Arc::new(loaded(&mut Draws::new(seed), MACHINES, 1.0));
    let oracle = ClusterOracle::new(application, &cluster, Search::Hulls);
    let oracle = oracle.ok_or("a cluster has no machines")?;
    let problem = Problem { oracle: &oracle, first: 1, rescheduling, threshold: THRESHOLD };
    // Each planner with the same draws, so that fewer generations are the first ones of more.
    let plan = |method: Method| {
        let plan = method.plan(&problem, &mut stream(seed, "cluster", "plans"));
        [plan.cost.as_secs_f64(), plan.markers().len() as f64, plan.examined as f64]
    };
    let reference = match application.phases() {
        ..=BRUTE_MAX => ("brute-force", Method::BruteForce),
        _ => ("by-number", Method::OptimumByNumber),
    };
    let [optimum, ..] = plan(Method::Optimum);
    let methods = [reference, ("optimum", Method::Optimum)].into_iter().chain(METHODS);
    let planners = Vec::from_iter(methods.map(|(name, method)| (name, plan(method))));
    let [early, ..] =
        plan(Method::Genetic(GeneticOptions { generations: 40, ..GeneticOptions::default() }));
    let [genetic, ..] = planners[planners.len() - 1].1;
    Ok(Costs {
        optimum,
        phase_sum: problem.phase_sum().as_secs_f64(),
        planners,
        late_gain: 100.0 * (early - genetic) / early,
    })
}

/// With more phases, all plans are too many to look at.
const BRUTE_MAX: usize = 15;

fn push_costs(data: &mut Data, at: &[&str], seed: u64, costs: &Costs) {
    let Costs { optimum, phase_sum, ref planners, late_gain } = *costs;
    for &(method, [cost, markers, examined]) in planners {
        let values = [
            ("cost", cost),
            ("gap_percent", 100.0 * (cost - optimum) / optimum),
            ("gap_to_phase_sum_percent", 100.0 * (cost - phase_sum) / phase_sum),
            ("markers", markers),
            ("examined", examined),
            ("late_gain_percent", late_gain),
        ];
        data.push(&[at, &[method]].concat(), seed, &values);
    }
}

/// Plans of one cluster for 15 merged phases of ChaNGa, at six costs of rescheduling, under 50 draws of loads.
pub(super) struct PlanCosts;

impl Compute for PlanCosts {
    fn name(&self) -> &'static str {
        "plan-costs"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["rescheduling", "method"]);
        let draws = effort.replications(50, &mut data);
        let application = application(&Synthetic::Changa.draw(1)[..45], 3)?;
        for seconds in [0, 60, 120, 180, 240, 300] {
            let seeds = Vec::from_iter(1..=u64::from(draws));
            let all = each(&seeds, |seed| costs(&application, seed, Span::from_secs(seconds)))?;
            for (&seed, costs) in seeds.iter().zip(&all) {
                push_costs(&mut data, &[&seconds.to_string()], seed, costs);
            }
        }
        Ok(data)
    }
}

/// The same for hierarchical applications, whose regimes last long: 20 of them.
pub(super) struct Hierarchies;

impl Compute for Hierarchies {
    fn name(&self) -> &'static str {
        "plan-hierarchies"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["method"]);
        for seed in 1..=u64::from(effort.replications(20, &mut data)) {
            let phases = hierarchical(seed, Synthetic::Changa.phases(), 0.95);
            let application = application(&phases, 1)?;
            let costs = costs(&application, seed, Span::from_secs(120));
            push_costs(&mut data, &[], seed, &costs?);
        }
        Ok(data)
    }
}

/// What came of an application on a grid.
#[derive(Default)]
struct Course {
    end: Time,
    intervals: f64,
    within: f64,
    between: f64,
}

impl Sink for Course {
    fn observed(
        &mut self,
        now: Time,
        _: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        if let Observation::IntervalOver(record) = observation {
            let IntervalRecord { how, .. } = **record;
            self.end = now;
            self.intervals += 1.0;
            self.within += f64::from(u8::from(how == Move::Within));
            self.between += f64::from(u8::from(how == Move::Between));
        }
        Ok(())
    }
}

/// A whole run: an application that comes to a grid at time zero.
fn course(
    grid: &SyntheticGrid,
    phased: &Arc<Phased>,
    method: Option<Method>,
) -> Result<Course, String> {
    let built = PlansConfig::on(grid, MIGRATION, method, THRESHOLD).actors();
    let built = built.map_err(|error| error.to_string())?;
    let mut actors = built.actors;
    let me = ActorId(actors.len() as u32);
    actors.push(AnyActor::User(User::new(UserConfig {
        me,
        submits_to: built.rescheduler,
        class: JobClass::External,
        patience: None,
    })));
    let job = Job::new(0, Time::ZERO, 1, Span::ZERO);
    let job = Job { phases: Some(Arc::clone(phased)), ..job };
    let world = World {
        actors,
        arrivals: vec![(me, Box::new(std::iter::once(Ok(job))))],
        initial: built.initial,
        ..World::default()
    };
    let mut course = Course::default();
    run(world, Driver::Sequential, &mut course, &AtomicBool::new(false))
        .map_err(|error| error.to_string())?;
    Ok(course)
}

fn push_course(data: &mut Data, at: &[&str], seed: u64, grid: &SyntheticGrid, course: &Course) {
    let moves = course.within + course.between;
    let mut values = vec![
        ("time", (course.end - Time::ZERO).as_secs_f64()),
        ("intervals", course.intervals),
        ("within", course.within),
        ("between", course.between),
        ("ratio", grid.heterogeneity()),
    ];
    values.extend((moves > 0.0).then(|| ("between_percent", 100.0 * course.between / moves)));
    data.push(at, seed, &values);
}

fn md() -> Arc<Phased> {
    Arc::new(Phased::Modelled { phases: Synthetic::Md.draw(1), size: 1.0, merged: 1 })
}

/// Runs of MD on grids, by a method.
fn runs(grids: &[u64], method: Option<Method>) -> Result<Vec<(SyntheticGrid, Course)>, String> {
    let phased = md();
    each(grids, |number| {
        let grid = SyntheticGrid::draw(number);
        course(&grid, &phased, method).map(|course| (grid, course))
    })
}

/// Runs of MD on 250 grids of 5 to 12 clusters, by three methods and without rescheduling.
pub(super) struct PlanRuns;

impl Compute for PlanRuns {
    fn name(&self) -> &'static str {
        "plan-runs"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["method"]);
        let grids = Vec::from_iter(0..u64::from(effort.replications(GRIDS, &mut data)));
        let methods = METHODS.map(|(name, method)| (name, Some(method)));
        for (name, method) in methods.into_iter().chain([("none", None)]) {
            for (grid, course) in &runs(&grids, method)? {
                push_course(&mut data, &[name], grid.number(), grid, course);
            }
        }
        Ok(data)
    }
}

/// How many grids there are (section 7.2.3).
const GRIDS: u32 = 250;
/// Groups of fewer grids are left out (section 7.2.4).
const FEWEST: usize = 5;

/// The same runs, by how unequal the clusters of a grid are.
pub(super) struct PlanGroups;

impl Compute for PlanGroups {
    fn name(&self) -> &'static str {
        "plan-groups"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["group", "method"]);
        let all = Vec::from_iter(0..u64::from(effort.replications(GRIDS, &mut data)));
        let mut groups: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for &number in &all {
            groups.entry(group(&SyntheticGrid::draw(number))).or_default().push(number);
        }
        let fewest = if effort == Effort::Full { FEWEST } else { 1 };
        for (first, grids) in groups.into_iter().filter(|(_, grids)| grids.len() >= fewest) {
            let text = format!("{first}-{}", first + WIDTH);
            for (name, method) in METHODS {
                for (grid, course) in &runs(&grids, Some(method))? {
                    push_course(&mut data, &[&text, name], grid.number(), grid, course);
                }
            }
        }
        Ok(data)
    }
}

/// The width of a group; the paper does not say how wide its groups are.
const WIDTH: u32 = 4;

/// Where the group of a grid begins, by the greatest over the least capacity of a cluster: 1, 5, 9, ….
fn group(grid: &SyntheticGrid) -> u32 {
    1 + WIDTH * ((grid.heterogeneity() - 1.0) / f64::from(WIDTH)) as u32
}

/// Runs of MD on 50 grids whose clusters are all as far from each other, for five bandwidths.
pub(super) struct PlanLinks;

impl Compute for PlanLinks {
    fn name(&self) -> &'static str {
        "plan-links"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["bandwidth", "method"]);
        let grids = Vec::from_iter(0..u64::from(effort.replications(50, &mut data)));
        let phased = md();
        for (text, mbits) in [("0.6", 0.6), ("0.8", 0.8), ("1", 1.0), ("5", 5.0), ("10", 10.0)] {
            for (name, method) in &METHODS[..2] {
                let all = each(&grids, |number| {
                    let grid = SyntheticGrid::draw(number).with_links(mbits);
                    course(&grid, &phased, Some(*method)).map(|course| (grid, course))
                })?;
                for (&number, (grid, course)) in grids.iter().zip(&all) {
                    push_course(&mut data, &[text, name], number, grid, course);
                }
            }
        }
        Ok(data)
    }
}
