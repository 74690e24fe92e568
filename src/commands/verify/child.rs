//! One case in a process of its own, so that a panic, an abort and an endless run are detected like
//! other failures.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::trial::draw::draw;
use crate::trial::{Bounds, Failure, FailureKind, Outcome, Verdict, judge};
use nix::sys::resource::{Resource, setrlimit};

use super::random;
use crate::commands::{Error, print};
use crate::exit::Exit;
use crate::interrupt::STOP;

/// Options that only the command itself uses.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct Args {
    /// Judge the scenario in this file, or first draw it there, and print the verdict as JSON
    #[arg(long, value_name = "FILE", hide = true)]
    pub(super) judge: Option<PathBuf>,
}

/// Most runs of a sweep that are examined.
const RUNS: usize = 6;

/// Address space of a case, bytes.
const MEMORY: u64 = 3 << 30;

/// Processor time of a case, s; for loops that the bound on messages does not end.
const SECONDS: u64 = 60;

/// Interval at which the request to stop is examined.
const LOOK: Duration = Duration::from_millis(50);

/// Draws a case if its number is given, and judges it.
pub(super) fn run(path: &Path, args: &random::Args) -> Result<Exit, Error> {
    // Systems without such limits still have the bound on messages.
    let _ = setrlimit(Resource::RLIMIT_AS, MEMORY, MEMORY);
    let _ = setrlimit(Resource::RLIMIT_CPU, SECONDS, SECONDS + 1);
    // A case that aborts would otherwise leave a dump of up to 3 GiB.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    let failed = |error| Error::Write { path: path.to_owned(), error };
    let drawn = args.case.map(|number| draw(args.seed, number, path)).transpose();
    let drawn = drawn.map_err(failed)?;
    let scratch = path.with_extension("scratch");
    std::fs::create_dir_all(&scratch).map_err(failed)?;
    let mut verdict = judge(path, &scratch, Bounds { messages: args.messages, runs: RUNS }, &STOP);
    verdict.repairs = drawn.map_or(0, |drawn| drawn.repairs);
    let text = serde_json::to_string(&verdict).expect("a verdict is plain data");
    print(&text)?;
    Ok(Exit::Success)
}

/// Starts a process that draws case `number` into the file at `path` and judges it.
pub(super) fn judge_case(path: &Path, args: &random::Args, number: u64) -> Result<Verdict, Error> {
    let (seed, number) = (args.seed.to_string(), number.to_string());
    judge_with(path, args, &["--random", "--seed", &seed, "--case", &number])
}

/// Starts a process that judges the scenario in the file at `path`.
pub(super) fn judge_file(path: &Path, args: &random::Args) -> Result<Verdict, Error> {
    judge_with(path, args, &[])
}

fn judge_with(path: &Path, args: &random::Args, arguments: &[&str]) -> Result<Verdict, Error> {
    let failed = |error| Error::Write { path: path.to_owned(), error };
    let mut child = Command::new(std::env::current_exe().map_err(failed)?)
        .args(["verify", "--judge"])
        .arg(path)
        .args(["--messages", &args.messages.to_string()])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (said, broke) = read_both(&mut child).map_err(failed)?;
    let status = child.wait().map_err(failed)?;
    // A verdict counts only if the process also ended well.
    let verdict = serde_json::from_slice(&said).ok().filter(|_| status.success());
    Ok(verdict.unwrap_or_else(|| Verdict {
        outcome: Outcome::Failed(broken(status, &String::from_utf8_lossy(&broke))),
        repairs: 0,
        keys: Default::default(),
        features: Default::default(),
    }))
}

/// Standard output and standard error of a process, until it ends. Both are short, and the second
/// is empty without an error. The process is killed if this one must stop.
fn read_both(child: &mut Child) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (reading, read) = mpsc::channel::<()>();
    let read_on = move || {
        let (mut said, mut broke) = (Vec::new(), Vec::new());
        // One after the other: standard error is too short to fill its pipe, on which the process would wait.
        out.map_or(Ok(0), |mut out| out.read_to_end(&mut said))?;
        err.map_or(Ok(0), |mut err| err.read_to_end(&mut broke))?;
        drop(reading); // now the other side wakes up
        Ok((said, broke))
    };
    let reader = match thread::Builder::new().spawn(read_on) {
        Ok(reader) => reader,
        Err(error) => {
            child.kill()?;
            child.wait()?;
            return Err(error);
        }
    };
    while read.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if STOP.load(Ordering::Relaxed) {
            // The loop goes on until both pipes are closed, so that no output is left behind.
            child.kill()?;
        }
    }
    reader.join().expect("reading does not panic")
}

/// Failure of a process that gave no verdict.
fn broken(status: ExitStatus, said: &str) -> Failure {
    let last = |count: usize| {
        let lines: Vec<&str> = said.lines().collect();
        lines[lines.len().saturating_sub(count)..].join("\n")
    };
    // Before the signal, because a panic may end in an abort, and its place tells more.
    if let Some((_, panic)) = said.split_once("panicked at ") {
        let mut lines = panic.lines();
        let (place, message) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
        return Failure { kind: FailureKind::Panic, what: format!("{place} {message}") };
    }
    let kind = match signal(status) {
        // The hard limit of processor time, a second later, kills a process that ignores the soft one.
        Some(nix::libc::SIGXCPU | nix::libc::SIGKILL) => FailureKind::TooLong,
        Some(_) => FailureKind::Abort,
        None => FailureKind::RunError,
    };
    Failure { kind, what: format!("{status} {}", last(3)) }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}
