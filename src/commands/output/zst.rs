//! Packing with zstd as data come: a frame a few MiB, one behind the other, as every reader takes them.

use std::io::{self, Write};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// What is packed at a time: far more than it looks back for what has come before.
const FRAME_BYTES: usize = 4 * 1024 * 1024;

/// Packs all that is written to it.
pub(super) struct Packer<W> {
    target: W,
    /// What will be the next frame.
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

    /// Packs the rest; the target has to be flushed.
    pub(super) fn finish(mut self) -> io::Result<W> {
        // No data are a frame, too: an empty file is none.
        if self.frames == 0 || !self.plain.is_empty() {
            self.pack()?;
        }
        Ok(self.target)
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(FRAME_BYTES - self.plain.len());
        self.plain.extend_from_slice(&bytes[..count]);
        if self.plain.len() == FRAME_BYTES {
            self.pack()?;
        }
        Ok(count)
    }

    /// Nothing: a frame that ends early packs worse.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
