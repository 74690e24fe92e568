//! Search for jobs, charts, actors and bands by their names.

use std::sync::PoisonError;

use haggle_results::reader::CellValue;

use super::{Data, jobs};
use crate::shown::shown;
use crate::view::{FOUND_MAX, Known, Match};

/// Things with a text in their name, or a job with this number.
pub(super) fn find(data: &Data, text: &str, known: Option<&Known>) -> Vec<Match> {
    let text = text.trim().to_lowercase();
    let mut found = Vec::new();
    if text.is_empty() {
        return found;
    }
    find_jobs(data, &text, known, &mut found);
    find_places(data, &text, known, &mut found);
    found.truncate(FOUND_MAX + 1);
    found
}

fn entry(kind: &'static str, id: usize, label: String) -> Match {
    Match { kind, id, label, chart: None, row: None }
}

/// Jobs by their number in the run, by their number in the workload, or as `WORKLOAD!NUMBER`.
fn find_jobs(data: &Data, text: &str, known: Option<&Known>, found: &mut Vec<Match>) {
    let (workload, number) = match text.rsplit_once('!') {
        Some((workload, number)) => (Some(workload), number),
        None => (None, text),
    };
    let Ok(number) = number.trim().parse::<i64>() else { return };
    let columns = ["job", "job_id", "workload_name"].map(|name| jobs::column(data, name));
    // Without the table, the other things are still found.
    let [Ok(numbers), Ok(ids), Ok(workloads)] = columns else { return };
    let is = |cell| matches!(cell, CellValue::Integer(it) if it == number);
    let mut own = Vec::new();
    let mut others = Vec::new();
    for row in 0..numbers.len() {
        let (in_run, in_workload) = (is(numbers.cell(row)), is(ids.cell(row)));
        let name = workloads.text(row).unwrap_or_default();
        let fits = match workload {
            Some(workload) => in_workload && name.to_lowercase() == *workload,
            None => in_run || in_workload,
        };
        let is_known = |job: &u32| known.is_none_or(|it| it.jobs.contains(job));
        let Some(job) = numbers.number(row).filter(|_| fits).filter(is_known) else { continue };
        let label = match ids.cell(row) {
            CellValue::Integer(id) => format!("job {job} ({}!{id})", shown(name)),
            _ => format!("job {job}"),
        };
        let list = if in_run { &mut own } else { &mut others };
        // The job with the number in the run may be the last row.
        if list.len() <= FOUND_MAX {
            list.push(entry("job", job as usize, label));
        }
    }
    found.extend(own.into_iter().chain(others));
}

fn find_places(data: &Data, text: &str, known: Option<&Known>, found: &mut Vec<Match>) {
    let has = |name: &str| name.to_lowercase().contains(text);
    let scene = data.scene.read().unwrap_or_else(PoisonError::into_inner);
    for (id, chart) in scene.charts.iter().enumerate().filter(|it| has(&it.1.name)) {
        found.push(entry("chart", id, shown(&chart.name)));
    }
    let actors = data.facts.get().map_or(&[][..], |it| it.actors.as_slice());
    for actor in actors.iter().filter(|it| has(&it.name)) {
        found.push(entry("actor", actor.id, actor.name.clone()));
    }
    let is_own = |chart: usize| known.is_none_or(|it| it.charts.contains(&chart));
    let charts = scene.charts.iter().enumerate();
    for (chart, it) in charts.filter(|it| it.1.bands.len() > 1 && is_own(it.0)) {
        let has = |name: &str, site: Option<&str>| has(name) || site.is_some_and(has);
        let bands = it.bands.iter().enumerate();
        for (id, band) in bands.filter(|it| has(&it.1.name, it.1.site.as_deref())) {
            if found.len() > FOUND_MAX {
                return;
            }
            let label = format!("{} of {}", shown(&band.name), shown(&it.name));
            found.push(Match {
                chart: Some(chart),
                row: Some(band.first_row),
                ..entry("band", id, label)
            });
        }
    }
}
