//! The end of a node: the run is over, or its process stops.

use std::time::Duration;

use actix::{ActorContext, AsyncContext, Context, Handler};
use tracing::{info, warn};

use super::{Event, Node};
use crate::core::Input;
use crate::ending::{COORDINATOR, Progress};
use crate::hello::{END, ENDED, PROGRESS, control};
use crate::keeper::KeeperError;
use crate::parts::PartId;
use crate::run::Ended;

/// Longest time that the coordinator waits for the other nodes after the end, and they for it.
const PARTING: Duration = Duration::from_secs(30);

/// Time for the last frames of the coordinator to leave its process.
const LAST_WORDS: Duration = Duration::from_millis(100);

impl Node {
    /// Notes the progress for the process around this node.
    pub(super) fn note_progress(&mut self) {
        let host = self.keeper.core().host();
        let (stats, awaits) = (host.stats(), host.awaits_jobs());
        let progress = Progress { jobs: stats.jobs, over: stats.jobs_over, awaits };
        if self.progress != Some(progress) {
            self.progress = Some(progress);
            // Without a process around it, nothing depends on the report.
            let _ = self.events.send(Event::Progress { part: self.part, progress });
        }
    }

    /// Reports the progress to the coordinator. All inputs that led to it are durable.
    pub(super) fn report(&mut self, context: &mut Context<Self>) -> Result<(), KeeperError> {
        let Some(progress) = self.progress.filter(|_| self.reported != self.progress) else {
            return Ok(());
        };
        match &mut self.agreement {
            Some(agreement) => {
                agreement.report(self.part, progress);
                self.reported = Some(progress);
                self.decide(context)
            }
            None if self.connections.contains_key(&COORDINATOR) => {
                let body = postcard::to_stdvec(&progress).expect("memory takes it");
                self.send_control(COORDINATOR, control(PROGRESS, body));
                self.reported = Some(progress);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Ends the run if all jobs are over, or the horizon is reached.
    fn decide(&mut self, context: &mut Context<Self>) -> Result<(), KeeperError> {
        let Some(agreement) = &self.agreement else { return Ok(()) };
        let is_cut = self.run.horizon.is_some_and(|horizon| self.clock.now() > horizon);
        match !self.keeper.is_over() && (agreement.is_over() || is_cut) {
            true => self.end(context),
            false => Ok(()),
        }
    }

    /// Lets the coordinator decide at the horizon.
    pub(super) fn wait_for_horizon(&mut self, context: &mut Context<Self>) {
        let (Some(horizon), Some(_)) = (self.run.horizon, &self.agreement) else { return };
        if self.keeper.is_over() {
            return;
        }
        if self.clock.now() > horizon {
            self.attempt(context, Node::decide);
        } else {
            let wait = self.clock.until(horizon + haggle_model::Span::TICK);
            context.run_later(wait, Node::wait_for_horizon);
        }
    }

    /// Ends the run at this node: there are no further inputs.
    fn end(&mut self, context: &mut Context<Self>) -> Result<(), KeeperError> {
        let present = self.clock.now();
        self.take(&Input::Advance { present }, context)?;
        self.note_progress();
        self.keeper.end()?;
        info!(time = %present, "the run is over");
        self.dismiss();
        self.conclude(context)
    }

    /// Tells the other nodes that the run is over here, and ends after their answers.
    pub(super) fn conclude(&mut self, context: &mut Context<Self>) -> Result<(), KeeperError> {
        for peer in Vec::from_iter(self.connections.keys().copied()) {
            self.greet_for_end(peer, context);
        }
        context.run_later(PARTING, |node, context| {
            warn!("the run is over, but not all nodes have confirmed it");
            node.finish(Ended::Unconfirmed, context);
        });
        if self.agreement.is_some() {
            self.left_by(self.part, context);
        }
        Ok(())
    }

    /// Tells a peer over a new connection that the run is over, and that progress is to be told again.
    pub(super) fn greet_for_end(&mut self, peer: PartId, _: &mut Context<Self>) {
        if peer == COORDINATOR {
            self.reported = None;
        }
        if self.keeper.is_over() {
            match self.agreement {
                Some(_) => self.send_control(peer, control(END, Vec::new())),
                None if peer == COORDINATOR => self.send_control(peer, control(ENDED, Vec::new())),
                None => {}
            }
        }
    }

    /// Takes a frame about the end of the run.
    pub(super) fn take_ending(
        &mut self,
        peer: PartId,
        kind: u16,
        body: &[u8],
        context: &mut Context<Self>,
    ) -> Result<(), KeeperError> {
        match kind {
            PROGRESS => {
                let progress = postcard::from_bytes::<Progress>(body);
                if let (Some(agreement), Ok(progress)) = (&mut self.agreement, progress) {
                    agreement.report(peer, progress);
                    self.decide(context)?;
                }
                Ok(())
            }
            END if peer == COORDINATOR && !self.keeper.is_over() => self.end(context),
            END if peer == COORDINATOR => {
                self.greet_for_end(peer, context);
                Ok(())
            }
            ENDED if self.keeper.is_over() => {
                self.left_by(peer, context);
                Ok(())
            }
            _ => {
                warn!(peer = self.name_of(peer), kind, "a frame that the peer may not send");
                Ok(())
            }
        }
    }

    /// Notes that a node needs nothing from this one any more. The coordinator waits for all nodes, the others for the
    /// coordinator.
    pub(super) fn left_by(&mut self, peer: PartId, context: &mut Context<Self>) {
        let Some(agreement) = &mut self.agreement else {
            if peer == COORDINATOR {
                self.finish(Ended::Complete, context);
            }
            return;
        };
        if agreement.ended(peer) && agreement.open().next().is_none() {
            for peer in Vec::from_iter(self.connections.keys().copied()) {
                self.send_control(peer, control(ENDED, Vec::new()));
            }
            // A node that does not get it finds nobody at its next call.
            context.run_later(LAST_WORDS, |node, context| node.finish(Ended::Complete, context));
        }
    }

    /// Makes everything durable before a stop, so that the next start is quick.
    fn rest(&mut self) -> Result<(), KeeperError> {
        match self.snapshot_every {
            Some(_) => self.keeper.snapshot(),
            None => self.keeper.sync(),
        }
    }

    pub(super) fn finish(&mut self, how: Ended, context: &mut Context<Self>) {
        // Without a process around it, nothing depends on the report.
        let _ = self.events.send(Event::Ended(how));
        context.stop();
    }
}

/// Stops a node, although the run is not over: everything becomes durable.
#[derive(actix::Message)]
#[rtype(result = "()")]
pub struct Stop;

impl Handler<Stop> for Node {
    type Result = ();

    fn handle(&mut self, _: Stop, context: &mut Context<Self>) {
        self.attempt(context, |node, context| {
            if !node.keeper.is_over() {
                node.rest()?;
            }
            let is_over = node.keeper.is_over();
            node.finish(if is_over { Ended::Unconfirmed } else { Ended::Stopped }, context);
            Ok(())
        });
    }
}
