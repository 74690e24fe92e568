//! Bytes of a pipe that may stay silent for ever. A separate thread reads them, so that the thread that
//! waits for them can give up.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

const CHUNK_BYTES: usize = 64 * 1024;

/// Number of chunks read ahead.
const CHUNKS_AHEAD: usize = 2;

/// Time between two checks of [`GIVE_UP`].
const LOOK: Duration = Duration::from_millis(50);

static GIVE_UP: AtomicBool = AtomicBool::new(false);
static GAVE_UP: AtomicBool = AtomicBool::new(false);

/// Makes all readers fail that wait for a pipe, now and later. A program calls it when it must stop.
pub fn give_up() {
    // The flag guards no other data, so no stronger order is needed.
    GIVE_UP.store(true, Ordering::Relaxed);
}

/// True if a reader has failed because of [`give_up`].
pub fn gave_up() -> bool {
    GAVE_UP.load(Ordering::Relaxed)
}

/// A source that is read by another thread.
pub(super) struct Piped {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    taken: usize,
}

impl Piped {
    /// Reads the source that `open` returns. The call of `open` may block.
    pub(super) fn new<R: Read>(
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> io::Result<Piped> {
        let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
        thread::Builder::new().name("input".to_owned()).spawn(move || {
            if let Err(error) = open().and_then(|source| pass_on(source, &sender)) {
                // The receiver may be gone; the error then has no reader.
                let _ = sender.send(Err(error));
            }
        })?;
        Ok(Piped { chunks, chunk: Vec::new(), taken: 0 })
    }

    /// The next chunk; empty at the end.
    fn next(&self) -> io::Result<Vec<u8>> {
        loop {
            match self.chunks.recv_timeout(LOOK) {
                Ok(chunk) => return chunk,
                // The sender is dropped only after the end of the source or its error.
                Err(RecvTimeoutError::Disconnected) => return Ok(Vec::new()),
                Err(RecvTimeoutError::Timeout) => {
                    if GIVE_UP.load(Ordering::Relaxed) {
                        GAVE_UP.store(true, Ordering::Relaxed);
                        return Err(io::Error::other("stopped while waiting for a pipe"));
                    }
                }
            }
        }
    }
}

/// Sends all bytes of a source, until its end or until the receiver is gone.
fn pass_on(mut source: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) -> io::Result<()> {
    loop {
        let mut chunk = vec![0; CHUNK_BYTES];
        match source.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(count) => chunk.truncate(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        if sender.send(Ok(chunk)).is_err() {
            return Ok(());
        }
    }
}

impl Read for Piped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.chunk.len() {
            self.chunk = self.next()?;
            self.taken = 0;
        }
        let mut left = &self.chunk[self.taken..];
        let count = left.read(buffer)?;
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_come_in_order_and_errors_behind_them() {
        let text: Vec<u8> = (0..5 * CHUNK_BYTES).map(|at| at as u8).collect();
        let mut found = Vec::new();
        let source = text.clone();
        let mut piped = Piped::new(|| Ok(io::Cursor::new(source))).expect("a thread");
        piped.read_to_end(&mut found).expect("no error");
        assert!(found == text);
        let mut piped =
            Piped::new(|| Err::<io::Empty, _>(io::Error::other("none"))).expect("a thread");
        assert_eq!(piped.read_to_end(&mut found).expect_err("none").to_string(), "none");
    }
}
