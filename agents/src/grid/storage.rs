//! Storage for what jobs put out: where it is full, outputs wait.

use std::collections::{BTreeMap, VecDeque};

use haggle_model::grid::StorageAccount;
use haggle_model::{ActorId, JobId, Observation, Span, Time};

use crate::protocol::{DataMessage, GridTimer, Message, RunMessage, Timer};
use crate::{Actor, Outbox};

/// What a storage can hold, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageLimits {
    /// Bytes.
    pub capacity: u64,
    /// How long an output stays before its user has fetched it; `None` = it stays.
    pub kept: Option<Span>,
}

/// Gives room to outputs in the order in which it is asked for.
///
/// An output that waits for room keeps no slot of its resource, but it is lost
/// with that. One that is larger than the whole storage waits for ever, and lets
/// others pass.
#[derive(Debug)]
pub struct Storage {
    limits: StorageLimits,
    used: u64,
    /// Until when its account goes.
    counted: Time,
    account: StorageAccount,
    waiting: VecDeque<Request>,
    /// The room that was given and may be given back: whose it is, and how much.
    given: BTreeMap<(JobId, ActorId), u64>,
    /// What is fetched when.
    stays: BTreeMap<Time, u64>,
    /// What the outputs of each job do.
    claims: BTreeMap<JobId, Claims>,
    /// How many jobs are stuck, and how many were said to be last.
    stuck: u64,
    told: u64,
}

/// The outputs of one job, one a resource that has computed it.
#[derive(Clone, Copy, Debug, Default)]
struct Claims {
    /// So many wait for room.
    waits: i32,
    /// So many hold some.
    holds: i32,
}

impl Claims {
    /// Whether none of them has any room: of a job that holds some, the output arrives, and then
    /// the others are not needed.
    fn are_stuck(self) -> bool {
        self.waits > 0 && self.holds == 0
    }
}

/// An output that asks for room.
#[derive(Clone, Copy, Debug)]
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
            given: BTreeMap::new(),
            stays: BTreeMap::new(),
            claims: BTreeMap::new(),
            stuck: 0,
            told: 0,
        }
    }

    /// Takes down what it has held until now.
    fn count(&mut self, now: Time) {
        self.account.occupied += i128::from(self.used) * micros(now - self.counted);
        self.counted = now;
    }

    /// A request has come to its end.
    fn count_wait(&mut self, now: Time, request: &Request) {
        if now > request.since {
            self.account.waits += 1;
            self.account.waited += now - request.since;
        }
    }

    /// An output of a job begins or ends to wait for room, or to hold some.
    fn claim(&mut self, job: JobId, waits: i32, holds: i32) {
        let claims = self.claims.entry(job).or_default();
        self.stuck -= u64::from(claims.are_stuck());
        claims.waits += waits;
        claims.holds += holds;
        self.stuck += u64::from(claims.are_stuck());
        if (claims.waits, claims.holds) == (0, 0) {
            self.claims.remove(&job);
        }
    }

    /// Says how many jobs are stuck, if that has changed. Where outputs are fetched, none is.
    fn tell_stuck(&mut self, out: &mut Outbox) {
        if self.limits.kept.is_none() && self.told != self.stuck {
            self.told = self.stuck;
            out.observe(Observation::OutputsStuck { jobs: self.stuck });
        }
    }

    /// Room that was given is not used.
    fn take_back(&mut self, job: JobId, resource: ActorId) {
        if let Some(bytes) = self.given.remove(&(job, resource)) {
            self.claim(job, 0, -1);
            self.used -= bytes;
        }
    }

    fn give(&mut self, now: Time, out: &mut Outbox) {
        self.waiting.retain(|it| it.bytes <= self.limits.capacity);
        while let Some(&request) = self.waiting.front() {
            let Request { job, resource, bytes, .. } = request;
            if bytes > self.limits.capacity - self.used {
                return;
            }
            self.waiting.pop_front();
            self.claim(job, -1, 1);
            self.count_wait(now, &request);
            self.used += bytes;
            out.send(resource, DataMessage::Room { job });
            // What stays for a while is given back when that is over.
            if let Some(kept) = self.limits.kept {
                *self.stays.entry(now + kept).or_insert(0) += bytes;
                out.wake(now + kept, GridTimer::OutputFetched);
            } else {
                *self.given.entry((job, resource)).or_insert(0) += bytes;
            }
        }
    }
}

impl Actor for Storage {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        self.count(now);
        match message {
            Message::Data(DataMessage::RoomRequest { job, bytes }) => {
                self.claim(job, 1, 0);
                self.waiting.push_back(Request { job, resource: from, bytes, since: now });
            }
            Message::Data(DataMessage::RoomUnused { job, .. }) => {
                let place = self.waiting.iter().position(|it| (it.job, it.resource) == (job, from));
                match place.and_then(|place| self.waiting.remove(place)) {
                    Some(request) => {
                        self.claim(job, -1, 0);
                        self.count_wait(now, &request);
                    }
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
                for request in std::mem::take(&mut self.waiting) {
                    self.count_wait(now, &request);
                }
                out.observe(Observation::StorageAccount(self.account));
            }
            _ => out.refuse(from),
        }
        self.give(now, out);
        self.tell_stuck(out);
    }
}

fn micros(span: Span) -> i128 {
    i128::from(span.as_micros())
}
