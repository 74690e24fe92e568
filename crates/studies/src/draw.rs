//! Draws a figure of the catalogue: computes its values as cells, and writes them as an image and as CSV.
//!
//! A drawing has three dimensions: panels, series and x. Each consists of the values of an axis, or of
//! parts with names of their own. A cell combines one panel, one series and one x.

mod chart;
mod graph;
mod run;
mod table;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use haggle_plots::PlotError;
use haggle_results::ResultsError;
use haggle_results::stats::Estimate;

use super::catalogue::{Dimension, Draw, DrawKind, Figure, Part, Spread};
use super::data::{Data, same};
use haggle_experiment::ExperimentError;
use haggle_experiment::sweep::write_whole;
use haggle_scenario::file::Whiskers;
use haggle_script::{Absent, Language, Point, Quantity};

/// Files of a drawing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The image; none for a table.
    pub image: Option<PathBuf>,
    /// The file or folder of its numbers: a CSV file, or the folder of the run that it shows.
    pub numbers: PathBuf,
    /// A table's rows; the first one is its head.
    pub table: Vec<Vec<String>>,
}

/// Reason why a figure cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum DrawError {
    /// Its description requests missing data.
    #[error("figure \"{figure}\" cannot be drawn: {problem}")]
    Unfit {
        /// The figure.
        figure: String,
        /// The problem.
        problem: String,
    },
    /// It cannot be drawn or written.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// Its numbers cannot be written, or those of a run cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A run cannot be drawn.
    #[error(transparent)]
    Run(Box<ExperimentError>),
}

impl From<ExperimentError> for DrawError {
    fn from(error: ExperimentError) -> DrawError {
        DrawError::Run(Box::new(error))
    }
}

/// A part with its name.
#[derive(Clone, Debug)]
struct Named {
    name: String,
    /// Its value on the dimension's axis, if it has one.
    raw: Option<String>,
    part: Part,
}

/// A value of the figure.
#[derive(Clone, Debug)]
struct Cell {
    panel: usize,
    series: usize,
    x: usize,
    /// Position on the x axis, if it is measured.
    across: Option<Estimate>,
    value: Estimate,
    /// The values of which it is the mean.
    values: Vec<f64>,
}

/// Content of a drawing.
struct Shown<'a> {
    draw: &'a Draw,
    title: String,
    panels: Vec<Named>,
    series: Vec<Named>,
    x: Vec<Named>,
    cells: Vec<Cell>,
}

/// Draws a figure into `folder`, from its sources and in the language over them.
///
/// # Errors
/// If it cannot be drawn or written.
pub fn draw(
    figure: &Figure,
    how: &Draw,
    sources: &[Rc<Data>],
    language: &Language,
    folder: &Path,
) -> Result<Drawn, DrawError> {
    let unfit = |problem: String| DrawError::Unfit { figure: figure.name.clone(), problem };
    let stem = match &how.suffix {
        Some(suffix) => format!("{}-{suffix}", figure.name),
        None => figure.name.clone(),
    };
    if how.kind == DrawKind::Run {
        return run::draw(figure, how, sources, &folder.join(format!("{stem}.png")));
    }
    let shown = Shown::new(figure, how, sources, language).map_err(unfit)?;
    let csv = folder.join(format!("{stem}.csv"));
    write_whole(&csv, &table::csv(&shown))?;
    if how.kind == DrawKind::Table {
        return Ok(Drawn { image: None, numbers: csv, table: table::rows(&shown) });
    }
    let image = folder.join(format!("{stem}.png"));
    let drawing = chart::drawing(&shown);
    drawing.draw(&image, drawing.size())?;
    Ok(Drawn { image: Some(image), numbers: csv, table: Vec::new() })
}

impl<'a> Shown<'a> {
    fn new(
        figure: &Figure,
        draw: &'a Draw,
        sources: &[Rc<Data>],
        language: &Language,
    ) -> Result<Shown<'a>, String> {
        let whole = draw.part();
        let named = |dimension: &Dimension| named(dimension, &whole, sources);
        // Labels precede the values here, because panels and series have no axis with a label.
        let labelled = |dimension: &Dimension| -> Result<Vec<Named>, String> {
            let mut all = named(dimension)?;
            if let Some(label) = &dimension.label {
                all.iter_mut().for_each(|it| it.name = format!("{label} {}", it.name));
            }
            Ok(all)
        };
        let scatter = draw.kind == DrawKind::Scatter;
        let mut shown = Shown {
            draw,
            title: draw.title.clone().unwrap_or_else(|| figure.about.clone()),
            panels: labelled(&draw.panels)?,
            series: labelled(&draw.series)?,
            x: if scatter { vec![Named::nothing()] } else { named(&draw.x)? },
            cells: Vec::new(),
        };
        for (p, panel) in shown.panels.iter().enumerate() {
            for (s, series) in shown.series.iter().enumerate() {
                for (i, x) in shown.x.iter().enumerate() {
                    // The x is the innermost part, so its settings have priority.
                    let part = within(&within(&within(&whole, &panel.part), &series.part), &x.part);
                    let at_x = x.raw.as_deref().unwrap_or(&x.name);
                    let across = match draw.measures_x() {
                        true => {
                            let across = measure(&across(&part, &draw.x), sources, language, at_x)?;
                            across.map(|across| across.estimate())
                        }
                        false => None,
                    };
                    let value = measure(&part, sources, language, at_x)?;
                    // Data that a quick reproduction left out leave a gap.
                    if let Some(value) = value.filter(|_| !draw.measures_x() || across.is_some()) {
                        let (estimate, values) = (value.estimate(), value.values());
                        let (panel, series, value) = (p, s, estimate);
                        shown.cells.push(Cell { panel, series, x: i, across, value, values });
                    }
                }
            }
        }
        Ok(shown)
    }

    /// Half length of a whisker.
    fn half(&self, estimate: &Estimate) -> Option<f64> {
        match self.draw.bars {
            Spread::Sd => estimate.std,
            Spread::Ci95 => estimate.half_width,
            Spread::None => None,
        }
    }

    /// Label of the y axis, with the number of runs unless it is in the title.
    fn y_label(&self, panel: &Named) -> String {
        let part = within(&self.draw.part(), &panel.part);
        let label = panel.part.label.as_ref().or(self.draw.label.as_ref());
        let label = label.or(part.metric.as_ref()).cloned().unwrap_or_default();
        match self.spread() {
            Some(spread) if !self.draw.own_scales => format!("{label} ({spread})"),
            _ => label,
        }
    }

    /// Title of the figure. It includes the spread if panels have scales of their own, because their
    /// labels have no room for it.
    fn whole_title(&self) -> String {
        match self.spread() {
            Some(spread) if self.draw.own_scales => format!("{} ({spread})", self.title),
            _ => self.title.clone(),
        }
    }

    /// Describes the spread and the number of runs.
    fn spread(&self) -> Option<String> {
        let counts = || self.cells.iter().map(|cell| cell.value.n);
        let fewest = counts().min().filter(|&n| n > 1)?;
        let n = match counts().max() {
            Some(most) if most > fewest => format!("{fewest} to {most}"),
            _ => fewest.to_string(),
        };
        if self.draw.shows_spread() {
            return Some(match (self.draw.kind, self.draw.whiskers.unwrap_or_default()) {
                (DrawKind::LetterValues, _) => format!("letter values of {n} runs; dot: mean"),
                (_, Whiskers::Range) => {
                    format!("quartiles, lowest, highest of {n} runs; dot: mean")
                }
                (_, Whiskers::Tukey) => {
                    format!("quartiles of {n} runs, whiskers within 1.5 of their range; dot: mean")
                }
            });
        }
        let spread = match self.draw.bars {
            Spread::Sd => "mean and standard deviation",
            Spread::Ci95 => "mean and 95 % confidence interval",
            Spread::None => "mean",
        };
        Some(format!("{spread} of {n} runs"))
    }

    fn x_label(&self) -> String {
        let x = &self.draw.x;
        x.label.clone().or_else(|| x.axis.clone()).or_else(|| x.metric.clone()).unwrap_or_default()
    }

    /// Label of the legend, if the figure has one.
    fn legend_label(&self) -> String {
        self.draw.legend.clone().unwrap_or_default()
    }

    fn cell(&self, panel: usize, series: usize, x: usize) -> Option<&Cell> {
        self.cells.iter().find(|it| (it.panel, it.series, it.x) == (panel, series, x))
    }
}

impl Named {
    fn nothing() -> Named {
        Named { name: String::new(), raw: None, part: Part::default() }
    }
}

/// The parts of a dimension; a single empty part if it has none.
fn named(dimension: &Dimension, whole: &Part, sources: &[Rc<Data>]) -> Result<Vec<Named>, String> {
    let Some(axis) = &dimension.axis else {
        if dimension.values.is_empty() {
            return Ok(vec![Named::nothing()]);
        }
        let named = |part: &Part| Named {
            name: part.name.clone().or_else(|| part.is.as_ref().map(text)).unwrap_or_default(),
            raw: None,
            part: part.clone(),
        };
        return Ok(dimension.values.iter().map(named).collect());
    };
    let data = match &whole.sweep {
        Some(name) => Some(source(name, sources)?),
        None => sources.iter().find(|data| data.axis(axis).is_ok()).or(sources.first()),
    };
    let data = data.ok_or("it has no data")?;
    let values = data.axis(axis).map_err(|error| error.to_string())?;
    let part = |value: &str, part: Part| {
        let mut part = part;
        part.at.insert(axis.clone(), toml::Value::String(value.to_owned()));
        let name = part.name.clone().unwrap_or_else(|| value.to_owned());
        Named { name, raw: Some(value.to_owned()), part }
    };
    if dimension.values.is_empty() {
        return Ok(values.values.iter().map(|value| part(value, Part::default())).collect());
    }
    let mut all = Vec::new();
    for one in &dimension.values {
        let is = one.is.as_ref().map(text).ok_or_else(|| {
            format!("a value of axis \"{axis}\" lacks `is`, which says which one it is")
        })?;
        // A value that a quick reproduction leaves out is no mistake, but it is not drawn.
        if values.values.iter().any(|value| same(value, &is)) {
            all.push(part(&is, one.clone()));
        } else if !data.cut_values(axis).any(|value| same(value, &is)) {
            return Err(format!(
                "axis \"{axis}\" has no value {is}: it has {}",
                values.values.join(", ")
            ));
        }
    }
    Ok(all)
}

/// Merges two parts: fields of the inner part have priority.
fn within(outer: &Part, inner: &Part) -> Part {
    let mut at = outer.at.clone();
    at.extend(inner.at.clone());
    // Metric and value stand for each other, so both come from the same part.
    let measured = inner.metric.is_some() || inner.value.is_some();
    let from = if measured { inner } else { outer };
    Part {
        at,
        sweep: inner.sweep.clone().or_else(|| outer.sweep.clone()),
        group: inner.group.clone().or_else(|| outer.group.clone()),
        metric: from.metric.clone(),
        value: from.value.clone(),
        scale: inner.scale.or(outer.scale),
        ..Part::default()
    }
}

/// The part with the measured value of x.
fn across(part: &Part, x: &Dimension) -> Part {
    Part {
        metric: x.metric.clone(),
        value: x.value.clone(),
        // Not the factor of y, which the rest of the part would bring.
        scale: x.scale.or(Some(1.0)),
        group: x.group.clone().or_else(|| part.group.clone()),
        ..part.clone()
    }
}

/// The value of a part; `None` if a quick reproduction left it out.
fn measure(
    part: &Part,
    sources: &[Rc<Data>],
    language: &Language,
    x: &str,
) -> Result<Option<Quantity>, String> {
    let at = point(part);
    let group = part.group.as_deref();
    let quantity = match (&part.value, &part.metric) {
        (Some(value), _) => match language.value(value, &at, group.unwrap_or_default(), x) {
            Ok(quantity) => quantity,
            Err(mistake) if mistake.cut => return Ok(None),
            Err(mistake) => return Err(format!("{} in `{}`", mistake.message, value.trim())),
        },
        (None, Some(metric)) => {
            let data = meant(part.sweep.as_deref(), sources)?;
            match data.sample(metric, group, &at) {
                Ok(sample) => Quantity::Sample(sample),
                Err(Absent::Cut { .. }) => return Ok(None),
                Err(error) => return Err(error.to_string()),
            }
        }
        (None, None) => return Err("it says neither `metric` nor `value`".to_owned()),
    };
    let scale = part.scale.unwrap_or(1.0);
    Ok(Some(quantity.map(|value| value * scale)))
}

/// The point of a part on the axes.
fn point(part: &Part) -> Point {
    part.at.iter().map(|(axis, value)| (axis.clone(), text(value))).collect()
}

/// The data of a sweep. The name may be left out if there is only one.
fn meant<'a>(sweep: Option<&str>, sources: &'a [Rc<Data>]) -> Result<&'a Rc<Data>, String> {
    match (sweep, sources) {
        (Some(name), _) => source(name, sources),
        (None, [only]) => Ok(only),
        _ => Err("it has several sweeps: say which with `sweep`".to_owned()),
    }
}

fn source<'a>(name: &str, sources: &'a [Rc<Data>]) -> Result<&'a Rc<Data>, String> {
    sources.iter().find(|data| data.name == name).ok_or_else(|| {
        let known: Vec<&str> = sources.iter().map(|data| data.name.as_str()).collect();
        format!("it has no sweep \"{name}\": there is {}", known.join(", "))
    })
}

/// A value as text, as on axes.
fn text(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
