//! Costs of a run. Only this module reads the real time.

use std::time::Duration;

use haggle_results::Timing;

/// Measures from its start on.
pub struct Stopwatch {
    wall: Instant,
    cpu: f64,
}

impl Stopwatch {
    /// Starts.
    pub fn start() -> Stopwatch {
        Stopwatch { wall: Instant::now(), cpu: cpu_seconds() }
    }

    /// Cost since the start; processor time is that of this thread.
    pub fn timing(&self, messages: u64) -> Timing {
        Timing {
            wall_seconds: self.wall.elapsed().as_secs_f64(),
            cpu_seconds: cpu_seconds() - self.cpu,
            peak_memory_kb: peak_memory_kb(),
            messages_delivered: messages,
            snapshots: None,
        }
    }
}

/// An instant of real time.
#[derive(Debug)]
pub(super) struct Instant(std::time::Instant);

impl Instant {
    /// This instant.
    #[expect(clippy::disallowed_methods, reason = "decides when to save, never what")]
    pub(super) fn now() -> Instant {
        Instant(std::time::Instant::now())
    }

    /// The time since then.
    pub(super) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(target_os = "linux")]
fn usage(who: nix::sys::resource::UsageWho) -> Option<nix::sys::resource::Usage> {
    nix::sys::resource::getrusage(who).ok()
}

#[cfg(target_os = "linux")]
fn cpu_seconds() -> f64 {
    let seconds =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1_000_000.0;
    // Of this thread only, because other runs of a sweep may share the process.
    usage(nix::sys::resource::UsageWho::RUSAGE_THREAD)
        .map_or(0.0, |usage| seconds(usage.user_time()) + seconds(usage.system_time()))
}

#[cfg(target_os = "linux")]
fn peak_memory_kb() -> u64 {
    // Of the process: no system counts the memory of a thread.
    usage(nix::sys::resource::UsageWho::RUSAGE_SELF)
        .map_or(0, |usage| u64::try_from(usage.max_rss()).unwrap_or(0))
}

/// Other systems report zero in place of a different quantity.
#[cfg(not(target_os = "linux"))]
fn cpu_seconds() -> f64 {
    0.0
}

#[cfg(not(target_os = "linux"))]
fn peak_memory_kb() -> u64 {
    0
}
