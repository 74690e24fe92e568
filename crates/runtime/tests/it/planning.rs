//! Applications of many phases that are rescheduled over clusters: worked examples as whole runs, runs against the
//! arithmetic of plans, and invariants of random worlds.

mod levels;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use haggle_agents::planning::{
    Costs, LoadSource, PlannedCluster, PlansConfig, PredictionErrors, Updates,
};
use haggle_agents::protocol::planning::{ClusterLoads, LinkLoads};
use haggle_agents::{AnyActor, Nature, Seats, User, UserConfig};
use haggle_model::phased::{IntervalEnd, IntervalRecord, Measured, Move, Phase, Speedup, Term};
use haggle_model::random::stream;
use haggle_model::{
    ActorId, Job, JobClass, JobId, JobOutcome, JobRecord, Observation, Phased, ProcessorSet,
    ProviderId, Span, Time,
};
use haggle_planning::multi::{Migration, Moment, Terms, multi_cluster_plan, single_schedule};
use haggle_planning::plan::{GeneticOptions, IncrementalOptions};
use haggle_planning::synthetic::{ApplicationKind, SyntheticGrid};
use haggle_planning::{Application, Method, PlanSearch};
use haggle_runtime::{Driver, Outages, OutsideError, RunError, Sink, World, run};
use haggle_testing::{at, secs};
use haggle_workflows::Workflow;
use haggle_workloads::failures::Outage;
use proptest::prelude::*;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// The loads of the first epochs; those of the last one stay.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Epochs(Vec<Vec<ClusterLoads>>);

#[typetag::serde]
impl LoadSource for Epochs {
    fn at(&mut self, epoch: usize) -> Vec<ClusterLoads> {
        self.0[epoch.min(self.0.len() - 1)].clone()
    }
}

impl Epochs {
    /// Available processors of each cluster, epoch by epoch; links are idle.
    fn of(epochs: &[&[&[f64]]]) -> Epochs {
        let loads = |clusters: &[&[f64]], cpu: &[f64]| ClusterLoads {
            cpu: cpu.to_vec(),
            links: LinkLoads::Uplinks(vec![1.0; cpu.len()]),
            ways: vec![1.0; clusters.len()],
        };
        let epoch =
            |clusters: &&[&[f64]]| clusters.iter().map(|cpu| loads(clusters, cpu)).collect();
        Epochs(epochs.iter().map(epoch).collect())
    }
}

/// Clusters, their applications, and outages.
#[derive(Clone, Debug)]
pub(crate) struct Plans {
    clusters: Vec<PlannedCluster>,
    loads: Epochs,
    method: Option<Method>,
    threshold: Span,
    monitor_delay: Span,
    /// Deviation of times from predictions: that of the logarithm of a factor.
    error: f64,
    updates: Updates,
    jobs: Vec<Job>,
    /// (cluster, machine, from, until), seconds.
    outages: Vec<(u32, u32, i64, i64)>,
    horizon: Option<Time>,
    patience: Option<Span>,
    /// The jobs are its applications, by number, if there is one.
    workflow: Option<Arc<Workflow>>,
}

#[derive(Debug, Default, PartialEq)]
struct Ran {
    intervals: Vec<IntervalRecord>,
    jobs: Vec<JobRecord>,
    refused: u32,
    log: Vec<String>,
}

impl Sink for Ran {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &haggle_agents::Message,
    ) -> Result<(), OutsideError> {
        self.log.push(format!("{now} {from}>{to} {}", message.kind()));
        Ok(())
    }

    fn observed(
        &mut self,
        _: Time,
        _: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        match observation {
            Observation::IntervalOver(record) => {
                self.intervals.push(IntervalRecord::clone(record));
            }
            Observation::JobOver(record) => self.jobs.push(JobRecord::clone(record)),
            Observation::MessageRefused { .. } => self.refused += 1,
            _ => {}
        }
        Ok(())
    }
}

fn cluster(name: &str, clusters: usize, within: i64, between: i64) -> PlannedCluster {
    let costs = Costs {
        within: secs(within),
        between: secs(between),
        checkpoint: 0.0,
        bandwidth: 1.0,
        ways: vec![1.0; clusters],
    };
    PlannedCluster { name: name.to_owned(), speed: 1.0, costs }
}

fn application(id: u32, submit: i64, phased: Phased) -> Job {
    Job { phases: Some(Arc::new(phased)), ..Job::new(id, at(submit), 1, Span::ZERO) }
}

/// A phase that takes this number of seconds on an idle machine, and less on more machines.
fn computing(seconds: f64, speedup: f64) -> Phase {
    let term =
        |coefficient| Term { coefficient, size: 1.0, load: 1.0, speedup: Speedup::Power(speedup) };
    Phase { computation: term(seconds), communication: term(0.0) }
}

fn modelled(phases: &[Phase]) -> Phased {
    Phased::Modelled { phases: phases.to_vec(), size: 1.0, merged: 1 }
}

const INCREMENTAL: Method = Method::Incremental(IncrementalOptions {
    tail: haggle_planning::plan::Tail::Merge,
    reoptimise: false,
});

impl Plans {
    fn new(clusters: Vec<PlannedCluster>, loads: Epochs, jobs: Vec<Job>) -> Plans {
        Plans {
            clusters,
            loads,
            method: Some(INCREMENTAL),
            threshold: secs(1200),
            monitor_delay: Span::ZERO,
            error: 0.0,
            updates: Updates::AfterInterval,
            jobs,
            outages: Vec::new(),
            horizon: None,
            patience: None,
            workflow: None,
        }
    }

    pub(crate) fn world(&self) -> World {
        let plans = PlansConfig {
            seed: 1,
            clusters: self.clusters.clone(),
            method: self.method,
            search: PlanSearch::default(),
            threshold: self.threshold,
            monitor_delay: self.monitor_delay,
            errors: PredictionErrors { seed: 1, sigma: self.error },
            updates: self.updates.clone(),
            loads: Box::new(self.loads.clone()),
            workflows: self.workflow.iter().map(|it| (levels::ID, Arc::clone(it))).collect(),
        };
        let seats = Seats::alone(plans.clusters.len() as u32);
        let built = plans.actors(seats).expect("good loads");
        let mut actors = built.places;
        actors.extend(built.services);
        let me = ActorId(actors.len() as u32);
        actors.push(AnyActor::User(Box::new(User::new(UserConfig {
            me,
            submits_to: built.rescheduler,
            class: JobClass::External,
            patience: self.patience,
            workflows: BTreeMap::new(),
        }))));
        let nature = ActorId(actors.len() as u32);
        let mut outages = self.outages.clone();
        outages.sort_by_key(|it| it.2);
        let owners = outages.iter().map(|&(cluster, machine, ..)| {
            vec![(ActorId(cluster), ProcessorSet::range(machine, 1))]
        });
        actors.push(AnyActor::Nature(Nature::new(owners.collect())));
        let resources = outages.len() as u64;
        let due = outages.into_iter().enumerate().map(|(place, (.., from, until))| {
            (place, Outage { fail: at(from), restore: at(until) })
        });
        let jobs = self.jobs.clone();
        World {
            actors,
            arrivals: vec![(me, Box::new(jobs.into_iter().map(Ok)))],
            outages: (resources > 0).then(|| Outages { nature, resources, due: Box::new(due) }),
            horizon: self.horizon,
            initial: built.initial,
            ..World::default()
        }
    }

    fn run(&self) -> Ran {
        let ran = |driver| {
            let mut ran = Ran::default();
            let stats = run(self.world(), driver, &mut ran, &AtomicBool::new(false));
            let stats = stats.expect("it runs");
            assert_eq!(stats.jobs, stats.jobs_over);
            ran
        };
        let one = ran(Driver::Sequential);
        assert_eq!(one, ran(Driver::Actix));
        one.adds_up(self);
        one.keeps_levels(self);
        one
    }
}

impl Ran {
    /// Checks that no machine runs two intervals, and that an application runs all of its phases once, in order,
    /// except those of lost intervals.
    fn adds_up(&self, plans: &Plans) {
        assert_eq!(self.refused, 0, "{:#?}", self.log);
        let mut held: Vec<&IntervalRecord> = self.intervals.iter().collect();
        held.sort_by_key(|it| (it.ordered, it.end));
        for (place, one) in held.iter().enumerate() {
            for other in &held[place + 1..] {
                let apart = other.ordered >= one.end || one.ordered >= other.end;
                assert!(
                    apart
                        || one.cluster != other.cluster
                        || !one.machines.intersects(&other.machines),
                    "{one:?} {other:?}"
                );
            }
        }
        let mut next: BTreeMap<JobId, (u32, u32)> = BTreeMap::new();
        for it in &self.intervals {
            let (first, number) = next.entry(it.job).or_insert((1, 1));
            assert_eq!((it.first, it.number), (*first, *number), "{it:?}");
            assert!(!it.machines.is_empty() && it.ordered <= it.end);
            *number += 1;
            if it.ending == IntervalEnd::Done {
                *first = it.last + 1;
            }
        }
        for record in &self.jobs {
            let phases = record.job.phases.as_ref().map_or(0, |it| it.phases()) as u32;
            let done = next.get(&record.job.id).map_or(1, |next| next.0);
            assert_eq!(record.outcome == JobOutcome::Completed, done == phases + 1);
            assert!(record.outcome != JobOutcome::Unfinished || plans.horizon.is_some());
        }
    }

    fn steps(&self) -> Vec<(u32, u32, u32, Move, Span)> {
        let step = |it: &IntervalRecord| {
            (it.first, it.last, it.cluster.0, it.how, it.moving() + it.time())
        };
        self.intervals.iter().map(step).collect()
    }

    fn end(&self) -> Span {
        self.jobs.iter().map(|it| it.end).max().expect("a job") - Time::ZERO
    }
}

/// Seconds of each phase, for each number of machines of each cluster.
fn measured(clusters: &[&[(u32, &[i64])]]) -> Phased {
    let mut rows = Vec::new();
    for (cluster, of_cluster) in (0..).map(ProviderId).zip(clusters) {
        for &(machines, times) in *of_cluster {
            rows.push(Measured {
                cluster,
                machines,
                times: times.iter().map(|&it| secs(it)).collect(),
            });
        }
    }
    Phased::Measured(rows)
}

/// P-8: after its first phase, an application would take 2,000 s at its place, 1,700 s elsewhere in its cluster, and
/// 1,500 s in another cluster.
#[test]
fn p_8_an_application_stays_or_moves_by_what_takes_least() {
    let moves = |stay: f64, elsewhere: i64, between: i64| {
        let home: &[(u32, &[i64])] = &[(1, &[1170, 1800]), (2, &[1800, 1530]), (3, &[1260, 1575])];
        let application = application(0, 0, measured(&[home, &[(1, &[1400, elsewhere])]]));
        let loads = Epochs::of(&[&[&[0.9; 3], &[1.0]], &[&[stay, 0.9, 0.9], &[1.0]]]);
        let clusters = vec![cluster("a", 2, 120, between), cluster("b", 2, 120, between)];
        let ran = Plans::new(clusters, loads, vec![application]).run();
        let steps = ran.steps();
        assert_eq!(steps[0], (1, 1, 0, Move::Start, secs(1300)));
        assert_eq!(steps.len(), 2);
        assert_eq!(ran.end(), secs(1300) + steps[1].4);
        (steps[1].2, steps[1].3, steps[1].4)
    };
    assert_eq!(moves(0.9, 1500, 400), (0, Move::Within, secs(1820)));
    assert_eq!(moves(0.9, 1500, 300), (1, Move::Between, secs(1800)));
    assert_eq!(moves(1.0, 1500, 300), (0, Move::Stay, secs(1800)));
    // Its own cluster is the fastest one, so no other is offered, however near it is.
    assert_eq!(moves(0.9, 1750, 0), (0, Move::Within, secs(1820)));
}

/// An application of two phases on two machines. The machines with these numbers fail for a while, again and again.
fn hindered(machines: &[u32]) -> Plans {
    let loads = Epochs::of(&[&[&[1.0; 2]]]);
    let row: &[(u32, &[i64])] = &[(1, &[3600, 3600])];
    let jobs = vec![application(0, 0, measured(&[row]))];
    let outages = machines.iter().zip(1..).map(|(&it, k)| (0, it, 1000 * k, 1000 * k + 100));
    let genetic = Some(Method::Genetic(GeneticOptions::default()));
    let plans = Plans::new(vec![cluster("a", 1, 60, 60)], loads, jobs);
    Plans { method: genetic, outages: outages.collect(), ..plans }
}

/// The published algorithm examines 10,200 plans each time. The remaining phases and free machines are the same
/// whenever both machines fail together, but not if one of them does.
#[test]
fn what_is_planned_of_the_same_is_planned_once() {
    let within = |plans: &Plans, examined_max: u64| {
        let world = World { examined_max, ..plans.world() };
        run(world, Driver::Sequential, &mut Ran::default(), &AtomicBool::new(false))
    };
    let mut both = hindered(&[0; 20]);
    both.outages.extend(hindered(&[1; 20]).outages);
    // When they come back, the first one is alone.
    assert!(within(&both, 3 * 10_200).is_ok(), "{:?}", within(&both, 3 * 10_200));
    let ran = both.run();
    assert_eq!(ran.intervals.iter().filter(|it| it.ending == IntervalEnd::Lost).count(), 20);

    let one_by_one = hindered(&[0, 1].repeat(10));
    let ended = within(&one_by_one, 10 * 10_200);
    let Err(error @ RunError::PlannedInVain { jobs: 1, examined: 102_000, .. }) = ended else {
        panic!("{ended:?}")
    };
    assert!(error.to_string().contains("while more than 102000 plans"), "{error}");
    assert_eq!(one_by_one.run().jobs.len(), 1);
}

fn two_clusters(between: i64) -> Plans {
    let a: &[(u32, &[i64])] = &[(1, &[1000, 900, 2500, 2500]), (2, &[1600, 1500, 800, 900])];
    let b: &[(u32, &[i64])] = &[(1, &[1300, 1300, 2500, 2200]), (2, &[2000, 2000, 700, 600])];
    let loads = Epochs::of(&[&[&[1.0; 2], &[1.0; 2]]]);
    let clusters = vec![cluster("a", 2, 100, between), cluster("b", 2, 100, between)];
    Plans::new(clusters, loads, vec![application(0, 50, measured(&[a, b]))])
}

#[test]
fn p_9_an_application_on_two_clusters() {
    let first = (1, 2, 0, Move::Start, secs(1900));
    let ran = two_clusters(400).run();
    assert_eq!(ran.steps(), [first, (3, 4, 1, Move::Between, secs(1700))]);
    assert_eq!(ran.end(), secs(50 + 3600));
    let record = &ran.intervals[1];
    assert_eq!((record.moving(), record.from), (secs(400), Some(ProviderId(0))));
    assert_eq!((record.predicted_move, record.predicted), (secs(400), secs(1300)));
    let ran = two_clusters(600).run();
    assert_eq!(ran.steps(), [first, (3, 4, 0, Move::Within, secs(1800))]);
    assert_eq!(ran.end(), secs(50 + 3700));
    let single = Plans { method: None, ..two_clusters(400) }.run();
    assert_eq!(single.steps(), [(1, 4, 0, Move::Start, secs(4800))]);
}

/// P-10 (a): the same machines under other loads.
#[test]
fn p_10_an_application_that_stays_bears_what_loads_do() {
    let loads = Epochs::of(&[&[&[0.8, 0.6]], &[&[0.2, 0.9]]]);
    let phases = [computing(960.0, 1.0); 2];
    let application = application(0, 0, modelled(&phases));
    let mut plans = Plans::new(vec![cluster("a", 1, 100, 0)], loads, vec![application]);
    plans.method = None;
    let ran = plans.run();
    assert_eq!(ran.steps(), [(1, 2, 0, Move::Start, secs(800 + 2400))]);
    assert_eq!(ran.intervals[0].predicted, secs(1600));
    // Within a phase: after 400 s half of the first one is left, which takes as long as half of 2,400 s.
    plans.updates = Updates::At(vec![at(400)]);
    assert_eq!(plans.run().end(), secs(400 + 1200 + 2400));
    // A planner that uses loads of 500 s ago does not see it.
    plans.method = Some(Method::Optimum);
    (plans.threshold, plans.monitor_delay) = (secs(0), secs(500));
    let ran = plans.run();
    assert_eq!(ran.intervals[0].predicted, secs(1600));
}

#[test]
fn an_application_goes_on_from_its_last_marker() {
    let mut plans = two_clusters(400);
    // In the second interval, at 50 + 1900 + 400 + 500 s.
    plans.outages = vec![(1, 0, 2850, 3000)];
    let ran = plans.run();
    let endings =
        Vec::from_iter(ran.intervals.iter().map(|it| (it.first, it.cluster.0, it.ending)));
    let (done, lost) = (IntervalEnd::Done, IntervalEnd::Lost);
    assert_eq!(endings, [(1, 0, done), (3, 1, lost), (3, 0, done)]);
    assert_eq!(ran.intervals[2].how, Move::Between);
    assert_eq!(ran.end(), secs(2850 + 400 + 1700));
    assert_eq!(ran.jobs[0].lost[0].undone(), secs(500));
    // Before the checkpoint has arrived: it is at its old place, and so is the application.
    plans.outages = vec![(1, 0, 2050, 9000)];
    let ran = plans.run();
    assert_eq!(ran.intervals[1].start, None);
    assert_eq!(ran.intervals[2].how, Move::Within);
    assert_eq!(ran.end(), secs(2050 + 1800));
    // Without a marker, the application begins anew, where it may.
    plans.method = None;
    plans.outages = vec![(0, 0, 4000, 9000)];
    assert_eq!(plans.run().end(), secs(4000 + 5300));
}

#[test]
fn whoever_finds_no_machine_waits_for_one() {
    let phased = || measured(&[&[(1, &[2000])]]);
    let jobs = Vec::from_iter((0..3).map(|id| application(id, 0, phased())));
    let loads = Epochs::of(&[&[&[1.0]]]);
    let mut plans = Plans::new(vec![cluster("a", 1, 0, 0)], loads, jobs);
    let ends = |ran: &Ran| Vec::from_iter(ran.jobs.iter().map(|it| it.end));
    assert_eq!(ends(&plans.run()), [at(2000), at(4000), at(6000)]);
    plans.patience = Some(secs(2500));
    let ran = plans.run();
    let outcomes = Vec::from_iter(ran.jobs.iter().map(|it| (it.job.id.0, it.outcome)));
    let (done, cancelled) = (JobOutcome::Completed, JobOutcome::Cancelled);
    assert_eq!(outcomes, [(0, done), (2, cancelled), (1, done)]);
    plans.patience = None;
    plans.horizon = Some(at(3000));
    let ran = plans.run();
    assert_eq!(ran.intervals[1].ending, IntervalEnd::Open);
}

const MIGRATION: Migration = Migration { fixed: 60.0, volume: 200.0 };

/// MD on the first clusters and epochs of a grid: this number of phases, one after the other.
fn md_on(grid: &SyntheticGrid, epochs: usize, method: Option<Method>, phases: usize) -> Plans {
    let PlansConfig { clusters, mut loads, .. } =
        PlansConfig::on(grid, MIGRATION, method, secs(1200));
    let epochs = Epochs((0..epochs).map(|epoch| loads.at(epoch)).collect());
    let phases = ApplicationKind::Md.draw_phases(1, phases);
    let plans = Plans::new(clusters, epochs, vec![application(0, 0, modelled(&phases))]);
    Plans { method, ..plans }
}

/// A whole run takes the time of its plan, with and without changes of loads.
#[test]
fn a_run_takes_what_its_plan_says() {
    let methods = [INCREMENTAL, Method::Division, Method::Optimum];
    for (number, method) in (0..).zip(methods) {
        let grid = SyntheticGrid::draw(number);
        let phases = ApplicationKind::Md.draw_phases(1, 10);
        let application = Arc::new(Application::new(&phases, 1.0).expect("good phases"));
        for epochs in [1, 11] {
            let view = |moment: Moment| {
                grid.view(&application, MIGRATION, PlanSearch::Hulls, moment.epoch.min(epochs - 1))
            };
            let terms = Terms { method, threshold: secs(1200) };
            let course = multi_cluster_plan(10, view, &terms, &mut stream(1, "grid", "plans"));
            let course = course.expect("machines");
            let ran = md_on(&grid, epochs, Some(method), 10).run();
            assert_eq!(ran.end(), course.time);
            assert_eq!(ran.intervals.len(), course.placed.len());
            for (it, placed) in ran.intervals.iter().zip(&course.placed) {
                assert_eq!(
                    (it.first as usize, it.last as usize),
                    (placed.interval.first, placed.interval.last)
                );
                assert_eq!((it.cluster.index(), it.how), (placed.cluster, placed.how));
                assert_eq!((it.time(), it.moving()), (placed.time, placed.moving));
                assert_eq!((it.predicted, it.predicted_move), (placed.time, placed.moving));
            }
            let single = md_on(&grid, epochs, None, 10).run();
            assert_eq!(Some(single.end()), single_schedule(10, view));
        }
    }
}

/// One cluster: plans of a cluster, carried out.
#[test]
fn on_one_cluster_a_run_takes_no_longer_than_the_best_plan() {
    let grid = SyntheticGrid::draw(3);
    let (machines, speed, bandwidth) = grid.clusters().next().expect("a cluster");
    assert!(machines > 0 && speed > 0.0);
    let mut plans = md_on(&grid, 1, Some(Method::Optimum), 10);
    plans.clusters.truncate(1);
    plans.clusters[0].costs.ways.truncate(1);
    let mut own = plans.loads.0[0][0].clone();
    own.ways.truncate(1);
    plans.loads = Epochs(vec![vec![own.clone()]]);
    let phases = ApplicationKind::Md.draw_phases(1, 10);
    let application = Arc::new(Application::new(&phases, 1.0).expect("good phases"));
    let LinkLoads::Uplinks(uplinks) = own.links else { panic!("each machine has one link") };
    let cluster = haggle_planning::Cluster::with_uplinks(speed, own.cpu, uplinks);
    let cluster = Arc::new(cluster.expect("good loads"));
    let oracle = haggle_planning::ClusterOracle::new(&application, &cluster, PlanSearch::Hulls);
    let oracle = oracle.expect("machines");
    let rescheduling = MIGRATION.over(bandwidth, 0.5);
    let problem =
        haggle_planning::Problem { oracle: &oracle, first: 1, rescheduling, threshold: secs(1200) };
    let plan = haggle_planning::plan::optimum(&problem);
    let ran = plans.run();
    assert!(plan.parts.len() > 1 && ran.intervals.len() > 1);
    // To stay may be better than the plan of a cluster, which moves between any two intervals.
    assert!(ran.end() <= plan.cost);
    if ran.intervals.iter().all(|it| it.how != Move::Stay) {
        assert_eq!(ran.end(), plan.cost);
    }
}

/// Errors of predictions belong to the phases of an application: they are the same everywhere, and zero on average.
#[test]
fn errors_of_predictions_belong_to_phases() {
    let plans = Plans { error: 0.4, method: None, ..two_clusters(400) };
    let [one, other] = [1.0, 0.5].map(|cpu: f64| {
        let loads = Epochs::of(&[&[&[cpu; 2], &[cpu; 2]]]);
        let ran = Plans { loads, ..plans.clone() }.run();
        (ran.intervals[0].predicted, ran.intervals[0].time())
    });
    // The whole application on half of the machines: all times are doubled.
    assert_eq!(one.0 * 2, other.0);
    assert!(one.0 != one.1 && (one.1 * 2 - other.1) <= Span::TICK * 8, "{one:?} {other:?}");
    let errors = PredictionErrors { seed: 1, sigma: 0.4 };
    let factors = Vec::from_iter((0..400).flat_map(|job| errors.factors(JobId(job), 10)));
    let mean = factors.iter().sum::<f64>() / factors.len() as f64;
    assert!((mean - 1.0).abs() < 0.03, "{mean}");
    assert!(PredictionErrors::NONE.factors(JobId(0), 10).is_empty());
}

/// A world with all messages of this protocol, for tests of all protocols.
pub(crate) fn plans_of(seed: u64) -> Plans {
    let mut plans = match seed {
        0 => two_clusters(400),
        1 => Plans { method: None, ..two_clusters(600) },
        _ => {
            let mut draws = stream(seed, "world", "plans");
            // These numbers do not change when they are written as text and read back.
            let mut part = || f64::from(draws.random_range(2..=16_u32)) / 16.0;
            let mut loads = || ClusterLoads {
                cpu: vec![part(), part()],
                links: LinkLoads::Uplinks(vec![part(), part()]),
                ways: vec![part(), part()],
            };
            let epochs = (0..4).map(|_| vec![loads(), loads()]).collect();
            let phases = [computing(700.0, 0.8), computing(400.0, 0.3), computing(900.0, 1.0)];
            let jobs = (0..4).map(|id| application(id, 100 * i64::from(id), modelled(&phases)));
            let clusters = vec![cluster("a", 2, 60, 90), cluster("b", 2, 60, 90)];
            Plans::new(clusters, Epochs(epochs), jobs.collect())
        }
    };
    plans.threshold = secs(300);
    plans.outages = vec![(0, 0, 500, 700), (1, 1, 900, 1200), (1, 0, 2850, 3000)];
    plans.patience = seed.is_multiple_of(2).then_some(secs(2_000));
    plans
}

/// A random small world.
fn plans() -> impl Strategy<Value = Plans> {
    let part = || prop::sample::select(vec![0.25, 0.5, 0.8, 1.0]);
    let sizes = prop::collection::vec(1_usize..=4, 1..=3);
    sizes.prop_flat_map(move |sizes| {
        let count = sizes.len();
        let loads = sizes
            .iter()
            .map(|&machines| {
                let parts = || prop::collection::vec(part(), machines);
                let ways = prop::collection::vec(part(), count);
                (parts(), parts(), ways, any::<bool>()).prop_map(|(cpu, links, ways, pairs)| {
                    // The links of a pair are as busy as those of the machine in the row.
                    let row = |&part: &f64| vec![part; links.len()];
                    let links = match pairs {
                        true => LinkLoads::Pairs(links.iter().map(row).collect()),
                        false => LinkLoads::Uplinks(links),
                    };
                    ClusterLoads { cpu, links, ways }
                })
            })
            .collect::<Vec<_>>();
        let epochs = prop::collection::vec(loads, 1..=4).prop_map(Epochs);
        let phase =
            (1_u32..=900, 0_u32..=200, 0_u32..=4, 0_u32..=4).prop_map(|(x, y, eta, delta)| {
                let term = |coefficient, exponent| Term {
                    coefficient: f64::from(coefficient),
                    size: 1.0,
                    load: 1.0,
                    speedup: Speedup::Power(exponent),
                };
                Phase {
                    computation: term(x, f64::from(eta) / 4.0),
                    communication: term(y, f64::from(delta) / 4.0 - 0.5),
                }
            });
        let jobs = prop::collection::vec((0_i64..=900, prop::collection::vec(phase, 1..=5)), 1..=4);
        let method = prop::sample::select(vec![
            None,
            Some(INCREMENTAL),
            Some(Method::Division),
            Some(Method::Optimum),
            Some(Method::Genetic(GeneticOptions {
                generations: 3,
                population: 6,
                ..GeneticOptions::default()
            })),
        ]);
        let updates = prop_oneof![
            Just(Updates::AfterInterval),
            (20_i64..=400).prop_map(|it| Updates::Every(secs(it))),
            Just(Updates::At(vec![at(100), at(333)])),
        ];
        let outage = (0..count as u32, 0_u32..4, 0_i64..=1500, 1_i64..=400);
        let outages = prop::collection::vec(outage, 0..=4);
        let workflow = prop::option::of(0_u32..64);
        let rest =
            (outages, prop::option::of(1_i64..=2000), prop::option::of(1_i64..=1500), workflow);
        let error = prop::sample::select(vec![0.0, 0.4]);
        let costs = (0_i64..=60, 0_i64..=90, 0_i64..=300, 0_i64..=90, error);
        (Just(sizes), epochs, jobs, method, updates, rest, costs).prop_map(
            |(sizes, epochs, mut jobs, method, updates, rest, costs)| {
                let (mut outages, horizon, patience, workflow) = rest;
                let (within, between, threshold, delay, error) = costs;
                jobs.sort_by_key(|it| it.0);
                let jobs = (0..)
                    .zip(jobs)
                    .map(|(id, (submit, phases))| application(id, submit, modelled(&phases)));
                // One outage a machine, whose number must exist in the cluster.
                outages.iter_mut().for_each(|it| it.1 %= sizes[it.0 as usize] as u32);
                outages.sort_by_key(|it| (it.0, it.1));
                outages.dedup_by_key(|it| (it.0, it.1));
                let outages =
                    outages.into_iter().map(|(c, m, from, long)| (c, m, from, from + long));
                let clusters = (0..sizes.len())
                    .map(|it| cluster(&format!("c{it}"), sizes.len(), within, between));
                let plans = Plans {
                    method,
                    updates,
                    threshold: secs(threshold),
                    monitor_delay: secs(delay),
                    error,
                    outages: outages.collect(),
                    horizon: horizon.map(at),
                    patience: patience.map(secs),
                    ..Plans::new(clusters.collect(), epochs, jobs.collect())
                };
                match workflow {
                    Some(edges) => plans.into_workflow(&levels::edges(edges)),
                    None => plans,
                }
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Both drivers agree, and the books balance. Without changes of loads, an interval takes the predicted time.
    #[test]
    fn whatever_happens_all_phases_run_once(plans in plans()) {
        let ran = plans.run();
        if plans.loads.0.len() == 1 && plans.error == 0.0 {
            for it in ran.intervals.iter().filter(|it| it.ending == IntervalEnd::Done) {
                let phases = if plans.method.is_none() { it.last - it.first } else { 0 };
                // Phases that are reported one by one are rounded up one by one.
                let late = it.time() - it.predicted;
                prop_assert!(late >= Span::ZERO && late <= Span::TICK * i64::from(phases), "{:?}", it);
                prop_assert_eq!(it.moving(), it.predicted_move);
            }
        }
    }
}
