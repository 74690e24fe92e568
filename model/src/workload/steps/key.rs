//! Priority keys taken from a field of the job.

use super::super::{JobStream, StreamItem};
use crate::{Job, Span};

/// Gives each job a priority key; smaller goes first where a provider orders by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// Where the key comes from.
    pub field: KeyField,
    /// Whether small or large values go first.
    pub order: KeyOrder,
}

/// A field that can be a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyField {
    /// User number.
    User,
    /// Group number.
    Group,
    /// Executable number.
    Executable,
    /// Queue number.
    #[default]
    Queue,
    /// Partition number.
    Partition,
    /// Number in the log.
    Number,
    /// Processors.
    Processors,
    /// Requested time, microseconds; no limit is longest.
    RequestedTime,
}

/// Which values go first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyOrder {
    /// The field itself is the key.
    #[default]
    SmallFirst,
    /// The field times -1 is the key.
    LargeFirst,
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
