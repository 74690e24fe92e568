//! Messages that survive a network which loses, doubles and reorders them: each is numbered, repeated until
//! its receiver has acknowledged it, and taken once, in the order of the numbers.
//!
//! ```text
//!   sender                          receiver
//!      │ ── 0 ────── lost               │
//!      │ ── 1 ────────────────────────▶ │  kept until 0 has arrived
//!      │ ◀──────── Received, next is 0 ─│
//!      │ ── 0, 1 ─────────────────────▶ │  after `retry`: both are taken, the copy of 1 is dropped
//!      │ ◀──────── Received, next is 2 ─│
//! ```
//!
//! A reliable transport repeats lost messages itself and keeps their order. There, nothing is repeated here: each
//! copy would be one more message that the others behind it wait for.
//!
//! Both sides keep this state over a crash, as the rest of their state. An agreement on a bag or on parts does
//! not need numbers: its machines repeat their own messages, and take repeated ones
//! ([`haggle_agreements`]).

use std::collections::{BTreeMap, VecDeque};

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use crate::Outbox;
use crate::actor::Effect;
use crate::protocol::{Message, NumberedMessage, Timer};

/// An actor that may exchange numbered messages.
pub(crate) trait TakesNumbered {
    /// Its numbered messages.
    fn numbered(&mut self) -> &mut Numbered;

    /// Takes a message without a number.
    fn take(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox);

    /// Takes all messages for which it is time, and numbers those that it sends.
    #[inline]
    fn take_in_order(&mut self, now: Time, from: ActorId, message: Message, out: &mut Outbox) {
        // Only the effects of this message are numbered below.
        let begin = out.effects.len();
        match message {
            Message::Numbered(message) => match self.numbered().receive(now, from, message, out) {
                Some(messages) => {
                    messages.into_iter().for_each(|it| self.take(now, from, it, out));
                }
                // Only peers exchange numbered messages.
                None => out.refuse(from),
            },
            Message::Wake(Timer::RepeatDue) => self.numbered().repeat(now, out),
            message => self.take(now, from, message, out),
        }
        self.numbered().number(now, begin, out);
    }
}

/// The numbered messages between an actor and its peers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Numbered {
    peers: BTreeMap<ActorId, Peer>,
}

/// The two directions between an actor and a peer.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Peer {
    /// Time between two repetitions; `None` = the transport repeats lost messages.
    retry: Option<Span>,
    /// Number of the first message that is not acknowledged.
    first: u64,
    /// Messages that are not acknowledged, in the order of their numbers.
    sent: VecDeque<Message>,
    /// Time of the next repetition, if a message is not acknowledged.
    again: Time,
    /// Number of the next message that is taken.
    next: u64,
    /// Messages that have arrived before an earlier one.
    early: BTreeMap<u64, Message>,
}

impl Peer {
    fn new(retry: Option<Span>) -> Peer {
        let (sent, early) = Default::default();
        let retry = retry.map(|retry| retry.max(Span::TICK));
        Peer { retry, first: 0, sent, again: Time::FOREVER, next: 0, early }
    }

    /// Sends all messages that are not acknowledged, and sets the time of the next repetition.
    fn repeat(&mut self, now: Time, to: ActorId, out: &mut Outbox) {
        for (number, message) in (self.first..).zip(&self.sent) {
            out.send(to, NumberedMessage::Item { number, message: Box::new(message.clone()) });
        }
        self.again = self.next_repetition(now);
    }

    fn next_repetition(&self, now: Time) -> Time {
        self.retry.map_or(Time::FOREVER, |retry| now + retry)
    }
}

impl Numbered {
    /// For these peers, each with the time between two repetitions; `None` = the transport repeats lost messages.
    pub(crate) fn with(peers: impl IntoIterator<Item = (ActorId, Option<Span>)>) -> Numbered {
        let peers = peers.into_iter().map(|(peer, retry)| (peer, Peer::new(retry)));
        Numbered { peers: peers.collect() }
    }

    /// True if it exchanges numbered messages with somebody.
    pub(crate) fn is_used(&self) -> bool {
        !self.peers.is_empty()
    }

    /// True if it exchanges numbered messages with this actor.
    pub(crate) fn knows(&self, peer: ActorId) -> bool {
        self.peers.contains_key(&peer)
    }

    /// A message has arrived. Returns the messages that can be taken now, in order; `None` if its sender is not
    /// a peer.
    pub(crate) fn receive(
        &mut self,
        now: Time,
        from: ActorId,
        message: NumberedMessage,
        out: &mut Outbox,
    ) -> Option<Vec<Message>> {
        let peer = self.peers.get_mut(&from)?;
        let mut taken = Vec::new();
        match message {
            NumberedMessage::Item { number, message } => {
                if number >= peer.next {
                    // A repeated message is dropped here; one with a smaller number was taken before.
                    peer.early.entry(number).or_insert(*message);
                }
                while let Some(message) = peer.early.remove(&peer.next) {
                    peer.next += 1;
                    taken.push(message);
                }
                // Also for a repeated message, because the last acknowledgement may have been lost.
                out.send(from, NumberedMessage::Received { next: peer.next });
            }
            NumberedMessage::Received { next } => {
                // An old acknowledgement changes nothing: its number is not above that of the first message.
                while peer.first < next && peer.sent.pop_front().is_some() {
                    peer.first += 1;
                }
                // If messages are left, the time of the next repetition stays, so that it is not put off forever.
                if peer.sent.is_empty() {
                    peer.again = Time::FOREVER;
                    self.set_timer(now, out);
                }
            }
        }
        Some(taken)
    }

    /// Numbers the messages to peers among the effects from `begin` on.
    #[inline]
    pub(crate) fn number(&mut self, now: Time, begin: usize, out: &mut Outbox) {
        if self.is_used() {
            self.number_all(now, begin, out);
        }
    }

    fn number_all(&mut self, now: Time, begin: usize, out: &mut Outbox) {
        let mut is_first = false;
        for effect in &mut out.effects[begin..] {
            let Effect::Send { to, message } = effect else { continue };
            let Some(peer) = self.peers.get_mut(to).filter(|_| message.is_numbered()) else {
                continue;
            };
            let number = peer.first + peer.sent.len() as u64;
            if peer.sent.is_empty() {
                peer.again = peer.next_repetition(now);
                is_first = true;
            }
            peer.sent.push_back(message.clone());
            // A placeholder, because a message cannot be moved out of the list of effects.
            let item = std::mem::replace(message, NumberedMessage::Received { next: 0 }.into());
            *message = NumberedMessage::Item { number, message: Box::new(item) }.into();
        }
        if is_first {
            self.set_timer(now, out);
        }
    }

    /// Repeats the messages that have not been acknowledged in time.
    pub(crate) fn repeat(&mut self, now: Time, out: &mut Outbox) {
        for (&to, peer) in self.peers.iter_mut().filter(|(_, peer)| peer.again <= now) {
            peer.repeat(now, to, out);
        }
        self.set_timer(now, out);
    }

    fn set_timer(&self, now: Time, out: &mut Outbox) {
        let again = self.peers.values().map(|peer| peer.again).min().unwrap_or(Time::FOREVER);
        if again < Time::FOREVER {
            out.set(again.max(now), Timer::RepeatDue);
        } else {
            out.stop(Timer::RepeatDue);
        }
    }
}
