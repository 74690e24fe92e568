//! Generated jobs under three queue policies, five seeds each, without a file:
//!
//! ```text
//! cargo run --example policies
//! ```

use std::io::{Write, stdout};

use haggle::results::stats::Estimate;
use haggle::scenario::file::{Lublin, Model, Policy};
use haggle::{Builder, summarise};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tell(&mut stdout())
}

/// Mean waiting times with their 95 % confidence intervals.
pub(crate) fn tell(out: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
    for policy in [Policy::fcfs(), Policy::easy(), Policy::conservative()] {
        let (name, mut waits) = (policy.name(), Vec::new());
        for seed in 1..=5 {
            let experiment = Builder::new("one-site")
                .seed(seed)
                .workload("jobs", |jobs| {
                    jobs.model = Some(Model::LublinFeitelson);
                    jobs.lublin = Some(Lublin { load: Some(0.7), ..Lublin::of(500, 128) });
                })
                .provider("north", 128, |north| north.policy = policy.clone())
                .user("users", "jobs", "north", |_| {})
                .build()?;
            for run in experiment.runs() {
                waits.extend(summarise(&run)?.metric("mean_waiting_time"));
            }
        }
        if let Some(Estimate { mean, half_width: Some(half_width), .. }) = Estimate::of(&waits) {
            writeln!(out, "{name}: {mean:.0} s ± {half_width:.0} s")?;
        }
    }
    Ok(())
}
