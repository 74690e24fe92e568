//! Parquet files by a mapping: types of columns, groups of rows, packings, and damage.

use std::io::Cursor;
use std::sync::Arc;

use haggle_model::Time;
use haggle_workloads::logs::{LogFormat, LogReader, Options, parse_bytes, read};
use haggle_workloads::swf::{Malformed, SwfRecord};
use parquet::basic::{Compression, Encoding, GzipLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type, Int96,
    Int96Type,
};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::fields;

const SCHEMA: &str = "message jobs {
  REQUIRED INT64 id (INTEGER(64, false));
  OPTIONAL INT64 submitted (TIMESTAMP(MILLIS, false));
  REQUIRED INT64 started (TIMESTAMP(NANOS, true));
  OPTIONAL INT64 ended (TIMESTAMP_MICROS);
  REQUIRED INT32 nodes;
  OPTIONAL INT32 hours (DECIMAL(9, 2));
  OPTIONAL BYTE_ARRAY state (UTF8);
  REQUIRED DOUBLE power;
  OPTIONAL BOOLEAN shared;
  REQUIRED INT96 seen;
  REQUIRED FLOAT part;
  OPTIONAL group gpus (LIST) { REPEATED group list { OPTIONAL INT32 element; } }
}";

const MAPPING: &str = r#"
time-zone = "Europe/Rome"

[columns]
number = "id"
submit = "submitted"
start = "started"
end = "ended"
processors = { column = "nodes", times = 4 }
requested-time = { column = "hours", unit = "h" }
status = { column = "state", completed = ["DONE"] }
"#;

/// 10:00 UTC on 2024-01-31, which is 11:00 in Rome.
const TEN: i64 = 1_706_695_200;

fn column<T: parquet::data_type::DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    levels: Option<&[i16]>,
) {
    let mut column = group.next_column().expect("memory").expect("a column");
    column.typed::<T>().write_batch(values, levels, None).expect("memory takes it");
    column.close().expect("memory takes it");
}

/// A file with two groups of two rows. The second row of each has values that are missing.
fn file(packing: Compression) -> Vec<u8> {
    file_with(WriterProperties::builder().set_compression(packing).build())
}

fn file_with(properties: WriterProperties) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(SCHEMA).expect("a schema"));
    let properties = Arc::new(properties);
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).expect("memory");
    for number in [7, 9] {
        let mut group = writer.next_row_group().expect("memory takes it");
        let text = |text: &str| ByteArray::from(text.as_bytes().to_vec());
        let mut seen = Int96::new();
        seen.set_data(0, 0, 2_440_588);
        column::<Int64Type>(&mut group, &[number, number + 1], None);
        // Local time.
        column::<Int64Type>(&mut group, &[(TEN + 3_600) * 1_000 + 250], Some(&[1, 0]));
        column::<Int64Type>(&mut group, &[(TEN + 60) * 1_000_000_000, TEN * 1_000_000_000], None);
        column::<Int64Type>(&mut group, &[(TEN + 120) * 1_000_000], Some(&[1, 0]));
        column::<Int32Type>(&mut group, &[2, 1], None);
        column::<Int32Type>(&mut group, &[150], Some(&[1, 0]));
        column::<ByteArrayType>(&mut group, &[text("DONE"), text("LOST")], Some(&[1, 1]));
        column::<DoubleType>(&mut group, &[1.5, f64::NAN], None);
        column::<BoolType>(&mut group, &[true], Some(&[1, 0]));
        column::<Int96Type>(&mut group, &[seen, seen], None);
        column::<FloatType>(&mut group, &[0.25, 1e9], None);
        let mut lists = group.next_column().expect("memory").expect("a column");
        let gpus = lists.typed::<Int32Type>();
        gpus.write_batch(&[0, 1], Some(&[3, 3, 0]), Some(&[0, 1, 0])).expect("memory takes it");
        lists.close().expect("memory takes it");
        group.close().expect("memory takes it");
    }
    writer.into_inner().expect("memory takes it")
}

fn options(mapping: &str, keep: &[&str]) -> Options {
    let keep = keep.iter().map(|&name| name.to_owned()).collect();
    Options { mapping: Some(mapping.parse().expect("a mapping")), keep, ..Options::default() }
}

type Reader = Box<dyn LogReader + Send>;

fn open(bytes: Vec<u8>, options: &Options) -> Result<Reader, String> {
    let log =
        read(Box::new(Cursor::new(bytes)), Arc::from("a.parquet"), options, Malformed::Refuse);
    log.map(|log| log.into_reader()).map_err(|error| error.to_string())
}

fn next(reader: &mut Reader) -> SwfRecord {
    reader.next_record().expect("a good row").expect("a row")
}

fn refused(bytes: Vec<u8>, options: &Options) -> String {
    let mut reader = match open(bytes, options) {
        Ok(reader) => reader,
        Err(error) => return error,
    };
    loop {
        match reader.next_record() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("a bad file"),
            Err(error) => return error.to_string(),
        }
    }
}

#[test]
fn types_of_columns_need_no_units() {
    let gzip = Compression::GZIP(GzipLevel::default());
    for packing in [Compression::UNCOMPRESSED, Compression::SNAPPY, gzip, Compression::LZ4_RAW] {
        let mut log = open(file(packing), &options(MAPPING, &[])).expect("a good file");
        for number in [7, 9] {
            let record = next(&mut log);
            assert_eq!(record.submit, Time::from_micros(TEN * 1_000_000 + 250_000));
            let rest = "59.75 60 8 -1 -1 -1 5400 -1 1 -1 -1 -1 -1 -1 -1 -1";
            assert_eq!(fields(&record), format!("{number} {rest}"));
            let record = next(&mut log);
            assert_eq!(
                fields(&record),
                format!("{} -1 -1 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1", number + 1)
            );
        }
        assert!(log.next_record().is_ok_and(|record| record.is_none()));
        let notes: Vec<String> = log.notes().as_slice().iter().map(ToString::to_string).collect();
        assert_eq!(
            notes,
            [
                "        2  dropped: column power (lines 1, 3)",
                "        2  dropped: column shared (lines 1, 3)",
                "        4  dropped: column seen (lines 1, 2, 3, 4)",
                "        4  dropped: column part (lines 1, 2, 3, 4)",
                "        4  dropped: column gpus.list.element (lines 1, 2, 3, 4)",
                "        2  changed: state LOST, which the mapping does not name: unknown (lines 2, 4)",
            ]
        );
    }
}

#[test]
fn columns_can_be_kept() {
    let keep = ["power", "shared", "seen", "part"];
    let mut log = open(file(Compression::SNAPPY), &options(MAPPING, &keep)).expect("a good file");
    next(&mut log);
    assert_eq!(log.further(), ["1.5", "true", "1970-01-01T00:00:00Z", "0.25"]);
    next(&mut log);
    assert_eq!(log.further(), ["", "", "1970-01-01T00:00:00Z", "1000000000"]);
}

#[test]
fn columns_that_do_not_fit_are_named() {
    let good = || file(Compression::SNAPPY);
    let with = |from: &str, to: &str| {
        assert!(MAPPING.contains(from), "{from}");
        refused(good(), &options(&MAPPING.replace(from, to), &[]))
    };
    assert_eq!(
        with("\"submitted\"", "{ column = \"submitted\", unit = \"ms\" }"),
        "a.parquet: column \"submitted\" has timestamps, which have a unit of their own; remove `unit` from its mapping"
    );
    assert_eq!(
        with("\"nodes\"", "\"state\""),
        "a.parquet:1: state: expected a whole number, found \"DONE\""
    );
    assert_eq!(
        with("\"nodes\"", "\"gpus.list.element\""),
        "a.parquet:1: gpus.list.element: expected a whole number, found \"a list\""
    );
    assert_eq!(
        with("[columns]", "separator = \";\"\n[columns]"),
        "a.parquet: the mapping has a `separator`, but Parquet has none; remove it"
    );
    let none = Options { format: Some(LogFormat::Parquet), ..Options::default() };
    for options in [&none, &Options::default()] {
        let error = refused(good(), options);
        assert_eq!(error, "a.parquet: a table needs a mapping of its columns (`mapping`)");
    }
}

#[test]
fn damaged_files_are_refused() {
    let mut cut = file(Compression::SNAPPY);
    cut.truncate(cut.len() - 4);
    let error = refused(cut, &options(MAPPING, &[]));
    assert!(error.starts_with("a.parquet: no Parquet that can be read: "), "{error}");
    assert_eq!(error.lines().count(), 1);
}

/// Files of another program. The second number is the version of their pages; those of version 2 have plain levels.
const OTHERS: [(&str, &[u8]); 4] = [
    ("zstd-1", include_bytes!("parquet/zstd-1.parquet")),
    ("zstd-2", include_bytes!("parquet/zstd-2.parquet")),
    ("lz4-1", include_bytes!("parquet/lz4-1.parquet")),
    ("lz4-2", include_bytes!("parquet/lz4-2.parquet")),
];

const MAPPING_OF_OTHERS: &str = r#"
[columns]
number = "job_id"
submit = "submission_time"
wait = "waiting_time"
run = "execution_time"
processors = "requested_number_of_resources"
user = "user_id"
"#;

#[test]
fn pages_of_other_programs_are_unpacked() {
    for (name, bytes) in OTHERS {
        let log = open(bytes.to_vec(), &options(MAPPING_OF_OTHERS, &[]));
        let mut log = log.unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut found = Vec::new();
        while let Some(record) = log.next_record().expect("a good row") {
            found.push((record.number, record.submit, fields(&record)));
        }
        let shown = |at: usize| found[at].2.as_str();
        assert_eq!(found.len(), 6, "{name}");
        assert_eq!(shown(0), "7 60 3600.5 2 -1 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1", "{name}");
        assert_eq!(shown(1), "8 -1 60 1 -1 -1 -1 -1 -1 -1 2 -1 -1 -1 -1 -1 -1", "{name}");
        assert_eq!(shown(4), "11 5 -1 1 -1 -1 -1 -1 -1 -1 3 -1 -1 -1 -1 -1 -1", "{name}");
        assert_eq!(found[5].1, Time::from_secs(1_706_698_800 + 50), "{name}");
    }
}

#[test]
fn packings_that_are_not_read_are_named_with_a_remedy() {
    let brotli = include_bytes!("parquet/brotli-1.parquet").to_vec();
    assert_eq!(
        refused(brotli, &options(MAPPING_OF_OTHERS, &[])),
        "a.parquet: no Parquet that can be read: a column is packed with brotli; write its pages plain, or packed with \
         snappy, gzip, zstd or lz4"
    );
}

/// A file whose whole numbers are packed as differences, and its texts in `encoding`.
fn delta(encoding: Encoding, version: WriterVersion) -> Vec<u8> {
    let properties = WriterProperties::builder().set_writer_version(version);
    let properties = properties.set_dictionary_enabled(false).set_encoding(Encoding::PLAIN);
    let properties = ["id", "nodes"].into_iter().fold(properties, |properties, name| {
        properties.set_column_encoding(name.into(), Encoding::DELTA_BINARY_PACKED)
    });
    file_with(properties.set_column_encoding("state".into(), encoding).build())
}

#[test]
fn pages_in_delta_encodings_are_read() {
    for encoding in [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let bytes = delta(encoding, version);
            let read = |bytes| {
                let mut log = open(bytes, &options(MAPPING, &[])).expect("a good file");
                fields(&next(&mut log))
            };
            assert_eq!(read(bytes.clone()), read(file(Compression::UNCOMPRESSED)));
            // Lengths of texts: blocks of 128 values in four parts, two values, the first is 4.
            let header = [0x80, 1, 4, 2, 8];
            let at = bytes.windows(header.len()).position(|it| it == header).expect("a list");
            let mut damaged = bytes;
            damaged[at + 3] = 3;
            let error = refused(damaged, &options(MAPPING, &[]));
            assert!(error.contains("the texts of a page are cut, or more than it says"), "{error}");
        }
    }
}

/// Each byte of a file is changed in turn. There is a log or an error of one line.
#[test]
fn damaged_pages_never_panic() {
    let encodings = [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY];
    let deltas = encodings.map(|it| delta(it, WriterVersion::PARQUET_2_0));
    let deltas = deltas.iter().map(|bytes| (bytes.as_slice(), MAPPING));
    let others = OTHERS.iter().map(|&(_, bytes)| (bytes, MAPPING_OF_OTHERS));
    for (bytes, mapping) in others.chain(deltas) {
        let options = options(mapping, &[]);
        for at in 0..bytes.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.to_vec();
                damaged[at] ^= change;
                if let Err(error) = parse_bytes(&damaged, &options, Malformed::Refuse) {
                    assert!(!error.to_string().contains('\n'), "{error}");
                }
            }
        }
    }
}
