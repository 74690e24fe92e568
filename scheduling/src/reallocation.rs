//! Reallocation of moldable jobs between clusters (Caniou, Charrier and Desprez 2010).
//!
//! Each cluster has a queue that reserves ([`Reserving`](crate::Reserving)) and chooses the number
//! of processors for each moldable job by itself ([`Tuning`]). A job goes to the cluster that says
//! it will be done first ([`first_done`]). From time to time those that wait are looked at again, in
//! an [`Event`], and moved where they would be done earlier:
//!
//! | algorithm | what is looked at | moves |
//! |---|---|---|
//! | regular | each job in turn, where it waits | to another cluster, where that gains enough |
//! | all-cancellation | all are cancelled first | each in turn to the cluster that has it done first |
//!
//! A [`ReallocationHeuristic`] says whose turn it is. Some compare jobs; they see the oldest only, for each
//! comparison asks all clusters about all jobs. What has been answered holds until the
//! cluster changes, and an event asks for nothing twice before.
//!
//! An event does no input and output: it says what it wants to know and what is to be done, so that
//! messages may carry that, or a function call ([`reallocate`]).

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

/// What is done with jobs that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Algorithm {
    /// A job stays where it is unless another cluster has it done earlier by more than the threshold.
    #[default]
    Regular,
    /// All are cancelled and submitted again; nothing says that a job gains by it.
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

/// How jobs are reallocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What is done with jobs that wait.
    pub algorithm: Algorithm,
    /// Whose turn it is.
    pub heuristic: ReallocationHeuristic,
    /// Regular: a job moves if it gains more than that; it stands for what a move costs.
    pub threshold: Span,
    /// How many of the oldest jobs are compared; at least one is.
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
