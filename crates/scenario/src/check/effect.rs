//! Values that are valid and have no effect, because nothing here asks for them or needs them; and values whose
//! effect is hardly meant.
//!
//! All of these are warnings: a value may be read in some variants of a sweep only.

mod checkpoints;
mod coallocation;
mod flow;
mod grid;
mod impossible;
mod large;
mod maintenance;
mod network;
mod plans;
mod reservations;
mod round_trip;
mod seed;

use haggle_model::Disclosure;

use super::Check;
use super::names::Names;
use crate::file::{
    Composition, EstimatesFrom, Metascheduler, Offers, OnFailure, Order, Passes, Policy, Provider,
    Reallocation, ReallocationAlgorithm, ReschedulingRule, Resizes, Role, Step, Told, Workload,
};
use flow::{Flow, Serves};
use haggle_config::document::Path;

/// True if its protocol reads the keys of jobs as their urgency.
fn has_urgent_jobs(metascheduler: &Metascheduler) -> bool {
    metascheduler.transaction().is_some_and(|(protocol, _)| protocol.urgent().is_some())
}

/// True if jobs of a workload may have keys by which they are sorted.
fn sets_keys(workload: &Workload) -> bool {
    let in_lists = workload.jobs.iter().flatten().any(|job| job.key.is_some());
    in_lists || workload.steps.iter().any(|step| matches!(step, Step::Key { .. }))
}

impl Check<'_> {
    pub(super) fn check_effects(&mut self, names: &Names) {
        let scenario = self.scenario;
        let flow = Flow::of(scenario, names, self.directory);
        let has_keys = scenario.workloads.iter().any(sets_keys);
        for (index, provider) in scenario.providers.iter().enumerate() {
            let path = Path::root().key("provider").index(index);
            self.provider_effects(&path, provider, flow.serves[index]);
            self.order_effects(&path.key("policy").key("order"), provider, has_keys);
        }
        for (index, metascheduler) in scenario.metaschedulers.iter().enumerate() {
            let path = Path::root().key("metascheduler").index(index);
            self.metascheduler_effects(&path, metascheduler, names);
        }
        let sorts = scenario
            .providers
            .iter()
            .any(|it| matches!(it.policy.order(), Some(Order::Key | Order::Own(_))))
            || scenario.metaschedulers.iter().any(has_urgent_jobs);
        for index in 0..scenario.workloads.len() {
            self.workload_effects(index, sorts, &flow);
        }
        self.events_order_effects(&flow);
        self.impossible_jobs(names);
        self.figures_of_transactions();
        self.unused_actors(&flow);
        self.idle_crashes(&flow, names);
        self.maintenance_effects(&flow, names);
        self.message_effects(&flow, names);
        self.grid_effects();
        self.checkpoint_row_effects();
        self.plan_effects();
        self.mapping_effects(names);
        self.seed_effects();
        self.large_workloads();
    }

    /// The order of submissions and completions of an instant has no effect if each decision knows all of them.
    fn events_order_effects(&mut self, flow: &Flow) {
        let differs = |(provider, serves): (&Provider, &Serves)| {
            // Offers for bags are made message by message, and failed jobs wait in the order of messages.
            let Serves { fails, crashes, .. } = *serves;
            provider.passes == Passes::Event || provider.policy.bargains() || fails || crashes
        };
        let read = self.scenario.providers.iter().zip(&flow.serves).any(differs);
        let why = "each provider decides at the end of an instant, after all its submissions and \
                   completions";
        let remedy = "remove it, or set `passes = \"event\"` for a provider";
        let at = Path::root().key("scenario").key("events-order");
        self.uses(&at, read, "the scenario", why, remedy);
    }

    fn provider_effects(&mut self, path: &Path, provider: &Provider, serves: Serves) {
        let owner = format!("provider \"{}\"", provider.name);
        if let Some(checkpoints) = &provider.checkpoints {
            self.job_rule_effects(&path.key("checkpoints"), checkpoints, &owner);
        }
        let resumes = provider.on_failure == Some(OnFailure::Resume);
        let restarts = provider.on_failure == Some(OnFailure::default());
        let by_instant = provider.policy.bargains() || serves.parts;
        let by_arrival = matches!(provider.policy, Policy::Fcfs { order: Order::Arrival });
        let passes = if by_instant {
            "a provider that bargains over bags or takes parts of jobs decides once an instant"
        } else {
            "first come, first served in the order of arrival starts the same jobs either way"
        };
        let rows = [
            (
                "overrun",
                serves.is_used(),
                "no job comes here",
                "remove it, or let a user or a metascheduler submit to this provider",
            ),
            ("passes", !by_instant && !by_arrival, passes, "remove it"),
            (
                "checkpoints",
                resumes && serves.rigid,
                "only rigid jobs with `on-failure = \"resume\"` write them",
                "remove it, or set `on-failure = \"resume\"`",
            ),
            (
                "on-failure",
                restarts || serves.rigid && (serves.fails || resumes),
                "no processor fails here on which rigid jobs run",
                "remove it, or add [[failures]] of this provider",
            ),
            (
                "max-attempts",
                serves.fails && (serves.bags || provider.on_failure != Some(OnFailure::Fail)),
                "no job is started again here",
                "remove it, or add [[failures]] of this provider that jobs survive",
            ),
            (
                "publishes",
                serves.parts,
                "no metascheduler spreads jobs over this provider",
                "remove it, or let a metascheduler with `coallocation` or `mapping` use this provider",
            ),
        ];
        for (key, read, why, remedy) in rows {
            self.uses(&path.key(key), read, &owner, why, remedy);
        }
        self.disclosure_effects(path, provider, serves);
        self.policy_effects(&path.key("policy"), provider, serves);
    }

    /// An order by keys has no effect if no job has a key.
    fn order_effects(&mut self, path: &Path, provider: &Provider, has_keys: bool) {
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
        let owner = format!("the policy of provider \"{}\"", provider.name);
        if let Some(offers) = provider.policy.offers() {
            self.offer_effects(&path.key("offers"), provider, offers, serves);
        }
        if let Some(reservations) = provider.policy.reserving() {
            self.reservation_effects(path, &owner, reservations, serves);
        }
        if let Policy::Edf(_) = provider.policy {
            let sizes = serves.rigid || serves.sized;
            let none = "no metascheduler requests completions of rigid jobs or offers";
            self.uses(&path.key("resolution"), sizes, &owner, none, "remove it");
            let none = "only \"free-time-slots\" places tasks in slots";
            self.uses(&path.key("pinned"), serves.slots, &owner, none, "remove it");
        }
        if let Some(rescheduling) = provider.policy.rescheduling() {
            let none = "no bag comes here";
            self.uses(&path.key("blocks"), serves.bags, &owner, none, "remove it");
            let at = path.key("rescheduling");
            let owner = format!("the rescheduling of provider \"{}\"", provider.name);
            let moves = rescheduling.rule != ReschedulingRule::None;
            let remedy = "remove it, or choose another `rule`";
            let why = "under rule \"none\" no task moves";
            self.uses(&at.key("rebuild"), moves, &owner, why, remedy);
            let (why, fills) = if moves {
                ("a plan that is made anew leaves no room to fill", !rescheduling.rebuild)
            } else {
                (why, false)
            };
            self.uses(&at.key("second-pass"), fills, &owner, why, remedy);
            let coordinated = rescheduling.rule == ReschedulingRule::Coordinated;
            let why = "only rule \"coordinated\" goes by whole bags";
            self.uses(&at.key("catch-up"), coordinated, &owner, why, remedy);
        }
        if let Some(estimates) = provider.policy.estimates() {
            let at = path.key("estimates");
            let none = "only run times of bags are estimated, and no bag comes here";
            self.uses(&at, serves.bags, &owner, none, "remove it");
            if !serves.bags {
                return;
            }
            let profiles = estimates.from == EstimatesFrom::Profiled;
            for key in ["error", "time-min", "time-max"] {
                self.uses(
                    &at.key(key),
                    profiles,
                    &format!("the estimates of provider \"{}\"", provider.name),
                    "no program is profiled",
                    "remove it, or set `from = \"profiled\"`",
                );
            }
        }
    }

    /// A provider may permit more disclosure than any metascheduler asks for.
    fn disclosure_effects(&mut self, path: &Path, provider: &Provider, serves: Serves) {
        let told = provider.disclosure;
        let why = match serves.asked {
            None => "no metascheduler uses this provider".to_owned(),
            Some(asked) => format!(
                "it may disclose \"{}\", and its metaschedulers request at most \"{}\"",
                told.name(),
                asked.name()
            ),
        };
        let read = told <= serves.asked.unwrap_or(Disclosure::Offers);
        let owner = format!("provider \"{}\"", provider.name);
        let remedy = "remove it, or let a `placement` or `composition` request more \
                      (`haggle list disclosures`)";
        self.uses(&path.key("disclosure"), read, &owner, &why, remedy);
    }

    fn offer_effects(&mut self, at: &Path, provider: &Provider, offers: &Offers, serves: Serves) {
        let answers = serves.bags;
        let padded = offers.told == Told::Padded;
        let padding = match padded {
            true => "no metascheduler requests offers of completions",
            false => "a rule of one's own sets how much later offers are",
        };
        let owner = format!("the offers of provider \"{}\"", provider.name);
        let rows = [
            ("fractions", serves.sized, "no metascheduler requests offers of several sizes"),
            ("told", serves.sized, "no metascheduler requests offers of completions"),
            ("padding", serves.sized && padded, padding),
            ("validity", answers, "no metascheduler requests offers"),
            ("delay", answers, "no metascheduler requests offers"),
        ];
        for (key, read, why) in rows {
            self.uses(&at.key(key), read, &owner, why, "remove it");
        }
    }

    fn metascheduler_effects(&mut self, path: &Path, metascheduler: &Metascheduler, names: &Names) {
        let owner = format!("metascheduler \"{}\"", metascheduler.name);
        let composes = &metascheduler.composition;
        let (why, remedy) = match metascheduler.role() {
            Role::Composes(_) => (
                "it composes bags of tasks and places no rigid jobs",
                "remove it, or remove `composition`",
            ),
            Role::Moves(_) => (
                "it places every job at the provider that completes it first",
                "remove it, or remove `reallocation`",
            ),
            Role::Maps(_) => (
                "it maps iterative applications to cores of providers",
                "remove it, or remove `mapping`",
            ),
            Role::Spreads(_) | Role::Places(_) => (
                "it spreads jobs over providers and places none on one of them",
                "remove it, or remove `coallocation`",
            ),
        };
        let places = matches!(metascheduler.role(), Role::Places(_));
        self.uses(&path.key("placement"), places, &owner, why, remedy);
        if let Some(reallocation) = metascheduler.reallocation {
            self.reallocation_effects(&path.key("reallocation"), &owner, reallocation);
        }
        if let Some(coallocation) = &metascheduler.coallocation {
            let providers = names.provider_copies(&metascheduler.providers).len();
            self.coallocation_effects(&path.key("coallocation"), &owner, coallocation, providers);
        }
        self.uses(
            &path.key("negotiation"),
            composes.is_some(),
            &owner,
            "only a metascheduler with `composition` negotiates",
            "remove it, or add `composition`",
        );
        let Some(composition) = composes else { return };
        let ours = !matches!(composition, Composition::Own(_));
        let offers = ours && *composition != Composition::FreeTimeSlots;
        let why =
            |ours_say| if ours { ours_say } else { "a composition of one's own does not read it" };
        let rows = [
            ("relax", offers, why("there are no offers to relax")),
            ("spread", offers, why("there are no offers to spread over")),
            (
                "weights",
                *composition == Composition::OffersDplbV2,
                "only composition \"offers-dplb-v2\" reads it",
            ),
        ];
        for (key, read, why) in rows {
            let at = path.key("negotiation").key(key);
            let owner = format!("the negotiation of {owner}");
            self.uses(&at, read, &owner, why, "remove it, or choose another `composition`");
        }
    }

    fn reallocation_effects(&mut self, path: &Path, owner: &str, reallocation: Reallocation) {
        let Reallocation { algorithm, heuristic, .. } = reallocation;
        let owner = format!("the reallocation of {owner}");
        let moves = algorithm != ReallocationAlgorithm::None;
        let compares = heuristic.compares();
        let still = "under algorithm \"none\" no job moves";
        let only = |read: bool, why| if moves { (read, why) } else { (false, still) };
        let rows = [
            ("heuristic", only(true, still)),
            ("period", only(true, still)),
            (
                "threshold",
                only(algorithm == ReallocationAlgorithm::Regular, "only \"regular\" reads it"),
            ),
            (
                "resizes",
                only(
                    algorithm == ReallocationAlgorithm::Regular
                        || reallocation.resizes != Resizes::Always,
                    "under \"all-cancellation\" all sizes are searched anew",
                ),
            ),
            ("window", only(compares, "heuristic \"mct\" compares no jobs")),
            ("start-up", only(true, still)),
            ("data", only(true, still)),
            ("bandwidth", only(reallocation.data.0 > 0, "no `data` move with a job")),
        ];
        for (key, (read, why)) in rows {
            let remedy = match key {
                "bandwidth" if moves => "remove it, or say how much `data` a job has",
                _ => "remove it, or choose another `algorithm` or `heuristic`",
            };
            self.uses(&path.key(key), read, &owner, why, remedy);
        }
    }

    fn workload_effects(&mut self, place: usize, sorts: bool, flow: &Flow) {
        let (path, workload) =
            (Path::root().key("workload").index(place), &self.scenario.workloads[place]);
        let owner = format!("workload \"{}\"", workload.name);
        let merges = workload.merge.is_some();
        let why = if merges {
            "a merger's jobs bring the data of the workloads they are from"
        } else {
            "only jobs of a grid bring data along"
        };
        let grid = self.scenario.grid.as_ref();
        let on_grid = self.directory.may_run_on_grid(workload);
        self.uses(&path.key("data"), on_grid && !merges, &owner, why, "remove it");
        if let Some(grid) = grid.filter(|_| on_grid) {
            let saves = grid.saves();
            let at = path.key("data").key("checkpoint");
            let why = "no job of this grid writes checkpoints";
            self.uses(&at, saves, &format!("the data of {owner}"), why, "remove it");
        }
        let why = "no provider has `order = \"key\"`, and no metascheduler jobs that are `urgent`";
        let remedy = "remove it, or set `order = \"key\"` for a provider";
        for (index, _) in workload.jobs.iter().flatten().enumerate() {
            let at = path.key("jobs").index(index).key("key");
            self.uses(&at, sorts, &format!("the jobs of {owner}"), why, remedy);
        }
        for (index, step) in workload.steps.iter().enumerate() {
            if let Step::Reservations { .. } = step {
                let at = path.key("step").index(index);
                self.reserving_effects(&at, step, place, flow);
            }
            if let Step::Moldable { .. } = step {
                let at = path.key("step").index(index).key("kind");
                let why = "no metascheduler with `reallocation` gets its jobs, no reservation \
                           leaves their sizes open, and their receivers take them as rigid";
                let remedy = "remove the step, submit to a metascheduler with `reallocation`, or add \
                              `narrowest` or `widest` to a step \"reservations\"";
                let what = format!("step \"moldable\" of {owner}");
                let read = flow.molded[place] || flow.leave_sizes[place];
                self.has_effect(&at, read, &what, why, remedy);
            }
            if let Step::Key { .. } = step {
                let at = path.key("step").index(index).key("by");
                self.uses(&at, sorts, &format!("step \"key\" of {owner}"), why, remedy);
            }
        }
    }

    /// Figures of transactions show nothing if there are no transactions.
    fn figures_of_transactions(&mut self) {
        let any = self.scenario.metaschedulers.iter().any(|it| it.transaction().is_some());
        for (index, figure) in self.scenario.figures.iter().enumerate() {
            if figure.kind.needs_transactions() {
                let at = Path::root().key("figure").index(index).key("kind");
                let what = &format!("figure \"{}\"", figure.kind.name());
                let why = "no metascheduler gets parts of jobs by a `protocol`";
                self.has_effect(&at, any, what, why, "remove it, or choose a `protocol`");
            }
        }
    }

    /// Crashes have no effect on actors to which no job comes.
    fn idle_crashes(&mut self, flow: &Flow, names: &Names) {
        let scenario = self.scenario;
        let tables = scenario.failures.iter().enumerate();
        for (table, actors) in tables.filter_map(|(index, it)| Some((index, it.actors.as_ref()?))) {
            for (index, actor) in actors.iter().enumerate() {
                let name = actor.as_str();
                let place = self.directory.metascheduler_place(name);
                let used = match names.providers.get(name) {
                    Some(&provider) => flow.serves[provider].is_used(),
                    None => place.is_none_or(|place| flow.metaschedulers[place]),
                };
                let at = Path::root().key("failures").index(table).key("actors").index(index);
                let what = format!("crashing \"{name}\"");
                let why = "no job comes to it";
                let remedy = "remove it, or let a user or a metascheduler submit to it";
                self.has_effect(&at, used, &what, why, remedy);
            }
        }
    }

    /// Workloads, metaschedulers, a grid or plans that no user names.
    fn unused_actors(&mut self, flow: &Flow) {
        let scenario = self.scenario;
        let mut users = scenario.users.iter();
        let mut metaschedulers = scenario.metaschedulers.iter().zip(&flow.metaschedulers);
        let grid = scenario.grid.is_none()
            || users.any(|user| scenario.submits_to_grid(user))
            || metaschedulers.any(|(it, &used)| used && scenario.uses_grid(it));
        let mut users = scenario.users.iter();
        let plans = scenario.plans.is_none() || users.any(|user| scenario.submits_to_plans(user));
        for (key, used) in [("grid", grid), ("plans", plans)] {
            let (at, what) = (Path::root().key(key), format!("[{key}]"));
            let remedy = "remove it, or name it in a [[user]]";
            self.has_effect(&at, used, &what, "no user names it as `submits-to`", remedy);
        }
        let metaschedulers = scenario.metaschedulers.iter().map(|it| &it.name);
        let workloads = scenario.workloads.iter().map(|it| &it.name);
        let kinds = [
            ("workload", workloads.collect::<Vec<_>>(), &flow.workloads),
            ("metascheduler", metaschedulers.collect(), &flow.metaschedulers),
        ];
        for (kind, names, used) in kinds {
            for (index, (name, &used)) in names.iter().zip(used).enumerate() {
                let at = Path::root().key(kind).index(index).key("name");
                let key = if kind == "workload" { "workload" } else { "submits-to" };
                let why = format!("no user names it as `{key}`");
                let what = format!("{kind} \"{name}\"");
                self.has_effect(&at, used, &what, &why, "remove it, or name it in a [[user]]");
            }
        }
    }
}
