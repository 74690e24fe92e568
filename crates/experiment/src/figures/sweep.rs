//! Figures over the axes of a sweep: a metric's mean over the replications with its
//! 95 % confidence interval.
//!
//! Axes of the sweep that are no axes of the figure are never averaged. Every combination of them
//! has a line of its own, or a bar in each group.

mod differences;

use std::collections::BTreeSet;
use std::path::Path;

use haggle_plots::{
    BarChart, BarSeries, BoxChart, BoxSeries, Figure, LineAxis, LineChart, LineSeries, PlotError,
    SweepPoint, YScale,
};
use haggle_results::metrics::named::of_run;
use haggle_results::stats::Estimate;
use haggle_results::sweep::{Points, SweepRow, SweepRun};
use haggle_results::{ResultsError, RunReader, Summary, SweepFolder};

use super::{
    MESSAGES, failed, look, measured, messages, metric, of_groups, style, titles, told_of_boxes,
};
use crate::ExperimentError;
use differences::{base, differences, of_difference};
use file::{AxisScale, FigureKind, Metric};
use haggle_scenario::quantity::TimeSpan;
use haggle_scenario::{Experiment, Run, Variant, file, nearest};

/// The runs of a sweep as figures need them.
#[derive(Debug)]
pub struct SweepData {
    /// Name of the scenario.
    pub scenario: String,
    /// The axes.
    pub axes: Vec<String>,
    /// Values for the figures: metrics of the whole run by the names of scenarios, metrics of
    /// groups as in `provider.north.mean_waiting_time`.
    pub rows: Vec<SweepRow>,
    /// All metrics that a run has.
    names: BTreeSet<String>,
    /// Metrics that are shown; the others are not kept.
    shown: BTreeSet<String>,
    /// The point whose runs are being added.
    points: Points,
    /// Place on the axes and shown metrics of each run, for figures of differences.
    pub runs: Vec<SweepRun>,
    /// The seed of each of these.
    pub seeds: Vec<u64>,
    /// True if a figure shows differences.
    compares: bool,
}

impl SweepData {
    /// Reads the summaries of all existing runs of `experiment` in `folder`, for these figures.
    ///
    /// # Errors
    /// If one of them is damaged.
    pub fn read(
        experiment: &Experiment,
        folder: &Path,
        figures: &[file::Figure],
    ) -> Result<SweepData, ResultsError> {
        let mut data = SweepData::new(experiment, figures);
        let there = SweepFolder::open(folder)?;
        for run in experiment.runs() {
            if let Some(reader) = there.run(run.number, &run.folder())? {
                data.add(&run, &reader, &reader.summary()?)?;
            }
        }
        data.finish();
        Ok(data)
    }

    /// Data without runs of `experiment`, for these figures.
    pub(crate) fn new(experiment: &Experiment, figures: &[file::Figure]) -> SweepData {
        let settings = experiment.variants.first().map(|variant| variant.settings.iter());
        let name = experiment.scenario.scenario.name.as_ref();
        SweepData {
            scenario: name.map_or_else(|| "sweep".to_owned(), ToString::to_string),
            axes: settings.into_iter().flatten().map(|setting| setting.axis.clone()).collect(),
            rows: Vec::new(),
            names: BTreeSet::new(),
            shown: figures.iter().flat_map(all_measured).map(|it| it.name().to_owned()).collect(),
            points: Points::default(),
            runs: Vec::new(),
            seeds: Vec::new(),
            compares: figures.iter().any(|figure| figure.against.is_some()),
        }
    }

    /// Adds a run. The runs of a point must follow each other.
    pub(crate) fn add(
        &mut self,
        run: &Run<'_>,
        reader: &RunReader,
        summary: &Summary,
    ) -> Result<(), ResultsError> {
        // Without figures no metric is needed, and reading messages of each run takes time.
        if self.shown.is_empty() {
            return Ok(());
        }
        let settings = run.variant.settings.iter();
        let point = settings.map(|setting| setting.text()).collect();
        let metrics = values(reader, summary)?;
        self.tell(SweepRun { point, metrics }, run.seed);
        Ok(())
    }

    fn tell(&mut self, mut run: SweepRun, seed: u64) {
        for (name, _) in &run.metrics {
            // Looked up first, because most names are known and need no copy.
            if !self.names.contains(name) {
                self.names.insert(name.clone());
            }
        }
        // The name of a group's metric begins with the group.
        let shown = |name: &str, shown: &str| {
            let group = name.strip_suffix(shown);
            group.is_some_and(|group| group.is_empty() || group.ends_with('.'))
        };
        let is_shown = |name: &str| self.shown.iter().any(|it| shown(name, it));
        run.metrics.retain(|(name, _)| is_shown(name));
        if self.compares {
            self.runs.push(run.clone());
            self.seeds.push(seed);
        }
        // A point is summed up as soon as the next one begins, so memory holds the runs of one point.
        self.rows.extend(self.points.add(run));
    }

    /// Completes the data after the last run.
    pub(crate) fn finish(&mut self) {
        let rows = self.points.finish();
        self.rows.extend(rows);
    }

    fn axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis == name)
    }
}

/// All values of a run that figures can show.
fn values(run: &RunReader, summary: &Summary) -> Result<Vec<(String, f64)>, ResultsError> {
    let mut values = of_run(summary);
    values.extend(messages(run)?.map(|count| (MESSAGES.to_owned(), count)));
    values.extend(of_groups(summary, &run.about()?, usize::MAX));
    Ok(values)
}

/// Draws a figure over the axes of a sweep into the file at `path`.
///
/// # Errors
/// If the sweep lacks the data of the figure, or the file cannot be written.
pub fn draw_sweep(
    figure: &file::Figure,
    sweep: &SweepData,
    path: &Path,
) -> Result<(), ExperimentError> {
    prepare(figure, sweep)
        .and_then(|drawing| drawing.draw(path, look(figure, &drawing)))
        .map_err(|error| failed(figure, error))
}

/// The same as the bytes of a file in the format of the figure.
///
/// # Errors
/// As [`draw_sweep`], but for writing.
pub fn drawn_sweep(figure: &file::Figure, sweep: &SweepData) -> Result<Vec<u8>, ExperimentError> {
    prepare(figure, sweep)
        .and_then(|drawing| drawing.bytes(figure.format, look(figure, &drawing)))
        .map_err(|error| failed(figure, error))
}

/// A mean, its place on the x axis, and its line.
struct Value<'a> {
    x: &'a str,
    series: String,
    estimate: Estimate,
    all: &'a [f64],
}

fn prepare(figure: &file::Figure, sweep: &SweepData) -> Result<Figure, PlotError> {
    let x = match figure.kind {
        FigureKind::Lines => figure.x.as_ref(),
        FigureKind::Bars | FigureKind::StackedBars | FigureKind::Box | FigureKind::LetterValues => {
            // The grouping axis may itself be on the x axis.
            figure.x.as_ref().or(figure.group_by.as_ref())
        }
        kind => {
            let reason = format!("\"{}\" shows one run: name the folder of one", kind.name());
            return Err(PlotError::Unsuitable(reason));
        }
    };
    let x = x.map(|name| name.as_str());
    let Some(x) = x.and_then(|name| sweep.axis(name)) else {
        let reason = format!(
            "the sweep has no axis \"{}\": it has {}",
            x.unwrap_or("(none given)"),
            sweep.axes.join(", ")
        );
        return Err(PlotError::Unsuitable(reason));
    };
    if figure.kind == FigureKind::StackedBars {
        return stacks(figure, sweep, x).map(Figure::Bars);
    }
    let metric = &measured(figure);
    let base = base(figure, sweep)?;
    let differing = base.as_ref().map(|base| differences(sweep, base));
    let rows = differing.as_deref().unwrap_or(&sweep.rows);
    // Differences are to one value of these axes, which the names of lines must show.
    let held: Vec<usize> = base.iter().flatten().map(|(axis, _)| *axis).collect();
    let values = values_of(figure, sweep, metric, (x, &held), rows)?;
    let means = values.iter().map(|it| it.estimate.mean);
    let (what, scale) = match &base {
        None => (metric::title(metric), metric::Scale::of(figure, metric, means)),
        Some(base) => {
            let what = of_difference(metric, sweep, base, rows);
            let scale = metric::Scale::named(figure, metric, what.clone(), means);
            (what, scale.of_differences())
        }
    };
    let (scale, y_scale) = scale.on_axis(figure, metric);
    let y_limits = metric::limits(figure.y_range, scale.factor);
    let title = figure
        .title
        .clone()
        .unwrap_or_else(|| format!("{}: {what} over {}", sweep.scenario, sweep.axes[x]));
    let runs = counted(&values);
    if figure.kind.shows_spread() {
        let y_label = scale.label(&told_of_boxes(style(figure), Some(runs)));
        let empty = BoxChart {
            title,
            x_label: sweep.axes[x].clone(),
            y_label,
            legend_label: String::new(),
            categories: Vec::new(),
            style: style(figure),
            // A line at zero: no difference.
            reference: base.is_some().then_some(0.0),
            y_limits,
            series: Vec::new(),
        };
        return Ok(Figure::Boxes(boxes(&values, scale.factor, empty)));
    }
    let y_label = match values.iter().any(|it| it.estimate.half_width.is_some()) {
        true if base.is_some() => scale.label("paired by seed, 95 % CI"),
        true => scale.label(&format!("mean of {runs}, 95 % CI")),
        false => scale.label(""),
    };
    let x_label = sweep.axes[x].clone();
    Ok(match figure.kind {
        FigureKind::Lines => {
            let (x_axis, x_label, place) = places(values.iter().map(|value| value.x), x_label);
            Figure::Lines(LineChart {
                title,
                x_label,
                y_label,
                legend_label: String::new(),
                x_log: is_log(figure, &x_axis)?,
                x_axis,
                y_scale,
                y_limits,
                differences: base.is_some(),
                joins_names: false,
                band: false,
                series: lines(&values, scale.factor, place.as_ref()),
            })
        }
        _ => Figure::Bars(bars(
            &values,
            scale.factor,
            BarChart {
                stacked: false,
                title,
                x_label,
                y_label,
                legend_label: String::new(),
                categories: Vec::new(),
                differences: base.is_some(),
                y_scale,
                y_limits,
                series: Vec::new(),
            },
        )),
    })
}

/// Number of runs of the values, in words.
fn counted(values: &[Value]) -> String {
    let counts = || values.iter().map(|it| it.estimate.n);
    match (counts().min().unwrap_or(0), counts().max().unwrap_or(0)) {
        (1, 1) => "1 run".to_owned(),
        (fewest, most) if fewest == most => format!("{most} runs"),
        (fewest, most) => format!("{fewest} to {most} runs"),
    }
}

/// All metrics of a figure.
fn all_measured(figure: &file::Figure) -> Vec<Metric> {
    if figure.metrics.is_empty() { vec![measured(figure)] } else { figure.metrics.clone() }
}

/// Metrics that add up, as parts of one bar for each point of the sweep.
fn stacks(figure: &file::Figure, sweep: &SweepData, x: usize) -> Result<BarChart, PlotError> {
    let of_metric = |metric| values_of(figure, sweep, metric, (x, &[]), &sweep.rows);
    let parts = figure.metrics.iter().map(of_metric).collect::<Result<Vec<_>, PlotError>>()?;
    let Some(first) = parts.first() else {
        return Err(PlotError::NoValues("there is no metric to draw".to_owned()));
    };
    // Every combination of the other axes has bars of its own.
    let name = |value: &Value| match value.series.as_str() {
        "" => value.x.to_owned(),
        more => format!("{}, {more}", value.x),
    };
    let names: Vec<String> = parts.iter().flatten().map(name).collect();
    let categories = distinct(names.iter().map(String::as_str));
    let mean = |values: &[Value], category: &String| {
        values.iter().find(|value| name(value) == *category).map(|value| value.estimate.mean)
    };
    let sums =
        categories.iter().map(|it| parts.iter().filter_map(|part| mean(part, it)).sum::<f64>());
    let what = titles(&figure.metrics);
    let scale = metric::Scale::named(figure, &figure.metrics[0], what.clone(), sums);
    let part = |(metric, values): (&Metric, &Vec<Value>)| BarSeries {
        name: metric::title(metric),
        values: categories
            .iter()
            // Confidence intervals of parts do not add up, so none is drawn.
            .map(|it| Some((mean(values, it)? * scale.factor, None)))
            .collect(),
    };
    let x_label = &sweep.axes[x];
    let title = || format!("{}: {what} over {x_label}", sweep.scenario);
    Ok(BarChart {
        title: figure.title.clone().unwrap_or_else(title),
        x_label: x_label.clone(),
        y_label: scale.label(&match counted(first).as_str() {
            "1 run" => String::new(),
            runs => format!("mean of {runs}"),
        }),
        legend_label: String::new(),
        series: figure.metrics.iter().zip(&parts).map(part).collect(),
        differences: false,
        stacked: true,
        y_scale: YScale::Linear,
        y_limits: metric::limits(figure.y_range, scale.factor),
        categories: categories.clone(),
    })
}

/// Most variants of a sweep that one figure shows below each other.
const VARIANTS_MOST: usize = 24;

/// The first run of each variant of a sweep in `folder`, named by the values of the axes that
/// differ, and a title for all of them.
///
/// # Errors
/// If there are none, or more than a figure can show, or one of them is damaged.
pub fn runs_of_variants(
    experiment: &Experiment,
    folder: &Path,
) -> Result<(Vec<(String, RunReader)>, String), PlotError> {
    let variants = &experiment.variants;
    let differs = |axis: usize| {
        let values = variants.iter().filter_map(|it| Some(it.settings.get(axis)?.text()));
        values.collect::<BTreeSet<_>>().len() > 1
    };
    let there = SweepFolder::open(folder)?;
    let mut runs: Vec<(String, RunReader)> = Vec::new();
    let mut last: Option<&Variant> = None;
    for run in experiment.runs() {
        // The first run of this variant has been found.
        if last.is_some_and(|last| std::ptr::eq(last, run.variant)) {
            continue;
        }
        let Some(reader) = there.run(run.number, &run.folder())? else { continue };
        last = Some(run.variant);
        let told = run.variant.settings.iter().enumerate().filter(|(axis, _)| differs(*axis));
        let told = told.map(|(_, it)| setting(&it.axis, &it.text())).collect::<Vec<_>>();
        // Without an axis that differs, the seed tells the runs apart.
        let name = if told.is_empty() { format!("seed {}", run.seed) } else { told.join(", ") };
        runs.push((name, reader));
    }
    if runs.len() > VARIANTS_MOST {
        return Err(PlotError::Unsuitable(format!(
            "{} variants are too many for one figure, which shows {VARIANTS_MOST} at most: name folders of runs",
            runs.len()
        )));
    }
    if runs.is_empty() {
        return Err(PlotError::NoValues("no run of the sweep is there".to_owned()));
    }
    let name = experiment.scenario.scenario.name.as_ref();
    let name = name.map_or_else(|| "sweep".to_owned(), ToString::to_string);
    let about = match experiment.replications {
        1 => name,
        replications => format!("{name}, the first of {replications} runs each"),
    };
    Ok((runs, about))
}

/// True if the x axis is logarithmic; names cannot be.
fn is_log(figure: &file::Figure, x_axis: &LineAxis) -> Result<bool, PlotError> {
    let log = figure.x_scale == Some(AxisScale::Log);
    if log && matches!(x_axis, LineAxis::Names(_)) {
        let x = figure.x.as_ref().map_or("", |name| name.as_str());
        let reason = format!("values of axis \"{x}\" have no logarithms: remove `x-scale`");
        return Err(PlotError::Unsuitable(reason));
    }
    Ok(log)
}

/// A value on an axis in words. A quantity needs the name of its axis.
fn setting(axis: &str, value: &str) -> String {
    match value.starts_with(|first: char| first.is_ascii_digit()) {
        true => format!("{axis} {value}"),
        false => value.to_owned(),
    }
}

/// The values that a figure shows, each with its line.
fn values_of<'a>(
    figure: &file::Figure,
    sweep: &'a SweepData,
    metric: &Metric,
    (x, held): (usize, &[usize]),
    rows: &'a [SweepRow],
) -> Result<Vec<Value<'a>>, PlotError> {
    let group = figure.group_by.as_ref().map(|name| name.as_str());
    let group_axis = group.and_then(|name| sweep.axis(name));
    let prefix = group.filter(|_| group_axis.is_none()).map(|group| format!("{group}."));
    let suffix = format!(".{}", metric.name());
    // The grouping axis is first in the names of lines. Axes with one value are left out, except
    // those of the base.
    let varies = |&axis: &usize| {
        let values: BTreeSet<&str> = rows.iter().map(|row| row.point[axis].as_str()).collect();
        axis != x && (values.len() > 1 || held.contains(&axis))
    };
    let others = (0..sweep.axes.len()).filter(|&axis| Some(axis) != group_axis);
    let told: Vec<usize> = group_axis.into_iter().chain(others).filter(varies).collect();
    let mut values = Vec::new();
    for row in rows {
        let member = match &prefix {
            None if row.metric == metric.name() => None,
            Some(prefix) => match row.metric.strip_prefix(prefix.as_str()) {
                Some(rest) if rest.ends_with(&suffix) => {
                    let member = &rest[..rest.len() - suffix.len()];
                    let drawn = figure.providers.is_empty()
                        || figure.providers.iter().any(|name| name.as_str() == member);
                    // The list of providers limits bars by provider only.
                    if group == Some("provider") && !drawn {
                        continue;
                    }
                    Some(member.to_owned())
                }
                _ => continue,
            },
            None => continue,
        };
        let told = told.iter().map(|&axis| setting(&sweep.axes[axis], &row.point[axis]));
        let parts: Vec<String> = member.into_iter().chain(told).collect();
        let (x, estimate) = (row.point[x].as_str(), row.estimate);
        values.push(Value { x, series: parts.join(", "), estimate, all: &row.values });
    }
    if values.is_empty() {
        let reason = match group {
            Some(group) if prefix.is_some() => {
                format!("no run has \"{}\" for any {group}", metric.name())
            }
            _ => {
                let near = nearest(metric.name(), sweep.names.iter().map(String::as_str));
                let hint = near.map(|near| format!(": did you mean \"{near}\"?"));
                format!("no run has \"{metric}\"{}", hint.unwrap_or_default())
            }
        };
        return Err(PlotError::NoValues(reason));
    }
    Ok(values)
}

/// Position of a written value on an axis.
pub(crate) type Place = Box<dyn Fn(&str) -> f64>;

/// Kind of the axis that the written values form: numbers, times, shares, or names.
pub fn places<'a>(
    values: impl Iterator<Item = &'a str>,
    label: String,
) -> (LineAxis, String, Place) {
    let values = distinct(values);
    let number = |text: &str| text.parse::<f64>().ok();
    let share = |text: &str| text.strip_suffix('%').and_then(|text| text.trim().parse().ok());
    let time = |text: &str| text.parse::<TimeSpan>().ok().map(|time| time.0.as_secs_f64());
    let all = |read: &dyn Fn(&str) -> Option<f64>| values.iter().all(|it| read(it).is_some());
    if all(&number) {
        // Never NaN, because all of these values have just been read.
        (LineAxis::Numbers, label, Box::new(move |text| number(text).unwrap_or(f64::NAN)))
    } else if all(&share) {
        let label = format!("{label}, %");
        (LineAxis::Numbers, label, Box::new(move |text| share(text).unwrap_or(f64::NAN)))
    } else if all(&time) {
        (LineAxis::Times, label, Box::new(move |text| time(text).unwrap_or(f64::NAN)))
    } else {
        let known = values.clone();
        let place = move |text: &str| {
            known.iter().position(|name| name == text).map_or(f64::NAN, |place| place as f64)
        };
        (LineAxis::Names(values), label, Box::new(place))
    }
}

fn lines(values: &[Value], factor: f64, place: &dyn Fn(&str) -> f64) -> Vec<LineSeries> {
    let line = |name: String| LineSeries {
        points: values
            .iter()
            .filter(|value| value.series == name)
            .map(|value| SweepPoint {
                x: place(value.x),
                mean: value.estimate.mean * factor,
                half_width: value.estimate.half_width.map(|half| half * factor),
            })
            .collect(),
        name,
    };
    distinct(values.iter().map(|value| value.series.as_str())).into_iter().map(line).collect()
}

fn bars(values: &[Value], factor: f64, empty: BarChart) -> BarChart {
    let categories = distinct(values.iter().map(|value| value.x));
    let bar = |category: &String, series: &String| {
        let value = values.iter().find(|value| value.x == category && value.series == *series)?;
        let half = value.estimate.half_width.map(|half| half * factor);
        Some((value.estimate.mean * factor, half))
    };
    let series = distinct(values.iter().map(|value| value.series.as_str()))
        .into_iter()
        .map(|name| BarSeries {
            values: categories.iter().map(|category| bar(category, &name)).collect(),
            name,
        })
        .collect();
    BarChart { categories, series, ..empty }
}

fn boxes(values: &[Value], factor: f64, empty: BoxChart) -> BoxChart {
    let categories = distinct(values.iter().map(|value| value.x));
    let of = |category: &String, series: &String| {
        let found = values.iter().find(|it| it.x == category && it.series == *series);
        found.map_or_else(Vec::new, |it| it.all.iter().map(|value| value * factor).collect())
    };
    let series = distinct(values.iter().map(|value| value.series.as_str()))
        .into_iter()
        .map(|name| BoxSeries {
            values: categories.iter().map(|category| of(category, &name)).collect(),
            name,
        })
        .collect();
    BoxChart { categories, series, ..empty }
}

/// The distinct texts, in the order of their first appearance.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for text in texts {
        if !known.iter().any(|it| it == text) {
            known.push(text.to_owned());
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use haggle_results::sweep::aggregate;

    use super::*;

    fn sweep() -> SweepData {
        let (mut runs, mut seeds) = (Vec::new(), Vec::new());
        for policy in ["fcfs", "easy"] {
            for latency in ["1s", "1min"] {
                for (seed, north) in [(1.0, 30.0), (2.0, 50.0)] {
                    // The effect of a policy varies far less from seed to seed than the waiting
                    // time.
                    let less = if policy == "easy" { 20.0 + seed } else { 0.0 };
                    seeds.push(seed as u64);
                    runs.push(SweepRun {
                        point: vec![policy.to_owned(), latency.to_owned()],
                        metrics: vec![
                            ("mean_waiting_time".to_owned(), 60.0 * seed - less),
                            ("provider.north.mean_waiting_time".to_owned(), north),
                            ("provider.south.mean_waiting_time".to_owned(), 2.0 * north),
                        ],
                    });
                }
            }
        }
        SweepData {
            scenario: "made-up".to_owned(),
            axes: ["policy", "latency"].map(str::to_owned).to_vec(),
            rows: aggregate(runs.iter().cloned()),
            names: BTreeSet::new(),
            shown: BTreeSet::new(),
            points: Points::default(),
            runs,
            seeds,
            compares: true,
        }
    }

    fn figure(toml: &str) -> file::Figure {
        toml::from_str(&format!("metric = \"mean-waiting-time\"\n{toml}")).expect("a figure")
    }

    #[test]
    fn axes_that_are_not_shown_give_lines_of_their_own() {
        let Ok(Figure::Lines(chart)) =
            prepare(&figure("kind = \"lines\"\nx = \"latency\""), &sweep())
        else {
            panic!("lines over an axis are lines");
        };
        assert_eq!(chart.title, "made-up: mean waiting time over latency");
        assert_eq!(chart.y_label, "mean waiting time, s (mean of 2 runs, 95 % CI)");
        assert_eq!(chart.x_axis, LineAxis::Times);
        let names: Vec<&str> = chart.series.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["fcfs", "easy"]);
        let point = chart.series[0].points[1];
        assert_eq!((point.x, point.mean), (60.0, 90.0));
        // t(1, 0.975) = 12.706, s = 42.43, n = 2
        assert!((point.half_width.expect("two runs") - 381.2).abs() < 0.1);
    }

    #[test]
    fn providers_can_be_told_apart_and_chosen() {
        let all = "kind = \"lines\"\nx = \"latency\"\ngroup-by = \"provider\"";
        let names = |toml: &str| match prepare(&figure(toml), &sweep()) {
            Ok(Figure::Lines(chart)) => {
                chart.series.into_iter().map(|line| line.name).collect::<Vec<_>>().join("; ")
            }
            other => panic!("lines over an axis are lines, not {other:?}"),
        };
        assert_eq!(names(all), "north, fcfs; south, fcfs; north, easy; south, easy");
        assert_eq!(names(&format!("{all}\nproviders = [\"south\"]")), "south, fcfs; south, easy");
    }

    #[test]
    fn bars_stand_over_the_axis_that_groups_them() {
        let bars = prepare(&figure("kind = \"bars\"\ngroup-by = \"policy\""), &sweep());
        let Ok(Figure::Bars(chart)) = bars else {
            panic!("bars over an axis are bars");
        };
        assert_eq!(chart.categories, ["fcfs", "easy"]);
        let names: Vec<&str> = chart.series.iter().map(|bars| bars.name.as_str()).collect();
        assert_eq!(names, ["latency 1s", "latency 1min"]);
    }

    #[test]
    fn differences_to_a_variant_are_paired_by_seed() {
        let lines = "kind = \"lines\"\nx = \"latency\"\nagainst = { policy = \"fcfs\" }";
        let Ok(Figure::Lines(chart)) = prepare(&figure(lines), &sweep()) else {
            panic!("lines over an axis are lines");
        };
        assert_eq!(
            chart.y_label,
            "difference of mean waiting time of easy to fcfs, s (paired by seed, 95 % CI)"
        );
        assert!(chart.differences);
        assert_eq!(chart.series.len(), 1);
        let point = chart.series[0].points[0];
        // t(1, 0.975) = 12.706, s = 0.7071, n = 2
        assert_eq!(point.mean, -21.5);
        assert!((point.half_width.expect("two seeds") - 6.353).abs() < 1e-3);
        let both = "kind = \"bars\"\nx = \"policy\"\n\
                    against = { latency = \"1s\", policy = \"fcfs\" }";
        let Ok(Figure::Bars(chart)) = prepare(&figure(both), &sweep()) else {
            panic!("bars over an axis are bars");
        };
        // Every point except the base itself is compared with the one base.
        assert_eq!(chart.categories, ["fcfs", "easy"]);
        let names: Vec<&str> = chart.series.iter().map(|bars| bars.name.as_str()).collect();
        assert_eq!(names, ["latency 1min", "latency 1s"]);
        assert_eq!(chart.series[1].values[0], None);
        let wrong = prepare(
            &figure("kind = \"bars\"\nx = \"policy\"\nagainst = { policy = \"eazy\" }"),
            &sweep(),
        );
        let wrong = wrong.expect_err("there is no such value").to_string();
        assert_eq!(wrong, "the axis \"policy\" has no value \"eazy\": it has fcfs, easy");
    }

    #[test]
    fn unknown_axes_are_named_with_those_that_exist() {
        let error = prepare(&figure("kind = \"lines\"\nx = \"load\""), &sweep());
        let error = error.expect_err("there is no such axis").to_string();
        assert_eq!(error, "the sweep has no axis \"load\": it has policy, latency");
    }
}
