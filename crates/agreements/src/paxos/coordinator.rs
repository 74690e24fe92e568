//! The machine that requests a group: it asks a leader, another one if that is silent, and receives the
//! outcome.

use std::collections::BTreeMap;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use super::{Ballot, Choice, Choices, Paxos, PaxosRules, commits};
use crate::ledger::{Entry, Ledger};
use crate::protocol::{Coordinates, Machine, Outputs, Parts, Said, Verdict};
use crate::{Output, Subject};

/// Recorded state of a coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum ProposerStage<S: Subject> {
    /// It has requested these parts.
    Begun(BTreeMap<ActorId, S::Request>),
    /// It knows the outcome.
    Decided {
        /// Participants and the requests to them.
        parts: BTreeMap<ActorId, S::Request>,
        /// The outcome.
        choices: Choices<S>,
        /// Participants that do not know it yet, as far as this coordinator knows.
        waiting: Vec<ActorId>,
    },
}

/// All groups that one actor requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Proposer<S: Subject> {
    rules: PaxosRules,
    stages: Ledger<ProposerStage<S>>,
    /// Number of requests to leaders; lost in a crash.
    asked: BTreeMap<u64, usize>,
}

type Out<S> = Outputs<Paxos<S>, Proposer<S>>;

impl<S: Subject> Proposer<S> {
    /// Asks the next leader.
    fn ask(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(stage) = self.stages.open.get(&number) else { return };
        let (ProposerStage::Begun(parts) | ProposerStage::Decided { parts, .. }) = stage;
        if let Some(retry) = self.rules.retry {
            out.push(Output::Set { timer: number, at: now + retry.max(Span::TICK) });
        }
        let leaders = self.rules.leaders();
        let asked = self.asked.entry(number).or_default();
        let leader = leaders[*asked % leaders.len()];
        *asked += 1;
        self.stages.send(leader, number, Ballot::Begin { parts: parts.clone() }, out);
    }

    fn decided(&mut self, number: u64, choices: Choices<S>, out: &mut Out<S>) {
        let Some(ProposerStage::Begun(parts)) = self.stages.open.get(&number) else { return };
        let parts = parts.clone();
        let waiting = parts.keys().copied().collect();
        let stage = ProposerStage::Decided { parts, choices: choices.clone(), waiting };
        self.stages.enter(number, stage, out);
        out.push(Output::Tell(verdict(number, choices)));
        if self.rules.retry.is_none() {
            self.forget(number, out);
        }
    }

    fn forget(&mut self, number: u64, out: &mut Out<S>) {
        self.asked.remove(&number);
        out.push(Output::Stop(number));
        self.stages.over(number, out);
    }
}

fn verdict<S: Subject>(number: u64, choices: Choices<S>) -> Verdict<S> {
    let all = commits(&choices);
    let (mut terms, mut counters) = (BTreeMap::new(), BTreeMap::new());
    for (who, choice) in choices {
        match choice {
            Choice::Prepared(it) => drop(terms.insert(who, it)),
            Choice::Aborted(Some(it)) => drop(counters.insert(who, it)),
            Choice::Aborted(None) => {}
        }
    }
    if all { Verdict::Agreed { number, terms } } else { Verdict::Failed { number, counters } }
}

impl<S: Subject> Machine<Paxos<S>> for Proposer<S> {
    type Record = Entry<ProposerStage<S>>;
    type Timer = u64;
    type News = Verdict<S>;

    fn start(
        me: ActorId,
        rules: &PaxosRules,
        records: Vec<Entry<ProposerStage<S>>>,
        now: Time,
        out: &mut Out<S>,
    ) -> Self {
        let stages: Ledger<ProposerStage<S>> = Ledger::start(me, records);
        let mut proposer = Proposer { rules: rules.clone(), stages, asked: BTreeMap::new() };
        for (number, stage) in proposer.stages.open.clone() {
            if let ProposerStage::Decided { choices, .. } = stage {
                out.push(Output::Tell(verdict(number, choices)));
            }
            proposer.ask(now, number, out);
        }
        proposer
    }

    fn on_message(&mut self, _: Time, from: ActorId, message: Said<Ballot<S>>, out: &mut Out<S>) {
        let Some(number) = self.stages.mine(message.id) else { return };
        match message.body {
            Ballot::Outcome { choices } => self.decided(number, choices, out),
            Ballot::Known => {
                let Some(ProposerStage::Decided { waiting, .. }) =
                    self.stages.open.get_mut(&number)
                else {
                    return;
                };
                waiting.retain(|&who| who != from);
                if waiting.is_empty() {
                    self.forget(number, out);
                }
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        self.ask(now, number, out);
    }
}

impl<S: Subject> Coordinates<S, Out<S>> for Proposer<S> {
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut Out<S>) -> Option<u64> {
        let number = self.stages.number(out);
        self.stages.enter(number, ProposerStage::Begun(parts.into_iter().collect()), out);
        self.ask(now, number, out);
        Some(number)
    }

    /// Makes another leader decide at once with the present votes. Its decision is reported as usual; all
    /// may be prepared.
    fn close(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        if let Some(ProposerStage::Begun(_)) = self.stages.open.get(&number) {
            self.ask(now, number, out);
        }
    }

    fn open_numbers(&self) -> Vec<u64> {
        self.stages.numbers()
    }
}
