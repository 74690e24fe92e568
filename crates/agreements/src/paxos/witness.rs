//! Acceptors, which remember votes, and leaders, which find the decision. One actor can be both.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use super::{Ballot, Choice, Choices, Paxos, PaxosRules, commits};
use crate::ledger::{Memory, Note};
use crate::protocol::{Machine, Outputs, Said};
use crate::{AgreementId, Output, Subject};

/// Recorded state of a witness in an agreement.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Seat<S: Subject> {
    /// As an acceptor it takes part in no lower ballot.
    promised: u64,
    /// The votes that it accepted last, with their ballots.
    accepted: BTreeMap<ActorId, (u64, Choice<S>)>,
    /// As a leader it has used no higher ballot.
    led: u64,
}

impl<S: Subject> Default for Seat<S> {
    fn default() -> Self {
        Seat { promised: 0, accepted: BTreeMap::new(), led: 0 }
    }
}

/// Progress of a leader with an agreement. Lost in a crash: waiting actors ask again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct Lead<S: Subject> {
    parts: Vec<ActorId>,
    /// The highest ballot seen so far.
    seen: u64,
    ballots: u32,
    phase: Phase<S>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
enum Phase<S: Subject> {
    /// Participants vote at ballot 0; these acceptors have all votes.
    Voting(BTreeMap<ActorId, Choices<S>>),
    Asking {
        ballot: u64,
        promised: BTreeMap<ActorId, BTreeMap<ActorId, (u64, Choice<S>)>>,
    },
    Proposing {
        ballot: u64,
        accepted: BTreeSet<ActorId>,
    },
    Decided(Choices<S>),
}

/// A leader and acceptor.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Witness<S: Subject> {
    me: ActorId,
    rules: PaxosRules,
    seats: Memory<Seat<S>>,
    leads: BTreeMap<AgreementId, Lead<S>>,
}

type Out<S> = Outputs<Paxos<S>, Witness<S>>;

impl<S: Subject> Witness<S> {
    fn send(&self, to: ActorId, id: AgreementId, body: Ballot<S>, out: &mut Out<S>) {
        let settled = self.seats.settled_by(id.coordinator);
        out.push(Output::Send { to, message: Said { id, settled, body } });
    }

    fn seat(&self, id: AgreementId) -> Seat<S> {
        self.seats.states.get(&id).cloned().unwrap_or_default()
    }

    // As an acceptor.

    fn on_vote(
        &mut self,
        id: AgreementId,
        from: ActorId,
        choice: Choice<S>,
        parts: u32,
        out: &mut Out<S>,
    ) {
        let mut seat = self.seat(id);
        // A promise to a higher ballot excludes votes at ballot 0.
        if seat.promised > 0 {
            return;
        }
        if let Entry::Vacant(vote) = seat.accepted.entry(from) {
            vote.insert((0, choice));
            self.seats.enter(id, seat.clone(), out);
        }
        if seat.accepted.len() == parts as usize {
            let choices = seat.accepted.into_iter().map(|(who, (_, it))| (who, it)).collect();
            self.send(self.rules.leader, id, Ballot::Accepted { ballot: 0, choices }, out);
        }
    }

    fn on_ask(&mut self, id: AgreementId, from: ActorId, ballot: u64, out: &mut Out<S>) {
        let mut seat = self.seat(id);
        if ballot < seat.promised {
            self.send(from, id, Ballot::Outbid { ballot: seat.promised }, out);
            return;
        }
        let accepted = seat.accepted.clone();
        if ballot > seat.promised {
            seat.promised = ballot;
            self.seats.enter(id, seat, out);
        }
        self.send(from, id, Ballot::Promised { ballot, accepted }, out);
    }

    fn on_propose(
        &mut self,
        id: AgreementId,
        from: ActorId,
        ballot: u64,
        choices: Choices<S>,
        out: &mut Out<S>,
    ) {
        let mut seat = self.seat(id);
        if ballot < seat.promised {
            self.send(from, id, Ballot::Outbid { ballot: seat.promised }, out);
            return;
        }
        seat.promised = ballot;
        let accepted = choices.iter().map(|(&who, choice)| (who, (ballot, choice.clone())));
        seat.accepted = accepted.collect();
        self.seats.enter(id, seat, out);
        self.send(from, id, Ballot::Accepted { ballot, choices }, out);
    }

    // As a leader.

    fn on_begin(
        &mut self,
        now: Time,
        id: AgreementId,
        parts: BTreeMap<ActorId, S::Request>,
        out: &mut Out<S>,
    ) {
        let all: Vec<ActorId> = parts.keys().copied().collect();
        match self.leads.get(&id) {
            Some(Lead { phase: Phase::Decided(choices), .. }) => {
                let choices = choices.clone();
                self.announce(id, choices, out);
            }
            // A repeated request while the decision is in progress.
            Some(_) => {}
            None if self.me == self.rules.leader => {
                let phase = Phase::Voting(BTreeMap::new());
                let lead = Lead { parts: all.clone(), seen: 0, ballots: 0, phase };
                self.leads.insert(id, lead);
                out.push(Output::Set { timer: id, at: now + self.rules.patience });
                for (who, request) in parts {
                    self.send(who, id, Ballot::Prepare { request, parts: all.clone() }, out);
                }
            }
            None => self.take_over(now, id, all, out),
        }
    }

    fn on_inquire(
        &mut self,
        now: Time,
        id: AgreementId,
        from: ActorId,
        parts: Vec<ActorId>,
        out: &mut Out<S>,
    ) {
        match self.leads.get(&id) {
            Some(Lead { phase: Phase::Decided(choices), .. }) => {
                let body = if commits(choices) { Ballot::Commit } else { Ballot::Abort };
                self.send(from, id, body, out);
            }
            Some(_) => {}
            None => self.take_over(now, id, parts, out),
        }
    }

    fn take_over(&mut self, now: Time, id: AgreementId, parts: Vec<ActorId>, out: &mut Out<S>) {
        let phase = Phase::Voting(BTreeMap::new());
        self.leads.insert(id, Lead { parts, seen: 0, ballots: 0, phase });
        self.bid(now, id, out);
    }

    /// Asks for promises at a ballot of its own that is higher than all known ones.
    fn bid(&mut self, now: Time, id: AgreementId, out: &mut Out<S>) {
        let mut seat = self.seat(id);
        let Some(lead) = self.leads.get_mut(&id) else { return };
        let leaders = self.rules.leaders();
        let count = leaders.len() as u64;
        let place = leaders.iter().position(|&it| it == self.me).unwrap_or(0) as u64;
        let above = lead.seen.max(seat.led).max(seat.promised);
        let ballot = (above / count + 1) * count + place;
        lead.phase = Phase::Asking { ballot, promised: BTreeMap::new() };
        // Leaders that outbid each other must become slower, at different rates.
        let wait = self.rules.retry.unwrap_or(self.rules.patience).max(Span::TICK);
        let at = now + wait * ((place as i64 + 1) << lead.ballots.min(20));
        lead.ballots += 1;
        seat.led = ballot;
        self.seats.enter(id, seat, out);
        out.push(Output::Set { timer: id, at });
        for &acceptor in &self.rules.acceptors {
            self.send(acceptor, id, Ballot::Ask { ballot }, out);
        }
    }

    fn on_promised(
        &mut self,
        id: AgreementId,
        from: ActorId,
        ballot: u64,
        accepted: BTreeMap<ActorId, (u64, Choice<S>)>,
        out: &mut Out<S>,
    ) {
        let quorum = self.rules.quorum();
        let Some(Lead { parts, phase, .. }) = self.leads.get_mut(&id) else { return };
        let Phase::Asking { ballot: asked, promised } = phase else { return };
        if *asked != ballot {
            return;
        }
        promised.insert(from, accepted);
        if promised.len() < quorum {
            return;
        }
        // The vote of the highest ballot may have been decided already, so it is kept.
        let last = |who: &ActorId| {
            let accepted = promised.values().filter_map(|accepted| accepted.get(who));
            let last = accepted.max_by_key(|(ballot, _)| *ballot);
            (*who, last.map_or(Choice::Aborted(None), |(_, choice)| choice.clone()))
        };
        let choices: Choices<S> = parts.iter().map(last).collect();
        *phase = Phase::Proposing { ballot, accepted: BTreeSet::new() };
        for &acceptor in &self.rules.acceptors {
            let choices = choices.clone();
            self.send(acceptor, id, Ballot::Propose { ballot, choices }, out);
        }
    }

    fn on_accepted(
        &mut self,
        id: AgreementId,
        from: ActorId,
        said: u64,
        choices: Choices<S>,
        out: &mut Out<S>,
    ) {
        let quorum = self.rules.quorum();
        let Some(Lead { phase, .. }) = self.leads.get_mut(&id) else { return };
        let count = match phase {
            Phase::Voting(reports) if said == 0 => {
                reports.insert(from, choices.clone());
                reports.len()
            }
            Phase::Proposing { ballot, accepted } if *ballot == said => {
                accepted.insert(from);
                accepted.len()
            }
            _ => return,
        };
        if count >= quorum {
            *phase = Phase::Decided(choices.clone());
            out.push(Output::Stop(id));
            self.announce(id, choices, out);
        }
    }

    /// Sends the decision to all participants and to the coordinator.
    fn announce(&self, id: AgreementId, choices: Choices<S>, out: &mut Out<S>) {
        let body = if commits(&choices) { Ballot::Commit } else { Ballot::Abort };
        for &who in choices.keys() {
            self.send(who, id, body.clone(), out);
        }
        self.send(id.coordinator, id, Ballot::Outcome { choices }, out);
    }
}

impl<S: Subject> Machine<Paxos<S>> for Witness<S> {
    type Record = Note<Seat<S>>;
    type Timer = AgreementId;
    type News = ();

    fn start(
        me: ActorId,
        rules: &PaxosRules,
        records: Vec<Note<Seat<S>>>,
        _: Time,
        _: &mut Out<S>,
    ) -> Self {
        let (seats, leads) = (Memory::start(records), BTreeMap::new());
        Witness { me, rules: rules.clone(), seats, leads }
    }

    fn on_message(&mut self, now: Time, from: ActorId, message: Said<Ballot<S>>, out: &mut Out<S>) {
        let Said { id, settled, body } = message;
        let (current, _) = self.seats.hear(id, settled, out);
        let over = |it: &AgreementId| it.coordinator == id.coordinator && it.number < settled;
        for id in self.leads.keys().filter(|it| over(it)).copied().collect::<Vec<_>>() {
            self.leads.remove(&id);
            out.push(Output::Stop(id));
        }
        if !current {
            // A leader that does not know that the agreement is settled would ask for ever.
            if matches!(body, Ballot::Ask { .. } | Ballot::Propose { .. }) {
                self.send(from, id, Ballot::Outbid { ballot: 0 }, out);
            }
            return;
        }
        match body {
            Ballot::Begin { parts } => self.on_begin(now, id, parts, out),
            Ballot::Vote { choice, parts } => self.on_vote(id, from, choice, parts, out),
            Ballot::Ask { ballot } => self.on_ask(id, from, ballot, out),
            Ballot::Promised { ballot, accepted } => {
                self.on_promised(id, from, ballot, accepted, out);
            }
            Ballot::Outbid { ballot } => {
                if let Some(lead) = self.leads.get_mut(&id) {
                    lead.seen = lead.seen.max(ballot);
                }
            }
            Ballot::Propose { ballot, choices } => {
                self.on_propose(id, from, ballot, choices, out);
            }
            Ballot::Accepted { ballot, choices } => {
                self.on_accepted(id, from, ballot, choices, out);
            }
            Ballot::Inquire { parts } => self.on_inquire(now, id, from, parts, out),
            _ => {}
        }
    }

    /// Votes, promises or acceptances are missing, so it bids again.
    fn on_timer(&mut self, now: Time, id: AgreementId, out: &mut Out<S>) {
        if !matches!(self.leads.get(&id), None | Some(Lead { phase: Phase::Decided(_), .. })) {
            self.bid(now, id, out);
        }
    }
}
