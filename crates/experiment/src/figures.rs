//! The figures that a scenario declares, drawn from a run's folder or from a sweep's.
//!
//! ```text
//! [[figure]] + tables, summary.json ──> prepare ──> haggle_plots::Figure ──> PNG, SVG
//! [[figure]] + SweepData            ──> sweep::prepare ──────^
//! ```

pub mod sweep;

mod metric;

use serde::Deserialize;
use std::path::Path;

use haggle_plots::load::{self, Part, Tables};
use haggle_plots::{
    Ask, BarChart, BarSeries, BoxChart, BoxSeries, BoxStyle, Figure, Grouping, JobName, Limits,
    Look, PlotError, Sample, Size, YScale,
};
use haggle_results::metrics::Group;
use haggle_results::metrics::named::{Named, OfEach, of_group, of_run};
use haggle_results::{About, ResultsError, RunReader, Summary, Table};

use super::ExperimentError;
use file::{FigureKind, Metric, Whiskers};
use haggle_scenario::file;
use haggle_scenario::quantity::PictureSize;

pub use sweep::{SweepData, draw_sweep, drawn_sweep, runs_of_variants};

/// Result of drawing some figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Names of the files, in the order of the figures.
    pub files: Vec<String>,
    /// Names of the other files, each with the reason why it has nothing to draw.
    pub left_out: Vec<String>,
}

/// The figures that the scenario of a run declared.
///
/// # Errors
/// If the description of the run is missing or damaged.
pub fn declared(run: &RunReader) -> Result<Vec<file::Figure>, ResultsError> {
    let figures = run.about()?.figures.into_iter().map(file::Figure::deserialize);
    figures.collect::<Result<_, _>>().map_err(|error| ResultsError::Damaged {
        path: run.folder().join("provenance.json"),
        reason: error.to_string(),
    })
}

/// Draws `figures` of a `run` into `folder`, reading each table once. A figure without data in the
/// run is left out; the others are drawn.
///
/// # Errors
/// If the results cannot be read, a figure cannot show the requested data, or a file cannot be
/// written.
pub fn draw_all(
    figures: &[file::Figure],
    run: &RunReader,
    folder: &Path,
) -> Result<Drawn, ExperimentError> {
    let tables = Tables::new(run);
    let mut drawn = Drawn::default();
    for figure in figures {
        let file = file_name(figure);
        match draw(figure, &tables, &folder.join(&file)) {
            Ok(()) => drawn.files.push(file),
            Err(ExperimentError::Figure { error, .. }) if error.is_absence() => {
                drawn.left_out.push(format!("{file}: {error}"));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(drawn)
}

/// Draws one figure of a run into the file at `path`.
///
/// # Errors
/// As [`draw_all`], and if the run has no data for it.
pub fn draw(figure: &file::Figure, run: &Tables, path: &Path) -> Result<(), ExperimentError> {
    prepare(figure, run)
        .and_then(|drawing| drawing.draw(path, look(figure, &drawing)))
        .map_err(|error| failed(figure, error))
}

/// One figure of a run as the bytes of a file in its format.
///
/// # Errors
/// As [`draw`], without writing.
pub fn picture_of(figure: &file::Figure, run: &Tables) -> Result<Vec<u8>, ExperimentError> {
    prepare(figure, run)
        .and_then(|drawing| drawing.bytes(figure.format, look(figure, &drawing)))
        .map_err(|error| failed(figure, error))
}

/// Draws `figure` over several runs into the file at `path`. Each run has its name, and all have
/// the title `about`.
///
/// # Errors
/// As [`draw_all`]; also if figures of this kind do not compare runs.
pub fn draw_compared(
    figure: &file::Figure,
    runs: &[(String, RunReader)],
    about: Option<&str>,
    path: &Path,
) -> Result<(), ExperimentError> {
    let named: Vec<(String, Tables)> =
        runs.iter().map(|(name, run)| (name.clone(), Tables::new(run))).collect();
    figure
        .kind
        .compare(&named, &Ask { about: about.map(str::to_owned), ..ask(figure) })
        .and_then(|drawing| drawing.draw(path, look(figure, &drawing)))
        .map_err(|error| failed(figure, error))
}

/// Size of a figure, and the place of its legend.
fn look(figure: &file::Figure, drawing: &Figure) -> Look {
    let size = match figure.size {
        Some(PictureSize::Millimetres(width, height)) => Size::on_paper(width, height),
        Some(PictureSize::Pixels(width, height)) => Size { width, height },
        None => drawing.size(),
    };
    Look { size, legend: figure.legend }
}

/// The file of a figure: its name, or its kind, with the extension of its format.
pub fn file_name(figure: &file::Figure) -> String {
    format!("{}.{}", name(figure), figure.format.name())
}

fn name(figure: &file::Figure) -> &str {
    figure.name.as_ref().map_or(figure.kind.name(), |name| name.as_str())
}

fn failed(figure: &file::Figure, error: PlotError) -> ExperimentError {
    ExperimentError::Figure { figure: name(figure).to_owned(), error }
}

/// A figure of one run in a form that can be drawn.
fn prepare(figure: &file::Figure, run: &Tables) -> Result<Figure, PlotError> {
    // Most kinds read the tables themselves; the others show metrics.
    if let Some(drawing) = figure.kind.read(run, &ask(figure))? {
        return Ok(drawing);
    }
    match figure.kind {
        FigureKind::Lines => {
            let reason = "\"lines\" shows a sweep, and this is one run: use \"bars\"";
            Err(PlotError::Unsuitable(reason.to_owned()))
        }
        kind if kind.shows_spread() => boxes(figure, run).map(Figure::Boxes),
        FigureKind::StackedBars => stacks(figure, run).map(Figure::Bars),
        _ => bars(figure, run).map(Figure::Bars),
    }
}

/// Request of a figure in the form of the plots.
fn ask(figure: &file::Figure) -> Ask {
    Ask {
        title: figure.title.clone(),
        part: Part {
            providers: figure.providers.iter().map(ToString::to_string).collect(),
            from: figure.from.map(|it| it.0.as_secs_f64()),
            until: figure.until.map(|it| it.0.as_secs_f64()),
        },
        about: None,
        jobs: match figure.job {
            // The option --job fills `jobs`, which counts before the key `job`.
            Some(job) if figure.jobs.is_empty() => vec![JobName::InRun(i64::from(job))],
            _ => figure.jobs.iter().map(|job| job.0.clone()).collect(),
        },
        labels: figure.labels.unwrap_or_default(),
        group_by: figure.group_by.as_ref().map(ToString::to_string),
        dates: figure.dates,
        complement: figure.complement,
        recorded: figure.recorded,
        x_limits: metric::limits(figure.x_range, 1.0),
        y_limits: metric::limits(figure.y_range, 1.0),
    }
}

/// Column by which a figure distinguishes jobs.
fn grouping(figure: &file::Figure) -> Result<Grouping, PlotError> {
    Grouping::of(figure.group_by.as_ref().map(|name| name.as_str()))
}

/// Style of the boxes of a figure.
fn style(figure: &file::Figure) -> BoxStyle {
    match (figure.kind, figure.whiskers.unwrap_or_default()) {
        (FigureKind::LetterValues, _) => BoxStyle::LetterValues,
        (_, Whiskers::Tukey) => BoxStyle::Tukey,
        (_, Whiskers::Range) => BoxStyle::Range,
    }
}

/// Note on the values that boxes show; `runs` is their number, for boxes of runs.
fn told_of_boxes(style: BoxStyle, runs: Option<String>) -> String {
    let shown = match style {
        BoxStyle::Range => "quartiles, lowest, highest",
        BoxStyle::Tukey => "quartiles, whiskers within 1.5 of their range",
        BoxStyle::LetterValues => "letter values",
        BoxStyle::Intervals { inner, outer } => &format!("{inner} % and {outer} %"),
    };
    let of = runs.map_or_else(String::new, |runs| format!(" of {runs}"));
    format!("{shown}{of}; dot: mean")
}

/// Distribution of values over the jobs of a run, split by groups.
fn boxes(figure: &file::Figure, run: &Tables) -> Result<BoxChart, PlotError> {
    let metric = measured(figure);
    let Some(OfEach { title: what, value }) = Named::of(metric.name()).and_then(|it| it.of_each)
    else {
        return Err(PlotError::Unsuitable(format!(
            "\"{}\" has no value for each job: choose another metric, or draw boxes over an \
             axis of a sweep",
            metric.name()
        )));
    };
    let (grouping, about) = (grouping(figure)?, run.about()?);
    let ask = ask(figure);
    let samples = load::samples(run, &ask.part, grouping.by(), value)?;
    // One unit for all boxes, which share the axis.
    let all = samples.iter().flat_map(|sample| &sample.values).copied();
    let scale = metric::Scale::named(figure, &metric, what.to_owned(), all);
    let values = |sample: &Sample| sample.values.iter().map(|it| it * scale.factor).collect();
    Ok(BoxChart {
        title: ask.title(about, &format!("{what} by {}", grouping.word())),
        x_label: grouping.word().to_owned(),
        y_label: scale.label(&told_of_boxes(style(figure), None)),
        legend_label: String::new(),
        categories: samples.iter().map(|it| grouping.label(&it.name, about)).collect(),
        style: style(figure),
        reference: None,
        y_limits: metric::limits(figure.y_range, scale.factor),
        series: vec![BoxSeries {
            name: what.to_owned(),
            values: samples.iter().map(values).collect(),
        }],
    })
}

fn bars(figure: &file::Figure, run: &Tables) -> Result<BarChart, PlotError> {
    let metric = measured(figure);
    let about = run.about()?;
    let bars = of_one_run(figure, &metric, run, metric.is_whole() && figure.group_by.is_none())?;
    let scale = metric::Scale::of(figure, &metric, bars.iter().filter_map(|(_, value)| *value));
    let (scale, y_scale) = scale.on_axis(figure, &metric);
    let whole = figure.group_by.is_none() && metric.is_whole();
    let what = match whole {
        true => metric::title(&metric),
        false => format!("{} by {}", metric::title(&metric), grouping(figure)?.word()),
    };
    Ok(BarChart {
        title: ask(figure).title(about, &what),
        y_label: scale.label(""),
        series: vec![series(metric::title(&metric), &bars, scale.factor)],
        y_scale,
        y_limits: metric::limits(figure.y_range, scale.factor),
        ..empty(figure, whole, &bars)
    })
}

/// Metrics that add up, as parts of one bar for each group.
fn stacks(figure: &file::Figure, run: &Tables) -> Result<BarChart, PlotError> {
    let about = run.about()?;
    let whole = figure.group_by.is_none() && figure.metrics.iter().any(Metric::is_whole);
    let of_metric = |metric| of_one_run(figure, metric, run, whole);
    let parts = figure.metrics.iter().map(of_metric).collect::<Result<Vec<_>, PlotError>>()?;
    let (Some(first), Some(bars)) = (figure.metrics.first(), parts.first()) else {
        return Err(PlotError::NoValues("there is no metric to draw".to_owned()));
    };
    // The unit follows from whole bars, not from their parts.
    let sum = |place: usize| parts.iter().filter_map(|bars| bars.get(place)?.1).sum::<f64>();
    let what = titles(&figure.metrics);
    let scale = metric::Scale::named(figure, first, what.clone(), (0..bars.len()).map(sum));
    let part =
        |(metric, bars): (&Metric, &Vec<Bar>)| series(metric::title(metric), bars, scale.factor);
    Ok(BarChart {
        title: ask(figure).title(about, &what),
        y_label: scale.label(""),
        series: figure.metrics.iter().zip(&parts).map(part).collect(),
        stacked: true,
        y_limits: metric::limits(figure.y_range, scale.factor),
        ..empty(figure, whole, bars)
    })
}

/// Titles of metrics, in a row.
fn titles(metrics: &[Metric]) -> String {
    Vec::from_iter(metrics.iter().map(metric::title)).join(" + ")
}

/// A group of jobs and its value, if it has one.
type Bar = (String, Option<f64>);

fn series(name: String, bars: &[Bar], factor: f64) -> BarSeries {
    let values = bars.iter().map(|(_, value)| value.map(|value| (value * factor, None)));
    BarSeries { name, values: values.collect() }
}

/// A chart of these groups without values.
fn empty(figure: &file::Figure, whole: bool, bars: &[Bar]) -> BarChart {
    let usual = || if whole { String::new() } else { "provider".to_owned() };
    BarChart {
        title: String::new(),
        x_label: figure.group_by.as_ref().map_or_else(usual, ToString::to_string),
        y_label: String::new(),
        legend_label: String::new(),
        series: Vec::new(),
        differences: false,
        stacked: false,
        y_scale: YScale::Linear,
        y_limits: Limits::NONE,
        categories: bars.iter().map(|(name, _)| name.clone()).collect(),
    }
}

/// The values of a metric: of the whole run, or of each group of jobs.
fn of_one_run(
    figure: &file::Figure,
    metric: &Metric,
    run: &Tables,
    whole: bool,
) -> Result<Vec<Bar>, PlotError> {
    let (summary, about) = (run.run().summary()?, run.about()?);
    if whole {
        // Of any size: the figure asks for one group by its name.
        let of_groups = of_groups(&summary, about, usize::MAX);
        // The number of messages is in a table, not in the summary.
        let value = match metric.name() {
            MESSAGES => messages(run.run())?,
            name => value_of(of_run(&summary).into_iter().chain(of_groups), name),
        };
        if value.is_none() {
            return Err(PlotError::NoValues(format!("the run has no \"{metric}\"")));
        }
        return Ok(vec![("whole run".to_owned(), value)]);
    }
    let grouping = grouping(figure)?;
    if metric.is_whole() {
        return Err(PlotError::Unsuitable(format!(
            "\"{}\" belongs to the whole run, not to a {}: remove `group-by`",
            metric.name(),
            grouping.word()
        )));
    }
    let Some(groups) = grouping.groups(&summary) else {
        return Err(PlotError::Unsuitable(format!(
            "the summary has no metrics of each {}: use \"box\" or \"waiting-ecdf\"",
            grouping.word()
        )));
    };
    let groups = groups
        .iter()
        // The list of a figure names providers, and no other groups.
        .filter(|group| grouping != Grouping::Provider || is_drawn(figure, &group.name));
    let bar = |group: &Group| {
        let value = value_of(of_group(group), metric.name());
        (grouping.label(&group.name, about), value)
    };
    Ok(groups.map(bar).collect())
}

fn is_drawn(figure: &file::Figure, provider: &str) -> bool {
    figure.providers.is_empty() || figure.providers.iter().any(|name| name.as_str() == provider)
}

/// The metric of a figure.
fn measured(figure: &file::Figure) -> Metric {
    let bounded = || "mean_bounded_slowdown".parse().expect("a metric");
    figure.metric.clone().unwrap_or_else(bounded)
}

/// The metric that comes from tables, not from the summary.
const MESSAGES: &str = "messages";

fn value_of(values: impl IntoIterator<Item = (String, f64)>, name: &str) -> Option<f64> {
    values.into_iter().find(|(other, _)| other == name).map(|(_, value)| value)
}

/// The metrics of all groups of a run's jobs, such as `provider.north.mean_waiting_time`. A
/// grouping with more groups than `most` is left out.
pub(crate) fn of_groups(summary: &Summary, about: &About, most: usize) -> Vec<(String, f64)> {
    let mut values = Vec::new();
    for grouping in Grouping::IN_SUMMARY {
        let groups = grouping.groups(summary).unwrap_or_default();
        // A grouping with thousands of groups would fill the table of a sweep.
        for group in groups.iter().filter(|_| groups.len() <= most) {
            let label = grouping.label(&group.name, about);
            let named = |(name, value)| (format!("{}.{label}.{name}", grouping.word()), value);
            values.extend(of_group(group).into_iter().map(named));
        }
    }
    values
}

/// Number of messages between actors, if the run kept them.
pub fn messages(run: &RunReader) -> Result<Option<f64>, ResultsError> {
    if run.has(Table::MessageCounts) {
        let counts = run.columns(Table::MessageCounts, &["count"])?;
        // Counts are preferred: the table of messages may be millions of rows.
        let total: i64 = counts.integer("count")?.iter().flatten().sum();
        return Ok(Some(total as f64));
    }
    if run.has(Table::Messages) {
        return Ok(Some(run.columns(Table::Messages, &["time"])?.rows() as f64));
    }
    Ok(None)
}
