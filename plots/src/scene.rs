//! A figure as a list of shapes in pixels, the origin at the top left.

use crate::canvas::Size;
use crate::error::PlotError;
use crate::type_face;

/// Red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// Which point of a text its coordinates are; vertically always its middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its start.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// Something on the canvas.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A filled rectangle.
    Box {
        /// Left, top, right, bottom.
        edges: [f64; 4],
        /// Its colour.
        colour: Colour,
        /// 0 = invisible, 1 = opaque.
        opacity: f64,
    },
    /// A line through points.
    Line {
        /// The points.
        points: Vec<(f64, f64)>,
        /// Its colour.
        colour: Colour,
        /// Its width.
        width: u32,
    },
    /// A filled polygon.
    Area {
        /// Its corners in order.
        corners: Vec<(f64, f64)>,
        /// Its colour.
        colour: Colour,
        /// 0 = invisible, 1 = opaque.
        opacity: f64,
    },
    /// A filled circle.
    Dot {
        /// Its centre.
        centre: (f64, f64),
        /// Its radius.
        radius: f64,
        /// Its colour.
        colour: Colour,
    },
    /// A line of text.
    Text {
        /// Where its anchor is.
        at: (f64, f64),
        /// What it says.
        text: String,
        /// Height in pixels.
        size: f64,
        /// Its colour.
        colour: Colour,
        /// Which point of it is at `at`.
        anchor: Anchor,
    },
}

/// The text with a mark in place of each character that stands for no letter: names may have any, and XML has no
/// control characters.
fn printable(text: &str) -> String {
    let is_none = |letter: char| {
        let reordered = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        letter.is_control() || reordered || matches!(letter, '\u{fffe}' | '\u{ffff}')
    };
    text.chars().map(|letter| if is_none(letter) { '\u{fffd}' } else { letter }).collect()
}

/// A figure as a list of shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The canvas.
    pub size: Size,
    /// From back to front.
    pub shapes: Vec<Shape>,
}

impl Scene {
    /// An empty canvas.
    pub(crate) fn new(size: Size) -> Result<Scene, PlotError> {
        let Size { width, height } = size;
        if !(400..=10_000).contains(&width) || !(300..=10_000).contains(&height) {
            return Err(PlotError::BadSize { width, height });
        }
        Ok(Scene { size, shapes: Vec::new() })
    }

    pub(crate) fn rectangle(&mut self, edges: [f64; 4], colour: Colour) {
        self.wash(edges, colour, 1.0);
    }

    /// A rectangle through which what is below shines.
    pub(crate) fn wash(&mut self, edges: [f64; 4], colour: Colour, opacity: f64) {
        self.shapes.push(Shape::Box { edges, colour, opacity });
    }

    pub(crate) fn line(&mut self, points: Vec<(f64, f64)>, colour: Colour, width: u32) {
        self.shapes.push(Shape::Line { points, colour, width });
    }

    /// A polygon through which what is below shines.
    pub(crate) fn area(&mut self, corners: Vec<(f64, f64)>, colour: Colour, opacity: f64) {
        self.shapes.push(Shape::Area { corners, colour, opacity });
    }

    pub(crate) fn dot(&mut self, centre: (f64, f64), radius: f64, colour: Colour) {
        self.shapes.push(Shape::Dot { centre, radius, colour });
    }

    pub(crate) fn text(
        &mut self,
        at: (f64, f64),
        text: &str,
        size: f64,
        colour: Colour,
        anchor: Anchor,
    ) {
        self.shapes.push(Shape::Text { at, text: printable(text), size, colour, anchor });
    }

    /// All texts with the edges (left, top, right, bottom) of what they cover.
    pub fn texts(&self) -> Vec<(&str, [f64; 4])> {
        let covered = |shape| match shape {
            &Shape::Text { at: (x, y), ref text, size, anchor, .. } => {
                let width = type_face::width(text, size);
                let left = match anchor {
                    Anchor::Start => x,
                    Anchor::Middle => x - width / 2.0,
                    Anchor::End => x - width,
                };
                // Capital letters and digits are some 0.7 of the size high.
                let half = size * 0.36;
                Some((text.as_str(), [left, y - half, left + width, y + half]))
            }
            _ => None,
        };
        self.shapes.iter().filter_map(covered).collect()
    }
}
