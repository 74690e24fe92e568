//! Prints all errors: problems with the text around them, other errors in a line, and a hint after
//! each.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::{env, fmt};

use crate::experiment::ExperimentError;
use crate::experiment::snapshots::SnapshotError;
use crate::experiment::sweep::SweepError;
use crate::experiment::workload::WorkloadError as OpenError;
use crate::experiment::world::StageError;
use crate::scenario::{Problem, ReadError, Source, Warnings};
use crate::slurm::SlurmError;
#[cfg(feature = "live")]
use haggle_live::keys::KeyError;
use haggle_plots::PlotError;
use haggle_results::ResultsError;
use haggle_results::pack::Pack;
use haggle_runtime::RunError;
use haggle_workloads::WorkloadError;
use haggle_workloads::failures::recorded::TraceProblem;
use haggle_workloads::lines::Unreadable;
use haggle_workloads::swf::{SwfError, SwfProblem};
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, NamedSource,
    Severity, SourceCode, SourceSpan, SpanContents,
};

use crate::commands::{Error, example};
use crate::exit::Exit;
use crate::interrupt::interrupted;
use crate::visible::{Shown as VisibleText, visible};

/// Most problems that are shown; more of them usually have one cause.
const SHOWN: usize = 50;

/// Width of messages. It is fixed, so that they are equal in a log and on a terminal.
const WIDTH: usize = 100;

/// Prints an error and returns the exit code.
pub(crate) fn report(error: &Error) -> Exit {
    match error {
        Error::InvalidScenario(invalid) => {
            say_styled(&problems(&invalid.source, &invalid.problems));
            Exit::InvalidInput
        }
        Error::Experiment(inner) => experiment(inner),
        Error::Sweep(inner) => sweep(inner),
        Error::Slurm(inner) => slurm(inner),
        Error::Read(inner) => match example_of(inner) {
            // Users often name an example as if it were a file.
            Some(name) => {
                let hint =
                    format!("`--example {name}` in place of the file is the example of this name");
                hinted(error, &hint, Exit::InvalidInput)
            }
            None => plain(error, Exit::InvalidInput),
        },
        Error::Workflow(_) => plain(error, Exit::InvalidInput),
        Error::NoSuchRun { .. } => {
            hinted(error, "`haggle show --runs SCENARIO` lists them", Exit::Usage)
        }
        Error::SweepIsNoRun { .. } => hinted(
            error,
            "`haggle sweep` in place of `haggle run` carries them all out",
            Exit::Usage,
        ),
        Error::NoMachineSize { .. } => hinted(error, "add --processors N", Exit::Usage),
        Error::Unfit { hint, .. } => hinted(error, hint, Exit::Usage),
        Error::Catalogue { hint, .. } => hinted(error, hint, Exit::InvalidInput),
        Error::Record(inner) => match (inner.line, &inner.problem) {
            // A problem of the whole file, which no option for single lines solves.
            (0, _) | (_, TraceProblem::OtherFormat { .. }) => plain(error, Exit::InvalidInput),
            _ => hinted(
                error,
                "check --format; --lenient leaves out lines that are not records",
                Exit::InvalidInput,
            ),
        },
        Error::NoResults(_) => {
            hinted(error, "`haggle run SCENARIO -o DIR` makes such a folder", Exit::InvalidInput)
        }
        Error::Exists(_) => hinted(error, "add --force to overwrite it", Exit::CannotWrite),
        Error::Strange { .. } => hinted(
            error,
            "move it elsewhere, name another folder with -o, or add --force to delete it",
            Exit::CannotWrite,
        ),
        Error::Workload(problem) => match workload_hint(problem) {
            Some(hint) => hinted(error, hint, Exit::InvalidInput),
            None => plain(error, Exit::InvalidInput),
        },
        Error::NoJobLeft(_) => hinted(
            error,
            "`haggle workload inspect` shows how long the log is; --from and --window must lie in it",
            Exit::InvalidInput,
        ),
        Error::Plot(PlotError::UnknownEnding { .. } | PlotError::Unsuitable(_))
        | Error::Shape(_)
        | Error::Problem(_) => plain(error, Exit::Usage),
        #[cfg(feature = "live")]
        Error::Keys(inner) => keys(inner),
        #[cfg(feature = "live")]
        Error::Live(inner) => plain(error, inner.exit()),
        // The reader closed the pipe because it has enough: `haggle show … | head` is no failure.
        Error::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
        Error::Write { .. } | Error::Output(_) | Error::Plot(_) => plain(error, Exit::CannotWrite),
    }
}

/// Prints an error in a line.
fn plain(error: &impl fmt::Display, exit: Exit) -> Exit {
    say(&format!("error: {error}\n"));
    exit
}

/// Prints an error with the way out.
fn hinted(error: &impl fmt::Display, hint: &str, exit: Exit) -> Exit {
    say(&format!("error: {error}\n\nhint: {hint}\n"));
    exit
}

/// An error of a sweep.
fn sweep(error: &SweepError) -> Exit {
    match error {
        SweepError::Run { number, folder, error } => {
            say(&format!("in run {number} ({folder}):\n"));
            experiment(error)
        }
        SweepError::Interrupted => {
            say(
                "interrupted: finished runs are kept\n\nhint: the same command continues with the \
                 others\n",
            );
            interrupted()
        }
        SweepError::OtherBuild { .. } => hinted(
            error,
            "name another folder with -o, remove this one, or add --any-build to count such runs as done",
            Exit::CannotWrite,
        ),
        SweepError::NotARun { .. } | SweepError::Link { .. } => {
            hinted(error, "name another folder with -o, or remove this one", Exit::CannotWrite)
        }
        SweepError::Foreign { .. }
        | SweepError::OtherRule { .. }
        | SweepError::InputChanged { .. }
        | SweepError::NoTables { .. } => hinted(
            error,
            "name another folder with -o, or remove this one; `haggle sweep` does such runs again with --force",
            Exit::CannotWrite,
        ),
        SweepError::Damaged { table, .. } => {
            let hint = match damaged_pack(table) {
                Some(pack) => format!(
                    "remove `{}`, and the same command makes the runs of this pack again",
                    pack.display()
                ),
                None => "remove its folder, and the same command makes that run again".to_owned(),
            };
            hinted(error, &hint, Exit::InvalidInput)
        }
        SweepError::Missing { .. } => hinted(
            &format!("{error}: the sweep is not summed up"),
            "`haggle sweep SCENARIO -o DIR` carries them out and sums up, without the runs of other commands",
            Exit::InvalidInput,
        ),
        SweepError::NoRule(inner) => {
            experiment(&ExperimentError::Stage(StageError::Rule(inner.clone())))
        }
        SweepError::Results(inner) => results(inner),
        SweepError::Figure(inner) => experiment(inner),
    }
}

/// An error of a submission to Slurm.
fn slurm(error: &SlurmError) -> Exit {
    let exit = match error {
        SlurmError::Results(inner) => return results(inner),
        SlurmError::Busy(_) | SlurmError::NotShared { .. } | SlurmError::Backslash(_) => {
            Exit::CannotWrite
        }
        SlurmError::TooLong { .. } | SlurmError::TooMany { .. } => Exit::Usage,
        _ => Exit::InvalidInput,
    };
    hinted(error, error.hint(), exit)
}

/// An error of keys; it names its remedy.
#[cfg(feature = "live")]
fn keys(error: &KeyError) -> Exit {
    match error {
        KeyError::Peers(invalid) => {
            say_styled(&problems(&invalid.source, &invalid.problems));
            Exit::InvalidInput
        }
        KeyError::Write { .. } | KeyError::Exists(_) => plain(error, Exit::CannotWrite),
        KeyError::Twice(_) | KeyError::LeftBehind { .. } | KeyError::AuthorityEnds { .. } => {
            plain(error, Exit::Usage)
        }
        _ => plain(error, Exit::InvalidInput),
    }
}

/// The built-in example that has the name of a missing file.
fn example_of(error: &ReadError) -> Option<&str> {
    let name = error.path.file_stem()?.to_str()?;
    (error.error.kind() == io::ErrorKind::NotFound && example::is_one(name)).then_some(name)
}

/// An error of a run.
fn experiment(error: &ExperimentError) -> Exit {
    match error {
        ExperimentError::Results(inner) => results(inner),
        ExperimentError::Run(RunError::Interrupted) => {
            say("interrupted: no results were written\n");
            interrupted()
        }
        ExperimentError::Stage(StageError::Workload(OpenError::Open { error: inner, .. }))
        | ExperimentError::Jobs(inner) => {
            let hint = match &**inner {
                WorkloadError::Swf(inner) if inner.problem.is_one_line() => {
                    "\nhint: replay with --lenient, or set `malformed = \"skip\"` in the workload's \
                     rules, to leave such lines out and count them\n"
                }
                WorkloadError::Log(inner) if inner.problem.is_one_record() => {
                    "\nhint: set `malformed = \"skip\"` in the workload's rules to leave such records out and count \
                     them\n"
                }
                WorkloadError::Swf(inner) if is_missing(inner) => &format!("\nhint: {LOGS}\n"),
                WorkloadError::OutOfOrder { .. } => {
                    "\nhint: set `order = \"sort\"` in the workload's rules, or sort the log first: \
                     `haggle workload convert --order sort LOG SORTED`\n"
                }
                _ => "",
            };
            say(&format!("error: {error}\n{hint}"));
            Exit::InvalidInput
        }
        ExperimentError::Stage(_) | ExperimentError::Run(_) => {
            say(&format!("error: {error}\n"));
            Exit::InvalidInput
        }
        ExperimentError::Figure { figure, error: cause } => {
            say(&format!("error: figure \"{figure}\": {cause}\n"));
            match cause {
                PlotError::Results(_) => Exit::InvalidInput,
                PlotError::Write { .. } | PlotError::Drawing(_) => Exit::CannotWrite,
                // The run is valid, but has no data for the requested figure.
                PlotError::NoData { .. }
                | PlotError::NoJob(_)
                | PlotError::NoValues(_)
                | PlotError::Unsuitable(_)
                | PlotError::UnknownEnding { .. }
                | PlotError::BadSize { .. } => Exit::Usage,
            }
        }
        ExperimentError::Snapshot(cause) => {
            say(&format!("error: {error}\n"));
            match cause {
                SnapshotError::File { .. } => Exit::CannotWrite,
                _ => Exit::InvalidInput,
            }
        }
        ExperimentError::Violation(_)
        | ExperimentError::OtherWorld(_)
        | ExperimentError::Disagreement(_)
        | ExperimentError::JobsMissing { .. } => {
            say(&format!("error: {error}\n"));
            Exit::Differs
        }
    }
}

/// An error while results are written or read.
fn results(error: &ResultsError) -> Exit {
    say(&format!("error: {error}\n"));
    if let ResultsError::Damaged { path, .. } = error
        && let Some(pack) = damaged_pack(path)
    {
        say(&format!(
            "\nhint: remove `{}`; `haggle sweep` with the scenario of the sweep, the same -o and --pack makes its runs \
             again\n",
            pack.display()
        ));
    }
    if error.is_read() { Exit::InvalidInput } else { Exit::CannotWrite }
}

/// The folder of the pack that contains a file, if any.
fn damaged_pack(file: &Path) -> Option<&Path> {
    let folder = file.parent()?;
    Pack::is_name_of_one(folder).then_some(folder)
}

/// Sources of logs.
const LOGS: &str = "logs are in the Parallel Workloads Archive (https://www.cs.huji.ac.il/labs/parallel/workload/); \
                    `haggle workload generate --jobs 2000 --processors 64 log.swf.gz` generates one";

/// True if there is no such log.
fn is_missing(error: &SwfError) -> bool {
    matches!(&error.problem, SwfProblem::Unreadable(Unreadable::Open(error)) if error.kind() == io::ErrorKind::NotFound)
}

/// The option that avoids a problem with a log, if there is one.
fn workload_hint(error: &WorkloadError) -> Option<&'static str> {
    match error {
        WorkloadError::Swf(error) if error.problem.is_one_line() => {
            Some("add --lenient to leave such lines out and count them")
        }
        WorkloadError::Log(error) if error.problem.is_one_record() => {
            Some("add --lenient to leave such records out and count them")
        }
        WorkloadError::Swf(error) if is_missing(error) => Some(LOGS),
        WorkloadError::OutOfOrder { .. } => Some("add --order sort to sort the log"),
        WorkloadError::NothingKept { .. } => {
            Some("the options under \"Rules for the log\" in --help keep more")
        }
        _ => None,
    }
}

/// Prints to standard error. If it is closed, the error is ignored, because no other output is
/// left.
pub(crate) fn say(text: &str) {
    say_styled(&visible(text));
}

/// The same for a text with colours whose other control characters are already visible.
fn say_styled(text: &str) {
    // There is no other place to report an error of standard error.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Every problem of a file with its line, then their number.
fn problems(source: &Source, found: &[Problem]) -> String {
    let path = source.path.display().to_string();
    let mut text = rendered(source, found, Severity::Error);
    let count = found.len();
    let problems = if count == 1 { "problem" } else { "problems" };
    text.push_str(&format!(
        "error: {} has {count} {problems}{}\n",
        visible(&path),
        of_them_shown(count)
    ));
    text
}

/// Prints the settings of a valid scenario without effect, each with its line.
pub(crate) fn warn(warnings: &Warnings) {
    let count = warnings.found.len();
    if count == 0 {
        return;
    }
    let path = warnings.source.path.display().to_string();
    let mut text = rendered(&warnings.source, &warnings.found, Severity::Warning);
    let noun = if count == 1 { "warning" } else { "warnings" };
    text.push_str(&format!("{}: {count} {noun}{}\n", visible(&path), of_them_shown(count)));
    say_styled(&text);
}

/// Prints the settings without effect that only a run could find.
pub(crate) fn warn_of(texts: &[String]) {
    for text in texts {
        say(&format!("warning: {text}\n"));
    }
}

/// Problems or warnings, each with its line.
fn rendered(source: &Source, problems: &[Problem], severity: Severity) -> String {
    let path = source.path.display().to_string();
    let changed = VisibleText::of(&source.text);
    let shown_text = match &changed {
        Some(changed) => Arc::from(changed.text.as_str()),
        None => Arc::clone(&source.text),
    };
    let source = WholeLines(NamedSource::new(visible(&path), shown_text));
    let handler =
        GraphicalReportHandler::new_themed(theme()).with_width(WIDTH).with_context_lines(1);
    let mut text = String::new();
    for problem in problems.iter().take(SHOWN) {
        let problem = &visible_problem(problem, changed.as_ref());
        let shown = Shown { problem, severity, source: &source };
        if handler.render_report(&mut text, &shown).is_err() {
            // The frame is optional; the message itself must be printed.
            text.push_str(&problem.message);
        }
        text.push('\n');
    }
    text
}

/// A problem with all its texts made visible.
fn visible_problem(problem: &Problem, text: Option<&VisibleText>) -> Problem {
    let place = |at| text.map_or(at, |text| text.place(at));
    Problem {
        message: visible(&problem.message).into_owned(),
        span: place(problem.span.start)..place(problem.span.end),
        label: visible(&problem.label).into_owned(),
        help: problem.help.as_deref().map(|help| visible(help).into_owned()),
    }
}

fn of_them_shown(count: usize) -> String {
    if count > SHOWN { format!(", {SHOWN} of them shown") } else { String::new() }
}

fn theme() -> GraphicalTheme {
    // https://no-color.org: any value but the empty one means no colour.
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if io::stderr().is_terminal() && !refused {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    }
}

/// A text of which the renderer shows only the lines of a problem. By default it also shows the
/// lines around them, or only a part of a line.
#[derive(Debug)]
struct WholeLines(NamedSource<Arc<str>>);

impl SourceCode for WholeLines {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        // A request without context asks for the beginning of the span.
        if before == 0 && after == 0 {
            return self.0.read_span(span, 0, 0);
        }
        let text = self.0.inner();
        let (start, end) = (span.offset(), span.offset() + span.len());
        let first = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let last = text[end..].find('\n').map_or(text.len(), |newline| end + newline);
        self.0.read_span(&(first..last.max(first)).into(), 0, 0)
    }
}

/// A problem and the text into which it points, in the form for the renderer.
#[derive(Debug)]
struct Shown<'p> {
    problem: &'p Problem,
    severity: Severity,
    source: &'p WholeLines,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem.message)
    }
}

impl std::error::Error for Shown<'_> {}

impl Diagnostic for Shown<'_> {
    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.problem.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label =
            LabeledSpan::new_with_span(Some(self.problem.label.clone()), self.problem.span.clone());
        Some(Box::new(std::iter::once(label)))
    }
}
