//! Work on several threads.

use std::thread;

/// Calls `work` on `threads` threads, one of which is this one, or on as many as the system gives.
pub fn on_threads(threads: usize, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        let one_more = || thread::Builder::new().spawn_scoped(scope, &work).is_ok();
        // Ends at the first thread that the system refuses.
        let _ = (1..threads).all(|_| one_more());
        work();
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn so_many_threads_work() {
        for (threads, calls) in [(0, 1), (1, 1), (3, 3)] {
            let called = AtomicUsize::new(0);
            on_threads(threads, || {
                called.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(called.into_inner(), calls);
        }
    }
}
