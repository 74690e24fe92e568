//! Flow of jobs: the jobs that reach each provider, and the disclosure that it is asked for.

use std::collections::BTreeSet;

use crate::Rules;
use haggle_model::Disclosure;

use super::reservations::leaves_sizes;
use crate::check::names::Names;
use crate::file::{Metascheduler, User};
use crate::{Directory, Scenario};

/// Jobs, calls and events that reach one provider.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Serves {
    /// Rigid jobs.
    pub(super) rigid: bool,
    /// Some of them come from logs, which may have their starts.
    pub(super) logged: bool,
    /// Some of them must be reserved.
    pub(super) reserved: bool,
    /// Bags of tasks.
    pub(super) bags: bool,
    /// Calls for offers of several sizes.
    pub(super) sized: bool,
    /// Calls for free time slots.
    pub(super) slots: bool,
    /// Rigid jobs that are not parts of others.
    pub(super) whole: bool,
    /// Parts of rigid jobs.
    pub(super) parts: bool,
    /// Some parts are of jobs that are placed again if a provider breaks its part.
    pub(super) placed_again: bool,
    /// Some metaschedulers obtain parts by a protocol.
    pub(super) protocol: bool,
    /// Failures.
    pub(super) fails: bool,
    /// Windows of maintenance.
    pub(super) closes: bool,
    /// Crashes of the provider.
    pub(super) crashes: bool,
    /// Highest disclosure that a metascheduler asks it for; `None` if no metascheduler uses it.
    pub(super) asked: Option<Disclosure>,
}

/// Flow of jobs through a scenario.
#[derive(Debug)]
pub(super) struct Flow {
    /// One entry for each provider of the file.
    pub(super) serves: Vec<Serves>,
    /// For each workload: true if it is submitted, also through a merger.
    pub(super) workloads: Vec<bool>,
    /// For each workload: the providers to which it is submitted, also through a merger.
    pub(super) reached: Vec<BTreeSet<usize>>,
    /// For each workload: true if it is submitted to a metascheduler that moves moldable jobs.
    pub(super) molded: Vec<bool>,
    /// For each workload: true if users leave open the number of processors of its jobs.
    pub(super) leave_sizes: Vec<bool>,
    /// For each metascheduler: true if jobs are submitted to it.
    pub(super) metaschedulers: Vec<bool>,
}

impl Flow {
    pub(super) fn of(scenario: &Scenario, names: &Names, directory: &Directory<'_>) -> Flow {
        let mut flow = Flow {
            serves: vec![Serves::default(); scenario.providers.len()],
            workloads: vec![false; scenario.workloads.len()],
            reached: vec![BTreeSet::new(); scenario.workloads.len()],
            molded: vec![false; scenario.workloads.len()],
            leave_sizes: vec![false; scenario.workloads.len()],
            metaschedulers: vec![false; scenario.metaschedulers.len()],
        };
        for &place in &names.failing {
            flow.serves[place].fails = true;
        }
        for place in scenario.maintenance.iter().flat_map(|it| names.providers_meant(&it.of)) {
            flow.serves[place].closes = true;
        }
        for &place in names.crashing.iter().filter_map(|name| names.providers.get(name)) {
            flow.serves[place].crashes = true;
        }
        for workload in scenario.workloads.iter().filter(|it| leaves_sizes(it)) {
            for part in directory.sources(workload.name.as_str()) {
                flow.leave_sizes[part] = true;
            }
        }
        for (serves, provider) in flow.serves.iter_mut().zip(&scenario.providers) {
            serves.rigid |= provider.has_start_state();
            serves.whole |= provider.has_start_state();
        }
        // The grid may pass jobs of its start state on.
        let passed = scenario.grid_with_start_state().and_then(|it| it.overflow.as_ref());
        if let Some(&place) = passed.and_then(|it| names.providers.get(it.to.as_str())) {
            flow.serves[place].rigid = true;
            flow.serves[place].whole = true;
        }
        let way = Way { scenario, names, directory };
        for User { workload, submits_to, .. } in &scenario.users {
            flow.submit(way, workload.as_str(), submits_to.as_str());
        }
        // Jobs that the grid passes on arrive like jobs of a user.
        if let Some(overflow) = scenario.overflow() {
            let jobs = scenario.workloads.iter().filter(|it| it.workflows.is_none());
            for workload in jobs.filter(|it| directory.may_run_on_grid(it)) {
                flow.submit(way, workload.name.as_str(), overflow.to.as_str());
            }
        }
        flow
    }

    fn submit(&mut self, way: Way<'_>, workload: &str, target: &str) {
        let Way { scenario, names, directory } = way;
        let parts = directory.sources(workload);
        for &part in &parts {
            self.workloads[part] = true;
        }
        let logged = parts.iter().any(|&part| scenario.workloads[part].log.is_some());
        if let Some(&place) = names.providers.get(target) {
            self.serves[place].rigid = true;
            self.serves[place].whole = true;
            self.serves[place].logged |= logged;
            self.serves[place].reserved |= directory.reserves(workload);
            for &part in &parts {
                self.reached[part].insert(place);
            }
        }
        let Some(place) = directory.metascheduler_place(target) else { return };
        let metascheduler = &scenario.metaschedulers[place];
        if metascheduler.reallocation.is_some() {
            for part in parts {
                self.molded[part] = true;
            }
        }
        for place in names.providers_meant(&metascheduler.providers) {
            self.serves[place].logged |= logged;
        }
        // A second user does not change what the metascheduler asks for.
        if !std::mem::replace(&mut self.metaschedulers[place], true) {
            for place in names.providers_meant(&metascheduler.providers) {
                self.serves[place].asked_by(metascheduler, &scenario.own);
            }
        }
    }
}

/// Tables for look-ups on the way of jobs.
#[derive(Clone, Copy)]
struct Way<'a> {
    scenario: &'a Scenario,
    names: &'a Names,
    directory: &'a Directory<'a>,
}

impl Serves {
    /// True if any job comes.
    pub(super) fn is_used(self) -> bool {
        self.rigid || self.bags
    }

    fn asked_by(&mut self, metascheduler: &Metascheduler, own: &Rules) {
        self.asked = self.asked.max(Some(metascheduler.needs(own)));
        match &metascheduler.composition {
            None => {
                self.rigid = true;
                let takes_parts = metascheduler.takes_parts();
                let by_protocol = metascheduler.transaction().is_some();
                self.parts |= takes_parts;
                self.whole |= !takes_parts;
                self.placed_again |= takes_parts && !by_protocol;
                self.protocol |= by_protocol;
            }
            Some(composition) => {
                self.bags = true;
                let found = composition.among(&own.compositions);
                let slots = found.is_ok_and(|it| !it.asks_for_offers());
                self.slots |= slots;
                self.sized |= !slots;
            }
        }
    }
}
