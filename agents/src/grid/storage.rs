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

    fn give(&mut self, now: Time, out: &mut Outbox) {
        self.waiting.retain(|it| it.bytes <= self.limits.capacity);
        while let Some(&request) = self.waiting.front() {
            let Request { job, resource, bytes, .. } = request;
            if bytes > self.limits.capacity - self.used {
                return;
            }
            self.waiting.pop_front();
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
                self.waiting.push_back(Request { job, resource: from, bytes, since: now });
            }
            Message::Data(DataMessage::RoomUnused { job, .. }) => {
                let place = self.waiting.iter().position(|it| (it.job, it.resource) == (job, from));
                match place.and_then(|place| self.waiting.remove(place)) {
                    Some(request) => self.count_wait(now, &request),
                    None => self.used -= self.given.remove(&(job, from)).unwrap_or(0),
                }
            }
            Message::Wake(Timer::Grid(GridTimer::OutputFetched)) => {
                while let Some(entry) = self.stays.first_entry().filter(|it| *it.key() <= now) {
                    self.used -= entry.remove();
                }
            }
            Message::Run(RunMessage::RunOver) => {
                for request in std::mem::take(&mut self.waiting) {
                    self.count_wait(now, &request);
                }
                out.observe(Observation::StorageAccount(self.account));
            }
            _ => out.refuse(from),
        }
        self.give(now, out);
    }
}

fn micros(span: Span) -> i128 {
    i128::from(span.as_micros())
}
