//! Failures in a simple table: one line for each, with node, time of failure and time of repair. This
//! is the easiest format for records of one's own site.

use std::collections::HashMap;

use super::clock::iso_time;
use super::columns::Columns;
use super::error::TraceProblem;
use super::reader::{Event, field, printable};
use crate::swf::number;
use haggle_model::Time;

const NAMES: [&str; 3] = ["node", "start", "end"];
const EXPECTED: &str = "a first line that names at least the columns node, start and end";
const A_TIME: &str = "seconds, or a date and time such as 2024-03-14 10:54";

/// Reads lines, and numbers the nodes.
pub(super) struct Table {
    columns: Columns<3>,
    numbers: HashMap<Vec<u8>, i64>, // looked up only
    /// The name of the node of the current line.
    label: Vec<u8>,
}

impl Table {
    pub(super) fn new() -> Table {
        let columns = Columns::new(NAMES, EXPECTED);
        Table { columns, numbers: HashMap::new(), label: Vec::new() }
    }

    /// Reads one line; `None` for blank lines, comments and the line of column names.
    pub(super) fn event(&mut self, line: &[u8]) -> Result<Option<Event<'_>>, TraceProblem> {
        if line.trim_ascii_start().starts_with(b"#") {
            return Ok(None);
        }
        let Some(fields) = self.columns.split(line)? else { return Ok(None) };
        let [node, started, ended] = fields.texts;
        let place = |index: usize| fields.places[index];
        field(place(0), NAMES[0], node, "the name of a node", |text| {
            (!text.is_empty()).then_some(())
        })?;
        let start = field(place(1), NAMES[1], started, A_TIME, time)?;
        let stop = field(place(2), NAMES[2], ended, A_TIME, time)?;
        if stop < start {
            return Err(TraceProblem::Field {
                number: place(2) + 1,
                name: NAMES[2],
                expected: "a time that is not before start",
                found: printable(ended),
            });
        }
        self.label.clear();
        self.label.extend_from_slice(node);
        let next = self.numbers.len() as i64;
        // `entry` needs an owned key, so known nodes are looked up first and copy no name.
        let number = match self.numbers.get(&self.label) {
            Some(&number) => number,
            None => *self.numbers.entry(self.label.clone()).or_insert(next),
        };
        Ok(Some(Event { node: (0, number), label: &self.label, is_down: true, start, stop }))
    }
}

/// Seconds, or a date.
fn time(text: &[u8]) -> Option<Time> {
    let seconds = number::span(text).ok().map(|since| Time::ZERO + since);
    seconds.or_else(|| iso_time(text))
}
