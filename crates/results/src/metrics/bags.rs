//! Metrics of bags: their distribution over providers and over time.

use haggle_model::{JobOutcome, JobRecord, ShareRecord, TaskRun};
use serde::{Deserialize, Serialize};

use super::Distribution;
use super::coallocated::CoallocatedSample;

const SECOND: f64 = haggle_model::time::MICROS_PER_SECOND as f64;

/// Bags in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bags {
    /// Bags that ran.
    pub jobs: u64,
    /// Providers on which a bag ran, mean.
    pub providers: f64,
    /// Bags that ran on one provider, on two, …, in percent; at least four entries.
    pub by_providers: Vec<f64>,
    /// Offers or free time slots used for a bag, mean.
    pub parts: f64,
    /// Bags that could meet their deadline and were therefore spread by the policy's rule, percent.
    pub balanced_percent: f64,
    /// Bags whose offers in time all had the same size, percent.
    pub equal_offers_percent: f64,
    /// Number of recompositions of a bag because of changes, mean.
    pub recompositions: f64,
    /// First start of a task - submission, s.
    pub first_start: Option<Distribution>,
    /// Mean start of the tasks - submission, s.
    pub mean_start: Option<Distribution>,
    /// Completion promised - completion, s.
    pub promise_slack: Option<Distribution>,
    /// Shares whose completion a provider promised to the metascheduler.
    pub shares_promised: u64,
    /// Of these, shares whose last task ended later than promised, or was given up.
    pub shares_late: u64,
    /// Differences between the ends of tasks, for bags on several providers.
    pub stretch: Option<Stretch>,
}

/// Stretch factor of bags that ran on two or more providers, in four forms. e1 and e2 are the first and
/// the last end of a task. Netto 2009, section 7.5, defines the difference and prints percentages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// 100 x (e2 - e1) / (e2 - submission).
    pub percent_of_response: Distribution,
    /// e2 - e1, s.
    pub seconds: Distribution,
    /// 100 x (e2 - e1) / run time of a task on the reference processor.
    pub percent_of_run_time: Option<Distribution>,
    /// (e2 - submission) / (e1 - submission).
    pub ratio: Option<Distribution>,
}

/// Data of a bag that metrics need; times in microseconds.
#[derive(Clone, Debug)]
pub(super) struct BagSample {
    /// (provider, start, end, processors) of tasks that ran together.
    pub(super) runs: Vec<(u32, i64, i64, u32)>,
    pub(super) providers: u32,
    pub(super) run_time: i64,
    /// Present for a rigid job that could be spread over providers; the inner value if it ran.
    pub(super) coallocated: Option<Option<CoallocatedSample>>,
    is_bag: bool,
    /// Processor-microseconds of tasks that were running when the run stopped.
    pub(super) unfinished: i128,
    submit: i64,
    promised_end: Option<i64>,
    shares_promised: u32,
    shares_late: u32,
    parts: u32,
    balanced: bool,
    equal_offers: bool,
    recompositions: u32,
}

impl BagSample {
    pub(super) fn of(record: &JobRecord) -> Option<BagSample> {
        let bag = record.bag.as_ref()?;
        let runs = bag.shares.iter().flat_map(|share| {
            share.runs.iter().map(|run| {
                let (start, end) = (run.start.as_micros(), run.end.as_micros());
                (share.provider.0, start, end, run.processors.count())
            })
        });
        let open = bag.shares.iter().flat_map(|share| &share.runs);
        let open = open.filter(|run| run.outcome == JobOutcome::Unfinished);
        let work = |run: &TaskRun| {
            i128::from((run.end - run.start).as_micros()) * i128::from(run.processors.count())
        };
        let promised = || bag.shares.iter().filter(|share| share.promised_end.is_some());
        Some(BagSample {
            shares_promised: promised().count() as u32,
            shares_late: promised().filter(|share| is_late(share, record.outcome)).count() as u32,
            unfinished: open.map(work).sum(),
            runs: runs.collect(),
            providers: bag.providers(),
            run_time: record.job.run_time.reveal_to_machine().as_micros(),
            is_bag: bag.is_bag(),
            coallocated: bag.coallocated.map(|_| CoallocatedSample::of(record)),
            submit: record.job.submit.as_micros(),
            promised_end: record.promised_end.map(|time| time.as_micros()),
            parts: bag.parts,
            balanced: bag.balanced,
            equal_offers: bag.equal_offers,
            recompositions: bag.recompositions,
        })
    }

    /// True if its tasks are independent: each may run on any provider and at any time.
    pub(super) fn is_bag(&self) -> bool {
        self.is_bag
    }

    /// First and last end of a task.
    fn ends(&self) -> (i64, i64) {
        let ends = self.runs.iter().map(|run| run.2);
        // Only bags that ran have their ends taken, so 0 is never used.
        (ends.clone().min().unwrap_or(0), ends.max().unwrap_or(0))
    }
}

/// True if the last task of a share ended later than promised, or was given up; `outcome` is that of the bag.
fn is_late(share: &ShareRecord, outcome: JobOutcome) -> bool {
    let over: u32 = share.runs.iter().map(|run| run.processors.count()).sum();
    // Tasks without a run were given up with the bag.
    let given_up = outcome == JobOutcome::Failed && over < share.tasks;
    // A share without runs is never later than its promise.
    given_up || share.runs.iter().map(|run| run.end).max() > share.promised_end
}

impl Bags {
    /// Sums up the bags that ran; `None` if there are none.
    pub(super) fn of(bags: &[&BagSample]) -> Option<Bags> {
        let ran: Vec<&BagSample> =
            bags.iter().copied().filter(|bag| bag.is_bag() && !bag.runs.is_empty()).collect();
        let count = ran.len() as f64;
        if ran.is_empty() {
            return None;
        }
        let mean = |value: &dyn Fn(&BagSample) -> f64| {
            ran.iter().map(|bag| value(bag)).sum::<f64>() / count
        };
        let share = |holds: &dyn Fn(&BagSample) -> bool| 100.0 * mean(&|bag| f64::from(holds(bag)));
        let seconds = |micros: i64| micros as f64 / SECOND;
        let over = |value: &dyn Fn(&BagSample) -> Option<f64>| {
            Distribution::of(ran.iter().filter_map(|bag| value(bag)).collect())
        };
        let most = ran.iter().map(|bag| bag.providers).max().unwrap_or(0).max(4);
        Some(Bags {
            jobs: ran.len() as u64,
            providers: mean(&|bag| f64::from(bag.providers)),
            by_providers: (1..=most).map(|n| share(&|bag| bag.providers == n)).collect(),
            parts: mean(&|bag| f64::from(bag.parts)),
            balanced_percent: share(&|bag| bag.balanced),
            equal_offers_percent: share(&|bag| bag.equal_offers),
            recompositions: mean(&|bag| f64::from(bag.recompositions)),
            first_start: over(&|bag| {
                let first = bag.runs.iter().map(|run| run.1).min()?;
                Some(seconds(first - bag.submit))
            }),
            mean_start: over(&|bag| {
                // Sums of instants times tasks may exceed 64 bits.
                let starts = bag.runs.iter().map(|run| i128::from(run.1) * i128::from(run.3));
                let tasks: i128 = bag.runs.iter().map(|run| i128::from(run.3)).sum();
                Some((starts.sum::<i128>() as f64 / tasks as f64 - bag.submit as f64) / SECOND)
            }),
            promise_slack: over(&|bag| Some(seconds(bag.promised_end? - bag.ends().1))),
            shares_promised: ran.iter().map(|bag| u64::from(bag.shares_promised)).sum(),
            shares_late: ran.iter().map(|bag| u64::from(bag.shares_late)).sum(),
            stretch: Stretch::of(&ran),
        })
    }
}

impl Stretch {
    fn of(bags: &[&BagSample]) -> Option<Stretch> {
        let spread: Vec<&BagSample> =
            bags.iter().copied().filter(|bag| bag.providers >= 2).collect();
        let over = |value: &dyn Fn(&BagSample, i64, i64) -> Option<f64>| {
            let of_bag = |bag: &&BagSample| {
                let (first, last) = bag.ends();
                value(bag, first, last)
            };
            Distribution::of(spread.iter().filter_map(of_bag).collect())
        };
        let part = |part: i64, whole: i64| (whole > 0).then(|| part as f64 / whole as f64);
        Some(Stretch {
            percent_of_response: over(&|bag, first, last| {
                Some(100.0 * part(last - first, last - bag.submit)?)
            })?,
            seconds: over(&|_, first, last| Some((last - first) as f64 / SECOND))?,
            percent_of_run_time: over(&|bag, first, last| {
                Some(100.0 * part(last - first, bag.run_time)?)
            }),
            ratio: over(&|bag, first, last| part(last - bag.submit, first - bag.submit)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Example CX-7: submitted at 40, T = 50, ends 100, 100, 130, 160.
    #[test]
    fn stretch_factors_are_of_the_first_and_the_last_end() {
        let run = |provider, end: i64| (provider, 0, end * 1_000_000, 1);
        let bag = BagSample {
            runs: vec![run(0, 100), run(0, 100), run(1, 130), run(1, 160)],
            providers: 2,
            run_time: 50_000_000,
            is_bag: true,
            coallocated: None,
            unfinished: 0,
            submit: 40_000_000,
            promised_end: None,
            shares_promised: 0,
            shares_late: 0,
            parts: 2,
            balanced: true,
            equal_offers: false,
            recompositions: 0,
        };
        let stretch = Stretch::of(&[&bag]).expect("two providers");
        assert_eq!(stretch.seconds.mean, 60.0);
        assert_eq!(stretch.percent_of_response.mean, 50.0);
        assert_eq!(stretch.percent_of_run_time.expect("T > 0").mean, 120.0);
        assert_eq!(stretch.ratio.expect("e1 > submission").mean, 2.0);
    }
}
