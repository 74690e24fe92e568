//! Messages between hosts: each is sent until it is acknowledged, and taken once.
//!
//! ```text
//!   host north                          host broker
//!      │ ── (1, 7) ──────────────────────▶ │  taken, not durable yet
//!      │ ── (1, 7) ──────────────────────▶ │  sent again after a new connection: a copy, dropped
//!      │ ◀───────────── up to (1, 7) ───── │  durable: north forgets it
//! ```
//!
//! A message has a number: the incarnation of its sender, and its place in the messages of that incarnation to one
//! peer. Numbers grow. A host that has crashed sends its old messages again by their old numbers, and new messages by
//! numbers of its new incarnation. A receiver takes the next number alone, so messages of a peer stay in order.
//!
//! The simulated counterpart is `transport = "reliable"`: its time-outs stand for the absence of an acknowledgement.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

/// Number of a message from one host to another. The smallest one stands for no message.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Number {
    /// Incarnation of the sender, from 1.
    pub incarnation: u32,
    /// Place among its messages of this incarnation to this peer, from 1.
    pub sequence: u64,
}

impl Number {
    /// True if a message of this number follows directly on one of the number `last`.
    fn follows(self, last: Number) -> bool {
        let next = self.incarnation == last.incarnation && self.sequence == last.sequence + 1;
        next || self.incarnation > last.incarnation && self.sequence == 1
    }
}

/// Fate of a message that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is the next one.
    Next,
    /// It was taken before.
    Copy,
    /// Messages before it are missing: the connection is in disorder and must be made anew.
    Gap,
}

/// Number of a host of the run.
pub type Peer = u32;

/// The messages of a host to and from all others. Plain data: the same calls give the same state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session<M> {
    incarnation: u32,
    peers: BTreeMap<Peer, Both<M>>,
}

/// The messages to and from one peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Both<M> {
    /// Number of the last message to the peer in this incarnation.
    sent: u64,
    /// Messages to the peer that it has not acknowledged.
    unacknowledged: VecDeque<(Number, M)>,
    /// The last message of the peer that was taken.
    taken: Number,
    /// The last message that the peer has acknowledged.
    acknowledged: Number,
}

impl<M> Default for Both<M> {
    fn default() -> Both<M> {
        let (taken, acknowledged) = Default::default();
        Both { sent: 0, unacknowledged: VecDeque::new(), taken, acknowledged }
    }
}

impl<M> Session<M> {
    /// A session without messages, of the first incarnation of a host.
    pub fn new() -> Session<M> {
        Session { incarnation: 1, peers: BTreeMap::new() }
    }

    /// The incarnation in which messages are sent now.
    pub fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// Begins another incarnation. Messages that are not acknowledged keep their numbers.
    pub fn begin(&mut self, incarnation: u32) {
        self.incarnation = incarnation;
        self.peers.values_mut().for_each(|peer| peer.sent = 0);
    }

    /// Adds a message to a peer. Returns its number.
    pub fn send(&mut self, to: Peer, message: M) -> Number {
        let peer = self.peers.entry(to).or_default();
        peer.sent += 1;
        let number = Number { incarnation: self.incarnation, sequence: peer.sent };
        peer.unacknowledged.push_back((number, message));
        number
    }

    /// The fate of a message that arrives now. Nothing changes: [`Session::take`] takes it.
    pub fn arrival(&self, from: Peer, number: Number) -> Arrival {
        match self.taken(from) {
            last if number <= last => Arrival::Copy,
            last if number.follows(last) => Arrival::Next,
            _ => Arrival::Gap,
        }
    }

    /// Notes that the next message of a peer was taken.
    pub fn take(&mut self, from: Peer, number: Number) {
        self.peers.entry(from).or_default().taken = number;
    }

    /// All hosts with which messages were exchanged.
    pub fn peers(&self) -> impl Iterator<Item = Peer> {
        self.peers.keys().copied()
    }

    /// The last message of a peer that was taken.
    pub fn taken(&self, from: Peer) -> Number {
        self.peers.get(&from).map_or(Number::default(), |peer| peer.taken)
    }

    /// Forgets the messages to a peer up to a number: the peer will never need them again.
    pub fn acknowledge(&mut self, by: Peer, up_to: Number) {
        if let Some(peer) = self.peers.get_mut(&by) {
            peer.acknowledged = peer.acknowledged.max(up_to);
            let still = |it: &(Number, M)| it.0 > up_to;
            let known = peer.unacknowledged.iter().position(still);
            peer.unacknowledged.drain(..known.unwrap_or(peer.unacknowledged.len()));
        }
    }

    /// The last message that a peer has acknowledged.
    pub fn acknowledged(&self, by: Peer) -> Number {
        self.peers.get(&by).map_or(Number::default(), |peer| peer.acknowledged)
    }

    /// True if this host may have sent a message of this number. The last numbers of earlier incarnations are not known.
    pub fn may_have_sent(&self, to: Peer, number: Number) -> bool {
        let sent = self.peers.get(&to).map_or(0, |peer| peer.sent);
        let last = Number { incarnation: self.incarnation, sequence: sent };
        number <= last
    }

    /// Messages to a peer that are not acknowledged, behind the number `after`, in order.
    pub fn unacknowledged(&self, to: Peer, after: Number) -> impl Iterator<Item = (Number, &M)> {
        let all = self.peers.get(&to).map(|peer| &peer.unacknowledged);
        let first = all.map_or(0, |all| all.partition_point(|it| it.0 <= after));
        all.into_iter().flat_map(move |all| all.range(first..)).map(|it| (it.0, &it.1))
    }

    /// Number of messages to a peer that are not acknowledged.
    pub fn waiting(&self, to: Peer) -> usize {
        self.peers.get(&to).map_or(0, |peer| peer.unacknowledged.len())
    }
}

impl<M> Default for Session<M> {
    fn default() -> Session<M> {
        Session::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Something that happens to two hosts, of which 0 sends to 1.
    #[derive(Clone, Copy, Debug)]
    enum Event {
        /// The sender sends a message, and writes down the cause if it is durable.
        Send {
            durable: bool,
        },
        /// A message that is under way arrives, or a copy of it.
        Arrive {
            copy: bool,
        },
        /// The receiver makes everything durable, and acknowledges.
        Sync,
        /// The connection breaks, and is made anew.
        Reconnect,
        SenderCrashes,
        ReceiverCrashes,
    }

    fn events() -> impl Strategy<Value = Event> {
        prop_oneof![
            6 => any::<bool>().prop_map(|durable| Event::Send { durable }),
            8 => any::<bool>().prop_map(|copy| Event::Arrive { copy }),
            3 => Just(Event::Sync),
            1 => Just(Event::Reconnect),
            1 => Just(Event::SenderCrashes),
            1 => Just(Event::ReceiverCrashes),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Each durable message is taken once, and in order, after any crashes. No message is taken twice.
        #[test]
        fn a_message_is_taken_once(events in prop::collection::vec(events(), 1..80)) {
            let (mut sender, mut receiver) = (Session::<u32>::new(), Session::<u32>::new());
            // The states to which a crash leads.
            let (mut sender_safe, mut receiver_safe) = (sender.clone(), receiver.clone());
            let mut incarnation = 1;
            let mut way: VecDeque<(Number, u32)> = VecDeque::new();
            let mut next = 0;
            let mut durable = Vec::new();
            // Messages of the receiver's present state, and of its safe state.
            let (mut taken, mut taken_safe) = (Vec::new(), Vec::new());
            let mut end = events.clone();
            // In the end everything becomes durable and arrives.
            end.push(Event::Send { durable: true });
            end.push(Event::Reconnect);
            end.extend(std::iter::repeat_n(Event::Arrive { copy: false }, events.len() + 1));
            end.push(Event::Sync);
            for event in end {
                match event {
                    Event::Send { durable: is_durable } => {
                        next += 1;
                        way.push_back((sender.send(1, next), next));
                        if is_durable {
                            // All messages before it are written down with it.
                            durable.extend(sender.unacknowledged(1, Number::default()).map(|it| *it.1));
                            durable.sort_unstable();
                            durable.dedup();
                            sender_safe = sender.clone();
                        }
                    }
                    Event::Arrive { copy } => {
                        let Some(&(number, message)) = way.front() else { continue };
                        if !copy {
                            way.pop_front();
                        }
                        match receiver.arrival(0, number) {
                            Arrival::Next => {
                                receiver.take(0, number);
                                taken.push(message);
                            }
                            Arrival::Copy => prop_assert!(taken.contains(&message)),
                            Arrival::Gap => prop_assert!(false, "a connection keeps the order"),
                        }
                    }
                    Event::Sync => {
                        receiver_safe = receiver.clone();
                        taken_safe = taken.clone();
                        let safe = receiver.taken(0);
                        sender.acknowledge(1, safe);
                        sender_safe.acknowledge(1, safe);
                    }
                    Event::Reconnect => {
                        let after = receiver.taken(0);
                        way = sender.unacknowledged(1, after).map(|(it, &message)| (it, message)).collect();
                    }
                    Event::SenderCrashes => {
                        incarnation += 1;
                        sender = sender_safe.clone();
                        sender.begin(incarnation);
                        sender_safe = sender.clone();
                        let after = receiver.taken(0);
                        way = sender.unacknowledged(1, after).map(|(it, &message)| (it, message)).collect();
                    }
                    Event::ReceiverCrashes => {
                        receiver = receiver_safe.clone();
                        taken = taken_safe.clone();
                        let after = receiver.taken(0);
                        way = sender.unacknowledged(1, after).map(|(it, &message)| (it, message)).collect();
                    }
                }
            }
            prop_assert!(taken.is_sorted_by(|a, b| a < b), "{taken:?}");
            for message in durable {
                prop_assert!(taken.contains(&message), "{message} is missing in {taken:?}");
            }
            prop_assert_eq!(sender.waiting(1), 0);
        }
    }

    #[test]
    fn a_gap_is_seen() {
        let mut receiver = Session::<()>::new();
        let number = |incarnation, sequence| Number { incarnation, sequence };
        assert_eq!(receiver.arrival(0, number(1, 2)), Arrival::Gap);
        assert_eq!(receiver.arrival(0, number(1, 1)), Arrival::Next);
        receiver.take(0, number(1, 1));
        assert_eq!(receiver.arrival(0, number(1, 1)), Arrival::Copy);
        assert_eq!(receiver.arrival(0, number(3, 2)), Arrival::Gap);
        assert_eq!(receiver.arrival(0, number(3, 1)), Arrival::Next);
        receiver.take(0, number(3, 1));
        assert_eq!(receiver.arrival(0, number(2, 1)), Arrival::Copy);
    }
}
