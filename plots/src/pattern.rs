//! Patterns over areas. They distinguish groups in print without colours, and mark failed attempts in
//! the same way in every figure.

use crate::palette::{on, tint};
use crate::scene::{Colour, Scene};

/// Lines over an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lines {
    Rising,
    Falling,
    Level,
    Upright,
}

/// The lines of the group with this number, and pixels from one to the next; the first group has none.
const PATTERNS: [&[(Lines, f64)]; 8] = [
    &[],
    &[(Lines::Rising, 12.0)],
    &[(Lines::Level, 9.0)],
    &[(Lines::Rising, 14.0), (Lines::Falling, 14.0)],
    &[(Lines::Upright, 9.0)],
    &[(Lines::Falling, 12.0)],
    &[(Lines::Level, 12.0), (Lines::Upright, 12.0)],
    &[(Lines::Rising, 6.0)],
];

/// Distance between the lines over a failed attempt, pixels.
const FAILED_STEP: f64 = 12.0;
/// Share of the colour in the ground of a failed attempt.
const PALE: f64 = 0.3;

/// Fills a rectangle with the colour and the pattern of the group with this number.
pub(crate) fn fill(scene: &mut Scene, edges: [f64; 4], number: usize, colour: Colour) {
    scene.rectangle(edges, colour);
    over(scene, edges, number, colour);
}

/// Draws the pattern of the group with this number over a rectangle of this colour.
pub(crate) fn over(scene: &mut Scene, edges: [f64; 4], number: usize, colour: Colour) {
    for &(lines, step) in PATTERNS[number % PATTERNS.len()] {
        draw(scene, edges, (lines, step), on(colour), 1);
    }
}

/// Fills a rectangle of a failed attempt.
pub(crate) fn failed(scene: &mut Scene, edges: [f64; 4], colour: Colour) {
    scene.rectangle(edges, pale(colour));
    hatch(scene, edges, colour);
}

/// The ground of a failed attempt.
pub(crate) fn pale(colour: Colour) -> Colour {
    tint(colour, PALE)
}

/// Draws slanted lines over a rectangle.
pub(crate) fn hatch(scene: &mut Scene, edges: [f64; 4], colour: Colour) {
    draw(scene, edges, (Lines::Rising, FAILED_STEP), colour, 2);
}

/// Draws lines of the whole canvas as far as they lie in a rectangle. They continue without a break in
/// neighbours, and narrow rectangles have their part of them.
fn draw(
    scene: &mut Scene,
    [left, top, right, bottom]: [f64; 4],
    (lines, step): (Lines, f64),
    colour: Colour,
    width: u32,
) {
    // So small an area has no room for a pattern, and its lines would hide its colour.
    if right - left < 2.0 || bottom - top < 2.0 {
        return;
    }
    // Each direction has a value that is constant along a line: x + y, x - y, y or x.
    let (low, high) = match lines {
        Lines::Rising => (left + top, right + bottom),
        Lines::Falling => (left - bottom, right - top),
        Lines::Level => (top, bottom),
        Lines::Upright => (left, right),
    };
    let mut at = (low / step).floor() * step + step;
    while at < high {
        let [from, to] = match lines {
            Lines::Rising => {
                let (from, to) = (left.max(at - bottom), right.min(at - top));
                [(from, at - from), (to, at - to)]
            }
            Lines::Falling => {
                let (from, to) = (left.max(top + at), right.min(bottom + at));
                [(from, from - at), (to, to - at)]
            }
            Lines::Level => [(left, at), (right, at)],
            Lines::Upright => [(at, top), (at, bottom)],
        };
        if (from.0 - to.0).abs() + (from.1 - to.1).abs() >= 1.0 {
            scene.line(vec![from, to], colour, width);
        }
        at += step;
    }
}

#[cfg(test)]
mod tests {
    use crate::canvas::Size;
    use crate::palette::BLUE;
    use crate::scene::Shape;

    use super::*;

    fn lines(number: usize, edges: [f64; 4]) -> Vec<Vec<(f64, f64)>> {
        let mut scene = Scene::new(Size::default()).expect("a size");
        over(&mut scene, edges, number, BLUE);
        let points = |shape: &Shape| match shape {
            Shape::Line { points, .. } => Some(points.clone()),
            _ => None,
        };
        scene.shapes.iter().filter_map(points).collect()
    }

    #[test]
    fn patterns_differ_and_stay_inside() {
        let edges = [10.3, 20.7, 70.1, 55.2];
        let all: Vec<_> = (0..PATTERNS.len()).map(|number| lines(number, edges)).collect();
        assert!(all[0].is_empty(), "the first group is plain");
        for (number, lines) in all.iter().enumerate().skip(1) {
            assert!(lines.len() >= 3, "{number}: {lines:?}");
            assert!(!all[..number].contains(lines), "{number} looks like one before");
            for (x, y) in lines.iter().flatten() {
                let inside = (10.3..=70.1).contains(x) && (20.7..=55.2).contains(y);
                assert!(inside, "{number}: ({x}, {y})");
            }
        }
    }

    #[test]
    fn a_line_goes_on_from_neighbour_to_neighbour() {
        let (one, other) = (lines(1, [0.0, 0.0, 50.0, 50.0]), lines(1, [50.0, 0.0, 90.0, 50.0]));
        let ends: Vec<(f64, f64)> =
            one.iter().map(|line| line[1]).filter(|it| it.0 == 50.0).collect();
        let starts: Vec<(f64, f64)> =
            other.iter().map(|line| line[0]).filter(|it| it.0 == 50.0).collect();
        assert!(
            !ends.is_empty() && ends.iter().all(|end| starts.contains(end)),
            "{ends:?} {starts:?}"
        );
    }
}
