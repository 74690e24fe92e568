//! Costs of agreements: messages, failed tries, time until the decision, time in doubt, processors held
//! needlessly, and parts without their group. They are counted in total and for each agreement.
//!
//! Like [contention](crate::contention) it is an observer that receives events.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::{ActorId, Span, Time};
use serde::Serialize;

use crate::AgreementId;

/// Sums over all agreements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Messages sent, by kind.
    pub messages: BTreeMap<&'static str, u64>,
    /// Number of tries opened.
    pub tries: u64,
    /// Tries that were agreed on.
    pub agreed: u64,
    /// Tries that failed before they were decided.
    pub aborts: u64,
    /// Tries that failed after they were decided.
    pub broken: u64,
    /// Time from opening to decision, over all decided tries.
    pub deciding: Span,
    /// Time of holds while the coordinator was down, or after the participant was.
    pub in_doubt: Span,
    /// Processor-microseconds held by parts that were given up.
    pub held_in_vain: i64,
    /// Costs of each agreement.
    #[serde(skip)]
    pub costs: BTreeMap<AgreementId, Cost>,
    #[serde(skip)]
    parts: BTreeMap<(ActorId, AgreementId), Part>,
}

/// Costs of one agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Its participants.
    pub asked: BTreeSet<ActorId>,
    /// Time at which it was opened.
    pub opened: Time,
    /// Time of the decision that all carry out their parts.
    pub decided: Option<Time>,
    /// Time at which it was agreed on or failed, and its end.
    pub settled: Option<(Time, End)>,
    /// Messages sent about it.
    pub messages: u64,
    /// Part-time held while its coordinator was down, or after a participant was.
    pub in_doubt: Span,
    /// Processor-microseconds held by parts that were given up.
    pub held_in_vain: i64,
}

/// End of an agreement.
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

    /// A try was opened with these participants.
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

    /// All participants agreed; only the first time counts.
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

    /// A participant holds `procs` processors for it.
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

    /// Its part has ended.
    pub fn ended(&mut self, who: ActorId, id: AgreementId) {
        self.parts.remove(&(who, id));
    }

    /// It gives its part up, whether or not the part had begun.
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

    /// An actor has crashed: parts held for it or by it are in doubt from now on.
    pub fn crashed(&mut self, now: Time, who: ActorId) {
        let concerned = |(part, id): &(ActorId, AgreementId)| id.coordinator == who || *part == who;
        for (_, part) in self.parts.iter_mut().filter(|(key, _)| concerned(key)) {
            if !part.started {
                part.doubted.get_or_insert(now);
            }
        }
    }

    /// The run has ended, and so does all doubt.
    pub fn over(&mut self, now: Time) {
        let doubted = |part: &mut Part| part.doubted.take();
        let doubts = self.parts.iter_mut().map(|((_, id), part)| (*id, doubted(part)));
        for (id, since) in doubts.collect::<Vec<_>>() {
            self.doubted(id, since, now);
        }
    }

    /// Parts that are carried out although others of their group are not, with their processors.
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
