//! The outages of all resources of a platform, in order of time.
//!
//! The own failures of a resource form an independent process; induced failures are laid over it. The
//! own failures are therefore the same with and without a correlation, and two runs can be compared.
//! One rule governs the combination: a failure of a resource that is down changes nothing. An outage
//! that has begun is neither shortened nor extended, and every time to repair is one draw. An own
//! failure that changes nothing still spreads, because its cause affects the other resources all the
//! same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use super::correlation::Correlation;
use super::error::FailureError;
use super::law::FailureLaw;
use super::outage::{Outage, OutageList};
use super::renewal::{Renewal, UpAndDown};
use haggle_model::Time;

/// Resources that fail on a platform, and the causes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    /// The run's master seed.
    pub seed: u64,
    /// All resources. Groups and results refer to them by index.
    pub resources: Vec<Resource>,
    /// Correlations between failures.
    pub correlations: Vec<Correlation>,
}

/// A resource that may fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Its name; draws depend on it.
    pub name: String,
    /// Cause of its failures.
    pub cause: Cause,
}

/// Cause of the failures of a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cause {
    /// It does not fail.
    #[default]
    None,
    /// Random outages that follow a law.
    Law(FailureLaw),
    /// Listed or recorded outages.
    List(OutageList),
}

impl Failures {
    /// The outages of all resources, each with the index of its resource, in order of failure.
    ///
    /// Memory grows with the number of resources. The cost of an outage grows with the logarithm of
    /// that number. When a member of a group fails, a correlation draws once for every other member.
    pub fn outages(&self) -> Result<PlatformOutages, FailureError> {
        self.watched(0..self.resources.len())
    }

    /// The outages of the resource at index `place` alone, equal to its outages among all; none if
    /// there is no such resource.
    ///
    /// Failures that may spread to it are followed as well. Under a correlation this therefore costs as
    /// much as the failures of its whole group.
    pub fn outages_of(&self, place: usize) -> Result<ResourceOutages, FailureError> {
        let end = self.resources.len().min(place.saturating_add(1));
        self.watched(place.min(end)..end).map(ResourceOutages)
    }

    fn watched(&self, watched: Range<usize>) -> Result<PlatformOutages, FailureError> {
        let mut members: Vec<Member> = self.resources.iter().map(|_| Member::new()).collect();
        let mut memberships = Vec::with_capacity(self.correlations.len());
        // Resources that can affect the outages of the watched ones: these themselves, and every
        // resource in a group with a watched one that follows a law.
        let mut matters = vec![false; members.len()];
        matters[watched.clone()].fill(true);
        let mut correlations = Vec::with_capacity(self.correlations.len());
        for correlation in &self.correlations {
            let groups = correlation.group_of_each(members.len())?;
            // Its groups are checked above all the same, so that mistakes in them are reported.
            if correlation.probability == 0.0 {
                continue;
            }
            // Listed and recorded outages are never hit, so a group without a watched law cannot matter.
            let can_be_hit = |&place: &usize| {
                watched.contains(&place) && matches!(self.resources[place].cause, Cause::Law(_))
            };
            for group in &correlation.groups {
                if group.iter().any(can_be_hit) {
                    group.iter().for_each(|&place| matters[place] = true);
                }
            }
            let membership = |(resource, group): (&Resource, Option<usize>)| {
                let key = correlation.key(self.seed, &resource.name);
                group.map(|group| Membership { group, key })
            };
            memberships.push(self.resources.iter().zip(groups).map(membership).collect());
            correlations.push(correlation.clone());
        }
        // Resources of a site follow one law and are adjacent in the list.
        let mut times: Option<(&FailureLaw, Arc<UpAndDown>)> = None;
        for (place, Resource { name, cause }) in self.resources.iter().enumerate() {
            // Its process stays an empty list, so it costs no draws.
            if !matters[place] {
                continue;
            }
            members[place].process = match cause {
                Cause::None => Process::Listed(Box::default()),
                Cause::List(list) => Process::Listed(Box::new(list.clone().into_iter())),
                Cause::Law(law) => {
                    let times = match &times {
                        Some((of, times)) if *of == law => Arc::clone(times),
                        _ => Arc::clone(&times.insert((law, UpAndDown::of(law, name)?)).1),
                    };
                    Process::Drawn(Box::new(Renewal::new(law, times, self.seed, name)))
                }
            };
        }
        let mut outages = PlatformOutages {
            correlations,
            memberships,
            lasting: watched.len(),
            watched,
            upcoming: BinaryHeap::with_capacity(members.len()),
            members,
        };
        (0..self.resources.len()).for_each(|place| outages.schedule(place));
        Ok(outages)
    }
}

/// The outages of several resources, each with the index of its resource, in order of failure. Made by
/// [`Failures::outages`].
pub struct PlatformOutages {
    correlations: Vec<Correlation>,
    /// For each correlation and resource: the group of the resource, if it is in one.
    memberships: Vec<Vec<Option<Membership>>>,
    members: Vec<Member>,
    upcoming: BinaryHeap<Reverse<Upcoming>>,
    /// The resources whose outages are returned.
    watched: Range<usize>,
    /// Number of watched resources that are not down for ever.
    lasting: usize,
}

struct Member {
    process: Process,
    /// Failures of its own so far.
    failures: u64,
    /// End of its last outage.
    restored: Option<Time>,
}

#[derive(Clone, Copy)]
struct Membership {
    group: usize,
    /// Key of its draws.
    key: u64,
}

enum Process {
    Drawn(Box<Renewal>),
    Listed(Box<std::vec::IntoIter<Outage>>),
}

/// A possible outage; the order of fields is the order of outages.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Upcoming {
    fail: Time,
    origin: Origin,
    place: u32,
    restore: Time,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Own,
    Induced,
}

impl Process {
    fn next(&mut self) -> Option<Outage> {
        match self {
            Process::Drawn(renewal) => renewal.next(),
            Process::Listed(list) => list.next(),
        }
    }
}

impl Member {
    fn new() -> Member {
        Member { process: Process::Listed(Box::default()), failures: 0, restored: None }
    }
}

impl PlatformOutages {
    fn schedule(&mut self, place: usize) {
        if let Some(Outage { fail, restore }) = self.members[place].process.next() {
            let place = place as u32;
            self.upcoming.push(Reverse(Upcoming { fail, origin: Origin::Own, place, restore }));
        }
    }

    /// Lets an own failure at `place` spread.
    fn spread(&mut self, place: usize, fail: Time) {
        let trigger = &self.members[place];
        // Only failures that are drawn spread; listed and recorded outages stay as they are.
        if !matches!(trigger.process, Process::Drawn(_)) {
            return;
        }
        for (index, correlation) in self.correlations.iter().enumerate() {
            let memberships = &self.memberships[index];
            let Some(Membership { group, key }) = memberships[place] else { continue };
            let failure_key = Correlation::failure_key(key, trigger.failures);
            let others = correlation.groups[group].iter().copied();
            // An induced failure induces none, so hits on unwatched resources have no effect on the result.
            for place in others.filter(|&other| other != place && self.watched.contains(&other)) {
                let hit = &self.members[place];
                let (Process::Drawn(renewal), Some(Membership { key, .. })) =
                    (&hit.process, memberships[place])
                else {
                    continue;
                };
                let Some((delay, mut draws)) = correlation.hit(failure_key, key) else { continue };
                let Outage { fail, restore } = renewal.outage_at(fail + delay, &mut draws);
                // The delay may reach beyond the end of time.
                if fail < Time::FOREVER {
                    let (origin, place) = (Origin::Induced, place as u32);
                    self.upcoming.push(Reverse(Upcoming { fail, origin, place, restore }));
                }
            }
        }
        // Counted even if no resource is hit: the number selects the draws of the next failure.
        self.members[place].failures += 1;
    }
}

impl Iterator for PlatformOutages {
    type Item = (usize, Outage);

    fn next(&mut self) -> Option<(usize, Outage)> {
        loop {
            // The failures of unwatched resources may go on for ever, but none of them is returned.
            if self.lasting == 0 {
                return None;
            }
            let Reverse(Upcoming { fail, origin, place, restore }) = self.upcoming.pop()?;
            let place = place as usize;
            // Before the check below: an own failure spreads even if it changes nothing.
            if origin == Origin::Own {
                self.schedule(place);
                self.spread(place, fail);
            }
            let member = &mut self.members[place];
            // Also at the very instant of its restoration, because up and down alternate.
            if member.restored.is_some_and(|restored| fail <= restored) {
                continue;
            }
            member.restored = Some(restore);
            let is_watched = self.watched.contains(&place);
            self.lasting -= usize::from(is_watched && restore >= Time::FOREVER);
            // Outages before time zero are left out, except that one of zero length at time zero counts.
            if is_watched && (restore > Time::ZERO || fail >= Time::ZERO) {
                return Some((place, Outage { fail, restore }));
            }
        }
    }
}

/// The outages of one resource, in order. Made by [`Failures::outages_of`].
pub struct ResourceOutages(PlatformOutages);

impl Iterator for ResourceOutages {
    type Item = Outage;

    fn next(&mut self) -> Option<Outage> {
        self.0.next().map(|(_, outage)| outage)
    }
}
