//! Facts about a log that a reader cannot pass on unchanged: counted, with the first lines of each.

use std::fmt;

use serde::Serialize;

/// Number of lines kept for each fact, so that a log of any length needs little memory.
pub(crate) const LINES_KEPT: usize = 5;

haggle_model::words! {
    /// The way in which a value of a log differs in the records that are read from it.
    pub enum NoteKind {
        /// It has no place in a record.
        Dropped = "dropped",
        /// Another value stands for it.
        Changed = "changed",
        /// The log does not state it.
        Guessed = "guessed",
    }
}

/// A fact with the number of lines that it is true for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The way in which the value differs.
    pub kind: NoteKind,
    /// The fact: `step of a job`.
    pub fact: String,
    /// Lines, or records of formats that have no lines.
    pub count: u64,
    /// Numbers of the first lines, from 1.
    pub lines: Vec<u64>,
    /// The line that was counted last, or 0. A fact may be met several times in a line.
    #[serde(skip)]
    last: u64,
}

/// The facts about a log so far, in the order in which they were met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes(Vec<Note>);

impl Notes {
    /// No facts.
    pub const NONE: Notes = Notes(Vec::new());

    /// Counts a fact about a line.
    pub(crate) fn add(&mut self, kind: NoteKind, fact: impl AsRef<str>, line: u64) {
        self.note(kind, fact.as_ref()).count_line(line);
    }

    /// Counts a fact about a job that has no line.
    pub(crate) fn count(&mut self, kind: NoteKind, fact: &str) {
        self.note(kind, fact).count += 1;
    }

    fn note(&mut self, kind: NoteKind, fact: &str) -> &mut Note {
        let known = self.0.iter().position(|it| it.kind == kind && it.fact == fact);
        let at = known.unwrap_or_else(|| {
            let fact = fact.to_owned();
            self.0.push(Note { kind, fact, count: 0, lines: Vec::new(), last: 0 });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// The facts by their kind, and then in the order in which they were met.
    pub fn by_kind(&self) -> Vec<Note> {
        let mut notes = self.0.clone();
        notes.sort_by_key(|note| note.kind);
        notes
    }

    /// The facts, in the order in which they were met.
    pub fn as_slice(&self) -> &[Note] {
        &self.0
    }
}

impl Note {
    fn count_line(&mut self, line: u64) {
        if line != self.last {
            self.last = line;
            self.count += 1;
            keep_line(&mut self.lines, line);
        }
    }
}

/// Keeps the number of a line if it is one of the first.
pub(crate) fn keep_line(lines: &mut Vec<u64>, line: u64) {
    if lines.len() < LINES_KEPT {
        lines.push(line);
    }
}

/// The first lines of `count` lines: ` (lines 3, 4 and 9 others)`.
pub(crate) struct FirstLines<'a> {
    pub(crate) lines: &'a [u64],
    pub(crate) count: u64,
}

impl fmt::Display for FirstLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.lines.split_first() else {
            return Ok(());
        };
        write!(f, " (line{} {first}", if self.count == 1 { "" } else { "s" })?;
        for line in rest {
            write!(f, ", {line}")?;
        }
        match self.count.saturating_sub(self.lines.len() as u64) {
            0 => f.write_str(")"),
            others => write!(f, " and {others} more)"),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = FirstLines { lines: &self.lines, count: self.count };
        write!(f, "{:>9}  {}: {}{lines}", self.count, self.kind.name(), self.fact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_counted_and_their_first_lines_kept() {
        let mut notes = Notes::default();
        for line in [3, 3, 4, 5, 6, 7, 8, 8, 9] {
            notes.add(NoteKind::Dropped, "step of a job", line);
        }
        notes.add(NoteKind::Changed, "step of a job", 11);
        let shown: Vec<String> = notes.as_slice().iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "        7  dropped: step of a job (lines 3, 4, 5, 6, 7 and 2 more)",
                "        1  changed: step of a job (line 11)"
            ]
        );
    }
}
