//! A node and the real machine of its providers.

use std::collections::BTreeMap;
use std::time::Duration;

use actix::{AsyncContext, Context, Handler};
use haggle_agents::RealWork;
use haggle_model::{Span, Time};
use tracing::{info, warn};

use super::Node;
use crate::core::{Input, WorkEnd, WorkKey};
use crate::keeper::KeeperError;
use crate::machine::{Attendant, Machine, Programs, State, Tally, Work};

/// The real machine of a node.
pub struct Real {
    kind: &'static str,
    programs: Programs,
    /// Before the node begins.
    machine: Option<Box<dyn Machine>>,
    /// From then on.
    attendant: Option<Attendant>,
    /// Starts and ends of attempts up to the last comparison.
    changes: u64,
}

impl Real {
    /// A machine of a kind, and its programs.
    pub fn new(kind: &'static str, machine: Box<dyn Machine>, programs: Programs) -> Real {
        Real { kind, programs, machine: Some(machine), attendant: None, changes: 0 }
    }

    pub(super) fn tally(&self) -> Option<Tally> {
        self.attendant.as_ref().map(Attendant::tally)
    }
}

impl Node {
    /// Programs that ended while no process of the node was there, in order of their ends.
    pub(super) fn ended_meanwhile(&mut self) -> Vec<(Time, WorkEnd)> {
        let Some(machine) = self.real.as_mut().and_then(|it| it.machine.as_mut()) else {
            return Vec::new();
        };
        let states = match machine.look() {
            Ok(states) => states,
            Err(error) => {
                warn!(%error, "the machine does not answer; its news come later");
                return Vec::new();
            }
        };
        let wanted = self.keeper.core().real_work();
        let ended = states.into_iter().filter(|it| wanted.contains_key(&it.0));
        let mut ended = Vec::from_iter(ended.filter_map(|(key, state)| match state {
            State::Running => None,
            State::Ended { at, code, .. } => {
                let failed = code != Some(0);
                Some((self.clock.at(at), WorkEnd { key, lost: false, failed }))
            }
            State::Lost => Some((self.clock.now(), WorkEnd { key, lost: true, failed: false })),
        }));
        for (at, WorkEnd { key, lost, failed }) in &ended {
            let job = key.job.0;
            info!(job, time = %at, lost, failed, "a program ended while the node was down");
        }
        ended.sort_by_key(|(at, end)| (*at, end.key));
        ended
    }

    /// Starts the attendant of the machine.
    pub(super) fn attend(&mut self, context: &mut Context<Self>) -> Result<(), KeeperError> {
        let Some(real) = &mut self.real else { return Ok(()) };
        let Some(machine) = real.machine.take() else { return Ok(()) };
        let node = context.address();
        let tell = move |end| node.do_send(Ended(end));
        real.attendant = Some(Attendant::start(real.kind, machine, tell));
        let mut work = BTreeMap::new();
        if !self.keeper.is_over() {
            // The restart is one of its causes.
            self.sync()?;
            work = self.keeper.core().real_work();
        }
        self.let_run(work);
        Ok(())
    }

    /// The attempts that must run from now on, if they differ from those that run.
    pub(super) fn work_to_run(&mut self) -> Option<BTreeMap<WorkKey, RealWork>> {
        let real = self.real.as_mut()?;
        let attendant = real.attendant.as_ref()?;
        let core = self.keeper.core();
        // Most inputs start and end nothing.
        let before = std::mem::replace(&mut real.changes, core.real_changes());
        if before == real.changes {
            return None;
        }
        let work = core.real_work();
        attendant.differs(&work).then_some(work)
    }

    /// Lets exactly these attempts run.
    pub(super) fn let_run(&mut self, work: BTreeMap<WorkKey, RealWork>) {
        let scale = self.run.scale;
        let Some(Real { programs, attendant: Some(attendant), .. }) = &mut self.real else {
            return;
        };
        let real_time = |span: Span| Duration::try_from_secs_f64(span.as_secs_f64() / scale).ok();
        let work = work.into_iter().map(|(key, work)| {
            let RealWork { job, start, processors, limit } = work;
            let WorkKey { provider, .. } = key;
            let processors = processors.count();
            let name = format!("{}-{}-{}", job.id.0, start.as_micros(), provider.0);
            let command = programs.of(&job, processors, scale);
            let limit = limit.and_then(|limit| real_time(limit - start));
            (key, Work { key, name, command, processors, limit })
        });
        attendant.want(work.collect());
    }

    /// Stops all programs at the end of the run, on a thread that the process waits for.
    pub(super) fn dismiss(&mut self) {
        if let Some(attendant) = self.real.as_mut().and_then(|it| it.attendant.take()) {
            actix::spawn(async move {
                // A thread that panicked has said so itself.
                let _ = tokio::task::spawn_blocking(move || attendant.close()).await;
            });
        }
    }
}

/// A program has ended.
#[derive(actix::Message)]
#[rtype(result = "()")]
struct Ended(WorkEnd);

impl Handler<Ended> for Node {
    type Result = ();

    fn handle(&mut self, Ended(end): Ended, context: &mut Context<Self>) {
        self.attempt(context, |node, context| {
            if node.keeper.is_over() {
                return Ok(());
            }
            let present = node.present()?;
            node.take(&Input::Work { present, end }, context)?;
            node.catch_up(context)
        });
    }
}
