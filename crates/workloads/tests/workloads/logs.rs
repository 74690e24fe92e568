//! Readers of all formats of job logs, with the traps of each.

#[path = "logs/batsim.rs"]
mod batsim;
#[path = "logs/gwf.rs"]
mod gwf;
#[path = "logs/parquet.rs"]
mod parquet;
#[path = "logs/pbs.rs"]
mod pbs;
#[path = "logs/sacct.rs"]
mod sacct;
#[path = "logs/sacct_json.rs"]
mod sacct_json;

#[path = "logs/table.rs"]
mod table;

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use haggle_workloads::logs::{LogFormat, LogReader, Mapping, Options, parse_bytes, read};
use haggle_workloads::swf::{Malformed, SwfRecord};

/// A log that was read to its end.
struct Read {
    records: Vec<SwfRecord>,
    /// Values in the columns that are kept, for each record.
    further: Vec<Vec<String>>,
    /// Facts with their lines: `dropped: step of a job (line 3)`.
    notes: Vec<String>,
    /// Names behind numbers: `Queue: 1 long`.
    names: Vec<String>,
    skipped: Vec<String>,
}

fn read_with(text: &str, options: &Options) -> Result<Read, String> {
    read_by(text, options, Malformed::Refuse)
}

fn read_by(text: &str, options: &Options, malformed: Malformed) -> Result<Read, String> {
    let input = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let log = read(input, Arc::from("a.log"), options, malformed);
    let mut reader = log.map_err(|error| error.to_string())?.into_reader();
    let (mut records, mut further) = (Vec::new(), Vec::new());
    while let Some(record) = reader.next_record().map_err(|error| error.to_string())? {
        records.push(record);
        further.push(reader.further());
    }
    assert!(reader.next_record().is_ok_and(|record| record.is_none()));
    let without_count = |note: String| {
        note.trim_start().split_once("  ").map_or("".to_owned(), |it| it.1.to_owned())
    };
    let notes = reader.notes().as_slice().iter().map(|note| without_count(note.to_string()));
    let names = reader.names().into_iter().map(|line| format!("{}: {}", line.key, line.value));
    Ok(Read {
        records,
        further,
        notes: notes.collect(),
        names: names.collect(),
        skipped: reader.skipped().first.clone(),
    })
}

/// Reads a log whose format is recognised, with times in UTC.
fn read_all(text: &str) -> Read {
    read_with(text, &utc()).expect("a good log")
}

fn refused(text: &str) -> String {
    read_with(text, &utc()).map(|_| ()).expect_err("a bad log")
}

fn utc() -> Options {
    Options { zone: Some("UTC".parse().expect("a zone")), ..Options::default() }
}

fn read_leniently(text: &str) -> Read {
    read_by(text, &utc(), Malformed::Skip).expect("the rest is good")
}

/// The fields of a record as a line of the Standard Workload Format, without the submission.
fn fields(record: &SwfRecord) -> String {
    let mut line = Vec::new();
    haggle_workloads::swf::write_record(&mut line, record).expect("memory takes it");
    let text = String::from_utf8(line).expect("ascii");
    let words: Vec<&str> = text.split_whitespace().collect();
    [&words[..1], &words[2..]].concat().join(" ")
}

#[test]
fn options_without_effect_are_refused() {
    let swf = "1 0 -1 60 2 -1 -1 2 90 -1 1 3 4 5 6 7 -1 -1\n";
    let error = |text: &str, options: &Options| {
        read_with(text, options).map(|_| ()).expect_err("no effect")
    };
    assert!(error(swf, &utc()).contains("times of this format have no time zone"));
    let keep = Options { keep: vec!["all".to_owned()], ..Options::default() };
    assert!(error(swf, &keep).contains("keeps all of its columns"));
    let columns = Options { columns: vec!["a".to_owned()], ..Options::default() };
    assert!(error("{\"jobs\": [], \"meta\": {}}", &columns).contains("this format has its own"));
    assert!(read_with(swf, &columns).is_ok());
}

/// The inputs with which fuzzing begins are logs of their formats.
#[test]
fn seeds_of_fuzzing_are_logs() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let mapping = fs::read_to_string(seeds.join("mapping.toml")).expect("it is there");
    let mapping: Mapping = mapping.parse().expect("a good mapping");
    for format in LogFormat::ALL {
        let folder = seeds.join(format.name().replace('-', "_"));
        for seed in fs::read_dir(&folder).expect("each format has seeds") {
            let path = seed.expect("an entry").path();
            let mut bytes = fs::read(&path).expect("it is there");
            let is_table = matches!(format, LogFormat::Csv | LogFormat::Parquet);
            let mut mapping = is_table.then(|| mapping.clone());
            // A table in a text may have a mapping of its own before it.
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Some((own, table)) = text.split_once("\n---\n") {
                mapping = Some(own.parse().expect("a good mapping"));
                bytes = table.as_bytes().to_vec();
            }
            let options = Options { format: Some(format), mapping, ..Options::default() };
            let found = parse_bytes(&bytes, &options, Malformed::Skip);
            let is_read = !path.to_string_lossy().contains("brotli");
            assert_eq!(found.is_ok(), is_read, "{}: {found:?}", path.display());
        }
    }
}
