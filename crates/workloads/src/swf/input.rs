//! Opening a log: plain, gzip or zstd, from a file or from standard input.

use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use super::error::SwfError;
use super::reader::{Malformed, SwfReader};
use crate::lines;

/// A reader of a log that was opened by name.
pub type SwfLog = SwfReader<Box<dyn BufRead + Send>>;

/// Opens the log at `path`, or standard input for `-`, and reads its header.
///
/// The first bytes determine the compression. The name is not used, because users rename files, and standard
/// input has no name.
pub fn open(path: &Path, malformed: Malformed) -> Result<SwfLog, SwfError> {
    let log: Arc<str> = Arc::from(lines::name(path));
    let input = lines::open(path).map_err(|unreadable| SwfError {
        log: Arc::clone(&log),
        line: 0,
        column: 0,
        problem: unreadable.into(),
    })?;
    SwfReader::new(input, log, malformed)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    /// The log as packed by this program, with a checksum.
    const ZSTD: &[u8] =
        b"\x28\xb5\x2f\xfd\x04\x68\xad\x01\x00\x22\xc3\x0a\x11\xa0\x6d\x0c\x80\x41\x5f\x60\x28\xac\
        \xb2\xdb\x36\x80\x83\x7e\x0f\x8c\x60\xf3\xcd\xcd\x65\xf2\x58\xbc\x7a\x0e\x6f\x86\xb5\xbc\
        \xb9\xbe\x60\x8c\x60\x73\x6f\x45\xa6\x4e\x01\x02\x00\x20\x4c\x83\x3b\x06\xbd\xb9\x67\xef";

    /// A skippable frame.
    const SKIPPED: &[u8] = b"\x50\x2a\x4d\x18\x03\0\0\0any";

    const LOG: &[u8] = b"; MaxProcs: 4\n1 0 -1 60 2 -1 -1 2 90 -1 1 3 4 5 6 7 -1 -1\n";

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("memory takes everything");
        encoder.finish().expect("memory takes everything")
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    fn records(bytes: &[u8]) -> Result<usize, String> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        // A name that does not show the packing.
        let path = directory.path().join("log.txt");
        std::fs::write(&path, bytes).expect("a writable directory");
        let all: Result<Vec<_>, _> = open(&path, Malformed::Refuse).and_then(Iterator::collect);
        all.map(|records| records.len()).map_err(|error| {
            let text = error.to_string();
            text.split_once("log.txt").map_or(text.clone(), |(_, rest)| rest.to_owned())
        })
    }

    #[test]
    fn plain_gzip_and_zstd_are_told_apart_by_content() {
        let two_members = [gzip(&LOG[..20]), gzip(&LOG[20..])].concat();
        let two_frames = [zstd(&LOG[..20]), SKIPPED.to_vec(), zstd(&LOG[20..])].concat();
        for bytes in [LOG, &gzip(LOG), &two_members, &zstd(LOG), &two_frames, ZSTD] {
            assert_eq!(records(bytes), Ok(1));
        }
        assert_eq!(records(b""), Ok(0));
    }

    #[test]
    fn damaged_and_unread_packings_are_errors() {
        let whole = gzip(LOG);
        let error = records(&whole[..whole.len() - 12]).expect_err("cut short");
        assert!(error.contains("cannot read on"), "{error}");
        assert!(records(b"\x1f\x8bgarbage, not deflate").is_err());
        assert!(records(b"\x28\xb5\x2f\xfdgarbage").is_err());
        for cut in 4..ZSTD.len() {
            let error = records(&ZSTD[..cut]).expect_err("cut short");
            assert!(error.contains("cannot read on"), "{cut}: {error}");
        }
        let mut another = ZSTD.to_vec();
        *another.last_mut().expect("it has bytes") ^= 1;
        let error = records(&another).expect_err("its checksum is not that of its data");
        assert!(error.contains("checksum"), "{error}");
        assert_eq!(
            records(b"\xfd7zXZ\0..."),
            Err(": compressed with xz; only gzip and zstd are read, so decompress it first".into())
        );
    }

    #[test]
    fn a_missing_file_is_named() {
        let error =
            open(Path::new("no/such.swf"), Malformed::Refuse).map(|_| ()).expect_err("none");
        let text = error.to_string();
        assert!(text.starts_with("no/such.swf: cannot open the log: "), "{text}");
    }

    #[test]
    fn a_folder_is_no_log() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let error = open(directory.path(), Malformed::Refuse).map(|_| ()).expect_err("none");
        let text = error.to_string();
        assert!(text.ends_with("cannot open the log: it is a folder, and not a file"), "{text}");
    }
}
