//! From `checkpoints` of a grid or a provider to the rule by which jobs save their progress.

use haggle_agents::grid::Checkpoints;
use haggle_model::Span;
use haggle_scenario::Rules;
use haggle_scheduling::CheckpointRule;
use haggle_scheduling::checkpoints::{CheckpointCost, Every, IntervalRule, Length, Nodes, Volume};
use haggle_scheduling::own::NoSuchRule;

use super::data::way;
use haggle_scenario::quantity::{Bandwidth, TimeOrShare};
use haggle_scenario::{Scenario, file};

/// Reserve of a plan for the rounding of a transfer over shared links.
const ROUNDING: Span = Span::from_micros(1_000);

/// Checkpoints of jobs on a grid.
///
/// # Errors
/// If an own rule is unknown.
pub(super) fn on_grid(written: &file::Checkpoints, own: &Rules) -> Result<Checkpoints, NoSuchRule> {
    let mtbf = written.mtbf.map(|mtbf| mtbf.0);
    Ok(Checkpoints {
        rule: match &written.rule {
            file::CheckpointRule::Periodic => {
                IntervalRule::Periodic { interval: interval(written) }
            }
            file::CheckpointRule::LastFailure => last_failure(written),
            file::CheckpointRule::MeanFailure => mean_failure(written),
            file::CheckpointRule::Young => IntervalRule::Young { mtbf },
            file::CheckpointRule::Daly => IntervalRule::Daly { mtbf },
            file::CheckpointRule::Own(name) => {
                IntervalRule::Own(own.grid_checkpoints.get(name.as_str())?)
            }
        },
        cost: written.cost.map_or(CheckpointCost::BY_LENGTH, |it| CheckpointCost::Constant(it.0)),
        recovery: written.recovery.0,
        mean_failure: written.mean_failure,
    })
}

/// Checkpoints of rigid jobs at a provider.
///
/// # Errors
/// If an own rule is unknown.
pub(super) fn of_rigid_jobs(
    scenario: &Scenario,
    provider: &file::Provider,
    written: &file::Checkpoints,
) -> Result<CheckpointRule, NoSuchRule> {
    let fails = |table: &&file::Failures| table.of.is_empty() || table.of.contains(&provider.name);
    let table = scenario.processor_failures().find(fails);
    // Without failures of this provider, each processor counts as a node.
    let own = provider.nodes.iter().map(|it| it.cores).max().unwrap_or(1);
    let node = table.map_or(1, |table| table.processors_per_node.unwrap_or(own).max(1));
    let known = written.mtbf.map(|mtbf| Nodes { mtbf: mtbf.0, processors: node });
    let adaptive = |rule| Every::Adaptive { rule, node, mean_failure: written.mean_failure };
    Ok(CheckpointRule {
        every: match &written.rule {
            file::CheckpointRule::Periodic => Every::Interval(interval(written)),
            file::CheckpointRule::LastFailure => adaptive(last_failure(written)),
            file::CheckpointRule::MeanFailure => adaptive(mean_failure(written)),
            file::CheckpointRule::Young => {
                known.map_or(adaptive(IntervalRule::Young { mtbf: None }), Every::Young)
            }
            file::CheckpointRule::Daly => {
                known.map_or(adaptive(IntervalRule::Daly { mtbf: None }), Every::Daly)
            }
            file::CheckpointRule::Own(name) => {
                let nodes = known.unwrap_or(Nodes { mtbf: Span::FOREVER, processors: node });
                Every::Own(nodes, scenario.own.job_checkpoints.get(name.as_str())?)
            }
        },
        cost: written.cost.map_or(Span::ZERO, |cost| cost.0),
        recovery: written.recovery.0,
        volume: written.size.and_then(|size| volume(scenario, provider, written, size.0)),
    })
}

/// Transfer of checkpoints, of so many bytes a processor, to their storage.
fn volume(
    scenario: &Scenario,
    provider: &file::Provider,
    written: &file::Checkpoints,
    bytes: u64,
) -> Option<Volume> {
    // At least one bit per second: a plan divides by it.
    let whole = |rate: f64| (rate as u64).max(1);
    if let Some(store) = scenario.store_of(provider) {
        let (latency, Bandwidth(rate)) = way(scenario, provider.name.as_str(), store.as_str());
        return Some(match scenario.link_sharing() {
            // Rates change during a flow, and its end is rounded up at each change.
            Some(_) => Volume { bytes, latency, bandwidth: whole(rate), rounding: ROUNDING },
            None => Volume { bytes, latency, bandwidth: whole(rate.round()), rounding: Span::ZERO },
        });
    }
    let Bandwidth(rate) = written.bandwidth?;
    let bandwidth = whole(rate.round());
    Some(Volume { bytes, latency: Span::ZERO, bandwidth, rounding: Span::ZERO })
}

fn interval(written: &file::Checkpoints) -> Span {
    written.interval.expect("the scenario has been checked").0
}

fn last_failure(written: &file::Checkpoints) -> IntervalRule {
    IntervalRule::LastFailure { interval: interval(written), max_omit: written.omit_max }
}

fn mean_failure(written: &file::Checkpoints) -> IntervalRule {
    let interval = interval(written);
    IntervalRule::MeanFailure {
        interval,
        minimum: length(written.interval_min),
        step: written.step.map_or(Length::Fixed(interval), length),
        limit: written.limit.exact(),
        first: written.first.0,
    }
}

fn length(written: TimeOrShare) -> Length {
    match written {
        TimeOrShare::Time(time) => Length::Fixed(time.0),
        TimeOrShare::Share(share) => Length::OfExecution(share.exact()),
    }
}
