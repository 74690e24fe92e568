//! What agreements cost: messages, failed tries, time until they are decided, time in doubt,
//! processors held in vain, and parts left without their group.
//!
//! Like [contention](crate::contention) it looks on and is told what happens.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::{ActorId, Span, Time};
use serde::Serialize;

use crate::AgreementId;

/// Sums over all agreements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Messages sent, by kind.
    pub messages: BTreeMap<&'static str, u64>,
    /// Tries that were opened.
    pub tries: u64,
    /// Those that were agreed on.
    pub agreed: u64,
    /// Those that failed before they were decided.
    pub aborts: u64,
    /// Those that failed after they were decided.
    pub broken: u64,
    /// From opening to decision, of all that were decided.
    pub deciding: Span,
    /// Held while the coordinator was down, or after the participant was.
    pub in_doubt: Span,
    /// Processor-microseconds held by parts that were given up.
    pub held_in_vain: i64,
    #[serde(skip)]
    open: BTreeMap<AgreementId, Time>,
    #[serde(skip)]
    parts: BTreeMap<(ActorId, AgreementId), Part>,
    #[serde(skip)]
    asked: BTreeMap<AgreementId, BTreeSet<ActorId>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    procs: u32,
    since: Time,
    doubted: Option<Time>,
    started: bool,
}

impl Account {
    /// A message was sent.
    pub fn sent(&mut self, kind: &'static str) {
        *self.messages.entry(kind).or_default() += 1;
    }

    /// All messages sent.
    pub fn messages(&self) -> u64 {
        self.messages.values().sum()
    }

    /// A try was opened that asks these.
    pub fn opened(&mut self, now: Time, id: AgreementId, asked: BTreeSet<ActorId>) {
        self.tries += 1;
        self.open.insert(id, now);
        self.asked.insert(id, asked);
    }

    /// It was decided that all carry out their parts; only the first time counts.
    pub fn decided(&mut self, now: Time, id: AgreementId) {
        if let Some(opened) = self.open.remove(&id) {
            self.deciding += now - opened;
        }
    }

    /// All were agreed on it; only the first time counts.
    pub fn agreed(&mut self, now: Time, id: AgreementId) {
        self.decided(now, id);
        self.agreed += 1;
    }

    /// It failed.
    pub fn failed(&mut self, id: AgreementId) {
        match self.open.remove(&id) {
            Some(_) => self.aborts += 1,
            None => self.broken += 1,
        }
    }

    /// A participant holds so many processors for it.
    pub fn held(&mut self, now: Time, who: ActorId, id: AgreementId, procs: u32) {
        let part = Part { procs, since: now, doubted: None, started: false };
        self.parts.entry((who, id)).or_insert(part);
    }

    /// It carries out its part.
    pub fn started(&mut self, now: Time, who: ActorId, id: AgreementId) {
        if let Some(part) = self.parts.get_mut(&(who, id)) {
            part.started = true;
            let doubted = part.doubted.take();
            self.in_doubt += doubted.map_or(Span::ZERO, |since| now - since);
        }
    }

    /// Its part has come to its end.
    pub fn ended(&mut self, who: ActorId, id: AgreementId) {
        self.parts.remove(&(who, id));
    }

    /// It gives its part up, whether or not it had begun.
    pub fn given_up(&mut self, now: Time, who: ActorId, id: AgreementId) {
        if let Some(part) = self.parts.remove(&(who, id)) {
            self.held_in_vain += (now - part.since).as_micros() * i64::from(part.procs);
            let doubted = part.doubted.map_or(Span::ZERO, |since| now - since);
            self.in_doubt += doubted;
        }
    }

    /// An actor has crashed: who holds something for it is in doubt from now on.
    pub fn crashed(&mut self, now: Time, who: ActorId) {
        let concerned = |(part, id): &(ActorId, AgreementId)| id.coordinator == who || *part == who;
        for (_, part) in self.parts.iter_mut().filter(|(key, _)| concerned(key)) {
            if !part.started {
                part.doubted.get_or_insert(now);
            }
        }
    }

    /// Parts that are carried out although others of their group are not, with their
    /// processors.
    pub fn orphans(&self) -> Vec<(ActorId, AgreementId, u32)> {
        let started = |who: ActorId, id: AgreementId| {
            self.parts.get(&(who, id)).is_some_and(|part| part.started)
        };
        let whole = |id: AgreementId| self.asked[&id].iter().all(|&who| started(who, id));
        self.parts
            .iter()
            .filter(|((_, id), part)| part.started && self.asked.contains_key(id) && !whole(*id))
            .map(|(&(who, id), part)| (who, id, part.procs))
            .collect()
    }
}
