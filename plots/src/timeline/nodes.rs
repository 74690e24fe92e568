//! Processors, memory and accelerators of nodes in use over time.

use std::collections::BTreeMap;

use haggle_model::Amounts;
use haggle_results::sites::sites;

use super::read::{PANELS_MAX, sum};
use crate::Figure;
use crate::ask::Ask;
use crate::error::PlotError;
use crate::load::{Tables, changes_of};
use crate::timeline::{Held, Shows, Timeline, TimelinePart};

/// Amount of one resource.
type Amount = fn(&Amounts) -> f64;

/// Resources of nodes with their labels.
const RESOURCES: [(&str, Amount); 3] = [
    ("processors in use", |it| f64::from(it.processors)),
    ("memory in use", |it| it.memory as f64),
    ("gpus in use", |it| f64::from(it.gpus)),
];

/// A panel for each resource of each provider that places jobs on nodes. If these are too many, their sums are drawn.
pub(crate) fn asked(run: &Tables, ask: &Ask) -> Result<Figure, PlotError> {
    let title = ask.title(run.about()?, "use of nodes");
    let jobs: BTreeMap<_, _> = run.jobs()?.iter().map(|it| (it.job, it)).collect();
    let mut sites = sites(run.nodes()?);
    if sites.is_empty() {
        let reason = "no provider places jobs on nodes: use \"utilisation\"";
        return Err(PlotError::NoValues(reason.to_owned()));
    }
    let mut of_resource: [Vec<TimelinePart>; 3] = Default::default();
    // Providers keep the order of the scenario.
    let places = run.resources()?.iter().filter(|it| ask.part.has_provider(&it.provider));
    for place in places {
        let Some(site) = sites.remove(&place.provider) else { continue };
        let rows = run.placements()?.iter().filter(|it| it.provider == place.provider);
        let holdings = site.holdings(rows, |job| jobs.get(&job).map(|it| it.demand()));
        for ((label, amount), parts) in RESOURCES.into_iter().zip(&mut of_resource) {
            let held = holdings.iter().map(|it| {
                let (start, end) = (it.start, it.end);
                Held { start, end, amount: amount(&it.amounts) }
            });
            parts.push(TimelinePart {
                name: place.provider.clone(),
                label,
                capacity: site.nodes.capacities().iter().map(amount).sum(),
                held: held.collect(),
                waits: Vec::new(),
            });
        }
    }
    let has = |it: &TimelinePart| it.capacity > 0.0;
    let mut panels: Vec<Vec<TimelinePart>> =
        of_resource.into_iter().map(|parts| parts.into_iter().filter(has).collect()).collect();
    if panels.iter().map(Vec::len).sum::<usize>() > PANELS_MAX {
        for (parts, (label, _)) in panels.iter_mut().zip(RESOURCES).filter(|it| !it.0.is_empty()) {
            let all = sum(std::mem::take(parts));
            parts.push(TimelinePart { name: "all providers".to_owned(), label, ..all });
        }
    }
    Ok(Figure::Timeline(Timeline {
        title,
        shows: Shows::Utilisation,
        held: "",
        parts: panels.concat(),
        from: ask.part.from,
        until: ask.part.until,
        changes: changes_of([run])?,
        clock: ask.clock(run)?,
        compares: false,
    }))
}
