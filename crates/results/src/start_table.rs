//! Small tables of other programs, in CSV or Parquet, as texts.

use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::ResultsError;
use crate::regular;

/// A table as texts. A cell without a value is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextTable {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with a cell for every column.
    pub rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Reads the table at `path`: Parquet if its name ends in `.parquet`, otherwise CSV with a line of names.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or has nested columns.
    pub fn read(path: &Path) -> Result<TextTable, ResultsError> {
        match path.extension().is_some_and(|it| it.eq_ignore_ascii_case("parquet")) {
            true => parquet(path),
            false => csv(path),
        }
    }
}

fn csv(path: &Path) -> Result<TextTable, ResultsError> {
    let damaged = |error: csv::Error| ResultsError::damaged(path, error);
    let text = regular::read_bytes(path)?;
    if let Some(line) = open_quote(&text) {
        let reason = format!(
            "the row in line {line} opens a quotation mark and does not close it; close it, or remove it"
        );
        return Err(ResultsError::damaged(path, reason));
    }
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(&*text);
    let columns = reader.headers().map_err(damaged)?.iter().map(str::to_owned).collect();
    let rows = reader.records().map(|row| Ok(row?.iter().map(str::to_owned).collect()));
    let rows = rows.collect::<Result<_, csv::Error>>().map_err(damaged)?;
    Ok(TextTable { columns, rows })
}

/// Line of the row with a quotation mark that is not closed. The reader takes all further lines as a part of such a cell.
fn open_quote(text: &[u8]) -> Option<u64> {
    const END: &[u8] = b"\n\x01";
    // A row of its own, unless it is a part of an open cell.
    let text = [text, END].concat();
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .from_reader(&*text);
    let last = reader.byte_records().map_while(Result::ok).last()?;
    let is_end = last.len() == 1 && last.get(0) == END.get(1..);
    let position = last.position().filter(|_| !is_end)?;
    // The position is that before comments and empty lines.
    let rest = text.get(position.byte() as usize..)?.split(|&byte| byte == b'\n');
    let is_row = |line: &&[u8]| !line.starts_with(b"#") && !line.trim_ascii().is_empty();
    Some(position.line() + rest.take_while(|line| !is_row(line)).count() as u64)
}

fn parquet(path: &Path) -> Result<TextTable, ResultsError> {
    let damaged = |error| ResultsError::damaged(path, error);
    let file = SerializedFileReader::new(regular::open(path)?).map_err(damaged)?;
    let fields = file.metadata().file_metadata().schema().get_fields();
    let columns = fields.iter().map(|it| it.name().to_owned()).collect();
    let mut rows = Vec::new();
    for row in file.get_row_iter(None).map_err(damaged)? {
        let row = row.map_err(damaged)?;
        rows.push(row.get_column_iter().map(|(_, field)| text(field)).collect());
    }
    Ok(TextTable { columns, rows })
}

fn text(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        // Its own text has quotation marks.
        Field::Str(text) => text.clone(),
        // Numbers print in the shortest form that reads back.
        Field::Float(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        other => other.to_string(),
    }
}
