//! Dashes and marks, by which lines differ without colours.

use crate::palette::COLOURS;
use crate::scene::{Colour, Scene};

/// Alternating lengths of strokes and gaps, in pixels; the first line has no gaps.
const DASHES: [&[f64]; 4] = [&[], &[16.0, 8.0], &[4.0, 6.0], &[16.0, 6.0, 4.0, 6.0]];

/// Marks, as corners around a point, in radii; none = a circle.
const MARKS: [&[(f64, f64)]; 5] = [
    &[],
    &[(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
    &[(0.0, -1.15), (1.1, 0.8), (-1.1, 0.8)],
    &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
    &[(0.0, 1.15), (1.1, -0.8), (-1.1, -0.8)],
];

/// Draws the line of the series with this number.
pub(crate) fn line(scene: &mut Scene, number: usize, points: Vec<(f64, f64)>, colour: Colour) {
    // Colours repeat after some series, with other dashes then.
    let dashes = DASHES[(number + number / COLOURS) % DASHES.len()];
    for stroke in strokes(points, dashes) {
        scene.line(stroke, colour, 3);
    }
}

/// Marks a point of the series with this number.
pub(crate) fn mark(scene: &mut Scene, number: usize, (x, y): (f64, f64), colour: Colour) {
    const RADIUS: f64 = 7.0;
    match MARKS[number % MARKS.len()] {
        [] => scene.dot((x, y), RADIUS, colour),
        corners => {
            let corner = |&(right, down): &(f64, f64)| (x + RADIUS * right, y + RADIUS * down);
            scene.area(corners.iter().map(corner).collect(), colour, 1.0);
        }
    }
}

/// The strokes of a line with these dashes.
fn strokes(points: Vec<(f64, f64)>, dashes: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let (Some(&first), false) = (points.first(), dashes.is_empty()) else { return vec![points] };
    let mut lengths = dashes.iter().copied().cycle();
    let (mut left, mut draws) = (lengths.next().unwrap_or(f64::INFINITY), true);
    let (mut drawn, mut stroke, mut from) = (Vec::new(), vec![first], first);
    for &to in &points[1..] {
        loop {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            // A stroke or gap goes on behind the corner.
            if length <= left {
                left -= length;
                from = to;
                if draws {
                    stroke.push(to);
                }
                break;
            }
            let share = left / length;
            from = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            if draws {
                stroke.push(from);
                drawn.push(std::mem::take(&mut stroke));
            } else {
                stroke = vec![from];
            }
            draws = !draws;
            left = lengths.next().unwrap_or(f64::INFINITY);
        }
    }
    if draws && stroke.len() > 1 {
        drawn.push(stroke);
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_go_on_around_corners() {
        let points = vec![(0.0, 0.0), (20.0, 0.0), (20.0, 20.0)];
        assert_eq!(strokes(points.clone(), &[]), std::slice::from_ref(&points));
        let drawn = strokes(points, &[15.0, 3.0]);
        let expected = [
            vec![(0.0, 0.0), (15.0, 0.0)],
            vec![(18.0, 0.0), (20.0, 0.0), (20.0, 13.0)],
            vec![(20.0, 16.0), (20.0, 20.0)],
        ];
        assert_eq!(drawn, expected);
    }

    #[test]
    fn lines_of_one_colour_have_other_dashes() {
        let drawn = |number: usize| {
            let mut scene = Scene::new(crate::canvas::Size::default()).expect("a size");
            line(
                &mut scene,
                number,
                vec![(0.0, 0.0), (100.0, 0.0)],
                crate::palette::series(number),
            );
            scene.shapes
        };
        let all: Vec<_> = (0..24).map(drawn).collect();
        for (number, shapes) in all.iter().enumerate() {
            assert!(!all[..number].contains(shapes), "{number} looks like one before");
        }
    }

    #[test]
    fn a_line_of_one_point_or_none_is_nothing() {
        assert!(strokes(vec![(1.0, 1.0)], &[4.0, 4.0]).is_empty());
        assert_eq!(strokes(Vec::new(), &[4.0, 4.0]), [Vec::new()]);
    }
}
