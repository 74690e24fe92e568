//! Boxes: distributions of values, for categories.
//!
//! ```text
//!   ○      beyond the whiskers (by Tukey's rule, or beyond the last letter value)
//!   ┬      highest value, or highest one within 1.5 quartile ranges of the box
//!  ┌┴┐     third quartile
//!  ├─┤ ●   median, mean
//!  └┬┘     first quartile
//!   ┴      lowest value, likewise
//! ```
//! Quantiles are linear between neighbours (definition 7 of Hyndman and Fan 1996).

use haggle_results::metrics::percentile;

use crate::axis::{Axis, Limits, YScale};
use crate::chart::Chart;
use crate::frame::Panel;
use crate::legend::Key;
use crate::palette::{INK, series, tint};
use crate::scene::{Colour, Scene};

/// Boxes for categories.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxChart {
    /// Title above the figure.
    pub title: String,
    /// Label of the x axis.
    pub x_label: String,
    /// Label of the y axis with its unit.
    pub y_label: String,
    /// Common label of the entries of the legend; empty if it is obvious.
    pub legend_label: String,
    /// The groups, from left to right.
    pub categories: Vec<String>,
    /// Style of the boxes.
    pub style: BoxStyle,
    /// A reference value, drawn as a horizontal line.
    pub reference: Option<f64>,
    /// Ends of the y axis, if they were chosen.
    pub y_limits: Limits,
    /// The series; each has a box in every group.
    pub series: Vec<BoxSeries>,
}

/// Content of a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoxStyle {
    /// Quartiles, and whiskers to the lowest and the highest value.
    #[default]
    Range,
    /// Quartiles, whiskers to the furthest values within 1.5 quartile ranges of the box, and all values
    /// outside (Tukey 1977).
    Tukey,
    /// Boxes between the fourths, the eighths and so on (Hofmann, Wickham and Kafadar 2017). Further
    /// boxes are drawn as long as at least [`TAIL`] values lie outside each end. Values outside the last one are dots.
    LetterValues,
    /// A box with the central part of the values of this width, and whiskers to the ends of a wider one; both in
    /// percent. Values outside are not drawn.
    Intervals {
        /// Part of the values in the box.
        inner: u32,
        /// Part of the values between the whiskers.
        outer: u32,
    },
}

/// A box in each group.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxSeries {
    /// Its name in the legend.
    pub name: String,
    /// The values of each category, in any order; a category without values has no box.
    pub values: Vec<Vec<f64>>,
}

/// Fewest values outside each end of a letter value's box. With fewer, the next letter value is unreliable.
pub const TAIL: usize = 5;

/// Statistics of a set of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// Ends of each box; the first box is that of the quartiles.
    pub boxes: Vec<(f64, f64)>,
    /// Ends of the whiskers.
    pub whiskers: Option<(f64, f64)>,
    /// Values outside of all boxes and whiskers, ascending.
    pub beyond: Vec<f64>,
}

impl Spread {
    /// Statistics of `values`, in any order; `None` if none is finite.
    pub fn of(values: &[f64], style: BoxStyle) -> Option<Spread> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|it| it.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (first, last) = (*sorted.first()?, *sorted.last()?);
        let at = |share: f64| percentile(&sorted, share);
        let pair = |share: f64| Some((at(share)?, at(1.0 - share)?));
        let quartiles = match style {
            BoxStyle::Intervals { inner, .. } => pair((1.0 - f64::from(inner) / 100.0) / 2.0)?,
            _ => pair(0.25)?,
        };
        let mut boxes = vec![quartiles];
        let (low, high) = match style {
            BoxStyle::Range => (first, last),
            BoxStyle::Intervals { outer, .. } => pair((1.0 - f64::from(outer) / 100.0) / 2.0)?,
            BoxStyle::Tukey => {
                let reach = 1.5 * (quartiles.1 - quartiles.0);
                let within =
                    |value: &&f64| (quartiles.0 - reach..=quartiles.1 + reach).contains(*value);
                // A quartile may lie between a value within reach and one outside.
                let low = sorted.iter().find(within).map_or(quartiles.0, |it| it.min(quartiles.0));
                let high = sorted.iter().rfind(within);
                (low, high.map_or(quartiles.1, |it| it.max(quartiles.1)))
            }
            BoxStyle::LetterValues => {
                let mut share = 0.125;
                while share * sorted.len() as f64 >= TAIL as f64 {
                    boxes.push(pair(share)?);
                    share /= 2.0;
                }
                *boxes.last()?
            }
        };
        Some(Spread {
            median: at(0.5)?,
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
            boxes,
            whiskers: (style != BoxStyle::LetterValues).then_some((low, high)),
            beyond: match style {
                BoxStyle::Intervals { .. } => Vec::new(),
                _ => sorted.into_iter().filter(|&it| it < low || it > high).collect(),
            },
        })
    }

    /// The lowest and the highest value that is drawn.
    fn reach(&self) -> (f64, f64) {
        let ends = self.boxes.iter().copied().chain(self.whiskers);
        let ends = ends.chain(self.beyond.iter().map(|&it| (it, it)));
        ends.fold((self.median, self.median), |all, it| (all.0.min(it.0), all.1.max(it.1)))
    }
}

impl BoxChart {
    fn spreads(&self) -> impl Iterator<Item = (usize, usize, Spread)> {
        self.series.iter().enumerate().flat_map(move |(number, series)| {
            let categories = series.values.iter().take(self.categories.len()).enumerate();
            categories.filter_map(move |(category, values)| {
                Some((number, category, Spread::of(values, self.style)?))
            })
        })
    }

    /// Start of the boxes of a group and width of each, as shares of the group's place.
    fn layout(&self, panel: &Panel) -> (f64, f64) {
        // A limit for the width of few boxes.
        const WIDEST: f64 = 110.0;
        let place = (panel.right - panel.left) / self.categories.len().max(1) as f64;
        let wide = (0.86 / self.series.len().max(1) as f64).min(WIDEST / place);
        ((1.0 - wide * self.series.len() as f64) / 2.0, wide)
    }
}

impl Chart for BoxChart {
    fn title(&self) -> &str {
        &self.title
    }

    fn y_label(&self) -> &str {
        &self.y_label
    }

    fn y_range(&self) -> Result<(f64, f64), &'static str> {
        let reach = self.spreads().map(|(.., spread)| spread.reach());
        let reach = reach.reduce(|all, it| (all.0.min(it.0), all.1.max(it.1)));
        let (low, high) = reach.ok_or("no category has a value")?;
        let reference = self.reference.unwrap_or(low);
        Ok((low.min(reference), high.max(reference)))
    }

    fn y_axis(&self, label: &str, (low, high): (f64, f64)) -> Axis {
        // Boxes are not amounts. The axis contains 0 only if it is near, because it would flatten the
        // boxes otherwise.
        let near = 0.0 <= low && low <= 0.4 * high;
        // Equal values have an axis of some length, too.
        let edge = (high - low).max(high.abs() * 1e-3) * 0.06;
        let axis = match near {
            true => Axis::amounts(label, high, 6),
            false => Axis::linear(label, low - edge, high + edge, 6),
        };
        axis.limited(YScale::Linear, self.y_limits)
    }

    fn x_axis(&self, room: f64) -> Axis {
        Axis::names(&self.x_label, &self.categories, room)
    }

    fn legend_label(&self) -> &str {
        &self.legend_label
    }

    fn legend(&self) -> Vec<Key> {
        let names =
            self.series.iter().enumerate().map(|(i, it)| Key::from((it.name.clone(), series(i))));
        if self.series.len() > 1 { names.collect() } else { Vec::new() }
    }

    fn draw(&self, scene: &mut Scene, panel: &Panel) {
        for category in 1..self.categories.len() {
            let x = panel.x(category as f64);
            scene.line(vec![(x, panel.top), (x, panel.bottom)], crate::palette::FAINT, 1);
        }
        if let Some(reference) = self.reference {
            let y = panel.y(reference);
            scene.line(vec![(panel.left, y), (panel.right, y)], INK, 2);
        }
        let (margin, wide) = self.layout(panel);
        for (number, category, spread) in self.spreads() {
            let from = category as f64 + margin + wide * number as f64;
            let (start, end) = (panel.x(from) + 2.0, panel.x(from + wide) - 2.0);
            draw_box(scene, panel, (start, end), &spread, series(number));
        }
    }
}

fn draw_box(
    scene: &mut Scene,
    panel: &Panel,
    (start, end): (f64, f64),
    spread: &Spread,
    colour: Colour,
) {
    let middle = (start + end) / 2.0;
    if let Some((low, high)) = spread.whiskers {
        let inner = spread.boxes.first().copied().unwrap_or((low, high));
        for (from, to) in [(inner.0, low), (inner.1, high)] {
            let (y, end_y) = (panel.y(from), panel.y(to));
            let half = (end - start) / 4.0;
            scene.line(vec![(middle, y), (middle, end_y)], colour, 2);
            if panel.y.shows(to) {
                scene.line(vec![(middle - half, end_y), (middle + half, end_y)], colour, 2);
            }
        }
    }
    // Boxes are drawn from the narrowest to the widest. The widest is the innermost one and lies on the
    // others.
    let count = spread.boxes.len();
    for (level, &(low, high)) in spread.boxes.iter().enumerate().rev() {
        let narrower = (end - start) / 2.0 * level as f64 / (count as f64 + 0.5);
        let edges = [start + narrower, panel.y(high), end - narrower, panel.y(low)];
        let share = if count == 1 { 0.4 } else { 0.75 - 0.55 * level as f64 / (count - 1) as f64 };
        // The chosen ends of the axis leave nothing of this box.
        if edges[1] == edges[3] && !panel.y.shows(low) {
            continue;
        }
        scene.rectangle(edges, tint(colour, share));
        outline(scene, edges, colour);
    }
    if panel.y.shows(spread.median) {
        let y = panel.y(spread.median);
        scene.line(vec![(start, y), (end, y)], INK, 4);
    }
    // If all values are close to each other, only this dot shows the colour of the series.
    if panel.y.shows(spread.mean) {
        scene.dot((middle, panel.y(spread.mean)), 6.5, INK);
        scene.dot((middle, panel.y(spread.mean)), 4.5, colour);
    }
    for &value in spread.beyond.iter().filter(|&&value| panel.y.shows(value)) {
        scene.dot((middle, panel.y(value)), 4.0, colour);
    }
}

fn outline(scene: &mut Scene, [left, top, right, bottom]: [f64; 4], colour: Colour) {
    let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
    scene.line(corners.to_vec(), colour, 2);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(values: &[f64], style: BoxStyle) -> Spread {
        Spread::of(values, style).expect("there are values")
    }

    fn up_to(last: u32) -> Vec<f64> {
        (1..=last).rev().map(f64::from).collect()
    }

    #[test]
    fn whiskers_reach_to_the_ends() {
        let ten = spread(&up_to(10), BoxStyle::Range);
        assert_eq!((ten.median, ten.mean), (5.5, 5.5));
        assert_eq!((ten.boxes, ten.whiskers), (vec![(3.25, 7.75)], Some((1.0, 10.0))));
        assert!(ten.beyond.is_empty());
        assert!(Spread::of(&[f64::NAN], BoxStyle::Range).is_none());
        let alone = spread(&[3.0], BoxStyle::Range);
        assert_eq!((alone.boxes, alone.whiskers), (vec![(3.0, 3.0)], Some((3.0, 3.0))));
    }

    /// By Tukey's rule 10 lies beyond 4 + 1.5 (4 - 2) = 7.
    #[test]
    fn what_is_far_away_is_a_dot() {
        let five = spread(&[1.0, 2.0, 3.0, 4.0, 10.0], BoxStyle::Tukey);
        assert_eq!((five.boxes, five.whiskers), (vec![(2.0, 4.0)], Some((1.0, 4.0))));
        assert_eq!(five.beyond, [10.0]);
    }

    #[test]
    fn letter_values_go_on_as_long_as_there_are_values_beyond() {
        let boxes = |last| spread(&up_to(last), BoxStyle::LetterValues).boxes.len();
        assert_eq!([boxes(10), boxes(39), boxes(40), boxes(80)], [1, 1, 2, 3]);
        let forty = spread(&up_to(41), BoxStyle::LetterValues);
        assert_eq!(forty.boxes, [(11.0, 31.0), (6.0, 36.0)]);
        assert_eq!(forty.beyond, [1.0, 2.0, 3.0, 4.0, 5.0, 37.0, 38.0, 39.0, 40.0, 41.0]);
        assert_eq!(forty.whiskers, None);
    }
}
