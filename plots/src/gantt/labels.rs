//! Labels of bars: on the bar, in a smaller size if necessary, or beside it if there is free room.

use std::collections::BTreeSet;

use super::{Gantt, GanttBar, GanttProvider, nodes};
use crate::frame::Panel;
use crate::palette::{INK, WHITE, on};
use crate::scene::{Anchor, Scene};
use crate::type_face::width;

/// Height of labels in pixels: maximum, minimum, and beside bars. Smaller labels cannot be read on a page.
const SIZES: (f64, f64, f64) = (24.0, 15.0, 18.0);
/// Maximum number of bars for which labels beside bars are drawn.
const BESIDE_MOST: usize = 120;

/// Writes the labels of a provider's bars, or only of marked jobs if no other bars are drawn.
pub(super) fn write(
    scene: &mut Scene,
    gantt: &Gantt,
    (provider, panel): (&GanttProvider, &Panel),
    marked_only: bool,
) {
    let bars = || provider.bars.iter().filter(|bar| bar.is_marked || !marked_only);
    let mut written: BTreeSet<i64> = BTreeSet::new();
    let mut left = Vec::new();
    for bar in bars().filter(|bar| !bar.label.is_empty()) {
        let edges = nodes::part_for_label(panel, provider, bar);
        match size_on(bar, edges) {
            Some(size) => {
                on_bar(scene, gantt, (bar, edges), size);
                written.insert(bar.job);
            }
            None => left.push((bar, edges)),
        }
    }
    // All bars, so that no label beside one covers another.
    let mut taken: Vec<[f64; 4]> = bars().map(|bar| provider.edges(panel, bar)).collect();
    for (bar, edges) in left {
        // A job with several bars has only one label beside them.
        if (gantt.bars().count() > BESIDE_MOST && !bar.is_marked) || !written.insert(bar.job) {
            continue;
        }
        match beside(panel, bar, edges, &taken) {
            Some(place) => {
                let [from, top, to, bottom] = place;
                scene.wash(place, WHITE, 0.8);
                let middle = ((from + to) / 2.0, (top + bottom) / 2.0);
                scene.text(middle, &bar.label, SIZES.2, INK, Anchor::Middle);
                taken.push(place);
            }
            None => {
                // Another bar of the job may have room.
                written.remove(&bar.job);
            }
        }
    }
}

/// The size of a label on its bar, if it fits.
fn size_on(bar: &GanttBar, [left, top, right, bottom]: [f64; 4]) -> Option<f64> {
    let (most, least, _) = SIZES;
    let across = most * (right - left - 6.0) / width(&bar.label, most).max(1.0);
    let size = across.min(bottom - top - 4.0).min(most);
    (size >= least).then_some(size)
}

fn on_bar(
    scene: &mut Scene,
    gantt: &Gantt,
    (bar, [left, top, right, bottom]): (&GanttBar, [f64; 4]),
    size: f64,
) {
    let (x, y) = ((left + right) / 2.0, (top + bottom) / 2.0);
    let ground = gantt.ground(bar);
    if bar.lost.is_some() || gantt.has_pattern(bar) {
        // The pattern is covered, so that the label is readable.
        let (wide, high) = (width(&bar.label, size) / 2.0 + 2.0, size * 0.45);
        scene.rectangle([x - wide, y - high, x + wide, y + high], ground);
    }
    scene.text((x, y), &bar.label, size, on(ground), Anchor::Middle);
}

/// A free place beside a bar: behind it, above it or below it.
fn beside(
    panel: &Panel,
    bar: &GanttBar,
    [left, top, right, bottom]: [f64; 4],
    taken: &[[f64; 4]],
) -> Option<[f64; 4]> {
    let (long, high) = (width(&bar.label, SIZES.2) + 4.0, SIZES.2 * 0.8);
    let (x, y) = ((left + right - long) / 2.0, (top + bottom - high) / 2.0);
    let places = [(right + 3.0, y), (x, top - high - 3.0), (x, bottom + 3.0)];
    let places = places.map(|(from, above)| [from, above, from + long, above + high]);
    let inside = |it: &[f64; 4]| {
        it[0] >= panel.left && it[2] <= panel.right && it[1] >= panel.top && it[3] <= panel.bottom
    };
    let apart = |one: &[f64; 4], other: &[f64; 4]| {
        one[2] <= other[0] || other[2] <= one[0] || one[3] <= other[1] || other[3] <= one[1]
    };
    let free = |it: &[f64; 4]| inside(it) && taken.iter().all(|other| apart(it, other));
    places.into_iter().find(free)
}
