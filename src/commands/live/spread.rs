//! A live run beside simulations with latencies like its own, job by job.

use std::collections::BTreeMap;

use haggle_live::run::Plan;
use haggle_live::verify::Replay;
use haggle_model::{Cast, JobId, JobOutcome, JobRecord, Observation, ProviderId, Span, Time};
use haggle_recording::{Books, Fact, Listener};
use haggle_results::stats::{Estimate, mean};
use haggle_runtime::{Driver, OutsideError, RunError, Simulation, World};

use super::super::table::{count, lines, row};
use super::LiveError;
use crate::experiment::compare::Starts;
use crate::interrupt::STOP;

/// The fate of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fate {
    submit: Time,
    outcome: JobOutcome,
    provider: Option<ProviderId>,
    start: Option<Time>,
    end: Time,
}

impl Fate {
    fn of(record: &JobRecord) -> Fate {
        let &JobRecord { outcome, provider, start, end, .. } = record;
        Fate { submit: record.job.submit, outcome, provider, start, end }
    }

    /// Time from its submission to its end; `None` if it has not run to an end.
    fn response(&self) -> Option<Span> {
        let ended = matches!(self.outcome, JobOutcome::Completed | JobOutcome::WalltimeReached);
        ended.then(|| self.end - self.submit)
    }

    fn waiting(&self) -> Option<Span> {
        Some(self.start? - self.submit)
    }
}

/// The fates of all jobs of a run. A job has the same number in all runs of a scenario.
#[derive(Clone, Debug, Default)]
struct Fates(BTreeMap<JobId, Fate>);

impl Listener for &mut Fates {
    fn hear(&mut self, _now: Time, fact: Fact<'_>) -> Result<(), OutsideError> {
        let record = match fact {
            Fact::Observed { observation: Observation::JobOver(record), .. } => &**record,
            Fact::Settled(job) => &job.record,
            _ => return Ok(()),
        };
        self.0.insert(record.job.id, Fate::of(record));
        Ok(())
    }
}

/// The jobs of a simulation beside those of the live run.
#[derive(Clone, Debug, Default)]
struct Paired {
    starts: Starts,
    same_outcome: usize,
    /// Differences of response times, simulated - live, s.
    responses: Vec<f64>,
    /// Differences of waiting times.
    waits: Vec<f64>,
}

impl Paired {
    fn of(live: &Fates, simulated: &Fates) -> Paired {
        let mut paired = Paired::default();
        let both = |(key, a): (_, _)| Some((a, simulated.0.get(key)?));
        for (a, b) in live.0.iter().filter_map(both) {
            let seconds = |it: Option<Time>| it.map(|it| (it - Time::ZERO).as_secs_f64());
            paired.starts.add((seconds(a.start), seconds(b.start)), a.provider != b.provider);
            paired.same_outcome += usize::from(a.outcome == b.outcome);
            let later = |(a, b): (Span, Span)| (b - a).as_secs_f64();
            paired.responses.extend(a.response().zip(b.response()).map(later));
            paired.waits.extend(a.waiting().zip(b.waiting()).map(later));
        }
        paired
    }

    /// Its row of the table.
    fn row(&self, seed: u64) -> Vec<String> {
        let Starts { in_both, same, other_provider, .. } = self.starts;
        let difference = |values: &[f64]| mean(values).map_or("-".to_owned(), signed);
        let counts = [in_both - other_provider, same, self.same_outcome].map(|it| it.to_string());
        let means = [difference(&self.responses), difference(&self.waits)];
        [vec![seed.to_string()], counts.to_vec(), means.to_vec()].concat()
    }
}

/// Compares a live run with `draws` simulations whose messages take the latencies of the run, later by a drawn time. The
/// seeds of the draws are 1, 2 and so on.
///
/// # Errors
/// If a simulation does not reach its end.
pub(super) fn compared(
    plan: &Plan,
    cast: &Cast,
    replay: &Replay,
    draws: u64,
) -> Result<String, LiveError> {
    let spread = replay.spread();
    let run = |seed: u64| {
        let mut world = (plan.make)().map_err(haggle_live::run::LiveError::World)?;
        match seed {
            0 => replay.put_into(&mut world, &plan.known),
            seed => replay.draw_into(&mut world, &plan.known, &spread, seed),
        }
        // Jobs of nodes that have not ended are unfinished at the same time in all runs.
        world.horizon = replay.cut().or(world.horizon);
        Ok::<Fates, LiveError>(fates(world, cast)?)
    };
    let live = run(0)?;
    let runs = (1..=draws).map(run).collect::<Result<Vec<_>, _>>()?.into_iter();
    let paired = Vec::from_iter(runs.map(|simulated| Paired::of(&live, &simulated)));
    Ok(format!(
        "draws       {} of {} with the latencies of {} messages, {} pairs of nodes apart\n\n{}",
        count(draws as usize, "simulation"),
        count(live.0.len(), "job"),
        spread.messages(),
        spread.pairs(),
        table(&paired)
    ))
}

/// The fates of all jobs of a world.
fn fates(world: World, cast: &Cast) -> Result<Fates, RunError> {
    let mut fates = Fates::default();
    let mut simulation = Simulation::new(world, Driver::Sequential)?;
    simulation.listen(Books::new(cast, &mut fates));
    simulation.stop_on(&STOP);
    simulation.run()?;
    drop(simulation);
    Ok(fates)
}

/// The draws as a table, with the means of their differences.
fn table(paired: &[Paired]) -> String {
    let head = ["seed", "same provider", "same start", "same outcome", "response, s", "waiting, s"];
    let mut rows = vec![row(head)];
    rows.extend((1..).zip(paired).map(|(seed, it)| it.row(seed)));
    let mut text = lines(&rows, &[0]);
    for (name, values) in [
        ("response time", Vec::from_iter(paired.iter().filter_map(|it| mean(&it.responses)))),
        ("waiting time", Vec::from_iter(paired.iter().filter_map(|it| mean(&it.waits)))),
    ] {
        if let Some(Estimate { mean, half_width, n, .. }) = Estimate::of(&values) {
            let half = half_width.map_or(String::new(), |half| format!(" ± {half:.3}"));
            let mean = signed(mean);
            let draws = count(n as usize, "draw");
            text.push_str(&format!("  mean {name}, simulated - live: {mean}{half} s ({draws})\n"));
        }
    }
    text
}

/// Seconds with a sign.
fn signed(seconds: f64) -> String {
    match seconds {
        0.0 => "0".to_owned(),
        seconds => format!("{seconds:+.3}"),
    }
}

#[cfg(test)]
mod tests {
    use haggle_model::Refusal;

    use super::*;

    fn fates(jobs: &[(u32, JobOutcome, u32, Option<i64>, i64)]) -> Fates {
        let fate = |&(number, outcome, provider, start, end): &(_, _, _, Option<i64>, _)| {
            let fate = Fate {
                submit: Time::from_secs(10 * i64::from(number)),
                outcome,
                provider: Some(ProviderId(provider)),
                start: start.map(Time::from_secs),
                end: Time::from_secs(end),
            };
            (JobId(number), fate)
        };
        Fates(jobs.iter().map(fate).collect())
    }

    #[test]
    fn jobs_are_paired_by_number_and_differences_are_simulated_minus_live() {
        use JobOutcome::{Completed, Rejected, WalltimeReached};
        let live = fates(&[
            (0, Completed, 0, Some(5), 50),
            (1, Completed, 0, Some(20), 60),
            (2, WalltimeReached, 1, Some(30), 70),
            (3, Rejected(Refusal::NoProvider), 0, None, 30),
            (4, Completed, 0, Some(41), 90),
        ]);
        let simulated = fates(&[
            (0, Completed, 0, Some(5), 50),
            (1, Completed, 1, Some(29), 72),
            (2, Completed, 1, Some(30), 64),
            (3, Rejected(Refusal::NoProvider), 0, None, 31),
        ]);
        let paired = Paired::of(&live, &simulated);
        assert_eq!(paired.responses, [0.0, 12.0, -6.0]);
        assert_eq!(paired.waits, [0.0, 9.0, 0.0]);
        assert_eq!(paired.row(7), ["7", "3", "2", "3", "+2.000", "+3.000"]);
        let equal = Paired::of(&live, &live);
        assert_eq!(equal.row(8), ["8", "5", "4", "5", "0", "0"]);
        let shown = table(&[paired, equal]);
        // Means 2 and 0: their standard deviation is √2, so half of the interval is 12.7062.
        assert!(
            shown.contains("response time, simulated - live: +1.000 ± 12.706 s (2 draws)"),
            "{shown}"
        );
    }
}
