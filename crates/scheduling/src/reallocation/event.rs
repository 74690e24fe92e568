//! One examination of all waiting jobs (Caniou, Charrier and Desprez 2010, section 3.2.2).
//!
//! ```text
//!  Event::new ─▶ to_cancel ─▶ questions ─▶ learn ... ─▶ decide ─▶ Stay, Move, Place
//!                                 ▲                        │
//!                                 └────────────────────────┘  until Over
//! ```

use std::collections::VecDeque;

use haggle_model::observation::Review;
use haggle_model::{JobId, Sizing, Time};
use serde::{Deserialize, Serialize};

use super::heuristic::Prospect;
use super::{Algorithm, Rule, first_done};

/// A job that waits at a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The job. Jobs are numbered by age.
    pub job: JobId,
    /// Its planned completion.
    pub completion: Time,
}

/// Data needed for the next decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Question {
    /// The estimate for the job if it were submitted to this cluster now.
    Estimate {
        /// The job.
        job: JobId,
        /// The cluster.
        cluster: usize,
    },
    /// The completion of the job where it waits.
    Completion {
        /// The job.
        job: JobId,
        /// The cluster where it waits.
        cluster: usize,
    },
}

/// A decision about a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It stays where it is, or has started.
    Stay {
        /// The job.
        job: JobId,
    },
    /// It must be cancelled at one cluster and submitted to another.
    Move {
        /// The job.
        job: JobId,
        /// The cluster where it waits.
        from: usize,
        /// The cluster to which it goes.
        to: usize,
    },
    /// It must be submitted: it has been cancelled, or was never submitted.
    Place {
        /// The job.
        job: JobId,
        /// The cluster where it waited.
        from: Option<usize>,
        /// The cluster to which it goes, possibly again; `None` if no cluster accepts it.
        to: Option<usize>,
        /// The estimate there; `None` if no cluster has given one.
        sizing: Option<Sizing>,
    },
    /// All jobs have had their turn.
    Over,
}

/// One examination of all waiting jobs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Event {
    rule: Rule,
    /// Candidates for the next turn, by age.
    compared: Vec<Candidate>,
    /// Jobs after these, one after the other.
    rest: VecDeque<Candidate>,
    /// Number of changes of each cluster; each change invalidates its earlier answers.
    versions: Vec<u32>,
    is_of_newcomer: bool,
    /// Effort so far.
    review: Review,
}

/// An answer of a cluster, with the number of changes of the cluster at that time.
type Said<T> = Option<(u32, T)>;

/// A job whose turn has not come.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Candidate {
    job: JobId,
    /// The cluster where it waits or waited; `None` if it is new.
    cluster: Option<usize>,
    /// Its completion there; none if it has started.
    completion: Said<Option<Time>>,
    /// Estimates of the clusters; `None` inside: the cluster cannot run the job.
    estimates: Vec<Said<Option<Sizing>>>,
}

impl Candidate {
    /// The estimate of a cluster in its present state, if known.
    fn estimate(&self, cluster: usize, versions: &[u32]) -> Option<Option<Sizing>> {
        let (version, said) = (*self.estimates.get(cluster)?)?;
        (version == versions[cluster]).then_some(said)
    }

    fn completion(&self, versions: &[u32]) -> Option<Option<Time>> {
        let (version, said) = self.completion?;
        (version == versions[self.cluster?]).then_some(said)
    }
}

impl Event {
    /// An event over these waiting jobs, by cluster.
    pub fn new(rule: Rule, waiting: &[Vec<Waiting>]) -> Event {
        let of = |(cluster, jobs): (usize, &Vec<Waiting>)| {
            let candidate = |it: &Waiting| Candidate {
                job: it.job,
                cluster: Some(cluster),
                completion: Some((0, Some(it.completion))),
                estimates: Vec::new(),
            };
            Vec::from_iter(jobs.iter().map(candidate))
        };
        let mut rest = Vec::from_iter(waiting.iter().enumerate().flat_map(of));
        rest.sort_unstable_by_key(|it| it.job);
        let count = rest.len();
        let mut compared = Vec::new();
        if rule.heuristic.compares() {
            let behind = rest.split_off(rule.window.max(1).min(rest.len()));
            compared = std::mem::replace(&mut rest, behind);
            // The regular algorithm examines the compared jobs only.
            if rule.algorithm == Algorithm::Regular {
                rest.clear();
            }
        }
        Event {
            rule,
            compared,
            rest: rest.into(),
            versions: vec![0; waiting.len()],
            is_of_newcomer: false,
            review: Review {
                waiting: u32::try_from(count).unwrap_or(u32::MAX),
                is_full: count >= rule.window.max(1),
                ..Review::default()
            },
        }
    }

    /// An event that places one new job on one of `clusters` clusters.
    pub fn newcomer(job: JobId, clusters: usize) -> Event {
        let rule = Rule { algorithm: Algorithm::AllCancellation, ..Rule::default() };
        let mut event = Event::new(rule, &vec![Vec::new(); clusters]);
        let (cluster, completion, estimates) = (None, None, Vec::new());
        event.compared.push(Candidate { job, cluster, completion, estimates });
        event.is_of_newcomer = true;
        event
    }

    /// Returns whether it places a new job, and examines no waiting ones.
    pub fn is_of_newcomer(&self) -> bool {
        self.is_of_newcomer
    }

    /// Effort of the event.
    pub fn review(&self) -> Review {
        self.review
    }

    /// Returns whether the estimate of a cluster for a job counts.
    fn counts(&self, it: &Candidate, cluster: usize) -> bool {
        let stays = self.rule.algorithm == Algorithm::Regular && !self.rule.resizes;
        !stays || it.cluster != Some(cluster)
    }

    /// The jobs to be cancelled before anything else, by cluster.
    pub fn to_cancel(&self) -> Vec<Vec<JobId>> {
        let mut jobs = vec![Vec::new(); self.versions.len()];
        if self.rule.algorithm == Algorithm::AllCancellation {
            for it in self.compared.iter().chain(&self.rest) {
                if let Some(cluster) = it.cluster {
                    jobs[cluster].push(it.job);
                }
            }
        }
        jobs
    }

    /// A job could not be cancelled: it has started, or has ended.
    pub fn leave_out(&mut self, job: JobId) {
        self.compared.retain(|it| it.job != job);
        self.rest.retain(|it| it.job != job);
    }

    /// Questions that must be answered before the next decision. After the answers there may be further
    /// questions; if there are none, [`Event::decide`] follows.
    pub fn questions(&mut self) -> Vec<Question> {
        if self.compared.is_empty() {
            self.compared.extend(self.rest.pop_front());
        }
        let Event { rule, compared, versions, .. } = &*self;
        let is_regular = rule.algorithm == Algorithm::Regular;
        let weighs_present = is_regular && rule.heuristic.weighs_present();
        let mut questions = Vec::new();
        for it in compared.iter() {
            let job = it.job;
            if let Some(cluster) = it.cluster
                && weighs_present
                && it.completion(versions).is_none()
            {
                questions.push(Question::Completion { job, cluster });
            }
            for cluster in 0..versions.len() {
                if self.counts(it, cluster) && it.estimate(cluster, versions).is_none() {
                    questions.push(Question::Estimate { job, cluster });
                }
            }
        }
        // Only the job that is decided now needs its present completion.
        if questions.is_empty() && is_regular && !compared.is_empty() {
            let next = &compared[self.next()];
            if let Some(cluster) = next.cluster
                && next.completion(&self.versions).is_none()
            {
                questions.push(Question::Completion { job: next.job, cluster });
            }
        }
        let estimates = questions.iter().filter(|it| matches!(it, Question::Estimate { .. }));
        self.review.estimates += estimates.count() as u64;
        questions
    }

    fn find(&mut self, job: JobId) -> Option<&mut Candidate> {
        // Candidates are kept in the order of age.
        let place = self.compared.binary_search_by_key(&job, |it| it.job).ok()?;
        Some(&mut self.compared[place])
    }

    /// A cluster has estimated a job; `None` if it does not accept it.
    pub fn learn_estimate(&mut self, job: JobId, cluster: usize, sizing: Option<Sizing>) {
        let (clusters, version) = (self.versions.len(), self.versions[cluster]);
        if let Some(it) = self.find(job) {
            it.estimates.resize(clusters, None);
            it.estimates[cluster] = Some((version, sizing));
        }
    }

    /// The cluster where a job waits has reported its completion; `None` if it does not wait.
    pub fn learn_completion(&mut self, job: JobId, cluster: usize, completion: Option<Time>) {
        let version = self.versions[cluster];
        if let Some(it) = self.find(job).filter(|it| it.cluster == Some(cluster)) {
            it.completion = Some((version, completion));
        }
    }

    /// The clusters' estimates for a candidate, as far as they count.
    fn said<'a>(&'a self, it: &'a Candidate) -> impl Iterator<Item = (usize, Sizing)> + 'a {
        let counted = (0..self.versions.len()).filter(move |&at| self.counts(it, at));
        counted.filter_map(|at| Some((at, it.estimate(at, &self.versions)??)))
    }

    fn prospect(&self, it: &Candidate) -> Prospect {
        let present = it.completion.and_then(|(_, said)| said).unwrap_or(Time::FOREVER);
        let best = first_done(self.said(it));
        let elsewhere = self.said(it).filter(|&(at, _)| best.is_none_or(|best| best.0 != at));
        let others = elsewhere.map(|(_, sizing)| sizing.completion());
        let stays = (self.rule.algorithm == Algorithm::Regular).then_some(present);
        let second = others.chain(stays).min();
        Prospect { best: best.map(|(_, sizing)| sizing), second, present }
    }

    /// Index of the next job, among those compared.
    fn next(&self) -> usize {
        let mut next = 0;
        if self.compared.len() > 1 {
            let mut prospect = self.prospect(&self.compared[0]);
            for (place, it) in self.compared.iter().enumerate().skip(1) {
                let other = self.prospect(it);
                // Of two equal jobs the older one goes first.
                if self.rule.heuristic.prefers(&other, &prospect) {
                    (next, prospect) = (place, other);
                }
            }
        }
        next
    }

    /// The decision about the next job. Must be called when there are no questions; a missing answer counts
    /// as a refusal of the job.
    pub fn decide(&mut self) -> Decision {
        if self.compared.is_empty() {
            return Decision::Over;
        }
        let clusters = 0..self.versions.len();
        let of = |it| clusters.clone().filter(|&cluster| self.counts(it, cluster)).count() as u64;
        self.review.forgetful_estimates += self.compared.iter().map(of).sum::<u64>();
        let place = self.next();
        let best = first_done(self.said(&self.compared[place]));
        let it = self.compared.remove(place);
        let (job, from) = (it.job, it.cluster);
        if self.rule.algorithm == Algorithm::AllCancellation {
            // If no cluster accepts the job, its former cluster gets it again.
            let to = best.map(|(cluster, _)| cluster).or(from);
            // The submission changes the cluster, so its earlier answers are void.
            if let Some(to) = to {
                self.versions[to] += 1;
            }
            let sizing = best.map(|(_, sizing)| sizing);
            return Decision::Place { job, from, to, sizing };
        }
        let present = it.completion(&self.versions).flatten();
        match (best, from, present) {
            (Some((to, sizing)), Some(from), Some(present))
                if sizing.completion() + self.rule.threshold < present =>
            // Both clusters change, so their earlier answers are void.
            {
                self.versions[from] += 1;
                self.versions[to] += 1;
                Decision::Move { job, from, to }
            }
            _ => Decision::Stay { job },
        }
    }
}
