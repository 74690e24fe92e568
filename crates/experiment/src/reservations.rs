//! Reservations of a scenario as types of the engine.

use haggle_agents::ReservingConfig;

use haggle_scenario::file;

/// Answers of a provider with policy "reservations", and the time at which it fixes starts.
pub(super) fn reserving(provider: &file::Provider) -> ReservingConfig {
    let it = provider.policy.reserving().copied().unwrap_or_default();
    let percent =
        |share: haggle_scenario::quantity::Share| (share.fraction() * 100.0).round() as u32;
    ReservingConfig { alternatives: it.alternatives, fix_at: it.fix_at.map(percent) }
}
