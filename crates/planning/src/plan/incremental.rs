//! From the first phase to the last: an interval ends when the application has changed so much that
//! other machines would suit it better (section 5.1 and figure 2).

use serde::{Deserialize, Serialize};

use super::{Part, Plan, Problem};
use crate::{Interval, IntervalOracle};

/// Options that the publication leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IncrementalOptions {
    /// Treatment of a last interval that is too short.
    pub tail: Tail,
    /// True to run each interval on its own best schedule, and not on the one it began with. The plan
    /// then costs at most the same.
    pub reoptimise: bool,
}

/// Treatment of a last interval that is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Tail {
    /// It becomes part of the one before it, on the best schedule for both.
    #[default]
    Merge,
    /// It stays, and the plan is not valid.
    Keep,
}

/// The plan of the incremental algorithm.
///
/// It examines intervals, at most 2Φ, and queries the best schedule of each. An interval keeps the
/// schedule of its first valid length while it grows, as published.
pub fn incremental<O: IntervalOracle>(
    problem: &Problem<'_, O>,
    options: IncrementalOptions,
) -> Plan<O::Schedule> {
    let mut parts: Vec<Part<O::Schedule>> = Vec::new();
    let mut examined = 0;
    while let Some(first) = next_phase(problem, &parts) {
        let formed = form(problem, first, &mut examined);
        parts.push(extend(problem, formed, &mut examined));
    }
    if options.tail == Tail::Merge {
        merge_tail(problem, &mut parts);
    }
    if options.reoptimise {
        parts = parts.iter().map(|part| problem.best_part(part.interval)).collect();
    }
    problem.plan_of(parts).examined(examined)
}

fn next_phase<O: IntervalOracle>(
    problem: &Problem<'_, O>,
    parts: &[Part<O::Schedule>],
) -> Option<usize> {
    let next = parts.last().map_or(problem.first, |part| part.interval.last + 1);
    (next <= problem.oracle.phases()).then_some(next)
}

/// The shortest valid interval that begins at `first`, or all phases from there.
fn form<O: IntervalOracle>(
    problem: &Problem<'_, O>,
    first: usize,
    examined: &mut u64,
) -> Part<O::Schedule> {
    let last_phase = problem.oracle.phases();
    let is_valid = |&last: &usize| {
        *examined += 1;
        problem.allows(problem.oracle.least_time(Interval::new(first, last)))
    };
    let last = (first..=last_phase).find(is_valid).unwrap_or(last_phase);
    problem.best_part(Interval::new(first, last))
}

/// The same interval, extended by all following phases for which its schedule is cheaper than a new one.
fn extend<O: IntervalOracle>(
    problem: &Problem<'_, O>,
    mut part: Part<O::Schedule>,
    examined: &mut u64,
) -> Part<O::Schedule> {
    while part.interval.last < problem.oracle.phases() {
        let longer = Interval::new(part.interval.first, part.interval.last + 1);
        *examined += 1;
        let moved = problem.oracle.least_time(longer) + problem.rescheduling;
        let stayed = problem.oracle.time_on(&part.schedule, longer);
        // At equal cost, the interval ends.
        if stayed >= moved {
            break;
        }
        part.interval = longer;
        part.time = stayed;
    }
    part
}

fn merge_tail<O: IntervalOracle>(problem: &Problem<'_, O>, parts: &mut Vec<Part<O::Schedule>>) {
    // A plan of one interval keeps it, because there is none that it could join.
    if let [.., before, tail] = parts.as_slice()
        && !problem.allows(tail.time)
    {
        let joined = problem.best_part(before.interval.joined(tail.interval));
        parts.truncate(parts.len() - 2);
        parts.push(joined);
    }
}
