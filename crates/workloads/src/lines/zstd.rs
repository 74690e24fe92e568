//! Data packed with zstd, frame by frame.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Number of bytes decoded at a time.
const BLOCK_BYTES: usize = 128 * 1024;

/// The plain text of all frames in a source.
///
/// Errors are of kind [`io::ErrorKind::InvalidData`]: data that are no frame, are truncated, or do not
/// match the checksum after the frame.
pub(super) struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    /// True inside a frame.
    inside: bool,
}

impl<R: BufRead> Frames<R> {
    pub(super) fn new(source: R) -> Frames<R> {
        Frames { source, decoder: FrameDecoder::new(), inside: false }
    }

    /// Begins the next frame; `false` if there is none.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                // Skippable frames are for other programs.
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = (&mut self.source).take(length.into());
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(error) => return Err(invalid(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.inside {
                let count = self.decoder.read(buffer)?;
                // A read into an empty buffer returns 0 anywhere, not only at the end of a frame.
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
                if !self.decoder.is_finished() {
                    let some = BlockDecodingStrategy::UptoBytes(BLOCK_BYTES);
                    self.decoder.decode_blocks(&mut self.source, some).map_err(invalid)?;
                    continue;
                }
                let written = self.decoder.get_checksum_from_data();
                // The checksum is optional in the format.
                if written.is_some() && written != self.decoder.get_calculated_checksum() {
                    return Err(invalid("its checksum is another"));
                }
            }
            self.inside = self.begin()?;
            if !self.inside {
                return Ok(0);
            }
        }
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
