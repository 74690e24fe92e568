//! Keys of a scenario that may change while a run goes on, and the reasons why others may not.

/// Effect of a change of the keys that begin so. The longest beginning counts.
const CHANGES: [(&str, &str); 37] = [
    ("scenario.until", JOBS),
    ("scenario.horizon", "the run stops then"),
    ("workload", JOBS),
    ("user.workload", JOBS),
    ("user.patience", "jobs that are submitted from then on"),
    (
        "provider.policy",
        "decisions from then on; the queue of rigid jobs is planned anew, and promises may break",
    ),
    ("provider.overrun", "attempts that start from then on"),
    ("provider.on-failure", "attempts that are lost from then on"),
    ("provider.max-attempts", "attempts that are lost from then on"),
    ("provider.disclosure", "answers from then on"),
    ("provider.publishes", "answers from then on"),
    ("metascheduler.placement", "jobs whose placement begins from then on"),
    ("metascheduler.negotiation.relax", BAGS),
    ("metascheduler.negotiation.weights", BAGS),
    ("metascheduler.negotiation.spread", BAGS),
    ("metascheduler.negotiation.rounds", BAGS),
    ("metascheduler.coallocation.fill", PLACES),
    ("metascheduler.coallocation.part-min", PLACES),
    ("metascheduler.coallocation.parts", PLACES),
    ("metascheduler.coallocation.trials", PLACES),
    ("metascheduler.coallocation.overhead", PLACES),
    ("metascheduler.coallocation.overhead-max", PLACES),
    ("metascheduler.reallocation.algorithm", ROUNDS),
    ("metascheduler.reallocation.heuristic", ROUNDS),
    ("metascheduler.reallocation.threshold", ROUNDS),
    ("metascheduler.reallocation.period", ROUNDS),
    ("metascheduler.reallocation.window", ROUNDS),
    ("metascheduler.reallocation.resizes", ROUNDS),
    ("metascheduler.reallocation.tuning", ROUNDS),
    ("network.latency", MESSAGES),
    ("network.jitter", MESSAGES),
    ("network.loss", MESSAGES),
    ("network.duplication", MESSAGES),
    ("network.reordering", MESSAGES),
    ("network.link.latency", MESSAGES),
    ("network.partition", MESSAGES),
    (
        "failures",
        "failures that begin from then on; failed processors come back at the time drawn before",
    ),
];

const JOBS: &str = "jobs that are submitted from then on";
const BAGS: &str = "compositions from then on, also of the bag that is bargained over";
const PLACES: &str = "searches for places from then on; jobs that have a place keep it";
const ROUNDS: &str = "reallocations from then on";
const MESSAGES: &str = "messages that are sent from then on";

/// Reason why the keys that begin so cannot change. The longest beginning counts, also against [`CHANGES`].
const FIXED: [(&str, &str); 25] = [
    ("scenario", "it is about the run as a whole"),
    ("scenario.seed", "a change has a key `seed` of its own"),
    ("workload.name", "names stay"),
    ("workload.data", "the scheduler of a grid knows the data of each workload from the start"),
    (
        "workload.share",
        "the scheduler of a grid knows the sessions of each workload from the start",
    ),
    ("workload.workflows", "users keep the tasks of their workflows from the start"),
    ("workload.applications", "clusters know the applications from the start"),
    ("user", "jobs at their present receiver would be left behind"),
    ("provider", "running work and accepted work depend on it"),
    (
        "provider.processors",
        "running work and accepted work depend on it; `failures` of a change take processors away",
    ),
    ("metascheduler", "its agreements depend on it"),
    ("network", "actors repeat messages by it from the start"),
    ("network.link", "a link has fixed ends"),
    ("failures.of", "nodes stay; further failures are `failures` of a change"),
    ("failures.actors", "crashes are known to the network in advance"),
    ("failures.first-node", "nodes stay; further failures are `failures` of a change"),
    ("failures.nodes", "nodes stay; further failures are `failures` of a change"),
    ("failures.processors-per-node", "nodes stay; further failures are `failures` of a change"),
    ("maintenance", "windows are planned from the start"),
    ("grid", "the scheduler of a grid keeps copies and plans that it made by it"),
    ("plans", "clusters and their metascheduler keep plans that they made by it"),
    ("results", "results are about the run as a whole"),
    ("figure", "figures are about the run as a whole"),
    ("sweep", "sweeps are about whole runs"),
    ("change", "changes are about the run as a whole"),
];

/// Effect of a change of a key, given by its path without names, such as `provider.policy.order`; an error is the reason
/// why it cannot change.
pub fn changes(way: &str) -> Result<&'static str, &'static str> {
    let begins = |start: &str| {
        way == start || way.strip_prefix(start).is_some_and(|rest| rest.starts_with('.'))
    };
    let longest = |table: &'static [(&'static str, &'static str)]| {
        table.iter().filter(|(start, _)| begins(start)).max_by_key(|(start, _)| start.len())
    };
    match (longest(&CHANGES), longest(&FIXED)) {
        (Some((may, effect)), Some((not, _))) if may.len() >= not.len() => Ok(effect),
        (Some((_, effect)), None) => Ok(effect),
        (_, Some((_, reason))) => Err(reason),
        (None, None) => Err("it is fixed when the run begins"),
    }
}

/// Beginnings of keys, each with the effect of a change, or the reason why they cannot change.
pub(crate) fn rows() -> impl Iterator<Item = (&'static str, Result<&'static str, &'static str>)> {
    let may = CHANGES.iter().map(|(start, effect)| (*start, Ok(*effect)));
    may.chain(FIXED.iter().map(|(start, reason)| (*start, Err(*reason))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;

    #[test]
    fn every_row_is_about_a_key() {
        let ways = keys::ways();
        for (start, _) in rows() {
            assert!(ways.contains(start), "{start}");
        }
    }

    #[test]
    fn the_longest_beginning_decides() {
        assert!(changes("workload.lublin.load").is_ok());
        assert!(changes("workload.workflows.count").is_err());
        assert!(changes("provider.policy.order").is_ok());
        assert!(changes("provider.speed").is_err());
        assert!(changes("failures.law.up").is_ok());
        assert!(changes("failures.nodes").is_err());
        assert_eq!(changes("set"), Err("it is fixed when the run begins"));
    }
}
