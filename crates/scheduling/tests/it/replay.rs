//! Drives one scheduler through a list of jobs: submissions before ends at one instant, and one scheduling pass after
//! each event.

use haggle_model::{Span, Time};
use haggle_scheduling::{LocalScheduler, Request, Slot};

/// A job of a test, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TestJob {
    pub(crate) submit: i64,
    /// 0 = no limit.
    pub(crate) requested: i64,
    pub(crate) run: i64,
    pub(crate) processors: u32,
    pub(crate) key: i64,
}

impl TestJob {
    pub(crate) fn new(submit: i64, requested: i64, run: i64, processors: u32) -> TestJob {
        TestJob { submit, requested, run, processors, key: 0 }
    }

    pub(crate) fn actual(&self) -> i64 {
        if self.requested == 0 { self.run } else { self.run.min(self.requested) }
    }
}

/// Result of a replay: the start of each job (s) and its promised completion.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) starts: Vec<i64>,
    pub(crate) promises: Vec<Option<i64>>,
}

/// Replays `jobs` (in order of submission) and checks at every event that no
/// more processors are in use than the machine has.
pub(crate) fn replay(
    scheduler: &mut dyn LocalScheduler,
    processors: u32,
    jobs: &[TestJob],
) -> Outcome {
    let mut starts: Vec<Option<i64>> = vec![None; jobs.len()];
    let mut promises = vec![None; jobs.len()];
    let mut running: Vec<(i64, usize)> = Vec::new(); // (end, job)
    let mut next = 0;
    let mut started = Vec::new();
    let seconds = |time: Time| time.as_micros() / 1_000_000;
    while starts.iter().any(Option::is_none) || !running.is_empty() {
        let submission = jobs.get(next).map(|job| job.submit);
        let end = running.iter().min().copied();
        let planned = scheduler.next_start().map(seconds);
        let upcoming = [submission, end.map(|(time, _)| time), planned];
        let now = upcoming.into_iter().flatten().min().expect("a job that waits will start");
        let at = Time::from_secs(now);
        if submission == Some(now) {
            let span = Some(Span::from_secs(jobs[next].requested)).filter(|&it| it > Span::ZERO);
            let TestJob { processors, key, .. } = jobs[next];
            let request = Request { key, ..Request::new(Slot(next as u32), processors, span) };
            promises[next] = scheduler.submit(at, request).map(seconds);
            next += 1;
        } else if let Some((_, job)) = end.filter(|&(time, _)| time == now) {
            running.retain(|&(_, other)| other != job);
            scheduler.finished(at, Slot(job as u32));
        }
        scheduler.start_due(at, &mut started);
        for slot in started.drain(..) {
            assert!(starts[slot.index()].is_none(), "{slot:?} starts twice");
            starts[slot.index()] = Some(now);
            running.push((now + jobs[slot.index()].actual(), slot.index()));
        }
        let used: u32 = running.iter().map(|&(_, job)| jobs[job].processors).sum();
        assert!(used <= processors, "{used} processors in use of {processors}");
    }
    assert_eq!(scheduler.queue_length(), 0);
    let starts = starts.into_iter().map(|start| start.expect("every job has started")).collect();
    Outcome { starts, promises }
}
