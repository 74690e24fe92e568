//! The manual's page on results. It is generated from the definitions of the columns, so it is always
//! up to date.

use std::fmt::Write;

use crate::columns::{Column, Missing, Table};
use crate::metrics::named::{NAMED, Named, Unit};

const HEAD: &str = "\
# What a run leaves

<!-- Made from crates/results/src/tables. To renew it: UPDATE_MANUAL=1 cargo test -p haggle-results manual -->

A run's folder holds these tables as Parquet (`jobs.parquet`), CSV (`jobs.csv`) or both, with the same names and
types; a missing value is a null in Parquet and an empty field in CSV. Times are seconds since the start of the run,
exact to a microsecond. Processors have one numbering across all providers, without gaps (`resources` has the map).
`job` numbers the jobs of a run; `job_id` is the number in the workload's file.

Beside them are `scenario.toml` (with every default), `provenance.json` (version, build, `format` of the tables, seed, SHA-256 of every input,
name and version of every rule of one's own, digest of the tables, size of their files, local time of a log's machine at time zero), `summary.json` (metrics) and `timing.json` (time and memory of the run: the only file that differs
when the same run is made again).

A folder describes itself: `plot`, `explain` and `verify` read the tables, `summary.json` and `about` in `provenance.json`, but not `scenario.toml`, which serves
to repeat the run; `compare` reads it for the keys that differ. `about` has the facts that are in no table:

| key | meaning |
|---|---|
| `name` | name of the scenario, with which titles of figures begin |
| `workloads` | of each its `name`, its `users` (`name`, `submits_to`: a provider, a metascheduler or a grid), the `share` of a resource that its jobs request, 0 to 1, if they do, and `on_grid`: `always` (its jobs run on a grid only), `sometimes` (on a grid or on providers), or missing (never) |
| `horizon` | time at which the run had to end, even with jobs left, s; missing: the run ended when every job had ended |
| `changes` | instants at which a `[[change]]` takes effect, s; missing: none |
| `instant_messages` | true if messages took no time and all of them arrived |
| `static_schedules` | true if tasks ran on a grid by schedules made in advance, one at a time on each resource; else missing |
| `schedules_anew` | true if these schedules were made anew when resources failed or worked again; else missing |
| `information` | with such schedules: delay of the scheduler's information on failures and repairs, `periodic` (until the next multiple of this number of seconds) or `within` (a drawn time, at most this number of seconds); missing: none |
| `tolerances` | largest difference between the starts of the parts of a job, s, for each metascheduler that negotiates about them |
| `rules` | queues, qualities of service, accounts and priorities of the providers that have some, by provider |
| `sites` | names of these, by provider: `nodes` (groups of nodes: `name`, `count`), `queues` (`name`, `number` or `partition`), `accounts` (`name`, `parent`: place in the list, `groups`, `shares`, `users` with their shares), `half_life` of usage, s |
| `figures` | the figures that the scenario declares, as its `[[figure]]` |

[readers.md](readers.md) shows how to read them in pandas, Polars and DuckDB, for one run and for a sweep. In a pack of a sweep ([cluster.md](cluster.md#large-sweeps)) the
tables of many runs are one file each, with the axes of the sweep, as texts, and `seed` before these columns; an axis with the name of such a column
is `axis.NAME` there.
";

const TAIL: &str = "
## summary.json

The keys of Batsim's `schedule.json` come first, then ours. Times are in seconds.

| metric | definition |
|---|---|
| `waiting_time` | start - submission |
| `turnaround_time` | end - submission |
| `slowdown` | turnaround / run time; jobs with a run time of 0 are left out |
| `bounded_slowdown` | max(1, turnaround / max(run time, T)); T is `bounded_slowdown_threshold`, 10 s unless set |
| `makespan` | last end - first submission |
| `utilisation` | Σ run time × processors / (processors × makespan) |
| `average_weighted_response_time` | Σ w × turnaround / Σ w, w = run time × processors |
| `nb_jobs`, `nb_jobs_success`, `nb_jobs_rejected`, `nb_jobs_finished`, `nb_jobs_killed` | Batsim's words: all jobs, `completed` ones, `rejected` ones, finished ones (neither `rejected` nor `unfinished`), and killed ones (finished but not `completed`: `walltime_reached` + `cancelled` + `failed`). No other number is called killed; Batsim's state COMPLETED_KILLED is `cancelled` |
| `outcomes` | for all jobs and for each group, the number of jobs by the words of the column `outcome` in `jobs`; `unfinished` ones as `running` and `waiting`. `failed`, `running` and `waiting` are left out where 0 |
| `promises_broken` | completed jobs that ended later than their provider had promised |
| `deadlines.delayed`, `delayed_work` | jobs, and their processors × requested time, whose promised (else actual) completion is after their deadline |
| `deadlines.total_weighted_delay` | Σ over delayed jobs of processors × ((promised - submission) / (deadline - submission) - 1) × 100 (Netto 2009, equation 6.1) |
| `bags.providers`, `bags.by_providers` | providers a bag ran on, mean; percent of the bags on 1, 2, … |
| `bags.stretch` | with e1, e2 the first and last end of a task of a bag on two or more providers: e2 - e1 in seconds, in percent of e2 - submission and of a task's run time, and (e2 - submission) / (e1 - submission) |
| `bags.promise_slack` | completion promised - completion |
| `requested_processor_seconds` | Σ requested time × processors over the jobs that `processor_seconds` counts; over processors × time, their estimated load |
| `given_back.work`, `used_again`, `used_again_percent` | time between the ends of reserved jobs and the ends of their plans, processor-seconds over the time of `utilisation_in_window`; the part of it in which more was given back than was idle; 100 used again / given back (Netto 2009, section 3.4: fragments). Failed and closed processors count as idle |
| `recorded.jobs`, `later_jobs`, `unknown_jobs` | jobs that started under policy `recorded` with a recorded start; those of them that started later; jobs that started without one |
| `recorded.mean_delay`, `max_delay` | start - recorded start over these jobs, s; of a job with several attempts, the start of the last one |
| `as_recorded.jobs` | jobs that came to their ends, and whose log has a waiting time and a run time; all of `as_recorded` is over these jobs, under any policy |
| `as_recorded.mean_waiting_time`, `median_waiting_time`, `max_waiting_time`, `mean_bounded_slowdown`, `median_bounded_slowdown`, `makespan`, `utilisation` | by the waiting times and run times of the log: slowdowns as above, first submission to last recorded end, and Σ recorded run time × processors / (processors × `makespan`) |
| `as_recorded.simulated` | the same waiting times and slowdowns in the run |
| `as_recorded.mean_difference`, `mean_absolute_difference` | mean of waiting time in the run - recorded one, s, and of its absolute value |
| `coallocated.jobs`, `providers`, `by_providers` | jobs of metaschedulers with `coallocation` or `mapping` that ran; providers of a job, mean; number of jobs on 1, 2, … providers |
| `coallocated.overhead` | percent by which jobs that ran on several providers took longer than on one (key `overhead`), mean |
| `coallocated.spread`, `at_once_percent`, `united_percent`, `earlier_percent`, `advance`, `moves` | jobs whose first placement was on several providers; of these: percent that started at once where they were placed, percent that ran on one provider, and percent that started earlier than first planned; by how long, s; moves of a job, mean |
| `failures.outages`, `attempts_lost` | failures of nodes, each with all its processors (one, unless `processors-per-node` says otherwise); attempts that were lost |
| `bags.shares_promised`, `bags.shares_late` | shares whose completion a provider promised to the metascheduler; shares with a task that ended later or was given up, even if the whole bag was in time |
| `failures.availability` | processor time up / processor time, from time zero to the end of the run (Chtepen 2011, equations 4.1 and 4.2, weighted by processors) |
| `failures.work` | Σ (end - start) × processors over all attempts, processor-seconds: `work_useful` (ran to its end or limit, also from checkpoint to checkpoint) + `work_lost` (of failed attempts: not saved, or saved but never used; also of parts that were given up because their jobs could not run as a whole) + `work_checkpoints` (reading and writing them) + `work_unfinished` (ran, or was saved, when the run stopped) |
| `failures.lost_percent_of_work` | 100 x `work_lost` / `work`: the metric `lost_work` |
| `failures.promises_broken`, `promises_broken_by_loss` | jobs that ended later than promised or were given up; jobs of these that lost an attempt themselves |
| `nodes.jobs` | jobs that ran at providers that place jobs on nodes |
| `nodes.processor_utilisation`, `memory_utilisation`, `gpu_utilisation` | Σ run time × amount that the jobs held / (amount of all nodes × makespan); an exclusive job holds all of its nodes |
| `maintenance.windows`, `short`, `refused` | windows of maintenance that began; windows of these with fewer processors than should have been closed; windows that were refused when they were announced |
| `maintenance.closed`, `missed` | Σ time × processors that were closed, and Σ time × missing processors of windows that began, processor-seconds, until the `horizon`, or without one until the last job left. Utilisation includes closed processors: it is a share of all processors |
| `workflows.workflows`, `done`, `tasks`, `tasks_done`, `tasks_barred` | if providers run tasks of workflows: workflows that arrived, workflows with all tasks done, all their tasks, done tasks, and tasks never submitted because an earlier one was not completed (`parent_failed`) |
| `workflows.makespan`, `turnaround_time`, `schedule_length_ratio` | last end - first start of a done workflow's tasks, last end - submission, and makespan / (critical path / speed of the fastest provider); means |
| `workflows.data_of_critical_path` | Σ time of data transfers to the tasks of the critical path / Σ (last end - submission), over done workflows; the actual critical path leads from the last task to its parent that was done last, and so on |
| `workflows.done_of_submitted`, `data` | work of done workflows / work of all; bytes transferred to the providers of tasks (`inputs`) |
| `grid.nb_resources` | resources of the grid; they are included in `nb_computing_machines`, and stand last in `providers` |
| `grid.done`, `lost`, `lost_pending`, `never_started`, `active`, `waiting_for_restart`, `rejected`, `withdrawn` | final states of all `grid.jobs` that were submitted. Lost: all attempts have failed, and none will be replaced; lost pending: all have failed so far, but more should follow (Chtepen 2011, section 4.4.4) |
| `grid.started`, `attempts`, `attempts_by_outcome`, `migrations`, `replicas_cancelled` | jobs that began to compute; attempts, all, by the outcomes of the table `attempts`, `moved`, and `cancelled` |
| `grid.rounds`, `rounds_with_queue` | rounds in which the scheduler decided, and rounds after which jobs still waited to be sent to a resource. After a round without a job, the next round follows the next arrival; with a period P, jobs waited for about `rounds_with_queue` × P |
| `grid.checkpoints_written`, `checkpoints_available`, `checkpoints_omitted`, `…_per_started_job` | checkpoints that were written, could be used, or were due and omitted; the first two per job that began to compute |
| `grid.mean_run_time_win`, `mean_run_time_first` | end of a done job's computing - first start of the attempts that completed it, and - first start of any of its attempts |
| `grid.mean_waiting_time` | first start of any attempt - submission, over jobs that started |
| `grid.mean_length`, `mean_length_lost`, `length_submitted` | length of done and of lost jobs, and of all, MI; 1 MI is the work of 1 MIPS in 1 s |
| `grid.work` | MI computed, `total` = `useful` (length of done jobs) + `in_progress` (computed or saved of jobs that may still be done) + `lost` (otherwise, by attempts that failed, were stranded or moved; `lost_by_failure` is the part of failed attempts, and the sum of `work_lost` in the table `outages`) + `duplicate` (otherwise, by attempts cancelled or second) |
| `grid.slot_time` | time in which jobs held slots: for each kind of work, in `checkpoints` (writing) and in `transfers` (of data); equals the sum over resources in every run, to the microsecond |
| `grid.lost_percent_of_work`, `lost_percent_of_jobs` | 100 x lost / (useful + lost) work, without work in progress or duplicate, and 100 x lost / (done + lost) jobs (Chtepen 2011, section 3.1) |
| `grid.data` | data that have arrived, bytes: `total` = `input` + `output` + `checkpoints` (to the checkpoint server) + `recovery` (back from it); data that move from resource to resource are input and recovery, and transfers that were cut off are not counted. The table `transfers` has them by route |
| `grid.checkpoint_space` | bytes that the newest checkpoints of jobs take at the checkpoint server, mean over the run |
| `grid.storage` | with limits only: `mean_space` bytes given to outputs, mean over the run; `waits` of outputs without room at first, and their `mean_wait`; `stuck` jobs whose outputs had no room until the end of the run, because the storage keeps all outputs |
| `grid.availability`, `busy`, `full` | time up, time with computing or writing, and time in which no further job was accepted, / time from zero to the end of the run; mean over resources. `busy_of_makespan` is the time of `busy` / makespan, at most 1: a horizon far behind the last end does not lower it. `grid.resources` has them one by one if there are at most 1,000, with their `work`, `attempts` and `data` |
| `grid.sessions.accepted`, `rejected`, `accepted_percent` | if resources reserve shares: jobs that were placed, jobs that were rejected because no resource had room, and 100 accepted / (accepted + rejected). Light and heavy sessions are distinguished by workload: `outcomes.jobs` and `outcomes.rejected` in `workloads`, which a cut restricts to the steady state |
| `grid.sessions.mean_share`, `reserved`, `per_resource` | share requested by an accepted session, mean; Σ share × time held / time, mean over resources, and for each in `grid.resources`; sessions on a resource, mean over time and resources |
| `grid.workflows.workflows`, `done`, `tasks`, `tasks_done` | if jobs are tasks of workflows: workflows that arrived, workflows with all tasks done, all their tasks, and done tasks |
| `grid.workflows.makespan`, `turnaround_time` | end of a done workflow, which is when its last output is stored, - when its first task was sent to a resource, and - submission; means |
| `grid.workflows.schedule_length_ratio` | makespan / (critical path / speed of the fastest resource), mean over done workflows (SLR) |
| `grid.workflows.waiting_percent` | 100 × Σ (first sent to a resource - ready) / Σ (end - ready) over done tasks; a task is ready when the outputs of its parents are stored |
| `grid.workflows.migrations_per_task`, `checkpoints_per_task` | moves of a task to another resource, and checkpoints written; means over all tasks |
| `grid.workflows.useful_of_processed`, `done_of_submitted` | useful workload: work of done tasks / work processed (Chtepen 2011, section 5.6.1), and work of done workflows / work of all that arrived (equation 6.6) |
| `grid.workflows.data_of_critical_path` | as `workflows.data_of_critical_path`; here data take the time from the start of a slot to the start of computing, preparation included, and from the end of computing until the output is stored |
| `grid.workflows.evaluations` | pairs of a running task and a resource, or group of resources, that the scheduler compared |
| `network` | networks that carried data: `bandwidth` between providers, metaschedulers and storages, `grid_bandwidth` within sites, `grid_wan_bandwidth` between them, bit/s, and `grid_information_delay`, s: largest age of the information of a grid's scheduler. `defaults` lists the values that are defaults, by their keys in the scenario |
| `disclosures`, `disclosed`, `items_disclosed` | number of disclosed items by sender, receiver and kind; sums by kind; sum of the items about resources and plans (all but `job`, `bag`, `job_status`, `refusal`) |
| `eavesdropping.power_error_percent`, `load_error_percent` | error of an eavesdropper that reads every answer to a call for offers and knows the dependence of completions on power and load; mean over providers |
| `message_faults.lost`, `parted`, `missed`, `doubled`, `refused`, `resent` | messages lost by chance, lost between groups of a partition, lost at actors that were down, doubled, and refused by receivers that did not expect them; number of times that lost messages were sent again (each may be lost and counted again); missing if there were none |
| `moves.moved`, `resubmitted`, `resized` | number of times that a waiting job was taken back and submitted to another provider, and to the same one again; number of times that it got another number of processors there; missing if waiting jobs were never examined |
| `moves.data_time`, `start_up_work` | Σ time of data transfers of moves to other providers, s; Σ processors × start-up time of jobs that had moved, processor-seconds |
| `moves.events`, `waiting`, `estimates`, `forgetful_estimates` | number of examinations of the waiting jobs, Σ of the jobs that waited then, estimates that were requested, and estimates that would have been requested if answers were not remembered until their provider changes |
| `moves.full_events`, `full_forgetful_estimates` | the same for examinations at which at least `window` jobs waited |
| `following.jobs`, `held` | jobs that follow others; those of them that were not submitted when the run stopped: a job that they follow had not ended, or the think time was not over |
| `plans.applications`, `intervals`, `stayed`, `within`, `between` | with `[plans]`: applications of phases that began; their intervals, also lost ones, and the numbers of intervals on the machines of the previous interval, on other machines of its cluster, and on another cluster; the remaining ones were first intervals |
| `plans.time`, `predicted`, `error_percent` | Σ time of done intervals, and Σ of their predicted times at the beginning, s; mean difference of the two, percent of the time |
| `plans.moving`, `lost`, `lost_time` | Σ time of moves, s; intervals that lost a machine, and Σ time that they had run, s |
| `transactions.jobs`, `success_percent`, `tries`, `agreed`, `aborted`, `broken` | if a scenario chooses a `protocol`: jobs whose parts were requested, and percent of them that got all parts; transactions, agreed ones, ones that failed before a decision, and ones that were decided but had a part that its provider could no longer carry out |
| `transactions.tries_per_agreement`, `messages`, `messages_per_agreement`, `messages_by_kind` | tries / agreed; messages of the protocol, including messages to and from acceptors, but not the notifications that a part begins or ends; by kind |
| `transactions.time_to_decision`, `time_to_agreement` | from the beginning of a try to its decision, mean over decided tries; from the first try of a job until its metascheduler knows that all have agreed, mean over jobs, s. `times_to_agreement` has the median, 95 % and the largest of these times. Table `transactions` has each |
| `transactions.in_doubt`, `held_in_vain` | Σ time in which a part was held while its metascheduler was down or after its provider had been down, part-seconds; processors × time of parts that were given up, held or begun, processor-seconds |
| `transactions.orphans`, `orphan_work`, `partial` | parts that ran to their end although their group was not agreed on, their processors × the time for which they ran; transactions of which some parts ran, even partly, and others never did |
| `transactions.deadlocks`, `first_deadlock`, `livelocks`, `starved` | cycles of jobs that each held a part and waited for the next job, and the time of the first, s; sets of two or more jobs that failed ten times each since one of them last succeeded, without tries that failed while a job ran on the requested processors; jobs given back after their last try while others got the requested processors |
| `warnings` | keys of the scenario without effect, and facts that only the run showed, such as steps that changed no job; texts that change no digest |

Resources of a grid are time-shared. There, `utilisation` is missing, processor-seconds of jobs are 0, `time_computing` is the
time in which resources computed or wrote, `time_idle` the rest of the run, and `failures` is in `grid`. Beside providers or
clusters ([side-by-side.md](side-by-side.md)), `utilisation` and `failures` are those of whole processors, `time_computing` and `time_idle`
sums over both. Jobs
lost without a replacement are `failed`; jobs lost so far or waiting for a restart are `waiting`. A session without room on any resource
is `rejected` (`no_room`) in the instant in which it arrives; a session whose resource failed is `failed` as soon as the scheduler
is notified of the failure.

`spans` groups bags, and jobs that could be spread, by whether they ran on one provider or several, `sizes` by quarters of tasks × run time.

Run time is end - start of the last attempt, plus the time saved by earlier attempts; of a bag, the run time of a task on the reference processor. Distributions (mean, std, median, p95, max) are over the jobs that started and ended by themselves; `mean_*` is divided by
their number, where Batsim divides by all jobs. Percentiles are exact, linear between the two nearest values (as in NumPy
and pandas); std is that of a sample. A missing value is `null`.

`cut_off` is true if the run stopped at its horizon before all jobs had arrived: later jobs are in no table and no count.

Warm-up and cool-down leave out jobs by their submission time, from all counts and distributions; column `counted` of `jobs` is 0 for them. `makespan`, `utilisation`,
`time_computing`, `time_idle`, `failures` and `grid` are always those of the whole run; `utilisation_in_window` is the utilisation between
the ends of the cut, or over the scenario's `window`.

## Metrics by name

A metric has one name everywhere: in `runs.csv` (a row a run), in `aggregate.csv` (a row a point of the sweep and
metric: `n` runs, their `mean`, `std` and `ci95`, half the width of the 95 % confidence interval), as `metric` of `[[figure]]`, in `haggle plot
--metric` and `haggle compare --metric`. Other values are called by their place in `summary.json`: `failures.work_lost`,
`deadlines.delayed`, `grid.done`, `eavesdropping.power_error_percent`. A group of jobs comes first: `provider.north.mean_waiting_time`,
`class.local.deadlines.delayed`, `workload.day.utilisation`. `-` may be written for `_`.

`aggregate.csv` has the name twice: in `metric`, which is unique at a point, and in long format in `group_kind` (`provider`, `class`, `workload`), `group` (`north`) and
`quantity` (`mean_waiting_time`), where `group_kind` and `group` are empty for the whole run. It has no rows of groups if there are more than 64 providers, classes or workloads;
figures and each run's `summary.json` have them. It has no rows of users, which have the values of their workload.

In `runs.csv`, `aggregate.csv` and `failed.csv` a text of an axis that a spreadsheet would compute, such as `=1+1`, has a `'` before it. Numbers and all
other texts stay as they are.

";

/// The page, in Markdown.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for table in Table::ALL {
        // Writing to a String cannot fail.
        let _ = write!(page, "\n## {}\n\n{}\n\n", table.name(), table.about());
        page.push_str("| column | type | unit | meaning | missing |\n|---|---|---|---|---|\n");
        for column in table.columns() {
            page.push_str(&row(column));
        }
    }
    page += TAIL;
    page.push_str("| metric | of | unit | definition |\n|---|---|---|---|\n");
    for Named { name, title, unit, meaning, .. } in NAMED {
        let of = if Named::of(name).is_some_and(Named::is_whole) { "run" } else { "run, groups" };
        let unit = match unit {
            Unit::Seconds => "s",
            Unit::Percent => "%",
            Unit::Share => "1",
            Unit::Number => "",
        };
        let _ = writeln!(page, "| `{name}` | {of} | {unit} | {title}: {meaning} |");
    }
    page
}

fn row(column: &Column) -> String {
    let missing = match column.missing {
        Missing::Never => "never".to_owned(),
        Missing::Number(meaning) => meaning.to_owned(),
        Missing::Empty(when) => format!("empty: {when}"),
    };
    let Column { name, unit, formula, .. } = column;
    let kind = column.kind.type_name();
    format!("| `{name}` | {kind} | {unit} | {formula} | {missing} |\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn manual_page_agrees_with_the_columns() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md");
        if std::env::var_os("UPDATE_MANUAL").is_some() {
            std::fs::write(&path, super::page()).expect("docs/ can be written");
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == super::page(),
            "docs/results.md is stale: run UPDATE_MANUAL=1 cargo test -p haggle-results manual"
        );
    }
}
