//! Steps that must read all jobs before they can pass on the first.

use super::super::error::WorkloadError;
use super::super::{JobStream, StreamItem};
use haggle_model::Job;

/// The result of `change` on all `jobs`. These are read into memory when the first result is requested.
pub(super) fn of_all(
    jobs: JobStream,
    change: impl FnOnce(Vec<Job>) -> Result<Vec<Job>, WorkloadError> + Send + 'static,
) -> JobStream {
    let all =
        move || -> Result<Vec<Job>, WorkloadError> { change(jobs.collect::<Result<_, _>>()?) };
    let changed = std::iter::once_with(all).flat_map(|changed| -> Vec<StreamItem> {
        match changed {
            Ok(jobs) => jobs.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        }
    });
    Box::new(changed)
}
