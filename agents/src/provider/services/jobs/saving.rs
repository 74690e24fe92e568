//! Checkpoints that go over a shared network.
//!
//! The duration of a transfer is unknown beforehand. So an attempt goes on step by step: a timer
//! goes off when the job must stop, and the network reports when its data have arrived.
//!
//! ```text
//!   starts ─ start-up, recovery ─ reads ─┐
//!                                        ▼
//!                       ┌──────────── computes ───────▶ ends
//!                       │                │ a checkpoint is due
//!                     writes ◀─ cost ────┘
//! ```
//!
//! The queue plans as if no transfer slowed another. If an attempt takes longer than planned, its
//! plan is extended at its planned end.

use std::collections::BTreeMap;

use haggle_model::network::Node;
use haggle_model::{ActorId, SentCheckpoint, Span, Time};
use haggle_scheduling::Slot;
use haggle_scheduling::checkpoints::{Checkpoints, Course, Progress};
use serde::{Deserialize, Serialize};

use super::Jobs;
use super::job::{HeldJob, Run};
use crate::Outbox;
use crate::protocol::{DataMessage, Timer, Transfer};
use crate::provider::ProviderConfig;
use crate::provider::core::Turn;

/// The store of the checkpoints of rigid jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointStore {
    /// Network that carries them.
    pub network: ActorId,
    /// Site at which the jobs run.
    pub here: Node,
    /// Site at which they are kept.
    pub there: Node,
    /// True if every checkpoint is recorded; otherwise the last one of an attempt that arrived.
    pub records_all: bool,
}

/// An attempt, and its progress.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Saving {
    course: Course,
    /// Time of start-up, and time of recovery without reading, if it goes on from a checkpoint.
    start_up: Span,
    recovery: Option<Span>,
    /// Time for which it stops for a checkpoint, without writing.
    cost: Span,
    stage: Stage,
    /// Time at which it began to compute, or to stand still.
    since: Time,
    /// Computing before that.
    computed: Span,
    /// The part of that computing that is saved.
    saved: Span,
    /// Time before that in which it did not compute.
    overhead: Span,
    /// Its checkpoints that have arrived: all of them, or the last one.
    sent: Vec<SentCheckpoint>,
    records_all: bool,
}

/// Present activity of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// It starts up and recovers.
    Prepares,
    /// Its last checkpoint is on its way to it, in this transfer.
    Reads(u32),
    /// It computes, for so long until its next checkpoint; `None` = to its end.
    Computes(Option<Span>),
    /// It stops for a checkpoint.
    Stops,
    /// The checkpoint is on its way to its store, in this transfer.
    Writes(u32),
}

/// Next step of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Wait for so long.
    Wait(Span),
    /// Read its checkpoint from its store.
    Read,
    /// Write its checkpoint to its store.
    Write,
    /// Compute to the end, after so much computing.
    Finish(Span),
}

impl Saving {
    /// An attempt that starts now and must compute for `computing`.
    pub(super) fn new(
        now: Time,
        held: &HeldJob,
        checkpoints: &Checkpoints,
        computing: Span,
        config: &ProviderConfig,
    ) -> Saving {
        let rule = config.on_failure.checkpoints();
        Saving {
            course: checkpoints.course(computing),
            start_up: held.particulars().stage_in.start_up,
            recovery: held.resumes().then_some(rule.recovery),
            cost: rule.cost,
            stage: Stage::Prepares,
            since: now,
            computed: Span::ZERO,
            saved: Span::ZERO,
            overhead: Span::ZERO,
            sent: Vec::new(),
            records_all: config.store.is_some_and(|store| store.records_all),
        }
    }

    fn computes(&self) -> bool {
        matches!(self.stage, Stage::Computes(_))
    }

    /// Its progress by now.
    pub(super) fn progress(&self, now: Time) -> Progress {
        let stood = if self.computes() { Span::ZERO } else { now - self.since };
        Progress { saved: self.saved, overhead: self.overhead + stood }
    }

    /// Time that the rest of an attempt needs, planned to compute for `planned`, if no transfer
    /// slows another from now on. A present stop is expected to take as long again as so far, and
    /// the cost of a checkpoint at least. `None` if it has computed as long as planned.
    pub(super) fn left(&self, now: Time, planned: Span, checkpoints: &Checkpoints) -> Option<Span> {
        let since = now - self.since;
        let (computed, standing) = match self.computes() {
            true => (self.computed + since, Span::ZERO),
            false => (self.computed, since.max(checkpoints.cost())),
        };
        let left = Some(planned - computed).filter(|&left| left > Span::ZERO)?;
        Some(standing + checkpoints.lasts(left, false))
    }

    fn begin(&mut self, now: Time) -> Next {
        match self.start_up + self.recovery.unwrap_or(Span::ZERO) {
            Span::ZERO => self.due(now),
            prepares => Next::Wait(prepares),
        }
    }

    /// Its timer has gone off.
    fn due(&mut self, now: Time) -> Next {
        match self.stage {
            Stage::Prepares if self.recovery.is_some() => Next::Read,
            Stage::Computes(step) => {
                self.computed += step.unwrap_or(Span::ZERO);
                (self.stage, self.since) = (Stage::Stops, now);
                if self.cost > Span::ZERO { Next::Wait(self.cost) } else { Next::Write }
            }
            Stage::Stops => Next::Write,
            Stage::Prepares | Stage::Reads(_) | Stage::Writes(_) => self.compute(now),
        }
    }

    /// Its checkpoint has arrived.
    fn carried(&mut self, now: Time) -> Next {
        let stood = now - self.since;
        match self.stage {
            Stage::Writes(_) => {
                self.saved = self.computed;
                if !self.records_all {
                    self.sent.clear();
                }
                self.sent.push(self.checkpoint(Some(now)));
                self.course.stood(stood);
            }
            _ => self.course.stood(stood - self.start_up),
        }
        self.compute(now)
    }

    /// Goes on with computing until the next checkpoint, or to its end.
    fn compute(&mut self, now: Time) -> Next {
        let next = self.course.until_next();
        self.overhead += now - self.since;
        (self.stage, self.since) = (Stage::Computes(next), now);
        next.map_or(Next::Finish(self.computed), Next::Wait)
    }

    /// The checkpoint for which it stands still.
    fn checkpoint(&self, written: Option<Time>) -> SentCheckpoint {
        SentCheckpoint { requested: self.since, written, computing: self.computed }
    }

    /// All checkpoints sent, at its end.
    fn sent(mut self) -> Vec<SentCheckpoint> {
        if self.records_all && matches!(self.stage, Stage::Stops | Stage::Writes(_)) {
            self.sent.push(self.checkpoint(None));
        }
        self.sent
    }

    /// The number of its transfer under way.
    fn number(&self) -> Option<u32> {
        match self.stage {
            Stage::Reads(number) | Stage::Writes(number) => Some(number),
            Stage::Prepares | Stage::Computes(_) | Stage::Stops => None,
        }
    }
}

impl Run {
    /// The checkpoints sent, at the end of the attempt; none if all of them were known beforehand.
    pub(super) fn sent(&mut self) -> Vec<SentCheckpoint> {
        self.saving.take().map_or_else(Vec::new, |saving| saving.sent())
    }
}

/// The transfers of a provider under way, and the jobs that wait for them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Carried {
    /// The number of the next transfer.
    next: u32,
    waits: BTreeMap<u32, Slot>,
}

impl Carried {
    fn add(&mut self, slot: Slot) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.waits.insert(number, slot);
        number
    }

    /// An attempt has lost its processors: its timer is stopped and its transfer aborted.
    pub(super) fn lost(
        &mut self,
        slot: Slot,
        saving: &Saving,
        store: Option<CheckpointStore>,
        out: &mut Outbox,
    ) {
        out.stop(Timer::CheckpointDue { slot: slot.0 });
        if let Some((number, store)) = saving.number().zip(store) {
            self.waits.remove(&number);
            out.send(store.network, DataMessage::AbortTransfer { number });
        }
    }
}

impl Jobs {
    /// An attempt has started whose checkpoints go over a network.
    pub(super) fn begin_saving(&mut self, turn: &mut Turn<'_>, slot: Slot) {
        let now = turn.now;
        self.go_on(turn, slot, |saving| saving.begin(now));
    }

    /// A job has done its start-up or recovery, or has computed until its next checkpoint.
    pub(in crate::provider::services) fn on_checkpoint_due(
        &mut self,
        turn: &mut Turn<'_>,
        slot: Slot,
    ) {
        let now = turn.now;
        self.go_on(turn, slot, |saving| saving.due(now));
    }

    /// A checkpoint has arrived.
    pub(in crate::provider::services) fn on_checkpoint_carried(
        &mut self,
        turn: &mut Turn<'_>,
        number: u32,
    ) -> bool {
        if turn.core.config.store.is_none() {
            return false;
        }
        // A job that lost its processors at this instant does not wait for it any more.
        if let Some(slot) = self.carried.waits.remove(&number) {
            let now = turn.now;
            self.go_on(turn, slot, |saving| saving.carried(now));
        }
        true
    }

    fn go_on(&mut self, turn: &mut Turn<'_>, slot: Slot, step: impl FnOnce(&mut Saving) -> Next) {
        let Some(held) = turn.core.pieces.get_mut::<HeldJob>(slot) else { return };
        let Some(run) = held.run.as_mut() else { return };
        let Some((saving, store)) = run.saving.as_mut().zip(turn.core.config.store) else { return };
        let CheckpointStore { network, here, there, .. } = store;
        let (from, to) = match step(saving) {
            Next::Wait(span) => {
                return turn.out.set(turn.now + span, Timer::CheckpointDue { slot: slot.0 });
            }
            Next::Finish(computed) => {
                let end = turn.now + (run.computing - computed);
                run.attempt.end = end;
                return turn.out.set(end, Timer::RunEnds { slot: slot.0 });
            }
            Next::Read => (there, here),
            Next::Write => (here, there),
        };
        let number = self.carried.add(slot);
        saving.stage = if from == there { Stage::Reads(number) } else { Stage::Writes(number) };
        let volume = turn.core.config.on_failure.checkpoints().volume;
        let bytes = volume.map_or(0, |volume| volume.of(held.processors));
        let transfer = Transfer { number, from, to, bytes };
        turn.out.send(network, DataMessage::TransferCheckpoint(Box::new(transfer)));
    }
}
