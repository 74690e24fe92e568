//! Text of files on a terminal. Characters that a terminal interprets as commands, or that change
//! the direction of text, are shown as escapes.

use std::borrow::Cow;

/// A text with all such characters as `\u001b`, which JSON and TOML read as the same. New lines and
/// tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    // The usual case needs no copy.
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        push(c, &mut shown);
    }
    Cow::Owned(shown)
}

/// A text in its shown form, and the new places of its bytes.
pub struct Shown {
    /// The text.
    pub text: String,
    /// Places after a lengthened character: before, and now.
    moved: Vec<(usize, usize)>,
}

impl Shown {
    /// The shown form of a text; `None` if nothing changes.
    pub fn of(text: &str) -> Option<Shown> {
        text.contains(is_hidden).then(|| {
            let mut shown = Shown { text: String::with_capacity(text.len()), moved: Vec::new() };
            for (at, c) in text.char_indices() {
                push(c, &mut shown.text);
                if is_hidden(c) {
                    shown.moved.push((at + c.len_utf8(), shown.text.len()));
                }
            }
            shown
        })
    }

    /// New place of a byte of the text.
    pub fn place(&self, at: usize) -> usize {
        // The places are in order, because characters are read in order.
        let before = self.moved.partition_point(|&(place, _)| place <= at);
        match self.moved[..before].last() {
            Some(&(was, is)) => is + (at - was),
            None => at,
        }
    }
}

fn push(c: char, shown: &mut String) {
    if is_hidden(c) {
        shown.push_str(&format!("\\u{:04x}", u32::from(c)));
    } else {
        shown.push(c);
    }
}

/// True if a terminal would interpret a character and not show it.
fn is_hidden(c: char) -> bool {
    // Characters that turn the direction of text are no control characters for `char`.
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control() && !matches!(c, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_to_a_terminal_are_shown() {
        let text = "a\x1b[31m\u{9b}0m\x07\r\u{202e}\tb\n";
        assert_eq!(visible(text), "a\\u001b[31m\\u009b0m\\u0007\\u000d\\u202e\tb\n");
        assert!(matches!(visible("plain ü\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn places_move_with_what_is_shown() {
        let text = "k = \"\x1bü\u{9b}\"\nwrong";
        let shown = Shown::of(text).expect("two are hidden");
        for word in ["k =", "ü", "wrong"] {
            let (was, is) = (text.find(word), shown.text.find(word));
            assert_eq!(was.map(|at| shown.place(at)), is, "{word}");
        }
        assert_eq!(shown.place(text.len()), shown.text.len());
        assert!(Shown::of("plain\r\n".trim_end()).is_none());
    }
}
