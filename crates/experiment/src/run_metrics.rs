//! All metrics of a run of a sweep, by the names that its tables, figures and comparisons share.

use haggle_model::JobClass;
use haggle_results::metrics::named::of_run;
use haggle_results::{ResultsError, RunReader, Summary, SweepFolder};
use haggle_scenario::{Experiment, References, Run};

use crate::compare::impact::{ALL, Impact, Impacts, impacts};
use crate::figures::of_groups;

/// Most providers, users, classes or workloads that have metrics of their own in a sweep. The
/// metrics of a thousand providers would take most of its memory.
const GROUPS_MOST: usize = 64;

/// Source of the metrics of the runs of a sweep.
pub(crate) struct RunMetrics<'e> {
    there: &'e SweepFolder,
    references: Option<References<'e>>,
}

impl<'e> RunMetrics<'e> {
    /// Metrics of a sweep whose results are in `there`.
    pub(crate) fn new(experiment: &'e Experiment, there: &'e SweepFolder) -> RunMetrics<'e> {
        RunMetrics { there, references: References::of(experiment) }
    }

    /// Metrics of a whole run, and of its jobs relative to its reference run.
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

    /// The same, and the metrics of groups of jobs.
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

/// Effects on jobs relative to the reference run: of all jobs and, if there are two classes, of
/// each.
fn impact(impacts: &Impacts, metrics: &mut Vec<(String, f64)>) {
    let classes = [JobClass::Local, JobClass::External].map(JobClass::name);
    // With one class, its effect is that of all jobs.
    let both = classes.iter().all(|class| impacts.contains_key(*class));
    let groups = [ALL].into_iter().chain(classes.into_iter().filter(|_| both));
    for group in groups {
        let Some(impact) = impacts.get(group) else { continue };
        let place = if group == ALL { String::new() } else { format!("{group}.") };
        let values = Impact::NAMES.into_iter().filter_map(|name| Some((name, impact.value(name)?)));
        metrics.extend(values.map(|(name, value)| (format!("impact.{place}{name}"), value)));
    }
}
