//! Rules for the time between checkpoints: of rigid jobs at providers, and what those on grids have in common with them.

use haggle_model::Span;

use super::Check;
use crate::file::{JobCheckpointRule, JobCheckpoints, OnFailure};
use crate::quantity::TimeSpan;
use haggle_config::document::Path;

impl Check<'_> {
    /// Jobs go on from checkpoints only if they write some.
    pub(super) fn check_resuming(&mut self) {
        for (index, provider) in self.scenario.providers.iter().enumerate() {
            let path = Path::root().key("provider").index(index);
            let at = path.key("checkpoints");
            match &provider.checkpoints {
                None if provider.on_failure == Some(OnFailure::Resume)
                    && !self.is_replaced(&at) =>
                {
                    self.report(
                        &path.key("on-failure"),
                        "jobs cannot go on from checkpoints that they never write".to_owned(),
                        "needs checkpoints",
                        "add when they are written, such as \
                         `checkpoints = { interval = \"1h\", cost = \"1min\" }`"
                            .to_owned(),
                    );
                }
                Some(checkpoints) => self.check_job_rule(&at, checkpoints),
                None => {}
            }
        }
    }

    fn check_job_rule(&mut self, at: &Path, checkpoints: &JobCheckpoints) {
        let computed = checkpoints.rule != JobCheckpointRule::Periodic;
        let optimum =
            matches!(checkpoints.rule, JobCheckpointRule::Young | JobCheckpointRule::Daly);
        self.check_interval(at, checkpoints.interval, computed);
        let mtbf = at.key("mtbf");
        match checkpoints.mtbf {
            None if optimum && !self.is_replaced(&mtbf) => self.report(
                at,
                "this rule goes by the mean time between failures of a node".to_owned(),
                "`mtbf` is missing here",
                "add it, such as `mtbf = \"20d\"`".to_owned(),
            ),
            Some(TimeSpan(Span::ZERO)) => self.report(
                &mtbf,
                "on processors that fail all the time no job gets on".to_owned(),
                "no time",
                "write a length of time above zero, such as \"20d\"".to_owned(),
            ),
            _ => {}
        }
        let some = checkpoints.size.is_some_and(|size| size.0 > 0);
        if optimum && !some && !self.is_replaced(&at.key("size")) {
            self.check_optimum(at, Some(checkpoints.cost));
        }
        let (size, bandwidth) = (at.key("size"), at.key("bandwidth"));
        match (checkpoints.size, checkpoints.bandwidth) {
            (Some(_), None) if !self.is_replaced(&bandwidth) => self.report(
                &size,
                "nothing says how fast checkpoints are written".to_owned(),
                "needs `bandwidth`",
                "add the rate of the storage, such as `bandwidth = \"10 Gbit/s\"`".to_owned(),
            ),
            (None, Some(_)) if !self.is_replaced(&size) => self.report(
                &bandwidth,
                "nothing says how much is written".to_owned(),
                "needs `size`",
                "add what each processor has to save, such as `size = \"2 GB\"`".to_owned(),
            ),
            _ => {}
        }
    }

    /// There is an interval, unless the rule computes it.
    pub(super) fn check_interval(&mut self, at: &Path, written: Option<TimeSpan>, computed: bool) {
        let interval = at.key("interval");
        match written {
            None if !computed && !self.is_replaced(&interval) => self.report(
                at,
                "checkpoints have no `interval`".to_owned(),
                "`interval` is missing here",
                "add the time between checkpoints, such as `interval = \"30min\"`".to_owned(),
            ),
            Some(_) if computed => self.report(
                &interval,
                "this rule computes the interval by itself".to_owned(),
                "not used",
                "remove it, or choose another `rule`".to_owned(),
            ),
            Some(TimeSpan(Span::ZERO)) => self.report(
                &interval,
                "between checkpoints there must be some time".to_owned(),
                "no time",
                "write a length of time above zero, such as \"30min\"".to_owned(),
            ),
            Some(time) => self.check_recurring(&interval, time),
            None => {}
        }
    }

    /// A rule that computes the interval needs a cost to weigh.
    pub(super) fn check_optimum(&mut self, at: &Path, cost: Option<TimeSpan>) {
        if cost == Some(TimeSpan::ZERO) && !self.is_replaced(&at.key("cost")) {
            self.report(
                &at.key("cost"),
                "where a checkpoint costs nothing, the best interval is none".to_owned(),
                "no cost",
                "write a length of time above zero, or choose another `rule`".to_owned(),
            );
        }
    }
}
