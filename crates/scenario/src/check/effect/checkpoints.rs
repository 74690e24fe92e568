//! Keys of checkpoints that their rule, or the place where jobs run, does not read.

use crate::check::Check;
use crate::file::{CheckpointRule, Checkpoints, Grid};
use haggle_config::document::Path;

impl Check<'_> {
    /// Key `checkpoints` of results has no effect if no job writes checkpoints that get a row.
    pub(super) fn checkpoint_row_effects(&mut self) {
        let scenario = self.scenario;
        let on_grid = scenario.grid.as_ref().is_some_and(Grid::saves);
        let shared = scenario.carries_checkpoints() && scenario.network.sharing.is_some();
        let at = Path::root().key("results").key("checkpoints");
        let why = "no job of this scenario writes checkpoints that get a row";
        self.uses(&at, on_grid || shared, "the results", why, "remove it");
    }

    pub(super) fn grid_rule_effects(&mut self, at: &Path, checkpoints: &Checkpoints) {
        let rule = &checkpoints.rule;
        let optimum = rule.is_optimum();
        let own = matches!(rule, CheckpointRule::Own(_));
        let learns = *rule == CheckpointRule::MeanFailure || own;
        let learns = learns || optimum && checkpoints.mtbf.is_none();
        self.rule_effects(at, checkpoints, "the grid's checkpoints", optimum, learns);
        let remedy = "remove it; `data` of a workload says how much is written, and `network` of \
                      the grid carries it";
        for key in ["size", "bandwidth", "store"] {
            let why = "only rigid jobs at providers read it";
            self.uses(&at.key(key), false, "the grid's checkpoints", why, remedy);
        }
    }

    pub(super) fn job_rule_effects(&mut self, at: &Path, checkpoints: &Checkpoints, owner: &str) {
        let rule = &checkpoints.rule;
        let weighs = rule.is_optimum() || matches!(rule, CheckpointRule::Own(_));
        let optimum = rule.is_optimum() && checkpoints.mtbf.is_none();
        let learns = *rule == CheckpointRule::MeanFailure || optimum;
        self.rule_effects(at, checkpoints, &format!("the checkpoints of {owner}"), weighs, learns);
    }

    fn rule_effects(
        &mut self,
        at: &Path,
        checkpoints: &Checkpoints,
        owner: &str,
        weighs_mtbf: bool,
        learns_mean: bool,
    ) {
        let mean = checkpoints.rule == CheckpointRule::MeanFailure;
        let rows = [
            ("interval-min", mean),
            ("step", mean),
            ("limit", mean),
            ("first", mean),
            ("omit-max", checkpoints.rule == CheckpointRule::LastFailure),
            ("mtbf", weighs_mtbf),
            ("mean-failure", learns_mean),
        ];
        let why = "this rule does not read it";
        let remedy = "remove it, or choose another `rule` (`haggle list checkpoints`)";
        for (key, read) in rows {
            self.uses(&at.key(key), read, owner, why, remedy);
        }
    }
}
