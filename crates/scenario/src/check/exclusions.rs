//! Features that exclude each other: one table for each kind of item. The page docs/exclusions.md is made from them.
//!
//! A row has the two features, the place of the report below its item, and the condition under which the item has both
//! features. The words of the report follow: message, label and help.

use haggle_scheduling::coallocation::CoallocationPolicy;

use super::rule::{Refusal, exclude, with_words};
use crate::file::{
    Coallocation, Compression, EventsOrder, Failures, Figure, FigureKind, Grid, Maintenance,
    Metascheduler, Model, Network, NetworkModel, OnFailure, Overflow, Overrun, Passes, PlanLinks,
    Plans, Policy, Provider, RequestOrder, Role, Scenario, Sharing, Site, TaskProgress, User,
    Workflows, Workload,
};
use crate::quantity::TimeSpan;

/// Every pair of features that exclude each other, with the reason.
pub(super) fn all() -> Vec<[String; 3]> {
    let tables = [
        pairs(PERIODIC),
        pairs(PARTS),
        pairs(ON_NODES),
        pairs(WITH_RULES),
        pairs(PLANNED_PARTLY),
        pairs(SPREADING),
        pairs(ROLES),
        pairs(OFFERING),
        pairs(MOLDING),
        pairs(SUBMITTING),
        pairs(WORKLOADS),
        pairs(USING_GRID),
        pairs(OVERFLOW),
        pairs(GRID),
        pairs(SITES),
        pairs(CRASHES),
        pairs(LOST_IN_CRASHES),
        pairs(SPREADING_FAILURES),
        pairs(CLOSING),
        pairs(RECORDED_LOADS),
        pairs(AT_ONCE),
        pairs(ORDER_OF_EVENTS),
        pairs(FIGURES),
    ];
    tables.concat()
}

/// The pairs of a table, with a mark in place of each word that depends on the scenario.
fn pairs<T, F>(table: Exclusions<T, F>) -> Vec<[String; 3]> {
    let pairs = table.iter().filter_map(|rule| Some((rule.between?, rule.message)));
    let pairs = pairs.map(|((one, other), message)| {
        [one.to_owned(), other.to_owned(), with_words(message, |_| "…".to_owned())]
    });
    pairs.collect()
}

/// Table of features that exclude each other, for items `T` with facts `F`.
type Exclusions<T, F = ()> = &'static [Refusal<T, F>];

/// Facts about a provider whose scheduler has an interval.
pub(super) struct Periodic {
    pub(super) parts: bool,
    pub(super) reserved: bool,
    pub(super) closes: bool,
    pub(super) crashes: bool,
    pub(super) changes: bool,
}

/// Providers whose schedulers decide at multiples of an `interval`.
#[rustfmt::skip] // a table
pub(super) const PERIODIC: Exclusions<Provider, Periodic> = &[
    exclude(("`interval` of a provider", "policies except `fcfs`, `easy` and `conservative`"), "interval", |it, _| it.policy.order().is_none(),
        "policy \"{policy}\" of provider \"{name}\" answers or starts jobs at any time", "not for this policy",
        "remove it, or set policy \"fcfs\", \"easy\" or \"conservative\""),
    exclude(("`interval` of a provider", "`passes = \"event\"`"), "interval", |it, _| it.passes == Passes::Event,
        "provider \"{name}\" decides after each event, and cannot wait for an interval", "not with `passes`", "remove one of the two"),
    exclude(("`interval` of a provider", "co-allocation, mapping"), "interval", |_, at| at.parts,
        "provider \"{name}\" keeps parts of jobs, which start at agreed times", "not for parts of jobs", "remove it"),
    exclude(("`interval` of a provider", "reservations"), "interval", |_, at| at.reserved,
        "provider \"{name}\" grants windows, which begin at any time", "not for reservations", "remove it"),
    exclude(("`interval` of a provider", "maintenance"), "interval", |_, at| at.closes,
        "provider \"{name}\" has maintenance, which begins at any time", "not with [[maintenance]]", "remove it, or [[maintenance]] of this provider"),
    exclude(("`interval` of a provider", "crashes of the provider"), "interval", |_, at| at.crashes,
        "the scheduler of provider \"{name}\" crashes and restarts at any time", "not with crashes", "remove it, or take the provider out of `actors` of [[failures]]"),
    exclude(("`interval` of a provider", "start states"), "interval", |it, _| it.has_start_state(),
        "jobs of provider \"{name}\" run at time zero, and their plans end at any time", "not with a start state", "remove it, or the start state"),
    exclude(("`interval` of a provider", "changes of settings"), "interval", |_, at| at.changes,
        "a [[change]] may replace the queue of provider \"{name}\" between two passes", "not with [[change]]", "remove it, or the `set` of [[change]]"),
];

/// Facts about a provider that keeps parts of jobs.
pub(super) struct KeepsParts {
    pub(super) fails: bool,
    pub(super) crashes: bool,
    /// A protocol of agreements gets the parts.
    pub(super) by_protocol: bool,
    /// Parts do not move, so a part can be broken: its metascheduler places the job again.
    pub(super) stays: bool,
    /// Messages about the parts are repeated.
    pub(super) repeats: bool,
    /// Speed at which all parts must run: they run in step.
    pub(super) speed: f64,
}

/// Providers that keep parts of the jobs of a metascheduler, `by`.
#[rustfmt::skip] // a table
pub(super) const PARTS: Exclusions<Provider, KeepsParts> = &[
    exclude(("co-allocation, mapping", "`policy = \"reservations\"` of its providers"), "policy", |it, _| it.policy.reserving().is_some(),
        "metascheduler \"{by}\" spreads jobs over provider \"{name}\", whose queue then moves all work within the windows of reservations, \
         and cannot keep parts of jobs where they are booked",
        "not for parts of jobs", "set another policy, such as `policy = \"conservative\"`: it grants windows to jobs with reservations as well"),
    exclude(("co-allocation, mapping", "`policy = \"recorded\"` of its providers"), "policy", |it, _| it.policy.starts_as_recorded(),
        "metascheduler \"{by}\" spreads jobs over provider \"{name}\", whose jobs then start when their logs say, whatever is booked",
        "not for parts of jobs", "set another policy, such as `policy = \"conservative\"`"),
    exclude(("co-allocation with moves, mapping", "`overrun = \"extend\"`"), "overrun", |it, at| it.overrun != Overrun::Kill && !at.stays,
        "metascheduler \"{by}\" spreads jobs over provider \"{name}\", which then lets no job run into the time of a part that may move",
        "not for parts of jobs", "set `overrun = \"kill\"`, or `policy = \"rigid\"` of the metascheduler"),
    exclude(("co-allocation, mapping", "providers of different `speed`"), "speed", |it, at| it.speed != at.speed,
        "metascheduler \"{by}\" spreads jobs over provider \"{name}\", which then runs the parts of a job at another speed than its other \
         providers", "not for parts of jobs", "give all its providers the same `speed` (1 under `mapping`)"),
    exclude(("co-allocation with moves, mapping", "failures of its providers"), "", |_, at| at.fails && !at.stays,
        "metascheduler \"{by}\" spreads jobs over provider \"{name}\", which fails: some would run in part", "must not fail",
        "set `policy = \"rigid\"` of a metascheduler with `coallocation`, or take the provider out of [[failures]] or of the \
         metascheduler's `providers`"),
    // Under a protocol, crashes need `retry`: see below.
    exclude(("co-allocation with moves or without `retry`, mapping", "crashes of its providers"), "",
        |_, at| at.crashes && !at.by_protocol && !(at.stays && at.repeats),
        "metascheduler \"{by}\" spreads jobs over provider \"{name}\", whose scheduler crashes: some would run in part",
        "must not crash", "set `policy = \"rigid\"` and `retry` of a metascheduler with `coallocation`, or take the provider out of \
         `actors` of [[failures]]"),
];

/// Uses of a provider that places jobs on nodes.
#[derive(Default)]
pub(super) struct UsesNodes {
    /// A metascheduler spreads jobs or bags over it.
    pub(super) spread: bool,
    /// A metascheduler moves moldable jobs that wait there.
    pub(super) moved: bool,
    pub(super) reserved: bool,
    pub(super) closed: bool,
}

/// Providers with nodes, in a scenario in which jobs ask for more than processors.
#[rustfmt::skip] // a table
pub(super) const ON_NODES: Exclusions<Provider, UsesNodes> = &[
    exclude(("nodes", "policies except \"fcfs\", \"easy\" and \"conservative\""), "policy", |it, _| !it.policy.is_plain(),
        "provider \"{name}\" places jobs on nodes, and its policy counts processors only", "not on nodes",
        "choose \"fcfs\", \"easy\" or \"conservative\", or remove `node`"),
    exclude(("nodes", "`on-failure = \"resume\"`"), "on-failure", |it, _| it.on_failure == Some(OnFailure::Resume),
        "provider \"{name}\" places jobs on nodes, and writes no checkpoints", "not on nodes",
        "choose \"restart\", \"requeue\" or \"fail\", or remove `node`"),
    exclude(("nodes", "co-allocation, mapping, composition"), "node", |_, at| at.spread,
        "provider \"{name}\" places jobs on nodes, and takes no parts of jobs and no bags", "not for parts and bags",
        "remove `node`, or take it out of the metaschedulers with `coallocation`, `mapping` or `composition`"),
    exclude(("nodes", "reallocation"), "node", |_, at| at.moved,
        "provider \"{name}\" places jobs on nodes, from which waiting jobs are not moved away", "not with reallocation",
        "remove `node`, or take it out of the metaschedulers with `reallocation`"),
    exclude(("nodes", "reservations"), "node", |_, at| at.reserved, "provider \"{name}\" places jobs on nodes, and reserves none in advance",
        "not for reservations", "remove `node`, or submit jobs with a step \"reservations\" elsewhere"),
    exclude(("nodes", "maintenance"), "node", |_, at| at.closed, "provider \"{name}\" places jobs on nodes, and closes none for maintenance",
        "not with maintenance", "remove `node`, or let nodes fail at listed times: [[failures]] with `outages`"),
];

/// Providers with queues, qualities of service (QOS), accounts or priorities.
#[rustfmt::skip] // a table
pub(super) const WITH_RULES: Exclusions<Provider, UsesNodes> = &[
    exclude(("queues, QOS, accounts, priorities", "policies except \"fcfs\", \"easy\" and \"conservative\""), "policy", |it, _| !it.policy.is_plain(),
        "provider \"{name}\" has queues, QOS, accounts or priorities, and its policy takes no account of them", "not with such rules",
        "choose \"fcfs\", \"easy\" or \"conservative\""),
    exclude(("queues, QOS, accounts, priorities", "`policy = \"conservative\"` without `compression = \"replan\"`"), "policy",
        |it, _| matches!(it.policy, Policy::Conservative { compression, .. } if compression != Compression::Replan),
        "limits and priorities of provider \"{name}\" change the places of waiting jobs, and its policy keeps them", "not with such rules",
        "write `policy = { name = \"conservative\", compression = \"replan\" }`"),
    exclude(("queues, QOS, accounts, priorities", "co-allocation, mapping, composition"), "", |_, at| at.spread,
        "provider \"{name}\" has queues, QOS, accounts or priorities, and takes no parts of jobs and no bags", "not for parts and bags",
        "take it out of the metaschedulers with `coallocation`, `mapping` or `composition`"),
    exclude(("queues, QOS, accounts, priorities", "reallocation"), "", |_, at| at.moved,
        "waiting jobs of provider \"{name}\" have no planned starts by which they could be moved", "not with reallocation",
        "take it out of the metaschedulers with `reallocation`, or remove its queues, QOS, accounts and priorities"),
    exclude(("queues, QOS, accounts, priorities", "reservations"), "", |_, at| at.reserved,
        "provider \"{name}\" has queues, QOS, accounts or priorities, and reserves nothing in advance", "not for reservations",
        "submit jobs with a step \"reservations\" elsewhere"),
    exclude(("queues, QOS, accounts, priorities", "maintenance"), "", |_, at| at.closed,
        "provider \"{name}\" has queues, QOS, accounts or priorities, and closes no processors for maintenance", "not with maintenance",
        "let processors fail at listed times: [[failures]] with `outages`"),
    exclude(("preemption", "checkpoints that go over shared links"), "checkpoints.store",
        |it, _| it.may_preempt() && it.checkpoints.as_ref().is_some_and(|it| it.store.is_some()),
        "running jobs of provider \"{name}\" are stopped for others, and their checkpoints go over shared links", "not with preemption",
        "remove `store`, or remove `preempts`"),
];

/// Providers with `depth` or `window` of policy "conservative".
#[rustfmt::skip] // a table
pub(super) const PLANNED_PARTLY: Exclusions<Provider, UsesNodes> = &[
    exclude(("`depth` or `window` of \"conservative\"", "compressions except \"replan\""), "policy",
        |it, _| matches!(it.policy, Policy::Conservative { compression, .. } if compression != Compression::Replan),
        "policy \"conservative\" of provider \"{name}\" has `depth` or `window`, and keeps reservations once they are made", "only with \"replan\"",
        "add `compression = \"replan\"`, or remove `depth` and `window`"),
    exclude(("`depth` or `window` of \"conservative\"", "co-allocation, mapping, composition"), "policy", |_, at| at.spread,
        "provider \"{name}\" plans a part of its queue, and takes no parts of jobs and no bags", "not for parts and bags",
        "remove `depth` and `window`, or take it out of the metaschedulers with `coallocation`, `mapping` or `composition`"),
    exclude(("`depth` or `window` of \"conservative\"", "reallocation"), "policy", |_, at| at.moved,
        "waiting jobs of provider \"{name}\" have no planned starts by which they could be moved", "not with reallocation",
        "remove `depth` and `window`, or take it out of the metaschedulers with `reallocation`"),
    exclude(("`depth` or `window` of \"conservative\"", "reservations"), "policy", |_, at| at.reserved,
        "provider \"{name}\" plans a part of its queue, and reserves nothing in advance", "not for reservations",
        "remove `depth` and `window`, or submit jobs with a step \"reservations\" elsewhere"),
    exclude(("`depth` or `window` of \"conservative\"", "maintenance"), "policy", |_, at| at.closed,
        "provider \"{name}\" plans a part of its queue, and closes no processors for maintenance", "not with maintenance",
        "remove `depth` and `window`, or let processors fail at listed times: [[failures]] with `outages`"),
];

/// Facts about a metascheduler that spreads jobs.
pub(super) struct Spreads {
    pub(super) crashes: bool,
    /// It or one of its providers crashes.
    pub(super) crashes_near: bool,
    /// Messages to one of its providers take time.
    pub(super) late: bool,
}

/// Metaschedulers that spread jobs over providers.
#[rustfmt::skip] // a table
pub(super) const SPREADING: Exclusions<Metascheduler, Spreads> = &[
    exclude(("co-allocation with moves", "`requests = \"by-provider\"` over messages that take time"), "coallocation.requests",
        |it, at| asks_by_provider(it) && at.late,
        "messages between metascheduler \"{name}\" and provider \"{far}\" take time: the next request of a provider arrives after the \
         other requests are served", "cannot be kept", "{remedy}, or set `requests = \"in-turns\"`"),
    exclude(("co-allocation with moves", "`retry`"), "coallocation.retry",
        |it, _| it.transaction().is_none() && it.retry().is_some() && moves(it),
        "metascheduler \"{name}\" moves jobs, and a move whose commit is late cannot be undone", "for jobs that stay",
        "set `policy = \"rigid\"`, or remove `retry`"),
    exclude(("co-allocation without `retry`, mapping", "crashes of its metascheduler"), "{table}",
        |it, at| at.crashes && it.transaction().is_none() && it.retry().is_none(),
        "metascheduler \"{name}\" spreads jobs and crashes: some would start in part", "must not crash",
        "{outlet}take it out of `actors` of [[failures]]"),
    exclude(("co-allocation with a `protocol`", "moves"), "coallocation.protocol", |it, _| it.transaction().is_some() && moves(it),
        "protocol \"{protocol}\" moves no job that is agreed on", "agreed parts stay", "set `policy = \"rigid\"`, or remove `protocol`"),
    exclude(("co-allocation with a `protocol`, without `retry`", "crashes of its metascheduler or providers"), "coallocation",
        |it, at| at.crashes_near && it.transaction().is_some_and(|(_, it)| it.retry.is_none()),
        "\"{crashing}\" crashes, and metascheduler \"{name}\" does not repeat messages that are lost with it", "no `retry`",
        "set `retry = \"1s\"`, or take it out of `actors` of [[failures]]"),
];

/// True if co-allocated jobs may move.
pub(super) fn moves(it: &Metascheduler) -> bool {
    it.coallocation.as_ref().is_some_and(|it| it.policy.moves() > CoallocationPolicy::Rigid)
}

/// True if co-allocated jobs move, and the requests for their moves are served by provider.
pub(super) fn asks_by_provider(it: &Metascheduler) -> bool {
    let by_provider = |it: &Coallocation| it.requests == RequestOrder::ByProvider;
    it.transaction().is_none() && moves(it) && it.coallocation.as_ref().is_some_and(by_provider)
}

/// Roles of a metascheduler: only the first two are reported.
#[rustfmt::skip] // a table
pub(super) const ROLES: Exclusions<Metascheduler> = &[
    exclude(("composition", "co-allocation by the same metascheduler"), "coallocation",
        |it, ()| it.composition.is_some() && it.coallocation.is_some(), ROLES_MESSAGE, "beside `{first}`", ROLES_HELP),
    exclude(("composition, co-allocation", "reallocation by the same metascheduler"), "reallocation",
        |it, ()| (it.composition.is_some() || it.coallocation.is_some()) && it.reallocation.is_some(), ROLES_MESSAGE, "beside `{first}`",
        ROLES_HELP),
    exclude(("composition, co-allocation, reallocation", "mapping by the same metascheduler"), "mapping",
        |it, ()| !matches!(it.role(), Role::Maps(_)) && it.mapping.is_some(), ROLES_MESSAGE, "beside `{first}`", ROLES_HELP),
];

const ROLES_MESSAGE: &str = "metascheduler \"{name}\" can do only one of these: compose bags, spread rigid jobs, move \
                             moldable jobs or map iterative applications";
const ROLES_HELP: &str = "remove one of them, or add another [[metascheduler]]";

/// Providers of a metascheduler that composes bags.
#[rustfmt::skip] // a table
pub(super) const OFFERING: Exclusions<Provider> = &[
    exclude(("composition", "providers with other policies than \"edf\" and \"bags\""), "composition", |it, ()| !it.policy.bargains(),
        "composition \"{word}\" needs offers, and provider \"{name}\" makes none", "asks for offers",
        "set `policy = \"edf\"` or `policy = \"bags\"` for provider \"{name}\", which grant windows to jobs with reservations as well; or \
         place rigid jobs with `placement`"),
];

/// Providers of a metascheduler that moves moldable jobs; the fact is true if the policy of the provider is known.
#[rustfmt::skip] // a table
pub(super) const MOLDING: Exclusions<Provider, bool> = &[
    // The completions that other queues predict may not hold.
    exclude(("reallocation", "policies whose queue does not reserve"), "reallocation", |it, &known| known && !it.policy.reserves(),
        "reallocation needs a fixed reservation for each job, and provider \"{name}\" makes none", "requests completions of jobs",
        "set `policy = \"conservative\"` for provider \"{name}\", not with `compression = \"replan\"`, or `policy = \"fcfs\"` in the order \
         of arrival: under any other policy a job may complete later than promised"),
];

/// Metaschedulers that name the grid; the fact is true if the grid takes sessions.
#[rustfmt::skip] // a table
pub(super) const USING_GRID: Exclusions<Metascheduler, bool> = &[
    exclude(("sessions", "metaschedulers that name the grid"), "providers", |_, &sessions| sessions,
        "grid \"{grid}\" takes sessions, which ask for shares of its resources", "names the grid",
        "let users of sessions submit to \"{grid}\", or choose a policy for jobs (`haggle list grid-policies`)"),
    // A grid takes jobs as a provider does, but makes no offers and no promises.
    exclude(("composition, co-allocation, reallocation, mapping", "the grid"), "{key}", |it, _| !matches!(it.role(), Role::Places(_)),
        "{key} \"{word}\" needs processors that are promised, and grid \"{grid}\" promises none", "asks the grid, too",
        "leave \"{grid}\" out of `providers`, or place jobs by `placement`"),
];

/// Facts about the jobs that a grid passes on.
pub(super) struct PassesOn {
    pub(super) sessions: bool,
    /// The target is a metascheduler that places jobs, and uses the grid.
    pub(super) back: bool,
    /// The target is a metascheduler that does anything else.
    pub(super) elsewhere: bool,
}

/// Jobs that a grid passes on.
#[rustfmt::skip] // a table
pub(super) const OVERFLOW: Exclusions<Overflow, PassesOn> = &[
    exclude(("sessions", "overflow of the grid"), "", |_, at| at.sessions,
        "sessions do not wait: they are placed when they arrive, or rejected", "not used",
        "remove it, or choose a policy for jobs (`haggle list grid-policies`)"),
    exclude(("overflow of the grid", "a target that uses the grid"), "to", |_, at| at.back,
        "metascheduler \"{to}\" uses this grid: jobs would come back", "passes jobs on to it",
        "name a provider, or a metascheduler with `placement` that uses providers only"),
    exclude(("overflow of the grid", "targets with composition, co-allocation, reallocation or mapping"), "to", |_, at| at.elsewhere,
        "metascheduler \"{to}\" does not place rigid jobs on one provider each", "passes jobs on to it",
        "name a provider, or a metascheduler with `placement` that uses providers only"),
];

/// Actors that take no tasks of workflows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NoTasks {
    Sessions,
    Plans,
    UsesGrid,
    OtherRole,
}

/// Facts about the jobs of a user, and about the actor to which they go.
#[derive(Default)]
pub(super) struct Submission {
    /// The workload is known.
    pub(super) has_jobs: bool,
    /// The target is known.
    pub(super) has_target: bool,
    pub(super) bags: bool,
    pub(super) iterative: bool,
    pub(super) phases: bool,
    /// Jobs need reservations, and the target grants none.
    pub(super) unreserved: bool,
    /// Jobs need reservations, and the target is a provider that starts jobs as recorded.
    pub(super) as_recorded: bool,
    pub(super) composes: bool,
    pub(super) maps: bool,
    pub(super) plans: bool,
    /// Reason for which the target does not take the tasks of the user.
    pub(super) refuses_tasks: Option<NoTasks>,
    /// A step behind a merger would change tasks.
    pub(super) parts_tasks: bool,
}

/// Users and the actors to which they submit.
#[rustfmt::skip] // a table
pub(super) const SUBMITTING: Exclusions<User, Submission> = &[
    exclude(("bags", "actors without composition"), "submits-to", |_, at| at.has_jobs && at.has_target && at.bags && !at.composes,
        "the jobs of \"{workload}\" are bags of tasks, and \"{target}\" takes rigid jobs", "does not take them",
        "submit to a metascheduler with `composition`, or remove step \"bags\""),
    exclude(("composition", "jobs that are not bags"), "submits-to", |_, at| at.has_jobs && at.has_target && !at.bags && at.composes,
        "the jobs of \"{workload}\" are rigid, and \"{target}\" takes bags of tasks", "does not take them",
        "add a [[workload.step]] with `kind = \"bags\"`, or submit elsewhere"),
    exclude(("reservations", "metaschedulers, grid, plans"), "submits-to", |_, at| at.has_target && at.unreserved,
        "the jobs of \"{workload}\" need reservations, and \"{target}\" grants none", "reserves none",
        "submit to a provider, or remove step \"reservations\""),
    exclude(("reservations", "`policy = \"recorded\"` of their provider"), "submits-to", |_, at| at.as_recorded,
        "the jobs of \"{workload}\" need reservations, and the jobs of provider \"{target}\" start when their logs say",
        "reserves none", "set another policy for the provider, or remove step \"reservations\""),
    exclude(("applications of phases", "actors except plans"), "workload", |_, at| at.has_jobs && at.phases && !at.plans,
        "applications of phases are rescheduled by [plans] alone", "applications", "submit them to [plans]"),
    exclude(("plans", "jobs except applications of phases"), "workload", |_, at| at.has_jobs && !at.phases && at.plans,
        "[plans] reschedules applications of phases, and takes no other jobs", "other jobs",
        "submit a workload with `model = \"applications\"`"),
    exclude(("iterative applications", "actors without mapping"), "submits-to", |_, at| at.has_jobs && at.iterative && !at.maps,
        "the jobs of \"{workload}\" are iterative applications, and \"{target}\" takes none", "does not take them",
        "submit to a metascheduler with `mapping`"),
    exclude(("mapping", "jobs except iterative applications"), "submits-to", |_, at| at.has_jobs && !at.iterative && at.maps,
        "the jobs of \"{workload}\" are no iterative applications, and \"{target}\" takes only those", "does not take them",
        "submit a workload with `model = \"iterative\"`, or submit elsewhere"),
    exclude(("workflows", "sessions"), "submits-to", |_, at| at.refuses_tasks == Some(NoTasks::Sessions),
        "\"{target}\" takes no tasks of workflows", "does not take them",
        "submit to a grid whose jobs can wait, such as one with `policy = \"workflow\"`"),
    exclude(("workflows of tasks", "plans"), "submits-to", |_, at| at.refuses_tasks == Some(NoTasks::Plans),
        "\"{target}\" takes no tasks of workflows", "does not take them", "submit to a grid or to providers"),
    exclude(("workflows", "metaschedulers that use the grid"), "submits-to", |_, at| at.refuses_tasks == Some(NoTasks::UsesGrid),
        "\"{target}\" takes no tasks of workflows", "does not take them",
        "submit to the grid itself, or to a metascheduler that uses providers only"),
    exclude(("workflows", "co-allocation, reallocation, mapping"), "submits-to", |_, at| at.refuses_tasks == Some(NoTasks::OtherRole),
        "\"{target}\" takes no tasks of workflows", "does not take them", "submit to a provider, or to a metascheduler with `placement`"),
    exclude(("workflows", "steps behind a merger"), "workload", |_, at| at.parts_tasks,
        "a step behind a merger would part tasks from their workflows", "not for workflows", "remove the steps"),
];

/// Facts about the place at which the jobs of a workload run.
#[derive(Default)]
pub(super) struct Runs {
    /// All of them run on the grid.
    pub(super) on_grid: bool,
    /// They are sessions.
    pub(super) sessions: bool,
    pub(super) has_providers: bool,
    /// A grid schedules them before they begin.
    pub(super) statically: bool,
    /// Place of the first merged workload whose jobs no step can change.
    pub(super) merges_whole: bool,
}

/// Workloads, their steps and the places at which their jobs run.
#[rustfmt::skip] // a table
pub(super) const WORKLOADS: Exclusions<Workload, Runs> = &[
    exclude(("applications of phases, iterative applications", "steps"), "step", |it, _| is_given_whole(it) && !it.steps.is_empty(),
        "applications come from their model, and no step can change them", "not used", "remove the steps"),
    exclude(("applications of phases, iterative applications", "mergers"), "merge.{part}", |_, at| at.merges_whole,
        "workloads of applications are not merged", "applications", "let a user of their own submit them"),
    exclude(("workflows", "steps"), "step", |it, _| it.workflows.is_some() && it.is_workflows() && !it.steps.is_empty(),
        "a step would part tasks from their workflows", "not for workflows", "remove the steps"),
    exclude(("workflows with a `shape` or `files`", "`data.input`"), "data.input",
        |it, _| brings_data(it) && it.data.unwrap_or_default().input.0 > 0, "the workflow of a task gives its input", "not used",
        "remove it; `checkpoint` is for tasks of which no size is known"),
    exclude(("workflows with a `shape` or `files`", "`data.output`"), "data.output",
        |it, _| brings_data(it) && it.data.unwrap_or_default().output.0 > 0, "the workflow of a task gives its output", "not used",
        "remove it; `checkpoint` is for tasks of which no size is known"),
    exclude(("`processors` of tasks", "the grid"), "workflows.processors",
        |it, at| at.on_grid && it.workflows.as_ref().is_some_and(|it| it.processors.is_some()), "a task on a grid always has one slot",
        "not used", "remove it, or submit to providers"),
    exclude(("`processors-max` of tasks", "the grid"), "workflows.processors-max",
        |it, at| at.on_grid && it.workflows.as_ref().is_some_and(|it| it.processors_max.is_some()), "a task on a grid always has one slot",
        "not used", "remove it, or submit to providers"),
    exclude(("`progress` of tasks", "providers"), "workflows.progress", |it, at| progress(it).is_some() && at.has_providers && !at.on_grid,
        "tasks at providers do not report their progress", "not used", "remove it; only the scheduler of a grid uses it"),
    exclude(("static schedules", "tasks whose lengths are not stated in advance"), "workflows.progress.a-priori",
        |it, at| at.statically && progress(it).is_some_and(|it| !it.a_priori),
        "static schedules are made from task lengths that users state in advance", "no lengths are stated",
        "remove it, or choose a policy that decides in rounds, such as \"workflow\""),
    exclude(("sessions", "`share` of a merger"), "share", |it, at| it.share.is_some() && at.sessions && it.merge.is_some(),
        "a merger's jobs ask for the shares of the workloads they are from", "not used", "remove it, and give these workloads a `share`"),
    exclude(("`share`", "jobs except sessions"), "share", |it, at| it.share.is_some() && !at.sessions,
        "only sessions ask for a share of a resource", "not used",
        "remove it, or choose a policy of a [grid] for sessions, such as \"full-fill\""),
];

/// True if no step or merger may change the jobs of a workload.
pub(super) fn is_given_whole(workload: &Workload) -> bool {
    matches!(workload.model, Some(Model::Applications | Model::Iterative))
}

/// True if the tasks of a workload bring data of their own.
fn brings_data(it: &Workload) -> bool {
    let own = |it: &Workflows| it.shape.is_some() || it.files.is_some();
    it.is_workflows() && it.workflows.as_ref().is_some_and(own)
}

/// Progress that the tasks of a workload report.
pub(super) fn progress(workload: &Workload) -> Option<TaskProgress> {
    workload.workflows.as_ref()?.progress
}

/// Sites of a grid; the fact is true if it takes sessions.
#[rustfmt::skip] // a table
pub(super) const SITES: Exclusions<Site, bool> = &[
    exclude(("sessions", "sites that divide themselves equally"), "sharing", |it, &sessions| sessions && it.sharing == Sharing::Equal,
        "sessions reserve shares, and this site divides its resources equally", "shares are equal",
        "write `sharing = \"reserved\"`, or choose a policy for jobs that share equally (`haggle list grid-policies`)"),
    exclude(("reserved shares", "policies for jobs that share equally"), "sharing",
        |it, &sessions| !sessions && it.sharing == Sharing::Reserved, "no job asks for a share under this policy", "shares are reserved",
        "remove it, or choose a policy for sessions, such as \"full-fill\""),
    exclude(("reserved shares", "`load` of a site"), "load", |it, _| it.sharing == Sharing::Reserved && it.load.is_some(),
        "jobs outside the grid would compute on reserved shares", "no room for it",
        "remove it; resources that reserve shares have no other load"),
];

/// Facts about the policy of a grid.
pub(super) struct Schedules {
    pub(super) sessions: bool,
    /// Jobs may write checkpoints.
    pub(super) saves: bool,
}

/// Grids and their policies.
#[rustfmt::skip] // a table
pub(super) const GRID: Exclusions<Grid, Schedules> = &[
    exclude(("sessions", "rounds of a grid"), "period", |it, at| at.sessions && it.period > TimeSpan::ZERO,
        "sessions are placed when they arrive, not in rounds", "`period` is not zero", "write `period = \"0s\"` under [grid]"),
    exclude(("sessions", "`query` of a grid"), "query", |it, at| at.sessions && it.query > TimeSpan::ZERO,
        "sessions do not wait: they are placed when they arrive", "`query` is not zero",
        "remove it; `prepare` is the wait of a session on its resource"),
    exclude(("sessions", "`schedule` of a grid"), "schedule", |it, at| at.sessions && it.schedule > TimeSpan::ZERO,
        "sessions do not wait: they are placed when they arrive", "`schedule` is not zero",
        "remove it; `prepare` is the wait of a session on its resource"),
    exclude(("checkpoints of a grid", "policies that never restart a job"), "checkpoints", |it, at| it.checkpoints.is_some() && !at.saves,
        "no job writes checkpoints under this policy", "not used",
        "remove it, or set `policy` to \"migration\", \"rescheduling\", \"combined-ft\" or \"workflow\""),
    exclude(("a constant network of a grid", "`service-bandwidth`"), "network.service-bandwidth",
        |it, _| it.network.model == NetworkModel::Constant && it.network.service_bandwidth.is_some(),
        "a constant network has no links to services", "not used", "remove it, or set `model = \"stars\"`"),
];

/// Messages that take time, where all messages arrive at once.
#[rustfmt::skip] // a table
pub(super) const AT_ONCE: Exclusions<Network> = &[
    exclude(("a grid or plans without providers", "`latency` of messages"), "latency", |it, ()| it.latency > TimeSpan::ZERO,
        "messages between {between} take no time", "not used", "remove it; {instead}"),
    exclude(("a grid or plans without providers", "`jitter` of messages"), "jitter", |it, ()| it.jitter > TimeSpan::ZERO,
        "messages between {between} take no time", "not used", "remove it; {instead}"),
    exclude(("a grid or plans without providers", "links of messages"), "link", |it, ()| !it.links.is_empty(),
        "messages between {between} take no time", "not used", "remove it; {instead}"),
];

/// Order of the events of an instant: only providers can have either order.
#[rustfmt::skip] // a table
pub(super) const ORDER_OF_EVENTS: Exclusions<Scenario> = &[
    exclude(("a grid without providers", "`events-order`"), "scenario.events-order",
        |it, ()| orders_events(it) && it.providers.is_empty() && it.grid.is_some(),
        "in a grid, ends come before arrivals and failures, and a round comes last", "not used",
        "remove it; only providers can have either order"),
    exclude(("plans without providers", "`events-order`"), "scenario.events-order",
        |it, ()| orders_events(it) && it.providers.is_empty() && it.plans.is_some(),
        "with plans, the order of ends and submissions has no effect", "not used", "remove it; only providers can have either order"),
];

fn orders_events(it: &Scenario) -> bool {
    it.scenario.events_order != EventsOrder::default()
}

/// Facts about the resources of a scenario.
pub(super) struct Owners {
    /// There is a grid, and no provider.
    pub(super) only_grid: bool,
    /// There are plans, and neither a provider nor a grid.
    pub(super) only_plans: bool,
}

/// Actors that crash.
#[rustfmt::skip] // a table
pub(super) const CRASHES: Exclusions<Failures, Owners> = &[
    exclude(("a grid without providers", "crashes of actors"), "actors", |_, at| at.only_grid, "actors of grids do not crash",
        "not for grids", "let resources fail: `of = [\"a-site\"]`"),
    exclude(("plans without providers", "crashes of actors"), "actors", |_, at| at.only_plans,
        "clusters and their metascheduler do not crash", "not with plans", "let machines fail: `of = [\"a-cluster\"]`"),
];

/// Crashes over a transport that loses messages; the fact is true if jobs are then lost.
#[rustfmt::skip] // a table
pub(super) const LOST_IN_CRASHES: Exclusions<Failures, bool> = &[
    exclude(("crashes of actors", "`transport = \"datagram\"` without `retry`"), "actors", |_, &lost| lost,
        "messages to an actor that is down are lost, and jobs with them", "not survived", "{remedies}"),
];

/// Windows of maintenance.
#[rustfmt::skip] // a table
pub(super) const CLOSING: Exclusions<Maintenance, Owners> = &[
    exclude(("a grid without providers", "maintenance"), "", |_, at| at.only_grid, "the resources of a grid are not closed for maintenance",
        "of no provider", "remove it, or let resources fail at listed times: [[failures]] with `outages`"),
    exclude(("plans without providers", "maintenance"), "", |_, at| at.only_plans,
        "machines of clusters with plans are not closed for maintenance", "of no provider",
        "remove it, or let machines fail at listed times: [[failures]] with `outages`"),
];

/// Failures that spread.
#[rustfmt::skip] // a table
pub(super) const SPREADING_FAILURES: Exclusions<Failures> = &[
    exclude(("recorded and listed failures", "correlation"), "correlation",
        |it, ()| it.correlation.is_some() && (it.recorded.is_some() || it.outages.is_some()), "recorded and listed failures do not spread",
        "not used", "remove it, or let the nodes fail by `law` or `nominal`"),
];

/// Recorded loads of plans.
#[rustfmt::skip] // a table
pub(super) const RECORDED_LOADS: Exclusions<Plans> = &[
    exclude(("recorded loads of plans", "`period` of changes"), "period", |it, ()| it.loads.is_some() && it.period.is_some(),
        "loads change at the times of their record, not periodically", "not used", "remove it, or `loads`"),
    exclude(("recorded loads of plans", "`links = \"pairs\"`"), "links", |it, ()| it.loads.is_some() && it.links == PlanLinks::Pairs,
        "a record of loads has one link for each machine, not for each pair", "not recorded", "remove it, or `loads`"),
];

/// Facts about the resources that a figure can show.
pub(super) struct Shows {
    /// The kind of the figure does not fit the resources of the scenario.
    pub(super) unfit: bool,
    pub(super) grid: bool,
    /// There is nothing but a grid.
    pub(super) only_grid: bool,
}

/// Figures and the resources of a scenario.
#[rustfmt::skip] // a table
pub(super) const FIGURES: Exclusions<Figure, Shows> = &[
    exclude(("figures of processors", "a grid alone"), "kind", |_, at| at.unfit && at.grid,
        "figure \"{kind}\" {shows}, and jobs of a grid share theirs", "shows no grid", "choose another kind, such as \"{instead}\""),
    exclude(("figures of grids", "scenarios without a grid"), "kind", |_, at| at.unfit && !at.grid,
        "figure \"{kind}\" {shows}, and the scenario has none", "needs a grid",
        "add [grid], or choose another kind, such as \"{instead}\""),
    exclude(("figure \"queue-length\" of a grid", "`providers`"), "providers",
        |it, at| at.only_grid && it.kind == FigureKind::QueueLength && !it.providers.is_empty(),
        "jobs of a grid wait at its scheduler, for any resource", "not used", "remove `providers`"),
];
