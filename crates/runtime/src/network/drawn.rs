//! Latencies of messages that are drawn from those of another run, such as a live one.

use std::collections::BTreeMap;

use haggle_model::{ActorId, Span, Time};
use serde::{Deserialize, Serialize};

use super::Crashes;

/// Measured latencies of messages between parts of a world. The messages from one part to another take them in their
/// order, from a drawn place on, and from the beginning again after the last one. So each latency is as frequent as it was,
/// and slow times stay together: if each message drew for itself, one that is slow would hold up all behind it. Messages
/// within a part take the time of the network. Messages from one part to another stay in order, as on a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Drawn {
    /// The part of each actor; `None` = it is in every part, as nature is.
    parts: Vec<Option<u32>>,
    /// The latencies from one part to another, in the order of the messages.
    pairs: BTreeMap<(u32, u32), Vec<Span>>,
    /// The latencies of messages between all other parts; without any, they take no time.
    others: Vec<Span>,
    /// The place of the first latency in each list, as a share of its length.
    place: f64,
    /// Number of messages from one part to another so far, and the arrival of the last one.
    passed: BTreeMap<(u32, u32), (usize, Time)>,
}

impl Drawn {
    /// Latencies of a world whose actors are in these `parts`. They are taken from a `place` on, from 0 to 1, which is the
    /// same share of each list: slow times of different parts stay together as well.
    pub fn new(
        parts: Vec<Option<u32>>,
        pairs: BTreeMap<(u32, u32), Vec<Span>>,
        others: Vec<Span>,
        place: f64,
    ) -> Drawn {
        Drawn { parts, pairs, others, place, passed: BTreeMap::new() }
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
        let measured = self.pairs.get(&pair).unwrap_or(&self.others);
        let first = (self.place * measured.len() as f64) as usize;
        let (count, last) = self.passed.entry(pair).or_insert((0, now));
        let latency = match measured.len() {
            0 => Span::ZERO,
            length => measured[(first + *count) % length],
        };
        let arrival = (now + latency).max(*last);
        let restart = crashes.and_then(|crashes| crashes.at(to, arrival));
        (*count, *last) = (*count + 1, restart.unwrap_or(arrival));
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
    fn drawn(place: f64) -> Drawn {
        let measured = [2, 30, 29, 4].map(Span::from_secs).to_vec();
        let parts = vec![Some(0), Some(0), Some(1), Some(2)];
        Drawn::new(parts, BTreeMap::from([((0, 1), measured)]), vec![Span::from_secs(7)], place)
    }

    #[test]
    fn latencies_come_in_their_order_from_a_place_on() {
        for (place, expected) in [(0.0, [2, 30, 29, 4, 2]), (0.5, [29, 4, 2, 30, 29])] {
            let mut drawn = drawn(place);
            let mut took = |time, from, to| {
                let arrival = drawn.arrival(seconds(time), ActorId(from), ActorId(to), None);
                arrival.map(|it| (it - seconds(time)).as_micros() / 1_000_000)
            };
            assert_eq!(took(0, 0, 1), None);
            for (message, expected) in (0..).zip(expected) {
                // Both actors of a part, in turn.
                assert_eq!(took(100 * message, message as u32 % 2, 2), Some(expected));
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
        assert_eq!([0, 1, 2, 3].map(&mut at), [2, 31, 31, 31].map(|it| Some(seconds(it))));
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
