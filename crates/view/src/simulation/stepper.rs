//! The thread of a simulation: it takes steps one after the other, and shows its state between them.
//!
//! ```text
//! requests ── Aim ──> thread with a Walk ── Moment ──> answers
//! ```
//!
//! A request never waits for a step. A step goes on when its client goes away, and ends early when it is stopped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use haggle_agents::Glimpse;
use haggle_model::{ActorId, Cast, Time};
use tokio::sync::watch;

use super::past::Past;
use super::until::Until;
use super::walk::{Script, Stop, Walk, WalkError};
use crate::Refusal;

/// Least time between two states that a running step shows.
const SHOWN_EVERY: Duration = Duration::from_millis(100);

/// A state is shown at most for this part of the time.
const SHOWN_PART: u32 = 10;

/// Time for which an answer about an actor waits for the thread.
const PATIENCE: Duration = Duration::from_secs(10);

/// The error of a simulation whose thread has ended.
const GONE: &str = "the simulation has ended by a mistake in haggle";

/// Version of the first state.
const FIRST: u64 = 1;

/// Aim of the thread.
pub(crate) enum Aim {
    /// A step forward.
    Forward(Until),
    /// Back to the state after so many messages.
    Back(u64),
    /// Back to the state after all messages up to a time.
    BackTo(Time),
}

/// A request to the thread.
enum Request {
    Go(Aim),
    Look(ActorId, Sender<Option<Glimpse>>),
}

/// State of a simulation in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Phase {
    /// It waits for a step.
    Paused,
    /// A step goes on.
    Running,
    /// The run is over.
    Over,
    /// The run cannot continue.
    Failed,
}

/// A state that is shown.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    /// Grows with each state.
    pub(crate) version: u64,
    pub(crate) past: Past,
    pub(crate) now: Time,
    pub(crate) next: Option<Time>,
    pub(crate) number: u64,
    pub(crate) phase: Phase,
    pub(crate) stopped_by: Option<String>,
    pub(crate) error: Option<String>,
    /// Numbers of conditions, by the order of their list; empty while a step goes on.
    pub(crate) measures: Vec<Option<f64>>,
}

/// A simulation on a thread of its own.
#[derive(Debug)]
pub(crate) struct Stepper {
    requests: Mutex<Sender<Request>>,
    shown: Arc<Shown>,
    pub(crate) cast: Arc<Cast>,
}

/// State that is shown, and the flag that the thread reads.
#[derive(Debug)]
struct Shown {
    /// Its phase also tells whether a step may begin: a step that was requested goes on.
    moment: Mutex<Arc<Moment>>,
    versions: watch::Sender<u64>,
    stop: AtomicBool,
}

impl Shown {
    fn moment(&self) -> Arc<Moment> {
        Arc::clone(&self.moment.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Shows the next state, unless `next` refuses the present one. Returns its version.
    fn show<E>(&self, next: impl FnOnce(&Moment) -> Result<Moment, E>) -> Result<u64, E> {
        let mut shown = self.moment.lock().unwrap_or_else(PoisonError::into_inner);
        let version = shown.version + 1;
        *shown = Arc::new(Moment { version, ..next(&shown)? });
        self.versions.send_replace(version);
        Ok(version)
    }

    fn replace(&self, moment: Moment) {
        let shown: Result<u64, std::convert::Infallible> = self.show(|_| Ok(moment));
        shown.unwrap_or_else(|never| match never {});
    }
}

impl Stepper {
    /// Starts a simulation, paused before its first message.
    pub(crate) fn start(script: Script) -> Result<Stepper, WalkError> {
        let (requests, taken) = mpsc::channel();
        let (begun, first) = mpsc::channel();
        let thread = thread::Builder::new().name("simulation".to_owned());
        // A simulation stays on the thread that builds it.
        let started = thread.spawn(move || match Walk::new(script) {
            Err(error) => {
                let _ = begun.send(Err(error));
            }
            Ok(walk) => {
                let cast = Arc::clone(walk.cast());
                let moment = moment_of(&walk, Phase::Paused, None);
                let shown = Arc::new(Shown {
                    moment: Mutex::new(Arc::new(moment)),
                    versions: watch::Sender::new(FIRST),
                    stop: AtomicBool::new(false),
                });
                if begun.send(Ok((Arc::clone(&shown), cast))).is_ok() {
                    Worker { walk, shown, taken }.work();
                }
            }
        });
        started.map_err(WalkError::Thread)?;
        let (shown, cast) = first.recv().map_err(|_| WalkError::Panicked)??;
        Ok(Stepper { requests: Mutex::new(requests), shown, cast })
    }

    /// The state that is shown now.
    pub(crate) fn moment(&self) -> Arc<Moment> {
        self.shown.moment()
    }

    /// The version of the state, and of all later ones.
    pub(crate) fn versions(&self) -> watch::Receiver<u64> {
        self.shown.versions.subscribe()
    }

    /// Begins a step from a state that may be shown: `aim` gives its aim for the present state. Returns the version of
    /// the state in which the step goes on, which is shown from now on.
    pub(crate) fn go(
        &self,
        aim: impl FnOnce(&Moment) -> Result<Aim, Refusal>,
    ) -> Result<u64, Refusal> {
        // The state is shown and the request is sent in one piece, so of several requests one begins a step.
        self.shown.show(|now| {
            if now.phase == Phase::Running {
                return Err(Refusal::conflict("a step goes on", "wait for its end, or stop it"));
            }
            let aim = aim(now)?;
            self.shown.stop.store(false, Ordering::Release);
            self.send(Request::Go(aim))?;
            let phase = Phase::Running;
            Ok(Moment { phase, stopped_by: None, measures: Vec::new(), ..now.clone() })
        })
    }

    /// The same with an aim that fits each state.
    #[cfg(test)]
    pub(crate) fn set_out(&self, aim: Aim) -> Result<u64, Refusal> {
        self.go(|_| Ok(aim))
    }

    /// Ends the step that goes on, if one does.
    pub(crate) fn stop(&self) {
        self.shown.stop.store(true, Ordering::Release);
    }

    /// The present knowledge of an actor; `None` = it has left after the end of the run.
    pub(crate) fn look(&self, actor: ActorId) -> Result<Option<Glimpse>, Refusal> {
        let (answer, answered) = mpsc::channel();
        self.send(Request::Look(actor, answer))?;
        answered.recv_timeout(PATIENCE).map_err(|_| {
            Refusal::conflict(
                "the simulation is busy with a long message",
                "ask again, or stop the step",
            )
        })
    }

    fn send(&self, request: Request) -> Result<(), Refusal> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.send(request).map_err(|_| Refusal::conflict(GONE, "open the scenario again"))
    }
}

impl Drop for Stepper {
    fn drop(&mut self) {
        // The thread ends as soon as its step does, because nobody can send requests any more.
        self.stop();
    }
}

/// The thread's part.
struct Worker {
    walk: Walk,
    shown: Arc<Shown>,
    taken: Receiver<Request>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A state that goes on for ever would be wrong.
        if thread::panicking() {
            let failed: Result<u64, std::convert::Infallible> = self.shown.show(|last| {
                let error = Some(GONE.to_owned());
                Ok(Moment { phase: Phase::Failed, next: None, error, ..last.clone() })
            });
            failed.unwrap_or_else(|never| match never {});
        }
    }
}

impl Worker {
    fn work(mut self) {
        while let Ok(request) = self.taken.recv() {
            match request {
                Request::Look(actor, answer) => {
                    let _ = answer.send(self.walk.simulation().glimpse(actor));
                }
                Request::Go(aim) => {
                    let stop = self.go(aim);
                    let (phase, words) = phase_of(&self.walk, stop);
                    self.shown.replace(moment_of(&self.walk, phase, words));
                }
            }
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "decides when pages see a state, never the state"
    )]
    fn go(&mut self, aim: Aim) -> Stop {
        let back = |done: Result<(), WalkError>| match done {
            Ok(()) => Stop::Reached("the simulation went back".to_owned()),
            Err(error) => Stop::Failed(error.to_string()),
        };
        match aim {
            Aim::Back(number) => back(self.walk.go_back(number)),
            Aim::BackTo(time) => back(self.walk.go_back_to(time)),
            Aim::Forward(until) => {
                let Worker { walk, shown, taken } = self;
                let mut due = Instant::now() + SHOWN_EVERY;
                walk.step(until, &mut |walk| {
                    while let Ok(request) = taken.try_recv() {
                        if let Request::Look(actor, answer) = request {
                            let _ = answer.send(walk.simulation().glimpse(actor));
                        }
                    }
                    if due <= Instant::now() {
                        let begun = Instant::now();
                        shown.replace(moment_of(walk, Phase::Running, None));
                        due = Instant::now() + SHOWN_EVERY.max(begun.elapsed() * SHOWN_PART);
                    }
                    !shown.stop.load(Ordering::Acquire)
                })
            }
        }
    }
}

/// The phase after a step, and the reason why it ended.
fn phase_of(walk: &Walk, stop: Stop) -> (Phase, Option<String>) {
    let words = match stop {
        Stop::Reached(words) => Some(words),
        Stop::Stopped => Some("the step was stopped".to_owned()),
        Stop::Over => Some("the run is over".to_owned()),
        Stop::Failed(error) if walk.failed().is_none() => Some(error),
        Stop::Failed(_) => None,
    };
    let phase = match (walk.failed(), walk.next()) {
        (Some(_), _) => Phase::Failed,
        (None, None) => Phase::Over,
        (None, Some(_)) => Phase::Paused,
    };
    (phase, words)
}

/// The present state. A state that replaces another one gets a later version.
fn moment_of(walk: &Walk, phase: Phase, stopped_by: Option<String>) -> Moment {
    let past = walk.past();
    let measures = match phase {
        Phase::Running => Vec::new(),
        _ => walk.measures().all(&past),
    };
    Moment {
        version: FIRST,
        now: walk.now(),
        next: walk.next(),
        number: walk.number(),
        phase,
        stopped_by,
        error: walk.failed().map(str::to_owned),
        measures,
        past,
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::Path;

    use haggle_runtime::Driver;
    use haggle_scenario::{Experiment, Logs, Source};

    use super::*;

    #[test]
    fn a_simulation_whose_thread_panics_has_failed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let source = Source::read(&folder.join("quickstart.toml")).expect("a scenario");
        let experiment = Experiment::read(source, Logs::MustExist).expect("it is valid");
        let scenario = experiment.runs().next().expect("a run").scenario();
        let walk = Walk::new(Script { scenario, folder, driver: Driver::Sequential });
        let walk = walk.expect("a world");
        let shown = Arc::new(Shown {
            moment: Mutex::new(Arc::new(moment_of(&walk, Phase::Running, None))),
            versions: watch::Sender::new(FIRST),
            stop: AtomicBool::new(false),
        });
        let worker = Worker { walk, shown: Arc::clone(&shown), taken: mpsc::channel().1 };
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _worker = worker;
            panic!("as a mistake in haggle would");
        }));
        assert!(panicked.is_err());
        let moment = shown.moment();
        assert_eq!((moment.phase, moment.version), (Phase::Failed, FIRST + 1));
        assert_eq!(moment.error.as_deref(), Some(GONE));
    }
}
