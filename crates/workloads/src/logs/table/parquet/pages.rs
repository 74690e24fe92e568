//! Pages of a column, unpacked and checked. The library of Parquet unpacks most of them. Pages in zstd are unpacked as
//! whole logs in zstd are, without a second library for it.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{Compression, CompressionCodec, Encoding};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use super::delta;
use crate::lines;

/// Reads a column of a group of rows.
pub(super) fn column_reader(
    file: &Arc<File>,
    group: &RowGroupMetaData,
    at: usize,
) -> Result<ColumnReader, ParquetError> {
    let chunk = group.column(at);
    check_place(chunk)?;
    let rows = usize::try_from(group.num_rows())?;
    let open = |chunk: &ColumnChunkMetaData, zstd: Option<u64>| {
        let pages = SerializedPageReader::new(Arc::clone(file), chunk, rows, None)?;
        let has_levels = chunk.column_descr().max_def_level() > 0;
        Ok::<_, ParquetError>(Pages { pages, zstd, has_levels, has_dictionary: false })
    };
    let pages = match chunk.compression() {
        Compression::ZSTD(_) => {
            // Called plain, the pages come as they are.
            let plain = CompressionCodec::UNCOMPRESSED;
            let chunk = chunk.clone().into_builder().set_compression_codec(plain).build()?;
            let most = u64::try_from(chunk.uncompressed_size())?;
            open(&chunk, Some(most))?
        }
        Compression::BROTLI(_) => return Err(unread("brotli")),
        Compression::LZO => return Err(unread("lzo")),
        _ => open(chunk, None)?,
    };
    Ok(get_column_reader(chunk.column_descr_ptr(), Box::new(pages)))
}

/// Refuses a place that no file has, which the library does not expect.
fn check_place(chunk: &ColumnChunkMetaData) -> Result<(), ParquetError> {
    let places = [
        chunk.dictionary_page_offset().unwrap_or(0),
        chunk.data_page_offset(),
        chunk.compressed_size(),
    ];
    match places.iter().all(|&it| it >= 0) {
        true => Ok(()),
        false => Err(ParquetError::General("a column is at a place that no file has".to_owned())),
    }
}

fn unread(packing: &str) -> ParquetError {
    ParquetError::General(format!("a column is packed with {packing}"))
}

/// True if values in this encoding are places in a dictionary.
fn refers(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY)
}

/// The pages of a column, in the order of the file.
struct Pages<P> {
    pages: P,
    /// If they are packed with zstd: most bytes of a page, which are those of the whole column.
    zstd: Option<u64>,
    /// True if levels stand before the values of a page.
    has_levels: bool,
    has_dictionary: bool,
}

impl<P: PageReader> Pages<P> {
    /// Refuses a page that the library does not expect: it would panic, or take memory for values that are not there.
    fn check(&mut self, page: &Page) -> Result<(), ParquetError> {
        let problem = match page {
            // A value takes a byte at least.
            Page::DictionaryPage { buf, num_values, .. } if *num_values as usize > buf.len() => {
                "a dictionary has fewer values than it says"
            }
            Page::DictionaryPage { .. } => {
                self.has_dictionary = true;
                return Ok(());
            }
            _ if refers(page.encoding()) && !self.has_dictionary => "a column has no dictionary",
            _ if !delta::fits(page, self.has_levels) => {
                "the texts of a page are cut, or more than it says"
            }
            _ => return Ok(()),
        };
        Err(ParquetError::General(problem.to_owned()))
    }

    fn unpacked(page: Page, most: u64) -> Result<Page, ParquetError> {
        // Levels stand before the values, and are not packed.
        let plain_bytes = match &page {
            Page::DataPageV2 { is_compressed: false, .. } => return Ok(page),
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len)
            }
            _ => 0,
        };
        let plain_bytes = usize::try_from(plain_bytes)?;
        let (levels, packed) = page.buffer().split_at_checked(plain_bytes).ok_or_else(|| {
            ParquetError::General("the levels of a page are longer than the page".to_owned())
        })?;
        let mut bytes = levels.to_vec();
        lines::append_zstd(packed, most, &mut bytes)
            .map_err(|error| ParquetError::General(error.to_string()))?;
        let unpacked = bytes.into();
        Ok(match page {
            Page::DataPage {
                num_values,
                encoding,
                def_level_encoding,
                rep_level_encoding,
                statistics,
                ..
            } => Page::DataPage {
                buf: unpacked,
                num_values,
                encoding,
                def_level_encoding,
                rep_level_encoding,
                statistics,
            },
            Page::DataPageV2 {
                num_values,
                encoding,
                num_nulls,
                num_rows,
                def_levels_byte_len,
                rep_levels_byte_len,
                statistics,
                ..
            } => Page::DataPageV2 {
                buf: unpacked,
                num_values,
                encoding,
                num_nulls,
                num_rows,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed: false,
                statistics,
            },
            Page::DictionaryPage { num_values, encoding, is_sorted, .. } => {
                Page::DictionaryPage { buf: unpacked, num_values, encoding, is_sorted }
            }
        })
    }
}

impl<P: PageReader> Iterator for Pages<P> {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for Pages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let Some(page) = self.pages.get_next_page()? else { return Ok(None) };
        let page = match self.zstd {
            Some(most) => Self::unpacked(page, most)?,
            None => page,
        };
        self.check(&page)?;
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool, ParquetError> {
        self.pages.at_record_boundary()
    }
}
