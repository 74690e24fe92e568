//! All rules of one's own of a program, by their names.

use std::fmt;

use haggle_model::Span;

use super::Own;
use crate::bags::OfferRule;
use crate::checkpoints::JobSituation;
use crate::checkpoints::Situation;
use crate::composition::{Composer, CompositionPolicy, OwnComposition};
use crate::grid::workflows::Prediction;
use crate::grid::workflows::prediction::Predictor;
use crate::grid::{GridPolicy, GridScheduler};
use crate::placement::{OwnPlacement, Placement};
use crate::queue::Order;
use crate::scheduler::Request;

/// An order of a queue, from a request and the time to plan with: the job with the smallest result is
/// first. The rule is called once, when the job is queued.
pub type OrderRule = fn(&Request, Span) -> i64;

/// Creates the scheduler of a grid, see [`GridPolicy::Own`].
pub type GridPolicyRule = fn(u32) -> Box<dyn GridScheduler>;

/// Creates a predictor of the lengths of tasks, see [`Prediction::Own`].
pub type PredictionRule = fn() -> Box<dyn Predictor>;

/// The time between checkpoints on a grid, see [`IntervalRule::Own`](crate::checkpoints::IntervalRule::Own).
pub type GridCheckpointRule = fn(&Situation) -> Span;

/// The time between checkpoints of a rigid job, see [`Every::Own`](crate::checkpoints::Every::Own).
pub type JobCheckpointRule = fn(&JobSituation) -> Span;

/// Words of the built-in rules for checkpoints.
const CHECKPOINTS: [&str; 5] = ["periodic", "last-failure", "mean-failure", "young", "daly"];

/// The rules of a program, which its scenarios can name.
///
/// ```
/// use haggle_model::Span;
/// use haggle_scheduling::own::Rules;
/// use haggle_scheduling::{Order, Request};
///
/// /// Smallest area first: processors × requested time.
/// fn area(request: &Request, span: Span) -> i64 {
///     i64::from(request.processors).saturating_mul(span.as_micros())
/// }
///
/// let rules = Rules::new().order("smallest-area", 1, area);
/// assert_eq!(rules.orders.get("smallest-area")?.version, 1);
/// let error = rules.orders.get("smallest").unwrap_err();
/// assert_eq!(error.to_string(), "there is no order of one's own called \"smallest\"");
/// # Ok::<(), haggle_scheduling::own::NoSuchRule>(())
/// ```
///
/// Each method takes the name of a rule, its version and the rule. A name has letters, digits, `-` and `_`.
/// It must differ from other rules of the kind and from haggle's words for the kind. The version must be
/// incremented whenever the rule decides differently: runs of another version do not count as the same.
///
/// # Panics
/// All methods, if the name is not allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Orders of queues.
    pub orders: List<OrderRule>,
    /// Placements of rigid jobs.
    pub placements: List<OwnPlacement>,
    /// Schedulers of grids.
    pub grid_policies: List<GridPolicyRule>,
    /// Predictions of the lengths of tasks.
    pub predictions: List<PredictionRule>,
    /// Compositions of bags.
    pub compositions: List<OwnComposition>,
    /// Rules for the disclosure of providers' offers.
    pub offers: List<OfferRule>,
    /// Times between checkpoints on grids.
    pub grid_checkpoints: List<GridCheckpointRule>,
    /// Times between checkpoints of rigid jobs.
    pub job_checkpoints: List<JobCheckpointRule>,
}

/// Purpose of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An order of queues.
    Order,
    /// A placement of rigid jobs.
    Placement,
    /// A scheduler of grids.
    GridPolicy,
    /// A prediction of the lengths of tasks.
    Prediction,
    /// A composition of bags.
    Composition,
    /// A rule for the disclosure of a provider's offers.
    Offers,
    /// The time between checkpoints on a grid.
    GridCheckpoints,
    /// The time between checkpoints of rigid jobs.
    JobCheckpoints,
}

/// Rules of one kind.
#[derive(Clone, Debug)]
pub struct List<T> {
    kind: Kind,
    rules: Vec<Own<T>>,
}

/// A scenario names a rule that the program does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchRule {
    /// Purpose of the rule.
    pub kind: Kind,
    /// Name of the rule.
    pub name: String,
}

impl Rules {
    /// No rules.
    pub fn new() -> Rules {
        Rules::default()
    }

    /// Adds an [`Order`]: the waiting job with the smallest result is first.
    #[track_caller]
    pub fn order(mut self, name: &'static str, version: u32, rule: OrderRule) -> Rules {
        self.orders.add(Own { name, version, rule }, &Order::WORDS);
        self
    }

    /// Adds a [`Placement`].
    #[track_caller]
    pub fn placement(mut self, name: &'static str, version: u32, rule: OwnPlacement) -> Rules {
        self.placements.add(Own { name, version, rule }, &Placement::WORDS);
        self
    }

    /// Adds a [`GridPolicy`]: creates the scheduler for a number of resources.
    #[track_caller]
    pub fn grid_policy(mut self, name: &'static str, version: u32, rule: GridPolicyRule) -> Rules {
        self.grid_policies.add(Own { name, version, rule }, &GridPolicy::NAMES);
        self
    }

    /// Adds a prediction of the lengths of running tasks.
    #[track_caller]
    pub fn prediction(mut self, name: &'static str, version: u32, rule: PredictionRule) -> Rules {
        self.predictions.add(Own { name, version, rule }, &Prediction::WORDS);
        self
    }

    /// Adds a [`CompositionPolicy`]: the [`Composer`] of this type.
    #[track_caller]
    pub fn composition<C: Composer + Default>(mut self, name: &'static str, version: u32) -> Rules {
        let rule = OwnComposition::of::<C>();
        self.compositions.add(Own { name, version, rule }, &CompositionPolicy::WORDS);
        self
    }

    /// Adds a rule for the disclosure of planned offers, see [`OfferRule`].
    #[track_caller]
    pub fn offers(mut self, name: &'static str, version: u32, rule: OfferRule) -> Rules {
        self.offers.add(Own { name, version, rule }, &["padded"]);
        self
    }

    /// Adds an [`IntervalRule`](crate::checkpoints::IntervalRule): the time until the next checkpoint of a job on a grid.
    #[track_caller]
    pub fn grid_checkpoints(
        mut self,
        name: &'static str,
        version: u32,
        rule: GridCheckpointRule,
    ) -> Rules {
        self.grid_checkpoints.add(Own { name, version, rule }, &CHECKPOINTS);
        self
    }

    /// Adds an [`Every`](crate::checkpoints::Every): the time that a rigid job computes before each
    /// checkpoint.
    #[track_caller]
    pub fn job_checkpoints(
        mut self,
        name: &'static str,
        version: u32,
        rule: JobCheckpointRule,
    ) -> Rules {
        self.job_checkpoints.add(Own { name, version, rule }, &CHECKPOINTS);
        self
    }

    /// Returns whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    /// All rules: purpose, name and version.
    pub fn all(&self) -> impl Iterator<Item = (Kind, &'static str, u32)> {
        let lists = self.orders.all().chain(self.placements.all());
        let lists = lists.chain(self.grid_policies.all()).chain(self.predictions.all());
        let lists = lists.chain(self.compositions.all()).chain(self.offers.all());
        lists.chain(self.grid_checkpoints.all()).chain(self.job_checkpoints.all())
    }
}

impl<T: Copy> List<T> {
    /// The rule of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn get(&self, name: &str) -> Result<Own<T>, NoSuchRule> {
        let found = self.rules.iter().find(|own| own.name == name);
        found.copied().ok_or_else(|| NoSuchRule { kind: self.kind, name: name.to_owned() })
    }
}

impl<T> List<T> {
    const fn of(kind: Kind) -> List<T> {
        List { kind, rules: Vec::new() }
    }

    /// Purpose, name and version of each rule.
    pub fn all(&self) -> impl Iterator<Item = (Kind, &'static str, u32)> {
        self.rules.iter().map(|own| (self.kind, own.name, own.version))
    }

    #[track_caller]
    fn add(&mut self, own: Own<T>, ours: &[&str]) {
        let (kind, name) = (self.kind, own.name);
        let allowed = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        assert!(
            !name.is_empty() && name.chars().all(allowed),
            "`{name}` cannot be the name of a rule: use letters, digits, `-` and `_`"
        );
        assert!(
            !ours.contains(&name),
            "\"{name}\" is a word of haggle's: give the {kind} another name"
        );
        let taken = self.rules.iter().any(|other| other.name == name);
        assert!(!taken, "\"{name}\" is there twice: give each {kind} a name of its own");
        self.rules.push(own);
    }
}

impl<T> PartialEq for List<T> {
    fn eq(&self, other: &List<T>) -> bool {
        self.kind == other.kind && self.rules == other.rules
    }
}

impl<T> Eq for List<T> {}

/// None of each kind.
macro_rules! none_of {
    ($($rule:ty => $kind:ident,)*) => {
        $(impl Default for List<$rule> {
            fn default() -> List<$rule> {
                List::of(Kind::$kind)
            }
        })*
    };
}

none_of! {
    OrderRule => Order,
    OwnPlacement => Placement,
    GridPolicyRule => GridPolicy,
    PredictionRule => Prediction,
    OwnComposition => Composition,
    OfferRule => Offers,
    GridCheckpointRule => GridCheckpoints,
    JobCheckpointRule => JobCheckpoints,
}

impl Kind {
    /// The purpose in words, such as `grid policy`.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Order => "order",
            Kind::Placement => "placement",
            Kind::GridPolicy => "grid policy",
            Kind::Prediction => "prediction",
            Kind::Composition => "composition",
            Kind::Offers => "offer rule",
            Kind::GridCheckpoints => "checkpoint rule of a grid",
            Kind::JobCheckpoints => "checkpoint rule of a provider",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for NoSuchRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no {} of one's own called \"{}\"", self.kind, self.name)
    }
}

impl std::error::Error for NoSuchRule {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "give the order another name")]
    fn words_of_ours_are_taken() {
        let _ = Rules::new().order("key", 1, |request, _| request.key);
    }

    #[test]
    #[should_panic(expected = "\"wide\" is there twice")]
    fn each_has_a_name_of_its_own() {
        let wide: OrderRule = |request, _| -i64::from(request.processors);
        let _ = Rules::new().order("wide", 1, wide).order("wide", 2, wide);
    }
}
