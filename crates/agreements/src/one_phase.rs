//! One-phase all-or-none: each participant books immediately and definitively. If one refuses, the bookings
//! of the others are deleted.
//!
//! ```text
//!   c            p1            p2
//!   ├─ Book ────▶│             │       success: 2 n messages, after 2 d;
//!   ├─ Book ─────┼────────────▶│       one after the other after 2 n d
//!   │◀── Booked ─┤             │
//!   │◀───────────┼── Refused ──┤       failure with g booked: 2 n + 2 g; one after the
//!   ├─ Delete ──▶│             │       other, refused by the i-th: 2 i + 2 (i - 1)
//!   │◀─ Deleted ─┤             │
//! ```
//!
//! The coordinator records only the numbers that it has used. If it crashes its bookings stay, and are
//! orphans if not all were booked.
//!
//! If replies do not arrive in time and no participant has refused, it is unknown whether all parts are
//! booked, and short ones may have ended. So the coordinator deletes the possible bookings. The group has
//! failed when a participant confirms a deletion, or when no answer has arrived for as long again. If all
//! report that their parts were carried out to their ends, the group is agreed on.

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

/// One-phase all-or-none about `S`.
#[derive(Clone, Copy, Debug)]
pub struct OnePhase<S>(PhantomData<S>);

/// Rules by which a coordinator books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OnePhaseRules {
    /// True if participants are asked one after the other until one refuses; otherwise all are asked at
    /// once.
    pub sequential: bool,
    /// Time for which a reply is awaited.
    pub patience: Span,
    /// Time between repetitions of unanswered messages; `None` = no message is ever lost.
    pub retry: Option<Span>,
}

impl Times for OnePhaseRules {
    fn retry(&self) -> Option<Span> {
        self.retry
    }

    fn lead(&self, latency_max: Span, parts: usize) -> Span {
        if self.sequential {
            // Requests one after the other, a refusal, and all taken back before anything begins.
            messages(latency_max, 2 * parts as i64 + 1)
        } else {
            messages(latency_max, 3)
        }
    }
}

impl<S: Subject> Protocol for OnePhase<S> {
    const TRAITS: Traits = Traits::ahead("one-phase", Outcome::Orphans);
    type Subject = S;
    type Rules = OnePhaseRules;
    type Message = Said<Booking<S>>;
    type Coordinator = Books<S>;
    type Participant = Bookings<S>;
    type Witness = Nobody;
}

/// State of the booking of one group. Never persisted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Group<S: Subject> {
    parts: Parts<S>,
    /// Number of parts that have been requested.
    asked: usize,
    terms: BTreeMap<ActorId, S::Terms>,
    /// Participants among these whose parts ended before their bookings were reported.
    over: BTreeSet<ActorId>,
    counters: BTreeMap<ActorId, S::Counter>,
    /// Set if the group is given up.
    deletion: Option<Deletion<S>>,
}

/// All groups that one actor books.
#[derive(Clone, Debug)]
pub struct Books<S: Subject> {
    rules: OnePhaseRules,
    groups: Ledger<Group<S>>,
}

type Out<S> = Outputs<OnePhase<S>, Books<S>>;

impl<S: Subject> Books<S> {
    /// Repeats the unanswered messages.
    fn repeat(&self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get(&number) else { return };
        let silent = group.silent();
        if let Some(retry) = self.rules.retry
            && !silent.is_empty()
        {
            let timer = CoordinatorTimer::Retry(number);
            out.push(Output::Set { timer, at: now + retry.max(Span::TICK) });
        }
        for (who, body) in silent {
            self.groups.send(who, number, body, out);
        }
    }

    /// Requests the next part, or all parts.
    fn ask(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        group.asked = if self.rules.sequential { group.asked + 1 } else { group.parts.len() };
        let (timer, at) = (CoordinatorTimer::Decide(number), now + self.rules.patience);
        out.push(Output::Set { timer, at });
        self.repeat(now, number, out);
    }

    fn answered(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        if group.terms.len() == group.parts.len() {
            let terms = std::mem::take(&mut group.terms);
            self.forget(number, out);
            out.push(Output::Tell(Verdict::Agreed { number, terms }));
        } else if group.terms.len() + group.counters.len() == group.asked {
            if group.counters.is_empty() {
                self.ask(now, number, out);
            } else {
                self.fail(now, number, out);
            }
        }
    }

    /// Gives up a group without agreement.
    fn fail(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        let asked = group.parts[..group.asked].iter().map(|it| it.0);
        let may_be_booked = |who: &ActorId| !group.counters.contains_key(who);
        let silent = asked.filter(|who| may_be_booked(who) && !group.over.contains(who)).collect();
        let over = std::mem::take(&mut group.terms).into_iter();
        let over = over.filter(|(who, _)| group.over.contains(who)).collect();
        let torn = !group.counters.is_empty() || group.asked < group.parts.len();
        group.deletion = Some(Deletion::new(0, silent, over, torn));
        let (timer, at) = (CoordinatorTimer::Decide(number), now + self.rules.patience);
        out.push(Output::Set { timer, at });
        self.tell(number, out);
        self.repeat(now, number, out);
        self.end_if_deleted(number, out);
    }

    /// Reports the fate of a group that was given up, once it is known.
    fn tell(&mut self, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        match group.deletion.as_mut().and_then(Deletion::fate) {
            Some(Fate::Failed) => self.tell_failed(number, out),
            Some(Fate::Ran(terms)) => out.push(Output::Tell(Verdict::Agreed { number, terms })),
            None => {}
        }
    }

    fn tell_failed(&mut self, number: u64, out: &mut Out<S>) {
        let group = self.groups.open.get_mut(&number);
        let counters = group.map(|group| std::mem::take(&mut group.counters)).unwrap_or_default();
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Tell(Verdict::Failed { number, counters }));
    }

    /// The fate of the group has been unknown for too long: it counts as failed.
    fn despair(&mut self, number: u64, out: &mut Out<S>) {
        let group = self.groups.open.get_mut(&number);
        if group.and_then(|it| it.deletion.as_mut()).is_some_and(Deletion::despair) {
            self.tell_failed(number, out);
        }
    }

    fn end_if_deleted(&mut self, number: u64, out: &mut Out<S>) {
        let deletion = self.groups.open.get(&number).and_then(|it| it.deletion.as_ref());
        if deletion.is_some_and(Deletion::is_done) {
            self.forget(number, out);
        }
    }

    fn forget(&mut self, number: u64, out: &mut Out<S>) {
        self.groups.open.remove(&number);
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Stop(CoordinatorTimer::Retry(number)));
    }
}

impl<S: Subject> Group<S> {
    /// Participants that have not answered, with the messages to them.
    fn silent(&self) -> Vec<(ActorId, Booking<S>)> {
        if let Some(deletion) = &self.deletion {
            return deletion.unanswered();
        }
        let asked = self.parts[..self.asked].iter();
        asked
            .filter(|(who, _)| !self.terms.contains_key(who) && !self.counters.contains_key(who))
            .map(|(who, request)| (*who, Booking::Book { round: 0, request: request.clone() }))
            .collect()
    }

    fn asks(&self, who: ActorId) -> bool {
        self.parts[..self.asked].iter().any(|it| it.0 == who)
    }
}

impl<S: Subject> Machine<OnePhase<S>> for Books<S> {
    type Record = Entry<Group<S>>;
    type Timer = CoordinatorTimer;
    type News = Verdict<S>;

    fn start(
        me: ActorId,
        rules: &OnePhaseRules,
        records: Vec<Entry<Group<S>>>,
        _: Time,
        _: &mut Out<S>,
    ) -> Self {
        Books { rules: *rules, groups: Ledger::start(me, records) }
    }

    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: Said<Booking<S>>,
        out: &mut Out<S>,
    ) {
        let Some(number) = self.groups.mine(message.id) else { return };
        let Some(group) = self.groups.open.get_mut(&number).filter(|it| it.asks(from)) else {
            return;
        };
        if let Some(deletion) = &mut group.deletion {
            deletion.hear(from, message.body);
            self.tell(number, out);
            self.end_if_deleted(number, out);
            return;
        }
        match message.body {
            Booking::Booked { terms, .. } => {
                group.terms.insert(from, terms);
            }
            Booking::Over { terms, .. } => {
                group.terms.insert(from, terms);
                group.over.insert(from);
            }
            Booking::Refused { counter, .. } => {
                group.counters.insert(from, counter);
            }
            _ => return,
        }
        self.answered(now, number, out);
    }

    fn on_timer(&mut self, now: Time, timer: CoordinatorTimer, out: &mut Out<S>) {
        match timer {
            CoordinatorTimer::Decide(number) => match self.groups.open.get(&number) {
                Some(group) if group.deletion.is_none() => self.fail(now, number, out),
                _ => self.despair(number, out),
            },
            CoordinatorTimer::Retry(number) => self.repeat(now, number, out),
        }
    }
}

impl<S: Subject> Coordinates<S, Out<S>> for Books<S> {
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut Out<S>) -> Option<u64> {
        let number = self.groups.number(out);
        let (terms, counters) = (BTreeMap::new(), BTreeMap::new());
        let over = BTreeSet::new();
        let group = Group { parts, asked: 0, terms, over, counters, deletion: None };
        self.groups.open.insert(number, group);
        self.ask(now, number, out);
        Some(number)
    }

    fn close(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        if self.groups.open.get(&number).is_some_and(|it| it.deletion.is_none()) {
            self.fail(now, number, out);
        }
        self.despair(number, out);
    }

    fn open_numbers(&self) -> Vec<u64> {
        self.groups.numbers()
    }
}
