//! Rows on disk that wait for the end of a run, when it is known which jobs warm-up and cool-down leave
//! in. Without a cut, no rows wait.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use crate::buffer::{Buffer, Values};

/// Batches of rows of one table, in order of arrival, in a file without a name.
pub(super) struct Held {
    file: BufWriter<File>,
    /// Rows of each batch.
    batches: Vec<usize>,
}

impl Held {
    pub(super) fn new(folder: &Path) -> io::Result<Held> {
        let path = folder.join(".held");
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        // Unlinked at once, so that the file disappears with the process in every case.
        fs::remove_file(&path)?;
        Ok(Held { file: BufWriter::new(file), batches: Vec::new() })
    }

    /// Appends the buffer's rows.
    pub(super) fn push(&mut self, buffer: &Buffer) -> io::Result<()> {
        self.batches.push(buffer.rows);
        for values in &buffer.columns {
            match values {
                Values::Seconds(values) | Values::Integer(values) => {
                    values.iter().try_for_each(|it| self.file.write_all(&it.to_le_bytes()))?;
                }
                Values::Real(values) => {
                    values.iter().try_for_each(|it| self.file.write_all(&it.to_le_bytes()))?;
                }
                Values::Word { codes, .. } => {
                    codes.iter().try_for_each(|it| self.file.write_all(&it.to_le_bytes()))?;
                }
                Values::Text { bytes, ends } => {
                    // Ends come first: the last one tells a reader the number of bytes.
                    ends.iter().try_for_each(|it| self.file.write_all(&it.to_le_bytes()))?;
                    self.file.write_all(bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Reads all batches again, one after the other.
    pub(super) fn into_batches(self) -> io::Result<Batches> {
        let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(Batches { file: BufReader::new(file), rows: self.batches.into_iter() })
    }
}

/// Batches that remain to be read.
pub(super) struct Batches {
    file: BufReader<File>,
    rows: std::vec::IntoIter<usize>,
}

impl Batches {
    /// Puts the next batch into an empty buffer, which has its words already. Returns false if there is none.
    pub(super) fn next_into(&mut self, buffer: &mut Buffer) -> io::Result<bool> {
        let Some(rows) = self.rows.next() else { return Ok(false) };
        buffer.rows = rows;
        for values in &mut buffer.columns {
            match values {
                Values::Seconds(values) | Values::Integer(values) => {
                    fill(values, rows, &mut self.file, i64::from_le_bytes)?;
                }
                Values::Real(values) => fill(values, rows, &mut self.file, f64::from_le_bytes)?,
                Values::Word { codes, .. } => {
                    fill(codes, rows, &mut self.file, u32::from_le_bytes)?;
                }
                Values::Text { bytes, ends } => {
                    // The batch brings the start of its first text, too.
                    ends.clear();
                    fill(ends, rows + 1, &mut self.file, i32::from_le_bytes)?;
                    bytes.resize(ends.last().map_or(0, |&end| end as usize), 0);
                    self.file.read_exact(bytes)?;
                }
            }
        }
        Ok(true)
    }
}

fn fill<T, const N: usize>(
    values: &mut Vec<T>,
    count: usize,
    file: &mut impl Read,
    of: fn([u8; N]) -> T,
) -> io::Result<()> {
    for _ in 0..count {
        let mut bytes = [0; N];
        file.read_exact(&mut bytes)?;
        values.push(of(bytes));
    }
    Ok(())
}
