//! States of jobs in Slurm.

use std::collections::BTreeMap;

use super::ask::ask;
use super::{Round, Rounds, SlurmError};

/// State of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It waits.
    Pending,
    /// It runs.
    Running,
    /// It has ended; the word is Slurm's, such as TIMEOUT.
    Ended(String),
    /// Slurm no longer knows it.
    Unknown,
}

/// The states of jobs and of tasks of arrays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jobs {
    /// States by name, such as `12` or `12_3`.
    states: BTreeMap<String, State>,
}

impl Jobs {
    /// Requests the states of all jobs of these rounds. squeue has the recent ones; with
    /// accounting, sacct has the older ones too.
    ///
    /// # Errors
    /// If Slurm does not answer.
    pub(crate) fn read(rounds: &Rounds) -> Result<Jobs, SlurmError> {
        if rounds.all.is_empty() {
            return Ok(Jobs::default());
        }
        let arguments = ["--me", "--noheader", "--array", "--states=all", "--format=%i|%T"];
        let mut jobs = Jobs::of(&ask("squeue", &arguments)?);
        let names = rounds.all.values().flat_map(Round::jobs).collect::<Vec<_>>().join(",");
        // Some sites have no accounting; then only squeue gives states.
        let wanted = format!("--jobs={names}");
        let arguments = ["-X", "-n", "-P", "--format=JobID,State", &wanted];
        for (name, state) in Jobs::of(&ask("sacct", &arguments).unwrap_or_default()).states {
            // squeue is more recent: accounting learns of changes later.
            jobs.states.entry(name).or_insert(state);
        }
        Ok(jobs)
    }

    fn of(said: &str) -> Jobs {
        let lines = said.lines().filter_map(|line| line.trim().split_once('|'));
        // Behind a blank may follow who cancelled it, as in `CANCELLED by 1000`.
        let state = |word: &str| match word.split(' ').next().unwrap_or_default() {
            // Requeued tasks will run again.
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" => {
                State::Pending
            }
            "RUNNING" | "COMPLETING" | "CONFIGURING" | "SUSPENDED" | "STOPPED" | "SIGNALING"
            | "STAGE_OUT" | "RESIZING" => State::Running,
            word => State::Ended(word.to_owned()),
        };
        Jobs { states: lines.map(|(name, word)| (name.to_owned(), state(word))).collect() }
    }

    /// State of the task of a chunk.
    pub(crate) fn of_chunk(&self, round: &Round, chunk: usize) -> State {
        let in_array =
            |array: &&super::Array| (array.first..array.first + array.tasks).contains(&chunk);
        let Some(array) = round.arrays.iter().find(in_array) else { return State::Unknown };
        self.of_job(&format!("{}_{}", array.job, chunk - array.first))
    }

    /// State of a job.
    pub(crate) fn of_job(&self, name: &str) -> State {
        self.states.get(name).cloned().unwrap_or(State::Unknown)
    }

    /// True if a job, or any task of it, waits or runs.
    pub(crate) fn is_active(&self, job: &str) -> bool {
        let mine = |name: &str| {
            // With the underscore, because `12` is also the beginning of `123_0`.
            name == job || name.strip_prefix(job).is_some_and(|it| it.starts_with('_'))
        };
        let mut states = self.states.iter().filter(|(name, _)| mine(name));
        states.any(|(_, state)| matches!(state, State::Pending | State::Running))
    }
}

impl Round {
    /// All jobs; an array counts as one.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = String> + '_ {
        self.arrays.iter().map(|array| array.job.clone()).chain(self.merge.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_those_of_tasks() {
        let jobs =
            Jobs::of("7_0|RUNNING\n7_1|PENDING\n7_2|TIMEOUT\n7_3|CANCELLED by 0\n8|PENDING\n");
        let array =
            |job: &str, first, tasks| super::super::Array { job: job.to_owned(), first, tasks };
        let round = Round {
            program: String::new(),
            scenario: String::new(),
            chunks: Vec::new(),
            arrays: vec![array("6", 0, 2), array("7", 2, 4)],
            merge: Some("8".to_owned()),
        };
        assert_eq!(jobs.of_chunk(&round, 0), State::Unknown);
        assert_eq!(jobs.of_chunk(&round, 2), State::Running);
        assert_eq!(jobs.of_chunk(&round, 4), State::Ended("TIMEOUT".to_owned()));
        assert_eq!(jobs.of_chunk(&round, 5), State::Ended("CANCELLED".to_owned()));
        assert_eq!(jobs.of_job("8"), State::Pending);
        assert!(jobs.is_active("7") && jobs.is_active("8"));
        assert!(!jobs.is_active("6") && !jobs.is_active("70"));
    }
}
