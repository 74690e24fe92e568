//! Lines of `sacct`, split at the delimiter.

use memchr::memmem;

use super::super::super::error::LogProblem;
use super::fields::Fields;

/// The delimiter of a log, and the places of the fields of a line.
pub(super) struct Split {
    delimiter: Vec<u8>,
    /// The line of names, if the log has one.
    names: Vec<u8>,
    /// Start and end of each field of the line split last.
    pub(super) places: Vec<(usize, usize)>,
}

/// For a log without a line of names: the delimiter that sacct takes without an option.
impl Default for Split {
    fn default() -> Split {
        Split { delimiter: b"|".to_vec(), names: Vec::new(), places: Vec::new() }
    }
}

impl Split {
    /// The delimiter and the names of the fields, from the line of names.
    pub(super) fn of_names(line: &[u8]) -> Result<(Split, Vec<String>), LogProblem> {
        let letters =
            |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let first = letters(line);
        if first == 0 {
            return Err(LogProblem::Whole(
                "the first line has no names of fields; write the log without `-n` of sacct, or name its fields \
                 (`columns`)"
                    .to_owned(),
            ));
        }
        let rest = &line[first..];
        let end = rest.iter().position(u8::is_ascii_alphabetic).unwrap_or(rest.len());
        let delimiter = &rest[..end];
        if delimiter.iter().all(|byte| *byte == b' ') {
            return Err(LogProblem::Whole(
                "columns of a fixed width, which cut values; write the log by `sacct -P`"
                    .to_owned(),
            ));
        }
        let mut split =
            Split { delimiter: delimiter.to_vec(), names: line.to_vec(), places: Vec::new() };
        split.cut(line);
        // `sacct -p` writes a delimiter behind the last field as well.
        if split.places.last().is_some_and(|(start, end)| start == end) {
            split.places.pop();
        }
        let name = |&(start, end): &(usize, usize)| {
            String::from_utf8_lossy(line[start..end].trim_ascii()).into_owned()
        };
        let names = split.places.iter().map(name).collect();
        Ok((split, names))
    }

    /// True if a line is the line of names again, as in files that were joined.
    pub(super) fn is_names(&self, line: &[u8]) -> bool {
        line == self.names
    }

    fn cut(&mut self, line: &[u8]) {
        self.places.clear();
        let mut start = 0;
        for at in memmem::find_iter(line, &self.delimiter) {
            self.places.push((start, at));
            start = at + self.delimiter.len();
        }
        self.places.push((start, line.len()));
    }

    /// Splits a line. Returns the name of the field that contains the delimiter, if there is one.
    pub(super) fn line<'f>(
        &mut self,
        line: &[u8],
        fields: &'f Fields,
    ) -> Result<Option<&'f str>, LogProblem> {
        self.cut(line);
        let expected = fields.len();
        // `sacct -p`, as above.
        if self.places.len() > expected
            && self.places.last().is_some_and(|(start, end)| start == end)
        {
            self.places.pop();
        }
        match self.places.len() {
            found if found == expected => Ok(None),
            found if found < expected => Err(LogProblem::Record(format!(
                "expected {expected} fields, found {found}; the line is cut, or a text of the log has a line break"
            ))),
            found => self.join(line, fields, found - expected).map(Some),
        }
    }

    /// Joins the parts of the one field that contains the delimiter: the field for which all others have
    /// their forms.
    fn join<'f>(
        &mut self,
        line: &[u8],
        fields: &'f Fields,
        more: usize,
    ) -> Result<&'f str, LogProblem> {
        let mut fitting = Vec::new();
        for &text in &fields.texts {
            let places = joined(&self.places, text, more);
            if fields.fit(|at| &line[places[at].0..places[at].1]) {
                fitting.push((text, places));
            }
        }
        let (expected, found) = (fields.len(), fields.len() + more);
        match fitting.pop() {
            Some((text, places)) if fitting.is_empty() => {
                self.places = places;
                Ok(fields.name(text))
            }
            _ => Err(LogProblem::Record(format!(
                "expected {expected} fields, found {found}; a text contains the delimiter, so write the log with \
                 another one (`sacct -P --delimiter`) or without such fields"
            ))),
        }
    }
}

/// The places with those of a field and the next `more` ones as one.
fn joined(places: &[(usize, usize)], field: usize, more: usize) -> Vec<(usize, usize)> {
    let whole = (places[field].0, places[field + more].1);
    [&places[..field], &[whole], &places[field + more + 1..]].concat()
}
