//! Programs as processes on the machine of the node, each with a supervisor of its own.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use super::supervisor::{BEGUN, ENDED, End, GRACE, LOCK, Order, PROGRAM, WORK, started};
use super::{Limits, Machine, MachineError, Site, State, Work, now};
use crate::core::WorkKey;
use crate::durable::{synced, write_whole};

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
    children: BTreeMap<WorkKey, Child>,
    /// Times at which supervisors were asked to stop.
    asked: BTreeMap<WorkKey, Instant>,
}

impl Local {
    /// The machine with the attempts of earlier processes.
    pub(super) fn open(
        site: &Site<'_>,
        limits: Limits,
        before: Vec<String>,
    ) -> Result<Local, MachineError> {
        let folder = site.folder.clone();
        let open = orders(&folder)?.into_iter().map(|work| (work.key, work.name)).collect();
        let (children, asked) = (BTreeMap::new(), BTreeMap::new());
        let supervisor = site.supervisor.clone();
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
    fn supervise(&mut self, key: WorkKey, name: &str) -> Result<(), MachineError> {
        let Some((program, arguments)) = self.supervisor.split_first() else { return Ok(()) };
        let child = Command::new(program)
            .args(arguments)
            .arg(self.folder.join(name))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let failed = |error| MachineError::NoProgram { program: program.clone(), error };
        self.children.insert(key, child.map_err(failed)?);
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

/// The attempts in a folder, which is made if it does not exist.
pub(super) fn orders(folder: &Path) -> Result<Vec<Work>, MachineError> {
    fs::create_dir_all(folder).map_err(MachineError::file(folder))?;
    let mut orders = Vec::new();
    for entry in fs::read_dir(folder).map_err(MachineError::file(folder))? {
        let path = entry.map_err(MachineError::file(folder))?.path().join(WORK);
        // A folder without an order is one in which nothing was started.
        let Ok(text) = fs::read(&path) else { continue };
        match serde_json::from_slice::<Order>(&text) {
            Ok(order) => orders.push(order.work),
            Err(error) => {
                tracing::warn!(file = %path.display(), %error, "an attempt is left out");
            }
        }
    }
    Ok(orders)
}

/// Writes an attempt down, so that later processes know it.
pub(super) fn note(folder: &Path, order: &Order) -> Result<(), MachineError> {
    let of_attempt = folder.join(&order.work.name);
    let note = || {
        fs::create_dir_all(&of_attempt)?;
        write_whole(&of_attempt.join(WORK), &serde_json::to_vec(order).unwrap_or_default())?;
        synced(folder)
    };
    note().map_err(MachineError::file(&of_attempt))
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
        let processors = work.processors.to_string();
        let before = self.before.iter().map(|word| word.replace("{processors}", &processors));
        let command = before.chain(work.command.iter().cloned()).collect();
        let order = Order { work: Work { command, ..work.clone() }, limits: self.limits };
        note(&self.folder, &order)?;
        self.supervise(work.key, &work.name)?;
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
        self.children.retain(|_, child| matches!(child.try_wait(), Ok(None)));
        let mut states = BTreeMap::new();
        let mut waiting = Vec::new();
        for (&key, name) in &self.open {
            let state = self.state(name)?;
            let has_begun = || self.folder.join(name).join(BEGUN).exists();
            if state == State::Running && !self.children.contains_key(&key) && !has_begun() {
                waiting.push((key, name.clone()));
            }
            states.insert(key, state);
        }
        // Their supervisors ended before they began, such as by a loss of power.
        for (key, name) in waiting {
            self.supervise(key, &name)?;
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
