//! Why each job of a run started when it did, in a word each.

use serde::Serialize;

use super::line::Backfilled;
use super::spent::{Part, micros};
use super::{BookedStart, Story};

/// A job of a run, and why it started when it did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Start {
    /// Its number in the run.
    pub job: i64,
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
    /// The provider that ran it or queued it last.
    pub provider: Option<String>,
    /// Processors that it had, or waited for.
    pub processors: i64,
    /// When it was submitted.
    pub submit: f64,
    /// When it started; `None` = it never did.
    pub start: Option<f64>,
    /// How long it waited, s.
    pub waiting: f64,
    /// Why it started then.
    pub reason: Reason,
    /// Whether it is a task of a workflow.
    pub is_task: bool,
}

/// Why a job started when it did.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It did not wait.
    AtOnce,
    /// It passed others in the queue.
    Backfilled(Backfilled),
    /// At the start that was booked for it.
    Booked(BookedStart),
    /// These jobs gave back processors at that instant.
    CameFree(Vec<i64>),
    /// It had waited, most of the time for this.
    Waited(Part),
    /// It never started: how it ended.
    Never(String),
}

impl Start {
    /// That of a story.
    pub fn of(story: &Story) -> Start {
        Start {
            job: story.job,
            workload: story.workload.clone(),
            job_id: story.job_id,
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

fn reason(story: &Story) -> Reason {
    if story.start.is_none() {
        let why = story.refusal.as_ref().unwrap_or(&story.outcome);
        return Reason::Never(why.clone());
    }
    if let Some(it) = &story.backfilled {
        return Reason::Backfilled(it.clone());
    }
    if story.waiting() == 0.0 {
        return Reason::AtOnce;
    }
    if let Some(wait) = story.wait.as_ref().filter(|it| !it.freed_by.is_empty()) {
        return Reason::CameFree(wait.freed_by.clone());
    }
    if let Some(it) = story.booked.as_ref().filter(|it| Some(it.start) == story.start) {
        return Reason::Booked(it.clone());
    }
    let longest = story.parts.iter().filter(|it| it.waiting > 0.0);
    let longest = longest.max_by_key(|it| micros(it.waiting));
    longest.map_or(Reason::AtOnce, |it| Reason::Waited(it.part))
}
