//! The order in which waiting jobs are considered.

use haggle_model::Span;

use crate::index::Key;
use crate::own::Own;
use crate::scheduler::Request;

/// Which waiting job comes first; ties go to the one that was queued first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Order {
    /// The one that was queued first.
    #[default]
    Arrival,
    /// The one with the shortest requested time.
    Shortest,
    /// The one with the most processors.
    Largest,
    /// The one with the smallest user-supplied key.
    Key,
    /// The one for which this is smallest, of what was requested and the time to plan with; asked once,
    /// when the job is queued.
    Own(Own<fn(&Request, Span) -> i64>),
}

impl Order {
    /// All orders of ours, in the order of the manual.
    pub const ALL: [Order; 4] = [Order::Arrival, Order::Shortest, Order::Largest, Order::Key];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Order::Arrival => "arrival",
            Order::Shortest => "shortest",
            Order::Largest => "largest",
            Order::Key => "key",
            Order::Own(own) => own.name,
        }
    }

    /// The key of the `sequence`-th queued request.
    pub(crate) fn key(self, request: &Request, span: Span, sequence: u32) -> Key {
        let primary = match self {
            _ if request.ahead => i64::MIN,
            Order::Arrival => 0,
            Order::Shortest => span.as_micros(),
            Order::Largest => -i64::from(request.processors),
            Order::Key => request.key,
            Order::Own(own) => (own.rule)(request, span),
        };
        (0, primary, sequence)
    }
}
