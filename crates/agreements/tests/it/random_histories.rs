//! Several agreements at once, of one or two coordinators, with as many faults as a random
//! schedule brings about.

use haggle_agreements::{InDoubt, Rules};
use haggle_model::Span;
use proptest::prelude::*;

use crate::draws;
use crate::world::{Faults, Move, Setup, World};

/// What is done next: whether it is a fault, which of those there are, and after how many
/// outputs whoever acts crashes.
type Choice = (u8, u8, u8);

fn micros(range: std::ops::RangeInclusive<i64>) -> impl Strategy<Value = Span> {
    range.prop_map(Span::from_micros)
}

fn faults() -> impl Strategy<Value = Faults> {
    (0_u8..5, 0_u8..5, 0_u8..4, 0_u8..4).prop_map(|(losses, copies, delays, crashes)| Faults {
        losses,
        copies,
        delays,
        crashes,
    })
}

fn rules() -> impl Strategy<Value = Rules> {
    let in_doubt = prop_oneof![
        Just(InDoubt::Release),
        micros(0..=5).prop_map(|every| InDoubt::Inquire { every })
    ];
    (micros(0..=8), micros(0..=30), in_doubt, micros(0..=6), any::<bool>()).prop_map(
        |(votes, margin, in_doubt, retry, hears_all)| Rules {
            lease: margin + votes,
            margin,
            in_doubt,
            retry: Some(retry),
            hears_all,
        },
    )
}

fn setup() -> impl Strategy<Value = Setup> {
    let agreement = (0_u32..2, prop::collection::btree_set(0_u32..4, 1..=4));
    (
        (1_u32..=2, prop::collection::vec(0_usize..=3, 4), any::<bool>(), any::<bool>()),
        rules(),
        (micros(0..=3), micros(0..=4), micros(0..=8)),
        faults(),
        prop::collection::vec(agreement, 1..=5),
        // Whether the margin is as long as the faults may take.
        any::<bool>(),
    )
        .prop_map(|(actors, rules, times, faults, agreements, enough)| {
            let (coordinators, room, takes_late, thinks) = actors;
            let (shorter, transit, outage) = times;
            let agreements = agreements
                .into_iter()
                .map(|(who, parts)| (who % coordinators, parts.into_iter().collect()));
            let mut setup = Setup {
                coordinators,
                room,
                takes_late,
                thinks,
                rules,
                shorter,
                transit,
                outage,
                faults,
                agreements: agreements.collect(),
            };
            if enough {
                let votes = setup.rules.lease - setup.rules.margin;
                setup.rules.margin = setup.needed();
                setup.rules.lease = setup.rules.margin + votes;
            }
            if faults.losses + faults.delays + faults.crashes == 0 {
                setup.rules.retry = None;
            }
            setup
        })
}

fn play(setup: Setup, schedule: &[Choice], log: bool) -> World {
    let mut world = World::new(setup);
    world.log = log.then(Vec::new);
    for &(fault, which, crash_after) in schedule {
        let moves = world.moves();
        let (faults, others): (Vec<Move>, Vec<Move>) =
            moves.into_iter().partition(|it| it.is_fault());
        let among = if fault < 40 && !faults.is_empty() { faults } else { others };
        if among.is_empty() {
            break;
        }
        let crashes = world.may_crash() && crash_after < 8;
        let crash_after = if crashes { usize::from(crash_after) } else { usize::MAX };
        world.make(among[usize::from(which) % among.len()], crash_after);
        if world.violation.is_some() {
            return world;
        }
    }
    world.run_out(2_000);
    world
}

proptest! {
    #![proptest_config(draws::the_same(6_000))]

    #[test]
    fn all_or_none(
        setup in setup(),
        schedule in prop::collection::vec(any::<Choice>(), 0..150),
    ) {
        if play(setup.clone(), &schedule, false).violation.is_some() {
            let world = play(setup, &schedule, true);
            let log = world.log.unwrap_or_default().join("\n");
            prop_assert!(false, "{:?}\n{log}", world.violation);
        }
    }
}
