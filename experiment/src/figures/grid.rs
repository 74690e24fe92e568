//! Timelines of a grid: of its resources, and of a job.

use std::collections::BTreeMap;

use haggle_plots::load::{self, Part, Tables, World};
use haggle_plots::{Figure, PlotError, Shows, Timeline};

use super::{part, title};
use haggle_scenario::{Scenario, file};

/// What the slots of a grid's resources did when.
pub(super) fn resource_timeline(
    figure: &file::Figure,
    scenario: &Scenario,
    run: &Tables,
) -> Result<Figure, PlotError> {
    let slots = |site: &file::Site| site.slots().unwrap_or(1) as usize;
    let slots: BTreeMap<String, usize> = scenario
        .grid
        .iter()
        .flat_map(|grid| &grid.sites)
        .flat_map(|site| site.resource_names().map(move |name| (name, slots(site))))
        .collect();
    let slots = |name: &str| slots.get(name).copied().unwrap_or(1);
    let title = title(figure, scenario, "slots over time");
    load::resource_timeline(run, &title, &part(figure), slots).map(Figure::ResourceTimeline)
}

/// One job across its attempts.
pub(super) fn job_timeline(
    figure: &file::Figure,
    scenario: &Scenario,
    run: &Tables,
) -> Result<Figure, PlotError> {
    let title = title(figure, scenario, "a job and its attempts");
    let job = figure.job.map(i64::from);
    load::job_timeline(run, &title, &part(figure), job).map(Figure::JobTimeline)
}

/// What attempts held of the resources: slots, or the shares they reserve.
pub(super) fn timeline(
    (grid, world): (&file::Grid, &World<'_>),
    scenario: &Scenario,
    run: &Tables,
    title: &str,
    (part, shows): (&Part, Shows),
) -> Result<Timeline, PlotError> {
    let reserves = grid.sites.iter().any(|site| site.sharing == file::Sharing::Reserved);
    let sites = grid.sites.iter();
    let slots: BTreeMap<String, Option<u32>> =
        sites.flat_map(|site| site.resource_names().map(|name| (name, site.slots()))).collect();
    let shares: BTreeMap<&str, f64> = scenario
        .workloads
        .iter()
        .filter_map(|it| Some((it.name.as_str(), it.share?.fraction())))
        .collect();
    let amount = |resource: &str, workload: &str| match slots.get(resource) {
        Some(Some(slots)) if !reserves => 1.0 / f64::from(*slots),
        _ => shares.get(workload).copied().unwrap_or(1.0),
    };
    let held = if reserves { "reserved share" } else { "slots held" };
    load::grid_timeline(run, title, part, shows, held, (world, amount))
}
