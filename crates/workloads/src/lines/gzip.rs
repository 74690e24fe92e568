//! Text packed with gzip: member by member, optionally followed by zero bytes.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// The plain text of all members in a source.
///
/// Tapes and some archives fill a file with zero bytes to a whole block; these bytes are no member.
pub(super) struct Members<R> {
    /// `None` after the last member.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Members<R> {
    pub(super) fn new(source: R) -> Members<R> {
        Members { member: Some(GzDecoder::new(source)) }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(buffer)?;
            // A read into an empty buffer returns 0 anywhere, not only at the end.
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(mut source) = self.member.take().map(GzDecoder::into_inner) else { break };
            if !is_over(&mut source)? {
                self.member = Some(GzDecoder::new(source));
            }
        }
        Ok(0)
    }
}

/// Skips zero bytes. Returns true if the source ends after them.
fn is_over(source: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = source.fill_buf()?;
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        let is_next = zeros < bytes.len();
        let is_end = bytes.is_empty();
        source.consume(zeros);
        if is_next || is_end {
            return Ok(is_end);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    }

    fn unpacked(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        // A buffer shorter than a member and than the filling.
        Members::new(BufReader::with_capacity(7, bytes)).read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn zero_bytes_behind_a_member_are_no_member() {
        let padded = [packed("a\n"), vec![0; 1_024]].concat();
        assert_eq!(unpacked(&padded).expect("padded"), "a\n");
        let between = [padded, packed("b\n"), vec![0; 3]].concat();
        assert_eq!(unpacked(&between).expect("padded"), "a\nb\n");
        assert_eq!(unpacked(&packed("")).expect("empty"), "");
    }

    #[test]
    fn other_bytes_behind_a_member_are_an_error() {
        assert!(unpacked(&[packed("a\n"), b"\0\0garbage".to_vec()].concat()).is_err());
        let whole = packed("a longer text");
        assert!(unpacked(&whole[..whole.len() - 9]).is_err());
    }
}
