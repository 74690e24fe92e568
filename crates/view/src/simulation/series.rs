//! Series of a simulation: waiting jobs and busy processors over time.

use haggle_model::{JobId, Time};
use haggle_results::AttemptView;

use super::past::{Past, Record};
use super::rows::{present, works};
use crate::clock::clamped;
use crate::scene::{ChartKind, flag};
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

/// Changes of the number of waiting jobs: of a chart, or of jobs that were submitted and have not started.
fn waiting(past: &Past, chart: Option<usize>, now: Time) -> Changes {
    let mut changes = Changes::new();
    let mut add = |from: Option<Time>, to: Option<Time>| {
        if let Some((from, to)) = from.zip(to).filter(|(from, to)| from < to) {
            changes.extend([(clamped(from.as_micros()), 1), (clamped(to.as_micros()), -1)]);
        }
    };
    let works = works(past);
    let open = (0..).map(JobId).zip(past.jobs.iter()).filter_map(|(job, known)| {
        known.as_ref().filter(|known| known.record.is_none())?;
        present(past, &works, job, now)
    });
    let open = Vec::from_iter(open);
    let over = past.records.iter().filter_map(|record| match record {
        Record::Job(record) => Some(&**record),
        Record::Settled(job) => Some(&job.record),
        Record::Late { .. } => None,
    });
    let all = over.chain(&open);
    let layout = &past.bars.layout;
    let kind = chart.and_then(|chart| Some(layout.charts.get(chart)?.kind));
    match (chart, kind) {
        (None, _) => all.for_each(|it| add(Some(it.job.submit), it.start.or(Some(it.end)))),
        (Some(_), Some(ChartKind::Grid)) => {
            let on_grid = all.filter(|it| past.cast().on_grid.contains(&it.job.workload));
            on_grid.for_each(|it| add(Some(it.job.submit), it.queued.or(Some(it.end))));
        }
        (Some(chart), _) => {
            let mut take = |it: AttemptView<'_>| {
                if layout.chart(it.provider) == chart {
                    add(it.queued, it.start.or(it.end));
                }
                Ok::<(), std::convert::Infallible>(())
            };
            for record in all.filter(|it| !past.cast().on_grid.contains(&it.job.workload)) {
                AttemptView::each(record, &mut take).unwrap_or_else(|never| match never {});
            }
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
    let changes = bars.filter(|bar| bar.end > bar.start).flat_map(|bar| {
        let rows = i32::try_from(bar.rows).unwrap_or(i32::MAX);
        [(bar.start, rows), (bar.end, -rows)]
    });
    changes.collect()
}
