//! Jobs that a grid passes on after they have waited too long.

use super::Check;
use super::names::{Known, Names};
use crate::file::Role;
use crate::quantity::TimeSpan;
use haggle_config::document::Path;

impl Check<'_> {
    pub(super) fn check_overflow(&mut self, names: &Names) {
        let scenario = self.scenario;
        let Some((grid, overflow)) = scenario.grid.as_ref().zip(scenario.overflow()) else {
            return;
        };
        let path = Path::root().key("grid").key("overflow");
        if overflow.after == TimeSpan::ZERO {
            self.report(
                &path.key("after"),
                "the time that a job waits before it is passed on must be above zero".to_owned(),
                "no time",
                "write a length of time above zero, such as \"1h\"".to_owned(),
            );
        }
        if grid.policy.takes_sessions()
            && !self.is_replaced(&Path::root().key("grid").key("policy"))
        {
            self.report(
                &path,
                "sessions do not wait: they are placed when they arrive, or rejected".to_owned(),
                "not used",
                "remove it, or choose a policy for jobs (`haggle list grid-policies`)".to_owned(),
            );
        }
        let to = overflow.to.as_str();
        let targets: Known<'_> = names.job_takers().collect();
        if !targets.contains(to) {
            return self.unknown_name(&path.key("to"), "provider or metascheduler", to, &targets);
        }
        let Some(target) = self.directory.metascheduler(to) else { return };
        let unfit = match target.role() {
            Role::Places(_) if !scenario.uses_grid(target) => return,
            Role::Places(_) => {
                format!("metascheduler \"{to}\" uses this grid: jobs would come back")
            }
            _ => format!("metascheduler \"{to}\" does not place rigid jobs on one provider each"),
        };
        self.report(
            &path.key("to"),
            unfit,
            "passes jobs on to it",
            "name a provider, or a metascheduler with `placement` that uses providers only"
                .to_owned(),
        );
    }
}
