//! `figures.toml` and `claims.toml` as they are written.

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
    /// What `--quick` leaves.
    #[serde(default)]
    pub(super) quick: Quick,
    #[serde(default, rename = "figure")]
    pub(super) figures: Vec<FigureEntry>,
}

/// `claims.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ClaimsFile {
    /// Why several claims come out as they do, by name.
    #[serde(default)]
    pub(super) reasons: BTreeMap<Spanned<String>, String>,
    #[serde(default, rename = "claim")]
    pub(super) claims: Vec<ClaimEntry>,
}

/// `[quick]`: what a quick reproduction leaves.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Quick {
    /// At most so many replications.
    pub replications: Option<u32>,
    /// Of an axis, these values.
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

/// How long a figure takes on two cores, in minutes.
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
    /// What is drawn.
    pub kind: DrawKind,
    /// Added to the figure's name where it has several images.
    pub suffix: Option<String>,
    /// Title above; without it, what the figure is about.
    #[serde(default, deserialize_with = "brief")]
    pub title: Option<String>,
    /// What lies along the x axis, or is a table's rows; in scatters the x of points.
    #[serde(default)]
    pub x: Dimension,
    /// Bars of a group, lines, points, or a table's columns.
    #[serde(default)]
    pub series: Dimension,
    /// Panels beside each other.
    #[serde(default)]
    pub panels: Dimension,
    /// Label of the y axis with its unit.
    #[serde(default, deserialize_with = "brief")]
    pub label: Option<String>,
    /// Above the legend: what its entries are values of.
    #[serde(default, deserialize_with = "brief")]
    pub legend: Option<String>,
    /// What is shown of the spread over replications.
    #[serde(default)]
    pub bars: Spread,
    /// How far the whiskers of boxes reach.
    #[serde(default)]
    pub whiskers: Option<Whiskers>,
    /// Where values of boxes mean something: a line across.
    pub reference: Option<f64>,
    /// Strips along lines instead of whiskers.
    #[serde(default)]
    pub band: bool,
    /// How values lie on the x axis of lines or a scatter.
    #[serde(default)]
    pub x_scale: XScale,
    /// How values lie on the y axis of lines.
    #[serde(default)]
    pub y_scale: YScale,
    /// True if each panel has a scale of its own.
    #[serde(default)]
    pub own_scales: bool,
    /// Values of axes that stay the same.
    #[serde(rename = "where", default)]
    pub at: BTreeMap<String, toml::Value>,
    /// The sweep, where there are several.
    pub sweep: Option<String>,
    /// The group of jobs: a class, provider or workload; without it, all jobs.
    pub group: Option<String>,
    /// What is measured: a word of scenarios or a key of summary.json with dots.
    pub metric: Option<String>,
    /// What is measured, as an expression.
    pub value: Option<String>,
    /// What values are multiplied by.
    pub scale: Option<f64>,
    /// A chart of one run, as its scenario would declare it.
    pub plot: Option<Figure>,
}

impl Draw {
    /// True if it shows how values are spread.
    pub fn shows_spread(&self) -> bool {
        matches!(self.kind, DrawKind::Box | DrawKind::LetterValues)
    }

    /// True if places on the x axis are measured, not given.
    pub fn measures_x(&self) -> bool {
        let measured = self.x.metric.is_some() || self.x.value.is_some();
        self.kind == DrawKind::Scatter || self.kind == DrawKind::Lines && measured
    }

    /// What holds wherever no part says otherwise.
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

    /// All expressions that are drawn.
    pub(super) fn expressions(&self) -> impl Iterator<Item = &str> {
        let dimensions = [&self.x, &self.series, &self.panels];
        let parts = dimensions.into_iter().flat_map(|it| &it.values);
        let own = [&self.value, &self.x.value];
        own.into_iter().chain(parts.map(|part| &part.value)).flatten().map(String::as_str)
    }
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DrawKind {
    /// Groups of bars.
    Bars,
    /// Groups of boxes: how values are spread over replications.
    Box,
    /// Groups of boxes within boxes, for many replications.
    LetterValues,
    /// Lines over an axis.
    Lines,
    /// A named point for each series.
    Scatter,
    /// Tasks and what they need: an edge from each x to each series where the value is not 0.
    Graph,
    /// A table, printed and as CSV.
    Table,
    /// A chart of one run: its `plot`.
    Run,
}

/// What is shown of the spread over replications.
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

/// How values lie on an x axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum XScale {
    /// Evenly.
    #[default]
    Linear,
    /// By their logarithms.
    Log,
}

/// How values lie on a y axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum YScale {
    /// Evenly.
    #[default]
    Linear,
    /// By their logarithms.
    Log,
    /// By their logarithms, as times in seconds.
    LogTime,
}

/// The values of an axis, or parts with names of their own.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Dimension {
    /// An axis of the sweep.
    pub axis: Option<String>,
    /// What x is called; without it, the axis. Of panels and series, what stands before each value.
    #[serde(default, deserialize_with = "brief")]
    pub label: Option<String>,
    /// Which values of the axis, in this order; or any parts. Without them, all of the axis.
    #[serde(default, deserialize_with = "parts")]
    pub values: Vec<Part>,
    /// In scatters and lines: what x measures. Lines go from value to value of the axis.
    pub metric: Option<String>,
    /// In scatters and lines: what x measures, as an expression.
    pub value: Option<String>,
    /// In scatters and lines: what x is multiplied by.
    pub scale: Option<f64>,
    /// In scatters and lines: the group of jobs of which x is taken.
    pub group: Option<String>,
}

/// Parts, of which those that are but values of the axis are written bare.
fn parts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Part>, D::Error> {
    let part = |value| match value {
        value @ toml::Value::Table(_) => Part::deserialize(value)
            .map_err(|error: toml::de::Error| D::Error::custom(error.message())),
        value => Ok(Part { is: Some(value), ..Part::default() }),
    };
    Vec::<toml::Value>::deserialize(from)?.into_iter().map(part).collect()
}

/// Part of what is shown: which runs, which jobs, what is measured. What one part leaves open,
/// the parts around it say.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Part {
    /// The value of the dimension's axis.
    pub is: Option<toml::Value>,
    /// What it is called.
    pub name: Option<String>,
    /// Values of other axes.
    #[serde(rename = "where", default)]
    pub at: BTreeMap<String, toml::Value>,
    /// The sweep, where there are several.
    pub sweep: Option<String>,
    /// The group of jobs: a class, provider or workload; without it, all jobs.
    pub group: Option<String>,
    /// What is measured: a word of scenarios or a key of summary.json with dots.
    pub metric: Option<String>,
    /// What is measured, as an expression, in which `at` is the point and `group` the group.
    pub value: Option<String>,
    /// What values are multiplied by.
    pub scale: Option<f64>,
    /// Label of the y axis, where panels measure different things.
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

/// How sharp a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// A number, or a threshold.
    Exact,
    /// The sign of a difference, beyond chance.
    Ordering,
    /// The direction of means.
    Trend,
}

impl Grade {
    /// The word in catalogues.
    pub const fn name(self) -> &'static str {
        match self {
            Grade::Exact => "exact",
            Grade::Ordering => "ordering",
            Grade::Trend => "trend",
        }
    }
}

/// Longest text in a figure: what is longer has no room, and takes for ever to draw.
const TEXT_MAX: usize = 300;

fn brief<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let count = text.chars().count();
    match count <= TEXT_MAX {
        true => Ok(Some(text)),
        false => Err(D::Error::custom(format!("{count} characters, at most {TEXT_MAX} are drawn"))),
    }
}
