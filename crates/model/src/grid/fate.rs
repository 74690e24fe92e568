//! The fate of a job, for the number of jobs that a policy loses (Chtepen 2011, section 4.4.4).

/// Fate of one replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplicaFate {
    /// It holds a slot or sends its output.
    Alive,
    /// It is dead and will be replaced: the scheduler has detected this or still can.
    AwaitsRestart,
    /// It is dead for good.
    Dead,
}

/// Fate of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobFate {
    /// It is completed.
    Done,
    /// No replica of it has been sent.
    NeverStarted,
    /// A replica is alive.
    Active,
    /// No replica is alive, but one will be replaced.
    WaitingForRestart,
    /// All replicas sent so far are dead, but further ones will be sent.
    LostPending,
    /// All replicas are dead.
    Lost,
}

/// Fate of a job with these replicas, of which the policy sends `wanted` in all. Cancelled replicas must be left out.
pub fn fate(done: bool, wanted: u32, replicas: &[ReplicaFate]) -> JobFate {
    let any = |fate| replicas.contains(&fate);
    match replicas {
        _ if done => JobFate::Done,
        [] => JobFate::NeverStarted,
        _ if any(ReplicaFate::Alive) => JobFate::Active,
        _ if any(ReplicaFate::AwaitsRestart) => JobFate::WaitingForRestart,
        _ if (replicas.len() as u64) < u64::from(wanted) => JobFate::LostPending,
        _ => JobFate::Lost,
    }
}

#[cfg(test)]
mod tests {
    use super::ReplicaFate::{Alive, AwaitsRestart, Dead};
    use super::*;

    #[test]
    fn ft_m9_a_job_is_lost_with_its_last_replica() {
        assert_eq!(fate(true, 2, &[Dead, Dead]), JobFate::Done);
        assert_eq!(fate(false, 2, &[Dead, Alive]), JobFate::Active);
        assert_eq!(fate(false, 2, &[Dead, Dead]), JobFate::Lost);
        assert_eq!(fate(false, 2, &[Dead]), JobFate::LostPending);
        assert_eq!(fate(false, 2, &[Dead, Dead, Dead]), JobFate::Lost);
        assert_eq!(fate(false, 1, &[Dead]), JobFate::Lost);
    }

    #[test]
    fn a_job_that_will_be_restarted_is_not_lost() {
        assert_eq!(fate(false, 1, &[]), JobFate::NeverStarted);
        assert_eq!(fate(false, 1, &[AwaitsRestart]), JobFate::WaitingForRestart);
        assert_eq!(fate(false, 3, &[Dead, AwaitsRestart]), JobFate::WaitingForRestart);
    }
}
