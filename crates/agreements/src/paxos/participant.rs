//! The machine that holds a part and votes.

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use super::{Ballot, Choice, Paxos, PaxosRules};
use crate::ledger::{Memory, Note};
use crate::protocol::{Bound, Duty, Machine, Outputs, Participates, Said};
use crate::{AgreementId, Output, Subject};

/// State of a participant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Stance<S: Subject> {
    /// Its owner considers it. Never persisted.
    Asked {
        /// The part to be held.
        request: S::Request,
        /// The participants.
        parts: Vec<ActorId>,
    },
    /// It has voted.
    Voted {
        /// The request.
        request: S::Request,
        /// The participants.
        parts: Vec<ActorId>,
        /// The vote.
        choice: Choice<S>,
    },
    /// It carries out its part.
    Committed(S::Request),
    /// Nothing is held, now or later.
    Over,
}

/// All agreements on which one actor votes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Voter<S: Subject> {
    rules: PaxosRules,
    memory: Memory<Stance<S>>,
    /// Number of inquiries, which selects the next leader.
    inquiries: usize,
}

type Out<S> = Outputs<Paxos<S>, Voter<S>>;

impl<S: Subject> Voter<S> {
    fn vote(&self, id: AgreementId, out: &mut Out<S>) {
        let Some(Stance::Voted { parts, choice, .. }) = self.memory.states.get(&id) else { return };
        let all = self.rules.acceptors.len();
        let written = if self.rules.economical { self.rules.quorum() } else { all };
        for &acceptor in &self.rules.acceptors[..written] {
            let body = Ballot::Vote { choice: choice.clone(), parts: parts.len() as u32 };
            self.send(acceptor, id, body, out);
        }
    }

    fn send(&self, to: ActorId, id: AgreementId, body: Ballot<S>, out: &mut Out<S>) {
        let settled = self.memory.settled_by(id.coordinator);
        out.push(Output::Send { to, message: Said { id, settled, body } });
    }

    fn enter_vote(&mut self, id: AgreementId, choice: Choice<S>, out: &mut Out<S>) -> bool {
        let Some(Stance::Asked { request, parts }) = self.memory.states.get(&id) else {
            return false;
        };
        let (request, parts) = (request.clone(), parts.clone());
        self.memory.enter(id, Stance::Voted { request, parts, choice }, out);
        self.vote(id, out);
        true
    }

    fn on_outcome(&mut self, id: AgreementId, commit: bool, out: &mut Out<S>) {
        match self.memory.states.get(&id) {
            Some(Stance::Voted { request, choice: Choice::Prepared(_), .. }) => {
                let next = if commit { Stance::Committed(request.clone()) } else { Stance::Over };
                self.memory.enter(id, next, out);
                out.push(Output::Stop(id));
                let duty = if commit { Duty::CarryOut { id } } else { Duty::GiveUp { id } };
                out.push(Output::Tell(duty));
            }
            // It is committed or over already, so a repeated outcome changes nothing.
            Some(Stance::Committed(_) | Stance::Over) => {}
            before => {
                let asked = matches!(before, Some(Stance::Asked { .. }));
                self.memory.enter(id, Stance::Over, out);
                if asked {
                    out.push(Output::Tell(Duty::GiveUp { id }));
                }
            }
        }
        if self.rules.retry.is_some() {
            self.memory.answer(id, Ballot::Known, out);
        }
    }
}

impl<S: Subject> Stance<S> {
    fn is_prepared(&self) -> bool {
        matches!(self, Stance::Voted { choice: Choice::Prepared(_), .. })
    }
}

impl<S: Subject> Machine<Paxos<S>> for Voter<S> {
    type Record = Note<Stance<S>>;
    type Timer = AgreementId;
    type News = Duty<S>;

    fn start(
        _: ActorId,
        rules: &PaxosRules,
        records: Vec<Note<Stance<S>>>,
        now: Time,
        out: &mut Out<S>,
    ) -> Self {
        let memory: Memory<Stance<S>> = Memory::start(records);
        for (&id, stance) in &memory.states {
            if stance.is_prepared() {
                out.push(Output::Set { timer: id, at: now + rules.doubt });
            } else if *stance == Stance::Over {
                out.push(Output::Tell(Duty::GiveUp { id }));
            }
        }
        Voter { rules: rules.clone(), memory, inquiries: 0 }
    }

    fn on_message(&mut self, _: Time, _: ActorId, message: Said<Ballot<S>>, out: &mut Out<S>) {
        let Said { id, settled, body } = message;
        let (current, dropped) = self.memory.hear(id, settled, out);
        for (id, stance) in dropped {
            if stance.is_prepared() && self.rules.retry.is_none() {
                // Without acknowledgements the coordinator may settle the agreement while the outcome is
                // still in transit to this participant.
                self.memory.states.insert(id, stance);
            } else if matches!(stance, Stance::Asked { .. }) || stance.is_prepared() {
                out.push(Output::Stop(id));
                out.push(Output::Tell(Duty::GiveUp { id }));
            }
        }
        if !current && !self.memory.states.get(&id).is_some_and(Stance::is_prepared) {
            return;
        }
        match body {
            Ballot::Prepare { request, parts } => match self.memory.states.get(&id) {
                None => {
                    let stance = Stance::Asked { request: request.clone(), parts };
                    self.memory.states.insert(id, stance);
                    let lease = Span::FOREVER;
                    out.push(Output::Tell(Duty::Consider { id, request, lease }));
                }
                Some(_) => self.vote(id, out),
            },
            Ballot::Commit => self.on_outcome(id, true, out),
            Ballot::Abort => self.on_outcome(id, false, out),
            _ => {}
        }
    }

    /// The decision is still unknown: it inquires at the next leader.
    fn on_timer(&mut self, now: Time, id: AgreementId, out: &mut Out<S>) {
        let Some(stance) = self.memory.states.get(&id).filter(|it| it.is_prepared()) else {
            return;
        };
        let Stance::Voted { parts, .. } = stance else { return };
        let leaders = self.rules.leaders();
        let body = Ballot::Inquire { parts: parts.clone() };
        self.send(leaders[self.inquiries % leaders.len()], id, body, out);
        self.inquiries += 1;
        out.push(Output::Set { timer: id, at: now + self.rules.doubt.max(Span::TICK) });
    }
}

impl<S: Subject> Participates<S, Out<S>> for Voter<S> {
    /// There is no lease: a prepared participant waits for a decision.
    fn ready(&mut self, now: Time, id: AgreementId, terms: S::Terms, _: Span, out: &mut Out<S>) {
        if self.enter_vote(id, Choice::Prepared(terms), out) {
            out.push(Output::Set { timer: id, at: now + self.rules.doubt.max(Span::TICK) });
        }
    }

    fn not_ready(&mut self, _: Time, id: AgreementId, counter: S::Counter, out: &mut Out<S>) {
        self.enter_vote(id, Choice::Aborted(Some(counter)), out);
    }

    fn bound(&self) -> Vec<Bound<S>> {
        let bound = |(&id, stance): (&AgreementId, &Stance<S>)| match stance {
            Stance::Voted { request, choice: Choice::Prepared(_), .. } => {
                Some(Bound { id, request: Some(request.clone()), started: false })
            }
            Stance::Committed(request) => {
                Some(Bound { id, request: Some(request.clone()), started: true })
            }
            _ => None,
        };
        self.memory.states.iter().filter_map(bound).collect()
    }
}
