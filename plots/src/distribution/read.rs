//! Reads distribution functions from the folders of runs.

use std::collections::BTreeMap;

use haggle_results::JobTimes;

use super::{DistributionFigure, Quantity, Sample};
use crate::Figure;
use crate::ask::Ask;
use crate::error::PlotError;
use crate::grouping::Grouping;
use crate::load::{By, Part, Tables, each_in, samples};

/// The requested curves; jobs are grouped as requested.
pub(crate) fn asked(run: &Tables, ask: &Ask, quantity: Quantity) -> Result<Figure, PlotError> {
    let what = quantity.title();
    // Agreements are those of metaschedulers, so they have no other grouping.
    if quantity == Quantity::TimeToAgreement {
        return Ok(curves(agreements(run, &ask.title(run.about()?, what), &ask.part)?, ask));
    }
    let grouping = Grouping::of(ask.group_by.as_deref())?;
    let title = ask.title(run.about()?, &format!("{what} by {}", grouping.word()));
    let mut drawn = distribution(run, &title, &ask.part, quantity, grouping.by())?;
    let about = run.about()?;
    for sample in &mut drawn.samples {
        sample.name = grouping.label(&sample.name, about);
    }
    if ask.recorded {
        drawn.samples.push(as_recorded(run, &ask.part, quantity)?);
    }
    Ok(curves(drawn, ask))
}

/// The curves of several runs, each under its name.
pub(crate) fn compared(
    runs: &[(String, Tables)],
    ask: &Ask,
    quantity: Quantity,
) -> Result<Figure, PlotError> {
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    let title = ask.title_of_several(&names, quantity.title());
    let mut drawn = compare(runs, &title, &ask.part, quantity)?;
    if let Some((_, first)) = runs.first().filter(|_| ask.recorded) {
        drawn.samples.push(as_recorded(first, &ask.part, quantity)?);
    }
    Ok(curves(drawn, ask))
}

/// The values of a run's jobs by their logs.
fn as_recorded(run: &Tables, part: &Part, quantity: Quantity) -> Result<Sample, PlotError> {
    let threshold = run.run().summary()?.bounded_slowdown_threshold;
    let mut values = Vec::new();
    each_in(run, part, |job| {
        // The same jobs as in the curves of the run.
        let times = job.recorded_wait.zip(job.recorded_run).filter(|_| job.waiting_time.is_some());
        values.extend(times.map(|(wait, run)| match quantity {
            Quantity::BoundedSlowdown => ((wait + run) / run.max(threshold)).max(1.0),
            Quantity::WaitingTime | Quantity::TimeToAgreement => wait,
        }));
    })?;
    if values.is_empty() {
        let reason =
            "no job has recorded times: its workload is no log, or the log has no waiting times";
        return Err(PlotError::NoValues(reason.to_owned()));
    }
    Ok(Sample::new("as recorded".to_owned(), values))
}

/// Sets the requested axes.
fn curves(drawn: DistributionFigure, ask: &Ask) -> Figure {
    Figure::Distribution(DistributionFigure {
        complement: ask.complement,
        x_limits: ask.x_limits,
        y_limits: ask.y_limits,
        ..drawn
    })
}

/// Distribution functions of one run, grouped by `by`, over the jobs that were submitted in the part of
/// the run.
///
/// # Errors
/// If the results cannot be read.
pub fn distribution(
    run: &Tables,
    title: &str,
    part: &Part,
    quantity: Quantity,
    by: By,
) -> Result<DistributionFigure, PlotError> {
    let samples = samples(run, part, by, |job| value(job, quantity))?;
    Ok(DistributionFigure::new(title, quantity, samples))
}

/// Time from the first attempt of a job until all of its parts were agreed on, by metascheduler. The
/// jobs are those whose last transaction was opened in the part of the run. Jobs without an agreement
/// count.
///
/// # Errors
/// If the results cannot be read.
pub fn agreements(run: &Tables, title: &str, part: &Part) -> Result<DistributionFigure, PlotError> {
    // Transactions are sorted by their opening, so the last one of a job stays.
    let mut last: BTreeMap<(String, i64), (f64, Option<f64>)> = BTreeMap::new();
    for row in run.run().transactions()? {
        last.insert((row.actor, row.job), (row.opened, row.time_to_agreement));
    }
    let mut samples: BTreeMap<String, Sample> = BTreeMap::new();
    for ((actor, _), (opened, time)) in last {
        if !part.has_instant(opened) {
            continue;
        }
        let empty = || Sample::new(actor.clone(), Vec::new());
        let sample = samples.entry(actor.clone()).or_insert_with(empty);
        match time {
            Some(time) => sample.values.push(time),
            None => sample.without += 1,
        }
    }
    let samples = samples.into_values().collect();
    Ok(DistributionFigure::new(title, Quantity::TimeToAgreement, samples))
}

/// Distribution functions of several runs, each under its name.
///
/// # Errors
/// If the results cannot be read.
pub fn compare(
    runs: &[(String, Tables)],
    title: &str,
    part: &Part,
    quantity: Quantity,
) -> Result<DistributionFigure, PlotError> {
    let sample = |(name, run): &(String, Tables)| {
        let mut all = Sample::new(name.clone(), Vec::new());
        if quantity == Quantity::TimeToAgreement {
            for sample in agreements(run, title, part)?.samples {
                all.values.extend(sample.values);
                all.without += sample.without;
            }
        } else {
            each_in(run, part, |job| all.values.extend(value(job, quantity)))?;
        }
        Ok(all)
    };
    let samples = runs.iter().map(sample).collect::<Result<_, PlotError>>()?;
    Ok(DistributionFigure::new(title, quantity, samples))
}

fn value(job: &JobTimes, quantity: Quantity) -> Option<f64> {
    match quantity {
        Quantity::WaitingTime => job.waiting_time,
        Quantity::BoundedSlowdown => job.bounded_slowdown,
        // This quantity is in a table of its own.
        Quantity::TimeToAgreement => None,
    }
}
