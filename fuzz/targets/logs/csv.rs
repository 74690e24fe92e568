//! For any bytes, reading a table in a text, by its own mapping or a fixed one, gives jobs or an error of one line.

#![no_main]

mod check;

use haggle_workloads::logs::{LogFormat, Mapping, Options};
use libfuzzer_sys::fuzz_target;

/// The line between a mapping and its table.
const BORDER: &[u8] = b"\n---\n";

fuzz_target!(|bytes: &[u8]| {
    let format = Some(LogFormat::Csv);
    let Some(border) = bytes.windows(BORDER.len()).position(|part| part == BORDER) else {
        return check::check(bytes, format);
    };
    let Ok(mapping) = std::str::from_utf8(&bytes[..border]) else { return };
    match mapping.parse::<Mapping>() {
        Ok(mapping) => {
            let options = Options { format, mapping: Some(mapping), ..Options::default() };
            check::check_with(&bytes[border + BORDER.len()..], &options);
        }
        Err(problem) => assert!(!problem.contains('\n'), "{problem:?} is more than a line"),
    }
});
