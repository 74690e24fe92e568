//! Options of a figure of one run, or of several, besides its kind.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use haggle_results::{About, JobRow};

use crate::axis::Limits;
use crate::error::PlotError;
use crate::gantt::BarLabels;
use crate::load::{Part, Tables};

/// Options of a figure besides its kind. A kind reads the options that it uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    /// Its title; without it, the name of the scenario and the content of the figure.
    pub title: Option<String>,
    /// Common name of several runs in the title; without it, the names of the runs.
    pub about: Option<String>,
    /// The part of the run that is drawn.
    pub part: Part,
    /// The jobs that the figure shows or marks.
    pub jobs: Vec<JobName>,
    /// Text on bars.
    pub labels: BarLabels,
    /// Word for the grouping of jobs.
    pub group_by: Option<String>,
    /// True if its axis of time has dates.
    pub dates: bool,
    /// True if distribution functions are shown as 1 - F.
    pub complement: bool,
    /// True if distribution functions have a curve of the times that logs have recorded.
    pub recorded: bool,
    /// Ends of its x axis.
    pub x_limits: Limits,
    /// Ends of its y axis.
    pub y_limits: Limits,
}

/// Name of a job in options.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobName {
    /// By its number in the run.
    InRun(i64),
    /// By its workload and its number there.
    InWorkload(String, i64),
}

impl JobName {
    /// Finds the job among those of a run.
    pub fn find<'j>(&self, jobs: &'j [JobRow]) -> Option<&'j JobRow> {
        jobs.iter().find(|job| match self {
            JobName::InRun(number) => job.job == *number,
            JobName::InWorkload(workload, number) => {
                job.job_id == *number && job.workload == *workload
            }
        })
    }
}

impl Display for JobName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            JobName::InRun(number) => write!(f, "{number}"),
            JobName::InWorkload(workload, number) => write!(f, "{workload}!{number}"),
        }
    }
}

impl FromStr for JobName {
    type Err = ();

    fn from_str(text: &str) -> Result<JobName, ()> {
        let number = |text: &str| text.parse::<u32>().ok().map(i64::from);
        // The number is behind the last `!`, so the name of a workload may contain one.
        let name = match text.rsplit_once('!') {
            Some((workload, job)) => {
                number(job).map(|job| JobName::InWorkload(workload.to_owned(), job))
            }
            None => number(text).map(JobName::InRun),
        };
        name.ok_or(())
    }
}

impl Ask {
    /// Number of the requested job in the run, if there is one.
    pub(crate) fn job(&self, run: &Tables) -> Result<Option<i64>, PlotError> {
        let found = |name: &JobName| -> Result<i64, PlotError> {
            match name {
                JobName::InRun(number) => Ok(*number),
                JobName::InWorkload(..) => {
                    let row = name.find(run.jobs()?);
                    Ok(row.ok_or_else(|| PlotError::NoJob(name.to_string()))?.job)
                }
            }
        };
        self.jobs.first().map(found).transpose()
    }

    /// Its own title, or its content after the names of the runs.
    pub(crate) fn title_of_several(&self, names: &[&str], what: &str) -> String {
        let about = self.about.clone().unwrap_or_else(|| names.join(", "));
        self.title.clone().unwrap_or_else(|| format!("{about}: {what}"))
    }

    /// Its own title, or its content after the name of the scenario.
    pub fn title(&self, about: &About, what: &str) -> String {
        let scenario = about.name.as_deref().unwrap_or("scenario");
        self.title.clone().unwrap_or_else(|| format!("{scenario}: {what}"))
    }

    /// Local time at time zero, if the axis has dates.
    pub(crate) fn clock(&self, run: &Tables) -> Result<Option<i64>, PlotError> {
        if !self.dates {
            return Ok(None);
        }
        let clock = run.run().provenance()?.local_time_at_zero;
        let reason = "the run has no dates: there is no log, its header has no UnixStartTime, logs differ in their \
                      dates, or a step moved its jobs";
        clock.map(Some).ok_or_else(|| PlotError::NoValues(reason.to_owned()))
    }
}
