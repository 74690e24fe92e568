//! Users: they submit the jobs of one workload to one place, each when it is ready.

use std::collections::BTreeSet;

use haggle_model::{
    ActorId, Job, JobClass, JobId, JobOutcome, JobRecord, Observation, Refusal, Span, Time,
};

use crate::message::{Message, Submission, Timer};
use crate::{Actor, Outbox};

/// Users as a scenario describes them.
#[derive(Clone, Debug, PartialEq)]
pub struct UserConfig {
    /// The users' own address.
    pub me: ActorId,
    /// Where they submit: a provider or a metascheduler.
    pub submits_to: ActorId,
    /// Local if that is a provider.
    pub class: JobClass,
    /// How long they let a job wait, once it is ready, before they withdraw it.
    pub patience: Option<Span>,
}

/// All users of one workload.
#[derive(Debug)]
pub struct User {
    config: UserConfig,
    /// Jobs that may still be withdrawn; kept only where patience is limited.
    waiting: BTreeSet<JobId>,
}

impl User {
    /// Users with nothing submitted yet.
    pub fn new(config: UserConfig) -> User {
        User { config, waiting: BTreeSet::new() }
    }

    /// A job has come. Nobody could start it before it is ready, so nobody gets it before: it
    /// is on its way until then, and its user's patience begins with its arrival.
    fn on_job_due(&mut self, now: Time, job: Job, out: &mut Outbox) {
        let ready = job.ready.filter(|&ready| ready > now);
        let (class, user) = (self.config.class, self.config.me);
        let submission = Box::new(Submission { job, class, user });
        match ready {
            Some(ready) => out.wake(ready, Message::Submit(submission)),
            None => self.submit(now, submission, out),
        }
    }

    fn submit(&mut self, now: Time, submission: Box<Submission>, out: &mut Outbox) {
        if let Some(patience) = self.config.patience {
            let job = submission.job.id;
            self.waiting.insert(job);
            out.wake(now + patience, Message::Wake(Timer::PatienceOver { job }));
        }
        out.send(self.config.submits_to, Message::Submit(submission));
    }

    fn on_refused(&mut self, now: Time, submission: Submission, reason: Refusal, out: &mut Outbox) {
        self.waiting.remove(&submission.job.id);
        let Submission { job, class, .. } = submission;
        let record = JobRecord::never_queued(job, class, JobOutcome::Rejected(reason), now);
        out.observe(Observation::JobOver(Box::new(record)));
    }

    fn on_patience_over(&mut self, job: JobId, out: &mut Outbox) {
        if self.waiting.remove(&job) {
            out.send(self.config.submits_to, Message::Withdraw { job });
        }
    }
}

impl Actor for User {
    type Message = Message;

    fn on_message(&mut self, now: Time, _from: ActorId, message: Message, out: &mut Outbox) {
        match message {
            Message::JobDue(job) => self.on_job_due(now, *job, out),
            Message::Submit(submission) => self.submit(now, submission, out),
            Message::Refused { submission, reason } => {
                self.on_refused(now, *submission, reason, out);
            }
            Message::Started { job } | Message::Finished { job, .. } => {
                self.waiting.remove(&job);
            }
            Message::Wake(Timer::PatienceOver { job }) => self.on_patience_over(job, out),
            // Its jobs are with others, who say what becomes of them.
            Message::RunOver => {}
            Message::Accepted { .. } | Message::Promise { .. } | Message::NotWithdrawn { .. } => {}
            other => unreachable!("nobody sends a user {other:?}"),
        }
    }
}
