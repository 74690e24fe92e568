//! Input of figures: the tables of a run, and the part of it that is drawn.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use haggle_results::reader::{AttemptRow, CheckpointRow, MaintenanceRow, NodeRow, OutageRow, Rows};
use haggle_results::{About, JobRow, JobTimes, PlacementRow, ResourceRow, ResultsError, RunReader};

use crate::distribution::Sample;
use crate::error::PlotError;
use crate::owners::Owners;

/// Grouping of jobs in a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// One curve.
    Nothing,
    /// A curve for each provider.
    Provider,
    /// A curve for each class (local, external).
    Class,
    /// A curve for each workload.
    Workload,
    /// A curve for each user, by the number in the log, or by the name in the scenario.
    User,
    /// A curve for each queue, by its name.
    Queue,
    /// A curve for each account, by its name.
    Account,
    /// A curve for each job.
    Job,
}

impl By {
    /// True if it needs facts that tables do not have.
    pub(crate) const fn needs_about(self) -> bool {
        matches!(self, By::User | By::Queue | By::Account)
    }
}

/// The provider of a job; empty for a bag on several, which is in no queue and no account.
fn provider_of(job: &JobTimes) -> &str {
    job.provider.as_deref().unwrap_or_default()
}

/// The user that submitted a job: by the number in the log, or by the names in the scenario of all
/// users of its workload.
pub(crate) fn user_of(user: i64, workload: &str, about: Option<&About>) -> String {
    // A negative number stands for an unknown user.
    if user >= 0 {
        return user.to_string();
    }
    let users = about.map_or(&[][..], |about| about.users_of(workload));
    let names: Vec<&str> = users.iter().map(|user| user.name.as_str()).collect();
    if names.is_empty() { workload.to_owned() } else { names.join(" + ") }
}

/// A sort key for names in which numbers are ordered by value: `w2` before `w10`.
pub(crate) fn natural(name: &str) -> Vec<(String, u64)> {
    let mut pieces: Vec<(String, u64)> = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| letter.is_ascii_digit()).unwrap_or(rest.len());
        let (text, behind) = rest.split_at(digits);
        let end = behind.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(behind.len());
        // A piece without digits behind it comes after those with a number.
        pieces.push((text.to_owned(), behind[..end].parse().unwrap_or(u64::MAX)));
        rest = &behind[end..];
    }
    pieces
}

/// The part of a run that is drawn; by default all of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// The providers, in any order; all if there are none.
    pub providers: Vec<String>,
    /// Start of the part, s; figures over time then begin at time zero at the earliest.
    pub from: Option<f64>,
    /// End of the part, s.
    pub until: Option<f64>,
}

impl Part {
    pub(crate) fn has_provider(&self, name: &str) -> bool {
        self.providers.is_empty() || self.providers.iter().any(|it| it == name)
    }

    /// True if an instant is in the part; the end is excluded.
    pub(crate) fn has_instant(&self, time: f64) -> bool {
        self.from.is_none_or(|from| from <= time) && self.until.is_none_or(|until| time < until)
    }

    /// The overlap of a span with the part, if any. Without a start, the part begins at time zero: of the time before, a
    /// run has only the jobs of its start state.
    pub(crate) fn clipped(&self, start: f64, end: f64) -> Option<(f64, f64)> {
        let start = start.max(self.from.unwrap_or(0.0));
        let end = self.until.map_or(end, |until| end.min(until));
        // A span of no length is still drawn, unless it lies outside.
        (start < end || (start == end && self.has_instant(start))).then_some((start, end))
    }
}

/// A run's tables. Each is read at its first use, so that several figures of one run read it once.
#[derive(Debug)]
pub struct Tables<'r> {
    run: &'r RunReader,
    about: OnceCell<About>,
    jobs: OnceCell<Vec<JobRow>>,
    placements: OnceCell<Vec<PlacementRow>>,
    resources: OnceCell<Vec<ResourceRow>>,
    attempts: OnceCell<Vec<AttemptRow>>,
    checkpoints: OnceCell<Vec<CheckpointRow>>,
    outages: OnceCell<Vec<OutageRow>>,
    maintenance: OnceCell<Vec<MaintenanceRow>>,
    nodes: OnceCell<Vec<NodeRow>>,
    tasks: OnceCell<TaskNames>,
}

/// Names of tasks from their files, by workload, workflow and number there.
pub(crate) type TaskNames = BTreeMap<(String, i64, i64), String>;

impl<'r> Tables<'r> {
    /// Starts without any table.
    pub fn new(run: &'r RunReader) -> Tables<'r> {
        Tables {
            run,
            about: OnceCell::new(),
            jobs: OnceCell::new(),
            placements: OnceCell::new(),
            resources: OnceCell::new(),
            attempts: OnceCell::new(),
            checkpoints: OnceCell::new(),
            outages: OnceCell::new(),
            maintenance: OnceCell::new(),
            nodes: OnceCell::new(),
            tasks: OnceCell::new(),
        }
    }

    /// The run of these tables.
    pub fn run(&self) -> &'r RunReader {
        self.run
    }

    /// Facts about the run that its tables do not have.
    ///
    /// # Errors
    /// If it is missing or damaged.
    pub fn about(&self) -> Result<&About, ResultsError> {
        read_once(&self.about, || self.run.about())
    }

    /// All jobs.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn jobs(&self) -> Result<&[JobRow], ResultsError> {
        rows_once(&self.jobs, || self.run.jobs())
    }

    /// All placements.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn placements(&self) -> Result<&[PlacementRow], ResultsError> {
        rows_once(&self.placements, || self.run.placements())
    }

    /// All providers, clusters and resources of a grid.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn resources(&self) -> Result<&[ResourceRow], ResultsError> {
        rows_once(&self.resources, || self.run.resources())
    }

    /// All attempts.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn attempts(&self) -> Result<&[AttemptRow], ResultsError> {
        rows_once(&self.attempts, || self.run.attempts())
    }

    /// All checkpoints of a grid.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn checkpoints(&self) -> Result<&[CheckpointRow], ResultsError> {
        rows_once(&self.checkpoints, || self.run.checkpoints())
    }

    /// All outages; none if nothing may fail.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn outages(&self) -> Result<&[OutageRow], ResultsError> {
        rows_once(&self.outages, || self.run.outages())
    }

    /// All maintenance; none if no window was announced.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn maintenance(&self) -> Result<&[MaintenanceRow], ResultsError> {
        rows_once(&self.maintenance, || self.run.maintenance())
    }

    /// All nodes; none if no provider places jobs on nodes.
    ///
    /// # Errors
    /// If the table is damaged.
    pub fn nodes(&self) -> Result<&[NodeRow], ResultsError> {
        rows_once(&self.nodes, || self.run.nodes())
    }
}

impl Tables<'_> {
    /// Names of tasks of workflows from their files.
    pub(crate) fn task_names(&self) -> Result<&TaskNames, ResultsError> {
        read_once(&self.tasks, || {
            let rows = self.run.tasks()?.into_iter();
            Ok(rows.map(|it| ((it.workload, it.workflow, it.task), it.name)).collect())
        })
    }
}

/// Instants at which the settings of these runs change, s, each once.
///
/// # Errors
/// If the description of a run is missing or damaged.
pub(crate) fn changes_of<'t, 'r: 't>(
    runs: impl IntoIterator<Item = &'t Tables<'r>>,
) -> Result<Vec<f64>, ResultsError> {
    let mut all = Vec::new();
    for run in runs {
        all.extend(&run.about()?.changes);
    }
    all.sort_by(f64::total_cmp);
    all.dedup();
    Ok(all)
}

fn rows_once<T>(
    cell: &OnceCell<Vec<T>>,
    read: impl FnOnce() -> Result<Vec<T>, ResultsError>,
) -> Result<&[T], ResultsError> {
    read_once(cell, read).map(Vec::as_slice)
}

fn read_once<T>(
    cell: &OnceCell<T>,
    read: impl FnOnce() -> Result<T, ResultsError>,
) -> Result<&T, ResultsError> {
    // The stable `OnceCell` has no initialisation that may fail.
    match cell.get() {
        Some(known) => Ok(known),
        None => {
            let read = read()?;
            Ok(cell.get_or_init(|| read))
        }
    }
}

/// A value of each job that has one, grouped by `by`, over the jobs that were submitted in the part of
/// the run. Jobs are read one after the other, and of each only its times.
///
/// # Errors
/// If the results cannot be read.
pub fn samples(
    run: &Tables,
    part: &Part,
    by: By,
    value: impl Fn(&JobTimes) -> Option<f64>,
) -> Result<Vec<Sample>, PlotError> {
    let about = if by.needs_about() { Some(run.about()?) } else { None };
    let owners = about.map(Owners::new);
    owners.map_or(Ok(()), |it| it.check(by))?;
    let key = |job: &JobTimes| match by {
        By::Nothing => Some("all jobs".to_owned()),
        By::User => Some(user_of(job.user, &job.workload, about)),
        By::Queue => Some(owners?.queue(provider_of(job), job.queue, job.partition)),
        By::Account => Some(owners?.account(provider_of(job), job.user, job.group)),
        By::Job => Some(format!("{}!{}", job.workload, job.job_id)),
        // A bag on several providers belongs to none of them.
        By::Provider => match &job.provider {
            None if job.start.is_some() => Some("several providers".to_owned()),
            provider => provider.clone(),
        },
        By::Class => Some(job.class.clone()),
        By::Workload => Some(job.workload.clone()),
    };
    let mut samples: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    each_in(run, part, |job| {
        if let (Some(name), Some(value)) = (key(job), value(job)) {
            match samples.get_mut(&name) {
                Some(values) => values.push(value),
                None => drop(samples.insert(name, vec![value])),
            }
        }
    })?;
    let mut ordered = Vec::new();
    if by == By::Provider {
        // Providers keep the order of the scenario, as in every other figure.
        for resource in run.resources()? {
            ordered.extend(samples.remove_entry(&resource.provider));
        }
    }
    let mut others = Vec::from_iter(samples);
    others.sort_by_cached_key(|(name, _)| natural(name));
    ordered.extend(others);
    Ok(ordered.into_iter().map(|(name, values)| Sample::new(name, values)).collect())
}

/// The outages of a provider in the part that is drawn.
pub(crate) fn outages_of<'a>(
    outages: &'a [OutageRow],
    provider: &'a str,
    part: &'a Part,
) -> impl Iterator<Item = &'a OutageRow> {
    let mine = outages.iter().filter(move |row| row.provider == provider);
    mine.filter(|row| part.clipped(row.failed, row.restored.unwrap_or(f64::INFINITY)).is_some())
}

/// The jobs that were submitted in a part of a run, one after the other.
pub(crate) fn each_in(
    run: &Tables,
    part: &Part,
    mut take: impl FnMut(&JobTimes),
) -> Result<(), ResultsError> {
    JobTimes::each(run.run(), &Rows::all(), |job| {
        if is_in(part, &job) {
            take(&job);
        }
    })
}

fn is_in(part: &Part, job: &JobTimes) -> bool {
    let provider = job.provider.as_deref();
    let at_provider = || provider.is_some_and(|provider| part.has_provider(provider));
    part.has_instant(job.submit) && (part.providers.is_empty() || at_provider())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_come_in_their_order() {
        let mut names = ["w10", "w2", "w1", "day", "w2b", "3", "20"];
        names.sort_by_cached_key(|name| natural(name));
        assert_eq!(names, ["3", "20", "day", "w1", "w2", "w2b", "w10"]);
    }
}
