//! Timelines of a grid: of its resources, and of a job.

use std::collections::BTreeMap;

use haggle_plots::load::{self, Tables};
use haggle_plots::{Figure, PlotError};

use super::{part, title};
use crate::scenario::{Scenario, file};

/// What the slots of a grid's resources did when.
pub(super) fn resource_timeline(
    figure: &file::Figure,
    scenario: &Scenario,
    run: &Tables,
) -> Result<Figure, PlotError> {
    let grid = grid_of(figure, scenario)?;
    let slots = |site: &file::Site| site.slots().unwrap_or(1) as usize;
    let slots: BTreeMap<String, usize> = grid
        .sites
        .iter()
        .flat_map(|site| site.resource_names().map(move |name| (name, slots(site))))
        .collect();
    let slots = |name: &str| slots.get(name).copied().unwrap_or(1);
    let title = title(figure, scenario, "who held which slot when");
    load::resource_timeline(run, &title, &part(figure), slots).map(Figure::ResourceTimeline)
}

/// One job across its tries.
pub(super) fn job_timeline(
    figure: &file::Figure,
    scenario: &Scenario,
    run: &Tables,
) -> Result<Figure, PlotError> {
    grid_of(figure, scenario)?;
    let title = title(figure, scenario, "a job and its tries");
    let job = figure.job.map(i64::from);
    load::job_timeline(run, &title, &part(figure), job).map(Figure::JobTimeline)
}

fn grid_of<'s>(figure: &file::Figure, scenario: &'s Scenario) -> Result<&'s file::Grid, PlotError> {
    scenario.grid.as_ref().ok_or_else(|| {
        let kind = figure.kind.name();
        PlotError::Unsuitable(format!(
            "\"{kind}\" shows a grid, and this run has none: use \"gantt\""
        ))
    })
}
