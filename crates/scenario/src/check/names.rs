//! Names: no two actors and no two workloads may have the same name.

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use super::rule::item;
use crate::Directory;
use crate::file::Provider;
use crate::quantity::Name;
use crate::resolve::copies;
use haggle_config::document::Path;

/// Names that are taken, each with the kind and the line of its table.
type Taken = BTreeMap<String, (&'static str, usize)>;

/// Names to which other tables may refer.
#[derive(Default)]
pub(crate) struct Names {
    /// Providers by name, each copy by itself, with their place in the file.
    pub(super) providers: BTreeMap<String, usize>,
    /// Names that stand for several copies, with the names of the copies.
    pub(super) groups: BTreeMap<String, Vec<String>>,
    pub(super) metaschedulers: Vec<String>,
    /// Storages of the network.
    pub(super) stores: BTreeSet<String>,
    /// Sites of a grid, and clusters with plans.
    pub(super) sites: Vec<String>,
    /// Number of resources or machines of each of them.
    pub(super) members: BTreeMap<String, u32>,
    /// Grid and plans to which users may submit.
    pub(super) takers: Vec<String>,
    /// The grid, if a metascheduler may use it or it passes jobs on: it then sends messages over the network.
    pub(super) used_grid: Option<String>,
    pub(super) users: Vec<String>,
    /// Users that submit to a provider or a metascheduler of providers.
    talkers: Vec<String>,
    pub(super) workloads: Vec<String>,
    /// Providers whose processors may fail, by their place in the file.
    pub(super) failing: BTreeSet<usize>,
    /// The actors that may crash.
    pub(super) crashing: BTreeSet<String>,
}

/// Names that are valid in a list, in the order in which a message lists them.
#[derive(Debug, Default)]
pub(super) struct Known<'a> {
    list: Vec<&'a str>,
    set: BTreeSet<&'a str>,
}

impl<'a> Known<'a> {
    pub(super) fn list(&self) -> &[&'a str] {
        &self.list
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.set.contains(name)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl<'a> FromIterator<&'a str> for Known<'a> {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Known<'a> {
        let list = Vec::from_iter(names);
        Known { set: list.iter().copied().collect(), list }
    }
}

impl Names {
    /// Collects the names and reports names that are taken.
    pub(super) fn of(check: &mut Check<'_>) -> Names {
        let scenario = check.scenario;
        let crashing = scenario.crashing().map(ToString::to_string).collect();
        let mut names = Names { crashing, ..Names::default() };
        let mut taken = BTreeMap::new();
        names.take_providers(check, &mut taken);
        names.take_places(check, &mut taken);
        for (index, user) in scenario.users.iter().enumerate() {
            let path = item("user", index).key("name");
            check.take(&mut taken, user.name.as_str(), "user", &path);
            names.users.push(user.name.to_string());
            if !names.takers.iter().any(|it| it == user.submits_to.as_str()) {
                names.talkers.push(user.name.to_string());
            }
        }
        // A workload may have the same name as an actor.
        let mut taken = BTreeMap::new();
        for (index, workload) in scenario.workloads.iter().enumerate() {
            let path = item("workload", index).key("name");
            check.take(&mut taken, workload.name.as_str(), "workload", &path);
            names.workloads.push(workload.name.to_string());
        }
        let failing = scenario.processor_failures().flat_map(|it| names.providers_meant(&it.of));
        names.failing = failing.collect();
        names
    }

    /// Takes the names of providers, metaschedulers and storages.
    fn take_providers(&mut self, check: &mut Check<'_>, taken: &mut Taken) {
        let scenario = check.scenario;
        for (index, provider) in scenario.providers.iter().enumerate() {
            let path = item("provider", index).key("name");
            let copies = copies(provider);
            for copy in &copies {
                check.take(taken, copy, "provider", &path);
                self.providers.insert(copy.clone(), index);
            }
            if provider.count > 1 {
                self.groups.insert(provider.name.to_string(), copies);
            }
        }
        for (index, metascheduler) in scenario.metaschedulers.iter().enumerate() {
            let path = item("metascheduler", index).key("name");
            check.take(taken, metascheduler.name.as_str(), "metascheduler", &path);
            self.metaschedulers.push(metascheduler.name.to_string());
        }
        for (index, store) in scenario.network.stores.iter().enumerate() {
            let path = Path::root().key("network").key("stores").index(index);
            check.take(taken, store.as_str(), "storage", &path);
            self.stores.insert(store.to_string());
        }
    }

    /// Takes the names of a grid and its sites, and of plans and their clusters.
    fn take_places(&mut self, check: &mut Check<'_>, taken: &mut Taken) {
        let scenario = check.scenario;
        if let Some(grid) = &scenario.grid {
            let path = Path::root().key("grid");
            check.take(taken, grid.name.as_str(), "grid", &path.key("name"));
            self.takers.push(grid.name.to_string());
            let used = grid.overflow.is_some()
                || scenario.metaschedulers.iter().any(|it| scenario.uses_grid(it));
            self.used_grid = used.then(|| grid.name.to_string());
            for (index, site) in grid.sites.iter().enumerate() {
                let path = path.key("site").index(index).key("name");
                check.take(taken, site.name.as_str(), "site", &path);
                self.sites.push(site.name.to_string());
                self.members.insert(site.name.to_string(), site.resources);
            }
        }
        if let Some(plans) = &scenario.plans {
            let path = Path::root().key("plans");
            check.take(taken, plans.name.as_str(), "metascheduler", &path.key("name"));
            self.takers.push(plans.name.to_string());
            for (index, cluster) in plans.clusters.iter().enumerate() {
                let path = path.key("cluster").index(index).key("name");
                check.take(taken, cluster.name.as_str(), "cluster", &path);
                self.sites.push(cluster.name.to_string());
                self.members.insert(cluster.name.to_string(), cluster.machines);
            }
        }
    }

    /// Workloads that a table may name.
    pub(super) fn workload_list(&self) -> Known<'_> {
        self.workloads.iter().map(String::as_str).collect()
    }

    /// Actors that receive single jobs: providers, each copy by itself, and metaschedulers.
    pub(super) fn job_takers(&self) -> impl Iterator<Item = &str> {
        self.providers.keys().chain(&self.metaschedulers).map(String::as_str)
    }

    /// True if a provider, a grid or plans of this name receive jobs.
    pub(super) fn takes_jobs(&self, name: &str) -> bool {
        self.is_provider(name) || self.takers.iter().any(|it| it == name)
    }

    /// Providers that a list may name: copies and the names of groups.
    pub(super) fn provider_list(&self) -> impl Iterator<Item = &str> {
        self.providers.keys().chain(self.groups.keys()).map(String::as_str)
    }

    /// Owners of resources that may fail, as a list may name them: providers, sites of a grid, and clusters.
    pub(super) fn owner_list(&self) -> Known<'_> {
        self.provider_list().chain(self.sites.iter().map(String::as_str)).collect()
    }

    /// Actors that send messages over the network, and the users that submit to them.
    pub(super) fn actors(&self) -> impl Iterator<Item = &str> {
        let others = self.metaschedulers.iter().chain(&self.talkers).chain(&self.used_grid);
        self.providers.keys().chain(others).map(String::as_str)
    }

    /// Places of data: providers, metaschedulers and storages.
    pub(super) fn places_of_data(&self) -> impl Iterator<Item = &str> {
        let others = self.metaschedulers.iter().chain(&self.stores);
        self.providers.keys().chain(others).map(String::as_str)
    }

    /// True if a provider, or one of its copies, may crash.
    pub(super) fn crash_at(&self, provider: &Provider) -> bool {
        copies(provider).iter().any(|copy| self.crashing.contains(copy))
    }

    /// True if data may be at an actor of that name.
    pub(super) fn is_place_of_data(&self, name: &str, directory: &Directory<'_>) -> bool {
        self.is_provider(name)
            || self.stores.contains(name)
            || directory.metascheduler_place(name).is_some()
    }

    /// Copies of providers that `names` stand for, and sites; an empty list stands for all.
    pub(super) fn copies_meant(&self, names: &[Name]) -> Vec<String> {
        if names.is_empty() {
            return self.providers.keys().chain(&self.sites).cloned().collect();
        }
        let copies = |name: &Name| match self.groups.get(name.as_str()) {
            Some(copies) => copies.clone(),
            None => vec![name.to_string()],
        };
        names.iter().flat_map(copies).collect()
    }

    /// Providers of a metascheduler, each copy by itself; an empty list stands for all.
    pub(super) fn provider_copies(&self, names: &[Name]) -> Vec<String> {
        let mut copies = self.copies_meant(names);
        copies.retain(|name| self.is_provider(name));
        copies
    }

    /// True if a provider, or one of its copies, has this name.
    pub(super) fn is_provider(&self, name: &str) -> bool {
        self.providers.contains_key(name)
    }

    /// Places in the file of the providers that `names` stand for, each once; an empty list stands for all.
    pub(super) fn providers_meant(&self, names: &[Name]) -> Vec<usize> {
        let mut places: Vec<usize> = if names.is_empty() {
            self.providers.values().copied().collect()
        } else {
            let copy = |name: &String| self.providers.get(name).copied();
            let place = |name: &Name| {
                // All copies of a group have the same place in the file.
                let group = self.groups.get(name.as_str());
                copy(&name.to_string()).or_else(|| group?.first().and_then(copy))
            };
            names.iter().filter_map(place).collect()
        };
        places.sort_unstable();
        places.dedup();
        places
    }
}

impl Check<'_> {
    fn take(&mut self, taken: &mut Taken, name: &str, kind: &'static str, path: &Path) {
        if self.is_replaced(path) {
            return;
        }
        let line = self.line(path);
        if let Some((other, line)) = taken.get(name) {
            let message = format!("two {} are called \"{name}\"", plural(kind, other));
            let help =
                format!("the {other} on line {line} has this name; give one of them another");
            self.report(path, message, "taken", help);
        } else {
            taken.insert(name.into(), (kind, line));
        }
    }
}

fn plural(kind: &str, other: &str) -> String {
    if kind == other { format!("{kind}s") } else { "actors".into() }
}
