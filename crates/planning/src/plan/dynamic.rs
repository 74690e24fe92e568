//! The optimum by dynamic programming, in two ways that agree.
//!
//! The cost after a marker does not depend on the phases before it. The cheapest plan of the first
//! phases up to a marker is therefore part of a cheapest plan. The publication searches it for each
//! number of intervals (equation 4); a sum of costs alone is enough.

use haggle_model::Span;

use super::{Plan, Problem};
use crate::{Interval, IntervalOracle};

/// A cheapest partial plan: its cost, and the number of phases before its last interval.
#[derive(Clone, Copy)]
struct Way {
    cost: Span,
    marker: usize,
}

/// The same plan as [`brute_force`](super::brute_force()), by equation 4: T(k, p) is the least cost of
/// the first p phases in k intervals.
///
/// It examines triples of k, p and the length of the last interval: C(Φ + 1, 3) from k = 2 on.
pub fn optimum_by_number<O: IntervalOracle>(problem: &Problem<'_, O>) -> Plan<O::Schedule> {
    let first = problem.first;
    let phases = problem.whole().phases();
    let time = |from, to| problem.valid_time(Interval::new(first + from, first - 1 + to));
    let mut examined = 0;
    // Row k - 1, column p - 1 holds T(k, p).
    let alone = |p| time(0, p).map(|cost| Way { cost, marker: 0 });
    let mut rows: Vec<Vec<Option<Way>>> = vec![(1..=phases).map(alone).collect()];
    for k in 2..=phases {
        let fewer = &rows[k - 2];
        let mut best = |p| {
            let through = |q: usize| {
                examined += 1;
                let cost = fewer[q - 1]?.cost + time(q, p)? + problem.rescheduling;
                Some(Way { cost, marker: q })
            };
            // `min_by_key` returns the first minimum, so the earliest marker wins a tie.
            (k - 1..p).filter_map(through).min_by_key(|way| way.cost)
        };
        let row = (1..=phases).map(&mut best).collect();
        rows.push(row);
    }
    // At equal cost, the fewest intervals win.
    let ends = rows.iter().enumerate().filter_map(|(k, row)| Some((row[phases - 1]?.cost, k)));
    let fewest = ends.min().map_or(0, |(_, k)| k);
    let mut markers = vec![0; fewest];
    let mut end = phases;
    for k in (1..=fewest).rev() {
        end = rows[k][end - 1].expect("it is on a way to the end").marker;
        markers[k - 1] = first - 1 + end;
    }
    problem.plan(&markers).examined(examined)
}

/// The same plan with one index fewer: T(p) is the least cost of the first p phases.
///
/// It examines pairs of the beginning and the end of an interval, Φ(Φ + 1)/2.
pub fn optimum<O: IntervalOracle>(problem: &Problem<'_, O>) -> Plan<O::Schedule> {
    let Interval { first, last } = problem.whole();
    let mut examined = 0;
    // For each p, the least cost, the fewest intervals for it, and the earliest last marker.
    let mut ways: Vec<Option<(Span, usize, usize)>> = vec![Some((Span::ZERO, 0, first - 1))];
    for end in first..=last {
        let through = |marker: usize| {
            examined += 1;
            let (cost, intervals, _) = ways[marker + 1 - first]?;
            let time = problem.valid_time(Interval::new(marker + 1, end))?;
            // The first interval begins where the application is started.
            let moving = if intervals == 0 { Span::ZERO } else { problem.rescheduling };
            Some((cost + time + moving, intervals + 1, marker))
        };
        let best = (first - 1..end).filter_map(through).min();
        ways.push(best);
    }
    let mut markers = Vec::new();
    let mut end = last;
    while let Some((_, intervals, marker)) = ways[end + 1 - first]
        && intervals > 1
    {
        markers.push(marker);
        end = marker;
    }
    markers.reverse();
    problem.plan(&markers).examined(examined)
}
