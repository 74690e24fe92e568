//! Messages that nobody sends, and whose travel is never seen.

use super::flow::Flow;
use crate::scenario::Scenario;
use crate::scenario::check::Check;
use crate::scenario::check::names::Names;
use crate::scenario::document::Path;

impl Check<'_> {
    /// Users are where they submit to, so that messages travel between metaschedulers and
    /// their providers only.
    pub(super) fn message_effects(&mut self, flow: &Flow, names: &Names) {
        let network = Path::root().key("network");
        let travels = flow.metaschedulers.iter().any(|&used| used);
        let why = "without a metascheduler no message travels: users are at their provider";
        let remedy = "remove it, or let users submit to a metascheduler";
        for key in ["latency", "jitter"] {
            self.uses(&network.key(key), travels, "the network", why, remedy);
        }
        let scenario = self.scenario;
        for (index, link) in scenario.network.links.iter().enumerate() {
            let [a, b] = &link.between;
            let (site_a, site_b) = (site(scenario, a.as_str()), site(scenario, b.as_str()));
            let talk = |one: &str, other: &str| {
                let talker = scenario
                    .metaschedulers
                    .iter()
                    .find(|metascheduler| metascheduler.name.as_str() == one);
                let place = names.providers.get(other).copied();
                talker.zip(place).is_some_and(|(talker, place)| {
                    names.providers_meant(&talker.providers).contains(&place)
                })
            };
            let read = talk(site_a, site_b) || talk(site_b, site_a);
            let at = network.key("link").index(index).key("between");
            let what = format!("the link between \"{a}\" and \"{b}\"");
            let why = "no message goes that way: users are where they submit to, and providers \
                       talk to metaschedulers only";
            self.has_effect(&at, read, &what, why, "remove the link, or name other actors");
        }
    }
}

/// Where an actor is: a user, at whom it submits to.
fn site<'s>(scenario: &'s Scenario, name: &'s str) -> &'s str {
    let user = scenario.users.iter().find(|user| user.name.as_str() == name);
    user.map_or(name, |user| user.submits_to.as_str())
}
