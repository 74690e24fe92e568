//! Events on clusters that answer immediately.

use haggle_model::{JobId, Sizing, Time};

use super::{Decision, Event, Question, Rule, Waiting};

/// Clusters as a metascheduler sees them.
pub trait Clusters {
    /// Number of clusters.
    fn count(&self) -> usize;

    /// The jobs of the metascheduler that wait at a cluster.
    fn waiting(&mut self, cluster: usize) -> Vec<Waiting>;

    /// Estimate for a job that is submitted now; `None` if the cluster does not accept it.
    fn estimate(&mut self, cluster: usize, job: JobId) -> Option<Sizing>;

    /// Submits a job, which gets the size of the estimate.
    fn submit(&mut self, cluster: usize, job: JobId);

    /// Cancels waiting jobs, all at once, and returns those that still waited.
    fn cancel(&mut self, cluster: usize, jobs: &[JobId]) -> Vec<JobId>;

    /// Planned completion of a waiting job; `None` if it does not wait there.
    fn completion(&mut self, cluster: usize, job: JobId) -> Option<Time>;
}

/// A job that went through an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reallocated {
    /// The job.
    pub job: JobId,
    /// The cluster where it waited.
    pub from: usize,
    /// The cluster where it is now; possibly the same, if all were cancelled.
    pub to: usize,
}

/// The cluster with the earliest completion of a job; the first one of equal clusters.
pub fn first_done(estimates: impl Iterator<Item = (usize, Sizing)>) -> Option<(usize, Sizing)> {
    estimates.min_by_key(|&(cluster, sizing)| (sizing.completion(), cluster))
}

/// Runs an event, and returns the jobs that were submitted again, in order.
pub fn reallocate(rule: Rule, clusters: &mut impl Clusters) -> Vec<Reallocated> {
    let all = 0..clusters.count();
    let waiting = Vec::from_iter(all.map(|cluster| clusters.waiting(cluster)));
    let mut event = Event::new(rule, &waiting);
    for (cluster, jobs) in event.to_cancel().into_iter().enumerate() {
        if jobs.is_empty() {
            continue;
        }
        let back = clusters.cancel(cluster, &jobs);
        // A job that waits no longer stays where it is.
        jobs.iter().filter(|job| !back.contains(job)).for_each(|&job| event.leave_out(job));
    }
    let mut done = Vec::new();
    loop {
        let questions = event.questions();
        if !questions.is_empty() {
            questions.into_iter().for_each(|question| answer(question, &mut event, clusters));
            continue;
        }
        match event.decide() {
            Decision::Over => return done,
            Decision::Stay { .. } => {}
            Decision::Move { job, from, to } => {
                if clusters.cancel(from, &[job]) == [job] {
                    clusters.submit(to, job);
                    done.push(Reallocated { job, from, to });
                }
            }
            Decision::Place { job, from: Some(from), to: Some(to), .. } => {
                clusters.submit(to, job);
                done.push(Reallocated { job, from, to });
            }
            Decision::Place { .. } => unreachable!("who waited somewhere can do so again"),
        }
    }
}

fn answer(question: Question, event: &mut Event, clusters: &mut impl Clusters) {
    match question {
        Question::Estimate { job, cluster } => {
            event.learn_estimate(job, cluster, clusters.estimate(cluster, job));
        }
        Question::Completion { job, cluster } => {
            event.learn_completion(job, cluster, clusters.completion(cluster, job));
        }
    }
}
