//! Recognition of formats by the first line of a file that is not blank.

use super::RecordFormat;
use super::fta;

/// The format of a file that is no record of failures, and the way to use it.
pub(super) fn format(line: &[u8]) -> Option<(&'static str, &'static str)> {
    const LOG: (&str, &str) = ("a log of jobs", "`haggle workload inspect` reads it");
    let text = line.trim_ascii_start();
    let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let numbers = words.clone().filter(|word| is_number(word)).count();
    match text.first()? {
        b';' => Some(LOG),
        // Jobs of a log have 18 numbers, and its header may be missing.
        _ if numbers >= 18 && numbers == words.count() => Some(LOG),
        b'{' => Some(("JSON", "`haggle workflow inspect` reads WfFormat")),
        b'<' => Some(("XML", "`haggle workflow inspect` reads a DAX")),
        b'[' => Some(("TOML", "`haggle run` reads scenarios")),
        _ => None,
    }
}

fn is_number(word: &[u8]) -> bool {
    word.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
}

/// The format of a record that begins with this line.
pub(super) fn record_format(line: &[u8]) -> RecordFormat {
    let text = line.trim_ascii_start();
    let has = |part: &[u8]| memchr::memmem::find(&text.to_ascii_lowercase(), part).is_some();
    let tabs = text.iter().filter(|&&byte| byte == b'\t').count();
    match () {
        // Names of the other two formats contain `node` and `start` as well, so the plain table is tested
        // after them.
        () if has(b"prob started") => RecordFormat::Lanl,
        () if fta::is_names(text) || tabs == 8 => RecordFormat::Fta,
        () if has(b"node") && has(b"start") => RecordFormat::Csv,
        () => RecordFormat::Fta,
    }
}
