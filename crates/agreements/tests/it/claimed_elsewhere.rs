//! A part that finds no room is claimed elsewhere, at once.

use haggle_agreements::claiming::{Claim, ClaimTimer, Claimant, Claiming, ClaimingRules};
use haggle_agreements::protocol::{Body, Coordinates, Machine, Outputs, Said, Verdict};
use haggle_agreements::{AgreementId, Output};
use haggle_model::{ActorId, Span, Time};

use crate::arena::{Ask, Room};

type Out = Outputs<Claiming<Room>, Claimant<Room>>;

const ME: ActorId = ActorId(0);
const HELD: ActorId = ActorId(1);
const FULL: ActorId = ActorId(2);
const FREE: ActorId = ActorId(3);

/// What has been said to whom since it was looked at last.
fn said(out: &mut Out) -> Vec<(ActorId, &'static str)> {
    let mut all = Vec::new();
    for output in out.drain(..) {
        if let Output::Send { to, message } = output {
            all.push((to, message.body.kind()));
        }
    }
    all
}

#[test]
fn a_part_without_room_is_claimed_elsewhere() {
    let ask = Ask { procs: 1, length: Span::from_secs(1), window: None, urgent: false };
    let rules = ClaimingRules { scan: Span::from_secs(60), trials: None, retry: None };
    let now = Time::ZERO;
    let mut out = Out::new();
    let mut claimant = Claimant::<Room>::start(ME, &rules, Vec::new(), now, &mut out);
    let number = claimant.open(now, vec![(HELD, ask), (FULL, ask)], &mut out).expect("it is up");
    assert_eq!(said(&mut out), [(HELD, "claim"), (FULL, "claim")]);
    let id = AgreementId { coordinator: ME, number };
    let hear = |claimant: &mut Claimant<Room>, from, body, out: &mut Out| {
        claimant.on_message(now, from, Said { id, settled: 0, body }, out);
    };
    // Nobody has said yet whether there is room.
    assert!(!claimant.move_part(now, number, FULL, FREE, ask, &mut out));
    hear(&mut claimant, HELD, Claim::Claimed(now), &mut out);
    hear(&mut claimant, FULL, Claim::NotEnough(now), &mut out);
    assert_eq!(said(&mut out), []);
    // What is held stays, and no participant has two parts of a group.
    assert!(!claimant.move_part(now, number, HELD, FREE, ask, &mut out));
    assert!(!claimant.move_part(now, number, FULL, HELD, ask, &mut out));
    assert!(!claimant.move_part(now, number + 1, FULL, FREE, ask, &mut out));
    assert!(out.is_empty());

    assert!(claimant.move_part(now, number, FULL, FREE, ask, &mut out));
    assert!(out.contains(&Output::Stop(ClaimTimer::Scan(number, FULL))), "it is not tried again");
    assert_eq!(said(&mut out), [(FREE, "claim")]);
    // A late answer of the first place counts for nothing.
    hear(&mut claimant, FULL, Claim::Claimed(now), &mut out);
    assert_eq!(said(&mut out), []);
    hear(&mut claimant, FREE, Claim::Claimed(now), &mut out);
    assert!(out.contains(&Output::Tell(Verdict::Decided { number })));
    assert_eq!(said(&mut out), [(HELD, "start"), (FREE, "start")]);
}
