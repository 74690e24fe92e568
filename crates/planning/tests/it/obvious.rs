//! Planners from their definitions, as slow as those are.

use haggle_model::Span;
use haggle_planning::{IntervalOracle, Problem};

/// All valid sets of markers with their costs.
pub(crate) fn valid_plans<O: IntervalOracle>(problem: &Problem<'_, O>) -> Vec<(Span, Vec<usize>)> {
    let phases: Vec<usize> = (problem.first..problem.oracle.phases()).collect();
    (0..1_u32 << phases.len())
        .map(|bits| {
            let chosen = phases.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
            chosen.map(|(_, &phase)| phase).collect::<Vec<_>>()
        })
        .filter_map(|markers| Some((cost(problem, &markers)?, markers)))
        .collect()
}

/// Cost of a plan, if it is valid.
pub(crate) fn cost<O: IntervalOracle>(problem: &Problem<'_, O>, markers: &[usize]) -> Option<Span> {
    let plan = problem.plan(markers);
    plan.valid.then_some(plan.cost)
}

/// The division heuristic as it is described: every plan of each round is priced anew.
pub(crate) fn division<O: IntervalOracle>(problem: &Problem<'_, O>) -> Vec<usize> {
    let mut best: Vec<usize> = Vec::new();
    let mut rounds = Vec::from_iter(cost(problem, &best).map(|cost| (cost, best.clone())));
    loop {
        let free = (problem.first..problem.oracle.phases()).filter(|phase| !best.contains(phase));
        let candidates = free.filter_map(|phase| {
            let mut markers = best.clone();
            markers.push(phase);
            markers.sort_unstable();
            Some((cost(problem, &markers)?, phase, markers))
        });
        let Some((cost, _, markers)) = candidates.min() else { break };
        rounds.push((cost, markers.clone()));
        best = markers;
    }
    let cheapest = rounds.into_iter().min_by_key(|(cost, markers)| (*cost, markers.len()));
    cheapest.map_or_else(Vec::new, |(_, markers)| markers)
}
