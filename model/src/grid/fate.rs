//! What has become of a job, for the count of jobs that a policy loses
//! (Chtepen 2011, section 4.4.4).

/// What has become of one replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplicaFate {
    /// It holds a slot or sends its output.
    Alive,
    /// It has died, and will be replaced: the scheduler has noticed or still can.
    AwaitsRestart,
    /// It has died for good.
    Dead,
}

/// What has become of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobFate {
    /// It is completed.
    Done,
    /// It has never been sent anywhere.
    NeverStarted,
    /// A replica of it is alive.
    Active,
    /// None is alive, but one will be replaced.
    WaitingForRestart,
    /// All replicas sent so far are dead, but more are to follow.
    LostPending,
    /// All its replicas are dead.
    Lost,
}

/// What has become of a job with these replicas, of which the policy sends
/// `wanted` in all; those cancelled are left out.
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
