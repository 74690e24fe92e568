//! Series of a simulation: waiting jobs and busy processors over time.

use haggle_agents::glimpse::{Stage, Work};
use haggle_model::grid::AttemptRecord;
use haggle_model::{ActorId, AttemptOutcome, JobRecord, JobShape, ProviderId, Time};
use haggle_results::AttemptView;
use haggle_results::waits::{Try, at_providers, for_slots};

use super::past::{Known, Past, Pieces, Record};
use super::rows::{Works, present, works};
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

/// Changes of the number of waiting jobs of a chart, or of all charts.
fn waiting(past: &Past, chart: Option<usize>, now: Time) -> Changes {
    let mut changes = Changes::new();
    let layout = &past.bars.layout;
    let grid = layout.charts.iter().position(|it| it.kind == ChartKind::Grid);
    let mut add = |place: Option<usize>, from: Time, until: Time| {
        if place.is_some() && (chart.is_none() || chart == place) && from < until {
            changes.extend([(clamped(from.as_micros()), 1), (clamped(until.as_micros()), -1)]);
        }
    };
    let works = works(past);
    for known in past.jobs.iter().flatten() {
        let Stay { tries, slots, left } = Stay::of(past, &works, known, now);
        let is_bag = known.job.shape == JobShape::Bag;
        at_providers(&tries, is_bag, left, |provider, from, until| {
            add(Some(layout.chart(provider)), from, until);
        });
        if !slots.is_empty() || past.cast().on_grid.contains(&known.job.workload) {
            let gaps = for_slots((known.job.submit, left), slots);
            gaps.into_iter().for_each(|(from, until)| add(grid, from, until));
        }
    }
    changes
}

/// The stay of a job in the system, as far as its waiting depends on it.
struct Stay {
    tries: Vec<Try<ProviderId>>,
    slots: Vec<(Time, Time)>,
    left: Time,
}

impl Stay {
    /// The stay of a job. One that is not over is seen as if the run stopped now.
    fn of(past: &Past, works: &Works<'_>, known: &Known, now: Time) -> Stay {
        let job = known.job.id;
        let mut stay = Stay { tries: Vec::new(), slots: Vec::new(), left: now };
        match past.record(job) {
            Some(Record::Job(record)) => stay.take(record),
            Some(Record::Settled(job)) => {
                stay.left = job.record.end;
                stay.slots.extend(job.attempts.iter().map(|it| slot(&it.record)));
            }
            Some(Record::Late { .. }) => {}
            None => {
                let pieces = past.pieces.get(&job);
                let attempts = pieces.into_iter().flat_map(|it| &it.attempts);
                stay.slots.extend(attempts.map(|it| slot(it)));
                let here = works.get(&job).into_iter().flatten();
                let is_slot = |actor: ActorId| actor.index() >= past.cast().whole_places();
                stay.slots.extend(
                    here.clone()
                        .filter(|(actor, _)| is_slot(*actor))
                        .filter_map(|(_, work)| Some((work.since?, now))),
                );
                if known.job.shape == JobShape::Bag {
                    let here = here.filter(|(actor, _)| !is_slot(*actor));
                    stay.tries.extend(shares(pieces, here.copied(), now));
                } else if stay.slots.is_empty()
                    && let Some(record) = present(past, works, job, now)
                {
                    stay.take(&record);
                }
            }
        }
        stay
    }

    fn take(&mut self, record: &JobRecord) {
        self.left = record.end;
        let each = AttemptView::each(record, |it| {
            if it.outcome != AttemptOutcome::GivenUp {
                self.tries.push(Try {
                    provider: it.provider,
                    queued: it.queued,
                    start: it.start,
                    end: it.end,
                    has_failed: it.outcome == AttemptOutcome::Failed,
                });
            }
            Ok::<(), std::convert::Infallible>(())
        });
        each.unwrap_or_else(|never| match never {});
    }
}

fn slot(it: &AttemptRecord) -> (Time, Time) {
    (it.dispatched, it.end)
}

/// Shares of a bag that is not over: of their tasks, some may be over and others wait. The time of queueing is known while
/// a task is there.
fn shares<'a>(
    pieces: Option<&'a Pieces>,
    here: impl Iterator<Item = (ActorId, &'a Work)>,
    now: Time,
) -> Vec<Try<ProviderId>> {
    let runs = pieces.into_iter().flat_map(|it| &it.runs);
    let over = runs.map(|(provider, run)| Try {
        provider: *provider,
        queued: None,
        start: Some(run.start),
        end: Some(run.end),
        has_failed: false,
    });
    let open = here.map(|(actor, work)| Try {
        provider: ProviderId(actor.0),
        queued: work.since,
        start: work.start.filter(|start| work.stage == Stage::Running && *start <= now),
        end: Some(now),
        has_failed: false,
    });
    over.chain(open).collect()
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
