//! Rules of one's own that a scenario names.

use haggle_config::document::Path;
use haggle_scheduling::own::{Kind, NoSuchRule};

use super::Scenario;
use super::file::{
    CheckpointRule, Composition, GridPolicy, Name, Order, Placement, Prediction, Told,
};

/// A rule of one's own that a scenario names: its kind, name and version.
pub type OwnRule = (Kind, &'static str, u32);

impl Scenario {
    /// Rules of one's own that the scenario names, each once, in the order of kinds and names.
    ///
    /// # Errors
    /// If the program does not have one of them.
    pub fn own_rules(&self) -> Result<Vec<OwnRule>, NoSuchRule> {
        let find = |(kind, name, _): (Kind, &Name, Path)| {
            let mut all = self.own.all();
            let found = all.find(|rule| rule.0 == kind && rule.1 == name.as_str());
            found.ok_or_else(|| NoSuchRule { kind, name: name.to_string() })
        };
        let mut found = self.names_own().into_iter().map(find).collect::<Result<Vec<_>, _>>()?;
        // Several places may name one rule.
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Names of rules of one's own, each with its kind and the place that names it.
    pub(crate) fn names_own(&self) -> Vec<(Kind, &Name, Path)> {
        let mut named = Vec::new();
        for (index, provider) in self.providers.iter().enumerate() {
            let path = Path::root().key("provider").index(index);
            let policy = path.key("policy");
            if let Some(Order::Own(name)) = provider.policy.order() {
                named.push((Kind::Order, name, policy.key("order")));
            }
            if let Some(Told::Own(name)) = provider.policy.offers().map(|it| &it.told) {
                named.push((Kind::Offers, name, policy.key("offers").key("told")));
            }
            if let Some(CheckpointRule::Own(name)) =
                provider.checkpoints.as_ref().map(|it| &it.rule)
            {
                named.push((Kind::JobCheckpoints, name, path.key("checkpoints").key("rule")));
            }
        }
        for (index, metascheduler) in self.metaschedulers.iter().enumerate() {
            let path = Path::root().key("metascheduler").index(index);
            if let Placement::Own(name) = &metascheduler.placement {
                named.push((Kind::Placement, name, path.key("placement")));
            }
            if let Some(Composition::Own(name)) = &metascheduler.composition {
                named.push((Kind::Composition, name, path.key("composition")));
            }
        }
        if let Some(grid) = &self.grid {
            let path = Path::root().key("grid");
            let policy = path.key("policy");
            match &grid.policy {
                GridPolicy::Own { own: name, .. } => {
                    named.push((Kind::GridPolicy, name, policy));
                }
                GridPolicy::BalancedWorkflow(it) => {
                    if let Prediction::Own(name) = &it.prediction {
                        named.push((Kind::Prediction, name, policy.key("prediction")));
                    }
                }
                _ => {}
            }
            if let Some(CheckpointRule::Own(name)) = grid.checkpoints.as_ref().map(|it| &it.rule) {
                named.push((Kind::GridCheckpoints, name, path.key("checkpoints").key("rule")));
            }
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use haggle_grids::GridPolicy;

    use crate::vocabulary::words;

    /// These words cannot be names of rules of one's own.
    #[test]
    fn words_of_ours_are_those_of_the_schema() {
        let of = |definition| words(definition).into_iter().map(|it| it.word).collect::<Vec<_>>();
        assert_eq!(of("GridPolicy"), GridPolicy::NAMES);
        assert_eq!(of("Told"), ["padded"]);
        assert_eq!(
            of("CheckpointRule"),
            ["periodic", "last-failure", "mean-failure", "young", "daly"]
        );
    }
}
