//! Nodes of providers on the axis of processors: their names, and the borders between them.

use std::cmp::Reverse;

use super::{GanttBar, GanttNode, GanttProvider};
use crate::axis::{Axis, TICK_SIZE};
use crate::frame::Panel;
use crate::palette::{FAINT, INK};
use crate::scene::Scene;
use crate::type_face::fitted;

/// Largest part of the width for the name of a group.
const NAME_MOST: f64 = 0.14;
/// Height of a node in pixels from which on nodes have borders.
const BORDER_LEAST: f64 = 10.0;
/// Pixels for each name.
const NAME_ROOM: f64 = TICK_SIZE + 6.0;

/// An axis of processors with the names of nodes, in `room`: the width of the figure, and the height of the panel. If
/// not all names have room, the first node of each group comes first, and then nodes at equal distances.
pub(super) fn axis(label: &str, provider: &GanttProvider, (wide, high): (f64, f64)) -> Axis {
    let nodes = &provider.nodes;
    let most = (high / NAME_ROOM).max(1.0);
    let steps =
        (0..).flat_map(|power: u32| [1, 2, 5].map(move |it| it * 10_usize.saturating_pow(power)));
    let enough = |step: &usize| nodes.len() as f64 / *step as f64 <= most;
    let step = steps.into_iter().find(enough).unwrap_or(1);
    let place = |it: &GanttNode| (f64::from(it.first) + f64::from(it.last) + 1.0) / 2.0;
    let tick = |it: &GanttNode| {
        let name = match it.group.is_empty() {
            true => it.number.to_string(),
            false => format!("{} {}", fitted(&it.group, TICK_SIZE, wide * NAME_MOST), it.number),
        };
        (place(it) - f64::from(provider.first), name)
    };
    let (firsts, others): (Vec<_>, Vec<_>) =
        (0..nodes.len()).partition(|&at| at == 0 || nodes[at].group != nodes[at - 1].group);
    let others = others.into_iter().filter(|&at| (nodes[at].number as usize).is_multiple_of(step));
    let ticks = firsts.into_iter().chain(others).map(|at| tick(&nodes[at]));
    Axis::places(label, provider.processors as usize, ticks.collect())
}

/// Draws lines between nodes, over the bars, and thick ones between their groups. Nodes that would be too flat have
/// none.
pub(super) fn divide(scene: &mut Scene, panel: &Panel, provider: &GanttProvider) {
    for pair in provider.nodes.windows(2) {
        let y = provider.y(panel, pair[1].first);
        let line = vec![(panel.left, y), (panel.right, y)];
        if pair[0].group != pair[1].group {
            scene.line(line, INK, 2);
        } else if pair.iter().all(|node| has_border(panel, provider, node)) {
            scene.line(line.clone(), FAINT, 3);
            scene.line(line, INK, 1);
        }
    }
}

/// True if a node is high enough for lines at its borders.
fn has_border(panel: &Panel, provider: &GanttProvider, node: &GanttNode) -> bool {
    provider.y(panel, node.first) - provider.y(panel, node.last + 1) >= BORDER_LEAST
}

/// Edges of the largest part of a bar on one node, where its label lies: a label on a border would be hard to read.
pub(super) fn part_for_label(panel: &Panel, provider: &GanttProvider, bar: &GanttBar) -> [f64; 4] {
    let from = provider.nodes.partition_point(|node| node.last < bar.first);
    let held = provider.nodes[from..].iter().take_while(|node| node.first <= bar.last);
    let part = |node: &GanttNode| (bar.first.max(node.first), bar.last.min(node.last));
    let parts = held.filter(|node| has_border(panel, provider, node)).map(part);
    let (first, last) =
        parts.min_by_key(|it| Reverse(it.1 - it.0)).unwrap_or((bar.first, bar.last));
    let [left, _, right, _] = provider.edges(panel, bar);
    [left, provider.y(panel, last + 1), right, provider.y(panel, first)]
}
