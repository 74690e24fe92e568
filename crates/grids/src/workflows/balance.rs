//! Balances running tasks of the same successor. The task that would end last moves to a resource where it
//! ends earlier. The other tasks give up fast resources if they still do not end after it (Chtepen 2011,
//! sections 5.4.1.2 and 5.5).
//!
//! ```text
//! ξ = time of a task at its resource:  left·n_res/avail + rest of its move
//! x = time at another resource:        left·k/avail + moving
//!
//! of a set, by falling ξ:   the longest   → the smallest x < ξ
//!                           any other one → the largest x ≤ M, M = the largest ξ so far
//! ```
//!
//! Times are in seconds, work is in MI. A round of k sets costs O(k²·n) on n resources, or on as many
//! groups of resources, see [`Balance::group`].

mod candidates;
mod groups;

use haggle_model::JobId;

use self::candidates::Candidate;
use self::groups::Groups;
use super::super::resources::{ResourceId, SiteId};

/// Two times are equal if they differ by less than this, s.
pub(super) const SAME: f64 = 1e-9;

/// Conditions of a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balance {
    /// RE_min: a task with at most this remaining time stays, s.
    pub floor: f64,
    /// γ: a move must save more than this part.
    pub gain: f64,
    /// θ: number of resources of a site that are examined as one; at least 1.
    pub group: usize,
    /// True if root tasks must leave a resource that a task of a set can use.
    pub evicts: bool,
}

impl Default for Balance {
    fn default() -> Balance {
        Balance { floor: 0.0, gain: 0.0, group: 1, evicts: true }
    }
}

/// A resource in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Its site.
    pub site: SiteId,
    /// True if it works.
    pub up: bool,
    /// Speed that the background load leaves, MIPS.
    pub avail: f64,
    /// n_max.
    pub slots: u32,
    /// n_res: slots that are held.
    pub held: u32,
}

impl Place {
    /// Returns whether one more task fits.
    pub fn is_available(&self) -> bool {
        self.up && self.held < self.slots
    }
}

/// A running task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Running {
    /// The task.
    pub job: JobId,
    /// Its resource.
    pub at: ResourceId,
    /// Its predicted remaining work, MI.
    pub left: f64,
    /// True if it is the root of its workflow.
    pub root: bool,
}

/// A decision of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The task of this number goes there.
    To(usize, ResourceId),
    /// The root task of this number leaves its resource for that one.
    EvictedTo(usize, ResourceId),
    /// The root task of this number leaves its resource, and waits.
    Evicted(usize),
}

/// Data that a round requests from outside.
pub trait Costs {
    /// Time for which this task would not compute if it moved, s.
    fn moving(&self, task: usize, from: ResourceId, to: ResourceId) -> f64;

    /// Draws a number below its argument, uniformly.
    fn draw(&mut self, below: usize) -> usize;
}

/// A round: the present places, and the decisions so far.
#[derive(Debug)]
pub struct BalancedRound {
    places: Vec<Place>,
    tasks: Vec<State>,
    /// Parent sets whose tasks all run or are done, with the indices of the running ones.
    sets: Vec<Vec<usize>>,
    /// Tasks by resource.
    on: Vec<Vec<usize>>,
    groups: Option<Groups>,
    moves: Vec<Move>,
    /// Number of compared pairs of a task and a resource, or group.
    pub evaluations: u64,
}

#[derive(Clone, Debug)]
struct State {
    running: Running,
    /// Time before it computes, s; once it has moved.
    pause: Option<f64>,
    /// True if it went back to the queue, where it is not balanced.
    queued: bool,
    sets: Vec<usize>,
}

impl BalancedRound {
    /// `sets` come in the order in which they are balanced: fewer tasks first.
    pub fn new(places: Vec<Place>, tasks: &[Running], sets: Vec<Vec<usize>>) -> BalancedRound {
        let mut on = vec![Vec::new(); places.len()];
        let state = |(number, &running): (usize, &Running)| {
            on[running.at.index()].push(number);
            State { running, pause: None, queued: false, sets: Vec::new() }
        };
        let mut tasks: Vec<State> = tasks.iter().enumerate().map(state).collect();
        for (set, members) in sets.iter().enumerate() {
            members.iter().for_each(|&task| tasks[task].sets.push(set));
        }
        BalancedRound { places, tasks, sets, on, groups: None, moves: Vec::new(), evaluations: 0 }
    }

    /// Makes the decisions, in the order of their execution. Also returns the resources as they are after
    /// all moves, for placing other tasks.
    pub fn run(mut self, rules: &Balance, costs: &mut dyn Costs) -> (Vec<Move>, Vec<Place>, u64) {
        if rules.group > 1 {
            // A group of one resource is that resource, which needs no groups.
            self.groups = Some(Groups::new(&self.places, rules.group));
        }
        for set in 0..self.sets.len() {
            self.balance(set, rules, costs);
        }
        (self.moves, self.places, self.evaluations)
    }

    /// Remaining time of a task at its present resource, s.
    fn needs(&self, task: usize) -> f64 {
        let State { running, pause, .. } = &self.tasks[task];
        self.needs_with(task, self.places[running.at.index()].held) + pause.unwrap_or(0.0)
    }

    fn needs_with(&self, task: usize, sharers: u32) -> f64 {
        let running = &self.tasks[task].running;
        self.computing(running.left, running.at, sharers)
    }

    /// RE: computing time if `sharers` tasks share the resource, s.
    fn computing(&self, left: f64, at: ResourceId, sharers: u32) -> f64 {
        left * f64::from(sharers.max(1)) / self.places[at.index()].avail
    }

    fn balance(&mut self, set: usize, rules: &Balance, costs: &mut dyn Costs) {
        let mut order: Vec<(f64, usize)> =
            self.sets[set].iter().map(|&task| (self.needs(task), task)).collect();
        // The longest first; equal ones by number.
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut longest: Option<f64> = None;
        for (needs, task) in order {
            // The move of an earlier task may have sent this one back to the queue.
            if self.tasks[task].queued {
                continue;
            }
            // The task moved for an earlier set or was evicted: a task moves once in a round.
            let has_moved = self.tasks[task].pause.is_some();
            let moved = match has_moved || needs <= rules.floor {
                true => None,
                false => self.relocate(task, set, (needs, longest), rules, costs),
            };
            // A moved task may have got other sharers since the order was made.
            let needs = moved.unwrap_or(if has_moved { self.needs(task) } else { needs });
            longest = Some(longest.map_or(needs, |longest| longest.max(needs)));
        }
    }

    /// Moves a task if there is a better place for it; returns its remaining time there.
    fn relocate(
        &mut self,
        task: usize,
        set: usize,
        (needs, longest): (f64, Option<f64>),
        rules: &Balance,
        costs: &mut dyn Costs,
    ) -> Option<f64> {
        let leads = longest.is_none_or(|longest| needs > longest);
        let mut candidates = self.candidates(task, leads, rules, costs);
        self.evaluations += candidates.len() as u64;
        while let Some(best) = candidates::best(&candidates, needs, longest) {
            let candidate = candidates.swap_remove(best);
            // The best candidate is not worth a move, so no other one is.
            if !candidate.is_worth(needs, longest, rules.gain) {
                return None;
            }
            // The set may end as late as its longest task.
            let bound = |x: f64| longest.map_or(x, |longest| longest.max(x));
            let found = match candidate {
                // A task that does not lead goes to a random resource of the group.
                Candidate::Group { group, .. } if !leads => {
                    self.member(group, task, (set, longest), costs)
                }
                Candidate::Place { to, evicting, x }
                | Candidate::Group { fastest: (to, x), evicting, .. } => {
                    self.delays_nobody(task, to, evicting, Some((set, bound(x)))).then_some((to, x))
                }
            };
            if let Some((to, x)) = found {
                // Moves are executed in this order: the roots leave before the task arrives.
                if candidate.evicting() {
                    self.evict_roots(to);
                }
                self.change(task, to, costs);
                self.moves.push(Move::To(task, to));
                return Some(x);
            }
        }
        None
    }

    /// Moves a task to another resource.
    fn change(&mut self, task: usize, to: ResourceId, costs: &mut dyn Costs) {
        let from = self.tasks[task].running.at;
        let pause = costs.moving(task, from, to);
        self.leave(task);
        self.enter(task, to, pause);
    }

    fn leave(&mut self, task: usize) {
        let from = self.tasks[task].running.at;
        self.on[from.index()].retain(|&other| other != task);
        self.places[from.index()].held -= 1;
        self.regroup(from);
    }

    fn enter(&mut self, task: usize, to: ResourceId, pause: f64) {
        self.tasks[task].running.at = to;
        self.tasks[task].pause = Some(pause);
        self.on[to.index()].push(task);
        self.places[to.index()].held += 1;
        self.regroup(to);
    }

    fn regroup(&mut self, changed: ResourceId) {
        if let Some(groups) = &mut self.groups {
            groups.update(changed, &self.places);
        }
    }

    /// Root tasks that would leave a resource; a root task that has just moved there stays.
    fn roots(&self, at: ResourceId) -> impl Iterator<Item = usize> {
        let stays = |task: &usize| {
            let state = &self.tasks[*task];
            state.running.root && state.pause.is_none()
        };
        self.on[at.index()].iter().copied().filter(stays)
    }

    /// Number of tasks on a resource once the task has moved there.
    fn sharers(&self, at: ResourceId, evicting: bool) -> u32 {
        let leaving = if evicting { self.roots(at).count() as u32 } else { 0 };
        self.places[at.index()].held + 1 - leaving
    }

    fn evict_roots(&mut self, from: ResourceId) {
        for root in self.roots(from).collect::<Vec<_>>() {
            let mut others: Vec<(f64, ResourceId)> = self
                .places
                .iter()
                .zip((0..).map(ResourceId))
                .filter(|&(place, id)| place.is_available() && id != from)
                .map(|(place, id)| (place.avail / f64::from(place.held + 1), id))
                .collect();
            // The largest share first; ties by number.
            others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let fits = |&(_, to): &(f64, ResourceId)| self.delays_nobody(root, to, false, None);
            match others.iter().find(|it| fits(it)) {
                Some(&(_, to)) => {
                    self.leave(root);
                    self.enter(root, to, 0.0);
                    self.moves.push(Move::EvictedTo(root, to));
                }
                None => {
                    self.leave(root);
                    self.queue(root);
                    self.moves.push(Move::Evicted(root));
                }
            }
        }
    }

    /// Moves a task back to the queue; its sets are no longer complete, so they are dropped.
    fn queue(&mut self, task: usize) {
        self.tasks[task].queued = true;
        for set in std::mem::take(&mut self.tasks[task].sets) {
            for member in std::mem::take(&mut self.sets[set]) {
                self.tasks[member].sets.retain(|&other| other != set);
            }
        }
    }

    /// Returns whether the arrival of a task delays the end of no set. The balanced set itself may end later, if
    /// none of its tasks there needs longer than `bound`.
    fn delays_nobody(
        &self,
        task: usize,
        at: ResourceId,
        evicting: bool,
        balanced: Option<(usize, f64)>,
    ) -> bool {
        let sharers = self.sharers(at, evicting);
        let then = |it: usize| {
            let pause = self.tasks[it].pause.unwrap_or(0.0);
            self.needs_with(it, sharers) + pause
        };
        let there = self.on[at.index()].iter().copied();
        there.filter(|&it| it != task && !self.tasks[it].running.root).all(|it| {
            self.tasks[it].sets.iter().all(|&set| match balanced {
                Some((own, bound)) if own == set => then(it) <= bound + SAME,
                _ => {
                    let present = self.sets[set].iter().map(|&member| self.needs(member));
                    then(it) <= present.fold(0.0, f64::max) + SAME
                }
            })
        })
    }
}

#[cfg(test)]
mod tests;
