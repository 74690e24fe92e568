//! The scene of a simulation at a moment.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::repeat_n;
use std::sync::Arc;

use haggle_agents::glimpse::Stage;
use haggle_model::{ActorId, Cast, JobId, ProviderId, Time};

use super::bars::{self, Look, SlotBar};
use super::layout::Planned;
use super::past::{Closed, Past};
use crate::clock::clamped;
use crate::scene::{
    Band, Bar, Chart, ChartKind, Class, Index, Mark, MarkKind, Scene, flag, put_on_lanes,
};

/// The scene of a past at a moment.
pub(crate) fn scene(past: &Past, now: Time) -> Scene {
    let mut present = Present::of(past, now);
    let charts = past.bars.layout.charts.iter().enumerate();
    let charts = charts.map(|(number, planned)| match planned.kind {
        ChartKind::Grid => grid(past, planned, now),
        ChartKind::Provider | ChartKind::Cluster => present.provider(number, planned),
    });
    Scene { charts: charts.collect() }
}

/// The chart of a place or a grid, without anything on it.
fn empty(cast: &Cast, planned: &Planned) -> Chart {
    let mut chart = Chart::new(planned.name.clone(), planned.kind);
    if let Some(place) = cast.providers.get(planned.first as usize) {
        chart.first_number = i64::from(place.first_processor);
        chart.scheduler.clone_from(&place.scheduler);
    }
    chart
}

/// Bars, ticks and marks besides those that the past keeps by chart.
struct Present<'a> {
    past: &'a Past,
    now: Time,
    /// Bars of jobs that are not over, of attempts that are; by place.
    pieces: Vec<(ProviderId, Bar)>,
    marks: Marks,
}

/// Times for which places could not be used, by the number of the place.
type Marks = BTreeMap<u32, Vec<Closed>>;

impl<'a> Present<'a> {
    fn of(past: &'a Past, now: Time) -> Present<'a> {
        let known = |job: &JobId| past.job(*job);
        let pieces = past.pieces.iter().filter_map(|(job, pieces)| {
            let known = known(job)?;
            Some(bars::of_pieces(&known.job, known.class, pieces))
        });
        let mut pieces = Vec::from_iter(pieces.flatten());
        pieces.sort_by_key(|(place, _)| *place);
        Present { past, now, pieces, marks: marks(past, now) }
    }

    fn provider(&mut self, number: usize, planned: &Planned) -> Chart {
        let cast = self.past.cast();
        let mut chart = empty(cast, planned);
        let place = ProviderId(planned.first);
        let Some(info) = cast.providers.get(place.index()) else { return chart };
        chart.rows = info.processors;
        chart.speed = Some(info.speed);
        chart.bands.push(Band {
            name: info.name.clone(),
            site: None,
            first_row: 0,
            rows: info.processors,
        });
        let first = self.pieces.partition_point(|(it, _)| *it < place);
        let behind = self.pieces.partition_point(|(it, _)| *it <= place);
        let mut more = Vec::from_iter(self.pieces[first..behind].iter().map(|(_, bar)| *bar));
        let mut ticks = self.past.bars.ticks(number);
        let machine = self.past.machines.get(&ActorId(place.0));
        if let Some(glimpse) = machine {
            let look = |job: JobId| {
                let known = self.past.job(job)?;
                Some(Look::of(&known.job, known.class))
            };
            let (bars, promised) = bars::of_machine(
                glimpse,
                chart.rows,
                self.now,
                |work| look(work.job),
                |work| self.past.plan(work),
            );
            more.extend(bars);
            ticks.extend(promised);
        }
        let is_done = |bar: &&Bar| bar.look & flag::PLANNED == 0;
        let busy: i128 = more
            .iter()
            .filter(is_done)
            .map(|it| i128::from(it.length()) * i128::from(it.rows))
            .sum();
        let account = self.past.bars.use_of[place.index()];
        let capacity = self.now.as_micros() as f64 * f64::from(chart.rows);
        chart.utilisation = (capacity > 0.0).then(|| (account.busy + busy) as f64 / capacity);
        let works = machine.into_iter().flat_map(|glimpse| &glimpse.jobs);
        let running = works.filter(|work| work.stage == Stage::Running).map(|work| work.job);
        let running = BTreeSet::from_iter(running).len() as u64;
        chart.jobs = i64::try_from(account.started + running).unwrap_or(i64::MAX);
        chart.set_layers(self.past.bars.layers(number, more));
        chart.set_ticks(ticks);
        chart.set_marks(of_place(&self.marks, place, self.now, (0, chart.rows)));
        chart
    }
}

/// All times for which processors could not be used.
fn marks(past: &Past, now: Time) -> Marks {
    let over = past.closed.iter().filter(|it| it.start <= now).cloned();
    let down = past.down.iter().flat_map(|(&provider, all)| {
        all.iter().map(move |(start, processors)| Closed {
            kind: MarkKind::Failure,
            actor: ActorId(provider.0),
            of: Some((provider, processors.clone())),
            start: *start,
            end: None,
        })
    });
    let crashed = past.crashed.iter().map(|(&actor, &start)| Closed {
        kind: MarkKind::Crash,
        actor,
        of: None,
        start,
        end: None,
    });
    let mut marks = Marks::new();
    for mark in over.chain(down).chain(crashed) {
        marks.entry(mark.actor.0).or_default().push(mark);
    }
    marks
}

/// The marks of a place, whose rows are `first` and the `rows` from there on.
fn of_place(marks: &Marks, place: ProviderId, now: Time, (first, rows): (u32, u32)) -> Vec<Mark> {
    let here = marks.get(&place.0).into_iter().flatten();
    let placed = here.flat_map(|it| {
        let mark = Mark {
            start: clamped(it.start.as_micros()),
            end: clamped(it.end.unwrap_or(now).max(it.start).as_micros()),
            row: first,
            rows,
            kind: it.kind,
        };
        let intervals = match &it.of {
            Some((_, processors)) => processors.intervals().to_vec(),
            None => Vec::new(),
        };
        let whole = intervals.is_empty().then_some(mark);
        let parts = intervals.into_iter().map(move |(from, to)| Mark {
            row: first + from,
            rows: to - from + 1,
            ..mark
        });
        whole.into_iter().chain(parts)
    });
    placed.collect()
}

/// The chart of a grid: each resource is a band of as many rows as slots were used at once.
fn grid(past: &Past, planned: &Planned, now: Time) -> Chart {
    let cast = past.cast();
    let mut chart = empty(cast, planned);
    let places = planned.places as usize;
    let mut bars_of: Vec<Vec<Bar>> = vec![Vec::new(); places];
    let mut add = |SlotBar { place, bar }: SlotBar| {
        if let Some(bars) = bars_of.get_mut((place.0 - planned.first) as usize) {
            bars.push(bar);
        }
    };
    past.bars.slots.iter().copied().for_each(&mut add);
    for (job, pieces) in past.pieces.iter() {
        let Some(known) = past.job(*job) else { continue };
        pieces.attempts.iter().for_each(|it| add(bars::slot(&known.job, it)));
    }
    for (actor, glimpse) in past.machines.range(ActorId(planned.first)..) {
        for work in &glimpse.jobs {
            let (Some(since), Some(known)) = (work.since, past.job(work.job)) else { continue };
            let look = Look { class: Class::GridTask, ..Look::of(&known.job, None) };
            let bar = look.bar(work.job.0, 1, flag::RUNNING, (since.min(now), now));
            add(SlotBar { place: ProviderId(actor.0), bar });
        }
    }
    let marks = marks(past, now);
    let mut placed = Vec::new();
    let (mut all, mut row) = (Vec::new(), 0);
    let sites = cast.sites.iter();
    let mut sites = sites.flat_map(|site| repeat_n(&site.name, site.resources as usize));
    for (place, mut bars) in (planned.first..).map(ProviderId).zip(bars_of) {
        let rows = put_on_lanes(&mut bars, row);
        all.extend(bars);
        let name = cast.providers.get(place.index()).map_or_else(String::new, |it| it.name.clone());
        placed.push((place, row, rows));
        chart.bands.push(Band { name, site: sites.next().cloned(), first_row: row, rows });
        row += rows;
    }
    chart.rows = row;
    let marks = placed.iter().flat_map(|&(place, first, rows)| {
        let here = of_place(&marks, place, now, (0, 1)).into_iter();
        here.map(move |mark| Mark { row: first, rows, ..mark })
    });
    chart.set_marks(marks.collect());
    let started = past.bars.use_of.iter().skip(planned.first as usize);
    chart.jobs = started.map(|it| it.started as i64).sum();
    chart.set_layers(vec![Arc::new(Index::new(all))]);
    chart
}
