//! Storage for what jobs put out: where it is full, outputs wait.

use std::collections::{BTreeMap, VecDeque};

use haggle_model::{ActorId, JobId, Span, Time};

use super::message::{GridMessage, GridTimer};
use crate::message::{Message, Timer};
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
    waiting: VecDeque<(JobId, ActorId, u64)>,
    /// What is fetched when.
    stays: BTreeMap<Time, u64>,
}

impl Storage {
    /// An empty storage.
    pub fn new(limits: StorageLimits) -> Storage {
        Storage { limits, used: 0, waiting: VecDeque::new(), stays: BTreeMap::new() }
    }

    fn give(&mut self, now: Time, out: &mut Outbox) {
        self.waiting.retain(|&(_, _, bytes)| bytes <= self.limits.capacity);
        while let Some(&(job, resource, bytes)) = self.waiting.front() {
            if bytes > self.limits.capacity - self.used {
                return;
            }
            self.waiting.pop_front();
            self.used += bytes;
            out.send(resource, GridMessage::Room { job }.into());
            if let Some(kept) = self.limits.kept {
                *self.stays.entry(now + kept).or_insert(0) += bytes;
                out.wake(now + kept, Message::Wake(Timer::Grid(GridTimer::OutputFetched)));
            }
        }
    }
}

impl Actor for Storage {
    type Message = Message;

    fn on_message(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::Grid(GridMessage::RoomRequest { job, bytes }) => {
                self.waiting.push_back((job, from, bytes));
            }
            Message::Grid(GridMessage::RoomUnused { job, bytes }) => {
                let before = self.waiting.len();
                self.waiting.retain(|&(waiting, resource, _)| (waiting, resource) != (job, from));
                // What stays for a while is given back when that is over.
                if self.waiting.len() == before && self.limits.kept.is_none() {
                    self.used -= bytes;
                }
            }
            Message::Wake(Timer::Grid(GridTimer::OutputFetched)) => {
                while let Some(entry) = self.stays.first_entry().filter(|it| *it.key() <= now) {
                    self.used -= entry.remove();
                }
            }
            Message::RunOver => {}
            other => unreachable!("nobody sends a storage {other:?}"),
        }
        self.give(now, out);
    }
}
