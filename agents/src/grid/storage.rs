//! Storage for the outputs of jobs: outputs wait if it is full.

use std::collections::{BTreeMap, VecDeque};

use haggle_model::grid::StorageAccount;
use haggle_model::{ActorId, JobId, Observation, Span, Time};
use serde::{Deserialize, Serialize};

use crate::glimpse::{Fact, FactKind, Glimpse};
use crate::protocol::{DataMessage, GridTimer, Message, RunMessage, Timer};
use crate::{Actor, Outbox};

/// Limits of a storage: how many bytes, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageLimits {
    /// Bytes.
    pub capacity: u64,
    /// Time until an output is fetched by its user, which frees its room; `None` = never.
    pub kept: Option<Span>,
}

/// Gives room to outputs in the order of their requests.
///
/// An output that waits for room keeps no slot of its resource, but is lost if the resource fails.
/// An output that is larger than the whole storage waits until the run is over, or until it is not
/// needed any more, and does not block others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Storage {
    limits: StorageLimits,
    used: u64,
    /// Time up to which it has been accounted.
    counted: Time,
    account: StorageAccount,
    waiting: VecDeque<Request>,
    /// Requests that are larger than the storage.
    too_large: Vec<Request>,
    /// Room that was given and may be given back, in bytes.
    given: BTreeMap<(JobId, ActorId), u64>,
    /// Bytes that are fetched, by time.
    stays: BTreeMap<Time, u64>,
    /// State of the outputs of each job.
    claims: BTreeMap<JobId, Claims>,
    /// Number of stuck jobs, and the number reported last.
    stuck: u64,
    told: u64,
}

/// The outputs of one job: one for each resource that has computed it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Claims {
    /// Outputs that wait for room.
    waits: i32,
    /// Outputs that hold room.
    holds: i32,
}

impl Claims {
    /// True if some wait and none holds room. If one holds room, that output arrives, and then the
    /// others are not needed.
    fn are_stuck(self) -> bool {
        self.waits > 0 && self.holds == 0
    }
}

/// An output that asks for room.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Request {
    job: JobId,
    resource: ActorId,
    bytes: u64,
    since: Time,
}

impl Storage {
    /// An empty storage.
    pub fn new(limits: StorageLimits) -> Storage {
        Storage {
            limits,
            used: 0,
            counted: Time::ZERO,
            account: StorageAccount::default(),
            waiting: VecDeque::new(),
            too_large: Vec::new(),
            given: BTreeMap::new(),
            stays: BTreeMap::new(),
            claims: BTreeMap::new(),
            stuck: 0,
            told: 0,
        }
    }

    /// Accounts for the bytes held until now.
    fn count(&mut self, now: Time) {
        self.account.occupied += i128::from(self.used) * micros(now - self.counted);
        self.counted = now;
    }

    /// Accounts for the waiting time of a request that has ended.
    fn count_wait(&mut self, now: Time, request: &Request) {
        if now > request.since {
            self.account.waits += 1;
            self.account.waited += now - request.since;
        }
    }

    /// An output of a job begins or ends to wait for room, or to hold room.
    fn claim(&mut self, job: JobId, waits: i32, holds: i32) {
        let claims = self.claims.entry(job).or_default();
        // A job counts once, with however many outputs: it is counted off before the change, and on after it.
        self.stuck -= u64::from(claims.are_stuck());
        claims.waits += waits;
        claims.holds += holds;
        self.stuck += u64::from(claims.are_stuck());
        if (claims.waits, claims.holds) == (0, 0) {
            self.claims.remove(&job);
        }
    }

    /// Records the number of stuck jobs, if it has changed. If outputs are fetched, no job is
    /// stuck.
    fn tell_stuck(&mut self, out: &mut Outbox) {
        if self.limits.kept.is_none() && self.told != self.stuck {
            self.told = self.stuck;
            out.observe(Observation::OutputsStuck { jobs: self.stuck });
        }
    }

    /// Takes back room that was given and is not used.
    fn take_back(&mut self, job: JobId, resource: ActorId) {
        if let Some(bytes) = self.given.remove(&(job, resource)) {
            self.claim(job, 0, -1);
            self.used -= bytes;
        }
    }

    /// Removes the request of an output that waits.
    fn take_request(&mut self, job: JobId, resource: ActorId) -> Option<Request> {
        let is_it = |it: &Request| (it.job, it.resource) == (job, resource);
        if let Some(place) = self.waiting.iter().position(is_it) {
            return self.waiting.remove(place);
        }
        let place = self.too_large.iter().position(is_it)?;
        Some(self.too_large.remove(place))
    }

    fn give(&mut self, now: Time, out: &mut Outbox) {
        while let Some(&request) = self.waiting.front() {
            let Request { job, resource, bytes, .. } = request;
            // No output overtakes one that requested room earlier.
            if bytes > self.limits.capacity - self.used {
                return;
            }
            self.waiting.pop_front();
            self.claim(job, -1, 1);
            self.count_wait(now, &request);
            self.used += bytes;
            out.send(resource, DataMessage::Room { job });
            // Room of an output that is fetched is given back at that time.
            if let Some(kept) = self.limits.kept {
                *self.stays.entry(now + kept).or_insert(0) += bytes;
                out.wake(now + kept, GridTimer::OutputFetched);
            } else {
                *self.given.entry((job, resource)).or_insert(0) += bytes;
            }
        }
    }
}

impl Storage {
    /// Its room, and the outputs that wait for room.
    pub(crate) fn glimpse(&self) -> Glimpse {
        let waiting = self.waiting.iter().chain(&self.too_large).map(|request| Fact {
            job: Some(request.job),
            at: Some(request.since),
            ..Fact::about(request.resource, FactKind::AwaitedRoom, request.bytes as f64)
        });
        let room = [
            Fact::own(FactKind::Capacity, self.limits.capacity as f64),
            Fact::own(FactKind::UsedRoom, self.used as f64),
        ];
        Glimpse::of_facts(room.into_iter().chain(waiting).collect())
    }
}

impl Actor for Storage {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        self.count(now);
        match message {
            Message::Data(DataMessage::RoomRequest { job, bytes }) => {
                self.claim(job, 1, 0);
                let request = Request { job, resource: from, bytes, since: now };
                // It must not block others.
                if bytes > self.limits.capacity {
                    self.too_large.push(request);
                } else {
                    self.waiting.push_back(request);
                }
            }
            Message::Data(DataMessage::RoomUnused { job, .. }) => {
                match self.take_request(job, from) {
                    Some(request) => {
                        self.claim(job, -1, 0);
                        self.count_wait(now, &request);
                    }
                    // No request waits, so the output holds room.
                    None => self.take_back(job, from),
                }
            }
            Message::Wake(Timer::Grid(GridTimer::OutputFetched)) => {
                while let Some(entry) = self.stays.first_entry().filter(|it| *it.key() <= now) {
                    self.used -= entry.remove();
                }
            }
            Message::Run(RunMessage::RunOver) => {
                self.account.stuck = self.told;
                let waiting = std::mem::take(&mut self.waiting);
                for request in waiting.into_iter().chain(std::mem::take(&mut self.too_large)) {
                    self.count_wait(now, &request);
                }
                out.observe(Observation::StorageAccount(self.account));
            }
            _ => out.refuse(from),
        }
        // After every message: room may have come back, or a request may have arrived.
        self.give(now, out);
        self.tell_stuck(out);
    }
}

fn micros(span: Span) -> i128 {
    i128::from(span.as_micros())
}
