//! Actors: who submits to whom, who may use whom, who is linked to whom.

use super::names::Names;
use super::{Check, list};
use crate::scenario::document::Path;

impl Check<'_> {
    pub(super) fn check_actors(&mut self, names: &Names) {
        self.check_presence();
        self.check_processor_total();
        self.check_users(names);
        self.check_metaschedulers(names);
        self.check_links(names);
    }

    /// Without providers, users and workloads nothing would happen.
    fn check_presence(&mut self) {
        let scenario = self.scenario;
        let present = [
            ("provider", !scenario.providers.is_empty(), "a name and processors"),
            ("workload", !scenario.workloads.is_empty(), "a name and a log, a model or jobs"),
            ("user", !scenario.users.is_empty(), "a name, a workload and whom it submits to"),
        ];
        for (kind, present, with) in present {
            if !present {
                self.report(
                    &Path::root().key(kind),
                    format!("the scenario has no {kind}"),
                    "the scenario",
                    format!("add a [[{kind}]] with {with}"),
                );
            }
        }
    }

    /// Processors are numbered across all providers.
    fn check_processor_total(&mut self) {
        let mut total = 0_u64;
        for (index, provider) in self.scenario.providers.iter().enumerate() {
            total += u64::from(provider.processors) * u64::from(provider.count);
            if total > u64::from(u32::MAX) {
                self.report(
                    &Path::root().key("provider").index(index).key("processors"),
                    format!("all providers together have more than {} processors", u32::MAX),
                    "one too many from here on",
                    "lower `processors` or `count`".to_owned(),
                );
                return;
            }
        }
    }

    fn check_users(&mut self, names: &Names) {
        let workloads: Vec<&str> = names.workloads.iter().map(String::as_str).collect();
        let mut targets: Vec<&str> = names.providers.keys().map(String::as_str).collect();
        targets.extend(names.metaschedulers.iter().map(String::as_str));
        for (index, user) in self.scenario.users.iter().enumerate() {
            let path = Path::root().key("user").index(index);
            if !workloads.contains(&user.workload.as_str()) {
                self.unknown_name(
                    &path.key("workload"),
                    "workload",
                    user.workload.as_str(),
                    &workloads,
                );
            }
            let target = user.submits_to.as_str();
            if targets.contains(&target) {
                continue;
            }
            let path = path.key("submits-to");
            if let Some(copies) = names.groups.get(target) {
                let copies: Vec<&str> = copies.iter().map(String::as_str).collect();
                self.report(
                    &path,
                    format!(
                        "\"{target}\" stands for {} providers, a user submits to one",
                        copies.len()
                    ),
                    "which one?",
                    format!("name one of {}", list(&copies)),
                );
            } else {
                self.unknown_name(&path, "provider or metascheduler", target, &targets);
            }
        }
    }

    fn check_metaschedulers(&mut self, names: &Names) {
        let known = names.provider_list();
        for (index, metascheduler) in self.scenario.metaschedulers.iter().enumerate() {
            let path = Path::root().key("metascheduler").index(index);
            self.check_provider_list(&path.key("providers"), &metascheduler.providers, &known);
            let placement = metascheduler.placement;
            for place in names.providers_meant(&metascheduler.providers) {
                let provider = &self.scenario.providers[place];
                let disclosure = Path::root().key("provider").index(place).key("disclosure");
                let unknown = self.is_replaced(&disclosure);
                if provider.disclosure >= placement.needs() || unknown {
                    continue;
                }
                let needs = placement.needs().name();
                self.report(
                    &path.key("placement"),
                    format!(
                        "placement \"{}\" needs disclosure \"{needs}\", provider \"{}\" discloses only \"{}\"",
                        placement.name(),
                        provider.name,
                        provider.disclosure.name(),
                    ),
                    &format!("needs \"{needs}\""),
                    format!(
                        "set `disclosure = \"{needs}\"` for provider \"{}\", or choose another placement",
                        provider.name,
                    ),
                );
            }
        }
    }

    fn check_links(&mut self, names: &Names) {
        let mut actors: Vec<&str> = names.providers.keys().map(String::as_str).collect();
        actors.extend(names.metaschedulers.iter().chain(&names.users).map(String::as_str));
        for (index, link) in self.scenario.network.links.iter().enumerate() {
            let path = Path::root().key("network").key("link").index(index).key("between");
            for (end, actor) in link.between.iter().enumerate() {
                if !actors.contains(&actor.as_str()) {
                    self.unknown_name(&path.index(end), "actor", actor.as_str(), &actors);
                }
            }
            if link.between[0] == link.between[1] {
                self.report(
                    &path,
                    format!("a link joins \"{}\" to itself", link.between[0]),
                    "the same actor twice",
                    "name two actors".to_owned(),
                );
            }
        }
    }
}
