//! Sessions that request a share of a resource and are placed at once or rejected for ever: the "VM"
//! algorithms (Chtepen 2011, section 2.2).
//!
//! Every session requests p, a [`Share`] of one resource. The free share of a resource is 100 % less all p
//! on it. An arriving session examines the resources one by one. This module knows no jobs and views;
//! [`SessionScheduler`] does.

mod dynamic_limit;
mod scheduler;

use std::collections::BTreeMap;

use haggle_model::Time;

use super::resources::ResourceId;
use super::time_shared::Share;

pub use dynamic_limit::{DynamicLimit, LightLoad};
use dynamic_limit::{LightSessions, Room};
pub use scheduler::SessionScheduler;
use serde::{Deserialize, Serialize};

/// User of a session: a number that is the same in all workloads, or -1 for all sessions without a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct User(pub i32);

/// An arriving session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its user.
    pub user: User,
    /// p: its requested share.
    pub share: Share,
}

impl Default for Session {
    /// A whole resource, without a user.
    fn default() -> Session {
        Session { user: User(-1), share: Share::WHOLE }
    }
}

/// The rule by which sessions are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionPolicy {
    /// The resource with most sessions of the same user, then the resource named first (Capacity Matching
    /// and User Clustering).
    UserClustering,
    /// The resource named first (Full Fill).
    FullFill,
    /// The first one from the resource after the one that took the last session
    /// (Full Fill Round Robin).
    RoundRobin,
    /// As [`SessionPolicy::RoundRobin`]; larger sessions than the limit are rejected (With Limit).
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sessions {
    policy: SessionPolicy,
    /// Light sessions so far, if the policy needs them.
    seen: LightSessions,
    resources: Vec<Shared>,
    /// The resource after the one that took the last session.
    turn: usize,
}

/// The shares given away of one resource.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Shared {
    given: u32,
    /// Number of light sessions.
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
    /// For idle resources.
    pub fn new(policy: SessionPolicy, resources: u32) -> Sessions {
        let resources = vec![Shared::default(); resources as usize];
        Sessions { policy, seen: LightSessions::default(), resources, turn: 0 }
    }

    /// A session arrives. Returns its resource, among those that are `open`; `None` = it is rejected.
    pub fn arrive(
        &mut self,
        now: Time,
        session: Session,
        open: impl Fn(ResourceId) -> bool,
    ) -> Option<ResourceId> {
        let light = self.is_light(session.share);
        // Rejected sessions count as arrivals, too.
        if light {
            self.seen.arrived(now, session.share);
        }
        let index = self.choose(session, open)?;
        let resource = &mut self.resources[index];
        resource.given += session.share.0;
        resource.light += u32::from(light);
        *resource.users.entry(session.user).or_insert(0) += 1;
        // Only placed sessions move the turn on.
        self.turn = (index + 1) % self.resources.len();
        Some(ResourceId(index as u32))
    }

    /// A session that began at `start` has ended, or was lost.
    ///
    /// # Panics
    /// If there is no session of this user and share.
    pub fn depart(&mut self, start: Time, now: Time, session: Session, resource: ResourceId) {
        self.give_back(session, resource);
        if self.is_light(session.share) {
            self.seen.departed(now - start);
        }
    }

    /// A session was sent to a resource but never began.
    ///
    /// # Panics
    /// If there is no session of this user and share.
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

    /// The free share of a resource.
    pub fn free(&self, resource: ResourceId) -> Share {
        Share(self.resources[resource.index()].free())
    }

    /// The largest share that a resource would accept now, if it is free.
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
            // The other policies have no limit.
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
                // Of equal resources `max_by_key` returns the last one, so they are searched from the end.
                all.rev().filter(fits).max_by_key(sessions)
            }
            SessionPolicy::FullFill => all.find(fits),
            SessionPolicy::RoundRobin
            | SessionPolicy::Limit(_)
            // Once around, from the turn.
            | SessionPolicy::DynamicLimit(_) => (self.turn..all.end).chain(0..self.turn).find(fits),
        }
    }
}

/// The largest share that a resource accepts.
enum Limits {
    /// The same everywhere.
    Common(Share),
    /// The share that light sessions leave.
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

    /// Resources of the sessions, numbered from 1; 0 = rejected.
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
