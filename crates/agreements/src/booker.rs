//! The coordinator of all protocols whose parts are [booked](crate::booking): one-phase all-or-none,
//! negotiation without blocking, and the availability watch. The [`Group`] of a protocol states which parts
//! are requested when. The [`Booker`] repeats messages, and gives groups up.

use std::collections::BTreeMap;
use std::fmt::Debug;

use haggle_model::{ActorId, Span, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::booking::Booking;
use crate::deletion::{Deletion, Fate};
use crate::ledger::{Entry, Ledger};
use crate::protocol::{Coordinates, Machine, Parts, Protocol, Said, Times, Verdict};
use crate::{CoordinatorTimer, Output, Subject};

/// Parts that are booked together, as their protocol leads them. Lost in a crash.
pub trait Group<S: Subject>: Clone + Debug + Send + Serialize + DeserializeOwned {
    /// The rules of the protocol.
    type Rules: Times;
    /// True if the bookings of a crashed coordinator are taken back: groups are on record. Otherwise they
    /// stay.
    const RECORDS: bool;

    /// Time for which replies are awaited.
    fn patience(rules: &Self::Rules) -> Span;

    /// A new group that requests its first parts.
    fn open(rules: &Self::Rules, now: Time, parts: Parts<S>) -> Self;

    /// A participant has replied, and the group is not given up.
    fn hear(&mut self, rules: &Self::Rules, from: ActorId, reply: Booking<S>) -> Next<S>;

    /// Messages to the participants that have not answered.
    fn unanswered(&self) -> Vec<(ActorId, Booking<S>)>;

    /// The deletion of all bookings that there may be.
    fn give_up(&self) -> Deletion<S>;

    /// Proposals of participants that have refused.
    fn counters(&self) -> BTreeMap<ActorId, S::Counter>;
}

/// Next step of a group after a reply.
pub enum Next<S: Subject> {
    /// Other replies are awaited.
    Wait,
    /// The messages without answer are sent.
    Send,
    /// They are sent, and the time for replies begins anew.
    Ask,
    /// All parts are carried out, on these terms.
    Agree(BTreeMap<ActorId, S::Terms>),
    /// It is given up.
    Fail,
}

/// Recorded state of a group.
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

/// All groups that one actor books.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Booker<S: Subject, G: Group<S>> {
    rules: G::Rules,
    stages: Ledger<Stage<S>>,
    groups: BTreeMap<u64, G>,
    /// Groups that are given up.
    deletions: BTreeMap<u64, Deletion<S>>,
}

type Out<S> = Vec<Output<Said<Booking<S>>, Entry<Stage<S>>, CoordinatorTimer, Verdict<S>>>;

impl<S: Subject, G: Group<S>> Booker<S, G> {
    /// Repeats the unanswered messages.
    fn repeat(&self, now: Time, number: u64, out: &mut Out<S>) {
        let silent = match (self.deletions.get(&number), self.groups.get(&number)) {
            (Some(deletion), _) => deletion.unanswered(),
            (None, Some(group)) => group.unanswered(),
            (None, None) => return,
        };
        if let Some(retry) = self.rules.retry()
            && !silent.is_empty()
        {
            let timer = CoordinatorTimer::Retry(number);
            out.push(Output::Set { timer, at: now + retry.max(Span::TICK) });
        }
        for (who, body) in silent {
            self.stages.send(who, number, body, out);
        }
    }

    fn await_replies(&self, now: Time, number: u64, out: &mut Out<S>) {
        let (timer, at) = (CoordinatorTimer::Decide(number), now + G::patience(&self.rules));
        out.push(Output::Set { timer, at });
    }

    /// Enters a state, on record if the protocol records its groups.
    fn enter(&mut self, number: u64, stage: Stage<S>, out: &mut Out<S>) {
        if G::RECORDS {
            self.stages.enter(number, stage, out);
        } else {
            self.stages.open.insert(number, stage);
        }
    }

    fn over(&mut self, number: u64, out: &mut Out<S>) {
        if G::RECORDS {
            self.stages.over(number, out);
        } else {
            self.stages.open.remove(&number);
        }
    }

    fn go_on(&mut self, now: Time, number: u64, next: Next<S>, out: &mut Out<S>) {
        match next {
            Next::Wait => {}
            Next::Send => self.repeat(now, number, out),
            Next::Ask => {
                self.await_replies(now, number, out);
                self.repeat(now, number, out);
            }
            Next::Agree(terms) => self.agree(number, terms, out),
            Next::Fail => self.fail(now, number, out),
        }
    }

    fn agree(&mut self, number: u64, terms: BTreeMap<ActorId, S::Terms>, out: &mut Out<S>) {
        self.forget(number, out);
        self.enter(number, Stage::Agreed(terms.clone()), out);
        // After a crash between these outputs the owner is notified again, so no news is lost.
        out.push(Output::Tell(Verdict::Agreed { number, terms }));
        self.over(number, out);
    }

    /// Gives up a group without agreement.
    fn fail(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        let Some(group) = self.groups.get(&number) else { return };
        self.deletions.insert(number, group.give_up());
        self.await_replies(now, number, out);
        self.tell(number, out);
        self.repeat(now, number, out);
        self.end_if_deleted(number, out);
    }

    /// After a crash, takes all bookings back, of any round.
    fn take_back(&mut self, now: Time, number: u64, parts: Parts<S>, out: &mut Out<S>) {
        let silent = parts.into_iter().map(|(who, _)| who).collect();
        let deletion = Deletion::new(u32::MAX, silent, BTreeMap::new(), false);
        self.deletions.insert(number, deletion);
        self.repeat(now, number, out);
    }

    /// Reports the fate of a group that was given up, once it is known.
    fn tell(&mut self, number: u64, out: &mut Out<S>) {
        match self.deletions.get_mut(&number).and_then(Deletion::fate) {
            Some(Fate::Failed) => self.tell_failed(number, out),
            Some(Fate::Ran(terms)) => self.agree(number, terms, out),
            None => {}
        }
    }

    fn tell_failed(&self, number: u64, out: &mut Out<S>) {
        let counters = self.groups.get(&number).map(G::counters).unwrap_or_default();
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Tell(Verdict::Failed { number, counters }));
    }

    /// The fate of the group has been unknown for too long: it counts as failed.
    fn despair(&mut self, number: u64, out: &mut Out<S>) {
        if self.deletions.get_mut(&number).is_some_and(Deletion::despair) {
            if let Some(Stage::Begun(parts)) = self.stages.open.get(&number) {
                let parts = parts.clone();
                self.enter(number, Stage::Failed(parts), out);
            }
            self.tell_failed(number, out);
        }
    }

    fn end_if_deleted(&mut self, number: u64, out: &mut Out<S>) {
        if self.deletions.get(&number).is_some_and(Deletion::is_done) {
            self.forget(number, out);
            self.over(number, out);
        }
    }

    fn forget(&mut self, number: u64, out: &mut Out<S>) {
        self.groups.remove(&number);
        self.deletions.remove(&number);
        out.push(Output::Stop(CoordinatorTimer::Decide(number)));
        out.push(Output::Stop(CoordinatorTimer::Retry(number)));
    }
}

impl<S, G, P> Machine<P> for Booker<S, G>
where
    S: Subject,
    G: Group<S>,
    P: Protocol<Subject = S, Message = Said<Booking<S>>, Rules = G::Rules>,
{
    type Record = Entry<Stage<S>>;
    type Timer = CoordinatorTimer;
    type News = Verdict<S>;

    fn start(
        me: ActorId,
        rules: &G::Rules,
        records: Vec<Entry<Stage<S>>>,
        now: Time,
        out: &mut Out<S>,
    ) -> Self {
        let (rules, stages) = (rules.clone(), Ledger::start(me, records));
        let (groups, deletions) = (BTreeMap::new(), BTreeMap::new());
        let mut booker = Booker { rules, stages, groups, deletions };
        for (number, stage) in booker.stages.open.clone() {
            match stage {
                Stage::Begun(parts) => booker.take_back(now, number, parts, out),
                Stage::Failed(parts) => {
                    booker.take_back(now, number, parts, out);
                    booker.despair(number, out);
                }
                Stage::Agreed(terms) => {
                    out.push(Output::Tell(Verdict::Agreed { number, terms }));
                    booker.over(number, out);
                }
            }
        }
        booker
    }

    fn on_message(
        &mut self,
        now: Time,
        from: ActorId,
        message: Said<Booking<S>>,
        out: &mut Out<S>,
    ) {
        let Some(number) = self.stages.mine(message.id) else { return };
        if let Some(deletion) = self.deletions.get_mut(&number) {
            deletion.hear(from, message.body);
            self.tell(number, out);
            self.end_if_deleted(number, out);
        } else if let Some(group) = self.groups.get_mut(&number) {
            let next = group.hear(&self.rules, from, message.body);
            self.go_on(now, number, next, out);
        }
    }

    fn on_timer(&mut self, now: Time, timer: CoordinatorTimer, out: &mut Out<S>) {
        match timer {
            CoordinatorTimer::Decide(number) if self.deletions.contains_key(&number) => {
                self.despair(number, out);
            }
            CoordinatorTimer::Decide(number) => self.fail(now, number, out),
            CoordinatorTimer::Retry(number) => self.repeat(now, number, out),
        }
    }
}

impl<S: Subject, G: Group<S>> Coordinates<S, Out<S>> for Booker<S, G> {
    fn open(&mut self, now: Time, parts: Parts<S>, out: &mut Out<S>) -> Option<u64> {
        let number = self.stages.number(out);
        self.enter(number, Stage::Begun(parts.clone()), out);
        self.groups.insert(number, G::open(&self.rules, now, parts));
        self.go_on(now, number, Next::Ask, out);
        Some(number)
    }

    fn close(&mut self, now: Time, number: u64, out: &mut Out<S>) {
        if !self.deletions.contains_key(&number) {
            self.fail(now, number, out);
        }
        self.despair(number, out);
    }

    fn open_numbers(&self) -> Vec<u64> {
        self.stages.numbers()
    }
}
