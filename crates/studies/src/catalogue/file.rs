//! Types of `figures.toml` and `claims.toml`.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use haggle_scenario::file::{Figure, Whiskers};

/// `figures.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct FiguresFile {
    /// Functions that checks and drawings of the study share.
    pub(super) functions: Option<Spanned<String>>,
    /// Reductions for `--quick`.
    #[serde(default)]
    pub(super) quick: Quick,
    /// Runs that are live.
    #[serde(default)]
    pub(super) live: Vec<LiveEntry>,
    #[serde(default, rename = "figure")]
    pub(super) figures: Vec<FigureEntry>,
}

/// `[[live]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct LiveEntry {
    pub(super) sweep: Spanned<String>,
    #[serde(rename = "where")]
    pub(super) at: BTreeMap<String, toml::Value>,
    pub(super) scale: Scale,
}

/// Seconds of a live run in a second of real time.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scale {
    /// In full.
    pub full: f64,
    /// With `--quick`.
    pub quick: Option<f64>,
}

/// `claims.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ClaimsFile {
    /// Explanations of the results of several claims, by name.
    #[serde(default)]
    pub(super) reasons: BTreeMap<Spanned<String>, String>,
    #[serde(default, rename = "claim")]
    pub(super) claims: Vec<ClaimEntry>,
}

/// `[quick]`: reductions for a quick reproduction.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Quick {
    /// Maximum number of replications.
    pub replications: Option<u32>,
    /// Values of an axis that are kept.
    #[serde(default)]
    pub axes: BTreeMap<String, Vec<toml::Value>>,
}

/// `[[figure]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct FigureEntry {
    pub(super) name: Spanned<String>,
    pub(super) about: String,
    /// Scenario files of the same folder.
    #[serde(default)]
    pub(super) sweeps: Vec<Spanned<String>>,
    /// A study by code.
    pub(super) study: Option<Spanned<String>>,
    pub(super) minutes: Option<Minutes>,
    #[serde(rename = "draw", default)]
    pub(super) draws: Vec<Draw>,
}

/// Run time of a figure on two cores, in minutes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Minutes {
    /// In full.
    pub full: f64,
    /// With `--quick`.
    pub quick: Option<f64>,
}

/// `[[figure.draw]]`: one image, or one table.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Draw {
    /// Kind of the drawing.
    pub kind: DrawKind,
    /// Suffix of the figure's name, if the figure has several images.
    pub suffix: Option<String>,
    /// Title; by default, the figure's description.
    #[serde(default, deserialize_with = "brief")]
    pub title: Option<String>,
    /// The x axis, or a table's rows; in scatters the x of points.
    #[serde(default)]
    pub x: Dimension,
    /// Bars of a group, lines, points, or a table's columns.
    #[serde(default)]
    pub series: Dimension,
    /// Panels side by side.
    #[serde(default)]
    pub panels: Dimension,
    /// Label of the y axis with its unit.
    #[serde(default, deserialize_with = "brief")]
    pub label: Option<String>,
    /// Label above the legend: the quantity of its entries.
    #[serde(default, deserialize_with = "brief")]
    pub legend: Option<String>,
    /// Spread over replications that is drawn.
    #[serde(default)]
    pub bars: Spread,
    /// Ends of the whiskers of boxes.
    #[serde(default)]
    pub whiskers: Option<Whiskers>,
    /// A reference value of boxes, drawn as a horizontal line.
    pub reference: Option<f64>,
    /// True if lines have bands instead of whiskers.
    #[serde(default)]
    pub band: bool,
    /// Scale of the x axis of lines or a scatter.
    #[serde(default)]
    pub x_scale: XScale,
    /// Scale of the y axis of lines.
    #[serde(default)]
    pub y_scale: YScale,
    /// True if each panel has a scale of its own.
    #[serde(default)]
    pub own_scales: bool,
    /// Fixed values of axes.
    #[serde(rename = "where", default)]
    pub at: BTreeMap<String, toml::Value>,
    /// The sweep, if there are several.
    pub sweep: Option<String>,
    /// The group of jobs: a class, provider or workload; without it, all jobs.
    pub group: Option<String>,
    /// The metric: a word of scenarios or a key of summary.json with dots.
    pub metric: Option<String>,
    /// The measured value as an expression.
    pub value: Option<String>,
    /// Factor for values.
    pub scale: Option<f64>,
    /// A chart of one run, declared as in a scenario.
    pub plot: Option<Figure>,
}

impl Draw {
    /// True if it shows distributions of values.
    pub fn shows_spread(&self) -> bool {
        matches!(self.kind, DrawKind::Box | DrawKind::LetterValues)
    }

    /// True if positions on the x axis are measured, not given.
    pub fn measures_x(&self) -> bool {
        let measured = self.x.metric.is_some() || self.x.value.is_some();
        self.kind == DrawKind::Scatter || self.kind == DrawKind::Lines && measured
    }

    /// The defaults for all parts.
    pub fn part(&self) -> Part {
        Part {
            at: self.at.clone(),
            sweep: self.sweep.clone(),
            group: self.group.clone(),
            metric: self.metric.clone(),
            value: self.value.clone(),
            scale: self.scale,
            ..Part::default()
        }
    }

    /// All expressions of the drawing.
    pub(super) fn expressions(&self) -> impl Iterator<Item = &str> {
        let dimensions = [&self.x, &self.series, &self.panels];
        let parts = dimensions.into_iter().flat_map(|it| &it.values);
        let own = [&self.value, &self.x.value];
        own.into_iter().chain(parts.map(|part| &part.value)).flatten().map(String::as_str)
    }
}

/// Kind of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DrawKind {
    /// Groups of bars.
    Bars,
    /// Groups of boxes: distributions of values over replications.
    Box,
    /// Groups of boxes within boxes, for many replications.
    LetterValues,
    /// Lines over an axis.
    Lines,
    /// A named point for each series.
    Scatter,
    /// A graph of tasks: an edge from each x to each series with a value other than 0.
    Graph,
    /// A table, printed and as CSV.
    Table,
    /// A chart of one run: its `plot`.
    Run,
}

/// Spread over replications that is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// The sample standard deviation.
    #[default]
    Sd,
    /// The 95 % confidence interval of the mean.
    Ci95,
    /// Nothing.
    None,
}

/// Scale of an x axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum XScale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic.
    Log,
}

/// Scale of a y axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum YScale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic.
    Log,
    /// Logarithmic, for times in seconds.
    LogTime,
}

/// The values of an axis, or parts with names of their own.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Dimension {
    /// An axis of the sweep.
    pub axis: Option<String>,
    /// Label of x; by default, the name of the axis. For panels and series, a prefix of each value.
    #[serde(default, deserialize_with = "brief")]
    pub label: Option<String>,
    /// The values of the axis, in this order, or any parts. Without them, all values of the axis.
    #[serde(default, deserialize_with = "parts")]
    pub values: Vec<Part>,
    /// In scatters and lines: the metric of x. Lines join the points in the order of the axis.
    pub metric: Option<String>,
    /// In scatters and lines: the value of x as an expression.
    pub value: Option<String>,
    /// In scatters and lines: factor for x.
    pub scale: Option<f64>,
    /// In scatters and lines: the group of jobs for x.
    pub group: Option<String>,
}

/// Reads parts. A part that is only a value of the axis is written without a table.
fn parts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Part>, D::Error> {
    let part = |value| match value {
        value @ toml::Value::Table(_) => Part::deserialize(value)
            .map_err(|error: toml::de::Error| D::Error::custom(error.message())),
        value => Ok(Part { is: Some(value), ..Part::default() }),
    };
    Vec::<toml::Value>::deserialize(from)?.into_iter().map(part).collect()
}

/// A part of the drawing: its runs, its jobs and its measured value. Unset fields are taken from the
/// surrounding parts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Part {
    /// The value of the dimension's axis.
    pub is: Option<toml::Value>,
    /// Its name.
    pub name: Option<String>,
    /// Values of other axes.
    #[serde(rename = "where", default)]
    pub at: BTreeMap<String, toml::Value>,
    /// The sweep, if there are several.
    pub sweep: Option<String>,
    /// The group of jobs: a class, provider or workload; without it, all jobs.
    pub group: Option<String>,
    /// The metric: a word of scenarios or a key of summary.json with dots.
    pub metric: Option<String>,
    /// The measured value as an expression, in which `at` is the point and `group` the group.
    pub value: Option<String>,
    /// Factor for values.
    pub scale: Option<f64>,
    /// Label of the y axis, if panels show different quantities.
    #[serde(default, deserialize_with = "brief")]
    pub label: Option<String>,
}

/// `[[claim]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ClaimEntry {
    pub(super) id: Spanned<String>,
    pub(super) figures: Vec<Spanned<String>>,
    pub(super) statement: String,
    pub(super) expected: String,
    pub(super) grade: Grade,
    pub(super) check: Option<Spanned<String>>,
    pub(super) untestable: Option<String>,
    pub(super) substitutes: Option<String>,
    pub(super) note: Option<String>,
    pub(super) reason: Option<Spanned<String>>,
}

/// Precision of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// A number, or a threshold.
    Exact,
    /// The sign of a difference, beyond noise.
    Ordering,
    /// The direction of means.
    Trend,
}

impl Grade {
    /// Its word in catalogues.
    pub const fn name(self) -> &'static str {
        match self {
            Grade::Exact => "exact",
            Grade::Ordering => "ordering",
            Grade::Trend => "trend",
        }
    }
}

/// Maximum length of a text in a figure. A longer text has no room and takes too long to draw.
const TEXT_MAX: usize = 300;

fn brief<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let count = text.chars().count();
    match count <= TEXT_MAX {
        true => Ok(Some(text)),
        false => Err(D::Error::custom(format!("{count} characters, at most {TEXT_MAX} are drawn"))),
    }
}
