//! All metrics of a run of a sweep, by the names that its tables, figures and comparisons share.

use haggle_model::JobClass;
use haggle_results::metrics::named::of_run;
use haggle_results::{ResultsError, RunReader, Summary, SweepFolder};
use haggle_scenario::{Experiment, References, Run};

use crate::compare::impact::{ALL, Impact, Impacts, impacts};
use crate::figures::of_groups;

/// How many providers, users, classes or workloads have metrics of their own in a sweep: those of a thousand
/// providers would be most of its memory.
const GROUPS_MOST: usize = 64;

/// Where the metrics of the runs of a sweep come from.
pub(crate) struct RunMetrics<'e> {
    there: &'e SweepFolder,
    references: Option<References<'e>>,
}

impl<'e> RunMetrics<'e> {
    /// Those of a sweep whose results are `there`.
    pub(crate) fn new(experiment: &'e Experiment, there: &'e SweepFolder) -> RunMetrics<'e> {
        RunMetrics { there, references: References::of(experiment) }
    }

    /// Those of a run as a whole, and of its jobs relative to the run that is its reference.
    ///
    /// # Errors
    /// If the results of the reference cannot be read.
    pub(crate) fn whole(
        &self,
        run: &Run<'_>,
        reader: &RunReader,
        summary: &Summary,
    ) -> Result<Vec<(String, f64)>, ResultsError> {
        let mut metrics = of_run(summary);
        let reference = self.references.as_ref().and_then(|it| it.run(run));
        let base = reference.map(|base| self.there.run(base.number, &base.folder())).transpose()?;
        if let Some(base) = base.flatten() {
            impact(&impacts(&base, reader)?, &mut metrics);
        }
        Ok(metrics)
    }

    /// The same, and those of groups of jobs.
    ///
    /// # Errors
    /// If results cannot be read.
    pub(crate) fn all(
        &self,
        run: &Run<'_>,
        reader: &RunReader,
        summary: &Summary,
    ) -> Result<Vec<(String, f64)>, ResultsError> {
        let mut metrics = self.whole(run, reader, summary)?;
        metrics.extend(groups(reader, summary)?);
        Ok(metrics)
    }
}

/// The metrics of groups of a run's jobs.
///
/// # Errors
/// If its provenance cannot be read.
pub(crate) fn groups(
    reader: &RunReader,
    summary: &Summary,
) -> Result<Vec<(String, f64)>, ResultsError> {
    Ok(of_groups(summary, &reader.provenance()?.about, GROUPS_MOST))
}

/// What became of jobs relative to the run that is the reference: of all, and where there are two classes,
/// of each.
fn impact(impacts: &Impacts, metrics: &mut Vec<(String, f64)>) {
    let classes = [JobClass::Local, JobClass::External].map(JobClass::name);
    let both = classes.iter().all(|class| impacts.contains_key(*class));
    let groups = [ALL].into_iter().chain(classes.into_iter().filter(|_| both));
    for group in groups {
        let Some(impact) = impacts.get(group) else { continue };
        let place = if group == ALL { String::new() } else { format!("{group}.") };
        let values = Impact::NAMES.into_iter().filter_map(|name| Some((name, impact.value(name)?)));
        metrics.extend(values.map(|(name, value)| (format!("impact.{place}{name}"), value)));
    }
}
