//! The output of `haggle replay` for people.

use haggle_results::metrics::AsRecorded;

use crate::experiment::{Outcome, Written};
use crate::scenario::Scenario;
use crate::scenario::file::Passes;

use super::{Args, Policy};
use crate::commands::table::lines;
use crate::report::say;
use crate::shell::quoted;

/// A figure of the output: its name, its value and its unit.
pub(super) type Fact = (&'static str, String, &'static str);

/// The facts of one policy, a line each.
pub(super) fn as_text(args: &Args, scenario: &Scenario, outcome: &Outcome) -> String {
    let line = |(name, value, unit): Fact| {
        let line = format!("{name:<24}{value:>16}  {unit}");
        format!("{}\n", line.trim_end())
    };
    let mut text: String = facts(outcome).into_iter().map(line).collect();
    for (_, rules) in scenario.log_rules() {
        text.push_str(&line(("rules for the log", rules, "")));
    }
    text.extend(passes(args).map(|word| line(("passes", word, "decisions of the scheduler"))));
    text.extend(counts(outcome).into_iter().map(line));
    if let Some(written) = &outcome.written {
        text.push_str(&format!("results in {}\n", written.folder.display()));
        say_how_to_plot(args, written);
    }
    text
}

/// A column for each policy, and one for the recorded figures of the log.
pub(super) fn side_by_side(
    args: &Args,
    outcomes: &[(&Scenario, Outcome)],
    recorded: Option<&AsRecorded>,
) -> String {
    /// Its head, its facts, and the text for missing facts.
    type Column = (&'static str, Vec<Fact>, &'static str);
    let column = |(policy, (_, outcome)): (&Policy, &(&Scenario, Outcome))| -> Column {
        // A fact without a count did not occur.
        (policy.word(), [facts(outcome), counts(outcome)].concat(), "0")
    };
    let mut columns: Vec<Column> = args.policy.iter().zip(outcomes).map(column).collect();
    columns.extend(recorded.map(|it| ("as recorded", facts_of_log(it), "-")));
    let mut names = Vec::<(&str, &str)>::new();
    for (name, _, unit) in columns.iter().flat_map(|(_, facts, _)| facts) {
        // Facts of some policies only have a row as well, in the order of their first occurrence.
        if !names.contains(&(name, unit)) {
            names.push((name, unit));
        }
    }
    let heads = columns.iter().map(|(head, ..)| *head);
    let mut rows = vec![[""].into_iter().chain(heads).map(str::to_owned).collect()];
    for (name, unit) in names {
        let value = |(_, facts, none): &Column| {
            let fact = facts.iter().find(|fact| fact.0 == name);
            fact.map_or_else(|| (*none).to_owned(), |fact| fact.1.clone())
        };
        let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
        let mut row = vec![format!("{name}{unit}")];
        row.extend(columns.iter().map(value));
        rows.push(row);
    }
    let mut text = lines(&rows, &[0]);
    for (_, rules) in outcomes.first().into_iter().flat_map(|(scenario, _)| scenario.log_rules()) {
        text.push_str(&format!("  rules for the log: {rules}\n"));
    }
    text.extend(passes(args).map(|word| format!("  passes of the scheduler: {word}\n")));
    for written in outcomes.iter().filter_map(|(_, outcome)| outcome.written.as_ref()) {
        text.push_str(&format!("results in {}\n", written.folder.display()));
        if outcomes.len() == 1 {
            say_how_to_plot(args, written);
        }
    }
    text
}

/// How often the scheduler decides, if that is not the default.
fn passes(args: &Args) -> Option<String> {
    (args.passes != Passes::default()).then(|| args.passes.name().to_owned())
}

/// The facts that every replay prints.
fn facts(outcome: &Outcome) -> Vec<Fact> {
    let summary = &outcome.summary;
    let number = |value: Option<f64>, decimals: usize| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
    };
    vec![
        ("jobs", outcome.stats.jobs.to_string(), ""),
        ("mean waiting time", number(summary.mean_waiting_time, 2), "s"),
        ("largest waiting time", number(summary.max_waiting_time, 0), "s"),
        ("mean bounded slowdown", number(summary.mean_bounded_slowdown, 3), "threshold 10 s"),
        ("makespan", number(summary.makespan, 0), "s"),
        ("utilisation", number(summary.utilisation, 4), ""),
    ]
}

/// The same facts by the log.
fn facts_of_log(it: &AsRecorded) -> Vec<Fact> {
    let logged = &it.logged;
    vec![
        ("jobs", it.jobs.to_string(), ""),
        ("mean waiting time", format!("{:.2}", logged.mean_waiting_time), "s"),
        ("largest waiting time", format!("{:.0}", logged.max_waiting_time), "s"),
        ("mean bounded slowdown", format!("{:.3}", logged.mean_bounded_slowdown), "threshold 10 s"),
        ("makespan", format!("{:.0}", it.makespan), "s"),
        ("utilisation", format!("{:.4}", it.utilisation.unwrap_or_default()), ""),
    ]
}

/// Facts that only some replays have.
fn counts(outcome: &Outcome) -> Vec<Fact> {
    let counts = &outcome.summary.all.outcomes;
    let recorded = outcome.summary.all.recorded.as_deref().copied().unwrap_or_default();
    let all = [
        ("stopped at their limit", counts.walltime_reached),
        ("rejected", counts.rejected),
        ("promises broken", counts.promises_broken),
        ("later than recorded", recorded.later_jobs),
        ("without a recorded wait", recorded.unknown_jobs),
    ];
    let some = all.into_iter().filter(|(_, count)| *count > 0);
    some.map(|(name, count)| (name, count.to_string(), "jobs")).collect()
}

fn say_how_to_plot(args: &Args, written: &Written) {
    if !args.quiet {
        let folder = quoted(&written.folder.display().to_string());
        say(&format!("`haggle plot {folder} --kind waiting-ecdf` draws waiting times\n"));
    }
}
