//! Queues, qualities of service, accounts and priorities of providers.

use std::collections::{BTreeMap, BTreeSet};

use haggle_config::document::Path;
use haggle_model::Span;
use haggle_scheduling::site::QueueNumber;

use super::Check;
use super::exclusions::{UsesNodes, WITH_RULES};
use super::rule::{Effect, Refusal, effect, item, refuse};
use crate::file::{FairShareRule, Priority, PriorityWeights, Provider, Queue};
use crate::quantity::TimeSpan;

/// Priorities.
#[rustfmt::skip] // a table
const PRIORITIES: &[Refusal<Priority>] = &[
    refuse("calculation-period", |it, ()| it.calculation_period.0 < Span::from_secs(1), "the priorities of provider \"{name}\" have no second between \
        two calculations", "at least 1s", "write a time such as \"5min\""),
    refuse("max-age", |it, ()| it.max_age.0 <= Span::ZERO, "the factor of age of provider \"{name}\" has no time in which it grows", "must be positive",
        "write a time such as \"7d\""),
    refuse("weights", |it, ()| it.weights == PriorityWeights::default(), "the priorities of provider \"{name}\" have no weight, so that all are equal",
        "no weight", "add `age`, `fair-share`, `size`, `queue` or `qos`, or remove `priority`"),
];

/// Keys of a provider with rules that are read only under a requirement.
#[rustfmt::skip] // a table
const EFFECTS: &[Effect<Provider>] = &[
    effect("priority.dampening", |it, ()| weighs(it, |it| it.fair_share) && rule(it) == Some(FairShareRule::Classic),
        "fair tree has no dampening", "remove it, or set `fair-share = \"classic\"`"),
    effect("priority.half-life", |it, ()| weighs(it, |it| it.fair_share), "usage has no weight", "remove it, or add a weight `fair-share`"),
    effect("priority.fair-share", |it, ()| weighs(it, |it| it.fair_share), "it has no weight", "remove it, or add a weight `fair-share`"),
    effect("priority.max-age", |it, ()| weighs(it, |it| it.age), "age has no weight", "remove it, or add a weight `age`"),
    effect("priority.favours", |it, ()| weighs(it, |it| it.size), "size has no weight", "remove it, or add a weight `size`"),
    effect("priority.weights.queue", |it, ()| it.queues.iter().any(|it| it.priority > 0), "no queue has a priority",
        "remove it, or add `priority` to a [[provider.queue]]"),
    effect("priority.weights.qos", |it, ()| it.qos.iter().any(|it| it.priority > 0), "no quality of service has a priority",
        "remove it, or add `priority` to a [[provider.qos]]"),
    effect("policy.order", |it, ()| it.priority.is_none(), "its priorities decide the order", "remove it, or remove `priority`"),
];

fn weighs(provider: &Provider, weight: impl Fn(&PriorityWeights) -> u32) -> bool {
    provider.priority.as_ref().is_some_and(|it| weight(&it.weights) > 0)
}

fn rule(provider: &Provider) -> Option<FairShareRule> {
    provider.priority.as_ref().map(|it| it.fair_share)
}

impl Check<'_> {
    /// Checks the rules of each provider; `uses` says what it is used for.
    pub(super) fn check_rules_of_sites(&mut self, uses: impl Fn(usize) -> UsesNodes) {
        for (index, provider) in self.scenario.providers.iter().enumerate() {
            let (path, name) = (item("provider", index), &provider.name);
            self.check_node_names(&path, provider);
            if !provider.has_rules() {
                continue;
            }
            self.refuse(WITH_RULES, &path, (provider, &uses(index)), &[("name", name)]);
            if let Some(priority) = &provider.priority {
                self.refuse(PRIORITIES, &path.key("priority"), (priority, &()), &[("name", name)]);
            }
            self.check_queues(&path, provider);
            self.check_qos(&path, provider);
            self.check_accounts(&path, provider);
            self.check_preemption(&path, provider);
        }
    }

    /// Shares, and priorities of queues and qualities of service, that no weight multiplies.
    fn weight_effects(&mut self, path: &Path, provider: &Provider) {
        let (shares, queues) =
            (weighs(provider, |it| it.fair_share), weighs(provider, |it| it.queue));
        for (index, account) in provider.accounts.iter().enumerate() {
            let at = path.key("account").index(index);
            let owner = format!("account \"{}\"", account.name);
            let why = "fair share has no weight in priorities";
            let remedy = "remove it, or add a weight `fair-share` to [provider.priority]";
            self.uses(&at.key("shares"), shares, &owner, why, remedy);
        }
        for (index, queue) in provider.queues.iter().enumerate() {
            let at = path.key("queue").index(index);
            let owner = format!("queue \"{}\"", queue.name);
            let why = "queues have no weight in priorities";
            let remedy = "remove it, or add a weight `queue` to [provider.priority]";
            self.uses(&at.key("priority"), queues, &owner, why, remedy);
        }
        for (index, qos) in provider.qos.iter().enumerate() {
            let at = path.key("qos").index(index);
            let owner = format!("quality of service \"{}\"", qos.name);
            let why = "qualities of service have no weight in priorities";
            let remedy = "remove it, or add a weight `qos` to [provider.priority]";
            self.uses(&at.key("priority"), weighs(provider, |it| it.qos), &owner, why, remedy);
            let why = "its provider has no queues";
            let remedy = "remove it, or add a [[provider.queue]]";
            self.uses(&at.key("over-queue"), !provider.queues.is_empty(), &owner, why, remedy);
        }
    }

    /// Limits on resources that the provider does not count.
    fn limit_effects(&mut self, path: &Path, provider: &Provider) {
        let read = self.scenario.places_on_nodes(provider);
        let owner = format!("provider \"{}\"", provider.name);
        let (why, remedy) =
            ("it counts processors only", "remove it, or add [[provider.node]] and demands");
        let queues = (0..provider.queues.len()).map(|it| path.key("queue").index(it));
        let accounts = (0..provider.accounts.len()).map(|it| path.key("account").index(it));
        let qos = (0..provider.qos.len()).map(|it| path.key("qos").index(it));
        for at in queues.chain(qos).chain(accounts) {
            for table in ["limits", "user-limits", "account-limits"] {
                for key in ["memory", "gpus"] {
                    self.uses(&at.key(table).key(key), read, &owner, why, remedy);
                }
            }
        }
    }

    fn check_node_names(&mut self, path: &Path, provider: &Provider) {
        let mut known = BTreeSet::new();
        for (index, node) in provider.nodes.iter().enumerate() {
            if let Some(name) = &node.name
                && !known.insert(name.as_str())
            {
                let at = path.key("node").index(index).key("name");
                let message = format!(
                    "two node groups of provider \"{}\" are called \"{name}\"",
                    provider.name
                );
                self.report(&at, message, "a second one", "choose another name");
            }
        }
    }

    fn check_queues(&mut self, path: &Path, provider: &Provider) {
        let mut names = BTreeSet::new();
        let mut numbers = BTreeMap::new();
        let groups = provider.nodes.iter().filter_map(|it| it.name.as_ref());
        let groups = Vec::from_iter(groups.map(|it| it.as_str()));
        for (index, queue) in provider.queues.iter().enumerate() {
            let at = path.key("queue").index(index);
            let name = &queue.name;
            if !names.insert(name.as_str()) {
                let message =
                    format!("two queues of provider \"{}\" are called \"{name}\"", provider.name);
                self.report(&at.key("name"), message, "a second one", "choose another name");
            }
            self.check_number(&at, provider, queue);
            let number = queue.number.map(|it| ("number", it));
            let number = number.or(queue.partition.map(|it| ("partition", it)));
            if let Some((key, it)) = number
                && let Some(other) = numbers.insert((key, it), name)
            {
                let message = format!("queues \"{other}\" and \"{name}\" have the {key} {it}");
                self.report(&at.key(key), message, "a second queue", "choose another number");
            }
            let owner = format!("queue \"{name}\"");
            self.check_access(&at, &owner, [&queue.users, &queue.groups], queue.longest);
            let mut own = BTreeSet::new();
            for (index, group) in queue.nodes.iter().flatten().enumerate() {
                if !own.insert(group.as_str()) {
                    self.listed_twice(
                        &at.key("nodes").index(index),
                        &owner,
                        &format!("nodes \"{group}\""),
                    );
                }
                if groups.contains(&group.as_str()) {
                    continue;
                }
                let message = format!(
                    "queue \"{name}\" has nodes \"{group}\", and provider \"{}\" has none of that name",
                    provider.name
                );
                let help = match groups[..] {
                    [] => "add `name` to [[provider.node]]".to_owned(),
                    _ => format!("its node groups are {}", groups.join(", ")),
                };
                self.report(&at.key("nodes").index(index), message, "no such nodes", help);
            }
        }
    }

    /// A queue goes by one number, and by the same one as the first queue of its provider.
    fn check_number(&mut self, at: &Path, provider: &Provider, queue: &Queue) {
        let (name, owner) = (&queue.name, &provider.name);
        let (at, message, note) = match (queue.number, queue.partition) {
            (None, None) => {
                let message = format!("queue \"{name}\" has neither a number nor a partition");
                (at.clone(), message, "no number of its jobs")
            }
            (Some(_), Some(_)) => {
                let message = format!("queue \"{name}\" has a number and a partition");
                (at.key("partition"), message, "a second number")
            }
            (None, Some(_)) if provider.queues_by() == QueueNumber::Queue => {
                let message = format!(
                    "queue \"{name}\" goes by partition, and the first queue of provider \"{owner}\" by number"
                );
                (at.key("partition"), message, "another number than of the first")
            }
            (Some(_), None) if provider.queues_by() == QueueNumber::Partition => {
                let message = format!(
                    "queue \"{name}\" goes by number, and the first queue of provider \"{owner}\" by partition"
                );
                (at.key("number"), message, "another number than of the first")
            }
            _ => return,
        };
        self.report(
            &at,
            message,
            note,
            "state `number` in all of its queues, or `partition` in all of them",
        );
    }

    fn check_qos(&mut self, path: &Path, provider: &Provider) {
        let owner = &provider.name;
        if provider.queues_by() == QueueNumber::Queue
            && !provider.qos.is_empty()
            && let Some(queue) = provider.queues.first()
        {
            let message = format!(
                "queues and qualities of service of provider \"{owner}\" both go by the queue number of a job"
            );
            let help = "write `partition` in place of `number` in all of its queues, or remove [[provider.qos]]";
            let at = path.key("queue").index(0);
            let at = if queue.number.is_some() { at.key("number") } else { at };
            self.report(&at, message, "the number of the quality of service", help);
        }
        let (mut names, mut numbers) = (BTreeSet::new(), BTreeMap::new());
        for (index, qos) in provider.qos.iter().enumerate() {
            let (at, name) = (path.key("qos").index(index), &qos.name);
            if !names.insert(name.as_str()) {
                let message = format!(
                    "two qualities of service of provider \"{owner}\" are called \"{name}\""
                );
                self.report(&at.key("name"), message, "a second one", "choose another name");
            }
            if let Some(other) = numbers.insert(qos.number, name) {
                let message = format!(
                    "qualities of service \"{other}\" and \"{name}\" have the number {}",
                    qos.number
                );
                self.report(&at.key("number"), message, "a second one", "choose another number");
            }
            let owner = format!("quality of service \"{name}\"");
            self.check_access(&at, &owner, [&qos.users, &qos.groups], qos.longest);
        }
    }

    /// Lists of users and groups have members, and each of them once. The longest requested time is positive.
    fn check_access(
        &mut self,
        at: &Path,
        owner: &str,
        [users, groups]: [&Option<Vec<i32>>; 2],
        longest: Option<TimeSpan>,
    ) {
        for (key, one, list) in [("users", "user", users), ("groups", "group", groups)] {
            let Some(list) = list else { continue };
            if list.is_empty() {
                let message = format!("no {one} may use {owner}, because `{key}` is empty");
                let help =
                    format!("remove `{key}`, so that all {key} may use it, or list their numbers");
                self.report(&at.key(key), message, "empty", help);
            }
            self.check_repeated(&at.key(key), owner, one, list);
        }
        self.check_longest(at, owner, longest);
    }

    fn check_longest(&mut self, at: &Path, owner: &str, longest: Option<TimeSpan>) {
        if longest.is_some_and(|it| it.0 <= Span::ZERO) {
            let message = format!(
                "{owner} admits no job, because each requested time is longer than its `longest`"
            );
            self.report(
                &at.key("longest"),
                message,
                "must be positive",
                "write a time such as \"1h\"",
            );
        }
    }

    fn check_repeated(&mut self, at: &Path, owner: &str, one: &str, list: &[i32]) {
        let mut known = BTreeSet::new();
        for (index, number) in list.iter().enumerate() {
            if !known.insert(number) {
                self.listed_twice(&at.index(index), owner, &format!("{one} {number}"));
            }
        }
    }

    pub(super) fn listed_twice(&mut self, at: &Path, owner: &str, member: &str) {
        self.report(at, format!("{owner} lists {member} twice"), "a second time", "remove it");
    }

    fn check_accounts(&mut self, path: &Path, provider: &Provider) {
        let mut before: Vec<&str> = Vec::new();
        let mut owners = BTreeMap::new();
        for (index, account) in provider.accounts.iter().enumerate() {
            let at = path.key("account").index(index);
            let name = account.name.as_str();
            if before.contains(&name) {
                let message =
                    format!("two accounts of provider \"{}\" are called \"{name}\"", provider.name);
                self.report(&at.key("name"), message, "a second one", "choose another name");
            }
            if let Some(parent) =
                account.parent.as_ref().filter(|it| !before.contains(&it.as_str()))
            {
                let message = format!("no account \"{parent}\" stands before account \"{name}\"");
                self.report(
                    &at.key("parent"),
                    message,
                    "not before it",
                    "list the parent first, or correct its name",
                );
            }
            before.push(name);
            let owner = format!("account \"{name}\"");
            self.check_longest(&at, &owner, account.longest);
            self.check_repeated(&at.key("groups"), &owner, "group", &account.groups);
            let users = Vec::from_iter(account.users.iter().map(|it| it.user));
            self.check_repeated(&at.key("users"), &owner, "user", &users);
            for (index, &group) in account.groups.iter().enumerate() {
                if let Some(other) = owners.insert(group, name).filter(|&other| other != name) {
                    let message = format!("accounts \"{other}\" and \"{name}\" have group {group}");
                    self.report(
                        &at.key("groups").index(index),
                        message,
                        "a second account",
                        "remove it from one of them",
                    );
                }
            }
        }
    }

    /// Warns of settings that cannot have an effect.
    pub(super) fn rules_effects(&mut self) {
        for (index, provider) in self.scenario.providers.iter().enumerate() {
            let path = item("provider", index);
            let owner = format!("provider \"{}\"", provider.name);
            if provider.priority.is_some() {
                self.effects(EFFECTS, &path, (provider, &()), &owner, &[]);
            }
            self.weight_effects(&path, provider);
            self.limit_effects(&path, provider);
            self.preemption_effects(&path, provider);
        }
    }
}
