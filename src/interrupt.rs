//! Ctrl-C: the first one asks everything to stop where results are whole, the
//! second ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;
use crate::report::say;

/// Raised once somebody wants the command to stop.
pub(crate) static STOP: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C, and the signal that ends a batch job, raise [`STOP`].
pub(crate) fn listen() {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(Exit::Interrupted as i32);
        }
        say("\nstopping; press Ctrl-C again to stop at once\n");
    };
    // Without a handler Ctrl-C still ends the process, only less politely.
    let _ = ctrlc::set_handler(handler);
}
