//! Packs data with zstd as they come: frames of a few MiB in sequence, which every reader accepts.

use std::io::{self, Write};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// Size of a frame: far more than the window of the packer.
const FRAME_BYTES: usize = 4 * 1024 * 1024;

/// Packs all data that are written to it.
pub(super) struct Packer<W> {
    target: W,
    /// Data of the next frame.
    plain: Vec<u8>,
    frames: u64,
}

impl<W: Write> Packer<W> {
    pub(super) fn new(target: W) -> Packer<W> {
        Packer { target, plain: Vec::new(), frames: 0 }
    }

    fn pack(&mut self) -> io::Result<()> {
        let packed = compress_to_vec(self.plain.as_slice(), CompressionLevel::Fastest);
        self.target.write_all(&packed)?;
        self.frames += 1;
        self.plain.clear();
        Ok(())
    }

    /// Packs the rest; the caller must flush the target.
    pub(super) fn finish(mut self) -> io::Result<W> {
        // Empty data need a frame too, since an empty file is invalid.
        if self.frames == 0 || !self.plain.is_empty() {
            self.pack()?;
        }
        Ok(self.target)
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Never 0, because a full frame is packed at once; the caller writes the rest again.
        let count = bytes.len().min(FRAME_BYTES - self.plain.len());
        self.plain.extend_from_slice(&bytes[..count]);
        if self.plain.len() == FRAME_BYTES {
            self.pack()?;
        }
        Ok(count)
    }

    /// Does nothing, because shorter frames pack less well.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
