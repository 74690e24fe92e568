//! Checkpoints of rigid jobs, by which they go on after their processors have failed.
//!
//! A job stands still while one is written, so that what it has done at any instant
//! follows from when it started: nobody has to be woken up for a checkpoint.
//!
//! ```text
//!  start                                                      end
//!    |recovery|  interval  |cost|  interval  |cost|  the rest  |
//!                               ^ saved: 1x       ^ 2x interval; none is written at the end
//! ```

use haggle_model::Span;

/// When rigid jobs write checkpoints, and what these take, in time of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    /// For how long a job computes before each, above zero.
    pub interval: Span,
    /// For how long it stops to write one.
    pub cost: Span,
    /// For how long it reads one before it goes on.
    pub recovery: Span,
}

/// How far an attempt has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Computing that need not be done again.
    pub saved: Span,
    /// Time in which it did not compute, but recovered or wrote checkpoints.
    pub overhead: Span,
}

impl Checkpoints {
    /// None are ever written.
    pub const NEVER: Checkpoints =
        Checkpoints { interval: Span::FOREVER, cost: Span::ZERO, recovery: Span::ZERO };

    /// How many an attempt writes that computes for so long.
    fn count(&self, computing: Span) -> i64 {
        (computing - Span::TICK).max(Span::ZERO).as_micros() / self.interval.as_micros()
    }

    fn recovery(&self, resumed: bool) -> Span {
        if resumed { self.recovery } else { Span::ZERO }
    }

    /// How long an attempt takes that computes for so long, and goes on from a
    /// checkpoint or not.
    pub fn lasts(&self, computing: Span, resumed: bool) -> Span {
        let micros = i128::from(computing.as_micros())
            + i128::from(self.recovery(resumed).as_micros())
            + i128::from(self.count(computing)) * i128::from(self.cost.as_micros());
        i64::try_from(micros).map_or(Span::FOREVER, Span::from_micros).min(Span::FOREVER)
    }

    /// How far an attempt that is to compute for so long has come after `elapsed`.
    pub fn progress(&self, elapsed: Span, computing: Span, resumed: bool) -> Progress {
        let recovery = self.recovery(resumed).min(elapsed);
        let (since, round) = (elapsed - recovery, self.interval + self.cost);
        let written = self.count(computing).min(since.as_micros() / round.as_micros());
        let rest = since - round * written;
        let last = written == self.count(computing);
        let writing = if last { Span::ZERO } else { (rest - self.interval).max(Span::ZERO) };
        Progress {
            saved: self.interval * written,
            overhead: recovery + self.cost * written + writing,
        }
    }
}
