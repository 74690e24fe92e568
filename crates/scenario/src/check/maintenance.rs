//! Maintenance: windows with a beginning and an end, that close no more processors than a provider has.

use std::collections::BTreeMap;

use haggle_model::Span;

use super::names::Names;
use super::{Check, EACH_MAX};
use crate::file::Maintenance;
use crate::quantity::TimeSpan;
use haggle_config::document::Path;

impl Check<'_> {
    pub(super) fn check_maintenance(&mut self, names: &Names) {
        let known = names.provider_list().collect();
        let mut closed = BTreeMap::new();
        let mut windows = 0_u64;
        for (index, maintenance) in self.scenario.maintenance.iter().enumerate() {
            let path = Path::root().key("maintenance").index(index);
            let none = self.scenario.providers.is_empty();
            if none && self.scenario.grid.is_some() {
                self.report(
                    &path,
                    "the resources of a grid are not closed for maintenance".to_owned(),
                    "of no provider",
                    "remove it, or let resources fail at listed times: [[failures]] with `outages`"
                        .to_owned(),
                );
                continue;
            }
            if none && self.scenario.plans.is_some() {
                self.report(
                    &path,
                    "machines of clusters with plans are not closed for maintenance".to_owned(),
                    "of no provider",
                    "remove it, or let machines fail at listed times: [[failures]] with `outages`"
                        .to_owned(),
                );
                continue;
            }
            self.check_provider_list(&path.key("of"), &maintenance.of, &known, "provider");
            let providers = names.copies_meant(&maintenance.of).len() as u64;
            windows += providers * u64::from(maintenance.times);
            if windows > EACH_MAX {
                self.report(
                    &path.key("times"),
                    format!(
                        "{windows} windows of maintenance, {} at each of {providers} providers \
                         here: the maximum is {EACH_MAX}",
                        maintenance.times
                    ),
                    "too many from here on",
                    "lower `times`, or name fewer providers in `of`".to_owned(),
                );
                return;
            }
            if self.check_windows(&path, maintenance) {
                self.check_closed(&path, maintenance, names, &mut closed);
            }
        }
    }

    /// Checks that a window has a beginning and an end, and ends before the next one begins; `true` if it does.
    fn check_windows(&mut self, path: &Path, maintenance: &Maintenance) -> bool {
        let &Maintenance { from, until, every, times, .. } = maintenance;
        let keys = ["from", "until", "every", "times"];
        if keys.iter().any(|key| self.is_replaced(&path.key(key))) {
            return false;
        }
        if until <= from {
            self.report(
                &path.key("until"),
                format!("a window from {from} until {until} has no time"),
                "not after `from`",
                "write a later time: both are since the start of the run".to_owned(),
            );
            return false;
        }
        let lasts = TimeSpan(until.0 - from.0);
        match every {
            None if times > 1 => self.report(
                &path.key("times"),
                format!("there are {times} windows, and the time between them is missing"),
                "needs `every`",
                format!("add `every`, at least \"{lasts}\""),
            ),
            Some(every) if every < lasts => self.report(
                &path.key("every"),
                format!("a window lasts {lasts}, and the next one begins after {every}"),
                "too often",
                format!("write at least \"{lasts}\""),
            ),
            _ => return true,
        }
        false
    }

    /// A provider must not close more processors than it has. `closed` are the windows of the tables before, by
    /// the name of the provider.
    fn check_closed(
        &mut self,
        path: &Path,
        maintenance: &Maintenance,
        names: &Names,
        closed: &mut BTreeMap<String, Vec<(Span, Span, u32)>>,
    ) {
        for copy in names.copies_meant(&maintenance.of) {
            let Some(&place) = names.providers.get(&copy) else { continue };
            let provider = &self.scenario.providers[place];
            let all = provider.processors;
            let wanted = maintenance.processors.unwrap_or(all);
            if wanted > all {
                self.report(
                    &path.key("processors"),
                    format!("provider \"{copy}\" has {all} processors, not {wanted}"),
                    "too many",
                    "remove `processors` to close all".to_owned(),
                );
                return;
            }
            // Windows of several tables add up.
            let windows = closed.entry(copy.clone()).or_default();
            windows.extend(maintenance.windows().map(|(from, until)| (from, until, wanted)));
            if let Some(from) = too_many(windows, all) {
                let from = TimeSpan(from);
                self.report(
                    path,
                    format!(
                        "at {from}, windows of provider \"{copy}\" close more than its {all} \
                         processors"
                    ),
                    "too many at a time",
                    "let windows follow each other, or close fewer `processors`".to_owned(),
                );
                return;
            }
        }
    }
}

/// First time at which more than `all` processors are closed.
fn too_many(windows: &[(Span, Span, u32)], all: u32) -> Option<Span> {
    let steps = windows.iter().flat_map(|&(from, until, processors)| {
        [(from, i64::from(processors)), (until, -i64::from(processors))]
    });
    let mut steps: Vec<(Span, i64)> = steps.collect();
    // Sorted by time, then by sign: processors that reopen at an instant do so before others close.
    steps.sort_unstable();
    let mut closed = 0;
    steps.into_iter().find_map(|(time, step)| {
        closed += step;
        (closed > i64::from(all)).then_some(time)
    })
}
