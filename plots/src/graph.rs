//! Graphs of tasks: levels from left to right, tasks of a level one below the other, near the tasks
//! that they need.
//!
//! Few tasks have their names beside them. If there are more tasks than lines of text, a level is a
//! column of dots in the colours of the groups.

use crate::axis::{Axis, TICK_SIZE};
use crate::error::PlotError;
use crate::frame::{LABEL_SIZE, MARGIN, TITLE_SIZE, draw_x_ticks};
use crate::legend::{self, Key, Mark};
use crate::look::Look;
use crate::palette::{self, INK, WHITE, tint};
use crate::scene::{Anchor, Colour, Scene};
use crate::type_face::{fitted, width};

/// Maximum numbers of tasks and of edges. Larger graphs could not be read.
pub const SHAPES_MAX: usize = 50_000;

/// Largest distance between two tasks of a level, pixels.
const SLOT_MAX: f64 = 64.0;
/// The smallest text that can be read at half its size.
const NAME_MIN: f64 = 18.0;
const EDGE: Colour = Colour(0xb4, 0xb4, 0xb4);
const CRITICAL: Colour = INK;

/// The tasks of a workflow and their dependencies.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskGraph {
    /// Title above the figure.
    pub title: String,
    /// Names of the groups that colours stand for.
    pub groups: Vec<String>,
    /// All tasks; each comes after its parents.
    pub tasks: Vec<GraphTask>,
    /// Parent and child by their places in `tasks`.
    pub edges: Vec<(usize, usize)>,
    /// The tasks of the critical path by their places, in order; empty if it is not drawn.
    pub critical: Vec<usize>,
}

/// A task.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphTask {
    /// Text beside it, if there is room.
    pub label: String,
    /// Place in [`TaskGraph::groups`].
    pub group: usize,
    /// The number of its level, from 0.
    pub level: usize,
}

/// Positions of levels and their tasks.
struct Layout {
    places: Vec<(f64, f64)>,
    /// Pixels between two tasks of the widest level.
    slot: f64,
    /// Pixels between two levels.
    column: f64,
}

impl TaskGraph {
    pub(crate) fn scene(&self, look: Look) -> Result<Scene, PlotError> {
        let (tasks, edges) = (self.tasks.len(), self.edges.len());
        if tasks == 0 {
            return Err(PlotError::NoData { title: self.title.clone(), reason: "no tasks" });
        }
        if tasks + edges > SHAPES_MAX {
            return Err(PlotError::Unsuitable(format!(
                "{tasks} tasks and {edges} edges cannot be drawn: together, at most {SHAPES_MAX} can"
            )));
        }
        let mut scene = Scene::new(look.size)?;
        let (wide, high) = (f64::from(look.size.width), f64::from(look.size.height));
        let title = fitted(&self.title, TITLE_SIZE, wide - 2.0 * MARGIN);
        let top = MARGIN + TITLE_SIZE / 2.0;
        scene.text((MARGIN, top), &title, TITLE_SIZE, INK, Anchor::Start);
        let keys = self.legend();
        let longest = keys.iter().map(|key| width(&key.name, TICK_SIZE)).fold(0.0, f64::max);
        let right = wide - MARGIN - longest.min(wide * 0.25) - 66.0;
        let top = top + TITLE_SIZE + 16.0;
        let bottom = high - MARGIN - LABEL_SIZE - 12.0 - TICK_SIZE - 30.0;
        let layout = self.layout([MARGIN + 10.0, top, right, bottom]);
        // Edges come first, so that tasks cover their ends.
        self.draw_edges(&mut scene, &layout);
        self.draw_tasks(&mut scene, &layout);
        self.draw_levels(&mut scene, &layout, (right, bottom));
        legend::draw(&mut scene, "", &keys, (right + 30.0, top));
        Ok(scene)
    }

    fn levels(&self) -> usize {
        self.tasks.iter().map(|task| task.level + 1).max().unwrap_or(1)
    }

    fn legend(&self) -> Vec<Key> {
        let groups = self.groups.iter().zip((0..).map(palette::group));
        let mut keys: Vec<Key> =
            groups.map(|(name, colour)| Key::new(name, Mark::Dot, colour)).collect();
        if !self.critical.is_empty() {
            keys.push(Key::new("critical path", Mark::Arrow, CRITICAL));
        }
        keys
    }

    /// Each task lies at the mean height of its parents, as far as other tasks leave room.
    fn layout(&self, [left, top, right, bottom]: [f64; 4]) -> Layout {
        let levels = self.levels();
        let column = (right - left) / levels as f64;
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); levels];
        for (place, task) in self.tasks.iter().enumerate() {
            rows[task.level].push(place);
        }
        let mut above = vec![(0.0, 0_usize); self.tasks.len()];
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.tasks.len()];
        for &(parent, child) in &self.edges {
            children[parent].push(child);
        }
        let mut places = vec![(0.0, 0.0); self.tasks.len()];
        let mut slot = SLOT_MAX;
        // Parents are in earlier levels, so their heights are known.
        for (level, mut row) in rows.into_iter().enumerate() {
            let mean = |task: usize| match above[task] {
                (_, 0) => f64::INFINITY, // what needs nothing lies lowest
                (sum, count) => sum / count as f64,
            };
            row.sort_by(|&one, &other| mean(one).total_cmp(&mean(other)).then(one.cmp(&other)));
            let step = ((bottom - top) / row.len() as f64).min(SLOT_MAX);
            slot = slot.min(step);
            let first = (top + bottom) / 2.0 - step * (row.len() as f64 - 1.0) / 2.0;
            for (number, &task) in row.iter().enumerate() {
                let y = first + step * number as f64;
                places[task] = (left + column * (level as f64 + 0.12), y);
                for &child in &children[task] {
                    above[child].0 += y;
                    above[child].1 += 1;
                }
            }
        }
        Layout { places, slot, column }
    }

    fn draw_edges(&self, scene: &mut Scene, layout: &Layout) {
        // Paler lines show the density where many lines cross.
        let crowded = (2_000.0 / self.edges.len().max(1) as f64).clamp(0.35, 1.0);
        for &(parent, child) in &self.edges {
            let line = vec![layout.places[parent], layout.places[child]];
            scene.line(line, tint(EDGE, crowded), 1);
        }
        for two in self.critical.windows(2) {
            let line = vec![layout.places[two[0]], layout.places[two[1]]];
            scene.line(line, CRITICAL, 4);
        }
    }

    fn draw_tasks(&self, scene: &mut Scene, layout: &Layout) {
        let radius = (layout.slot * 0.3).clamp(2.0, 10.0).min((layout.column * 0.3).max(2.0));
        // Larger dots below the tasks of the path look like rings.
        for &task in &self.critical {
            scene.dot(layout.places[task], radius + 3.0, CRITICAL);
        }
        for (task, &place) in self.tasks.iter().zip(&layout.places) {
            scene.dot(place, radius, palette::group(task.group));
        }
        let size = (layout.slot * 0.75).min(22.0);
        let room = layout.column * 0.88 - radius - 12.0;
        if size < NAME_MIN || room < 4.0 * size {
            return;
        }
        for (task, &(x, y)) in self.tasks.iter().zip(&layout.places) {
            let name = fitted(&task.label, size, room);
            let left = x + radius + 6.0;
            let edges =
                [left - 2.0, y - size * 0.5, left + width(&name, size) + 2.0, y + size * 0.5];
            // A white ground hides the lines below.
            scene.wash(edges, WHITE, 0.85);
            scene.text((left, y), &name, size, INK, Anchor::Start);
        }
    }

    /// The numbers of levels below them.
    fn draw_levels(&self, scene: &mut Scene, layout: &Layout, (right, bottom): (f64, f64)) {
        let levels = self.levels();
        let left = MARGIN + 10.0 + layout.column * 0.12;
        let end = left + layout.column * (levels - 1) as f64;
        let step = levels.div_ceil(20).max(1);
        let mut axis = Axis::linear("", 0.0, (levels - 1).max(1) as f64, 2);
        axis.ticks =
            (0..levels).step_by(step).map(|at| (at as f64, (at + 1).to_string())).collect();
        let end = if levels == 1 { left + 1.0 } else { end };
        scene.line(vec![(MARGIN, bottom + 18.0), (right, bottom + 18.0)], INK, 2);
        draw_x_ticks(scene, &axis, (left, end, bottom + 18.0));
        let middle = bottom + 18.0 + 12.0 + TICK_SIZE + 12.0 + LABEL_SIZE / 2.0;
        let at = ((MARGIN + right) / 2.0, middle);
        scene.text(at, "level", LABEL_SIZE, INK, Anchor::Middle);
    }
}
