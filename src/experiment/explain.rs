//! The story of one job, told from a run's tables and from nothing else.
//!
//! What a provider thought is in no table. What can be told is who said what to
//! whom, which jobs held the processors while this one waited, and how many were
//! free: from these follows whether it waited for processors, or for its turn.

use haggle_results::reader::{AttemptRow, DisclosureRow, MessageRow};
use haggle_results::{JobRow, ResultsError, RunReader, Table};
use serde::Serialize;

use super::figures::scenario_of;

/// The story of one job. Times in seconds since the start of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Story {
    /// Its number in the run.
    pub job: i64,
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
    /// `local` or `external`.
    pub class: String,
    /// Processors it needs.
    pub processors: i64,
    /// Its user's limit on a reference processor, s.
    pub requested_time: Option<f64>,
    /// How it ended.
    pub outcome: String,
    /// Why it was refused.
    pub refusal: Option<String>,
    /// The users that submit its workload, and to whom, as the scenario says.
    pub submitters: Vec<(String, String)>,
    /// When it was submitted.
    pub submit: f64,
    /// The provider that queued it.
    pub provider: Option<String>,
    /// When that was.
    pub queued: Option<f64>,
    /// Completion promised when it was queued.
    pub promised_end: Option<f64>,
    /// When it started.
    pub start: Option<f64>,
    /// When it left the system.
    pub left: f64,
    /// What failures undid of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Lost>,
    /// Messages about it; `None` if the run kept none.
    pub messages: Option<Vec<Said>>,
    /// Information given about it, or because of it; `None` if the run has no such table.
    pub disclosures: Option<Vec<Disclosed>>,
    /// Providers and their processors.
    pub sizes: Vec<(String, i64)>,
    /// Why it waited, if a provider queued it and it did wait.
    pub wait: Option<Wait>,
}

/// A try whose processors failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lost {
    /// Where.
    pub provider: String,
    /// When it had started.
    pub start: f64,
    /// When they failed.
    pub end: f64,
    /// Computing that a checkpoint saved, s.
    pub saved: f64,
}

/// A message about the job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Said {
    /// When it was delivered.
    pub time: f64,
    /// Who sent it.
    pub sender: String,
    /// Who got it.
    pub receiver: String,
    /// What kind.
    pub kind: String,
}

/// A piece of information that one actor gave another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Disclosed {
    /// When.
    pub time: f64,
    /// Whom it was about.
    pub sender: String,
    /// Who learned it.
    pub receiver: String,
    /// What kind.
    pub item: String,
}

/// What happened at the provider while the job waited.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wait {
    /// From when.
    pub from: f64,
    /// Until it started or left.
    pub until: f64,
    /// Processors of the provider.
    pub processors: i64,
    /// Its local scheduler.
    pub scheduler: String,
    /// Jobs that were waiting there when it came.
    pub ahead: usize,
    /// How many of them still waited when it started or left.
    pub ahead_passed: usize,
    /// Fewest free processors.
    pub free_min: i64,
    /// Most free processors.
    pub free_max: i64,
    /// Mean over time.
    pub free_mean: f64,
    /// How long at least as many as it needs were free, s.
    pub enough: f64,
    /// The longest stretch with enough free processors.
    pub longest_enough: Option<(f64, f64)>,
    /// Jobs that ended at the instant at which it started.
    pub ended_at_start: usize,
    /// Processors that these gave back.
    pub freed_at_start: i64,
    /// Who held processors meanwhile, most processor-seconds first.
    pub holders: Vec<Holder>,
    /// Jobs that were queued later there and started earlier, in order of start.
    pub overtakers: Vec<Overtaker>,
}

/// A job that held processors while the other waited.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Holder {
    /// Its number in the run.
    pub job: i64,
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
    /// Its processors.
    pub processors: i64,
    /// When it started.
    pub start: f64,
    /// When it ended.
    pub end: f64,
    /// Processor-seconds within the wait.
    pub held: f64,
}

/// A job that came later and started earlier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overtaker {
    /// Its number in the run.
    pub job: i64,
    /// Its workload.
    pub workload: String,
    /// Its number in the workload.
    pub job_id: i64,
    /// Its processors.
    pub processors: i64,
    /// Its user's limit, s.
    pub requested_time: Option<f64>,
    /// When it was queued.
    pub queued: f64,
    /// When it started.
    pub start: f64,
}

/// Tells the story of the job for which `is_it` holds; `None` if there is none.
///
/// # Errors
/// If a table is missing or damaged. Messages and disclosures may be missing.
pub fn explain(
    run: &RunReader,
    is_it: impl Fn(&JobRow) -> bool,
) -> Result<Option<Story>, ResultsError> {
    let jobs = run.jobs()?;
    let Some(job) = jobs.iter().find(|job| is_it(job)) else {
        return Ok(None);
    };
    let resources = run.resources()?;
    let scenario = scenario_of(run.folder())?;
    let submitters = scenario.users.iter().filter(|user| user.workload.as_str() == job.workload);
    let wait = job.queued.zip(job.provider.as_ref()).and_then(|(queued, provider)| {
        let resource = resources.iter().find(|resource| resource.provider == *provider)?;
        let until = job.start.unwrap_or(job.left);
        let there: Vec<&JobRow> = jobs
            .iter()
            .filter(|it| it.provider.as_ref() == Some(provider) && it.job != job.job)
            .collect();
        (queued < until).then(|| Wait {
            processors: resource.processors,
            scheduler: resource.scheduler.clone(),
            ..waited(job, &there, (queued, until), resource.processors)
        })
    });
    Ok(Some(Story {
        job: job.job,
        workload: job.workload.clone(),
        job_id: job.job_id,
        class: job.class.clone(),
        processors: job.processors,
        requested_time: job.requested_time,
        outcome: job.outcome.clone(),
        refusal: job.refusal.clone(),
        submitters: submitters
            .map(|user| (user.name.to_string(), user.submits_to.to_string()))
            .collect(),
        submit: job.submit,
        provider: job.provider.clone(),
        queued: job.queued,
        promised_end: job.promised_end,
        start: job.start,
        left: job.left,
        lost: lost(run, job.job)?,
        messages: messages(run, job.job)?,
        disclosures: disclosures(run, job.job)?,
        sizes: resources.iter().map(|it| (it.provider.clone(), it.processors)).collect(),
        wait,
    }))
}

fn lost(run: &RunReader, job: i64) -> Result<Vec<Lost>, ResultsError> {
    let rows = run.attempts()?.into_iter();
    let lost = rows.filter(|row| row.job == job && row.outcome == "failed");
    let lost = lost.filter_map(|AttemptRow { provider, start, end, saved, .. }| {
        start.map(|start| Lost { provider, start, end, saved })
    });
    Ok(lost.collect())
}

fn messages(run: &RunReader, job: i64) -> Result<Option<Vec<Said>>, ResultsError> {
    if !run.has(Table::Messages) {
        return Ok(None);
    }
    let said = |row: MessageRow| Said {
        time: row.time,
        sender: row.sender,
        receiver: row.receiver,
        kind: row.kind,
    };
    let rows = run.messages()?.into_iter().filter(|row| row.job == Some(job));
    Ok(Some(rows.map(said).collect()))
}

fn disclosures(run: &RunReader, job: i64) -> Result<Option<Vec<Disclosed>>, ResultsError> {
    if !run.has(Table::Disclosures) {
        return Ok(None);
    }
    let disclosed = |row: DisclosureRow| Disclosed {
        time: row.time,
        sender: row.sender,
        receiver: row.receiver,
        item: row.item,
    };
    let rows = run.disclosures()?.into_iter().filter(|row| row.job == Some(job));
    Ok(Some(rows.map(disclosed).collect()))
}

/// What happened from `from` to `until`; `there` are the provider's other jobs.
fn waited(job: &JobRow, there: &[&JobRow], (from, until): (f64, f64), processors: i64) -> Wait {
    let free = Free::during(there, (from, until), processors, job.processors);
    let ran = || there.iter().filter_map(|it| it.start.map(|start| (*it, start)));
    let mut holders: Vec<Holder> = ran()
        .filter(|(it, start)| *start < until && it.left > from)
        .map(|(it, start)| Holder {
            job: it.job,
            workload: it.workload.clone(),
            job_id: it.job_id,
            processors: it.processors,
            start,
            end: it.left,
            held: (it.left.min(until) - start.max(from)) * it.processors as f64,
        })
        .collect();
    holders.sort_by(|a, b| b.held.total_cmp(&a.held).then(a.job.cmp(&b.job)));
    let mut overtakers: Vec<Overtaker> = ran()
        .filter(|(_, start)| *start < until)
        .filter_map(|(it, start)| {
            let queued = it.queued.filter(|&queued| queued > from)?;
            Some(Overtaker {
                job: it.job,
                workload: it.workload.clone(),
                job_id: it.job_id,
                processors: it.processors,
                requested_time: it.requested_time,
                queued,
                start,
            })
        })
        .collect();
    overtakers.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.job.cmp(&b.job)));
    // Of jobs that came at the same instant the tables do not say which was first.
    let waits_until = |it: &JobRow| it.start.unwrap_or(it.left);
    let ahead = there
        .iter()
        .filter(|it| it.queued.is_some_and(|queued| queued < from) && waits_until(it) > from);
    let ahead: Vec<&&JobRow> = ahead.collect();
    let ended = ran().filter(|(it, _)| job.start == Some(it.left));
    let ended: Vec<i64> = ended.map(|(it, _)| it.processors).collect();
    Wait {
        from,
        until,
        processors,
        scheduler: String::new(),
        ahead: ahead.len(),
        ahead_passed: ahead.iter().filter(|it| waits_until(it) > until).count(),
        free_min: free.min,
        free_max: free.max,
        free_mean: free.area / (until - from),
        enough: free.enough,
        longest_enough: free.longest,
        ended_at_start: ended.len(),
        freed_at_start: ended.iter().sum(),
        holders,
        overtakers,
    }
}

/// How many processors were free over time.
struct Free {
    min: i64,
    max: i64,
    /// Free processors × seconds.
    area: f64,
    /// Seconds with enough of them.
    enough: f64,
    /// The longest stretch with enough of them.
    longest: Option<(f64, f64)>,
}

impl Free {
    fn during(there: &[&JobRow], (from, until): (f64, f64), processors: i64, need: i64) -> Free {
        let mut steps: Vec<(f64, i64)> = Vec::new();
        for (it, start) in there.iter().filter_map(|it| it.start.map(|start| (it, start))) {
            if start < until && it.left > from {
                steps.push((start.max(from), -it.processors));
                steps.push((it.left, it.processors));
            }
        }
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut free = processors;
        let mut all = Free { min: i64::MAX, max: i64::MIN, area: 0.0, enough: 0.0, longest: None };
        let mut since: Option<f64> = None; // when there began to be enough
        let mut at = 0;
        let mut time = from;
        while time < until {
            // All that happens at one instant counts before the level does.
            while at < steps.len() && steps[at].0 <= time {
                free += steps[at].1;
                at += 1;
            }
            let next = steps.get(at).map_or(until, |step| step.0.min(until));
            all.min = all.min.min(free);
            all.max = all.max.max(free);
            all.area += free as f64 * (next - time);
            if free >= need {
                all.enough += next - time;
                let start = *since.get_or_insert(time);
                if all.longest.is_none_or(|(a, b)| next - start > b - a) {
                    all.longest = Some((start, next));
                }
            } else {
                since = None;
            }
            time = next;
        }
        all
    }
}
