//! Messages, decision times and histories to the number, without faults.

use haggle_agreements::negotiation::{Negotiation, NegotiationRules};
use haggle_agreements::one_phase::{OnePhase, OnePhaseRules};
use haggle_agreements::protocol::Protocol;
use haggle_agreements::two_phase::TwoPhase;
use haggle_agreements::{InDoubt, Rules};
use haggle_model::{Span, Time};

use crate::arena::{Arena, Ask, Group, Job, Room, Setup, participant, procs};

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
