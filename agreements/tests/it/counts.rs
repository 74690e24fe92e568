//! Messages, decision times and histories to the number, without faults.

use std::collections::BTreeMap;

use haggle_agreements::contention::Finding;
use haggle_agreements::negotiation::{Negotiation, NegotiationRules};
use haggle_agreements::one_phase::{OnePhase, OnePhaseRules};
use haggle_agreements::ordered::{LockOrder, Ordered, OrderedRules};
use haggle_agreements::paxos::{Paxos, PaxosRules};
use haggle_agreements::polling::{Polling, PollingRules};
use haggle_agreements::protocol::Protocol;
use haggle_agreements::two_phase::TwoPhase;
use haggle_agreements::{InDoubt, Rules};
use haggle_model::{Span, Time};

use crate::arena::{Arena, Ask, Group, Job, Room, Setup, participant, procs, witness};

fn millis(millis: i64) -> Span {
    Span::from_micros(millis)
}

/// One coordinator and one group over all participants, messages take 50.
fn alone<P: Protocol<Subject = Room>>(room: &[u32], rules: P::Rules) -> (Arena<P>, Group) {
    let mut setup = Setup::calm(1, room.to_vec(), 50);
    setup.witnesses = 8;
    let parts = (0..room.len() as u32).map(|part| (part, procs(4))).collect();
    setup.jobs = vec![Job { coordinator: 0, parts, at: Time::ZERO, work: millis(10_000) }];
    let mut arena = Arena::new(setup, rules);
    arena.run(10_000);
    assert_eq!(arena.violation, None);
    let group = arena.groups.values().next().expect("one was opened").clone();
    (arena, group)
}

fn at(millis: i64) -> Option<Time> {
    Some(Time::from_micros(millis))
}

fn two_phase(lease: i64, votes: i64) -> Rules {
    Rules {
        lease: millis(lease),
        margin: millis(lease - votes),
        in_doubt: InDoubt::Release,
        retry: None,
        hears_all: true,
    }
}

#[test]
fn two_phase_takes_four_messages_a_participant() {
    for n in [3, 5] {
        let (arena, group) = alone::<TwoPhase<Room>>(&vec![4; n], two_phase(5000, 1000));
        assert_eq!(arena.sent() as usize, 4 * n);
        assert_eq!((group.decided, group.all_carried, group.agreed), (at(100), at(150), at(200)));
    }
    let (arena, group) = alone::<TwoPhase<Room>>(&[4, 0, 4], two_phase(5000, 1000));
    // An abort is not acknowledged.
    assert_eq!(arena.sent(), 3 + 3 + 2);
    assert_eq!((group.failed, arena.held_in_vain), (at(100), 2 * 4 * 100));
}

fn one_phase(sequential: bool) -> OnePhaseRules {
    OnePhaseRules { sequential, patience: millis(1000), retry: None }
}

#[test]
fn one_phase_takes_two_messages_a_participant() {
    for n in [3, 5] {
        let (arena, group) = alone::<OnePhase<Room>>(&vec![4; n], one_phase(false));
        assert_eq!(arena.sent() as usize, 2 * n);
        assert_eq!((group.all_carried, group.agreed), (at(50), at(100)));
        let (arena, group) = alone::<OnePhase<Room>>(&vec![4; n], one_phase(true));
        assert_eq!(arena.sent() as usize, 2 * n);
        assert_eq!(group.agreed, at(100 * n as i64));
    }
    let (arena, _) = alone::<OnePhase<Room>>(&[4, 4, 0], one_phase(false));
    assert_eq!((arena.sent(), arena.agreed()), (10, 0));
    let (arena, group) = alone::<OnePhase<Room>>(&[4, 4, 0], one_phase(true));
    assert_eq!((arena.sent(), group.failed), (10, at(300)));
}

/// Two replies have come when the metascheduler crashes, and the third request is under way.
#[test]
fn a_one_phase_coordinator_that_crashes_leaves_orphans() {
    let mut setup = Setup::calm(1, vec![4; 4], 50);
    let parts = (0..4).map(|part| (part, procs(4))).collect();
    setup.jobs = vec![Job { coordinator: 0, parts, at: Time::ZERO, work: millis(100_000) }];
    setup.crashes = vec![(0, 220, 1_000_000)];
    let mut arena = Arena::<OnePhase<Room>>::new(setup, one_phase(true));
    arena.run_until(Time::from_micros(300));
    assert_eq!((arena.violation.as_deref(), arena.agreed()), (None, 0));
    let id = *arena.groups.keys().next().expect("one was opened");
    let booked = (0..4).filter(|&part| arena.plans[&participant(part)].contains_key(&id));
    assert_eq!(booked.count(), 3);
}

/// One group of three, one of 4 processors each; two are busy for a while.
fn negotiate(last: i64) -> (Arena<Negotiation<Room>>, Group) {
    let time = Time::from_micros;
    let window = Some((time(10), time(last)));
    let ask = Ask { procs: 4, length: millis(5), window, urgent: false };
    let mut setup = Setup::calm(1, vec![4; 3], 1);
    let parts = (0..3).map(|part| (part, ask)).collect();
    setup.jobs = vec![Job { coordinator: 0, parts, at: Time::ZERO, work: millis(5) }];
    let rules = NegotiationRules {
        tolerance: Span::ZERO,
        rounds: 10,
        patience: millis(100),
        retry: None,
    };
    let mut arena = Arena::new(setup, rules);
    arena.busy.insert(participant(1), vec![(time(0), time(25), 4)]);
    arena.busy.insert(participant(2), vec![(time(0), time(12), 4), (time(20), time(30), 4)]);
    arena.run(1_000);
    assert_eq!(arena.violation, None);
    let group = arena.groups.values().next().expect("one was opened").clone();
    (arena, group)
}

#[test]
fn negotiation_ends_at_the_first_common_start() {
    let (arena, group) = negotiate(60);
    let starts: Vec<i64> = group.terms.values().map(|it| it.as_micros()).collect();
    assert_eq!((arena.sent(), group.agreed, starts), (24, at(6), vec![30; 3]));
    let (arena, group) = negotiate(28);
    assert_eq!((arena.sent(), group.failed), (18, at(4)));
}

fn polling() -> PollingRules {
    let (lease, margin) = (millis(50_000), millis(45_000));
    PollingRules { lease, margin, interval: millis(500), retry: None }
}

#[test]
fn polling_takes_two_messages_an_operation_and_two_a_poll() {
    for n in [3, 5] {
        let (arena, group) = alone::<Polling<Room>>(&vec![4; n], polling());
        assert_eq!(arena.sent() as usize, 8 * n);
        assert_eq!((group.decided, group.agreed), (at(700), at(1400)));
    }
    for (thinks, polls) in [(600, 1), (601, 2), (1200, 2), (1201, 3)] {
        let mut setup = Setup::calm(1, vec![4; 3], 50);
        setup.thinks = (thinks, thinks);
        let parts = (0..3).map(|part| (part, procs(4))).collect();
        setup.jobs = vec![Job { coordinator: 0, parts, at: Time::ZERO, work: millis(10) }];
        let mut arena = Arena::<Polling<Room>>::new(setup, polling());
        arena.run(10_000);
        let group = arena.groups.values().next().expect("one was opened");
        assert_eq!((arena.sent(), group.decided), (3 * (4 + 2 * polls + 2), at(i64::from(polls) * 600 + 100)));
    }
}

fn locks(order: LockOrder) -> OrderedRules {
    OrderedRules { order, patience: None, retry: None }
}

/// Two groups that ask for the same two participants, in these orders.
fn crossing(orders: [[u32; 2]; 2], rules: OrderedRules, adapt: fn(&mut Setup)) -> Arena<Ordered<Room>> {
    let mut setup = Setup::calm(2, vec![4; 2], 1);
    setup.lock = true;
    setup.trials = 100;
    let job = |coordinator: u32| {
        let parts = orders[coordinator as usize].map(|part| (part, procs(4))).to_vec();
        Job { coordinator, parts, at: Time::ZERO, work: millis(5) }
    };
    setup.jobs = (0..2).map(job).collect();
    adapt(&mut setup);
    let mut arena = Arena::new(setup, rules);
    arena.run_until(Time::from_micros(100));
    assert_eq!(arena.violation, None);
    arena
}

/// When each job was agreed on, and how often it was tried.
fn agreed<P: Protocol<Subject = Room>>(arena: &Arena<P>) -> Vec<(Option<Time>, usize)> {
    let jobs = arena.groups.values().map(|it| it.job).max().map_or(0, |last| last + 1);
    let of = |job| arena.groups.values().filter(move |it| it.job == job);
    (0..jobs).map(|job| (of(job).find_map(|it| it.agreed), of(job).count())).collect()
}

#[test]
fn crossing_claims_without_an_order_are_a_deadlock() {
    let arena = crossing([[0, 1], [1, 0]], locks(LockOrder::Given), |_| ());
    let deadlock = Finding::Deadlock { at: Time::from_micros(3), members: vec![0, 1] };
    assert_eq!(arena.findings, [deadlock]);
    assert_eq!((agreed(&arena), arena.sent()), (vec![(None, 1), (None, 1)], 6));
}

#[test]
fn crossing_claims_with_patience_are_a_livelock() {
    let rules = OrderedRules { patience: Some(millis(10)), ..locks(LockOrder::Given) };
    let arena = crossing([[0, 1], [1, 0]], rules, |_| ());
    assert_eq!(agreed(&arena), [(None, 11), (None, 11)]);
    let livelock = |it: &&Finding<usize>| matches!(it, Finding::Livelock { .. });
    let found: Vec<_> = arena.findings.iter().filter(livelock).collect();
    let livelock = Finding::Livelock { at: Time::from_micros(100), members: [0, 1].into() };
    assert_eq!(found, [&livelock]);
    let arena = crossing([[0, 1], [1, 0]], rules, |setup| {
        setup.pauses = BTreeMap::from([(0, 0), (1, 4)]);
    });
    assert_eq!(agreed(&arena), [(at(14), 2), (at(23), 2)]);
}

#[test]
fn claims_in_order_wait_for_each_other() {
    let arena = crossing([[0, 1], [1, 0]], locks(LockOrder::Ascending), |_| ());
    assert_eq!((agreed(&arena), arena.findings.as_slice()), (vec![(at(4), 1), (at(13), 1)], &[][..]));
    assert_eq!(arena.sent(), 12);
}

#[test]
fn parallel_claims_yield_to_who_is_ready() {
    let arena = crossing([[0, 1], [0, 1]], locks(LockOrder::Parallel), |setup| {
        let delays = [((0, 100), 1), ((0, 101), 2), ((1, 100), 2), ((1, 101), 1)];
        setup.delays =
            delays.into_iter().flat_map(|((c, p), it)| [((c, p), it), ((p, c), it)]).collect();
    });
    assert_eq!(agreed(&arena), [(at(8), 1), (at(16), 1)]);
    assert_eq!((arena.sent(), arena.messages["yield"], arena.messages["release"]), (21, 1, 4));
    assert_eq!(arena.findings, []);
}

#[test]
fn parallel_claims_alone_take_one_round_trip() {
    let (arena, group) = alone::<Ordered<Room>>(&[4; 3], locks(LockOrder::Parallel));
    assert_eq!(group.agreed, at(100));
    // The first grant comes first: both others are upgraded before theirs are there.
    let counts = ["request", "grant", "confirm", "release"].map(|kind| arena.messages[kind]);
    assert_eq!((counts, arena.messages.get("upgrade")), ([3; 4], Some(&2)));
}

fn paxos(failures: u32, economical: bool) -> PaxosRules {
    PaxosRules {
        leader: witness(0),
        acceptors: (1..=2 * failures + 1).map(witness).collect(),
        economical,
        patience: millis(1000),
        doubt: millis(5000),
        retry: None,
    }
}

#[test]
fn paxos_commit_takes_a_vote_for_each_acceptor() {
    for (n, failures, economical, messages) in [
        (3, 1, false, 20),
        (3, 1, true, 16),
        (3, 0, false, 12),
        (5, 1, false, 30),
        (5, 1, true, 24),
        (5, 2, false, 42),
        (5, 2, true, 30),
    ] {
        let (arena, group) = alone::<Paxos<Room>>(&vec![4; n], paxos(failures, economical));
        assert_eq!(arena.sent(), messages);
        assert_eq!((group.all_carried, group.agreed), (at(250), at(250)));
    }
}
