//! The check of all readers of logs.

use std::io::Cursor;
use std::sync::Arc;

use haggle_workloads::cleaning::CleanJobs;
use haggle_workloads::lines;
use haggle_workloads::logs::{
    BatsimJobs, BatsimVersion, BatsimWorkload, LogFormat, LogReader, LogWriter, Options,
    parse_bytes, read,
};
use haggle_workloads::swf::{Malformed, SwfReader, SwfRecord, SwfWriter};
use haggle_workloads::{Rules, SharedReport, WorkloadError};

/// The mapping of tables.
const MAPPING: &str = include_str!("../../seeds/mapping.toml");

/// Reads the bytes as a log. Without a format, the content determines it.
pub(crate) fn check(bytes: &[u8], format: Option<LogFormat>) {
    use LogFormat::{Batsim, Csv, Gwf, Parquet, Swf};
    let is_table = matches!(format, Some(Csv | Parquet));
    // Some options have no effect on a format, and are refused.
    let has_zone = !matches!(format, None | Some(Swf | Gwf | Batsim));
    let zone = has_zone.then(|| "Europe/Berlin".parse().expect("a zone"));
    let keep = if matches!(format, None | Some(Swf)) { Vec::new() } else { vec!["all".to_owned()] };
    let mapping = is_table.then(|| MAPPING.parse().expect("a good mapping"));
    check_with(bytes, &Options { format, zone, mapping, keep, ..Options::default() });
}

/// Reads the bytes with these options.
pub(crate) fn check_with(bytes: &[u8], options: &Options) {
    if let Err(error) = parse_bytes(bytes, options, Malformed::Refuse) {
        check_error(&error);
    }
    // Malformed records are skipped, so only a log that is wrong as a whole is an error here.
    if let Err(error) = written(bytes, options) {
        check_error(&error);
    }
}

fn check_error(error: &WorkloadError) {
    let text = error.to_string();
    assert!(
        text.starts_with("<memory>") && !text.contains('\n'),
        "{text:?} is not a line with the name of the log"
    );
}

/// Writes the jobs of the log in each format. A log that was written is read with the same jobs.
fn written(bytes: &[u8], options: &Options) -> Result<(), WorkloadError> {
    const MEMORY: &str = "memory takes it";
    // `parse_bytes` has reported a packing that cannot be read.
    let Ok(input) = lines::decompressed(Cursor::new(bytes.to_vec())) else { return Ok(()) };
    let reader = read(input, Arc::from("<memory>"), options, Malformed::Skip)?.into_reader();
    let rules = Rules { malformed: Malformed::Skip, ..Rules::canonical() };
    let mut jobs = CleanJobs::new(reader, rules, SharedReport::default()).keeping_further();
    let mut swf = SwfWriter::new(Vec::new(), jobs.reader().header()).expect(MEMORY);
    let mut workload = BatsimWorkload::new(Vec::new(), BatsimVersion::Five).expect(MEMORY);
    let mut table = BatsimJobs::new(Vec::new()).expect(MEMORY);
    let mut records = Vec::new();
    while let Some(entry) = jobs.next_entry() {
        let entry = entry?;
        let record = SwfRecord::from_job(&entry.job);
        swf.write_with(&record, &entry.further).expect(MEMORY);
        workload.write(&record, &entry.further).expect(MEMORY);
        table.write(&record, &entry.further).expect(MEMORY);
        records.push(record);
    }
    let reader = jobs.reader();
    for fact in reader
        .notes()
        .as_slice()
        .iter()
        .map(ToString::to_string)
        .chain(reader.skipped().first.clone())
    {
        assert!(!fact.contains('\n'), "{fact:?} is more than a line");
    }
    let _ = reader.names();
    let header = reader.header().clone();
    workload.finish(&header).expect(MEMORY);
    table.finish().expect(MEMORY);
    let swf = swf.finish().expect(MEMORY);
    let again =
        SwfReader::new(&*swf, Arc::from("<memory>"), Malformed::Refuse).expect("a good header");
    let again: Result<Vec<SwfRecord>, _> = again.collect();
    let text = || String::from_utf8_lossy(&swf).into_owned();
    assert_eq!(
        again.unwrap_or_else(|error| panic!("{error} in\n{}", text())),
        records,
        "{}",
        text()
    );
    Ok(())
}
