//! Iterative applications: their metaschedulers, their machines, and keys without effect.

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use super::names::Names;
use super::rule::{Effect, Refusal, Words, effect, item, refuse};
use crate::file::{
    Communication, IterativeApplications, IterativeMachine, Mapping, Metascheduler, Model,
    Provider, Workload,
};
use crate::quantity::{Name, TimeSpan};
use haggle_config::document::Path;

#[rustfmt::skip] // a table
const APPLICATIONS: &[Refusal<IterativeApplications>] = &[
    refuse("processes", |it, ()| !it.processes.is_empty() && it.processes.iter().all(|&number| number == 0),
        "an application has no process", "nothing runs", "write the number of processes of each size"),
    refuse("", |it, ()| it.machines.is_empty(), "applications run on no type of machine", "`machine` is missing here",
        "add `machine = [{ name = \"north\", throughputs = [2.5] }]`, with a number for each size"),
];

/// Facts about the application of a machine.
struct OfMachine {
    /// Number of sizes of its processes.
    sizes: usize,
    /// A value of the machine is not known.
    unknown: bool,
    /// A machine before has the same name.
    again: bool,
}

#[rustfmt::skip] // a table
const MACHINES: &[Refusal<IterativeMachine, OfMachine>] = &[
    refuse("throughputs", |it, of| it.throughputs.len() != of.sizes && !of.unknown,
        "machine \"{name}\" has {throughputs} throughputs, and there are {sizes} sizes of processes", "one for each size",
        "write as many numbers as in `processes`"),
    refuse("name", |_, of| of.again, "machine \"{name}\" is there twice", "again", "remove one of them"),
];

#[rustfmt::skip] // a table
const PROFILING: &[Effect<Mapping>] = &[
    effect("tolerance", |it, ()| it.profiling, "no throughput is measured", "remove it, or set `profiling = true`"),
];

/// Applications; the fact is true if their providers are at several sites.
#[rustfmt::skip] // a table
const TRANSFERS: &[Effect<IterativeApplications, bool>] = &[
    effect("transfer", |it, _| sends(it), "no process waits for another", SEVERAL_SITES),
    effect("transfer", |_, &apart| apart, "all providers are at one site", SEVERAL_SITES),
];

const SEVERAL_SITES: &str = "remove it, or set `communication = \"synchronous\"` and several sites";

/// Machines on which applications run; the fact is true if a provider may have such machines.
#[rustfmt::skip] // a table
const KNOWN_MACHINES: &[Effect<IterativeMachine, bool>] = &[
    effect("name throughputs", |_, &is_there| is_there, "no provider that may run them has such machines",
        "remove it, or name the type by `machine` of a provider"),
];

/// Facts about the applications that may come to a provider.
struct Coming {
    any: bool,
    /// Some of them send results from site to site.
    sends: bool,
}

#[rustfmt::skip] // a table
const OF_PROVIDERS: &[Effect<Provider, Coming>] = &[
    effect("machine", |_, coming| coming.any, "no iterative application comes here",
        "remove it, or let a metascheduler with `mapping` use this provider"),
    effect("site", |_, coming| coming.any, "no iterative application comes here",
        "remove it, or let synchronous applications with a `transfer` come here"),
    effect("site", |_, coming| coming.sends, "no results are sent from site to site",
        "remove it, or let synchronous applications with a `transfer` come here"),
];

impl Check<'_> {
    /// Checks that the numbers of an application fit together.
    pub(super) fn check_iterative(&mut self, path: &Path, it: &IterativeApplications) {
        self.refuse(APPLICATIONS, path, (it, &()), &[]);
        for (index, machine) in it.machines.iter().enumerate() {
            let path = path.key("machine").index(index);
            let facts = OfMachine {
                sizes: it.processes.len(),
                unknown: self.has_replaced(&path),
                again: it.machines[..index].iter().any(|other| other.name == machine.name),
            };
            let (sizes, throughputs) = (facts.sizes, machine.throughputs.len());
            let words: Words<'_> =
                &[("name", &machine.name), ("throughputs", &throughputs), ("sizes", &sizes)];
            self.refuse(MACHINES, &path, (machine, &facts), words);
        }
    }

    pub(super) fn mapping_effects(&mut self, names: &Names) {
        let scenario = self.scenario;
        for (index, metascheduler) in scenario.metaschedulers.iter().enumerate() {
            let Some(mapping) = &metascheduler.mapping else { continue };
            let path = item("metascheduler", index).key("mapping");
            let owner = format!("the mapping of metascheduler \"{}\"", metascheduler.name);
            self.effects(PROFILING, &path, (mapping, &()), &owner, &[]);
        }
        let mut coming: BTreeMap<usize, Vec<&IterativeApplications>> = BTreeMap::new();
        for workload in scenario.workloads.iter().filter(|it| is_iterative(it)) {
            for place in self.places_of(&workload.name, names) {
                coming.entry(place).or_default().extend(&workload.iterative);
            }
        }
        for (index, provider) in scenario.providers.iter().enumerate() {
            self.machine_effects(index, provider, coming.get(&index).map_or(&[], Vec::as_slice));
        }
        for (index, workload) in scenario.workloads.iter().enumerate() {
            if let Some(it) = workload.iterative.as_ref().filter(|_| is_iterative(workload)) {
                let places = self.places_of(&workload.name, names);
                self.application_effects(&item("workload", index), workload, it, &places);
            }
        }
    }

    /// Keys of applications that have no effect at the providers that may run them.
    fn application_effects(
        &mut self,
        path: &Path,
        workload: &Workload,
        it: &IterativeApplications,
        places: &[usize],
    ) {
        let path = path.key("iterative");
        let owner = format!("the applications of workload \"{}\"", workload.name);
        self.effects(TRANSFERS, &path, (it, &self.are_apart(places)), &owner, &[]);
        let machines = places.iter().map(|&place| machine(&self.scenario.providers[place]));
        let machines = BTreeSet::from_iter(machines);
        for (number, known) in it.machines.iter().enumerate() {
            let at = path.key("machine").index(number);
            let owner = format!("machine \"{}\" of {owner}", known.name);
            let is_there = machines.contains(&known.name) || places.is_empty();
            self.effects(KNOWN_MACHINES, &at, (known, &is_there), &owner, &[]);
        }
    }

    /// Keys of the machines of a provider that have no effect on the applications that may come.
    fn machine_effects(
        &mut self,
        index: usize,
        provider: &Provider,
        coming: &[&IterativeApplications],
    ) {
        let (path, machine) = (item("provider", index), machine(provider));
        let owner = format!("provider \"{}\"", provider.name);
        let facts = Coming {
            any: !coming.is_empty(),
            sends: coming.iter().any(|it| sends(it) && it.transfer > TimeSpan::ZERO),
        };
        self.effects(OF_PROVIDERS, &path, (provider, &facts), &owner, &[]);
        let runs = coming.iter().any(|it| it.machines.iter().any(|of| of.name == *machine));
        if facts.any && !runs {
            let message = format!(
                "{owner} has machines of type \"{machine}\", on which no application that comes here runs"
            );
            let help = "name another type by `machine`, or add this one to the workload";
            self.doubt(&path.key("name"), message, "never used for them", help.to_owned());
        }
    }

    /// Providers that may run the applications of a workload.
    fn places_of(&self, workload: &Name, names: &Names) -> Vec<usize> {
        let users = self.directory.submitters(workload.as_str());
        let maps = |it: &&Metascheduler| it.mapping.is_some();
        let to = |name: &Name| self.directory.metascheduler(name.as_str());
        let by = users.filter_map(|user| to(&user.submits_to).filter(maps));
        let mut places = Vec::from_iter(by.flat_map(|it| names.providers_meant(&it.providers)));
        places.sort_unstable();
        places.dedup();
        places
    }

    /// True if providers are at several sites.
    fn are_apart(&self, places: &[usize]) -> bool {
        let providers = places.iter().map(|&place| &self.scenario.providers[place]);
        let mut sites =
            Vec::from_iter(providers.clone().map(|it| it.site.as_ref().unwrap_or(&it.name)));
        sites.sort_unstable();
        sites.dedup();
        // Copies of a provider without `site` are at sites of their own.
        sites.len() > 1 || providers.into_iter().any(|it| it.count > 1 && it.site.is_none())
    }
}

fn machine(provider: &Provider) -> &Name {
    provider.machine.as_ref().unwrap_or(&provider.name)
}

fn sends(it: &IterativeApplications) -> bool {
    it.communication == Communication::Synchronous
}

/// True if the jobs of a workload are iterative applications.
pub(super) fn is_iterative(workload: &Workload) -> bool {
    workload.model == Some(Model::Iterative)
}
