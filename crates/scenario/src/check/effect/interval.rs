//! `interval` of a provider: time between the passes of its scheduler.

use super::flow::Serves;
use crate::check::Check;
use crate::check::exclusions::{PERIODIC, Periodic};
use crate::check::rule::Words;
use crate::file::Provider;
use haggle_config::document::Path;

impl Check<'_> {
    /// Checks the time between passes, and refuses it beside work that begins or is answered between them.
    pub(super) fn check_interval(&mut self, path: &Path, provider: &Provider, serves: Serves) {
        let Some(interval) = provider.interval else { return };
        self.check_recurring(&path.key("interval"), interval);
        if interval.0 <= haggle_model::Span::ZERO {
            let help = "remove it, or write a time above 0";
            let message = "without a time between passes, each event has one".to_owned();
            self.report(&path.key("interval"), message, "no time", help);
        }
        let of_provider = |set: &toml::Table| set.keys().any(|key| key.starts_with("provider"));
        let facts = Periodic {
            parts: serves.parts,
            reserved: serves.reserved,
            closes: serves.closes,
            crashes: serves.crashes,
            changes: self.scenario.changes.iter().any(|it| of_provider(&it.set)),
        };
        let words: Words<'_> = &[("name", &provider.name), ("policy", &provider.policy.name())];
        self.refuse(PERIODIC, path, (provider, &facts), words);
    }
}
