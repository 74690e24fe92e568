//! Common state of coordinators and participants: agreements by their numbers, in memory and on record, and
//! the number from which on messages matter.

use std::collections::BTreeMap;

use haggle_model::ActorId;
use serde::{Deserialize, Serialize};

use crate::protocol::{Body, Said};
use crate::{AgreementId, Output, Payload, Record};

/// Numbers reserved by one record; after a crash, unused numbers of a block stay unused.
const BLOCK: u64 = 1024;

/// Durable state of a coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Entry<T: Payload> {
    /// Smaller numbers may have been used.
    Reserved(u64),
    /// The agreement with this number has entered this state.
    Entered(u64, T),
    /// The agreement has ended; no message about it will come.
    Over(u64),
}

impl<T: Payload> Entry<T> {
    /// The reserved numbers, and the open agreements.
    pub(crate) fn replay(records: impl IntoIterator<Item = Entry<T>>) -> (u64, BTreeMap<u64, T>) {
        let (mut reserved, mut open) = (0, BTreeMap::new());
        for record in records {
            match record {
                Entry::Reserved(number) => reserved = number,
                Entry::Entered(number, state) => {
                    open.insert(number, state);
                }
                Entry::Over(number) => {
                    open.remove(&number);
                }
            }
        }
        (reserved, open)
    }
}

impl<T: Payload> Record for Entry<T> {
    fn compact(records: Vec<Entry<T>>) -> Vec<Entry<T>> {
        let (reserved, open) = Entry::replay(records);
        let open = open.into_iter().map(|(number, state)| Entry::Entered(number, state));
        [Entry::Reserved(reserved)].into_iter().chain(open).collect()
    }
}

/// The agreements of one coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Ledger<T> {
    me: ActorId,
    next: u64,
    /// The first number that is not reserved.
    reserved: u64,
    pub(crate) open: BTreeMap<u64, T>,
}

impl<T: Payload> Ledger<T> {
    pub(crate) fn start(me: ActorId, records: Vec<Entry<T>>) -> Ledger<T> {
        let (reserved, open) = Entry::replay(records);
        Ledger { me, next: reserved, reserved, open }
    }

    /// Returns a number that was never used.
    pub(crate) fn number<M, X, E>(&mut self, out: &mut Vec<Output<M, Entry<T>, X, E>>) -> u64 {
        if self.next >= self.reserved {
            self.reserved = self.next + BLOCK;
            out.push(Output::Persist(Entry::Reserved(self.reserved)));
        }
        self.next += 1;
        self.next - 1
    }

    /// Uses no number below this one any more.
    pub(crate) fn skip_to(&mut self, number: u64) {
        self.next = self.next.max(number);
    }

    /// Returns whether the number was used for an agreement that has ended.
    pub(crate) fn is_settled(&self, number: u64) -> bool {
        number < self.next && !self.open.contains_key(&number)
    }

    /// Enters a state, which is on record before another actor is notified of it.
    pub(crate) fn enter<M, X, E>(
        &mut self,
        number: u64,
        state: T,
        out: &mut Vec<Output<M, Entry<T>, X, E>>,
    ) {
        out.push(Output::Persist(Entry::Entered(number, state.clone())));
        self.open.insert(number, state);
    }

    /// Forgets an agreement.
    pub(crate) fn over<M, X, E>(&mut self, number: u64, out: &mut Vec<Output<M, Entry<T>, X, E>>) {
        if self.open.remove(&number).is_some() {
            out.push(Output::Persist(Entry::Over(number)));
        }
    }

    /// The number in a message, if the message is about an agreement of this coordinator.
    pub(crate) fn mine(&self, id: AgreementId) -> Option<u64> {
        (id.coordinator == self.me).then_some(id.number)
    }

    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.open.keys().copied().collect()
    }

    /// Sends a message about an agreement to a participant.
    pub(crate) fn send<B: Body, X, E>(
        &self,
        to: ActorId,
        number: u64,
        body: B,
        out: &mut Vec<Output<Said<B>, Entry<T>, X, E>>,
    ) {
        let (id, settled) = self.heading(number);
        out.push(Output::Send { to, message: Said { id, settled, body } });
    }

    /// The name of an agreement, and the number below which all have ended.
    pub(crate) fn heading(&self, number: u64) -> (AgreementId, u64) {
        let settled = self.open.keys().next().copied().unwrap_or(self.next);
        (AgreementId { coordinator: self.me, number }, settled)
    }
}

/// Durable state of a participant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Note<T: Payload> {
    /// It has entered this state in this agreement.
    Entered(AgreementId, T),
    /// All agreements of this coordinator with smaller numbers have ended.
    Settled(ActorId, u64),
}

impl<T: Payload> Record for Note<T> {
    fn compact(records: Vec<Note<T>>) -> Vec<Note<T>> {
        let Memory { states, settled } = Memory::start(records);
        let settled = settled.into_iter().map(|(who, number)| Note::Settled(who, number));
        settled.chain(states.into_iter().map(|(id, state)| Note::Entered(id, state))).collect()
    }
}

/// The agreements in which one participant takes part.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Memory<T> {
    pub(crate) states: BTreeMap<AgreementId, T>,
    /// By coordinator: all smaller numbers have ended.
    pub(crate) settled: BTreeMap<ActorId, u64>,
}

impl<T: Payload> Memory<T> {
    pub(crate) fn start(records: impl IntoIterator<Item = Note<T>>) -> Memory<T> {
        let mut memory = Memory { states: BTreeMap::new(), settled: BTreeMap::new() };
        for record in records {
            match record {
                Note::Entered(id, state) => {
                    memory.states.insert(id, state);
                }
                Note::Settled(coordinator, number) => {
                    memory.settled.insert(coordinator, number);
                    memory.drop_before(coordinator, number);
                }
            }
        }
        memory
    }

    /// Applies the settled number of a message. Returns whether the message itself still matters, and the
    /// dropped states of ended agreements.
    pub(crate) fn hear<M, X, E>(
        &mut self,
        id: AgreementId,
        settled: u64,
        out: &mut Vec<Output<M, Note<T>, X, E>>,
    ) -> (bool, Vec<(AgreementId, T)>) {
        let known = self.settled.entry(id.coordinator).or_default();
        let news = settled > *known;
        *known = settled.max(*known);
        let current = id.number >= *known;
        let mut dropped = Vec::new();
        if news {
            out.push(Output::Persist(Note::Settled(id.coordinator, settled)));
            dropped = self.drop_before(id.coordinator, settled);
        }
        (current, dropped)
    }

    fn drop_before(&mut self, coordinator: ActorId, number: u64) -> Vec<(AgreementId, T)> {
        let first = AgreementId { coordinator, number: 0 };
        let end = AgreementId { coordinator, number };
        let old: Vec<AgreementId> = self.states.range(first..end).map(|(&id, _)| id).collect();
        old.into_iter().filter_map(|id| Some((id, self.states.remove(&id)?))).collect()
    }

    /// Enters a state, which is on record before another actor is notified of it.
    pub(crate) fn enter<M, X, E>(
        &mut self,
        id: AgreementId,
        state: T,
        out: &mut Vec<Output<M, Note<T>, X, E>>,
    ) {
        out.push(Output::Persist(Note::Entered(id, state.clone())));
        self.states.insert(id, state);
    }

    /// The number below which all agreements of a coordinator have ended.
    pub(crate) fn settled_by(&self, coordinator: ActorId) -> u64 {
        self.settled.get(&coordinator).copied().unwrap_or_default()
    }

    /// Sends a message about an agreement to its coordinator.
    pub(crate) fn answer<B: Body, X, E>(
        &self,
        id: AgreementId,
        body: B,
        out: &mut Vec<Output<Said<B>, Note<T>, X, E>>,
    ) {
        let settled = self.settled_by(id.coordinator);
        out.push(Output::Send { to: id.coordinator, message: Said { id, settled, body } });
    }
}
