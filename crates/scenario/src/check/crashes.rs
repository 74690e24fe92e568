//! `[[failures]]` of actors: schedulers that crash and restart, machine or not.

use std::collections::BTreeSet;

use super::Check;
use super::names::{Known, Names};
use crate::file::{Failures, Metascheduler, Transport, User};
use crate::quantity::Name;
use haggle_config::document::Path;

impl Check<'_> {
    /// Checks a table that names actors.
    pub(super) fn check_crashes(&mut self, path: &Path, failures: &Failures, names: &Names) {
        let Some(actors) = &failures.actors else { return };
        let at = path.key("actors");
        let none = self.scenario.providers.is_empty();
        if none && self.scenario.grid.is_some() {
            return self.report(
                &at,
                "actors of grids do not crash".to_owned(),
                "not for grids",
                "let resources fail: `of = [\"a-site\"]`".to_owned(),
            );
        }
        if none && self.scenario.plans.is_some() {
            return self.report(
                &at,
                "clusters and their metascheduler do not crash".to_owned(),
                "not with plans",
                "let machines fail: `of = [\"a-cluster\"]`".to_owned(),
            );
        }
        let known: Known<'_> = names.actors().collect();
        for (index, actor) in actors.iter().enumerate() {
            if !known.contains(actor.as_str()) {
                self.unknown_name(&at.index(index), "actor", actor.as_str(), &known);
            }
        }
        let machines = [
            ("of", !failures.of.is_empty()),
            ("nodes", failures.nodes.is_some()),
            ("processors-per-node", failures.processors_per_node != 1),
            ("correlation", failures.correlation.is_some()),
            ("recorded", failures.recorded.is_some()),
        ];
        for (key, _) in machines.into_iter().filter(|(_, given)| *given) {
            self.report(
                &path.key(key),
                format!("`{key}` is about processors, and this table about actors"),
                "not for actors",
                "remove it, or make another [[failures]] for the processors".to_owned(),
            );
        }
        let outages = failures.outages.iter().flatten().enumerate();
        for (index, _) in outages.filter(|(_, outage)| outage.len() == 1) {
            self.report(
                &path.key("outages").index(index),
                "jobs at an actor that never restarts would never end".to_owned(),
                "no restart",
                "write [crash, restart]".to_owned(),
            );
        }
        let lost = self.scenario.network.transport == Transport::Datagram;
        let overflow = self.scenario.overflow().is_some_and(|it| actors.contains(&it.to));
        if lost
            && (!self.is_said_again(actors, names) || self.keeps_tasks_waiting(actors) || overflow)
        {
            let mut remedies = vec!["set `transport = \"reliable\"` in [network]".to_owned()];
            let tables = self.concerned(actors, names).into_iter().map(|it| it.retry_table());
            if let Some(tables) = tables.collect::<Option<BTreeSet<_>>>() {
                let keys = tables.iter().map(|it| format!("`retry` of [metascheduler.{it}]"));
                remedies.extend(keys);
            }
            self.report(
                &at,
                "messages to an actor that is down are lost, and jobs with them".to_owned(),
                "not survived",
                remedies.join(", or "),
            );
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
