//! Information that providers do not disclose.

use haggle_model::{Disclosure, JobOutcome, Span};
use haggle_scheduling::Policy;
use haggle_scheduling::placement::Placement;

use crate::setup::{Setup, job};

/// A job that is withdrawn while it waits is over, and its metascheduler is notified.
#[test]
fn the_end_of_a_job_that_never_ran_is_on_record() {
    let ran = Setup::default()
        .provider(1, Policy::Fcfs)
        .metascheduler(Placement::RoundRobin)
        .user_with_patience(
            1,
            Some(Span::from_secs(10)),
            vec![job(1, 0, 100, 100, 1), job(2, 1, 100, 100, 1)],
        )
        .run_on_both();
    assert_eq!(ran.outcomes(), [JobOutcome::Completed, JobOutcome::Cancelled]);
    ran.assert_disclosures();
}

#[test]
fn a_provider_refuses_questions_above_its_level() {
    for level in Disclosure::ALL {
        let ran = Setup::default()
            .provider(4, Policy::Easy)
            .change(|provider| provider.disclosure = level)
            .metascheduler(Placement::LeastLoaded)
            .user(1, vec![job(1, 0, 10, 10, 1)])
            .run_on_both();
        let told = ran.log.contains("tells 1 load");
        assert_eq!(told, level >= Disclosure::Load, "{level:?}");
        assert_eq!(ran.log.contains("no_answer_not_disclosed"), !told);
        let placed = ran.outcomes()[0] == JobOutcome::Completed;
        assert_eq!(placed, told);
    }
}
