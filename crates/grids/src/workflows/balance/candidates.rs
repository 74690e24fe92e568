//! Places to which a task may move, and the choice of the best one.

use super::super::super::resources::ResourceId;
use super::{Balance, BalancedRound, Costs, SAME};

/// A place to which a task may move, with its time there (x), s.
#[derive(Clone, Copy, Debug)]
pub(super) enum Candidate {
    /// A resource; root tasks leave it if it is `evicting`.
    Place { to: ResourceId, evicting: bool, x: f64 },
    /// A group of resources.
    Group {
        group: usize,
        /// Time at an average resource.
        x: f64,
        /// The best resource, and the time of the task there.
        fastest: (ResourceId, f64),
        evicting: bool,
    },
}

impl Candidate {
    pub(super) fn evicting(&self) -> bool {
        match *self {
            Candidate::Place { evicting, .. } | Candidate::Group { evicting, .. } => evicting,
        }
    }

    fn x(&self) -> f64 {
        match *self {
            Candidate::Place { x, .. } | Candidate::Group { x, .. } => x,
        }
    }

    /// Ties: without eviction first, then the lower number.
    fn rank(&self) -> (bool, usize) {
        match *self {
            Candidate::Place { to, evicting, .. } => (evicting, to.index()),
            Candidate::Group { fastest: (to, _), .. } => (false, to.index()),
        }
    }

    /// Returns whether the move saves enough: time of the task that would end last, or distance to that end of any
    /// other task.
    pub(super) fn is_worth(&self, needs: f64, longest: Option<f64>, gain: f64) -> bool {
        match longest.filter(|&longest| needs <= longest) {
            None => self.x() + gain * needs < needs,
            Some(longest) => {
                let (distance, present) = ((longest - self.x()).max(0.0), longest - needs);
                distance + gain * present < present
            }
        }
    }
}

/// The best candidate for a task with remaining time `needs`, beside others that need at most `longest`;
/// `None` if there is none.
pub(super) fn best(candidates: &[Candidate], needs: f64, longest: Option<f64>) -> Option<usize> {
    let leads = longest.is_none_or(|longest| needs > longest);
    let key = |candidate: &Candidate| match longest {
        // Of places where the task ends by the end of the others, the slowest one is enough.
        Some(longest) if candidate.x() <= longest + SAME => {
            Some((false, (longest - candidate.x()).max(0.0)))
        }
        _ => leads.then_some((true, candidate.x())),
    };
    let keyed = candidates.iter().enumerate();
    let keyed =
        keyed.filter_map(|(at, it)| key(it).map(|(late, time)| (late, time, it.rank(), at)));
    let best = keyed.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    best.map(|(.., at)| at)
}

impl BalancedRound {
    /// All places to which a task may go; `leads` if its set waits for it.
    pub(super) fn candidates(
        &self,
        task: usize,
        leads: bool,
        rules: &Balance,
        costs: &dyn Costs,
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        if let Some(groups) = &self.groups {
            found.extend(self.of_groups(groups, task, leads, costs));
        }
        let here = self.tasks[task].running.at;
        for (place, to) in self.places.iter().zip((0..).map(ResourceId)) {
            if !place.up || to == here {
                continue;
            }
            // Groups stand for the available places.
            if self.groups.is_none() && place.is_available() {
                found.push(self.at(task, to, false, costs));
            }
            let crowd = self.sharers(to, true);
            if rules.evicts && self.roots(to).next().is_some() && crowd <= place.slots {
                found.push(self.at(task, to, true, costs));
            }
        }
        found
    }

    fn at(&self, task: usize, to: ResourceId, evicting: bool, costs: &dyn Costs) -> Candidate {
        Candidate::Place { to, evicting, x: self.needs_at(task, to, evicting, costs) }
    }

    /// Time of a task at another resource, s.
    pub(super) fn needs_at(
        &self,
        task: usize,
        to: ResourceId,
        evicting: bool,
        costs: &dyn Costs,
    ) -> f64 {
        let running = &self.tasks[task].running;
        let computing = self.computing(running.left, to, self.sharers(to, evicting));
        computing + costs.moving(task, running.at, to)
    }
}
