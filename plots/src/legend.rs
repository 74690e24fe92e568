//! Legends of a figure: the meaning of each colour and each mark.

use crate::axis::TICK_SIZE;
use crate::frame::MARGIN;
use crate::gantt::joint;
use crate::palette::{INK, on};
use crate::pattern;
use crate::scene::{Anchor, Colour, Scene};
use crate::strokes;
use crate::type_face::{fitted, width};

/// A line of a legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) name: String,
    mark: Mark,
    colour: Colour,
}

/// Mark before the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A filled box.
    Box,
    /// A box with the pattern of the group with this number.
    Patterned(usize),
    /// A box with a thick edge.
    Outlined,
    /// A flat box.
    Flat,
    /// A pale box with slanted lines.
    Hatched,
    /// Two ends of a line that joins bars.
    Joint,
    /// A filled box with a notch.
    Notch,
    /// A dot.
    Dot,
    /// An arrow.
    Arrow,
    /// A piece of the line of the series with this number, with its mark.
    Line(usize),
    /// A piece of an unbroken line with the mark of the series with this number.
    Solid(usize),
    /// A piece of the line of the series with this number.
    Dash(usize),
    /// The mark of the series with this number.
    Point(usize),
}

impl Key {
    pub(crate) fn new(name: &str, mark: Mark, colour: Colour) -> Key {
        Key { name: name.to_owned(), mark, colour }
    }

    pub(crate) fn draw(&self, scene: &mut Scene, left: f64, y: f64) {
        let colour = self.colour;
        let right = left + 22.0;
        let edges = [left, y - 11.0, right, y + 11.0];
        match self.mark {
            Mark::Box => scene.rectangle(edges, colour),
            Mark::Flat => scene.rectangle([left, y - 5.0, right, y + 5.0], colour),
            Mark::Patterned(number) => pattern::fill(scene, edges, number, colour),
            Mark::Outlined => {
                scene.rectangle(edges, colour);
                outline(scene, edges);
            }
            Mark::Hatched => pattern::failed(scene, edges, colour),
            Mark::Joint => joint(scene, left + 11.0, [y - 9.0, y + 9.0], colour),
            Mark::Notch => {
                scene.rectangle(edges, colour);
                scene.rectangle([left + 10.0, y, left + 13.0, y + 11.0], on(colour));
            }
            Mark::Dot => scene.dot((left + 11.0, y), 5.0, colour),
            Mark::Line(number) | Mark::Dash(number) => {
                let ends = vec![(left - 4.0, y), (right + 4.0, y)];
                strokes::line(scene, number, ends, colour);
                if matches!(self.mark, Mark::Line(_)) {
                    strokes::mark(scene, number, (left + 11.0, y), colour);
                }
            }
            Mark::Solid(number) => {
                scene.line(vec![(left - 4.0, y), (right + 4.0, y)], colour, 3);
                strokes::mark(scene, number, (left + 11.0, y), colour);
            }
            Mark::Point(number) => strokes::mark(scene, number, (left + 11.0, y), colour),
            Mark::Arrow => arrow(scene, &[(left, y), (right, y)], colour),
        }
    }
}

/// Names with a filled box of their colour.
impl From<(String, Colour)> for Key {
    fn from((name, colour): (String, Colour)) -> Key {
        Key { name, mark: Mark::Box, colour }
    }
}

/// Distance of names from the left ends of their marks, pixels.
pub(crate) const NAME_INDENT: f64 = 34.0;

/// Draws a legend below its label, if it has one, with its left top corner at `(left, top)`.
pub(crate) fn draw(scene: &mut Scene, label: &str, legend: &[Key], (left, top): (f64, f64)) {
    let step = STEP;
    let mut top = top;
    if !label.is_empty() {
        let room = f64::from(scene.size.width) - left - MARGIN / 2.0;
        let label = fitted(label, TICK_SIZE, room);
        scene.text((left, top + step / 2.0), &label, TICK_SIZE, INK, Anchor::Start);
        top += step;
    }
    let bottom = f64::from(scene.size.height) - MARGIN;
    let fits = (((bottom - top) / step) as usize).max(1);
    for (i, key) in legend.iter().enumerate().take(fits) {
        let y = top + step * (i as f64 + 0.5);
        if i + 1 == fits && legend.len() > fits {
            let text = format!("{} more", legend.len() - i);
            scene.text((left, y), &text, TICK_SIZE, INK, Anchor::Start);
            return;
        }
        key.draw(scene, left, y);
        let room = f64::from(scene.size.width) - left - NAME_INDENT - MARGIN / 2.0;
        let name = fitted(&key.name, TICK_SIZE, room);
        scene.text((left + NAME_INDENT, y), &name, TICK_SIZE, INK, Anchor::Start);
    }
}

/// Distance between two lines of a legend, pixels.
const STEP: f64 = TICK_SIZE + 14.0;

/// Height of this number of lines.
pub(crate) fn height(lines: usize) -> f64 {
    STEP * lines as f64
}

/// Positions of the entries of a legend that continues from line to line behind its label: the left end
/// of each, and its line from 0.
fn flow(label: &str, legend: &[Key], wide: f64) -> Vec<(f64, usize)> {
    let (end, mut x, mut line) = (wide - MARGIN, MARGIN, 0);
    if !label.is_empty() {
        x += width(label, TICK_SIZE) + 36.0;
    }
    let mut places = Vec::with_capacity(legend.len());
    for key in legend {
        let long = (NAME_INDENT + width(&key.name, TICK_SIZE)).min(end - MARGIN);
        // An entry that is too wide for any line has a line of its own.
        if x > MARGIN && x + long > end {
            (x, line) = (MARGIN, line + 1);
        }
        places.push((x, line));
        x += long + 36.0;
    }
    places
}

/// Number of lines of a legend above panels.
pub(crate) fn lines_above(label: &str, legend: &[Key], wide: f64) -> usize {
    flow(label, legend, wide).last().map_or(0, |(_, line)| line + 1)
}

/// Draws a legend behind its label in as many lines as needed, up to a maximum. The first line is below
/// `top`. Returns the lower end.
pub(crate) fn draw_above(
    scene: &mut Scene,
    label: &str,
    legend: &[Key],
    (top, most): (f64, usize),
) -> f64 {
    let wide = f64::from(scene.size.width);
    let y = |line: usize| top + STEP * (line as f64 + 0.5);
    if !label.is_empty() {
        scene.text((MARGIN, y(0)), &format!("{label}:"), TICK_SIZE, INK, Anchor::Start);
    }
    let places = flow(label, legend, wide);
    let lines = places.last().map_or(0, |(_, line)| line + 1);
    for (i, (key, &(x, line))) in legend.iter().zip(&places).enumerate() {
        // The last entry of the last line gives way to the number of entries left out.
        let is_last = line + 1 == most && places.get(i + 1).is_some_and(|next| next.1 == most);
        if line == most || (is_last && lines > most) {
            let text = format!("{} more", legend.len() - i);
            scene.text((x, y(most - 1)), &text, TICK_SIZE, INK, Anchor::Start);
            break;
        }
        key.draw(scene, x, y(line));
        let name = fitted(&key.name, TICK_SIZE, wide - 2.0 * MARGIN - NAME_INDENT);
        scene.text((x + NAME_INDENT, y(line)), &name, TICK_SIZE, INK, Anchor::Start);
    }
    y(lines.min(most).max(1) - 1) + STEP / 2.0
}

/// Draws a thick edge around a rectangle.
pub(crate) fn outline(scene: &mut Scene, [left, top, right, bottom]: [f64; 4]) {
    // The line begins in the middle of an edge, so that all corners are complete.
    let start = ((left + right) / 2.0, top);
    let corners = [start, (right, top), (right, bottom), (left, bottom), (left, top), start];
    scene.line(corners.to_vec(), INK, 4);
}

/// A line with an arrowhead at its last point, in a horizontal or vertical direction.
pub(crate) fn arrow(scene: &mut Scene, points: &[(f64, f64)], colour: Colour) {
    const HEAD: f64 = 10.0;
    let &[.., (from_x, from_y), (x, y)] = points else { return };
    let (right, down) = match (x - from_x).abs() >= (y - from_y).abs() {
        true => ((x - from_x).signum(), 0.0),
        false => (0.0, (y - from_y).signum()),
    };
    let (base_x, base_y) = (x - HEAD * right, y - HEAD * down);
    let aside = |side: f64| (base_x + side * down * HEAD / 2.0, base_y + side * right * HEAD / 2.0);
    // The line ends at the base of the head, so that the head has a sharp tip.
    let mut line = points.to_vec();
    line.pop();
    line.push((base_x, base_y));
    scene.line(line, colour, 2);
    scene.area(vec![(x, y), aside(1.0), aside(-1.0)], colour, 1.0);
}
