//! Words and commands in the syntax of a shell, for scripts and for commands that people copy.

use std::ffi::OsStr;

/// A command ready to be typed; the program is not quoted.
pub(crate) fn command<A: AsRef<OsStr>>(program: &str, arguments: &[A]) -> String {
    let words = arguments.iter().map(|word| quoted(&word.as_ref().to_string_lossy()));
    std::iter::once(program.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word in the syntax of a shell.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,%@+".contains(c);
    // An empty word would vanish without quotes.
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // Nothing is special between single quotes but the quote itself, which is written outside of them.
    format!("'{}'", word.replace('\'', "'\\''"))
}
