//! Iterative applications: their metaschedulers, their machines, and keys without effect.

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use super::names::Names;
use crate::file::{Communication, IterativeApplications, Metascheduler, Model, Provider, Workload};
use crate::quantity::{Name, TimeSpan};
use haggle_config::document::Path;

impl Check<'_> {
    /// Checks that the numbers of an application fit together.
    pub(super) fn check_iterative(&mut self, path: &Path, it: &IterativeApplications) {
        let sizes = it.processes.len();
        if it.processes.iter().all(|&number| number == 0) && sizes > 0 {
            self.report(
                &path.key("processes"),
                "an application has no process".to_owned(),
                "nothing runs",
                "write the number of processes of each size".to_owned(),
            );
        }
        if it.machines.is_empty() {
            self.report(
                path,
                "applications run on no type of machine".to_owned(),
                "`machine` is missing here",
                "add `machine = [{ name = \"north\", throughputs = [2.5] }]`, with a number for each size"
                    .to_owned(),
            );
        }
        for (index, machine) in it.machines.iter().enumerate() {
            let path = path.key("machine").index(index);
            if machine.throughputs.len() != sizes && !self.has_replaced(&path) {
                self.report(
                    &path.key("throughputs"),
                    format!(
                        "machine \"{}\" has {} throughputs, and there are {sizes} sizes of processes",
                        machine.name,
                        machine.throughputs.len()
                    ),
                    "one for each size",
                    "write as many numbers as in `processes`".to_owned(),
                );
            }
            if it.machines[..index].iter().any(|other| other.name == machine.name) {
                self.report(
                    &path.key("name"),
                    format!("machine \"{}\" is there twice", machine.name),
                    "again",
                    "remove one of them".to_owned(),
                );
            }
        }
    }

    /// Applications must be submitted to metaschedulers with `mapping`, and all other jobs must not.
    pub(super) fn check_mapped(&mut self) {
        let scenario = self.scenario;
        for (index, user) in scenario.users.iter().enumerate() {
            let workload = self.directory.workload(user.workload.as_str());
            let Some(workload) = workload else { continue };
            let target = self.directory.metascheduler(user.submits_to.as_str());
            let maps = target.is_some_and(|it| it.mapping.is_some());
            let path = Path::root().key("user").index(index).key("submits-to");
            match (is_iterative(workload), maps) {
                (true, false) => self.report(
                    &path,
                    format!(
                        "the jobs of \"{}\" are iterative applications, and \"{}\" takes none",
                        workload.name, user.submits_to
                    ),
                    "does not take them",
                    "submit to a metascheduler with `mapping`".to_owned(),
                ),
                (false, true) => self.report(
                    &path,
                    format!(
                        "the jobs of \"{}\" are no iterative applications, and \"{}\" takes only \
                         those",
                        workload.name, user.submits_to
                    ),
                    "does not take them",
                    "submit a workload with `model = \"iterative\"`, or submit elsewhere"
                        .to_owned(),
                ),
                _ => {}
            }
        }
    }

    pub(super) fn mapping_effects(&mut self, names: &Names) {
        let scenario = self.scenario;
        for (index, metascheduler) in scenario.metaschedulers.iter().enumerate() {
            let Some(mapping) = metascheduler.mapping else { continue };
            let path = Path::root().key("metascheduler").index(index).key("mapping");
            let owner = format!("the mapping of metascheduler \"{}\"", metascheduler.name);
            let why = "no throughput is measured";
            let remedy = "remove it, or set `profiling = true`";
            self.uses(&path.key("tolerance"), mapping.profiling, &owner, why, remedy);
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
            let Some(it) = workload.iterative.as_ref().filter(|_| is_iterative(workload)) else {
                continue;
            };
            let path = Path::root().key("workload").index(index).key("iterative");
            let owner = format!("the applications of workload \"{}\"", workload.name);
            let places = self.places_of(&workload.name, names);
            let (waits, apart) = (sends(it), self.are_apart(&places));
            let why = if waits {
                "all providers are at one site"
            } else {
                "no process waits for another"
            };
            let remedy = "remove it, or set `communication = \"synchronous\"` and several sites";
            self.uses(&path.key("transfer"), waits && apart, &owner, why, remedy);
            let machines = places.iter().map(|&place| machine(&scenario.providers[place]));
            let machines = BTreeSet::from_iter(machines);
            for (number, known) in it.machines.iter().enumerate() {
                let at = path.key("machine").index(number);
                let owner = format!("machine \"{}\" of {owner}", known.name);
                let is_there = machines.contains(&known.name) || places.is_empty();
                let why = "no provider that may run them has such machines";
                let remedy = "remove it, or name the type by `machine` of a provider";
                for key in ["name", "throughputs"] {
                    self.uses(&at.key(key), is_there, &owner, why, remedy);
                }
            }
        }
    }

    /// Keys of the machines of a provider that have no effect on the applications that may come.
    fn machine_effects(
        &mut self,
        index: usize,
        provider: &Provider,
        coming: &[&IterativeApplications],
    ) {
        let path = Path::root().key("provider").index(index);
        let owner = format!("provider \"{}\"", provider.name);
        let maps = !coming.is_empty();
        let why = "no iterative application comes here";
        let remedy = "remove it, or let a metascheduler with `mapping` use this provider";
        self.uses(&path.key("machine"), maps, &owner, why, remedy);
        let sends = coming.iter().any(|it| sends(it) && it.transfer > TimeSpan::ZERO);
        let why = if maps { "no results are sent from site to site" } else { why };
        let remedy = "remove it, or let synchronous applications with a `transfer` come here";
        self.uses(&path.key("site"), sends, &owner, why, remedy);
        let runs =
            coming.iter().any(|it| it.machines.iter().any(|of| of.name == *machine(provider)));
        if maps && !runs {
            self.doubt(
                &path.key("name"),
                format!(
                    "{owner} has machines of type \"{}\", on which no application that comes here runs",
                    machine(provider)
                ),
                "never used for them",
                "name another type by `machine`, or add this one to the workload".to_owned(),
            );
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
