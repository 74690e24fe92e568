//! Checks that a scenario is deterministic: runs it again and on the other driver, and compares the
//! event logs line by line. Checks that its tables agree: writes them and audits them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use haggle_agents::Message;
use haggle_model::{ActorId, MessageFault, Observation, Time};
use haggle_results::Existing;
use haggle_runtime::{Driver, OutsideError, Sink, run as run_world};

use haggle_experiment::no_effect::steps_without_effect;
use haggle_experiment::run::{
    Conduct, Destination, ExperimentError, Figures, Keep, Unwatched, run, unwrap_run_error,
};
use haggle_experiment::world::Stage;
use haggle_scenario::Scenario;

/// Comparison of two runs of one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All lines are equal.
    Same {
        /// Number of lines.
        lines: u64,
    },
    /// The lines before this one are equal.
    Differs(Difference),
}

/// The first line in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Name of the run that differs from the first one.
    pub run: &'static str,
    /// The line, from 1.
    pub line: u64,
    /// The line in the first run; `None` if that has ended.
    pub first: Option<String>,
    /// The line in the other run; `None` if that has ended.
    pub other: Option<String>,
}

/// Runs `scenario` twice on the sequential driver and once on actix, with the event logs in
/// `scratch`. Another run writes its tables there and checks them. Besides the verdict, returns
/// warnings about settings without effect.
///
/// # Errors
/// If a run does not reach its end, a check of it fails, or a log cannot be written.
pub fn verify(
    scenario: &Scenario,
    folder: &Path,
    scratch: &Path,
    stop: &AtomicBool,
) -> Result<(Verdict, Vec<String>), ExperimentError> {
    let log = |name: &str, driver| {
        let path = scratch.join(name);
        write_log(scenario, folder, driver, &path, stop).map(|warnings| (path, warnings))
    };
    let (first, warnings) = log("first", Driver::Sequential)?;
    let mut verdict = Verdict::Same { lines: 0 };
    for (run, driver) in
        [("the second run", Driver::Sequential), ("the run over actix", Driver::Actix)]
    {
        let (other, _) = log("other", driver)?;
        verdict = compare(run, &first, &other).map_err(|error| trouble(&other, error))?;
        if matches!(verdict, Verdict::Differs(_)) {
            // One difference is enough, and the other log is overwritten by the next run.
            break;
        }
    }
    // Also after a difference, because the tables have a run of their own.
    let checked = check_tables(scenario, folder, scratch, stop);
    tell(verdict, warnings, checked)
}

/// The verdict with the warnings. After a difference, a problem of the tables is a warning: as an
/// error, it would hide the difference.
fn tell(
    verdict: Verdict,
    mut warnings: Vec<String>,
    checked: Result<(), ExperimentError>,
) -> Result<(Verdict, Vec<String>), ExperimentError> {
    match checked {
        Err(error) if matches!(verdict, Verdict::Differs(_)) => {
            warnings.push(format!("the check of the tables failed, too: {error}"));
        }
        checked => checked?,
    }
    Ok((verdict, warnings))
}

fn check_tables(
    scenario: &Scenario,
    folder: &Path,
    scratch: &Path,
    stop: &AtomicBool,
) -> Result<(), ExperimentError> {
    let destination = Destination {
        folder: scratch.join("tables"),
        end: None,
        keep: Keep::Tables,
        existing: Existing::Replace,
        figures: Figures::Skip,
    };
    let conduct =
        Conduct { driver: Driver::Sequential, stop, watch: &Unwatched, check: true, warnings: &[] };
    run(scenario, folder, Some(&destination), &conduct).map(|_| ())
}

fn trouble(path: &Path, error: io::Error) -> ExperimentError {
    ExperimentError::Results(haggle_results::ResultsError::write(path, error))
}

fn write_log(
    scenario: &Scenario,
    folder: &Path,
    driver: Driver,
    path: &Path,
    stop: &AtomicBool,
) -> Result<Vec<String>, ExperimentError> {
    let stage = Stage::set(scenario, folder)?;
    let file = File::create(path).map_err(|error| trouble(path, error))?;
    let mut log = EventLog(BufWriter::new(file));
    run_world(stage.world, driver, &mut log, stop).map_err(unwrap_run_error)?;
    // A buffer that is dropped would lose its error.
    log.0.flush().map_err(|error| trouble(path, error))?;
    Ok(stage.warnings.into_iter().chain(steps_without_effect(&stage.steps)).collect())
}

pub(super) fn compare(run: &'static str, first: &Path, other: &Path) -> io::Result<Verdict> {
    let mut a = BufReader::new(File::open(first)?).lines();
    let mut b = BufReader::new(File::open(other)?).lines();
    let mut lines = 0;
    loop {
        match (a.next().transpose()?, b.next().transpose()?) {
            (None, None) => return Ok(Verdict::Same { lines }),
            (first, other) if first == other => lines += 1,
            (first, other) => {
                let line = lines + 1;
                return Ok(Verdict::Differs(Difference { run, line, first, other }));
            }
        }
    }
}

/// Every message and observation as a line of text.
pub(super) struct EventLog<W: Write>(pub(super) W);

impl<W: Write> Sink for EventLog<W> {
    fn delivered(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        Ok(writeln!(self.0, "{now} {from} -> {to}: {message:?}")?)
    }

    fn fault(
        &mut self,
        now: Time,
        from: ActorId,
        to: ActorId,
        message: &Message,
        fault: MessageFault,
        resent: u64,
    ) -> Result<(), OutsideError> {
        let fault = fault.name();
        Ok(writeln!(self.0, "{now} {from} -> {to}: {fault}, sent again {resent}: {message:?}")?)
    }

    fn observed(
        &mut self,
        now: Time,
        actor: ActorId,
        observation: &Observation,
    ) -> Result<(), OutsideError> {
        Ok(writeln!(self.0, "{now} {actor}: {observation:?}")?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        let scratch = tempfile::tempdir().expect("a folder for the test");
        let file = |name: &str, text: &str| {
            let path = scratch.path().join(name);
            std::fs::write(&path, text).expect("room for a few bytes");
            path
        };
        let (a, b) = (file("a", "1\n2\n3\n"), file("b", "1\n2\n"));
        let same = compare("again", &a, &a).expect("readable");
        assert_eq!(same, Verdict::Same { lines: 3 });
        let differs = compare("again", &a, &b).expect("readable");
        let expected =
            Difference { run: "again", line: 3, first: Some("3".to_owned()), other: None };
        assert_eq!(differs, Verdict::Differs(expected));
    }

    #[test]
    fn a_failed_check_hides_no_difference() {
        let failed = || Err(trouble(Path::new("tables"), io::ErrorKind::StorageFull.into()));
        let difference = Difference { run: "again", line: 3, first: None, other: None };
        let differs = Verdict::Differs(difference);
        let (verdict, warnings) = tell(differs.clone(), Vec::new(), failed()).expect("a verdict");
        assert_eq!(verdict, differs);
        assert!(warnings[0].contains("the check of the tables failed"), "{warnings:?}");
        assert!(tell(Verdict::Same { lines: 3 }, Vec::new(), failed()).is_err());
    }
}
