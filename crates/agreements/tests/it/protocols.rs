//! All protocols under random faults: what each promises holds, and all comes to an end.

use haggle_agreements::back_off::BackOff;
use haggle_agreements::claiming::{Claiming, ClaimingRules};
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
use haggle_testing::micros;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};

use crate::arena::{Arena, Job, Room, Setup, procs, witness};
use crate::draws;

/// Random cases in the usual run, and in the long one.
const CASES: u32 = 500;
const MANY: u32 = 10_000;

/// Whether nobody may begin unless all hold.
#[derive(Clone, Copy, Debug)]
enum Strict {
    Always,
    /// If nothing goes wrong and messages take no longer than this: leases can end too soon.
    Within(Span),
    Never,
}

impl Strict {
    fn holds(self, setup: &Setup) -> bool {
        let faultless = setup.loss + setup.crash == 0
            && setup.partitions.is_empty()
            && setup.crashes.is_empty();
        match self {
            Strict::Always => true,
            Strict::Within(margin) => faultless && micros(setup.delay.1) <= margin,
            Strict::Never => false,
        }
    }
}

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let parts = prop::collection::btree_map(0_u32..4, 1_u32..=2, 1..=4);
    let job = (0_u32..3, parts, 0_i64..200, 0_i64..100).prop_map(|(who, parts, at, work)| Job {
        coordinator: who,
        parts: parts.into_iter().map(|(part, count)| (part, procs(count))).collect(),
        at: Time::from_micros(at),
        work: micros(work),
    });
    prop::collection::vec(job, 1..=5)
}

fn back_off() -> impl Strategy<Value = BackOff> {
    prop_oneof![
        Just(BackOff::None),
        (0_i64..100).prop_map(|wait| BackOff::Fixed(micros(wait))),
        (1_i64..50, 1_i64..200).prop_map(|(first, cap)| BackOff::Exponential {
            first: micros(first),
            cap: micros(cap)
        }),
    ]
}

prop_compose! {
    fn setup()(
        seed in any::<u64>(),
        room in prop::collection::vec(1_u32..=3, 4),
        (lock, fifo) in any::<(bool, bool)>(),
        delay in (0_i64..5, 0_i64..20).prop_map(|(least, more)| (least, least + more)),
        thinks in prop_oneof![Just((0, 0)), (1_i64..20).prop_map(|most| (0, most))],
        (loss, copies) in (prop_oneof![Just(0), 0_u64..300], prop_oneof![Just(0), 0_u64..200]),
        crash in prop_oneof![Just(0), 0_u64..100],
        outage in 1_i64..200,
        partitions in prop::collection::vec(
            (prop_oneof![0_u32..3, 100_u32..104, 200_u32..203], 0_i64..300, 1_i64..200),
            0..=2,
        ),
        crashes in prop::collection::vec(
            (prop_oneof![0_u32..3, 100_u32..104, 200_u32..204], 0_i64..500, 1_i64..100),
            0..=3,
        ),
        jobs in jobs(),
        (trials, back_off) in (1_u32..=4, back_off()),
    ) -> Setup {
        let partitions =
            partitions.into_iter().map(|(who, from, length)| (who, from, from + length)).collect();
        Setup {
            seed, room, lock, fifo, delay, thinks, loss, copies, crash, outage, partitions, crashes, jobs,
            trials, back_off, coordinators: 3, witnesses: 4, calm: 500,
            ..Setup::calm(3, Vec::new(), 0)
        }
    }
}

fn play<P: Protocol<Subject = Room>>(setup: Setup, rules: P::Rules) -> Result<(), TestCaseError> {
    let mut arena = Arena::<P>::new(setup.clone(), rules.clone());
    arena.run(30_000);
    if arena.violation.is_some() {
        let mut arena = Arena::<P>::new(setup, rules);
        arena.log = Some(Vec::new());
        arena.run(30_000);
        let mut log = arena.log.unwrap_or_default();
        log.truncate(400);
        prop_assert!(false, "{:?}\n{}", arena.violation, log.join("\n"));
    }
    Ok(())
}

/// Every part may start between 10 and 60 after its group is submitted.
fn windowed(setup: &mut Setup) {
    for job in &mut setup.jobs {
        let (from, until) = (job.at + micros(10), job.at + micros(60));
        for (_, ask) in &mut job.parts {
            (ask.length, ask.window) = (job.work, Some((from, until)));
        }
    }
}

/// Plays random cases of a protocol.
fn cases<P: Protocol<Subject = Room>>(
    config: Config,
    rules: impl Strategy<Value = (P::Rules, Strict)>,
    adapt: fn(&mut Setup),
) {
    let mut runner = TestRunner::new(config);
    let outcome = runner.run(&(setup(), rules), |(mut setup, (rules, strict))| {
        adapt(&mut setup);
        setup.strict = strict.holds(&setup);
        play::<P>(setup, rules)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, case)) => {
            panic!("{}: {reason}\n{case:?}", P::TRAITS.name)
        }
        Err(error) => panic!("{}: {error}", P::TRAITS.name),
    }
}

fn two_phase() -> impl Strategy<Value = (Rules, Strict)> {
    let in_doubt = prop_oneof![
        Just(InDoubt::Release),
        (1_i64..100).prop_map(|every| InDoubt::Inquire { every: micros(every) })
    ];
    (0_i64..200, 0_i64..200, in_doubt, 1_i64..60, any::<bool>()).prop_map(
        |(votes, margin, in_doubt, retry, hears_all)| {
            let rules = Rules {
                lease: micros(votes + margin),
                margin: micros(margin),
                in_doubt,
                retry: Some(micros(retry)),
                hears_all,
            };
            let leased = in_doubt == InDoubt::Release;
            (rules, if leased { Strict::Within(micros(margin)) } else { Strict::Always })
        },
    )
}

fn one_phase() -> impl Strategy<Value = (OnePhaseRules, Strict)> {
    (any::<bool>(), 0_i64..400, 1_i64..60).prop_map(|(sequential, patience, retry)| {
        let (patience, retry) = (micros(patience), Some(micros(retry)));
        (OnePhaseRules { sequential, patience, retry }, Strict::Never)
    })
}

fn negotiation() -> impl Strategy<Value = (NegotiationRules, Strict)> {
    (0_i64..20, 1_u32..6, 0_i64..400, 1_i64..60).prop_map(|(tolerance, rounds, patience, retry)| {
        let (tolerance, patience, retry) = (micros(tolerance), micros(patience), micros(retry));
        (NegotiationRules { tolerance, rounds, patience, retry: Some(retry) }, Strict::Never)
    })
}

/// Without an order only who has patience gets on.
fn ordered() -> impl Strategy<Value = (OrderedRules, Strict)> {
    let order = prop_oneof![
        Just(LockOrder::Given),
        Just(LockOrder::Ascending),
        Just(LockOrder::Parallel),
        Just(LockOrder::Parallel)
    ];
    (order, prop::option::of(0_i64..400), 1_i64..60).prop_map(|(order, patience, retry)| {
        let patience = patience.or((order == LockOrder::Given).then_some(100));
        let (patience, retry) = (patience.map(micros), Some(micros(retry)));
        (OrderedRules { order, patience, retry }, Strict::Always)
    })
}

/// Nobody asks for more than there ever is.
fn feasible(setup: &mut Setup) {
    for (part, ask) in setup.jobs.iter_mut().flat_map(|job| &mut job.parts) {
        ask.procs = ask.procs.min(setup.room[*part as usize]);
    }
}

fn polling() -> impl Strategy<Value = (PollingRules, Strict)> {
    (0_i64..300, 0_i64..300, 0_i64..50, 1_i64..60).prop_map(|(votes, margin, interval, retry)| {
        let (lease, margin) = (micros(votes + margin), micros(margin));
        let (interval, retry) = (micros(interval), Some(micros(retry)));
        (PollingRules { lease, margin, interval, retry }, Strict::Within(margin))
    })
}

fn paxos() -> impl Strategy<Value = (PaxosRules, Strict)> {
    (any::<bool>(), any::<bool>(), 0_i64..300, 1_i64..300, 1_i64..60).prop_map(
        |(separate, economical, patience, doubt, retry)| {
            let acceptors = if separate { 1..4 } else { 0..3 };
            let rules = PaxosRules {
                leader: witness(0),
                acceptors: acceptors.map(witness).collect(),
                economical,
                patience: micros(patience),
                doubt: micros(doubt),
                retry: Some(micros(retry)),
            };
            (rules, Strict::Always)
        },
    )
}

fn claiming() -> impl Strategy<Value = (ClaimingRules, Strict)> {
    (0_i64..100, 1_u32..6, 1_i64..60).prop_map(|(scan, trials, retry)| {
        let (scan, trials, retry) = (micros(scan), Some(trials), Some(micros(retry)));
        (ClaimingRules { scan, trials, retry }, Strict::Never)
    })
}

/// Every other group is urgent.
fn some_urgent(setup: &mut Setup) {
    for job in setup.jobs.iter_mut().step_by(2) {
        for (_, ask) in &mut job.parts {
            ask.urgent = true;
        }
    }
}

fn watch() -> impl Strategy<Value = (WatchRules, Strict)> {
    (0_i64..400, 1_i64..60).prop_map(|(patience, retry)| {
        (WatchRules { patience: micros(patience), retry: Some(micros(retry)) }, Strict::Never)
    })
}

fn probing() -> impl Strategy<Value = (ProbingRules, Strict)> {
    (0_i64..400, 0_i64..300, 0_i64..300, 1_i64..1000, 1_i64..60).prop_map(
        |(patience, votes, margin, subscription, retry)| {
            let rules = ProbingRules {
                needed: None,
                patience: micros(patience),
                lease: micros(votes + margin),
                margin: micros(margin),
                subscription: micros(subscription),
                retry: Some(micros(retry)),
            };
            (rules, Strict::Within(micros(margin)))
        },
    )
}

/// Work that is shorter than a message takes, and every third message is lost or more: parts come to
/// their ends before their coordinator hears of them.
fn short_and_lossy(setup: &mut Setup) {
    setup.loss = 200 + setup.seed % 201;
    for job in &mut setup.jobs {
        job.work = micros(job.work.as_micros() % 5);
    }
}

macro_rules! protocols {
    ($($name:ident, $many:ident: $protocol:ty, $rules:expr, $adapt:expr;)*) => {$(
        #[test]
        fn $name() {
            cases::<$protocol>(draws::the_same(CASES), $rules, $adapt);
        }

        #[test]
        #[ignore = "takes minutes"]
        fn $many() {
            cases::<$protocol>(draws::others(MANY), $rules, $adapt);
        }
    )*};
}

protocols! {
    two_phase_commit, two_phase_commit_at_length: TwoPhase<Room>, two_phase(), |_| ();
    one_phase_booking, one_phase_booking_at_length: OnePhase<Room>, one_phase(), |_| ();
    jss_negotiation, jss_negotiation_at_length: Negotiation<Room>, negotiation(), windowed;
    polling_commit, polling_commit_at_length: Polling<Room>, polling(), |_| ();
    ordered_locks, ordered_locks_at_length: Ordered<Room>, ordered(), feasible;
    koala_claiming, koala_claiming_at_length: Claiming<Room>, claiming(), some_urgent;
    availability_watch, availability_watch_at_length: Watching<Room>, watch(), |_| ();
    probing_brokers, probing_brokers_at_length: Probing<Room>, probing(), |_| ();
    paxos_commit, paxos_commit_at_length: Paxos<Room>, paxos(), |_| ();
    short_one_phase, short_one_phase_at_length: OnePhase<Room>, one_phase(), short_and_lossy;
    short_negotiation, short_negotiation_at_length: Negotiation<Room>, negotiation(), |setup| {
        short_and_lossy(setup);
        windowed(setup);
    };
    short_watch, short_watch_at_length: Watching<Room>, watch(), short_and_lossy;
    short_claiming, short_claiming_at_length: Claiming<Room>, claiming(), short_and_lossy;
    short_polling, short_polling_at_length: Polling<Room>, polling(), short_and_lossy;
    short_probing, short_probing_at_length: Probing<Room>, probing(), short_and_lossy;
    short_two_phase, short_two_phase_at_length: TwoPhase<Room>, two_phase(), short_and_lossy;
    short_paxos, short_paxos_at_length: Paxos<Room>, paxos(), short_and_lossy;
}

/// Whoever asks in order gets what it waits for, however many messages are lost or repeated.
#[test]
fn an_order_lets_everybody_through() {
    let parallel = (any::<bool>(), 1_i64..60);
    proptest!(draws::the_same(CASES), |(mut setup in setup(), (parallel, retry) in parallel)| {
        feasible(&mut setup);
        (setup.crash, setup.crashes) = (0, Vec::new());
        (setup.lock, setup.copies) = (true, setup.copies + 200);
        // Everybody comes at once.
        setup.jobs.iter_mut().for_each(|job| job.at = Time::ZERO);
        let order = if parallel { LockOrder::Parallel } else { LockOrder::Ascending };
        let rules = OrderedRules { order, patience: None, retry: Some(micros(retry)) };
        let jobs = setup.jobs.len() as u64;
        let mut arena = Arena::<Ordered<Room>>::new(setup, rules);
        arena.run(30_000);
        prop_assert_eq!(&arena.violation, &None);
        prop_assert_eq!((arena.account.agreed, &arena.findings[..]), (jobs, &[][..]));
    });
}
