//! Invariants of a history: of the idle actors before its end, and of its whole record.

use std::collections::{BTreeMap, BTreeSet};

use haggle_agents::glimpse::{Glimpse, Machine, PromiseKind};
use haggle_model::{ActorId, Cast, JobId, JobOutcome, Observation};
use haggle_recording::check::Check;
use haggle_recording::{Books, Listeners};
use haggle_results::{Metrics, MetricsOptions};
use haggle_runtime::{RunStats, Simulation};

use std::sync::Arc;

use super::World;
use super::record::{Event, Record};

/// Checks the actors when no message is left: nothing is held, and no processor is in use.
pub(super) fn idle(simulation: &Simulation<'_>, cast: &Cast) -> Result<(), String> {
    let actors = (0..).map(ActorId).zip(&cast.actors);
    let glimpses = actors.filter_map(|(id, actor)| Some((actor, simulation.glimpse(id)?)));
    for (actor, glimpse) in glimpses {
        let Glimpse { machine, jobs, promises, .. } = glimpse;
        let name = &actor.name;
        let is_kept = |kind| matches!(kind, PromiseKind::Hold | PromiseKind::Booking);
        if let Some(promise) = promises.iter().find(|promise| is_kept(promise.kind)) {
            return Err(format!("{name} keeps a promise at the end: {promise:?}"));
        }
        if let Some(work) = jobs.first() {
            let (job, stage) = (work.job, work.stage);
            return Err(format!("{name} has {job} at the end, as {stage:?}"));
        }
        let used = |it: &Machine| it.free + it.failed + it.closed != it.processors;
        if let Some(machine) = machine.filter(used) {
            return Err(format!("{name} has processors in use at the end: {machine:?}"));
        }
    }
    Ok(())
}

/// Checks the record of a history that has ended.
pub(super) fn whole(record: &Record, stats: &RunStats, world: &World) -> Result<(), String> {
    once(record)?;
    if stats.jobs != stats.jobs_over {
        return Err(format!("of {} jobs, {} came to an end", stats.jobs, stats.jobs_over));
    }
    balance(record, stats, &world.cast)?;
    // Such a protocol promises that all or none run unless its coordinator crashes.
    let is_excused = record.crashed().any(|actor| world.orphaning.contains(&actor));
    if is_excused { Ok(()) } else { all_or_nothing(record) }
}

/// Each job is over once, and none is unfinished.
fn once(record: &Record) -> Result<(), String> {
    let mut over = BTreeSet::new();
    for (job, outcome) in outcomes(record) {
        if !over.insert(job) {
            return Err(format!("{job} was over twice"));
        }
        if outcome == JobOutcome::Unfinished {
            return Err(format!("{job} was unfinished at the end"));
        }
    }
    Ok(())
}

/// The checks of every run with `--check`: no processor is held twice, parts belong together, work balances.
fn balance(record: &Record, stats: &RunStats, cast: &Cast) -> Result<(), String> {
    let mut check = Check::new(cast);
    let mut metrics = Metrics::new(Arc::new(cast.clone()), MetricsOptions::default());
    let mut books = Books::new(cast, Listeners::new(vec![&mut metrics, &mut check]));
    record.tell(stats, &mut books).map_err(|error| error.to_string())?;
    drop(books);
    check.run_over(metrics.work()).map_err(|violation| violation.to_string())
}

/// A part runs to its end only if its job completes.
fn all_or_nothing(record: &Record) -> Result<(), String> {
    let outcomes: BTreeMap<JobId, JobOutcome> = outcomes(record).collect();
    for event in record.events() {
        let Event::Observed(now, _, Observation::TasksOver { job, run, provider }) = event else {
            continue;
        };
        let of_job = outcomes.get(job).copied();
        if run.outcome == JobOutcome::Completed && of_job != Some(JobOutcome::Completed) {
            let outcome = of_job.map_or("nothing", JobOutcome::name);
            return Err(format!(
                "a part of {job} ran to its end at {provider} until {now} s, and the outcome of the job is {outcome}"
            ));
        }
    }
    Ok(())
}

fn outcomes(record: &Record) -> impl Iterator<Item = (JobId, JobOutcome)> {
    record.events().filter_map(|event| match event {
        Event::Observed(_, _, Observation::JobOver(over)) => Some((over.job.id, over.outcome)),
        _ => None,
    })
}
