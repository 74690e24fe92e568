//! Real time as time of a run.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use haggle_model::{Span, Time};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::time::Instant;

/// Time zero of a run, and its speed. All nodes of a run have the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Time zero, in microseconds since the beginning of 1970.
    pub epoch: i64,
    /// Seconds of the run in a second of real time.
    pub scale: f64,
}

/// A scale that no clock has.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error(
    "the scale is {0}, not within 0.001 to 1000000: seconds of the run in a second of real time"
)]
pub struct ScaleError(pub f64);

impl Pace {
    /// A run that begins `after` the present.
    ///
    /// # Errors
    /// If the scale is out of its bounds.
    pub fn beginning(after: Duration, scale: f64) -> Result<Pace, ScaleError> {
        if !(0.001..=1e6).contains(&scale) {
            return Err(ScaleError(scale));
        }
        Ok(Pace { epoch: unix_micros() + after.as_micros() as i64, scale })
    }
}

/// The time of the run at an instant of this process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The instant.
    pub at: Instant,
    /// The time of the run.
    pub time: Time,
}

impl Reading {
    /// The time of the run now, by the clock of the system.
    pub fn of(pace: Pace) -> Reading {
        let passed = unix_micros().saturating_sub(pace.epoch);
        let time = Time::ZERO + scaled(passed as f64, pace.scale);
        Reading { at: Instant::now(), time }
    }
}

/// The clock of a process: it never goes back, and no change of the system's clock moves it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    scale: f64,
    /// An instant, and the time of the run at it.
    begun: Instant,
    at: Time,
    /// Time since then that is left out, because the clock was ahead.
    ahead: Span,
}

/// The part of a clock's speed that it loses until it is no longer ahead: one in this number.
const SLOWNESS: i64 = 10;

impl Clock {
    /// The clock of a process that knows the time at an instant.
    pub fn new(known: Reading, scale: f64) -> Clock {
        Clock { scale, begun: known.at, at: known.time, ahead: Span::ZERO }
    }

    /// Its pace, by the present clock of the system.
    pub fn pace(&self) -> Pace {
        let passed = (self.now() - Time::ZERO).as_micros() as f64 / self.scale;
        Pace { epoch: unix_micros() - passed as i64, scale: self.scale }
    }

    /// The same clock, if it has reached a time; otherwise one that is at this time now.
    #[must_use]
    pub fn not_before(self, time: Time) -> Clock {
        match self.now() >= time {
            true => self,
            false => Clock::new(Reading { at: Instant::now(), time }, self.scale),
        }
    }

    /// The present. Before the beginning of the run it is negative.
    pub fn now(&self) -> Time {
        let passed = self.begun.elapsed().as_nanos() as f64 / 1e3;
        let passed = scaled(passed, self.scale);
        let left_out = Span::from_micros(passed.as_micros() / SLOWNESS).min(self.ahead);
        self.at + (passed - left_out)
    }

    /// Brings the clock to the time that another one tells. A clock that is late goes forward at once. One that is
    /// ahead becomes slower until both agree.
    pub fn steer(&mut self, told: Time) {
        let own = self.now();
        *self = Clock {
            scale: self.scale,
            begun: Instant::now(),
            at: own.max(told),
            ahead: (own - told).max(Span::ZERO),
        };
    }

    /// The time of the run at an instant of the system's clock, in microseconds since 1970.
    pub fn at(&self, unix: i64) -> Time {
        let ago = unix_micros().saturating_sub(unix);
        self.now() - scaled(ago as f64, self.scale)
    }

    /// Real time from now to a time of the run: a microsecond more than necessary, so that the clock has reached it
    /// unless it is slow. At most a day.
    pub fn until(&self, time: Time) -> Duration {
        let left = (time - self.now()).as_micros().max(0) as f64 / self.scale;
        Duration::from_micros(left.min(86_400e6) as u64 + 1)
    }
}

fn scaled(micros: f64, scale: f64) -> Span {
    // A time that no run reaches.
    let most = Span::FOREVER.as_micros() as f64;
    Span::from_micros((micros * scale).clamp(-most, most) as i64)
}

/// The present by the clock of the system, in microseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a live run takes place in real time")]
pub(crate) fn unix_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(after: Duration, scale: f64) -> Clock {
        Clock::new(Reading::of(Pace::beginning(after, scale).expect("a scale")), scale)
    }

    #[tokio::test(start_paused = true)]
    async fn time_passes_at_its_scale() {
        let clock = clock(Duration::from_secs(1), 100.0);
        let start = clock.now();
        assert!((-100.0..-90.0).contains(&start.as_secs_f64()), "{start}");
        tokio::time::advance(Duration::from_millis(2_500)).await;
        assert_eq!(clock.now() - start, Span::from_secs(250));
        let due = clock.now() + Span::from_secs(50);
        assert_eq!(clock.until(due), Duration::from_micros(500_001));
        assert_eq!(clock.until(start), Duration::from_micros(1));
        tokio::time::advance(clock.until(due)).await;
        assert!(clock.now() >= due);
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_is_steered_and_never_goes_back() {
        let mut clock = clock(Duration::ZERO, 10.0);
        let begun = clock.now();
        let since = |clock: &Clock| (clock.now() - begun).as_secs_f64();
        clock.steer(begun + Span::from_secs(30));
        assert_eq!(since(&clock), 30.0);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(since(&clock), 40.0);
        // It is 4 s ahead, so it takes 40 s for the way of 36 s.
        clock.steer(begun + Span::from_secs(36));
        for (seconds, expected) in [(0, 40.0), (2, 58.0), (2, 76.0), (1, 86.0)] {
            tokio::time::advance(Duration::from_secs(seconds)).await;
            assert_eq!(since(&clock), expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_is_not_before_a_journal() {
        let clock = clock(Duration::from_secs(3_600), 10.0);
        let time = Time::from_secs(50);
        let later = clock.not_before(time);
        assert_eq!(later.now(), time);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(later.not_before(time).now(), Time::from_secs(60));
    }

    #[test]
    fn a_scale_has_bounds() {
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e6] {
            assert!(Pace::beginning(Duration::ZERO, scale).is_err(), "{scale}");
        }
    }
}
