//! Ctrl-C, and the signals that end a batch job or come with the end of a terminal: the first one asks everything to stop where
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

use haggle_model::lines;
use nix::sys::signal::{SigSet, Signal};

use crate::exit::Exit;
use crate::report::say;

/// Raised once somebody wants the command to stop.
pub(crate) static STOP: AtomicBool = AtomicBool::new(false);

/// How a command ends that was asked to stop.
static ENDS: Mutex<Exit> = Mutex::new(Exit::Interrupted);

/// Whether a signal ends the process where it stands: nothing it has done is to be kept.
static AT_ONCE: Mutex<bool> = Mutex::new(false);

/// Hidden files that are of no use to anybody unless the command comes to its end.
static HIDDEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Makes these signals raise [`STOP`]; to be called before there is a second thread.
pub(crate) fn listen() {
    let mut signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
    if !is_ignored(Signal::SIGHUP) {
        signals.add(Signal::SIGHUP);
    }
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

/// Whether the process was started with a signal ignored, as `nohup` does; that is left so. Where the system does not
/// say, it is not known, and counts as ignored.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut masks = status.lines().filter_map(|line| line.strip_prefix("SigIgn:"));
    let mask = masks.next().and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask & (1 << (signal as u32 - 1)) != 0)
}

fn wait(signals: &SigSet) {
    while let Ok(signal) = signals.wait() {
        let again = STOP.load(Ordering::Relaxed);
        if !again {
            *ENDS.lock().unwrap_or_else(PoisonError::into_inner) = match signal {
                Signal::SIGTERM => Exit::Terminated,
                Signal::SIGHUP => Exit::HungUp,
                _ => Exit::Interrupted,
            };
        }
        STOP.store(true, Ordering::Release);
        // A run that waits for a quiet pipe looks at no flag.
        lines::give_up();
        // Held to the end of the process, so that nothing is completed meanwhile.
        let at_once = AT_ONCE.lock().unwrap_or_else(PoisonError::into_inner);
        if *at_once || again {
            end_now(again);
        }
        drop(at_once);
        say(match signal {
            Signal::SIGTERM => "stopping because of SIGTERM\n",
            Signal::SIGHUP => "stopping because the terminal is closed (SIGHUP)\n",
            _ => "\nstopping; press Ctrl-C again to stop at once\n",
        });
    }
}

/// How a command ends that was asked to stop.
pub(crate) fn interrupted() -> Exit {
    *ENDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has the first signal end the process, as long as nothing is to be kept: who waits for a pipe,
/// or reads a long log, looks at no flag.
pub(crate) fn end_at_once(at_once: bool) {
    let mut now = AT_ONCE.lock().unwrap_or_else(PoisonError::into_inner);
    *now = at_once;
    // The signal may have come before.
    if at_once && STOP.load(Ordering::Acquire) {
        end_now(false);
    }
}

/// Ends the process; `again` if it was told before that it is being stopped.
fn end_now(again: bool) -> ! {
    if !again {
        say("interrupted: no results were written\n");
    }
    remove_hidden();
    std::process::exit(interrupted() as i32)
}

/// Does what may wait for a pipe while the first signal ends the process.
pub(crate) fn while_waiting<T>(work: impl FnOnce() -> T) -> T {
    end_at_once(true);
    let done = work();
    end_at_once(false);
    done
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
