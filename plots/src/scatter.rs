//! Points with their spreads in both directions, each with its name beside it.

use crate::axis::Axis;
use crate::chart::{Chart, amounts_or_range, range, whisker};
use crate::frame::Panel;
use crate::legend::Key;
use crate::palette::{INK, series};
use crate::scene::{Anchor, Scene};
use crate::type_face::width;

/// One metric against another.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterChart {
    /// Title above the figure.
    pub title: String,
    /// Label of the x axis with its unit.
    pub x_label: String,
    /// Label of the y axis with its unit.
    pub y_label: String,
    /// True if the x axis is logarithmic, for values that are all above 0.
    pub x_log: bool,
    /// The points; each has a colour of its own.
    pub points: Vec<ScatterPoint>,
}

/// A named point.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPoint {
    /// Its name, written beside it.
    pub name: String,
    /// The mean on the x axis, and the half length of its whisker, if known.
    pub x: (f64, Option<f64>),
    /// The same for the y axis.
    pub y: (f64, Option<f64>),
}

/// Radius of points, pixels.
const RADIUS: f64 = 10.0;
/// Height of names, pixels.
const NAME_SIZE: f64 = 24.0;
/// The square of colour before a name, pixels.
const SWATCH: f64 = 14.0;

impl ScatterChart {
    /// The points with finite values, with their numbers.
    fn placed(&self) -> impl Iterator<Item = (usize, &ScatterPoint)> + Clone {
        let placed = |point: &ScatterPoint| point.x.0.is_finite() && point.y.0.is_finite();
        self.points.iter().enumerate().filter(move |(_, point)| placed(point))
    }
}

fn reach((mean, half): (f64, Option<f64>)) -> (f64, f64, f64) {
    (mean, mean - half.unwrap_or(0.0), mean + half.unwrap_or(0.0))
}

impl Chart for ScatterChart {
    fn title(&self) -> &str {
        &self.title
    }

    fn y_label(&self) -> &str {
        &self.y_label
    }

    fn y_range(&self) -> Result<(f64, f64), &'static str> {
        range(&mut self.placed().map(|(_, point)| reach(point.y))).ok_or("no point has a value")
    }

    fn y_axis(&self, label: &str, range: (f64, f64)) -> Axis {
        amounts_or_range(label, range)
    }

    fn x_axis(&self, room: f64) -> Axis {
        let (low, high) =
            range(&mut self.placed().map(|(_, point)| reach(point.x))).unwrap_or((0.0, 1.0));
        // Room at both ends, for points on the edges and for their names.
        if self.x_log && self.placed().all(|(_, point)| point.x.0 > 0.0) {
            let least = self.placed().map(|(_, point)| point.x.0).fold(high, f64::min);
            // A whisker may reach to values without a logarithm.
            let low = if low > 0.0 { low } else { least / 2.0 };
            let edge = (high / low).powf(0.08).max(1.1);
            return Axis::log(&self.x_label, low / edge, high * edge);
        }
        let edge = (high - low).max(1e-9) * 0.08;
        let most = ((room / 110.0) as usize).clamp(3, 8);
        Axis::linear(&self.x_label, low - edge, high + edge, most)
    }

    fn legend(&self) -> Vec<Key> {
        Vec::new() // names stand beside the points
    }

    fn draw(&self, scene: &mut Scene, panel: &Panel) {
        let at = |point: &ScatterPoint| (panel.x(point.x.0), panel.y(point.y.0));
        let mut taken: Vec<[f64; 4]> = Vec::new();
        for (i, point) in self.placed() {
            let (x, y) = at(point);
            if point.y.1.is_some() {
                let (_, bottom, top) = reach(point.y);
                whisker(scene, panel, x, (bottom, top), series(i));
                taken.push([x - 8.0, panel.y(top), x + 8.0, panel.y(bottom)]);
            }
            if point.x.1.is_some() {
                let (_, left, right) = reach(point.x);
                let (left, right) = (panel.x(left), panel.x(right));
                scene.line(vec![(left, y), (right, y)], series(i), 2);
                for end in [left, right] {
                    scene.line(vec![(end, y - 8.0), (end, y + 8.0)], series(i), 2);
                }
                taken.push([left, y - 8.0, right, y + 8.0]);
            }
            scene.dot((x, y), RADIUS, series(i));
            taken.push([x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS]);
        }
        // After all points, so that names avoid them.
        for (i, point) in self.placed() {
            let edges = place_of_name(&point.name, at(point), panel, &taken);
            let (left, middle) = (edges[0], (edges[1] + edges[3]) / 2.0);
            // A name may be far from its point, so a square of the colour shows the point to which it
            // belongs.
            let half = SWATCH / 2.0;
            scene.rectangle([left, middle - half, left + SWATCH, middle + half], series(i));
            let text = (left + SWATCH + 6.0, middle);
            scene.text(text, &point.name, NAME_SIZE, INK, Anchor::Start);
            taken.push(edges);
        }
    }
}

/// The place for a point's name that covers least of the other shapes: left, top, right, bottom.
fn place_of_name(name: &str, (x, y): (f64, f64), panel: &Panel, taken: &[[f64; 4]]) -> [f64; 4] {
    let (wide, high) = (SWATCH + 6.0 + width(name, NAME_SIZE), NAME_SIZE * 0.8);
    let gap = RADIUS + 6.0;
    // Near places come first: above, then below, each to the right, to the left and in the middle.
    let mut best = (f64::INFINITY, [x, y, x + wide, y + high]);
    for distance in 0..6 {
        let away = gap + f64::from(distance) * (high + 6.0);
        for (left, middle) in [
            (x + gap, y - away),
            (x - gap - wide, y - away),
            (x + gap, y + away),
            (x - gap - wide, y + away),
            (x - wide / 2.0, y - away - high / 2.0),
            (x - wide / 2.0, y + away + high / 2.0),
        ] {
            let edges = [left, middle - high / 2.0, left + wide, middle + high / 2.0];
            let outside = edges[0] < panel.left + 4.0
                || edges[2] > panel.right
                || edges[1] < panel.top
                || edges[3] > panel.bottom - 4.0;
            let covered: f64 = taken.iter().map(|other| overlap(edges, *other)).sum();
            // More than any area that a name can cover.
            let cost = covered + if outside { 1e9 } else { 0.0 };
            if cost < best.0 {
                best = (cost, edges);
            }
        }
        if best.0 == 0.0 {
            break;
        }
    }
    best.1
}

/// The area that two rectangles share.
fn overlap(a: [f64; 4], b: [f64; 4]) -> f64 {
    let wide = a[2].min(b[2]) - a[0].max(b[0]);
    let high = a[3].min(b[3]) - a[1].max(b[1]);
    wide.max(0.0) * high.max(0.0)
}
