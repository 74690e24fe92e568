//! A figure as a list of shapes in pixels, the origin at the top left.

use crate::canvas::Size;
use crate::error::PlotError;
use crate::type_face::{self, bounded};

/// Red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// Horizontal anchor of a text; vertically, the anchor always is the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its start.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A shape on the canvas.
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
        /// Position of its anchor.
        at: (f64, f64),
        /// Content of the text.
        text: String,
        /// Height in pixels.
        size: f64,
        /// Its colour.
        colour: Colour,
        /// Point of the text that is at `at`.
        anchor: Anchor,
    },
}

/// The text with a mark in place of each control or reordering character. Names may contain these, and XML
/// does not permit control characters.
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
    /// Shapes, from back to front.
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

    /// Adds a translucent rectangle.
    pub(crate) fn wash(&mut self, edges: [f64; 4], colour: Colour, opacity: f64) {
        self.shapes.push(Shape::Box { edges, colour, opacity });
    }

    pub(crate) fn line(&mut self, points: Vec<(f64, f64)>, colour: Colour, width: u32) {
        self.shapes.push(Shape::Line { points, colour, width });
    }

    /// Adds a translucent polygon.
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
        self.shapes.push(Shape::Text { at, text: printable(&bounded(text)), size, colour, anchor });
    }

    /// All texts with their edges (left, top, right, bottom).
    pub fn texts(&self) -> Vec<(&str, [f64; 4])> {
        let covered = |shape| match shape {
            &Shape::Text { at: (x, y), ref text, size, anchor, .. } => {
                let width = type_face::width(text, size);
                let left = match anchor {
                    Anchor::Start => x,
                    Anchor::Middle => x - width / 2.0,
                    Anchor::End => x - width,
                };
                // Capital letters and digits are about 0.7 of the size high.
                let half = size * 0.36;
                Some((text.as_str(), [left, y - half, left + width, y + half]))
            }
            _ => None,
        };
        self.shapes.iter().filter_map(covered).collect()
    }
}
