//! Ctrl-C, and the signal that ends a batch job: the first one asks everything to stop where
//! results are whole, the second ends the process at once.
//!
//! All threads block these signals, and one thread waits for them: a handler could do hardly
//! anything. Nobody waits for the signal of a file that grows too large: blocked, it
//! is an error like any other of whoever writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use nix::sys::signal::{SigSet, Signal};

use crate::exit::Exit;
use crate::report::say;

/// Raised once somebody wants the command to stop.
pub(crate) static STOP: AtomicBool = AtomicBool::new(false);

/// Whether that was the signal that ends a batch job.
static TERMINATED: AtomicBool = AtomicBool::new(false);

/// Hidden files that are of no use to anybody unless the command comes to its end.
static HIDDEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Makes these signals raise [`STOP`]; to be called before there is a second thread.
pub(crate) fn listen() {
    let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
    let mut blocked = signals;
    blocked.add(Signal::SIGXFSZ);
    // Without all this the signals still end the process, only less politely.
    if blocked.thread_block().is_ok() {
        let waiting = thread::Builder::new().name("signals".to_owned());
        if waiting.spawn(move || wait(&signals)).is_err() {
            let _ = signals.thread_unblock();
        }
    }
}

fn wait(signals: &SigSet) {
    while let Ok(signal) = signals.wait() {
        if STOP.swap(true, Ordering::Relaxed) {
            remove_hidden();
            std::process::exit(interrupted() as i32);
        }
        TERMINATED.store(signal == Signal::SIGTERM, Ordering::Relaxed);
        say(match signal {
            Signal::SIGTERM => "stopping, as told by SIGTERM\n",
            _ => "\nstopping; press Ctrl-C again to stop at once\n",
        });
    }
}

/// How a command ends that was asked to stop.
pub(crate) fn interrupted() -> Exit {
    if TERMINATED.load(Ordering::Relaxed) { Exit::Terminated } else { Exit::Interrupted }
}

/// Has a hidden file removed if the command is stopped at once.
pub(crate) fn hide(path: &Path) {
    HIDDEN.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
}

fn remove_hidden() {
    for path in HIDDEN.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // Most of them are there no more.
        let _ = fs::remove_file(path);
    }
}
