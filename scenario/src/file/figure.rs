//! `[[figure]]`: what is drawn from the results.

use std::collections::BTreeMap;

use haggle_results::metrics::named::{Unit, title_and_unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::quantity::Metric;
use crate::quantity::{AxisEnd, AxisRange, Name, PictureSize, TimeSpan};

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
    /// Width and height: "88x60mm" is a column of a paper, with letters of 8 points; "1600x900px" if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<PictureSize>,
    /// Title above the figure; "" leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 300))]
    pub title: Option<String>,
    /// Providers that are drawn, or resources and sites of a grid; without it, all of them, but in
    /// a "resource-timeline" the first resource that had jobs and failed.
    #[serde(default)]
    pub providers: Vec<Name>,
    /// The job that "job-timeline" and "sequence" draw, or a task of the workflow that "workflow-timeline"
    /// does: its number in the run; without it, the one with the most attempts, or messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<u32>,
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
    /// What "lines" has on its x axis: a sweep axis by its name; also "bars", "box" and "letter-values", which show
    /// one run without it.
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
    /// and lines a sweep axis by its name; without it, the provider. Of a "gantt", what has a colour;
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

impl Figure {
    /// A figure with nothing but its kind.
    pub fn of_kind(kind: FigureKind) -> Figure {
        Figure {
            kind,
            name: None,
            format: ImageFormat::default(),
            size: None,
            title: None,
            providers: Vec::new(),
            job: None,
            from: None,
            until: None,
            dates: false,
            metric: None,
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
    pub fn keys(&self) -> [FigureKey; 15] {
        let given = [
            ("metric", self.metric.is_some()),
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
        let of_metric = self.metric.as_ref().map(|it| title_and_unit(it.name()).1);
        match (self.kind, key) {
            (FigureKind::BoundedSlowdownEcdf, "x-range") => AxisEnd::Number(10.0),
            (_, "x-range") => AxisEnd::Seconds(3600.0),
            _ if self.kind.is_ecdf() => AxisEnd::Percent(90.0),
            _ => match of_metric.unwrap_or(Unit::Number) {
                Unit::Seconds => AxisEnd::Seconds(3600.0),
                Unit::Share | Unit::Percent => AxisEnd::Percent(90.0),
                Unit::Number => AxisEnd::Number(10.0),
            },
        }
    }

    /// What is wrong with the ends and scales of its axes: the key, why, and what to write.
    pub fn wrong_axes(&self) -> Option<(&'static str, String, String)> {
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
            if self.kind == FigureKind::Bars && !log && cuts {
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

haggle_model::words! {
    /// What is drawn.
    pub enum FigureKind {
        /// Which job held which processors when. Numbers on bars are those of jobs in the run; processors are counted from 0 at each
        /// provider; what failed is pale and hatched.
        Gantt = "gantt",
        /// Share of busy processors over time.
        Utilisation = "utilisation",
        /// Waiting jobs over time.
        QueueLength = "queue-length",
        /// Which share of jobs waited at most how long.
        WaitingEcdf = "waiting-ecdf",
        /// Which share of jobs had at most which bounded slowdown.
        BoundedSlowdownEcdf = "bounded-slowdown-ecdf",
        /// Which share of the jobs whose parts were got by a protocol had all of them after which time since the first try.
        AgreementEcdf = "agreement-ecdf",
        /// A metric as bars.
        Bars = "bars",
        /// How a metric is spread: over the replications of a sweep, or over the jobs of a run; quartiles and whiskers.
        Box = "box",
        /// The same for many values: boxes from fourth to fourth, from eighth to eighth and so on.
        LetterValues = "letter-values",
        /// A metric over a sweep axis.
        Lines = "lines",
        /// What the slots of a grid's resource did when: attempts of jobs, checkpoints and outages.
        ResourceTimeline = "resource-timeline",
        /// One job of a grid across its attempts, and from which checkpoint each went on.
        JobTimeline = "job-timeline",
        /// One workflow: which of its tasks ran where when, and when their data moved.
        WorkflowTimeline = "workflow-timeline",
        /// Who said what to whom about one job: a message sequence chart.
        Sequence = "sequence",
    }
}

impl FigureKind {
    /// The keys that it cannot do without.
    pub const fn needed_keys(self) -> &'static [&'static str] {
        match self {
            FigureKind::Bars | FigureKind::Box | FigureKind::LetterValues => &["metric"],
            FigureKind::Lines => &["metric", "x"],
            _ => &[],
        }
    }

    /// The keys that it uses besides those that all kinds use. What is measured is drawn from summaries, which are
    /// those of whole runs, so it has no time.
    const fn keys(self) -> &'static [&'static str] {
        match self {
            FigureKind::Gantt => &["group-by", "providers", "dates", "from", "until"],
            FigureKind::Utilisation | FigureKind::QueueLength => {
                &["providers", "dates", "from", "until"]
            }
            FigureKind::WaitingEcdf | FigureKind::BoundedSlowdownEcdf => {
                &["x-range", "y-range", "complement", "group-by", "providers", "from", "until"]
            }
            // Its curves are those of metaschedulers.
            FigureKind::AgreementEcdf => &["x-range", "y-range", "complement", "from", "until"],
            FigureKind::Bars => {
                &["metric", "x", "y-scale", "y-range", "group-by", "providers", "against"]
            }
            FigureKind::Box => {
                &["metric", "x", "y-range", "whiskers", "group-by", "providers", "against"]
            }
            FigureKind::LetterValues => {
                &["metric", "x", "y-range", "group-by", "providers", "against"]
            }
            FigureKind::Lines => {
                &["metric", "x", "x-scale", "y-scale", "y-range", "group-by", "providers", "against"]
            }
            FigureKind::ResourceTimeline => &["providers", "from", "until"],
            FigureKind::WorkflowTimeline => &["job", "providers", "from", "until"],
            // They show whoever has to do with the job.
            FigureKind::JobTimeline | FigureKind::Sequence => &["job", "from", "until"],
        }
    }

    /// Whether it uses a key that not every kind uses.
    pub fn uses(self, key: &str) -> bool {
        self.keys().contains(&key)
    }

    /// Whether it shows a metric.
    pub fn measures(self) -> bool {
        self.uses("metric")
    }

    /// Whether it shows how values are spread.
    pub const fn shows_spread(self) -> bool {
        matches!(self, FigureKind::Box | FigureKind::LetterValues)
    }

    /// Whether it shows distribution functions.
    pub fn is_ecdf(self) -> bool {
        self.uses("complement")
    }

    /// Whether it can show the runs of a sweep side by side.
    pub fn spans_runs(self) -> bool {
        self.measures()
    }

    /// Whether it is drawn from every message of a run.
    pub const fn needs_messages(self) -> bool {
        matches!(self, FigureKind::Sequence)
    }

    /// Whether it is drawn from transactions on parts of jobs.
    pub const fn needs_transactions(self) -> bool {
        matches!(self, FigureKind::AgreementEcdf)
    }

    /// Why it shows nothing of a world that is, or is not, a grid; and what does.
    pub const fn unfit_for(self, world: Shown) -> Option<(&'static str, &'static str)> {
        let lacks = match self {
            FigureKind::ResourceTimeline | FigureKind::JobTimeline => !world.resources,
            FigureKind::Gantt => !world.processors,
            _ => false,
        };
        match (self, lacks) {
            (FigureKind::ResourceTimeline | FigureKind::JobTimeline, true) => {
                Some(("shows a grid", "gantt"))
            }
            (FigureKind::Gantt, true) => {
                Some(("shows which job held which processors", "resource-timeline"))
            }
            _ => None,
        }
    }
}

/// What there is in a run that figures can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Whether jobs hold whole processors: of providers, or of clusters with plans.
    pub processors: bool,
    /// Whether jobs share resources of a grid.
    pub resources: bool,
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

/// Image format of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ImageFormat {
    /// Pixels.
    #[default]
    Png,
    /// Lines that stay sharp at any size, for pages on screens.
    Svg,
    /// The same, for papers.
    Pdf,
}
