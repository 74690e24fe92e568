//! The failure records of Los Alamos National Laboratory.

use super::clock::wall_time;
use super::error::TraceProblem;
use super::reader::{Event, Identity, field, printable};

const NAMES: [&str; 4] = ["System", "nodenumz", "Prob Started", "Prob Fixed"];

/// Stands for the node of records that name none: one system's nodes have no numbers.
const NO_NUMBER: i64 = -1;

/// More columns than any such file has: 26 are usual.
const COLUMNS_MAX: usize = 64;

/// Splits lines, and knows the columns once it has seen their names.
pub(super) struct Table {
    /// Number of columns, and which of them hold [`NAMES`].
    columns: Option<(usize, [usize; NAMES.len()])>,
    parser: csv_core::Reader,
    /// The fields of the current line, one behind the other.
    text: Vec<u8>,
}

impl Table {
    pub(super) fn new() -> Table {
        Table { columns: None, parser: csv_core::Reader::new(), text: Vec::new() }
    }

    /// Reads one line; `None` for blank lines and the line of column names.
    pub(super) fn event(&mut self, line: &[u8]) -> Result<Option<Event<'static>>, TraceProblem> {
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        let mut ends = [0; COLUMNS_MAX];
        let found = self.split(line, &mut ends);
        let text = |index: usize| {
            let start = if index == 0 { 0 } else { ends[index - 1] };
            self.text[start..ends[index]].trim_ascii()
        };
        let Some((expected, places)) = self.columns else {
            let mut places = [0; NAMES.len()];
            for (place, name) in places.iter_mut().zip(NAMES) {
                *place = (0..found.min(COLUMNS_MAX))
                    .find(|&index| text(index).eq_ignore_ascii_case(name.as_bytes()))
                    .ok_or(TraceProblem::NoColumn(name))?;
            }
            self.columns = Some((found, places));
            return Ok(None);
        };
        if found != expected {
            return Err(TraceProblem::FieldCount { expected, found });
        }
        let [system, node, started, fixed] = places;
        let id = |index, name| {
            field(index, name, text(index), "a whole number", |text| {
                std::str::from_utf8(text).ok()?.parse().ok().filter(|&id: &i64| id >= 0)
            })
        };
        let time = |index, name| {
            let expected = "a date and time such as 3/14/2001 10:54";
            field(index, name, text(index), expected, wall_time)
        };
        let (start, stop) = (time(started, NAMES[2])?, time(fixed, NAMES[3])?);
        if stop < start {
            return Err(TraceProblem::Field {
                number: fixed + 1,
                name: NAMES[3],
                expected: "a time that is not before Prob Started",
                found: printable(text(fixed)),
            });
        }
        let node = match text(node) {
            b"" => NO_NUMBER,
            _ => id(node, NAMES[1])?,
        };
        let node = (id(system, NAMES[0])?, node);
        Ok(Some(Event { node, label: b"", is_down: true, start, stop }))
    }

    /// Splits a line into `self.text` and says how many fields it has; of more
    /// than [`COLUMNS_MAX`], one more than that.
    fn split(&mut self, line: &[u8], ends: &mut [usize; COLUMNS_MAX]) -> usize {
        self.parser.reset();
        self.text.resize(line.len() + 1, 0);
        let (mut read, mut written, mut fields) = (0, 0, 0);
        loop {
            // At the end of the line no input is left, which the parser takes for
            // the end of the file: it closes the field and the record.
            let (result, used, out, ended) = self.parser.read_record(
                &line[read..],
                &mut self.text[written..],
                &mut ends[fields..],
            );
            read += used;
            written += out;
            fields += ended;
            match result {
                csv_core::ReadRecordResult::InputEmpty => {}
                csv_core::ReadRecordResult::OutputEndsFull => return COLUMNS_MAX + 1,
                csv_core::ReadRecordResult::OutputFull
                | csv_core::ReadRecordResult::Record
                | csv_core::ReadRecordResult::End => return fields,
            }
        }
    }
}

/// A node is named by its system and its number in it, or by its system alone.
pub(super) fn identity((system, node): (i64, i64)) -> Identity {
    let site = system.to_string();
    let name = if node == NO_NUMBER { site.clone() } else { format!("{system}.{node}") };
    Identity { name, cluster: site.clone(), site }
}
