//! `[[figure]]`: what is drawn from the results.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::scenario::quantity::Metric;
use crate::scenario::quantity::{Name, PictureSize, TimeSpan};

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
    /// What "lines" has on its x axis: a sweep axis by its name; also "box" and "letter-values", which show the
    /// jobs of one run without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<Name>,
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

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// Which job held which processors when. Numbers on bars are those of jobs in the run; processors are counted from 0 at each
    /// provider; what failed is pale and hatched.
    Gantt,
    /// Share of busy processors over time.
    Utilisation,
    /// Waiting jobs over time.
    QueueLength,
    /// Which share of jobs waited at most how long.
    WaitingEcdf,
    /// Which share of jobs had at most which bounded slowdown.
    BoundedSlowdownEcdf,
    /// Which share of the jobs whose parts were got by a protocol had all of them after which time since the first try.
    AgreementEcdf,
    /// A metric as bars.
    Bars,
    /// How a metric is spread: over the replications of a sweep, or over the jobs of a run; quartiles and whiskers.
    Box,
    /// The same for many values: boxes from fourth to fourth, from eighth to eighth and so on.
    LetterValues,
    /// A metric over a sweep axis.
    Lines,
    /// What the slots of a grid's resource did when: attempts of jobs, checkpoints and outages.
    ResourceTimeline,
    /// One job of a grid across its attempts, and from which checkpoint each went on.
    JobTimeline,
    /// One workflow: which of its tasks ran where when, and when their data moved.
    WorkflowTimeline,
    /// Who said what to whom about one job: a message sequence chart.
    Sequence,
}

impl FigureKind {
    /// All of them.
    pub const ALL: [FigureKind; 14] = [
        FigureKind::Gantt,
        FigureKind::Utilisation,
        FigureKind::QueueLength,
        FigureKind::WaitingEcdf,
        FigureKind::BoundedSlowdownEcdf,
        FigureKind::AgreementEcdf,
        FigureKind::Bars,
        FigureKind::Box,
        FigureKind::LetterValues,
        FigureKind::Lines,
        FigureKind::ResourceTimeline,
        FigureKind::JobTimeline,
        FigureKind::WorkflowTimeline,
        FigureKind::Sequence,
    ];

    /// The word in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            FigureKind::Gantt => "gantt",
            FigureKind::Utilisation => "utilisation",
            FigureKind::QueueLength => "queue-length",
            FigureKind::WaitingEcdf => "waiting-ecdf",
            FigureKind::BoundedSlowdownEcdf => "bounded-slowdown-ecdf",
            FigureKind::AgreementEcdf => "agreement-ecdf",
            FigureKind::Bars => "bars",
            FigureKind::Box => "box",
            FigureKind::LetterValues => "letter-values",
            FigureKind::Lines => "lines",
            FigureKind::ResourceTimeline => "resource-timeline",
            FigureKind::JobTimeline => "job-timeline",
            FigureKind::WorkflowTimeline => "workflow-timeline",
            FigureKind::Sequence => "sequence",
        }
    }

    /// Whether it shows how values are spread.
    pub const fn shows_spread(self) -> bool {
        matches!(self, FigureKind::Box | FigureKind::LetterValues)
    }

    /// Whether it can show the runs of a sweep side by side.
    pub const fn spans_runs(self) -> bool {
        matches!(self, FigureKind::Lines | FigureKind::Bars) || self.shows_spread()
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
