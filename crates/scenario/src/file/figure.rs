//! `[[figure]]`: what is drawn from the results.

use std::collections::BTreeMap;

use haggle_model::Time;
pub use haggle_plots::{BarLabels, FigureKind, ImageFormat, LegendPlace, Shown};
use haggle_results::metrics::named::{Unit, title_and_unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::quantity::Metric;
use crate::quantity::{AxisEnd, AxisRange, Instant, JobRef, Name, PictureSize, TimeSpan};

/// A figure drawn from the results at the end of a run or a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Figure {
    /// Kind of figure.
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
    /// Place of the legend; without it, beside the plot, or above it where it would take much of the width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legend: Option<LegendPlace>,
    /// Providers that are drawn, or resources and sites of a grid; without it, all. A "resource-timeline" then draws
    /// the first resource that had jobs and failed.
    #[serde(default)]
    pub providers: Vec<Name>,
    /// Number in the run of the job drawn by "job-timeline" and "sequence", or of any task of the workflow drawn by
    /// "workflow-timeline". Without it, the job with the most attempts, or messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<u32>,
    /// Jobs marked in a "gantt", such as `["north-jobs!5"]`: they have a thick edge and the others are pale.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobRef>,
    /// Text on the bars of a "gantt"; without it, "job_id".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BarLabels>,
    /// Start of the time that is drawn; without it, the start of the run. A negative time shows jobs of a start state
    /// before time zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Instant>,
    /// End of the time that is drawn; without it, the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<TimeSpan>,
    /// True if the axis of time of "gantt", "utilisation", "node-utilisation", "usage-shares" and "queue-length" has
    /// dates: the local time of the log's machine, by `UnixStartTime` and `TimeZone` of its header.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dates: bool,
    /// Metric of "bars", "lines", "box" and "letter-values"; the last two show its distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// Metrics of the parts of "stacked-bars", from the lowest part up; they have one unit and add up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// Label of the measured quantity on the y axis, in place of the name of the metric; its unit follows. With
    /// `scale`, the label includes the unit, as in "lost work, node hours".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 300))]
    pub label: Option<String>,
    /// Factor of the values as tables have them (times in seconds, shares from 0 to 1), in place of the automatic unit:
    /// 0.000277778 turns seconds into hours. The `label` must then include the unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Sweep axis on the x axis of "lines", by its name; also of "bars", "stacked-bars", "box" and "letter-values",
    /// which show one run without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<Name>,
    /// Scale of the x axis of "lines", for values that are numbers or times above 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x_scale: Option<AxisScale>,
    /// Scale of the y axis of "lines" and "bars".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y_scale: Option<AxisScale>,
    /// Range of the x axis of an ECDF, such as "1min..1d"; without it, all values are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x_range: Option<AxisRange>,
    /// Range of the y axis of an ECDF, of "bars", "lines", "box" and "letter-values", such as "88%..100%"; values
    /// outside are not drawn. "88%.." sets one end only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y_range: Option<AxisRange>,
    /// True if an ECDF shows the share of jobs above each value, 1 - F, on a logarithmic axis, which makes tails
    /// readable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complement: bool,
    /// True if an ECDF also has a curve "as recorded": of the same jobs, by the waiting times and run times of their log.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recorded: bool,
    /// Reach of the whiskers of "box".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whiskers: Option<Whiskers>,
    /// Grouping into bars, boxes, lines or curves: "provider", "user", "class", "workload", or for bars and lines a
    /// sweep axis by its name; without it, by provider. Boxes and ECDFs of one run have also "queue" and "account". For
    /// a "gantt", the attribute that has a colour, also "queue", "account" and "job"; without it, the class, or the
    /// workload if there are several. For "usage-shares", "account" or "user"; without it, "account".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_by: Option<Name>,
    /// Draws differences: each run of the sweep minus the run with its seed at this value of an axis, or of several,
    /// such as `{ policy = "easy" }`. With common random numbers, their intervals are much shorter than those of the
    /// values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, serde_json::Value>>")]
    pub against: Option<BTreeMap<String, toml::Value>>,
}

/// A key of a figure that only some kinds use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigureKey {
    /// Its name.
    pub name: &'static str,
    /// True if the figure has it.
    pub given: bool,
    /// True if its kind needs it.
    pub needed: bool,
    /// True if its kind uses it.
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
    /// A figure with its kind and all other keys at their defaults.
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
            recorded: false,
            whiskers: None,
            group_by: None,
            against: None,
        }
    }

    /// The keys that only some kinds use.
    pub fn keys(&self) -> [FigureKey; 22] {
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
            ("recorded", self.recorded),
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

    /// Unit of the end of an axis, as an example; the y axis has the unit of the metric.
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

    /// The metrics that the figure names.
    pub fn measured(&self) -> impl Iterator<Item = &Metric> {
        self.metric.iter().chain(&self.metrics)
    }

    /// Two metrics that are parts of one bar, of which the first already contains the second.
    fn counted_twice(&self) -> Option<(&Metric, &Metric)> {
        self.metrics.iter().enumerate().find_map(|(at, whole)| {
            let parts =
                WITH_PARTS.iter().find(|it| it.0 == whole.name()).map_or(&[][..], |it| it.1);
            let again = self.metrics[..at].iter().find(|other| other.name() == whole.name());
            let part = self.metrics.iter().find(|other| parts.contains(&other.name()));
            Some((whole, again.or(part)?))
        })
    }

    /// True if the time that is drawn ends before it starts.
    pub fn ends_before_it_starts(&self) -> bool {
        let ends = self.from.zip(self.until);
        ends.is_some_and(|(from, until)| Time::ZERO + until.0 <= from.0)
    }

    /// Error in the ends and scales of the axes: the key, the reason, and the correction.
    pub fn wrong_axes(&self) -> Option<(&'static str, String, String)> {
        if let Some(scale) = self.scale {
            if self.label.is_none() {
                let why = "`scale` makes another unit, whose name is missing".to_owned();
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
            let why = "differences may be below 0, and a logarithmic axis has no such values";
            return Some(("y-scale", why.to_owned(), "remove `y-scale`".to_owned()));
        }
        None
    }
}

/// Scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AxisScale {
    /// Linear scale.
    #[default]
    Linear,
    /// Logarithmic scale.
    Log,
}

/// Reach of the whiskers of a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Whiskers {
    /// To the lowest and the highest value.
    #[default]
    Range,
    /// To the furthest values within 1.5 interquartile ranges of the box; values beyond are dots (Tukey 1977).
    Tukey,
}
