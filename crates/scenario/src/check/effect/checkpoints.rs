//! Keys of checkpoints that their rule, or the place where jobs run, does not read.

use crate::check::Check;
use crate::check::rule::{Effect, effect};
use crate::file::{CheckpointRule, Checkpoints, Grid};
use haggle_config::document::Path;

/// Facts about a rule for checkpoints.
struct Reads {
    /// It weighs the mean time between failures.
    mtbf: bool,
    /// It learns the mean time between failures.
    learns: bool,
}

#[rustfmt::skip] // a table
const RULES: &[Effect<Checkpoints, Reads>] = &[
    effect("interval-min step limit first", |it, _| it.rule == CheckpointRule::MeanFailure, UNREAD, CHOOSE),
    effect("omit-max", |it, _| it.rule == CheckpointRule::LastFailure, UNREAD, CHOOSE),
    effect("mtbf", |_, reads| reads.mtbf, UNREAD, CHOOSE),
    effect("mean-failure", |_, reads| reads.learns, UNREAD, CHOOSE),
];

const UNREAD: &str = "this rule does not read it";
const CHOOSE: &str = "remove it, or choose another `rule` (`haggle list checkpoints`)";

/// Keys that jobs on a grid do not read.
#[rustfmt::skip] // a table
const OF_PROVIDERS: &[Effect<Checkpoints>] = &[
    effect("size bandwidth store", |_, ()| false, "only rigid jobs at providers read it",
        "remove it; `data` of a workload says how much is written, and `network` of the grid carries it"),
];

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
        let learns = matches!(rule, CheckpointRule::MeanFailure | CheckpointRule::Own(_));
        let mtbf = rule.is_optimum();
        let reads = Reads { mtbf, learns: learns || mtbf && checkpoints.mtbf.is_none() };
        let owner = "the grid's checkpoints";
        self.effects(RULES, at, (checkpoints, &reads), owner, &[]);
        self.effects(OF_PROVIDERS, at, (checkpoints, &()), owner, &[]);
    }

    pub(super) fn job_rule_effects(&mut self, at: &Path, checkpoints: &Checkpoints, owner: &str) {
        let rule = &checkpoints.rule;
        let optimum = rule.is_optimum() && checkpoints.mtbf.is_none();
        let reads = Reads {
            mtbf: rule.is_optimum() || matches!(rule, CheckpointRule::Own(_)),
            learns: *rule == CheckpointRule::MeanFailure || optimum,
        };
        let owner = format!("the checkpoints of {owner}");
        self.effects(RULES, at, (checkpoints, &reads), &owner, &[]);
    }
}
