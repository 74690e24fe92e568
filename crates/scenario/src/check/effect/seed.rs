//! The seed has no effect if nothing is drawn.

use super::plans::draws as loads_are_drawn;
use crate::Scenario;
use crate::check::Check;
use crate::file::{
    self, EstimatesFrom, Failures, Grid, GridPolicy, InformationMode, Model, NetworkModel,
    Placement, PlanMethod, Plans, Role, StaticAlgorithm, Step, Workload,
};
use crate::quantity::{EstimateRule, Share, TimeSpan};
use haggle_config::document::Path;

impl Check<'_> {
    pub(super) fn seed_effects(&mut self) {
        let draws = draws(self.scenario);
        let why = "no value is drawn, so all seeds give the same run";
        let remedy = "remove it: all runs of a point would be copies of one";
        let at = Path::root().key("sweep").key("replications");
        self.uses(&at, draws, "the sweep", why, remedy);
        let at = Path::root().key("scenario").key("seed");
        self.uses(&at, draws, "the scenario", why, "remove it");
    }
}

/// True if the seed can change the results.
fn draws(scenario: &Scenario) -> bool {
    let some = |share: Share| !share.is_zero();
    let provider = scenario.providers.iter().any(|it| {
        let pads = it.policy.offers().is_some_and(|offers| some(offers.padding));
        // A rule of one's own receives a number drawn for each answer.
        let told =
            it.policy.offers().is_some_and(|offers| matches!(offers.told, file::Told::Own(_)));
        let profiles = |it: &file::Estimates| it.from == EstimatesFrom::Profiled;
        pads || told || it.policy.estimates().is_some_and(profiles)
    });
    let places = scenario.metaschedulers.iter().any(|it| match it.role() {
        Role::Composes(_) | Role::Moves(_) | Role::Maps(_) => false,
        Role::Spreads(coallocation) => {
            let part = coallocation.policy.remapping().remappable.fraction();
            let waits = matches!(coallocation.back_off(), file::BackOff::Exponential(_));
            coallocation.overhead.draws()
                || 0.0 < part && part < 1.0
                || coallocation.protocol.is_some() && waits
        }
        Role::Places(placement) => *placement == Placement::Random,
    });
    provider
        || places
        || scenario.network.jitter > TimeSpan::ZERO
        || some(scenario.network.loss)
        || some(scenario.network.duplication)
        || scenario.workloads.iter().any(workload_draws)
        || scenario.failures.iter().any(failures_draw)
        || scenario.grid.as_ref().is_some_and(grid_draws)
        || scenario.plans.as_ref().is_some_and(plans_draw)
}

fn workload_draws(workload: &Workload) -> bool {
    // A synthetic month has a seed of its own, as a log has its jobs; so have applications.
    let own = [Model::SyntheticMonth, Model::Applications, Model::Iterative];
    let model = workload.model.is_some_and(|model| !own.contains(&model));
    let shape = workload.applications.as_ref().is_some_and(|it| it.shape.is_some());
    model || shape || workload.steps.iter().any(step_draws)
}

fn step_draws(step: &Step) -> bool {
    match step {
        Step::Estimates { rule, factor, .. } => {
            matches!(rule, Some(EstimateRule::Uniform(_)))
                || factor.as_ref().is_some_and(|law| law.draws())
        }
        Step::Deadlines { factor, slack, one_of, .. } => {
            factor.as_ref().is_some_and(|law| law.draws())
                || slack.as_ref().is_some_and(|law| law.draws())
                || one_of.as_ref().is_some_and(|slacks| slacks.len() > 1)
        }
        Step::ReadyTimes { delay, lead } => {
            [delay, lead].into_iter().flatten().any(|law| law.draws())
        }
        Step::Reservations { lead, flexible, flexibility, accepts, .. } => {
            let part = 0.0 < flexible.fraction() && flexible.fraction() < 1.0;
            let draws = [lead, flexibility].into_iter().flatten().any(|law| law.draws());
            draws || part && (flexibility.is_some() || accepts.is_some())
        }
        Step::RunTimes { percent } => percent.draws(),
        Step::Split { parts, count, .. } => parts > count,
        Step::Moldable { parallel, .. } => parallel.is_none(),
        Step::RandomWindow { .. } | Step::Shake { .. } | Step::Resample { .. } => true,
        Step::Window { .. }
        | Step::Filter { .. }
        | Step::First { .. }
        | Step::ScaleGaps { .. }
        | Step::ScaleTimes { .. }
        | Step::FillWindow { .. }
        | Step::Key { .. }
        | Step::Slice { .. }
        | Step::Spread { .. }
        | Step::FitLoad { .. }
        | Step::RunTimesAsRequested {}
        | Step::ExtendRunTimes { .. }
        | Step::Bags {}
        | Step::Dependencies { .. }
        | Step::Demand { .. } => false,
    }
}

fn failures_draw(failures: &Failures) -> bool {
    let law = failures.law.as_ref().is_some_and(|law| law.up.draws() || law.down.draws());
    law || failures.nominal.is_some() || failures.correlation.is_some()
}

fn plans_draw(plans: &Plans) -> bool {
    plans.method == PlanMethod::Genetic
        || !plans.prediction_error.is_zero()
        || loads_are_drawn(plans)
}

fn grid_draws(grid: &Grid) -> bool {
    // A rule of one's own may draw.
    let random = matches!(
        grid.policy,
        GridPolicy::Fcfs {}
            | GridPolicy::Wqr(_)
            | GridPolicy::CombinedFt(_)
            | GridPolicy::Workflow {}
            | GridPolicy::BalancedWorkflow(_)
            | GridPolicy::StaticWorkflow { algorithm: StaticAlgorithm::Random, .. }
            | GridPolicy::Own { .. }
    );
    // The services of a grid are behind a star of their own, so data leave the only site, too.
    let stars = grid.network.model == NetworkModel::Stars;
    random
        || grid.information.mode == InformationMode::Delayed
        || stars && grid.network.wan_latency.draws()
        || grid.sites.iter().any(|site| site.load.is_some())
}
