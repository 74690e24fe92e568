//! The table `jobs`.

use haggle_model::ProcessorSet;

use super::{Class, Integer, Provider, Real, Seconds, Text, Word, Workload, part, table};
use crate::columns::Missing;
use crate::columns::Missing::{Empty, Never, Number};

const LOG_UNKNOWN: Missing = Number("-1 = the log does not say");
const LOG_LACKS: Missing = Empty("no log, or the log does not say");
const NOT_ENDED: Missing = Empty("never started, or unfinished");
const NOT_QUEUED: Missing = Empty("never queued");
const UNRANKED: Missing =
    Empty("never queued, its provider has no priorities, or it ran at time zero");
const UNWEIGHTED: Missing = Empty("as `priority`, or the factor has no weight");
pub(super) const NOT_STARTED: Missing = Empty("never started");

table! {
    Jobs, jobs, required: "One row a job, in the order in which jobs left the system. A bag of tasks leaves it when \
     the last of its tasks ends; its row stands where its metascheduler was notified of that. A job of a grid stands \
     where the last of its attempts was cancelled. The first 17 columns are Batsim's, so that evalys and scripts for \
     Batsim read the file; ours come after. evalys draws nothing of a grid, whose jobs hold no processors of their \
     own.";

    /// A row of `jobs`. Times in seconds since the start of the run.
    JobRow, JobCells;

    job_id: i64 = Integer, "job_id", "", "the job's number in its workload; unique together with workload_name if one user submits the workload", Never, any_integer;
    workload: String = Workload, "workload_name", "", "name of the workload in the scenario", Never;
    profile: String = Word, "profile", "", "always `delay`: a job with a given run time", Never;
    submit: f64 = Seconds, "submission_time", "s", "submission by its user, since the start of the run", Never, also_before_run;
    processors: i64 = Integer, "requested_number_of_resources", "processors", "processors it needs at once; of a bag, its tasks; of an application of phases, which asks for none, 1; of a moldable job, those of its user's description", Never, at_least_one;
    requested_time: f64 = Seconds, "requested_time", "s", "the user's limit on a reference processor (speed 1)", Number("-1 = no limit");
    success: bool = Integer, "success", "", "1 if final_state is COMPLETED_SUCCESSFULLY, else 0", Never;
    final_state: String = Word, "final_state", "", "Batsim's word for `outcome`: COMPLETED_SUCCESSFULLY (`completed`), COMPLETED_WALLTIME_REACHED (`walltime_reached`), COMPLETED_KILLED (`cancelled`), COMPLETED_FAILED (`failed`), REJECTED (`rejected`); RUNNING or SUBMITTED (waiting), both `unfinished`", Never;
    start: Option<f64> = Seconds, "starting_time", "s", "start of its last attempt; attempts lost by failures are in `attempts`; of a job of a grid, first beginning of computing among the attempts that completed it", Empty("never started, or COMPLETED_FAILED"), also_before_run;
    execution_time: Option<f64> = Seconds, "execution_time", "s", "finish_time - starting_time; of a job that continued from checkpoints, plus the saved_time of its earlier attempts", NOT_ENDED;
    finish: Option<f64> = Seconds, "finish_time", "s", "end; of a cancelled job, its withdrawal", Empty("REJECTED, or unfinished");
    waiting_time: Option<f64> = Seconds, "waiting_time", "s", "starting_time - submission_time, less the saved_time of earlier attempts", NOT_STARTED;
    turnaround_time: Option<f64> = Seconds, "turnaround_time", "s", "finish_time - submission_time", NOT_ENDED;
    stretch: Option<f64> = Real, "stretch", "", "turnaround_time / execution_time (the slowdown)", Empty("never started, unfinished, or execution_time is 0");
    allocated: Option<ProcessorSet> = Text, "allocated_resources", "", "its processors as closed intervals of run-wide numbers (`0-3 5`)", Empty("never started, or they are shared");
    consumed_energy: Option<f64> = Real, "consumed_energy", "J", "always -1: energy is not simulated", Empty("REJECTED"), or_none;
    metadata: Option<String> = Word, "metadata", "", "unused, as in Batsim", Empty("always");
    job: i64 = Integer, "job", "", "the job's number in this run, as in the other tables", Never;
    class: String = Class, "class", "", "`local` (sent by a provider's own users) or `external` (placed by a metascheduler)", Never;
    outcome: String = Word, "outcome", "", "`completed`; `walltime_reached`: stopped at its limit; `cancelled`: withdrawn by its user while it waited, or stopped for another job without another attempt; `failed`: ended by a failure of its processors, or of those reserved for it; `rejected`: no provider took it; `unfinished`: it ran or waited when the run stopped", Never;
    refusal: Option<String> = Word, "refusal", "", "reason of its rejection: `too_wide`, `too_narrow`, `no_provider`, `wrong_shape`, `no_limit`, `no_room`, `no_window`, `no_agreement`, `parent_failed`, `too_demanding`, `not_permitted`", Empty("not rejected");
    provider: Option<String> = Provider, "provider", "", "the provider that ran it or queued it last", Empty("never queued, or a bag on several");
    attempts: i64 = Integer, "attempts", "", "rows in `attempts`, without parts that were given up", Never;
    queued: Option<f64> = Seconds, "queued_time", "s", "time at which that provider queued it; of a bag, at which it was placed; of a job of a grid, at which it got its slot there", NOT_QUEUED, also_before_run;
    left: f64 = Seconds, "left_time", "s", "time at which it left the system, for any reason; of an unfinished job, the end of the run", Never;
    walltime: Option<f64> = Seconds, "provider_walltime", "s", "its limit on that provider's processors: requested_time / speed, rounded up to a microsecond; of a moldable job that got another number of them, by Amdahl's law", Empty("never queued, or no limit");
    promised_end: Option<f64> = Seconds, "promised_finish_time", "s", "completion promised when it was queued or placed", Empty("no promise");
    bounded_slowdown: Option<f64> = Real, "bounded_slowdown", "", "max(1, turnaround_time / max(execution_time, T)), with the run time of a task on a reference processor in place of a bag's execution_time; T is in summary.json, 10 s unless the scenario says otherwise", NOT_ENDED;
    ready: Option<f64> = Seconds, "ready_time", "s", "earliest possible start: given by its user; or, for a task of a workflow, the completion of its last parent (with providers, the notification of its user; the time at which the task left, if a parent was never completed). No provider gets the job earlier, but its waiting time counts from submission. A reservation may have taken an interval before it (`reservations`)", Empty("any time"), also_before_run;
    deadline: Option<f64> = Seconds, "deadline", "s", "latest completion its user wishes", Empty("none"), also_before_run;
    priority_key: i64 = Integer, "priority_key", "", "the user's key: smaller goes first where a provider orders by it", Never, any_integer;
    user: i64 = Integer, "user_id", "", "user number in the log", LOG_UNKNOWN, any_integer;
    group: i64 = Integer, "group_id", "", "group number in the log", LOG_UNKNOWN, any_integer;
    executable: i64 = Integer, "executable_id", "", "application number in the log", LOG_UNKNOWN, any_integer;
    queue: i64 = Integer, "queue_id", "", "queue number in the log", LOG_UNKNOWN, any_integer;
    partition: i64 = Integer, "partition_id", "", "partition number in the log", LOG_UNKNOWN, any_integer;
    shape: String = Word, "shape", "", "`rigid`, `bag` or `moldable`; `spread`: a rigid job that could be spread over providers; `iterative`: an iterative application, whose time depends on its processors; `phased`: an application of phases that may be rescheduled between them", Never;
    providers_used: i64 = Integer, "providers_used", "providers", "number of providers that ran it", Never;
    recompositions: i64 = Integer, "recompositions", "", "number of times that a bag was composed again because offers had gone stale", Never;
    balanced: Option<bool> = Integer, "balanced", "", "1 if its deadline could be met, so that the policy's rule spread the bag, else 0", Empty("not a bag, or never placed");
    workflow: Option<i64> = Integer, "workflow", "", "the workflow that it is a task of: its number in its workload, from 0, as in `workflows`", Empty("no task"), if_used;
    task: Option<i64> = Integer, "task", "", "number of the task in that workflow, from 0, in the order of its description", Empty("no task"), if_used;
    alternative: Option<f64> = Seconds, "alternative_time", "s", "of a refused reservation, the earliest start outside its window at which there would have been room, as far as it was disclosed to its user", Empty("none was disclosed, or not refused"), if_used;
    initial: Option<String> = Word, "initial", "", "of a job of the start state, its state at time zero: `running` or `waiting`", Empty("submitted in the run"), if_used;
    priority: Option<i64> = Integer, "priority", "", "its priority at its last start, or at the last calculation while it waited: the sum of the contributions of its factors, without its fraction, at least 1. Larger ones go first", UNRANKED, if_used;
    priority_age: Option<f64> = Real, "priority_age", "", "contribution of its age to `priority`: weight x factor", UNWEIGHTED, if_used;
    priority_fair_share: Option<f64> = Real, "priority_fair_share", "", "contribution of the fair share of its user to `priority`", UNWEIGHTED, if_used;
    priority_size: Option<f64> = Real, "priority_size", "", "contribution of its size to `priority`", UNWEIGHTED, if_used;
    priority_queue: Option<f64> = Real, "priority_queue", "", "contribution of its queue to `priority`", UNWEIGHTED, if_used;
    priority_qos: Option<f64> = Real, "priority_qos", "", "contribution of its quality of service to `priority`", UNWEIGHTED, if_used;
    recorded_start: Option<f64> = Seconds, "recorded_start", "s", "start on the machine of its log, in the time of the run, if its provider starts jobs as recorded: submission_time + the waiting time of the log", Empty("the log has no waiting time, or its provider has another policy"), if_used, also_before_run;
    memory: Option<i64> = Integer, "requested_memory", "B", "memory that it asks for, of all its processors", Empty("none"), if_used, large;
    gpus: Option<i64> = Integer, "requested_gpus", "", "accelerators that it asks for", Empty("none"), if_used;
    nodes: Option<i64> = Integer, "requested_nodes", "nodes", "nodes that it asks for", Empty("any number"), if_used;
    exclusive: Option<bool> = Integer, "exclusive", "", "1 if it shares its nodes with no other job", Empty("it may share them"), if_used;
    allocated_nodes: Option<ProcessorSet> = Text, "allocated_nodes", "", "its nodes as closed intervals of numbers at its provider, from 0 (table `nodes`)", Empty("never started, or its provider counts processors only"), if_used;
    preceding_job: Option<i64> = Integer, "preceding_job", "", "of a job that follows others, the last of these to end, by its job_id in the same workload; of a job that its user still held when the run stopped, one that had not ended, if there was any", Empty("it follows none, or none of these came to its user"), if_used, any_integer;
    held: Option<bool> = Integer, "held", "", "1 if its user still held it when the run stopped: a job that it follows had not ended, or the think time was not over", Empty("not held at the end"), if_used;
    recorded_wait: Option<f64> = Seconds, "recorded_waiting_time", "s", "waiting time on the machine of its log", LOG_LACKS, if_used;
    recorded_run: Option<f64> = Seconds, "recorded_run_time", "s", "run time on the machine of its log", LOG_LACKS, if_used;
    counted: bool = Integer, "counted", "", "1 if metrics of the summary count it, 0 in warm-up or cool-down, or of a start state; means of times also leave out `unfinished` jobs", Never;
}

impl JobRow {
    /// Returns whether it is a bag of tasks.
    pub fn is_bag(&self) -> bool {
        self.shape == "bag"
    }

    /// Returns whether it is an application of phases.
    pub fn is_phased(&self) -> bool {
        self.shape == "phased"
    }

    /// The user's limit, s; `None` = no limit.
    pub fn limit(&self) -> Option<f64> {
        (self.requested_time >= 0.0).then_some(self.requested_time)
    }

    /// Of a task of a workflow: the number of that in its workload, and its own number in that.
    pub fn in_workflow(&self) -> Option<(i64, i64)> {
        self.workflow.zip(self.task)
    }
}

part! {
    Jobs, jobs;

    /// Arrival, waiting, running and end of a job, and its owner. Times in seconds since the start of the run.
    JobTimes;

    job: i64 = Integer, "job";
    job_id: i64 = Integer, "job_id";
    workload: String = Workload, "workload_name";
    class: String = Class, "class";
    user: i64 = Integer, "user_id";
    group: i64 = Integer, "group_id";
    queue: i64 = Integer, "queue_id";
    partition: i64 = Integer, "partition_id";
    shape: String = Word, "shape";
    outcome: String = Word, "outcome";
    provider: Option<String> = Provider, "provider";
    processors: i64 = Integer, "requested_number_of_resources";
    submit: f64 = Seconds, "submission_time";
    start: Option<f64> = Seconds, "starting_time";
    left: f64 = Seconds, "left_time";
    waiting_time: Option<f64> = Seconds, "waiting_time";
    bounded_slowdown: Option<f64> = Real, "bounded_slowdown";
    recorded_wait: Option<f64> = Seconds, "recorded_waiting_time";
    recorded_run: Option<f64> = Seconds, "recorded_run_time";
}
