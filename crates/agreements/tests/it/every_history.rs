//! All that can happen to one small agreement with at most one fault of a kind.

use std::collections::{BTreeSet, HashSet, VecDeque};

use haggle_agreements::{InDoubt, Rules};
use haggle_model::Span;
use haggle_testing::micros;

use crate::world::{Faults, Move, Setup, World};

/// One coordinator, two participants; a message takes at most one microsecond.
pub(crate) fn small(in_doubt: InDoubt, margin: i64) -> Setup {
    Setup {
        coordinators: 1,
        room: vec![1, 1],
        takes_late: false,
        thinks: false,
        rules: Rules {
            lease: micros(margin + 3),
            margin: micros(margin),
            in_doubt,
            retry: Some(micros(2)),
            hears_all: false,
        },
        shorter: Span::ZERO,
        transit: micros(1),
        outage: micros(3),
        faults: Faults { losses: 1, copies: 1, delays: 1, crashes: 1 },
        agreements: vec![(0, vec![0, 1])],
    }
}

/// Looks at every history, short ones first, and at no world twice. Returns how they end.
fn explore(setup: &Setup) -> BTreeSet<&'static str> {
    let start = World::new(setup.clone());
    let mut seen = HashSet::from([start.fingerprint()]);
    let mut endings = BTreeSet::new();
    let mut ways: Vec<(usize, Option<(Move, usize)>)> = vec![(0, None)];
    let mut frontier = VecDeque::from([(0, start)]);
    // Where there are too many to remember, the last one first.
    let next = |frontier: &mut VecDeque<_>| match frontier.len() {
        ..50_000 => frontier.pop_front(),
        _ => frontier.pop_back(),
    };
    while let Some((place, mut world)) = next(&mut frontier) {
        let moves = world.moves();
        if moves.iter().all(|it| it.is_fault()) {
            world.check_end();
            assert_eq!(world.violation, None, "{}", way(&ways, place, setup));
            endings.extend(world.endings());
        }
        for it in moves {
            let mut crash_after = usize::MAX;
            loop {
                let mut next = world.clone();
                let outputs = next.make(it, crash_after);
                if seen.insert(next.fingerprint()) {
                    ways.push((place, Some((it, crash_after))));
                    let found = ways.len() - 1;
                    assert_eq!(next.violation, None, "{}", way(&ways, found, setup));
                    frontier.push_back((found, next));
                }
                // Once more, with a crash before its last output, the one before ...
                let ahead = crash_after.min(outputs);
                if it.is_fault() || ahead == 0 || !world.may_crash() {
                    break;
                }
                crash_after = ahead - 1;
            }
        }
    }
    eprintln!("{:?}: {} worlds", setup.faults, seen.len());
    endings
}

/// What led to a world, once more with a log.
fn way(ways: &[(usize, Option<(Move, usize)>)], mut place: usize, setup: &Setup) -> String {
    let mut moves = Vec::new();
    while let (before, Some(it)) = ways[place] {
        moves.push(it);
        place = before;
    }
    let mut world = World::new(setup.clone());
    world.log = Some(Vec::new());
    let mut text = String::new();
    for (it, crash_after) in moves.into_iter().rev() {
        world.make(it, crash_after);
        let log = world.log.replace(Vec::new()).unwrap_or_default();
        text += &format!("{it:?}\n    {}\n", log.join("\n    "));
    }
    text
}

/// Explores with these numbers of losses, copies, delays and crashes.
fn explore_with(faults: &[[u8; 4]], setup: &Setup) -> BTreeSet<&'static str> {
    let mut endings = BTreeSet::new();
    for &[losses, copies, delays, crashes] in faults {
        let faults = Faults { losses, copies, delays, crashes };
        endings.extend(explore(&Setup { faults, ..setup.clone() }));
    }
    endings
}

const PAIRS: [[u8; 4]; 5] = [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]];

fn inquiring() -> Setup {
    small(InDoubt::Inquire { every: micros(2) }, 1)
}

#[test]
fn nobody_who_inquires_is_left_out() {
    let endings = explore_with(&PAIRS, &inquiring());
    assert_eq!(endings, BTreeSet::from(["aborted", "committed"]));
}

#[test]
fn nobody_is_left_out_within_the_margin() {
    let mut setup = small(InDoubt::Release, 0);
    setup.outage = micros(1);
    for faults in PAIRS {
        let [losses, copies, delays, crashes] = faults;
        setup.faults = Faults { losses, copies, delays, crashes };
        setup.rules.margin = setup.needed();
        setup.rules.lease = setup.rules.margin + micros(1);
        assert!(setup.is_strict());
        let endings = explore_with(&[faults], &setup);
        assert_eq!(endings, BTreeSet::from(["aborted", "committed"]));
    }
}

#[test]
fn what_breaks_is_undone() {
    let faults = [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]];
    let endings = explore_with(&faults, &small(InDoubt::Release, 1));
    assert_eq!(endings, BTreeSet::from(["aborted", "broken", "committed"]));
}

#[test]
fn what_can_be_taken_late_is_not_broken() {
    let setup = Setup { takes_late: true, ..small(InDoubt::Release, 1) };
    let endings = explore_with(&[[1, 0, 0, 1]], &setup);
    assert_eq!(endings, BTreeSet::from(["aborted", "committed"]));
}

/// The other pairs, and three faults at once with a loss and a copy among them.
#[test]
#[ignore = "takes many minutes"]
fn three_faults_at_once() {
    let many = [[0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 1, 0], [1, 1, 0, 1]];
    for faults in many {
        explore_with(&[faults], &inquiring());
        explore_with(&[faults], &small(InDoubt::Release, 1));
    }
}
