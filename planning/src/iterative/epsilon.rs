//! How good a set of solutions is (the additive epsilon indicator of Zitzler and others 2003).

/// By how much `solutions` have to be moved, in each objective, so that for each one of `reference` there
/// is one that is nowhere worse. All objectives are minimised; less is better. `None` if
/// either is empty, or numbers of objectives differ.
pub fn epsilon(solutions: &[Vec<f64>], reference: &[Vec<f64>]) -> Option<f64> {
    let objectives = reference.first()?.len();
    if solutions.iter().chain(reference).any(|point| point.len() != objectives) {
        return None;
    }
    let mut epsilon = Epsilon::new(reference);
    epsilon.add(solutions);
    (!solutions.is_empty()).then(|| epsilon.value())
}

/// Epsilon of a set of solutions that grows.
#[derive(Clone, Debug)]
pub struct Epsilon<'a, P> {
    reference: &'a [P],
    /// For each point of reference, by how much the closest solution has to be moved.
    closest: Vec<f64>,
}

impl<'a, P: AsRef<[f64]>> Epsilon<'a, P> {
    /// Of no solution.
    pub fn new(reference: &'a [P]) -> Epsilon<'a, P> {
        Epsilon { reference, closest: vec![f64::INFINITY; reference.len()] }
    }

    /// Adds solutions with as many objectives as the reference has.
    pub fn add(&mut self, solutions: &[impl AsRef<[f64]>]) {
        for (point, closest) in self.reference.iter().zip(&mut self.closest) {
            for solution in solutions {
                let worse =
                    solution.as_ref().iter().zip(point.as_ref()).map(|(one, two)| one - two);
                *closest = closest.min(worse.fold(f64::NEG_INFINITY, f64::max));
            }
        }
    }

    /// Epsilon of all of them; infinite if there is none.
    pub fn value(&self) -> f64 {
        self.closest.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}
