//! Reads a message sequence chart from the folder of a run.

use std::collections::BTreeMap;

use haggle_results::Table;

use crate::Figure;
use crate::ask::Ask;
use crate::error::PlotError;
use crate::load::{Part, Tables};
use crate::sequence::{Sequence, SequenceMessage};

/// The requested chart.
pub(crate) fn asked(run: &Tables, ask: &Ask) -> Result<Figure, PlotError> {
    let job = ask.job(run)?;
    let what = match job {
        Some(job) => format!("messages about job {job}"),
        None => "messages about one job".to_owned(),
    };
    sequence(run, &ask.title(run.about()?, &what), &ask.part, job).map(Figure::Sequence)
}

/// The messages about the job with number `job` in the run; without a number, about the first job with
/// the most messages.
///
/// # Errors
/// If the run kept no messages, they cannot be read, or there is no such job.
pub fn sequence(
    run: &Tables,
    title: &str,
    part: &Part,
    job: Option<i64>,
) -> Result<Sequence, PlotError> {
    if !run.run().has(Table::Messages) {
        let reason = "the run kept no messages: it needs `messages = \"all\"` in [results]";
        return Err(PlotError::Unsuitable(reason.to_owned()));
    }
    let rows = run.run().messages()?;
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for job in rows.iter().filter_map(|row| row.job) {
        *counts.entry(job).or_default() += 1;
    }
    // `max_by_key` returns the last of equal ones, which in reverse order is the lowest number.
    let most = counts.iter().rev().max_by_key(|(_, count)| **count).map(|(job, _)| *job);
    let Some(job) = job.or(most).filter(|job| counts.contains_key(job)) else {
        let title = title.to_owned();
        return Err(match job {
            Some(job) => PlotError::NoJob(job.to_string()),
            None => PlotError::NoData { title, reason: "no message is about a job" },
        });
    };
    let mut said: Vec<(f64, String, String, String, bool)> = rows
        .into_iter()
        .filter(|row| row.job == Some(job) && part.has_instant(row.time))
        .map(|row| (row.time, row.sender, row.receiver, row.kind, false))
        .collect();
    if run.run().has(Table::MessageFaults) {
        let names = ["time", "sender", "receiver", "kind", "job", "fault", "resent"];
        let faults = run.run().columns(Table::MessageFaults, &names)?;
        let (times, jobs) = (faults.real("time")?, faults.integer("job")?);
        let resent = faults.integer("resent")?;
        let text = |name: &str| faults.text(name);
        let (from, to, kind, fault) =
            (text("sender")?, text("receiver")?, text("kind")?, text("fault")?);
        for row in 0..faults.rows() {
            let word = |column: &haggle_results::reader::TextColumn| {
                column.at(row).unwrap_or_default().to_owned()
            };
            let never_came = ["lost", "parted", "missed"].contains(&word(fault).as_str())
                && resent[row].unwrap_or(0) == 0;
            let time = times[row].unwrap_or(0.0);
            if never_came && jobs[row] == Some(job) && part.has_instant(time) {
                said.push((time, word(from), word(to), word(kind), true));
            }
        }
    }
    // The sort is stable: of one instant, delivered messages come before lost ones, each in its order.
    said.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut actors: Vec<String> = Vec::new();
    // Actors stand in the order in which they first send or receive.
    let mut place = |name: String| match actors.iter().position(|it| *it == name) {
        Some(place) => place,
        None => {
            actors.push(name);
            actors.len() - 1
        }
    };
    let message = |(time, from, to, kind, lost)| {
        let (from, to) = (place(from), place(to));
        SequenceMessage { time, from, to, kind, lost }
    };
    let messages = said.into_iter().map(message).collect();
    Ok(Sequence { title: title.to_owned(), actors, messages })
}
