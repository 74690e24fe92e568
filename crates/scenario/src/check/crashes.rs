//! `[[failures]]` of actors: schedulers that crash and restart, machine or not.

use std::collections::BTreeSet;

use super::Check;
use super::exclusions::{CRASHES, LOST_IN_CRASHES, Owners};
use super::faults::{Fault, Talk};
use super::names::{Known, Names};
use super::rule::{Refusal, refuse};
use crate::file::{Failures, Metascheduler, Transport, User};
use crate::quantity::Name;
use haggle_config::document::Path;

/// Keys of a table that names actors: keys of processors are refused.
#[rustfmt::skip] // a table
const OF_PROCESSORS: &[Refusal<Failures>] = &[
    refuse("of", |it, ()| !it.of.is_empty(), MESSAGE, LABEL, HELP),
    refuse("nodes", |it, ()| it.nodes.is_some(), MESSAGE, LABEL, HELP),
    refuse("first-node", |it, ()| it.first_node.is_some(), MESSAGE, LABEL, HELP),
    refuse("processors-per-node", |it, ()| it.processors_per_node.is_some(), MESSAGE, LABEL, HELP),
    refuse("correlation", |it, ()| it.correlation.is_some(), MESSAGE, LABEL, HELP),
    refuse("recorded", |it, ()| it.recorded.is_some(), MESSAGE, LABEL, HELP),
];

const MESSAGE: &str = "`{key}` is about processors, and this table about actors";
const LABEL: &str = "not for actors";
const HELP: &str = "remove it, or make another [[failures]] for the processors";

impl Check<'_> {
    /// Checks a table that names actors.
    pub(super) fn check_crashes(&mut self, path: &Path, failures: &Failures, names: &Names) {
        let Some(actors) = &failures.actors else { return };
        let at = path.key("actors");
        if self.refuse_first(CRASHES, path, (failures, &self.owners()), &[]) {
            return;
        }
        let known: Known<'_> = names.actors().collect();
        for (index, actor) in actors.iter().enumerate() {
            if !known.contains(actor.as_str()) {
                self.unknown_name(&at.index(index), "actor", actor.as_str(), &known);
            }
        }
        self.refuse(OF_PROCESSORS, path, (failures, &()), &[]);
        let outages = failures.outages.iter().flatten().enumerate();
        for (index, _) in outages.filter(|(_, outage)| outage.len() == 1) {
            let message = "jobs at an actor that never restarts would never end";
            let at = path.key("outages").index(index);
            self.report(&at, message, "no restart", "write [crash, restart]");
        }
        let datagram = self.scenario.network.transport == Transport::Datagram;
        let overflow = self.scenario.overflow().is_some_and(|it| actors.contains(&it.to));
        let lost =
            || !self.is_said_again(actors, names) || self.keeps_tasks_waiting(actors) || overflow;
        let lost = datagram && lost();
        let remedies = if lost { self.remedies_of_loss(actors, names) } else { String::new() };
        // Without a remedy, the crash is refused for another reason.
        let lost = lost && !remedies.is_empty();
        self.refuse(LOST_IN_CRASHES, path, (failures, &lost), &[("remedies", &remedies)]);
    }

    /// Settings with which no job is lost if one of these actors crashes; empty if there is none.
    fn remedies_of_loss(&self, actors: &[Name], names: &Names) -> String {
        let concerned = self.concerned(actors, names);
        // A reliable transport delays messages without bound, which some metaschedulers do not survive either.
        let survives =
            |it: &&Metascheduler| Talk::of(it).survives(Fault::Loss, Transport::Reliable);
        let mut remedies = Vec::new();
        if concerned.iter().all(survives) {
            remedies.push("`transport = \"reliable\"` in [network]".to_owned());
        }
        let tables = concerned.into_iter().map(|it| it.retry_table());
        if let Some(tables) = tables.collect::<Option<BTreeSet<_>>>() {
            remedies.extend(tables.iter().map(|it| format!("`retry` of [metascheduler.{it}]")));
        }
        if remedies.is_empty() { String::new() } else { format!("set {}", remedies.join(", or ")) }
    }

    /// Owners of resources, if these are not providers.
    pub(super) fn owners(&self) -> Owners {
        let none = self.scenario.providers.is_empty();
        let grid = self.scenario.grid.is_some();
        Owners {
            only_grid: none && grid,
            only_plans: none && !grid && self.scenario.plans.is_some(),
        }
    }

    /// True if one of these actors is a user of workflows, or the target of one. Tasks then wait for messages
    /// about other tasks.
    fn keeps_tasks_waiting(&self, actors: &[Name]) -> bool {
        let actors: BTreeSet<&Name> = actors.iter().collect();
        let concerned =
            |user: &&User| actors.contains(&user.name) || actors.contains(&user.submits_to);
        let has_tasks = |user| self.directory.workflows_of(user).next().is_some();
        self.scenario.users.iter().filter(concerned).any(has_tasks)
    }

    /// True if all metaschedulers that are or use one of these actors send lost messages again.
    fn is_said_again(&self, actors: &[Name], names: &Names) -> bool {
        self.concerned(actors, names).iter().all(|it| it.retry().is_some())
    }

    /// The metaschedulers among these actors, and those with one of them as provider.
    fn concerned(&self, actors: &[Name], names: &Names) -> Vec<&Metascheduler> {
        let actors: BTreeSet<&str> = actors.iter().map(|it| it.as_str()).collect();
        let matters = |it: &&Metascheduler| {
            let mut meant = names.copies_meant(&it.providers).into_iter();
            actors.contains(it.name.as_str()) || meant.any(|copy| actors.contains(copy.as_str()))
        };
        self.scenario.metaschedulers.iter().filter(matters).collect()
    }
}
