//! The supervisor of one program: a process that outlives the node, and writes the end of the program down.
//!
//! ```text
//!   work/NAME/work.json   the program, written by the node
//!             lock        held as long as the supervisor lives
//!             begun       process number of the supervisor; from now on, the program never starts again
//!             program     process number and start of the program
//!             output, errors
//!             ended       time and exit code
//!             refused     reason why the program could not be started
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt, parent_id};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, setsid};
use serde::{Deserialize, Serialize};

use super::{Limits, MachineError, Work, now};
use crate::clock::unix_micros;
use crate::durable::{synced, write_whole};

pub(super) const WORK: &str = "work.json";
pub(super) const LOCK: &str = "lock";
pub(super) const BEGUN: &str = "begun";
pub(super) const PROGRAM: &str = "program";
pub(super) const ENDED: &str = "ended";
/// Reason why the launcher could not become the program.
const REFUSED: &str = "refused";

/// Time for which a program may end by itself after it was asked to.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// A program for its supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) work: Work,
    pub(super) limits: Limits,
}

impl Order {
    fn read(folder: &Path) -> Result<Order, MachineError> {
        let path = folder.join(WORK);
        let text = fs::read(&path).map_err(MachineError::file(&path))?;
        serde_json::from_slice(&text)
            .map_err(|error| MachineError::File { path, error: error.into() })
    }
}

/// The end of a program.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct End {
    /// Microseconds since 1970.
    pub(super) at: i64,
    /// Its exit code; `None` = a signal ended it.
    pub(super) code: Option<i32>,
    /// The signal.
    pub(super) signal: Option<i32>,
    /// Reason why it could not be started.
    pub(super) error: Option<String>,
}

/// Runs the program in the folder of an attempt, unless it has begun already, and writes its end down. `launcher` is the
/// command that calls [`launch`] with the number of this process and that folder, which follow. If `stop` is raised, the program is stopped.
///
/// # Errors
/// If a file cannot be read or written.
pub fn supervise(
    folder: &Path,
    launcher: &[String],
    stop: &AtomicBool,
) -> Result<(), MachineError> {
    // Signals of the node's terminal do not reach it from now on. It fails if the process leads a group already.
    let _ = setsid();
    let lock = folder.join(LOCK);
    let failed = MachineError::file(&lock);
    let file = OpenOptions::new().create(true).append(true).open(&lock).map_err(&failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => return Ok(()),
        Err(fs::TryLockError::Error(error)) => return Err(failed(error)),
    }
    let order = Order::read(folder)?;
    let begun = folder.join(BEGUN);
    match OpenOptions::new().create_new(true).write(true).open(&begun) {
        Ok(mut file) => {
            let written = write!(file, "{}", std::process::id()).and_then(|()| file.sync_all());
            written.map_err(MachineError::file(&begun))?;
            synced(folder).map_err(MachineError::file(folder))?;
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(MachineError::file(&begun)(error)),
    }
    let end = match run(folder, &order, launcher, stop) {
        Ok(end) => end,
        Err(error) => {
            let error = Some(error.to_string());
            End { at: unix_micros(), code: Some(127), signal: None, error }
        }
    };
    let (path, text) = (folder.join(ENDED), serde_json::to_vec(&end).unwrap_or_default());
    // As long as the disk is full, the attempt counts as one that runs.
    while let Err(error) = write_whole(&path, &text) {
        if !folder.exists() {
            return Err(MachineError::File { path, error });
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    Ok(())
}

/// Runs the program by a launcher, which becomes the program when its process number is on the disk. So a program never
/// runs without a trace.
fn run(folder: &Path, order: &Order, launcher: &[String], stop: &AtomicBool) -> io::Result<End> {
    let work = &order.work;
    let (program, arguments) = launcher.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .arg(std::process::id().to_string())
        .arg(folder)
        .current_dir(folder)
        .env("HAGGLE_JOB", work.key.job.0.to_string())
        .env("HAGGLE_NAME", &work.name)
        .env("HAGGLE_PROCESSORS", work.processors.to_string())
        .stdin(Stdio::null())
        .stdout(File::create(folder.join("output"))?)
        .stderr(File::create(folder.join("errors"))?)
        .process_group(0);
    let mut child = command.spawn()?;
    let id = child.id();
    let group = Pid::from_raw(id.cast_signed());
    if let Err(error) =
        write_whole(&folder.join(PROGRAM), started(id).unwrap_or_default().as_bytes())
    {
        // It has not become the program yet.
        let _ = killpg(group, Signal::SIGKILL);
        let _ = child.wait();
        return Err(error);
    }
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let status = child.wait();
        // The receiver waits until then.
        let _ = tell.send((unix_micros(), status));
    });
    let mut asked: Option<Instant> = None;
    loop {
        if let Ok((at, status)) = told.recv_timeout(Duration::from_millis(20)) {
            // Processes that it has left behind end with it.
            let _ = killpg(group, Signal::SIGKILL);
            let status = status?;
            let error = fs::read_to_string(folder.join(REFUSED)).ok();
            return Ok(End { at, code: status.code(), signal: status.signal(), error });
        }
        // An error says that the program has ended meanwhile.
        if asked.is_some_and(|since| since.elapsed() > GRACE) {
            let _ = killpg(group, Signal::SIGKILL);
        } else if asked.is_none() && stop.load(Ordering::Relaxed) {
            asked = Some(now());
            let _ = killpg(group, Signal::SIGTERM);
        }
    }
}

/// Becomes the program in the folder of an attempt, when its supervisor has written its process number down. `supervisor`
/// is the process number of the supervisor.
///
/// # Errors
/// If the program cannot be started. The reason is also in a file, for the supervisor.
pub fn launch(folder: &Path, supervisor: u32) -> Result<(), MachineError> {
    // The program ends with its supervisor, also if that is killed.
    let _ = set_pdeathsig(Signal::SIGKILL);
    let order = Order::read(folder)?;
    let own = started(std::process::id()).ok_or(MachineError::Stopped)?;
    while fs::read_to_string(folder.join(PROGRAM)).ok().as_ref() != Some(&own) {
        if parent_id() != supervisor {
            return Err(MachineError::Stopped);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let words = &order.work.command;
    let program = words.first().cloned().unwrap_or_default();
    let mut command = Command::new(&program);
    command.args(words.iter().skip(1));
    let error = match order.limits.set() {
        Ok(()) => command.exec(),
        Err(error) => error,
    };
    // A full disk leaves the reason to the exit code alone.
    let _ = fs::write(folder.join(REFUSED), error.to_string());
    Err(MachineError::NoProgram { program, error })
}

impl Limits {
    fn set(&self) -> io::Result<()> {
        let limits = [
            (Resource::RLIMIT_AS, self.memory_mib.map(|it| it.saturating_mul(1 << 20))),
            (Resource::RLIMIT_CPU, self.cpu_seconds),
            (Resource::RLIMIT_FSIZE, self.file_mib.map(|it| it.saturating_mul(1 << 20))),
        ];
        for (resource, limit) in limits {
            if let Some(limit) = limit {
                setrlimit(resource, limit, limit)?;
            }
        }
        Ok(())
    }
}

/// A process number with the start of the process, so that a number that is used again is another process.
pub(super) fn started(id: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name of the program may have blanks and brackets; the 20th field behind it is the start.
    let start = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
    Some(format!("{id} {start}"))
}
