//! Priority keys taken from a field of the job.

use super::super::{JobStream, StreamItem};
use haggle_model::{Job, Span};

/// Gives each job a priority key. Where a provider orders by it, smaller keys go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Field of the job that becomes its key.
    pub field: KeyField,
    /// Order of keys: small or large values first.
    pub order: KeyOrder,
}

haggle_model::words! {
    /// A field that can be the priority key of a job.
    pub enum KeyField {
        /// The number of its user in the log.
        User = "user",
        /// The number of its group in the log.
        Group = "group",
        /// The number of its executable in the log.
        Executable = "executable",
        /// The number of its queue in the log.
        Queue = "queue",
        /// The number of its partition in the log.
        Partition = "partition",
        /// Its own number in the log.
        Number = "number",
        /// Its processors.
        Processors = "processors",
        /// Its requested time in microseconds; no limit is longest.
        RequestedTime = "requested-time",
    }
}

haggle_model::words! {
    /// Values of the key that go first.
    #[derive(Default)]
    pub enum KeyOrder {
        /// Small values: the field itself is the key.
        #[default]
        SmallFirst = "small-first",
        /// Large values: the field times -1 is the key.
        LargeFirst = "large-first",
    }
}

impl Key {
    pub(super) fn apply(self, jobs: JobStream) -> JobStream {
        Box::new(jobs.map(move |job: StreamItem| {
            let mut job = job?;
            job.key = self.of(&job);
            Ok(job)
        }))
    }

    fn of(self, job: &Job) -> i64 {
        let value = match self.field {
            KeyField::User => job.origin.user.into(),
            KeyField::Group => job.origin.group.into(),
            KeyField::Executable => job.origin.executable.into(),
            KeyField::Queue => job.origin.queue.into(),
            KeyField::Partition => job.origin.partition.into(),
            KeyField::Number => job.number,
            KeyField::Processors => job.processors.into(),
            KeyField::RequestedTime => job.requested_time.unwrap_or(Span::FOREVER).as_micros(),
        };
        match self.order {
            KeyOrder::SmallFirst => value,
            // The smallest number has no positive counterpart.
            KeyOrder::LargeFirst => value.saturating_neg(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::{after, submitted_at};
    use super::*;

    #[test]
    fn a_key_is_a_field_or_its_negative() {
        let mut jobs = submitted_at(&[0]);
        jobs[0].origin.queue = 3;
        let key = |field, order| after(&[Step::Key(Key { field, order })], jobs.clone())[0].key;
        assert_eq!(key(KeyField::Queue, KeyOrder::SmallFirst), 3);
        assert_eq!(key(KeyField::Queue, KeyOrder::LargeFirst), -3);
        assert_eq!(key(KeyField::User, KeyOrder::SmallFirst), -1);
        assert_eq!(key(KeyField::RequestedTime, KeyOrder::SmallFirst), 60_000_000);
    }
}
