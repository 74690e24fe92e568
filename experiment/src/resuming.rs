//! What becomes of rigid jobs whose processors fail.

use haggle_agents::OnFailure;
use haggle_model::Span;
use haggle_scheduling::CheckpointRule;
use haggle_scheduling::checkpoints::{Every, Nodes, Volume};
use haggle_scheduling::own::NoSuchRule;

use haggle_scenario::Scenario;
use haggle_scenario::file;

pub(super) fn on_failure(
    scenario: &Scenario,
    provider: &file::Provider,
) -> Result<OnFailure, NoSuchRule> {
    Ok(match provider.on_failure.unwrap_or_default() {
        file::OnFailure::Restart => OnFailure::Restart,
        file::OnFailure::Requeue => OnFailure::Requeue,
        file::OnFailure::Resume => {
            let it = provider.checkpoints.as_ref().expect("the scenario has been checked");
            OnFailure::Resume(CheckpointRule {
                every: every(scenario, provider, it)?,
                cost: it.cost.0,
                recovery: it.recovery.0,
                volume: it.size.zip(it.bandwidth).map(|(size, bandwidth)| Volume {
                    bytes: size.0,
                    bandwidth: (bandwidth.0.round() as u64).max(1),
                }),
            })
        }
        file::OnFailure::Fail => OnFailure::Fail,
    })
}

/// For how long jobs compute between two checkpoints.
fn every(
    scenario: &Scenario,
    provider: &file::Provider,
    it: &file::JobCheckpoints,
) -> Result<Every, NoSuchRule> {
    let fails = |table: &&file::Failures| table.of.is_empty() || table.of.contains(&provider.name);
    let table = scenario.processor_failures().find(fails);
    let nodes = Nodes {
        mtbf: it.mtbf.map_or(Span::FOREVER, |mtbf| mtbf.0),
        processors: table.map_or(1, |table| table.processors_per_node.max(1)),
    };
    Ok(match &it.rule {
        file::JobCheckpointRule::Periodic => {
            Every::Interval(it.interval.expect("the scenario has been checked").0)
        }
        file::JobCheckpointRule::Young => Every::Young(nodes),
        file::JobCheckpointRule::Daly => Every::Daly(nodes),
        file::JobCheckpointRule::Own(name) => {
            Every::Own(nodes, scenario.own.job_checkpoints.get(name.as_str())?)
        }
    })
}
