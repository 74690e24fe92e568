//! Recognition of the format of a log by its first bytes.

use std::io::{self, BufRead, Read};

use super::LogFormat;
use memchr::memmem;

/// Number of bytes that are examined.
const START_BYTES: u64 = 64 * 1024;

/// The first bytes of a log, which are consumed.
pub(super) fn start(input: &mut Box<dyn BufRead + Send>) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    input.take(START_BYTES).read_to_end(&mut start)?;
    Ok(start)
}

/// The format of a log that begins with these bytes. All texts that no other format claims are taken for the
/// Standard Workload Format, whose reader names the formats of files that are no logs.
pub(super) fn format(start: &[u8]) -> LogFormat {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let first = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    match () {
        () if start.starts_with(b"{") => json(start),
        () if is_pbs(first) => LogFormat::Pbs,
        () if is_gwf(start) => LogFormat::Gwf,
        () if is_sacct(first) => LogFormat::Sacct,
        () => LogFormat::Swf,
    }
}

/// The format of a JSON text. Texts of other kinds are named by the reader of the common format.
fn json(start: &[u8]) -> LogFormat {
    let has = |key: &[u8]| memmem::find(start, key).is_some();
    match () {
        () if has(b"\"jobs\"") && (has(b"\"meta\"") || has(b"\"job_id\"")) => LogFormat::SacctJson,
        () => LogFormat::Swf,
    }
}

/// True if a line begins with a date, a letter and a job, as `01/31/2024 10:54:00;E;123.server;`.
fn is_pbs(line: &[u8]) -> bool {
    let mut parts = line.splitn(4, |&byte| byte == b';');
    let (date, kind, id) = (parts.next(), parts.next(), parts.next());
    let has_form = |date: &[u8]| {
        date.len() == 19
            && date.iter().enumerate().all(|(at, byte)| match at {
                2 | 5 => *byte == b'/',
                10 => *byte == b' ',
                13 | 16 => *byte == b':',
                _ => byte.is_ascii_digit(),
            })
    };
    date.is_some_and(has_form) && kind.is_some_and(|kind| kind.len() == 1) && id.is_some()
}

/// True if comments begin with `#`, and the first line behind them has the columns of the format.
fn is_gwf(start: &[u8]) -> bool {
    let is_comment = |line: &&[u8]| line.starts_with(b"#") || line.trim_ascii().is_empty();
    let mut lines = start.split(|&byte| byte == b'\n').skip_while(is_comment);
    let columns =
        |line: &[u8]| line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
    start.starts_with(b"#")
        && lines.next().is_some_and(|line| columns(line) == super::gwf::COLUMNS.len())
}

/// True if a line has names of fields of sacct.
fn is_sacct(line: &[u8]) -> bool {
    let line = line.to_ascii_lowercase();
    let has = |name: &[u8]| memmem::find(&line, name).is_some();
    line.first().is_some_and(u8::is_ascii_alphabetic) && has(b"jobid") && has(b"submit")
}
