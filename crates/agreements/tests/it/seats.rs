//! A seat keeps the records and timers of its machine, and starts the machine again after a crash.

use std::collections::BTreeMap;

use haggle_agreements::seat::{self, Act, Keeps, Seat};
use haggle_agreements::{
    AgreementId, Answer, Coordinator, InDoubt, Instruction, Progress, Rules, ToCoordinator,
    ToParticipant,
};
use haggle_model::{ActorId, Span, Time};

use crate::world::Thing;

type Broker = Coordinator<Thing>;
type Acts = seat::Acts<ToParticipant<Thing>, Progress<Thing>>;

const ME: ActorId = ActorId(0);
const HOLDER: ActorId = ActorId(1);

fn seat(keeps: Keeps) -> Seat<Broker> {
    let mut seat = Seat::new(ME, (), keeps);
    seat.start(Time::ZERO, &mut Acts::new());
    seat
}

/// Opens an agreement with one participant, and returns its number.
fn open(seat: &mut Seat<Broker>, retry: Option<Span>) -> u64 {
    let rules = Rules {
        lease: Span::from_secs(10),
        margin: Span::ZERO,
        in_doubt: InDoubt::Release,
        retry,
        hears_all: true,
    };
    let requests = BTreeMap::from([(HOLDER, 1)]);
    let mut acts = Acts::new();
    let number = seat.with(&mut acts, |it, out| it.open(Time::ZERO, requests, rules, out));
    number.expect("the machine is up")
}

fn commit(seat: &mut Seat<Broker>, number: u64) {
    let id = AgreementId { coordinator: ME, number };
    let answer = Answer::Ready { terms: 2, lease: Span::from_secs(10) };
    let mut acts = Acts::new();
    seat.hear(Time::ZERO, HOLDER, ToCoordinator { id, answer }, &mut acts);
    assert!(matches!(acts.back(), Some(Act::Tell(Progress::AllReady { .. }))), "{acts:?}");
    let commits = seat.with(&mut acts, |it, out| it.commit(Time::ZERO, number, |_, _| 3, out));
    assert_eq!(commits, Some(true));
}

#[test]
fn a_decided_agreement_goes_on_after_a_crash_and_an_undecided_one_is_forgotten() {
    let retry = Some(Span::from_secs(2));
    let mut seat = seat(Keeps::All);
    let (decided, undecided) = (open(&mut seat, retry), open(&mut seat, retry));
    commit(&mut seat, decided);
    assert_eq!(seat.next_wake(), Some(Time::from_secs(2)));
    seat.crash();
    assert_eq!(seat.next_wake(), None);
    let mut acts = Acts::new();
    assert_eq!(seat.with(&mut acts, |it, out| it.abort(decided, out)), None, "it is down");
    seat.start(Time::from_secs(5), &mut acts);
    let [Act::Send { to: HOLDER, message }] = &acts.make_contiguous()[..] else {
        panic!("{acts:?}")
    };
    assert_eq!((message.id.number, &message.instruction), (decided, &Instruction::Commit(3)));
    let machine = seat.machine().expect("it is up");
    assert_eq!(machine.states().map(|(number, _)| number).collect::<Vec<_>>(), [decided]);
    assert!(machine.is_settled(undecided));
    // The repetition is due again.
    acts.clear();
    assert!(!seat.wake(Time::from_secs(6), &mut acts));
    assert!(seat.wake(Time::from_secs(7), &mut acts));
    assert_eq!(acts.len(), 1);
}

#[test]
fn a_seat_that_keeps_nothing_sets_no_timer_and_its_machine_stays() {
    let mut seat = seat(Keeps::Nothing);
    let number = open(&mut seat, None);
    assert_eq!(seat.next_wake(), None);
    seat.crash();
    let mut acts = Acts::new();
    seat.start(Time::from_secs(5), &mut acts);
    assert_eq!(acts.len(), 0);
    let machine = seat.machine().expect("it is up");
    assert_eq!(machine.states().map(|(number, _)| number).collect::<Vec<_>>(), [number]);
}
