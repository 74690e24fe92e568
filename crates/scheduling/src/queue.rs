//! The order in which waiting jobs are considered.

use haggle_model::Span;

use crate::index::Key;
use crate::own::OrderRule;
use crate::scheduler::Request;

crate::words_or_own! {
    /// Order in which waiting jobs are considered.
    // Ties go to the one that was queued first.
    #[derive(Default)]
    pub enum Order of OrderRule as "Order" {
        /// In the order of arrival.
        #[default]
        Arrival = "arrival",
        /// Shortest requested time first.
        Shortest = "shortest",
        /// Most processors first.
        Largest = "largest",
        /// Smallest key first; the step "key" of a workload sets it.
        Key = "key",
    }
}

impl Order {
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
