//! The ends of attempts, and their records.

use std::sync::Arc;

use haggle_grids::Sharing;
use haggle_model::AttemptOutcome;
use haggle_model::grid::{AttemptRecord, ResourceAccount};
use haggle_model::work::Work;
use haggle_model::{JobId, Observation, Span, Time};

use super::{GridResource, Replica, Stage};
use crate::Outbox;
use crate::protocol::{DataMessage, DispatchMessage, GridTimer};

impl GridResource {
    /// Records the end of an attempt that gave its slot back at `left` and was over at `end`.
    pub(super) fn record(
        &mut self,
        job: JobId,
        (left, end): (Time, Time),
        outcome: AttemptOutcome,
        done: Work,
        out: &mut Outbox,
    ) {
        // No other attempt needs the checkpoints of completed or unfinished attempts.
        if !matches!(outcome, AttemptOutcome::Completed | AttemptOutcome::Unfinished) {
            self.tell(job, out);
        }
        let mut replica = self.replicas.remove(&job).expect("it is taken down once");
        if !self.rules.records_all {
            // Another attempt can start only from a checkpoint that is available.
            replica.checkpoints.retain(|(_, it)| it.available.is_some());
        }
        let Replica { number, parent, from, dispatched, started, computing, writing, .. } =
            *replica;
        out.observe(Observation::AttemptOver(Arc::new(AttemptRecord {
            job,
            number,
            resource: self.provider(),
            from,
            parent,
            dispatched,
            started,
            left,
            end,
            outcome,
            done,
            computing,
            writing,
            written: replica.written,
            available: replica.available,
            checkpoints: replica.checkpoints.into_iter().map(|(_, record)| record).collect(),
            omitted: replica.omitted,
            kept: replica.kept.map(Box::new),
            data: replica.moved,
        })));
    }

    /// Records the end of an attempt that gave its slot back before it was over.
    pub(super) fn record_left(
        &mut self,
        now: Time,
        job: JobId,
        outcome: AttemptOutcome,
        out: &mut Outbox,
    ) {
        let replica = &self.replicas[&job];
        let left = replica.left.expect("it is leaving");
        let done = replica.leaving_with().expect("it is leaving");
        self.record(job, (left, now), outcome, done, out);
    }

    /// Records the end of an attempt in any stage. `done` is the machine's value for an attempt
    /// that held a slot.
    fn end(
        &mut self,
        now: Time,
        job: JobId,
        outcome: AttemptOutcome,
        done: Option<Work>,
        out: &mut Outbox,
    ) {
        self.abort_transfers(now, job, out);
        // Timers depend on the stage, which is still that of the attempt here.
        self.stop_timers(job, out);
        let storage = self.rules.home.storage;
        let replica = self.replicas.get_mut(&job).expect("it is taken down once");
        match replica.stage {
            Stage::Waiting | Stage::Expected => {}
            Stage::Computing => replica.computing += now - replica.since,
            Stage::Writing(_) => replica.writing += now - replica.since,
            Stage::Leaving(_) => return self.record_left(now, job, outcome, out),
            Stage::Output => {
                let (left, length) = (replica.since, replica.length);
                let bytes = replica.data.output;
                if let Some(storage) = storage
                    && outcome != AttemptOutcome::Unfinished
                {
                    out.send(storage, DataMessage::RoomUnused { job, bytes });
                }
                return self.record(job, (left, now), outcome, length, out);
            }
        }
        // A job without a slot has computed nothing beyond its start.
        let done = done.unwrap_or(replica.from);
        self.record(job, (now, now), outcome, done, out);
    }

    /// Stops all timers of a job.
    fn stop_timers(&mut self, job: JobId, out: &mut Outbox) {
        match self.replicas[&job].stage {
            Stage::Waiting => {
                self.stop(GridTimer::Prepared { job }, out);
                self.stop(GridTimer::Recovered { job }, out);
            }
            Stage::Computing => self.stop(GridTimer::CheckpointDue { job }, out),
            Stage::Writing(_) | Stage::Leaving(_) => self.stop(GridTimer::Written { job }, out),
            Stage::Expected | Stage::Output => {}
        }
    }

    pub(super) fn on_cancel(&mut self, now: Time, job: JobId, out: &mut Outbox) {
        self.dead.remove(&job);
        if self.replicas.contains_key(&job) {
            let done = self.machine.release(now, job);
            self.end(now, job, AttemptOutcome::Cancelled, done, out);
        }
    }

    /// The data from which a job should start are at a resource that has failed.
    pub(super) fn on_stranded(&mut self, now: Time, number: u32, out: &mut Outbox) {
        // The transfer was aborted in the same instant.
        let Some((job, _)) = self.transfers.remove(&number) else { return };
        let done = self.machine.release(now, job);
        self.end(now, job, AttemptOutcome::Stranded, done, out);
        out.send(self.rules.home.dispatcher, DispatchMessage::Stranded { job });
    }

    /// The resource fails under all its jobs.
    pub(super) fn lose_all(&mut self, now: Time, out: &mut Outbox) {
        let mut lost = Vec::new();
        self.machine.fail(now, &mut lost);
        for (job, done) in lost {
            self.bury(job, done);
            self.end(now, job, AttemptOutcome::Failed, Some(done), out);
        }
        // Jobs that have left the machine are lost, too, while their progress is on its way.
        let replicas = self.replicas.iter();
        let leaving = replicas.filter_map(|(&job, replica)| Some((job, replica.leaving_with()?)));
        for (job, done) in leaving.collect::<Vec<_>>() {
            self.bury(job, done);
            self.end(now, job, AttemptOutcome::Failed, None, out);
        }
        // The remaining jobs have been computed, and their outputs are still here.
        if !self.rules.output_survives {
            // From the first on, because ending an attempt changes the list.
            while let Some((&job, replica)) = self.replicas.first() {
                let length = replica.length;
                self.bury(job, length);
                self.end(now, job, AttemptOutcome::Failed, None, out);
            }
        }
        // Only if jobs move do other resources fetch data from here.
        if self.rules.moves {
            let node = self.node();
            out.send(self.rules.home.network, DataMessage::NodeFailed { node });
        }
    }

    /// Keeps the progress of a job that died here.
    fn bury(&mut self, job: JobId, done: Work) {
        if self.rules.asks_progress {
            self.dead.insert(job, done);
        }
    }

    pub(super) fn on_run_over(&mut self, now: Time, out: &mut Outbox) {
        while let Some((&job, _)) = self.replicas.first() {
            let done = self.machine.release(now, job);
            self.end(now, job, AttemptOutcome::Unfinished, done, out);
        }
        let usage = self.machine.usage(now);
        let open = self.down_since.map_or(Span::ZERO, |since| now - since);
        out.observe(Observation::ResourceAccount(Box::new(ResourceAccount {
            resource: self.provider(),
            down: self.down + open,
            failures: self.history.failures(),
            busy: usage.busy,
            full: usage.full,
            held: usage.held,
            reserved: match self.machine.sharing() {
                Sharing::Equal { .. } => None,
                Sharing::Reserved { .. } => Some(usage.reserved),
            },
            processed: usage.processed,
            attempts: self.attempts,
            data: self.deliveries.data(),
            flows: self.deliveries.flows(self.provider()),
        })));
    }
}
