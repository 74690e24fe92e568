//! Failures that occur together: a site's power, a rack's switch.

use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1};

use super::error::FailureError;
use haggle_model::Span;
use haggle_model::random::{Stream, splitmix, stream};

/// Groups of resources that sometimes fail together.
///
/// When a resource fails on its own, every other resource of its group fails as well with
/// `probability`, after a delay drawn from Exp(`mean_delay`). The time to repair is drawn from that
/// other resource's own law. An induced failure induces no further failure. A resource that is down
/// already is not hit.
///
/// Only resources that follow a law take part; listed and recorded outages stay
/// as they are. Correlations of several kinds, such as site and rack, can act on the
/// same resources.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlation {
    /// Its name, such as `site` or `rack`; draws depend on it.
    pub name: String,
    /// The groups, as indices into the list of resources.
    pub groups: Vec<Vec<usize>>,
    /// Probability that a failure spreads to one other resource, 0 to 1.
    pub probability: f64,
    /// Mean delay until it spreads; zero = at the same instant.
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
                // A resource has one group in each correlation; the second would replace the first.
                if place.replace(group).is_some() {
                    return Err(FailureError::Twice { correlation: correlation(), resource });
                }
            }
        }
        Ok(groups)
    }

    /// Key of the draws of a resource, both as the one that fails on its own and as one that is hit.
    pub(super) fn key(&self, seed: u64, resource: &str) -> u64 {
        stream(seed, resource, &format!("{} failures", self.name)).next_u64()
    }

    /// Key of the draws of the `number`th own failure of a resource.
    pub(super) fn failure_key(key: u64, number: u64) -> u64 {
        splitmix(key.wrapping_add(number))
    }

    /// Decides if a failure spreads to a resource. Returns the delay and the stream from which its time
    /// to repair is drawn.
    ///
    /// Each pair of a failure and a resource has draws of its own. The fate of a resource therefore
    /// does not depend on the other members of the group. Most failures do not spread; one word decides
    /// that, and only the others need a stream. A failure that spreads at one probability also spreads,
    /// with the same delay, at every higher one.
    pub(super) fn hit(&self, failure_key: u64, key: u64) -> Option<(Span, Stream)> {
        let word = splitmix(failure_key ^ key);
        // The upper 53 bits: all of them fit the fraction of an f64.
        let point = (word >> 11) as f64 / (1_u64 << 53) as f64;
        if point >= self.probability {
            return None;
        }
        let mut draws = Stream::seed_from_u64(word);
        let means: f64 = Exp1.sample(&mut draws);
        Some((self.mean_delay.scaled(means), draws))
    }
}
