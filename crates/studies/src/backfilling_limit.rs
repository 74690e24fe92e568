//! Upper bound of the number of jobs that could be backfilled into time wasted by estimates.
//!
//! A job that runs for T and was planned for E leaves a *fragment* of E - T. If arrival times and widths
//! are ignored, each fragment can take one request that is not longer. The largest number of jobs with a
//! fragment is an upper bound for backfilling. It grows with overestimation and levels off, because
//! requests grow along (Netto 2009, section 7.4.1, Figures 7.10 to 7.12).

use haggle_model::Span;

/// Requests and fragments of a workload, both in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragments {
    /// Planned times, to the nearest microsecond, halves up.
    pub requests: Vec<Span>,
    /// Planned less true time, to the nearest microsecond, halves up.
    pub fragments: Vec<Span>,
    /// Number of jobs that can get a fragment each: the jobs with the shortest requests.
    pub fitting: usize,
}

/// Number of jobs that fit into fragments, one each, if all users overestimate by the same `overestimation`
/// = (a, b) = a/b of the run time.
///
/// An overestimation by x % is (x, 100); estimates that are accurate to a %
/// are run time / a, that is (100 - a, a). Exact, in O(n log n).
///
/// ```
/// use haggle_model::Span;
/// use haggle_studies::backfilling_limit::fit;
/// let run_times = [10, 20, 40, 80, 160].map(Span::from_secs);
/// assert_eq!(fit(&run_times, (0, 100)), 0);
/// assert_eq!(fit(&run_times, (50, 100)), 3);
/// ```
///
/// # Panics
/// If b is 0.
pub fn fit(run_times: &[Span], overestimation: (u32, u32)) -> usize {
    let (a, b) = (i128::from(overestimation.0), i128::from(overestimation.1));
    assert!(b > 0, "an overestimation is a ratio");
    // Requests and fragments are proportional to run times, so one sorted list serves for both.
    let sorted = sorted(run_times);
    let mut fitting = 0;
    for &fragment in &sorted {
        // T_i a/b >= T_j (1 + a/b), times b.
        if i128::from(fragment) * a >= i128::from(sorted[fitting]) * (a + b) {
            fitting += 1;
        }
    }
    fitting
}

/// The lists behind [`fit`], for pictures.
///
/// # Panics
/// If b is 0.
pub fn fragments(run_times: &[Span], overestimation: (u32, u32)) -> Fragments {
    let (a, b) = (i128::from(overestimation.0), i128::from(overestimation.1));
    let fitting = fit(run_times, overestimation);
    let times = |numerator: i128| {
        let scaled = |time: i64| (2 * i128::from(time) * numerator + b).div_euclid(2 * b);
        let sorted = sorted(run_times);
        sorted.into_iter().map(|time| Span::from_micros(scaled(time) as i64)).collect()
    };
    Fragments { requests: times(a + b), fragments: times(a), fitting }
}

fn sorted(run_times: &[Span]) -> Vec<i64> {
    let mut micros: Vec<i64> = run_times.iter().map(|time| time.as_micros()).collect();
    micros.sort_unstable();
    micros
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn percent(seconds: &[i64], x: u32) -> usize {
        let run_times: Vec<Span> = seconds.iter().map(|&s| Span::from_secs(s)).collect();
        fit(&run_times, (x, 100))
    }

    /// CX-8.
    #[test]
    fn more_jobs_fit_the_more_is_wasted_up_to_a_limit() {
        let doubling = [10, 20, 40, 80, 160];
        let found = [0, 10, 15, 20, 25, 50, 100, 150, 200, 300, 900].map(|x| percent(&doubling, x));
        assert_eq!(found, [0, 1, 2, 2, 2, 3, 4, 4, 4, 4, 4]);
        let others = [60, 100, 150, 240, 300, 600, 900, 3600];
        let found = [0, 20, 50, 100, 150, 200, 300, 400, 1000].map(|x| percent(&others, x));
        assert_eq!(found, [0, 3, 5, 6, 6, 6, 6, 7, 7]);
    }

    #[test]
    fn the_lists_are_sorted_and_rounded() {
        let run_times = [20, 10].map(Span::from_micros);
        let found = fragments(&run_times, (15, 85));
        assert_eq!(found.requests, [12, 24].map(Span::from_micros));
        assert_eq!(found.fragments, [2, 4].map(Span::from_micros));
        assert_eq!(found.fitting, 0);
        assert_eq!(fragments(&[], (1, 1)).fitting, 0);
    }

    proptest! {
        /// J9.
        #[test]
        fn the_limit_never_falls(
            run_times in prop::collection::vec(1..100_000_i64, 0..60),
            x in 0..400_u32,
            more in 0..400_u32,
        ) {
            prop_assert!(percent(&run_times, x) <= percent(&run_times, x + more));
        }

        /// The k longest fragments take the k shortest requests in order, for the largest possible k.
        #[test]
        fn no_other_assignment_takes_more(
            mut run_times in prop::collection::vec(1..500_i64, 0..30),
            x in 0..400_u32,
        ) {
            run_times.sort_unstable();
            let x64 = i64::from(x);
            let works = |k: &usize| {
                let fragments = &run_times[run_times.len() - k..];
                run_times.iter().zip(fragments).all(|(r, f)| f * x64 >= r * (100 + x64))
            };
            let most = (0..=run_times.len()).rev().find(works);
            prop_assert_eq!(Some(percent(&run_times, x)), most);
        }
    }
}
