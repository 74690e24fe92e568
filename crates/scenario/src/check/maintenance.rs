//! Maintenance: windows with a beginning and an end, that close no more processors than a provider has.

use std::collections::BTreeMap;

use haggle_model::Span;

use super::exclusions::CLOSING;
use super::names::Names;
use super::rule::{Refusal, Words, item, refuse};
use super::{Check, EACH_MAX};
use crate::file::Maintenance;
use crate::quantity::TimeSpan;
use haggle_config::document::Path;

/// Windows of a table; the fact is the duration of each. Only the first mistake is reported.
#[rustfmt::skip] // a table
const WINDOWS: &[Refusal<Maintenance, TimeSpan>] = &[
    refuse("until", |it, _| it.until <= it.from, "a window from {from} until {until} has no time", "not after `from`",
        "write a later time: both are since the start of the run"),
    refuse("times", |it, _| it.every.is_none() && it.times > 1, "there are {times} windows, and the time between them is missing",
        "needs `every`", "add `every`, at least \"{lasts}\""),
    refuse("every", |it, lasts| it.every.is_some_and(|every| every < *lasts),
        "a window lasts {lasts}, and the next one begins after {every}", "too often", "write at least \"{lasts}\""),
];

impl Check<'_> {
    pub(super) fn check_maintenance(&mut self, names: &Names) {
        let known = names.provider_list().collect();
        let mut closed = BTreeMap::new();
        let mut windows = 0_u64;
        for (index, maintenance) in self.scenario.maintenance.iter().enumerate() {
            let path = item("maintenance", index);
            if self.refuse_first(CLOSING, &path, (maintenance, &self.owners()), &[]) {
                continue;
            }
            self.check_provider_list(&path.key("of"), &maintenance.of, &known, "provider");
            let providers = names.copies_meant(&maintenance.of).len() as u64;
            windows += providers * u64::from(maintenance.times);
            if windows > EACH_MAX {
                let times = maintenance.times;
                let message = format!(
                    "{windows} windows of maintenance, {times} at each of {providers} providers here: the maximum is \
                     {EACH_MAX}"
                );
                let help = "lower `times`, or name fewer providers in `of`";
                return self.report(&path.key("times"), message, "too many from here on", help);
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
        let lasts = TimeSpan(until.0 - from.0);
        let every = every.unwrap_or(TimeSpan::ZERO);
        let words: Words<'_> = &[
            ("from", &from),
            ("until", &until),
            ("lasts", &lasts),
            ("every", &every),
            ("times", &times),
        ];
        !self.refuse_first(WINDOWS, path, (maintenance, &lasts), words)
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
                let message = format!("provider \"{copy}\" has {all} processors, not {wanted}");
                let help = "remove `processors` to close all";
                return self.report(&path.key("processors"), message, "too many", help);
            }
            // Windows of several tables add up.
            let windows = closed.entry(copy.clone()).or_default();
            windows.extend(maintenance.windows().map(|(from, until)| (from, until, wanted)));
            if let Some(from) = too_many(windows, all) {
                let from = TimeSpan(from);
                let message = format!(
                    "at {from}, windows of provider \"{copy}\" close more than its {all} processors"
                );
                let help = "let windows follow each other, or close fewer `processors`";
                return self.report(path, message, "too many at a time", help);
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
