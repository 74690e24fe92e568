//! Renders shapes as PDF. Only this file and `pdf/letters.rs` use this format.

mod letters;

use std::collections::BTreeSet;
use std::io::Write;

use ab_glyph::{Font, ScaleFont};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::writers::ExtGraphicsState;
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str};

use crate::canvas::Size;
use crate::error::PlotError;
use crate::scene::{Anchor, Colour, Scene, Shape};
use crate::type_face;
use letters::Letters;

/// Size of a pixel in points.
const POINT: f32 = Size::POINT as f32;

/// Distance by which boxes extend over their right and lower edges, pixels.
const OVERLAP: f64 = 0.5;

/// Distance of the control points of a quarter circle from its ends, in radii.
const CIRCLE: f64 = 0.552_284_75;

/// The scene as the bytes of a PDF file of one page.
pub(crate) fn pdf(scene: &Scene) -> Result<Vec<u8>, PlotError> {
    let [catalog, pages, page, contents] = [1, 2, 3, 4].map(Ref::new);
    let font = [5, 6, 7, 8, 9].map(Ref::new);
    let mut canvas =
        Canvas { content: Content::new(), opacities: BTreeSet::new(), letters: Letters::new() };
    let (wide, high) = (scene.size.width as f32 * POINT, scene.size.height as f32 * POINT);
    // Transforms pixels, counted downwards, to points, counted upwards.
    canvas.content.transform([POINT, 0.0, 0.0, -POINT, 0.0, high]);
    canvas.content.set_line_cap(LineCapStyle::ButtCap).set_line_join(LineJoinStyle::MiterJoin);
    for shape in &scene.shapes {
        canvas.paint(shape);
    }
    // Opacities and letters are known only now, after all shapes.
    let Canvas { content, opacities, letters } = canvas;
    let packed = pack(&content.finish())?;

    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut written = pdf.page(page);
    written.media_box(Rect::new(0.0, 0.0, wide, high)).parent(pages).contents(contents);
    let mut resources = written.resources();
    let mut states = resources.ext_g_states();
    for percent in opacities {
        let mut state: ExtGraphicsState<'_> =
            states.insert(Name(named(percent).as_bytes())).start();
        state.non_stroking_alpha(f32::from(percent) / 100.0);
    }
    states.finish();
    if !letters.are_none() {
        resources.fonts().pair(letters::FONT, font[0]);
    }
    resources.finish();
    written.finish();
    pdf.stream(contents, &packed).filter(Filter::FlateDecode);
    if !letters.are_none() {
        letters.write(&mut pdf, font, pack)?;
    }
    Ok(pdf.finish())
}

fn pack(bytes: &[u8]) -> Result<Vec<u8>, PlotError> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
    let packed = packer.write_all(bytes).and_then(|()| packer.finish());
    packed.map_err(|error| PlotError::Drawing(error.to_string()))
}

/// The page under construction.
struct Canvas {
    content: Content,
    /// Opacities in percent, each with a graphics state of its name.
    opacities: BTreeSet<u8>,
    letters: Letters,
}

/// The name of an opacity in the resources of the page.
fn named(percent: u8) -> String {
    format!("A{percent}")
}

impl Canvas {
    fn paint(&mut self, shape: &Shape) {
        match *shape {
            Shape::Box { edges: [left, top, right, bottom], colour, opacity } => {
                // Viewers show a gap where neighbours meet, so boxes overlap a little.
                // Translucent boxes do not, because the overlap would be darker.
                let (right, bottom) = match opacity < 1.0 {
                    true => (right, bottom),
                    false => (right + OVERLAP, bottom + OVERLAP),
                };
                let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
                self.fill(&corners, colour, opacity);
            }
            Shape::Area { ref corners, colour, opacity } => self.fill(corners, colour, opacity),
            Shape::Line { ref points, colour, width } => {
                let [red, green, blue] = channels(colour);
                self.content.set_stroke_rgb(red, green, blue).set_line_width(width as f32);
                self.path(points);
                self.content.stroke();
            }
            Shape::Dot { centre, radius, colour } => self.dot(centre, radius, colour),
            Shape::Text { at, ref text, size, colour, anchor } => {
                self.colour(colour);
                self.text(at, text, size, anchor);
            }
        }
    }

    fn colour(&mut self, colour: Colour) {
        let [red, green, blue] = channels(colour);
        self.content.set_fill_rgb(red, green, blue);
    }

    fn path(&mut self, points: &[(f64, f64)]) {
        for (place, &(x, y)) in points.iter().enumerate() {
            match place {
                0 => self.content.move_to(short(x), short(y)),
                _ => self.content.line_to(short(x), short(y)),
            };
        }
    }

    fn fill(&mut self, corners: &[(f64, f64)], colour: Colour, opacity: f64) {
        let percent = (opacity.clamp(0.0, 1.0) * 100.0).round() as u8;
        if percent < 100 {
            self.opacities.insert(percent);
            self.content.save_state().set_parameters(Name(named(percent).as_bytes()));
        }
        self.colour(colour);
        self.path(corners);
        self.content.close_path().fill_nonzero();
        if percent < 100 {
            self.content.restore_state();
        }
    }

    fn dot(&mut self, (x, y): (f64, f64), radius: f64, colour: Colour) {
        self.colour(colour);
        let place = |right: f64, down: f64| (short(x + radius * right), short(y + radius * down));
        let (start_x, start_y) = place(1.0, 0.0);
        self.content.move_to(start_x, start_y);
        // Each quarter goes from (a, b) to (-b, a), relative to the centre.
        for (a, b) in [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)] {
            let (x1, y1) = place(a - CIRCLE * b, b + CIRCLE * a);
            let (x2, y2) = place(-b + CIRCLE * a, a + CIRCLE * b);
            let (x3, y3) = place(-b, a);
            self.content.cubic_to(x1, y1, x2, y2, x3, y3);
        }
        self.content.close_path().fill_nonzero();
    }

    fn text(&mut self, (x, y): (f64, f64), text: &str, size: f64, anchor: Anchor) {
        let scale = type_face::font().as_scaled(size as f32).h_scale_factor();
        let x = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - type_face::width(text, size) / 2.0,
            Anchor::End => x - type_face::width(text, size),
        };
        // Texts are centred by their capital letters.
        let y = y + f64::from(type_face::capital() * scale) / 2.0;
        let letters = self.letters.encode(text);
        self.content.begin_text().set_font(letters::FONT, short(f64::from(scale * letters::em())));
        // The page counts downwards, so text is flipped back.
        self.content.set_text_matrix([1.0, 0.0, 0.0, -1.0, short(x), short(y)]);
        self.content.show(Str(&letters)).end_text();
    }
}

/// A hundredth of a pixel is precise enough, and needs fewer digits.
fn short(value: f64) -> f32 {
    ((value * 100.0).round() / 100.0) as f32
}

fn channels(Colour(red, green, blue): Colour) -> [f32; 3] {
    [red, green, blue].map(|channel| f32::from(channel) / 255.0)
}
