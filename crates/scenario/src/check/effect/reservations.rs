//! Keys that matter only if jobs are reserved, fail, or are moldable.

use super::flow::{Flow, Serves};
use crate::check::Check;
use crate::file::{Overrun, Remedy, Reservations, Step, Workload};
use crate::quantity::Share;
use crate::{Directory, Scenario};
use haggle_config::document::Path;

/// Possible effects of the reservations of a workload, at the providers of its users.
#[derive(Clone, Copy, Debug)]
struct Reserves {
    /// A provider offers intervals beside windows.
    offers: bool,
    /// Reserved places may be lost.
    loses: bool,
    /// Jobs are moldable.
    molds: bool,
}

impl Reserves {
    fn of(
        scenario: &Scenario,
        flow: &Flow,
        directory: &Directory<'_>,
        workload: usize,
    ) -> Reserves {
        let reached = &flow.reached[workload];
        let offers = |&place: &usize| {
            let reserving = scenario.providers[place].policy.reserving();
            reserving.is_some_and(|it| it.threshold.is_some())
        };
        let loses = |&place: &usize| {
            let Serves { fails, closes, crashes, .. } = flow.serves[place];
            let extends = scenario.providers[place].overrun == Overrun::Extend;
            fails || closes || crashes || extends
        };
        let mut own = directory.sources(scenario.workloads[workload].name.as_str()).into_iter();
        Reserves {
            offers: reached.iter().any(offers),
            loses: reached.iter().any(loses),
            molds: own.any(|place| molds(&scenario.workloads[place])),
        }
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
    /// Keys that matter only if jobs are reserved, or intervals are offered beside a window.
    pub(super) fn reservation_effects(
        &mut self,
        at: &Path,
        owner: &str,
        reservations: &Reservations,
        serves: Serves,
    ) {
        let offers = reservations.threshold.is_some();
        let reserved = serves.reserved;
        let nothing = "no job is reserved here";
        let none = "without `threshold` it offers no interval beside a window";
        let rows = [
            ("criterion", reserved, nothing),
            ("fix-at", reserved, nothing),
            ("threshold", reserved, nothing),
            ("alternatives", reserved && offers, if reserved { none } else { nothing }),
            ("after", reserved && offers, if reserved { none } else { nothing }),
        ];
        for (key, read, why) in rows {
            let remedy = "remove it, or add a [[workload.step]] with `kind = \"reservations\"`";
            self.uses(&at.key(key), read, owner, why, if reserved { "remove it" } else { remedy });
        }
    }

    /// Keys of a step "reservations".
    pub(super) fn reserving_effects(
        &mut self,
        at: &Path,
        step: &Step,
        workload: usize,
        flow: &Flow,
    ) {
        let Step::Reservations { flexible, flexibility, accepts, narrowest, on_failure, .. } = step
        else {
            return;
        };
        // A workload without a user gets its own warning, and no others.
        if !flow.workloads[workload] {
            return;
        }
        let scenario = self.scenario;
        let Reserves { offers, loses, molds } =
            Reserves::of(scenario, flow, self.directory, workload);
        let name = &scenario.workloads[workload].name;
        let owner = format!("step \"reservations\" of workload \"{name}\"");
        let leaves = flexibility.is_some() || accepts.is_some();
        let shrinks = *on_failure == Remedy::Shrink;
        let offered =
            "remove it, or set `threshold` in the `policy` of a provider that its users submit to";
        let rigid = ("no job is moldable", "remove it, or add a step \"moldable\" before this one");
        let beside = ("no provider that gets its jobs offers intervals beside a window", offered);
        let firm = (
            "no processor fails where its jobs are reserved, and no job runs longer than planned",
            "remove it, or add [[failures]] of a provider that its users submit to",
        );
        let narrow = (
            "no job may run on fewer processors, so it equals \"substitute\"",
            "choose \"substitute\", or say `narrowest` here and add a step \"moldable\" before this one",
        );
        let rows = [
            (
                "flexible",
                leaves || *flexible == Share::ALL,
                (
                    "the freedom that users leave is missing",
                    "remove it, or add `flexibility` or `accepts`",
                ),
            ),
            ("accepts", offers, beside),
            (
                "narrowest",
                molds && (offers || shrinks && loses),
                if molds { beside } else { rigid },
            ),
            ("widest", molds && offers, if molds { beside } else { rigid }),
            (
                "on-failure",
                *on_failure == Remedy::Postpone || loses && (!shrinks || molds && *narrowest < 100),
                if loses { narrow } else { firm },
            ),
        ];
        for (key, read, (why, remedy)) in rows {
            self.uses(&at.key(key), read, &owner, why, remedy);
        }
    }
}
