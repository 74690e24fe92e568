//! Negotiation without blocking: all participants are requested to reserve for the same start. A
//! participant that cannot answers with its first possible start, and the latest of these is requested
//! next.
//!
//! ```text
//!   c            p1            p2
//!   ├─ Book 10 ─▶│             │       r rounds in which all are asked: 2 n r messages and 2 a
//!   ├─ Book 10 ──┼────────────▶│       cancelled reservation, after 2 d r, and 2 d for each round
//!   │◀── Booked ─┤             │       with cancellations
//!   │◀───────────┼─ Refused 25 ┤
//!   ├─ Delete ──▶│             │
//!   │◀─ Deleted ─┤             │
//!   ├─ Book 25 ─▶│             │
//!   ├─ Book 25 ──┼────────────▶│
//! ```
//!
//! Nothing is locked, so there is no deadlock. The start grows from round to round, so the negotiation
//! ends. It can miss an existing solution if another group books in between.
//!
//! The next start is requested when all reservations for the last one are known to be cancelled. A part
//! begins by itself when its start comes, and no two parts of a group must begin for different rounds. If a
//! part has ended by then, or may have ended, there is no other start, and the negotiation fails. If
//! replies do not arrive in time, it is given up like a group of [one-phase
//! all-or-none](crate::one_phase).
//!
//! The coordinator records the participants that it asks, and that all were booked. After a crash it takes
//! unfinished bookings back.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::booking::{Booking, Bookings};
use crate::deletion::{Deletion, Fate};
use crate::ledger::{Entry, Ledger};
use crate::protocol::{
    Coordinates, Machine, Nobody, Outcome, Outputs, Parts, Protocol, Said, Times, Traits, Verdict,
    messages,
};
use crate::{CoordinatorTimer, Output, Subject};

/// A subject with starts, on a calendar that all actors share. It refers to no machine's clock.
pub trait Windowed: Subject {
    /// The first and the last requested start.
    fn window(request: &Self::Request) -> (Time, Time);
    /// The same request with another window.
    fn within(request: &Self::Request, from: Time, until: Time) -> Self::Request;
    /// The granted start.
    fn start(terms: &Self::Terms) -> Time;
    /// The first possible start after the window.
    fn earliest(counter: &Self::Counter) -> Time;
}

/// Negotiation without blocking about `S`.
#[derive(Clone, Copy, Debug)]
pub struct Negotiation<S>(PhantomData<S>);

/// Rules by which a coordinator negotiates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NegotiationRules {
    /// Largest difference of the starts of a group.
    pub tolerance: Span,
    /// Rounds after which it is given up.
    pub rounds: u32,
    /// Time for which replies of a round are awaited.
    pub patience: Span,
    /// Time between repetitions of unanswered messages; `None` = no message is ever lost.
    pub retry: Option<Span>,
}

impl Times for NegotiationRules {
    fn retry(&self) -> Option<Span> {
        self.retry
    }

    fn lead(&self, latency_max: Span, _: usize) -> Span {
        messages(latency_max, 3)
    }
}

impl<S: Windowed> Protocol for Negotiation<S> {
    const TRAITS: Traits = Traits::ahead("negotiation", Outcome::Compensated);
    type Subject = S;
    type Rules = NegotiationRules;
    type Message = Said<Booking<S>>;
    type Coordinator = Negotiator<S>;
    type Participant = Bookings<S>;
    type Witness = Nobody;
}

/// Recorded state of a negotiation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Stage<S: Subject> {
    /// These participants may have been asked.
    Begun(Parts<S>),
    /// These participants may have been asked, and it counts as failed, independent of their replies.
    Failed(Parts<S>),
    /// All are booked.
    Agreed(BTreeMap<ActorId, S::Terms>),
}

/// Progress of a negotiation. Lost in a crash.
#[derive(Clone, Debug)]
struct Round<S: Subject> {
    parts: BTreeMap<ActorId, Asked<S>>,
    round: u32,
    from: Time,
    /// The last useful start, with the tolerance.
    last: Time,
    /// Set if it is given up.
    deletion: Option<Deletion<S>>,
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
    /// It was booked, and the part ended before the booking was reported.
    Over(S::Terms),
    Refused(S::Counter),
    /// Its booking is for the start of the last round, and is being cancelled.
    Deleting,
    /// Nothing is booked or requested yet.
    Idle,
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
    /// The request that it has not answered.
    fn unanswered(&self) -> Option<Booking<S>> {
        let round = self.round;
        match self.state {
            Reply::Awaited => Some(Booking::Book { round, request: self.request.clone() }),
            Reply::Deleting => Some(Booking::Delete { round }),
            Reply::Booked(_) | Reply::Over(_) | Reply::Refused(_) | Reply::Idle => None,
        }
    }

    /// Returns whether it is booked at a start in this range.
    fn suits(&self, from: Time, until: Time) -> bool {
        matches!(&self.state, Reply::Booked(terms) if (from..=until).contains(&S::start(terms)))
    }
}

impl<S: Windowed> Negotiator<S> {
    fn repeat(&self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(Round { parts, deletion, .. }) = self.rounds.get(&number) else { return };
        let silent = parts.iter().filter_map(|(&who, asked)| Some((who, asked.unanswered()?)));
        let silent = match deletion {
            Some(deletion) => deletion.unanswered(),
            None => silent.collect(),
        };
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

    /// Begins a round: cancels the bookings outside its window.
    fn begin(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(Round { parts, from, .. }) = self.rounds.get_mut(&number) else { return };
        let (from, until) = (*from, *from + self.rules.tolerance);
        for asked in parts.values_mut().filter(|asked| !asked.suits(from, until)) {
            let is_booked = matches!(asked.state, Reply::Booked(_));
            asked.state = if is_booked { Reply::Deleting } else { Reply::Idle };
        }
        self.ask(now, number, out);
    }

    /// Requests the missing bookings inside the window, once no booking is left outside it.
    fn ask(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(Round { parts, round, from, .. }) = self.rounds.get_mut(&number) else { return };
        let (round, from, until) = (*round, *from, *from + self.rules.tolerance);
        if !parts.values().any(|asked| matches!(asked.state, Reply::Deleting)) {
            for asked in parts.values_mut().filter(|asked| matches!(asked.state, Reply::Idle)) {
                let request = S::within(&asked.request, from, until);
                *asked = Asked { request, round, state: Reply::Awaited };
            }
        }
        self.await_replies(now, number, out);
        self.repeat(now, number, out);
    }

    fn await_replies(&self, now: Time, number: u64, out: &mut Out<S>) {
        let (timer, at) = (CoordinatorTimer::Decide(number), now + self.rules.patience);
        out.push(Output::Set { timer, at });
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
        let is_over = parts.values().any(|asked| matches!(asked.state, Reply::Over(_)));
        match parts.values().filter_map(counter).max() {
            None => {
                let terms = |(&who, asked): (&ActorId, &Asked<S>)| match &asked.state {
                    Reply::Booked(terms) | Reply::Over(terms) => Some((who, terms.clone())),
                    _ => None,
                };
                let terms = parts.iter().filter_map(terms).collect();
                self.agree(number, terms, out);
            }
            // A participant that proposes the requested start makes no progress.
            Some(next)
                if is_over || next > *last || next <= *from || *round + 1 >= self.rules.rounds =>
            {
                self.fail(now, number, out);
            }
            Some(next) => {
                (*round, *from) = (*round + 1, next);
                self.begin(now, number, out);
            }
        }
    }

    fn agree(&mut self, number: u64, terms: BTreeMap<ActorId, S::Terms>, out: &mut Out<S>) {
        self.rounds.remove(&number);
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Stop(CoordinatorTimer::Retry(number)));
        self.stages.enter(number, Stage::Agreed(terms.clone()), out);
        // After a crash between these outputs the owner is notified again, so no news is lost.
        out.push(Output::Tell(Verdict::Agreed { number, terms }));
        self.stages.over(number, out);
    }

    /// Gives up a negotiation without agreement.
    fn fail(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(Round { parts, round, deletion, .. }) = self.rounds.get_mut(&number) else {
            return;
        };
        let (mut silent, mut over, mut torn) = (BTreeSet::new(), BTreeMap::new(), false);
        for (&who, asked) in parts.iter() {
            match &asked.state {
                Reply::Refused(_) | Reply::Idle => torn = true,
                Reply::Over(terms) => {
                    over.insert(who, terms.clone());
                }
                Reply::Awaited | Reply::Booked(_) | Reply::Deleting => {
                    silent.insert(who);
                }
            }
        }
        *deletion = Some(Deletion::new(*round, silent, over, torn));
        self.await_replies(now, number, out);
        self.tell(number, out);
        self.repeat(now, number, out);
        self.end_if_deleted(number, out);
    }

    /// After a crash, takes all bookings back, of any round.
    fn take_back(&mut self, now: Time, number: u64, parts: Parts<S>, out: &mut Out<S>) {
        let (round, from, last) = (u32::MAX, now, now);
        let silent = parts.into_iter().map(|(who, _)| who).collect();
        let deletion = Some(Deletion::new(round, silent, BTreeMap::new(), false));
        let round = Round { parts: BTreeMap::new(), round, from, last, deletion };
        self.rounds.insert(number, round);
        self.repeat(now, number, out);
    }

    /// Reports the fate of a group that was given up, once it is known.
    fn tell(&mut self, number: u64, out: &mut Out<S>) {
        let deletion = self.rounds.get_mut(&number).and_then(|it| it.deletion.as_mut());
        match deletion.and_then(Deletion::fate) {
            Some(Fate::Failed) => self.tell_failed(number, out),
            Some(Fate::Ran(terms)) => self.agree(number, terms, out),
            None => {}
        }
    }

    fn tell_failed(&self, number: u64, out: &mut Out<S>) {
        let counter = |(&who, asked): (&ActorId, &Asked<S>)| match &asked.state {
            Reply::Refused(counter) => Some((who, counter.clone())),
            _ => None,
        };
        let parts = self.rounds.get(&number).into_iter().flat_map(|it| &it.parts);
        let counters = parts.filter_map(counter).collect();
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Tell(Verdict::Failed { number, counters }));
    }

    /// The fate of the group has been unknown for too long: it counts as failed.
    fn despair(&mut self, number: u64, out: &mut Out<S>) {
        let deletion = self.rounds.get_mut(&number).and_then(|it| it.deletion.as_mut());
        if deletion.is_some_and(Deletion::despair) {
            if let Some(Stage::Begun(parts)) = self.stages.open.get(&number) {
                let parts = parts.clone();
                self.stages.enter(number, Stage::Failed(parts), out);
            }
            self.tell_failed(number, out);
        }
    }

    fn end_if_deleted(&mut self, number: u64, out: &mut Out<S>) {
        let deletion = self.rounds.get(&number).and_then(|it| it.deletion.as_ref());
        if deletion.is_some_and(Deletion::is_done) {
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
                Stage::Begun(parts) => negotiator.take_back(now, number, parts, out),
                Stage::Failed(parts) => {
                    negotiator.take_back(now, number, parts, out);
                    negotiator.despair(number, out);
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
        let Some(Round { parts, deletion, .. }) = self.rounds.get_mut(&number) else { return };
        if let Some(deletion) = deletion {
            deletion.hear(from, message.body);
            self.tell(number, out);
            self.end_if_deleted(number, out);
            return;
        }
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
            (Booking::Over { round, terms }, Reply::Awaited) if round == asked.round => {
                asked.state = Reply::Over(terms);
                self.answered(now, number, out);
            }
            (Booking::Deleted { round, may_have_run }, Reply::Deleting) if round == asked.round => {
                asked.state = Reply::Idle;
                if may_have_run {
                    self.fail(now, number, out);
                } else if !parts.values().any(|asked| matches!(asked.state, Reply::Deleting)) {
                    self.ask(now, number, out);
                }
            }
            (Booking::Over { round, terms }, Reply::Deleting) if round == asked.round => {
                asked.state = Reply::Over(terms);
                self.fail(now, number, out);
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, now: Time, timer: CoordinatorTimer, out: &mut Out<S>) {
        match timer {
            CoordinatorTimer::Decide(number) => match self.rounds.get(&number) {
                Some(round) if round.deletion.is_none() => self.fail(now, number, out),
                _ => self.despair(number, out),
            },
            CoordinatorTimer::Retry(number) => self.repeat(now, number, out),
        }
    }
}

impl<S: Windowed> Coordinates<S, Out<S>> for Negotiator<S> {
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut Out<S>) -> Option<u64> {
        let number = self.stages.number(out);
        self.stages.enter(number, Stage::Begun(parts.clone()), out);
        let window = |(_, request): &(ActorId, S::Request)| S::window(request);
        let from = parts.iter().map(|part| window(part).0).max().unwrap_or(now);
        let last = parts.iter().map(|part| window(part).1).min().unwrap_or(now);
        let asked = |request| Asked { request, round: 0, state: Reply::Idle };
        let parts = parts.into_iter().map(|(who, request)| (who, asked(request))).collect();
        self.rounds.insert(number, Round { parts, round: 0, from, last, deletion: None });
        self.ask(now, number, out);
        Some(number)
    }

    fn close(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        if self.rounds.get(&number).is_some_and(|it| it.deletion.is_none()) {
            self.fail(now, number, out);
        }
        self.despair(number, out);
    }

    fn open_numbers(&self) -> Vec<u64> {
        self.stages.numbers()
    }
}
