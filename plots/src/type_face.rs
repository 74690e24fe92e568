//! The font: DejaVu Sans (Latin, Greek, mathematical signs), which is part of the program.

use std::borrow::Cow;
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

/// Most letters of a text: more than the widest figure can show.
const LETTERS: usize = 4_000;

/// The text as figures have it: without its middle if it is longer than any figure can show. Names of files may have
/// megabytes.
pub(crate) fn bounded(text: &str) -> Cow<'_, str> {
    if text.len() <= LETTERS || text.chars().nth(LETTERS).is_none() {
        return Cow::Borrowed(text);
    }
    let place = |found: Option<(usize, char)>| found.map_or(text.len(), |it| it.0);
    let head = place(text.char_indices().nth(LETTERS / 2));
    let tail = place(text.char_indices().nth_back(LETTERS / 2 - 2));
    Cow::Owned(format!("{}…{}", &text[..head], &text[tail..]))
}

/// Width of a text in pixels at a size.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let advance = advances(size);
    bounded(text).chars().map(advance).sum()
}

/// Width of each letter at a size.
fn advances(size: f64) -> impl Fn(char) -> f64 {
    let font = font();
    let scaled = font.as_scaled(size as f32);
    move |letter| f64::from(scaled.h_advance(font.glyph_id(letter)))
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
    let text = bounded(text);
    if width(&text, size) <= room {
        return text.into_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let advance = advances(size);
    // The width before each letter, so that each length of the text is measured at once.
    let mut before = Vec::with_capacity(letters.len() + 1);
    before.push(0.0);
    let mut sum = 0.0;
    before.extend(letters.iter().map(|&letter| {
        sum += advance(letter);
        sum
    }));
    let gap = advance('…');
    let is_space = |at: usize| letters[at].is_whitespace();
    for kept in (1..letters.len()).rev() {
        let mut end = (kept as f64 * head).ceil() as usize;
        let mut start = letters.len() - (kept - end);
        while end > 0 && is_space(end - 1) {
            end -= 1;
        }
        while start < letters.len() && is_space(start) {
            start += 1;
        }
        if before[end] + gap + (sum - before[start]) <= room {
            let text = |letters: &[char]| letters.iter().collect::<String>();
            return format!("{}…{}", text(&letters[..end]), text(&letters[start..]));
        }
    }
    String::new()
}

/// Names shortened to `room`, distinct if possible. If names would be equal without their middles,
/// other letters are left out.
pub(crate) fn told_apart(names: &[&str], size: f64, room: f64) -> Vec<String> {
    let names = Vec::from_iter(names.iter().map(|name| bounded(name)));
    let short = |head: f64| names.iter().map(move |name| shortened(name, size, room, head));
    let differ = |short: &[String]| {
        let all: std::collections::BTreeSet<&String> = short.iter().collect();
        let whole: std::collections::BTreeSet<&Cow<'_, str>> = names.iter().collect();
        all.len() == whole.len()
    };
    let mut ways = [0.5, 0.2, 0.8, 0.0, 1.0].map(|head| Vec::from_iter(short(head))).into_iter();
    if let Some(found) = ways.find(|it| differ(it)) {
        return found;
    }
    // The names differ between their common beginning and their common end.
    let (start, end) = common(&names);
    let kept = names.iter().map(|name| {
        let letters: Vec<char> = name.chars().collect();
        let own: String = letters[start..letters.len() - end].iter().collect();
        fitted(&format!("…{own}…"), size, room)
    });
    kept.collect()
}

/// Length of the common beginning of all names and, behind it, of their common end.
fn common(names: &[Cow<'_, str>]) -> (usize, usize) {
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
    let text = bounded(text);
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

    #[test]
    fn of_a_long_name_the_ends_stay() {
        assert_eq!(bounded("ü"), "ü");
        let just = "ü".repeat(LETTERS);
        assert_eq!(bounded(&just), just);
        let long = format!("a{}b", "ü ".repeat(1 << 20));
        let cut = bounded(&long);
        assert_eq!(cut.chars().count(), LETTERS);
        assert!(cut.starts_with("aü ") && cut.ends_with("ü b"), "{cut}");
        assert!(width(&long, 20.0) < 1e6);
        let short = fitted(&long, 20.0, 100.0);
        assert!(short.starts_with('a') && short.ends_with('b') && width(&short, 20.0) <= 100.0);
        let names = [long.as_str(), "x", &just];
        assert_eq!(told_apart(&names, 20.0, 100.0)[1], "x");
        assert_eq!(wrapped(&long, 20.0, 200.0, 3).len(), 3);
    }
}
