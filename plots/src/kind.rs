//! Kinds of figures: the name of each, the keys of a scenario that it uses, its requirements, and how
//! it is read.

use haggle_results::metrics::named::Unit;
use haggle_results::{ResourceRow, ResultsError};

use crate::ask::Ask;
use crate::distribution::{self, Quantity};
use crate::error::PlotError;
use crate::load::Tables;
use crate::timeline::{self, Shows};
use crate::{
    Figure, gantt, job_timeline, resource_timeline, sequence, usage_shares, workflow_timeline,
};

haggle_model::words! {
    /// Kind of a figure.
    pub enum FigureKind {
        /// Jobs on processors over time. Numbers on bars are those of jobs in their workload
        /// (`labels`). Processors are counted from 0 at each provider; a provider that places jobs on
        /// nodes has their names and borders. Failed attempts are pale and
        /// hatched.
        Gantt = "gantt",
        /// Share of busy processors over time.
        Utilisation = "utilisation",
        /// Shares of processors, memory and accelerators in use over time, at providers that place jobs
        /// on nodes.
        NodeUtilisation = "node-utilisation",
        /// Share of each account or user in the usage so far, over time, and its target share as a
        /// dashed line. Usage is processor-seconds, which count half after the provider's `half-life`.
        UsageShares = "usage-shares",
        /// Waiting jobs over time.
        QueueLength = "queue-length",
        /// Share of jobs with at most this waiting time.
        WaitingEcdf = "waiting-ecdf",
        /// Share of jobs with at most this bounded slowdown.
        BoundedSlowdownEcdf = "bounded-slowdown-ecdf",
        /// Share of jobs whose parts were all agreed on within this time since the first try, of all
        /// jobs whose parts were requested by a protocol.
        AgreementEcdf = "agreement-ecdf",
        /// A metric as bars.
        Bars = "bars",
        /// Metrics that add up to a whole, such as shares of work, as stacked bars.
        StackedBars = "stacked-bars",
        /// Distribution of a metric over the replications of a sweep, or over the jobs of a run:
        /// quartiles and whiskers.
        Box = "box",
        /// As box, for many values: boxes between the fourths, the eighths and so on.
        LetterValues = "letter-values",
        /// A metric over a sweep axis.
        Lines = "lines",
        /// Slots of a grid's resource over time: attempts of jobs, checkpoints and outages.
        ResourceTimeline = "resource-timeline",
        /// One job of a grid across its attempts, with the checkpoint from which each continued.
        JobTimeline = "job-timeline",
        /// One workflow over time: places of its tasks, and transfers of their data.
        WorkflowTimeline = "workflow-timeline",
        /// Messages between actors about one job: a message sequence chart.
        Sequence = "sequence",
    }
}

impl FigureKind {
    /// The keys that it requires.
    pub const fn needed_keys(self) -> &'static [&'static str] {
        match self {
            FigureKind::Bars | FigureKind::Box | FigureKind::LetterValues => &["metric"],
            FigureKind::StackedBars => &["metrics"],
            FigureKind::Lines => &["metric", "x"],
            _ => &[],
        }
    }

    /// The keys that it uses besides those of all kinds. Kinds that show metrics have no `from` and
    /// `until`, because summaries are those of whole runs.
    const fn keys(self) -> &'static [&'static str] {
        match self {
            FigureKind::Gantt => {
                &["legend", "labels", "jobs", "group-by", "providers", "dates", "from", "until"]
            }
            FigureKind::UsageShares => {
                &["legend", "group-by", "providers", "dates", "from", "until"]
            }
            FigureKind::Utilisation | FigureKind::NodeUtilisation | FigureKind::QueueLength => {
                &["legend", "providers", "dates", "from", "until"]
            }
            FigureKind::WaitingEcdf | FigureKind::BoundedSlowdownEcdf => &[
                "legend",
                "x-range",
                "y-range",
                "complement",
                "recorded",
                "group-by",
                "providers",
                "from",
                "until",
            ],
            // The curves are those of metaschedulers, so the figure has no providers.
            FigureKind::AgreementEcdf => {
                &["legend", "x-range", "y-range", "complement", "from", "until"]
            }
            FigureKind::Bars => &[
                "legend",
                "metric",
                "label",
                "scale",
                "x",
                "y-scale",
                "y-range",
                "group-by",
                "providers",
                "against",
            ],
            FigureKind::StackedBars => {
                &["legend", "metrics", "label", "scale", "x", "y-range", "group-by", "providers"]
            }
            FigureKind::Box => &[
                "legend",
                "metric",
                "label",
                "scale",
                "x",
                "y-range",
                "whiskers",
                "group-by",
                "providers",
                "against",
            ],
            FigureKind::LetterValues => &[
                "legend",
                "metric",
                "label",
                "scale",
                "x",
                "y-range",
                "group-by",
                "providers",
                "against",
            ],
            FigureKind::Lines => &[
                "legend",
                "metric",
                "label",
                "scale",
                "x",
                "x-scale",
                "y-scale",
                "y-range",
                "group-by",
                "providers",
                "against",
            ],
            FigureKind::ResourceTimeline => &["legend", "providers", "from", "until"],
            FigureKind::WorkflowTimeline => &["legend", "job", "providers", "from", "until"],
            // The figure shows all actors that deal with the job.
            FigureKind::JobTimeline => &["legend", "job", "from", "until"],
            FigureKind::Sequence => &["job", "from", "until"],
        }
    }

    /// True if it uses this key, which not every kind uses.
    pub fn uses(self, key: &str) -> bool {
        self.keys().contains(&key)
    }

    /// True if it shows metrics, and so can show the runs of a sweep side by side.
    pub fn measures(self) -> bool {
        self.uses("metric") || self.uses("metrics")
    }

    /// The words for groups of jobs that it can show, besides axes of a sweep. `over_axis` is true if it shows a
    /// metric over such an axis, which is in summaries only.
    pub fn groups(self, over_axis: bool) -> &'static [&'static str] {
        match self {
            FigureKind::UsageShares => &["account", "user"],
            FigureKind::Gantt => {
                &["provider", "user", "class", "workload", "queue", "account", "job"]
            }
            _ if self.is_ecdf() || (self.shows_spread() && !over_axis) => {
                &["provider", "user", "class", "workload", "queue", "account"]
            }
            _ => &["provider", "user", "class", "workload"],
        }
    }

    /// True if it shows distributions of values.
    pub const fn shows_spread(self) -> bool {
        matches!(self, FigureKind::Box | FigureKind::LetterValues)
    }

    /// True if it shows distribution functions.
    pub fn is_ecdf(self) -> bool {
        self.uses("complement")
    }

    /// True if it is drawn from every message of a run.
    pub const fn needs_messages(self) -> bool {
        matches!(self, FigureKind::Sequence)
    }

    /// True if it is drawn from transactions on parts of jobs.
    pub const fn needs_transactions(self) -> bool {
        matches!(self, FigureKind::AgreementEcdf)
    }

    /// The reason why it is unsuitable for this content of a run, and a suitable kind.
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
                Some(("shows the processors held by each job", "resource-timeline"))
            }
            _ => None,
        }
    }

    /// The quantity of its curves, if it shows distribution functions.
    const fn quantity(self) -> Option<Quantity> {
        match self {
            FigureKind::WaitingEcdf => Some(Quantity::WaitingTime),
            FigureKind::BoundedSlowdownEcdf => Some(Quantity::BoundedSlowdown),
            FigureKind::AgreementEcdf => Some(Quantity::TimeToAgreement),
            _ => None,
        }
    }

    /// Unit of the ends of its x axis, if they can be chosen.
    pub const fn x_unit(self) -> Option<Unit> {
        match self.quantity() {
            Some(Quantity::WaitingTime | Quantity::TimeToAgreement) => Some(Unit::Seconds),
            Some(Quantity::BoundedSlowdown) => Some(Unit::Number),
            None => None,
        }
    }

    /// The figure of this kind for a run; `None` if it shows a metric, which is in no table.
    ///
    /// # Errors
    /// If the results cannot be read, or do not contain the requested data.
    pub fn read(self, run: &Tables, ask: &Ask) -> Result<Option<Figure>, PlotError> {
        self.suits(run)?;
        let figure = match self {
            FigureKind::Gantt => gantt::asked(run, ask)?,
            FigureKind::Utilisation => timeline::asked(run, ask, Shows::Utilisation)?,
            FigureKind::NodeUtilisation => timeline::of_nodes(run, ask)?,
            FigureKind::UsageShares => usage_shares::asked(run, ask)?,
            FigureKind::QueueLength => timeline::asked(run, ask, Shows::Queue)?,
            FigureKind::WaitingEcdf => distribution::asked(run, ask, Quantity::WaitingTime)?,
            FigureKind::BoundedSlowdownEcdf => {
                distribution::asked(run, ask, Quantity::BoundedSlowdown)?
            }
            FigureKind::AgreementEcdf => distribution::asked(run, ask, Quantity::TimeToAgreement)?,
            FigureKind::ResourceTimeline => resource_timeline::asked(run, ask)?,
            FigureKind::JobTimeline => job_timeline::asked(run, ask)?,
            FigureKind::WorkflowTimeline => workflow_timeline::asked(run, ask)?,
            FigureKind::Sequence => sequence::asked(run, ask)?,
            FigureKind::Bars
            | FigureKind::StackedBars
            | FigureKind::Box
            | FigureKind::LetterValues
            | FigureKind::Lines => return Ok(None),
        };
        Ok(Some(figure))
    }

    /// True if it shows several runs at once.
    pub const fn compares(self) -> bool {
        let over_time =
            matches!(self, FigureKind::Gantt | FigureKind::Utilisation | FigureKind::QueueLength);
        over_time || self.quantity().is_some()
    }

    /// The names of the kinds that show several runs at once.
    pub fn comparing() -> String {
        let able = FigureKind::ALL.into_iter().filter(|it| it.compares());
        let able = Vec::from_iter(able.map(FigureKind::name));
        let (last, others) = able.split_last().expect("some can");
        format!("{} or {last}", others.join(", "))
    }

    /// The figure of this kind that compares runs, each under its name.
    ///
    /// # Errors
    /// If the results cannot be read, or this kind does not compare runs.
    pub fn compare(self, runs: &[(String, Tables)], ask: &Ask) -> Result<Figure, PlotError> {
        for (_, run) in runs {
            self.suits(run)?;
        }
        match self {
            FigureKind::Gantt => gantt::compared(runs, ask),
            FigureKind::Utilisation => timeline::compared(runs, ask, Shows::Utilisation),
            FigureKind::QueueLength => timeline::compared(runs, ask, Shows::Queue),
            _ => match self.quantity() {
                Some(quantity) => distribution::compared(runs, ask, quantity),
                None => Err(PlotError::Unsuitable(format!(
                    "\"{}\" cannot show several runs: use {}",
                    self.name(),
                    FigureKind::comparing()
                ))),
            },
        }
    }

    /// Refuses a run whose content does not suit this kind.
    fn suits(self, run: &Tables) -> Result<(), PlotError> {
        // Most kinds suit any run, even one without tables.
        const NOTHING: Shown = Shown { processors: false, resources: false };
        if self.unfit_for(NOTHING).is_none() {
            return Ok(());
        }
        let shown = Shown::of(run)?;
        let Some((shows, instead)) = self.unfit_for(shown) else { return Ok(()) };
        let world = match shown.resources {
            true => "jobs of a grid share theirs",
            false => "this run has none",
        };
        let kind = self.name();
        Err(PlotError::Unsuitable(format!("\"{kind}\" {shows}, and {world}: use \"{instead}\"")))
    }
}

/// Content of a run that figures can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// True if jobs hold whole processors, of providers or of clusters with plans.
    pub processors: bool,
    /// True if jobs share resources of a grid.
    pub resources: bool,
}

impl Shown {
    /// The content of a run.
    ///
    /// # Errors
    /// If the results cannot be read.
    pub fn of(run: &Tables) -> Result<Shown, ResultsError> {
        let places = run.resources()?;
        Ok(Shown {
            processors: places.iter().any(|it| !it.is_shared()),
            resources: places.iter().any(ResourceRow::is_shared),
        })
    }
}
