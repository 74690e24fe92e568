//! Offers of three providers for bags of tasks. The scenario is given as text, and the results are read row by row:
//!
//! ```text
//! cargo run --example offers
//! ```

use std::io::{Write, stdout};
use std::path::Path;

use haggle::results::ResultsError;
use haggle::scenario::{Logs, Source};
use haggle::{Experiment, Results, write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "runs/offers".to_owned());
    tell(&mut stdout(), Path::new(&folder))
}

/// Prints the first answers to calls for offers, and the mean waiting time of bags.
pub(crate) fn tell(out: &mut dyn Write, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let source = Source::new("bargaining.toml", include_str!("../scenarios/bargaining.toml"));
    let experiment = Experiment::read(source, Logs::MustExist)?;
    let mut runs = experiment.runs();
    let first = runs.next().ok_or("a scenario has one run at least")?;
    let results = write(&first, folder)?;
    for offer in results.offers()?.iter().take(5) {
        writeln!(
            out,
            "{} offers {} tasks of bag {} by {:.0} s",
            offer.sender, offer.tasks, offer.job, offer.completion
        )?;
    }
    let mean = mean_wait(&results)?;
    writeln!(out, "the bags waited {mean:.0} s in the mean")?;
    Ok(())
}

/// The mean waiting time of all bags that started.
fn mean_wait(results: &Results) -> Result<f64, ResultsError> {
    let jobs = results.jobs()?;
    let waits: Vec<f64> =
        jobs.iter().filter(|job| job.is_bag()).filter_map(|job| job.waiting_time).collect();
    Ok(waits.iter().sum::<f64>() / waits.len().max(1) as f64)
}
