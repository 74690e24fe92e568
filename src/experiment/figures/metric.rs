//! Metrics as named values: what of a summary each is, what it is called and in which unit it is drawn.

use haggle_plots::time_unit;
use haggle_results::Summary;
use haggle_results::metrics::{Distribution, Group};

use crate::scenario::file::Metric;

/// The metrics of a run that its summary has, in the order of the format.
/// Messages are not among them: a summary does not count them.
pub fn metrics(summary: &Summary) -> Vec<(Metric, f64)> {
    let value = |metric| match metric {
        Metric::Makespan => summary.makespan,
        Metric::Utilisation => summary.utilisation,
        Metric::LostWork => match (&summary.failures, &summary.grid) {
            (Some(failures), _) => failures.lost_percent_of_work,
            (None, grid) => grid.as_ref()?.lost_percent_of_work,
        },
        Metric::Availability => match (&summary.failures, &summary.grid) {
            (Some(failures), _) => failures.availability,
            (None, grid) => grid.as_ref()?.availability,
        },
        metric => of_group(&summary.all, metric),
    };
    Metric::ALL.into_iter().filter_map(|metric| Some((metric, value(metric)?))).collect()
}

/// A metric of some of a run's jobs, if it has one for them.
pub fn of_group(group: &Group, metric: Metric) -> Option<f64> {
    let mean = |values: Option<Distribution>| values.map(|values| values.mean);
    match metric {
        Metric::MeanWaitingTime => mean(group.waiting_time),
        Metric::MedianWaitingTime => group.waiting_time.map(|values| values.median),
        Metric::MeanTurnaroundTime => mean(group.turnaround_time),
        Metric::MeanSlowdown => mean(group.slowdown),
        Metric::MeanBoundedSlowdown => mean(group.bounded_slowdown),
        Metric::Utilisation => group.utilisation,
        Metric::CompletedJobs => Some(group.outcomes.completed as f64),
        Metric::RejectedJobs => Some(group.outcomes.rejected as f64),
        Metric::FailedJobs => Some(group.outcomes.failed as f64),
        whole => {
            debug_assert!(whole.is_whole());
            None
        }
    }
}

/// A metric in words.
pub(super) fn title(metric: Metric) -> &'static str {
    match metric {
        Metric::MeanWaitingTime => "mean waiting time",
        Metric::MedianWaitingTime => "median waiting time",
        Metric::MeanTurnaroundTime => "mean turnaround time",
        Metric::MeanSlowdown => "mean slowdown",
        Metric::MeanBoundedSlowdown => "mean bounded slowdown",
        Metric::Utilisation => "utilisation",
        Metric::Makespan => "makespan",
        Metric::CompletedJobs => "completed jobs",
        Metric::RejectedJobs => "rejected jobs",
        Metric::FailedJobs => "failed jobs",
        Metric::LostWork => "lost work",
        Metric::Availability => "availability",
        Metric::Messages => "messages",
    }
}

/// The unit in which values are drawn.
pub(super) struct Scale {
    /// What a value is multiplied by.
    pub(super) factor: f64,
    /// The label of the axis.
    pub(super) label: String,
}

impl Scale {
    /// The unit that suits these values.
    pub(super) fn of(metric: Metric, values: impl Iterator<Item = f64>) -> Scale {
        let title = title(metric);
        match metric {
            Metric::MeanWaitingTime
            | Metric::MedianWaitingTime
            | Metric::MeanTurnaroundTime
            | Metric::Makespan => {
                let (unit, seconds) = time_unit(values.fold(0.0, f64::max));
                Scale { factor: 1.0 / seconds, label: format!("{title}, {unit}") }
            }
            Metric::Utilisation | Metric::Availability => {
                Scale { factor: 100.0, label: format!("{title}, %") }
            }
            Metric::LostWork => Scale { factor: 1.0, label: format!("{title}, %") },
            _ => Scale { factor: 1.0, label: title.to_owned() },
        }
    }
}
