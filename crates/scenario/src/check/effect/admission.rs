//! Listed jobs that the queues and limits of their provider never admit.
//!
//! Only certain cases are reported. Jobs that a step may drop or change are skipped here; the run counts their
//! rejections.

use haggle_model::{Amounts, Demand, Time};
use haggle_scheduling::Slot;
use haggle_scheduling::site::{Denied, Entry, Owner, QueueNumber, Site};

use super::impossible::others;
use crate::check::Check;
use crate::file::{InlineJob, Provider, Workload};
use haggle_config::document::Path;

/// A listed job, with its path and the reason for which it is never admitted.
type NotAdmitted = (Path, Owner, Denied);

impl Check<'_> {
    pub(super) fn jobs_not_admitted(&mut self) {
        for user in &self.scenario.users {
            let provider = self.scenario.providers.iter().find(|it| it.name == user.submits_to);
            let Some(provider) = provider.filter(|it| it.has_rules()) else { continue };
            let Some(place) = self.directory.workload_place(user.workload.as_str()) else {
                continue;
            };
            let workload = &self.scenario.workloads[place];
            if workload.steps.is_empty() {
                self.not_admitted(&Path::root().key("workload").index(place), workload, provider);
            }
        }
    }

    fn not_admitted(&mut self, path: &Path, workload: &Workload, provider: &Provider) {
        let on_nodes = self.scenario.places_on_nodes(provider);
        let Some(mut site) = site(provider, on_nodes) else { return };
        let jobs = Vec::from_iter(self.listed(path, workload));
        let denied = jobs.iter().filter_map(|(at, job)| {
            let entry = entry(job, provider, on_nodes);
            let denied = site.accept(Time::ZERO, Slot(0), &entry).err();
            // The jobs are examined one by one.
            site.leave(Slot(0));
            Some((at.clone(), entry.owner, denied?))
        });
        let denied = Vec::from_iter(denied);
        let of_class = denied.iter().filter(|it| place(it.2, &site).is_some());
        let of_class: Vec<&NotAdmitted> = of_class.collect();
        if let Some(&(at, owner, reason)) = of_class.first() {
            let Some((key, help)) = place(*reason, &site) else { return };
            let message = format!(
                "a job of workload \"{}\" {}: it will be rejected{}",
                workload.name,
                because(*reason, *owner, &site, provider.name.as_str()),
                others(of_class.len())
            );
            // A job without a number is in the first queue.
            let number = at.key(key);
            let at = if self.root.at(&number).is_some() { &number } else { at };
            self.doubt(at, message, "not admitted", help.to_owned());
        } else if let Some((at, owner, reason)) =
            denied.first().filter(|_| denied.len() == jobs.len())
        {
            let message = format!(
                "a job of workload \"{}\" {}: it will be rejected, and so will all others of its list",
                workload.name,
                because(*reason, *owner, &site, provider.name.as_str()),
            );
            let help = "raise the limit, or list jobs that keep to it".to_owned();
            self.doubt(at, message, "not admitted", help);
        }
    }
}

/// The rules of a provider without jobs.
fn site(provider: &Provider, on_nodes: bool) -> Option<Site> {
    let rules = provider.rules()?;
    Some(match on_nodes {
        true => Site::new(&rules, provider.nodes_to_model().capacities(), true),
        false => Site::new(&rules, &[Amounts::processors(provider.processors)], false),
    })
}

/// A listed job as it comes to a provider.
fn entry(job: &InlineJob, provider: &Provider, on_nodes: bool) -> Entry {
    let job = job.to_model(1);
    let demand = job.demand.as_deref().copied().filter(|_| on_nodes);
    Entry {
        owner: Owner::from(&job.origin),
        demand: demand.unwrap_or(Demand::processors(job.processors)),
        limit: job.requested_time.map(|time| time.at_speed(provider.speed)),
    }
}

/// The key of a job because of which no queue or quality of service takes it, and a remedy; `None` for limits.
fn place(denied: Denied, site: &Site) -> Option<(&'static str, &'static str)> {
    let by = match site.queues_by() {
        QueueNumber::Queue => "queue",
        QueueNumber::Partition => "partition",
    };
    Some(match denied {
        Denied::NoQueue => (by, "correct the number, or add a [[provider.queue]] with it"),
        Denied::NoAccess(_) => (
            by,
            "choose another queue, or add the job's user and group to `users` and `groups` of it",
        ),
        Denied::NoQos => ("queue", "correct the number, or add a [[provider.qos]] with it"),
        Denied::NoQosAccess(_) => (
            "queue",
            "choose another quality of service, or add the job's user and group to `users` and `groups` of it",
        ),
        Denied::NeverFits(_) | Denied::Limit(_) => return None,
    })
}

fn because(denied: Denied, owner: Owner, site: &Site, provider: &str) -> String {
    let queue = |index: u32| &site.queues()[index as usize].name;
    match denied {
        Denied::NoQueue => {
            let (kind, number) = match site.queues_by() {
                QueueNumber::Queue => ("queue", owner.queue),
                QueueNumber::Partition => ("partition", owner.partition),
            };
            format!("has {kind} number {number}, and no queue of provider \"{provider}\" has it")
        }
        Denied::NoAccess(index) => format!(
            "belongs to queue \"{}\" of provider \"{provider}\", which its user or group may not use",
            queue(index)
        ),
        Denied::NoQos => format!(
            "has queue number {}, and no quality of service of provider \"{provider}\" has it",
            owner.queue
        ),
        Denied::NoQosAccess(index) => format!(
            "has quality of service \"{}\" of provider \"{provider}\", which its user or group may not use",
            site.qos()[index as usize].name
        ),
        Denied::NeverFits(index) => format!(
            "never fits on the nodes of queue \"{}\" of provider \"{provider}\"",
            queue(index)
        ),
        Denied::Limit(reason) => {
            format!("exceeds a limit of provider \"{provider}\" even alone ({})", reason.name())
        }
    }
}
