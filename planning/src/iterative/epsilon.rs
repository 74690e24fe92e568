//! How good a set of solutions is (the additive epsilon indicator of Zitzler and others 2003).

/// By how much `solutions` have to be moved, in each objective, so that for each one of `reference` there
/// is one that is nowhere worse. All objectives are minimised; less is better. `None` if
/// either is empty, or numbers of objectives differ.
pub fn epsilon(solutions: &[Vec<f64>], reference: &[Vec<f64>]) -> Option<f64> {
    let objectives = reference.first()?.len();
    if solutions.iter().chain(reference).any(|point| point.len() != objectives) {
        return None;
    }
    let farthest = |solution: &Vec<f64>, point: &Vec<f64>| {
        solution.iter().zip(point).map(|(one, two)| one - two).fold(f64::NEG_INFINITY, f64::max)
    };
    let closest = |point| solutions.iter().map(|one| farthest(one, point)).reduce(f64::min);
    reference.iter().map(closest).reduce(|one, two| Some(one?.max(two?)))?
}
