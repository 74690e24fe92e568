//! A table as a CSV file: comma, quotes only if needed, `\n`, and an empty field for a missing value.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::ResultsError;
use crate::buffer::{Buffer, NO_INTEGER, NO_WORD, Values};
use crate::columns::Table;
use crate::digits::{push_integer, push_real, push_seconds};

/// A CSV file under construction.
pub(crate) struct CsvFile {
    path: PathBuf,
    file: File,
    text: Vec<u8>,
}

impl CsvFile {
    pub(crate) fn create(folder: &Path, table: Table) -> Result<CsvFile, ResultsError> {
        let path = folder.join(format!("{}.csv", table.name()));
        let file = File::create(&path).map_err(|error| ResultsError::write(&path, error))?;
        let names: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
        let text = format!("{}\n", names.join(",")).into_bytes();
        let mut csv = CsvFile { path, file, text };
        csv.flush()?;
        Ok(csv)
    }

    pub(crate) fn write(&mut self, buffer: &Buffer) -> Result<(), ResultsError> {
        for row in 0..buffer.rows {
            for (i, values) in buffer.columns.iter().enumerate() {
                if i > 0 {
                    self.text.push(b',');
                }
                push_cell(&mut self.text, values, row);
            }
            self.text.push(b'\n');
            // A batch fits in the processor's cache, and system calls are few.
            if self.text.len() > 256 * 1024 {
                self.flush()?;
            }
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), ResultsError> {
        self.file.write_all(&self.text).map_err(|error| ResultsError::write(&self.path, error))?;
        self.text.clear();
        Ok(())
    }
}

fn push_cell(out: &mut Vec<u8>, values: &Values, row: usize) {
    match values {
        Values::Seconds(values) if values[row] != NO_INTEGER => push_seconds(out, values[row]),
        Values::Integer(values) if values[row] != NO_INTEGER => push_integer(out, values[row]),
        Values::Real(values) if !values[row].is_nan() => push_real(out, values[row]),
        Values::Word { codes, words } if codes[row] != NO_WORD => {
            push_quoted(out, words.get(codes[row]));
        }
        Values::Text { bytes, ends } => {
            push_quoted(out, &bytes[ends[row] as usize..ends[row + 1] as usize]);
        }
        _ => {} // missing: an empty field
    }
}

fn push_quoted(out: &mut Vec<u8>, text: &[u8]) {
    if !text.iter().any(|byte| b",\"\r\n".contains(byte)) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}
