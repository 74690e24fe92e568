//! The font: DejaVu Sans (Latin, Greek, mathematical signs), which is part of the program.

use std::sync::OnceLock;

use ab_glyph::{Font, FontRef, ScaleFont};

/// The font file; its licence is in the same folder.
pub(crate) const BYTES: &[u8] = include_bytes!("../font/DejaVuSans-subset.ttf");
/// Its name, with replacements for viewers of SVG that lack it.
pub(crate) const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// The font.
pub(crate) fn font() -> &'static FontRef<'static> {
    static FONT: OnceLock<FontRef<'static>> = OnceLock::new();
    FONT.get_or_init(|| {
        FontRef::try_from_slice(BYTES).expect("the font inside the program is a font")
    })
}

/// Height of capital letters, in the units of the font.
pub(crate) fn capital() -> f32 {
    let font = font();
    font.outline(font.glyph_id('H')).map_or(0.0, |it| it.bounds.height().abs())
}

/// Width of a text in pixels at a size.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let font = font();
    let scaled = font.as_scaled(size as f32);
    let advance = |letter| f64::from(scaled.h_advance(font.glyph_id(letter)));
    text.chars().map(advance).sum()
}

/// The text; if it is wider than `room`, its middle is left out, because names often differ at their end.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    shortened(text, size, room, 0.5)
}

/// The text; if it is wider than `room`, its end is left out.
fn begun(text: &str, size: f64, room: f64) -> String {
    shortened(text, size, room, 1.0)
}

/// The text, shortened to `room`. `head` is the share of the remaining letters before the gap.
fn shortened(text: &str, size: f64, room: f64, head: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    for kept in (1..letters.len()).rev() {
        let before = (kept as f64 * head).ceil() as usize;
        let start: String = letters[..before].iter().collect();
        let end: String = letters[letters.len() - (kept - before)..].iter().collect();
        let short = format!("{}…{}", start.trim_end(), end.trim_start());
        if width(&short, size) <= room {
            return short;
        }
    }
    String::new()
}

/// Names shortened to `room`, distinct if possible. If names would be equal without their middles,
/// other letters are left out.
pub(crate) fn told_apart(names: &[&str], size: f64, room: f64) -> Vec<String> {
    let short = |head: f64| names.iter().map(move |name| shortened(name, size, room, head));
    let differ = |short: &[String]| {
        let all: std::collections::BTreeSet<&String> = short.iter().collect();
        let whole: std::collections::BTreeSet<&&str> = names.iter().collect();
        all.len() == whole.len()
    };
    let mut ways = [0.5, 0.2, 0.8, 0.0, 1.0].map(|head| Vec::from_iter(short(head))).into_iter();
    if let Some(found) = ways.find(|it| differ(it)) {
        return found;
    }
    // The names differ between their common beginning and their common end.
    let (start, end) = common(names);
    let kept = names.iter().map(|name| {
        let letters: Vec<char> = name.chars().collect();
        let own: String = letters[start..letters.len() - end].iter().collect();
        fitted(&format!("…{own}…"), size, room)
    });
    kept.collect()
}

/// Length of the common beginning of all names and, behind it, of their common end.
fn common(names: &[&str]) -> (usize, usize) {
    let same =
        |one: &str, other: &str| one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let back = |text: &str| text.chars().rev().collect::<String>();
    let Some(first) = names.first() else { return (0, 0) };
    let shortest = names.iter().map(|name| name.chars().count()).min().unwrap_or(0);
    let start = names.iter().map(|name| same(first, name)).min().unwrap_or(0);
    let end = names.iter().map(|name| same(&back(first), &back(name))).min().unwrap_or(0);
    // In the shortest name, beginning and end must not overlap.
    (start, end.min(shortest - start))
}

/// The text in lines no wider than `room`, broken between words. If it needs more than `most` lines,
/// the last one is shortened.
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
            lines.push(begun(rest, size, room));
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

    #[test]
    fn names_that_are_too_wide_keep_what_tells_them_apart() {
        let at_end = ["cluster-of-physics-00", "cluster-of-physics-01"];
        assert_eq!(told_apart(&at_end, 20.0, 100.0), ["clust…s-00", "clust…s-01"]);
        let inside = ["the-cluster-1-of-the-department", "the-cluster-2-of-the-department"];
        assert_eq!(told_apart(&inside, 20.0, 80.0), ["…1…", "…2…"]);
        assert_eq!(told_apart(&["a", "b"], 20.0, 80.0), ["a", "b"]);
        assert_eq!(told_apart(&["same", "same"], 20.0, 20.0).len(), 2);
        assert!(told_apart(&[], 20.0, 80.0).is_empty());
    }
}
