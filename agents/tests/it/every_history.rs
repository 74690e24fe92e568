//! All that can happen to one small agreement with at most one fault of each kind.

use std::collections::{HashSet, VecDeque};

use haggle_agents::agreement::{InDoubt, Rules};
use haggle_model::Span;

use crate::world::{Faults, Move, Setup, World};

fn micros(micros: i64) -> Span {
    Span::from_micros(micros)
}

/// One coordinator, two participants; a message takes at most one microsecond.
pub(crate) fn small(in_doubt: InDoubt, margin: i64) -> Setup {
    Setup {
        coordinators: 1,
        room: vec![1, 1],
        takes_late: false,
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

/// Looks at every history, breadth first; returns how many worlds there are.
fn explore(setup: Setup) -> usize {
    let start = World::new(setup);
    let mut seen = HashSet::from([start.fingerprint()]);
    let mut ways: Vec<(usize, Option<(Move, usize)>)> = vec![(0, None)];
    let mut frontier = VecDeque::from([(0, start)]);
    let limit: usize = std::env::var("LIMIT").map_or(3_000_000, |it| it.parse().unwrap());
    while let Some((place, world)) = frontier.pop_front() {
        if seen.len() > limit {
            eprintln!("limit, frontier {}", frontier.len());
            break;
        }
        let moves = world.moves();
        if !moves.iter().any(|it| !it.is_fault()) {
            let mut end = world.clone();
            end.check_end();
            assert_eq!(end.violation, None, "{}", way(&ways, place, &end.setup));
        }
        for it in moves {
            let mut crash_after = usize::MAX;
            loop {
                let mut next = world.clone();
                let outputs = next.make(it, crash_after);
                if seen.insert(next.fingerprint()) {
                    ways.push((place, Some((it, crash_after))));
                    let found = ways.len() - 1;
                    assert_eq!(next.violation, None, "{}", way(&ways, found, &next.setup));
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
    eprintln!("{} worlds", seen.len());
    seen.len()
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

#[test]
fn sizes() {
    for f in ["0001", "0101", "0011"] {
        let n: Vec<u8> = f.bytes().map(|b| b - b'0').collect();
        let mut setup = small(InDoubt::Inquire { every: micros(2) }, 1);
        setup.faults = Faults { losses: n[0], copies: n[1], delays: n[2], crashes: n[3] };
        let t = std::time::Instant::now();
        eprintln!("{f}");
        explore(setup);
        eprintln!("{:?}", t.elapsed());
    }
}
