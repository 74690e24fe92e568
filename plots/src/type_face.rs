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

/// The text in lines no wider than `room`, broken between words; of more lines than `most`, the last
/// one has no end.
pub(crate) fn wrapped(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let ends = rest.match_indices(' ').map(|(end, _)| end).chain([rest.len()]);
        let fits = |end: &usize| width(&rest[..*end], size) <= room;
        let end = match lines.len() + 1 >= most {
            true => None,
            false => ends.take_while(fits).last(),
        };
        let Some(end) = end else {
            lines.push(fitted(rest, size, room));
            break;
        };
        lines.push(rest[..end].trim_end().to_owned());
        rest = rest[end..].trim_start();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        let text = "mean waiting time, s (mean of 5 runs)";
        let lines = |room, most| wrapped(text, 20.0, room, most).join("|");
        assert_eq!(lines(1_000.0, 2), text);
        assert_eq!(lines(250.0, 2), "mean waiting time, s (mean|of 5 runs)");
        let one = lines(250.0, 1);
        assert!(one.starts_with("mean waiting time, s (me") && one.ends_with('…'), "{one}");
        let two = lines(130.0, 2);
        assert!(two.starts_with("mean waiting|time, ") && two.ends_with('…'), "{two}");
        assert!(wrapped("", 20.0, 100.0, 2).is_empty());
        assert_eq!(wrapped("incomprehensibilities", 20.0, 60.0, 3).len(), 1);
    }
}
