//! For any bytes, reading a log in any format gives a count or an error of one line. The first byte chooses the format.

#![no_main]

use haggle_workloads::logs::{LogFormat, Mapping, Options, parse_bytes};
use haggle_workloads::swf::Malformed;
use libfuzzer_sys::fuzz_target;

const MAPPING: &str = "[columns]\nnumber = \"a\"\nsubmit = \"b\"\nrun = { column = \"c\", unit = \"min\" }\n\
                       processors = \"d\"\nstatus = { column = \"e\", completed = [\"x\"] }\nuser = \"f\"\n";

/// Readers whose code is all ours. That of Parquet mostly decodes by a library.
const FORMATS: [Option<LogFormat>; 8] = [
    None,
    Some(LogFormat::Swf),
    Some(LogFormat::Sacct),
    Some(LogFormat::SacctJson),
    Some(LogFormat::Pbs),
    Some(LogFormat::Gwf),
    Some(LogFormat::Batsim),
    Some(LogFormat::Csv),
];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let format = FORMATS[usize::from(*first) % FORMATS.len()];
    let mapping = (format == Some(LogFormat::Csv)).then(|| MAPPING.parse::<Mapping>().expect("a good mapping"));
    // Some options have no effect on a format, and are refused.
    let has_zone = !matches!(format, None | Some(LogFormat::Swf | LogFormat::Gwf | LogFormat::Batsim));
    let zone = has_zone.then(|| "Europe/Berlin".parse().expect("a zone"));
    let keeps = !matches!(format, None | Some(LogFormat::Swf));
    let keep = if keeps { vec!["all".to_owned()] } else { Vec::new() };
    let options = Options { format, zone, mapping, keep, ..Options::default() };
    if let Err(error) = parse_bytes(rest, &options, Malformed::Refuse) {
        assert!(!error.to_string().contains('\n'), "{error:?} is more than a line");
    }
    // Malformed records are skipped, so only a log that is wrong as a whole is an error here.
    let _ = parse_bytes(rest, &options, Malformed::Skip);
});
