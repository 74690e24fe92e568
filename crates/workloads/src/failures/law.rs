//! The times for which a resource is up and down.

use haggle_model::Span;
use haggle_model::law::Law;

/// One minute: the unit of the published table of uniform laws.
pub const MINUTE: Span = Span::from_secs(60);

/// An alternating renewal process: up for a time drawn from `up`, down for a
/// time drawn from `down`, and so on; all draws are independent.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureLaw {
    /// Time to failure, in `unit`s.
    pub up: Law,
    /// Time to repair, in `unit`s.
    pub down: Law,
    /// Unit of the numbers of both laws.
    pub unit: Span,
    /// Multiplies every time to failure; 1 = as drawn. Calibrates a measured availability.
    pub up_factor: f64,
    /// State at the beginning of the process.
    pub start: FailureStart,
}

haggle_model::words! {
    /// State of the nodes at time zero.
    #[derive(Default)]
    pub enum FailureStart {
        /// All nodes are up at time zero.
        #[default]
        Up = "up",
        // A time to failure begins at -U(0, 5) x the mean time to failure; failures before time zero are ignored.
        /// As if failures had gone on for a long time: some nodes may be down at time zero.
        Stationary = "stationary",
    }
}

impl FailureLaw {
    /// Times to failure and repair in `unit`s, up at time zero.
    pub fn new(up: Law, down: Law, unit: Span) -> FailureLaw {
        FailureLaw { up, down, unit, up_factor: 1.0, start: FailureStart::Up }
    }

    /// Mean time to failure in seconds, with the factor.
    pub fn mean_up_secs(&self) -> f64 {
        self.up.mean() * self.unit.as_secs_f64() * self.up_factor
    }

    /// Mean time to repair in seconds.
    pub fn mean_down_secs(&self) -> f64 {
        self.down.mean() * self.unit.as_secs_f64()
    }

    /// The renewal availability, from 0 to 1: m_up / (m_up + m_down) with the means of the two laws. A
    /// measured availability converges to it.
    pub fn availability(&self) -> f64 {
        let up = self.mean_up_secs();
        up / (up + self.mean_down_secs())
    }
}
