//! Recognition of the format of a log by its first bytes.

use std::io::{self, BufRead};

use super::LogFormat;
use memchr::memmem;

/// Number of bytes that are examined.
const START_BYTES: usize = 64 * 1024;

/// The first bytes of a log, which are consumed: up to its first whole line that is no comment, if that is enough. A pipe
/// may be slow, so no more is awaited.
pub(super) fn start(input: &mut Box<dyn BufRead + Send>) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    while start.len() < START_BYTES && !has_line(&start) {
        let chunk = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            chunk => chunk?,
        };
        if chunk.is_empty() {
            break;
        }
        let count = chunk.len().min(START_BYTES - start.len());
        start.extend_from_slice(&chunk[..count]);
        input.consume(count);
    }
    Ok(start)
}

/// True if a text has a whole line that is no comment. The lines of JSON tell nothing.
fn has_line(start: &[u8]) -> bool {
    let last = memchr::memrchr(b'\n', start).unwrap_or(0);
    let mut lines = start[..last].split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    lines
        .find(|line| !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b";"))
        .is_some_and(|line| !line.starts_with(b"{") && !line.starts_with(b"\xef\xbb\xbf{"))
}

/// The format of a log that begins with these bytes. All texts that no other format claims are taken for the
/// Standard Workload Format, whose reader names the formats of files that are no logs.
pub(super) fn format(start: &[u8]) -> LogFormat {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let first = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    match () {
        () if start.starts_with(b"PAR1") => LogFormat::Parquet,
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
        () if has(b"\"nb_res\"") || has(b"\"subtime\"") => LogFormat::Batsim,
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

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

    /// A pipe of which nothing may be awaited behind its pieces.
    struct Pipe(Vec<&'static [u8]>);

    impl Read for Pipe {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let piece = self.0.remove(0);
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn no_more_than_a_line_of_a_pipe_is_awaited() {
        for (pieces, expected) in [
            (vec![&b"; MaxProcs: 4\n"[..], b"1 0 -1 6", b"0 4\n2 "], LogFormat::Swf),
            (vec![b"# comment\n\n# more\n1 2", b" 3\n"], LogFormat::Swf),
            (vec![b"JobID|Submit", b"|Start\n1|"], LogFormat::Sacct),
            (vec![b"04/01/2024 10:00:00;E;1.s;user=a", b"\n"], LogFormat::Pbs),
            (vec![b"{\"nb_res\": 4, ", b"\"jobs\": []}", b""], LogFormat::Batsim),
            (vec![b"{\n", b"\"jobs\": [\n{\"job_id\": 5}]}", b""], LogFormat::SacctJson),
        ] {
            let whole = pieces.concat();
            let mut input: Box<dyn BufRead + Send> = Box::new(BufReader::new(Pipe(pieces)));
            let start = start(&mut input).expect("it can be read");
            assert_eq!((format(&start), &start), (expected, &whole));
        }
    }
}
