//! A transport that sends lost messages again until they arrive.
//!
//! Attempts follow each other at the interval of the time-out, which doubles up to a bound (as in RFC
//! 6298, section 5). The first attempt that is not lost arrives. The sender of a lost attempt receives
//! no notice. Acknowledgements are therefore not simulated separately: the time-out stands for their
//! absence, and a lost acknowledgement only causes a copy that the receiver drops.

use haggle_model::random::Stream;
use haggle_model::{Span, Time};
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// The bound of time-outs that begin below it. RFC 6298, section 2.5, does not allow a smaller one.
const LONGEST: Span = Span::from_secs(60);

/// Rules for repeated transmissions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reliable {
    first: Span,
    /// One for each sender: seeds of the generators of messages. Every message takes a seed, even if it
    /// needs none, so a repeated message does not change the draws of others.
    seeds: Vec<Stream>,
}

/// The successive attempts to send a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempts {
    /// Departure of the next attempt.
    pub(super) sent: Time,
    timeout: Span,
    longest: Span,
}

impl Reliable {
    pub(super) fn new(timeout: Span, seeds: Vec<Stream>) -> Reliable {
        Reliable { first: timeout.max(Span::TICK), seeds }
    }

    /// Generator of the draws for later attempts of the next message of a sender.
    pub(super) fn draws(&mut self, sender: usize) -> Stream {
        Stream::seed_from_u64(self.seeds[sender].next_u64())
    }

    /// The attempts to send a message at `now`.
    pub(super) fn attempts(&self, now: Time) -> Attempts {
        Attempts { sent: now, timeout: self.first, longest: self.first.max(LONGEST) }
    }
}

impl Attempts {
    /// Proceeds after the loss of the last attempt.
    pub(super) fn next(&mut self) {
        self.sent += self.timeout;
        // The time-out doubles with each attempt (RFC 6298, section 5, rule 5.5).
        self.timeout = (self.timeout + self.timeout).min(self.longest);
    }

    /// Skips all attempts before `until`, which are lost. Returns their number, at least one.
    pub(super) fn skip_to(&mut self, until: Time) -> u64 {
        self.next();
        let mut lost = 1;
        while self.sent < until && self.timeout < self.longest {
            self.next();
            lost += 1;
        }
        // Computed directly, because an outage of a year is half a million attempts.
        let left = (until - self.sent).max(Span::ZERO).as_micros();
        // Rounded up: the next attempt is sent at `until` or later.
        let more = (left + self.timeout.as_micros() - 1) / self.timeout.as_micros();
        self.sent += Span::from_micros(more * self.timeout.as_micros());
        lost + more as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts(timeout: i64) -> Attempts {
        Reliable::new(Span::from_secs(timeout), Vec::new()).attempts(Time::ZERO)
    }

    #[test]
    fn timeouts_double_up_to_a_minute_or_what_they_begin_with() {
        let sent = |timeout, count| {
            let mut attempts = attempts(timeout);
            let left = std::iter::repeat_with(|| {
                attempts.next();
                attempts.sent.as_micros() / 1_000_000
            });
            left.take(count).collect::<Vec<i64>>()
        };
        assert_eq!(sent(1, 8), [1, 3, 7, 15, 31, 63, 123, 183]);
        assert_eq!(sent(100, 3), [100, 200, 300]);
    }

    #[test]
    fn attempts_that_are_skipped_are_those_made_one_by_one() {
        for timeout in [1, 7, 100] {
            for until in [1, 3, 4, 62, 63, 64, 1_000, 86_400] {
                let (mut skipped, mut each) = (attempts(timeout), attempts(timeout));
                let until = Time::from_secs(until);
                let lost = skipped.skip_to(until);
                let one_by_one = std::iter::repeat_with(|| each.next());
                assert!(one_by_one.take(lost as usize).count() == lost as usize);
                assert_eq!((skipped.sent, skipped.timeout), (each.sent, each.timeout));
                assert!(skipped.sent >= until);
            }
        }
    }
}
