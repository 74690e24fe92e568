//! One line of a log: its 18 fields, unchanged.

use haggle_model::{Job, Span, Time};

/// The names of the 18 fields, in order.
pub const FIELD_NAMES: [&str; 18] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average cpu time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];

/// Value of a field with a length of time if the log has -1, which means unknown.
pub const UNKNOWN_SPAN: Span = Span::from_secs(-1);

/// The 18 fields of a line; -1 = unknown.
///
/// Times are kept to the microsecond, and further decimals round up, because
/// some logs give fractions of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwfRecord {
    /// 1: the job's number in the log.
    pub number: i64,
    /// 2: submission, counted from the header's start time.
    pub submit: Time,
    /// 3: waiting time.
    pub wait: Span,
    /// 4: run time.
    pub run_time: Span,
    /// 5: processors allocated.
    pub allocated_processors: i32,
    /// 6: processor time used, averaged over its processors.
    pub average_cpu_time: Span,
    /// 7: memory used per processor, KB.
    pub used_memory: i64,
    /// 8: processors requested.
    pub requested_processors: i32,
    /// 9: requested time (walltime).
    pub requested_time: Span,
    /// 10: memory requested per processor, KB.
    pub requested_memory: i64,
    /// 11: 0 failed, 1 completed, 2 to 4 part of a job that was stopped and restarted, 5 cancelled.
    pub status: i32,
    /// 12: user number.
    pub user: i32,
    /// 13: group number.
    pub group: i32,
    /// 14: executable (application) number.
    pub executable: i32,
    /// 15: queue number.
    pub queue: i32,
    /// 16: partition number.
    pub partition: i32,
    /// 17: number of the job that this one waits for.
    pub preceding_job: i64,
    /// 18: time between the end of that job and this submission.
    pub think_time: Span,
}

impl SwfRecord {
    /// A line in which only number and submission are known.
    pub const fn unknown(number: i64, submit: Time) -> SwfRecord {
        SwfRecord {
            number,
            submit,
            wait: UNKNOWN_SPAN,
            run_time: UNKNOWN_SPAN,
            allocated_processors: -1,
            average_cpu_time: UNKNOWN_SPAN,
            used_memory: -1,
            requested_processors: -1,
            requested_time: UNKNOWN_SPAN,
            requested_memory: -1,
            status: -1,
            user: -1,
            group: -1,
            executable: -1,
            queue: -1,
            partition: -1,
            preceding_job: -1,
            think_time: UNKNOWN_SPAN,
        }
    }

    /// A job that no simulation has run. A job of a log keeps all fields that the log has. A job of a
    /// model has status 1, because many readers keep only jobs that are marked as completed.
    pub fn from_job(job: &Job) -> SwfRecord {
        let processors = processors_field(job.processors);
        let (origin, logged) = (&job.origin, job.origin.logged());
        let (allocated_processors, status) = match origin.logged {
            Some(_) => (logged.allocated_processors, logged.status),
            None => (processors, 1),
        };
        SwfRecord {
            wait: logged.wait,
            run_time: job.run_time.reveal_to_machine(),
            allocated_processors,
            average_cpu_time: logged.average_cpu_time,
            used_memory: logged.used_memory,
            requested_processors: processors,
            requested_time: job.requested_time.unwrap_or(UNKNOWN_SPAN),
            requested_memory: logged.requested_memory,
            status,
            user: origin.user,
            group: origin.group,
            executable: origin.executable,
            queue: origin.queue,
            partition: origin.partition,
            preceding_job: logged.preceding_job,
            think_time: logged.think_time,
            ..SwfRecord::unknown(job.number, job.submit)
        }
    }
}

fn processors_field(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_before_a_run_has_no_wait() {
        let record = SwfRecord::from_job(&Job::new(0, Time::ZERO, 4, Span::from_secs(60)));
        assert_eq!((record.wait, record.status), (UNKNOWN_SPAN, 1));
        assert_eq!(record.requested_processors, 4);
    }
}
