//! Measurement of throughput until it is steady (section 5.2).

/// Default numbers of iterations after which the throughput is measured.
pub const PROFILED_ITERATIONS: [u32; 9] = [1, 3, 5, 10, 50, 100, 150, 200, 250];

/// A measured throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// Iterations a second.
    pub throughput: f64,
    /// The number of iterations at which it was steady, or the last one that was measured.
    pub iterations: u32,
    /// Duration of the measurement in seconds.
    pub seconds: f64,
}

/// Runs one process up to each of these numbers of iterations. It stops when the throughput changes by
/// at most `tolerance`, relative to its value before. `elapsed` returns the seconds that a number of
/// iterations takes. `None` if there is nothing to measure.
pub fn profile(
    iterations: &[u32],
    tolerance: f64,
    mut elapsed: impl FnMut(u32) -> f64,
) -> Option<Profile> {
    let mut last: Option<Profile> = None;
    for &iterations in iterations {
        let seconds = elapsed(iterations);
        let throughput = f64::from(iterations) / seconds;
        let change = last.map(|last| (throughput - last.throughput).abs() / last.throughput);
        last = Some(Profile { throughput, iterations, seconds });
        if change.is_some_and(|change| change <= tolerance) {
            break;
        }
    }
    last
}
