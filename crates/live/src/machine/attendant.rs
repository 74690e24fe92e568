//! The attendant of a machine: it lets exactly those programs run that the provider wants.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tracing::{info, warn};

use super::{Machine, State, Work, now};
use crate::core::{WorkEnd, WorkKey};

/// Time until the second try of a request, and the longest time between two tries.
const AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// Longest time for which the end of a run waits for programs to end.
const LAST: Duration = Duration::from_secs(30);

/// Counts of a machine since the process of its node began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Word of its kind.
    pub kind: String,
    /// Attempts that run, or are handed over.
    pub running: u64,
    /// Programs that ended.
    pub ended: u64,
    /// Programs that ended with another exit code than 0, or by a signal.
    pub failed: u64,
    /// Attempts that were lost.
    pub lost: u64,
    /// Requests that failed.
    pub errors: u64,
}

/// A request to the thread of a machine.
enum Request {
    /// Exactly these attempts run.
    Want(BTreeMap<WorkKey, Work>),
    /// The run is over.
    Close,
}

/// A machine with a thread of its own.
pub struct Attendant {
    requests: mpsc::Sender<Request>,
    thread: Option<JoinHandle<()>>,
    tally: Arc<Mutex<Tally>>,
    wanted: BTreeSet<WorkKey>,
}

impl Attendant {
    /// Starts the thread of a machine. Each end of a wanted attempt is passed to `tell` once.
    pub fn start(
        kind: &str,
        machine: Box<dyn Machine>,
        tell: impl Fn(WorkEnd) + Send + 'static,
    ) -> Attendant {
        let (requests, requested) = mpsc::channel();
        let tally = Arc::new(Mutex::new(Tally { kind: kind.to_owned(), ..Tally::default() }));
        let shared = Arc::clone(&tally);
        let attend = move || {
            let mut attending = Attending {
                machine,
                tell,
                tally: shared,
                wanted: BTreeMap::new(),
                told: BTreeSet::new(),
                stopping: BTreeMap::new(),
                failing: BTreeMap::new(),
                said: String::new(),
                is_first: true,
            };
            attending.run(&requested);
        };
        let thread = Some(std::thread::spawn(attend));
        Attendant { requests, thread, tally, wanted: BTreeSet::new() }
    }

    /// True if other attempts are to run than those of the last request.
    pub fn differs(&self, work: &BTreeMap<WorkKey, haggle_agents::RealWork>) -> bool {
        !work.keys().eq(&self.wanted)
    }

    /// Lets exactly these attempts run. Their causes are durable.
    pub fn want(&mut self, work: BTreeMap<WorkKey, Work>) {
        self.wanted = work.keys().copied().collect();
        // A thread that panicked has said so itself.
        let _ = self.requests.send(Request::Want(work));
    }

    /// Its counts.
    pub fn tally(&self) -> Tally {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops all attempts and gives back all that is held for the run.
    pub fn close(mut self) {
        let _ = self.requests.send(Request::Close);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The state of the thread.
struct Attending<T> {
    machine: Box<dyn Machine>,
    tell: T,
    tally: Arc<Mutex<Tally>>,
    wanted: BTreeMap<WorkKey, Work>,
    /// Wanted attempts that have ended.
    told: BTreeSet<WorkKey>,
    /// Attempts that are being stopped, with their last requests.
    stopping: BTreeMap<WorkKey, Instant>,
    /// Requests that failed, with the time of the next try and the wait after it.
    failing: BTreeMap<WorkKey, (Instant, Duration)>,
    /// The last error, which is not logged again and again.
    said: String,
    is_first: bool,
}

impl<T: Fn(WorkEnd)> Attending<T> {
    fn run(&mut self, requested: &mpsc::Receiver<Request>) {
        // Nothing is compared before it is known what is wanted.
        let Ok(Request::Want(wanted)) = requested.recv() else { return self.close() };
        self.wanted = wanted;
        loop {
            self.attend();
            let mut request = requested.recv_timeout(self.machine.interval());
            while let Ok(Request::Want(wanted)) = request {
                self.wanted = wanted;
                request = requested.try_recv().map_err(|_| RecvTimeoutError::Timeout);
            }
            match request {
                Ok(Request::Close) => return self.close(),
                // The process of the node ends: programs go on, and the next process finds them.
                Err(RecvTimeoutError::Disconnected) => return,
                _ => {}
            }
        }
    }

    /// Compares once. Returns the number of attempts that run; `None` if the machine does not say.
    fn attend(&mut self) -> Option<usize> {
        let states = match self.machine.look() {
            Ok(states) => states,
            Err(error) => {
                self.fail(&error.to_string());
                return None;
            }
        };
        self.told.retain(|key| self.wanted.contains_key(key));
        self.failing.retain(|key, _| self.wanted.contains_key(key));
        self.stopping.retain(|key, _| states.get(key) == Some(&State::Running));
        if std::mem::take(&mut self.is_first) {
            self.list_differences(&states);
        }
        for (&key, state) in &states {
            match (self.wanted.contains_key(&key), state) {
                (true, State::Running) => {}
                (false, State::Running) => self.stop(key),
                (is_wanted, state) => self.over(key, state, is_wanted),
            }
        }
        let missing = self.wanted.keys().filter(|it| !states.contains_key(it));
        let missing = Vec::from_iter(missing.filter(|it| !self.told.contains(it)).copied());
        for key in missing {
            self.start(key);
        }
        let running = states.values().filter(|it| **it == State::Running).count();
        self.count(|tally| tally.running = running as u64);
        Some(running)
    }

    /// Differences after a restart. A wanted attempt that is missing was about to be started; one that is not wanted has
    /// reached its limit or was withdrawn.
    fn list_differences(&self, states: &BTreeMap<WorkKey, State>) {
        for (key, work) in &self.wanted {
            match states.get(key) {
                None => {
                    info!(work = %work.name, "an attempt that the machine does not have starts now")
                }
                Some(State::Running) => info!(work = %work.name, "an attempt goes on"),
                Some(state) => {
                    info!(work = %work.name, ?state, "an attempt ended while the node was down")
                }
            }
        }
        for key in states.iter().filter(|it| *it.1 == State::Running).map(|it| it.0) {
            if !self.wanted.contains_key(key) {
                let job = key.job.0;
                warn!(job, "a program whose attempt is over is stopped");
            }
        }
    }

    fn over(&mut self, key: WorkKey, state: &State, is_wanted: bool) {
        let job = key.job.0;
        let (lost, failed) = match state {
            State::Ended { code, error, .. } => {
                let has_failed = is_wanted && *code != Some(0);
                if has_failed {
                    let reason = match (error, code) {
                        (Some(error), _) => error.clone(),
                        (None, Some(code)) => format!("exit code {code}"),
                        (None, None) => "ended by a signal".to_owned(),
                    };
                    let work = self.wanted.get(&key);
                    let program = work.and_then(|it| it.command.first()).map_or("", String::as_str);
                    let attempt = work.map_or("", |it| it.name.as_str());
                    warn!(
                        job,
                        attempt, program, reason, "a program failed; its job counts as done"
                    );
                }
                self.count(|tally| {
                    tally.ended += 1;
                    tally.failed += u64::from(has_failed);
                });
                (false, has_failed)
            }
            State::Running | State::Lost => {
                warn!(job, "an attempt was lost");
                self.count(|tally| tally.lost += 1);
                (true, false)
            }
        };
        if is_wanted && self.told.insert(key) {
            (self.tell)(WorkEnd { key, lost, failed });
        }
    }

    fn start(&mut self, key: WorkKey) {
        let now = now();
        let wait = self.failing.get(&key).copied();
        if wait.is_some_and(|(due, _)| now < due) {
            return;
        }
        let Some(work) = self.wanted.get(&key) else { return };
        if let Err(error) = self.machine.start(work) {
            let wait = wait.map_or(AGAIN.0, |(_, wait)| (wait * 2).min(AGAIN.1));
            let name = work.name.clone();
            self.failing.insert(key, (now + wait, wait));
            self.fail(&format!("{name}: {error}"));
        } else {
            self.failing.remove(&key);
        }
    }

    fn stop(&mut self, key: WorkKey) {
        let now = now();
        if self.stopping.get(&key).is_some_and(|&since| now < since + AGAIN.0) {
            return;
        }
        self.stopping.insert(key, now);
        if let Err(error) = self.machine.stop(key) {
            self.fail(&error.to_string());
        }
    }

    fn fail(&mut self, error: &str) {
        self.count(|tally| tally.errors += 1);
        if self.said != error {
            warn!(%error, "the machine does not carry out a request; it is made again");
            error.clone_into(&mut self.said);
        }
    }

    fn count(&self, count: impl FnOnce(&mut Tally)) {
        count(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Lets all programs end, and gives back what is held.
    fn close(&mut self) {
        self.wanted.clear();
        self.is_first = false;
        let begun = now();
        loop {
            let running = self.attend();
            if running == Some(0) {
                break;
            }
            if begun.elapsed() > LAST {
                warn!(?running, "programs do not end");
                break;
            }
            std::thread::sleep(self.machine.interval());
        }
        if let Err(error) = self.machine.close() {
            self.fail(&error.to_string());
        }
    }
}
