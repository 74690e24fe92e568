//! One run and the log of its jobs.

use crate::experiment::compare::owners;
use crate::experiment::compare::recorded::{BesideLog, BesideStart, beside_log};
use crate::scenario::quantity::TimeSpan;
use haggle_results::stats::Estimate;
use serde_json::json;

use super::Args;
use crate::commands::plot::is_sweep;
use crate::commands::table::{alike, count, exact_seconds, lines, row};
use crate::commands::{Error, open_run, print};
use crate::exit::Exit;

/// Compares a run with its log.
pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    if is_sweep(&args.a) {
        return Err(Error::Unfit {
            message: format!("`{}` is a sweep", args.a.display()),
            hint: format!(
                "--recorded compares one run: `haggle show --runs {}` lists the folders of runs",
                args.a.join("scenario.toml").display()
            ),
        });
    }
    let (run, block) = (open_run(&args.a)?, args.block.0.as_secs_f64());
    let mut beside = beside_log(&run, block, args.jobs)?;
    if beside.jobs == 0 {
        return Err(Error::Unfit {
            message: format!("no job of `{}` has a recorded start", args.a.display()),
            hint: "only jobs of a log with waiting times (field 3) have recorded starts".to_owned(),
        });
    }
    if let Some(by) = args.by {
        beside.owners = Some(owners::beside_log(&run, by.to_model(), block)?);
    }
    print(&if args.json {
        format!("{:#}\n", json!(beside))
    } else {
        as_text(&beside, args.block)
    })?;
    Ok(Exit::Success)
}

fn as_text(it: &BesideLog, block: TimeSpan) -> String {
    let mut text = format!(
        "{} with recorded starts: {} started earlier than recorded, {} later, {} as recorded\n",
        count(it.jobs, "job"),
        it.earlier,
        it.later,
        it.same
    );
    for (number, what) in [
        (it.never_started, "more never started in the run"),
        (it.unknown, "more without a recorded start"),
    ] {
        if number > 0 {
            text.push_str(&format!("{number} {what}\n"));
        }
    }
    let rows = [
        ("as recorded", it.recorded),
        ("in the run", it.simulated),
        ("difference", it.difference),
        ("absolute difference", it.absolute_difference),
    ];
    let mut table = vec![row(["mean waiting time, s", "mean", "95 % of it", "blocks"])];
    table.extend(rows.into_iter().filter_map(|(name, value)| Some(estimate_row(name, value?))));
    text.push_str(&format!("\n{}", lines(&table, &[0])));
    text.push_str(&format!("a block has the jobs that were submitted within {block}\n"));
    if !it.largest.is_empty() {
        let heads = [
            "largest differences",
            "processors",
            "recorded, s",
            "start, s",
            "later, s",
            "provider",
        ];
        let mut table = vec![row(heads)];
        table.extend(it.largest.iter().map(job_row));
        text.push_str(&format!("\n{}", lines(&table, &[0, 5])));
    }
    if let Some(waits) = &it.owners {
        let heads = ["as recorded", "in the run", "difference"];
        text.push_str(&super::owners::as_text(waits, heads));
    }
    text
}

fn estimate_row(name: &str, it: Estimate) -> Vec<String> {
    let [mean, half] = alike([Some(it.mean), it.half_width]);
    vec![name.to_owned(), mean, super::width(it.half_width, half), it.n.to_string()]
}

fn job_row(job: &BesideStart) -> Vec<String> {
    let later = job.later();
    vec![
        format!("{}!{}", job.workload, job.job_id),
        job.processors.to_string(),
        exact_seconds(job.recorded_start),
        exact_seconds(job.start),
        format!("{}{}", if later > 0.0 { "+" } else { "" }, exact_seconds(later)),
        job.provider.clone().unwrap_or_else(|| "-".to_owned()),
    ]
}
