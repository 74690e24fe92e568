//! Legends beside a figure: what each colour and each mark stands for.

use crate::axis::TICK_SIZE;
use crate::frame::MARGIN;
use crate::gantt::{hatch, joint};
use crate::palette::{INK, on, tint};
use crate::scene::{Anchor, Colour, Scene};
use crate::strokes;
use crate::type_face::fitted;

/// A line of a legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) name: String,
    mark: Mark,
    colour: Colour,
}

/// What stands before the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A filled box.
    Box,
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
        match self.mark {
            Mark::Box => scene.rectangle([left, y - 11.0, right, y + 11.0], colour),
            Mark::Flat => scene.rectangle([left, y - 5.0, right, y + 5.0], colour),
            Mark::Hatched => {
                let edges = [left, y - 11.0, right, y + 11.0];
                scene.rectangle(edges, tint(colour, 0.3));
                hatch(scene, edges, colour);
            }
            Mark::Joint => joint(scene, left + 11.0, [y - 9.0, y + 9.0], colour),
            Mark::Notch => {
                scene.rectangle([left, y - 11.0, right, y + 11.0], colour);
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
            Mark::Point(number) => strokes::mark(scene, number, (left + 11.0, y), colour),
            Mark::Arrow => arrow(scene, &[(left, y), (right, y)], colour),
        }
    }
}

/// Names whose colour says all.
impl From<(String, Colour)> for Key {
    fn from((name, colour): (String, Colour)) -> Key {
        Key { name, mark: Mark::Box, colour }
    }
}

/// How far names stand behind the left ends of their marks, pixels.
pub(crate) const NAME_INDENT: f64 = 34.0;

/// Draws a legend below its label, if it has one, with its left top corner at `(left, top)`.
pub(crate) fn draw(scene: &mut Scene, label: &str, legend: &[Key], (left, top): (f64, f64)) {
    let step = TICK_SIZE + 14.0;
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

/// A line with a head at its last point, which it reaches level or upright.
pub(crate) fn arrow(scene: &mut Scene, points: &[(f64, f64)], colour: Colour) {
    const HEAD: f64 = 10.0;
    let &[.., (from_x, from_y), (x, y)] = points else { return };
    let (right, down) = match (x - from_x).abs() >= (y - from_y).abs() {
        true => ((x - from_x).signum(), 0.0),
        false => (0.0, (y - from_y).signum()),
    };
    let (base_x, base_y) = (x - HEAD * right, y - HEAD * down);
    let aside = |side: f64| (base_x + side * down * HEAD / 2.0, base_y + side * right * HEAD / 2.0);
    let mut line = points.to_vec();
    line.pop();
    line.push((base_x, base_y));
    scene.line(line, colour, 2);
    scene.area(vec![(x, y), aside(1.0), aside(-1.0)], colour, 1.0);
}
