//! What attempts held of the resources of a grid over time.

use std::collections::BTreeMap;

use haggle_plots::load::{self, Part, Tables};
use haggle_plots::{PlotError, Shows, Timeline};

/// What attempts held of the resources: slots, or the shares they reserve.
pub(super) fn timeline(
    run: &Tables,
    title: &str,
    part: &Part,
    shows: Shows,
) -> Result<Timeline, PlotError> {
    let resources = run.resources()?;
    let reserves = resources.iter().any(|it| it.sharing.as_deref() == Some("reserved"));
    let slots: BTreeMap<&str, i64> =
        resources.iter().filter_map(|it| Some((it.provider.as_str(), it.slots?))).collect();
    let workloads = run.about()?.workloads.iter();
    let shares: BTreeMap<&str, f64> =
        workloads.filter_map(|it| Some((it.name.as_str(), it.share?))).collect();
    let amount = |resource: &str, workload: &str| match slots.get(resource) {
        Some(slots) if !reserves => 1.0 / *slots as f64,
        _ => shares.get(workload).copied().unwrap_or(1.0),
    };
    let held = if reserves { "reserved share" } else { "slots held" };
    load::grid_timeline(run, title, part, shows, (held, amount))
}
