//! Reads the slots of a grid's resources from the folder of a run.

use std::collections::{BTreeMap, BTreeSet};

use haggle_results::ResourceRow;

use crate::Figure;
use crate::ask::Ask;
use crate::attempts::{AttemptBar, checkpoints, outages};
use crate::error::PlotError;
use crate::load::{Part, Tables};
use crate::resource_timeline::{ResourceLanes, ResourceTimeline};

/// The requested timeline.
pub(crate) fn asked(run: &Tables, ask: &Ask) -> Result<Figure, PlotError> {
    let title = ask.title(run.about()?, "slots over time");
    resource_timeline(run, &title, &ask.part).map(Figure::ResourceTimeline)
}

/// The timeline of the resources of `part`. Without any, it shows the first resource that had jobs and
/// failed, or otherwise the first that had jobs. A resource has its number of slots, or more if jobs
/// held more. A resource without a limit has as many slots as it needed.
///
/// # Errors
/// If the results cannot be read.
pub fn resource_timeline(
    run: &Tables,
    title: &str,
    part: &Part,
) -> Result<ResourceTimeline, PlotError> {
    let attempts = || run.attempts().map(|rows| rows.iter().filter(|row| row.slot().is_some()));
    let failures = run.outages()?;
    let used: BTreeSet<&str> = attempts()?.map(|row| row.provider.as_str()).collect();
    let failed: BTreeSet<&str> = failures.iter().map(|row| row.provider.as_str()).collect();
    let resources = run.resources()?;
    let first = |wanted: &dyn Fn(&str) -> bool| {
        resources.iter().find(|it| wanted(&it.provider)).map(|it| it.provider.as_str())
    };
    let example = first(&|name| used.contains(name) && failed.contains(name));
    let example = example.or_else(|| first(&|name| used.contains(name)));
    let is_drawn = |name: &str| match part.providers.is_empty() {
        true => example == Some(name),
        false => part.has_provider(name),
    };
    let mut checkpoints = checkpoints(run)?;
    let mut held: BTreeMap<&str, Vec<AttemptBar>> = BTreeMap::new();
    for row in attempts()?.filter(|row| is_drawn(&row.provider)) {
        let marks = checkpoints.remove(&(row.job, row.attempt)).unwrap_or_default();
        let marks = marks.into_iter().map(|(mark, _)| mark).collect();
        let Some(bar) = AttemptBar::of(row, row.job.to_string(), marks) else { continue };
        // An attempt that was sent at the end of the run held its slot for no time.
        if bar.dispatched < bar.left && part.clipped(bar.dispatched, bar.left).is_some() {
            // The transfer of its output holds no slot.
            let bar = AttemptBar { end: bar.left, ..bar };
            held.entry(&row.provider).or_default().push(bar);
        }
    }
    let lanes = |resource: &ResourceRow| {
        let name = resource.provider.as_str();
        // Without a limit, lanes are added as attempts need them.
        let slots = resource.slots.and_then(|it| usize::try_from(it).ok()).unwrap_or(1);
        ResourceLanes {
            name: name.to_owned(),
            slots: lanes(held.remove(name).unwrap_or_default(), slots),
            outages: outages(failures, name, part),
        }
    };
    Ok(ResourceTimeline {
        title: title.to_owned(),
        resources: resources.iter().filter(|it| is_drawn(&it.provider)).map(lanes).collect(),
        from: part.from,
        until: part.until,
    })
}

/// Puts each attempt into the first free lane; there are at least `least` lanes. Slots are alike, so
/// the results do not say which slot it was.
fn lanes(mut bars: Vec<AttemptBar>, least: usize) -> Vec<Vec<AttemptBar>> {
    bars.sort_by(|a, b| a.dispatched.total_cmp(&b.dispatched));
    let mut lanes = vec![Vec::new(); least.max(1)];
    for bar in bars {
        let is_free =
            |lane: &Vec<AttemptBar>| lane.last().is_none_or(|last| last.left <= bar.dispatched);
        match lanes.iter().position(is_free) {
            Some(place) => lanes[place].push(bar),
            None => lanes.push(vec![bar]),
        }
    }
    lanes
}
