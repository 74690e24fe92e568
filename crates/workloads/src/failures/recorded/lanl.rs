//! The failure records of Los Alamos National Laboratory.

use super::clock::wall_time;
use super::columns::Columns;
use super::error::TraceProblem;
use super::reader::{Event, Identity, field, printable};

const NAMES: [&str; 4] = ["System", "nodenumz", "Prob Started", "Prob Fixed"];

/// Node number of records without one: the nodes of one system have no numbers.
const NO_NUMBER: i64 = -1;

/// Splits lines; the line of column names determines the columns.
pub(super) struct Table(Columns<4>);

impl Table {
    pub(super) fn new() -> Table {
        Table(Columns::new(NAMES, "the columns of LA-UR-05-7318"))
    }

    /// Reads one line; `None` for blank lines and the line of column names.
    pub(super) fn event(&mut self, line: &[u8]) -> Result<Option<Event<'static>>, TraceProblem> {
        let Some(fields) = self.0.split(line)? else { return Ok(None) };
        let [system, node, started, fixed] = fields.texts;
        let place = |index: usize| fields.places[index];
        let id = |index, text| {
            field(place(index), NAMES[index], text, "a whole number", |text| {
                // A negative number could be `NO_NUMBER`.
                std::str::from_utf8(text).ok()?.parse().ok().filter(|&id: &i64| id >= 0)
            })
        };
        let time = |index, text| {
            let expected = "a date and time such as 3/14/2001 10:54";
            field(place(index), NAMES[index], text, expected, wall_time)
        };
        let (start, stop) = (time(2, started)?, time(3, fixed)?);
        if stop < start {
            return Err(TraceProblem::Field {
                number: place(3) + 1,
                name: NAMES[3],
                expected: "a time that is not before Prob Started",
                found: printable(fixed),
            });
        }
        let node = match node {
            b"" => NO_NUMBER,
            node => id(1, node)?,
        };
        let node = (id(0, system)?, node);
        Ok(Some(Event { node, label: b"", is_down: true, start, stop }))
    }
}

/// A node is named by its system and its number in it, or by its system alone.
pub(super) fn identity((system, node): (i64, i64)) -> Identity {
    let site = system.to_string();
    let name = if node == NO_NUMBER { site.clone() } else { format!("{system}.{node}") };
    Identity { name, cluster: site.clone(), site }
}
