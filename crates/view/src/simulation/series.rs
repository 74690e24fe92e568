//! Series of a simulation: waiting jobs and busy processors over time.

use haggle_agents::glimpse::Stage;
use haggle_model::{ProviderId, Time};
use haggle_results::AttemptView;

use super::past::{Past, Record};
use crate::clock::clamped;
use crate::scene::flag;
use crate::series::Steps;
use crate::view::{SeriesAnswer, SeriesQuery};
use crate::{Refusal, view};

/// Changes of a number at times, µs.
type Changes = Vec<(i64, i32)>;

/// The series of a request, up to `now`.
pub(super) fn answer(
    past: &Past,
    scene: &crate::scene::Scene,
    query: &SeriesQuery,
    now: Time,
) -> Result<SeriesAnswer, Refusal> {
    let series = query.ids.iter().map(|id| {
        let (kind, place) = id.split_once(':').unwrap_or((id, ""));
        let chart = match place {
            "all" => None,
            number => {
                let number = number.parse().map_err(|_| unknown(id))?;
                view::chart_of(scene, number)?;
                Some(number)
            }
        };
        let changes = match kind {
            "queue" => waiting(past, chart, now),
            "busy" => busy(scene, chart),
            _ => return Err(unknown(id)),
        };
        Ok(Steps::of(changes).columns(id, (query.from, query.to), query.columns))
    });
    let series = series.collect::<Result<_, _>>()?;
    Ok(SeriesAnswer { from: query.from, to: query.to, columns: query.columns, series })
}

fn unknown(id: &str) -> Refusal {
    Refusal::missing(format!("there is no series `{id}`"))
}

/// Changes of the number of waiting attempts.
fn waiting(past: &Past, chart: Option<usize>, now: Time) -> Changes {
    let mut changes = Changes::new();
    let is_here =
        |place: ProviderId| chart.is_none_or(|chart| past.bars.layout.chart(place) == chart);
    let mut add = |place: ProviderId, queued: Option<Time>, until: Option<Time>| {
        if let (Some(queued), Some(until)) = (queued, until)
            && is_here(place)
            && queued < until
        {
            changes.push((clamped(queued.as_micros()), 1));
            changes.push((clamped(until.as_micros()), -1));
        }
    };
    for record in past.records.iter() {
        match record {
            Record::Job(record) => {
                let each = AttemptView::each(record, |it| {
                    // Only the first attempt has waited since the job was queued.
                    if it.number == 1 || record.bag.is_some() {
                        add(it.provider, it.queued, it.start.or(it.end));
                    }
                    Ok::<(), std::convert::Infallible>(())
                });
                each.unwrap_or_else(|never| match never {});
            }
            Record::Settled(job) => {
                for it in &job.attempts {
                    let it = &it.record;
                    add(it.resource, Some(it.dispatched), it.started.or(Some(it.end)));
                }
            }
            Record::Late { .. } => {}
        }
    }
    for (actor, glimpse) in past.machines.iter() {
        for work in &glimpse.jobs {
            let until = match work.stage {
                Stage::Waiting => Some(now),
                Stage::Running | Stage::Occupying => work.start,
                _ => None,
            };
            add(ProviderId(actor.0), work.since, until);
        }
    }
    changes
}

/// Changes of the number of busy processors or slots.
fn busy(scene: &crate::scene::Scene, chart: Option<usize>) -> Changes {
    let charts = scene.charts.iter().enumerate();
    let charts = charts.filter(|(number, _)| chart.is_none_or(|it| it == *number));
    let bars =
        charts.flat_map(|(_, chart)| chart.bars()).filter(|bar| bar.look & flag::PLANNED == 0);
    let changes = bars.flat_map(|bar| {
        let rows = i32::try_from(bar.rows).unwrap_or(i32::MAX);
        [(bar.start, rows), (bar.end, -rows)]
    });
    changes.collect()
}
