//! Reallocation of moldable jobs between clusters (Caniou, Charrier and Desprez 2010).
//!
//! Each cluster has a queue that reserves ([`Reserving`](crate::Reserving)) and chooses the number of
//! processors for each moldable job by itself ([`Tuning`]). A job goes to the cluster with the earliest
//! estimated completion ([`first_done`]). From time to time an [`Event`] examines the waiting jobs again,
//! and moves them to clusters where they would be done earlier:
//!
//! | algorithm | jobs examined | moves |
//! |---|---|---|
//! | regular | each job in turn, where it waits | to another cluster, where that gains enough |
//! | all-cancellation | all, after all have been cancelled | each in turn to the cluster that has it done first |
//!
//! A [`ReallocationHeuristic`] determines the next job. Some heuristics compare jobs. They compare only the
//! oldest jobs, because each comparison asks all clusters about all of these. An answer holds until its
//! cluster changes, and an event asks no question twice before.
//!
//! An event does no input and output. It returns its questions and its decisions, which messages may carry,
//! or a function call ([`reallocate`]).

mod clusters;
mod data;
mod event;
mod heuristic;
mod tuning;

pub use clusters::{Clusters, Reallocated, first_done, reallocate};
pub use data::{DataPlaces, MoveCost};
pub use event::{Decision, Event, Question, Waiting};
pub use heuristic::ReallocationHeuristic;
pub use tuning::{Sizes, Tuning};

use haggle_model::Span;
use serde::{Deserialize, Serialize};

/// Treatment of waiting jobs.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub enum Algorithm {
    /// A job moves only if another cluster has it done earlier by more than the threshold.
    #[default]
    Regular,
    /// All are cancelled and submitted again, even if a job does not gain by it.
    AllCancellation,
}

impl Algorithm {
    /// Both, in the order of the manual.
    pub const ALL: [Algorithm; 2] = [Algorithm::Regular, Algorithm::AllCancellation];

    /// The word used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Regular => "regular",
            Algorithm::AllCancellation => "all-cancellation",
        }
    }
}

/// Rules of reallocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Treatment of waiting jobs.
    pub algorithm: Algorithm,
    /// Choice of the next job.
    pub heuristic: ReallocationHeuristic,
    /// Regular: a job moves if it gains more than that, which represents the cost of a move.
    pub threshold: Span,
    /// Number of the oldest jobs that are compared; at least one.
    pub window: usize,
    /// Regular: whether a job may also be submitted again where it waits, with another size.
    pub resizes: bool,
}

/// A threshold of a minute, and the 20 oldest jobs (sections 3.2.2 and 3.2.3).
impl Default for Rule {
    fn default() -> Rule {
        Rule {
            algorithm: Algorithm::default(),
            heuristic: ReallocationHeuristic::default(),
            threshold: Span::from_secs(60),
            window: 20,
            resizes: false,
        }
    }
}
