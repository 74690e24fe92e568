//! Every table and every column: the one place that knows their names, order,
//! types and meaning. The writer, the reader and the manual's page all use it.
//!
//! `jobs` starts with the 17 columns of Batsim's `jobs.csv`, unchanged, so that
//! what reads those reads ours.

/// A table of a run's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// One row a job.
    Jobs,
    /// One row an attempt to run a job.
    Attempts,
    /// One row a contiguous interval of processors held by an attempt.
    Placements,
    /// One row a delivered message.
    Messages,
    /// One row a (sender, receiver, kind), instead of `messages`.
    MessageCounts,
    /// One row a message that was lost or doubled.
    MessageFaults,
    /// One row a disclosure of information.
    Disclosures,
    /// One row an offer.
    Offers,
    /// One row a reservation that was granted.
    Reservations,
    /// One row a time that a reservation lost its place.
    Displacements,
    /// One row a move of a job that waited.
    Moves,
    /// One row a part of a place that a job on several providers was booked at.
    Bookings,
    /// One row a try to get the parts of a job from several providers by a protocol.
    Transactions,
    /// What providers held for them.
    Holds,
    /// One row an interval of an application of phases.
    Intervals,
    /// One row a provider.
    Resources,
    /// One row a failure or repair.
    Failures,
    /// One row an outage, from failure to repair.
    Outages,
    /// One row a crash of an actor.
    Crashes,
    /// One row an interval of processors in a window of maintenance, or a window that had none.
    Maintenance,
    /// One row a checkpoint of an attempt.
    Checkpoints,
    /// One row per route over which data of a grid arrived.
    Transfers,
    /// One row an input of a task that a provider was to run.
    Inputs,
    /// One row a workflow.
    Workflows,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Seconds with microsecond resolution: kept as an integer, written as a 64-bit float.
    Seconds,
    /// Any other 64-bit float.
    Real,
    /// A 64-bit integer.
    Integer,
    /// A text that is one of few.
    Word,
    /// A text that is mostly unique; the empty text is the missing value.
    Text,
}

impl Kind {
    /// The type as the manual calls it.
    pub const fn type_name(self) -> &'static str {
        match self {
            Kind::Seconds | Kind::Real => "float",
            Kind::Integer => "integer",
            Kind::Word | Kind::Text => "text",
        }
    }
}

/// A column's definition.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in Parquet and CSV.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Its unit; empty for texts and bare numbers.
    pub unit: &'static str,
    /// What it means, or its formula over other columns.
    pub formula: &'static str,
    /// When it is missing or what stands for unknown; `None` = it never is missing.
    pub missing: Missing,
    /// Whether it counts for nothing in the digest of a table that has no value in it: it came to a
    /// table that there was, and few runs use it.
    pub if_used: bool,
}

impl Column {
    pub(crate) const fn if_used(self) -> Column {
        Column { if_used: true, ..self }
    }
}

/// What stands in a column when there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// There always is a value.
    Never,
    /// A number of the column's own type, such as -1, with its meaning.
    Number(&'static str),
    /// An empty CSV field, a null in Parquet, with the reason.
    Empty(&'static str),
}

impl Table {
    /// All tables, in the order of the manual.
    pub const ALL: [Table; 24] = [
        Table::Jobs,
        Table::Attempts,
        Table::Placements,
        Table::Messages,
        Table::MessageCounts,
        Table::MessageFaults,
        Table::Disclosures,
        Table::Offers,
        Table::Reservations,
        Table::Displacements,
        Table::Moves,
        Table::Bookings,
        Table::Transactions,
        Table::Holds,
        Table::Intervals,
        Table::Resources,
        Table::Failures,
        Table::Outages,
        Table::Crashes,
        Table::Maintenance,
        Table::Checkpoints,
        Table::Transfers,
        Table::Inputs,
        Table::Workflows,
    ];

    /// The file's name without its ending.
    pub const fn name(self) -> &'static str {
        match self {
            Table::Jobs => "jobs",
            Table::Attempts => "attempts",
            Table::Placements => "placements",
            Table::Messages => "messages",
            Table::MessageCounts => "message_counts",
            Table::MessageFaults => "message_faults",
            Table::Disclosures => "disclosures",
            Table::Offers => "offers",
            Table::Reservations => "reservations",
            Table::Displacements => "displacements",
            Table::Moves => "moves",
            Table::Bookings => "bookings",
            Table::Transactions => "transactions",
            Table::Holds => "holds",
            Table::Intervals => "intervals",
            Table::Resources => "resources",
            Table::Failures => "failures",
            Table::Outages => "outages",
            Table::Crashes => "crashes",
            Table::Maintenance => "maintenance",
            Table::Checkpoints => "checkpoints",
            Table::Transfers => "transfers",
            Table::Inputs => "inputs",
            Table::Workflows => "workflows",
        }
    }

    /// What its rows are, for the manual.
    pub const fn about(self) -> &'static str {
        match self {
            Table::Jobs => {
                "One row a job, in the order in which jobs left the system; a bag of tasks leaves it when the last of \
                 them ends, and stands where its metascheduler learned of that. A job of a grid stands where the \
                 last of its attempts was cancelled. The first 17 columns are Batsim's, so that evalys and \
                 scripts for Batsim read the file; ours come after. evalys has nothing to draw of a grid, \
                 whose jobs hold no processors of their own."
            }
            Table::Attempts => {
                "One row an attempt: a job, or a share of a bag, that was queued at a provider, or a job that got a slot on a \
                 resource of a grid. They stand in the order of `jobs`, those of one job by number. What failures undid has rows of its own: \
                 at providers, of a job before its last attempt, of a bag, tasks that had started together, behind its shares. What means \
                 nothing at providers, where a job has its processors to itself, or on a grid, where it shares them, is missing there. \
                 evalys draws it like `jobs`; attempts that share a resource lie on one another."
            }
            Table::Placements => {
                "One row a contiguous interval of processors that an attempt held, for itself alone: what a Gantt chart draws. Attempts \
                 on a grid have none, for they share the processor of their resource, and slots are all alike: nobody says in which one a job is. \
                 `attempts` says from when to when it was in one (`queued_time`, `slot_left_time`), and figures lay them side by side."
            }
            Table::Messages => "One row a delivered message (`messages = \"all\"`).",
            Table::MessageCounts => {
                "One row a (sender, receiver, kind), instead of `messages` (`messages = \"counts\"`)."
            }
            Table::MessageFaults => {
                "One row a message that was lost or doubled on its way, or refused where it arrived (`messages = \"all\"`). Only there if one was."
            }
            Table::Disclosures => "One row a piece of information that one actor gave another.",
            Table::Offers => {
                "One row an offer of a provider for a bag, those included that came to nothing. Only the \
                 header if nobody bargains."
            }
            Table::Reservations => {
                "One row a reservation that a provider granted, in the order of `jobs`. Only there if one was."
            }
            Table::Displacements => {
                "One row a time that a reservation lost its place, or its processors while it ran, in the order of `jobs` \
                 and of time. Only there if one did. One whose row in `reservations` says that it is not broken has run in the \
                 window that was granted, or had it until its user withdrew it or the run stopped; any other is answered for here."
            }
            Table::Moves => {
                "One row a time that a metascheduler has taken a job back that waited and submitted it again, to another \
                 provider or to the same one. Only there if one did."
            }
            Table::Bookings => {
                "One row a part of a place at which a metascheduler with `coallocation` or `mapping` booked a job, in the order of \
                 `jobs` and of time: the first place, and each that it moved to while it waited on several providers. Only there if \
                 a job was on several. A job that is on one provider is moved up by its queue as any other, which is not told here."
            }
            Table::Transactions => {
                "One row a transaction: a try of a metascheduler with a `protocol` to get all parts of a job, in the order in \
                 which they were opened. Its columns add up to the sums of the summary. Only there if one was opened."
            }
            Table::Holds => {
                "One row a part that a provider held for a transaction, in the order in which they were over or given up, then those that \
                 were not when the run stopped. What was asked for and refused has none. Only there if something was held."
            }
            Table::Intervals => {
                "One row an interval of an application of phases, in the order in which they were over. Only there with `[plans]`."
            }
            Table::Resources => "One row a provider.",
            Table::Failures => {
                "One row a contiguous interval of processors that fail together or are back, in order of time; \
                 those that are down at the start fail at time 0. Only the header if a scenario has no \
                 `[[failures]]`."
            }
            Table::Outages => {
                "One row an outage of processors that failed together, in the order in which they were back and \
                 all that was lost with them was known: of a grid, when the jobs that lost attempts are over. Only there \
                 if a scenario has `[[failures]]`."
            }
            Table::Crashes => {
                "One row a crash of an actor, in the order in which they restarted, then those that were still down. \
                 Only there if one crashed. What was said to it meanwhile is in `message_faults`, as `missed`."
            }
            Table::Maintenance => {
                "One row a contiguous interval of processors that were closed for a window of `[[maintenance]]`, in the order in \
                 which windows began; a window that had none, or was refused when it was announced, has one row. Only \
                 there if a window was announced. No failure is in it, and no window in `failures` and `outages`."
            }
            Table::Checkpoints => {
                "One row a checkpoint of an attempt, those included that were cut off or given up for a newer one; \
                 with `checkpoints = false` under `[results]` only those from which another attempt could have started. Only runs of grids have it."
            }
            Table::Transfers => {
                "One row per route over which data of a grid arrived, from one site or service to another, or within a site; routes without \
                 arrivals are left out. Where sites are stars, the link between two sites carries the ways in both directions, that \
                 of a site to the services its ways to and from `(storage)` and `(checkpoints)`. `bytes` add up to `grid.data.total` of the \
                 summary; there, `grid.resources` has the `data` of each resource, which cross its own link. Only runs of grids have it."
            }
            Table::Inputs => {
                "One row an input of a task of a workflow, in the order in which tasks were submitted to providers, or were withdrawn while their inputs were on the way: what a parent made for it, \
                 or what it reads from the storage. What was at its provider already, or has no bytes, was not transferred. If a provider \
                 refuses a task, there are rows for the next one, too. Only there if a task that needs something was submitted to a provider."
            }
            Table::Workflows => {
                "One row a workflow, by workload and number; its tasks are the jobs with its `workflow` in `jobs`. Only there if a job was a task. \
                 `critical_path` divided by the speed of the fastest resource or provider is a lower bound of the makespan, so \
                 `schedule_length_ratio` is at least 1 (SLR; H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE TPDS 13(3), 2002, section 5.1: the critical \
                 path where each task takes its least time, without data)."
            }
        }
    }

    /// Its columns, in order.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Table::Jobs => JOBS,
            Table::Attempts => ATTEMPTS,
            Table::Placements => PLACEMENTS,
            Table::Messages => MESSAGES,
            Table::MessageCounts => MESSAGE_COUNTS,
            Table::MessageFaults => MESSAGE_FAULTS,
            Table::Disclosures => DISCLOSURES,
            Table::Offers => OFFERS,
            Table::Reservations => RESERVATIONS,
            Table::Displacements => DISPLACEMENTS,
            Table::Moves => MOVES,
            Table::Bookings => BOOKINGS,
            Table::Transactions => TRANSACTIONS,
            Table::Holds => HOLDS,
            Table::Intervals => INTERVALS,
            Table::Resources => RESOURCES,
            Table::Failures => FAILURES,
            Table::Outages => OUTAGES,
            Table::Crashes => CRASHES,
            Table::Maintenance => MAINTENANCE,
            Table::Checkpoints => CHECKPOINTS,
            Table::Transfers => TRANSFERS,
            Table::Inputs => INPUTS,
            Table::Workflows => WORKFLOWS,
        }
    }
}

use crate::tables::{ATTEMPTS, CHECKPOINTS, OUTAGES, PLACEMENTS, WORKFLOWS};
use Kind::{Integer, Real, Seconds, Text, Word};
use Missing::{Empty, Never, Number};

pub(crate) const NOT_STARTED: Missing = Empty("never started");
const NOT_ENDED: Missing = Empty("never started, or unfinished");
pub(crate) const NOT_COMPLETE: Missing = Empty("not complete");
const NOT_QUEUED: Missing = Empty("never queued");
const GONE: Missing = Empty("it was over before its metascheduler was told");
const NO_DATA: Missing =
    Empty("it has none to wait for, or was over before its metascheduler was told");
const NOT_MOVED: Missing = Empty("it was there already, or has no bytes");
const LOG_UNKNOWN: Missing = Number("-1 = the log does not say");

pub(crate) const fn column(
    name: &'static str,
    kind: Kind,
    unit: &'static str,
    formula: &'static str,
    missing: Missing,
) -> Column {
    Column { name, kind, unit, formula, missing, if_used: false }
}

#[rustfmt::skip] // a table reads better with one row a line
const JOBS: &[Column] = &[
    column("job_id", Integer, "", "the job's number in its workload; unique together with workload_name", Never),
    column("workload_name", Word, "", "name of the workload in the scenario", Never),
    column("profile", Word, "", "always `delay`: a job with a given run time", Never),
    column("submission_time", Seconds, "s", "when its user submitted it, since the start of the run", Never),
    column("requested_number_of_resources", Integer, "processors", "processors it needs at once; of a bag, its tasks; of an application of phases, which asks for none, 1; of a moldable job, those of its user's description", Never),
    column("requested_time", Seconds, "s", "the user's limit on a reference processor (speed 1)", Number("-1 = no limit")),
    column("success", Integer, "", "1 if final_state is COMPLETED_SUCCESSFULLY, else 0", Never),
    column("final_state", Word, "", "Batsim's word for `outcome`: COMPLETED_SUCCESSFULLY (`completed`), COMPLETED_WALLTIME_REACHED (`walltime_reached`), COMPLETED_KILLED (`cancelled`), COMPLETED_FAILED (`failed`), REJECTED (`rejected`); RUNNING or SUBMITTED (waiting), both `unfinished`", Never),
    column("starting_time", Seconds, "s", "when its last attempt started; what failures undid is in `attempts`; of a job of a grid, when the first attempt began to compute that it was done by", Empty("never started, or COMPLETED_FAILED")),
    column("execution_time", Seconds, "s", "finish_time - starting_time; of a job that went on from checkpoints, with the saved_time of its attempts before", NOT_ENDED),
    column("finish_time", Seconds, "s", "when it ended; of a cancelled one, when it was withdrawn", Empty("REJECTED, or unfinished")),
    column("waiting_time", Seconds, "s", "starting_time - submission_time, less the saved_time of attempts before", NOT_STARTED),
    column("turnaround_time", Seconds, "s", "finish_time - submission_time", NOT_ENDED),
    column("stretch", Real, "", "turnaround_time / execution_time (the slowdown)", Empty("never started, unfinished, or execution_time is 0")),
    column("allocated_resources", Text, "", "its processors as closed intervals of run-wide numbers (`0-3 5`)", Empty("never started, or they are shared")),
    column("consumed_energy", Real, "J", "always -1: energy is not simulated", Empty("REJECTED")),
    column("metadata", Word, "", "unused, as in Batsim", Empty("always")),
    column("job", Integer, "", "the job's number in this run, as in the other tables", Never),
    column("class", Word, "", "`local` (sent by a provider's own users) or `external` (placed by a metascheduler)", Never),
    column("outcome", Word, "", "`completed`; `walltime_reached`: stopped at its limit; `cancelled`: withdrawn by its user while it waited; `failed`: given up when its processors failed, or those that were reserved for it; `rejected`: no provider took it; `unfinished`: it ran or waited when the run stopped", Never),
    column("refusal", Word, "", "why it was rejected: `too_wide`, `no_provider`, `wrong_shape`, `no_limit`, `no_room`, `no_window`, `no_agreement`, `parent_failed`", Empty("not rejected")),
    column("provider", Word, "", "the provider that ran it or queued it last", Empty("never queued, or a bag on several")),
    column("attempts", Integer, "", "rows in `attempts`", Never),
    column("queued_time", Seconds, "s", "when that provider queued it; of a bag, when it was placed; of a job of a grid, when it got its slot there", NOT_QUEUED),
    column("left_time", Seconds, "s", "when it left the system, in whatever way; for unfinished ones, when the run stopped", Never),
    column("provider_walltime", Seconds, "s", "its limit on that provider's processors: requested_time / speed, rounded up to a microsecond; of a moldable job that was given another number of them, by Amdahl's law", Empty("never queued, or no limit")),
    column("promised_finish_time", Seconds, "s", "completion promised when it was queued or placed", Empty("nothing was promised")),
    column("bounded_slowdown", Real, "", "max(1, turnaround_time / max(execution_time, T)), with the run time of a task on a reference processor in place of a bag's execution_time; T is in summary.json, 10 s unless the scenario says otherwise", NOT_ENDED),
    column("ready_time", Seconds, "s", "earliest start its user allows, or when the last parent of a task was done and, with providers, its user had heard of that (when the task left, if one never was): nobody gets the job before, and its waiting time counts from its submission all the same", Empty("any time")),
    column("deadline", Seconds, "s", "latest completion its user wishes", Empty("none")),
    column("priority_key", Integer, "", "the user's key: smaller goes first where a provider orders by it", Never),
    column("user_id", Integer, "", "user number in the log", LOG_UNKNOWN),
    column("group_id", Integer, "", "group number in the log", LOG_UNKNOWN),
    column("executable_id", Integer, "", "application number in the log", LOG_UNKNOWN),
    column("queue_id", Integer, "", "queue number in the log", LOG_UNKNOWN),
    column("partition_id", Integer, "", "partition number in the log", LOG_UNKNOWN),
    column("shape", Word, "", "`rigid`, `bag` or `moldable`; `spread`: a rigid job that could be spread over providers; `iterative`: an iterative application, whose time depends on its processors; `phased`: an application of phases that may be rescheduled between them", Never),
    column("providers_used", Integer, "providers", "on how many it ran", Never),
    column("recompositions", Integer, "", "times a bag was composed again since offers had gone stale", Never),
    column("balanced", Integer, "", "1 if its deadline could be met, so that the policy's rule spread the bag, else 0", Empty("not a bag, or never placed")),
    column("workflow", Integer, "", "the workflow that it is a task of: its number in its workload, from 0, as in `workflows`", Empty("no task")).if_used(),
    column("task", Integer, "", "which task of that, from 0, in the order of its description", Empty("no task")).if_used(),
    column("alternative_time", Seconds, "s", "of a reservation that was refused, the earliest start at which there would have been room for it, beside its window, as far as its user was told", Empty("none was told, or not refused")).if_used(),
    column("counted", Integer, "", "1 if metrics of the summary count it, 0 in warm-up or cool-down; means of times are over those that are not `unfinished` either", Never),
];

#[rustfmt::skip]
const MESSAGES: &[Column] = &[
    column("time", Seconds, "s", "when it was delivered", Never),
    column("sender", Word, "", "the actor that sent it", Never),
    column("receiver", Word, "", "the actor that got it", Never),
    column("kind", Word, "", "what kind of message", Never),
    column("job", Integer, "", "the job it is about, number in this run", Empty("about no job")),
];

#[rustfmt::skip]
const MESSAGE_COUNTS: &[Column] = &[
    column("sender", Word, "", "the actor that sent them", Never),
    column("receiver", Word, "", "the actor that got them", Never),
    column("kind", Word, "", "what kind of message", Never),
    column("count", Integer, "messages", "how many were delivered", Never),
];

#[rustfmt::skip]
const MESSAGE_FAULTS: &[Column] = &[
    column("time", Seconds, "s", "when it was sent; of one that was refused, when it arrived", Never),
    column("sender", Word, "", "the actor that sent it", Never),
    column("receiver", Word, "", "the actor it was sent to", Never),
    column("kind", Word, "", "what kind of message", Never),
    column("job", Integer, "", "the job it is about, number in this run", Empty("about no job")),
    column("fault", Word, "", "`lost` by chance, `parted` (lost between actors that were parted), `missed` (its receiver was down), `doubled` or `refused` (it arrived, its receiver did not expect it, and it changed nothing)", Never),
    column("resent", Integer, "times", "how often it was sent again because of that, and in the end it arrived, once; 0 = never: `messages` does not have what was lost, and has twice what was doubled, unless `transport = \"reliable\"` dropped the copy", Never),
];

#[rustfmt::skip]
const DISCLOSURES: &[Column] = &[
    column("time", Seconds, "s", "when it arrived", Never),
    column("sender", Word, "", "the actor it was about", Never),
    column("receiver", Word, "", "the actor that learned it", Never),
    column("item", Word, "", "what was told: of providers `estimate`, `offer`, `power`, `load`, `free_slots`, `queue`, `change`, `expected_completion`, `interval`; of metaschedulers `bag_completion`; of grids `resource_status`, `progress`, `traffic`; of a job `job`, `bag`, `job_status`, `refusal`", Never),
    column("count", Integer, "items", "how many items", Never),
    column("job", Integer, "", "the job it was about, number in this run", Empty("about no job")),
];

#[rustfmt::skip]
const OFFERS: &[Column] = &[
    column("time", Seconds, "s", "when it was made", Never),
    column("sender", Word, "", "the provider", Never),
    column("receiver", Word, "", "the metascheduler", Never),
    column("job", Integer, "", "the bag, number in this run", Never),
    column("tasks", Integer, "tasks", "how many of its tasks", Never),
    column("completion", Seconds, "s", "by when", Never),
    column("bag_tasks", Integer, "tasks", "tasks of the whole bag", Never),
    column("task_time", Seconds, "s", "the user's estimate for a task on the reference processor", Never),
    column("deadline", Seconds, "s", "when its user wants it done", Empty("as early as possible")),
    column("true_power", Real, "processors", "the provider's computing power in reference processors, told or not", Never),
    column("true_load", Real, "processor-seconds", "its planned work left, told or not", Never),
];

#[rustfmt::skip]
const RESERVATIONS: &[Column] = &[
    column("job", Integer, "", "the job's number in this run", Never),
    column("provider", Word, "", "who granted it", Never),
    column("granted_time", Seconds, "s", "when", Never),
    column("ready_time", Seconds, "s", "earliest start granted", Empty("at once")),
    column("deadline", Seconds, "s", "latest completion granted", Empty("best effort")),
    column("processors", Integer, "processors", "processors granted; of a moldable job, the user may have taken another number than it asked for", Never),
    column("planned_time", Seconds, "s", "how long the job is planned to take there", Never),
    column("planned_starting_time", Seconds, "s", "start planned when it was granted; it may move in the window", Never),
    column("distance_time", Seconds, "s", "how far the interval that its user took is from the window that was asked for", Empty("in the window")),
    column("fixed_time", Seconds, "s", "when its start was fixed", Empty("it never was, or the window left no freedom")),
    column("fixed_starting_time", Seconds, "s", "that start", Empty("as `fixed_time`")),
    column("broken", Integer, "", "1 if failures, or jobs that ran on, left no room in the window, else 0; why and what was done is in `displacements`", Never),
];

#[rustfmt::skip]
const DISPLACEMENTS: &[Column] = &[
    column("job", Integer, "", "the job's number in this run", Never),
    column("provider", Word, "", "who had granted its window", Never),
    column("time", Seconds, "s", "when its scheduler knew that the place is lost", Never),
    column("cause", Word, "", "`failure`: processors failed; `overrun`: a job ran on past its plan; `maintenance`: processors are to be closed; `crash`: the scheduler was down at the planned start", Never),
    column("answer", Word, "", "`moved`: it has another place in its window; `shrunk`: the same, on fewer processors; `postponed`: it waits for a place behind its window; `revoked`: it was given back", Never),
    column("processors", Integer, "processors", "those of its new place; of what was revoked, of the one it had", Never),
    column("planned_time", Seconds, "s", "how long it is planned to take there", Never),
    column("planned_starting_time", Seconds, "s", "start of its new place", Empty("revoked, or it waits for jobs without a limit")),
];

#[rustfmt::skip]
const MOVES: &[Column] = &[
    column("time", Seconds, "s", "when the other provider had accepted it", Never),
    column("actor", Word, "", "the metascheduler that moved it", Never),
    column("job", Integer, "", "the job's number in this run", Never),
    column("sender", Word, "", "the provider that gave it back", Never),
    column("receiver", Word, "", "the provider that queued it; the same one, where it was submitted again", Never),
    column("processors_before", Integer, "processors", "its size where it waited", GONE),
    column("planned_finish_time_before", Seconds, "s", "completion planned when it was queued there", GONE),
    column("processors", Integer, "processors", "its size now", GONE),
    column("planned_finish_time", Seconds, "s", "completion planned now", GONE),
    column("ready_time", Seconds, "s", "when its data are there: it starts no earlier", NO_DATA),
    column("start_up_time", Seconds, "s", "for how long it will hold its processors before it computes", GONE),
];

#[rustfmt::skip]
const BOOKINGS: &[Column] = &[
    column("job", Integer, "", "the job's number in this run", Never),
    column("number", Integer, "", "which of its places, from 1", Never),
    column("time", Seconds, "s", "when all providers were ready for it", Never),
    column("asked_by", Word, "", "the provider with idle processors that had asked to have the job moved", Empty("its first place")),
    column("holder", Word, "", "the provider of the part", Never),
    column("processors", Integer, "processors", "the part's processors", Never),
    column("planned_starting_time", Seconds, "s", "planned start, the same for all parts", Never),
    column("planned_finish_time", Seconds, "s", "planned completion, the same for all parts", Empty("no limit")),
];

#[rustfmt::skip]
const TRANSACTIONS: &[Column] = &[
    column("job", Integer, "", "the job's number in this run", Never),
    column("number", Integer, "", "which of its tries, from 1", Never),
    column("actor", Word, "", "the metascheduler that tried", Never),
    column("agreement", Integer, "", "the number by which it and the providers know it", Never),
    column("parts", Integer, "", "how many providers were asked for a part", Never),
    column("opening_time", Seconds, "s", "when it began", Never),
    column("decision_time", Seconds, "s", "when it was decided that all carry out their parts", Empty("it was not")),
    column("end_time", Seconds, "s", "when its metascheduler knew how it ended: that all had agreed, or that it had failed", Empty("it was open when the run stopped")),
    column("outcome", Word, "", "`agreed`; `failed`: before anything was decided; `broken`: it was decided, and somebody could not carry out a part any more; `open` when the run stopped", Never),
    column("time_to_agreement", Seconds, "s", "end_time - opening_time of the first try of its job", Empty("not agreed on")),
    column("messages", Integer, "", "messages of the protocol about it, to acceptors and from them too", Never),
    column("in_doubt_time", Seconds, "part-seconds", "Σ time in which its parts were held while its metascheduler was down, or after their provider was", Never),
    column("held_in_vain", Real, "processor-seconds", "Σ processors x time of its parts that were given up, held or begun", Never),
    column("orphans", Integer, "", "its parts that ran to their end although it was not agreed on", Never),
    column("orphan_work", Real, "processor-seconds", "Σ processors x time of these", Never),
    column("partial", Integer, "", "1 if some of its parts ran, if only for a while, and others did not; else 0", Never),
];

#[rustfmt::skip]
const HOLDS: &[Column] = &[
    column("job", Integer, "", "the job's number in this run", Never),
    column("actor", Word, "", "the metascheduler whose transaction it is", Never),
    column("agreement", Integer, "", "the number by which it and the providers know it, as in `transactions`", Never),
    column("holder", Word, "", "the provider of the part", Never),
    column("processors", Integer, "processors", "the part's processors", Never),
    column("holding_time", Seconds, "s", "when the provider began to hold it", Never),
    column("planned_starting_time", Seconds, "s", "from when on it was to have its processors", Never),
    column("lease_end_time", Seconds, "s", "when it was to be given back unless more was said", Empty("held until more is said")),
    column("carrying_out_time", Seconds, "s", "when the provider heard that the part may begin", Empty("it did not")),
    column("starting_time", Seconds, "s", "when it had its processors: planned_starting_time, or later where the provider was down then", Empty("it was given up before, or waited when the run stopped")),
    column("end_time", Seconds, "s", "when it was over, or was given back", Empty("neither, when the run stopped")),
    column("outcome", Word, "", "`over`: it ran to its end or limit; `given_up`, whether or not it had begun; `open` when the run stopped", Never),
];

#[rustfmt::skip]
const INTERVALS: &[Column] = &[
    column("job", Integer, "", "the application's number in this run", Never),
    column("interval", Integer, "", "which of its intervals, from 1: lost ones count", Never),
    column("provider", Word, "", "the cluster that ran it", Never),
    column("first_phase", Integer, "", "its first phase, from 1", Never),
    column("last_phase", Integer, "", "its last phase, included", Never),
    column("move", Word, "", "how the application came there: `start` (it is the first interval, or nothing was saved), `stay` (the same machines), `within` (other machines of the same cluster), `between` (from another cluster)", Never),
    column("sender", Word, "", "the cluster that it left", Empty("it left none")),
    column("processors", Integer, "processors", "its machines; `placements` has their numbers", Never),
    column("ordered_time", Seconds, "s", "when its machines were taken, and its checkpoint began to move", Never),
    column("starting_time", Seconds, "s", "when it began to compute", Empty("it never did")),
    column("finish_time", Seconds, "s", "when it was over", Never),
    column("predicted_move_time", Seconds, "s", "what its cluster predicted for starting_time - ordered_time", Never),
    column("predicted_time", Seconds, "s", "what its cluster predicted for finish_time - starting_time, from the loads that its monitor had reported", Never),
    column("outcome", Word, "", "`done`; `lost`: a machine failed, and its phases are run again; `open`: the run stopped before", Never),
];

#[rustfmt::skip]
const RESOURCES: &[Column] = &[
    column("provider", Word, "", "name of the provider", Never),
    column("first_resource", Integer, "", "its first processor, run-wide number", Never),
    column("last_resource", Integer, "", "its last processor, included; first_resource - 1 if it has none", Never),
    column("processors", Integer, "processors", "how many it has", Never),
    column("speed", Real, "", "speed of its processors; 1 = the reference processor", Never),
    column("scheduler", Word, "", "its local scheduler in words", Never),
    column("jobs", Integer, "jobs", "jobs that started there; of a resource of a grid, attempts that did", Never),
    column("busy_time", Real, "processor-seconds", "sum of execution_time x processors over those jobs, unfinished ones up to the end, and what jobs that wait again have saved; without what failures undid; of a time-shared one, the time in which it had anything to compute or to write", Never),
    column("utilisation", Real, "", "busy_time / (processors x makespan of the run); 0 to 1", Empty("no job ran anywhere, no processors, or time-shared")),
];

#[rustfmt::skip]
const FAILURES: &[Column] = &[
    column("time", Seconds, "s", "when", Never),
    column("provider", Word, "", "where", Never),
    column("first_resource", Integer, "", "first processor concerned, run-wide number", Never),
    column("last_resource", Integer, "", "last processor concerned, included", Never),
    column("event", Word, "", "`failed` or `restored`", Never),
];

#[rustfmt::skip]
const CRASHES: &[Column] = &[
    column("actor", Word, "", "the actor", Never),
    column("crash_time", Seconds, "s", "when it crashed", Never),
    column("restart_time", Seconds, "s", "when it restarted", Empty("not in this run")),
];

#[rustfmt::skip]
const MAINTENANCE: &[Column] = &[
    column("provider", Word, "", "where", Never),
    column("window", Integer, "", "number of the window at that provider, from 1: in the order of `[[maintenance]]`, repetitions one by one", Never),
    column("announcement_time", Seconds, "s", "when the provider's scheduler heard of it; 0 if it knew from the beginning", Never),
    column("starting_time", Seconds, "s", "when it began, or was to", Never),
    column("finish_time", Seconds, "s", "when it was over, or was to be; it may be after the end of the run", Never),
    column("requested_number_of_resources", Integer, "processors", "how many were to be closed", Never),
    column("closed", Integer, "processors", "how many were, in all rows of the window", Never),
    column("outcome", Word, "", "`held` (all were closed), `short` (jobs that ran on, or processors that were down, left fewer, or what runs and may not be stopped held the others) or `refused` (what was promised, or ran, was in the way)", Never),
    column("first_resource", Integer, "", "first processor of the interval, run-wide number", Empty("none was closed")),
    column("last_resource", Integer, "", "last processor of the interval, included", Empty("none was closed")),
    column("possible_time", Seconds, "s", "of one that was refused, the first start, no earlier than its own, that nothing was in the way of which ran or was planned at its announcement", Empty("not refused, or announced too late, as the scheduler was down, or never possible")),
];

#[rustfmt::skip]
const TRANSFERS: &[Column] = &[
    column("from", Word, "", "name of the site from which they came, `(storage)` (input) or `(checkpoints)` (of jobs that went on)", Never),
    column("to", Word, "", "name of the site at which they arrived, `(storage)` (output) or `(checkpoints)` (of jobs that saved their progress)", Never),
    column("transfers", Integer, "transfers", "how many arrived; what was cut off is not counted", Never),
    column("bytes", Integer, "bytes", "what they carried", Never),
];

#[rustfmt::skip]
const INPUTS: &[Column] = &[
    column("job", Integer, "", "the job's number in this run: the task", Never),
    column("made_by", Integer, "", "the parent that made it: its number in the workflow, as `task` in `jobs`", Empty("it comes from the storage")),
    column("bytes", Integer, "bytes", "how much it is", Never),
    column("sender", Word, "", "where it was: the provider of the parent, or whom its user submits to, who is beside the storage", Never),
    column("receiver", Word, "", "the provider to which the task was submitted, or was to be", Never),
    column("sent_time", Seconds, "s", "when its transfer began: its task had been placed", NOT_MOVED),
    column("arrival_time", Seconds, "s", "sent_time + latency + bytes / bandwidth", Empty("it was there already, or has no bytes; with `sent_time`: it was cut off, for its task was withdrawn or the run ended")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_start_with_the_columns_of_batsim() {
        let names: Vec<_> = JOBS.iter().take(17).map(|column| column.name).collect();
        assert_eq!(
            names.join(","),
            "job_id,workload_name,profile,submission_time,requested_number_of_resources,\
             requested_time,success,final_state,starting_time,execution_time,finish_time,\
             waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata"
        );
    }

    #[test]
    fn no_table_has_a_column_twice() {
        for table in Table::ALL {
            let mut names: Vec<_> = table.columns().iter().map(|column| column.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), table.columns().len(), "{}", table.name());
        }
    }
}
