//! What is asked of a figure of one run, or of several, besides its kind.

use haggle_results::About;

use crate::axis::Limits;
use crate::error::PlotError;
use crate::load::{Part, Tables};

/// What is asked of a figure besides its kind. A kind reads what it has a use for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    /// Its title; without it, the name of the scenario and what is shown.
    pub title: Option<String>,
    /// Which part of the run is drawn.
    pub part: Part,
    /// The job that it is about, by its number in the run.
    pub job: Option<i64>,
    /// By what jobs are told apart, in a word.
    pub group_by: Option<String>,
    /// Whether its axis of time has dates.
    pub dates: bool,
    /// Whether distribution functions are shown as 1 - F.
    pub complement: bool,
    /// Where its x axis ends.
    pub x_limits: Limits,
    /// Where its y axis ends.
    pub y_limits: Limits,
}

impl Ask {
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
