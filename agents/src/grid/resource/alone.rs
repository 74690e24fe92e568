//! Events that a resource handles by itself, between messages from others.
//!
//! Jobs that save their progress every few seconds cause thousands of events that concern no other
//! actor. If transfers of different resources share no link, a resource keeps these events on an
//! agenda of its own. When the next message comes, it first handles all events that are due.
//!
//! The resource is woken up for events that concern others. [`GridTimer::Seen`] goes off at the
//! earliest instant at which a job may have been computed or data may have arrived elsewhere.
//! [`GridTimer::Tell`] goes off before a round that must know a new checkpoint. So the resource
//! never goes beyond the present, and nothing has to be taken back. It also wakes up before too many
//! events are due at once, because a run can be stopped between messages only.

use std::sync::Arc;

use haggle_grids::execution;
use haggle_model::network::{Flows, LinkSharing, Node, Path};
use haggle_model::{JobId, Span, Time};
use serde::{Deserialize, Serialize};

use super::{GridResource, Purpose, Stage};
use crate::Routes;
use crate::protocol::GridTimer;
use crate::{Outbox, Phase};

/// Most checkpoints of a job that are handled with one message.
const AT_ONCE: i64 = 250_000;

/// The agenda and the transfers of a resource.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Alone {
    /// A few entries for each job, in no order.
    agenda: Vec<Entry>,
    /// End of the next job.
    ends: Option<Entry>,
    /// Number of entries so far.
    entries: u64,
    /// The flow of a transfer has the number of the transfer.
    flows: Flows,
    /// Paths to and from the services.
    paths: Vec<(Node, Path)>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    /// The order of events.
    key: (Time, Class, u64),
    timer: GridTimer,
}

/// Order of events within an instant, as on the clock of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Class {
    /// Something ends by itself.
    End,
    /// Data have arrived.
    Arrival,
    /// A checkpoint is due. Failures of resources come between arrivals and this.
    Due,
}

/// The next thing to do.
enum Step {
    Timer(Time, GridTimer),
    Arrivals(Time),
}

impl Alone {
    /// Sets a timer; it keeps its place if it is set to `at` already.
    pub(super) fn set(&mut self, at: Time, timer: GridTimer) {
        let class = if timer.said().phase == Phase::Progress { Class::End } else { Class::Due };
        let entry = Entry { key: (at, class, self.entries), timer };
        let set = match timer {
            // Apart from the agenda, because it is set again after nearly every event.
            GridTimer::Ends => self.ends.as_mut(),
            _ => self.agenda.iter_mut().find(|it| it.timer == timer),
        };
        match set {
            // As on the clock of the run, the place within the instant is that of the first setting.
            Some(set) if set.key.0 == at => return,
            Some(set) => *set = entry,
            None if timer == GridTimer::Ends => self.ends = Some(entry),
            None => self.agenda.push(entry),
        }
        self.entries += 1;
    }

    pub(super) fn stop(&mut self, timer: GridTimer) {
        match timer {
            GridTimer::Ends => self.ends = None,
            _ => self.agenda.retain(|it| it.timer != timer),
        }
    }

    /// Data begin to move between the resource and a service.
    pub(super) fn start_transfer(&mut self, now: Time, number: u32, service: Node, bytes: u64) {
        let flow = self.flows.start(now, self.path(service).clone(), bytes);
        debug_assert_eq!(flow.0, u64::from(number));
    }

    pub(super) fn abort_transfer(&mut self, now: Time, number: u32) {
        self.flows.abort(now, haggle_model::network::FlowId(number.into()));
    }

    /// Time of the first event on the agenda, without the end of a job.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.agenda.iter().map(|it| it.key.0).min()
    }

    /// The events on the agenda, in no order.
    pub(super) fn timers(&self) -> impl Iterator<Item = (Time, GridTimer)> {
        self.agenda.iter().map(|it| (it.key.0, it.timer))
    }

    /// Puts the next checkpoint of a job off.
    pub(super) fn put_off(&mut self, job: JobId, to: Time) {
        let is_its = |it: &&mut Entry| it.timer == GridTimer::CheckpointDue { job };
        self.agenda.iter_mut().filter(is_its).for_each(|it| it.key.0 = to);
    }

    /// Longest time of a transfer while `transfers` to the same service are under way.
    pub(super) fn longest_transfer(&self, service: Node, bytes: u64, transfers: usize) -> Span {
        self.flows.longest(self.path(service), bytes, transfers)
    }

    fn path(&self, service: Node) -> &Path {
        let path = self.paths.iter().find(|(node, _)| *node == service);
        &path.expect("a resource that is alone talks to services only").1
    }

    /// Time of the next event of the transfers under way.
    fn next_event(&self) -> Option<Time> {
        self.flows.next_event().filter(|&next| next < Time::FOREVER)
    }

    /// Takes the next event, up to a class of an instant.
    fn next(&mut self, last: (Time, Class)) -> Option<Step> {
        // Called before each event of the agenda, so it must be fast.
        let mut timer = self.ends.map(|it| (it.key, None));
        for (place, it) in self.agenda.iter().enumerate() {
            // The number of the entry decides between equal times and classes, as in a queue.
            if timer.is_none_or(|(key, _)| it.key < key) {
                timer = Some((it.key, Some(place)));
            }
        }
        let event = self.next_event().map(|at| (at, Class::Arrival));
        let first = timer.map(|((at, class, _), _)| (at, class));
        if let Some(event) = event.filter(|&event| first.is_none_or(|first| event < first)) {
            return (event <= last).then_some(Step::Arrivals(event.0));
        }
        first.filter(|&first| first <= last)?;
        let entry = match timer?.1 {
            Some(place) => self.agenda.swap_remove(place),
            None => self.ends.take()?,
        };
        Some(Step::Timer(entry.key.0, entry.timer))
    }
}

impl GridResource {
    /// The same resource with an agenda of its own, if that is possible. Its transfers must share
    /// no link with others, and no actor may need to know of checkpoints at once.
    pub(crate) fn alone(mut self, routes: &Routes, sharing: LinkSharing) -> GridResource {
        let rules = Arc::clone(&self.rules);
        if rules.checkpoints.is_none() || rules.moves || rules.rounds.are_event_driven() {
            return self;
        }
        let services = [rules.home.storage_node, rules.home.checkpoint_node];
        let Some((flows, paths)) = routes.private(self.id.index(), services, sharing) else {
            return self;
        };
        self.alone =
            Some(Box::new(Alone { agenda: Vec::new(), ends: None, entries: 0, flows, paths }));
        self
    }

    /// Handles the events that are due before a message of this phase.
    pub(super) fn catch_up(&mut self, now: Time, phase: Phase, out: &mut Outbox) {
        let last = match phase {
            Phase::Conversation | Phase::Decision => Class::Due,
            // Messages of other phases come before checkpoints that are due.
            _ => Class::Arrival,
        };
        while self.alone.is_some() {
            // Before each event, because the last one may have begun a routine.
            self.skip_routine(now);
            self.await_completion(out);
            let step = self.alone.as_mut().and_then(|alone| alone.next((now, last)));
            let Some(step) = step else { break };
            match step {
                Step::Timer(at, timer) => {
                    self.on_timer(at, timer, out);
                }
                Step::Arrivals(at) => {
                    let arrived = self.alone.as_mut().map(|alone| alone.flows.advance(at));
                    for completion in arrived.into_iter().flatten() {
                        self.on_transferred(at, completion.flow.0 as u32, out);
                    }
                }
            }
        }
    }

    /// Sets the wake-ups for events that concern others.
    pub(super) fn await_others(&mut self, now: Time, out: &mut Outbox) {
        let Some(alone) = &self.alone else { return };
        let (mut seen, mut told) = (alone.ends.map(|it| it.key.0), None);
        let sooner = |soonest: &mut Option<Time>, at: Time| {
            *soonest = Some(soonest.map_or(at, |it| it.min(at)));
        };
        for &Entry { key: (at, ..), timer } in &alone.agenda {
            match timer {
                // A checkpoint concerns only the next round.
                GridTimer::CheckpointDue { .. } => sooner(&mut told, at),
                GridTimer::Written { job } => {
                    sooner(&mut told, at);
                    // The job cannot be computed before that; the tick allows for rounding.
                    sooner(&mut seen, at.max(at + self.least_time(job) - Span::TICK));
                }
                _ => sooner(&mut seen, at),
            }
        }
        if let Some(event) = alone.next_event() {
            for (_, purpose) in self.transfers.values() {
                match purpose {
                    Purpose::Checkpoint(_) => sooner(&mut told, event),
                    _ => sooner(&mut seen, event),
                }
            }
        }
        // A checkpoint that has not been reported must be known to the next round.
        if self.replicas.values().any(|it| it.untold.is_some()) {
            sooner(&mut told, now);
        }
        // Wakes up before too many checkpoints are due at once.
        if let Some(checkpoints) = self.rules.checkpoints {
            for replica in self.replicas.values() {
                let Some(state) = &replica.interval else { continue };
                let execution =
                    execution(replica.length, self.machine.avail(), self.machine.sharers());
                let cost = checkpoints.cost.of(replica.length);
                let round = checkpoints.rule.least(state, execution, cost) + cost;
                sooner(&mut seen, now + round * AT_ONCE);
            }
        }
        let told = told.map(|at| self.rules.rounds.decided(at));
        await_at(seen, GridTimer::Seen, out);
        await_at(told, GridTimer::Tell, out);
    }

    /// Least time that a job which writes a checkpoint computes after that: as if it had the
    /// resource alone.
    fn least_time(&self, job: JobId) -> Span {
        let Some(replica) = self.replicas.get(&job) else { return Span::ZERO };
        let done = replica.checkpoints.last().map_or(replica.from, |(_, it)| it.done);
        match replica.stage {
            Stage::Writing(_) => execution(replica.length - done, self.machine.avail(), 1),
            _ => Span::ZERO,
        }
    }

    /// A round may be due: reports all new checkpoints.
    pub(super) fn on_tell(&mut self, out: &mut Outbox) {
        let jobs: Vec<JobId> = self.replicas.keys().copied().collect();
        jobs.into_iter().for_each(|job| self.tell(job, out));
    }
}

fn await_at(at: Option<Time>, timer: GridTimer, out: &mut Outbox) {
    match at {
        Some(at) => out.set(at, timer),
        None => out.stop(timer),
    }
}
