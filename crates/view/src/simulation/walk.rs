//! A simulation that goes forward by steps and back by states that were kept.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use haggle_experiment::ExperimentError;
use haggle_experiment::run::unwrap_run_error;
use haggle_experiment::snapshots::of_bytes;
use haggle_experiment::world::{Stage, StageError};
use haggle_model::{ActorId, Cast, JobId, Time};
use haggle_runtime::{Driver, OtherWorld, RunError, Simulation, Step, World};
use haggle_scenario::Scenario;

use super::desk::{Desk, desk, observe};
use super::history::{History, Kept};
use super::layout::Layout;
use super::measures::{self, Measures};
use super::past::Past;
use super::until::{Pattern, Until};
use crate::clock::elapsed;

/// Messages between two looks at the outside: whether to stop, and whether the present state is to be shown.
const INTERVAL: u64 = 16;

/// A scenario that can be simulated again and again.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// The resolved scenario, without a sweep.
    pub(crate) scenario: Scenario,
    /// Folder from which its relative paths start.
    pub(crate) folder: PathBuf,
    /// Delivery of messages.
    pub(crate) driver: Driver,
}

impl Script {
    /// Number of jobs that will ever arrive; `None` = a change adds some later, or they cannot be read.
    pub(crate) fn jobs(&self) -> Option<usize> {
        let (world, _) = self.stage().ok()?;
        if world.changes.iter().any(|change| change.arrivals.is_some()) {
            return None;
        }
        let horizon = world.horizon.unwrap_or(Time::FOREVER);
        let mut jobs = 0;
        for job in world.arrivals.into_iter().flat_map(|(_, jobs)| jobs) {
            // A job at the horizon still arrives.
            jobs += usize::from(job.ok()?.submit <= horizon);
        }
        Some(jobs)
    }

    /// The world at time zero, and its names.
    fn stage(&self) -> Result<(World, Cast), StageError> {
        let Stage { world, cast, .. } = Stage::set(&self.scenario, &self.folder)?;
        Ok((world, cast))
    }
}

/// Reason why a simulation cannot begin or go back.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// The world cannot be built.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The run cannot begin.
    #[error(transparent)]
    Run(Box<ExperimentError>),
    /// An input has changed since the run began.
    #[error("{0}; the files of the scenario may have changed: open it again")]
    OtherWorld(#[from] OtherWorld),
    /// A state that was kept cannot be read: a bug of ours.
    #[error("a state that was kept cannot be read: please report this scenario as a bug")]
    State,
    /// The system gives no thread.
    #[error("there is no thread for the simulation: {0}")]
    Thread(#[source] std::io::Error),
    /// The simulation ended before it began: a bug of ours.
    #[error("the simulation ended before it began: please report this scenario as a bug")]
    Panicked,
}

impl From<RunError> for WalkError {
    fn from(error: RunError) -> WalkError {
        WalkError::Run(Box::new(unwrap_run_error(error)))
    }
}

/// Reason why a step has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The aim was reached; in words.
    Reached(String),
    /// The run is over.
    Over,
    /// Stopped from outside.
    Stopped,
    /// The run cannot continue; in words.
    Failed(String),
}

/// A simulation, the states from which it goes back, and its past.
pub(crate) struct Walk {
    script: Script,
    simulation: Simulation<'static>,
    desk: Rc<RefCell<Desk>>,
    history: History,
    /// Present time: that of the last message, or a later one up to which the last step went.
    now: Time,
    /// Time of the next message; `None` = the run is over, or has failed.
    next: Option<Time>,
    /// The error that ended the run.
    failed: Option<String>,
    cast: Arc<Cast>,
    layout: Arc<Layout>,
}

impl Walk {
    /// The simulation before its first message.
    pub(crate) fn new(script: Script) -> Result<Walk, WalkError> {
        let (world, cast) = script.stage()?;
        let layout = Arc::new(Layout::of(&script.scenario, &cast));
        let cast = Arc::new(cast);
        let mut simulation = Simulation::new(world, script.driver)?;
        let desk = Rc::new(RefCell::new(desk(&cast, &layout)));
        observe(&mut simulation, &desk);
        let mut walk = Walk {
            script,
            now: simulation.now().min(Time::ZERO),
            simulation,
            desk,
            history: History::default(),
            next: None,
            failed: None,
            cast,
            layout,
        };
        walk.peek();
        Ok(walk)
    }

    /// The names of the run.
    pub(crate) fn cast(&self) -> &Arc<Cast> {
        &self.cast
    }

    /// Present time.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// Time of the next message.
    pub(crate) fn next(&self) -> Option<Time> {
        self.next
    }

    /// The error that ended the run.
    pub(crate) fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// Number of messages so far.
    pub(crate) fn number(&self) -> u64 {
        self.simulation.stats().messages
    }

    /// The simulation.
    pub(crate) fn simulation(&self) -> &Simulation<'static> {
        &self.simulation
    }

    /// A copy of the past, with the present knowledge of all machines.
    pub(crate) fn past(&self) -> Past {
        let mut desk = self.desk.borrow_mut();
        desk.listener_mut().look(|actor, time| self.simulation.glimpse_at(actor, time));
        let mut past = desk.listener().clone();
        // All work has its records at the end of the run, also work that ran at the horizon.
        if self.next.is_none() && self.failed.is_none() {
            past.machines = Arc::default();
        }
        past
    }

    /// The sums that conditions use.
    pub(crate) fn measures(&self) -> Measures {
        Measures::of(&self.simulation, self.cast.providers.len() as u32)
    }

    /// Goes forward. `look_out` is called now and then with the walk; the step ends if it returns false.
    pub(crate) fn step(&mut self, until: Until, look_out: &mut dyn FnMut(&Walk) -> bool) -> Stop {
        if let Some(error) = &self.failed {
            return Stop::Failed(error.clone());
        }
        let done = match until {
            Until::Messages(count) => self.messages(count, look_out),
            Until::Instants(count) => self.instants(count, look_out),
            Until::Time(time) => self.time(time, look_out),
            Until::Span(span) => self.time(self.now + span, look_out),
            Until::End => self.each(look_out, |_, _| None),
            Until::State { number, last, now } => self.state((number, last), now, look_out),
            Until::Message(pattern) => {
                let cast = Arc::clone(&self.cast);
                self.each(look_out, |_, step| pattern.fits(step).then(|| told(&cast, step)))
            }
            Until::Ends(job) => self.ends(job, look_out),
            Until::Starts(job) => self.starts(job, look_out),
            Until::Condition(text) => {
                let condition = match measures::condition(&text) {
                    Ok(condition) => condition,
                    Err(mistake) => {
                        return Stop::Reached(format!(
                            "the condition has a mistake: {}",
                            mistake.message
                        ));
                    }
                };
                let mut numbers = self.measures();
                self.each(look_out, |walk, step| {
                    numbers.follow(&walk.simulation, step.to);
                    let desk = walk.desk.borrow();
                    let value = |name: &str| numbers.value(desk.listener(), name);
                    match measures::holds(&condition, value) {
                        Ok(false) => None,
                        Ok(true) => Some(format!("the condition holds: {text}")),
                        Err(mistake) => Some(format!(
                            "the step ended, because the condition is neither true nor false here: {}",
                            mistake.message
                        )),
                    }
                })
            }
        };
        done.unwrap_or_else(|error| {
            let error = WalkError::from(error).to_string();
            self.next = None;
            self.failed = Some(error.clone());
            Stop::Failed(error)
        })
    }

    /// Goes to the state after so many messages, all of which had been delivered before, or at most to the next end
    /// of the run.
    pub(crate) fn go_back(&mut self, number: u64) -> Result<(), WalkError> {
        self.restore(self.history.before(number).cloned())?;
        self.history.forget_after(number);
        self.replay(|walk| walk.number() < number)
    }

    /// Goes to the state after all messages up to a time.
    pub(crate) fn go_back_to(&mut self, time: Time) -> Result<(), WalkError> {
        self.restore(self.history.before_time(time).cloned())?;
        self.history.forget_after(self.number());
        self.replay(|walk| walk.next.is_some_and(|next| next <= time))?;
        self.now = self.now.max(time);
        Ok(())
    }

    /// Takes up a state, or the start of the run.
    fn restore(&mut self, kept: Option<Kept>) -> Result<(), WalkError> {
        let (world, _) = self.script.stage()?;
        let driver = self.script.driver;
        let (mut simulation, desk) = match kept {
            None => (Simulation::new(world, driver)?, desk(&self.cast, &self.layout)),
            Some(kept) => {
                let snapshot = of_bytes(&kept.bytes, &self.script.scenario);
                let snapshot = snapshot.ok_or(WalkError::State)?;
                (Simulation::restore(world, driver, snapshot)?, kept.desk)
            }
        };
        self.desk = Rc::new(RefCell::new(desk));
        observe(&mut simulation, &self.desk);
        self.simulation = simulation;
        self.failed = None;
        self.now = self.simulation.now();
        self.peek();
        Ok(())
    }

    /// Delivers messages while `go_on` is true.
    fn replay(&mut self, go_on: impl Fn(&Walk) -> bool) -> Result<(), WalkError> {
        while go_on(self) {
            self.keep_if_due();
            if self.simulation.step()?.is_none() {
                break;
            }
            self.came();
        }
        Ok(())
    }

    fn messages(
        &mut self,
        count: u64,
        look_out: &mut dyn FnMut(&Walk) -> bool,
    ) -> Result<Stop, RunError> {
        let aim = self.number().saturating_add(count);
        let words = match count {
            1 => "1 message was delivered".to_owned(),
            _ => format!("{count} messages were delivered"),
        };
        self.each(look_out, |walk, _| (walk.number() >= aim).then(|| words.clone()))
    }

    fn instants(
        &mut self,
        count: u64,
        look_out: &mut dyn FnMut(&Walk) -> bool,
    ) -> Result<Stop, RunError> {
        let mut left = count;
        let words = match count {
            1 => "1 instant is over".to_owned(),
            _ => format!("{count} instants are over"),
        };
        self.each(look_out, |walk, step| {
            // An instant is over if the next message is later.
            left -= u64::from(walk.next.is_some_and(|next| next > step.time));
            (left == 0).then(|| words.clone())
        })
    }

    fn time(
        &mut self,
        time: Time,
        look_out: &mut dyn FnMut(&Walk) -> bool,
    ) -> Result<Stop, RunError> {
        let reached = |time: Time| Stop::Reached(format!("the time is {}", words(time)));
        let is_due = |walk: &Walk| walk.next.is_some_and(|next| next <= time);
        if is_due(self) {
            let stop = self.each(look_out, |walk, _| (!is_due(walk)).then(String::new))?;
            if !matches!(stop, Stop::Reached(_)) {
                return Ok(stop);
            }
        }
        if self.next.is_none() {
            return Ok(Stop::Over);
        }
        self.now = self.now.max(time);
        Ok(reached(time))
    }

    /// Goes to the state of the base of a branch: so many messages, none of which is later than a time.
    fn state(
        &mut self,
        (number, last): (u64, Time),
        now: Time,
        look_out: &mut dyn FnMut(&Walk) -> bool,
    ) -> Result<Stop, RunError> {
        let is_reached =
            |walk: &Walk| walk.number() >= number || walk.next.is_none_or(|next| next > last);
        if !is_reached(self) {
            let stop = self.each(look_out, |walk, _| is_reached(walk).then(String::new))?;
            if !matches!(stop, Stop::Reached(_)) {
                return Ok(stop);
            }
        }
        // A base that has stepped to a time is later than its last message.
        self.now = self.now.max(now);
        Ok(Stop::Reached("a branch begins here".to_owned()))
    }

    fn ends(
        &mut self,
        job: JobId,
        look_out: &mut dyn FnMut(&Walk) -> bool,
    ) -> Result<Stop, RunError> {
        self.each(look_out, |walk, _| walk.over(job).map(|_| format!("job {} is over", job.0)))
    }

    fn starts(
        &mut self,
        job: JobId,
        look_out: &mut dyn FnMut(&Walk) -> bool,
    ) -> Result<Stop, RunError> {
        let cast = Arc::clone(&self.cast);
        self.each(look_out, |walk, step| {
            let census = walk.simulation.census(step.to);
            if census.is_some_and(|it| it.running.binary_search(&job).is_ok()) {
                return Some(format!("job {} has started at {}", job.0, name(&cast, step.to)));
            }
            // A job without run time starts and ends in one message.
            walk.over(job).map(|_| format!("job {} is over", job.0))
        })
    }

    fn over(&self, job: JobId) -> Option<Time> {
        self.desk.borrow().listener().job(job)?.over
    }

    /// Delivers messages until `stop` gives a reason.
    fn each(
        &mut self,
        look_out: &mut dyn FnMut(&Walk) -> bool,
        mut stop: impl FnMut(&Walk, &Step) -> Option<String>,
    ) -> Result<Stop, RunError> {
        for turn in 1_u64.. {
            self.keep_if_due();
            let Some(step) = self.simulation.step()? else { break };
            self.came();
            if let Some(error) = self.failed.clone() {
                return Ok(Stop::Failed(error));
            }
            if let Some(reason) = stop(self, &step) {
                return Ok(Stop::Reached(reason));
            }
            if turn.is_multiple_of(INTERVAL) && !look_out(self) {
                return Ok(Stop::Stopped);
            }
        }
        self.came();
        Ok(Stop::Over)
    }

    /// A message has been delivered.
    fn came(&mut self) {
        self.now = self.simulation.now();
        self.peek();
    }

    fn peek(&mut self) {
        match self.simulation.peek() {
            Ok(next) => self.next = next,
            Err(error) => {
                self.next = None;
                self.failed = Some(WalkError::from(error).to_string());
            }
        }
    }

    fn keep_if_due(&mut self) {
        let number = self.number();
        if !self.history.is_due(number) {
            return;
        }
        // An actor of another program that cannot be written leaves the start of the run alone.
        if let Some(bytes) = self.simulation.to_bytes() {
            let (time, desk) = (self.simulation.now(), self.desk.borrow().clone());
            self.history.keep(Kept { number, time, bytes, desk });
        }
    }
}

impl Pattern {
    fn fits(&self, step: &Step) -> bool {
        self.sender.is_none_or(|it| it == step.from)
            && self.receiver.is_none_or(|it| it == step.to)
            && self.kind.is_none_or(|it| it == step.kind)
            && self.job.is_none_or(|it| Some(it) == step.job)
    }
}

/// A time in words.
pub(crate) fn words(time: Time) -> String {
    elapsed(time.as_micros())
}

/// The name of an actor.
pub(crate) fn name(cast: &Cast, actor: ActorId) -> &str {
    cast.actors.get(actor.index()).map_or("", |it| &it.name)
}

fn told(cast: &Cast, step: &Step) -> String {
    let about = step.job.map(|job| format!(" about job {}", job.0)).unwrap_or_default();
    let (from, to) = (name(cast, step.from), name(cast, step.to));
    format!("{from} has sent {} to {to}{about}", step.kind)
}
