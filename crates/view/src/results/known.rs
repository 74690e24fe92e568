//! Knowledge of an actor: its chart, the jobs on its own processors, those of its messages, and those that it submitted or
//! received.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use haggle_results::reader::Rows;
use haggle_results::{ResultsError, RunReader, Table};

use super::said::is_called;
use super::{Data, jobs, lock};
use crate::Refusal;
use crate::jobs::Column;
use crate::scene::ChartKind;
use crate::view::Known;

/// Most actors whose knowledge is in memory.
const KEPT: usize = 8;

/// The knowledge of an actor.
pub(super) fn known_to(data: &Data, actor: &str) -> Result<Arc<Known>, Refusal> {
    let version = data.version.load(std::sync::atomic::Ordering::Acquire);
    let name = (actor.to_owned(), version);
    let kept = lock(&data.known).iter().find(|it| it.0 == name).map(|it| Arc::clone(&it.1));
    if let Some(kept) = kept {
        return Ok(kept);
    }
    let facts = data.facts.get().map_or(&[][..], |it| it.actors.as_slice());
    if !facts.iter().any(|it| is_called(&it.name, actor)) {
        return Err(Refusal::missing(format!("there is no actor `{actor}`")));
    }
    let run = data.run()?;
    let mut known = Known::default();
    let scene = data.scene.read().unwrap_or_else(PoisonError::into_inner);
    let own = scene.charts.iter().enumerate().filter(|(_, it)| it.kind != ChartKind::Grid);
    known.charts.extend(own.filter(|(_, it)| is_called(&it.name, actor)).map(|(id, _)| id));
    drop(scene);
    let whole = of_attempts(run, actor, &mut known.jobs);
    let mut whole = whole.map_err(|error| Data::refusal(&error))?;
    if known.charts.is_empty() {
        whole.clear();
    }
    of_workloads(data, run, actor, &mut known.jobs)?;
    of_messages(run, actor, &mut known.jobs).map_err(|error| Data::refusal(&error))?;
    of_one_machine(data, actor, &mut whole)?;
    known.described = known.jobs.difference(&whole).copied().collect();
    let known = Arc::new(known);
    let mut all = lock(&data.known);
    all.retain(|it| it.0.1 == version);
    all.insert(0, (name, Arc::clone(&known)));
    all.truncate(KEPT);
    Ok(known)
}

/// Adds the jobs with an attempt at the actor. Returns those of which all attempts were there, and no part was given up.
fn of_attempts(
    run: &RunReader,
    actor: &str,
    known: &mut HashSet<u32>,
) -> Result<HashSet<u32>, ResultsError> {
    const COLUMNS: [&str; 3] = ["job", "provider", "outcome"];
    let (mut here, mut elsewhere) = (HashSet::new(), HashSet::new());
    run.in_batches(Table::Attempts, &COLUMNS, &Rows::all(), |batch| {
        let (providers, outcomes) = (batch.text("provider")?, batch.text("outcome")?);
        let is = Vec::from_iter(providers.texts.iter().map(|it| is_called(it, actor)));
        for (row, job) in batch.integer("job")?.iter().enumerate() {
            let Some(job) = job.and_then(|it| u32::try_from(it).ok()) else { continue };
            let code = providers.codes[row];
            let is_here = code.is_some_and(|it| is.get(it as usize).is_some_and(|it| *it));
            if is_here {
                here.insert(job);
            }
            if !is_here || outcomes.at(row) == Some("given_up") {
                elsewhere.insert(job);
            }
        }
        Ok(())
    })?;
    known.extend(&here);
    here.retain(|job| !elsewhere.contains(job));
    Ok(here)
}

/// Of these jobs, leaves those that the machine of the actor was the last to have, and that are no bags.
fn of_one_machine(data: &Data, actor: &str, whole: &mut HashSet<u32>) -> Result<(), Refusal> {
    let (numbers, providers) = (jobs::column(data, "job")?, jobs::column(data, "provider")?);
    let shapes = jobs::column(data, "shape")?;
    let is_here = |row: &usize| providers.text(*row).is_some_and(|it| is_called(it, actor));
    let rows = (0..numbers.len()).filter(is_here).filter(|row| shapes.text(*row) != Some("bag"));
    let here = HashSet::<u32>::from_iter(rows.filter_map(|row| numbers.number(row)));
    whole.retain(|job| here.contains(job));
    Ok(())
}

/// Jobs of workloads that it submits, or that are submitted to it.
fn of_workloads(
    data: &Data,
    run: &RunReader,
    actor: &str,
    known: &mut HashSet<u32>,
) -> Result<(), Refusal> {
    let Ok(about) = run.about() else { return Ok(()) };
    let is_his = |it: &&haggle_results::about::WorkloadInfo| {
        let users = it.users.iter();
        users.into_iter().any(|it| is_called(&it.name, actor) || is_called(&it.submits_to, actor))
    };
    let names: HashSet<&str> =
        about.workloads.iter().filter(is_his).map(|it| it.name.as_str()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let (workloads, numbers) = (jobs::column(data, "workload_name")?, jobs::column(data, "job")?);
    if let Column::Text { codes, texts } = &*workloads {
        let has = Vec::from_iter(texts.iter().map(|it| names.contains(&**it)));
        for (row, &code) in codes.iter().enumerate() {
            if has.get(code as usize).copied().unwrap_or(false) {
                known.extend(numbers.number(row));
            }
        }
    }
    Ok(())
}

fn of_messages(run: &RunReader, actor: &str, known: &mut HashSet<u32>) -> Result<(), ResultsError> {
    const COLUMNS: [&str; 3] = ["sender", "receiver", "job"];
    if !run.has(Table::Messages) {
        return Ok(());
    }
    run.in_batches(Table::Messages, &COLUMNS, &Rows::all(), |batch| {
        let (senders, receivers) = (batch.text("sender")?, batch.text("receiver")?);
        let of = |texts: &[String]| Vec::from_iter(texts.iter().map(|it| is_called(it, actor)));
        let (is_sender, is_receiver) = (of(&senders.texts), of(&receivers.texts));
        let has = |all: &[bool], code: Option<u32>| {
            code.and_then(|it| all.get(it as usize).copied()).unwrap_or(false)
        };
        let jobs = batch.integer("job")?.iter().enumerate();
        for (row, job) in jobs.filter_map(|(row, job)| Some((row, u32::try_from((*job)?).ok()?))) {
            if has(&is_sender, senders.codes[row]) || has(&is_receiver, receivers.codes[row]) {
                known.insert(job);
            }
        }
        Ok(())
    })
}
