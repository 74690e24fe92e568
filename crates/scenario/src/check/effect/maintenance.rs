//! Maintenance that has no effect.

use super::flow::Flow;
use crate::check::Check;
use crate::check::names::Names;
use crate::check::rule::{Effect, effect, item};
use crate::file::Maintenance;

#[rustfmt::skip] // a table
const MAINTENANCE: &[Effect<Maintenance>] = &[
    effect("every", |it, ()| it.times > 1, "there is one window", "add `times`"),
    effect("overlap", |it, ()| it.notice.is_some(), "windows known from the beginning overlap no promise", "remove it, or add `notice`"),
];

impl Check<'_> {
    pub(super) fn maintenance_effects(&mut self, flow: &Flow, names: &Names) {
        let horizon = self.scenario.scenario.horizon;
        for (index, maintenance) in self.scenario.maintenance.iter().enumerate() {
            let path = item("maintenance", index);
            let mut places = names.providers_meant(&maintenance.of).into_iter();
            let used = places.any(|place| flow.serves[place].is_used());
            // Queues plan around an announced window, also if it begins behind the horizon.
            let announced = maintenance.first_announced();
            let in_time = horizon.is_none_or(|horizon| announced <= horizon.0);
            let (why, remedy) = if used {
                ("the run is over before it is announced", "remove it, or lengthen `horizon`")
            } else {
                (
                    "no job comes to its providers",
                    "remove it, or let a user or a metascheduler submit to them",
                )
            };
            self.has_effect(&path.key("from"), used && in_time, "maintenance", why, remedy);
            self.effects(MAINTENANCE, &path, (maintenance, &()), "maintenance", &[]);
        }
    }
}
