//! Treatment of rigid jobs whose processors fail.

use haggle_agents::OnFailure;
use haggle_scheduling::own::NoSuchRule;

use super::checkpoints;
use haggle_scenario::Scenario;
use haggle_scenario::file;

pub(super) fn on_failure(
    scenario: &Scenario,
    provider: &file::Provider,
) -> Result<OnFailure, NoSuchRule> {
    Ok(match provider.on_failure.unwrap_or_default() {
        file::OnFailure::Restart => OnFailure::Restart,
        file::OnFailure::Requeue => OnFailure::Requeue,
        file::OnFailure::Resume => {
            let it = provider.checkpoints.as_ref().expect("the scenario has been checked");
            OnFailure::Resume(checkpoints::of_rigid_jobs(scenario, provider, it)?)
        }
        file::OnFailure::Fail => OnFailure::Fail,
        file::OnFailure::Drain => OnFailure::Drain,
    })
}
