//! Text in UTF-16, as some shells and spreadsheets write it.

use std::io::{self, Read};

/// Number of bytes decoded at a time.
const CHUNK_BYTES: usize = 16 * 1024;

/// Order of the bytes of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

/// The byte order of a text that begins with these bytes, if it is UTF-16. Such a text begins with a
/// mark, or with two ASCII letters, whose other bytes are zero. A text in UTF-8 has no zero byte.
pub(super) fn byte_order(start: &[u8]) -> Option<ByteOrder> {
    match start {
        [0xff, 0xfe, ..] | [1..=0x7f, 0, 1..=0x7f, 0] => Some(ByteOrder::Little),
        [0xfe, 0xff, ..] | [0, 1..=0x7f, 0, 1..=0x7f] => Some(ByteOrder::Big),
        _ => None,
    }
}

/// A text in UTF-16 as UTF-8; invalid units become U+FFFD.
pub(super) struct Utf16<R> {
    source: R,
    order: ByteOrder,
    /// Bytes that are read but not decoded: less than a letter.
    rest: Vec<u8>,
    text: Vec<u8>,
    taken: usize,
}

impl<R: Read> Utf16<R> {
    pub(super) fn new(source: R, order: ByteOrder) -> Utf16<R> {
        Utf16 { source, order, rest: Vec::new(), text: Vec::new(), taken: 0 }
    }

    /// Decodes some more; `false` at the end.
    fn decode(&mut self) -> io::Result<bool> {
        let mut bytes = std::mem::take(&mut self.rest);
        let read = self.source.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut bytes)?;
        let mut end = bytes.len() - bytes.len() % 2;
        // A letter of two units waits for the second one.
        if read > 0 && end >= 2 && (0xd800..0xdc00).contains(&self.unit(&bytes[end - 2..end])) {
            end -= 2;
        }
        if read == 0 && bytes.len() % 2 == 1 {
            let message = "a text in UTF-16 ends within a letter";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        let units = bytes[..end].chunks_exact(2).map(|unit| self.unit(unit));
        let letters = char::decode_utf16(units).map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER));
        self.text = letters.collect::<String>().into_bytes();
        self.taken = 0;
        self.rest = bytes.split_off(end);
        Ok(read > 0 || !self.text.is_empty())
    }

    fn unit(&self, bytes: &[u8]) -> u16 {
        let unit = [bytes[0], bytes[1]];
        match self.order {
            ByteOrder::Little => u16::from_le_bytes(unit),
            ByteOrder::Big => u16::from_be_bytes(unit),
        }
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A chunk that ends within a letter may decode to nothing, which is not yet the end.
        while self.taken == self.text.len() {
            if !self.decode()? {
                return Ok(0);
            }
        }
        let mut left = &self.text[self.taken..];
        let count = left.read(buffer)?;
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(text: &str, order: ByteOrder) -> Vec<u8> {
        let bytes = |unit: u16| match order {
            ByteOrder::Little => unit.to_le_bytes(),
            ByteOrder::Big => unit.to_be_bytes(),
        };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn both_orders_with_and_without_a_mark() {
        // Letters of one, two and three bytes, and of two units on every border of a chunk.
        let long = ";;é€".to_owned() + &"\u{1f600}".repeat(CHUNK_BYTES);
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for text in [long.clone(), format!(";{long}"), "\u{feff}1 2".to_owned()] {
                let bytes = encoded(&text, order);
                assert_eq!(byte_order(&bytes[..4]), Some(order));
                let mut found = String::new();
                let mut reader = Utf16::new(&bytes[..], order);
                reader.read_to_string(&mut found).expect("it is UTF-16");
                assert!(found == text);
            }
        }
        assert_eq!([b"1 2 ", b"\xef\xbb\xbf;", b"1\0\0\0"].map(|it| byte_order(it)), [None; 3]);
    }

    #[test]
    fn half_letters_are_an_error_or_marked() {
        let mut text = String::new();
        let error = Utf16::new(&b";\0 "[..], ByteOrder::Little).read_to_string(&mut text);
        assert!(error.is_err());
        let mut text = String::new();
        Utf16::new(&b"\x00\xd8"[..], ByteOrder::Little).read_to_string(&mut text).expect("marked");
        assert_eq!(text, "\u{fffd}");
    }
}
