//! Decisions of a metascheduler that places an iterative application (section 5.3.3): the machines to
//! request, and moves of a waiting application.

use haggle_model::{ProviderId, Span, Time};

/// Machines of one kind that a provider has available from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Their provider.
    pub provider: ProviderId,
    /// Their kind.
    pub kind: usize,
    /// Their number.
    pub machines: u32,
    /// Start of their availability.
    pub from: Time,
}

/// Machines to request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Time at which all of them are available.
    pub start: Time,
    /// Machines taken from each offer, in the order of time.
    pub taken: Vec<Offer>,
}

/// The `machines` that are available earliest. Ties are broken by speed, then by the lowest number of
/// the provider. `speed` gives the speed of a kind. `None` if there are too few.
pub fn earliest_machines(
    offers: &[Offer],
    machines: u32,
    speed: impl Fn(usize) -> f64,
) -> Option<Chosen> {
    let mut offers = offers.to_vec();
    offers.sort_by(|one, two| {
        let faster = speed(two.kind).total_cmp(&speed(one.kind));
        one.from.cmp(&two.from).then(faster).then(one.provider.cmp(&two.provider))
    });
    let mut missing = machines;
    let mut taken = Vec::new();
    for offer in offers {
        let machines = offer.machines.min(missing);
        if machines > 0 {
            missing -= machines;
            taken.push(Offer { machines, ..offer });
        }
    }
    // Offers are taken in the order of time, so the last one determines the start.
    let start = taken.last().map_or(Time::ZERO, |last| last.from);
    (missing == 0).then_some(Chosen { start, taken })
}

/// True if an application may move to other machines, where it would start at `start` and take
/// `run_time`: it must end no later than promised. It may start earlier and take longer.
pub fn is_no_later(start: Time, run_time: Span, promised: Time) -> bool {
    start + run_time <= promised
}
