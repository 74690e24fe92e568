//! `[[figure]]`: what is drawn from the results.

use std::collections::BTreeMap;

pub use haggle_plots::{BarLabels, FigureKind, ImageFormat, LegendPlace, Shown};
use haggle_results::metrics::named::{Unit, title_and_unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::quantity::Metric;
use crate::quantity::{AxisEnd, AxisRange, JobRef, Name, PictureSize, TimeSpan};

/// A figure drawn when the results are there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Figure {
    /// What is drawn.
    pub kind: FigureKind,
    /// Name of the figure's file without its ending; without it, the figure's kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Image format.
    #[serde(default)]
    pub format: ImageFormat,
    /// Width and height: "88x60mm" is a column of a paper, with letters of 8 points; without it,
    /// 1600 x 900 pixels, or higher where many panels need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<PictureSize>,
    /// Title above the figure; "" leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 300))]
    pub title: Option<String>,
    /// Where the legend stands; without it, beside the plot, or above where it would take much of its width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legend: Option<LegendPlace>,
    /// Providers that are drawn, or resources and sites of a grid; without it, all of them, but in
    /// a "resource-timeline" the first resource that had jobs and failed.
    #[serde(default)]
    pub providers: Vec<Name>,
    /// The job that "job-timeline" and "sequence" draw, or a task of the workflow that "workflow-timeline"
    /// does: its number in the run; without it, the one with the most attempts, or messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<u32>,
    /// Jobs that a "gantt" marks, such as `["north-jobs!5"]`: they have a thick edge and the others are pale.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobRef>,
    /// What is written on the bars of a "gantt"; without it, "job_id".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BarLabels>,
    /// Start of the time that is drawn; without it, the start of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<TimeSpan>,
    /// End of the time that is drawn; without it, the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<TimeSpan>,
    /// Whether the axis of time of "gantt", "utilisation" and "queue-length" has dates: what the clock of the log's machine
    /// showed, by `UnixStartTime` and `TimeZone` of its header.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dates: bool,
    /// What "bars" and "lines" measure, and "box" and "letter-values" show the spread of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// What the parts of "stacked-bars" measure, from the lowest part up: metrics of one unit that add up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// What is measured, on the y axis in place of the name of the metric; its unit follows. With `scale`, the label
    /// has the unit, as in "lost work, node hours".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 300))]
    pub label: Option<String>,
    /// What values are multiplied by, as tables have them (times in seconds, shares from 0 to 1), in place of the unit
    /// that suits them: 0.000277778 makes hours of seconds. The `label` has the unit then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// What "lines" has on its x axis: a sweep axis by its name; also "bars", "stacked-bars", "box" and "letter-values", which
    /// show one run without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<Name>,
    /// How the values of "lines" lie on the x axis, if they are numbers or times above 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x_scale: Option<AxisScale>,
    /// How the values of "lines" and "bars" lie on the y axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y_scale: Option<AxisScale>,
    /// From where to where the x axis of an ECDF goes, such as "1min..1d"; without it, all values are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x_range: Option<AxisRange>,
    /// From where to where the y axis of an ECDF, of "bars", "lines", "box" and "letter-values" goes, such as
    /// "88%..100%"; what lies beyond is not drawn. "88%.." chooses one end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y_range: Option<AxisRange>,
    /// Whether an ECDF shows which share of jobs lies above each value, 1 - F, on a logarithmic axis: tails
    /// can be read then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complement: bool,
    /// How far the whiskers of "box" reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whiskers: Option<Whiskers>,
    /// What gives each bar, box, line or curve: "provider", "user", "class", "workload", or for bars
    /// and lines a sweep axis by its name; without it, the provider. Of a "gantt", what has a colour, also "job";
    /// without it, the class, or the workload, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_by: Option<Name>,
    /// Draws differences: of each run of the sweep to the one with its seed at this value of an axis, or of several,
    /// such as `{ policy = "easy" }`. With common random numbers, their intervals are much shorter than
    /// those of the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    pub against: Option<BTreeMap<String, toml::Value>>,
}

/// A key of a figure that not every kind uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigureKey {
    /// Its name.
    pub name: &'static str,
    /// Whether the figure has it.
    pub given: bool,
    /// Whether its kind needs it.
    pub needed: bool,
    /// Whether its kind uses it.
    pub used: bool,
}

/// Metrics that are sums of others.
const WITH_PARTS: [(&str, &[&str]); 2] = [
    ("wasted_work", &["lost_work", "checkpoint_work"]),
    (
        "jobs",
        &[
            "completed_jobs",
            "walltime_reached_jobs",
            "cancelled_jobs",
            "failed_jobs",
            "rejected_jobs",
            "unfinished_jobs",
        ],
    ),
];

impl Figure {
    /// A figure with nothing but its kind.
    pub fn of_kind(kind: FigureKind) -> Figure {
        Figure {
            kind,
            name: None,
            format: ImageFormat::default(),
            size: None,
            title: None,
            legend: None,
            providers: Vec::new(),
            job: None,
            jobs: Vec::new(),
            labels: None,
            from: None,
            until: None,
            dates: false,
            metric: None,
            metrics: Vec::new(),
            label: None,
            scale: None,
            x: None,
            x_scale: None,
            y_scale: None,
            x_range: None,
            y_range: None,
            complement: false,
            whiskers: None,
            group_by: None,
            against: None,
        }
    }

    /// The keys that not every kind uses.
    pub fn keys(&self) -> [FigureKey; 21] {
        let given = [
            ("metric", self.metric.is_some()),
            ("metrics", !self.metrics.is_empty()),
            ("label", self.label.is_some()),
            ("scale", self.scale.is_some()),
            ("legend", self.legend.is_some()),
            ("labels", self.labels.is_some()),
            ("jobs", !self.jobs.is_empty()),
            ("x", self.x.is_some()),
            ("x-scale", self.x_scale.is_some()),
            ("y-scale", self.y_scale.is_some()),
            ("x-range", self.x_range.is_some()),
            ("y-range", self.y_range.is_some()),
            ("complement", self.complement),
            ("whiskers", self.whiskers.is_some()),
            ("job", self.job.is_some()),
            ("group-by", self.group_by.is_some()),
            ("providers", !self.providers.is_empty()),
            ("dates", self.dates),
            ("against", self.against.is_some()),
            ("from", self.from.is_some()),
            ("until", self.until.is_some()),
        ];
        given.map(|(name, given)| FigureKey {
            name,
            given,
            needed: self.kind.needed_keys().contains(&name),
            used: self.kind.uses(name),
        })
    }

    /// In which unit an end of one of its axes is written, as an example: of what it measures, its y axis has
    /// the unit of the metric.
    pub fn unit_of(&self, key: &str) -> AxisEnd {
        let unit = match key {
            "x-range" => self.kind.x_unit().unwrap_or(Unit::Seconds),
            _ if self.kind.is_ecdf() => Unit::Percent,
            // Its label says in what the values are then.
            _ if self.scale.is_some() => Unit::Number,
            _ => self.measured().next().map_or(Unit::Number, |it| title_and_unit(it.name()).1),
        };
        match unit {
            Unit::Seconds => AxisEnd::Seconds(3600.0),
            Unit::Share | Unit::Percent => AxisEnd::Percent(90.0),
            Unit::Number => AxisEnd::Number(10.0),
        }
    }

    /// The metrics that it names.
    pub fn measured(&self) -> impl Iterator<Item = &Metric> {
        self.metric.iter().chain(&self.metrics)
    }

    /// Two metrics that are parts of one bar, the second of which is in the first already.
    fn counted_twice(&self) -> Option<(&Metric, &Metric)> {
        self.metrics.iter().enumerate().find_map(|(at, whole)| {
            let parts =
                WITH_PARTS.iter().find(|it| it.0 == whole.name()).map_or(&[][..], |it| it.1);
            let again = self.metrics[..at].iter().find(|other| other.name() == whole.name());
            let part = self.metrics.iter().find(|other| parts.contains(&other.name()));
            Some((whole, again.or(part)?))
        })
    }

    /// What is wrong with the ends and scales of its axes: the key, why, and what to write.
    pub fn wrong_axes(&self) -> Option<(&'static str, String, String)> {
        if let Some(scale) = self.scale {
            if self.label.is_none() {
                let why = "`scale` makes another unit, which nothing names".to_owned();
                let help = "add `label`, with the unit: \"lost work, node hours\"";
                return Some(("scale", why, help.to_owned()));
            }
            if !(scale.is_finite() && scale > 0.0) {
                let why = format!("values cannot be multiplied by {scale}");
                return Some(("scale", why, "choose a number above 0".to_owned()));
            }
        }
        let unit = |metric: &Metric| title_and_unit(metric.name()).1;
        if let Some((first, other)) = self.metrics.first().and_then(|first| {
            Some((first, self.metrics.iter().find(|other| unit(other) != unit(first))?))
        }) {
            let why =
                format!("\"{first}\" and \"{other}\" have different units, and do not add up");
            return Some(("metrics", why, "choose metrics of one unit".to_owned()));
        }
        if let Some((whole, part)) = self.counted_twice() {
            let why = format!("\"{whole}\" includes \"{part}\", and the two do not add up");
            return Some(("metrics", why, "keep one of the two".to_owned()));
        }
        for (key, range) in [("x-range", self.x_range), ("y-range", self.y_range)] {
            let Some(range) = range else { continue };
            let unit = self.unit_of(key);
            if !range.ends().all(|end| end.is_like(unit)) {
                let why = format!("`{key}` \"{range}\" has another unit than the axis");
                return Some((key, why, format!("write its ends as in \"..{unit}\"")));
            }
            let log = match key {
                "x-range" => true,
                _ => self.complement || self.y_scale == Some(AxisScale::Log),
            };
            if log && range.ends().any(|end| end.value() <= 0.0) {
                let why =
                    format!("`{key}` \"{range}\" is not above 0, and the axis is logarithmic");
                return Some((key, why, "choose ends above 0".to_owned()));
            }
            let cuts = range.low.is_some_and(|low| low.value() > 0.0)
                || range.high.is_some_and(|high| high.value() <= 0.0);
            if matches!(self.kind, FigureKind::Bars | FigureKind::StackedBars) && !log && cuts {
                let why = "bars begin at 0, and would not show how values compare without it";
                let help = "leave 0 on the axis, or choose the kind \"lines\" or \"box\"";
                return Some((key, why.to_owned(), help.to_owned()));
            }
        }
        if self.against.is_some() && self.y_scale == Some(AxisScale::Log) {
            let why = "differences may be below 0, where a logarithmic axis has nothing";
            return Some(("y-scale", why.to_owned(), "remove `y-scale`".to_owned()));
        }
        None
    }
}

/// How values lie on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AxisScale {
    /// Evenly.
    #[default]
    Linear,
    /// By their logarithms.
    Log,
}

/// How far the whiskers of a box reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Whiskers {
    /// To the lowest and the highest value.
    #[default]
    Range,
    /// To the furthest values within 1.5 quartile ranges of the box; those beyond are dots (Tukey 1977).
    Tukey,
}
