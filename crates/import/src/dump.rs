//! Files of a dump: lines of settings, and tables with a line of names.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::ImportError;

/// Largest file that is held in memory (B). The jobs of a dump are streamed, and have no limit.
const BYTES_MAX: u64 = 1 << 30;

/// The text of a file; `None` if there is no such file.
pub(crate) fn text(file: &Path) -> Result<Option<String>, ImportError> {
    let unreadable = |error| ImportError::Unreadable { file: file.to_owned(), error };
    let opened = match File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    let mut bytes = Vec::new();
    BufReader::new(opened).take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > BYTES_MAX {
        let problem = format!("larger than {BYTES_MAX} B");
        return Err(ImportError::Unfit { file: file.to_owned(), problem });
    }
    // Names of persons may have any encoding, and are compared only.
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// A record with named values, and its place.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    file: PathBuf,
    line: usize,
    values: BTreeMap<String, String>,
}

impl Record {
    /// A value that is known, without blanks around it.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let value = self.values.get(name)?.trim();
        let is_known = !matches!(value, "" | "(null)" | "N/A" | "None" | "NONE" | "Unknown");
        is_known.then_some(value)
    }

    /// The parsed value of this name, if it is known.
    pub(crate) fn read<T>(
        &self,
        name: &str,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ImportError> {
        let Some(text) = self.get(name) else { return Ok(None) };
        parse(text).map(Some).ok_or_else(|| ImportError::Value {
            file: self.file.clone(),
            line: self.line,
            name: name.to_owned(),
            found: text.chars().filter(|it| !it.is_control()).take(60).collect(),
            expected,
        })
    }

    /// A number, if it is known.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, ImportError> {
        self.read(name, "a number", |text| text.parse().ok())
    }

    /// Names of the known values, in the order of the alphabet.
    pub(crate) fn known(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str).filter(|name| self.get(name).is_some())
    }
}

/// Lines of settings, such as `NodeName=n1 CPUTot=4 State=IDLE`. A word without `=` belongs to the value before it. Of
/// two values of a name, the first one counts.
pub(crate) fn settings(file: &Path) -> Result<Option<Vec<Record>>, ImportError> {
    let Some(text) = text(file)? else { return Ok(None) };
    let lines = (1..).zip(text.lines()).filter(|it| !it.1.trim().is_empty());
    let record = |(line, text): (usize, &str)| {
        let mut values: Vec<(&str, String)> = Vec::new();
        for word in text.split_ascii_whitespace() {
            match (word.split_once('='), values.last_mut()) {
                (Some((name, value)), _) => values.push((name, value.to_owned())),
                (None, Some((_, value))) => *value = format!("{value} {word}"),
                (None, None) => {}
            }
        }
        let values = values.into_iter().rev().map(|(name, value)| (name.to_owned(), value));
        Record { file: file.to_owned(), line, values: values.collect() }
    };
    Ok(Some(lines.map(record).collect()))
}

/// One record of all lines `Name = value`.
pub(crate) fn configuration(file: &Path) -> Result<Option<Record>, ImportError> {
    let Some(text) = text(file)? else { return Ok(None) };
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    let values = pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    Ok(Some(Record { file: file.to_owned(), line: 1, values: values.collect() }))
}

/// A table: a line of names, and values between `|`. An empty file has no records.
pub(crate) fn table(file: &Path) -> Result<Option<Vec<Record>>, ImportError> {
    let Some(text) = text(file)? else { return Ok(None) };
    let mut lines = (1..).zip(text.lines());
    let names = Vec::from_iter(lines.next().map_or("", |it| it.1).split('|'));
    let mut records = Vec::new();
    for (line, text) in lines.filter(|it| !it.1.trim().is_empty()) {
        let found = Vec::from_iter(text.split('|'));
        // A last column of texts may have the sign between columns.
        if found.len() < names.len() {
            let problem = format!(
                "line {line} has {} values, but there are {} columns; was the file cut?",
                found.len(),
                names.len()
            );
            return Err(ImportError::Unfit { file: file.to_owned(), problem });
        }
        let values = names.iter().zip(found).filter(|it| !it.0.is_empty());
        let values = values.map(|(name, value)| ((*name).to_owned(), value.to_owned())).collect();
        records.push(Record { file: file.to_owned(), line, values });
    }
    Ok(Some(records))
}

/// The first line of a file.
pub(crate) fn first_line(file: &Path) -> Result<String, ImportError> {
    let unreadable = |error| ImportError::Unreadable { file: file.to_owned(), error };
    let mut line = String::new();
    let opened = File::open(file).map_err(unreadable)?;
    BufReader::new(opened).take(100_000).read_line(&mut line).map_err(unreadable)?;
    Ok(line)
}
