//! Rules for the time between checkpoints, of rigid jobs at providers and of jobs on grids.

use super::names::{Known, Names};
use super::rule::{Refusal, Words, item, refuse};
use super::{Check, SHORTEST};
use crate::file::{CheckpointRule, Checkpoints, OnFailure, Provider};
use crate::quantity::{TimeOrShare, TimeSpan};
use crate::resolve::copies;
use haggle_config::document::Path;

/// Facts about checkpoints.
struct Writing {
    /// Each takes time.
    costs: bool,
    /// The interval, the cost or the size has a wrong value.
    unknown_interval: bool,
    unknown_cost: bool,
    unknown_size: bool,
    /// The rate at which they are written, or their storage, has a wrong value.
    unknown_way: bool,
}

/// Checkpoints of jobs at providers and on grids.
#[rustfmt::skip] // a table
const CHECKPOINTS: &[Refusal<Checkpoints, Writing>] = &[
    refuse("", |it, at| it.interval.is_none() && it.rule.has_interval() && !at.unknown_interval, "checkpoints have no `interval`",
        "`interval` is missing here", "add the time between checkpoints, such as `interval = \"30min\"`"),
    refuse("interval", |it, _| it.interval.is_some() && !it.rule.has_interval(), "this rule computes the interval by itself", "not used",
        "remove it, or choose another `rule`"),
    refuse("interval", |it, _| it.interval == Some(TimeSpan::ZERO) && it.rule.has_interval(),
        "the time between checkpoints must be above zero", "no time", "write a length of time above zero, such as \"30min\""),
    refuse("interval-min", |it, at| it.rule == CheckpointRule::MeanFailure && !at.costs && shrinks(it),
        "if a checkpoint takes no time, the interval may shrink to zero", "no time",
        "write a length of time above zero, such as \"1min\", or a `cost`"),
    refuse("mtbf", |it, _| it.mtbf == Some(TimeSpan::ZERO), "nodes or resources that fail all the time complete no job", "no time",
        "write a length of time above zero, such as \"{mtbf}\""),
];

/// A rule that computes the best interval needs a cost above zero.
#[rustfmt::skip] // a table
const OPTIMA: &[Refusal<Checkpoints, Writing>] = &[
    refuse("cost", |it, at| it.rule.is_optimum() && !at.costs && !at.unknown_cost,
        "if a checkpoint takes no time, the best interval is zero", "no cost",
        "write a length of time above zero, or choose another `rule`"),
];

/// Places to which jobs at providers write checkpoints.
#[rustfmt::skip] // a table
const WAYS: &[Refusal<Checkpoints, Writing>] = &[
    refuse("size", |it, at| it.size.is_some() && it.bandwidth.is_none() && it.store.is_none() && !at.unknown_way,
        "the rate at which checkpoints are written is missing", "needs `bandwidth` or `store`",
        "add the rate of the storage, such as `bandwidth = \"10 Gbit/s\"`, or a `store` to which [network] carries them"),
    refuse("store", |it, at| it.size.is_none() && !at.unknown_size && it.store.is_some(), "the size of checkpoints is missing",
        "needs `size`", "add the data that each processor saves, such as `size = \"2 GB\"`"),
    refuse("bandwidth", |it, at| it.size.is_none() && !at.unknown_size && it.store.is_none() && it.bandwidth.is_some(),
        "the size of checkpoints is missing", "needs `size`", "add the data that each processor saves, such as `size = \"2 GB\"`"),
    refuse("bandwidth", |it, _| it.bandwidth.is_some() && it.store.is_some(), "checkpoints with a `store` go there over the network",
        "a second rate", "remove it: `bandwidth` of [network], or of a [[network.link]], is the rate; or remove `store`"),
];

/// Jobs can resume from checkpoints only if they write some; the fact is true if the value has a stand-in.
#[rustfmt::skip] // a table
const RESUMING: &[Refusal<Provider, bool>] = &[
    refuse("on-failure", |it, &unknown| it.checkpoints.is_none() && it.on_failure == Some(OnFailure::Resume) && !unknown,
        "jobs cannot continue from checkpoints that they never write", "needs checkpoints",
        "add the time between them, such as `checkpoints = { interval = \"1h\", cost = \"1min\" }`"),
];

/// True if the interval of a rule may become shorter than any event may recur.
fn shrinks(it: &Checkpoints) -> bool {
    match it.interval_min {
        TimeOrShare::Time(time) => time < SHORTEST,
        TimeOrShare::Share(share) => share.fraction() == 0.0,
    }
}

impl Check<'_> {
    /// Checks the checkpoints of providers.
    pub(super) fn check_resuming(&mut self, names: &Names) {
        for (index, provider) in self.scenario.providers.iter().enumerate() {
            let path = item("provider", index);
            let at = path.key("checkpoints");
            let unknown = self.is_replaced(&at);
            self.refuse(RESUMING, &path, (provider, &unknown), &[]);
            if let Some(checkpoints) = &provider.checkpoints {
                let some = checkpoints.size.is_some_and(|size| size.0 > 0);
                let costs = checkpoints.cost.is_some_and(|cost| cost != TimeSpan::ZERO) || some;
                let writing = self.check_rule(&at, checkpoints, costs, "20d");
                self.refuse(WAYS, &at, (checkpoints, &writing), &[]);
                // A wrong size may have meant that a checkpoint takes time.
                if !writing.unknown_size {
                    self.refuse(OPTIMA, &at, (checkpoints, &writing), &[]);
                }
                self.check_store(&at, checkpoints, provider, names);
            }
        }
    }

    /// A storage for checkpoints must be a place of data other than the provider itself.
    fn check_store(
        &mut self,
        at: &Path,
        checkpoints: &Checkpoints,
        provider: &Provider,
        names: &Names,
    ) {
        let at = at.key("store");
        let Some(store) = checkpoints.store.as_ref().filter(|_| !self.is_replaced(&at)) else {
            return;
        };
        let own = copies(provider);
        if own.iter().any(|copy| copy == store.as_str()) {
            let message = format!("jobs of \"{store}\" are there already");
            let help = "name another place, or write `bandwidth` instead: the rate of the provider's storage";
            return self.report(&at, message, "the provider itself", help);
        }
        if names.is_place_of_data(store.as_str(), self.directory) {
            return;
        }
        let is_other = |place: &&str| own.iter().all(|copy| copy != place);
        let places: Known<'_> = names.places_of_data().filter(is_other).collect();
        if places.is_empty() {
            let message = format!("no place for checkpoints is called \"{store}\"");
            let help = format!("add it to the network: `stores = [\"{store}\"]` under [network]");
            self.report(&at, message, "no such place for checkpoints", help);
        } else {
            self.unknown_name(&at, "place for checkpoints", store.as_str(), &places);
        }
    }

    pub(super) fn check_grid_rule(&mut self, at: &Path, checkpoints: &Checkpoints) {
        let costs = checkpoints.cost != Some(TimeSpan::ZERO);
        let writing = self.check_rule(at, checkpoints, costs, "5h");
        self.refuse(OPTIMA, at, (checkpoints, &writing), &[]);
    }

    /// Checks the keys that a rule needs. `costs` is true if a checkpoint takes time, and `mtbf` is an example of
    /// a mean time between failures.
    fn check_rule(
        &mut self,
        at: &Path,
        checkpoints: &Checkpoints,
        costs: bool,
        mtbf: &str,
    ) -> Writing {
        let unknown = |key| self.is_replaced(&at.key(key));
        let writing = Writing {
            costs,
            unknown_interval: unknown("interval"),
            unknown_cost: unknown("cost"),
            unknown_size: unknown("size"),
            unknown_way: unknown("bandwidth") || unknown("store"),
        };
        let words: Words<'_> = &[("mtbf", &mtbf)];
        self.refuse(CHECKPOINTS, at, (checkpoints, &writing), words);
        if let Some(interval) = checkpoints.interval.filter(|_| checkpoints.rule.has_interval()) {
            self.check_recurring(&at.key("interval"), interval);
        }
        writing
    }
}
