//! Defaults that depend on other parts of a scenario. They are written out, so that a resolved scenario can be
//! read without them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use haggle_scheduling::MAX_ATTEMPTS;

use super::file::{self, Figure, Grid, GridPolicy, ImageFormat, Plans, Provider};
use super::quantity::Name;
use super::{Scenario, Source};

/// Writes out every default of a checked scenario without a sweep, or of a variant.
pub(super) fn resolve(scenario: Scenario, source: &Source) -> Scenario {
    with_defaults(with_copies(scenario), source)
}

/// Writes out the defaults of a whole sweep. Its axes and branches name the providers as they are written, so providers
/// keep their `count`, and lists keep their names.
pub(super) fn resolve_sweep(scenario: Scenario, source: &Source) -> Scenario {
    match scenario.axis_names().as_slice() {
        [] => resolve(scenario, source),
        _ => with_defaults(scenario, source),
    }
}

/// Writes each copy of a provider as a provider of its own, also in lists.
fn with_copies(mut scenario: Scenario) -> Scenario {
    // Taken, because `Copies` refers to the providers as written while copies replace them.
    let written = std::mem::take(&mut scenario.providers);
    let copies = Copies::of(&written);
    scenario.providers = written.iter().flat_map(replicate).collect();
    let of_changes = scenario.changes.iter_mut().flat_map(|it| &mut it.failures);
    let failures = scenario.failures.iter_mut().chain(of_changes);
    for failures in failures.filter(|it| it.actors.is_none()) {
        let clusters = scenario.plans.iter().flat_map(|it| clusters_meant(&failures.of, it));
        let sites = scenario.grid.iter().flat_map(|it| sites_meant(&failures.of, it));
        let providers = copies.meant(&failures.of);
        failures.of = providers.chain(clusters).chain(sites).collect();
    }
    for change in &mut scenario.changes {
        change.set = copies.settings(std::mem::take(&mut change.set));
    }
    for maintenance in &mut scenario.maintenance {
        maintenance.of = copies.meant(&maintenance.of).collect();
    }
    let grid = scenario.grid.as_ref().map(|grid| &grid.name);
    for metascheduler in &mut scenario.metaschedulers {
        // The grid comes last: it is no provider, so `meant` leaves it out.
        let grid = grid.filter(|name| metascheduler.providers.contains(name)).cloned();
        metascheduler.providers = copies.meant(&metascheduler.providers).chain(grid).collect();
    }
    for figure in scenario.figures.iter_mut().filter(|it| it.kind.uses("providers")) {
        // A grid may have too many resources to write them out.
        if figure.providers.is_empty() && scenario.grid.is_some() {
            continue;
        }
        let list = &figure.providers;
        let clusters = scenario.plans.iter().flat_map(|it| clusters_meant(list, it));
        let resources = scenario.grid.iter().flat_map(|it| resources_meant(list, it));
        let providers = copies.meant(list);
        figure.providers = providers.chain(clusters).chain(resources).collect();
    }
    scenario
}

fn with_defaults(mut scenario: Scenario, source: &Source) -> Scenario {
    if scenario.scenario.name.is_none() {
        scenario.scenario.name = Some(Name::like(&source.stem()));
    }
    // The values of the other file are in the scenario already.
    scenario.scenario.extends = None;
    let directory = scenario.directory();
    let on_grid = |it: &file::Workload| directory.may_run_on_grid(it);
    // Collected first, because the directory borrows the scenario.
    let on_grid = Vec::from_iter(scenario.workloads.iter().map(on_grid));
    for (workload, _) in scenario.workloads.iter_mut().zip(on_grid).filter(|(_, on_grid)| *on_grid)
    {
        workload.data.get_or_insert_default();
    }
    if let Some(grid) = &mut scenario.grid {
        if let GridPolicy::WithDynamicLimit(light) = &mut grid.policy {
            light.share.get_or_insert(light.light);
        }
        for site in &mut grid.sites {
            site.slots = site.slots();
        }
    }
    // Keys that matter only after failures are not written out for other providers.
    let written = Copies::of(&scenario.providers);
    let failures = scenario.failures.iter().filter(|it| it.actors.is_none());
    let failing: BTreeSet<String> =
        failures.flat_map(|it| written.meant(&it.of)).map(String::from).collect();
    for provider in &mut scenario.providers {
        if copies(provider).iter().any(|copy| failing.contains(copy)) {
            provider.on_failure.get_or_insert_default();
            provider.max_attempts.get_or_insert(MAX_ATTEMPTS);
        }
    }
    for metascheduler in &mut scenario.metaschedulers {
        if metascheduler.composition.is_some() {
            metascheduler.negotiation.get_or_insert_default();
        }
        let spreads = metascheduler.coallocation.as_mut();
        if let Some(spreads) = spreads.filter(|it| it.protocol.is_some()) {
            spreads.back_off.get_or_insert_default();
        }
    }
    // Rules that are written out would override the presets that a sweep varies.
    let mut axes = scenario.sweep.iter().flat_map(|sweep| &sweep.axes);
    if !axes.any(|axis| axis.path.as_ref().is_some_and(|path| path.ends_with(".preset"))) {
        fill_rules(&mut scenario);
    }
    let names = figure_names(&scenario.figures);
    for (figure, (name, _)) in scenario.figures.iter_mut().zip(names) {
        figure.name = Some(Name::like(&name));
    }
    scenario
}

/// Sites that a list stands for, in the order of the file; an empty list stands for all.
fn sites_meant(list: &[Name], grid: &Grid) -> Vec<Name> {
    let listed: BTreeSet<&str> = list.iter().map(|it| it.as_str()).collect();
    let names = grid.sites.iter().map(|site| site.name.clone());
    names.filter(|name| list.is_empty() || listed.contains(name.as_str())).collect()
}

/// Clusters that a list stands for, in the order of the file; an empty list stands for all.
fn clusters_meant(list: &[Name], plans: &Plans) -> Vec<Name> {
    let listed: BTreeSet<&str> = list.iter().map(|it| it.as_str()).collect();
    let names = plans.clusters.iter().map(|cluster| cluster.name.clone());
    names.filter(|name| list.is_empty() || listed.contains(name.as_str())).collect()
}

/// Resources that a list stands for, in the order of the file.
fn resources_meant(list: &[Name], grid: &Grid) -> Vec<Name> {
    let listed: BTreeSet<&str> = list.iter().map(|it| it.as_str()).collect();
    let mut names = Vec::new();
    for site in &grid.sites {
        let all = listed.contains(site.name.as_str());
        let resources = site.resource_names().map(|name| Name::like(&name));
        names.extend(resources.filter(|name| all || listed.contains(name.as_str())));
    }
    names
}

/// Writes out the rules of every log.
pub(super) fn fill_rules(scenario: &mut Scenario) {
    for workload in scenario.workloads.iter_mut().filter(|workload| workload.log.is_some()) {
        workload.rules = workload.rules.filled();
    }
}

/// Names of the copies of a provider: its own name if there is only one.
pub(super) fn copies(provider: &Provider) -> Vec<String> {
    match provider.count {
        0 | 1 => vec![provider.name.to_string()],
        count => (1..=count).map(|number| format!("{}-{number}", provider.name)).collect(),
    }
}

/// Name and format of each figure: its own name, or its kind, with a number from the second one on.
pub(super) fn figure_names(figures: &[Figure]) -> Vec<(String, ImageFormat)> {
    let mut unnamed: BTreeMap<&str, usize> = BTreeMap::new();
    let name = |figure: &Figure| {
        let kind = figure.kind.name();
        let name = figure.name.as_ref().map(ToString::to_string).unwrap_or_else(|| {
            let number = unnamed.entry(kind).or_default();
            *number += 1;
            if *number == 1 { kind.to_owned() } else { format!("{kind}-{number}") }
        });
        (name, figure.format)
    };
    figures.iter().map(name).collect()
}

fn replicate(provider: &Provider) -> Vec<Provider> {
    let copy = |name: String| Provider { name: Name::like(&name), count: 1, ..provider.clone() };
    copies(provider).into_iter().map(copy).collect()
}

/// Names of all copies of providers, in the order of the file, and the copies that each name stands for.
struct Copies<'w> {
    all: Vec<Name>,
    places: BTreeMap<String, usize>,
    groups: BTreeMap<&'w str, Range<usize>>,
}

impl<'w> Copies<'w> {
    fn of(written: &'w [Provider]) -> Copies<'w> {
        let (mut all, mut groups) = (Vec::new(), BTreeMap::new());
        for provider in written {
            let before = all.len();
            all.extend(copies(provider).iter().map(|copy| Name::like(copy)));
            groups.insert(provider.name.as_str(), before..all.len());
        }
        let places = all.iter().enumerate().map(|(place, name)| (name.to_string(), place));
        Copies { places: places.collect(), all, groups }
    }

    /// Settings by path, with the paths of copied providers in place of that of the provider as written.
    fn settings(&self, set: toml::Table) -> toml::Table {
        let mut all = toml::Table::new();
        for (path, value) in set {
            let below = path.strip_prefix("provider.").and_then(|rest| rest.split_once('.'));
            let copies = below.and_then(|(name, rest)| {
                let copies = self.groups.get(name)?.clone();
                Some(copies.map(move |copy| format!("provider.{}.{rest}", self.all[copy])))
            });
            match copies {
                Some(paths) => all.extend(paths.map(|path| (path, value.clone()))),
                None => drop(all.insert(path, value)),
            }
        }
        all
    }

    /// Providers that a list stands for, in the order of the file; an empty list stands for all.
    fn meant(&self, list: &[Name]) -> impl Iterator<Item = Name> {
        let of_group = |it: &Name| self.groups.get(it.as_str()).cloned().unwrap_or(0..0);
        let of_copy = |it: &Name| self.places.get(it.as_str()).copied();
        let mut places: Vec<usize> = match list {
            [] => (0..self.all.len()).collect(),
            _ => list.iter().flat_map(|it| of_group(it).chain(of_copy(it))).collect(),
        };
        // In the order of the file, and each provider once, whatever the order of the list.
        places.sort_unstable();
        places.dedup();
        places.into_iter().map(|place| self.all[place].clone())
    }
}
