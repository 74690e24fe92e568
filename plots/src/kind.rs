//! Kinds of figures: what each is called, which keys of a scenario it uses, what it needs of a run, and how it is read.

use haggle_results::metrics::named::Unit;
use haggle_results::{ResourceRow, ResultsError};

use crate::ask::Ask;
use crate::distribution::{self, Quantity};
use crate::error::PlotError;
use crate::load::Tables;
use crate::timeline::{self, Shows};
use crate::{Figure, gantt, job_timeline, resource_timeline, sequence, workflow_timeline};

haggle_model::words! {
    /// What is drawn.
    pub enum FigureKind {
        /// Which job held which processors when. Numbers on bars are those of jobs in their workload (`labels`); processors are counted
        /// from 0 at each provider; what failed is pale and hatched.
        Gantt = "gantt",
        /// Share of busy processors over time.
        Utilisation = "utilisation",
        /// Waiting jobs over time.
        QueueLength = "queue-length",
        /// Which share of jobs waited at most how long.
        WaitingEcdf = "waiting-ecdf",
        /// Which share of jobs had at most which bounded slowdown.
        BoundedSlowdownEcdf = "bounded-slowdown-ecdf",
        /// Which share of the jobs whose parts were asked for by a protocol had all of them after which time since the first try.
        AgreementEcdf = "agreement-ecdf",
        /// A metric as bars.
        Bars = "bars",
        /// Metrics that add up to a whole, such as shares of work, as parts of bars that stand on one another.
        StackedBars = "stacked-bars",
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
            FigureKind::StackedBars => &["metrics"],
            FigureKind::Lines => &["metric", "x"],
            _ => &[],
        }
    }

    /// The keys that it uses besides those that all kinds use. What is measured is drawn from summaries, which are
    /// those of whole runs, so it has no time.
    const fn keys(self) -> &'static [&'static str] {
        match self {
            FigureKind::Gantt => {
                &["legend", "labels", "jobs", "group-by", "providers", "dates", "from", "until"]
            }
            FigureKind::Utilisation | FigureKind::QueueLength => {
                &["legend", "providers", "dates", "from", "until"]
            }
            FigureKind::WaitingEcdf | FigureKind::BoundedSlowdownEcdf => &[
                "legend",
                "x-range",
                "y-range",
                "complement",
                "group-by",
                "providers",
                "from",
                "until",
            ],
            // Its curves are those of metaschedulers.
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
            // They show whoever has to do with the job.
            FigureKind::JobTimeline => &["legend", "job", "from", "until"],
            FigureKind::Sequence => &["job", "from", "until"],
        }
    }

    /// True if it uses a key that not every kind uses.
    pub fn uses(self, key: &str) -> bool {
        self.keys().contains(&key)
    }

    /// True if it shows metrics, and so can show the runs of a sweep side by side.
    pub fn measures(self) -> bool {
        self.uses("metric") || self.uses("metrics")
    }

    /// True if it shows how values are spread.
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

    /// What its curves are of, if it shows distribution functions.
    const fn quantity(self) -> Option<Quantity> {
        match self {
            FigureKind::WaitingEcdf => Some(Quantity::WaitingTime),
            FigureKind::BoundedSlowdownEcdf => Some(Quantity::BoundedSlowdown),
            FigureKind::AgreementEcdf => Some(Quantity::TimeToAgreement),
            _ => None,
        }
    }

    /// In what the ends of its x axis are, if they can be chosen.
    pub const fn x_unit(self) -> Option<Unit> {
        match self.quantity() {
            Some(Quantity::WaitingTime | Quantity::TimeToAgreement) => Some(Unit::Seconds),
            Some(Quantity::BoundedSlowdown) => Some(Unit::Number),
            None => None,
        }
    }

    /// The figure of this kind of a run; `None` if it shows a metric, which no table has.
    ///
    /// # Errors
    /// If the results cannot be read, or it cannot show what it is asked for.
    pub fn read(self, run: &Tables, ask: &Ask) -> Result<Option<Figure>, PlotError> {
        self.suits(run)?;
        let figure = match self {
            FigureKind::Gantt => gantt::asked(run, ask)?,
            FigureKind::Utilisation => timeline::asked(run, ask, Shows::Utilisation)?,
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

    /// The kinds that show several runs at once, in words.
    pub fn comparing() -> String {
        let able = FigureKind::ALL.into_iter().filter(|it| it.compares());
        let able = Vec::from_iter(able.map(FigureKind::name));
        let (last, others) = able.split_last().expect("some can");
        format!("{} or {last}", others.join(", "))
    }

    /// The figure of this kind that compares runs, each under its name.
    ///
    /// # Errors
    /// If the results cannot be read, or it compares none.
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

    /// True if it shows anything of the run of a grid, or of providers.
    fn suits(self, run: &Tables) -> Result<(), PlotError> {
        // Most kinds are of any run, also of one of which no table was kept.
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

/// What there is in a run that figures can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// True if jobs hold whole processors: of providers, or of clusters with plans.
    pub processors: bool,
    /// True if jobs share resources of a grid.
    pub resources: bool,
}

impl Shown {
    /// What there is in a run.
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
