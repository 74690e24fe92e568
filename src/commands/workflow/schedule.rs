//! `haggle workflow schedule`: static schedules of a workflow, compared.

use std::path::PathBuf;

use crate::scenario::quantity::{Bandwidth, TimeSpan};
use crate::scenario::vocabulary::parser;
use haggle_plots::{Figure, Gantt, GanttBar, GanttProvider};
use haggle_workflows::Workflow;
use haggle_workflows::schedule::{Metrics, Network, Problem, Schedule, StaticAlgorithm};
use serde_json::json;

use super::kinds::groups;
use super::{Reading, named};
use crate::commands::table::{count, lines, number, row, seconds};
use crate::commands::{Error, figure, positive, print, seeds};
use crate::exit::Exit;
use crate::report::say;

/// Most tasks times resources: the table of PEFT takes 8 bytes for each.
const CELLS_MAX: usize = 1 << 28;

/// Schedule a workflow on resources before it runs, by several policies
///
/// Each resource runs one task at a time, whatever processors the task requests. Data between tasks need latency and
/// bandwidth, none on one resource; data from storage and to it take no time. SLR (schedule length ratio) is the
/// makespan by the critical path of the least run times. Speedup is the least time of all tasks on one resource by the
/// makespan; efficiency is speedup by resources.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haggle workflow schedule montage.json --resources 8
  haggle workflow schedule montage.json --speeds 1,1,2.5 --policy heft,peft --bandwidth '100 Mbit/s'
  haggle workflow schedule montage.json --resources 8 --policy heft --gantt heft.png --force")]
pub(crate) struct Args {
    /// Workflow; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    reading: Reading,
    /// Policies to compare; without it, all
    #[arg(long = "policy", value_name = "POLICY", value_delimiter = ',', value_parser = parser::<StaticAlgorithm>())]
    policies: Vec<StaticAlgorithm>,
    /// Number of equal resources, as fast as the machine of the recorded run times
    #[arg(
        long,
        value_name = "NUMBER",
        required_unless_present = "speeds",
        conflicts_with = "speeds",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    resources: Option<u32>,
    /// Speeds of the resources; 1 = the machine of the recorded run times
    #[arg(long, value_name = "SPEEDS", value_delimiter = ',', value_parser = positive)]
    speeds: Vec<f64>,
    /// Latency between two resources, for each edge
    #[arg(long, value_name = "TIME", default_value = "0s")]
    latency: TimeSpan,
    /// Bandwidth between two resources
    #[arg(long, value_name = "RATE", default_value = "1 Gbit/s")]
    bandwidth: Bandwidth,
    /// Master seed of the policy `random`
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = seeds())]
    seed: u64,
    /// Print JSON, with the placements of all tasks
    #[arg(long)]
    json: bool,
    /// Draw the schedules into this file, .png, .svg or .pdf
    #[arg(long, value_name = "FILE")]
    gantt: Option<PathBuf>,
    /// Overwrite a figure that exists
    #[arg(long)]
    force: bool,
}

/// A schedule by a policy.
struct Made {
    policy: StaticAlgorithm,
    schedule: Schedule,
    metrics: Metrics,
}

/// Prints the table.
pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    // Before the work, so that an existing file is told at once.
    if let Some(figure) = &args.gantt {
        figure::check(figure, args.force)?;
    }
    let workflow = args.reading.read(&args.file)?;
    let speeds = match args.resources {
        Some(resources) => vec![1.0; resources as usize],
        None => args.speeds.clone(),
    };
    // Saturating: a product that overflows is too large in any case.
    let cells = workflow.tasks().len().saturating_mul(speeds.len());
    if cells > CELLS_MAX {
        let message = format!("{cells} pairs of tasks and resources are too many");
        let hint = format!("at most {CELLS_MAX} are scheduled: name fewer resources");
        return Err(Error::Unfit { message, hint });
    }
    // Bandwidths are in bits, data in bytes.
    let network = Network { latency: args.latency.0, bytes_per_second: args.bandwidth.0 / 8.0 };
    let problem = Problem::with_speeds(&workflow, speeds, network)?;
    let made: Vec<Made> = chosen(&args.policies)
        .into_iter()
        .map(|policy| {
            let schedule = policy.schedule(&problem, args.seed);
            let metrics = schedule.metrics(&problem);
            Made { policy, schedule, metrics }
        })
        .collect();
    print(&match args.json {
        true => as_json(args, &problem, &made),
        false => as_text(args, &problem, &made),
    })?;
    let wide = workflow.tasks().iter().filter(|task| task.processors > 1).count();
    if wide > 0 {
        let tasks = count(wide, "task");
        say(&format!("note: of {tasks} with several processors, each takes one resource\n"));
    }
    if let Some(figure) = &args.gantt {
        let drawing = Figure::Gantt(gantt(&workflow, &problem, &made));
        figure::draw(&drawing, drawing.size(), figure, args.force)?;
        say(&format!("drew {}\n", figure.display()));
    }
    Ok(Exit::Success)
}

/// Each policy once, in the order of the arguments.
fn chosen(policies: &[StaticAlgorithm]) -> Vec<StaticAlgorithm> {
    let typed = if policies.is_empty() { &StaticAlgorithm::ALL[..] } else { policies };
    let mut chosen: Vec<StaticAlgorithm> = Vec::new();
    for &policy in typed {
        if !chosen.contains(&policy) {
            chosen.push(policy);
        }
    }
    chosen
}

fn as_text(args: &Args, problem: &Problem<'_>, made: &[Made]) -> String {
    let ratio = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
    let mut rows = vec![row(["policy", "makespan, s", "SLR", "speedup", "efficiency"])];
    for Made { policy, metrics, .. } in made {
        let Metrics { makespan, slr, speedup, efficiency } = *metrics;
        rows.push(vec![
            policy.to_string(),
            number(makespan.as_secs_f64()),
            ratio(slr),
            ratio(speedup),
            ratio(efficiency),
        ]);
    }
    format!(
        "{}: {} on {}, latency {} s, {} between them\n{}",
        problem.workflow().name(),
        count(problem.workflow().tasks().len(), "task"),
        count(problem.resources(), "resource"),
        seconds(args.latency.0.as_secs_f64()),
        args.bandwidth,
        lines(&rows, &[0])
    )
}

fn as_json(args: &Args, problem: &Problem<'_>, made: &[Made]) -> String {
    let workflow = problem.workflow();
    let placements = |schedule: &Schedule| {
        let one = |task| {
            let placed = schedule.placement(task);
            json!({
                "task": &*workflow.task(task).name,
                "resource": placed.resource,
                "start_s": placed.start.as_secs_f64(),
                "end_s": placed.end.as_secs_f64(),
            })
        };
        workflow.ids().map(one).collect::<Vec<_>>()
    };
    let schedules: Vec<_> = made
        .iter()
        .map(|Made { policy, schedule, metrics }| {
            json!({
                "policy": policy.name(),
                "makespan_s": metrics.makespan.as_secs_f64(),
                "slr": metrics.slr,
                "speedup": metrics.speedup,
                "efficiency": metrics.efficiency,
                "placements": placements(schedule),
            })
        })
        .collect();
    let json = json!({
        "file": named(&args.file),
        "name": workflow.name(),
        "tasks": workflow.tasks().len(),
        "resources": problem.resources(),
        "schedules": schedules,
    });
    format!("{json:#}\n")
}

/// A panel for each policy; tasks of zero length are invisible.
fn gantt(workflow: &Workflow, problem: &Problem<'_>, made: &[Made]) -> Gantt {
    let (groups, of_task) = groups(workflow);
    let bars = |schedule: &Schedule| {
        let bar = |(task, &group): (haggle_workflows::TaskId, &usize)| {
            let placed = schedule.placement(task);
            GanttBar {
                label: workflow.task(task).name.to_string(),
                job: i64::from(task.0),
                is_task: false,
                is_marked: false,
                group,
                first: placed.resource,
                last: placed.resource,
                start: placed.start.as_secs_f64(),
                end: placed.end.as_secs_f64(),
                lost: None,
            }
        };
        let all = workflow.ids().zip(&of_task).map(bar);
        // Tasks without length would be bars without width.
        all.filter(|bar| bar.start < bar.end).collect::<Vec<_>>()
    };
    let panel = |(run, Made { policy, schedule, .. }): (usize, &Made)| GanttProvider {
        name: policy.to_string(),
        run,
        first: 0,
        processors: problem.resources() as u32, // counted in 32 bits
        bars: bars(schedule),
        nodes: Vec::new(),
        outages: Vec::new(),
        maintenance: Vec::new(),
    };
    Gantt {
        title: format!("{} on {}", workflow.name(), count(problem.resources(), "resource")),
        providers: made.iter().enumerate().map(panel).collect(),
        groups,
        group_label: String::new(),
        from: Some(0.0),
        until: None,
        changes: Vec::new(),
        clock: None,
        by_job: false,
        marked: Vec::new(),
    }
}
