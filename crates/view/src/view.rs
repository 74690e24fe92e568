//! A view: everything that the routes of the server need of a run or a simulation.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, RwLockReadGuard};

use haggle_experiment::cast::CHANGED;
use haggle_experiment::compare::{RunTimes, Starts};
use haggle_scenario::quantity::TimeSpan;
use serde::Serialize;
use serde_json::Value;

use crate::clock::elapsed;
use crate::jobs::{self, JobTable, JobsAnswer, JobsQuery};
use crate::legend::{self, Legend};
use crate::scene::{AreaSum, Band, Bar, Chart, ChartKind, Mark, Scene, Tile, TileQuery};
use crate::shown::shown;
use crate::simulation::{Simulated, in_words};

/// Kind of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A finished run, read from its results.
    Run,
    /// A simulation that is stepped.
    Simulation,
}

/// Reason why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Status of HTTP.
    #[serde(skip)]
    pub status: u16,
    /// The reason.
    pub error: String,
    /// A remedy.
    pub help: Option<String>,
}

impl Refusal {
    fn new(status: u16, error: impl Into<String>, help: Option<&str>) -> Refusal {
        Refusal { status, error: shown(&error.into()), help: help.map(str::to_owned) }
    }

    /// The request is wrong.
    pub fn wrong(error: impl Into<String>, help: &str) -> Refusal {
        Refusal::new(400, error, Some(help))
    }

    /// There is no such thing.
    pub fn missing(error: impl Into<String>) -> Refusal {
        Refusal::new(404, error, None)
    }

    /// The view cannot do this, or not now.
    pub fn conflict(error: impl Into<String>, help: &str) -> Refusal {
        Refusal::new(409, error, Some(help))
    }
}

/// Identity of a view.
#[derive(Clone, Debug, Serialize)]
pub struct Identity {
    /// Kind.
    pub kind: Kind,
    /// Name: that of its scenario.
    pub name: String,
    /// Its folder or file.
    pub path: PathBuf,
    /// The view from which it branched.
    pub base: Option<usize>,
    /// Time of the branch, µs.
    pub branch_at: Option<i64>,
}

/// First answer about a view.
#[derive(Clone, Debug, Serialize)]
pub struct Overview {
    /// Number of the view.
    pub id: usize,
    /// Kind.
    pub kind: Kind,
    /// Name of its scenario.
    pub name: String,
    /// The actor that sees it; `None` = all is shown.
    pub seen_by: Option<String>,
    /// Master seed.
    pub seed: Option<u64>,
    /// Grows with each change of its data.
    pub version: u64,
    /// Parts that are still being read.
    pub loading: Vec<&'static str>,
    /// First time, µs.
    pub from: i64,
    /// Last time, µs.
    pub until: i64,
    /// Time of a simulation, µs.
    pub now: Option<i64>,
    /// Charts.
    pub charts: Vec<ChartEntry>,
    /// Actors.
    pub actors: Vec<ActorEntry>,
    /// Series that can be asked for.
    pub series: Vec<SeriesEntry>,
    /// Metrics of the summary.
    pub metrics: Vec<MetricEntry>,
    /// Tables.
    pub tables: Vec<TableEntry>,
    /// Messages that the view has.
    pub messages: MessagesKept,
    /// Kinds of messages for which a simulation can wait.
    pub kinds: Vec<&'static str>,
    /// Problems with its data.
    pub problems: Vec<String>,
    /// Kinds of pictures that can be drawn.
    pub pictures: Vec<&'static str>,
}

/// A chart in the overview.
#[derive(Clone, Debug, Serialize)]
pub struct ChartEntry {
    /// Number.
    pub id: usize,
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: ChartKind,
    /// Number of rows.
    pub rows: u32,
    /// `processors` or `slots`.
    pub row_unit: &'static str,
    /// Run-wide number of row 0.
    pub first_number: i64,
    /// Number of bands.
    pub bands: usize,
    /// Scheduler in words.
    pub scheduler: String,
    /// Speed.
    pub speed: Option<f64>,
    /// Utilisation.
    pub utilisation: Option<f64>,
    /// Jobs that started there; of a grid, attempts.
    pub jobs: Option<i64>,
    /// True if the actor that sees the view does not know what is there.
    pub hidden: bool,
}

impl ChartEntry {
    /// The entry of a chart.
    pub fn of(id: usize, chart: &Chart) -> ChartEntry {
        ChartEntry {
            id,
            name: shown(&chart.name),
            kind: chart.kind,
            rows: chart.rows,
            row_unit: if chart.kind == ChartKind::Grid { "slots" } else { "processors" },
            first_number: chart.first_number,
            bands: chart.bands.len(),
            scheduler: shown(&schedulers(&chart.scheduler)),
            speed: chart.speed,
            utilisation: chart.utilisation,
            jobs: Some(chart.jobs),
            hidden: false,
        }
    }
}

/// The schedulers of a chart, one after the other, with times as the page writes them.
fn schedulers(words: &str) -> String {
    let mut all = words.split(CHANGED);
    let first = all.next().unwrap_or_default().to_owned();
    all.fold(first, |before, change| {
        let later = change.split_once(": ").and_then(|(time, words)| {
            let time = time.parse::<TimeSpan>().ok()?;
            Some(format!("{}: {words}", elapsed(time.0.as_micros())))
        });
        format!("{before}{CHANGED}{}", later.unwrap_or_else(|| change.to_owned()))
    })
}

/// An actor in the overview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActorEntry {
    /// Number, in the order of the list.
    pub id: usize,
    /// Name.
    pub name: String,
    /// `provider`, `grid`, `metascheduler`, `user` or `actor`.
    pub kind: &'static str,
}

/// A series in the overview.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesEntry {
    /// Identification, such as `queue:0` or `busy:all`.
    pub id: String,
    /// Title.
    pub title: String,
    /// Unit.
    pub unit: &'static str,
    /// Its chart.
    pub chart: Option<usize>,
}

/// A metric of the summary.
#[derive(Clone, Debug, Serialize)]
pub struct MetricEntry {
    /// Name.
    pub name: String,
    /// Title.
    pub title: String,
    /// Unit.
    pub unit: String,
    /// Value.
    pub value: f64,
}

/// A table in the overview.
#[derive(Clone, Debug, Serialize)]
pub struct TableEntry {
    /// Name.
    pub name: &'static str,
    /// Number of rows, once known.
    pub rows: Option<usize>,
}

/// Messages that a view has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MessagesKept {
    /// Each message.
    All,
    /// Their numbers.
    Counts,
    /// None.
    None,
}

/// A window of series.
#[derive(Clone, Debug)]
pub struct SeriesQuery {
    /// Their identifications.
    pub ids: Vec<String>,
    /// Start, µs.
    pub from: i64,
    /// End, µs.
    pub to: i64,
    /// Columns.
    pub columns: u32,
}

/// Series of a window.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesAnswer {
    /// Start, µs.
    pub from: i64,
    /// End, µs.
    pub to: i64,
    /// Columns.
    pub columns: u32,
    /// In the order of the request.
    pub series: Vec<SeriesColumns>,
}

/// Values of a series by column.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesColumns {
    /// Identification.
    pub id: String,
    /// Smallest value in each column.
    pub min: Vec<f64>,
    /// Largest value in each column.
    pub max: Vec<f64>,
    /// Mean over each column.
    pub mean: Vec<f64>,
}

/// All that is known about a job.
#[derive(Clone, Debug, Serialize)]
pub struct JobAnswer {
    /// Its number in the run.
    pub job: u32,
    /// Its columns.
    pub values: Vec<JobValue>,
    /// Its attempts.
    pub attempts: Vec<JobAttempt>,
    /// Its bars.
    pub bars: Vec<JobBar>,
    /// Promised completions.
    pub promises: Vec<JobPromise>,
    /// The job that the same user submitted before it.
    pub previous_of_user: Option<u32>,
    /// The job that the same user submitted after it.
    pub next_of_user: Option<u32>,
    /// Its story in words.
    pub story: Story,
}

/// A column of a job.
#[derive(Clone, Debug, Serialize)]
pub struct JobValue {
    /// Name of the column.
    pub name: &'static str,
    /// Value.
    pub value: serde_json::Value,
    /// True if an actor that sees the job does not know the value.
    pub hidden: bool,
    /// Unit.
    pub unit: &'static str,
    /// Meaning.
    pub meaning: &'static str,
}

/// An attempt of a job. Times in µs.
#[derive(Clone, Debug, Serialize)]
pub struct JobAttempt {
    /// Number.
    pub attempt: i64,
    /// Provider or resource.
    pub provider: String,
    /// When it was queued.
    pub queued: Option<i64>,
    /// Start.
    pub start: Option<i64>,
    /// End.
    pub end: Option<i64>,
    /// How it ended.
    pub outcome: String,
    /// Processors.
    pub processors: i64,
}

/// A bar of a job. Times in µs.
#[derive(Clone, Debug, Serialize)]
pub struct JobBar {
    /// Its chart.
    pub chart: usize,
    /// First row.
    pub row: u32,
    /// Rows.
    pub rows: u32,
    /// Start.
    pub start: i64,
    /// End.
    pub end: i64,
    /// Style as in tiles.
    pub style: u32,
}

/// A promised completion. Times in µs.
#[derive(Clone, Debug, Serialize)]
pub struct JobPromise {
    /// The attempt; `None` for the promise of the whole job.
    pub attempt: Option<i64>,
    /// Promised time.
    pub time: i64,
    /// `kept`, `broken` or `open`.
    pub state: &'static str,
}

/// A job's story in words.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Story {
    /// Title.
    pub title: String,
    /// Lines.
    pub lines: Vec<StoryLine>,
}

/// A line of a story.
#[derive(Clone, Debug, Serialize)]
pub struct StoryLine {
    /// Its time, µs.
    pub time: Option<i64>,
    /// Text.
    pub text: String,
}

impl StoryLine {
    /// A message.
    pub(crate) fn of_message(it: &MessageEntry) -> StoryLine {
        let fault = it.fault.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        let values = it.values.as_deref().filter(|it| !it.is_empty());
        let values = values.map(|it| format!(": {}", in_words(it))).unwrap_or_default();
        let text = format!("{} to {}: {}{fault}{values}", it.sender, it.receiver, it.kind);
        StoryLine { time: Some(it.time), text }
    }

    /// Start and end of an attempt.
    pub(crate) fn of_attempt(it: &JobAttempt) -> impl Iterator<Item = StoryLine> {
        let JobAttempt { attempt, provider, outcome, .. } = it;
        let start =
            it.start.map(|start| (start, format!("attempt {attempt} starts at {provider}")));
        let end = it.end.filter(|_| outcome != "unfinished");
        let end = end.map(|end| (end, format!("attempt {attempt} ends at {provider}: {outcome}")));
        start.into_iter().chain(end).map(|(time, text)| StoryLine { time: Some(time), text })
    }
}

/// Something that a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Match {
    /// `job`, `chart`, `actor` or `band`.
    pub kind: &'static str,
    /// Its number.
    pub id: usize,
    /// Text for the list. Of a band, also its chart and first row are there.
    pub label: String,
    /// Chart of a band.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chart: Option<usize>,
    /// First row of a band.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
}

/// Most things that a search gives; one more shows that there are others.
pub const FOUND_MAX: usize = 20;

/// Request of messages.
#[derive(Clone, Debug, Default)]
pub struct MessagesQuery {
    /// About this job.
    pub job: Option<u32>,
    /// Not before, µs.
    pub from: Option<i64>,
    /// Before, µs.
    pub to: Option<i64>,
    /// Sent or received by this actor.
    pub actor: Option<String>,
    /// Known to this actor.
    pub known_to: Option<String>,
    /// First row.
    pub first: usize,
    /// Number of rows.
    pub count: usize,
}

/// Messages.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MessagesAnswer {
    /// Number of matching messages.
    pub total: usize,
    /// Rows of the page.
    pub rows: Vec<MessageEntry>,
    /// A remark.
    pub note: Option<String>,
}

/// A message.
#[derive(Clone, Debug, Serialize)]
pub struct MessageEntry {
    /// Its number: its place in the table. A fault has none.
    pub number: Option<usize>,
    /// Time, µs.
    pub time: i64,
    /// Sender.
    pub sender: String,
    /// Receiver.
    pub receiver: String,
    /// Kind.
    pub kind: String,
    /// Its job.
    pub job: Option<u32>,
    /// Fault.
    pub fault: Option<String>,
    /// Names and values of its contents; `None` = they are not known.
    pub values: Option<Values>,
}

/// Names and values of a message. A value is a text, a number, a list, or an object with one key: `time` or `span`
/// (µs), `job`, or `fields` (names and values again).
pub type Values = Vec<(String, serde_json::Value)>;

/// Items that one actor told another.
#[derive(Clone, Debug, Serialize)]
pub struct Told {
    /// Actor that the items are about.
    pub sender: String,
    /// Kind of the items.
    pub item: String,
    /// Number of items.
    pub count: i64,
    /// First time, µs.
    pub first: i64,
    /// Last time, µs.
    pub last: i64,
    /// Contents of the last message with such an item; `None` = they are not known.
    pub values: Option<Values>,
}

/// Numbers of jobs of two views, as `haggle compare` counts them. All but the first three are about jobs that are the same
/// in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Counts {
    /// Jobs that only this view has.
    pub only_here: usize,
    /// Jobs that only the other view has.
    pub only_there: usize,
    /// Jobs of one workload and number, but with another submission, size, request or run time.
    pub other: usize,
    /// The same in both.
    pub in_both: usize,
    /// Started at the same instant.
    pub same: usize,
    /// Started earlier here.
    pub earlier: usize,
    /// Started later here.
    pub later: usize,
    /// Started here only.
    pub started_only_here: usize,
    /// Started there only.
    pub started_only_there: usize,
    /// Started in neither.
    pub started_in_neither: usize,
    /// Queued by another provider, whatever their starts.
    pub other_provider: usize,
    /// Mean delay of the start here, s, over the jobs that started in both.
    pub mean_delay: Option<f64>,
}

impl Counts {
    /// Takes the starts of this view relative to the other one.
    pub(crate) fn take(&mut self, starts: &Starts) {
        *self = Counts {
            in_both: starts.in_both,
            same: starts.same,
            earlier: starts.earlier,
            later: starts.later,
            started_only_here: starts.started_only_in_b,
            started_only_there: starts.started_only_in_a,
            started_in_neither: starts.started_in_neither,
            other_provider: starts.other_provider,
            mean_delay: starts.mean_delay(),
            ..*self
        };
    }
}

/// Differences between the jobs of two views.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Differences {
    /// Numbers of jobs.
    #[serde(flatten)]
    pub counts: Counts,
    /// Number of jobs that differ in their starts or providers.
    pub total: usize,
    /// Place of the first one that is listed.
    pub first: usize,
    /// The listed ones, largest difference of starts first.
    pub largest: Vec<Difference>,
}

/// Difference of a job.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// Its number here.
    pub job: u32,
    /// Its number there.
    pub job_there: u32,
    /// Its name.
    pub label: String,
    /// Start here, µs.
    pub start_here: Option<i64>,
    /// Start there, µs.
    pub start_there: Option<i64>,
    /// Provider here.
    pub provider_here: Option<String>,
    /// Provider there.
    pub provider_there: Option<String>,
}

/// Request of a picture.
#[derive(Clone, Debug, Default)]
pub struct PictureQuery {
    /// Kind of the figure.
    pub kind: String,
    /// `png`, `svg` or `pdf`.
    pub format: String,
    /// Start, µs.
    pub from: Option<i64>,
    /// End, µs.
    pub to: Option<i64>,
    /// Only this provider.
    pub provider: Option<String>,
    /// Only this job, or marked.
    pub job: Option<u32>,
    /// Width, pixels.
    pub width: Option<u32>,
    /// Height, pixels.
    pub height: Option<u32>,
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Type of the file.
    pub media_type: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

/// Bars and marks of a window of a chart.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ListedAnswer {
    /// Number of bars in the window.
    pub bars: usize,
    /// Number of marks in the window.
    pub marks: usize,
    /// Rows of the page: all bars by start, then all marks by start.
    pub rows: Vec<ListedRow>,
}

/// A bar or a mark with its whole extent. Times in µs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ListedRow {
    /// Its job; `None` = a mark.
    pub job: Option<u32>,
    /// First row.
    pub row: u32,
    /// Rows.
    pub rows: u32,
    /// Start.
    pub start: i64,
    /// End.
    pub end: i64,
    /// Style of a bar as in tiles; the kind of a mark.
    pub style: u32,
}

/// Largest number of rows in a list of bars.
const LISTED_MAX: usize = 1_000;

/// Largest number of bands in an answer.
const BANDS_MAX: usize = 10_000;

/// A run or a simulation.
pub trait View: Send + Sync {
    /// Its identity.
    fn identity(&self) -> Identity;

    /// Grows with each change of its data.
    fn version(&self) -> u64;

    /// Its overview; the caller sets the number of the view.
    ///
    /// # Errors
    /// If it has none now.
    fn overview(&self) -> Result<Overview, Refusal>;

    /// Its charts.
    ///
    /// # Errors
    /// If it has none now.
    fn scene(&self) -> Result<RwLockReadGuard<'_, Scene>, Refusal>;

    /// Its table of jobs.
    ///
    /// # Errors
    /// If it cannot be read.
    fn job_table(&self) -> Result<Arc<dyn JobTable>, Refusal>;

    /// The knowledge of an actor.
    ///
    /// # Errors
    /// If the actor is unknown, or the view cannot tell.
    fn known_to(&self, actor: &str) -> Result<Arc<Known>, Refusal>;

    /// Run times of its jobs, by which comparisons tell jobs with one number apart; none if they are unknown.
    ///
    /// # Errors
    /// If they cannot be read.
    fn run_times(&self) -> Result<RunTimes, Refusal> {
        Ok(RunTimes::default())
    }

    /// Values of series.
    ///
    /// # Errors
    /// If a series is unknown.
    fn series(&self, query: &SeriesQuery) -> Result<SeriesAnswer, Refusal>;

    /// All about a job.
    ///
    /// # Errors
    /// If it is unknown.
    fn job(&self, job: u32) -> Result<JobAnswer, Refusal>;

    /// Things with a text in their name, [`FOUND_MAX`] and one more at most; of jobs and of bands only those that are
    /// `known`, if it is given.
    ///
    /// # Errors
    /// If it cannot search.
    fn find(&self, text: &str, known: Option<&Known>) -> Result<Vec<Match>, Refusal>;

    /// Messages.
    ///
    /// # Errors
    /// If the messages cannot be read.
    fn messages(&self, query: &MessagesQuery) -> Result<MessagesAnswer, Refusal>;

    /// Items that were told to an actor.
    ///
    /// # Errors
    /// If the disclosures cannot be read.
    fn told(&self, actor: &str, until: Option<i64>) -> Result<Vec<Told>, Refusal>;

    /// A picture.
    ///
    /// # Errors
    /// If it cannot be drawn.
    fn picture(&self, query: &PictureQuery) -> Result<Picture, Refusal>;

    /// Bands of a chart.
    ///
    /// # Errors
    /// If the chart is unknown.
    fn bands(&self, chart: usize, first: usize, count: usize) -> Result<Vec<Band>, Refusal> {
        let scene = self.scene()?;
        let bands = chart_of(&scene, chart)?.bands.iter().skip(first).take(count.min(BANDS_MAX));
        Ok(Vec::from_iter(bands.map(|band| Band {
            name: shown(&band.name),
            site: band.site.as_deref().map(shown),
            ..*band
        })))
    }

    /// The looks that occur in its charts.
    ///
    /// # Errors
    /// If it has no charts now.
    fn legend(&self) -> Result<Legend, Refusal> {
        legend::legend(self, None)
    }

    /// The simulation, if the view is one.
    fn simulation(&self) -> Option<&Simulated> {
        None
    }

    /// The actor that sees the view; `None` = all is shown.
    fn seen_by(&self) -> Option<&str> {
        None
    }

    /// The present knowledge of an actor.
    ///
    /// # Errors
    /// If the actor is unknown, or the view is no simulation.
    fn panel(&self, _actor: &str) -> Result<Value, Refusal> {
        Err(Refusal::conflict(
            "the view is a finished run, whose actors are gone",
            "open its scenario: `haggle view SCENARIO`",
        ))
    }

    /// A window of a chart.
    ///
    /// # Errors
    /// If the chart is unknown.
    fn tile(&self, chart: usize, query: &TileQuery<'_>) -> Result<Tile, Refusal> {
        Ok(chart_of(&*self.scene()?, chart)?.tile(query))
    }

    /// A page of the bars and marks of a window of a chart: rows from `page.0` on, `page.1` of them.
    ///
    /// # Errors
    /// If the chart is unknown.
    fn listed(
        &self,
        chart: usize,
        window: (i64, i64),
        (first, count): (u32, u32),
        page: (usize, usize),
    ) -> Result<ListedAnswer, Refusal> {
        let scene = self.scene()?;
        let rows = first..first.saturating_add(count);
        let chart = chart_of(&scene, chart)?;
        let last = page.0.saturating_add(page.1.min(LISTED_MAX));
        let (bars, count) = chart.first_bars(window, rows.clone(), last);
        let marks = Vec::from_iter(chart.marks_within(window, rows));
        let bar = |bar: &Bar| ListedRow {
            job: Some(bar.job),
            row: bar.row,
            rows: bar.rows,
            start: bar.start,
            end: bar.end,
            style: bar.style(),
        };
        let mark = |mark: &Mark| ListedRow {
            job: None,
            row: mark.row,
            rows: mark.rows,
            start: mark.start,
            end: mark.end,
            style: mark.kind as u32,
        };
        // Marks follow behind the last bar.
        let marks_before = page.0.saturating_sub(count);
        let bars = bars.iter().skip(page.0).map(bar);
        let rows = bars.chain(marks.iter().skip(marks_before).copied().map(mark));
        let rows = rows.take(page.1.min(LISTED_MAX)).collect();
        Ok(ListedAnswer { bars: count, marks: marks.len(), rows })
    }

    /// The job at a place of a chart.
    ///
    /// # Errors
    /// If the chart is unknown.
    fn at(&self, chart: usize, time: i64, row: u32) -> Result<Option<u32>, Refusal> {
        Ok(chart_of(&*self.scene()?, chart)?.at(time, row))
    }

    /// Sums over a window of a chart.
    ///
    /// # Errors
    /// If the chart is unknown.
    fn sum(&self, chart: usize, window: (i64, i64), rows: (u32, u32)) -> Result<AreaSum, Refusal> {
        area_sum(&*self.scene()?, self.job_table(), chart, window, rows)
    }

    /// Rows of the table of jobs.
    ///
    /// # Errors
    /// If the table cannot be read.
    fn jobs(&self, query: &JobsQuery) -> Result<JobsAnswer, Refusal> {
        jobs::answer(&*self.job_table()?, query)
    }
}

/// Sums over a window of a chart, with the mean waiting time of its jobs in a table. Without the table, the other sums stay.
pub(crate) fn area_sum(
    scene: &Scene,
    table: Result<Arc<dyn JobTable>, Refusal>,
    chart: usize,
    window: (i64, i64),
    (first, count): (u32, u32),
) -> Result<AreaSum, Refusal> {
    let chart = chart_of(scene, chart)?;
    let end = first.saturating_add(count).min(chart.rows);
    let mut sum = chart.sum(window, first.min(end)..end);
    if let Ok(table) = table {
        sum.mean_waiting_time = jobs::mean_waiting_time(&*table, &sum.numbers).ok().flatten();
    }
    Ok(sum)
}

/// The knowledge of an actor.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Charts with its own rows. The rows of a grid are those of many resources, and no actor's own.
    pub charts: Vec<usize>,
    /// Numbers of the jobs: those on its own processors, those of its messages, and those that it submitted or received.
    pub jobs: HashSet<u32>,
    /// Of these, the jobs of which it knows only the description: all but those that its own machine alone has run.
    pub described: HashSet<u32>,
}

/// The chart of this number.
///
/// # Errors
/// If there is none.
pub fn chart_of(scene: &Scene, chart: usize) -> Result<&Chart, Refusal> {
    scene.charts.get(chart).ok_or_else(|| Refusal::missing(format!("there is no chart {chart}")))
}
