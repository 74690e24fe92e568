//! A participant crashes between the record of a deletion and the end of the deleted part.

use haggle_agreements::booker::Booker;
use haggle_agreements::booking::{Booking, Bookings};
use haggle_agreements::negotiation::{Negotiation, NegotiationRules, Round};
use haggle_agreements::protocol::{
    Coordinates, Duty, Machine, Outputs, Participates, Said, Verdict,
};
use haggle_agreements::{AgreementId, Output, Record};
use haggle_model::{ActorId, Span, Time};

use crate::arena::{Ask, Room};

type Protocol = Negotiation<Room>;
type Negotiator = Booker<Room, Round<Room>>;
type Out = Outputs<Protocol, Bookings<Room>>;

const COORDINATOR: ActorId = ActorId(0);
const ME: ActorId = ActorId(1);
const OTHER: ActorId = ActorId(2);
const ID: AgreementId = AgreementId { coordinator: COORDINATOR, number: 0 };

const RULES: NegotiationRules = NegotiationRules {
    tolerance: Span::ZERO,
    rounds: 9,
    patience: Span::from_secs(100),
    retry: Some(Span::from_secs(10)),
};

fn ask(from: i64) -> Ask {
    let from = Time::from_secs(from);
    Ask { procs: 1, length: Span::from_secs(1), window: Some((from, from)), urgent: false }
}

fn said(body: Booking<Room>) -> Said<Booking<Room>> {
    Said { id: ID, settled: 0, body }
}

fn hear(bookings: &mut Bookings<Room>, body: Booking<Room>, out: &mut Out) {
    Machine::<Protocol>::on_message(bookings, Time::ZERO, COORDINATOR, said(body), out);
}

/// A participant is to delete what it has booked: its outputs, and its records before.
fn deleted() -> (Out, Vec<Noted>) {
    let mut out = Out::new();
    let mut bookings = started(Vec::new(), &mut out);
    hear(&mut bookings, Booking::Book { round: 0, request: ask(5) }, &mut out);
    let (terms, lease) = (Time::from_secs(5), Span::FOREVER);
    bookings.ready(Time::ZERO, ID, terms, lease, &mut out);
    let before = records(&out);
    out.clear();
    hear(&mut bookings, Booking::Delete { round: 0 }, &mut out);
    (out, before)
}

type Noted = <Bookings<Room> as Machine<Protocol>>::Record;

fn records(out: &[<Out as IntoIterator>::Item]) -> Vec<Noted> {
    let record = |output: &_| match output {
        Output::Persist(record) => Some(Noted::clone(record)),
        _ => None,
    };
    out.iter().filter_map(record).collect()
}

fn started(records: Vec<Noted>, out: &mut Out) -> Bookings<Room> {
    Machine::<Protocol>::start(ME, &RULES, Record::compact(records), Time::ZERO, out)
}

#[test]
fn a_part_that_may_have_run_is_not_booked_again() {
    let (outputs, before) = deleted();
    let stop = outputs.iter().position(|it| *it == Output::Tell(Duty::GiveUp { id: ID }));
    for crash_before in 0..=outputs.len() {
        let mut records = [before.clone(), records(&outputs[..crash_before])].concat();
        let mut out = Out::new();
        // The second restart finds the records of the first one.
        for _ in 0..2 {
            out.clear();
            let mut bookings = started(records.clone(), &mut out);
            hear(&mut bookings, Booking::Delete { round: 0 }, &mut out);
            hear(&mut bookings, Booking::Book { round: 1, request: ask(9) }, &mut out);
            records.extend(self::records(&out));
            let books = out.iter().any(|it| matches!(it, Output::Tell(Duty::Consider { .. })));
            let is_cut_off = crash_before > 0 && !records_stop(&outputs[..crash_before], stop);
            assert_eq!(books, !is_cut_off, "before output {crash_before} of {outputs:?}: {out:?}");
            let body = Booking::Deleted { round: 0, may_have_run: is_cut_off };
            let deleted = Output::Send { to: COORDINATOR, message: said(body) };
            assert!(out.contains(&deleted), "{out:?}");
        }
    }
}

/// Returns whether there is a record after the part has been given up.
fn records_stop(outputs: &[<Out as IntoIterator>::Item], stop: Option<usize>) -> bool {
    let after = outputs.iter().skip(stop.expect("the part is given up"));
    after.into_iter().any(|it| matches!(it, Output::Persist(_)))
}

/// Another round would book the others for another start than that of the part that may have run.
#[test]
fn no_other_start_is_requested_when_a_part_may_have_run() {
    let mut out = Vec::new();
    let start = Machine::<Protocol>::start;
    let mut negotiator: Negotiator = start(COORDINATOR, &RULES, Vec::new(), Time::ZERO, &mut out);
    let wide = Ask { window: Some((Time::from_secs(5), Time::from_secs(50))), ..ask(5) };
    let number =
        negotiator.open(Time::ZERO, vec![(ME, wide), (OTHER, wide)], &mut out).expect("it is up");
    let mut hear = |from, body, out: &mut _| {
        Machine::<Protocol>::on_message(&mut negotiator, Time::ZERO, from, said(body), out);
    };
    hear(ME, Booking::Booked { round: 0, terms: Time::from_secs(5) }, &mut out);
    hear(OTHER, Booking::Refused { round: 0, counter: Time::from_secs(9) }, &mut out);
    out.clear();
    hear(ME, Booking::Deleted { round: 0, may_have_run: true }, &mut out);
    let failed =
        |it: &_| matches!(it, Output::Tell(Verdict::Failed { number: it, .. }) if *it == number);
    assert!(out.iter().any(failed), "{out:?}");
    let books = |it: &_| {
        matches!(it, Output::Send { message: Said { body: Booking::Book { .. }, .. }, .. })
    };
    assert!(!out.iter().any(books), "{out:?}");
}
