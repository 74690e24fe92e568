//! Reads Gantt charts from the folders of runs.

use std::collections::{BTreeMap, BTreeSet};

use haggle_model::AttemptOutcome;
use haggle_results::about::SiteInfo;
use haggle_results::reader::{MaintenanceRow, NodeRow};
use haggle_results::{About, JobRow, PlacementRow, ResourceRow, ResultsError};

use crate::Figure;
use crate::ask::Ask;
use crate::attempts::Outage;
use crate::error::PlotError;
use crate::gantt::{BarLabels, Gantt, GanttBar, GanttLoss, GanttNode, GanttOutage, GanttProvider};
use crate::grouping::Grouping;
use crate::load::{By, Part, Tables, TaskNames, changes_of, natural, outages_of, user_of};
use crate::owners::Owners;

/// The requested chart. Without a requested grouping, jobs are grouped by the property in which they differ.
pub(crate) fn asked(run: &Tables, ask: &Ask) -> Result<Figure, PlotError> {
    let title = ask.title(run.about()?, "schedule");
    chart(&[("", run)], title, ask)
}

/// The charts of several runs, one below the other, with one axis of time.
pub(crate) fn compared(runs: &[(String, Tables)], ask: &Ask) -> Result<Figure, PlotError> {
    let runs: Vec<(&str, &Tables)> = runs.iter().map(|(name, run)| (name.as_str(), run)).collect();
    let names: Vec<&str> = runs.iter().map(|(name, _)| *name).collect();
    chart(&runs, ask.title_of_several(&names, "schedules"), ask)
}

fn chart(runs: &[(&str, &Tables)], title: String, ask: &Ask) -> Result<Figure, PlotError> {
    let (by, grouping) = told_apart(runs, ask.group_by.as_deref())?;
    let clocks = runs.iter().map(|(_, run)| ask.clock(run)).collect::<Result<Vec<_>, _>>()?;
    if clocks.iter().any(|clock| *clock != clocks[0]) {
        let reason = "the runs begin at different dates: draw them without dates, or each alone";
        return Err(PlotError::NoValues(reason.to_owned()));
    }
    let mut groups = BTreeSet::new();
    for (_, run) in runs {
        groups.extend(groups_of(run, by)?);
    }
    let mut groups = Vec::from_iter(groups);
    // Numbers in names are ordered by value, so that `c10` follows `c9`.
    groups.sort_by_cached_key(|name| natural(name));
    let mut gantt = Gantt {
        title,
        providers: Vec::new(),
        group_label: if groups.len() > 1 { grouping.to_owned() } else { String::new() },
        groups,
        from: ask.part.from,
        until: ask.part.until,
        changes: changes_of(runs.iter().map(|(_, run)| *run))?,
        clock: clocks.first().copied().flatten(),
        by_job: by == By::Job,
        marked: Vec::new(),
    };
    let mut found = BTreeSet::new();
    for (number, (name, run)) in runs.iter().enumerate() {
        let mut marked = BTreeSet::new();
        for job in &ask.jobs {
            if let Some(row) = job.find(run.jobs()?) {
                marked.insert(row.job);
                found.insert(job);
                let name = format!("{}!{}", row.workload, row.job_id);
                if !gantt.marked.contains(&name) {
                    gantt.marked.push(name);
                }
            }
        }
        let read = Reading { run, by, labels: ask.labels, marked, groups: &gantt.groups };
        let mut providers = read.providers(&ask.part)?;
        let several = providers.len() > 1;
        for provider in providers.iter_mut().filter(|_| runs.len() > 1) {
            provider.run = number;
            provider.name = match several {
                true => format!("{name}, {}", provider.name),
                false => (*name).to_owned(),
            };
        }
        gantt.providers.extend(providers);
    }
    // One of the runs must have the job; the others need not.
    if let Some(missing) = ask.jobs.iter().find(|job| !found.contains(job)) {
        return Err(PlotError::NoJob(missing.to_string()));
    }
    // Tables name workloads, which may need a label. With `By::User`, groups have the names of users already.
    if let (By::Workload, Ok(grouping), [(_, run), ..]) = (by, Grouping::of(Some(grouping)), runs) {
        let about = run.about()?;
        gantt.groups.iter_mut().for_each(|it| *it = grouping.label(it, about));
    }
    Ok(Figure::Gantt(gantt))
}

/// The grouping of jobs, and its word.
fn told_apart(
    runs: &[(&str, &Tables)],
    word: Option<&str>,
) -> Result<(By, &'static str), PlotError> {
    match word {
        Some("job") => return Ok((By::Job, "job")),
        // Users of a log have numbers, which differ within a workload.
        Some("user") => return Ok((By::User, "user")),
        Some(word) => {
            let grouping = Grouping::of(Some(word)).map_err(|_| {
                PlotError::Unsuitable(format!(
                    "jobs of a gantt cannot be grouped by \"{word}\": use provider, user, class, workload, queue, account or job"
                ))
            })?;
            return Ok((grouping.by(), grouping.word()));
        }
        None => {}
    }
    let mut several = By::Nothing;
    for (_, run) in runs {
        // One grouping for all runs: class, if jobs of any run differ by it.
        several = match (several, differ_by(run)?) {
            (By::Class, _) | (_, By::Class) => By::Class,
            (By::Workload, _) | (_, By::Workload) => By::Workload,
            _ => By::Nothing,
        };
    }
    Ok((several, if several == By::Class { "class" } else { "workload" }))
}

/// The property in which the jobs of a run differ: class, workload, or none.
///
/// # Errors
/// If the results cannot be read.
pub fn differ_by(run: &Tables) -> Result<By, PlotError> {
    let jobs = run.jobs()?;
    let several = |name: fn(&JobRow) -> &String| names(jobs.iter(), name).len() > 1;
    Ok(match (several(|job| &job.class), several(|job| &job.workload)) {
        (true, _) => By::Class,
        (false, true) => By::Workload,
        (false, false) => By::Nothing,
    })
}

/// The Gantt chart of a run, with a colour for each group of jobs. Resources of a grid are left out,
/// because jobs share them.
///
/// # Errors
/// If the results cannot be read.
pub fn gantt(run: &Tables, title: &str, part: &Part, by: By) -> Result<Gantt, PlotError> {
    let mut groups = Vec::from_iter(groups_of(run, by)?);
    groups.sort_by_cached_key(|name| natural(name));
    let (labels, marked) = (BarLabels::default(), BTreeSet::new());
    let providers = Reading { run, by, labels, marked, groups: &groups }.providers(part)?;
    Ok(Gantt {
        title: title.to_owned(),
        providers,
        groups,
        group_label: String::new(),
        from: part.from,
        until: part.until,
        // Their instants are in the description of the run, which this chart does not need.
        changes: Vec::new(),
        clock: None,
        by_job: by == By::Job,
        marked: Vec::new(),
    })
}

/// The groups of the whole run, so that each has one colour in every part of it.
fn groups_of(run: &Tables, by: By) -> Result<BTreeSet<String>, PlotError> {
    let jobs = jobs(run)?;
    let about = if by.needs_about() { Some(run.about()?) } else { None };
    about.map_or(Ok(()), |about| Owners::new(about).check(by))?;
    let group = |row: &PlacementRow| group(row, jobs.get(&row.job).copied(), by, about);
    Ok(run.placements()?.iter().filter_map(group).collect())
}

fn group(
    row: &PlacementRow,
    job: Option<&JobRow>,
    by: By,
    about: Option<&About>,
) -> Option<String> {
    match by {
        By::Nothing => None,
        By::Provider => Some(row.provider.clone()),
        By::Class => job.map(|job| job.class.clone()),
        By::Workload => job.map(|job| job.workload.clone()),
        By::User => job.map(|job| user_of(job.user, &job.workload, about)),
        By::Queue => Some(Owners::new(about?).queue(&row.provider, job?.queue, job?.partition)),
        By::Account => Some(Owners::new(about?).account(&row.provider, job?.user, job?.group)),
        By::Job => Some(row.job.to_string()),
    }
}

fn jobs<'r>(run: &'r Tables) -> Result<BTreeMap<i64, &'r JobRow>, ResultsError> {
    Ok(run.jobs()?.iter().map(|job| (job.job, job)).collect())
}

/// A run whose providers are read.
struct Reading<'a, 'r> {
    run: &'a Tables<'r>,
    by: By,
    labels: BarLabels,
    /// The jobs that are marked, by their numbers in the run.
    marked: BTreeSet<i64>,
    groups: &'a [String],
}

impl Reading<'_, '_> {
    /// Its providers, with their bars in a part of the time.
    fn providers(&self, part: &Part) -> Result<Vec<GanttProvider>, PlotError> {
        let (run, jobs) = (self.run, jobs(self.run)?);
        let tells_users = self.by.needs_about() || self.labels == BarLabels::User;
        let about = if tells_users { Some(run.about()?) } else { None };
        let places: BTreeMap<&str, usize> =
            self.groups.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
        let losses = losses(run)?;
        let tells_names = self.labels == BarLabels::Name;
        let names = if tells_names { Some(run.task_names()?) } else { None };
        let mut bars: BTreeMap<&str, Vec<GanttBar>> = BTreeMap::new();
        for row in run.placements()?.iter().filter(|row| part.has_provider(&row.provider)) {
            let Some((start, end)) = part.clipped(row.start, row.end) else {
                continue;
            };
            let job = jobs.get(&row.job).copied();
            let group = group(row, job, self.by, about);
            let loss = losses.get(&(row.job, row.attempt));
            bars.entry(&row.provider).or_default().push(GanttBar {
                label: job.map_or_else(String::new, |job| self.label(job, (about, names))),
                job: row.job,
                is_task: job.is_some_and(JobRow::is_bag),
                is_marked: self.marked.contains(&row.job),
                group: group.and_then(|name| places.get(name.as_str()).copied()).unwrap_or(0),
                first: u32::try_from(row.first).unwrap_or(0),
                last: u32::try_from(row.last).unwrap_or(0),
                start,
                end,
                // The other tasks of a bag may have continued.
                lost: loss.filter(|(_, end)| *end == Some(row.end)).map(|&(loss, _)| loss),
            });
        }
        let (outages, maintenance) = (run.outages()?, run.maintenance()?);
        let nodes = run.nodes()?;
        let sites = if nodes.is_empty() { None } else { Some(&run.about()?.sites) };
        let provider = |resource: &ResourceRow| GanttProvider {
            bars: bars.remove(resource.provider.as_str()).unwrap_or_default(),
            run: 0,
            outages: outages_of(outages, &resource.provider, part)
                .map(|row| GanttOutage {
                    first: u32::try_from(row.first).unwrap_or(0),
                    last: u32::try_from(row.last).unwrap_or(0),
                    time: Outage { from: row.failed, until: row.restored },
                })
                .collect(),
            maintenance: closed(maintenance, &resource.provider, part).collect(),
            first: u32::try_from(resource.first).unwrap_or(0),
            processors: u32::try_from(resource.processors).unwrap_or(0),
            nodes: nodes_of(nodes, &resource.provider, sites),
            name: resource.provider.clone(),
        };
        let drawn = run.resources()?.iter();
        let drawn = drawn.filter(|it| !it.is_shared() && part.has_provider(&it.provider));
        Ok(drawn.map(provider).collect())
    }

    fn label(&self, job: &JobRow, (about, names): (Option<&About>, Option<&TaskNames>)) -> String {
        let name = || {
            let (workflow, task) = job.in_workflow()?;
            names?.get(&(job.workload.clone(), workflow, task)).cloned()
        };
        match self.labels {
            BarLabels::JobId => job.job_id.to_string(),
            BarLabels::User => user_of(job.user, &job.workload, about),
            BarLabels::Name => name().unwrap_or_else(|| format!("{}!{}", job.workload, job.job_id)),
            BarLabels::None => String::new(),
        }
    }
}

/// The nodes of a provider.
fn nodes_of(
    rows: &[NodeRow],
    provider: &str,
    sites: Option<&BTreeMap<String, SiteInfo>>,
) -> Vec<GanttNode> {
    let site = sites.and_then(|it| it.get(provider));
    let node = |row: &NodeRow| GanttNode {
        group: site.and_then(|it| it.group_of_node(row.node)).unwrap_or_default().to_owned(),
        number: u32::try_from(row.node).unwrap_or(0),
        first: u32::try_from(row.first).unwrap_or(0),
        last: u32::try_from(row.last).unwrap_or(0),
    };
    rows.iter().filter(|row| row.provider == provider).map(node).collect()
}

/// Attempts by job and number.
type Losses = BTreeMap<(i64, i64), (GanttLoss, Option<f64>)>;

/// Attempts whose work was lost, with their end times.
fn losses(run: &Tables) -> Result<Losses, ResultsError> {
    let lost = run.attempts()?.iter().filter_map(|row| {
        let loss = match row.outcome {
            AttemptOutcome::Failed => GanttLoss::Failed,
            AttemptOutcome::Preempted => GanttLoss::Preempted,
            AttemptOutcome::GivenUp => GanttLoss::GivenUp,
            _ => return None,
        };
        Some(((row.job, row.attempt), (loss, row.end)))
    });
    Ok(lost.collect())
}

/// Maintenance of a provider's processors in the part that is drawn.
fn closed<'a>(
    rows: &'a [MaintenanceRow],
    provider: &'a str,
    part: &'a Part,
) -> impl Iterator<Item = GanttOutage> {
    let mine = rows.iter().filter(move |row| row.provider == provider);
    mine.filter_map(|row| {
        let (first, last) = row.interval()?;
        let (from, until) = part.clipped(row.start, row.end)?;
        Some(GanttOutage {
            first: u32::try_from(first).unwrap_or(0),
            last: u32::try_from(last).unwrap_or(0),
            time: Outage { from, until: Some(until) },
        })
    })
}

/// The distinct names.
fn names<'a>(
    jobs: impl Iterator<Item = &'a JobRow>,
    name: impl Fn(&'a JobRow) -> &'a String,
) -> BTreeSet<&'a String> {
    jobs.map(name).collect()
}
