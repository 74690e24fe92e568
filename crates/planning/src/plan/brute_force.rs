//! Examination of all plans.

use haggle_model::Span;

use super::{Plan, Problem};
use crate::{Interval, IntervalOracle};

/// The cheapest of all valid plans. Ties are broken by the fewest intervals, then by the earliest last
/// marker, the earliest but one, and so on. Without a valid plan, one interval. It takes seconds for 25
/// phases, and twice as long for each further phase.
///
/// It examines plans; Φ phases have 2^(Φ-1) if all are valid.
pub fn brute_force<O: IntervalOracle>(problem: &Problem<'_, O>) -> Plan<O::Schedule> {
    let mut search =
        Search { problem, markers: Vec::new(), times: Span::ZERO, best: None, examined: 0 };
    search.until(problem.oracle.phases());
    let mut markers = search.best.map_or_else(Vec::new, |best| best.1);
    markers.reverse();
    problem.plan(&markers).examined(search.examined)
}

struct Search<'p, 'a, O> {
    problem: &'p Problem<'a, O>,
    /// Markers chosen so far, from the last to the first. `times` is the time of the intervals after them.
    markers: Vec<usize>,
    times: Span,
    best: Option<(Span, Vec<usize>)>,
    examined: u64,
}

impl<O: IntervalOracle> Search<'_, '_, O> {
    /// Tries all plans of the phases up to `last`, in the order that breaks ties.
    fn until(&mut self, last: usize) {
        for first in self.problem.first..=last {
            let Some(time) = self.problem.valid_time(Interval::new(first, last)) else { continue };
            self.times += time;
            if first == self.problem.first {
                self.complete();
            } else {
                self.markers.push(first - 1);
                self.until(first - 1);
                self.markers.pop();
            }
            // Times are whole numbers, so the sum before is restored exactly.
            self.times -= time;
        }
    }

    fn complete(&mut self) {
        self.examined += 1;
        let cost = self.times + self.problem.rescheduling * self.markers.len() as i64;
        // Plans come in the order that breaks ties, so an equal one does not replace the best.
        let better = self
            .best
            .as_ref()
            .is_none_or(|(least, markers)| (cost, self.markers.len()) < (*least, markers.len()));
        if better {
            self.best = Some((cost, self.markers.clone()));
        }
    }
}
