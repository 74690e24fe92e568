//! Predicted run times on seven resource sets, and modelled runs in place of those on Grid'5000
//! (figures 5.10 and 5.11). In a modelled run, speeds of nodes and processes vary, and results are
//! merged.

use haggle_model::{Span, Time};
use haggle_planning::iterative::case_study::{CLUSTERS, PROCESSES, RANDOM, application, cores};
use haggle_planning::iterative::{Core, IterativeApplication, MappingError, Merge};
use haggle_planning::synthetic::Draws;
use haggle_scheduling::Profile;

use super::{MODELS, TRANSFER, TRANSFERS, sets};
use crate::data::Data;
use crate::study::{Compute, Effort};

/// Runs on each resource set (section 5.4.3).
const RUNS: u32 = 5;

/// Our own: time of a merge on one site of the fastest cores. With it, over-estimates of the
/// synchronous model are those of the thesis.
const MERGE: Span = Span::from_micros(5_600_000);

/// Our own: relative standard deviation of nodes, cut at three times this value.
const NODES: f64 = 0.03;
/// The same for processes.
const PROCESS_TIMES: f64 = 0.04;

/// Our own: number of queues in which a request of each run time is placed.
const QUEUES: u32 = 20;

/// Run times on a set by one model.
#[derive(Clone, Copy)]
struct RunTimes {
    /// Computing alone.
    computing: Span,
    /// Computing and transfers between sites.
    predicted: Span,
    /// Computing, transfers and merges.
    with_merges: Span,
}

/// Predictions of the two models.
fn predictions(
    application: &IterativeApplication,
    cores: &[Core],
) -> Result<[RunTimes; 2], MappingError> {
    let transfers = Merge { transfer: TRANSFER, transfers: TRANSFERS, fixed: Span::ZERO };
    let merges = Merge { fixed: MERGE, ..transfers };
    let asynchronous = application.asynchronous(cores, Span::ZERO)?.run_time;
    Ok([
        RunTimes {
            computing: application.synchronous(cores, Merge::default(), false)?.run_time,
            predicted: application.synchronous(cores, transfers, false)?.run_time,
            with_merges: application.synchronous(cores, merges, false)?.run_time,
        },
        RunTimes { computing: asynchronous, predicted: asynchronous, with_merges: asynchronous },
    ])
}

/// Slowness of each core relative to its kind, in one run. Cores of a node are equal.
fn slowness(cores: &[Core], draws: &mut Draws) -> Vec<f64> {
    let mut slowness: Vec<f64> = Vec::with_capacity(cores.len());
    let mut on_node = 0;
    for (place, core) in cores.iter().enumerate() {
        let begins = place == 0
            || cores[place - 1].kind != core.kind
            || on_node == CLUSTERS[core.kind].cores_per_node;
        on_node = if begins { 1 } else { on_node + 1 };
        // Slowness is the inverse of a factor of speed.
        let factor = if begins { 1.0 / factor(draws, NODES) } else { slowness[place - 1] };
        slowness.push(factor);
    }
    slowness
}

/// A random factor around one.
fn factor(draws: &mut Draws, deviation: f64) -> f64 {
    1.0 + deviation * draws.normal().clamp(-3.0, 3.0)
}

/// Speed of a kind relative to the fastest one.
fn power(kind: usize) -> f64 {
    CLUSTERS[kind].throughputs[RANDOM] / CLUSTERS[0].throughputs[RANDOM]
}

/// Time of a merge of a stage: the masters of all sites merge the results there at the same time, and
/// the largest site ends last.
fn stage_merge(cores: &[Core]) -> Span {
    let longest = cores.iter().map(|core| {
        let site = cores.iter().filter(|other| other.site == core.site);
        let share = site.clone().count() as f64 / cores.len() as f64;
        share / site.map(|it| power(it.kind)).fold(0.0, f64::max)
    });
    let longest = longest.fold(0.0, f64::max);
    // Results stay where they are if all cores are on one site.
    let apart = cores.iter().any(|core| core.site != cores[0].site);
    let transfers = if apart { TRANSFER * i64::from(TRANSFERS) } else { Span::ZERO };
    Span::from_secs_f64(MERGE.as_secs_f64() * longest) + transfers
}

/// Time of a merge after a process. It is a transfer's time multiplied by the share of the slowest
/// cores and divided by their speed.
fn process_merge(cores: &[Core]) -> Span {
    let slowest = cores.iter().map(|core| power(core.kind)).fold(f64::INFINITY, f64::min);
    let share = cores.iter().filter(|core| power(core.kind) <= slowest).count() as f64;
    let share = share / cores.len() as f64;
    Span::from_secs_f64(TRANSFER.as_secs_f64() * share / slowest)
}

/// A run of both models.
fn executed(
    application: &IterativeApplication,
    cores: &[Core],
    draws: &mut Draws,
) -> Result<[Span; 2], MappingError> {
    // Both models run on the same nodes, so their slowness is drawn once.
    let slowness = slowness(cores, draws);
    let synchronous = application.synchronous(cores, Merge::default(), false)?;
    let asynchronous = application.asynchronous(cores, Span::ZERO)?;
    let mut drawn = |core: usize| slowness[core] * factor(draws, PROCESS_TIMES);
    Ok([
        synchronous.executed(|process| drawn(process.core), stage_merge(cores)),
        asynchronous.executed(|process| drawn(process.core), process_merge(cores)),
    ])
}

/// A queue of 40 cores with planned jobs and gaps between them.
fn queue(draws: &mut Draws) -> Profile {
    let mut profile = Profile::new(40);
    for _ in 0..30 {
        let (width, seconds) = (draws.whole(1, 40), draws.whole(60, 3600));
        let from = Time::from_secs(i64::from(draws.whole(0, 36_000)));
        let span = Span::from_secs(i64::from(seconds));
        if let Some(start) = profile.earliest_fit(width, span, from) {
            profile.add(start, start + span, width);
        }
    }
    profile
}

/// The mean start, in seconds, of a request of 40 cores in these queues.
fn start(queues: &[Profile], run_time: Span) -> Result<f64, String> {
    let of = |profile: &Profile| profile.earliest_fit(40, run_time, Time::ZERO);
    // The collected value is `None` if the request never fits into one of the queues.
    let starts: Option<Vec<Time>> = queues.iter().map(of).collect();
    let starts = starts.ok_or("a queue has no room for ever")?;
    Ok(starts.iter().map(|start| start.as_secs_f64()).sum::<f64>() / starts.len() as f64)
}

/// Predicted and executed run times, and starts of requests of that length in a queue.
pub(in crate::study) struct Executions;

impl Compute for Executions {
    fn name(&self) -> &'static str {
        "iterative-runs"
    }

    fn compute(&self, effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["set", "model"]);
        let runs = effort.replications(RUNS, &mut data);
        let application = application([PROCESSES; 4]);
        let failed = |error: MappingError| error.to_string();
        let mut first: Option<[RunTimes; 2]> = None;
        for (number, set) in sets() {
            let cores = cores(set);
            let predicted = predictions(&application, &cores).map_err(failed)?;
            // All sets are compared with the first one (see `over`).
            let base = *first.get_or_insert(predicted);
            for seed in 1..=u64::from(runs) {
                // The same draws for every set (common random numbers).
                let queues: Vec<Profile> = {
                    let mut draws = Draws::new(seed);
                    (0..QUEUES).map(|_| queue(&mut draws)).collect()
                };
                // A stream of its own: otherwise run times would change with the number of queues.
                let mut draws = Draws::new(1000 + seed);
                let actual = executed(&application, &cores, &mut draws).map_err(failed)?;
                for (place, model) in MODELS.iter().enumerate() {
                    let RunTimes { computing, predicted, with_merges } = predicted[place];
                    let base = base[place];
                    let values = [
                        ("predicted", predicted.as_secs_f64()),
                        ("with_merges", with_merges.as_secs_f64()),
                        ("actual", actual[place].as_secs_f64()),
                        ("error_percent", off(predicted, actual[place])),
                        ("error_with_merges_percent", off(with_merges, actual[place])),
                        ("computing", computing.as_secs_f64()),
                        ("over_percent", over(computing, base.computing)),
                        ("over_with_transfers_percent", over(predicted, base.predicted)),
                        ("over_with_merges_percent", over(with_merges, base.with_merges)),
                        ("start", start(&queues, predicted)?),
                    ];
                    data.push(&[&number, model], seed, &values);
                }
            }
        }
        Ok(data)
    }
}

/// Error of a prediction in percent of the run time.
fn off(predicted: Span, actual: Span) -> f64 {
    100.0 * (actual - predicted).as_secs_f64().abs() / actual.as_secs_f64()
}

/// Increase of a run time over that on the first set, in percent.
fn over(run_time: Span, first: Span) -> f64 {
    100.0 * (run_time - first).as_secs_f64() / first.as_secs_f64()
}
