//! All rules of one's own of a program, by their names.

use haggle_grids::workflows::Prediction;
use haggle_grids::{GridPolicy, GridPolicyRule, PredictionRule};
use haggle_scheduling::bags::OfferRule;
use haggle_scheduling::composition::{Composer, CompositionPolicy, OwnComposition};
use haggle_scheduling::own::{GridCheckpointRule, JobCheckpointRule, Kind, List, OrderRule, Own};
use haggle_scheduling::placement::{OwnPlacement, Placement};
use haggle_scheduling::queue::Order;

/// Words of the built-in rules for checkpoints.
const CHECKPOINTS: [&str; 5] = ["periodic", "last-failure", "mean-failure", "young", "daly"];

/// The rules of a program, which its scenarios can name.
///
/// ```
/// use haggle_model::Span;
/// use haggle_scenario::Rules;
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            orders: List::of(Kind::Order),
            placements: List::of(Kind::Placement),
            grid_policies: List::of(Kind::GridPolicy),
            predictions: List::of(Kind::Prediction),
            compositions: List::of(Kind::Composition),
            offers: List::of(Kind::Offers),
            grid_checkpoints: List::of(Kind::GridCheckpoints),
            job_checkpoints: List::of(Kind::JobCheckpoints),
        }
    }
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

    /// Adds an [`IntervalRule`](haggle_scheduling::checkpoints::IntervalRule): the time until the next checkpoint of a job on a grid.
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

    /// Adds an [`Every`](haggle_scheduling::checkpoints::Every): the time that a rigid job computes before each
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
