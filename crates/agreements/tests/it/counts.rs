//! Messages, decision times and histories to the number, without faults.

use std::collections::BTreeMap;

use haggle_agreements::claiming::{Claiming, ClaimingRules};
use haggle_agreements::contention::Finding;
use haggle_agreements::negotiation::{Negotiation, NegotiationRules};
use haggle_agreements::one_phase::{OnePhase, OnePhaseRules};
use haggle_agreements::ordered::{LockOrder, Ordered, OrderedRules};
use haggle_agreements::paxos::{Paxos, PaxosRules};
use haggle_agreements::polling::{Polling, PollingRules};
use haggle_agreements::probing::{Probing, ProbingRules};
use haggle_agreements::protocol::Protocol;
use haggle_agreements::two_phase::TwoPhase;
use haggle_agreements::watch::{WatchRules, Watching};
use haggle_agreements::{InDoubt, Rules};
use haggle_model::{Span, Time};

use crate::arena::{Arena, Ask, Group, Job, Room, Setup, participant, procs, witness};

fn millis(millis: i64) -> Span {
    Span::from_micros(millis)
}

/// One coordinator and one group over all participants, messages take 50.
fn alone<P: Protocol<Subject = Room>>(room: &[u32], rules: P::Rules) -> (Arena<P>, Group) {
    among(room, rules, true)
}

/// The same; `all` = all participants are needed.
fn among<P: Protocol<Subject = Room>>(
    room: &[u32],
    rules: P::Rules,
    all: bool,
) -> (Arena<P>, Group) {
    let mut setup = Setup::calm(1, room.to_vec(), 50);
    (setup.witnesses, setup.strict) = (8, all);
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
        assert_eq!(arena.sent(), 4 * n as u64);
        assert_eq!((group.decided, group.all_carried, group.agreed), (at(100), at(150), at(200)));
    }
    let (arena, group) = alone::<TwoPhase<Room>>(&[4, 0, 4], two_phase(5000, 1000));
    // An abort is not acknowledged.
    assert_eq!(arena.sent(), 3 + 3 + 2);
    assert_eq!((group.failed, arena.account.held_in_vain), (at(100), 2 * 4 * 100));
}

fn one_phase(sequential: bool) -> OnePhaseRules {
    OnePhaseRules { sequential, patience: millis(1000), retry: None }
}

#[test]
fn one_phase_takes_two_messages_a_participant() {
    for n in [3, 5] {
        let (arena, group) = alone::<OnePhase<Room>>(&vec![4; n], one_phase(false));
        assert_eq!(arena.sent(), 2 * n as u64);
        assert_eq!((group.all_carried, group.agreed), (at(50), at(100)));
        let (arena, group) = alone::<OnePhase<Room>>(&vec![4; n], one_phase(true));
        assert_eq!(arena.sent(), 2 * n as u64);
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
    let orphans: u32 = arena.account.orphans().iter().map(|it| it.2).sum();
    assert_eq!(orphans, 3 * 4);
}

/// Bookings are confirmed at 100 and 200 ms, and the metascheduler crashes at 250, when the third
/// request arrives: three parts of 4 processors are booked for 100 s, and nobody has agreed.
#[test]
fn what_a_crashed_coordinator_has_booked_wastes_its_time() {
    let mut setup = Setup::calm(1, vec![4; 3], 50);
    let parts = (0..3).map(|part| (part, procs(4))).collect();
    let work = millis(100_000);
    setup.jobs = vec![Job { coordinator: 0, parts, at: Time::ZERO, work }];
    setup.crashes = vec![(0, 250, 1_000_000)];
    let mut arena = Arena::<OnePhase<Room>>::new(setup, one_phase(true));
    for (time, parts) in [(49, 0), (50, 1), (149, 1), (150, 2), (249, 2), (250, 3), (90_000, 3)] {
        arena.run_until(Time::from_micros(time));
        let id = *arena.groups.keys().next().expect("one was opened");
        let booked = (0..3).filter_map(|part| arena.plans[&participant(part)].get(&id));
        let processors: u32 = booked.map(|part| part.ask.procs).sum();
        let processor_seconds = i64::from(processors) * work.as_micros() / 1_000;
        assert_eq!(processor_seconds, parts * 400, "at {time}");
    }
    assert_eq!((arena.violation.as_deref(), arena.agreed()), (None, 0));
}

/// One group of three, one of 4 processors each; two are busy for a while.
fn negotiate(last: i64) -> (Arena<Negotiation<Room>>, Group) {
    let time = Time::from_micros;
    let window = Some((time(10), time(last)));
    let ask = Ask { procs: 4, length: millis(5), window, urgent: false };
    let mut setup = Setup::calm(1, vec![4; 3], 1);
    let parts = (0..3).map(|part| (part, ask)).collect();
    setup.jobs = vec![Job { coordinator: 0, parts, at: Time::ZERO, work: millis(5) }];
    let rules =
        NegotiationRules { tolerance: Span::ZERO, rounds: 10, patience: millis(100), retry: None };
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
    // Three rounds, before two of which something is cancelled.
    assert_eq!((arena.sent(), group.agreed, starts), (24, at(10), vec![30; 3]));
    let (arena, group) = negotiate(28);
    assert_eq!((arena.sent(), group.failed), (18, at(6)));
}

/// One group whose replies come after patience has ended, and after its parts have.
fn out_of_patience<P: Protocol<Subject = Room>>(rules: P::Rules, room: Vec<u32>) -> Group {
    let mut setup = Setup::calm(1, room.clone(), 5);
    setup.thinks = (12, 12);
    let ask = Ask { length: millis(2), window: Some((Time::ZERO, Time::from_secs(1))), ..procs(4) };
    let parts = (0..room.len() as u32).map(|part| (part, ask)).collect();
    setup.jobs = vec![Job { coordinator: 0, parts, at: Time::ZERO, work: millis(2) }];
    let mut arena = Arena::<P>::new(setup, rules);
    arena.run(10_000);
    assert_eq!(arena.violation, None);
    arena.groups.into_values().next().expect("one was opened")
}

#[test]
fn what_ran_to_its_end_everywhere_is_agreed_on() {
    let (patience, retry) = (millis(20), Some(millis(100)));
    let one_phase = OnePhaseRules { sequential: false, patience, retry };
    let negotiation = NegotiationRules { tolerance: millis(1000), rounds: 3, patience, retry };
    // Asked after 5 ms, answered after 17 ms and over soon after; asked to delete after 25 ms.
    for room in [vec![4; 3], vec![4, 2]] {
        let whole = room.len() == 3;
        let groups = [
            out_of_patience::<OnePhase<Room>>(one_phase, room.clone()),
            out_of_patience::<Negotiation<Room>>(negotiation, room.clone()),
        ];
        for group in groups {
            assert_eq!(
                (group.agreed, group.failed),
                match whole {
                    true => (at(30), None),
                    // A refusal is on its way, so nobody waits for the others.
                    false => (None, at(22)),
                }
            );
        }
    }
}

fn polling() -> PollingRules {
    let (lease, margin) = (millis(50_000), millis(45_000));
    PollingRules { lease, margin, interval: millis(500), retry: None }
}

#[test]
fn polling_takes_two_messages_an_operation_and_two_a_poll() {
    for n in [3, 5] {
        let (arena, group) = alone::<Polling<Room>>(&vec![4; n], polling());
        assert_eq!(arena.sent(), 8 * n as u64);
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
        assert_eq!(
            (arena.sent(), group.decided),
            (3 * (4 + 2 * polls + 2), at(polls as i64 * 600 + 100))
        );
    }
}

fn locks(order: LockOrder) -> OrderedRules {
    OrderedRules { order, patience: None, retry: None }
}

/// Two groups that ask for the same two participants, in these orders.
fn crossing(
    orders: [[u32; 2]; 2],
    rules: OrderedRules,
    adapt: fn(&mut Setup),
) -> Arena<Ordered<Room>> {
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
    assert_eq!(
        (agreed(&arena), arena.findings.as_slice()),
        (vec![(at(4), 1), (at(13), 1)], &[][..])
    );
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
    assert_eq!(
        (arena.sent(), arena.account.messages["yield"], arena.account.messages["release"]),
        (21, 1, 4)
    );
    assert_eq!(arena.findings, []);
}

#[test]
fn parallel_claims_alone_take_one_round_trip() {
    let (arena, group) = alone::<Ordered<Room>>(&[4; 3], locks(LockOrder::Parallel));
    assert_eq!(group.agreed, at(100));
    // The first grant comes first: both others are upgraded before theirs are there.
    let counts =
        ["request", "grant", "confirm", "release"].map(|kind| arena.account.messages[kind]);
    assert_eq!((counts, arena.account.messages.get("upgrade")), ([3; 4], Some(&2)));
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

/// One participant is down: the others hold for as long as its vote is awaited.
#[test]
fn a_silent_participant_has_the_others_hold_in_vain() {
    let mut setup = Setup::calm(1, vec![4; 3], 50);
    let parts = (0..3).map(|part| (part, procs(4))).collect();
    setup.jobs = vec![Job { coordinator: 0, parts, at: Time::ZERO, work: millis(10) }];
    setup.crashes = vec![(101, 10, 100_000)];
    let mut arena = Arena::<TwoPhase<Room>>::new(setup, two_phase(5000, 1000));
    arena.run(1_000);
    assert_eq!(arena.violation, None);
    let group = arena.groups.values().next().expect("one was opened");
    assert_eq!((group.failed, arena.account.held_in_vain), (at(1000), 2 * 4 * 1000));
    assert_eq!((arena.account.aborts, arena.account.agreed), (1, 0));
}

/// The coordinator crashes before it decides: with a lease its participants are in doubt until
/// that is over, with inquiries until it is back, with Paxos until another leader has decided.
#[test]
fn in_doubt_until_the_lease_ends_or_somebody_answers() {
    fn doubt<P: Protocol<Subject = Room>>(rules: P::Rules, crashes: &[u32]) -> (Span, u64) {
        let mut setup = Setup::calm(1, vec![4; 2], 50);
        setup.witnesses = 4;
        let parts = (0..2).map(|part| (part, procs(4))).collect();
        setup.jobs = vec![Job { coordinator: 0, parts, at: Time::ZERO, work: millis(10) }];
        setup.crashes = crashes.iter().map(|&who| (who, 75, 20_000)).collect();
        let mut arena = Arena::<P>::new(setup, rules);
        arena.run(1_000);
        assert_eq!(arena.violation, None);
        (arena.account.in_doubt, arena.account.agreed)
    }
    let leased = two_phase(5000, 1000);
    assert_eq!(doubt::<TwoPhase<Room>>(leased, &[0]), (millis(2 * (5050 - 75)), 0));
    let inquires = Rules { in_doubt: InDoubt::Inquire { every: millis(1000) }, ..leased };
    // The inquiry at 20 050 is lost; that at 21 050 takes 50, and its answer as long again.
    let (in_doubt, _) = doubt::<TwoPhase<Room>>(inquires, &[0]);
    assert_eq!(in_doubt, millis(2 * (20_150 - 75)));
    // Votes are on their way to the acceptors when the leader crashes, and so does who asked.
    let rules = PaxosRules { retry: Some(millis(400)), ..paxos(1, false) };
    let (in_doubt, agreed) = doubt::<Paxos<Room>>(rules, &[0, 200]);
    assert!(in_doubt < millis(2 * 11_000) && agreed == 1, "{in_doubt:?} {agreed}");
}

#[test]
fn claims_take_two_messages_and_starts_as_many() {
    let rules = ClaimingRules { scan: millis(10_000), trials: Some(3), retry: None };
    let (arena, group) = alone::<Claiming<Room>>(&[4; 3], rules);
    assert_eq!((arena.sent(), group.decided, group.agreed), (12, at(100), at(200)));
    let (arena, group) = alone::<Claiming<Room>>(&[4, 4, 0], rules);
    // Two claims that fail more, and all are released.
    assert_eq!((arena.sent(), group.failed), (6 + 2 * 2 + 3 * 2, at(20_300)));
    assert_eq!(arena.account.held_in_vain, 2 * 4 * 20_300);
}

/// Both want all of both, the second is urgent and comes while the first waits for a part.
#[test]
fn an_urgent_claim_preempts_what_has_not_started() {
    let mut setup = Setup::calm(2, vec![4; 2], 50);
    let job = |coordinator: u32, parts: &[u32], at, urgent| {
        let ask = |&part: &u32| (part, Ask { urgent, ..procs(4) });
        let parts = parts.iter().map(ask).collect();
        Job { coordinator, parts, at: Time::from_micros(at), work: millis(1000) }
    };
    // The first waits for the second participant, which is busy until 1100.
    setup.jobs = vec![job(1, &[1], 0, true), job(0, &[0, 1], 200, false), job(1, &[0], 500, true)];
    let rules = ClaimingRules { scan: millis(600), trials: None, retry: None };
    let mut arena = Arena::<Claiming<Room>>::new(setup, rules);
    arena.run(1_000);
    assert_eq!(arena.violation, None);
    assert_eq!(arena.account.messages["preempted"], 1);
    let agreed = agreed(&arena);
    assert_eq!((agreed[0], agreed[2]), ((at(200), 1), (at(700), 1)));
    assert!(agreed[1].0 > at(1700), "{agreed:?}");
}

#[test]
fn a_watch_takes_two_messages_more_than_a_booking() {
    let rules = WatchRules { patience: millis(10_000), retry: None };
    let (arena, group) = alone::<Watching<Room>>(&[4; 3], rules);
    assert_eq!((arena.sent(), group.agreed), (3 + 3 + 6, at(200)));
}

fn probing(needed: Option<u32>) -> ProbingRules {
    let (lease, margin) = (millis(5000), millis(4000));
    let (patience, subscription) = (millis(10_000), millis(30_000));
    ProbingRules { needed, patience, lease, margin, subscription, retry: None }
}

#[test]
fn probing_asks_all_candidates_and_reserves_some() {
    let (arena, group) = among::<Probing<Room>>(&[4; 5], probing(Some(3)), false);
    assert_eq!((arena.sent(), arena.account.messages["drop"]), (10 + 6 + 6 + 2, 2));
    assert_eq!((group.decided, group.agreed), (at(200), at(300)));
    // One that has no room is not asked for it, and tells nothing more.
    let (arena, group) = among::<Probing<Room>>(&[4, 0, 4], probing(Some(2)), false);
    assert_eq!((arena.sent(), group.agreed), (6 + 4 + 4 + 1, at(300)));
    assert_eq!(arena.account.messages.get("stale"), None);
}

/// The second comes while the only participant is busy, and is told when it is free.
#[test]
fn a_probe_ends_the_wait() {
    let mut setup = Setup::calm(2, vec![4], 50);
    let job = |coordinator, at| {
        let (parts, at) = (vec![(0, procs(4))], Time::from_micros(at));
        Job { coordinator, parts, at, work: millis(1000) }
    };
    setup.jobs = vec![job(0, 0), job(1, 500)];
    let mut arena = Arena::<Probing<Room>>::new(setup, probing(None));
    arena.run(1_000);
    assert_eq!(arena.violation, None);
    // The first begins at 250 and ends at 1250: 50 later that is known, 100 later held.
    assert_eq!(agreed(&arena), [(at(300), 1), (at(1250 + 50 + 200), 1)]);
    assert_eq!((arena.account.messages["probe"], arena.account.messages.get("stale")), (1, None));
}

/// Four groups of different coordinators want all of the same four participants.
fn crowd<P: Protocol<Subject = Room>>(rules: P::Rules, trials: u32) -> Arena<P> {
    let mut setup = Setup::calm(4, vec![4; 4], 50);
    setup.delay = (40, 60);
    (setup.lock, setup.trials, setup.seed) = (true, trials, 7);
    let (first, cap) = (millis(100), millis(60_000));
    setup.back_off = haggle_agreements::back_off::BackOff::Exponential { first, cap };
    let job = |coordinator: u32| {
        let parts = (0..4).map(|part| ((part + coordinator) % 4, procs(4))).collect();
        Job { coordinator, parts, at: Time::ZERO, work: millis(1000) }
    };
    setup.jobs = (0..4).map(job).collect();
    let mut arena = Arena::new(setup, rules);
    arena.run(100_000);
    assert_eq!(arena.violation, None);
    arena
}

#[test]
fn all_get_through_with_back_off_an_order_or_a_watch() {
    let booked = crowd::<OnePhase<Room>>(one_phase(false), 100);
    assert_eq!(booked.account.agreed, 4);
    let two_phase = crowd::<TwoPhase<Room>>(two_phase(5000, 1000), 100);
    assert_eq!(two_phase.account.agreed, 4);
    for order in [LockOrder::Ascending, LockOrder::Parallel] {
        let ordered = crowd::<Ordered<Room>>(locks(order), 1);
        assert_eq!((ordered.account.agreed, ordered.findings.len()), (4, 0));
    }
    let rules = WatchRules { patience: millis(1_000_000), retry: None };
    let watched = crowd::<Watching<Room>>(rules, 1);
    assert_eq!(watched.account.agreed, 4);
    // Fewer bookings are asked for in vain.
    assert!(watched.account.messages["refused"] < booked.account.messages["refused"]);
}
