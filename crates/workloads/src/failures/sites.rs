//! Failures that differ from site to site (after Chtepen 2011, section 4.3.4): Weibull times to failure
//! with a decreasing hazard, lognormal times to repair.

use super::law::{FailureLaw, FailureStart};
use haggle_model::Span;
use haggle_model::law::Law;

/// Shape of the times to failure. Below 1, a recently restored resource is more likely to fail than one
/// that has been up for long.
const SHAPE: f64 = 0.75;

/// Standard deviation of the logarithm of the times to repair.
const SIGMA: f64 = 1.2;

/// Reliability of the resources of one site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteReliability {
    /// Mean time to failure, hours.
    pub mtbf_hours: f64,
    /// Mean time to repair, hours.
    pub mttr_hours: f64,
}

/// Four sites from "fails every few hours, back in half an hour" to "fails every
/// few weeks, back after more than a day". Resources spread evenly over them are
/// up for 90 % of the time.
pub const DEFAULT_SITES: [SiteReliability; 4] = [
    SiteReliability { mtbf_hours: 3.0, mttr_hours: 0.4 },
    SiteReliability { mtbf_hours: 6.0, mttr_hours: 0.75 },
    SiteReliability { mtbf_hours: 36.0, mttr_hours: 4.0 },
    SiteReliability { mtbf_hours: 480.0, mttr_hours: 36.85 },
];

impl SiteReliability {
    /// Weibull times to failure of shape 0.75 and lognormal times to repair of
    /// sigma 1.2 with the site's means, stationary from time zero on.
    pub fn law(self) -> FailureLaw {
        FailureLaw {
            up: Law::weibull_with_mean(SHAPE, self.mtbf_hours),
            down: Law::lognormal_with_mean(self.mttr_hours, SIGMA),
            unit: Span::from_secs(3600),
            up_factor: 1.0,
            start: FailureStart::Stationary,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_sites_are_up_for_nine_tenths_of_the_time() {
        let found = DEFAULT_SITES.map(|site| site.law().availability());
        for (found, expected) in found.into_iter().zip([0.882, 0.889, 0.900, 0.929]) {
            assert!((found - expected).abs() < 5e-4, "{found} is not {expected}");
        }
        assert!((found.iter().sum::<f64>() / 4.0 - 0.9).abs() < 5e-5);
    }

    #[test]
    fn the_parameters_follow_from_the_means() {
        let law = DEFAULT_SITES[0].law();
        let Law::Weibull { scale, .. } = law.up else { panic!("{law:?}") };
        assert!((scale / 3.0 - 0.83988).abs() < 1e-5, "{scale}");
        let Law::Lognormal { mu, .. } = law.down else { panic!("{law:?}") };
        assert!((mu - (0.4_f64.ln() - 0.72)).abs() < 1e-12, "{mu}");
    }
}
