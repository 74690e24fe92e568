//! Rules for the time between checkpoints, of rigid jobs at providers and of jobs on grids.

use haggle_model::Span;

use super::names::{Known, Names};
use super::{Check, SHORTEST};
use crate::file::{CheckpointRule, Checkpoints, OnFailure, Provider};
use crate::quantity::{TimeOrShare, TimeSpan};
use crate::resolve::copies;
use haggle_config::document::Path;

impl Check<'_> {
    /// Jobs can resume from checkpoints only if they write some.
    pub(super) fn check_resuming(&mut self, names: &Names) {
        for (index, provider) in self.scenario.providers.iter().enumerate() {
            let path = Path::root().key("provider").index(index);
            let at = path.key("checkpoints");
            match &provider.checkpoints {
                None if provider.on_failure == Some(OnFailure::Resume)
                    && !self.is_replaced(&at) =>
                {
                    self.report(
                        &path.key("on-failure"),
                        "jobs cannot continue from checkpoints that they never write".to_owned(),
                        "needs checkpoints",
                        "add the time between them, such as \
                         `checkpoints = { interval = \"1h\", cost = \"1min\" }`"
                            .to_owned(),
                    );
                }
                Some(checkpoints) => {
                    self.check_job_rule(&at, checkpoints);
                    self.check_store(&at, checkpoints, provider, names);
                }
                None => {}
            }
        }
    }

    fn check_job_rule(&mut self, at: &Path, checkpoints: &Checkpoints) {
        let some = checkpoints.size.is_some_and(|size| size.0 > 0);
        let costs = checkpoints.cost.is_some_and(|cost| cost != TimeSpan::ZERO) || some;
        self.check_rule(at, checkpoints, costs, "20d");
        if checkpoints.rule.is_optimum() && !some && !self.is_replaced(&at.key("size")) {
            self.check_optimum(at, checkpoints.cost.or(Some(TimeSpan::ZERO)));
        }
        let [size, bandwidth, store] = ["size", "bandwidth", "store"].map(|key| at.key(key));
        let goes = checkpoints.bandwidth.is_some() || checkpoints.store.is_some();
        // A wrong value may have been the missing key.
        let may_go = goes || self.is_replaced(&bandwidth) || self.is_replaced(&store);
        if checkpoints.size.is_some() && !may_go {
            self.report(
                &size,
                "the rate at which checkpoints are written is missing".to_owned(),
                "needs `bandwidth` or `store`",
                "add the rate of the storage, such as `bandwidth = \"10 Gbit/s\"`, or a `store` to which \
                 [network] carries them"
                    .to_owned(),
            );
        }
        if goes && checkpoints.size.is_none() && !self.is_replaced(&size) {
            self.report(
                if checkpoints.store.is_some() { &store } else { &bandwidth },
                "the size of checkpoints is missing".to_owned(),
                "needs `size`",
                "add the data that each processor saves, such as `size = \"2 GB\"`".to_owned(),
            );
        }
        if checkpoints.bandwidth.is_some() && checkpoints.store.is_some() {
            self.report(
                &bandwidth,
                "checkpoints with a `store` go there over the network".to_owned(),
                "a second rate",
                "remove it: `bandwidth` of [network], or of a [[network.link]], is the rate; or \
                 remove `store`"
                    .to_owned(),
            );
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
            self.report(
                &at,
                format!("jobs of \"{store}\" are there already"),
                "the provider itself",
                "name another place, or write `bandwidth` instead: the rate of the provider's \
                 storage"
                    .to_owned(),
            );
            return;
        }
        if names.is_place_of_data(store.as_str(), self.directory) {
            return;
        }
        let is_other = |place: &&str| own.iter().all(|copy| copy != place);
        let places: Known<'_> = names.places_of_data().filter(is_other).collect();
        if places.is_empty() {
            self.report(
                &at,
                format!("no place for checkpoints is called \"{store}\""),
                "no such place for checkpoints",
                format!("add it to the network: `stores = [\"{store}\"]` under [network]"),
            );
        } else {
            self.unknown_name(&at, "place for checkpoints", store.as_str(), &places);
        }
    }

    pub(super) fn check_grid_rule(&mut self, at: &Path, checkpoints: &Checkpoints) {
        let costs = checkpoints.cost != Some(TimeSpan::ZERO);
        self.check_rule(at, checkpoints, costs, "5h");
        if checkpoints.rule.is_optimum() {
            self.check_optimum(at, checkpoints.cost);
        }
    }

    /// Checks the keys that a rule needs. `costs` is true if a checkpoint takes time, and `mtbf` is an example of
    /// a mean time between failures.
    fn check_rule(&mut self, at: &Path, checkpoints: &Checkpoints, costs: bool, mtbf: &str) {
        self.check_interval(at, checkpoints.interval, !checkpoints.rule.has_interval());
        let shrinks = match checkpoints.interval_min {
            TimeOrShare::Time(time) => time < SHORTEST,
            TimeOrShare::Share(share) => share.fraction() == 0.0,
        };
        if checkpoints.rule == CheckpointRule::MeanFailure && !costs && shrinks {
            self.report(
                &at.key("interval-min"),
                "if a checkpoint takes no time, the interval may shrink to zero".to_owned(),
                "no time",
                "write a length of time above zero, such as \"1min\", or a `cost`".to_owned(),
            );
        }
        if checkpoints.mtbf == Some(TimeSpan::ZERO) {
            self.report(
                &at.key("mtbf"),
                "nodes or resources that fail all the time complete no job".to_owned(),
                "no time",
                format!("write a length of time above zero, such as \"{mtbf}\""),
            );
        }
    }

    /// An interval must be written, unless the rule computes it.
    fn check_interval(&mut self, at: &Path, written: Option<TimeSpan>, computed: bool) {
        let interval = at.key("interval");
        match written {
            None if !computed && !self.is_replaced(&interval) => self.report(
                at,
                "checkpoints have no `interval`".to_owned(),
                "`interval` is missing here",
                "add the time between checkpoints, such as `interval = \"30min\"`".to_owned(),
            ),
            Some(_) if computed => self.report(
                &interval,
                "this rule computes the interval by itself".to_owned(),
                "not used",
                "remove it, or choose another `rule`".to_owned(),
            ),
            Some(TimeSpan(Span::ZERO)) => self.report(
                &interval,
                "the time between checkpoints must be above zero".to_owned(),
                "no time",
                "write a length of time above zero, such as \"30min\"".to_owned(),
            ),
            Some(time) => self.check_recurring(&interval, time),
            None => {}
        }
    }

    /// A rule that computes the best interval needs a cost above zero.
    fn check_optimum(&mut self, at: &Path, cost: Option<TimeSpan>) {
        if cost == Some(TimeSpan::ZERO) && !self.is_replaced(&at.key("cost")) {
            self.report(
                &at.key("cost"),
                "if a checkpoint takes no time, the best interval is zero".to_owned(),
                "no cost",
                "write a length of time above zero, or choose another `rule`".to_owned(),
            );
        }
    }
}
