//! Texts in a delta encoding. Their lengths are packed as differences, behind the number of texts. The library takes memory
//! for that number before it reads the lengths, so a damaged number would exhaust the memory.
//!
//! ```text
//!  levels │ list of lengths of prefixes │ list of lengths of suffixes │ texts
//!             (DELTA_BYTE_ARRAY only)
//!
//!  list:  values in a block │ parts of a block │ number of values │ first value │ block │ block ...
//!  block: least difference │ bits of a value in each part │ parts
//! ```

use parquet::basic::Encoding;
use parquet::column::page::Page;

/// Most texts of a page. Each takes some bytes of memory, even if it takes none in the file.
const TEXTS_MAX: u64 = 1 << 24;

/// Bits of a byte of a number that belong to its value; the highest says that another byte follows.
const VALUE_BITS: u32 = 7;

/// True unless the page has texts in a delta encoding, and more of them than its header says or than memory has room
/// for.
pub(super) fn fits(page: &Page, has_levels: bool) -> bool {
    let most = u64::from(page.num_values()).min(TEXTS_MAX);
    let list = |bytes| List::at(bytes).filter(|it| it.values <= most);
    let values = || values(page, has_levels);
    match page.encoding() {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => values().and_then(list).is_some(),
        Encoding::DELTA_BYTE_ARRAY => {
            values().and_then(list).and_then(List::behind).and_then(list).is_some()
        }
        _ => true,
    }
}

/// The values of a page, without the levels before them.
fn values(page: &Page, has_levels: bool) -> Option<&[u8]> {
    let bytes: &[u8] = page.buffer();
    let levels = match page {
        Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
            u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len)
        }
        Page::DataPage { def_level_encoding: Encoding::RLE, .. } if has_levels => {
            let (length, _) = bytes.split_first_chunk()?;
            length.len() as u64 + u64::from(u32::from_le_bytes(*length))
        }
        // Older than the delta encodings, and not packed by runs.
        Page::DataPage { .. } if has_levels => return None,
        _ => 0,
    };
    bytes.get(usize::try_from(levels).ok()?..)
}

/// A list of whole numbers.
struct List<'a> {
    block_values: u64,
    parts: u64,
    values: u64,
    blocks: &'a [u8],
}

impl<'a> List<'a> {
    /// The list at the beginning.
    fn at(bytes: &'a [u8]) -> Option<List<'a>> {
        let (block_values, bytes) = number(bytes)?;
        let (parts, bytes) = number(bytes)?;
        let (values, bytes) = number(bytes)?;
        let (_first, blocks) = number(bytes)?;
        Some(List { block_values, parts, values, blocks })
    }

    /// The bytes behind it; `None` if it is cut.
    fn behind(self) -> Option<&'a [u8]> {
        let part_values = self.block_values.checked_div(self.parts)?;
        let parts = usize::try_from(self.parts).ok()?;
        let mut bytes = self.blocks;
        // The first value is in no block.
        let mut left = self.values.saturating_sub(1);
        while left > 0 {
            let (_least, rest) = number(bytes)?;
            let (widths, rest) = rest.split_at_checked(parts)?;
            bytes = rest;
            for &bits in widths {
                // Parts without values are not there, whatever their width.
                if left == 0 {
                    break;
                }
                let length = u64::from(bits).checked_mul(part_values)? / u64::from(u8::BITS);
                bytes = bytes.get(usize::try_from(length).ok()?..)?;
                left = left.saturating_sub(part_values);
            }
        }
        Some(bytes)
    }
}

/// A number at the beginning, and the bytes behind it.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let shift = VALUE_BITS * u32::try_from(at).ok()?;
        value |= u64::from(byte & !(1 << VALUE_BITS)).checked_shl(shift)?;
        if byte >> VALUE_BITS == 0 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 128 values in four parts.
    fn list(values: &[u8], blocks: &[u8]) -> Vec<u8> {
        [&[0x80, 1, 4], values, &[0], blocks].concat()
    }

    fn fits_in(encoding: Encoding, bytes: &[u8], texts: u32) -> bool {
        let page = Page::DataPage {
            buf: bytes.to_vec().into(),
            num_values: texts,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let with_levels = Page::DataPage {
            buf: [&[2, 0, 0, 0, 9, 9], bytes].concat().into(),
            num_values: texts,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let fit = fits(&page, false);
        assert_eq!(fits(&with_levels, true), fit);
        fit
    }

    #[test]
    fn a_page_has_as_many_texts_as_it_says() {
        let lengths = Encoding::DELTA_LENGTH_BYTE_ARRAY;
        let none = list(&[1], &[]);
        assert!(fits_in(lengths, &none, 1) && !fits_in(lengths, &none, 0));
        let huge = list(&[0xff, 0xff, 0xff, 0xff, 7], &[0, 0, 0, 0, 0]);
        assert!(!fits_in(lengths, &huge, 9) && !fits_in(lengths, &huge, u32::MAX));
        assert!(!fits_in(lengths, &[0x80; 40], 9) && !fits_in(lengths, &[], 9));
        assert!(fits_in(Encoding::PLAIN, &huge, 9));
    }

    #[test]
    fn the_second_list_is_behind_the_blocks_of_the_first() {
        let both = Encoding::DELTA_BYTE_ARRAY;
        // 40 values: 32 of one bit in the first part, and 7 of two bits in the second. The others are not there.
        let blocks = [&[0, 1, 2, 77, 77][..], &[0; 4 + 8]].concat();
        let good = list(&[40], &blocks);
        assert!(fits_in(both, &[good.clone(), list(&[40], &[])].concat(), 40));
        assert!(!fits_in(both, &[good.clone(), list(&[41], &[])].concat(), 40));
        assert!(!fits_in(both, &good, 40));
        let cut = list(&[40], &blocks[..9]);
        assert!(!fits_in(both, &cut, 40));
        let no_parts = [&[0x80, 1, 0, 40, 0][..], &blocks].concat();
        assert!(!fits_in(both, &no_parts, 40));
    }
}
