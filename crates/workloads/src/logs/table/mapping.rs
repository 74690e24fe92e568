//! Mapping files: the columns of a table of jobs, their units, and the words of their states.
//!
//! ```toml
//! time-zone = "Europe/Rome"
//!
//! [columns]
//! number = "job_id"
//! submit = "submit_time"
//! run = { column = "duration", unit = "ms" }
//! processors = { column = "nodes", times = 128 }
//! status = { column = "state", completed = ["DONE"], failed = ["ERROR"] }
//! ```

use std::fs;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use serde::Deserialize;

use super::super::error::{LogError, LogProblem};
use super::super::zone::Zone;
use crate::lines::Unreadable;

/// The mapping of a table of jobs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Mapping {
    /// Zone of the local times of the table.
    #[serde(default, deserialize_with = "zone")]
    pub(super) time_zone: Option<Zone>,
    /// Separator of the columns; without it, a comma, a semicolon or a tab by the line of names.
    #[serde(default)]
    pub(super) separator: Option<char>,
    /// Texts that stand for a missing value, besides an empty one.
    #[serde(default)]
    pub(super) missing: Vec<String>,
    /// Facts that are the same for all jobs: processors of the machine.
    #[serde(default)]
    pub(super) machine_size: Option<u32>,
    pub(super) columns: Columns,
}

/// The columns of a record.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Columns {
    #[serde(default)]
    pub(super) number: Option<Column<NoUnit>>,
    pub(super) submit: Column<TimeUnit>,
    #[serde(default)]
    pub(super) start: Option<Column<TimeUnit>>,
    #[serde(default)]
    pub(super) end: Option<Column<TimeUnit>>,
    #[serde(default)]
    pub(super) wait: Option<Column<SpanUnit>>,
    #[serde(default)]
    pub(super) run: Option<Column<SpanUnit>>,
    #[serde(default)]
    pub(super) processors: Option<Column<NoUnit>>,
    #[serde(default)]
    pub(super) requested_processors: Option<Column<NoUnit>>,
    #[serde(default)]
    pub(super) requested_time: Option<Column<SpanUnit>>,
    #[serde(default)]
    pub(super) processor_time: Option<Column<SpanUnit>>,
    #[serde(default)]
    pub(super) used_memory: Option<Column<MemoryUnit>>,
    #[serde(default)]
    pub(super) requested_memory: Option<Column<MemoryUnit>>,
    #[serde(default)]
    pub(super) status: Option<Status>,
    #[serde(default)]
    pub(super) user: Option<Column<NoUnit>>,
    #[serde(default)]
    pub(super) group: Option<Column<NoUnit>>,
    #[serde(default)]
    pub(super) executable: Option<Column<NoUnit>>,
    #[serde(default)]
    pub(super) queue: Option<Column<NoUnit>>,
    #[serde(default)]
    pub(super) partition: Option<Column<NoUnit>>,
}

/// A column by its name, or with the unit of its values and a factor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "the name of a column, or { column = \"NAME\" } with `unit` and `times`"
)]
pub(super) enum Column<U> {
    Name(String),
    Described(Described<U>),
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Described<U> {
    column: String,
    #[serde(default = "Option::default")]
    unit: Option<U>,
    /// Factor of the values, such as the processors of a node.
    #[serde(default)]
    times: Option<f64>,
}

impl<U: Copy + Default> Column<U> {
    pub(super) fn name(&self) -> &str {
        match self {
            Column::Name(name) => name,
            Column::Described(described) => &described.column,
        }
    }

    pub(super) fn unit(&self) -> U {
        match self {
            Column::Name(_) => U::default(),
            Column::Described(described) => described.unit.unwrap_or_default(),
        }
    }

    pub(super) fn times(&self) -> f64 {
        match self {
            Column::Name(_) => 1.0,
            Column::Described(described) => described.times.unwrap_or(1.0),
        }
    }
}

/// The column of states, with the words of each status; other words are unknown.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Status {
    pub(super) column: String,
    #[serde(default)]
    pub(super) completed: Vec<String>,
    #[serde(default)]
    pub(super) failed: Vec<String>,
    #[serde(default)]
    pub(super) cancelled: Vec<String>,
}

/// A number or a name has no unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum NoUnit {
    #[default]
    One,
}

/// Unit of an instant. Numbers count from 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub(super) enum TimeUnit {
    /// A date, or seconds.
    #[default]
    #[serde(rename = "s")]
    Seconds,
    #[serde(rename = "ms")]
    Milliseconds,
    #[serde(rename = "us")]
    Microseconds,
    #[serde(rename = "ns")]
    Nanoseconds,
}

impl TimeUnit {
    /// Seconds of one unit.
    pub(super) const fn seconds(self) -> f64 {
        match self {
            TimeUnit::Seconds => 1.0,
            TimeUnit::Milliseconds => 1e-3,
            TimeUnit::Microseconds => 1e-6,
            TimeUnit::Nanoseconds => 1e-9,
        }
    }
}

/// Unit of a length of time. A text such as `1-02:03:04` needs none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub(super) enum SpanUnit {
    #[default]
    #[serde(rename = "s")]
    Seconds,
    #[serde(rename = "ms")]
    Milliseconds,
    #[serde(rename = "us")]
    Microseconds,
    #[serde(rename = "ns")]
    Nanoseconds,
    #[serde(rename = "min")]
    Minutes,
    #[serde(rename = "h")]
    Hours,
    #[serde(rename = "d")]
    Days,
}

impl SpanUnit {
    /// Seconds of one unit.
    pub(super) const fn seconds(self) -> f64 {
        match self {
            SpanUnit::Seconds => 1.0,
            SpanUnit::Milliseconds => 1e-3,
            SpanUnit::Microseconds => 1e-6,
            SpanUnit::Nanoseconds => 1e-9,
            SpanUnit::Minutes => 60.0,
            SpanUnit::Hours => 3_600.0,
            SpanUnit::Days => 86_400.0,
        }
    }
}

/// Unit of an amount of memory of a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub(super) enum MemoryUnit {
    B,
    #[default]
    KB,
    MB,
    GB,
}

impl MemoryUnit {
    /// KB of one unit.
    pub(super) const fn kilobytes(self) -> f64 {
        match self {
            MemoryUnit::B => 1.0 / 1024.0,
            MemoryUnit::KB => 1.0,
            MemoryUnit::MB => 1024.0,
            MemoryUnit::GB => 1024.0 * 1024.0,
        }
    }
}

fn zone<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Zone>, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse().map(Some).map_err(serde::de::Error::custom)
}

impl Mapping {
    /// Reads the mapping file at `path`.
    pub fn open(path: &Path) -> Result<Mapping, LogError> {
        let file: Arc<str> = Arc::from(path.display().to_string());
        let text = fs::read_to_string(path)
            .map_err(|error| LogProblem::from(Unreadable::Open(error)).at(&file, 0, 0))?;
        Mapping::parse(&text)
            .map_err(|(line, column, text)| LogProblem::Whole(text).at(&file, line, column))
    }

    /// The mapping in a text, or the place and the description of its problem.
    fn parse(text: &str) -> Result<Mapping, (u64, usize, String)> {
        let mapping: Mapping = toml::from_str(text).map_err(|error| {
            let before = error.span().map_or("", |span| text.get(..span.start).unwrap_or(""));
            let line = before.matches('\n').count() as u64 + 1;
            let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
            (line, column, error.message().lines().collect::<Vec<_>>().join(" "))
        })?;
        mapping.check().map_err(|problem| (0, 0, problem))?;
        Ok(mapping)
    }

    fn check(&self) -> Result<(), String> {
        let Columns { run, end, wait, start, .. } = &self.columns;
        if run.is_some() && end.is_some() {
            return Err("columns has both `run` and `end`; remove one of them".to_owned());
        }
        if wait.is_some() && start.is_some() {
            return Err("columns has both `wait` and `start`; remove one of them".to_owned());
        }
        if end.is_some() && start.is_none() {
            return Err(
                "the run time is from `start` to `end`, so columns needs `start`, too".to_owned()
            );
        }
        if run.is_none() && end.is_none() {
            return Err("columns needs `run`, or `start` and `end`, for the run time".to_owned());
        }
        if self.columns.processors.is_none() && self.columns.requested_processors.is_none() {
            return Err("columns needs `processors` or `requested-processors`".to_owned());
        }
        let separator = self.separator.is_none_or(|it| it.is_ascii() && !"\"\r\n".contains(it));
        if !separator {
            return Err("separator must be one letter of ASCII, such as \";\"".to_owned());
        }
        Ok(())
    }
}

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Mapping, String> {
        Mapping::parse(text)
            .map_err(|(line, column, problem)| format!("{line}:{column}: {problem}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_may_have_units_and_factors() {
        let text = "[columns]\nsubmit = \"s\"\nrun = { column = \"r\", unit = \"min\" }\n\
                    processors = { column = \"n\", times = 128 }\n";
        let columns = text.parse::<Mapping>().expect("a good mapping").columns;
        let run = columns.run.expect("a column");
        assert_eq!((run.name(), run.unit().seconds()), ("r", 60.0));
        assert_eq!(columns.processors.map(|it| it.times()), Some(128.0));
    }

    #[test]
    fn mistakes_have_a_place_and_a_remedy() {
        let problem = |text: &str| text.parse::<Mapping>().expect_err("a mistake");
        assert!(
            problem("[columns]\nsubmitted = \"s\"\n")
                .starts_with("2:1: unknown field `submitted`, expected one of")
        );
        assert!(problem("[columns]\nsubmit = 4\n").starts_with("2:10: the name of a column"));
        assert!(
            problem("time-zone = \"Rome\"\n[columns]\nsubmit = \"s\"\n").contains("Europe/Berlin")
        );
        let check = |text: &str| problem(&format!("[columns]\nsubmit = \"s\"\n{text}"));
        assert_eq!(
            check("processors = \"n\"\n"),
            "0:0: columns needs `run`, or `start` and `end`, for the run time"
        );
        assert_eq!(
            check("run = \"r\"\n"),
            "0:0: columns needs `processors` or `requested-processors`"
        );
        assert!(check("end = \"e\"\nprocessors = \"n\"\n").contains("columns needs `start`, too"));
        assert!(
            check("run = \"r\"\nstart = \"a\"\nend = \"e\"\n").contains("both `run` and `end`")
        );
    }
}
