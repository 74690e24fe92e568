//! Programs as processes on the machine of the node, each with a supervisor of its own.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use super::supervisor::{
    BEGUN, ENDED, End, GRACE, LOCK, Order, PROGRAM, WORK, now, started, synced, write_whole,
};
use super::{Limits, Machine, MachineError, State, Work};
use crate::core::WorkKey;

/// The machine of the node itself.
pub(super) struct Local {
    folder: PathBuf,
    supervisor: Vec<String>,
    limits: Limits,
    /// Words before each program; `{processors}` is the number of its processors.
    before: Vec<String>,
    /// Attempts whose ends are unknown, with the names of their folders.
    open: BTreeMap<WorkKey, String>,
    /// Supervisors that this process has started.
    children: Vec<Child>,
    /// Times at which supervisors were asked to stop.
    asked: BTreeMap<WorkKey, Instant>,
}

impl Local {
    /// The machine with the attempts of earlier processes.
    pub(super) fn open(
        folder: &Path,
        supervisor: Vec<String>,
        limits: Limits,
        before: Vec<String>,
    ) -> Result<Local, MachineError> {
        fs::create_dir_all(folder).map_err(MachineError::file(folder))?;
        let mut open = BTreeMap::new();
        for (name, work) in orders(folder)? {
            open.insert(work.key, name);
        }
        let (folder, children) = (folder.to_owned(), Vec::new());
        let asked = BTreeMap::new();
        Ok(Local { folder, supervisor, limits, before, open, children, asked })
    }

    fn state(&self, name: &str) -> Result<State, MachineError> {
        let folder = self.folder.join(name);
        if let Some(state) = ended(&folder)? {
            return Ok(state);
        }
        // Before it begins, a supervisor must find its lock free.
        if !folder.join(BEGUN).exists() {
            return Ok(if folder.join(WORK).exists() { State::Running } else { State::Lost });
        }
        let path = folder.join(LOCK);
        let Ok(lock) = File::open(&path) else { return Ok(State::Lost) };
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(State::Running),
            Err(TryLockError::Error(error)) => return Err(MachineError::file(&path)(error)),
            Ok(()) => {}
        }
        // It may have ended between the two looks.
        if let Some(state) = ended(&folder)? {
            return Ok(state);
        }
        end_orphan(&folder);
        Ok(State::Lost)
    }

    /// Starts the supervisor of an attempt. It does nothing if another one is there, or has been.
    fn supervise(&mut self, name: &str) -> Result<(), MachineError> {
        let Some((program, arguments)) = self.supervisor.split_first() else { return Ok(()) };
        let child = Command::new(program)
            .args(arguments)
            .arg(self.folder.join(name))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let failed = |error| MachineError::NoProgram { program: program.clone(), error };
        self.children.push(child.map_err(failed)?);
        Ok(())
    }
}

/// Stops a program whose supervisor has ended without a word.
fn end_orphan(folder: &Path) {
    let Ok(text) = fs::read_to_string(folder.join(PROGRAM)) else { return };
    let id = text.split(' ').next().and_then(|it| it.parse::<i32>().ok());
    let Some(id) = id.filter(|&it| it > 1) else { return };
    if started(id.cast_unsigned()).as_deref() == Some(text.as_str()) {
        tracing::warn!(folder = %folder.display(), "a program without its supervisor is stopped");
        // An error says that it has ended meanwhile.
        let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
    }
}

/// The attempts in a folder, by the names of their folders.
pub(super) fn orders(folder: &Path) -> Result<BTreeMap<String, Work>, MachineError> {
    let mut orders = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(MachineError::file(folder))? {
        let path = entry.map_err(MachineError::file(folder))?.path().join(WORK);
        // A folder without an order is one in which nothing was started.
        let Ok(text) = fs::read(&path) else { continue };
        let Ok(order) = serde_json::from_slice::<Order>(&text) else {
            tracing::warn!(file = %path.display(), "an attempt cannot be read: it is left out");
            continue;
        };
        orders.insert(order.work.name.clone(), order.work);
    }
    Ok(orders)
}

/// The end of an attempt, if it is known.
fn ended(folder: &Path) -> Result<Option<State>, MachineError> {
    let path = folder.join(ENDED);
    let Ok(text) = fs::read(&path) else { return Ok(None) };
    let Ok(End { at, code, error, .. }) = serde_json::from_slice(&text) else {
        tracing::warn!(file = %path.display(), "the end of a program cannot be read");
        return Ok(Some(State::Lost));
    };
    Ok(Some(State::Ended { at, code, error }))
}

impl Machine for Local {
    fn start(&mut self, work: &Work) -> Result<(), MachineError> {
        let folder = self.folder.join(&work.name);
        fs::create_dir_all(&folder).map_err(MachineError::file(&folder))?;
        let processors = work.processors.to_string();
        let before = self.before.iter().map(|word| word.replace("{processors}", &processors));
        let command = before.chain(work.command.iter().cloned()).collect();
        let order = Order { work: Work { command, ..work.clone() }, limits: self.limits };
        write_whole(&folder.join(WORK), &serde_json::to_vec(&order).unwrap_or_default())?;
        synced(&self.folder)?;
        self.supervise(&work.name)?;
        self.open.insert(work.key, work.name.clone());
        Ok(())
    }

    fn stop(&mut self, key: WorkKey) -> Result<(), MachineError> {
        let Some(name) = self.open.get(&key) else { return Ok(()) };
        if self.state(name)? != State::Running {
            return Ok(());
        }
        let folder = self.folder.join(name);
        let id = fs::read_to_string(folder.join(BEGUN)).unwrap_or_default();
        // Without a number it has not begun yet; the attendant asks again.
        let Some(id) = id.parse::<i32>().ok().filter(|&it| it > 1) else { return Ok(()) };
        let since = *self.asked.entry(key).or_insert_with(now);
        // An error of a signal says that the process has ended meanwhile.
        if since.elapsed() > GRACE * 2 {
            tracing::warn!(folder = %folder.display(), "a supervisor does not answer: it ends");
            let _ = kill(Pid::from_raw(id), Signal::SIGKILL);
            end_orphan(&folder);
        } else if since.elapsed() < Duration::from_millis(500) {
            // A second signal would end the supervisor before its program.
            let _ = kill(Pid::from_raw(id), Signal::SIGTERM);
        }
        Ok(())
    }

    fn look(&mut self) -> Result<BTreeMap<WorkKey, State>, MachineError> {
        self.children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        let mut states = BTreeMap::new();
        let mut waiting = Vec::new();
        for (&key, name) in &self.open {
            let state = self.state(name)?;
            if state == State::Running && !self.folder.join(name).join(BEGUN).exists() {
                waiting.push(name.clone());
            }
            states.insert(key, state);
        }
        // A supervisor that ended before it began is started again, such as after a loss of power.
        if self.children.is_empty() {
            for name in waiting {
                self.supervise(&name)?;
            }
        }
        self.open.retain(|key, _| states.get(key) == Some(&State::Running));
        self.asked.retain(|key, _| self.open.contains_key(key));
        Ok(states)
    }

    fn interval(&self) -> Duration {
        Duration::from_millis(10)
    }

    fn close(&mut self) -> Result<(), MachineError> {
        Ok(())
    }
}
