//! Sessions that ask for a share of a resource and are placed at once or
//! rejected for ever: the "VM" algorithms (Chtepen 2011, section 2.2).
//!
//! Every session asks for p, a [`Share`] of one resource; what is free of a
//! resource is 100 % less all p on it. An arrival looks at the resources one by one.

mod dynamic_limit;

use std::collections::BTreeMap;

use haggle_model::Time;

use super::resources::ResourceId;
use super::time_shared::Share;

pub use dynamic_limit::{DynamicLimit, LightLoad};

/// Who works in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct User(pub u32);

/// A session as it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// Whose it is.
    pub user: User,
    /// p: what it asks for.
    pub share: Share,
}

/// The rule by which sessions are placed.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionPolicy {
    /// Where most sessions of its user are, then the resource named first
    /// (Capacity Matching and User Clustering).
    UserClustering,
    /// The resource named first (Full Fill).
    FullFill,
    /// The first one from the resource after the one that took the last session
    /// (Full Fill Round Robin).
    RoundRobin,
    /// As [`SessionPolicy::RoundRobin`], and what is larger than the limit is
    /// rejected (With Limit).
    Limit(Share),
    /// As [`SessionPolicy::RoundRobin`], with a limit for each resource that
    /// leaves room for light sessions (With Dynamic Limit).
    DynamicLimit(DynamicLimit),
}

/// Places sessions on resources.
#[derive(Clone, Debug)]
pub struct Sessions {
    policy: SessionPolicy,
    resources: Vec<Shared>,
    /// The resource after the one that took the last session.
    turn: usize,
}

/// What has been given away of one resource.
#[derive(Clone, Debug, Default)]
struct Shared {
    given: u32,
    /// Sessions that are light.
    light: u32,
    /// Sessions by user.
    users: BTreeMap<User, u32>,
}

impl Shared {
    const fn free(&self) -> u32 {
        Share::WHOLE.0.saturating_sub(self.given)
    }
}

impl Sessions {
    /// Idle resources.
    pub fn new(policy: SessionPolicy, resources: u32) -> Sessions {
        let resources = vec![Shared::default(); resources as usize];
        Sessions { policy, resources, turn: 0 }
    }

    /// A session arrives: where it goes; `None` = it is rejected.
    pub fn arrive(&mut self, now: Time, session: Session) -> Option<ResourceId> {
        if let SessionPolicy::DynamicLimit(limit) = &mut self.policy {
            limit.arrived(now, session.share);
        }
        let index = self.choose(session)?;
        let light = self.is_light(session.share);
        let resource = &mut self.resources[index];
        resource.given += session.share.0;
        resource.light += u32::from(light);
        *resource.users.entry(session.user).or_insert(0) += 1;
        self.turn = (index + 1) % self.resources.len();
        Some(ResourceId(index as u32))
    }

    /// A session that began at `start` has ended.
    ///
    /// # Panics
    /// If none of this user and share is there.
    pub fn depart(&mut self, start: Time, now: Time, session: Session, resource: ResourceId) {
        let light = self.is_light(session.share);
        let shared = &mut self.resources[resource.index()];
        let count = shared.users.get_mut(&session.user).expect("the session is here");
        *count -= 1;
        if *count == 0 {
            shared.users.remove(&session.user);
        }
        shared.given -= session.share.0;
        shared.light -= u32::from(light);
        if let SessionPolicy::DynamicLimit(limit) = &mut self.policy {
            limit.departed(now - start, session.share);
        }
    }

    /// What is free of a resource.
    pub fn free(&self, resource: ResourceId) -> Share {
        Share(self.resources[resource.index()].free())
    }

    /// The largest share that would be taken at a resource now, if it is free.
    pub fn limit(&self, resource: ResourceId) -> Share {
        let shared = &self.resources[resource.index()];
        match &self.policy {
            SessionPolicy::Limit(limit) => *limit,
            SessionPolicy::DynamicLimit(limit) => {
                let places = limit.places(self.resources.len() as u32);
                limit.limit(places, Share(shared.free()), shared.light)
            }
            _ => Share::WHOLE,
        }
    }

    fn is_light(&self, share: Share) -> bool {
        matches!(&self.policy, SessionPolicy::DynamicLimit(limit) if limit.is_light(share))
    }

    fn choose(&self, Session { user, share }: Session) -> Option<usize> {
        let fits = |&index: &usize| share.0 <= self.resources[index].free();
        let all = 0..self.resources.len();
        let mut in_turn = (self.turn..self.resources.len()).chain(0..self.turn);
        match &self.policy {
            SessionPolicy::UserClustering => {
                let sessions =
                    |&index: &usize| self.resources[index].users.get(&user).copied().unwrap_or(0);
                // Of equal ones the last is the maximum, hence from behind.
                all.rev().filter(fits).max_by_key(sessions)
            }
            SessionPolicy::FullFill => all.into_iter().find(fits),
            SessionPolicy::RoundRobin => in_turn.find(fits),
            SessionPolicy::Limit(limit) => in_turn.find(|index| share <= *limit && fits(index)),
            SessionPolicy::DynamicLimit(limit) => {
                let places = limit.places(self.resources.len() as u32);
                in_turn.find(|index| {
                    let shared = &self.resources[*index];
                    let most = limit.limit(places, Share(shared.free()), shared.light);
                    share <= most && fits(index)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the sessions go, numbered from 1; 0 = rejected.
    fn placed(policy: SessionPolicy) -> Vec<u32> {
        let mut sessions = Sessions::new(policy, 3);
        let arrivals = [('A', 60), ('B', 50), ('B', 30), ('A', 40), ('C', 90)];
        let arrive = |(user, percent)| {
            let session =
                Session { user: User(u32::from(user)), share: Share::from_percent(percent) };
            sessions.arrive(Time::ZERO, session).map_or(0, |resource| resource.0 + 1)
        };
        arrivals.map(arrive).to_vec()
    }

    #[test]
    fn gm_m9_placement_of_sessions() {
        assert_eq!(placed(SessionPolicy::UserClustering), [1, 2, 2, 1, 3]);
        assert_eq!(placed(SessionPolicy::FullFill), [1, 2, 1, 2, 3]);
        assert_eq!(placed(SessionPolicy::RoundRobin), [1, 2, 3, 1, 0]);
        assert_eq!(placed(SessionPolicy::Limit(Share::from_percent(50))), [0, 1, 2, 3, 0]);
    }

    #[test]
    fn what_ends_makes_room_and_the_turn_stays() {
        let mut sessions = Sessions::new(SessionPolicy::RoundRobin, 2);
        let large = Session { user: User(0), share: Share::from_percent(70) };
        let arrive = |sessions: &mut Sessions| sessions.arrive(Time::ZERO, large);
        assert_eq!(arrive(&mut sessions), Some(ResourceId(0)));
        assert_eq!(arrive(&mut sessions), Some(ResourceId(1)));
        assert_eq!(arrive(&mut sessions), None);
        sessions.depart(Time::ZERO, Time::from_secs(1), large, ResourceId(1));
        assert_eq!(sessions.free(ResourceId(1)), Share::WHOLE);
        assert_eq!(arrive(&mut sessions), Some(ResourceId(1)));
    }
}
