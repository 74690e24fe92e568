//! States of jobs in Slurm, by their names.

use std::collections::{BTreeMap, BTreeSet};

use super::super::MachineError;
use super::ask::ask;

/// State of a job in Slurm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queued {
    /// It waits or runs.
    Alive,
    /// Its program has ended, or was stopped.
    Ended,
    /// Its nodes failed, or were taken from it.
    Lost,
}

/// The jobs of a node.
#[derive(Debug, Default)]
pub(super) struct Seen {
    by_name: BTreeMap<String, (String, Queued)>,
}

impl Seen {
    /// Asks for the jobs of these names. squeue has the recent ones; with accounting, sacct has the older ones.
    ///
    /// # Errors
    /// If Slurm does not answer.
    pub(super) fn read(names: &BTreeSet<String>) -> Result<Seen, MachineError> {
        let mut seen = Seen::default();
        let words = ["--me", "--noheader", "--states=all", "--format=%i|%j|%T"];
        seen.add(&ask("squeue", &words)?, names);
        if seen.by_name.len() < names.len() {
            let words =
                ["-X", "-n", "-P", "--starttime=now-7days", "--format=JobID,JobName%200,State"];
            // Some sites have no accounting.
            seen.add(&ask("sacct", &words).unwrap_or_default(), names);
        }
        Ok(seen)
    }

    /// Adds jobs that are not known yet: accounting learns of changes later than squeue.
    fn add(&mut self, said: &str, names: &BTreeSet<String>) {
        for line in said.lines() {
            let mut cells = line.trim().split('|');
            let (Some(id), Some(name), Some(word)) = (cells.next(), cells.next(), cells.next())
            else {
                continue;
            };
            if names.contains(name) {
                let job = || (id.to_owned(), queued(word));
                self.by_name.entry(name.to_owned()).or_insert_with(job);
            }
        }
    }

    /// The number and the state of the job of a name.
    pub(super) fn of(&self, name: &str) -> Option<(&str, Queued)> {
        self.by_name.get(name).map(|(id, state)| (id.as_str(), *state))
    }
}

fn queued(word: &str) -> Queued {
    // Behind a blank may follow who cancelled it, as in `CANCELLED by 1000`.
    match word.split(' ').next().unwrap_or_default() {
        "COMPLETED" | "FAILED" | "TIMEOUT" | "OUT_OF_MEMORY" | "CANCELLED" => Queued::Ended,
        "NODE_FAIL" | "BOOT_FAIL" | "PREEMPTED" | "DEADLINE" | "REVOKED" | "LAUNCH_FAILED"
        | "RECONFIG_FAIL" => Queued::Lost,
        _ => Queued::Alive,
    }
}

/// The number of a job, as `sbatch --parsable` says it: `12`, or `12;cluster`.
pub(super) fn number_of(said: &str) -> Result<String, MachineError> {
    let number = said.trim().split(';').next().unwrap_or_default();
    match !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()) {
        true => Ok(number.to_owned()),
        false => {
            let command = "sbatch --parsable".to_owned();
            Err(MachineError::NotUnderstood { command, said: said.trim().to_owned() })
        }
    }
}

/// The start that `sbatch --test-only` foretells, in seconds since 1970: `sbatch: Job 7 to start at 1764400000 using ...`.
pub(super) fn foretold(said: &str) -> Option<i64> {
    let (_, behind) = said.split_once(" to start at ")?;
    behind.split(' ').next()?.parse().ok()
}

/// The processors of a reservation, as `scontrol --oneliner` shows it: `TRES=cpu=2`.
pub(super) fn processors_of(said: &str) -> Option<u32> {
    let (_, behind) = said.split_once("TRES=")?;
    let resources = behind.split(' ').next()?.split(',');
    resources.filter_map(|it| it.strip_prefix("cpu=")).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_squeue_counts_and_other_jobs_do_not() {
        let mut seen = Seen::default();
        let names = ["x", "y", "z"].map(str::to_owned).into();
        seen.add("7|x|NODE_FAIL\n\n10|z|COMPLETING\n", &names);
        seen.add("7|x|RUNNING\n8|other|RUNNING\n9|y|CANCELLED by 0\n", &names);
        assert_eq!(seen.of("x"), Some(("7", Queued::Lost)));
        assert_eq!(seen.of("y"), Some(("9", Queued::Ended)));
        assert_eq!(seen.of("z"), Some(("10", Queued::Alive)));
        assert_eq!(seen.of("other"), None);
    }

    #[test]
    fn a_number_is_digits_before_the_name_of_a_cluster() {
        assert_eq!(number_of("12;north\n").expect("a number"), "12");
        assert!(number_of("").is_err() && number_of("sbatch: 7\n").is_err());
    }

    #[test]
    fn the_processors_of_a_reservation_are_read() {
        let said = "ReservationName=a Nodes=n[1-2] NodeCnt=2 CoreCnt=2 TRES=cpu=12,mem=4G Users=b";
        assert_eq!(processors_of(said), Some(12));
        assert_eq!(processors_of("ReservationName=a TRES=(null)"), None);
    }

    #[test]
    fn a_foretold_start_is_read() {
        let said = "sbatch: Job 7 to start at 1764400000 using 1 processors on nodes n1 in partition main\n";
        assert_eq!(foretold(said), Some(1_764_400_000));
        assert_eq!(foretold("sbatch: error: invalid partition\n"), None);
    }
}
