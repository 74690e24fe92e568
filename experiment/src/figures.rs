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
    Ask, BarChart, BarSeries, BoxChart, BoxSeries, BoxStyle, Figure, Grouping, PlotError, Sample,
    Size,
};
use haggle_results::metrics::Group;
use haggle_results::metrics::named::{Named, OfEach, of_group, of_run};
use haggle_results::{About, ResultsError, RunReader, Summary, Table};

use super::ExperimentError;
use file::{FigureKind, Metric, Whiskers};
use haggle_scenario::file;
use haggle_scenario::quantity::{PictureSize, TimeSpan};

pub use sweep::{SweepData, draw_sweep};

/// What came of drawing some figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The files, by name, in the order of the figures.
    pub files: Vec<String>,
    /// Why the others were left out: there is nothing to draw.
    pub left_out: Vec<String>,
}

/// The figures that the scenario of a run declared.
///
/// # Errors
/// If what describes the run is missing or damaged.
pub fn declared(run: &RunReader) -> Result<Vec<file::Figure>, ResultsError> {
    let figures = run.about()?.figures.into_iter().map(file::Figure::deserialize);
    figures.collect::<Result<_, _>>().map_err(|error| ResultsError::Damaged {
        path: run.folder().join("provenance.json"),
        reason: error.to_string(),
    })
}

/// Draws `figures` of a `run` into `folder`, reading each table once.
/// One for which the run has no data is left out: it must not cost the others.
///
/// # Errors
/// If the results cannot be read, a figure cannot show what it is asked for, or a
/// file cannot be written.
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
                drawn.left_out.push(error.to_string());
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
        .and_then(|drawing| drawing.draw(path, size(figure, &drawing)))
        .map_err(|error| failed(figure, error))
}

/// Draws `figure` over several runs, each under its name, into the file at `path`.
///
/// # Errors
/// As [`draw_all`]; also if the figure's kind is none that compares runs.
pub fn draw_compared(
    figure: &file::Figure,
    runs: &[(String, RunReader)],
    path: &Path,
) -> Result<(), ExperimentError> {
    let named: Vec<(String, Tables)> =
        runs.iter().map(|(name, run)| (name.clone(), Tables::new(run))).collect();
    figure
        .kind
        .compare(&named, &ask(figure))
        .and_then(|drawing| drawing.draw(path, size(figure, &drawing)))
        .map_err(|error| failed(figure, error))
}

/// How large a figure is.
fn size(figure: &file::Figure, drawing: &Figure) -> Size {
    match figure.size {
        Some(PictureSize::Millimetres(width, height)) => Size::on_paper(width, height),
        Some(PictureSize::Pixels(width, height)) => Size { width, height },
        None => drawing.size(),
    }
}

/// The file a figure is drawn into: its name, or its kind, with the ending of its format.
pub fn file_name(figure: &file::Figure) -> String {
    format!("{}.{}", name(figure), figure.format.name())
}

fn name(figure: &file::Figure) -> &str {
    figure.name.as_ref().map_or(figure.kind.name(), |name| name.as_str())
}

fn failed(figure: &file::Figure, error: PlotError) -> ExperimentError {
    ExperimentError::Figure { figure: name(figure).to_owned(), error }
}

/// A figure of one run as something to draw.
fn prepare(figure: &file::Figure, run: &Tables) -> Result<Figure, PlotError> {
    if let Some(drawing) = figure.kind.read(run, &ask(figure))? {
        return Ok(drawing);
    }
    match figure.kind {
        FigureKind::Lines => {
            let reason = "\"lines\" shows a sweep, and this is one run: use \"bars\"";
            Err(PlotError::Unsuitable(reason.to_owned()))
        }
        kind if kind.shows_spread() => boxes(figure, run).map(Figure::Boxes),
        _ => bars(figure, run).map(Figure::Bars),
    }
}

/// What a figure asks for.
fn ask(figure: &file::Figure) -> Ask {
    let seconds = |time: Option<TimeSpan>| time.map(|time| time.0.as_secs_f64());
    Ask {
        title: figure.title.clone(),
        part: Part {
            providers: figure.providers.iter().map(ToString::to_string).collect(),
            from: seconds(figure.from),
            until: seconds(figure.until),
        },
        job: figure.job.map(i64::from),
        group_by: figure.group_by.as_ref().map(ToString::to_string),
        dates: figure.dates,
        complement: figure.complement,
        x_limits: metric::limits(figure.x_range, 1.0),
        y_limits: metric::limits(figure.y_range, 1.0),
    }
}

/// By what a figure tells jobs apart.
fn grouping(figure: &file::Figure) -> Result<Grouping, PlotError> {
    Grouping::of(figure.group_by.as_ref().map(|name| name.as_str()))
}

/// How boxes show values.
fn style(figure: &file::Figure) -> BoxStyle {
    match (figure.kind, figure.whiskers.unwrap_or_default()) {
        (FigureKind::LetterValues, _) => BoxStyle::LetterValues,
        (_, Whiskers::Tukey) => BoxStyle::Tukey,
        (_, Whiskers::Range) => BoxStyle::Range,
    }
}

/// How values are spread over the jobs of a run, told apart by their groups.
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
    let all = samples.iter().flat_map(|sample| &sample.values).copied();
    let scale = metric::Scale::of(&metric, all);
    let unit =
        scale.label.rsplit_once(", ").map_or_else(String::new, |(_, unit)| format!(", {unit}"));
    let values = |sample: &Sample| sample.values.iter().map(|it| it * scale.factor).collect();
    Ok(BoxChart {
        title: ask.title(about, &format!("{what} by {}", grouping.word())),
        x_label: grouping.word().to_owned(),
        y_label: format!("{what}{unit} (dot: mean)"),
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
    let (summary, about) = (run.run().summary()?, run.about()?);
    let whole = figure.group_by.is_none() && metric.is_whole();
    let (what, mut bars) = if whole {
        let of_groups = of_groups(&summary, about, usize::MAX);
        let value = match metric.name() {
            MESSAGES => messages(run.run())?,
            name => value_of(of_run(&summary).into_iter().chain(of_groups), name),
        };
        if value.is_none() {
            return Err(PlotError::NoValues(format!("the run has no \"{metric}\"")));
        }
        (metric::title(&metric), vec![("whole run".to_owned(), value)])
    } else {
        let grouping = grouping(figure)?;
        if metric.is_whole() {
            return Err(PlotError::Unsuitable(format!(
                "\"{}\" belongs to the whole run, not to a {}: remove `group-by`",
                metric.name(),
                grouping.word()
            )));
        }
        let groups = grouping
            .groups(&summary)
            .iter()
            .filter(|group| grouping != Grouping::Provider || is_drawn(figure, &group.name));
        let bar = |group: &Group| {
            let value = value_of(of_group(group), metric.name());
            (grouping.label(&group.name, about), value)
        };
        let what = format!("{} by {}", metric::title(&metric), grouping.word());
        (what, groups.map(bar).collect())
    };
    let scale = metric::Scale::of(&metric, bars.iter().filter_map(|(_, value)| *value));
    let (scale, y_scale) = scale.on_axis(figure, &metric);
    for (_, value) in &mut bars {
        *value = value.map(|value| value * scale.factor);
    }
    Ok(BarChart {
        title: ask(figure).title(about, &what),
        x_label: figure
            .group_by
            .as_ref()
            .map_or(if whole { String::new() } else { "provider".to_owned() }, ToString::to_string),
        y_label: scale.label.clone(),
        legend_label: String::new(),
        series: vec![BarSeries {
            name: metric::title(&metric),
            values: bars.iter().map(|(_, value)| value.map(|value| (value, None))).collect(),
        }],
        differences: false,
        y_scale,
        y_limits: metric::limits(figure.y_range, scale.factor),
        categories: bars.into_iter().map(|(name, _)| name).collect(),
    })
}

fn is_drawn(figure: &file::Figure, provider: &str) -> bool {
    figure.providers.is_empty() || figure.providers.iter().any(|name| name.as_str() == provider)
}

/// What a figure measures.
fn measured(figure: &file::Figure) -> Metric {
    let bounded = || "mean_bounded_slowdown".parse().expect("a metric");
    figure.metric.clone().unwrap_or_else(bounded)
}

/// The metric that tables have.
const MESSAGES: &str = "messages";

fn value_of(values: impl IntoIterator<Item = (String, f64)>, name: &str) -> Option<f64> {
    values.into_iter().find(|(other, _)| other == name).map(|(_, value)| value)
}

/// The metrics of all groups of a run's jobs, such as `provider.north.mean_waiting_time`, of kinds of which
/// there are at most so many.
pub(crate) fn of_groups(summary: &Summary, about: &About, most: usize) -> Vec<(String, f64)> {
    let mut values = Vec::new();
    for grouping in Grouping::ALL {
        let groups = grouping.groups(summary);
        for group in groups.iter().filter(|_| groups.len() <= most) {
            let label = grouping.label(&group.name, about);
            let named = |(name, value)| (format!("{}.{label}.{name}", grouping.word()), value);
            values.extend(of_group(group).into_iter().map(named));
        }
    }
    values
}

/// Messages between actors, as far as the run kept them.
pub fn messages(run: &RunReader) -> Result<Option<f64>, ResultsError> {
    if run.has(Table::MessageCounts) {
        let counts = run.columns(Table::MessageCounts, &["count"])?;
        let total: i64 = counts.integer("count")?.iter().flatten().sum();
        return Ok(Some(total as f64));
    }
    if run.has(Table::Messages) {
        return Ok(Some(run.columns(Table::Messages, &["time"])?.rows() as f64));
    }
    Ok(None)
}
