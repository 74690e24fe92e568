//! Keys of steps that reserve jobs: they matter only if intervals are offered, processors fail, or jobs are moldable.

use super::flow::{Flow, Serves};
use crate::check::Check;
use crate::check::rule::{Effect, effect};
use crate::file::{Overrun, Remedy, Step, Workload};
use crate::quantity::Share;
use crate::{Directory, Scenario};
use haggle_config::document::Path;

/// Facts about a step "reservations", and about the providers of the users of its workload.
#[derive(Clone, Copy, Debug)]
struct Reserves {
    /// A provider offers intervals beside windows.
    offers: bool,
    /// Reserved places may be lost.
    loses: bool,
    /// Jobs are moldable.
    molds: bool,
    /// Users leave some freedom.
    leaves: bool,
    /// All users leave it.
    all: bool,
    remedy: Remedy,
    /// Jobs may run on fewer processors.
    shrinks: bool,
}

#[rustfmt::skip] // a table
const RESERVING: &[Effect<Step, Reserves>] = &[
    effect("flexible", |_, it| it.leaves || it.all, "the freedom that users leave is missing",
        "remove it, or add `flexibility` or `accepts`"),
    effect("accepts", |_, it| it.offers, NOT_OFFERED, OFFER),
    effect("narrowest widest", |_, it| it.molds, "no job is moldable", "remove it, or add a step \"moldable\" before this one"),
    effect("narrowest", |_, it| it.offers || it.remedy == Remedy::Shrink && it.loses, NOT_OFFERED, OFFER),
    effect("widest", |_, it| it.offers, NOT_OFFERED, OFFER),
    effect("on-failure", |_, it| it.remedy == Remedy::Postpone || it.loses,
        "no processor fails where its jobs are reserved, and no job runs longer than planned",
        "remove it, or add [[failures]] of a provider that its users submit to"),
    effect("on-failure", |_, it| it.remedy != Remedy::Shrink || it.molds && it.shrinks,
        "no job may run on fewer processors, so it equals \"substitute\"",
        "choose \"substitute\", or say `narrowest` here and add a step \"moldable\" before this one"),
];

const NOT_OFFERED: &str = "no provider that gets its jobs offers intervals beside a window";
const OFFER: &str =
    "remove it, or set `threshold` in the `policy` of a provider that its users submit to";

impl Reserves {
    fn of(
        scenario: &Scenario,
        flow: &Flow,
        directory: &Directory<'_>,
        workload: usize,
        step: &Step,
    ) -> Option<Reserves> {
        let Step::Reservations { flexible, flexibility, accepts, narrowest, on_failure, .. } = step
        else {
            return None;
        };
        let reached = &flow.reached[workload];
        let offers = |&place: &usize| {
            let reserving = scenario.providers[place].policy.reserving();
            reserving.is_some_and(|it| it.threshold.is_some())
        };
        let loses = |&place: &usize| {
            let Serves { fails, closes, crashes, .. } = flow.serves[place];
            let provider = &scenario.providers[place];
            // Granted windows of the other policies keep their places beside maintenance.
            let closes = closes && provider.policy.reserving().is_some();
            fails || closes || crashes || provider.overrun == Overrun::Extend
        };
        let mut own = directory.sources(scenario.workloads[workload].name.as_str()).into_iter();
        Some(Reserves {
            offers: reached.iter().any(offers),
            loses: reached.iter().any(loses),
            molds: own.any(|place| molds(&scenario.workloads[place])),
            leaves: flexibility.is_some() || accepts.is_some(),
            all: *flexible == Share::ALL,
            remedy: *on_failure,
            shrinks: *narrowest < 100,
        })
    }
}

fn molds(workload: &Workload) -> bool {
    workload.steps.iter().any(|step| matches!(step, Step::Moldable { .. }))
}

/// True if a step of a workload leaves open the number of processors of its jobs.
pub(super) fn leaves_sizes(workload: &Workload) -> bool {
    let leaves = |step: &Step| match step {
        Step::Reservations { narrowest, widest, .. } => (*narrowest, *widest) != (100, 100),
        _ => false,
    };
    workload.steps.iter().any(leaves)
}

impl Check<'_> {
    /// Keys of a step "reservations".
    pub(super) fn reserving_effects(
        &mut self,
        at: &Path,
        step: &Step,
        workload: usize,
        flow: &Flow,
    ) {
        // A workload without a user gets its own warning, and no others.
        if !flow.workloads[workload] {
            return;
        }
        let facts = Reserves::of(self.scenario, flow, self.directory, workload, step);
        let Some(facts) = facts else { return };
        let name = &self.scenario.workloads[workload].name;
        let owner = format!("step \"reservations\" of workload \"{name}\"");
        self.effects(RESERVING, at, (step, &facts), &owner, &[]);
    }
}
