//! What surrounds the data: title, axes, grid, legend.
//!
//! ```text
//! title
//! label of the y axis                        legend
//!   1 ┤ panel                                ■ one
//!   0 ┼──────────────                        ■ two
//! label of the next y axis
//!   …
//!     0     10     20
//!        label of the x axis
//! ```
//! Labels of y axes lie flat above their panels: they are read without turning the head.

use crate::axis::{Axis, TICK_SIZE};
use crate::canvas::Size;
use crate::error::PlotError;
use crate::legend::{self, Key, NAME_INDENT};
use crate::palette::{FAINT, INK};
use crate::scene::{Anchor, Scene};
use crate::type_face::{fitted, width, wrapped};

pub(crate) const TITLE_SIZE: f64 = 34.0;
pub(crate) const LABEL_SIZE: f64 = 27.0;
pub(crate) const MARGIN: f64 = 28.0;

/// Everything about a figure but its data.
pub(crate) struct Plan {
    pub(crate) title: String,
    pub(crate) legend: Vec<Key>,
    /// Above the legend; empty = nothing.
    pub(crate) legend_label: String,
    /// Panels from top to bottom: the y axis, and its share of the height.
    pub(crate) panels: Vec<(Axis, f64)>,
}

/// A panel's place on the canvas.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

impl Panel {
    pub(crate) fn x(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (self.right - self.left)
    }

    pub(crate) fn y(&self, value: f64) -> f64 {
        self.bottom - self.y.share(value) * (self.bottom - self.top)
    }

    /// The same, also of what lies beyond the panel.
    pub(crate) fn open_y(&self, value: f64) -> f64 {
        let share = if self.y.is_cut() { self.y.open_share(value) } else { self.y.share(value) };
        self.bottom - share * (self.bottom - self.top)
    }

    /// The pieces of a line that lie between its top and its bottom.
    pub(crate) fn within(&self, points: Vec<(f64, f64)>) -> Vec<Vec<(f64, f64)>> {
        let inside = |y: f64| (self.top..=self.bottom).contains(&y);
        if points.iter().all(|&(_, y)| inside(y)) {
            return vec![points];
        }
        let mut pieces: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            // Where the line comes in and goes out, as shares of the way from a to b.
            let way = |y: f64| (y - a.1) / (b.1 - a.1);
            let (mut from, mut until) = (0.0, 1.0);
            if a.1 != b.1 {
                let (one, other) = (way(self.top), way(self.bottom));
                from = f64::max(from, one.min(other));
                until = f64::min(until, one.max(other));
            } else if !inside(a.1) {
                from = 2.0;
            }
            if from > until {
                pieces.push(Vec::new());
                continue;
            }
            let at = |share: f64| (a.0 + (b.0 - a.0) * share, a.1 + (b.1 - a.1) * share);
            let piece = pieces.last_mut().expect("there is one from the start");
            if piece.is_empty() {
                piece.push(at(from));
            }
            piece.push(at(until));
            if until < 1.0 {
                pieces.push(Vec::new());
            }
        }
        pieces.retain(|piece| piece.len() > 1);
        pieces
    }

    /// Whether a value of the x axis lies in it.
    pub(crate) fn shows(&self, value: f64) -> bool {
        (self.x.value(0.0)..=self.x.value(1.0)).contains(&value)
    }

    /// The value at a horizontal pixel.
    pub(crate) fn value_at(&self, x: f64) -> f64 {
        self.x.value((x - self.left) / (self.right - self.left))
    }
}

/// The left and right end of all panels: what the x axis has room in.
pub(crate) fn room(plan: &Plan, size: Size) -> (f64, f64) {
    let tick = |(_, text): &(f64, String)| width(text, TICK_SIZE);
    let ticks = plan.panels.iter().flat_map(|(axis, _)| &axis.ticks).map(tick);
    let left = MARGIN + ticks.fold(30.0, f64::max) + 14.0;
    let names = plan.legend.iter().map(|key| width(&key.name, TICK_SIZE));
    // It begins where the marks do, which names stand behind.
    let longest = names.chain([width(&plan.legend_label, TICK_SIZE) - NAME_INDENT]);
    let legend = longest.fold(0.0, f64::max).min(f64::from(size.width) * 0.25);
    let right = match plan.legend.is_empty() {
        true => MARGIN + 30.0,
        false => MARGIN + legend + 66.0,
    };
    (left, f64::from(size.width) - right)
}

/// Width of a panel in which something can be seen, pixels.
const NARROWEST: f64 = 40.0;

/// Draws the surroundings and gives the panels.
pub(crate) fn draw(plan: Plan, x: Axis, size: Size) -> Result<(Scene, Vec<Panel>), PlotError> {
    let mut scene = Scene::new(size)?;
    let (left, right) = room(&plan, size);
    if right - left < NARROWEST {
        let reason = "labels and legend leave no room for it; make it larger";
        return Err(PlotError::NoData { title: plan.title, reason });
    }
    let (wide, high) = (f64::from(size.width), f64::from(size.height));
    let mut top = draw_title(&mut scene, &plan.title);
    let below = MARGIN + LABEL_SIZE + 12.0 + TICK_SIZE + 14.0;
    let labels = plan.panels.iter().enumerate().map(|(i, (y, _))| {
        // The legend stands beside all panels, and below the label of the first one.
        let room = if i == 0 { wide - 2.0 * MARGIN } else { right - MARGIN };
        wrapped(&y.label, LABEL_SIZE, room, LABEL_LINES)
    });
    let labels = Vec::from_iter(labels);
    let label_room = |lines: &[String]| label_height(lines.len()) + 36.0;
    let total = high - top - below - labels.iter().map(|it| label_room(it)).sum::<f64>();
    let shares: f64 = plan.panels.iter().map(|(_, share)| share).sum();
    let legend_top = top + labels.first().map_or(0.0, |it| label_room(it));
    let mut panels = Vec::new();
    for ((y, share), lines) in plan.panels.into_iter().zip(&labels) {
        draw_label(&mut scene, lines, top + 18.0);
        top += label_room(lines);
        let bottom = top + (total * share / shares).max(20.0);
        let panel = Panel { left, right, top, bottom, x: x.clone(), y };
        draw_grid(&mut scene, &panel);
        panels.push(panel);
        top = bottom;
    }
    draw_x(&mut scene, &x, (left, right, top));
    let label = if plan.legend.is_empty() { "" } else { &plan.legend_label };
    legend::draw(&mut scene, label, &plan.legend, (right + 30.0, legend_top));
    Ok((scene, panels))
}

/// Of a title, and of a label.
const TITLE_LINES: usize = 2;
const LABEL_LINES: usize = 3;

/// Draws a figure's title, if it has one, and gives where it ends.
pub(crate) fn draw_title(scene: &mut Scene, title: &str) -> f64 {
    let room = f64::from(scene.size.width) - 2.0 * MARGIN;
    let lines = wrapped(title, TITLE_SIZE, room, TITLE_LINES);
    let mut top = MARGIN;
    for line in &lines {
        let middle = (MARGIN, top + TITLE_SIZE / 2.0);
        scene.text(middle, line, TITLE_SIZE, INK, Anchor::Start);
        top += TITLE_SIZE * LINE;
    }
    if lines.is_empty() { 0.0 } else { top + TITLE_SIZE * (1.5 - LINE) }
}

/// From one line of a text to the next, in its size.
const LINE: f64 = 1.15;

/// How high so many lines of a label are.
pub(crate) fn label_height(lines: usize) -> f64 {
    LABEL_SIZE * (1.0 + LINE * (lines.max(1) as f64 - 1.0))
}

/// Draws the lines of a label of a y axis, from `top` on.
pub(crate) fn draw_label(scene: &mut Scene, lines: &[String], top: f64) {
    for (i, line) in lines.iter().enumerate() {
        let middle = top + LABEL_SIZE * (0.5 + LINE * i as f64);
        scene.text((MARGIN, middle), line, LABEL_SIZE, INK, Anchor::Start);
    }
}

/// Draws the axes' lines once more, over data that touches them.
pub(crate) fn close(scene: &mut Scene, panels: &[Panel]) {
    for panel in panels {
        let corners =
            [(panel.left, panel.top), (panel.left, panel.bottom), (panel.right, panel.bottom)];
        scene.line(corners.to_vec(), INK, 2);
    }
}

/// Draws a panel's grid and the ticks of its y axis.
fn draw_grid(scene: &mut Scene, panel: &Panel) {
    draw_lines(scene, panel);
    draw_y_ticks(scene, panel);
}

/// Draws a panel's grid.
pub(crate) fn draw_lines(scene: &mut Scene, panel: &Panel) {
    for (value, _) in panel.x.ticks.iter().filter(|_| panel.x.grid) {
        let x = panel.x(*value);
        scene.line(vec![(x, panel.top), (x, panel.bottom)], FAINT, 1);
    }
    for (value, _) in &panel.y.ticks {
        let y = panel.y(*value);
        scene.line(vec![(panel.left, y), (panel.right, y)], FAINT, 1);
    }
}

/// Draws the ticks of a panel's y axis.
pub(crate) fn draw_y_ticks(scene: &mut Scene, panel: &Panel) {
    let mut last = f64::MAX;
    for (value, text) in &panel.y.ticks {
        let y = panel.y(*value);
        scene.line(vec![(panel.left - 6.0, y), (panel.left, y)], INK, 2);
        // In a flat panel, a label that would touch the last one is left out.
        if (y - last).abs() >= TICK_SIZE * 0.8 {
            scene.text((panel.left - 12.0, y), text, TICK_SIZE, INK, Anchor::End);
            last = y;
        }
    }
}

fn draw_x(scene: &mut Scene, x: &Axis, (left, right, bottom): (f64, f64, f64)) {
    draw_x_ticks(scene, x, (left, right, bottom));
    let label = fitted(&x.label, LABEL_SIZE, right - left);
    let middle = bottom + 12.0 + TICK_SIZE + 12.0 + LABEL_SIZE / 2.0;
    scene.text(((left + right) / 2.0, middle), &label, LABEL_SIZE, INK, Anchor::Middle);
}

/// Draws the ticks of an x axis that goes from `left` to `right`.
pub(crate) fn draw_x_ticks(scene: &mut Scene, x: &Axis, (left, right, bottom): (f64, f64, f64)) {
    let mut free_from = f64::MIN;
    for (value, text) in &x.ticks {
        let at = left + x.share(*value) * (right - left);
        scene.line(vec![(at, bottom), (at, bottom + 6.0)], INK, 2);
        let half = width(text, TICK_SIZE) / 2.0;
        // On logarithmic axes ticks may lie close: a label that would touch the last is left out.
        if at - half > free_from {
            scene.text((at, bottom + 12.0 + TICK_SIZE / 2.0), text, TICK_SIZE, INK, Anchor::Middle);
            free_from = at + half + 12.0;
        }
    }
}
