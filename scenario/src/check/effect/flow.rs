//! Who gets what from whom: which jobs reach a provider, and what it is asked for.

use std::collections::BTreeSet;

use haggle_model::Disclosure;
use haggle_scheduling::own::Rules;

use crate::Scenario;
use crate::check::names::Names;
use crate::check::reservations::reserves;
use crate::file::{Metascheduler, User};

/// What comes to one provider.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Serves {
    /// Rigid jobs.
    pub(super) rigid: bool,
    /// Some of them are to be reserved.
    pub(super) reserved: bool,
    /// Bags of tasks.
    pub(super) bags: bool,
    /// Calls for offers of several sizes.
    pub(super) sized: bool,
    /// Calls for free time slots.
    pub(super) slots: bool,
    /// Parts of rigid jobs.
    pub(super) parts: bool,
    /// Failures.
    pub(super) fails: bool,
    /// The highest level that a metascheduler asks it for; `None` if none uses it.
    pub(super) asked: Option<Disclosure>,
}

/// What reaches whom.
#[derive(Debug)]
pub(super) struct Flow {
    /// For each provider of the file.
    pub(super) serves: Vec<Serves>,
    /// Whether each workload is submitted, also through a merger.
    pub(super) workloads: Vec<bool>,
    /// The providers that each workload is submitted to, also through a merger.
    pub(super) reached: Vec<BTreeSet<usize>>,
    /// Whether each workload is submitted to a metascheduler that moves moldable jobs.
    pub(super) molded: Vec<bool>,
    /// Whether somebody submits to each metascheduler.
    pub(super) metaschedulers: Vec<bool>,
}

impl Flow {
    pub(super) fn of(scenario: &Scenario, names: &Names) -> Flow {
        let mut flow = Flow {
            serves: vec![Serves::default(); scenario.providers.len()],
            workloads: vec![false; scenario.workloads.len()],
            reached: vec![BTreeSet::new(); scenario.workloads.len()],
            molded: vec![false; scenario.workloads.len()],
            metaschedulers: vec![false; scenario.metaschedulers.len()],
        };
        for failures in scenario.processor_failures() {
            for copy in names.copies_meant(&failures.of) {
                if let Some(&place) = names.providers.get(&copy) {
                    flow.serves[place].fails = true;
                }
            }
        }
        for User { workload, submits_to, .. } in &scenario.users {
            flow.submit(scenario, workload.as_str(), submits_to.as_str(), names);
        }
        if let Some(overflow) = scenario.overflow() {
            let jobs = scenario.workloads.iter().filter(|it| it.workflows.is_none());
            for workload in jobs.filter(|it| scenario.may_run_on_grid(it)) {
                flow.submit(scenario, workload.name.as_str(), overflow.to.as_str(), names);
            }
        }
        flow
    }

    fn submit(&mut self, scenario: &Scenario, workload: &str, target: &str, names: &Names) {
        take(&mut self.workloads, scenario, workload);
        if let Some(&place) = names.providers.get(target) {
            self.serves[place].rigid = true;
            self.serves[place].reserved |= reserves(scenario, workload);
            for part in scenario.sources(workload) {
                self.reached[part].insert(place);
            }
        }
        let metaschedulers = scenario.metaschedulers.iter().enumerate();
        for (index, metascheduler) in metaschedulers.filter(|(_, it)| it.name.as_str() == target) {
            self.metaschedulers[index] = true;
            if metascheduler.reallocation.is_some() {
                take(&mut self.molded, scenario, workload);
            }
            for place in names.providers_meant(&metascheduler.providers) {
                self.serves[place].asked_by(metascheduler, &scenario.own);
            }
        }
    }
}

/// Whether each workload is the one of that name or merged into it.
pub(super) fn parts(scenario: &Scenario, name: &str) -> impl Iterator<Item = bool> {
    let mut taken = vec![false; scenario.workloads.len()];
    take(&mut taken, scenario, name);
    taken.into_iter()
}

/// Marks a workload that is submitted, and all that is merged into it.
fn take(taken: &mut [bool], scenario: &Scenario, name: &str) {
    let place = scenario.workloads.iter().position(|it| it.name.as_str() == name);
    let Some(place) = place.filter(|&place| !taken[place]) else { return };
    taken[place] = true;
    for part in scenario.workloads[place].merge.iter().flatten() {
        take(taken, scenario, part.as_str());
    }
}

impl Serves {
    /// Whether any job comes.
    pub(super) fn is_used(self) -> bool {
        self.rigid || self.bags
    }

    fn asked_by(&mut self, metascheduler: &Metascheduler, own: &Rules) {
        self.asked = self.asked.max(Some(metascheduler.needs(own)));
        match &metascheduler.composition {
            None => {
                self.rigid = true;
                self.parts |= metascheduler.takes_parts();
            }
            Some(composition) => {
                self.bags = true;
                let found = composition.among(own);
                let slots = found.is_ok_and(|it| !it.asks_for_offers());
                self.slots |= slots;
                self.sized |= !slots;
            }
        }
    }
}
