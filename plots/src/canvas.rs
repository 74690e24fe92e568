//! Renders shapes as pixels and as SVG. Only this file uses the plotting library.

use std::sync::OnceLock;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::error::PlotError;
use crate::scene::{Anchor, Colour, Scene, Shape};
use crate::type_face;

/// Width and height of a figure in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
}

impl Size {
    /// Points (1/72 inch) of a pixel on paper. With this value, the letters of ticks are 8 points high.
    pub(crate) const POINT: f64 = 0.375;

    /// A size on paper, in millimetres.
    pub fn on_paper(width: f64, height: f64) -> Size {
        let pixels = |side: f64| (side / 25.4 * 72.0 / Size::POINT).round() as u32;
        Size { width: pixels(width), height: pixels(height) }
    }
}

/// 1600 × 900: readable at half its size on a page.
impl Default for Size {
    fn default() -> Size {
        Size { width: 1600, height: 900 }
    }
}

/// Factor by which the canvas is finer in both directions. The plotting library rounds every position
/// to a whole pixel, even of single letters, so a finer canvas makes rounding errors smaller.
const FINER: u32 = 2;

/// The scene as the bytes of a PNG file.
pub(crate) fn png(scene: &Scene) -> Result<Vec<u8>, PlotError> {
    let Size { width, height } = scene.size;
    let (finer, rows) = (width * FINER, height * FINER);
    let mut pixels = vec![255; finer as usize * rows as usize * 3];
    let area = BitMapBackend::with_buffer(&mut pixels, (finer, rows)).into_drawing_area();
    paint(scene, &area, 0.1)?;
    drop(area); // it borrows the pixels
    encode(&coarser(&pixels, scene.size), scene.size).map_err(failed)
}

/// Each pixel as the mean of the finer pixels in its place.
fn coarser(pixels: &[u8], size: Size) -> Vec<u8> {
    let (k, width) = (FINER as usize, size.width as usize * 3);
    let mut coarse = Vec::with_capacity(width * size.height as usize);
    let mut sums = vec![0_u32; width];
    for rows in pixels.chunks_exact(width * k * k) {
        sums.fill(k as u32 * k as u32 / 2); // rounds to the nearest
        for row in rows.chunks_exact(width * k) {
            for (sums, square) in sums.chunks_exact_mut(3).zip(row.chunks_exact(3 * k)) {
                for finer in square.chunks_exact(3) {
                    sums.iter_mut().zip(finer).for_each(|(sum, &it)| *sum += u32::from(it));
                }
            }
        }
        coarse.extend(sums.iter().map(|&sum| (sum / (FINER * FINER)) as u8));
    }
    coarse
}

/// The scene as the text of an SVG file, drawn in finer units and shown in its own size.
pub(crate) fn svg(scene: &Scene) -> Result<String, PlotError> {
    let Size { width, height } = scene.size;
    let mut text = String::new();
    let finer = (width * FINER, height * FINER);
    let area = SVGBackend::with_string(&mut text, finer).into_drawing_area();
    paint(scene, &area, 0.0)?;
    drop(area); // it borrows the text
    let (painted, shown) = (size_of(finer), size_of((width, height)));
    // Only the first occurrence, which is that of the head.
    Ok(text.replacen(&painted, &shown, 1))
}

/// The size of a picture in the head of an SVG file.
fn size_of((width, height): (u32, u32)) -> String {
    format!(r#"width="{width}" height="{height}""#)
}

fn encode(pixels: &[u8], size: Size) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size.width, size.height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

fn failed(error: impl ToString) -> PlotError {
    PlotError::Drawing(error.to_string())
}

/// Paints on a backend that centres a text too high, by `lower` times its size above the middle of its
/// digits.
fn paint<DB: DrawingBackend>(
    scene: &Scene,
    area: &DrawingArea<DB, Shift>,
    lower: f64,
) -> Result<(), PlotError> {
    static FONT: OnceLock<()> = OnceLock::new();
    FONT.get_or_init(|| {
        // This fails only for invalid fonts, and then every text reports an error.
        let _ = register_font(type_face::FAMILY, FontStyle::Normal, type_face::BYTES);
    });
    area.fill(&WHITE).map_err(failed)?;
    for shape in &scene.shapes {
        paint_shape(shape, area, lower).map_err(failed)?;
    }
    area.present().map_err(failed)
}

fn paint_shape<DB: DrawingBackend>(
    shape: &Shape,
    area: &DrawingArea<DB, Shift>,
    lower: f64,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    match shape {
        Shape::Box { edges, colour, opacity } => {
            let [left, top, right, bottom] = *edges;
            // A filled rectangle of the library leaves out its last column and row, so neighbours meet
            // without a seam.
            // A thin box still covers one pixel of the figure.
            let thinnest = FINER as i32;
            let corner = (
                pixel(right).max(pixel(left) + thinnest),
                pixel(bottom).max(pixel(top) + thinnest),
            );
            area.draw(&Rectangle::new(
                [(pixel(left), pixel(top)), corner],
                rgb(*colour).mix(*opacity).filled(),
            ))
        }
        Shape::Line { points, colour, width } => {
            let style = rgb(*colour).stroke_width(*width * FINER);
            area.draw(&PathElement::new(pixels(points), style))
        }
        Shape::Area { corners, colour, opacity } => {
            area.draw(&Polygon::new(pixels(corners), rgb(*colour).mix(*opacity).filled()))
        }
        Shape::Dot { centre, radius, colour } => area.draw(&Circle::new(
            (pixel(centre.0), pixel(centre.1)),
            pixel(*radius),
            rgb(*colour).filled(),
        )),
        Shape::Text { at, text, size, colour, anchor } => {
            let across = match anchor {
                Anchor::Start => HPos::Left,
                Anchor::Middle => HPos::Center,
                Anchor::End => HPos::Right,
            };
            let ink = rgb(*colour);
            let finer = *size * f64::from(FINER);
            let style = TextStyle::from((type_face::FAMILY, finer).into_font())
                .color(&ink)
                .pos(Pos::new(across, VPos::Center));
            let at = (pixel(at.0), pixel(at.1 + lower * size));
            area.draw(&Text::new(text.as_str(), at, style))
        }
    }
}

/// A place on the finer canvas.
fn pixel(value: f64) -> i32 {
    (value * f64::from(FINER)).round() as i32
}

fn pixels(points: &[(f64, f64)]) -> Vec<(i32, i32)> {
    points.iter().map(|&(x, y)| (pixel(x), pixel(y))).collect()
}

fn rgb(colour: Colour) -> RGBColor {
    RGBColor(colour.0, colour.1, colour.2)
}
