//! A job's number is its ticket: an actor is given each job once, so a message about the job cannot be about an
//! earlier attempt.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use haggle_agents::Message;
use haggle_agents::protocol::{BargainMessage, DispatchMessage, SubmissionMessage};
use haggle_model::{ActorId, JobId, Time};
use haggle_runtime::{Driver, OutsideError, Sink, run};

use crate::any_message::worlds;

/// Actors to which each job was given.
#[derive(Default)]
struct Given {
    jobs: BTreeSet<(ActorId, JobId)>,
    calls: BTreeSet<(ActorId, JobId)>,
    tries: BTreeSet<(JobId, u32)>,
}

impl Sink for Given {
    fn delivered(
        &mut self,
        now: Time,
        _: ActorId,
        to: ActorId,
        message: &Message,
    ) -> Result<(), OutsideError> {
        let is_new = match message {
            Message::Submission(
                SubmissionMessage::Submit(it) | SubmissionMessage::SubmitAhead(it),
            ) => self.jobs.insert((to, it.job.id)),
            Message::Bargain(BargainMessage::Call(call)) => self.calls.insert((to, call.job)),
            Message::Dispatch(DispatchMessage::Dispatch(it)) => {
                self.tries.insert((it.job, it.number))
            }
            _ => true,
        };
        assert!(is_new, "{now}: {to} is given the same once more: {message:?}");
        Ok(())
    }
}

/// Rigid jobs and bags reach an actor at most once, also with failures and withdrawals. A try in a grid has a number
/// that no other try of its job has.
#[test]
fn nobody_is_given_a_job_twice() {
    let (mut jobs, mut calls, mut again) = (0, 0, 0);
    for (name, world) in worlds() {
        let mut given = Given::default();
        let end = run(world(), Driver::Sequential, &mut given, &AtomicBool::new(false));
        end.unwrap_or_else(|error| panic!("{name}: {error}"));
        jobs += given.jobs.len();
        calls += given.calls.len();
        let tried: BTreeSet<JobId> = given.tries.iter().map(|&(job, _)| job).collect();
        again += given.tries.len() - tried.len();
    }
    assert!(jobs > 100 && calls > 50 && again > 10, "{jobs} {calls} {again}");
}
