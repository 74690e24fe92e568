//! Jobs that an actor knows: those on its own processors, those of its messages, and those that it
//! submitted or received.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

use haggle_results::reader::Rows;
use haggle_results::{ResultsError, RunReader, Table};

use super::said::is_called;
use super::{Data, jobs, lock};
use crate::Refusal;
use crate::jobs::Column;
use crate::view::Known;

/// Most actors whose knowledge is in memory.
const KEPT: usize = 8;

/// The jobs that an actor knows.
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
    on_own_rows(data, actor, &mut known);
    of_workloads(data, run, actor, &mut known.jobs)?;
    let read = of_messages(run, actor, &mut known.described);
    read.map_err(|error| Data::refusal(&error))?;
    known.described.retain(|job| !known.jobs.contains(job));
    known.jobs.extend(&known.described);
    let known = Arc::new(known);
    let mut all = lock(&data.known);
    all.retain(|it| it.0.1 == version);
    all.insert(0, (name, Arc::clone(&known)));
    all.truncate(KEPT);
    Ok(known)
}

fn on_own_rows(data: &Data, actor: &str, known: &mut Known) {
    let scene = data.scene.read().unwrap_or_else(PoisonError::into_inner);
    for (id, chart) in scene.charts.iter().enumerate() {
        if is_called(&chart.name, actor) {
            known.charts.push(id);
            known.jobs.extend(chart.bars().map(|bar| bar.job));
        }
    }
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
