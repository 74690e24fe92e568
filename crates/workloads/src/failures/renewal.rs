//! The failures of one resource, without correlations.

use std::sync::Arc;

use rand::RngExt;

use super::error::FailureError;
use super::law::{FailureLaw, FailureStart};
use super::outage::Outage;
use haggle_model::law::Law;
use haggle_model::law::Sampler;
use haggle_model::random::{Resting, Stream, stream};
use haggle_model::{Span, Time};

/// Longest burn-in, in mean times to failure.
const BURN_IN_MEANS: f64 = 5.0;

/// An alternating renewal process, outage by outage; the first outage may be before time zero. It ends
/// only if an outage never ends or never begins.
pub(super) struct Renewal {
    /// Last restoration of the resource.
    restored: Time,
    /// Number of used ones among the times drawn ahead.
    used: usize,
    /// The next times up and down, drawn in batches: both streams rest until these are used up.
    ahead: [(Span, Span); AHEAD],
    times: Arc<UpAndDown>,
    up_draws: Resting,
    down_draws: Resting,
}

/// Number of times drawn in a batch.
const AHEAD: usize = 6;

impl Renewal {
    /// The process of a resource under `law` with these `times`.
    pub(super) fn new(
        law: &FailureLaw,
        times: Arc<UpAndDown>,
        seed: u64,
        resource: &str,
    ) -> Renewal {
        let restored = match law.start {
            FailureStart::Up => Time::ZERO,
            FailureStart::Stationary => {
                // Each resource begins at an instant of its own, so that they do not all begin a time up
                // together.
                let means = BURN_IN_MEANS * stream(seed, resource, "burn-in").random::<f64>();
                Time::ZERO - Span::from_secs_f64(means * law.mean_up_secs())
            }
        };
        Renewal {
            restored,
            // All used up, so that the first call draws.
            used: AHEAD,
            ahead: [(Span::ZERO, Span::ZERO); AHEAD],
            times,
            // Separate streams: another law of repairs does not change the times to failure.
            up_draws: Resting::of(&stream(seed, resource, "times to failure")),
            down_draws: Resting::of(&stream(seed, resource, "times to repair")),
        }
    }

    fn draw_ahead(&mut self) {
        let UpAndDown { up, down } = &*self.times;
        let (mut to_failure, mut to_repair) = (self.up_draws.wake(), self.down_draws.wake());
        self.ahead = std::array::from_fn(|_| (up.draw(&mut to_failure), down.draw(&mut to_repair)));
        (self.up_draws, self.down_draws) = (Resting::of(&to_failure), Resting::of(&to_repair));
        self.used = 0;
    }

    /// The outage that starts at `fail`, with a time to repair from `draws`.
    pub(super) fn outage_at(&self, fail: Time, draws: &mut Stream) -> Outage {
        Outage { fail, restore: (fail + self.times.down.draw(draws)).min(Time::FOREVER) }
    }
}

impl Iterator for Renewal {
    type Item = Outage;

    fn next(&mut self) -> Option<Outage> {
        if self.restored >= Time::FOREVER {
            return None;
        }
        if self.used == AHEAD {
            self.draw_ahead();
        }
        let (up, down) = self.ahead[self.used];
        self.used += 1;
        let fail = self.restored + up;
        // The next failure lies beyond the end of time, so later calls return none either.
        if fail >= Time::FOREVER {
            self.restored = Time::FOREVER;
            return None;
        }
        let restore = fail + down;
        self.restored = restore.min(Time::FOREVER);
        Some(Outage { fail, restore: self.restored })
    }
}

/// The times of a law, shared by the resources that follow it.
pub(super) struct UpAndDown {
    up: Times,
    down: Times,
}

impl UpAndDown {
    /// The times of a law; `resource` is the first to follow it.
    pub(super) fn of(law: &FailureLaw, resource: &str) -> Result<Arc<UpAndDown>, FailureError> {
        let factor = law.up_factor;
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(FailureError::Factor { resource: resource.to_owned(), factor });
        }
        let unit = law.unit.as_secs_f64();
        let up = Times::new(&law.up, unit * factor, resource, "up")?;
        let down = Times::new(&law.down, unit, resource, "down")?;
        Ok(Arc::new(UpAndDown { up, down }))
    }
}

/// Durations that follow a law.
struct Times {
    law: Sampler,
    /// Unit of the law's numbers, seconds.
    unit_secs: f64,
}

impl Times {
    fn new(
        law: &Law,
        unit_secs: f64,
        resource: &str,
        which: &'static str,
    ) -> Result<Times, FailureError> {
        let resource = || resource.to_owned();
        let sampler = law.sampler().map_err(|problem| FailureError::Law {
            resource: resource(),
            which,
            problem,
        })?;
        let mean = law.mean();
        // A law that is always 0 would give an outage every few microseconds.
        let is_time = is_never_negative(law) && mean > 0.0 && mean.is_finite();
        if !is_time {
            return Err(FailureError::NotATime { resource: resource(), which, law: law.name() });
        }
        Ok(Times { law: sampler, unit_secs })
    }

    /// A duration rounded up to the next microsecond. It is at least one microsecond, so that up and down alternate.
    fn draw(&self, draws: &mut Stream) -> Span {
        Span::from_secs_f64(self.law.sample(draws) * self.unit_secs).max(Span::TICK)
    }
}

fn is_never_negative(law: &Law) -> bool {
    match law {
        Law::Constant(value) => *value >= 0.0,
        Law::Uniform { low, .. } => *low >= 0.0,
        Law::Choice(choices) => choices.iter().all(|choice| choice.value >= 0.0),
        Law::Histogram { edges, .. } => edges.iter().all(|&edge| edge >= 0.0),
        Law::Exponential { .. }
        | Law::Lognormal { .. }
        | Law::Poisson { .. }
        | Law::Weibull { .. }
        | Law::Gamma { .. } => true,
        // A normal law has no lower end.
        Law::Normal { .. } => false,
    }
}
