//! Keys of providers and their policies that have no effect.

use haggle_model::Disclosure;

use super::flow::Serves;
use crate::check::Check;
use crate::check::rule::{Effect, Words, effect};
use crate::file::{
    Estimates, EstimatesFrom, Offers, OnFailure, Order, Policy, Provider, Rescheduling,
    ReschedulingRule, Told,
};
use haggle_config::document::Path;

/// Keys of providers.
#[rustfmt::skip] // a table
const PROVIDERS: &[Effect<Provider, Serves>] = &[
    effect("overrun", |_, to| to.is_used(), "no job comes here", "remove it, or let a user or a metascheduler submit to this provider"),
    effect("policy", |it, to| to.logged || !to.is_used() || !it.policy.starts_as_recorded(),
        "no job comes here from a log, so none has a recorded start: each starts as soon as its processors are free",
        "choose another policy, or let a user submit jobs of a `log` to this provider"),
    effect("passes", |it, to| !(it.policy.bargains() || to.parts || to.reserved && it.policy.takes_parts()),
        "a provider that bargains over bags, or keeps parts of jobs or windows beside its queue, decides once an instant", "remove it"),
    effect("passes", |it, _| !matches!(it.policy, Policy::Fcfs { order: Order::Arrival }),
        "first come, first served in the order of arrival starts the same jobs either way", "remove it"),
    effect("interval", |_, to| to.is_used(), "no job comes here", "remove it, or let a user or a metascheduler submit to this provider"),
    effect("checkpoints", |it, to| resumes(it) && (to.whole || !to.parts) && to.rigid, "only rigid jobs with `on-failure = \"resume\"` write them",
        "remove it, or set `on-failure = \"resume\"`"),
    effect("on-failure", |it, to| restarts(it) || to.rigid && (to.fails || resumes(it)), "no processor fails here on which rigid jobs run",
        "remove it, or add [[failures]] of this provider"),
    effect("on-failure", |it, to| restarts(it) || to.whole || !to.parts, "only parts of jobs come here, and a part that loses its processors ends its agreement",
        "remove it, or let a user or a metascheduler with a `placement` submit to this provider"),
    effect("max-attempts", |it, to| to.fails && (to.bags || to.placed_again || !matches!(it.on_failure, Some(OnFailure::Fail | OnFailure::Drain))), "no job is started again here",
        "remove it, or add [[failures]] of this provider that jobs survive"),
    effect("publishes", |_, to| to.parts, "no metascheduler spreads jobs over this provider",
        "remove it, or let a metascheduler with `coallocation` or `mapping` use this provider"),
    // A provider may permit more disclosure than any metascheduler asks for.
    effect("disclosure", |it, to| to.asked.is_some() || it.disclosure <= Disclosure::Offers, "no metascheduler uses this provider",
        DISCLOSURE),
    effect("disclosure", |it, to| !to.protocol || to.asked != Some(Disclosure::Offers) || it.disclosure <= Disclosure::Offers,
        "a metascheduler with a `protocol` requests parts, and no disclosure above \"offers\"",
        "remove it, or remove `protocol`: then providers disclose \"slots\""),
    effect("disclosure", |it, to| to.protocol && to.asked == Some(Disclosure::Offers) || to.asked.is_none_or(|asked| it.disclosure <= asked),
        "it may disclose \"{told}\", and its metaschedulers request at most \"{asked}\"", DISCLOSURE),
];

const DISCLOSURE: &str =
    "remove it, or let a `placement` or `composition` request more (`haggle list disclosures`)";

fn resumes(it: &Provider) -> bool {
    it.on_failure == Some(OnFailure::Resume)
}

fn restarts(it: &Provider) -> bool {
    it.on_failure == Some(OnFailure::default())
}

/// Keys of the policies of providers. A policy has only some of them.
#[rustfmt::skip] // a table
const POLICIES: &[Effect<Provider, Serves>] = &[
    effect("criterion fix-at threshold alternatives after", |_, to| to.reserved, "no job is reserved here",
        "remove it, or add a [[workload.step]] with `kind = \"reservations\"`"),
    effect("alternatives after", |it, _| it.policy.reserving().is_none_or(|it| it.threshold.is_some()),
        "without `threshold` it offers no interval beside a window", "remove it"),
    effect("resolution", |_, to| to.rigid || to.sized, "no metascheduler requests completions of rigid jobs or offers", "remove it"),
    effect("pinned", |_, to| to.slots, "only \"free-time-slots\" places tasks in slots", "remove it"),
    effect("blocks", |_, to| to.bags, "no bag comes here", "remove it"),
];

#[rustfmt::skip] // a table
const OFFERS: &[Effect<Offers, Serves>] = &[
    effect("fractions", |_, to| to.sized, "no metascheduler requests offers of several sizes", "remove it"),
    effect("told", |_, to| to.sized, "no metascheduler requests offers of completions", "remove it"),
    effect("padding", |it, _| it.told == Told::Padded, "a rule of one's own sets how much later offers are", "remove it"),
    effect("padding", |_, to| to.sized, "no metascheduler requests offers of completions", "remove it"),
    effect("validity delay", |_, to| to.bags, "no metascheduler requests offers", "remove it"),
];

#[rustfmt::skip] // a table
const RESCHEDULING: &[Effect<Rescheduling>] = &[
    effect("rebuild second-pass", |it, ()| it.rule != ReschedulingRule::None, "under rule \"none\" no task moves",
        "remove it, or choose another `rule`"),
    effect("second-pass", |it, ()| !it.rebuild, "a plan that is made anew leaves no room to fill", "remove it, or choose another `rule`"),
    effect("catch-up", |it, ()| it.rule == ReschedulingRule::Coordinated, "only rule \"coordinated\" goes by whole bags",
        "remove it, or choose another `rule`"),
];

/// The table `estimates` of a policy.
#[rustfmt::skip] // a table
const ESTIMATES: &[Effect<Estimates, Serves>] = &[
    effect("estimates", |_, to| to.bags, "only run times of bags are estimated, and no bag comes here", "remove it"),
];

#[rustfmt::skip] // a table
const PROFILES: &[Effect<Estimates>] = &[
    effect("error time-min time-max", |it, ()| it.from == EstimatesFrom::Profiled, "no program is profiled",
        "remove it, or set `from = \"profiled\"`"),
];

impl Check<'_> {
    pub(super) fn provider_effects(&mut self, path: &Path, provider: &Provider, serves: Serves) {
        let owner = format!("provider \"{}\"", provider.name);
        if let Some(checkpoints) = &provider.checkpoints {
            self.job_rule_effects(&path.key("checkpoints"), checkpoints, &owner);
        }
        let asked = serves.asked.unwrap_or(Disclosure::Offers);
        let words: Words<'_> = &[("told", &provider.disclosure.name()), ("asked", &asked.name())];
        self.effects(PROVIDERS, path, (provider, &serves), &owner, words);
        self.policy_effects(&path.key("policy"), provider, serves);
    }

    /// An order by keys has no effect if no job has a key.
    pub(super) fn order_effects(&mut self, path: &Path, provider: &Provider, has_keys: bool) {
        if let Some(Order::Key) = provider.policy.order() {
            let what = format!("`order = \"key\"` of provider \"{}\"", provider.name);
            let why = "no job has a key, so that all are considered as they arrive";
            let remedy = "remove it, or add a step \"key\" to a workload, which gives the order of \
                          jobs";
            self.has_effect(path, has_keys, &what, why, remedy);
        }
    }

    /// Keys of a provider's policy that have no effect here.
    fn policy_effects(&mut self, path: &Path, provider: &Provider, serves: Serves) {
        let of = |what: &str| format!("the {what} of provider \"{}\"", provider.name);
        if let Some(offers) = provider.policy.offers() {
            let at = path.key("offers");
            self.effects(OFFERS, &at, (offers, &serves), &of("offers"), &[]);
        }
        self.effects(POLICIES, path, (provider, &serves), &of("policy"), &[]);
        if let Some(rescheduling) = provider.policy.rescheduling() {
            let at = path.key("rescheduling");
            self.effects(RESCHEDULING, &at, (&rescheduling, &()), &of("rescheduling"), &[]);
        }
        if let Some(estimates) = provider.policy.estimates() {
            self.effects(ESTIMATES, path, (estimates, &serves), &of("policy"), &[]);
            if serves.bags {
                let at = path.key("estimates");
                self.effects(PROFILES, &at, (estimates, &()), &of("estimates"), &[]);
            }
        }
    }
}
