//! The figures that a scenario declares, drawn from a run's folder or from a sweep's.
//!
//! ```text
//! [[figure]] + tables, summary.json ──> prepare ──> haggle_plots::Figure ──> PNG, SVG
//! [[figure]] + SweepData            ──> sweep::prepare ──────^
//! ```

pub mod sweep;

mod grid;
mod metric;

use serde::Deserialize;
use std::path::Path;

use haggle_plots::load::{self, By, Part, Tables};
use haggle_plots::{
    BarChart, BarSeries, BoxChart, BoxSeries, BoxStyle, DistributionFigure, Figure, Format,
    PlotError, Quantity, Shows, Size, Timeline,
};
use haggle_results::metrics::Group;
use haggle_results::metrics::named::{Named, OfEach, of_group, of_run};
use haggle_results::{About, ResourceRow, ResultsError, RunReader, Summary, Table};

use super::ExperimentError;
use file::{FigureKind, ImageFormat, Metric, Shown, Whiskers};
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
    let quantity = match figure.kind {
        FigureKind::WaitingEcdf => Quantity::WaitingTime,
        FigureKind::BoundedSlowdownEcdf => Quantity::BoundedSlowdown,
        FigureKind::AgreementEcdf => Quantity::TimeToAgreement,
        kind => {
            let reason = format!(
                "\"{}\" cannot show several runs: use waiting-ecdf, bounded-slowdown-ecdf or \
                 agreement-ecdf",
                kind.name()
            );
            return Err(failed(figure, PlotError::Unsuitable(reason)));
        }
    };
    let what = match quantity {
        Quantity::WaitingTime => "waiting times",
        Quantity::BoundedSlowdown => "bounded slowdowns",
        Quantity::TimeToAgreement => "times to agreement",
    };
    let names: Vec<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
    let title = figure.title.clone().unwrap_or_else(|| format!("{}: {what}", names.join(", ")));
    load::compare(&named, &title, &part(figure), quantity)
        .map(|drawing| curves(drawing, figure))
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
    let format = match figure.format {
        ImageFormat::Png => Format::Png,
        ImageFormat::Svg => Format::Svg,
        ImageFormat::Pdf => Format::Pdf,
    };
    format!("{}.{}", name(figure), format.ending())
}

fn name(figure: &file::Figure) -> &str {
    figure.name.as_ref().map_or(figure.kind.name(), |name| name.as_str())
}

fn failed(figure: &file::Figure, error: PlotError) -> ExperimentError {
    ExperimentError::Figure { figure: name(figure).to_owned(), error }
}

/// A figure of one run as something to draw.
fn prepare(figure: &file::Figure, run: &Tables) -> Result<Figure, PlotError> {
    suits(figure.kind, run)?;
    let (part, about) = (part(figure), run.about()?);
    let title = |what: &str| title(figure, about, what);
    Ok(match figure.kind {
        FigureKind::Gantt => {
            let of_jobs = figure.group_by.as_ref().map(|_| Grouping::of(figure)).transpose()?;
            let by = of_jobs.map_or_else(|| load::differ_by(run), |it| Ok(it.by()))?;
            let mut gantt = load::gantt(run, &title("schedule"), &part, by)?;
            let grouping = of_jobs.unwrap_or(match by {
                By::Class => Grouping::Class,
                _ => Grouping::Workload,
            });
            if gantt.groups.len() > 1 {
                gantt.group_label = grouping.word().to_owned();
            }
            gantt.clock = clock(figure, run)?;
            gantt.groups.iter_mut().for_each(|it| *it = grouping.label(it, about));
            Figure::Gantt(gantt)
        }
        FigureKind::Utilisation | FigureKind::QueueLength => {
            let (what, shows) = match figure.kind {
                FigureKind::Utilisation => ("utilisation", Shows::Utilisation),
                _ => ("waiting jobs", Shows::Queue),
            };
            let timeline = timeline(run, &title(what), &part, shows)?;
            Figure::Timeline(Timeline { clock: clock(figure, run)?, ..timeline })
        }
        FigureKind::WaitingEcdf => {
            distribution(figure, run, Quantity::WaitingTime, "waiting times")?
        }
        FigureKind::BoundedSlowdownEcdf => {
            distribution(figure, run, Quantity::BoundedSlowdown, "bounded slowdowns")?
        }
        FigureKind::AgreementEcdf => {
            curves(load::agreements(run, &title("times to agreement"), &part)?, figure)
        }
        FigureKind::Bars => Figure::Bars(bars(figure, run)?),
        FigureKind::Box | FigureKind::LetterValues => Figure::Boxes(boxes(figure, run)?),
        FigureKind::ResourceTimeline => Figure::ResourceTimeline(load::resource_timeline(
            run,
            &title("slots over time"),
            &part,
        )?),
        FigureKind::JobTimeline => {
            let job = figure.job.map(i64::from);
            let title = title("a job and its attempts");
            Figure::JobTimeline(load::job_timeline(run, &title, &part, job)?)
        }
        FigureKind::WorkflowTimeline => {
            let job = figure.job.map(i64::from);
            Figure::WorkflowTimeline(load::workflow_timeline(run, title, &part, job)?)
        }
        FigureKind::Sequence => {
            let job = figure.job.map(i64::from);
            let what = job.map_or("what was said of one job".to_owned(), |job| {
                format!("what was said of job {job}")
            });
            Figure::Sequence(load::sequence(run, &title(&what), &part, job)?)
        }
        FigureKind::Lines => {
            let reason = "\"lines\" shows a sweep, and this is one run: use \"bars\"";
            return Err(PlotError::Unsuitable(reason.to_owned()));
        }
    })
}

/// What the clock on the wall showed at time zero, if the figure has dates.
fn clock(figure: &file::Figure, run: &Tables) -> Result<Option<i64>, PlotError> {
    if !figure.dates {
        return Ok(None);
    }
    let clock = run.run().provenance()?.local_time_at_zero;
    let reason = "the run has no dates: there is no log, its header has no UnixStartTime, logs differ in their \
                  dates, or a step moved its jobs";
    clock.map(Some).ok_or_else(|| PlotError::NoValues(reason.to_owned()))
}

/// What is held of providers and of a grid over time, or who waits.
fn timeline(run: &Tables, title: &str, part: &Part, shows: Shows) -> Result<Timeline, PlotError> {
    match shown(run)? {
        Shown { resources: false, .. } => load::timeline(run, title, part, shows),
        Shown { processors: false, .. } => grid::timeline(run, title, part, shows),
        // Each draws what is its own.
        _ => {
            let of_grid = grid::timeline(run, title, part, shows)?;
            let mut all = load::timeline(run, title, part, shows)?;
            all.parts.extend(of_grid.parts.into_iter().filter(|part| part.capacity > 0.0));
            Ok(Timeline { held: "in use", ..all })
        }
    }
}

/// What there is in a run that figures can show.
///
/// # Errors
/// If the results cannot be read.
pub fn shown(run: &Tables) -> Result<Shown, ResultsError> {
    let places = run.resources()?;
    Ok(Shown {
        processors: places.iter().any(|it| !it.is_shared()),
        resources: places.iter().any(ResourceRow::is_shared),
    })
}

/// Whether a kind of figure shows anything of the run of a grid, or of providers.
fn suits(kind: FigureKind, run: &Tables) -> Result<(), PlotError> {
    // Most kinds are of any run, also of one of which no table was kept.
    const NOTHING: Shown = Shown { processors: false, resources: false };
    if kind.unfit_for(NOTHING).is_none() {
        return Ok(());
    }
    let shown = shown(run)?;
    let Some((shows, instead)) = kind.unfit_for(shown) else { return Ok(()) };
    let world = match shown.resources {
        true => "jobs of a grid share theirs",
        false => "this run has none",
    };
    let kind = kind.name();
    Err(PlotError::Unsuitable(format!("\"{kind}\" {shows}, and {world}: use \"{instead}\"")))
}

fn part(figure: &file::Figure) -> Part {
    let seconds = |time: Option<TimeSpan>| time.map(|time| time.0.as_secs_f64());
    Part {
        providers: figure.providers.iter().map(ToString::to_string).collect(),
        from: seconds(figure.from),
        until: seconds(figure.until),
    }
}

/// The figure's own title, or what it shows after the scenario's name.
fn title(figure: &file::Figure, about: &About, what: &str) -> String {
    let scenario = about.name.as_deref().unwrap_or("scenario");
    figure.title.clone().unwrap_or_else(|| format!("{scenario}: {what}"))
}

/// By what the jobs of one run are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grouping {
    Provider,
    Class,
    User,
    Workload,
}

impl Grouping {
    /// The one a figure asks for; providers are what most figures are about.
    fn of(figure: &file::Figure) -> Result<Grouping, PlotError> {
        match figure.group_by.as_ref().map(|name| name.as_str()) {
            None | Some("provider") => Ok(Grouping::Provider),
            Some("class") => Ok(Grouping::Class),
            Some("user") => Ok(Grouping::User),
            Some("workload") => Ok(Grouping::Workload),
            Some(other) => Err(PlotError::Unsuitable(format!(
                "jobs of one run cannot be grouped by \"{other}\": \
                 use provider, user, class or workload"
            ))),
        }
    }

    const fn by(self) -> By {
        match self {
            Grouping::Provider => By::Provider,
            Grouping::Class => By::Class,
            Grouping::User | Grouping::Workload => By::Workload,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Grouping::Provider => "provider",
            Grouping::Class => "class",
            Grouping::User => "user",
            Grouping::Workload => "workload",
        }
    }

    /// The groups of a run.
    fn groups(self, summary: &Summary) -> &[Group] {
        match self {
            Grouping::Provider => &summary.providers,
            Grouping::Class => &summary.classes,
            Grouping::User | Grouping::Workload => &summary.workloads,
        }
    }

    /// What a group is called in figures. Tables name workloads only, so users that
    /// submit the same one share a name.
    fn label(self, name: &str, about: &About) -> String {
        let users: Vec<&str> = about.users_of(name).iter().map(|user| user.name.as_str()).collect();
        if self == Grouping::User && !users.is_empty() {
            return users.join(" + ");
        }
        name.to_owned()
    }
}

fn distribution(
    figure: &file::Figure,
    run: &Tables,
    quantity: Quantity,
    what: &str,
) -> Result<Figure, PlotError> {
    let grouping = Grouping::of(figure)?;
    let (by, about) = (grouping.by(), run.about()?);
    let title = title(figure, about, &format!("{what} by {}", grouping.word()));
    let mut drawing = load::distribution(run, &title, &part(figure), quantity, by)?;
    for sample in &mut drawing.samples {
        sample.name = grouping.label(&sample.name, about);
    }
    Ok(curves(drawing, figure))
}

/// Distribution functions on the axes that a figure asks for.
fn curves(drawing: DistributionFigure, figure: &file::Figure) -> Figure {
    Figure::Distribution(DistributionFigure {
        complement: figure.complement,
        x_limits: metric::limits(figure.x_range, 1.0),
        y_limits: metric::limits(figure.y_range, 1.0),
        ..drawing
    })
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
    let (grouping, about) = (Grouping::of(figure)?, run.about()?);
    let samples = load::samples(run, &part(figure), grouping.by(), value)?;
    let all = samples.iter().flat_map(|sample| &sample.values).copied();
    let scale = metric::Scale::of(&metric, all);
    let unit =
        scale.label.rsplit_once(", ").map_or_else(String::new, |(_, unit)| format!(", {unit}"));
    let values = |sample: &load::Sample| sample.values.iter().map(|it| it * scale.factor).collect();
    Ok(BoxChart {
        title: title(figure, about, &format!("{what} by {}", grouping.word())),
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
        let grouping = Grouping::of(figure)?;
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
        title: title(figure, about, &what),
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
    for grouping in [Grouping::Provider, Grouping::Class, Grouping::User, Grouping::Workload] {
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
