//! `haggle jobs`: lists jobs of a run for which a condition holds.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use haggle_results::columns::{Kind, Table};
use haggle_results::reader::{CellValue, Rows, TableData};
use haggle_results::{JobRow, ResultsError, RunReader};
use haggle_scenario::nearest;
use haggle_script::{Condition, Mistake, Value};
use serde_json::{Map, json};

use super::table::{count, lines, seconds};
use super::{Error, open_run, print};
use crate::exit::Exit;
use crate::experiment::explain;

/// The columns that are listed if none are named.
const SHOWN: [&str; 9] = [
    "job",
    "workload_name",
    "job_id",
    "requested_number_of_resources",
    "submission_time",
    "starting_time",
    "waiting_time",
    "outcome",
    "provider",
];

/// List jobs of a run that meet a condition, in any order
///
/// A condition is an expression over the columns of the table `jobs` (docs/results.md), in the language of claims. It
/// may use `== != < <= > >= && || !`, `+ - * /`, and `in` with a list. A column without a value is `()`. Tasks of
/// workflow files also have a `task_name`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle jobs runs/quickstart --where 'waiting_time > 3600' --sort=-waiting_time
  haggle jobs runs/quickstart --where 'providers_used > 1'
  haggle jobs runs/quickstart --where 'outcome == \"rejected\"' --columns job,refusal
  haggle jobs runs/pipeline --where 'task_name == \"report\"'  # by its name in the file
  haggle jobs runs/quickstart --where 'deadline != () && left_time > deadline' --json")]
pub(crate) struct Args {
    /// Folder of the run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Condition; without it, all jobs are listed
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// Columns to list, with commas between them; columns of the condition are always listed
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', value_parser = columns(false))]
    columns: Vec<String>,
    /// Sort by a column, smallest value first; -COLUMN sorts by the largest first
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, value_parser = columns(true))]
    sort: Option<String>,
    /// Largest number of listed jobs; 0 lists all [default: 50; of JSON, all]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The columns of a job: those of its table, and its name as a task.
fn names() -> impl Iterator<Item = &'static str> + Clone {
    Table::Jobs.columns().iter().map(|it| it.name).chain([TASK_NAME])
}

/// The names of the columns, on request also with a leading minus.
fn columns(with_reverse: bool) -> PossibleValuesParser {
    let names = names().map(str::to_owned);
    let reverse = names.clone().filter(|_| with_reverse).map(|it| format!("-{it}"));
    // Hidden, because the help would list each column twice.
    let reverse = reverse.map(|it| clap::builder::PossibleValue::new(it).hide(true));
    PossibleValuesParser::new(names.map(clap::builder::PossibleValue::new).chain(reverse))
}

/// Lists the jobs.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let run = open_run(&args.folder)?;
    let names = Vec::from_iter(names());
    let condition = args.condition.as_deref().map(|text| {
        Condition::read(text, &names).map_err(|mistake| unreadable(text, &mistake, &names))
    });
    let condition = condition.transpose()?;
    let mut shown = shown(args, condition.as_ref());
    let by_name = shown.contains(&TASK_NAME);
    // The condition and the sorting need the names of all jobs, a list only those of its own.
    let all_names = if by_name { task_names(&run, &Rows::all())? } else { Names::new() };
    let mut found = found(&run, args, condition.as_ref(), &all_names)?;
    let all = found.len();
    let limit = args.limit.unwrap_or(if args.json { 0 } else { 50 });
    if limit > 0 {
        found.truncate(limit);
    }
    // Only now are all columns read, and only of the listed jobs: a run may have millions.
    let listed = Rows::of("job", found.iter().copied());
    let rows = run.columns_of(Table::Jobs, &of_table(&shown), &listed)?;
    // The table has its own order, whatever the order of the requested rows.
    let order = order(&rows, &found)?;
    let names = match !by_name && args.columns.is_empty() {
        true => task_names(&run, &listed)?,
        false => all_names,
    };
    // The column would be empty for runs whose workflows have no files with names.
    if !by_name && !names.is_empty() {
        shown.push(TASK_NAME);
    }
    let text = match args.json {
        true => as_json(&rows, &shown, &order, &names),
        false => as_text(&rows, (&shown, &names), &order, all),
    };
    print(&text)?;
    Ok(Exit::Success)
}

/// Names of tasks of workflows from their files, by the numbers of jobs.
type Names = BTreeMap<i64, String>;

/// The column of these names, which are in a table of their own.
const TASK_NAME: &str = "task_name";

/// The columns that stand in the table of jobs.
fn of_table(columns: &[&'static str]) -> Vec<&'static str> {
    columns.iter().copied().filter(|it| *it != TASK_NAME).collect()
}

/// The names of the tasks among some jobs; empty if no file has names.
fn task_names(run: &RunReader, jobs: &Rows) -> Result<Names, ResultsError> {
    if !run.has(Table::Tasks) {
        return Ok(Names::new());
    }
    let jobs = JobRow::some(run, jobs)?;
    let mut names = explain::task_names(run, &jobs)?;
    let name = |it: &JobRow| {
        let (workflow, task) = it.in_workflow()?;
        Some((it.job, names.remove(&(it.workload.clone(), workflow, task))?))
    };
    Ok(jobs.iter().filter_map(name).collect())
}

/// The value of a row in a column of the table, or its name as a task.
fn cell<'d>(rows: &'d TableData, row: usize, column: &str, names: &'d Names) -> CellValue<'d> {
    if column != TASK_NAME {
        return rows.cell(row, column);
    }
    let name = match rows.cell(row, "job") {
        CellValue::Integer(job) => names.get(&job),
        _ => None,
    };
    name.map_or(CellValue::Missing, |name| CellValue::Text(name))
}

/// The error for an invalid condition.
fn unreadable(text: &str, mistake: &Mistake, names: &[&str]) -> Error {
    let unknown = mistake.message.strip_prefix("Undefined variable: ");
    let unknown = unknown.map(|it| it.split(' ').next().unwrap_or(it));
    let hint = match unknown.map(|it| nearest(it, names.iter().copied())) {
        Some(Some(near)) => format!("did you mean `{near}`?"),
        Some(None) => format!("the columns of `jobs` are {}", names.join(", ")),
        None => "write an expression over the columns of `jobs`, such as `waiting_time > 3600 && \
                 outcome == \"completed\"`"
            .to_owned(),
    };
    let place =
        if mistake.column > 0 { format!(", column {}", mistake.column) } else { String::new() };
    Error::Unfit { message: format!("--where `{text}`{place}: {}", mistake.message), hint }
}

/// The numbers of the jobs for which the condition holds, in the requested order.
fn found(
    run: &RunReader,
    args: &Args,
    condition: Option<&Condition>,
    names: &Names,
) -> Result<Vec<i64>, Error> {
    let sort = args.sort.as_deref().map(|it| (it.trim_start_matches('-'), it.starts_with('-')));
    let mut asked: Vec<&str> = vec!["job"];
    asked.extend(condition.iter().flat_map(|it| it.columns()).copied());
    asked.extend(sort.map(|it| it.0));
    asked.sort_unstable();
    asked.dedup();
    // The name is no column of this table; `cell` finds it by the number of the job.
    asked.retain(|it| *it != TASK_NAME);
    let (mut found, mut mistake) = (Vec::new(), None);
    run.in_batches(Table::Jobs, &asked, &Rows::all(), |data| {
        for row in 0..data.rows() {
            let holds = condition
                .map_or(Ok(true), |it| it.holds(|name| value(cell(&data, row, name, names))));
            let CellValue::Integer(job) = data.cell(row, "job") else { continue };
            match holds {
                Ok(true) => {
                    let by = sort.map(|it| cell(&data, row, it.0, names));
                    found.push((key(by.unwrap_or(CellValue::Missing)), job));
                }
                Ok(false) => {}
                Err(error) => {
                    // The first mistake counts: a later batch must not replace it.
                    mistake = mistake.take().or(Some((job, error)));
                    break;
                }
            }
        }
        Ok::<(), ResultsError>(())
    })?;
    if let Some((job, mistake)) = mistake {
        let text = args.condition.as_deref().unwrap_or_default();
        return Err(Error::Unfit {
            message: format!("--where `{text}`: for job {job}, {}", mistake.message),
            hint:
                "compare its value, as in `waiting_time > 3600`; a column without a value is `()`"
                    .to_owned(),
        });
    }
    if let Some((_, reverse)) = sort {
        // Stable: equal jobs stay in the order of the table, also in the reverse order.
        found.sort_by(|a, b| {
            let order = compare(&a.0, &b.0);
            if reverse { order.reverse() } else { order }
        });
    }
    Ok(found.into_iter().map(|it| it.1).collect())
}

fn value(cell: CellValue<'_>) -> Value<'_> {
    match cell {
        CellValue::Missing => Value::Missing,
        CellValue::Real(number) => Value::Real(number),
        CellValue::Integer(number) => Value::Integer(number),
        CellValue::Text(text) => Value::Text(text),
    }
}

/// Sorting key of a row: numbers precede texts.
#[derive(PartialEq)]
enum Key {
    None,
    Number(f64),
    Text(String),
}

fn key(cell: CellValue<'_>) -> Key {
    match cell {
        CellValue::Missing => Key::None,
        CellValue::Real(number) => Key::Number(number),
        CellValue::Integer(number) => Key::Number(number as f64),
        CellValue::Text(text) => Key::Text(text.to_owned()),
    }
}

fn compare(a: &Key, b: &Key) -> Ordering {
    match (a, b) {
        (Key::Number(a), Key::Number(b)) => a.total_cmp(b),
        (Key::Text(a), Key::Text(b)) => a.cmp(b),
        (Key::None, Key::None) => Ordering::Equal,
        (Key::None, _) => Ordering::Less,
        (_, Key::None) => Ordering::Greater,
        (Key::Number(_), Key::Text(_)) => Ordering::Less,
        (Key::Text(_), Key::Number(_)) => Ordering::Greater,
    }
}

/// The columns that are listed.
fn shown(args: &Args, condition: Option<&Condition>) -> Vec<&'static str> {
    let named = |name: &str| names().find(|it| *it == name);
    let mut shown: Vec<&'static str> = vec!["job"];
    match args.columns.as_slice() {
        [] => shown.extend(SHOWN),
        columns => shown.extend(columns.iter().filter_map(|it| named(it))),
    }
    shown.extend(condition.iter().flat_map(|it| it.columns()).copied());
    shown.extend(args.sort.as_deref().and_then(|it| named(it.trim_start_matches('-'))));
    // The first place of each column counts, and conditions may name columns that are listed already.
    let mut once: Vec<&'static str> = Vec::new();
    shown.retain(|it| {
        let new = !once.contains(it);
        once.push(it);
        new
    });
    shown
}

/// The rows of these jobs.
fn order(rows: &TableData, jobs: &[i64]) -> Result<Vec<usize>, ResultsError> {
    let places = rows.integer("job")?.iter().enumerate();
    let places: std::collections::BTreeMap<i64, usize> =
        places.filter_map(|(at, job)| Some(((*job)?, at))).collect();
    Ok(jobs.iter().filter_map(|job| places.get(job).copied()).collect())
}

fn as_text(
    rows: &TableData,
    (shown, names): (&[&'static str], &Names),
    order: &[usize],
    all: usize,
) -> String {
    if all == 0 {
        return "no job\n".to_owned();
    }
    let kind = |name: &str| Table::Jobs.columns().iter().find(|it| it.name == name);
    let cell = |row: usize, name: &str| match cell(rows, row, name, names) {
        CellValue::Missing => "-".to_owned(),
        CellValue::Real(number) if kind(name).is_some_and(|it| it.kind == Kind::Seconds) => {
            seconds(number)
        }
        CellValue::Real(number) => super::table::number(number),
        CellValue::Integer(number) => number.to_string(),
        CellValue::Text(text) => text.to_owned(),
    };
    let mut table = vec![shown.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()];
    for &row in order {
        table.push(shown.iter().map(|name| cell(row, name)).collect());
    }
    let is_text =
        |name: &str| kind(name).is_none_or(|it| matches!(it.kind, Kind::Word | Kind::Text));
    let left = shown.iter().enumerate().filter(|it| is_text(it.1)).map(|it| it.0);
    let mut text = lines(&table, &Vec::from_iter(left));
    match all - order.len() {
        0 => text.push_str(&format!("{}\n", count(all, "job"))),
        more => text.push_str(&format!(
            "{}; {more} of them are not listed: --limit 0 lists all\n",
            count(all, "job")
        )),
    }
    text
}

fn as_json(rows: &TableData, shown: &[&'static str], order: &[usize], names: &Names) -> String {
    let cell = |row, name: &str| match cell(rows, row, name, names) {
        CellValue::Missing => json!(null),
        CellValue::Real(number) => json!(number),
        CellValue::Integer(number) => json!(number),
        CellValue::Text(text) => json!(text),
    };
    let job = |&row: &usize| {
        let cells = shown.iter().map(|name| ((*name).to_owned(), cell(row, name)));
        cells.collect::<Map<String, serde_json::Value>>()
    };
    format!("{:#}\n", json!(Vec::from_iter(order.iter().map(job))))
}
