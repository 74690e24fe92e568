//! Queues and limits of a provider that kept a job from its start, or refused it.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::{Amounts, Demand, Span, Time};
use haggle_results::JobRow;
use haggle_scheduling::Slot;
use haggle_scheduling::site::{Class, Denied, Entry, Owner, QueueNumber, Site, SiteConfig};
use serde::Serialize;

use super::Chronicle;
use super::spent::{Part, micros, seconds};

/// The rules of its provider under which a job waited or ran.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnderRules {
    /// The name of its queue; `None` without queues.
    pub queue: Option<String>,
    /// The name of its quality of service; `None` = it has none.
    pub qos: Option<String>,
    /// The name of its account; `None` = it is beside all accounts.
    pub account: Option<String>,
    /// True if priorities decide the order of the queue.
    pub by_priority: bool,
    /// Its priority at its start, or at the last calculation while it waited.
    pub priority: Option<i64>,
    /// The factors of its priority with their contributions.
    pub factors: Vec<(&'static str, f64)>,
}

/// A limit that kept a job from its start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeptByLimit {
    /// The limit, by the word that Slurm has for it.
    pub limit: String,
    /// Begin of the time in which it kept the job, s.
    pub from: f64,
    /// End of that time, s.
    pub until: f64,
}

/// The reason for which the queues and limits of a provider refused a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NotPermitted {
    /// No queue has this queue number.
    NoQueue(i64),
    /// No queue has this partition number.
    NoPartition(i64),
    /// The queue of this name is not open to its owner.
    NoAccess(String),
    /// No quality of service has this number.
    NoQos(i64),
    /// The quality of service of this name is not open to its owner.
    NoQosAccess(String),
    /// The nodes of the queue of this name never have room for it.
    NeverFits(String),
    /// A limit that it exceeds, by the word that Slurm has for it.
    Limit(String),
    /// Its owner had as many jobs as it may have.
    TooManyJobs,
}

fn owner(job: &JobRow) -> Owner {
    let number = |it: i64| i32::try_from(it).unwrap_or(-1);
    Owner {
        user: number(job.user),
        group: number(job.group),
        queue: number(job.queue),
        partition: number(job.partition),
    }
}

/// The rules of a provider without jobs; `None` if it has none.
fn site(all: &Chronicle, provider: &str) -> Option<Site> {
    let rules = all.about.rules.get(provider)?;
    let config: SiteConfig = serde_json::from_value(rules.clone()).ok()?;
    if let Some(site) = all.sites.get(provider) {
        return Some(Site::new(&config, site.nodes.capacities(), true));
    }
    let resource = all.resources.iter().find(|it| it.provider == provider)?;
    let processors = u32::try_from(resource.processors).ok()?;
    Some(Site::new(&config, &[Amounts::processors(processors)], false))
}

/// A job as it comes to a provider.
fn entry(all: &Chronicle, provider: &str, job: &JobRow) -> Entry {
    let processors = || Demand::processors(u32::try_from(job.processors).unwrap_or(u32::MAX));
    Entry {
        owner: owner(job),
        demand: if all.sites.contains_key(provider) { job.demand() } else { processors() },
        limit: job.walltime.or(job.limit()).map(|it| Span::from_micros(micros(it))),
    }
}

/// The rules of its provider under which a job waited or ran; `None` if there are none.
pub(super) fn under(all: &Chronicle, job: &JobRow) -> Option<UnderRules> {
    let provider = job.provider.as_deref().filter(|_| job.queued.is_some())?;
    let site = site(all, provider)?;
    let owner = owner(job);
    let ran_before = job.initial.as_deref() == Some("running");
    let class =
        if ran_before { Class::default() } else { site.class_of(owner).unwrap_or_default() };
    let factors = [
        ("age", job.priority_age),
        ("fair share", job.priority_fair_share),
        ("size", job.priority_size),
        ("queue", job.priority_queue),
        ("quality of service", job.priority_qos),
    ];
    Some(UnderRules {
        queue: class.queue.map(|it| site.queues()[it as usize].name.clone()),
        qos: class.qos.map(|it| site.qos()[it as usize].name.clone()),
        account: site.account_of(owner).map(str::to_owned),
        by_priority: site.has_priority(),
        priority: job.priority,
        factors: factors.into_iter().filter_map(|(name, it)| Some((name, it?))).collect(),
    })
}

/// The jobs whose queues have no node of a job's queue, at its provider: they are neither before nor behind it.
pub(super) fn elsewhere(all: &Chronicle, job: &JobRow) -> BTreeSet<i64> {
    let queue = |site: &Site, job: &JobRow| site.class_of(owner(job)).ok().and_then(|it| it.queue);
    let site = job.provider.as_deref().and_then(|it| site(all, it));
    let Some((site, own)) = site.and_then(|site| queue(&site, job).map(|own| (site, own))) else {
        return BTreeSet::new();
    };
    // Once for each queue: there are many jobs, and sharing is searched node by node.
    let queues = 0..site.queues().len() as u32;
    let shared = Vec::from_iter(queues.map(|other| site.share_nodes(own, other)));
    let is_elsewhere = |it: &&JobRow| queue(&site, it).is_some_and(|other| !shared[other as usize]);
    all.jobs.iter().filter(is_elsewhere).map(|it| it.job).collect()
}

/// The limits that kept a job from its start while it was queued, in order.
pub(super) fn kept(all: &Chronicle, job: &JobRow) -> Vec<KeptByLimit> {
    let Some(provider) = job.provider.as_deref() else { return Vec::new() };
    let Some(mut site) = site(all, provider) else { return Vec::new() };
    let by_job: BTreeMap<i64, &JobRow> = all.jobs.iter().map(|it| (it.job, it)).collect();
    let (from, until) =
        (job.queued.map_or(i64::MAX, micros), micros(job.start.unwrap_or(job.left)));
    let mut changes = Vec::new();
    for (slot, it) in (1..).zip(&all.attempts) {
        let other = by_job.get(&it.job).filter(|_| it.provider == provider && it.job != job.job);
        let Some((other, start)) = other.zip(it.start) else { continue };
        changes.push((micros(start), true, Slot(slot), *other));
        changes.extend(it.end.map(|end| (micros(end), false, Slot(slot), *other)));
    }
    // Jobs end before others start at the same instant.
    changes.sort_by_key(|&(time, starts, slot, _)| (time, starts, slot));
    let own = Slot(0);
    site.join(Time::ZERO, own, &entry(all, provider, job));
    let mut kept: Vec<KeptByLimit> = Vec::new();
    let mut tell = |site: &Site, from: i64, until: i64| {
        let Err(reason) = site.may_start(own) else { return };
        if from >= until {
            return;
        }
        let (limit, from, until) = (reason.name().to_owned(), seconds(from), seconds(until));
        match kept.last_mut().filter(|it| it.limit == limit && it.until == from) {
            Some(last) => last.until = until,
            None => kept.push(KeptByLimit { limit, from, until }),
        }
    };
    let mut now = from;
    for instant in changes.chunk_by(|a, b| a.0 == b.0) {
        let next = instant[0].0.min(until);
        tell(&site, now, next);
        now = now.max(next);
        let at = Time::from_micros(instant[0].0);
        for &(_, starts, slot, other) in instant {
            if starts {
                site.join(at, slot, &entry(all, provider, other));
                site.start(at, slot);
            } else {
                site.end(at, slot);
            }
        }
    }
    tell(&site, now, until);
    kept
}

/// The intervals of [`kept`], for the parts of the wait (µs).
pub(super) fn intervals(kept: &[KeptByLimit]) -> Vec<(i64, i64, Part)> {
    kept.iter().map(|it| (micros(it.from), micros(it.until), Part::Limit)).collect()
}

/// The reason for which the provider that its user submits to refused a job.
pub(super) fn refused(all: &Chronicle, job: &JobRow) -> Option<NotPermitted> {
    if job.refusal.as_deref() != Some("not_permitted") {
        return None;
    }
    let users = all.about.users_of(&job.workload).iter();
    users.map(|it| it.submits_to.as_str()).find_map(|provider| {
        let mut site = site(all, provider)?;
        let denied = site.accept(Time::ZERO, Slot(0), &entry(all, provider, job)).err();
        let queue = |index: u32| site.queues()[index as usize].name.clone();
        let qos = |index: u32| site.qos()[index as usize].name.clone();
        Some(match denied {
            None => NotPermitted::TooManyJobs,
            Some(Denied::NoQueue) => match site.queues_by() {
                QueueNumber::Queue => NotPermitted::NoQueue(job.queue),
                QueueNumber::Partition => NotPermitted::NoPartition(job.partition),
            },
            Some(Denied::NoAccess(index)) => NotPermitted::NoAccess(queue(index)),
            Some(Denied::NoQos) => NotPermitted::NoQos(job.queue),
            Some(Denied::NoQosAccess(index)) => NotPermitted::NoQosAccess(qos(index)),
            Some(Denied::NeverFits(index)) => NotPermitted::NeverFits(queue(index)),
            Some(Denied::Limit(reason)) => NotPermitted::Limit(reason.name().to_owned()),
        })
    })
}
