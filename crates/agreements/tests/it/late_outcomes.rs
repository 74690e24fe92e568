//! What is decided reaches a participant later than that it is settled.

use haggle_agreements::paxos::{Ballot, Paxos, PaxosRules};
use haggle_agreements::protocol::{Duty, Machine, Participates, Protocol, Said};
use haggle_agreements::{AgreementId, Output};
use haggle_model::{ActorId, Span, Time};

use crate::arena::{Room, procs};

type Voter = <Paxos<Room> as Protocol>::Participant;

/// Without `retry` nobody acknowledges an outcome: a leader tells the coordinator and the participants, and
/// the coordinator says of it that it is settled as soon as it hears of it.
#[test]
fn who_is_prepared_waits_for_the_outcome_that_others_know() {
    let (coordinator, leader, me) = (ActorId(1), ActorId(2), ActorId(3));
    let rules = PaxosRules {
        leader,
        acceptors: vec![leader],
        economical: false,
        patience: Span::from_secs(10),
        doubt: Span::from_secs(10),
        retry: None,
    };
    let mut out = Vec::new();
    let mut voter = Voter::start(me, &rules, Vec::new(), Time::ZERO, &mut out);
    let id = |number| AgreementId { coordinator, number };
    let prepare = || Ballot::Prepare { request: procs(1), parts: vec![me] };
    let said = |number, settled, body| Said { id: id(number), settled, body };
    voter.on_message(Time::ZERO, leader, said(0, 0, prepare()), &mut out);
    voter.ready(Time::ZERO, id(0), Time::ZERO, Span::FOREVER, &mut out);
    // Of the next agreement it hears first.
    out.clear();
    voter.on_message(Time::from_secs(1), leader, said(1, 1, prepare()), &mut out);
    assert!(!out.contains(&Output::Tell(Duty::GiveUp { id: id(0) })), "{out:?}");
    voter.on_message(Time::from_secs(2), leader, said(0, 0, Ballot::Commit), &mut out);
    assert!(out.contains(&Output::Tell(Duty::CarryOut { id: id(0) })), "{out:?}");
}
