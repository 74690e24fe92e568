//! Consecutive jobs from the middle of a workload.

use super::super::{JobStream, StreamItem};

/// Drops the first `skip` jobs and keeps the next `jobs`.
///
/// Reading stops at the last job that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Jobs to drop.
    pub skip: u64,
    /// Jobs to keep after them.
    pub jobs: u64,
}

impl Slice {
    pub(super) fn apply(self, mut jobs: JobStream) -> impl Iterator<Item = StreamItem> + Send {
        let Slice { mut skip, jobs: mut left } = self;
        std::iter::from_fn(move || {
            while left > 0 {
                let item = jobs.next()?;
                // Errors must pass; otherwise a broken log would look like a short one.
                if item.is_err() || skip == 0 {
                    left -= 1;
                    return Some(item);
                }
                skip -= 1;
            }
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, numbers, submitted_at};
    use super::*;
    use crate::WorkloadError;

    #[test]
    fn a_slice_begins_and_ends_at_a_job() {
        let slice = |skip, jobs| {
            let slice = Step::Slice(Slice { skip, jobs });
            numbers(&after(&[slice], submitted_at(&[0, 1, 2, 3])))
        };
        assert_eq!(slice(0, 9), [1, 2, 3, 4]);
        assert_eq!(slice(1, 2), [2, 3]);
        assert_eq!(slice(3, 2), [4]);
        assert!(slice(4, 2).is_empty());
        assert!(slice(1, 0).is_empty());
    }

    #[test]
    fn an_error_ahead_of_the_slice_is_not_passed_over() {
        let broken: JobStream = Box::new(std::iter::once(Err(WorkloadError::TooManyJobs)));
        let found: Vec<_> = Slice { skip: 5, jobs: 1 }.apply(broken).collect();
        assert!(matches!(found[..], [Err(_)]));
    }
}
