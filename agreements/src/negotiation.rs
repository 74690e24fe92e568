//! Negotiation without blocking: all are asked to reserve for the same start; who cannot says
//! what its first possible start is, and the latest of these is asked for next.
//!
//! ```text
//!   c            p1            p2
//!   ├─ Book 10 ─▶│             │       r rounds in which all are asked: 2 n r messages and 2 a
//!   ├─ Book 10 ──┼────────────▶│       cancelled reservation, after 2 d r
//!   │◀── Booked ─┤             │
//!   │◀───────────┼─ Refused 25 ┤
//!   ├─ Delete ──▶│             │
//!   ├─ Book 25 ─▶│             │
//!   ├─ Book 25 ──┼────────────▶│
//! ```
//!
//! Nothing is locked, so there is no deadlock. The start grows from round to round, so there is
//! an end. A solution that exists can be missed when somebody else books in between.
//!
//! The coordinator has on record whom it asks, and that all were booked: after a crash it takes
//! back what it had not finished.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::booking::{Booking, Bookings};
use crate::ledger::{Entry, Ledger};
use crate::protocol::{
    Coordinates, Machine, Nobody, Outcome, Outputs, Parts, Protocol, Said, Traits, Verdict,
};
use crate::{CoordinatorTimer, Output, Subject};

/// A subject with starts, on a calendar that all share. No machine's clock is meant.
pub trait Windowed: Subject {
    /// The first and the last start that are asked for.
    fn window(request: &Self::Request) -> (Time, Time);
    /// The same with another window.
    fn within(request: &Self::Request, from: Time, until: Time) -> Self::Request;
    /// The start that was granted.
    fn start(terms: &Self::Terms) -> Time;
    /// The first possible start after the window.
    fn earliest(counter: &Self::Counter) -> Time;
}

/// Negotiation without blocking about `S`.
#[derive(Clone, Copy, Debug)]
pub struct Negotiation<S>(PhantomData<S>);

/// How a coordinator negotiates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NegotiationRules {
    /// By how much the starts of a group may differ.
    pub tolerance: Span,
    /// After how many rounds it is given up.
    pub rounds: u32,
    /// For how long replies of a round are awaited.
    pub patience: Span,
    /// Time between repetitions of what is not answered; `None` = no message is ever lost.
    pub retry: Option<Span>,
}

impl<S: Windowed> Protocol for Negotiation<S> {
    const TRAITS: Traits =
        Traits { name: "negotiation", outcome: Outcome::Compensated, waits: false, closes: false };
    type Subject = S;
    type Rules = NegotiationRules;
    type Message = Said<Booking<S>>;
    type Coordinator = Negotiator<S>;
    type Participant = Bookings<S>;
    type Witness = Nobody;
}

/// What a coordinator has on record of a negotiation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Stage<S: Subject> {
    /// These may have been asked.
    Begun(Parts<S>),
    /// All are booked.
    Agreed(BTreeMap<ActorId, S::Terms>),
}

/// Where a negotiation stands. Lost in a crash.
#[derive(Clone, Debug)]
struct Round<S: Subject> {
    parts: BTreeMap<ActorId, Asked<S>>,
    round: u32,
    from: Time,
    /// The last start that is of use, with the tolerance.
    last: Time,
    failed: bool,
}

#[derive(Clone, Debug)]
struct Asked<S: Subject> {
    request: S::Request,
    round: u32,
    state: Reply<S>,
}

#[derive(Clone, Debug)]
enum Reply<S: Subject> {
    Awaited,
    Booked(S::Terms),
    Refused(S::Counter),
    Deleting,
    Deleted,
}

/// All negotiations of one actor.
#[derive(Clone, Debug)]
pub struct Negotiator<S: Windowed> {
    rules: NegotiationRules,
    stages: Ledger<Stage<S>>,
    rounds: BTreeMap<u64, Round<S>>,
}

type Out<S> = Outputs<Negotiation<S>, Negotiator<S>>;

impl<S: Windowed> Asked<S> {
    /// What it has not answered.
    fn unanswered(&self) -> Option<Booking<S>> {
        let round = self.round;
        match self.state {
            Reply::Awaited => Some(Booking::Book { round, request: self.request.clone() }),
            Reply::Deleting => Some(Booking::Delete { round }),
            Reply::Booked(_) | Reply::Refused(_) | Reply::Deleted => None,
        }
    }

    /// Whether it is booked at a start between these.
    fn suits(&self, from: Time, until: Time) -> bool {
        matches!(&self.state, Reply::Booked(terms) if (from..=until).contains(&S::start(terms)))
    }
}

impl<S: Windowed> Negotiator<S> {
    fn repeat(&self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(Round { parts, .. }) = self.rounds.get(&number) else { return };
        let silent = parts.iter().filter_map(|(&who, asked)| Some((who, asked.unanswered()?)));
        let silent: Vec<_> = silent.collect();
        if let Some(retry) = self.rules.retry
            && !silent.is_empty()
        {
            let timer = CoordinatorTimer::Retry(number);
            out.push(Output::Set { timer, at: now + retry.max(Span::TICK) });
        }
        for (who, body) in silent {
            self.stages.send(who, number, body, out);
        }
    }

    /// Asks all that are not booked inside the window, after taking back what is outside.
    fn ask(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(Round { parts, round, from, .. }) = self.rounds.get_mut(&number) else { return };
        let (round, from, until) = (*round, *from, *from + self.rules.tolerance);
        for (&who, asked) in parts.iter_mut().filter(|(_, asked)| !asked.suits(from, until)) {
            if let Reply::Booked(_) = asked.state {
                let body = Booking::Delete { round: asked.round };
                self.stages.send(who, number, body, out);
            }
            let request = S::within(&asked.request, from, until);
            *asked = Asked { request, round, state: Reply::Awaited };
        }
        let (timer, at) = (CoordinatorTimer::Decide(number), now + self.rules.patience);
        out.push(Output::Set { timer, at });
        self.repeat(now, number, out);
    }

    fn answered(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(Round { parts, round, from, last, .. }) = self.rounds.get_mut(&number) else {
            return;
        };
        if parts.values().any(|asked| matches!(asked.state, Reply::Awaited)) {
            return;
        }
        let counter = |asked: &Asked<S>| match &asked.state {
            Reply::Refused(counter) => Some(S::earliest(counter)),
            _ => None,
        };
        match parts.values().filter_map(counter).max() {
            None => self.agree(number, out),
            // A participant that proposes what was asked for does not get on.
            Some(next) if next > *last || next <= *from || *round + 1 >= self.rules.rounds => {
                self.fail(now, number, out);
            }
            Some(next) => {
                (*round, *from) = (*round + 1, next);
                self.ask(now, number, out);
            }
        }
    }

    fn agree(&mut self, number: u64, out: &mut Out<S>) {
        let Some(Round { parts, .. }) = self.rounds.remove(&number) else { return };
        let terms = |(who, asked): (ActorId, Asked<S>)| match asked.state {
            Reply::Booked(terms) => Some((who, terms)),
            _ => None,
        };
        let terms: BTreeMap<_, _> = parts.into_iter().filter_map(terms).collect();
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Stop(CoordinatorTimer::Retry(number)));
        self.stages.enter(number, Stage::Agreed(terms.clone()), out);
        // A crash between the two has it told again, and never lost.
        out.push(Output::Tell(Verdict::Agreed { number, terms }));
        self.stages.over(number, out);
    }

    fn fail(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(Round { parts, failed, .. }) = self.rounds.get_mut(&number) else { return };
        *failed = true;
        let mut counters = BTreeMap::new();
        for (&who, asked) in parts.iter_mut() {
            match std::mem::replace(&mut asked.state, Reply::Deleting) {
                Reply::Refused(counter) => {
                    counters.insert(who, counter);
                    asked.state = Reply::Deleted;
                }
                Reply::Deleted => asked.state = Reply::Deleted,
                Reply::Awaited | Reply::Booked(_) | Reply::Deleting => {}
            }
        }
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Tell(Verdict::Failed { number, counters }));
        self.repeat(now, number, out);
        self.end_if_deleted(number, out);
    }

    fn end_if_deleted(&mut self, number: u64, out: &mut Out<S>) {
        let deleted = |asked: &Asked<S>| matches!(asked.state, Reply::Deleted);
        if self.rounds.get(&number).is_some_and(|it| it.parts.values().all(deleted)) {
            self.rounds.remove(&number);
            out.push(Output::Stop(CoordinatorTimer::Retry(number)));
            self.stages.over(number, out);
        }
    }
}

impl<S: Windowed> Machine<Negotiation<S>> for Negotiator<S> {
    type Record = Entry<Stage<S>>;
    type Timer = CoordinatorTimer;
    type News = Verdict<S>;

    fn start(
        me: ActorId,
        rules: &NegotiationRules,
        records: Vec<Entry<Stage<S>>>,
        now: Time,
        out: &mut Out<S>,
    ) -> Self {
        let stages: Ledger<Stage<S>> = Ledger::start(me, records);
        let mut negotiator = Negotiator { rules: *rules, stages, rounds: BTreeMap::new() };
        for (number, stage) in negotiator.stages.open.clone() {
            match stage {
                Stage::Begun(parts) => {
                    // Whatever was asked for, in whichever round, is taken back.
                    let asked =
                        |request| Asked { request, round: u32::MAX, state: Reply::Deleting };
                    let parts = parts.into_iter().map(|(who, it)| (who, asked(it))).collect();
                    let (round, from, last) = (u32::MAX, now, now);
                    let round = Round { parts, round, from, last, failed: true };
                    negotiator.rounds.insert(number, round);
                    negotiator.repeat(now, number, out);
                }
                Stage::Agreed(terms) => {
                    out.push(Output::Tell(Verdict::Agreed { number, terms }));
                    negotiator.stages.over(number, out);
                }
            }
        }
        negotiator
    }

    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: Said<Booking<S>>,
        out: &mut Out<S>,
    ) {
        let Some(number) = self.stages.mine(message.id) else { return };
        let Some(Round { parts, .. }) = self.rounds.get_mut(&number) else { return };
        let Some(asked) = parts.get_mut(&from) else { return };
        match (message.body, &asked.state) {
            (Booking::Booked { round, terms }, Reply::Awaited) if round == asked.round => {
                asked.state = Reply::Booked(terms);
                self.answered(now, number, out);
            }
            (Booking::Refused { round, counter }, Reply::Awaited) if round == asked.round => {
                asked.state = Reply::Refused(counter);
                self.answered(now, number, out);
            }
            (Booking::Deleted { round }, Reply::Deleting) if round == asked.round => {
                asked.state = Reply::Deleted;
                self.end_if_deleted(number, out);
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, now: Time, timer: CoordinatorTimer, out: &mut Out<S>) {
        match timer {
            CoordinatorTimer::Decide(number) => self.fail(now, number, out),
            CoordinatorTimer::Retry(number) => self.repeat(now, number, out),
        }
    }
}

impl<S: Windowed> Coordinates<Negotiation<S>> for Negotiator<S> {
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut Out<S>) -> u64 {
        let number = self.stages.number(out);
        self.stages.enter(number, Stage::Begun(parts.clone()), out);
        let window = |(_, request): &(ActorId, S::Request)| S::window(request);
        let from = parts.iter().map(|part| window(part).0).max().unwrap_or(now);
        let last = parts.iter().map(|part| window(part).1).min().unwrap_or(now);
        let asked = |request| Asked { request, round: 0, state: Reply::Deleted };
        let parts = parts.into_iter().map(|(who, request)| (who, asked(request))).collect();
        self.rounds.insert(number, Round { parts, round: 0, from, last, failed: false });
        self.ask(now, number, out);
        number
    }

    fn close(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        if self.rounds.get(&number).is_some_and(|it| !it.failed) {
            self.fail(now, number, out);
        }
    }

    fn open_numbers(&self) -> Vec<u64> {
        self.stages.numbers()
    }
}
