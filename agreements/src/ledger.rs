//! What every coordinator and every participant keeps: agreements by their names, in memory and
//! on record, and from which number on messages are of interest.

use std::collections::BTreeMap;

use haggle_model::ActorId;
use serde::{Deserialize, Serialize};

use crate::protocol::{Body, Said};
use crate::{AgreementId, Output, Payload, Record};

/// Numbers set aside by one record: those that were not used before a crash never are.
const BLOCK: u64 = 1024;

/// What a coordinator must not forget.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Entry<T: Payload> {
    /// Smaller numbers may have been used.
    Reserved(u64),
    /// The agreement with this number got into this state.
    Entered(u64, T),
    /// Nobody will ask about it any more.
    Over(u64),
}

impl<T: Payload> Entry<T> {
    /// The numbers set aside, and the agreements that are open.
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
#[derive(Clone, Debug)]
pub(crate) struct Ledger<T> {
    me: ActorId,
    next: u64,
    /// The first number that is not set aside.
    reserved: u64,
    pub(crate) open: BTreeMap<u64, T>,
}

impl<T: Payload> Ledger<T> {
    pub(crate) fn start(me: ActorId, records: Vec<Entry<T>>) -> Ledger<T> {
        let (reserved, open) = Entry::replay(records);
        Ledger { me, next: reserved, reserved, open }
    }

    /// A number that was never used.
    pub(crate) fn number<M, X, E>(&mut self, out: &mut Vec<Output<M, Entry<T>, X, E>>) -> u64 {
        if self.next == self.reserved {
            self.reserved += BLOCK;
            out.push(Output::Persist(Entry::Reserved(self.reserved)));
        }
        self.next += 1;
        self.next - 1
    }

    /// Gets into a state, which is on record before anybody hears of it.
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

    /// The number in a message, if that is about an agreement of this coordinator.
    pub(crate) fn mine(&self, id: AgreementId) -> Option<u64> {
        (id.coordinator == self.me).then_some(id.number)
    }

    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.open.keys().copied().collect()
    }

    /// Says something about an agreement to somebody.
    pub(crate) fn send<B: Body, X, E>(
        &self,
        to: ActorId,
        number: u64,
        body: B,
        out: &mut Vec<Output<Said<B>, Entry<T>, X, E>>,
    ) {
        let id = AgreementId { coordinator: self.me, number };
        let settled = self.open.keys().next().copied().unwrap_or(self.next);
        out.push(Output::Send { to, message: Said { id, settled, body } });
    }
}

/// What a participant must not forget.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Note<T: Payload> {
    /// It got into this state in this agreement.
    Entered(AgreementId, T),
    /// All agreements of this coordinator with smaller numbers are over.
    Settled(ActorId, u64),
}

impl<T: Payload> Record for Note<T> {
    fn compact(records: Vec<Note<T>>) -> Vec<Note<T>> {
        let Memory { states, settled } = Memory::start(records);
        let settled = settled.into_iter().map(|(who, number)| Note::Settled(who, number));
        settled.chain(states.into_iter().map(|(id, state)| Note::Entered(id, state))).collect()
    }
}

/// The agreements that one participant takes part in.
#[derive(Clone, Debug)]
pub(crate) struct Memory<T> {
    pub(crate) states: BTreeMap<AgreementId, T>,
    /// By coordinator: all smaller numbers are over.
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

    /// Takes down what a message says is over. Returns the states that it has in these
    /// agreements no more, and whether the message itself is still of interest.
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

    /// Gets into a state, which is on record before anybody hears of it.
    pub(crate) fn enter<M, X, E>(
        &mut self,
        id: AgreementId,
        state: T,
        out: &mut Vec<Output<M, Note<T>, X, E>>,
    ) {
        out.push(Output::Persist(Note::Entered(id, state.clone())));
        self.states.insert(id, state);
    }

    /// All agreements of a coordinator with smaller numbers are over.
    pub(crate) fn settled_by(&self, coordinator: ActorId) -> u64 {
        self.settled.get(&coordinator).copied().unwrap_or_default()
    }

    /// Says something about an agreement to its coordinator.
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
