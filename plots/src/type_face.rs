//! The font: DejaVu Sans (Latin, Greek, mathematical signs), inside the program.

use std::sync::OnceLock;

use ab_glyph::{Font, FontRef, ScaleFont};

/// The font file; its licence lies beside it.
pub(crate) const BYTES: &[u8] = include_bytes!("../font/DejaVuSans-subset.ttf");
/// Its name; viewers of SVG that lack it take the next one.
pub(crate) const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// The font.
pub(crate) fn font() -> &'static FontRef<'static> {
    static FONT: OnceLock<FontRef<'static>> = OnceLock::new();
    FONT.get_or_init(|| {
        FontRef::try_from_slice(BYTES).expect("the font inside the program is a font")
    })
}

/// Width of a text in pixels at a size.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let font = font();
    let scaled = font.as_scaled(size as f32);
    let advance = |letter| f64::from(scaled.h_advance(font.glyph_id(letter)));
    text.chars().map(advance).sum()
}

/// The text, without its end where it would be wider than `room`.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while kept.pop().is_some() {
        let short = format!("{}…", kept.iter().collect::<String>().trim_end());
        if width(&short, size) <= room {
            return short;
        }
    }
    String::new()
}
