//! Sessions that ask for a share of a resource and are placed at once or
//! rejected for ever: the "VM" algorithms (Chtepen 2011, section 2.2).
//!
//! Every session asks for p, a [`Share`] of one resource; what is free of a
//! resource is 100 % less all p on it. An arrival looks at the resources one by one.
//! What is here knows nothing of jobs and views; [`SessionScheduler`] does.

mod dynamic_limit;
mod scheduler;

use std::collections::BTreeMap;

use haggle_model::Time;

use super::resources::ResourceId;
use super::time_shared::Share;

pub use dynamic_limit::{DynamicLimit, LightLoad};
use dynamic_limit::{LightSessions, Room};
pub use scheduler::SessionScheduler;

/// Who works in a session: a number that is the same in all workloads, or -1 for all who
/// have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct User(pub i32);

/// A session as it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// Whose it is.
    pub user: User,
    /// p: what it asks for.
    pub share: Share,
}

impl Default for Session {
    /// A whole resource, for nobody in particular.
    fn default() -> Session {
        Session { user: User(-1), share: Share::WHOLE }
    }
}

/// The rule by which sessions are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl SessionPolicy {
    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            SessionPolicy::UserClustering => "user-clustering",
            SessionPolicy::FullFill => "full-fill",
            SessionPolicy::RoundRobin => "full-fill-round-robin",
            SessionPolicy::Limit(_) => "with-limit",
            SessionPolicy::DynamicLimit(_) => "with-dynamic-limit",
        }
    }
}

/// Places sessions on resources.
#[derive(Clone, Debug)]
pub struct Sessions {
    policy: SessionPolicy,
    /// Light sessions so far, where the policy asks.
    seen: LightSessions,
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
        Sessions { policy, seen: LightSessions::default(), resources, turn: 0 }
    }

    /// A session arrives: where it goes of the resources that are `open`; `None` = it is rejected.
    pub fn arrive(
        &mut self,
        now: Time,
        session: Session,
        open: impl Fn(ResourceId) -> bool,
    ) -> Option<ResourceId> {
        let light = self.is_light(session.share);
        if light {
            self.seen.arrived(now, session.share);
        }
        let index = self.choose(session, open)?;
        let resource = &mut self.resources[index];
        resource.given += session.share.0;
        resource.light += u32::from(light);
        *resource.users.entry(session.user).or_insert(0) += 1;
        self.turn = (index + 1) % self.resources.len();
        Some(ResourceId(index as u32))
    }

    /// A session that began at `start` has ended, or was lost.
    ///
    /// # Panics
    /// If none of this user and share is there.
    pub fn depart(&mut self, start: Time, now: Time, session: Session, resource: ResourceId) {
        self.give_back(session, resource);
        if self.is_light(session.share) {
            self.seen.departed(now - start);
        }
    }

    /// A session never began, though it was sent to a resource.
    ///
    /// # Panics
    /// If none of this user and share is there.
    pub fn give_back(&mut self, session: Session, resource: ResourceId) {
        let light = self.is_light(session.share);
        let shared = &mut self.resources[resource.index()];
        let count = shared.users.get_mut(&session.user).expect("the session is here");
        *count -= 1;
        if *count == 0 {
            shared.users.remove(&session.user);
        }
        shared.given -= session.share.0;
        shared.light -= u32::from(light);
    }

    /// What is free of a resource.
    pub fn free(&self, resource: ResourceId) -> Share {
        Share(self.resources[resource.index()].free())
    }

    /// The largest share that would be taken at a resource now, if it is free.
    pub fn limit(&self, resource: ResourceId) -> Share {
        self.limits().of(&self.resources[resource.index()])
    }

    fn is_light(&self, share: Share) -> bool {
        matches!(self.policy, SessionPolicy::DynamicLimit(limit) if share <= limit.light)
    }

    fn limits(&self) -> Limits {
        match self.policy {
            SessionPolicy::Limit(limit) => Limits::Common(limit),
            SessionPolicy::DynamicLimit(limit) => {
                let load = self.seen.load().unwrap_or(limit.initial);
                Limits::Dynamic(limit.room(load, self.resources.len() as u32))
            }
            _ => Limits::Common(Share::WHOLE),
        }
    }

    fn choose(
        &self,
        Session { user, share }: Session,
        open: impl Fn(ResourceId) -> bool,
    ) -> Option<usize> {
        let limits = self.limits();
        let fits = |&index: &usize| {
            let shared = &self.resources[index];
            share.0 <= shared.free() && share <= limits.of(shared) && open(ResourceId(index as u32))
        };
        let mut all = 0..self.resources.len();
        match self.policy {
            SessionPolicy::UserClustering => {
                let sessions =
                    |&index: &usize| self.resources[index].users.get(&user).copied().unwrap_or(0);
                // Of equal ones the last is the maximum, hence from behind.
                all.rev().filter(fits).max_by_key(sessions)
            }
            SessionPolicy::FullFill => all.find(fits),
            SessionPolicy::RoundRobin
            | SessionPolicy::Limit(_)
            | SessionPolicy::DynamicLimit(_) => (self.turn..all.end).chain(0..self.turn).find(fits),
        }
    }
}

/// The largest share that a resource takes.
enum Limits {
    /// The same everywhere.
    Common(Share),
    /// What light sessions leave.
    Dynamic(Room),
}

impl Limits {
    fn of(&self, shared: &Shared) -> Share {
        match self {
            Limits::Common(limit) => *limit,
            Limits::Dynamic(room) => room.limit(Share(shared.free()), shared.light),
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
            let session = Session { user: User(user as i32), share: Share::from_percent(percent) };
            sessions.arrive(Time::ZERO, session, |_| true).map_or(0, |resource| resource.0 + 1)
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
        let large = Session { share: Share::from_percent(70), ..Session::default() };
        let arrive = |sessions: &mut Sessions| sessions.arrive(Time::ZERO, large, |_| true);
        assert_eq!(arrive(&mut sessions), Some(ResourceId(0)));
        assert_eq!(arrive(&mut sessions), Some(ResourceId(1)));
        assert_eq!(arrive(&mut sessions), None);
        sessions.depart(Time::ZERO, Time::from_secs(1), large, ResourceId(1));
        assert_eq!(sessions.free(ResourceId(1)), Share::WHOLE);
        assert_eq!(arrive(&mut sessions), Some(ResourceId(1)));
    }

    #[test]
    fn what_is_not_open_takes_nothing() {
        let mut sessions = Sessions::new(SessionPolicy::FullFill, 3);
        let mut arrive = |open| {
            let open = |resource: ResourceId| resource == ResourceId(open);
            sessions.arrive(Time::ZERO, Session::default(), open)
        };
        assert_eq!(arrive(1), Some(ResourceId(1)));
        assert_eq!(arrive(1), None);
    }
}
