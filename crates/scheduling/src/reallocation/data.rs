//! Places of the jobs' data, and the cost of moving a job.

use std::collections::BTreeMap;

use haggle_model::{JobId, Span, StageIn, Time};
use serde::{Deserialize, Serialize};

/// Cost of moving a waiting job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MoveCost {
    /// Time that its data are in transit, under any load.
    pub transfer: Span,
    /// Time that it holds its processors before it computes.
    pub start_up: Span,
}

/// Stage-in needs of jobs at the places to which they were last sent. A job that has been sent to no place
/// yet is not here: it brings its data along.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DataPlaces {
    cost: MoveCost,
    /// By job: the place of a provider, and the needs of the job there.
    jobs: BTreeMap<JobId, (usize, StageIn)>,
}

impl DataPlaces {
    /// At first all jobs bring their data along.
    pub fn new(cost: MoveCost) -> DataPlaces {
        DataPlaces { cost, jobs: BTreeMap::new() }
    }

    /// Needs of a job if it were sent to this place now. At its first place it needs nothing; at its
    /// present place its needs stay the same. Its data leave the present place when they have arrived
    /// there.
    pub fn stage_in(&self, now: Time, job: JobId, place: usize) -> StageIn {
        let MoveCost { transfer, start_up } = self.cost;
        match self.jobs.get(&job) {
            None => StageIn::NOTHING,
            Some(&(at, stage_in)) if at == place => stage_in,
            Some((_, stage_in)) => {
                let leave = stage_in.ready.max(now);
                // Without a transfer, the data are there at any time.
                let ready = if transfer > Span::ZERO { leave + transfer } else { Time::ZERO };
                StageIn { ready, start_up }
            }
        }
    }

    /// Returns whether the data of a job are still in transit to its present place. Such a job must not be sent on:
    /// it might be sent on for ever, each time before its data arrive.
    pub fn are_on_their_way(&self, now: Time, job: JobId) -> bool {
        self.jobs.get(&job).is_some_and(|(_, stage_in)| stage_in.ready > now)
    }

    /// A job has been sent to this place.
    pub fn sent(&mut self, job: JobId, place: usize, stage_in: StageIn) {
        // Moves that cost nothing need no notes.
        if self.cost != MoveCost::default() {
            self.jobs.insert(job, (place, stage_in));
        }
    }

    /// Forgets jobs that have ended.
    pub fn keep(&mut self, is_on_desk: impl Fn(JobId) -> bool) {
        self.jobs.retain(|&job, _| is_on_desk(job));
    }
}

#[cfg(test)]
mod tests {
    use haggle_testing::at;

    use super::*;

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
