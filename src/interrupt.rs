//! Ctrl-C, and the signals that end a batch job or come when a terminal closes. The first signal
//! asks all work to stop at a point with complete results, the second ends the process at once. A
//! command without results ends at the first one.
//!
//! All threads block these signals, and one thread waits for them, since a signal handler may do
//! very little. The signal for a file that grows too large is blocked as well, and nothing waits
//! for it: it then appears as an ordinary write error.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use haggle_workloads::lines;
use nix::sys::signal::{SigSet, Signal};

use crate::exit::Exit;
use crate::report::say;

/// Raised when the command must stop.
pub(crate) static STOP: AtomicBool = AtomicBool::new(false);

/// Exit code of a command that was asked to stop.
static ENDS: Mutex<Exit> = Mutex::new(Exit::Interrupted);

/// True if a signal ends the process at once, because it has no results to keep.
static AT_ONCE: Mutex<bool> = Mutex::new(false);

/// Hidden files that are useless unless the command completes.
static HIDDEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Makes these signals raise [`STOP`]; must be called before a second thread exists.
pub(crate) fn listen() {
    let mut signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
    // A command under `nohup` must outlive its terminal.
    if !is_ignored(Signal::SIGHUP) {
        signals.add(Signal::SIGHUP);
    }
    let mut blocked = signals;
    // Blocked, but not waited for: the write then fails with an ordinary error.
    blocked.add(Signal::SIGXFSZ);
    // Without this thread, the signals still end the process, but without a message.
    if blocked.thread_block().is_ok() {
        let waiting = thread::Builder::new().name("signals".to_owned());
        if waiting.spawn(move || wait(&signals)).is_err() {
            let _ = signals.thread_unblock();
        }
    }
}

/// True if the process was started with a signal ignored, as by `nohup`; it then stays ignored. If
/// the system does not report it, the signal counts as ignored.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut masks = status.lines().filter_map(|line| line.strip_prefix("SigIgn:"));
    let mask = masks.next().and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask & (1 << (signal as u32 - 1)) != 0)
}

fn wait(signals: &SigSet) {
    while let Ok(signal) = signals.wait() {
        let again = STOP.load(Ordering::Relaxed);
        // The first signal decides the exit code, even if an impatient user sends another one.
        if !again {
            *ENDS.lock().unwrap_or_else(PoisonError::into_inner) = match signal {
                Signal::SIGTERM => Exit::Terminated,
                Signal::SIGHUP => Exit::HungUp,
                _ => Exit::Interrupted,
            };
        }
        // After the exit code, which readers of the flag may request at once.
        STOP.store(true, Ordering::Release);
        // A run that waits for a quiet pipe does not examine the flag.
        lines::give_up();
        // The lock is held to the end of the process, so that no result is completed meanwhile.
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

/// Exit code of a command that was asked to stop.
pub(crate) fn interrupted() -> Exit {
    *ENDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the first signal end the process, as long as it has no results to keep. A command that
/// waits for a pipe, or reads a long log, does not examine the flag.
pub(crate) fn end_at_once(at_once: bool) {
    let mut now = AT_ONCE.lock().unwrap_or_else(PoisonError::into_inner);
    *now = at_once;
    // The signal may have come before this call.
    if at_once && STOP.load(Ordering::Acquire) {
        end_now(false);
    }
}

/// Ends the process; `again` if a message about the stop was printed before.
fn end_now(again: bool) -> ! {
    if !again {
        say("interrupted: no results were written\n");
    }
    remove_hidden();
    std::process::exit(interrupted() as i32)
}

/// Calls `work`, which may wait for a pipe; meanwhile the first signal ends the process.
pub(crate) fn while_waiting<T>(work: impl FnOnce() -> T) -> T {
    end_at_once(true);
    let done = work();
    end_at_once(false);
    done
}

/// Has a hidden file removed if the command ends at once.
pub(crate) fn hide(path: &Path) {
    HIDDEN.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
}

fn remove_hidden() {
    for path in HIDDEN.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // Most of them no longer exist.
        let _ = fs::remove_file(path);
    }
}
