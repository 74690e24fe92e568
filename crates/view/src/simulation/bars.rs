//! Bars of a simulation: those of attempts that are over, and those of the present work and plans of all machines.

use std::collections::BTreeMap;
use std::sync::Arc;

use haggle_agents::Glimpse;
use haggle_agents::glimpse::Work;
use haggle_model::grid::AttemptRecord;
use haggle_model::{
    AttemptOutcome, Job, JobClass, JobRecord, JobShape, ProcessorSet, ProviderId, ShareRecord, Time,
};
use haggle_results::AttemptView;

use super::layout::Layout;
use super::log::Log;
use super::past::Pieces;
use crate::clock::clamped;
use crate::promise::Promise;
use crate::scene::{Bar, Class, Index, Tick, TickKind, flag};

/// Bars that wait for an index of their own.
const FRESH: usize = 1_024;

/// Work of a machine that is planned and shown; the rest of a long queue is not drawn.
const PLANNED_MAX: usize = 1_000;

/// Planned work times rows that are examined for it; of wide machines, less work is drawn.
const EXAMINED_MAX: usize = 500_000;

/// Bars of attempts that are over, and of their promises. Copies share their parts.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    pub(crate) layout: Arc<Layout>,
    /// For each chart but that of a grid.
    charts: Vec<ChartBars>,
    /// Slots of a grid.
    pub(crate) slots: Log<SlotBar>,
    /// Processor time and started attempts of each place.
    pub(crate) use_of: Arc<Vec<Use>>,
}

/// Work of a place that is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Use {
    /// Processor time, µs.
    pub(crate) busy: i128,
    /// Jobs that started there and are over; on a resource of a grid, attempts.
    pub(crate) started: u64,
}

/// Bars of a chart.
#[derive(Clone, Debug, Default)]
struct ChartBars {
    /// Layers of at least [`FRESH`] bars, each larger than the next.
    layers: Vec<Arc<Index>>,
    fresh: Arc<Vec<Bar>>,
    ticks: Log<Tick>,
}

/// A slot that an attempt on a grid held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotBar {
    pub(crate) place: ProviderId,
    pub(crate) bar: Bar,
}

/// The last bar of a job on each chart: start, first row, rows.
type Last = BTreeMap<usize, (i64, u32, u32)>;

/// A job's class and colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) class: Class,
    pub(crate) colour: u8,
}

impl Look {
    /// The look of a job.
    pub(crate) fn of(job: &Job, class: Option<JobClass>) -> Look {
        let class = match job {
            Job { reservation: Some(_), .. } => Class::Reservation,
            Job { shape: JobShape::Bag, .. } => Class::BagShare,
            _ if class == Some(JobClass::Local) => Class::Local,
            _ => Class::External,
        };
        Look { class, colour: (job.workload % 8) as u8 }
    }

    /// The look of a job at providers that is over.
    pub(crate) fn of_record(record: &JobRecord) -> Look {
        let look = Look::of(&record.job, Some(record.class));
        let class = match (&record.bag, record.job.shape) {
            _ if record.granted.is_some() => Class::Reservation,
            (_, JobShape::Bag) => Class::BagShare,
            (Some(bag), _) if bag.providers() > 1 => Class::Part,
            _ if record.class == JobClass::Local => Class::Local,
            _ => Class::External,
        };
        Look { class, ..look }
    }

    pub(crate) fn bar(self, job: u32, attempt: i64, flags: u8, (start, end): (Time, Time)) -> Bar {
        Bar {
            start: clamped(start.as_micros()),
            end: clamped(end.max(start).as_micros()),
            row: 0,
            rows: 1,
            job,
            attempt: u16::try_from(attempt).unwrap_or(u16::MAX),
            look: self.class as u8 | flags,
            colour: self.colour,
        }
    }
}

/// One bar for each interval of processors.
fn on(processors: &ProcessorSet, bar: Bar) -> impl Iterator<Item = Bar> {
    processors.intervals().iter().map(move |&(first, last)| Bar {
        row: first,
        rows: last - first + 1,
        ..bar
    })
}

fn flags(outcome: AttemptOutcome) -> u8 {
    match outcome {
        AttemptOutcome::Failed | AttemptOutcome::Preempted | AttemptOutcome::Stranded => flag::LOST,
        AttemptOutcome::GivenUp => flag::GIVEN_UP,
        AttemptOutcome::Unfinished => flag::RUNNING,
        _ => 0,
    }
}

impl Bars {
    pub(crate) fn new(layout: &Arc<Layout>, places: usize) -> Bars {
        let charts = layout.charts.iter().map(|_| ChartBars::default()).collect();
        let use_of = Arc::new(vec![Use::default(); places]);
        Bars { layout: Arc::clone(layout), charts, slots: Log::default(), use_of }
    }

    /// A job at providers is over.
    pub(crate) fn job_over(&mut self, record: &JobRecord) {
        let look = Look::of_record(record);
        let mut last = Last::default();
        let each = AttemptView::each(record, |attempt| {
            self.attempt(&record.job, look, &attempt, &mut last);
            Ok::<(), std::convert::Infallible>(())
        });
        each.unwrap_or_else(|never| match never {});
        for place in places(record) {
            Arc::make_mut(&mut self.use_of)[place.index()].started += 1;
        }
        let Some(promised) = record.promised_end else { return };
        let (time, end) = (clamped(promised.as_micros()), clamped(record.end.as_micros()));
        let state = Promise::of(Promise::outcome(record.outcome.name()), time, Some(end));
        let Some(kind) = state.tick() else { return };
        for (chart, (_, row, rows)) in last {
            self.charts[chart].ticks.push(Tick { time, row, rows, job: record.job.id.0, kind });
        }
    }

    /// A part has ended whose job was over.
    pub(crate) fn late_part(&mut self, job: &Job, look: Look, attempt: i64, part: &ShareRecord) {
        self.attempt(job, look, &AttemptView::given_up(attempt, part), &mut Last::default());
    }

    fn attempt(&mut self, job: &Job, look: Look, attempt: &AttemptView<'_>, last: &mut Last) {
        let chart = self.layout.chart(attempt.provider);
        let account = &mut Arc::make_mut(&mut self.use_of)[attempt.provider.index()];
        let Some(bars) = self.charts.get_mut(chart) else { return };
        let each = attempt.each_held(|processors, start, end| {
            // Other tasks of a share may have ended well.
            let flags = if attempt.end == Some(end) { flags(attempt.outcome) } else { 0 };
            let bar = look.bar(job.id.0, attempt.number, flags, (start, end));
            account.busy += i128::from(processors.count()) * i128::from((end - start).as_micros());
            for bar in on(processors, bar) {
                let place = last.entry(chart).or_insert((bar.start, bar.row, bar.rows));
                if (bar.start, bar.row) > (place.0, place.1) {
                    *place = (bar.start, bar.row, bar.rows);
                }
                bars.push(bar);
            }
            Ok::<(), std::convert::Infallible>(())
        });
        each.unwrap_or_else(|never| match never {});
    }

    /// An attempt on a grid whose job is settled.
    pub(crate) fn slot(&mut self, job: &Job, it: &AttemptRecord) {
        self.slots.push(slot(job, it));
        let account = &mut Arc::make_mut(&mut self.use_of)[it.resource.index()];
        account.busy += i128::from(it.held().as_micros());
        account.started += u64::from(it.started.is_some());
    }

    /// All layers of a chart, with further bars.
    pub(crate) fn layers(&self, chart: usize, more: Vec<Bar>) -> Vec<Arc<Index>> {
        let Some(charts) = self.charts.get(chart) else { return Vec::new() };
        let mut last = charts.fresh.to_vec();
        last.extend(more);
        charts.layers.iter().cloned().chain([Arc::new(Index::new(last))]).collect()
    }

    /// The ticks of attempts that are over.
    pub(crate) fn ticks(&self, chart: usize) -> Vec<Tick> {
        self.charts.get(chart).map_or_else(Vec::new, |it| it.ticks.iter().copied().collect())
    }
}

/// The places of a job that is over, as the table `resources` counts them: those of its shares, or that of its start.
fn places(record: &JobRecord) -> Vec<ProviderId> {
    match &record.bag {
        Some(bag) => bag.shares.iter().map(|share| share.provider).collect(),
        None => record.provider.filter(|_| record.start.is_some()).into_iter().collect(),
    }
}

/// The slot of an attempt on a grid that is over.
pub(crate) fn slot(job: &Job, it: &AttemptRecord) -> SlotBar {
    let look = Look { class: Class::GridTask, ..Look::of(job, None) };
    let span = (it.dispatched, it.left);
    SlotBar {
        place: it.resource,
        bar: look.bar(job.id.0, it.number.into(), flags(it.outcome), span),
    }
}

impl ChartBars {
    fn push(&mut self, bar: Bar) {
        let fresh = Arc::make_mut(&mut self.fresh);
        fresh.push(bar);
        if fresh.len() < FRESH {
            return;
        }
        let mut all = std::mem::take(fresh);
        // A layer is at least twice as large as the one behind it, so a bar is sorted a few times in all.
        while self.layers.last().is_some_and(|last| last.bars().len() < 2 * all.len()) {
            all.extend(self.layers.pop().iter().flat_map(|it| it.bars()));
        }
        self.layers.push(Arc::new(Index::new(all)));
    }
}

/// Bars of the attempts that are over, of jobs that are not.
pub(crate) fn of_pieces(
    job: &Job,
    class: Option<JobClass>,
    pieces: &Pieces,
) -> Vec<(ProviderId, Bar)> {
    let look = Look::of(job, class);
    let mut bars = Vec::new();
    for (number, run) in (1..).zip(&pieces.lost) {
        let bar = look.bar(job.id.0, number, flag::LOST, (run.start, run.end));
        bars.extend(on(&run.processors, bar).map(|bar| (run.provider, bar)));
    }
    for (provider, run) in &pieces.runs {
        let bar = look.bar(job.id.0, 1, flags(run.outcome.into()), (run.start, run.end));
        bars.extend(on(&run.processors, bar).map(|bar| (*provider, bar)));
    }
    bars
}

/// Bars and ticks of the present work and the plans of a machine with numbered processors. `look` gives the look of a job,
/// and `plan` the start and end of work that has not begun.
pub(crate) fn of_machine(
    glimpse: &Glimpse,
    rows: u32,
    now: Time,
    look: impl Fn(&Work) -> Option<Look>,
    plan: impl Fn(&Work) -> Option<(Time, Time)>,
) -> (Vec<Bar>, Vec<Tick>) {
    let (mut bars, mut ticks) = (Vec::new(), Vec::new());
    let mut free = Free::new(rows, now);
    let is_held = |work: &&Work| !work.held.is_empty() && work.start.is_some();
    for work in glimpse.jobs.iter().filter(is_held) {
        let (Some(look), Some(start)) = (look(work), work.start) else { continue };
        let bar = look.bar(work.job.0, 1, flag::RUNNING, (start.min(now), now));
        bars.extend(on(&work.held, bar));
        free.take(&work.held, work.end.unwrap_or(Time::FOREVER));
        if let (Some(promised), Some(&(first, last))) =
            (work.promised_end, work.held.intervals().first())
        {
            ticks.push(tick(work, promised, now, (first, last - first + 1)));
        }
    }
    let works = glimpse.jobs.iter().filter(|work| work.processors > 0);
    let planned = works.filter_map(|work| plan(work).map(|(start, end)| (start, end, work)));
    let mut planned = Vec::from_iter(planned);
    planned.sort_by_key(|&(start, end, work)| (start, end, work.job));
    let most = PLANNED_MAX.min(EXAMINED_MAX / (rows as usize).max(1));
    for (start, end, work) in planned.into_iter().take(most) {
        let (Some(look), Some(places)) = (look(work), free.choose(work.processors, start, end))
        else {
            continue;
        };
        bars.extend(on(&places, look.bar(work.job.0, 1, flag::PLANNED, (start, end))));
        if let (Some(promised), Some(&(first, last))) =
            (work.promised_end, places.intervals().first())
        {
            ticks.push(tick(work, promised, now, (first, last - first + 1)));
        }
    }
    (bars, ticks)
}

fn tick(work: &Work, promised: Time, now: Time, (row, rows): (u32, u32)) -> Tick {
    let kind = if promised < now { TickKind::Broken } else { TickKind::Open };
    Tick { time: clamped(promised.as_micros()), row, rows, job: work.job.0, kind }
}

/// Rows of a chart for planned work. A plan names no processors, so it is drawn where there is room.
struct Free {
    /// Time from which each row is free.
    from: Vec<Time>,
}

/// Largest number of rows on which plans are drawn.
const ROWS_MAX: u32 = 1 << 16;

impl Free {
    fn new(rows: u32, now: Time) -> Free {
        Free { from: vec![now; if rows <= ROWS_MAX { rows as usize } else { 0 }] }
    }

    fn take(&mut self, processors: &ProcessorSet, until: Time) {
        for &(first, last) in processors.intervals() {
            let end = self.from.len().min(last as usize + 1);
            if let Some(rows) = self.from.get_mut(first as usize..end) {
                rows.fill(until);
            }
        }
    }

    /// Takes rows that are free at `start`, or else those that are free first; the lowest of them.
    fn choose(&mut self, count: u32, start: Time, end: Time) -> Option<ProcessorSet> {
        let count = count as usize;
        if count > self.from.len() {
            return None;
        }
        let mut rows = Vec::from_iter(0..self.from.len());
        rows.sort_by_key(|&row| (self.from[row].max(start), row));
        rows.truncate(count);
        rows.sort_unstable();
        let mut chosen = ProcessorSet::new();
        for same in rows.chunk_by(|a, b| a + 1 == *b) {
            chosen.insert_all(&ProcessorSet::range(same[0] as u32, same.len() as u32));
        }
        rows.iter().for_each(|&row| self.from[row] = self.from[row].max(end));
        Some(chosen)
    }
}
