//! What is asked of a figure of one run, or of several, besides its kind.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use haggle_results::{About, JobRow};

use crate::axis::Limits;
use crate::error::PlotError;
use crate::gantt::BarLabels;
use crate::load::{Part, Tables};

/// What is asked of a figure besides its kind. A kind reads what it has a use for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    /// Its title; without it, the name of the scenario and what is shown.
    pub title: Option<String>,
    /// What several runs together are called, before what is shown; without it, by their names.
    pub about: Option<String>,
    /// Which part of the run is drawn.
    pub part: Part,
    /// The jobs that it is about, or that it marks.
    pub jobs: Vec<JobName>,
    /// What is written on bars.
    pub labels: BarLabels,
    /// By what jobs are told apart, in a word.
    pub group_by: Option<String>,
    /// True if its axis of time has dates.
    pub dates: bool,
    /// True if distribution functions are shown as 1 - F.
    pub complement: bool,
    /// Where its x axis ends.
    pub x_limits: Limits,
    /// Where its y axis ends.
    pub y_limits: Limits,
}

/// A job as people name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobName {
    /// By its number in the run.
    InRun(i64),
    /// By its workload and its number in that.
    InWorkload(String, i64),
}

impl JobName {
    /// The job among those of a run.
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
    /// The number in the run of the job that it is about, if it names one.
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

    /// Its own title, or what it shows behind the names of the runs.
    pub(crate) fn title_of_several(&self, names: &[&str], what: &str) -> String {
        let about = self.about.clone().unwrap_or_else(|| names.join(", "));
        self.title.clone().unwrap_or_else(|| format!("{about}: {what}"))
    }

    /// Its own title, or what it shows behind the scenario's name.
    pub fn title(&self, about: &About, what: &str) -> String {
        let scenario = about.name.as_deref().unwrap_or("scenario");
        self.title.clone().unwrap_or_else(|| format!("{scenario}: {what}"))
    }

    /// What the clock on the wall showed at time zero, if it has dates.
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
