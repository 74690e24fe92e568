//! Erlang's B formula.

/// B(m, a): the share of arrivals that find all of `places` taken when `offered`
/// Erlang arrive, by the recursion B(m) = a·B(m−1) / (m + a·B(m−1)), B(0) = 1.
///
/// ```
/// let blocked = haggle_scheduling::grid::erlang::blocking(2, 1.0);
/// assert!((blocked - 0.2).abs() < 1e-12);
/// ```
pub fn blocking(places: u32, offered: f64) -> f64 {
    (1..=places).fold(1.0, |blocked, places| step(blocked, places, offered))
}

/// The smallest number of places at which no more than `target`, above 0, of the
/// arrivals are blocked.
pub fn places_for(target: f64, offered: f64) -> u32 {
    let (mut places, mut blocked) = (0, 1.0);
    while blocked > target {
        places += 1;
        blocked = step(blocked, places, offered);
    }
    places
}

fn step(blocked: f64, places: u32, offered: f64) -> f64 {
    offered * blocked / (f64::from(places) + offered * blocked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gm_m8_erlang_b() {
        let table = [
            (2, 1.0, 0.2),
            (3, 1.0, 0.0625),
            (5, 3.0, 0.110_054),
            (6, 3.0, 0.052_157),
            (7, 3.0, 0.021_864),
            (10, 5.0, 0.018_385),
        ];
        for (places, offered, expected) in table {
            assert!((blocking(places, offered) - expected).abs() < 1e-6, "B({places}, {offered})");
        }
        assert_eq!(places_for(0.05, 3.0), 7);
        assert_eq!(places_for(0.05, 0.0), 1);
    }
}
