//! Optimal intervals of checkpoints, from the cost of one, C, and the mean time between failures, M.

use haggle_model::Span;
use haggle_model::work::span_of;

/// The shortest interval that a rule returns. A resource that fails all the time would make it zero, and
/// its job would only save its progress.
pub const SHORTEST: Span = Span::from_micros(1_000);

/// Young's interval, rounded down to a microsecond and at least the shortest.
pub(crate) fn young(cost: Span, mtbf: Span) -> Span {
    span_of(root_of_twice(cost, mtbf)).max(SHORTEST)
}

/// Daly's interval, rounded down to a microsecond and at least the shortest. With
/// s = √(2·C·M) it is s + C/3 + C·s/18M − C.
pub(crate) fn daly(cost: Span, mtbf: Span) -> Span {
    let (c, m) = (micros(cost), micros(mtbf));
    if c >= 2 * m {
        return mtbf.max(SHORTEST);
    }
    let root = root_of_twice(cost, mtbf);
    span_of((root + c / 3 + c * root / (18 * m)).saturating_sub(c)).max(SHORTEST)
}

/// √(2·C·M), exact in integers, so that all machines give the same result.
fn root_of_twice(cost: Span, mtbf: Span) -> u128 {
    (2 * micros(cost) * micros(mtbf)).isqrt()
}

fn micros(span: Span) -> u128 {
    u128::try_from(span.as_micros()).expect("costs and means are not negative")
}
