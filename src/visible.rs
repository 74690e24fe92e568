//! Text of files on a terminal. Characters that a terminal takes for commands, or that change the direction of what
//! follows, are shown as what they are.

use std::borrow::Cow;

/// A text with all such characters as `\u001b`, which JSON and TOML read as the same; new lines and tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        push(c, &mut shown);
    }
    Cow::Owned(shown)
}

/// A text as it is shown, and where its bytes have come to stand.
pub(crate) struct Shown {
    /// The text.
    pub(crate) text: String,
    /// Places behind a character that got longer: before, and now.
    moved: Vec<(usize, usize)>,
}

impl Shown {
    /// Of a text; `None` if nothing has to be changed in it.
    pub(crate) fn of(text: &str) -> Option<Shown> {
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

    /// Where a byte of the text stands now.
    pub(crate) fn place(&self, at: usize) -> usize {
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

/// Whether a terminal would not show a character, but do something.
fn is_hidden(c: char) -> bool {
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
