//! What acceptors and leaders must not forget: histories that random ones hardly meet.

use std::collections::BTreeMap;

use haggle_agreements::paxos::{Ballot, Choice, Paxos, PaxosRules, Seat, Witness};
use haggle_agreements::protocol::{Machine, Outputs, Said};
use haggle_agreements::{AgreementId, Note, Output};
use haggle_model::{Span, Time};

use crate::arena::{Room, coordinator, participant, procs, witness};

type Records = Vec<Note<Seat<Room>>>;

fn rules() -> PaxosRules {
    PaxosRules {
        leader: witness(0),
        acceptors: (1..4).map(witness).collect(),
        economical: false,
        patience: Span::TICK,
        doubt: Span::TICK,
        retry: Some(Span::TICK),
    }
}

/// Starts the first acceptor from these records and tells it this; adds what it persists.
fn tell(records: &mut Records, from: u32, body: Ballot<Room>) -> Vec<Ballot<Room>> {
    let mut out: Outputs<Paxos<Room>, Witness<Room>> = Vec::new();
    let start = Witness::<Room>::start;
    let mut machine = start(witness(1), &rules(), records.clone(), Time::ZERO, &mut out);
    let id = AgreementId { coordinator: coordinator(0), number: 0 };
    let from = if from == 0 { participant(0) } else { witness(from) };
    machine.on_message(Time::ZERO, from, Said { id, settled: 0, body }, &mut out);
    let mut said = Vec::new();
    for output in out {
        match output {
            // A crash may follow whatever it says.
            Output::Send { message, .. } => said.push(message.body),
            Output::Persist(record) if said.is_empty() => records.push(record),
            _ => {}
        }
    }
    said
}

fn vote() -> Ballot<Room> {
    Ballot::Vote { choice: Choice::Prepared(Time::ZERO), parts: 1 }
}

#[test]
fn a_vote_that_comes_after_a_promise_is_not_accepted() {
    let mut records = Vec::new();
    let accepted = BTreeMap::new();
    let promised = tell(&mut records, 2, Ballot::Ask { ballot: 6 });
    assert_eq!(promised, [Ballot::Promised { ballot: 6, accepted }]);
    assert_eq!(tell(&mut records, 0, vote()), []);
    let outbid = tell(&mut records, 3, Ballot::Ask { ballot: 5 });
    assert_eq!(outbid, [Ballot::Outbid { ballot: 6 }]);
}

#[test]
fn what_was_accepted_is_promised_with_its_ballot() {
    let mut records = Vec::new();
    let prepared = Choice::Prepared(Time::ZERO);
    let choices = BTreeMap::from([(participant(0), prepared.clone())]);
    let accepted = tell(&mut records, 0, vote());
    assert_eq!(accepted, [Ballot::Accepted { ballot: 0, choices: choices.clone() }]);
    let told = |ballot, accepted| Ballot::Promised {
        ballot,
        accepted: BTreeMap::from([(participant(0), accepted)]),
    };
    let promised = tell(&mut records, 2, Ballot::Ask { ballot: 6 });
    assert_eq!(promised, [told(6, (0, prepared))]);
    let aborted = BTreeMap::from([(participant(0), Choice::Aborted(None))]);
    let propose = Ballot::Propose { ballot: 6, choices: aborted.clone() };
    let accepted = tell(&mut records, 2, propose);
    assert_eq!(accepted, [Ballot::Accepted { ballot: 6, choices: aborted }]);
    let promised = tell(&mut records, 3, Ballot::Ask { ballot: 7 });
    assert_eq!(promised, [told(7, (6, Choice::Aborted(None)))]);
    let late = Ballot::Propose { ballot: 6, choices };
    assert_eq!(tell(&mut records, 2, late), [Ballot::Outbid { ballot: 7 }]);
}

/// Answers to the ballot of an earlier life must not count for that of a later one.
#[test]
fn a_leader_uses_no_ballot_twice() {
    let mut records = Vec::new();
    let begin = || Ballot::Begin { parts: BTreeMap::from([(participant(0), procs(1))]) };
    let first = tell(&mut records, 2, begin());
    let second = tell(&mut records, 2, begin());
    assert_eq!((first.len(), second.len()), (3, 3));
    let (Ballot::Ask { ballot: before }, Ballot::Ask { ballot: after }) = (&first[0], &second[0])
    else {
        panic!("{first:?} {second:?}");
    };
    assert!(before < after, "{before} {after}");
}
