//! Tables with a line of column names, and values that are separated by commas and may be quoted.

use super::error::TraceProblem;

/// More columns than any such file has; 26 are usual.
const COLUMNS_MAX: usize = 64;

/// Splits lines. The line of column names determines the places of the wanted columns.
pub(super) struct Columns<const N: usize> {
    names: [&'static str; N],
    /// Description of the expected names.
    expected: &'static str,
    /// Number of columns, and indices of the wanted ones.
    found: Option<(usize, [usize; N])>,
    parser: csv_core::Reader,
    /// The fields of the current line, concatenated.
    text: Vec<u8>,
}

/// The wanted fields of a line, without white space around them.
pub(super) struct Fields<'t, const N: usize> {
    /// Indices among all columns, from 0.
    pub(super) places: [usize; N],
    pub(super) texts: [&'t [u8]; N],
}

impl<const N: usize> Columns<N> {
    pub(super) fn new(names: [&'static str; N], expected: &'static str) -> Columns<N> {
        let parser = csv_core::Reader::new();
        Columns { names, expected, found: None, parser, text: Vec::new() }
    }

    /// Splits one line; `None` for blank lines and the line of column names.
    pub(super) fn split(&mut self, line: &[u8]) -> Result<Option<Fields<'_, N>>, TraceProblem> {
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        let mut ends = [0; COLUMNS_MAX];
        // The line of names determines the separator; in later lines, a comma may be a decimal sign.
        if self.found.is_none() {
            self.parser = csv_core::ReaderBuilder::new().delimiter(delimiter(line)).build();
        }
        let count = self.fields(line, &mut ends);
        let text = |index: usize| {
            let start = if index == 0 { 0 } else { ends[index - 1] };
            self.text[start..ends[index]].trim_ascii()
        };
        let Some((expected, places)) = self.found else {
            let mut places = [0; N];
            for (place, name) in places.iter_mut().zip(self.names) {
                *place = (0..count.min(COLUMNS_MAX))
                    .find(|&index| text(index).eq_ignore_ascii_case(name.as_bytes()))
                    .ok_or(TraceProblem::NoColumn { name, expected: self.expected })?;
            }
            self.found = Some((count, places));
            return Ok(None);
        };
        if count != expected {
            return Err(TraceProblem::FieldCount { expected, found: count });
        }
        Ok(Some(Fields { places, texts: places.map(text) }))
    }

    /// Splits a line into `self.text` and returns the number of its fields, at most
    /// [`COLUMNS_MAX`] + 1.
    fn fields(&mut self, line: &[u8], ends: &mut [usize; COLUMNS_MAX]) -> usize {
        self.parser.reset();
        self.text.resize(line.len() + 1, 0);
        let (mut read, mut written, mut fields) = (0, 0, 0);
        loop {
            // At the end of the line, no input is left. The parser takes this for the end of the file
            // and closes the field and the record.
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

/// The separator. Spreadsheets of countries with decimal commas write semicolons.
fn delimiter(names: &[u8]) -> u8 {
    let has = |sign: &u8| names.contains(sign);
    *[b',', b';', b'\t'].iter().find(|&sign| has(sign)).unwrap_or(&b',')
}
