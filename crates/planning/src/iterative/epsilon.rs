//! Quality of a set of solutions (the additive epsilon indicator of Zitzler and others 2003).

/// The least shift of `solutions` in each objective after which, for each point of `reference`, some
/// solution is nowhere worse. All objectives are minimised; less is better. `None` if either is empty,
/// or numbers of objectives differ.
pub fn epsilon(solutions: &[Vec<f64>], reference: &[Vec<f64>]) -> Option<f64> {
    let objectives = reference.first()?.len();
    if solutions.iter().chain(reference).any(|point| point.len() != objectives) {
        return None;
    }
    let mut epsilon = Epsilon::new(reference);
    epsilon.add(solutions);
    (!solutions.is_empty()).then(|| epsilon.value())
}

/// Epsilon of a growing set of solutions.
#[derive(Clone, Debug)]
pub struct Epsilon<'a, P> {
    reference: &'a [P],
    /// For each point of the reference, the shift that the closest solution needs.
    closest: Vec<f64>,
}

impl<'a, P: AsRef<[f64]>> Epsilon<'a, P> {
    /// Epsilon without solutions.
    pub fn new(reference: &'a [P]) -> Epsilon<'a, P> {
        Epsilon { reference, closest: vec![f64::INFINITY; reference.len()] }
    }

    /// Adds solutions with as many objectives as the reference.
    pub fn add(&mut self, solutions: &[impl AsRef<[f64]>]) {
        for (point, closest) in self.reference.iter().zip(&mut self.closest) {
            for solution in solutions {
                let worse =
                    solution.as_ref().iter().zip(point.as_ref()).map(|(one, two)| one - two);
                // A solution needs the shift of its worst objective; a point needs that of its closest
                // solution.
                *closest = closest.min(worse.fold(f64::NEG_INFINITY, f64::max));
            }
        }
    }

    /// Epsilon of all solutions; infinite if there is none.
    pub fn value(&self) -> f64 {
        self.closest.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}
