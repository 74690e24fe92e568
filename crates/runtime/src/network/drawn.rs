//! Latencies of messages that are drawn from those of another run, such as a live one.

use std::collections::BTreeMap;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use super::Crashes;

/// Measured latencies of messages between parts of a world. A message takes the latency of the last message that was sent
/// before a later instant of the measured run. All messages are later by one drawn time, and the beginning follows on the
/// end. So slow times stay together, and messages of one instant have one latency, as they had when they were measured. If
/// each message drew for itself, a slow one would hold up all behind it. Messages within a part take the time of the
/// network. Messages from one part to another stay in order, as on a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Drawn {
    /// The part of each actor; `None` = it is in every part, as nature is.
    parts: Vec<Option<u32>>,
    /// The messages from one part to another, in order.
    pairs: BTreeMap<(u32, u32), Vec<Measured>>,
    /// The messages between all other parts; without any, they take no time.
    others: Vec<Measured>,
    /// The time by which the measured instants are later.
    later: Span,
    /// Length of the measured run.
    length: Span,
    /// The arrival of the last message from one part to another.
    arrived: BTreeMap<(u32, u32), Time>,
}

/// A message of a measured run: the time at which it was sent, and its latency.
pub type Measured = (Time, Span);

impl Drawn {
    /// Latencies of a world whose actors are in these `parts`: those of messages between `pairs` of parts, and of `others`,
    /// sorted by time. They are taken `share` of the measured run later, from 0 to 1.
    pub fn new(
        parts: Vec<Option<u32>>,
        pairs: BTreeMap<(u32, u32), Vec<Measured>>,
        others: Vec<Measured>,
        share: f64,
    ) -> Drawn {
        let last = |all: &Vec<Measured>| all.last().map(|it| it.0);
        let end = pairs.values().chain([&others]).filter_map(last).max().unwrap_or(Time::ZERO);
        let length = (end - Time::ZERO).max(Span::ZERO) + Span::TICK;
        let later = Span::from_secs_f64(share * length.as_secs_f64());
        Drawn { parts, pairs, others, later, length, arrived: BTreeMap::new() }
    }

    /// The latency of the last message at an instant of the measured run.
    fn latency(&self, pair: (u32, u32), now: Time) -> Span {
        let measured = self.pairs.get(&pair).unwrap_or(&self.others);
        let passed = (now - Time::ZERO + self.later).as_micros();
        let at = Time::from_micros(passed.rem_euclid(self.length.as_micros()));
        let before = measured.partition_point(|it| it.0 <= at);
        // Before the first message comes the last one.
        let last = before.checked_sub(1).map_or(measured.last(), |place| measured.get(place));
        last.map_or(Span::ZERO, |it| it.1)
    }

    /// Arrival of a message that is sent now; `None` within a part. A message whose receiver is down waits for its
    /// restart.
    pub(super) fn arrival(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        crashes: Option<&mut Crashes>,
    ) -> Option<Time> {
        let part = |actor: ActorId| self.parts.get(actor.index()).copied().flatten();
        let pair = (part(from)?, part(to)?);
        if pair.0 == pair.1 {
            return None;
        }
        let arrival = now + self.latency(pair, now);
        let last = self.arrived.entry(pair).or_insert(arrival);
        let arrival = arrival.max(*last);
        let restart = crashes.and_then(|crashes| crashes.at(to, arrival));
        *last = restart.unwrap_or(arrival);
        Some(*last)
    }
}

#[cfg(test)]
mod tests {
    use haggle_workloads::failures::Outage;

    use super::*;

    const fn seconds(count: i64) -> Time {
        Time::from_secs(count)
    }

    /// Actors 0 and 1 are in part 0, actor 2 in part 1, actor 3 in part 2.
    fn drawn(share: f64) -> Drawn {
        let measured = [(0, 2), (100, 30), (101, 29), (399, 4)];
        let measured = measured.map(|(at, took)| (seconds(at), Span::from_secs(took))).to_vec();
        let parts = vec![Some(0), Some(0), Some(1), Some(2)];
        let others = vec![(seconds(50), Span::from_secs(7))];
        Drawn::new(parts, BTreeMap::from([((0, 1), measured)]), others, share)
    }

    #[test]
    fn latencies_are_those_of_a_later_instant() {
        // The measured run has 399 s and a microsecond.
        for (share, expected) in [(0.0, [2, 30, 29, 29, 2]), (0.5, [29, 29, 2, 30, 29])] {
            let mut drawn = drawn(share);
            let mut took = |time, from, to| {
                let arrival = drawn.arrival(seconds(time), ActorId(from), ActorId(to), None);
                arrival.map(|it| (it - seconds(time)).as_micros() / 1_000_000)
            };
            assert_eq!(took(0, 0, 1), None);
            for (message, expected) in (0..).zip(expected) {
                // Both actors of a part, in turn.
                assert_eq!(took(100 * message, message as u32 % 2, 2), Some(expected));
                // Messages of one instant have one latency.
                assert_eq!(took(100 * message, 0, 2), Some(expected));
                // A pair without latencies of its own has those of all.
                assert_eq!(took(100 * message, 2, 3), Some(7));
                assert_eq!(took(100 * message, 2, 0), Some(7));
            }
        }
    }

    #[test]
    fn messages_between_parts_stay_in_order() {
        let mut drawn = drawn(0.0);
        let mut at = |time| drawn.arrival(seconds(time), ActorId(0), ActorId(2), None);
        assert_eq!(
            [99, 100, 398, 399].map(&mut at),
            [101, 130, 427, 427].map(|it| Some(seconds(it)))
        );
    }

    #[test]
    fn a_message_waits_for_a_receiver_that_is_down() {
        let outage = Outage { fail: seconds(5), restore: seconds(60) };
        let mut crashes = Crashes::new(4, Box::new([(ActorId(3), outage)].into_iter()));
        let mut drawn = drawn(0.0);
        let mut at =
            |time, to| drawn.arrival(seconds(time), ActorId(2), ActorId(to), Some(&mut crashes));
        assert_eq!(at(0, 3), Some(seconds(60)));
        assert_eq!(at(1, 0), Some(seconds(8)));
        assert_eq!(at(54, 3), Some(seconds(61)));
    }
}
