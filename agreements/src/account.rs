//! What agreements cost: messages, failed tries, time until they are decided, time in doubt,
//! processors held in vain, and parts left without their group. Of all together, and of each.
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
    /// What each of them cost.
    #[serde(skip)]
    pub costs: BTreeMap<AgreementId, Cost>,
    #[serde(skip)]
    parts: BTreeMap<(ActorId, AgreementId), Part>,
}

/// What one agreement cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Who was asked.
    pub asked: BTreeSet<ActorId>,
    /// When it was opened.
    pub opened: Time,
    /// When it was decided that all carry out their parts.
    pub decided: Option<Time>,
    /// When it was agreed on, or had failed, and how that ended.
    pub settled: Option<(Time, End)>,
    /// Messages sent about it.
    pub messages: u64,
    /// Part-time held while its coordinator was down, or after a participant was.
    pub in_doubt: Span,
    /// Processor-microseconds held by parts that were given up.
    pub held_in_vain: i64,
}

/// How an agreement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All carry out their parts.
    Agreed,
    /// It failed before it was decided.
    Failed,
    /// It failed after it was decided.
    Broken,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    procs: u32,
    since: Time,
    doubted: Option<Time>,
    started: bool,
}

impl Account {
    /// A message was sent about an agreement.
    pub fn sent(&mut self, id: AgreementId, kind: &'static str) {
        *self.messages.entry(kind).or_default() += 1;
        if let Some(cost) = self.costs.get_mut(&id) {
            cost.messages += 1;
        }
    }

    /// All messages sent.
    pub fn messages(&self) -> u64 {
        self.messages.values().sum()
    }

    /// A try was opened that asks these.
    pub fn opened(&mut self, now: Time, id: AgreementId, asked: BTreeSet<ActorId>) {
        self.tries += 1;
        let cost = Cost {
            asked,
            opened: now,
            decided: None,
            settled: None,
            messages: 0,
            in_doubt: Span::ZERO,
            held_in_vain: 0,
        };
        self.costs.insert(id, cost);
    }

    /// It was decided that all carry out their parts; only the first time counts.
    pub fn decided(&mut self, now: Time, id: AgreementId) {
        let open = |it: &&mut Cost| it.decided.is_none() && it.settled.is_none();
        if let Some(cost) = self.costs.get_mut(&id).filter(open) {
            cost.decided = Some(now);
            self.deciding += now - cost.opened;
        }
    }

    /// All were agreed on it; only the first time counts.
    pub fn agreed(&mut self, now: Time, id: AgreementId) {
        self.decided(now, id);
        self.agreed += 1;
        self.settle(now, id, End::Agreed);
    }

    /// It failed.
    pub fn failed(&mut self, now: Time, id: AgreementId) {
        let decided = self.costs.get(&id).is_none_or(|it| it.decided.is_some());
        if decided {
            self.broken += 1;
            self.settle(now, id, End::Broken);
        } else {
            self.aborts += 1;
            self.settle(now, id, End::Failed);
        }
    }

    fn settle(&mut self, now: Time, id: AgreementId, end: End) {
        if let Some(cost) = self.costs.get_mut(&id) {
            cost.settled = Some((now, end));
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
            self.doubted(id, doubted, now);
        }
    }

    /// Its part has come to its end.
    pub fn ended(&mut self, who: ActorId, id: AgreementId) {
        self.parts.remove(&(who, id));
    }

    /// It gives its part up, whether or not it had begun.
    pub fn given_up(&mut self, now: Time, who: ActorId, id: AgreementId) {
        if let Some(part) = self.parts.remove(&(who, id)) {
            let held = (now - part.since).as_micros() * i64::from(part.procs);
            self.held_in_vain += held;
            if let Some(cost) = self.costs.get_mut(&id) {
                cost.held_in_vain += held;
            }
            self.doubted(id, part.doubted, now);
        }
    }

    fn doubted(&mut self, id: AgreementId, since: Option<Time>, now: Time) {
        let Some(since) = since else { return };
        self.in_doubt += now - since;
        if let Some(cost) = self.costs.get_mut(&id) {
            cost.in_doubt += now - since;
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

    /// It is over: who is in doubt was until now.
    pub fn over(&mut self, now: Time) {
        let doubted = |part: &mut Part| part.doubted.take();
        let doubts = self.parts.iter_mut().map(|((_, id), part)| (*id, doubted(part)));
        for (id, since) in doubts.collect::<Vec<_>>() {
            self.doubted(id, since, now);
        }
    }

    /// Parts that are carried out although others of their group are not, with their
    /// processors.
    pub fn orphans(&self) -> Vec<(ActorId, AgreementId, u32)> {
        let started = |who: ActorId, id: AgreementId| {
            self.parts.get(&(who, id)).is_some_and(|part| part.started)
        };
        let torn = |id: AgreementId| {
            let cost = self.costs.get(&id);
            cost.is_some_and(|cost| !cost.asked.iter().all(|&who| started(who, id)))
        };
        self.parts
            .iter()
            .filter(|((_, id), part)| part.started && torn(*id))
            .map(|(&(who, id), part)| (who, id, part.procs))
            .collect()
    }
}
