//! Failures that come together: a site's power, a rack's switch.

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use super::error::FailureError;
use crate::Span;
use crate::random::Stream;

/// Resources in groups that fail together now and then.
///
/// When a resource fails on its own, every other resource of its group fails as
/// well with `probability`, after a delay drawn from Exp(`mean_delay`); the time to
/// repair is drawn from that other resource's own law. What is induced induces
/// nothing further. A resource that is down already is not hit.
///
/// Only resources that follow a law take part; listed and recorded outages stay
/// as they are. Correlations of several kinds, such as site and rack, can act on the
/// same resources.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlation {
    /// Its name, such as `site` or `rack`; draws depend on it.
    pub name: String,
    /// The groups, as places in the list of resources.
    pub groups: Vec<Vec<usize>>,
    /// Probability that a failure spreads to one other resource, 0 to 1.
    pub probability: f64,
    /// Mean time until it does; zero = at the same instant.
    pub mean_delay: Span,
}

impl Correlation {
    /// The group of each of `resources` resources, if it is in one.
    pub(super) fn group_of_each(
        &self,
        resources: usize,
    ) -> Result<Vec<Option<usize>>, FailureError> {
        let correlation = || self.name.clone();
        let Correlation { probability, mean_delay: delay, .. } = *self;
        if !(0.0..=1.0).contains(&probability) {
            return Err(FailureError::Probability { correlation: correlation(), probability });
        }
        if delay < Span::ZERO {
            return Err(FailureError::Delay { correlation: correlation(), delay });
        }
        let mut groups = vec![None; resources];
        for (group, members) in self.groups.iter().enumerate() {
            for &resource in members {
                let place = groups.get_mut(resource).ok_or_else(|| FailureError::NoResource {
                    correlation: correlation(),
                    resource,
                    resources,
                })?;
                if place.replace(group).is_some() {
                    return Err(FailureError::Twice { correlation: correlation(), resource });
                }
            }
        }
        Ok(groups)
    }

    /// Whether a failure spreads, and after what delay.
    ///
    /// Probability first, so that a failure that spreads at one probability also
    /// does, with the same delay, at every higher one.
    pub(super) fn delay(&self, draws: &mut Stream) -> Option<Span> {
        if draws.random::<f64>() >= self.probability {
            return None;
        }
        let means: f64 = Exp1.sample(draws);
        Some(self.mean_delay.scaled(means))
    }
}
