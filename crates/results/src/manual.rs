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
name and version of every rule of one's own, digest of the tables, size of their files, what the clock of a log showed at time zero), `summary.json` (metrics) and `timing.json` (what the run cost: the only file that differs
when the same run is made again).

A folder describes itself: `plot`, `explain` and `verify` read the tables, `summary.json` and `about` in `provenance.json`, and no `scenario.toml`, which is there to
be run again; `compare` reads it for the keys that differ. `about` has what no table does:

| key | meaning |
|---|---|
| `name` | name of the scenario, with which titles of figures begin |
| `workloads` | of each its `name`, its `users` (`name`, `submits_to`: a provider, a metascheduler or a grid), the `share` of a resource that its jobs ask for, 0 to 1, if they do, and `on_grid`: `always` (its jobs run on a grid and nowhere else), `sometimes` (there or on providers), or missing (never) |
| `horizon` | when the run was to end whatever was left, s; missing: when all was settled |
| `instant_messages` | whether messages took no time, and all of them arrived |
| `static_schedules` | true where tasks ran on a grid as schedules said that were made before, one at a time on each resource; else missing |
| `schedules_anew` | true where these schedules were made anew when resources failed or worked again; else missing |
| `information` | where there are such schedules: how late their scheduler learned of failures and repairs, `periodic` (at the next multiple of so many seconds) or `within` (after a time that is drawn, at most so many seconds); missing: at once |
| `tolerances` | by how much starts of the parts of a job may differ, s, of each metascheduler that negotiates about them |
| `figures` | the figures that the scenario declares, as its `[[figure]]` |

[readers.md](readers.md) has them read in pandas, Polars and DuckDB, of one run and of a sweep. In a pack of a sweep ([cluster.md](cluster.md#large-sweeps)) the
tables of many runs are one file each, with the axes of the sweep, as texts, and `seed` before these columns; an axis that is called as one of these
is `axis.NAME` there.
";

const TAIL: &str = "
## summary.json

The keys of Batsim's `schedule.json` come first, then ours. Times are in seconds.

| metric | definition |
|---|---|
| `waiting_time` | start - submission |
| `turnaround_time` | end - submission |
| `slowdown` | turnaround / run time; jobs that ran for no time at all are left out |
| `bounded_slowdown` | max(1, turnaround / max(run time, T)); T is `bounded_slowdown_threshold`, 10 s unless set |
| `makespan` | last end - first submission |
| `utilisation` | Σ run time × processors / (processors × makespan) |
| `average_weighted_response_time` | Σ w × turnaround / Σ w, w = run time × processors |
| `nb_jobs`, `nb_jobs_success`, `nb_jobs_rejected`, `nb_jobs_finished`, `nb_jobs_killed` | Batsim's words: all jobs, `completed` ones, `rejected` ones, those neither `rejected` nor `unfinished`, and those of them that are not `completed`: `walltime_reached` + `cancelled` + `failed`. No other number is called killed; Batsim's state COMPLETED_KILLED is `cancelled` |
| `outcomes` | of all jobs and of each group: how many ended how, by the words of the column `outcome` in `jobs`; `unfinished` ones as `running` and `waiting`. `failed`, `running` and `waiting` are left out where 0 |
| `promises_broken` | completed jobs that ended later than their provider had promised |
| `deadlines.delayed`, `delayed_work` | jobs, and their processors × requested time, whose promised (else actual) completion is after their deadline |
| `deadlines.total_weighted_delay` | Σ over delayed jobs of processors × ((promised - submission) / (deadline - submission) - 1) × 100 (Netto 2009, equation 6.1) |
| `bags.providers`, `bags.by_providers` | providers a bag ran on, mean; percent of the bags on 1, 2, … |
| `bags.stretch` | with e1, e2 the first and last end of a task of a bag on two or more providers: e2 - e1 in seconds, in percent of e2 - submission and of a task's run time, and (e2 - submission) / (e1 - submission) |
| `bags.promise_slack` | completion promised - completion |
| `requested_processor_seconds` | Σ requested time × processors over the jobs that `processor_seconds` counts; over processors × time, their estimated load |
| `given_back.work`, `used_again`, `used_again_percent` | time between the ends of reserved jobs and the ends of their plans, processor-seconds over the time of `utilisation_in_window`; of that, while more was given back than was idle; 100 used again / given back (Netto 2009, section 3.4: fragments). What has failed or is closed counts as idle |
| `coallocated.jobs`, `providers`, `by_providers` | jobs of metaschedulers with `coallocation` or `mapping` that ran; providers one ran on, mean; how many ran on 1, 2, … |
| `coallocated.spread`, `at_once_percent`, `united_percent`, `earlier_percent`, `advance`, `moves` | jobs that were placed on several providers first; of these: how many percent were placed where they started at once, ran on one, and started before the start at which they were placed first; by how long, s; how often one moved, mean |
| `failures.outages`, `attempts_lost` | failures of nodes, each with all its processors (one, unless `processors-per-node` says otherwise); attempts that were lost |
| `bags.shares_promised`, `bags.shares_late` | shares whose completion a provider promised to the metascheduler; those with a task that ended later or was given up, though the whole bag may have been in time |
| `failures.availability` | processor time up / processor time, from time zero to the end of the run (Chtepen 2011, equations 4.1 and 4.2, weighted by processors) |
| `failures.work` | Σ (end - start) × processors over all attempts, processor-seconds: `work_useful` (ran to its end or limit, also from checkpoint to checkpoint) + `work_lost` (until its processors failed, and not saved or in vain) + `work_checkpoints` (reading and writing them) + `work_unfinished` (ran, or was saved, when the run stopped) |
| `failures.lost_percent_of_work` | 100 x `work_lost` / `work`: the metric `lost_work` |
| `failures.promises_broken`, `promises_broken_by_loss` | jobs over later than promised or given up; those that lost an attempt themselves |
| `maintenance.windows`, `short`, `refused` | windows of maintenance that began; those of them that had fewer processors than were to be closed; windows that were refused when they were announced |
| `maintenance.closed`, `missed` | Σ time × processors that were closed, and that windows which began lacked, processor-seconds, until the `horizon`, or without one until the last job left. Utilisation counts them as there: it is a share of all processors |
| `workflows.workflows`, `done`, `tasks`, `tasks_done`, `tasks_barred` | where providers run tasks of workflows: workflows that came, those of which all tasks are done, all their tasks, those done, and those never submitted because an earlier one came to nothing (`parent_failed`) |
| `workflows.makespan`, `turnaround_time`, `schedule_length_ratio` | last end - first start of a done workflow's tasks, last end - submission, and makespan / (critical path / speed of the fastest provider); means |
| `workflows.data_of_critical_path` | Σ time for which data were on their way to the tasks of the critical path / Σ (last end - submission), over done workflows; the critical path as it was leads from the last task to the parent that was done last, and so on |
| `workflows.done_of_submitted`, `data` | work of done workflows / work of all; bytes that were transferred to where tasks were to run (`inputs`) |
| `grid.nb_resources` | resources of the grid; they are among `nb_computing_machines`, and stand last in `providers` |
| `grid.done`, `lost`, `lost_pending`, `never_started`, `active`, `waiting_for_restart`, `rejected`, `withdrawn` | the fate of all `grid.jobs` that were submitted. Lost: all attempts have died, and none will be replaced; lost pending: as yet, but more were to follow (Chtepen 2011, section 4.4.4) |
| `grid.started`, `attempts`, `attempts_by_outcome`, `migrations`, `replicas_cancelled` | jobs that began to compute; attempts, all, by the outcomes of the table `attempts`, `moved`, and `cancelled` |
| `grid.rounds`, `rounds_with_queue` | rounds in which the scheduler decided, and those after which jobs went on waiting to be sent to a resource. After a round without a job none follows before the next one comes; with a period P, jobs waited for about `rounds_with_queue` × P |
| `grid.checkpoints_written`, `checkpoints_available`, `checkpoints_omitted`, `…_per_started_job` | checkpoints that were written, could be used, or were due and omitted; the first two per job that began to compute |
| `grid.mean_run_time_win`, `mean_run_time_first` | end of a done job's computing - first start of the attempts it was done by, and - first start of any of its attempts |
| `grid.mean_waiting_time` | first start of any attempt - submission, over jobs that started |
| `grid.mean_length`, `mean_length_lost`, `length_submitted` | length of done and of lost jobs, and of all, MI; 1 MI is what 1 MIPS computes in 1 s |
| `grid.work` | MI computed, `total` = `useful` (length of done jobs) + `in_progress` (computed or saved of jobs that may still be done) + `lost` (else, by attempts that failed, were stranded or moved; `lost_by_failure` is the part of those that failed, and the sum of `work_lost` in the table `outages`) + `duplicate` (else, by attempts cancelled or second) |
| `grid.slot_time` | time in which jobs held slots: for each kind of work, in `checkpoints` (they were written) and in `transfers` (for data); adds up to what resources say, in every run, to the microsecond |
| `grid.lost_percent_of_work`, `lost_percent_of_jobs` | 100 x lost / (useful + lost) work, without what is in progress or duplicate, and 100 x lost / (done + lost) jobs (Chtepen 2011, section 3.1) |
| `grid.data` | data that have arrived, bytes: `total` = `input` + `output` + `checkpoints` (to the checkpoint server) + `recovery` (back from it); what moves from resource to resource is input and recovery, and what was cut off is not counted. The table `transfers` has them by where they went |
| `grid.checkpoint_space` | bytes that the newest checkpoints of jobs take at the checkpoint server, mean over the run |
| `grid.storage` | with limits only: `mean_space` bytes given to outputs, mean over the run; `waits` of outputs that found no room at first, and their `mean_wait`; `stuck` jobs whose outputs found none until the run was over, as the storage keeps all it has |
| `grid.availability`, `busy`, `full` | time up, time with anything to compute or write, and time in which no further job was taken, / time from zero to the end of the run; mean over resources. `busy_of_makespan` is the time of `busy` / makespan, at most 1: a horizon far behind the last end does not lower it. `grid.resources` has them one by one if there are at most 1,000, with their `work`, `attempts` and `data` |
| `grid.sessions.accepted`, `rejected`, `accepted_percent` | where resources reserve shares: jobs that were placed, that were not since no resource had room, and 100 accepted / (accepted + rejected). Light and heavy ones are told apart by workload: `outcomes.jobs` and `outcomes.rejected` in `workloads`, which a cut makes those of the steady state |
| `grid.sessions.mean_share`, `reserved`, `per_resource` | share that an accepted session asked for, mean; Σ share × time held / time, mean over resources, and for each in `grid.resources`; sessions on a resource, mean over time and resources |
| `grid.workflows.workflows`, `done`, `tasks`, `tasks_done` | where jobs are tasks of workflows: workflows that came, those of which all tasks are done, all their tasks, and those done |
| `grid.workflows.makespan`, `turnaround_time` | end of a done workflow, which is when its last output is stored, - when its first task was sent to a resource, and - submission; means |
| `grid.workflows.schedule_length_ratio` | makespan / (critical path / speed of the fastest resource), mean over done workflows (SLR) |
| `grid.workflows.waiting_percent` | 100 × Σ (first sent to a resource - ready) / Σ (end - ready) over done tasks; a task is ready when the outputs of its parents are stored |
| `grid.workflows.migrations_per_task`, `checkpoints_per_task` | how often a task went on elsewhere, and checkpoints written; means over all tasks |
| `grid.workflows.useful_of_processed`, `done_of_submitted` | useful workload: work of done tasks / work processed (Chtepen 2011, section 5.6.1), and work of done workflows / work of all that came (equation 6.6) |
| `grid.workflows.data_of_critical_path` | the same, where data take the time from the start of a slot to the start of computing, preparation included, and from the end of computing until the output is stored |
| `grid.workflows.evaluations` | pairs of a task that runs and a resource, or group of resources, that the scheduler compared |
| `network` | networks that carried data: `bandwidth` between providers, metaschedulers and storages, `grid_bandwidth` within sites, `grid_wan_bandwidth` between them, bit/s, and `grid_information_delay`, s: how old what the scheduler of a grid knows may be. `defaults` lists those that are defaults, by their keys in the scenario |
| `disclosures`, `disclosed`, `items_disclosed` | who told whom how much of what; sums by kind; sum of what is told about resources and plans (all but `job`, `bag`, `job_status`, `refusal`) |
| `eavesdropping.power_error_percent`, `load_error_percent` | how wrong somebody is who reads every answer to a call for offers and knows how completions depend on power and load; mean over providers |
| `message_faults.lost`, `parted`, `missed`, `doubled`, `refused`, `resent` | messages that were lost by chance, were lost between actors that were parted, were lost at actors that were down, were doubled, and arrived at who did not expect them; how often lost ones were sent again (one that is may be lost again, and counts again); missing where none was |
| `moves.moved`, `resubmitted`, `resized` | how often a job that waited at a provider was taken back and submitted to another one, and to the same one again; how often it got another number of processors there; missing where nobody looked at what waits |
| `moves.data_time`, `start_up_work` | for how long data of moves to other providers were on their way, Σ over these, s; Σ processors × time in which jobs that had moved were started up, processor-seconds |
| `moves.events`, `waiting`, `estimates`, `forgetful_estimates` | how often what waits was looked at, how many jobs waited then (sum), estimates that were asked for, and how many it would have been if an answer were not remembered until its provider changes |
| `moves.full_events`, `full_forgetful_estimates` | the same of those looks at which as many jobs waited as `window` lets be compared, or more |
| `plans.applications`, `intervals`, `stayed`, `within`, `between` | with `[plans]`: applications of phases that began; their intervals, those that were lost included, and how many of these were on the machines of the one before, on others of its cluster, on another cluster; the others were first ones |
| `plans.time`, `predicted`, `error_percent` | Σ time of intervals that were done, and as it was predicted when they began, s; mean distance of the two, percent of the time |
| `plans.moving`, `lost`, `lost_time` | Σ time of moves, s; intervals that lost a machine, and Σ time that they had run, s |
| `transactions.jobs`, `success_percent`, `tries`, `agreed`, `aborted`, `broken` | where a scenario chooses a `protocol`: jobs whose parts were asked for, how many percent of them got all; transactions, those that were agreed on, those that failed before anything was decided, and those that were decided although somebody could not carry out a part any more |
| `transactions.tries_per_agreement`, `messages`, `messages_per_agreement`, `messages_by_kind` | tries / agreed; messages of the protocol, with those to acceptors and from them, and without those that say that a part begins or is over; by their words |
| `transactions.time_to_decision`, `time_to_agreement` | from the beginning of a try to its decision, mean over those decided; from the first try of a job until its metascheduler knows that all have agreed, mean over jobs, s. `times_to_agreement` has median, 95 % and the largest of these. Table `transactions` has each |
| `transactions.in_doubt`, `held_in_vain` | Σ time in which a part was held while its metascheduler was down or after its provider was, part-seconds; processors × time of parts that were given up, held or begun, processor-seconds |
| `transactions.orphans`, `orphan_work`, `partial` | parts that ran to their end although their group was not agreed on, their processors × the time for which they ran; transactions of which some parts ran, if only for a while, and others never did |
| `transactions.deadlocks`, `first_deadlock`, `livelocks`, `starved` | circles of jobs that each held something and waited for the next, and when the first was there, s; sets of two jobs or more that failed ten times each since one of them last succeeded, not counting tries that failed while somebody worked with what they asked for; jobs given back after their last try while others got what they asked for |
| `warnings` | what the scenario says without effect, and what else only the run showed, such as steps that changed no job; texts that change no digest |

Resources of a grid are time-shared. There, `utilisation` is missing, processor-seconds of jobs are 0, `time_computing` is the
time in which resources had anything to compute or write, `time_idle` the rest of the run, and `failures` is in `grid`. Beside providers or
clusters ([side-by-side.md](side-by-side.md)) `utilisation` and `failures` are those of whole processors, `time_computing` and `time_idle`
sums over both. Jobs
lost for good are `failed`; those lost so far or waiting for a restart are `waiting`. A session that no resource had room for
is `rejected` (`no_room`) in the instant in which it arrived; one whose resource failed is `failed` as soon as the scheduler
learns of that.

`spans` groups bags, and jobs that could be spread, by whether they ran on one provider or several, `sizes` by quarters of tasks × run time.

Run time is end - start, of the last attempt and with what attempts before it saved; of a bag, that of a task on the reference processor. Distributions (mean, std, median, p95, max) are over the jobs that started and came to an end of their own; `mean_*` is divided by
their number, where Batsim divides by all jobs. Percentiles are exact, linear between the two nearest values (as in NumPy
and pandas); std is that of a sample. A missing value is `null`.

`cut_off` is true if the run stopped at its horizon before all jobs had come: those that come later are in no table and no count.

Warm-up and cool-down leave out jobs by their submission time, from all counts and distributions; column `counted` of `jobs` is 0 for them. `makespan`, `utilisation`,
`time_computing`, `time_idle`, `failures` and `grid` are always those of the whole run; `utilisation_in_window` is the utilisation between
the ends of the cut, or over the scenario's `window`.

## Metrics by name

What is drawn, swept and compared has one name everywhere: in `runs.csv` (a row a run), in `aggregate.csv` (a row a point of the sweep and
metric: `n` runs, their `mean`, `std` and `ci95`, half the width of the 95 % confidence interval), as `metric` of `[[figure]]`, in `haggle plot
--metric` and `haggle compare --metric`. What has no name here is called by its place in `summary.json`: `failures.work_lost`,
`deadlines.delayed`, `grid.done`, `eavesdropping.power_error_percent`. A group of jobs comes first: `provider.north.mean_waiting_time`,
`class.local.deadlines.delayed`, `workload.day.utilisation`. `-` may be written for `_`.

`aggregate.csv` says this twice: in `metric`, which is unique at a point, and in long format in `group_kind` (`provider`, `class`, `workload`), `group` (`north`) and
`quantity` (`mean_waiting_time`), where `group_kind` and `group` are empty for the whole run. Of more than 64 providers, classes or workloads it has none;
figures and each run's `summary.json` do. It has no rows of users, for they have the values of their workload.

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
