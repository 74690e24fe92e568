//! Parts of one job that ran on several providers at once: lines join them across panels.

use std::collections::BTreeMap;

use super::{GanttBar, GanttProvider};
use crate::frame::Panel;
use crate::palette::{INK, WHITE};
use crate::scene::{Colour, Scene};

/// Distance of the joining line from the start of the job, pixels.
const INDENT: f64 = 5.0;

/// Processors that a job held at one provider from an instant on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    /// The place of the provider.
    place: usize,
    start: f64,
    end: f64,
    /// Lowest and highest processor.
    first: u32,
    last: u32,
}

/// True if any parts are joined; `marked` restricts this to marked jobs.
pub(super) fn any(providers: &[GanttProvider], marked: bool) -> bool {
    !joints(providers, marked).is_empty()
}

/// Draws the lines.
pub(super) fn draw(scene: &mut Scene, providers: &[GanttProvider], panels: &[Panel], marked: bool) {
    let shown = |place: usize| Some((providers.get(place)?, panels.get(place)?));
    for (upper, lower) in joints(providers, marked) {
        let (Some((above, over)), Some((below, under))) = (shown(upper.place), shown(lower.place))
        else {
            continue;
        };
        let y = |provider: &GanttProvider, panel: &Panel, processor: u32| {
            panel.y(f64::from(processor.saturating_sub(provider.first)))
        };
        // A short part may have no room for the indent.
        let end = over.x(upper.end.min(lower.end));
        let x = (over.x(upper.start.max(lower.start)) + INDENT).min(end);
        joint(scene, x, [y(above, over, upper.first), y(below, under, lower.last + 1)], INK);
    }
}

/// Pairs of parts of one job in different panels, the upper one first.
fn joints(providers: &[GanttProvider], marked: bool) -> Vec<(Part, Part)> {
    let mut jobs: BTreeMap<(usize, i64), Vec<Part>> = BTreeMap::new();
    for (place, provider) in providers.iter().enumerate() {
        for bar in provider.bars.iter().filter(|bar| !bar.is_task && (bar.is_marked || !marked)) {
            add(jobs.entry((provider.run, bar.job)).or_default(), place, bar);
        }
    }
    let next = |parts: &[Part], part: &Part| {
        // Only parts that run at the same time are joined; later attempts of the job are not.
        let later =
            |it: &&Part| it.place > part.place && it.start < part.end && part.start < it.end;
        parts.iter().find(later).copied()
    };
    let pairs = |parts: &Vec<Part>| {
        let pair = |part: &Part| Some((*part, next(parts, part)?));
        parts.iter().filter_map(pair).collect::<Vec<_>>()
    };
    jobs.values().flat_map(pairs).collect()
}

/// Adds a bar to the part with the same provider and the same start.
fn add(parts: &mut Vec<Part>, place: usize, bar: &GanttBar) {
    let same = |it: &&mut Part| it.place == place && it.start == bar.start;
    match parts.iter_mut().find(same) {
        Some(part) => {
            (part.first, part.last) = (part.first.min(bar.first), part.last.max(bar.last));
        }
        None => {
            let &GanttBar { start, end, first, last, .. } = bar;
            parts.push(Part { place, start, end, first, last });
        }
    }
}

/// A line from a bar to the next one of its job, with a dot at each end.
pub(crate) fn joint(scene: &mut Scene, x: f64, [top, bottom]: [f64; 2], colour: Colour) {
    // The white line below is visible on bars of any colour.
    scene.line(vec![(x, top), (x, bottom)], WHITE, 4);
    scene.line(vec![(x, top), (x, bottom)], colour, 2);
    for y in [top - 3.0, bottom + 3.0] {
        scene.dot((x, y), 5.0, WHITE);
        scene.dot((x, y), 4.0, colour);
    }
}
