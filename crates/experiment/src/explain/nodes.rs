//! Resources that a job lacked at a provider that places jobs on nodes.

use std::collections::BTreeMap;

use haggle_model::{Amounts, Demand, Resource};
use haggle_results::JobRow;
use haggle_results::sites::Site;

use super::Chronicle;
use super::spent::{Part, micros};

/// Intervals of a wait in which a resource of nodes was missing, in order (µs).
pub(super) fn missing(all: &Chronicle, job: &JobRow) -> Vec<(i64, i64, Part)> {
    let here = job.provider.as_ref().and_then(|name| Some((name, all.sites.get(name)?)));
    let Some((name, site)) = here else { return Vec::new() };
    let (from, until) =
        (job.queued.map_or(i64::MAX, micros), micros(job.start.unwrap_or(job.left)));
    let mut changes: Vec<(i64, u32, Amounts, bool)> = Vec::new();
    let by_job: BTreeMap<i64, &JobRow> = all.jobs.iter().map(|it| (it.job, it)).collect();
    let here = all.placements.iter().filter(|it| it.provider == *name);
    for it in site.holdings(here, |job| by_job.get(&job).map(|it| it.demand())) {
        changes.push((micros(it.start), it.node, it.amounts, true));
        changes.push((micros(it.end), it.node, it.amounts, false));
    }
    for it in all.outages.iter().filter(|it| it.provider == *name) {
        for (node, processors) in site.nodes.of(&site.processors(it.first, it.last)) {
            let lost = Amounts::processors(processors);
            changes.push((micros(it.failed), node, lost, true));
            changes.extend(it.restored.map(|back| (micros(back), node, lost, false)));
        }
    }
    // Resources are given back before others take them at the same instant.
    changes.sort_by_key(|&(time, node, _, takes)| (time, takes, node));
    let demand = job.demand();
    let mut free = site.nodes.capacities().to_vec();
    let mut missing = Vec::new();
    let mut now = from;
    for instant in changes.chunk_by(|a, b| a.0 == b.0) {
        let next = instant[0].0.min(until);
        tell(&mut missing, (now, next), lacks(site, &demand, &free));
        now = now.max(next);
        for &(_, node, amounts, takes) in instant {
            let free = &mut free[node as usize];
            if takes { *free -= amounts } else { *free += amounts }
        }
    }
    tell(&mut missing, (now, until), lacks(site, &demand, &free));
    missing
}

fn lacks(site: &Site, demand: &Demand, free: &[Amounts]) -> Option<Part> {
    site.nodes.lacks_in(demand, free).map(|resource| match resource {
        Resource::Memory => Part::Memory,
        Resource::Gpus => Part::Gpus,
        Resource::Processors => Part::Nodes,
    })
}

fn tell(missing: &mut Vec<(i64, i64, Part)>, (from, until): (i64, i64), part: Option<Part>) {
    missing.extend(part.filter(|_| from < until).map(|part| (from, until, part)));
}
