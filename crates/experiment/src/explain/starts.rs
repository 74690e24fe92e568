//! One reason for the start of each attempt of a run.

use serde::Serialize;

use super::line::Backfilled;
use super::spent::{Part, Spent, micros, seconds};
use super::{BookedStart, Story};

/// An attempt of a job at a provider that started, and the time in which it waited.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AttemptStart {
    /// Its number, from 1.
    pub(super) attempt: i64,
    /// Its provider.
    pub(super) provider: String,
    /// Its processors.
    pub(super) processors: i64,
    /// When it began to wait, us: at the submission, or when the attempt before it was lost.
    pub(super) from: i64,
    /// When it started.
    pub(super) start: f64,
    /// Parts of its wait.
    pub(super) parts: Vec<Spent>,
    /// Jobs that gave back processors at the instant at which it started, if it waited for processors.
    pub(super) freed_by: Vec<i64>,
    /// Jobs that it passed in the queue.
    pub(super) backfilled: Option<Backfilled>,
    /// The start that was booked for it.
    pub(super) booked: Option<BookedStart>,
    /// True if it started at the time that its log has recorded.
    pub(super) is_recorded: bool,
}

/// A start in a run, or a job that never started, and the reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Start {
    /// Its number in the run.
    pub job: i64,
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
    /// Its attempt, from 1; `None` for a bag, for parts, or if it never started.
    pub attempt: Option<i64>,
    /// The provider that ran it or queued it last.
    pub provider: Option<String>,
    /// Processors that it had, or waited for.
    pub processors: i64,
    /// When it was submitted.
    pub submit: f64,
    /// When it started; `None` = never.
    pub start: Option<f64>,
    /// Waiting time, s: since the loss of the attempt before it, if there is one.
    pub waiting: f64,
    /// Reason of the start.
    pub reason: Reason,
    /// True if it is a task of a workflow.
    pub is_task: bool,
}

/// Reason of a start.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It did not wait.
    AtOnce,
    /// It passed others in the queue.
    Backfilled(Backfilled),
    /// At the start that was booked for it.
    Booked(BookedStart),
    /// At the start that its log has recorded.
    Recorded,
    /// These jobs gave back processors at that instant.
    CameFree(Vec<i64>),
    /// It had waited, for the most part because of this.
    Waited(Part),
    /// The scheduler of a grid sent it: an attempt that did not end the job's wait.
    Sent,
    /// It never started; the word is its outcome or refusal.
    Never(String),
}

impl Start {
    /// All starts of a story: one for each attempt, lost ones included. For a bag, its first task
    /// that ended. A job that waited when it left has a row too.
    pub fn all_of(story: &Story) -> Vec<Start> {
        let mut starts = match story.is_on_grid() {
            true => Start::on_grid(story),
            false => Vec::from_iter(story.starts.iter().map(|it| Start::of_attempt(story, it))),
        };
        let left_waiting =
            story.start.is_none() && story.attempts.last().is_none_or(|last| last.start.is_none());
        if starts.is_empty() || left_waiting {
            starts.push(Start::of(story));
        }
        starts
    }

    fn of_attempt(story: &Story, it: &AttemptStart) -> Start {
        Start {
            attempt: Some(it.attempt),
            provider: Some(it.provider.clone()),
            processors: it.processors,
            start: Some(it.start),
            waiting: seconds(micros(it.start) - it.from),
            reason: it.reason(),
            ..Start::of(story)
        }
    }

    /// The job's wait ends with the first attempt of those by which it was completed. Tables do not
    /// show the causes of the other waits.
    fn on_grid(story: &Story) -> Vec<Start> {
        let computed = story.attempts.iter().filter(|it| it.start.is_some());
        let of = |it: &super::Attempt| {
            let start = Start {
                attempt: Some(it.attempt),
                provider: Some(it.provider.clone()),
                ..Start::of(story)
            };
            // This attempt ended the job's wait, so its reason is that of the job.
            if it.start == story.start {
                return start;
            }
            let ends = story.attempts.iter().filter(|other| other.attempt < it.attempt);
            let ends = ends.filter_map(|other| other.end.filter(|&end| Some(end) <= it.queued));
            let from = ends.fold(story.submit, f64::max);
            let waited = it.start.map_or(0, |start| micros(start) - micros(from));
            Start { start: it.start, waiting: seconds(waited), reason: Reason::Sent, ..start }
        };
        computed.map(of).collect()
    }

    fn of(story: &Story) -> Start {
        Start {
            job: story.job,
            workload: story.workload.clone(),
            job_id: story.job_id,
            attempt: None,
            provider: story.provider.clone(),
            processors: story.size(),
            submit: story.submit,
            start: story.start,
            waiting: story.waiting(),
            reason: reason(story),
            is_task: story.is_task(),
        }
    }
}

impl AttemptStart {
    fn reason(&self) -> Reason {
        if let Some(it) = &self.backfilled {
            return Reason::Backfilled(it.clone());
        }
        // Tested after the passed jobs: a job may pass others without waiting.
        if micros(self.start) == self.from {
            return Reason::AtOnce;
        }
        // Its provider waits for this time, whatever comes free.
        if self.is_recorded {
            return Reason::Recorded;
        }
        // Before the booking: processors that came free at that instant say more than a plan.
        if !self.freed_by.is_empty() {
            return Reason::CameFree(self.freed_by.clone());
        }
        match self.booked.as_ref().filter(|it| it.start == self.start) {
            Some(it) => Reason::Booked(it.clone()),
            None => waited(&self.parts),
        }
    }
}

fn reason(story: &Story) -> Reason {
    match story.start {
        Some(_) => waited(&story.parts),
        None => Reason::Never(story.refusal.as_ref().unwrap_or(&story.outcome).clone()),
    }
}

/// The longest part of a wait.
fn waited(parts: &[Spent]) -> Reason {
    let longest = parts.iter().filter(|it| it.waiting > 0.0);
    // Of equal parts the later one in the order of `Part`.
    let longest = longest.max_by_key(|it| micros(it.waiting));
    longest.map_or(Reason::AtOnce, |it| Reason::Waited(it.part))
}
