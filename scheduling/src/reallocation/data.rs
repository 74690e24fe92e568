//! Where the data of jobs are, and what it costs to move a job.

use std::collections::BTreeMap;

use haggle_model::{JobId, Span, StageIn, Time};

/// What it costs to move a job that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MoveCost {
    /// For how long its data are on their way, whatever else is.
    pub transfer: Span,
    /// For how long it holds its processors before it computes.
    pub start_up: Span,
}

/// What the jobs on the desk need where they were sent to last. None of those that bring their data
/// along is here: they have been sent to nobody yet.
#[derive(Debug)]
pub struct DataPlaces {
    cost: MoveCost,
    /// By job, the place of a provider, and what the job needs there.
    jobs: BTreeMap<JobId, (usize, StageIn)>,
}

impl DataPlaces {
    /// All jobs bring their data along as yet.
    pub fn new(cost: MoveCost) -> DataPlaces {
        DataPlaces { cost, jobs: BTreeMap::new() }
    }

    /// What a job would need if it were sent to this place now: nothing where it is sent first, and
    /// nothing else where it is already. From there its data go on when they have come.
    pub fn stage_in(&self, now: Time, job: JobId, place: usize) -> StageIn {
        let MoveCost { transfer, start_up } = self.cost;
        match self.jobs.get(&job) {
            None => StageIn::NOTHING,
            Some(&(at, stage_in)) if at == place => stage_in,
            Some((_, stage_in)) => {
                let leave = stage_in.ready.max(now);
                let ready = if transfer > Span::ZERO { leave + transfer } else { Time::ZERO };
                StageIn { ready, start_up }
            }
        }
    }

    /// Whether the data of a job are still on their way to where it was sent last. Who is looked at
    /// then may be sent on for ever: each time before its data have come.
    pub fn are_on_their_way(&self, now: Time, job: JobId) -> bool {
        self.jobs.get(&job).is_some_and(|(_, stage_in)| stage_in.ready > now)
    }

    /// A job is sent to this place.
    pub fn sent(&mut self, job: JobId, place: usize, stage_in: StageIn) {
        if self.cost != MoveCost::default() {
            self.jobs.insert(job, (place, stage_in));
        }
    }

    /// Forgets the jobs that are over.
    pub fn keep(&mut self, is_on_desk: impl Fn(JobId) -> bool) {
        self.jobs.retain(|&job, _| is_on_desk(job));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_secs(seconds)
    }

    #[test]
    fn data_go_on_when_they_have_come() {
        let (transfer, start_up) = (Span::from_secs(100), Span::from_secs(7));
        let mut data = DataPlaces::new(MoveCost { transfer, start_up });
        let job = JobId(3);
        assert_eq!(data.stage_in(at(5), job, 0), StageIn::NOTHING, "it brings its data along");
        data.sent(job, 0, StageIn::NOTHING);
        assert_eq!(data.stage_in(at(50), job, 0), StageIn::NOTHING);
        assert!(!data.are_on_their_way(at(0), job));
        let first = data.stage_in(at(50), job, 1);
        assert_eq!(first, StageIn { ready: at(150), start_up });
        data.sent(job, 1, first);
        assert!(data.are_on_their_way(at(149), job));
        assert!(!data.are_on_their_way(at(150), job));
        assert_eq!(data.stage_in(at(60), job, 1), first, "they are on their way");
        assert_eq!(data.stage_in(at(60), job, 0).ready, at(250));
        assert_eq!(data.stage_in(at(400), job, 0).ready, at(500));
        data.keep(|_| false);
        assert_eq!(data.stage_in(at(60), job, 1), StageIn::NOTHING);
    }

    #[test]
    fn what_has_no_data_waits_for_none() {
        let start_up = Span::from_secs(7);
        let mut data = DataPlaces::new(MoveCost { transfer: Span::ZERO, start_up });
        data.sent(JobId(0), 0, StageIn::NOTHING);
        assert_eq!(data.stage_in(at(9), JobId(0), 1), StageIn { ready: Time::ZERO, start_up });
    }
}
