//! Index of a scenario by name, with facts that follow from the references between tables.
//!
//! A look-up costs the logarithm of the number of names. Without the index, each of n users would be compared with
//! n workloads, so the time of checks would grow with the square of n.

use std::collections::{BTreeMap, BTreeSet};

use super::file::{Grid, Metascheduler, Scenario, Step, User, Workflows, Workload};

/// Places of tables in the file, by name; the first of two tables with one name counts.
type Places<'s> = BTreeMap<&'s str, usize>;

/// Places at which jobs may run.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// On the grid.
    grid: bool,
    /// At providers or clusters.
    elsewhere: bool,
}

impl Reach {
    fn or(self, other: Reach) -> Reach {
        Reach { grid: self.grid || other.grid, elsewhere: self.elsewhere || other.elsewhere }
    }
}

/// Index of a scenario by name, made once for many look-ups.
#[derive(Debug)]
pub struct Directory<'s> {
    scenario: &'s Scenario,
    workloads: Places<'s>,
    metaschedulers: Places<'s>,
    users: Places<'s>,
    /// Users of each target, by its name, in the order of the file.
    submit_to: BTreeMap<&'s str, Vec<usize>>,
    /// Users of each workload, by its name, in the order of the file.
    submitters: BTreeMap<&'s str, Vec<usize>>,
    /// For each metascheduler: true if it may use the grid.
    use_grid: Vec<bool>,
    /// Places at which jobs of each workload may run; `None` for a workload without users.
    reached: Vec<Option<Reach>>,
}

impl Scenario {
    /// Index of this scenario by name. It takes time for all tables, so make it once, outside of loops.
    pub fn directory(&self) -> Directory<'_> {
        Directory::of(self)
    }
}

impl<'s> Directory<'s> {
    fn of(scenario: &'s Scenario) -> Directory<'s> {
        let mut submit_to: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut submitters: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, user) in scenario.users.iter().enumerate() {
            submit_to.entry(user.submits_to.as_str()).or_default().push(place);
            submitters.entry(user.workload.as_str()).or_default().push(place);
        }
        let mut directory = Directory {
            scenario,
            workloads: places(scenario.workloads.iter().map(|it| it.name.as_str())),
            metaschedulers: places(scenario.metaschedulers.iter().map(|it| it.name.as_str())),
            users: places(scenario.users.iter().map(|it| it.name.as_str())),
            submit_to,
            submitters,
            use_grid: scenario.metaschedulers.iter().map(|it| scenario.uses_grid(it)).collect(),
            reached: vec![None; scenario.workloads.len()],
        };
        // Without a grid, all jobs run elsewhere.
        if scenario.grid.is_some() {
            directory.reached = directory.reaches();
            // After a change, a user may submit another workload.
            for later in scenario.changes.iter().filter_map(|it| it.scenario.as_deref()) {
                for (reach, other) in directory.reached.iter_mut().zip(Directory::of(later).reached)
                {
                    *reach = match (*reach, other) {
                        (Some(reach), Some(other)) => Some(reach.or(other)),
                        (reach, other) => reach.or(other),
                    };
                }
            }
        }
        directory
    }

    /// Place of a workload in the file.
    pub fn workload_place(&self, name: &str) -> Option<usize> {
        self.workloads.get(name).copied()
    }

    /// Workload of that name.
    pub fn workload(&self, name: &str) -> Option<&'s Workload> {
        self.workload_place(name).map(|place| &self.scenario.workloads[place])
    }

    /// Place of a metascheduler in the file.
    pub fn metascheduler_place(&self, name: &str) -> Option<usize> {
        self.metaschedulers.get(name).copied()
    }

    /// Metascheduler of that name.
    pub fn metascheduler(&self, name: &str) -> Option<&'s Metascheduler> {
        self.metascheduler_place(name).map(|place| &self.scenario.metaschedulers[place])
    }

    /// Users that submit to an actor, in the order of the file.
    pub fn users_of(&self, target: &str) -> impl Iterator<Item = &'s User> {
        self.users_at(self.submit_to.get(target))
    }

    /// Users that submit a workload by its own name, in the order of the file.
    pub fn submitters(&self, workload: &str) -> impl Iterator<Item = &'s User> {
        self.users_at(self.submitters.get(workload))
    }

    fn users_at(&self, places: Option<&Vec<usize>>) -> impl Iterator<Item = &'s User> {
        let scenario = self.scenario;
        let places = places.cloned().unwrap_or_default();
        places.into_iter().map(|place| &scenario.users[place])
    }

    /// True if a user submits to this actor.
    pub fn is_used(&self, target: &str) -> bool {
        self.submit_to.contains_key(target)
    }

    /// Place of an actor; a user is at the actor to which it submits.
    pub fn site_of<'n>(&self, actor: &'n str) -> &'n str
    where
        's: 'n,
    {
        let user = self.users.get(actor).map(|&place| &self.scenario.users[place]);
        user.map_or(actor, |user| user.submits_to.as_str())
    }

    /// Places in the file of a workload and of all workloads merged into it, at any depth.
    pub fn sources(&self, workload: &str) -> BTreeSet<usize> {
        let mut places = BTreeSet::new();
        let mut open = vec![workload];
        while let Some(name) = open.pop() {
            // A place that is known already is not followed again, so a circle of mergers ends.
            if let Some(place) = self.workload_place(name).filter(|&place| places.insert(place)) {
                let merged = self.scenario.workloads[place].merge.iter().flatten();
                open.extend(merged.map(|it| it.as_str()));
            }
        }
        places
    }

    /// True if a step of a workload, or of a workload merged into it, reserves jobs.
    pub fn reserves(&self, workload: &str) -> bool {
        let reserves = |step: &Step| matches!(step, Step::Reservations { .. });
        let mut sources = self.sources(workload).into_iter();
        sources.any(|place| self.scenario.workloads[place].steps.iter().any(reserves))
    }

    /// Providers and other actors that jobs ask for reservations, by name.
    pub fn asked_for_windows(&self) -> BTreeSet<&'s str> {
        let users = self.scenario.users.iter().filter(|it| self.reserves(it.workload.as_str()));
        users.map(|it| it.submits_to.as_str()).collect()
    }

    /// True if `target` is a metascheduler that may place jobs on the grid.
    pub(crate) fn may_use_grid(&self, target: &str) -> bool {
        self.metascheduler_place(target).is_some_and(|place| self.use_grid[place])
    }

    /// Places at which jobs of a user may run; `are_tasks` is true for tasks of workflows.
    fn reach(&self, user: &User, are_tasks: bool) -> Reach {
        let scenario = self.scenario;
        if scenario.submits_to_grid(user) {
            // Tasks of workflows stay on the grid, other jobs may overflow.
            return Reach { grid: true, elsewhere: !are_tasks && scenario.overflow().is_some() };
        }
        Reach { grid: self.may_use_grid(user.submits_to.as_str()), elsewhere: true }
    }

    /// Places at which jobs of all workloads may run, also through mergers.
    fn reaches(&self) -> Vec<Option<Reach>> {
        let workloads = &self.scenario.workloads;
        let mut all: Vec<Option<Reach>> = vec![None; workloads.len()];
        for user in &self.scenario.users {
            for place in self.sources(user.workload.as_str()) {
                let reach = self.reach(user, workloads[place].workflows.is_some());
                // Several users may submit one workload to different targets.
                all[place] = Some(all[place].map_or(reach, |it| it.or(reach)));
            }
        }
        all
    }

    /// Places at which jobs of a workload may run. A workload without users counts as one of the grid only if
    /// there is no other place.
    fn reached_by(&self, workload: &Workload) -> Reach {
        let scenario = self.scenario;
        // Without a grid, `reached` has not been filled.
        if scenario.grid.is_none() {
            return Reach { grid: false, elsewhere: true };
        }
        let place = self.workload_place(workload.name.as_str());
        place.and_then(|place| self.reached[place]).unwrap_or_else(|| {
            let only_grid = scenario.providers.is_empty() && scenario.plans.is_none();
            Reach { grid: only_grid, elsewhere: !only_grid }
        })
    }

    /// True if jobs of a workload run on the grid only.
    pub fn runs_on_grid(&self, workload: &Workload) -> bool {
        let reach = self.reached_by(workload);
        reach.grid && !reach.elsewhere
    }

    /// True if jobs of a workload may run on the grid.
    pub fn may_run_on_grid(&self, workload: &Workload) -> bool {
        self.reached_by(workload).grid
    }

    /// The grid, if a user submits to it.
    pub(crate) fn grid_of(&self, user: &User) -> Option<&'s Grid> {
        self.scenario.grid.as_ref().filter(|_| self.scenario.submits_to_grid(user))
    }

    /// Workloads of workflows that a user submits, also through mergers.
    pub(crate) fn workflows_of(
        &self,
        user: &User,
    ) -> impl Iterator<Item = (&'s Workload, Option<&'s Workflows>)> {
        let scenario = self.scenario;
        let places = self.sources(user.workload.as_str()).into_iter();
        let parts = places.map(|place| &scenario.workloads[place]);
        parts.filter(|it| it.is_workflows()).map(|it| (it, it.workflows.as_ref()))
    }

    /// True if this metascheduler sends data of tasks to providers.
    pub(crate) fn sends_data(&self, metascheduler: &Metascheduler) -> bool {
        let brings_data = |it: &Workflows| it.shape.is_some() || it.files.is_some();
        let mut users = self.users_of(metascheduler.name.as_str());
        users.any(|user| self.workflows_of(user).any(|(_, it)| it.is_some_and(brings_data)))
    }

    /// True if data of tasks may move between providers.
    pub(crate) fn moves_data(&self) -> bool {
        self.scenario.metaschedulers.iter().any(|it| self.sends_data(it))
    }
}

/// Places by name. The first of two tables with one name counts; the second is reported elsewhere.
fn places<'s>(names: impl Iterator<Item = &'s str>) -> Places<'s> {
    let mut places = Places::new();
    for (place, name) in names.enumerate() {
        places.entry(name).or_insert(place);
    }
    places
}
