//! How often bisection finds the best size. Every search of a month is compared with a search among all
//! sizes, on all clusters. Jobs are placed and never move (Caniou, Charrier and Desprez 2010, section
//! 3.2.1).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use haggle_model::{Job, Moldable, Sizing, Span, Time};
use haggle_scheduling::reallocation::{Tuning, first_done};
use haggle_scheduling::{Compression, Conservative, LocalScheduler, Order, Request, Slot};

use super::{Compute, Effort};
use crate::Library;
use crate::data::Data;
use haggle_experiment::workload::Workloads;
use haggle_scenario::{Experiment, Logs, Scenario};

/// The study.
pub(super) struct SizeSearches;

const SCENARIO: (&str, &str) = ("rr7365", "months.toml");
/// The month and the platform; jobs stay at their first place.
const POINT: [&str; 3] = ["feb", "d0", "none"];

impl Compute for SizeSearches {
    fn name(&self) -> &'static str {
        "size-searches"
    }

    fn scenario(&self) -> Option<(&'static str, &'static str)> {
        Some(SCENARIO)
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let (study, file) = SCENARIO;
        let source = Library::Embedded.read(study, file).map_err(|error| error.to_string())?;
        let folder = source.folder().to_owned();
        let experiment =
            Experiment::read(source, Logs::MustExist).map_err(|error| error.to_string())?;
        // `POINT` has its values in the order of the sweep's axes.
        let at_point = |it: &&haggle_scenario::Variant| {
            it.settings.iter().map(|it| it.text()).eq(POINT.map(str::to_owned))
        };
        let variant = experiment.variants.iter().find(at_point).ok_or("no such variant")?;
        let scenario = &variant.scenario;
        let workloads = Workloads::new(scenario, &folder, scenario.scenario.seed)
            .map_err(|error| error.to_string())?;
        let mut jobs: Vec<Job> = Vec::new();
        for user in &scenario.users {
            let open = workloads.open(user.workload.as_str()).map_err(|error| error.to_string())?;
            for job in open.jobs {
                jobs.push(job.map_err(|error| error.to_string())?);
            }
        }
        // Every user has a stream of its own. The sort is stable, so of equal submissions the first user's
        // comes first.
        jobs.sort_by_key(|job| job.submit);
        let mut grid = Grid::new(scenario);
        let counts = grid.run(&jobs).ok_or("a job does not fit")?;
        let share = |part: u64| 100.0 * part as f64 / counts.searches.max(1) as f64;
        let mut data = Data::table(self.name(), &[]);
        data.push(
            &[],
            1,
            &[
                ("searches", counts.searches as f64),
                ("equal_percent", share(counts.equal)),
                ("worse_percent", share(counts.searches - counts.equal)),
                ("evaluations", counts.evaluations as f64 / counts.searches.max(1) as f64),
                ("response_ratio", counts.response / counts.best_response),
            ],
        );
        Ok(data)
    }
}

#[derive(Default)]
struct Counts {
    /// Searches among more than one size.
    searches: u64,
    /// Searches in which bisection found a size as good as the best one.
    equal: u64,
    /// Sizes that bisection examined.
    evaluations: u64,
    /// Sums of the times until completion that both searches found, s.
    response: f64,
    best_response: f64,
}

/// Clusters, and their running jobs: (end, cluster, slot).
struct Grid {
    clusters: Vec<(Conservative, u32)>,
    running: BinaryHeap<Reverse<(Time, usize, u32)>>,
    /// For each slot, its job and number of processors.
    placed: Vec<(usize, u32)>,
}

impl Grid {
    fn new(scenario: &Scenario) -> Grid {
        let cluster = |processors| {
            (Conservative::new(processors, Order::Arrival, Compression::JobByJob), processors)
        };
        Grid {
            clusters: scenario.providers.iter().map(|it| cluster(it.processors)).collect(),
            running: BinaryHeap::new(),
            placed: Vec::new(),
        }
    }

    /// Places each job where it is completed first. All clusters have the speed of the reference.
    fn run(&mut self, jobs: &[Job]) -> Option<Counts> {
        let mut counts = Counts::default();
        for (number, job) in jobs.iter().enumerate() {
            self.go_on_to(job.submit, jobs);
            let moldable = Moldable::of(job)?;
            let mut found = Vec::new();
            for cluster in 0..self.clusters.len() {
                found.push((cluster, self.search(cluster, job.submit, moldable, &mut counts)?));
            }
            let (cluster, sizing) = first_done(found.into_iter())?;
            let request =
                Request::new(Slot(number as u32), sizing.processors, Some(sizing.planned));
            // `start` finds a job by its slot, so slots must be places in this list.
            self.placed.push((number, sizing.processors));
            self.clusters[cluster].0.submit(job.submit, request);
            self.start(cluster, job.submit, jobs);
        }
        Some(counts)
    }

    /// Searches for the size of a job on a cluster in both ways. Returns the result of bisection.
    fn search(
        &mut self,
        cluster: usize,
        now: Time,
        job: Moldable,
        counts: &mut Counts,
    ) -> Option<Sizing> {
        let (queue, processors) = &mut self.clusters[cluster];
        let mut looks = 0;
        let mut sized = |processors| {
            looks += 1;
            let planned = job.requested(processors, 1.0);
            let start = queue.estimate_start(now, processors, Some(planned))?;
            Some(Sizing { processors, start, planned })
        };
        let widest = job.widest(*processors);
        let exhaustive = Tuning::Exhaustive.best(widest, &mut sized)?;
        let binary = Tuning::Binary.best(widest, &mut sized)?;
        // A job with one size only needs no search, and both ways would agree.
        if widest > 1 {
            counts.searches += 1;
            counts.equal += u64::from(binary.completion() == exhaustive.completion());
            // Both searches are counted, and the exhaustive one examines every size once.
            counts.evaluations += u64::from(looks - widest);
            counts.response += (binary.completion() - now).as_secs_f64();
            counts.best_response += (exhaustive.completion() - now).as_secs_f64();
        }
        Some(binary)
    }

    /// Processes all ends and starts of jobs until `now`.
    fn go_on_to(&mut self, now: Time, jobs: &[Job]) {
        loop {
            let end = self.running.peek().map(|Reverse((end, ..))| *end);
            let starts = self.clusters.iter().filter_map(|(queue, _)| queue.next_start());
            let Some(next) = starts.chain(end).min().filter(|&next| next <= now) else { return };
            // Ends come before starts of the same instant, so that processors are free for these.
            while let Some(&Reverse((end, cluster, slot))) = self.running.peek()
                && end <= next
            {
                self.running.pop();
                self.clusters[cluster].0.finished(next, Slot(slot));
            }
            (0..self.clusters.len()).for_each(|cluster| self.start(cluster, next, jobs));
        }
    }

    fn start(&mut self, cluster: usize, now: Time, jobs: &[Job]) {
        let mut started = Vec::new();
        self.clusters[cluster].0.start_due(now, &mut started);
        for slot in started {
            let (number, processors) = self.placed[slot.index()];
            let job = &jobs[number];
            let Some(moldable) = Moldable::of(job) else { continue };
            let limit: Span = moldable.requested(processors, 1.0);
            // A job is stopped at its requested time.
            let end = now + moldable.run_time(job, processors, 1.0).min(limit);
            self.running.push(Reverse((end, cluster, slot.0)));
        }
    }
}
