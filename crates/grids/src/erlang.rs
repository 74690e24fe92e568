//! Erlang's B formula.

/// B(m, a): the share of arrivals that find all `places` taken when `offered` Erlang arrive, by the
/// recursion B(m) = a·B(m−1) / (m + a·B(m−1)), B(0) = 1.
///
/// ```
/// let blocked = haggle_grids::erlang::blocking(2, 1.0);
/// assert!((blocked - 0.2).abs() < 1e-12);
/// ```
pub fn blocking(places: u32, offered: f64) -> f64 {
    (1..=places).fold(1.0, |blocked, places| step(blocked, places, offered))
}

/// The smallest number of places at which no more than `target`, above 0, of the
/// arrivals are blocked, or `most` if that is fewer.
pub fn places_for(target: f64, offered: f64, most: u32) -> u32 {
    // At most one of m places is used per unit of load, for any arrivals: B(m, a) >= 1 - m/a.
    if offered * (1.0 - target) > f64::from(most) {
        return most;
    }
    let (mut places, mut blocked) = (0, 1.0);
    while blocked > target && places < most {
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
        assert_eq!(places_for(0.05, 3.0, 100), 7);
        assert_eq!(places_for(0.05, 0.0, 100), 1);
    }

    /// The work is bounded for any load.
    #[test]
    fn more_places_than_are_asked_about_are_not_counted() {
        for offered in [100.0, 3.6e9, 1e300, f64::INFINITY] {
            assert_eq!(places_for(0.5, offered, 20), 20, "{offered}");
        }
        let unbounded = places_for(0.05, 300.0, u32::MAX);
        for most in [unbounded - 1, unbounded, unbounded + 1] {
            assert_eq!(places_for(0.05, 300.0, most), unbounded.min(most));
        }
    }
}
