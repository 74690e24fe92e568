//! Jobs that a grid passes on after they have waited too long.

use super::Check;
use super::exclusions::{OVERFLOW, PassesOn};
use super::names::{Known, Names};
use super::rule::{Refusal, refuse};
use crate::file::{Overflow, Role};
use crate::quantity::TimeSpan;
use haggle_config::document::Path;

#[rustfmt::skip] // a table
const TIMES: &[Refusal<Overflow>] = &[
    refuse("after", |it, ()| it.after == TimeSpan::ZERO, "the time that a job waits before it is passed on must be above zero", "no time",
        "write a length of time above zero, such as \"1h\""),
];

impl Check<'_> {
    pub(super) fn check_overflow(&mut self, names: &Names) {
        let scenario = self.scenario;
        let grid = scenario.grid.as_ref().zip(scenario.overflow());
        let Some((grid, overflow)) = grid else { return };
        let path = Path::root().key("grid");
        let to = overflow.to.as_str();
        let target = self.directory.metascheduler(to);
        let places = target.map(|it| matches!(it.role(), Role::Places(_)));
        let facts = PassesOn {
            sessions: grid.policy.takes_sessions() && !self.is_replaced(&path.key("policy")),
            back: places == Some(true) && target.is_some_and(|it| scenario.uses_grid(it)),
            elsewhere: places == Some(false),
        };
        let path = path.key("overflow");
        self.refuse(TIMES, &path, (overflow, &()), &[]);
        self.refuse(OVERFLOW, &path, (overflow, &facts), &[("to", &to)]);
        let targets: Known<'_> = names.job_takers().collect();
        if !targets.contains(to) {
            self.unknown_name(&path.key("to"), "provider or metascheduler", to, &targets);
        }
    }
}
