//! Actors: the targets of users, the providers of metaschedulers, and the ends of links.

use super::exclusions::{MOLDING, OFFERING, ROLES, USING_GRID};
use super::names::{Known, Names};
use super::rule::{Refusal, Words, item, refuse};
use super::{Check, list};
use crate::file::{AsksFor, Estimates, Link, Metascheduler, Provider, Role, Scenario};
use crate::quantity::TimeSpan;
use haggle_config::document::Path;

/// A scenario needs providers (or a grid or plans), users and workloads: nothing would happen without them.
#[rustfmt::skip] // a table
const PRESENCE: &[Refusal<Scenario>] = &[
    refuse("provider", |it, ()| it.providers.is_empty() && it.grid.is_none() && it.plans.is_none(), "the scenario has no provider",
        "the scenario", "add a [[provider]] with a name and processors, or a [grid]"),
    refuse("workload", |it, ()| it.workloads.is_empty() && it.start_state_owners().next().is_none(), "the scenario has no workload", "the scenario",
        "add a [[workload]] with a name and a log, a model or jobs"),
    refuse("user", |it, ()| it.users.is_empty() && it.start_state_owners().next().is_none(), "the scenario has no user", "the scenario",
        "add a [[user]] with a name, a workload and `submits-to`"),
];

#[rustfmt::skip] // a table
const PROFILING: &[Refusal<Estimates>] = &[
    refuse("policy.estimates", |it, ()| it.time_max < it.time_min, "`time-max` is {most}, less than `time-min`, {least}",
        "less than `time-min`", "the smaller one is the minimum; they are 5min and 30min if not given"),
];

/// Metaschedulers; the fact is true if the scenario has no provider, but a grid or plans.
#[rustfmt::skip] // a table
const METASCHEDULERS: &[Refusal<Metascheduler, bool>] = &[
    refuse("name", |_, &no_provider| no_provider, "metascheduler \"{name}\" has no provider to place jobs on", "nowhere to place them",
        "add a [[provider]], or remove it and submit to the grid or to the plans"),
    refuse("reallocation.period", |it, _| it.reallocation.is_some_and(|it| it.period == TimeSpan::ZERO),
        "the time between two examinations of the waiting jobs must be above zero", "no time",
        "write a length of time above zero, such as \"1h\""),
];

#[rustfmt::skip] // a table
const LINKS: &[Refusal<Link>] = &[
    refuse("between", |it, ()| it.between[0] == it.between[1], "a link joins \"{end}\" to itself", "the same actor twice",
        "name two actors"),
];

impl Check<'_> {
    pub(super) fn check_actors(&mut self, names: &Names) {
        self.refuse(PRESENCE, &Path::root(), (self.scenario, &()), &[]);
        self.check_processor_total();
        self.check_resuming(names);
        self.check_profiling();
        self.check_users(names);
        self.check_metaschedulers(names);
        self.check_links(names);
        self.check_overflow(names);
    }

    /// Processors are numbered across all providers, grids and clusters, so their total must fit a `u32`.
    fn check_processor_total(&mut self) {
        let providers = self.scenario.providers.len();
        let others = self.scenario.owners().into_iter().skip(providers);
        let mut total: u64 = others.map(|(_, members)| u64::from(members)).sum();
        for (index, provider) in self.scenario.providers.iter().enumerate() {
            total += u64::from(provider.processors) * u64::from(provider.count);
            if total > u64::from(u32::MAX) {
                self.report(
                    &item("provider", index).key("processors"),
                    format!("all providers together have more than {} processors", u32::MAX),
                    "one too many from here on",
                    "lower `processors` or `count`",
                );
                // All further providers exceed the limit, too: one report is enough.
                return;
            }
        }
    }

    fn check_profiling(&mut self) {
        for (index, provider) in self.scenario.providers.iter().enumerate() {
            let Some(estimates) = provider.policy.estimates() else { continue };
            let words: Words<'_> = &[("most", &estimates.time_max), ("least", &estimates.time_min)];
            self.refuse(PROFILING, &item("provider", index), (estimates, &()), words);
        }
    }

    fn check_users(&mut self, names: &Names) {
        let workloads = names.workload_list();
        let takers = names.takers.iter().map(String::as_str);
        let targets: Known<'_> = names.job_takers().chain(takers).collect();
        for (index, user) in self.scenario.users.iter().enumerate() {
            let path = item("user", index);
            let (workload, target) = (user.workload.as_str(), user.submits_to.as_str());
            if !workloads.contains(workload) {
                self.unknown_name(&path.key("workload"), "workload", workload, &workloads);
            }
            if targets.contains(target) {
                continue;
            }
            let path = path.key("submits-to");
            let Some(copies) = names.groups.get(target) else {
                self.unknown_name(&path, "provider or metascheduler", target, &targets);
                continue;
            };
            let copies: Vec<&str> = copies.iter().map(String::as_str).collect();
            let message = format!(
                "\"{target}\" stands for {} providers, a user submits to one",
                copies.len()
            );
            self.report(&path, message, "which one?", format!("name one of {}", list(&copies)));
        }
    }

    fn check_metaschedulers(&mut self, names: &Names) {
        let scenario = self.scenario;
        let grid = scenario.grid.as_ref().map(|grid| grid.name.as_str());
        let known: Known<'_> = names.provider_list().chain(grid).collect();
        // A scenario without any provider, grid or plans has been reported already.
        let elsewhere = scenario.grid.is_some() || scenario.plans.is_some();
        let no_provider = scenario.providers.is_empty() && elsewhere;
        for (index, metascheduler) in scenario.metaschedulers.iter().enumerate() {
            let path = item("metascheduler", index);
            let listed = &metascheduler.providers;
            self.check_provider_list(&path.key("providers"), listed, &known, "provider");
            self.check_grid_use(&path, metascheduler);
            let (first, _) = metascheduler.role().named();
            let words: Words<'_> = &[("name", &metascheduler.name), ("first", &first)];
            self.refuse(METASCHEDULERS, &path, (metascheduler, &no_provider), words);
            self.refuse_first(ROLES, &path, (metascheduler, &()), words);
            if let Some(reallocation) = metascheduler.reallocation {
                let at = path.key("reallocation").key("period");
                self.check_recurring(&at, reallocation.period);
            }
            self.check_coallocation(&path, metascheduler, names);
            self.check_time_of_retry(&path, metascheduler);
            for place in names.providers_meant(listed) {
                self.check_use(&path, metascheduler, place);
            }
        }
    }

    /// Checks a metascheduler together with one of its providers.
    fn check_use(&mut self, path: &Path, metascheduler: &Metascheduler, place: usize) {
        let (provider, at) = (&self.scenario.providers[place], item("provider", place));
        let (_, word) = metascheduler.role().named();
        let words: Words<'_> = &[("name", &provider.name), ("word", &word)];
        if metascheduler.composition.is_some() && !self.is_replaced(&at.key("policy")) {
            self.refuse(OFFERING, path, (provider, &()), words);
        }
        if metascheduler.reallocation.is_some() {
            let keys = ["policy", "order", "compression"];
            let known = !keys.iter().any(|key| self.is_replaced(&at.key(key)));
            self.refuse(MOLDING, path, (provider, &known), words);
        }
        // A stand-in replaces a wrong level, so it is not compared.
        if !self.is_replaced(&at.key("disclosure")) {
            self.check_disclosure(path, metascheduler, provider);
        }
    }

    /// Checks that a provider discloses as much as a metascheduler needs.
    fn check_disclosure(&mut self, path: &Path, metascheduler: &Metascheduler, it: &Provider) {
        let needs = metascheduler.needs(&self.scenario.own);
        if it.disclosure >= needs {
            return;
        }
        let (key, word) = metascheduler.role().named();
        let measures = matches!(metascheduler.role(), Role::Maps(mapping)
            if mapping.profiling && mapping.asks_for == AsksFor::Machines);
        let (at, asks, instead) = match measures {
            true => {
                let at = path.key(key).key("profiling");
                (at, "`profiling`".to_owned(), "remove `profiling`".to_owned())
            }
            false => (path.key(key), format!("{key} \"{word}\""), format!("choose another {key}")),
        };
        let (name, needs, told) = (&it.name, needs.name(), it.disclosure.name());
        self.report(
            &at,
            format!(
                "{asks} needs disclosure \"{needs}\", provider \"{name}\" discloses only \"{told}\""
            ),
            &format!("needs \"{needs}\""),
            format!("set `disclosure = \"{needs}\"` for provider \"{name}\", or {instead}"),
        );
    }

    /// Checks a metascheduler together with the grid, if it names that.
    fn check_grid_use(&mut self, path: &Path, metascheduler: &Metascheduler) {
        let scenario = self.scenario;
        let grid = scenario.grid.as_ref().filter(|_| scenario.uses_grid(metascheduler));
        let Some(grid) = grid else { return };
        let (name, at) = (&grid.name, Path::root().key("grid"));
        let sessions = grid.policy.takes_sessions() && !self.is_replaced(&at.key("policy"));
        let (key, word) = metascheduler.role().named();
        let words: Words<'_> = &[("grid", name), ("key", &key), ("word", &word)];
        self.refuse(USING_GRID, path, (metascheduler, &sessions), words);
        let Role::Places(placement) = metascheduler.role() else { return };
        // An unknown rule has been reported.
        let Ok(placement) = placement.among(&scenario.own.placements) else { return };
        let needs = placement.question().needs();
        if grid.disclosure() < needs && !self.is_replaced(&at.key("disclosure")) {
            let (needs, told) = (needs.name(), grid.disclosure().name());
            self.report(
                &path.key(key),
                format!(
                    "{key} \"{word}\" needs disclosure \"{needs}\", grid \"{name}\" discloses only \"{told}\""
                ),
                &format!("needs \"{needs}\""),
                format!("set `disclosure = \"{needs}\"` in [grid], or choose another {key}"),
            );
        }
    }

    fn check_links(&mut self, names: &Names) {
        let stores = names.stores.iter().map(String::as_str);
        let actors: Known<'_> = names.actors().chain(stores).collect();
        for (index, link) in self.scenario.network.links.iter().enumerate() {
            let path = Path::root().key("network").key("link").index(index);
            for (end, actor) in link.between.iter().enumerate() {
                if !actors.contains(actor.as_str()) {
                    let at = path.key("between").index(end);
                    self.unknown_name(&at, "actor", actor.as_str(), &actors);
                }
            }
            self.refuse(LINKS, &path, (link, &()), &[("end", &link.between[0])]);
        }
    }
}
