//! `runs.csv`: one row a run, written while the runs are read. The columns are known only after the
//! last run. Until then, each row is as long as the list of columns was.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Seek};
use std::path::{Path, PathBuf};

use haggle_results::ResultsError;
use haggle_results::sweep::{OF_RUN, text_cell};

use super::sum_up::{nameless, persist};

/// The table as it is being written.
pub(super) struct RunsCsv {
    folder: PathBuf,
    head: Vec<String>,
    /// Index of each metric in a row.
    places: BTreeMap<String, usize>,
    /// The rows so far, without a head.
    rows: csv::Writer<File>,
}

impl RunsCsv {
    /// A table without rows; no file is visible in `folder` yet.
    pub(super) fn create(folder: &Path, axes: &[String]) -> Result<RunsCsv, ResultsError> {
        // Without a name, so that a killed command leaves nothing behind.
        let file = tempfile::tempfile_in(folder);
        let file = file.map_err(|error| ResultsError::write(folder, error))?;
        let fixed = OF_RUN.map(str::to_owned).into_iter();
        Ok(RunsCsv {
            folder: folder.to_owned(),
            head: fixed.chain(axes.iter().cloned()).collect(),
            places: BTreeMap::new(),
            rows: csv::WriterBuilder::new().flexible(true).has_headers(false).from_writer(file),
        })
    }

    /// Adds a run. A metric that it lacks leaves its cell empty.
    pub(super) fn add(
        &mut self,
        number: usize,
        seed: u64,
        point: &[String],
        metrics: &[(String, f64)],
    ) -> Result<(), ResultsError> {
        for (name, _) in metrics {
            if !self.places.contains_key(name) {
                self.places.insert(name.clone(), self.head.len());
                self.head.push(name.clone());
            }
        }
        let mut row = vec![number.to_string(), seed.to_string()];
        row.extend(point.iter().map(|text| text_cell(text).into_owned()));
        // Rows before a new metric are shorter; `finish` makes all of one length.
        row.resize(self.head.len(), String::new());
        for (name, value) in metrics {
            let cell = &mut row[self.places[name]];
            // Of several values of a metric the first one counts.
            if cell.is_empty() {
                // The shortest text that reads as the same number.
                *cell = format!("{value:?}");
            }
        }
        self.rows.write_record(&row).map_err(|error| failed(&self.folder, error))
    }

    /// Writes the whole table to `path`.
    pub(super) fn finish(self, path: &Path) -> Result<(), ResultsError> {
        let trouble = |error| ResultsError::write(path, error);
        let mut rows = self.rows.into_inner().map_err(|error| trouble(error.into_error()))?;
        rows.rewind().map_err(trouble)?;
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .has_headers(false)
            .from_reader(BufReader::new(rows));
        let mut writer = csv::Writer::from_writer(BufWriter::new(nameless(&self.folder)?));
        writer.write_byte_record(&self.head.iter().collect()).map_err(|it| failed(path, it))?;
        let mut row = csv::ByteRecord::new();
        while reader.read_byte_record(&mut row).map_err(|error| failed(path, error))? {
            for _ in row.len()..self.head.len() {
                row.push_field(b"");
            }
            writer.write_byte_record(&row).map_err(|error| failed(path, error))?;
        }
        let file = writer.into_inner().map_err(|error| trouble(error.into_error()))?;
        persist(file, path)
    }
}

fn failed(path: &Path, error: csv::Error) -> ResultsError {
    ResultsError::write(path, error.into())
}
