//! Sessions under a grid's scheduler: each is placed when it arrives, or never.

use std::collections::BTreeMap;

use haggle_model::{JobId, Time};
use serde::{Deserialize, Serialize};

use super::{Session, SessionPolicy, Sessions};
use crate::resources::ResourceId;
use crate::scheduler::{GridScheduler, Restart, Round};
use crate::view::{Detection, View};

/// Sends each job, a session, to a resource as soon as it has arrived, or gives it up.
///
/// A session whose resource has failed is lost, because it is not placed twice. It is given up when the
/// failure is noticed, and its share is free again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionScheduler {
    sessions: Sessions,
    running: BTreeMap<JobId, Running>,
}

/// A session that holds its share.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Running {
    session: Session,
    resource: ResourceId,
    since: Time,
}

impl SessionScheduler {
    /// No session on `resources` resources.
    pub fn new(policy: SessionPolicy, resources: u32) -> SessionScheduler {
        SessionScheduler { sessions: Sessions::new(policy, resources), running: BTreeMap::new() }
    }

    fn departed(&mut self, now: Time, running: Running) {
        let Running { session, resource, since } = running;
        self.sessions.depart(since, now, session, resource);
    }

    /// Returns whether a queued job has returned: lost, or refused by a resource whose state was not fully known.
    fn has_come_back(&mut self, now: Time, job: JobId, view: &View) -> bool {
        let taken = view.job(job).dispatches > 0;
        match self.running.remove(&job) {
            // The session was accepted, so its length counts among those of light sessions.
            Some(running) if taken => self.departed(now, running),
            // The resource refused the session, so it never began.
            Some(Running { session, resource, .. }) => self.sessions.give_back(session, resource),
            // The job had been computed, and its output was lost.
            None => return taken,
        }
        true
    }
}

#[typetag::serde]
impl GridScheduler for SessionScheduler {
    fn detection(&self) -> Detection {
        Detection::RestartReport
    }

    fn queues(&self) -> bool {
        false
    }

    fn computed(&mut self, now: Time, job: JobId) {
        if let Some(running) = self.running.remove(&job) {
            self.departed(now, running);
        }
    }

    fn round(&mut self, view: &mut View, round: &mut Round<'_>) {
        let mut arrived = Vec::new();
        // Sessions that have returned are given up first, which makes room for new ones.
        let mut last = None;
        while let Some(turn) = view.jobs().next_with(0, last) {
            last = Some(turn);
            match self.has_come_back(round.now, turn.1, view) {
                true => round.give_up(view, turn.1),
                false => arrived.push(turn.1),
            }
        }
        for job in arrived {
            let session = round.insight.session(job);
            let open = |resource| view.resources().get(resource).is_available();
            match self.sessions.arrive(round.now, session, open) {
                None => round.give_up(view, job),
                Some(resource) => {
                    self.running.insert(job, Running { session, resource, since: round.now });
                    round.dispatch(view, job, resource, Restart::FromBeginning);
                }
            }
        }
    }
}
