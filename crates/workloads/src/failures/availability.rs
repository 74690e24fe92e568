//! Measured availability.

use super::outage::Outage;
use haggle_model::Time;

/// The part of the time from zero to `horizon` in which a resource was up, from
/// 0 to 1: 1 - Σ (restore - fail) / horizon.
///
/// Only the part of an outage between zero and the horizon counts, so an open outage counts up to the
/// horizon. `outages` must be in order of time and may be endless. This is equation 4.1 of Chtepen 2011
/// with its sign corrected: as printed, the terms (fail - restore) would make failures raise
/// availability. For a horizon of zero, the availability is 1.
pub fn availability(outages: impl IntoIterator<Item = Outage>, horizon: Time) -> f64 {
    if horizon <= Time::ZERO {
        return 1.0;
    }
    let down: i64 = outages
        .into_iter()
        // The list may be endless, so it is read up to the horizon only.
        .take_while(|outage| outage.fail < horizon)
        .map(|outage| outage.restore.min(horizon) - outage.fail.max(Time::ZERO))
        // An outage that ended before time zero would count as negative.
        .map(|down| down.as_micros().max(0))
        .sum();
    (horizon.as_micros() - down) as f64 / horizon.as_micros() as f64
}

/// Availability of several resources: the mean of theirs (equation 4.2 of
/// Chtepen 2011); 1 without resources.
pub fn mean_availability(of_resources: &[f64]) -> f64 {
    if of_resources.is_empty() {
        return 1.0;
    }
    of_resources.iter().sum::<f64>() / of_resources.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gm_m7_availability_clips_open_outages_at_the_horizon() {
        let outage = |fail, restore| Outage { fail: Time::from_secs(fail), restore };
        let outages = [
            outage(100, Time::from_secs(160)),
            outage(300, Time::from_secs(330)),
            outage(950, Time::FOREVER),
        ];
        let found = availability(outages, Time::from_secs(1000));
        assert_eq!(found, 0.86);
        assert!(
            (mean_availability(&[found, availability([], Time::from_secs(1000))]) - 0.93).abs()
                < 1e-15
        );
    }

    #[test]
    fn what_is_before_zero_or_behind_the_horizon_does_not_count() {
        let outage = |fail, restore| Outage {
            fail: Time::from_secs(fail),
            restore: Time::from_secs(restore),
        };
        let outages = [outage(-5, 1), outage(9, 20), outage(30, 40)];
        assert_eq!(availability(outages, Time::from_secs(10)), 0.8);
        assert_eq!(availability(outages, Time::ZERO), 1.0);
        assert_eq!(mean_availability(&[]), 1.0);
    }
}
