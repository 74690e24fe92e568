//! All protocols under random faults: what each promises holds, and all comes to an end.

use haggle_agreements::negotiation::{Negotiation, NegotiationRules};
use haggle_agreements::one_phase::{OnePhase, OnePhaseRules};
use haggle_agreements::protocol::Protocol;
use haggle_agreements::two_phase::TwoPhase;
use haggle_agreements::{InDoubt, Rules};
use haggle_model::{Span, Time};
use proptest::prelude::*;
use proptest::test_runner::TestError;

use crate::arena::{Arena, Job, Room, Setup, procs};

/// Random cases in the usual run, and in the long one.
const CASES: u32 = 500;
const MANY: u32 = 10_000;

fn micros(micros: i64) -> Span {
    Span::from_micros(micros)
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

prop_compose! {
    fn setup()(
        seed in any::<u64>(),
        room in prop::collection::vec(1_u32..=3, 4),
        (lock, fifo) in any::<(bool, bool)>(),
        delay in (0_i64..5, 0_i64..20).prop_map(|(least, more)| (least, least + more)),
        thinks in prop_oneof![Just(0), 0_i64..20],
        (loss, copies) in (prop_oneof![Just(0), 0_u64..300], prop_oneof![Just(0), 0_u64..200]),
        crash in prop_oneof![Just(0), 0_u64..100],
        outage in 1_i64..200,
        partitions in prop::collection::vec(
            (prop_oneof![0_u32..3, 100_u32..104, 200_u32..203], 0_i64..300, 1_i64..200),
            0..=2,
        ),
        jobs in jobs(),
        (trials, pause) in (1_u32..=4, 0_i64..100),
    ) -> Setup {
        let partitions =
            partitions.into_iter().map(|(who, from, length)| (who, from, from + length)).collect();
        Setup {
            seed, room, lock, fifo, delay, thinks, loss, copies, crash, outage, partitions, jobs,
            trials, pause, coordinators: 3, witnesses: 4, calm: 500, strict: true,
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

/// Plays so many random cases of a protocol.
fn cases<P: Protocol<Subject = Room>>(
    count: u32,
    rules: impl Strategy<Value = (P::Rules, bool)>,
    adapt: fn(&mut Setup),
) {
    let config = ProptestConfig { cases: count, failure_persistence: None, ..Default::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let outcome = runner.run(&(setup(), rules), |(mut setup, (rules, strict))| {
        adapt(&mut setup);
        play::<P>(Setup { strict, ..setup }, rules)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, _)) => panic!("{}: {reason}", P::TRAITS.name),
        Err(error) => panic!("{}: {error}", P::TRAITS.name),
    }
}

/// Rules, and whether nobody may begin unless all hold.
fn two_phase() -> impl Strategy<Value = (Rules, bool)> {
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
            (rules, in_doubt != InDoubt::Release)
        },
    )
}

fn one_phase() -> impl Strategy<Value = (OnePhaseRules, bool)> {
    (any::<bool>(), 0_i64..400, 1_i64..60).prop_map(|(sequential, patience, retry)| {
        let (patience, retry) = (micros(patience), Some(micros(retry)));
        (OnePhaseRules { sequential, patience, retry }, false)
    })
}

fn negotiation() -> impl Strategy<Value = (NegotiationRules, bool)> {
    (0_i64..20, 1_u32..6, 0_i64..400, 1_i64..60).prop_map(|(tolerance, rounds, patience, retry)| {
        let (tolerance, patience, retry) = (micros(tolerance), micros(patience), micros(retry));
        (NegotiationRules { tolerance, rounds, patience, retry: Some(retry) }, false)
    })
}

macro_rules! protocols {
    ($($name:ident, $many:ident: $protocol:ty, $rules:expr, $adapt:expr;)*) => {$(
        #[test]
        fn $name() {
            cases::<$protocol>(CASES, $rules, $adapt);
        }

        #[test]
        #[ignore = "takes minutes"]
        fn $many() {
            cases::<$protocol>(MANY, $rules, $adapt);
        }
    )*};
}

protocols! {
    two_phase_commit, two_phase_commit_at_length: TwoPhase<Room>, two_phase(), |_| ();
    one_phase_booking, one_phase_booking_at_length: OnePhase<Room>, one_phase(), |_| ();
    jss_negotiation, jss_negotiation_at_length: Negotiation<Room>, negotiation(), windowed;
}
