//! The surroundings of the data: title, axes, grid, legend.
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
//! Labels of y axes are horizontal and above their panels, so that they are easy to read. If panels are
//! too flat for that, they are lanes with their names at the left. A legend that would take much of the
//! width is above the panels.

use crate::axis::{Axis, TICK_SIZE};
use crate::error::PlotError;
use crate::legend::{self, Key, Mark, NAME_INDENT};
use crate::look::{LegendPlace, Look};
use crate::palette::{FAINT, INK};
use crate::scene::{Anchor, Scene};
use crate::strokes;
use crate::type_face::{fitted, told_apart, width, wrapped};

pub(crate) const TITLE_SIZE: f64 = 34.0;
pub(crate) const LABEL_SIZE: f64 = 27.0;
pub(crate) const MARGIN: f64 = 28.0;

/// A figure without its data.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) title: String,
    pub(crate) legend: Vec<Key>,
    /// Label above the legend; empty = none.
    pub(crate) legend_label: String,
    /// Panels from top to bottom: the y axis, and its share of the height.
    pub(crate) panels: Vec<(Axis, f64)>,
    /// True if panels are lanes: each has its label at the left instead of ticks.
    pub(crate) lanes: bool,
    /// Note above the panels on data that are not drawn; empty = none.
    pub(crate) note: String,
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

    /// Position of a value, which may lie outside of the panel.
    pub(crate) fn open_y(&self, value: f64) -> f64 {
        let share = if self.y.is_cut() { self.y.open_share(value) } else { self.y.share(value) };
        self.bottom - share * (self.bottom - self.top)
    }

    /// The pieces of a line that lie between the top and the bottom of the panel.
    pub(crate) fn within(&self, points: Vec<(f64, f64)>) -> Vec<Vec<(f64, f64)>> {
        let inside = |y: f64| (self.top..=self.bottom).contains(&y);
        if points.iter().all(|&(_, y)| inside(y)) {
            return vec![points];
        }
        let mut pieces: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            // Entry and exit of the line, as shares of the way from a to b.
            let way = |y: f64| (y - a.1) / (b.1 - a.1);
            let (mut from, mut until) = (0.0, 1.0);
            if a.1 != b.1 {
                let (one, other) = (way(self.top), way(self.bottom));
                from = f64::max(from, one.min(other));
                until = f64::min(until, one.max(other));
            } else if !inside(a.1) {
                // Behind the exit, so that nothing of this line is drawn.
                from = 2.0;
            }
            if from > until {
                pieces.push(Vec::new());
                continue;
            }
            let at = |share: f64| (a.0 + (b.0 - a.0) * share, a.1 + (b.1 - a.1) * share);
            let piece = pieces.last_mut().expect("there is one from the start");
            // Within a piece, the line goes on from where the last one ended.
            if piece.is_empty() {
                piece.push(at(from));
            }
            piece.push(at(until));
            // The line leaves the panel here, so what follows is another piece.
            if until < 1.0 {
                pieces.push(Vec::new());
            }
        }
        pieces.retain(|piece| piece.len() > 1);
        pieces
    }

    /// True if a value of the x axis lies in the panel.
    pub(crate) fn shows(&self, value: f64) -> bool {
        (self.x.value(0.0)..=self.x.value(1.0)).contains(&value)
    }

    /// The value at a horizontal pixel.
    pub(crate) fn value_at(&self, x: f64) -> f64 {
        self.x.value((x - self.left) / (self.right - self.left))
    }
}

/// Share of the width above which a legend moves from beside the panels to above them.
const BESIDE_MOST: f64 = 0.16;
/// Maximum number of lines of a legend above the panels, and maximum share of the height.
const ABOVE_MOST: (usize, f64) = (3, 0.2);

impl Plan {
    /// The place of the legend.
    fn place(&self, look: Look) -> LegendPlace {
        let (wide, high) = (f64::from(look.size.width), f64::from(look.size.height));
        if self.legend.is_empty() {
            return LegendPlace::None;
        }
        look.legend.unwrap_or_else(|| {
            let lines = legend::lines_above(&self.legend_label, &self.legend, wide);
            let fits = lines <= ABOVE_MOST.0 && legend::height(lines) <= high * ABOVE_MOST.1;
            match fits && self.beside(wide) > wide * BESIDE_MOST {
                true => LegendPlace::Above,
                false => LegendPlace::Beside,
            }
        })
    }

    /// Width of a legend beside the panels.
    fn beside(&self, wide: f64) -> f64 {
        let names = self.legend.iter().map(|key| width(&key.name, TICK_SIZE));
        // The label begins at the marks, and names begin behind these.
        let longest = names.chain([width(&self.legend_label, TICK_SIZE) - NAME_INDENT]);
        longest.fold(0.0, f64::max).min(wide * 0.25) + 36.0
    }

    /// The names of lanes, shortened to the available room.
    fn lane_names(&self, wide: f64) -> Vec<String> {
        let names: Vec<&str> = self.panels.iter().map(|(axis, _)| axis.label.as_str()).collect();
        told_apart(&names, TICK_SIZE, wide * 0.25)
    }

    /// Height of everything above the panels and their labels.
    fn head(&self, look: Look) -> f64 {
        let wide = f64::from(look.size.width);
        let title = title_height(title_lines(&self.title, wide).len());
        let legend = match self.place(look) {
            LegendPlace::Above => {
                let lines = legend::lines_above(&self.legend_label, &self.legend, wide);
                legend::height(lines.min(most_above(look)))
            }
            LegendPlace::Beside | LegendPlace::None => 0.0,
        };
        title + legend + if self.note.is_empty() { 0.0 } else { NOTE_ROOM }
    }

    /// Pixels for each of `count` panels of one height, and their labels if they have any.
    pub(crate) fn height_of_each(&self, count: usize, look: Look) -> f64 {
        (f64::from(look.size.height) - self.head(look) - below(1, true)) / count.max(1) as f64
    }
}

/// Maximum number of lines of a legend that was requested above the panels.
fn most_above(look: Look) -> usize {
    ((f64::from(look.size.height) * 0.4 / legend::height(1)) as usize).max(1)
}

/// Height of everything below the panels: rows of tick labels, and a label.
fn below(rows: usize, has_label: bool) -> f64 {
    ticks_height(rows) + if has_label { 12.0 + LABEL_SIZE } else { 0.0 } + 12.0
}

/// Height of this number of rows of tick labels below an x axis.
pub(crate) fn ticks_height(rows: usize) -> f64 {
    12.0 + TICK_SIZE + TICK_ROW * (rows.max(1) - 1) as f64
}

/// Distance between two rows of tick labels.
const TICK_ROW: f64 = TICK_SIZE + 3.0;

/// Height of a label of one line with the room around it.
pub(crate) const LABEL_ROOM: f64 = LABEL_SIZE + 26.0;
/// Height of a note with the room around it.
const NOTE_ROOM: f64 = LABEL_SIZE + 14.0;
/// Pixels between two lanes.
const LANE_GAP: f64 = 4.0;
/// Height of a lane in which its name can be read.
pub(crate) const LANE_LEAST: f64 = TICK_SIZE + LANE_GAP;

/// The left and right end of all panels, between which the x axis lies.
pub(crate) fn room(plan: &Plan, look: Look) -> (f64, f64) {
    let wide = f64::from(look.size.width);
    let tick = |(_, text): &(f64, String)| width(text, TICK_SIZE);
    let widest = match plan.lanes {
        true => {
            plan.lane_names(wide).iter().map(|name| width(name, TICK_SIZE)).fold(30.0, f64::max)
        }
        false => {
            plan.panels.iter().flat_map(|(axis, _)| &axis.ticks).map(tick).fold(30.0, f64::max)
        }
    };
    let legend = match plan.place(look) {
        LegendPlace::Beside => plan.beside(wide),
        LegendPlace::Above | LegendPlace::None => 0.0,
    };
    (MARGIN + widest + 14.0, wide - MARGIN - 30.0 - legend)
}

/// Smallest useful width of a panel, pixels.
const NARROWEST: f64 = 40.0;

/// Draws the surroundings and returns the panels.
pub(crate) fn draw(plan: Plan, x: Axis, look: Look) -> Result<(Scene, Vec<Panel>), PlotError> {
    let mut scene = Scene::new(look.size)?;
    let (left, right) = room(&plan, look);
    if right - left < NARROWEST {
        let reason = "labels and legend leave no room for it; make it larger";
        return Err(PlotError::NoData { title: plan.title, reason });
    }
    let (wide, high) = (f64::from(look.size.width), f64::from(look.size.height));
    let place = plan.place(look);
    let mut top = draw_title(&mut scene, &plan.title);
    let label = &plan.legend_label;
    if place == LegendPlace::Above {
        top = legend::draw_above(&mut scene, label, &plan.legend, (top, most_above(look)));
    }
    if !plan.note.is_empty() {
        let note = fitted(&plan.note, LABEL_SIZE, wide - 2.0 * MARGIN);
        draw_label(&mut scene, &[note], top + 8.0);
        top += NOTE_ROOM;
    }
    let labels = plan.panels.iter().enumerate().map(|(i, (y, _))| {
        // The legend is beside all panels, and below the label of the first one.
        let room = if i == 0 { wide - 2.0 * MARGIN } else { right - MARGIN };
        if plan.lanes { Vec::new() } else { wrapped(&y.label, LABEL_SIZE, room, LABEL_LINES) }
    });
    let labels = Vec::from_iter(labels);
    let label_room = |lines: &[String]| match plan.lanes {
        true => LANE_GAP,
        false if lines.is_empty() => MARGIN,
        false => label_height(lines.len()) + LABEL_ROOM - LABEL_SIZE,
    };
    let names = if plan.lanes { plan.lane_names(wide) } else { Vec::new() };
    let above: f64 = labels.iter().map(|it| label_room(it)).sum();
    let total = high - top - below(x.rows, !x.label.is_empty()) - above;
    let shares: f64 = plan.panels.iter().map(|(_, share)| share).sum();
    let legend_top = top + labels.first().map_or(0.0, |it| label_room(it));
    let mut panels = Vec::new();
    for (i, ((y, share), lines)) in plan.panels.into_iter().zip(&labels).enumerate() {
        draw_label(&mut scene, lines, top + 12.0);
        top += label_room(lines);
        let least = if plan.lanes { 10.0 } else { 20.0 };
        let bottom = top + (total * share / shares).max(least);
        let panel = Panel { left, right, top, bottom, x: x.clone(), y };
        match names.get(i) {
            Some(name) => {
                draw_upright(&mut scene, &panel);
                let at = (left - 12.0, (top + bottom) / 2.0);
                scene.text(at, name, TICK_SIZE, INK, Anchor::End);
            }
            None => draw_grid(&mut scene, &panel),
        }
        panels.push(panel);
        top = bottom;
    }
    draw_x(&mut scene, &x, (left, right, top));
    if place == LegendPlace::Beside {
        legend::draw(&mut scene, label, &plan.legend, (right + 30.0, legend_top));
    }
    Ok((scene, panels))
}

/// Maximum number of lines of a title, and of a label.
const TITLE_LINES: usize = 2;
const LABEL_LINES: usize = 3;

/// Draws a figure's title, if it has one, and returns its lower end.
pub(crate) fn draw_title(scene: &mut Scene, title: &str) -> f64 {
    let lines = title_lines(title, f64::from(scene.size.width));
    for (i, line) in lines.iter().enumerate() {
        let middle = (MARGIN, MARGIN + TITLE_SIZE * (0.5 + LINE * i as f64));
        scene.text(middle, line, TITLE_SIZE, INK, Anchor::Start);
    }
    title_height(lines.len())
}

fn title_lines(title: &str, wide: f64) -> Vec<String> {
    wrapped(title, TITLE_SIZE, wide - 2.0 * MARGIN, TITLE_LINES)
}

/// The lower end of a title with this number of lines.
fn title_height(lines: usize) -> f64 {
    if lines == 0 { 0.0 } else { MARGIN + TITLE_SIZE * (1.5 + LINE * (lines as f64 - 1.0)) }
}

/// Distance between two lines of a text, in units of its size.
const LINE: f64 = 1.15;

/// Height of a label with this number of lines.
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

/// The instants inside the ends of an axis.
pub(crate) fn within(instants: &[f64], low: f64, high: f64) -> Vec<f64> {
    instants.iter().copied().filter(|&at| low <= at && at <= high).collect()
}

/// Number of the series whose dashes mark changes.
const CHANGE: usize = 1;

/// The legend of changes of settings.
pub(crate) fn change_key() -> Key {
    Key::new("change", Mark::Dash(CHANGE), INK)
}

/// Draws a dashed line through all panels at each change of settings.
pub(crate) fn draw_changes(scene: &mut Scene, panels: &[Panel], changes: &[f64]) {
    for panel in panels {
        for &at in changes {
            let x = panel.x(at);
            strokes::line(scene, CHANGE, vec![(x, panel.top), (x, panel.bottom)], INK);
        }
    }
}

/// Draws the axes' lines again, over data that touch them.
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
    draw_upright(scene, panel);
    for (value, _) in panel.y.ticks.iter().filter(|_| panel.y.grid) {
        let y = panel.y(*value);
        scene.line(vec![(panel.left, y), (panel.right, y)], FAINT, 1);
    }
}

/// Draws the vertical lines of a panel's grid.
fn draw_upright(scene: &mut Scene, panel: &Panel) {
    for (value, _) in panel.x.ticks.iter().filter(|_| panel.x.grid) {
        let x = panel.x(*value);
        scene.line(vec![(x, panel.top), (x, panel.bottom)], FAINT, 1);
    }
}

/// Places of labels along an axis. A label that would touch another one is left out. Ticks come in the
/// order of their importance.
#[derive(Clone, Default)]
struct Taken(Vec<(f64, f64)>);

impl Taken {
    fn takes(&mut self, from: f64, to: f64) -> bool {
        let free = self.0.iter().all(|&(start, end)| to <= start || end <= from);
        if free {
            self.0.push((from, to));
        }
        free
    }
}

/// Draws the ticks of a panel's y axis.
pub(crate) fn draw_y_ticks(scene: &mut Scene, panel: &Panel) {
    let mut taken = Taken::default();
    for (value, text) in &panel.y.ticks {
        let y = panel.y(*value);
        scene.line(vec![(panel.left - 6.0, y), (panel.left, y)], INK, 2);
        // In a flat panel, only some ticks have room for their labels.
        if taken.takes(y - TICK_SIZE * 0.4, y + TICK_SIZE * 0.4) {
            scene.text((panel.left - 12.0, y), text, TICK_SIZE, INK, Anchor::End);
        }
    }
}

fn draw_x(scene: &mut Scene, x: &Axis, (left, right, bottom): (f64, f64, f64)) {
    draw_x_ticks(scene, x, (left, right, bottom));
    if x.label.is_empty() {
        return;
    }
    // A label longer than the axis extends to the left of it.
    let room = right + 30.0 - MARGIN;
    let label = fitted(&x.label, LABEL_SIZE, room);
    let wide = width(&label, LABEL_SIZE);
    let start = ((left + right - wide) / 2.0).min(right + 30.0 - wide).max(MARGIN);
    let middle = bottom + ticks_height(x.rows) + 12.0 + LABEL_SIZE / 2.0;
    scene.text((start, middle), &label, LABEL_SIZE, INK, Anchor::Start);
}

/// Draws the ticks of an x axis that goes from `left` to `right`.
pub(crate) fn draw_x_ticks(scene: &mut Scene, x: &Axis, (left, right, bottom): (f64, f64, f64)) {
    let mut rows = vec![Taken::default(); x.rows];
    for (i, (value, text)) in x.ticks.iter().enumerate() {
        let at = left + x.share(*value) * (right - left);
        let row = i % x.rows;
        let down = TICK_ROW * row as f64;
        scene.line(
            vec![(at, bottom), (at, bottom + 6.0 + down)],
            // Ticks of lower rows pass the labels of upper ones.
            if row > 0 { FAINT } else { INK },
            2,
        );
        let half = width(text, TICK_SIZE) / 2.0;
        if rows[row].takes(at - half - 6.0, at + half + 6.0) {
            let middle = (at, bottom + 12.0 + down + TICK_SIZE / 2.0);
            scene.text(middle, text, TICK_SIZE, INK, Anchor::Middle);
        }
    }
}
