//! A transport that sends again what has not arrived, until it does.
//!
//! Attempt after attempt leaves as long after the one before as the time-out says, which doubles up
//! to a bound (as in RFC 6298, section 5); the first that is not lost arrives. Who loses an attempt
//! hears nothing of it, so acknowledgements are not simulated by themselves: the time-out stands for
//! their absence, and one that is lost only sends what the receiver drops.

use haggle_model::random::Stream;
use haggle_model::{Span, Time};
use rand::{Rng, SeedableRng};

/// The bound of time-outs that begin below it: RFC 6298, section 2.5, allows none that is lower.
const LONGEST: Span = Span::from_secs(60);

/// When what was lost is sent again.
#[derive(Clone, Debug)]
pub(super) struct Reliable {
    first: Span,
    /// One a sender: what the generator of each message starts from, whether it needs one or not, so
    /// that one which is sent again changes nothing about another.
    seeds: Vec<Stream>,
}

/// The attempts at a message, one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempts {
    /// When the next one leaves.
    pub(super) sent: Time,
    timeout: Span,
    longest: Span,
}

impl Reliable {
    pub(super) fn new(timeout: Span, seeds: Vec<Stream>) -> Reliable {
        Reliable { first: timeout.max(Span::TICK), seeds }
    }

    /// What becomes of the attempts behind the first at the next message of a sender is drawn from this.
    pub(super) fn draws(&mut self, sender: usize) -> Stream {
        Stream::seed_from_u64(self.seeds[sender].next_u64())
    }

    /// The attempts at a message that is sent at `now`.
    pub(super) fn attempts(&self, now: Time) -> Attempts {
        Attempts { sent: now, timeout: self.first, longest: self.first.max(LONGEST) }
    }
}

impl Attempts {
    /// The one that has just left is lost.
    pub(super) fn next(&mut self) {
        self.sent += self.timeout;
        self.timeout = (self.timeout + self.timeout).min(self.longest);
    }

    /// All that leave before `until` are lost; how many these are, one at least.
    pub(super) fn skip_to(&mut self, until: Time) -> u64 {
        self.next();
        let mut lost = 1;
        while self.sent < until && self.timeout < self.longest {
            self.next();
            lost += 1;
        }
        // An outage of a year is half a million attempts.
        let left = (until - self.sent).max(Span::ZERO).as_micros();
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
