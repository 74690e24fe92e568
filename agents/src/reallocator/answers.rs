//! Answers of providers to the present event. An answer without a question is refused.

use std::collections::BTreeSet;

use haggle_model::{ActorId, JobId, Sizing, Time};
use haggle_scheduling::reallocation::{Question, Waiting};

use super::{Doing, Reallocator, Stage, Waits};
use crate::Outbox;
use crate::protocol::ReallocationMessage;

impl Reallocator {
    pub(super) fn on_answer(
        &mut self,
        now: Time,
        from: ActorId,
        message: ReallocationMessage,
        out: &mut Outbox,
    ) -> bool {
        let Some(&place) = self.places.get(&from) else { return false };
        match message {
            ReallocationMessage::Waiting { jobs } => self.on_waiting(place, from, jobs),
            ReallocationMessage::Back { jobs } => self.on_back(now, place, from, &jobs, out),
            ReallocationMessage::Size { job, sizing } => self.on_estimate(job, place, Some(sizing)),
            ReallocationMessage::NoSize { job, .. } => self.on_estimate(job, place, None),
            ReallocationMessage::Completion { job, completion } => {
                let Doing::Event(event, Waits::Answers(open)) = &mut self.doing else {
                    return false;
                };
                let asked = open.remove(&Question::Completion { job, cluster: place });
                if asked {
                    event.learn_completion(job, place, completion);
                }
                asked
            }
            ReallocationMessage::SizeRequest(_)
            | ReallocationMessage::Submit { .. }
            | ReallocationMessage::WaitingRequest
            | ReallocationMessage::CompletionRequest { .. }
            | ReallocationMessage::TakeBack { .. } => false,
        }
    }

    fn on_estimate(&mut self, job: JobId, place: usize, sizing: Option<Sizing>) -> bool {
        let Doing::Event(event, Waits::Answers(open)) = &mut self.doing else { return false };
        let asked = open.remove(&Question::Estimate { job, cluster: place });
        if asked {
            event.learn_estimate(job, place, sizing);
        }
        asked
    }

    /// A provider has reported its waiting jobs. Jobs that are over or withdrawn meanwhile are left
    /// out.
    fn on_waiting(&mut self, place: usize, from: ActorId, jobs: Vec<(JobId, Time)>) -> bool {
        let Doing::Listing(said) = &mut self.doing else { return false };
        // A second list of the same provider is not expected.
        let Some(free @ None) = said.get_mut(place) else { return false };
        let desk = &mut self.desk;
        let mut is_there = |job| desk.at(job, from).is_some_and(|entry| !entry.withdrawn);
        let jobs = jobs.into_iter().filter(|&(job, _)| is_there(job));
        *free = Some(jobs.map(|(job, completion)| Waiting { job, completion }).collect());
        true
    }

    /// True if a provider was asked to give a job back and has not answered.
    pub(super) fn is_coming_back(&self, job: JobId, provider: ActorId) -> bool {
        let Doing::Event(_, waits) = &self.doing else { return false };
        let place = self.places.get(&provider);
        match waits {
            Waits::Cancels(open) => place.is_some_and(|place| open.contains(place)),
            Waits::Return { job: awaited, from, .. } => *awaited == job && Some(from) == place,
            Waits::Answers(_) | Waits::Acceptance { .. } => false,
        }
    }

    /// A provider gives back the requested jobs that still wait there.
    fn on_back(
        &mut self,
        now: Time,
        place: usize,
        from: ActorId,
        jobs: &[JobId],
        out: &mut Outbox,
    ) -> bool {
        let Doing::Event(event, waits) = &mut self.doing else { return false };
        match waits {
            Waits::Cancels(open) => {
                let is_asked = open.remove(&place);
                // The whole list is made anew, so its order does not matter after this.
                let asked = is_asked.then(|| event.to_cancel().swap_remove(place));
                let back: BTreeSet<JobId> = jobs.iter().copied().collect();
                for job in asked.into_iter().flatten() {
                    // The job has started or ended since the provider listed it.
                    if !(back.contains(&job) && in_hand(&mut self.desk, job, from)) {
                        event.leave_out(job);
                    }
                }
                is_asked
            }
            &mut Waits::Return { job, from: leaves, to } if leaves == place => {
                // Before `place`, which returns the next thing to wait for.
                *waits = Waits::nothing();
                if jobs == [job] && in_hand(&mut self.desk, job, from) {
                    let placed = self.place(now, job, Some(leaves), Some(to), out);
                    if let Doing::Event(_, waits) = &mut self.doing {
                        *waits = placed;
                    }
                }
                true
            }
            _ => false,
        }
    }
}

/// A job is back from a provider that had it; false if that provider did not have it.
fn in_hand(desk: &mut crate::Desk<Stage>, job: JobId, provider: ActorId) -> bool {
    let Some(entry) = desk.at(job, provider) else { return false };
    (entry.at, entry.stage) = (None, Stage::Here);
    true
}
