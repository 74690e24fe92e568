//! The availability watch: nothing is requested until all participants report that they have room.
//!
//! ```text
//!   c             p1            p2
//!   ├─ Watch ────▶│             │       n messages, the news, and 2 n for the bookings
//!   ├─ Watch ─────┼────────────▶│
//!   │◀─ Avail yes ┤             │
//!   │◀────────────┼─ Avail no ──┤
//!   │             │     ...     │
//!   │◀────────────┼─ Avail yes ─┤
//!   ├─ Book ─────▶│             │       as in one-phase all-or-none
//!   ├─ Book ──────┼────────────▶│
//! ```
//!
//! Booking only room that was free a moment ago causes fewer conflicts. If a participant refuses all the
//! same, the bookings are deleted and the watch begins again. The next bookings wait until the last ones
//! are known to be deleted. If a part has ended by then, or may have ended, the group has failed. The
//! coordinator records nothing. A group without replies in time is given up, as in [one-phase
//! all-or-none](crate::one_phase).

use std::collections::BTreeMap;
use std::marker::PhantomData;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::booking::{Booking, Bookings};
use crate::deletion::{Deletion, Fate};
use crate::ledger::{Entry, Ledger};
use crate::protocol::{
    Coordinates, Machine, Nobody, Outcome, Outputs, Parts, Protocol, Said, Times, Traits, Verdict,
};
use crate::{CoordinatorTimer, Epoch, Output, Subject};

/// Booking after an availability watch about `S`.
#[derive(Clone, Copy, Debug)]
pub struct Watching<S>(PhantomData<S>);

/// Rules by which a coordinator watches and books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WatchRules {
    /// Time for which it tries.
    pub patience: Span,
    /// Time between repetitions of unanswered messages; `None` = no message is ever lost.
    pub retry: Option<Span>,
}

impl Times for WatchRules {
    fn retry(&self) -> Option<Span> {
        self.retry
    }

    fn lead(&self, _: Span, _: usize) -> Span {
        Span::ZERO
    }
}

impl<S: Subject> Protocol for Watching<S> {
    const TRAITS: Traits = Traits::now("watch", Outcome::Orphans);
    type Subject = S;
    type Rules = WatchRules;
    type Message = Said<Booking<S>>;
    type Coordinator = Watcher<S>;
    type Participant = Bookings<S>;
    type Witness = Nobody;
}

/// State of a group. Never persisted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Group<S: Subject> {
    parts: BTreeMap<ActorId, Part<S>>,
    round: u32,
    phase: Phase,
    /// Set if the group is given up.
    deletion: Option<Deletion<S>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
struct Part<S: Subject> {
    request: S::Request,
    /// The last report.
    avail: Option<(Epoch, bool)>,
    /// True if the booking of the last round is not known to be deleted.
    deleting: bool,
    /// Reply to the booking of this round.
    reply: Option<Reply<S>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
enum Reply<S: Subject> {
    Booked(S::Terms),
    /// It was booked, and the part ended before the booking was reported.
    Over(S::Terms),
    Refused(S::Counter),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Watching,
    Booking,
}

/// All groups for which one actor watches.
#[derive(Clone, Debug)]
pub struct Watcher<S: Subject> {
    rules: WatchRules,
    groups: Ledger<Group<S>>,
}

type Out<S> = Outputs<Watching<S>, Watcher<S>>;

impl<S: Subject> Group<S> {
    fn unanswered(&self) -> Vec<(ActorId, Booking<S>)> {
        if let Some(deletion) = &self.deletion {
            return deletion.unanswered();
        }
        let round = self.round;
        let each = |ask: &dyn Fn(&Part<S>) -> Option<Booking<S>>| -> Vec<(ActorId, Booking<S>)> {
            self.parts.iter().filter_map(|(&who, part)| Some((who, ask(part)?))).collect()
        };
        match self.phase {
            Phase::Watching => {
                let delete = |part: &Part<S>| {
                    part.deleting.then(|| Booking::Delete { round: round.saturating_sub(1) })
                };
                let watch = |part: &Part<S>| {
                    let fits = part.avail.is_some_and(|it| it.1);
                    (!fits).then(|| Booking::Watch { request: part.request.clone() })
                };
                [each(&delete), each(&watch)].concat()
            }
            Phase::Booking => each(&|part| {
                let request = || part.request.clone();
                part.reply.is_none().then(|| Booking::Book { round, request: request() })
            }),
        }
    }

    /// Returns whether all have room, and no booking of the last round is left.
    fn may_book(&self) -> bool {
        self.parts.values().all(|part| part.avail.is_some_and(|it| it.1) && !part.deleting)
    }
}

impl<S: Subject> Watcher<S> {
    fn repeat(&self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get(&number) else { return };
        if let Some(retry) = self.rules.retry {
            let timer = CoordinatorTimer::Retry(number);
            out.push(Output::Set { timer, at: now + retry.max(Span::TICK) });
        }
        for (who, body) in group.unanswered() {
            self.groups.send(who, number, body, out);
        }
    }

    /// After a report or a reply: continues if all have reported or replied.
    fn advance(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        match group.phase {
            Phase::Watching if group.may_book() => {
                group.phase = Phase::Booking;
                self.repeat(now, number, out);
            }
            Phase::Booking if group.parts.values().all(|part| part.reply.is_some()) => {
                let carries_out = |(&who, part): (&ActorId, &Part<S>)| match &part.reply {
                    Some(Reply::Booked(terms) | Reply::Over(terms)) => Some((who, terms.clone())),
                    _ => None,
                };
                let terms: BTreeMap<_, _> = group.parts.iter().filter_map(carries_out).collect();
                let is_over = |part: &Part<S>| matches!(part.reply, Some(Reply::Over(_)));
                if terms.len() == group.parts.len() {
                    self.forget(number, out);
                    out.push(Output::Tell(Verdict::Agreed { number, terms }));
                } else if group.parts.values().any(is_over) {
                    self.fail(now, number, out);
                } else {
                    self.watch_again(now, number, out);
                }
            }
            Phase::Watching | Phase::Booking => {}
        }
    }

    /// Deletes the bookings and watches again.
    fn watch_again(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        group.round += 1;
        group.phase = Phase::Watching;
        for part in group.parts.values_mut() {
            part.deleting = matches!(part.reply.take(), Some(Reply::Booked(_)));
            part.avail = None;
        }
        self.repeat(now, number, out);
    }

    /// Gives up a group without agreement.
    fn fail(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        let refuses = |part: &Part<S>| matches!(part.reply, Some(Reply::Refused(_)));
        // No part is booked before all have room.
        let torn = group.phase == Phase::Watching || group.parts.values().any(refuses);
        let over = |(&who, part): (&ActorId, &Part<S>)| match &part.reply {
            Some(Reply::Over(terms)) => Some((who, terms.clone())),
            _ => None,
        };
        let over: BTreeMap<_, _> = group.parts.iter().filter_map(over).collect();
        // A participant that has refused still watches, so it must delete, too.
        let silent = group.parts.keys().copied().filter(|who| !over.contains_key(who)).collect();
        group.deletion = Some(Deletion::new(group.round, silent, over, torn));
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

    fn tell_failed(&self, number: u64, out: &mut Out<S>) {
        let counter = |(&who, part): (&ActorId, &Part<S>)| match &part.reply {
            Some(Reply::Refused(counter)) => Some((who, counter.clone())),
            _ => None,
        };
        let parts = self.groups.open.get(&number).into_iter().flat_map(|group| &group.parts);
        let counters = parts.filter_map(counter).collect();
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

impl<S: Subject> Machine<Watching<S>> for Watcher<S> {
    type Record = Entry<Group<S>>;
    type Timer = CoordinatorTimer;
    type News = Verdict<S>;

    fn start(
        me: ActorId,
        rules: &WatchRules,
        records: Vec<Entry<Group<S>>>,
        _: Time,
        _: &mut Out<S>,
    ) -> Self {
        Watcher { rules: *rules, groups: Ledger::start(me, records) }
    }

    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: Said<Booking<S>>,
        out: &mut Out<S>,
    ) {
        let Some(number) = self.groups.mine(message.id) else { return };
        let Some(group) = self.groups.open.get_mut(&number) else { return };
        if let Some(deletion) = &mut group.deletion {
            deletion.hear(from, message.body);
            self.tell(number, out);
            self.end_if_deleted(number, out);
            return;
        }
        let (current, phase) = (group.round, group.phase);
        let Some(part) = group.parts.get_mut(&from) else { return };
        let is_deleted = |round: u32| part.deleting && round + 1 == current;
        match (message.body, phase) {
            (Booking::Avail { epoch, fits }, _) => {
                if part.avail.is_none_or(|(before, _)| before < epoch) {
                    part.avail = Some((epoch, fits));
                }
            }
            (Booking::Booked { round, terms }, Phase::Booking) if round == current => {
                part.reply = Some(Reply::Booked(terms));
            }
            (Booking::Refused { round, counter }, Phase::Booking) if round == current => {
                part.reply = Some(Reply::Refused(counter));
            }
            (Booking::Over { round, terms }, Phase::Booking) if round == current => {
                part.reply = Some(Reply::Over(terms));
            }
            (Booking::Deleted { round, may_have_run }, Phase::Watching) if is_deleted(round) => {
                part.deleting = false;
                if may_have_run {
                    self.fail(now, number, out);
                    return;
                }
            }
            // Another participant has refused, so the group cannot be carried out in that round.
            (Booking::Over { round, terms }, Phase::Watching) if is_deleted(round) => {
                part.reply = Some(Reply::Over(terms));
                self.fail(now, number, out);
                return;
            }
            _ => return,
        }
        self.advance(now, number, out);
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

impl<S: Subject> Coordinates<S, Out<S>> for Watcher<S> {
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut Out<S>) -> Option<u64> {
        let number = self.groups.number(out);
        let part = |request| Part { request, avail: None, deleting: false, reply: None };
        let parts = parts.into_iter().map(|(who, request)| (who, part(request))).collect();
        let group = Group { parts, round: 0, phase: Phase::Watching, deletion: None };
        self.groups.open.insert(number, group);
        let (timer, at) = (CoordinatorTimer::Decide(number), now + self.rules.patience);
        out.push(Output::Set { timer, at });
        self.repeat(now, number, out);
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
