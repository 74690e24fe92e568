//! Prints a summary as a table for the terminal: at most 100 columns wide, without colours.

use std::fmt;

use super::summary::{Group, MessageFaults, Outcomes, Summary};
use super::{Cut, Distribution, Extent, GridSummary, Moves, Networks, Workflows};

const NAME_WIDTH: usize = 18;

/// Prints one part of a summary, or nothing if the run has no such part.
type Part = fn(&mut fmt::Formatter<'_>, &Summary) -> fmt::Result;

/// The parts in the order of the printed summary.
const PARTS: [Part; 21] = [
    places,
    outcome,
    makespan,
    reserved,
    recorded,
    failures,
    preemptions,
    plans,
    nodes,
    maintenance,
    grid,
    moves,
    workflows,
    transactions,
    message_faults,
    window,
    distributions,
    breakdowns,
    deadlines,
    spread,
    coallocated,
];

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PARTS.iter().try_for_each(|part| part(f, self))
    }
}

/// Number of providers and clusters, whose processors are whole. They come before the resources of a grid.
fn whole(it: &Summary) -> usize {
    it.providers.len() - it.grid.as_ref().map_or(0, |grid| grid.nb_resources as usize)
}

/// Prints the number of jobs, the places where they ran, and the jobs left out.
fn places(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let resources = it.grid.as_ref().map_or(0, |grid| grid.nb_resources);
    let processors = it.nb_computing_machines - resources;
    let mut places = Vec::new();
    if whole(it) > 0 || it.grid.is_none() {
        let providers = counted(whole(it) as u64, "provider");
        places.push(format!("{} of {providers}", counted(processors, "processor")));
    }
    if it.grid.is_some() {
        places.push(format!("{} of a grid", counted(resources, "resource")));
    }
    writeln!(f, "{} on {}", counted(it.nb_jobs, "job"), places.join(" and "))?;
    if it.cut == Cut::default() {
        return match it.jobs_cut {
            0 => Ok(()),
            cut => writeln!(f, "{} of the start state left out", counted(cut, "more job")),
        };
    }
    writeln!(
        f,
        "{} more jobs left out: warm-up {}, cool-down {}",
        it.jobs_cut,
        extent(it.cut.warm_up),
        extent(it.cut.cool_down)
    )
}

fn outcome(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let counts = &it.all.outcomes;
    writeln!(f, "  {}", outcomes(counts))?;
    if it.cut_off {
        writeln!(f, "  stopped before all jobs had arrived: later jobs are not counted")?;
    }
    if counts.promises > 0 {
        let (promises, broken) = (counts.promises, counts.promises_broken);
        writeln!(f, "  {promises} completions promised, {broken} promises broken")?;
    }
    Ok(())
}

fn makespan(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let Some(makespan) = it.makespan else {
        let lost = it.failures.as_ref().is_some_and(|it| it.attempts_lost > 0);
        return writeln!(f, "  no job ran{}", if lost { " to its end" } else { "" });
    };
    write!(f, "  makespan {makespan:.0} s ({:.1} days)", makespan / 86_400.0)?;
    // The use of time-shared resources is printed with the grid.
    if whole(it) > 0 {
        write!(f, ", utilisation {}", percent(it.utilisation))?;
    }
    writeln!(f)
}

fn failures(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let Some(failures) = &it.failures else { return Ok(()) };
    let of_all = |work: f64| percent((failures.work > 0.0).then(|| work / failures.work));
    write!(
        f,
        "  {}, availability {}; {} lost, {} of all work",
        counted(failures.outages, "node outage"),
        percent(failures.availability),
        counted(failures.attempts_lost, "attempt"),
        of_all(failures.work_lost)
    )?;
    if failures.work_checkpoints > 0.0 {
        write!(f, ", {} on checkpoints", of_all(failures.work_checkpoints))?;
    }
    writeln!(f)
}

fn preemptions(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let Some(it) = &it.preemptions else { return Ok(()) };
    writeln!(
        f,
        "  {} stopped for other jobs, {} of all work",
        counted(it.attempts_preempted, "attempt"),
        percent(it.preempted_percent_of_work.map(|it| it / 100.0))
    )
}

fn plans(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let Some(it) = &it.plans else { return Ok(()) };
    let (applications, intervals) =
        (counted(it.applications, "application"), counted(it.intervals, "interval"));
    writeln!(
        f,
        "  {applications} in {intervals}: {} stayed, {} moved within a cluster, {} between clusters, {} lost",
        it.stayed, it.within, it.between, it.lost
    )?;
    write!(
        f,
        "  {:.2} h computing and communicating, {:.2} h predicted, {:.2} h moving",
        it.time / 3600.0,
        it.predicted / 3600.0,
        it.moving / 3600.0
    )?;
    if it.lost > 0 {
        write!(f, ", {:.2} h lost", it.lost_time / 3600.0)?;
    }
    writeln!(f)
}

fn nodes(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let Some(it) = &it.nodes else { return Ok(()) };
    write!(f, "  nodes held: processors {}", percent(it.processor_utilisation))?;
    let others = [("memory", it.memory_utilisation), ("gpus", it.gpu_utilisation)];
    for (resource, used) in others.into_iter().filter(|(_, used)| used.is_some()) {
        write!(f, ", {resource} {}", percent(used))?;
    }
    writeln!(f)
}

fn maintenance(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let Some(it) = &it.maintenance else { return Ok(()) };
    writeln!(
        f,
        "  {} of maintenance, {} of them short of processors, {} refused; {:.0} processor-hours closed",
        counted(it.windows, "window"),
        it.short,
        it.refused,
        it.closed / 3600.0
    )
}

fn grid(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let Some(grid) = &it.grid else { return Ok(()) };
    let whose = if whole(it) > 0 { "the grid: " } else { "" };
    time_shared(f, whose, grid)?;
    network_of_grid(f, it.network.as_ref(), grid)
}

fn moves(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let Some(Moves { moved, resubmitted, resized, data_time, start_up_work, .. }) = it.moves else {
        return Ok(());
    };
    let moved = counted(moved, "move");
    writeln!(
        f,
        "  {moved} of waiting jobs to other providers; {resubmitted} submitted again to the \
         same one, {resized} with another size"
    )?;
    if data_time > 0.0 || start_up_work > 0.0 {
        writeln!(
            f,
            "    their data were in transit for {:.1} h in all, and start-ups took {:.1} processor-hours",
            data_time / 3600.0,
            start_up_work / 3600.0
        )?;
    }
    Ok(())
}

/// Prints the workflows on providers, and the network of providers.
fn workflows(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    if let Some(workflows) = &it.workflows {
        flows(f, workflows)?;
    }
    let Some(network) = it.network.as_ref().and_then(Networks::of_providers) else {
        return Ok(());
    };
    let share = it.workflows.and_then(|it| it.data_of_critical_path);
    data_took(f, &network, share.map(|share| (share, "the critical paths")))
}

fn message_faults(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let Some(faults) = it.message_faults else { return Ok(()) };
    let lost = counted(faults.lost + faults.parted + faults.missed, "message");
    let MessageFaults { parted, missed, doubled, resent, refused, .. } = faults;
    writeln!(
        f,
        "  {lost} lost, {parted} of them between parted actors, {missed} at actors that were \
         down; {resent} sent again; {doubled} doubled; {refused} refused"
    )
}

fn window(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    if it.cut == Cut::default() {
        return Ok(());
    }
    let used = percent(it.utilisation_in_window);
    writeln!(f, "  utilisation between warm-up and cool-down {used}")
}

/// Prints a table for each way to group jobs that has several groups.
fn breakdowns(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    // The resources of a grid are too many for a line each. The table `resources` has them.
    let providers = &it.providers[..whole(it)];
    for (title, groups) in
        [("class", &it.classes[..]), ("provider", providers), ("workload", &it.workloads)]
    {
        // A single group would repeat the numbers of all jobs.
        if groups.len() > 1 {
            writeln!(f)?;
            breakdown(f, title, groups)?;
            if title == "provider" {
                on_several(f, it)?;
            }
        }
    }
    Ok(())
}

fn reserved(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let Some(it) = &it.all.reservations else { return Ok(()) };
    write!(f, "  {} granted", counted(it.granted, "reservation"))?;
    if let Some(distance) = &it.distance_percent {
        let mean = distance.mean;
        write!(
            f,
            ", {} beside their windows, by {mean:.1} % of their time in the mean",
            it.beside
        )?;
    }
    if it.resized > 0 {
        write!(f, ", {} on another number of processors", it.resized)?;
    }
    if it.broken > 0 {
        write!(f, "; {} of their windows broken", it.broken)?;
    }
    let answers =
        [(it.moved, "moved in theirs"), (it.shrunk, "shrunk"), (it.revoked, "given back")];
    for (many, answer) in answers.into_iter().filter(|(many, _)| *many > 0) {
        write!(f, ", {many} {answer}")?;
    }
    writeln!(f)
}

fn recorded(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let Some(it) = &it.all.recorded else { return Ok(()) };
    let on_time = it.jobs - it.later_jobs;
    write!(f, "  {} started as recorded, {} later", counted(on_time, "job"), it.later_jobs)?;
    if it.later_jobs > 0 {
        write!(f, ", by at most {} s", number(it.max_delay))?;
    }
    if it.unknown_jobs > 0 {
        write!(f, "; {} without a recorded start", it.unknown_jobs)?;
    }
    writeln!(f)
}

fn flows(f: &mut fmt::Formatter<'_>, it: &Workflows) -> fmt::Result {
    write!(
        f,
        "  {} of {} done ({} of {}",
        it.done,
        counted(it.workflows, "workflow"),
        it.tasks_done,
        counted(it.tasks, "task"),
    )?;
    if it.tasks_barred > 0 {
        write!(
            f,
            ", {} never submitted, because an earlier one was not \
                   completed",
            it.tasks_barred
        )?;
    }
    writeln!(
        f,
        "): makespan {} s (SLR {}), turnaround time {} s; {:.1} MB transferred",
        number(it.makespan),
        number(it.schedule_length_ratio),
        number(it.turnaround_time),
        it.data as f64 / 1e6
    )
}

fn time_shared(f: &mut fmt::Formatter<'_>, whose: &str, grid: &GridSummary) -> fmt::Result {
    let of_all = |part: f64| percent((grid.work.total > 0.0).then(|| part / grid.work.total));
    writeln!(
        f,
        "  {whose}{}, availability {}, busy {}; {}, {} jobs lost",
        counted(grid.failures, "failure"),
        percent(grid.availability),
        busy(grid),
        counted(grid.attempts, "attempt"),
        grid.lost
    )?;
    writeln!(
        f,
        "  of all work {} useful, {} lost, {} duplicate, {} in progress",
        of_all(grid.work.useful),
        of_all(grid.work.lost),
        of_all(grid.work.duplicate),
        of_all(grid.work.in_progress)
    )?;
    if let Some(workflows) = &grid.workflows {
        writeln!(
            f,
            "  {} of {} done ({} of {}): makespan {} s (SLR {}), turnaround time {} s, {} migrations of a task",
            workflows.done,
            counted(workflows.workflows, "workflow"),
            workflows.tasks_done,
            counted(workflows.tasks, "task"),
            number(workflows.makespan),
            number(workflows.schedule_length_ratio),
            number(workflows.turnaround_time),
            number(workflows.migrations_per_task),
        )?;
    }
    let Some(sessions) = &grid.sessions else { return Ok(()) };
    writeln!(
        f,
        "  {} of sessions accepted; {} of resources reserved, {:.2} sessions on each",
        percent(sessions.accepted_percent.map(|it| it / 100.0)),
        percent(sessions.reserved),
        sessions.per_resource.unwrap_or(0.0)
    )
}

/// Share of time in which resources were busy; of the makespan, if that differs from the run.
fn busy(grid: &GridSummary) -> String {
    let (of_run, of_makespan) = (percent(grid.busy), percent(grid.busy_of_makespan));
    match grid.busy_of_makespan {
        Some(_) if of_makespan != of_run => format!("{of_makespan} of the makespan"),
        _ => of_run,
    }
}

/// Prints the network of a grid, the share of transfers, and the delay of its scheduler's information.
fn network_of_grid(
    f: &mut fmt::Formatter<'_>,
    network: Option<&Networks>,
    grid: &GridSummary,
) -> fmt::Result {
    let Some(network) = network else { return Ok(()) };
    if let Some(named) = network.of_grid().filter(|_| grid.data.total > 0) {
        let path = grid.workflows.and_then(|it| it.data_of_critical_path);
        let slots = &grid.slot_time;
        let of_slots = (slots.total > 0.0).then(|| slots.transfers / slots.total);
        let of_path = path.map(|share| (share, "the critical paths"));
        data_took(f, &named, of_path.or(of_slots.map(|share| (share, "the time in slots"))))?;
    }
    match network.information() {
        Some(information) => writeln!(f, "  {information}"),
        None => Ok(()),
    }
}

/// Prints a network, and the share of transfers in a total.
fn data_took(f: &mut fmt::Formatter<'_>, network: &str, share: Option<(f64, &str)>) -> fmt::Result {
    write!(f, "  {network}")?;
    if let Some((share, of)) = share {
        write!(f, "; data took {} of {of}", percent(Some(share)))?;
    }
    writeln!(f)
}

fn deadlines(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    if it.all.deadlines.is_none() {
        return Ok(());
    }
    // With a single class, its row has the numbers of all jobs.
    let all = (it.classes.len() != 1).then_some(&it.all);
    let groups = it.classes.iter().chain(all);
    writeln!(f)?;
    writeln!(
        f,
        "{:<NAME_WIDTH$}{:>9}{:>9}{:>9}{:>14}{:>24}",
        "deadlines", "jobs", "delayed", "", "delayed work", "total weighted delay, %"
    )?;
    for group in groups {
        let Some(deadlines) = &group.deadlines else { continue };
        writeln!(
            f,
            "{:<NAME_WIDTH$}{:>9}{:>9}{:>9}{:>14}{:>24}",
            shortened(&group.name),
            deadlines.jobs,
            deadlines.delayed,
            format!("{:.2} %", deadlines.delayed_percent),
            format!("{:.2} %", deadlines.delayed_work_percent),
            number(Some(deadlines.total_weighted_delay)),
        )?;
    }
    Ok(())
}

fn spread(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let Some(bags) = &it.all.bags else { return Ok(()) };
    writeln!(f)?;
    let shares: Vec<String> = bags
        .by_providers
        .iter()
        .enumerate()
        .filter(|(_, share)| **share > 0.0)
        .map(|(index, share)| format!("{share:.1} % on {}", index + 1))
        .collect();
    writeln!(
        f,
        "{} on {:.2} providers each in the mean ({})",
        counted(bags.jobs, "bag"),
        bags.providers,
        shares.join(", ")
    )?;
    if let Some(stretch) = &bags.stretch {
        writeln!(
            f,
            "  tasks of a bag on several providers end {} s apart, {:.2} % of its response time",
            number(Some(stretch.seconds.mean)),
            stretch.percent_of_response.mean
        )?;
    }
    if bags.shares_late > 0 {
        let (late, promised) = (bags.shares_late, counted(bags.shares_promised, "share"));
        writeln!(f, "  {late} of {promised} that providers had promised ended late")?;
    }
    Ok(())
}

fn transactions(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let Some(it) = &it.transactions else { return Ok(()) };
    writeln!(
        f,
        "  transactions: {} for {}, {} agreed ({} aborted, {} broken), {} of the protocol",
        if it.tries == 1 { "1 try".to_owned() } else { format!("{} tries", it.tries) },
        counted(it.jobs, "job"),
        it.agreed,
        it.aborted,
        it.broken,
        counted(it.messages, "message")
    )?;
    if let Some(time) = it.time_to_agreement {
        writeln!(
            f,
            "  agreed {time:.3} s after the first try, in the mean; {:.0} processor-seconds of wasted holds, \
             parts {:.1} s in doubt",
            it.held_in_vain, it.in_doubt
        )?;
    }
    if it.orphans + it.partial > 0 {
        writeln!(
            f,
            "  {} ({:.0} processor-seconds), {} that began in part only",
            counted(it.orphans, "orphan"),
            it.orphan_work,
            it.partial
        )?;
    }
    if it.deadlocks + it.livelocks + it.starved > 0 {
        writeln!(
            f,
            "  {}{}, {}, {} starved",
            counted(it.deadlocks, "deadlock"),
            it.first_deadlock.map_or_else(String::new, |at| format!(" (the first at {at:.3} s)")),
            counted(it.livelocks, "livelock"),
            counted(it.starved, "job")
        )?;
    }
    Ok(())
}

fn coallocated(f: &mut fmt::Formatter<'_>, it: &Summary) -> fmt::Result {
    let Some(jobs) = &it.all.coallocated else { return Ok(()) };
    writeln!(f)?;
    let counts = jobs.by_providers.iter().enumerate().filter(|(_, count)| **count > 0);
    let counts: Vec<String> = counts.map(|(index, it)| format!("{it} on {}", index + 1)).collect();
    writeln!(
        f,
        "{} that could be spread over providers ran on {:.2} each in the mean ({})",
        counted(jobs.jobs, "job"),
        jobs.providers,
        counts.join(", ")
    )?;
    if let (Some(united), Some(earlier)) = (jobs.united_percent, jobs.earlier_percent) {
        writeln!(
            f,
            "  of {} placed on several first, {united:.1} % ran on one, and {earlier:.1} % started earlier",
            jobs.spread
        )?;
    }
    if let Some(overhead) = jobs.overhead.filter(|&it| it > 0.0) {
        writeln!(
            f,
            "  on several, a job took {overhead:.1} % longer than on one in the mean (`overhead`)"
        )?;
    }
    Ok(())
}

fn distributions(f: &mut fmt::Formatter<'_>, summary: &Summary) -> fmt::Result {
    // No job ran, so there are no times. The line of the makespan says it.
    if summary.makespan.is_none() {
        return Ok(());
    }
    let group = &summary.all;
    writeln!(f)?;
    writeln!(
        f,
        "{:<26}{:>12}{:>12}{:>12}{:>12}{:>12}",
        "", "mean", "std", "median", "95 %", "max"
    )?;
    let threshold = summary.bounded_slowdown_threshold;
    let logged = group.as_recorded.as_deref();
    // Beside the values of the run, those of the log, over jobs that have both.
    let waits = logged.map(|it| (it.logged.mean_waiting_time, it.logged.median_waiting_time));
    let slowdowns =
        logged.map(|it| (it.logged.mean_bounded_slowdown, it.logged.median_bounded_slowdown));
    for (name, values, logged) in [
        ("waiting time, s".to_owned(), group.waiting_time, waits),
        ("turnaround time, s".to_owned(), group.turnaround_time, None),
        ("slowdown".to_owned(), group.slowdown, None),
        (format!("bounded slowdown ({threshold} s)"), group.bounded_slowdown, slowdowns),
    ] {
        write!(f, "{name:<26}")?;
        let numbers =
            |it: Distribution| [Some(it.mean), it.std, Some(it.median), Some(it.p95), Some(it.max)];
        for value in values.map_or([None; 5], numbers) {
            write!(f, "{:>12}", number(value))?;
        }
        writeln!(f)?;
        if let Some((mean, median)) = logged {
            let [mean, median] = [mean, median].map(|it| number(Some(it)));
            writeln!(f, "{:<26}{mean:>12}{:>12}{median:>12}", "  as recorded", "")?;
        }
    }
    if let Some(it) = logged {
        let jobs = counted(it.jobs, "job");
        let [mean, absolute] =
            [it.mean_difference, it.mean_absolute_difference].map(|it| number(Some(it)));
        writeln!(
            f,
            "  waiting time - recorded one: mean {mean} s, mean absolute value {absolute} s ({jobs})"
        )?;
    }
    // Jobs of a grid have no processors that could be weights.
    let Some(weighted) = group.average_weighted_response_time else { return Ok(()) };
    let weighted = number(Some(weighted));
    writeln!(f, "{:<26}{weighted:>12}   by processor-seconds", "  turnaround, weighted, s")
}

/// Prints the bags that ran on several providers. They are not among the jobs of any single provider.
fn on_several(f: &mut fmt::Formatter<'_>, summary: &Summary) -> fmt::Result {
    let Some(bags) = summary.spans.iter().find(|group| group.name == "multi-provider") else {
        return Ok(());
    };
    let wait = bags.waiting_time;
    writeln!(
        f,
        "{:<NAME_WIDTH$}{:>9}{:>11}{:>10}{:>13}{:>11}{:>11}{:>14}",
        "(on several)",
        bags.outcomes.jobs,
        bags.outcomes.completed,
        bags.outcomes.rejected,
        "above",
        number(wait.map(|it| it.mean)),
        number(wait.map(|it| it.p95)),
        number(bags.bounded_slowdown.map(|it| it.mean)),
    )
}

fn breakdown(f: &mut fmt::Formatter<'_>, title: &str, groups: &[Group]) -> fmt::Result {
    writeln!(f, "{:>83}{:>14}", "waiting time, s", "mean bounded")?;
    writeln!(
        f,
        "{:<NAME_WIDTH$}{:>9}{:>11}{:>10}{:>13}{:>11}{:>11}{:>14}",
        title, "jobs", "completed", "rejected", "utilisation", "mean", "95 %", "slowdown"
    )?;
    for group in groups {
        let wait = group.waiting_time;
        writeln!(
            f,
            "{:<NAME_WIDTH$}{:>9}{:>11}{:>10}{:>13}{:>11}{:>11}{:>14}",
            shortened(&group.name),
            group.outcomes.jobs,
            group.outcomes.completed,
            group.outcomes.rejected,
            percent(group.utilisation),
            number(wait.map(|it| it.mean)),
            number(wait.map(|it| it.p95)),
            number(group.bounded_slowdown.map(|it| it.mean)),
        )?;
    }
    Ok(())
}

/// A number of things.
fn counted(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

fn outcomes(counts: &Outcomes) -> String {
    let mut text = format!("{} completed", counts.completed);
    for (count, word) in [
        (counts.walltime_reached, "stopped at their limit"),
        (counts.failed, "failed"),
        (counts.cancelled, "cancelled"),
        (counts.running, "still running"),
        (counts.waiting, "still waiting"),
        (counts.rejected, "rejected"),
    ] {
        if count > 0 {
            text += &format!(", {count} {word}");
        }
    }
    if !counts.refusals.is_empty() {
        let reasons: Vec<String> = counts
            .refusals
            .iter()
            .map(|(reason, count)| format!("{count} {}", reason.replace('_', " ")))
            .collect();
        text += &format!(" ({})", reasons.join(", "));
    }
    text
}

fn number(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        // Large numbers have fewer decimals, so that all fit into their columns.
        Some(value) if value.abs() >= 1e9 => format!("{value:.3e}"),
        Some(value) if value.abs() >= 100_000.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 1000.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.2} %", share * 100.0))
}

fn extent(extent: Extent) -> String {
    match extent {
        Extent::Nothing => "none".to_owned(),
        Extent::Seconds(seconds) => format!("{seconds} s"),
        Extent::Share(share) => format!("{:.1} % of the jobs", share * 100.0),
    }
}

/// Shortens a name that is too long for its column in the middle, where names of one family differ least.
fn shortened(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() < NAME_WIDTH {
        return name.to_owned();
    }
    // With the ellipsis, one letter less than the column, whose last one separates it from the next.
    let (head, tail) = (NAME_WIDTH - 8, 6);
    let start: String = letters[..head].iter().collect();
    let end: String = letters[letters.len() - tail..].iter().collect();
    format!("{start}…{end}")
}
