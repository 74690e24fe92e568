//! Actors: the targets of users, the providers of metaschedulers, and the ends of links.

use super::names::{Known, Names};
use super::{Check, list};
use crate::file::{AsksFor, Metascheduler, Role, Step};
use crate::quantity::TimeSpan;
use haggle_config::document::Path;

impl<'a> Check<'a> {
    pub(super) fn check_actors(&mut self, names: &Names) {
        self.check_presence();
        self.check_processor_total();
        self.check_resuming(names);
        self.check_profiling();
        self.check_users(names);
        self.check_metaschedulers(names);
        self.check_links(names);
        self.check_overflow(names);
    }

    /// A scenario needs providers (or a grid or plans), users and workloads: nothing would happen without them.
    fn check_presence(&mut self) {
        let scenario = self.scenario;
        let has_resources =
            !scenario.providers.is_empty() || scenario.grid.is_some() || scenario.plans.is_some();
        let present = [
            ("provider", has_resources, "a name and processors, or a [grid]"),
            ("workload", !scenario.workloads.is_empty(), "a name and a log, a model or jobs"),
            ("user", !scenario.users.is_empty(), "a name, a workload and `submits-to`"),
        ];
        for (kind, present, with) in present {
            if !present {
                self.report(
                    &Path::root().key(kind),
                    format!("the scenario has no {kind}"),
                    "the scenario",
                    format!("add a [[{kind}]] with {with}"),
                );
            }
        }
    }

    /// Processors are numbered across all providers, grids and clusters, so their total must fit a `u32`.
    fn check_processor_total(&mut self) {
        let providers = self.scenario.providers.len();
        let others = self.scenario.owners().into_iter().skip(providers);
        let mut total: u64 = others.map(|(_, members)| u64::from(members)).sum();
        for (index, provider) in self.scenario.providers.iter().enumerate() {
            total += u64::from(provider.processors) * u64::from(provider.count);
            if total > u64::from(u32::MAX) {
                self.report(
                    &Path::root().key("provider").index(index).key("processors"),
                    format!("all providers together have more than {} processors", u32::MAX),
                    "one too many from here on",
                    "lower `processors` or `count`".to_owned(),
                );
                // All further providers exceed the limit, too: one report is enough.
                return;
            }
        }
    }

    /// The shortest time of profiling must not exceed the longest.
    fn check_profiling(&mut self) {
        for (index, provider) in self.scenario.providers.iter().enumerate() {
            let Some(estimates) = provider.policy.estimates() else { continue };
            if estimates.time_max < estimates.time_min {
                let path = Path::root().key("provider").index(index).key("policy").key("estimates");
                self.report(
                    &path,
                    format!(
                        "`time-max` is {}, less than `time-min`, {}",
                        estimates.time_max, estimates.time_min
                    ),
                    "less than `time-min`",
                    "the smaller one is the minimum; they are 5min and 30min if not given"
                        .to_owned(),
                );
            }
        }
    }

    fn check_users(&mut self, names: &Names) {
        let workloads = names.workload_list();
        let takers = names.takers.iter().map(String::as_str);
        let targets: Known<'_> = names.job_takers().chain(takers).collect();
        for (index, user) in self.scenario.users.iter().enumerate() {
            let path = Path::root().key("user").index(index);
            if !workloads.contains(user.workload.as_str()) {
                self.unknown_name(
                    &path.key("workload"),
                    "workload",
                    user.workload.as_str(),
                    &workloads,
                );
            }
            let target = user.submits_to.as_str();
            if targets.contains(target) {
                self.check_shape(index);
                self.check_reserving(index, names);
                continue;
            }
            let path = path.key("submits-to");
            if let Some(copies) = names.groups.get(target) {
                let copies: Vec<&str> = copies.iter().map(String::as_str).collect();
                self.report(
                    &path,
                    format!(
                        "\"{target}\" stands for {} providers, a user submits to one",
                        copies.len()
                    ),
                    "which one?",
                    format!("name one of {}", list(&copies)),
                );
            } else {
                self.unknown_name(&path, "provider or metascheduler", target, &targets);
            }
        }
    }

    /// Bags must go to metaschedulers that compose offers, and all other jobs must not.
    fn check_shape(&mut self, index: usize) {
        let user = &self.scenario.users[index];
        let Some(workload) = self.directory.workload(user.workload.as_str()) else { return };
        let bags = workload.steps.iter().any(|step| matches!(step, Step::Bags {}));
        let target = self.directory.metascheduler(user.submits_to.as_str());
        let composes = target.is_some_and(|it| it.composition.is_some());
        if bags == composes {
            return;
        }
        let (workload, target) = (&user.workload, &user.submits_to);
        let (message, help) = if bags {
            let message = format!(
                "the jobs of \"{workload}\" are bags of tasks, and \"{target}\" takes rigid jobs"
            );
            let help = "submit to a metascheduler with `composition`, or remove step \"bags\"";
            (message, help)
        } else {
            let message = format!(
                "the jobs of \"{workload}\" are rigid, and \"{target}\" takes bags of tasks"
            );
            (message, "add a [[workload.step]] with `kind = \"bags\"`, or submit elsewhere")
        };
        let path = Path::root().key("user").index(index).key("submits-to");
        self.report(&path, message, "does not take them", help.to_owned());
    }

    fn check_metaschedulers(&mut self, names: &Names) {
        let grid = self.scenario.grid.as_ref().map(|grid| grid.name.as_str());
        let known: Known<'_> = names.provider_list().chain(grid).collect();
        // A scenario without any provider, grid or plans has been reported already.
        let none = self.scenario.providers.is_empty();
        let elsewhere = self.scenario.grid.is_some() || self.scenario.plans.is_some();
        for (index, metascheduler) in self.scenario.metaschedulers.iter().enumerate() {
            let path = Path::root().key("metascheduler").index(index);
            if none && elsewhere {
                self.report(
                    &path.key("name"),
                    format!(
                        "metascheduler \"{}\" has no provider to place jobs on",
                        metascheduler.name
                    ),
                    "nowhere to place them",
                    "add a [[provider]], or remove it and submit to the grid or to the plans"
                        .to_owned(),
                );
            }
            self.check_provider_list(
                &path.key("providers"),
                &metascheduler.providers,
                &known,
                "provider",
            );
            self.check_grid_use(&path, metascheduler);
            self.check_role(&path, metascheduler);
            self.check_reallocation(&path, metascheduler);
            // Key and word of its role, and the disclosure that it needs.
            let (key, word) = metascheduler.role().named();
            let needs = metascheduler.needs(&self.scenario.own);
            self.check_coallocation(&path, metascheduler, names);
            self.check_time_of_retry(&path, metascheduler);
            for place in names.providers_meant(&metascheduler.providers) {
                let provider = &self.scenario.providers[place];
                let policy = Path::root().key("provider").index(place).key("policy");
                if metascheduler.composition.is_some()
                    && !provider.policy.bargains()
                    && !self.is_replaced(&policy)
                {
                    let name = &provider.name;
                    let reserves = provider.policy.reserving().is_some();
                    self.report(
                        &path.key(key),
                        match reserves {
                            true => format!(
                                "composition \"{word}\" needs offers for bags, and provider \"{name}\" \
                                 grants windows for rigid jobs only"
                            ),
                            false => format!(
                                "composition \"{word}\" needs offers, and provider \"{name}\" makes none"
                            ),
                        },
                        "asks for offers",
                        match reserves {
                            true => format!(
                                "leave \"{name}\" out of `providers`, or set `policy = \"edf\"` or \
                                 `policy = \"bags\"` for it and reserve no jobs there"
                            ),
                            false => format!(
                                "set `policy = \"edf\"` or `policy = \"bags\"` for provider \"{name}\", \
                                 or place rigid jobs with `placement`"
                            ),
                        },
                    );
                }
                self.check_reserves(&path, metascheduler, place);
                let provider = &self.scenario.providers[place];
                let disclosure = Path::root().key("provider").index(place).key("disclosure");
                // A stand-in replaces a wrong level, so it is not compared.
                let unknown = self.is_replaced(&disclosure);
                if provider.disclosure >= needs || unknown {
                    continue;
                }
                let needs = needs.name();
                let measures = matches!(metascheduler.role(), Role::Maps(mapping)
                    if mapping.profiling && mapping.asks_for == AsksFor::Machines);
                let (at, asks, instead) = if measures {
                    let at = path.key(key).key("profiling");
                    (at, "`profiling`".to_owned(), "remove `profiling`".to_owned())
                } else {
                    let asks = format!("{key} \"{word}\"");
                    (path.key(key), asks, format!("choose another {key}"))
                };
                self.report(
                    &at,
                    format!(
                        "{asks} needs disclosure \"{needs}\", provider \"{}\" discloses only \"{}\"",
                        provider.name,
                        provider.disclosure.name(),
                    ),
                    &format!("needs \"{needs}\""),
                    format!(
                        "set `disclosure = \"{needs}\"` for provider \"{}\", or {instead}",
                        provider.name,
                    ),
                );
            }
        }
    }

    /// A grid takes jobs as a provider does, but makes no offers and no promises.
    fn check_grid_use(&mut self, path: &Path, metascheduler: &Metascheduler) {
        let scenario = self.scenario;
        let Some(grid) = scenario.grid.as_ref().filter(|_| scenario.uses_grid(metascheduler))
        else {
            return;
        };
        let (name, at) = (&grid.name, Path::root().key("grid"));
        let listed = "names the grid";
        if grid.policy.takes_sessions() && !self.is_replaced(&at.key("policy")) {
            self.report(
                &path.key("providers"),
                format!("grid \"{name}\" takes sessions, which ask for shares of its resources"),
                listed,
                format!(
                    "let users of sessions submit to \"{name}\", or choose a policy for jobs \
                     (`haggle list grid-policies`)"
                ),
            );
        }
        let Role::Places(placement) = metascheduler.role() else {
            let (key, word) = metascheduler.role().named();
            self.report(
                &path.key(key),
                format!(
                    "{key} \"{word}\" needs processors that are promised, and grid \"{name}\" promises none"
                ),
                "asks the grid, too",
                format!("leave \"{name}\" out of `providers`, or place jobs by `placement`"),
            );
            return;
        };
        // An unknown rule has been reported.
        let Ok(placement) = placement.among(&scenario.own.placements) else { return };
        let needs = placement.question().needs();
        if grid.disclosure() < needs && !self.is_replaced(&at.key("disclosure")) {
            let (key, word) = metascheduler.role().named();
            let (needs, told) = (needs.name(), grid.disclosure().name());
            self.report(
                &path.key(key),
                format!(
                    "{key} \"{word}\" needs disclosure \"{needs}\", grid \"{name}\" discloses only \
                     \"{told}\""
                ),
                &format!("needs \"{needs}\""),
                format!("set `disclosure = \"{needs}\"` in [grid], or choose another {key}"),
            );
        }
    }

    /// A metascheduler has one role: two keys of roles contradict each other.
    fn check_role(&mut self, path: &Path, metascheduler: &Metascheduler) {
        let keys = [
            ("composition", metascheduler.composition.is_some()),
            ("coallocation", metascheduler.coallocation.is_some()),
            ("reallocation", metascheduler.reallocation.is_some()),
            ("mapping", metascheduler.mapping.is_some()),
        ];
        let mut given = keys.iter().filter(|(_, given)| *given).map(|&(key, _)| key);
        let (Some(first), Some(second)) = (given.next(), given.next()) else { return };
        self.report(
            &path.key(second),
            format!(
                "metascheduler \"{}\" can do only one of these: compose bags, spread rigid jobs, \
                 move moldable jobs or map iterative applications",
                metascheduler.name
            ),
            &format!("beside `{first}`"),
            "remove one of them, or add another [[metascheduler]]".to_owned(),
        );
    }

    /// Moldable jobs must go to queues that reserve: the completions that other queues predict may not hold.
    fn check_reserves(&mut self, path: &Path, metascheduler: &Metascheduler, place: usize) {
        let provider = &self.scenario.providers[place];
        let at = Path::root().key("provider").index(place);
        let keys = ["policy", "order", "compression"];
        let replaced = keys.iter().any(|key| self.is_replaced(&at.key(key)));
        if metascheduler.reallocation.is_none() {
            return;
        }
        let name = &provider.name;
        if provider.policy.reserves() || replaced {
            return;
        }
        self.report(
            &path.key("reallocation"),
            format!(
                "reallocation needs a fixed reservation for each job, and provider \"{name}\" \
                 makes none"
            ),
            "requests completions of jobs",
            format!(
                "set `policy = \"conservative\"` for provider \"{name}\", not with `compression = \
                 \"replan\"`, or `policy = \"fcfs\"` in the order of arrival: under any other \
                 policy a job may complete later than promised"
            ),
        );
    }

    fn check_reallocation(&mut self, path: &Path, metascheduler: &Metascheduler) {
        let Some(reallocation) = metascheduler.reallocation else { return };
        let at = path.key("reallocation");
        if reallocation.period == TimeSpan::ZERO {
            self.report(
                &at.key("period"),
                "the time between two examinations of the waiting jobs must be above \
                 zero"
                    .to_owned(),
                "no time",
                "write a length of time above zero, such as \"1h\"".to_owned(),
            );
        } else {
            self.check_recurring(&at.key("period"), reallocation.period);
        }
    }

    fn check_links(&mut self, names: &Names) {
        let stores = names.stores.iter().map(String::as_str);
        let actors: Known<'_> = names.actors().chain(stores).collect();
        for (index, link) in self.scenario.network.links.iter().enumerate() {
            let path = Path::root().key("network").key("link").index(index).key("between");
            for (end, actor) in link.between.iter().enumerate() {
                if !actors.contains(actor.as_str()) {
                    self.unknown_name(&path.index(end), "actor", actor.as_str(), &actors);
                }
            }
            if link.between[0] == link.between[1] {
                self.report(
                    &path,
                    format!("a link joins \"{}\" to itself", link.between[0]),
                    "the same actor twice",
                    "name two actors".to_owned(),
                );
            }
        }
    }
}
