//! Ctrl-C, and the signal that ends a batch job: the first one asks everything to stop where
//! results are whole, the second ends the process at once. Where nothing is to be kept, the first
//! one does.
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

/// Whether a signal ends the process where it stands: nothing it has done is to be kept.
static AT_ONCE: Mutex<bool> = Mutex::new(false);

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
        let again = STOP.swap(true, Ordering::Relaxed);
        if !again {
            TERMINATED.store(signal == Signal::SIGTERM, Ordering::Relaxed);
        }
        // Held to the end of the process, so that nothing is completed meanwhile.
        let at_once = AT_ONCE.lock().unwrap_or_else(PoisonError::into_inner);
        if *at_once && !again {
            say("interrupted: nothing was written\n");
        }
        if *at_once || again {
            remove_hidden();
            std::process::exit(interrupted() as i32);
        }
        drop(at_once);
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

/// Has the first signal end the process, as long as nothing is to be kept: who waits for a pipe,
/// or reads a long log, looks at no flag.
pub(crate) fn end_at_once(at_once: bool) {
    *AT_ONCE.lock().unwrap_or_else(PoisonError::into_inner) = at_once;
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
