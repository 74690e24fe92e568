//! `haggle verify --random`: draws cases, has them judged in parallel, and reduces failing ones.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::experiment::leftovers::Scratch;
use crate::experiment::threads::on_threads;
use crate::trial::draw::{Simpler, to_text, write_with_records};
use crate::trial::{Failure, Outcome, Verdict};
use serde::Serialize;
use serde_json::json;

use super::child::{judge_case, judge_file};
use super::coverage::Coverage;
use crate::commands::table::count;
use crate::commands::{Error, print};
use crate::exit::Exit;
use crate::interrupt::{STOP, interrupted};
use crate::progress::{Show, cases as show_cases};
use crate::report::say;

/// Random scenarios instead of one from a file.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Random scenarios")]
pub(super) struct Args {
    /// Draw scenarios at random and verify each
    #[arg(long, conflicts_with_all = ["scenario", "variants"])]
    random: bool,
    /// Minutes after which no further case begins
    #[arg(long, value_name = "M", requires = "random", value_parser = crate::commands::positive)]
    minutes: Option<f64>,
    /// Cases to draw; without it 300, or as many as the time allows
    #[arg(long, value_name = "N", requires = "random")]
    cases: Option<u64>,
    /// Draw only the case with this number
    #[arg(long, value_name = "N", requires = "random", conflicts_with_all = ["minutes", "cases"])]
    pub(super) case: Option<u64>,
    /// Seed of all cases
    #[arg(long, value_name = "S", default_value_t = 1, requires = "random")]
    pub(super) seed: u64,
    /// Messages of a run that is examined; a run with more must only end, within 30 times as many
    #[arg(long, value_name = "N", default_value_t = 300_000)]
    pub(super) messages: u64,
    /// Cases at the same time; without it, one for each processor core
    #[arg(short, long, value_name = "N", requires = "random")]
    jobs: Option<NonZeroUsize>,
    /// Folder of failed cases
    #[arg(short, long, value_name = "DIR", default_value = "verify-random", requires = "random")]
    output: PathBuf,
    /// Print no progress
    #[arg(short, long, requires = "random")]
    quiet: bool,
}

/// Default number of cases.
const CASES: u64 = 300;

/// Time and attempts for the reduction of a failing case.
const SHRINK: (Duration, usize) = (Duration::from_secs(120), 1_500);

/// Results of all cases.
#[derive(Debug, Serialize)]
struct Report {
    seed: u64,
    cases: u64,
    /// Cases in which all rules held.
    held: u64,
    /// Cases that could not be repaired.
    refused: u64,
    /// Cases that ended with an error that the manual names.
    stopped: u64,
    /// Cases that ended after too many messages to be examined.
    long: u64,
    /// Repairs of all accepted cases.
    repairs: u64,
    failed: u64,
    /// Failures for one reason, by their mark.
    failures: BTreeMap<String, Failing>,
    #[serde(flatten)]
    coverage: Coverage,
}

/// Cases that failed for one reason.
#[derive(Debug, Serialize)]
struct Failing {
    /// Their numbers.
    cases: Vec<u64>,
    /// Failure of the first of them.
    failure: Failure,
    /// Its scenario.
    file: PathBuf,
    /// The smallest scenario that still fails.
    smallest: Option<PathBuf>,
}

/// Draws and judges the cases.
pub(super) fn run(args: &Args, json: bool) -> Result<Exit, Error> {
    let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let cases = match (args.cases, args.minutes) {
        (Some(cases), _) => cases,
        (None, Some(_)) => u64::MAX,
        (None, None) => CASES,
    };
    // Saturating: the largest number has no successor.
    let numbers = args.case.map_or(0..cases, |case| case..case.saturating_add(1));
    let bar = show_cases(Show::unless(args.quiet), args.case.or(args.cases).map(|_| cases));
    let session = Session {
        args,
        end: args.minutes.map(|minutes| now() + Duration::from_secs_f64(minutes * 60.0)),
        next: AtomicU64::new(numbers.start),
        stop: numbers.end,
        report: Mutex::new(Report {
            seed: args.seed,
            cases: 0,
            held: 0,
            refused: 0,
            stopped: 0,
            long: 0,
            repairs: 0,
            failed: 0,
            failures: BTreeMap::new(),
            coverage: Coverage::new(),
        }),
        bar,
    };
    let workers = args.jobs.map_or_else(cores, NonZeroUsize::get);
    // More workers than cases would have nothing to do.
    let workers = workers.min(usize::try_from(session.stop - numbers.start).unwrap_or(workers));
    let broken = Mutex::new(None);
    on_threads(workers, || {
        if let Err(error) = session.work() {
            *broken.lock().expect("no worker has panicked") = Some(error);
        }
    });
    if let Some(error) = broken.into_inner().expect("no worker has panicked") {
        return Err(error);
    }
    session.bar.finish_and_clear();
    let report = session.report.into_inner().expect("no worker has panicked");
    print(&match json {
        true => format!("{:#}\n", json!(report)),
        false => as_text(&report),
    })?;
    Ok(match report.failures.is_empty() {
        // First, because cases that were never drawn may have failed.
        _ if STOP.load(Ordering::Relaxed) => interrupted(),
        true => Exit::Success,
        false => Exit::Differs,
    })
}

/// Real time bounds only the number of cases, never the result of one.
#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}

/// State that the workers share.
struct Session<'a> {
    args: &'a Args,
    end: Option<Instant>,
    /// The next case, and (in `stop`) the end of the cases.
    next: AtomicU64,
    stop: u64,
    report: Mutex<Report>,
    bar: indicatif::ProgressBar,
}

impl Session<'_> {
    /// Judges one case after the other.
    fn work(&self) -> Result<(), Error> {
        let folder = Scratch::create()
            .map_err(|error| Error::Write { path: std::env::temp_dir(), error })?;
        loop {
            // Checked only between cases, so that no case is judged in part.
            let late = self.end.is_some_and(|end| now() >= end);
            if late || STOP.load(Ordering::Relaxed) {
                return Ok(());
            }
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.stop {
                return Ok(());
            }
            let place = folder.path().join("case");
            let written = |error| Error::Write { path: place.clone(), error };
            fs::create_dir_all(&place).map_err(written)?;
            let path = place.join(format!("case-{}-{number}.toml", self.args.seed));
            let verdict = judge_case(&path, self.args, number)?;
            if STOP.load(Ordering::Relaxed) {
                return Ok(()); // what was judged while it was stopped says nothing
            }
            // Read before the folder is removed; the repaired scenario is only in this file.
            let text = fs::read_to_string(&path).map_err(written)?;
            self.count(number, &verdict);
            if let Outcome::Failed(failure) = verdict.outcome {
                self.keep(number, &text, failure, folder.path())?;
            }
            fs::remove_dir_all(&place).map_err(written)?;
        }
    }

    fn count(&self, number: u64, verdict: &Verdict) {
        let mut report = self.report.lock().expect("no worker has panicked");
        report.cases += 1;
        report.repairs += u64::from(verdict.repairs);
        match &verdict.outcome {
            Outcome::Held => report.held += 1,
            Outcome::Refused(_) => report.refused += 1,
            Outcome::Stopped(_) => report.stopped += 1,
            Outcome::Long => report.long += 1,
            Outcome::Failed(failure) => {
                report.failed += 1;
                say(&format!("case {number} fails: {}\n", first_line(failure)));
            }
        }
        // A refused scenario did not run, so nothing of it was examined.
        if !matches!(verdict.outcome, Outcome::Refused(_)) {
            report.coverage.add(verdict);
        }
        let Report { held, refused, stopped, long, failed, .. } = *report;
        self.bar.set_message(format!(
            "{held} held, {stopped} stopped, {long} long, {refused} refused, {failed} failed"
        ));
        self.bar.inc(1);
    }

    /// Keeps a failed case and its smallest reduction, unless another case has failed for the same
    /// reason.
    fn keep(&self, number: u64, text: &str, failure: Failure, folder: &Path) -> Result<(), Error> {
        let mark = failure.mark();
        let output = &self.args.output;
        let file = output.join(format!("case-{}-{number}.toml", self.args.seed));
        {
            let mut report = self.report.lock().expect("no worker has panicked");
            if let Some(known) = report.failures.get_mut(&mark) {
                known.cases.push(number);
                return Ok(());
            }
            let (cases, failure) = (vec![number], failure.clone());
            let failing = Failing { cases, failure, file: file.clone(), smallest: None };
            // Before the reduction and under the same lock, so that no other worker reduces a case of this mark.
            report.failures.insert(mark.clone(), failing);
        }
        let written = |error| Error::Write { path: file.clone(), error };
        fs::create_dir_all(output).map_err(written)?;
        let comment = format!("# {}\n", first_line(&failure));
        write_with_records(&file, &format!("{comment}{text}")).map_err(written)?;
        // The failure may be that the text cannot be read; then there is nothing to reduce.
        let Ok(document) = text.parse() else { return Ok(()) };
        let smallest = self.smallest(document, &mark, folder)?;
        let path = output.join(format!("case-{}-{number}-smallest.toml", self.args.seed));
        write_with_records(&path, &format!("{comment}{}", to_text(&smallest))).map_err(written)?;
        let mut report = self.report.lock().expect("no worker has panicked");
        if let Some(failing) = report.failures.get_mut(&mark) {
            failing.smallest = Some(path);
        }
        Ok(())
    }

    /// The smallest scenario found that fails with this mark.
    fn smallest(
        &self,
        document: toml::Table,
        mark: &str,
        folder: &Path,
    ) -> Result<toml::Table, Error> {
        let (time, tries) = SHRINK;
        let end = now() + time;
        let mut simpler = Simpler::new(document);
        for _ in 0..tries {
            if now() >= end || STOP.load(Ordering::Relaxed) {
                break;
            }
            let Some(candidate) = simpler.candidate() else { break };
            let place = folder.join("smaller");
            let written = |error| Error::Write { path: place.clone(), error };
            fs::create_dir_all(&place).map_err(written)?;
            let path = place.join("case.toml");
            write_with_records(&path, &to_text(&candidate)).map_err(written)?;
            let verdict = judge_file(&path, self.args)?;
            fs::remove_dir_all(&place).map_err(written)?;
            // Another failure would lead the reduction away from the one to be shown.
            if matches!(&verdict.outcome, Outcome::Failed(failure) if failure.mark() == mark) {
                simpler.take(candidate);
            }
        }
        Ok(simpler.best().clone())
    }
}

fn first_line(failure: &Failure) -> String {
    failure.to_string().lines().next().unwrap_or_default().to_owned()
}

fn as_text(report: &Report) -> String {
    let Report { seed, cases, held, refused, stopped, long, repairs, failed, .. } = report;
    let all = count(*cases as usize, "case");
    let mut text = format!(
        "seed {seed}: {all}\n  {held} held\n  {stopped} ended with an error that the manual \
         names\n  {long} ended after more messages than are examined\n  \
         {refused} refused after all repairs; {repairs} repairs in all\n  {failed} failed\n"
    );
    for Failing { cases, failure, file, smallest } in report.failures.values() {
        text.push_str(&format!("\n{}\n", first_line(failure)));
        text.push_str(&format!("  cases     {}, the first is {}\n", cases.len(), cases[0]));
        text.push_str(&format!("  scenario  {}\n", file.display()));
        if let Some(smallest) = smallest {
            text.push_str(&format!("  smallest  {}\n", smallest.display()));
        }
    }
    text.push_str(&report.coverage.to_text());
    text
}
