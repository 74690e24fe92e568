//! Texts of tables and files, as the page shows them: bounded, and without characters that change the
//! direction of text or control a terminal.

use haggle_results::visible::visible;

/// Most characters of a text.
const CHARACTERS: usize = 2_000;

/// The text, cut behind 2,000 characters, with hidden characters as escapes.
pub fn shown(text: &str) -> String {
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", visible(&text[..end])),
        None => visible(text).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_bounded_and_visible() {
        assert_eq!(shown("<b>ü</b>"), "<b>ü</b>");
        assert_eq!(shown("a\u{202e}b\u{7}"), "a\\u202eb\\u0007");
        let long = shown(&"ü".repeat(1 << 20));
        assert_eq!(long.chars().count(), CHARACTERS + 1);
        assert!(long.ends_with('…'));
    }
}
