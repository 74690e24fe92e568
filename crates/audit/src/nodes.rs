//! `nodes` against `placements` and the demands of `jobs`.

use std::collections::BTreeMap;

use haggle_model::Demand;
use haggle_results::reader::NodeRow;
use haggle_results::sites::sites;
use haggle_results::{JobRow, PlacementRow, ResultsError, RunReader, Table};

use super::Books;
use super::findings::Findings;
use super::rows::micros;

/// The rows of a run in which jobs are placed on nodes.
#[derive(Default)]
pub(super) struct OnNodes {
    nodes: Vec<NodeRow>,
    jobs: Vec<JobRow>,
    placements: Vec<PlacementRow>,
}

impl OnNodes {
    /// The rows; none if the run has no nodes.
    pub(super) fn read(run: &RunReader) -> Result<OnNodes, ResultsError> {
        if !run.has(Table::Nodes) {
            return Ok(OnNodes::default());
        }
        Ok(OnNodes { nodes: run.nodes()?, jobs: run.jobs()?, placements: run.placements()? })
    }
}

/// Checks that no node gives more than it has at any time.
pub(super) fn check(books: &Books, findings: &mut Findings) {
    let OnNodes { nodes, jobs, placements } = &books.rows.on_nodes;
    let demands: BTreeMap<i64, Demand> = jobs.iter().map(|it| (it.job, it.demand())).collect();
    for (name, site) in sites(nodes) {
        let here = placements.iter().filter(|it| it.provider == name);
        let mut changes = Vec::new();
        for it in site.holdings(here, |job| demands.get(&job).copied()) {
            changes.push((micros(it.start), true, it));
            changes.push((micros(it.end), false, it));
        }
        // Resources are given back before others take them at the same instant.
        changes.sort_by_key(|&(time, takes, it)| (time, takes, it.node, it.job));
        let mut free = site.nodes.capacities().to_vec();
        for (time, takes, it) in changes {
            let left = &mut free[it.node as usize];
            if !takes {
                *left += it.amounts;
            } else if left.hold(&it.amounts) {
                *left -= it.amounts;
            } else {
                let rule = "no node gives more than it has";
                findings.expect(false, rule, || {
                    format!("job {}, node {} of {name}, {time} us", it.job, it.node)
                });
                // Other cases would only follow from this one.
                break;
            }
        }
    }
    for job in jobs {
        let wanted = job.demand();
        let Some((nodes, allocated)) = job.allocated_nodes.as_ref().zip(job.allocated.as_ref())
        else {
            continue;
        };
        let is_apart = !wanted.apart || nodes.count() == wanted.chunks;
        findings.expect(is_apart, "a job has as many nodes as it asks for", || {
            format!("job {}", job.job)
        });
        let is_enough = allocated.count() >= wanted.total().processors;
        findings.expect(is_enough, "a job on nodes has all of its processors", || {
            format!("job {}", job.job)
        });
    }
}
