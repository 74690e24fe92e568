//! Moldable jobs of Caniou, Charrier and Desprez 2010 before any run. The studies show their speedups
//! (figure 3), their kinds (table 2), and the search for a size in a plan with holes (figure 1).

use haggle_model::job::Lot;
use haggle_model::moldable::{KINDS, Rounding};
use haggle_model::{Job, JobShape, Moldable, Sizing, Span, Speedup, Time};
use haggle_scheduling::Profile;
use haggle_scheduling::reallocation::Tuning;
use haggle_workloads::steps::{Draws, Molding, Speedups, Step};

use super::{Compute, Effort};
use crate::data::Data;

/// Names of the kinds of jobs.
const NAMES: [&str; 4] = ["t1", "t2", "t3", "t4"];

fn speedup(kind: usize) -> Result<Speedup, String> {
    let (fraction, limit, _) = KINDS[kind];
    Speedup::new(fraction, limit).map_err(|error| error.to_string())
}

/// Figure 3.
pub(super) struct SpeedupCurves;

impl Compute for SpeedupCurves {
    fn name(&self) -> &'static str {
        "speedups"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let mut data = Data::table(self.name(), &["kind", "processors"]);
        for (place, name) in NAMES.into_iter().enumerate() {
            let speedup = speedup(place)?;
            for processors in 1..=650_u32 {
                let values = [
                    ("speedup", speedup.on(processors)),
                    ("gain", speedup.on(processors + 1) - speedup.on(processors)),
                ];
                data.push(&[name, &processors.to_string()], 1, &values);
            }
        }
        Ok(data)
    }
}

/// Table 2, and the share of each kind in a large number of draws.
pub(super) struct JobKinds;

const DRAWS: i64 = 100_000;

impl Compute for JobKinds {
    fn name(&self) -> &'static str {
        "job-kinds"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let job = |number| Job {
            number,
            lot: Lot::new("jobs", number),
            ..Job::new(0, Time::ZERO, 1, Span::ZERO)
        };
        let molding = Step::Molding(Molding {
            speedups: Speedups::Kinds,
            capped: false,
            rounding: Rounding::default(),
        });
        let jobs = Box::new((1..=DRAWS).map(move |number| Ok(job(number))));
        let mut drawn = [0_u32; KINDS.len()];
        let known: Result<Vec<Speedup>, String> = (0..KINDS.len()).map(speedup).collect();
        let known = known?;
        let jobs = molding.apply(jobs, &Draws::new(1, "jobs"), 0).map_err(|it| it.to_string())?;
        for job in jobs {
            let JobShape::Moldable(speedup) = job.map_err(|error| error.to_string())?.shape else {
                return Err("a job is not moldable".to_owned());
            };
            let kind = known.iter().position(|it| *it == speedup).ok_or("an unknown kind")?;
            drawn[kind] += 1;
        }
        let mut data = Data::table(self.name(), &["kind"]);
        for (place, (fraction, limit, percent)) in KINDS.into_iter().enumerate() {
            let values = [
                ("fraction", fraction),
                ("limit", f64::from(limit)),
                ("percent", f64::from(percent)),
                ("drawn_percent", 100.0 * f64::from(drawn[place]) / DRAWS as f64),
                ("speedup_at_limit", known[place].on(limit)),
            ];
            data.push(&[NAMES[place]], 1, &values);
        }
        Ok(data)
    }
}

/// Figure 1: a job of seven minutes with linear speedup, on a cluster of five processors. The report
/// does not show its plan, so this plan is one that gives the printed completions.
pub(super) struct SizeSearch;

/// Processors held by other jobs: start and end, s; one processor each.
const HELD: [(i64, i64); 4] = [(0, 360), (120, 180), (120, 300), (120, 360)];
const PROCESSORS: u32 = 5;

impl Compute for SizeSearch {
    fn name(&self) -> &'static str {
        "size-search"
    }

    fn compute(&self, _effort: Effort) -> Result<Data, String> {
        let mut profile = Profile::new(PROCESSORS);
        for (start, end) in HELD {
            profile.add(Time::from_secs(start), Time::from_secs(end), 1);
        }
        let speedup = Speedup::new(1.0, PROCESSORS).map_err(|error| error.to_string())?;
        // 84 s on five processors are seven minutes on one.
        let job = Moldable::new(speedup, PROCESSORS, Span::from_secs(84));
        let sized = |processors| {
            let planned = job.requested(processors, 1.0);
            let start = profile.earliest_fit(processors, planned, Time::ZERO)?;
            Some(Sizing { processors, start, planned })
        };
        let mut order = Vec::new();
        let binary = Tuning::Binary.best(PROCESSORS, |processors| {
            order.push(processors);
            sized(processors)
        });
        let exhaustive = Tuning::Exhaustive.best(PROCESSORS, sized);
        let (binary, exhaustive) = binary.zip(exhaustive).ok_or("a size does not fit")?;
        let mut data = Data::table(self.name(), &["processors"]);
        for processors in 1..=PROCESSORS {
            let sizing = sized(processors).ok_or("a size does not fit")?;
            // Turn 0 is that of sizes at which bisection has not looked.
            let turn = order.iter().position(|&it| it == processors).map_or(0, |at| at + 1);
            let chosen = |by: Sizing| f64::from(u8::from(by.processors == processors));
            let values = [
                ("takes", sizing.planned.as_secs_f64()),
                ("start", (sizing.start - Time::ZERO).as_secs_f64()),
                ("completion", (sizing.completion() - Time::ZERO).as_secs_f64()),
                ("turn", turn as f64),
                ("chosen_by_binary", chosen(binary)),
                ("chosen_by_exhaustive", chosen(exhaustive)),
            ];
            data.push(&[&processors.to_string()], 1, &values);
        }
        Ok(data)
    }
}
