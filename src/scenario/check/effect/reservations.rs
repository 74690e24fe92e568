//! What is read only where something is reserved, fails, or is moldable.

use super::flow::{Flow, Serves};
use crate::scenario::Scenario;
use crate::scenario::check::Check;
use crate::scenario::document::Path;
use crate::scenario::file::{Overrun, Provider, Remedy, Step};
use crate::scenario::quantity::Share;

/// What may come of reservations in a scenario.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reserves {
    /// Intervals are offered beside windows.
    offers: bool,
    /// Places may be lost.
    loses: bool,
    /// Jobs are moldable.
    molds: bool,
    /// Users leave open how many processors a job gets.
    pub(super) sizes: bool,
}

impl Reserves {
    pub(super) fn of(scenario: &Scenario, flow: &Flow) -> Reserves {
        let steps = || scenario.workloads.iter().flat_map(|it| &it.steps);
        let mut all = scenario.providers.iter().zip(&flow.serves);
        Reserves {
            offers: scenario
                .providers
                .iter()
                .any(|it| it.reservations.is_some_and(|it| it.threshold.is_some())),
            loses: !scenario.maintenance.is_empty()
                || scenario.failures.iter().any(|it| it.actors.is_some())
                || all.any(|(it, serves)| serves.fails || it.overrun == Overrun::Extend),
            molds: steps().any(|step| matches!(step, Step::Moldable { .. })),
            sizes: steps().any(|step| match step {
                Step::Reservations { narrowest, widest, .. } => (*narrowest, *widest) != (100, 100),
                _ => false,
            }),
        }
    }
}

impl Check<'_> {
    /// What is read only where something is reserved, or offered beside a window.
    pub(super) fn reservation_effects(&mut self, at: &Path, provider: &Provider, serves: Serves) {
        let offers = provider.reservations.is_some_and(|it| it.threshold.is_some());
        let owner = format!("the reservations of provider \"{}\"", provider.name);
        let reserved = serves.reserved;
        let nothing = "nobody has jobs reserved here";
        let none = "without `threshold` it offers nothing beside a window";
        let rows = [
            ("criterion", reserved, nothing),
            ("fix-at", reserved, nothing),
            ("threshold", reserved, nothing),
            ("alternatives", reserved && offers, if reserved { none } else { nothing }),
            ("after", reserved && offers, if reserved { none } else { nothing }),
        ];
        for (key, read, why) in rows {
            let remedy = "remove it, or add a [[workload.step]] with `kind = \"reservations\"`";
            self.uses(&at.key(key), read, &owner, why, if reserved { "remove it" } else { remedy });
        }
    }

    /// The keys of a step "reservations".
    pub(super) fn reserving_effects(
        &mut self,
        at: &Path,
        step: &Step,
        workload: &str,
        reserves: Reserves,
    ) {
        let Step::Reservations { flexible, flexibility, accepts, narrowest, on_failure, .. } = step
        else {
            return;
        };
        let Reserves { offers, loses, molds, .. } = reserves;
        let owner = format!("step \"reservations\" of {workload}");
        let leaves = flexibility.is_some() || accepts.is_some();
        let shrinks = *on_failure == Remedy::Shrink;
        let offered = "remove it, or set `threshold` in the `reservations` of a provider";
        let rigid = ("no job is moldable", "remove it, or add a step \"moldable\" before this one");
        let beside = ("no provider offers anything beside a window", offered);
        let firm = (
            "no processor fails where jobs are reserved, and no job runs on past its plan",
            "remove it, or add [[failures]]",
        );
        let narrow = (
            "no job may run on fewer processors, and it does what \"substitute\" does",
            "choose \"substitute\", or say `narrowest` here and add a step \"moldable\" before this one",
        );
        let rows = [
            (
                "flexible",
                leaves || *flexible == Share::ALL,
                (
                    "it is not said what freedom users leave",
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
