//! Nodes of providers, and jobs that ask for their resources.

use std::collections::BTreeSet;

use haggle_config::document::Path;
use haggle_model::{Demand, Nodes, Resource, UnequalChunks};

use super::Check;
use super::exclusions::{ON_NODES, PLANNED_PARTLY, UsesNodes};
use super::names::Names;
use super::rule::{Refusal, Words, item, refuse};
use crate::file::{InlineJob, Provider, Role, Step};

/// The reason for which demands have no effect.
const NO_NODES: &str = "no provider has nodes, so that each counts processors only";

/// Most processors of a provider.
const MOST: u64 = 100_000_000;

/// Providers; the fact is the number of processors of their nodes.
#[rustfmt::skip] // a table
const PROVIDERS: &[Refusal<Provider, u64>] = &[
    refuse("processors", |it, _| it.nodes.is_empty() && it.processors == 0, "provider \"{name}\" has no processors", "needs processors",
        "add `processors`, or [[provider.node]] with `count` and `cores`"),
    refuse("node", |_, &processors| processors > MOST, "the nodes of provider \"{name}\" have {processors} processors: the maximum is {most}",
        "too many", "lower `count` or `cores`"),
    refuse("processors", |it, &processors| !it.nodes.is_empty() && processors <= MOST && u64::from(it.processors) != processors,
        "the nodes of provider \"{name}\" have {processors} processors", "not as many", "remove it, or write {processors}"),
];

/// Jobs that a workload lists.
#[rustfmt::skip] // a table
const JOBS: &[Refusal<InlineJob>] = &[
    refuse("memory-per-processor", |it, ()| it.memory_per_processor.is_some() && it.memory.is_some(),
        "a job has its `memory` as a whole and for each processor", "a second amount", "keep one of them"),
    refuse("memory-per-node", |it, ()| it.memory_per_node.is_some() && (it.memory.is_some() || it.memory_per_processor.is_some()),
        "a job has its memory on each node and in another form", "a second amount", "keep one of them"),
];

/// Steps that give demands.
#[rustfmt::skip] // a table
const STEPS: &[Refusal<Step>] = &[
    refuse("memory-from", |it, ()| matches!(it, Step::Demand { memory_per_processor: Some(_), memory_from: Some(_), .. }),
        "a step \"demand\" has two sources of memory", "a second source", "keep one of `memory-per-processor` and `memory-from`"),
    refuse("", |it, ()| matches!(it, Step::Demand { memory_per_processor: None, memory_from: None, gpus: None, exclusive: false }),
        "a step \"demand\" without a demand", "asks for nothing",
        "add `memory-per-processor`, `memory-from`, `gpus` or `exclusive = true`, or remove the step"),
];

impl Check<'_> {
    pub(super) fn check_placing_on_nodes(&mut self, names: &Names) {
        let uses = self.uses_of_nodes(names);
        self.check_rules_of_sites(&uses);
        for (index, provider) in self.scenario.providers.iter().enumerate() {
            let (path, name) = (item("provider", index), &provider.name);
            let processors = provider.nodes.iter().map(|it| it.processors()).sum::<u64>();
            let words: Words<'_> = &[("name", name), ("processors", &processors), ("most", &MOST)];
            self.refuse(PROVIDERS, &path, (provider, &processors), words);
            if provider.policy.plans_partly() {
                self.refuse(PLANNED_PARTLY, &path, (provider, &uses(index)), &[("name", name)]);
            }
            if self.scenario.places_on_nodes(provider) {
                self.refuse(ON_NODES, &path, (provider, &uses(index)), &[("name", name)]);
            }
        }
        for (index, workload) in self.scenario.workloads.iter().enumerate() {
            let path = item("workload", index);
            for (index, job) in workload.jobs.iter().flatten().enumerate() {
                self.check_wishes(&path.key("jobs").index(index), job);
            }
            for (index, step) in workload.steps.iter().enumerate() {
                self.refuse(STEPS, &path.key("step").index(index), (step, &()), &[]);
            }
        }
    }

    /// The uses of each provider, by its place.
    fn uses_of_nodes(&self, names: &Names) -> impl Fn(usize) -> UsesNodes + use<> {
        let mut spread = BTreeSet::new();
        let mut moved = BTreeSet::new();
        for metascheduler in &self.scenario.metaschedulers {
            let used = names.providers_meant(&metascheduler.providers);
            match metascheduler.role() {
                Role::Places(_) => {}
                Role::Moves(_) => moved.extend(used),
                Role::Composes(_) | Role::Spreads(_) | Role::Maps(_) => spread.extend(used),
            }
        }
        let windows = self.directory.asked_for_windows();
        let reserved = windows.iter().filter_map(|it| names.providers.get(*it).copied());
        let reserved = BTreeSet::from_iter(reserved);
        let closed = self.scenario.maintenance.iter().flat_map(|it| names.providers_meant(&it.of));
        let closed = BTreeSet::from_iter(closed);
        move |place| UsesNodes {
            spread: spread.contains(&place),
            moved: moved.contains(&place),
            reserved: reserved.contains(&place),
            closed: closed.contains(&place),
        }
    }

    /// Checks that the wishes of a listed job can be divided into equal chunks.
    fn check_wishes(&mut self, path: &Path, job: &InlineJob) {
        self.refuse(JOBS, path, (job, &()), &[]);
        let Some(wishes) = job.wishes() else { return };
        let Err(error) = Demand::new(job.processors, wishes) else { return };
        let (key, help) = match error {
            UnequalChunks::Processors { .. } | UnequalChunks::Gpus { .. } => {
                ("nodes", "write a number of nodes that divides both, or remove it")
            }
            UnequalChunks::NoNodes => ("memory-per-node", "add `nodes`, or use another key"),
        };
        self.report(&path.key(key), error.to_string(), "no equal parts", help);
    }

    /// Warns of listed jobs that never fit on the nodes of the provider to which they go, and of demands that no provider
    /// takes into account.
    pub(super) fn node_effects(&mut self, names: &Names) {
        let scenario = self.scenario;
        for user in &scenario.users {
            let Some(&place) = names.providers.get(user.submits_to.as_str()) else { continue };
            let provider = &scenario.providers[place];
            if !scenario.places_on_nodes(provider) {
                continue;
            }
            let nodes = provider.nodes_to_model();
            for place in self.directory.sources(user.workload.as_str()) {
                self.impossible_demands(place, provider, &nodes);
            }
        }
        let some_nodes = scenario.providers.iter().any(|it| !it.nodes.is_empty());
        for (index, provider) in scenario.providers.iter().enumerate() {
            let path = item("provider", index);
            let owner = format!("provider \"{}\"", provider.name);
            let read = scenario.places_on_nodes(provider);
            let why = match provider.nodes.is_empty() {
                true => "it has no nodes",
                false => "no job asks for more than processors, so that it counts these only",
            };
            let remedy = "remove it, or let jobs ask for memory, gpus or nodes (step \"demand\")";
            self.uses(&path.key("placing"), read, &owner, why, remedy);
            for place in 0..provider.nodes.len() {
                let group = path.key("node").index(place);
                for key in ["memory", "gpus"] {
                    self.uses(&group.key(key), read, &owner, why, remedy);
                }
            }
        }
        for (index, workload) in scenario.workloads.iter().enumerate() {
            let path = item("workload", index);
            if !workload.reading.demands.is_empty() {
                let owner = format!("the log of workload \"{}\"", workload.name);
                let at = path.key("reading").key("demands");
                self.uses(&at, some_nodes, &owner, NO_NODES, "remove it, or add [[provider.node]]");
            }
            let owner = format!("a job of workload \"{}\"", workload.name);
            for (index, job) in workload.jobs.iter().flatten().enumerate() {
                if job.wishes().is_some() {
                    let at = path.key("jobs").index(index);
                    self.demand_effects(&at, some_nodes, &owner);
                }
            }
            for (index, step) in workload.steps.iter().enumerate() {
                if matches!(step, Step::Demand { .. }) {
                    let at = path.key("step").index(index);
                    self.demand_effects(&at, some_nodes, "step \"demand\"");
                }
            }
        }
    }

    fn demand_effects(&mut self, path: &Path, read: bool, owner: &str) {
        let keys = [
            "memory",
            "memory-per-processor",
            "memory-per-node",
            "memory-from",
            "gpus",
            "nodes",
            "exclusive",
        ];
        for key in keys {
            self.uses(&path.key(key), read, owner, NO_NODES, "remove it, or add [[provider.node]]");
        }
    }

    fn impossible_demands(&mut self, place: usize, provider: &Provider, nodes: &Nodes) {
        let workload = &self.scenario.workloads[place];
        let changes = |step: &Step| matches!(step, Step::Demand { .. } | Step::Filter { .. });
        if workload.steps.iter().any(changes) {
            return;
        }
        let until = self.scenario.scenario.until;
        for (index, job) in workload.jobs.iter().flatten().enumerate() {
            let demand = job.wishes().and_then(|it| Demand::new(job.processors, it).ok());
            let arrives = until.is_none_or(|until| job.submit < until);
            let Some(demand) = demand.filter(|_| arrives) else { continue };
            let Some(lacks) = nodes.lacks(&demand) else { continue };
            let path = item("workload", place).key("jobs").index(index);
            let name = &provider.name;
            let message = format!(
                "a job of workload \"{}\" needs {demand}, and the nodes of provider \"{name}\" lack {}: it will be \
                 rejected",
                workload.name,
                match lacks {
                    Resource::Gpus => "accelerators",
                    other => other.name(),
                },
            );
            let groups = provider
                .nodes
                .iter()
                .map(|it| format!("{} of {}", it.count, it.to_model().capacity));
            let groups = Vec::from_iter(groups).join("; ");
            let help = match nodes.fits(&demand) {
                0 => format!("no node has all of that; the nodes are {groups}"),
                most => format!("write {most} of these parts at most; the nodes are {groups}"),
            };
            return self.doubt(&path, message, "never fits", help);
        }
    }
}
